//! TLS: a certificate that can be changed while the service runs, and connections that are encrypted with it.

use crate::settings::TlsSettings;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, crypto};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// How long a client may take to agree on keys, and how many may be at it or wait for an answer at most.
const HANDSHAKE: Duration = Duration::from_secs(10);
const HANDSHAKES: usize = 4096;

/// A pause when the system has no more sockets.
const PAUSE: Duration = Duration::from_millis(100);

/// A certificate with its key, as two files have them now.
#[derive(Debug)]
pub struct Certificate {
    files: TlsSettings,
    current: RwLock<Arc<CertifiedKey>>,
    /// When the files were changed that it came from.
    changed: Mutex<[Option<SystemTime>; 2]>,
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file has not what it must have.
    #[error("{path}: no {what} in it")]
    Without {
        /// The file.
        path: PathBuf,
        /// What is looked for.
        what: &'static str,
    },
    /// A file cannot be read.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: pem::Error,
    },
    /// The key is another one's, or of an unknown kind.
    #[error("{path}: the key does not fit the certificate: {source}")]
    Key {
        /// The key's file.
        path: PathBuf,
        /// What is wrong with it.
        source: rustls::Error,
    },
}

impl Certificate {
    /// Reads a certificate and its key.
    ///
    /// # Errors
    /// [`CertificateError`].
    pub fn of(files: TlsSettings) -> Result<Certificate, CertificateError> {
        Ok(Certificate {
            current: RwLock::new(read(&files)?),
            changed: Mutex::new(changed(&files)),
            files,
        })
    }

    /// Reads the files again if they have changed; whether they had. If they cannot be used, the old certificate
    /// stays, and the next change is waited for.
    ///
    /// # Errors
    /// [`CertificateError`].
    pub fn renew(&self) -> Result<bool, CertificateError> {
        let now = changed(&self.files);
        let mut last = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        if *last == now {
            return Ok(false);
        }
        *last = now;
        let new = read(&self.files)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(true)
    }
}

fn changed(files: &TlsSettings) -> [Option<SystemTime>; 2] {
    [&files.certificate, &files.key].map(|path| {
        let metadata = std::fs::metadata(path);
        metadata.and_then(|metadata| metadata.modified()).ok()
    })
}

fn read(files: &TlsSettings) -> Result<Arc<CertifiedKey>, CertificateError> {
    let at = |path: &PathBuf, what: &'static str| {
        let path = path.clone();
        move |source| match source {
            pem::Error::NoItemsFound => CertificateError::Without { path, what },
            source => CertificateError::File { path, source },
        }
    };
    let in_chain = at(&files.certificate, "certificate");
    let chain = CertificateDer::pem_file_iter(&files.certificate);
    let chain: Result<Vec<_>, _> = chain.and_then(Iterator::collect);
    let chain = match chain {
        Ok(chain) if chain.is_empty() => Err(in_chain(pem::Error::NoItemsFound)),
        chain => chain.map_err(in_chain),
    }?;
    let key = PrivateKeyDer::from_pem_file(&files.key);
    let key = key.map_err(at(&files.key, "private key"))?;
    let fits = CertifiedKey::from_der(chain, key, &crypto::ring::default_provider());
    let fits = fits.map_err(|source| CertificateError::Key {
        path: files.key.clone(),
        source,
    })?;
    Ok(Arc::new(fits))
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let current = self.current.read();
        Some(Arc::clone(&current.unwrap_or_else(PoisonError::into_inner)))
    }
}

/// Encrypted connections. Each agrees on its keys in a task of its own, so that a slow client keeps nobody waiting.
pub(crate) struct Secured {
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: io::Result<SocketAddr>,
}

impl Secured {
    /// Those that come to a socket, with a certificate; beside `most` that are answered, as many may not be that far.
    pub fn new(
        socket: TcpListener,
        certificate: Arc<Certificate>,
        most: usize,
    ) -> Result<Secured, io::Error> {
        let provider = Arc::new(crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider);
        let config = config
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?;
        let config = config.with_no_client_auth().with_cert_resolver(certificate);
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let address = socket.local_addr();
        let (sender, ready) = mpsc::channel(most.min(HANDSHAKES));
        tokio::spawn(accept(socket, acceptor, sender));
        Ok(Secured { ready, address })
    }
}

/// Takes connections until nobody wants them any more.
async fn accept(
    socket: TcpListener,
    acceptor: TlsAcceptor,
    sender: mpsc::Sender<(TlsStream<TcpStream>, SocketAddr)>,
) {
    // A place in the channel is held from the first byte on, so handshakes are bounded.
    while let Ok(place) = sender.clone().reserve_owned().await {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            () = sender.closed() => return,
        };
        let Ok((stream, from)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            let agreed = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await;
            if let Ok(Ok(stream)) = agreed {
                place.send((stream, from));
            }
        });
    }
}

impl axum::serve::Listener for Secured {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(connection) => connection,
            // The task above has ended: with the program.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        let address = self.address.as_ref();
        address.copied().map_err(|error| error.kind().into())
    }
}
