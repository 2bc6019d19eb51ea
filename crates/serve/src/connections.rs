//! Connections: each is answered in a task of its own, and ended when nothing more comes or is taken.

use crate::peer::Peer;
use axum::Router;
use axum::body::Body;
use axum::extract::connect_info::ConnectInfo;
use axum::http::Request;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, watch};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt as _;

/// How long a client may take from the first byte of a request to the end of its head, and how long a connection may lie
/// idle between two requests or take nothing of an answer: each that is open takes one of the files that a process may
/// have.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Answers until it has `ended`, and then what is under way. `most` connections are open at a time; others wait until one of
/// these has gone.
pub(crate) async fn serve(
    mut listener: impl Listener<Addr = SocketAddr>,
    app: Router,
    patience: Duration,
    most: usize,
    mut ended: watch::Receiver<bool>,
) {
    let places = Arc::new(Semaphore::new(most));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(patience);
    let graceful = GracefulShutdown::new();
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, (stream, from)) = tokio::select! {
            next = next => next,
            // The other end is dropped only when all is over.
            _ = ended.wait_for(|ended| *ended) => break,
        };
        let app = app.clone();
        let answer = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            let peer = ConnectInfo(Peer(from.ip()));
            request.extensions_mut().insert(peer);
            app.clone().oneshot(request)
        });
        let connection = http.serve_connection(TokioIo::new(patient(stream, patience)), answer);
        let connection = graceful.watch(connection);
        // What goes wrong with a connection is its client's affair.
        tokio::spawn(async move {
            drop(connection.await);
            drop(place);
        });
    }
    graceful.shutdown().await;
}

/// A stream that fails when the other end takes nothing for as long as this.
fn patient<S: AsyncRead + AsyncWrite>(stream: S, patience: Duration) -> Pin<Box<TimeoutStream<S>>> {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(patience));
    Box::pin(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use std::io::{ErrorKind, Read as _, Write as _};
    use tokio::time::sleep;

    /// What a client finds at a server with this patience, which answers at most `most` connections at a time.
    fn with_server<T>(
        patience: Duration,
        most: usize,
        client: impl AsyncFnOnce(SocketAddr) -> T,
    ) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.expect("a runtime").block_on(async {
            let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await;
            let socket = socket.expect("a socket");
            let address = socket.local_addr().expect("an address");
            let app = Router::new().route("/", get(|| async { "hello" }));
            let (end, ended) = watch::channel(false);
            let server = tokio::spawn(serve(socket, app, patience, most, ended));
            let told = client(address).await;
            end.send_replace(true);
            server.await.expect("ended");
            told
        })
    }

    /// What a client is told that sends this, and then nothing more.
    fn told(sends: &'static str) -> String {
        with_server(Duration::from_millis(300), 1, async |address| {
            let client = tokio::task::spawn_blocking(move || {
                let mut stream = std::net::TcpStream::connect(address).expect("connected");
                stream.write_all(sends.as_bytes()).expect("sent");
                let mut told = String::new();
                stream.read_to_string(&mut told).expect("ended");
                told
            });
            client.await.expect("a client")
        })
    }

    #[test]
    fn a_client_that_sends_nothing_more_is_hung_up_on() {
        let request = "GET / HTTP/1.1\r\nhost: a\r\n";
        for sends in ["", request] {
            let told = told(sends);
            assert!(!told.contains("hello"), "{told}");
        }
        let whole = told("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
        assert!(whole.ends_with("hello"), "{whole}");
    }

    #[test]
    fn no_more_connections_are_open_than_may_be() {
        with_server(Duration::from_secs(60), 2, async |address| {
            let connect = || tokio::net::TcpStream::connect(address);
            let mut idle = vec![connect().await.expect("one"), connect().await.expect("two")];
            let mut third = connect().await.expect("it waits");
            let request = b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
            let sent = tokio::io::AsyncWriteExt::write_all(&mut third, request).await;
            sent.expect("sent");
            let mut told = String::new();
            let read = tokio::io::AsyncReadExt::read_to_string(&mut third, &mut told);
            let mut read = Box::pin(read);
            let soon = tokio::time::timeout(Duration::from_millis(300), &mut read).await;
            soon.expect_err("both places are taken");
            drop(idle.pop());
            read.await.expect("an answer");
            assert!(told.ends_with("hello"), "{told}");
        });
    }

    #[test]
    fn a_client_that_takes_nothing_is_hung_up_on_and_each_byte_that_is_taken_gives_it_new_time() {
        const PATIENCE: Duration = Duration::from_secs(60);
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            // It takes four bytes at a time.
            let (ours, mut client) = tokio::io::duplex(4);
            let mut patient = patient(ours, PATIENCE);
            let sent = tokio::spawn(async move {
                let sent = tokio::io::AsyncWriteExt::write_all(&mut patient, &[7; 64]).await;
                sent.expect_err("the client goes to sleep").kind()
            });
            for _ in 0..5 {
                sleep(PATIENCE - Duration::from_secs(1)).await;
                let read = tokio::io::AsyncReadExt::read_exact(&mut client, &mut [0; 4]).await;
                read.expect("given");
            }
            assert!(!sent.is_finished());
            sleep(PATIENCE * 2).await;
            assert!(sent.is_finished());
            assert_eq!(sent.await.expect("an end"), ErrorKind::TimedOut);
        });
    }
}
