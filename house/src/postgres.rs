//! A PostgreSQL server of Debian's package, for the tests that need a real one.

use crate::tgt::skip;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A server with one database. It ends with the process that started it, or when this value is dropped: its script
/// reads its own input to the end.
pub struct Server {
    directory: PathBuf,
    _script: Child,
}

impl Server {
    /// Starts a server in a directory of its own; none if it is not installed, and `test` is then skipped loudly.
    pub fn start(test: &str) -> Option<Server> {
        Server::start_on(test, None)
    }

    /// The same with TLS on a port of localhost. Certificates lie in [`Server::directory`]: see `serve.sh`.
    pub fn start_with_tls(test: &str, port: u16) -> Option<Server> {
        Server::start_on(test, Some(port))
    }

    fn start_on(test: &str, port: Option<u16>) -> Option<Server> {
        let is_installed = std::fs::read_dir("/usr/lib/postgresql").is_ok_and(|versions| {
            let mut versions = versions.flatten();
            versions.any(|version| version.path().join("bin/initdb").exists())
        });
        if !is_installed {
            skip(test, "Debian's package postgresql is not installed");
            return None;
        }
        // The script gives the directory to the server's user, and removes it at the end.
        let directory = tempfile::tempdir().expect("a directory").keep();
        let mut script =
            Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("postgres/serve.sh"))
                .arg(&directory)
                .args(port.map(|port| port.to_string()))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("the script");
        let mut said = String::new();
        let output = script.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut said).expect("a line");
        assert_eq!(said, "ready\n", "the server did not start");
        Some(Server {
            directory,
            _script: script,
        })
    }

    /// The directory of the server's socket.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The URL of its database.
    pub fn url(&self) -> String {
        let socket = self.directory.to_str().expect("UTF-8").replace('/', "%2F");
        format!("postgresql://tapewise@{socket}/postgres")
    }
}
