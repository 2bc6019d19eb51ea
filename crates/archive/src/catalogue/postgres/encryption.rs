//! Whether the connection to a database is encrypted: parameters of the URL, named as libpq names them.
//!
//! TLS always checks the certificate and the name of the server. What libpq has between that and no encryption
//! (`prefer`, `require`) only looks safe, and is refused.

use crate::catalogue::{CatalogueError, Result};
use ::postgres::config::{Host, SslMode};
use percent_encoding::percent_decode_str;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem};
use rustls::{ClientConfig, RootCertStore, crypto};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// What a URL says about encryption.
#[derive(Clone, Default)]
pub(super) struct Encryption {
    mode: Option<String>,
    /// Who vouches for the server.
    root: Option<PathBuf>,
    /// What this host shows to the server, and its key.
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
}

impl Encryption {
    /// Divides a URL: what the driver understands, and this.
    pub(super) fn split_off(url: &str) -> (String, Encryption) {
        let mut found = Encryption::default();
        let Some((place, query)) = url.split_once('?') else {
            return (url.to_owned(), found);
        };
        let is_others = |parameter: &&str| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
            match name {
                "sslmode" => found.mode = Some(value),
                "sslrootcert" => found.root = Some(value.into()),
                "sslcert" => found.certificate = Some(value.into()),
                "sslkey" => found.key = Some(value.into()),
                _ => return true,
            }
            false
        };
        let rest: Vec<&str> = query.split('&').filter(is_others).collect();
        (format!("{place}?{}", rest.join("&")), found)
    }

    /// What is wrong with it for these hosts, and what to do.
    pub(super) fn mistake(&self, hosts: &[Host]) -> Option<String> {
        let names_files = self.root.is_some() || self.certificate.is_some() || self.key.is_some();
        let mistake = match self.mode.as_deref() {
            Some("verify-full") if hosts.iter().any(|host| matches!(host, Host::Unix(_))) => {
                "a socket has no encryption: leave sslmode out"
            }
            Some("verify-full") if self.root.is_none() => {
                "sslmode=verify-full needs sslrootcert=FILE, the certificate of whoever vouches for the server"
            }
            Some("verify-full") if self.certificate.is_some() != self.key.is_some() => {
                "sslcert and sslkey go together"
            }
            None | Some("disable") if names_files => {
                "sslrootcert, sslcert and sslkey need sslmode=verify-full"
            }
            None if !hosts.iter().all(is_this_machine) => {
                "the URL is right, but the connection to that host would not be encrypted: add the parameters \
                    sslmode=verify-full&sslrootcert=FILE to the URL, after a ?, or sslmode=disable if nobody else \
                    reads the network"
            }
            None | Some("disable" | "verify-full") => return None,
            Some(mode) => {
                return Some(format!(
                    "sslmode is {mode}: give verify-full, which checks the server's certificate and name, or disable"
                ));
            }
        };
        Some(mistake.to_owned())
    }

    /// As the driver has it.
    pub(super) fn mode(&self) -> SslMode {
        match self.root {
            Some(_) => SslMode::Require,
            None => SslMode::Disable,
        }
    }

    /// What makes the connections with TLS; none where they are not encrypted. The files are read anew for each, since
    /// certificates are renewed.
    pub(super) fn tls(&self) -> Result<Option<MakeRustlsConnect>> {
        let Some(root) = &self.root else {
            return Ok(None);
        };
        let mut roots = RootCertStore::empty();
        for one in certificates(root)? {
            roots.add(one).map_err(|error| unusable(root, &error))?;
        }
        let provider = Arc::new(crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(root, &error))?
            .with_root_certificates(roots);
        let config = match (&self.certificate, &self.key) {
            (Some(certificate), Some(path)) => {
                let key = PrivateKeyDer::from_pem_file(path).map_err(|error| match error {
                    pem::Error::NoItemsFound => unusable(path, &"no private key in it"),
                    error => unusable(path, &error),
                })?;
                let with_key = config.with_client_auth_cert(certificates(certificate)?, key);
                with_key.map_err(|error| unusable(path, &error))?
            }
            _ => config.with_no_client_auth(),
        };
        Ok(Some(MakeRustlsConnect::new(config)))
    }
}

fn is_this_machine(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            let address = name.parse::<IpAddr>();
            name == "localhost" || address.is_ok_and(|address| address.is_loopback())
        }
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let found = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let found: Vec<_> = found.map_err(|error| unusable(path, &error))?;
    if found.is_empty() {
        return Err(unusable(path, &"no certificate in it"));
    }
    Ok(found)
}

fn unusable(path: &Path, what: &dyn std::fmt::Display) -> CatalogueError {
    CatalogueError::Certificate {
        path: path.to_owned(),
        what: what.to_string(),
    }
}
