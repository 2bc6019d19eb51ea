//! Encrypted connections: over a real socket, with a client that checks the certificate.
//!
//! The certificates are self-signed, for 127.0.0.1 and a hundred years; their keys protect nothing.

use crate::desk::{Desk, archive};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tapewise_serve::{Certificate, ServeSettings, listen, router};

/// Puts a certificate and its key into a directory.
fn put(directory: &Path, name: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls");
    for (ending, to) in [("pem", "chain.pem"), ("key", "key.pem")] {
        let text = std::fs::read(from.join(format!("{name}.{ending}"))).expect("a file");
        let to = directory.join(to);
        let new = directory.join("new");
        std::fs::write(&new, text).expect("written");
        std::fs::rename(new, to).expect("moved");
    }
}

fn settings(directory: &Path) -> ServeSettings {
    let file = |name: &str| directory.join(name).display().to_string();
    let text = format!(
        "[tls]\ncertificate = \"{}\"\nkey = \"{}\"",
        file("chain.pem"),
        file("key.pem")
    );
    ServeSettings::of(&text).expect("settings")
}

/// What a client that trusts only this certificate reads.
fn ask(address: SocketAddr, trusted: &str) -> Result<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/tls/{trusted}.pem"));
    let pem = std::fs::read(path).expect("a file");
    let root = ureq::tls::Certificate::from_pem(&pem).expect("a certificate");
    let roots = ureq::tls::RootCerts::new_with_certs(&[root]);
    let tls = ureq::tls::TlsConfig::builder().root_certs(roots).build();
    let agent = ureq::Agent::config_builder().tls_config(tls).build();
    let agent = ureq::Agent::new_with_config(agent);
    let answer = agent.get(format!("https://{address}/.well-known/wlcg-tape-rest-api"));
    let answer = answer.call().map_err(|error| error.to_string())?;
    let mut body = answer.into_body();
    body.read_to_string().map_err(|error| error.to_string())
}

#[test]
fn a_client_checks_the_certificate_also_after_it_was_renewed() {
    let directory = archive();
    put(directory.path(), "one");
    let settings = settings(directory.path());
    let files = settings.tls.clone().expect("files");
    let certificate = Arc::new(Certificate::of(files).expect("a certificate"));
    let desk = Desk::with(directory, &settings);
    let socket = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let address = socket.local_addr().expect("an address");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let service = Arc::clone(&desk.service);
        let used = Arc::clone(&certificate);
        let server = scope.spawn(|| listen(router(service), socket, Some(used), 400, &stop));
        // Whoever says nothing, or speaks in clear, keeps nobody waiting.
        let silent = || TcpStream::connect(address).expect("a connection");
        let silent: Vec<TcpStream> = (0..300).map(|_| silent()).collect();
        let mut clear = TcpStream::connect(address).expect("a connection");
        clear.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("sent");
        let found = ask(address, "one").expect("an answer");
        assert!(
            found.contains(&format!("https://{address}/tape/v1")),
            "{found}"
        );
        let mut answer = Vec::new();
        let _ = clear.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP"), "no answer in clear");
        ask(address, "two").expect_err("another certificate");

        assert!(!certificate.renew().expect("as it was"));
        put(desk.directory.path(), "two");
        assert!(certificate.renew().expect("a certificate"));
        ask(address, "two").expect("an answer");
        ask(address, "one").expect_err("the old certificate");
        // What cannot be used is said once, and the last good one stays.
        let key = desk.directory.path().join("key.pem");
        std::fs::write(key, "nothing").expect("written");
        let said = certificate.renew().expect_err("no key").to_string();
        assert!(said.contains("key.pem"), "{said}");
        assert!(!certificate.renew().expect("as it was"));
        ask(address, "two").expect("an answer");
        drop(silent);
        stop.store(true, Ordering::Relaxed);
        server.join().expect("no panic").expect("served");
    });
}

#[test]
fn a_key_that_does_not_fit_is_refused() {
    let directory = archive();
    put(directory.path(), "one");
    let files = settings(directory.path()).tls.expect("files");
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls/two.key");
    std::fs::copy(other, &files.key).expect("copied");
    let said = Certificate::of(files.clone()).expect_err("another key");
    assert!(said.to_string().contains("does not fit"), "{said}");
    std::fs::remove_file(&files.certificate).expect("removed");
    let said = Certificate::of(files).expect_err("no certificate");
    assert!(said.to_string().contains("chain.pem"), "{said}");
}
