//! A server of S3 (moto), for the tests that need one that none of us wrote.

use crate::root;
use crate::tgt::skip;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A server with no buckets yet. It ends with the process that started it, or when this value is dropped: its script
/// reads its own input to the end.
pub struct Server {
    port: String,
    _script: Child,
}

impl Server {
    /// Starts a server on a port of this machine; none if it is not installed, and `test` is then skipped loudly.
    pub fn start(test: &str) -> Option<Server> {
        let python = root().join("target/peers/bin/python");
        if !python.exists() {
            skip(test, "the S3 server moto is not installed");
            return None;
        }
        let mut script = Command::new(python)
            .arg(root().join("house/peers/s3.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the script");
        let mut said = String::new();
        let output = script.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut said).expect("a line");
        let port = said.trim().to_owned();
        assert!(port.parse::<u16>().is_ok(), "the server did not start");
        Some(Server {
            port,
            _script: script,
        })
    }

    /// The variables that lead to it.
    pub fn variables(&self) -> [(String, String); 4] {
        let endpoint = format!("http://127.0.0.1:{}", self.port);
        [
            ("AWS_ENDPOINT_URL", endpoint.as_str()),
            ("AWS_ACCESS_KEY_ID", "somebody"),
            ("AWS_SECRET_ACCESS_KEY", "hush"),
            ("AWS_MAX_ATTEMPTS", "2"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
    }

    /// What it answers to a request past all clients: its status, and its body.
    pub fn ask(&self, method: &str, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{}", self.port)).expect("a server");
        // It looks for who asks, and does not look at signatures.
        let head = format!(
            "{method} {path} HTTP/1.0\r\nHost: 127.0.0.1\r\nAuthorization: AWS somebody:hush\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("sent");
        stream.write_all(body).expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
        let body = answer.split_off(end.expect("headers") + 4);
        let head = String::from_utf8_lossy(&answer);
        let status = head.split(' ').nth(1).and_then(|text| text.parse().ok());
        (status.expect("a status"), body)
    }
}
