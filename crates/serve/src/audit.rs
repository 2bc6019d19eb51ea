//! The audit trail: who asked for what, when, from where, and what came of it; one JSON object a line.
//!
//! A line stands in the file before its client has the answer. The file is opened for every line, so it can be moved
//! away at any time. If it cannot be opened, nothing that belongs into it is carried out.

use crate::names::in_archive;
use axum::http::{Method, StatusCode, Uri};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// A request, as far as the trail has it.
#[derive(Serialize)]
pub(crate) struct Line {
    /// When it was answered, as RFC 3339 has it.
    pub at: String,
    /// The client's address, if it is known.
    pub from: Option<IpAddr>,
    /// Who asked; none: nobody who was let in.
    pub user: Option<String>,
    pub method: String,
    pub path: String,
    /// The status of the answer.
    pub status: u16,
    /// The address of what it made: a new stage request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    /// The files that it names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What an operator wants to be changed, as it was sent: a priority, which recalls to try again.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub body: String,
}

/// Whether a request belongs into the trail whatever comes of it: it changes something, or reads a file.
pub(crate) fn is_recorded(method: &Method, uri: &Uri) -> bool {
    let reads_file = || in_archive(uri.path()).is_some_and(|path| path != "/");
    match method.as_str() {
        "GET" | "HEAD" => reads_file(),
        "PROPFIND" => false,
        _ => true,
    }
}

/// Whether an answer belongs into the trail whatever was asked for: somebody was not let in.
pub(crate) fn is_refusal(status: StatusCode) -> bool {
    [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status)
}

/// The files that a body names.
pub(crate) fn files(body: &[u8]) -> Vec<String> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Named {
        files: Vec<NamedFile>,
        paths: Vec<String>,
    }
    #[derive(Deserialize)]
    struct NamedFile {
        path: String,
    }
    let named: Named = serde_json::from_slice(body).unwrap_or_default();
    let files = named.files.into_iter().map(|file| file.path);
    files.chain(named.paths).collect()
}

/// The body of a request by which operators change something. Others may hold secrets.
pub(crate) fn body(path: &str, body: &[u8]) -> String {
    let is_operators =
        path == "/failed" || path.starts_with("/api/") || path.starts_with("/request/");
    let body = if is_operators { body } else { &[] };
    String::from_utf8_lossy(body).into_owned()
}

/// Opens the trail, or makes it, for its owner and group only.
///
/// # Errors
/// What the file system says.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o640).open(path)
}

/// Appends a line, in one piece: others may append too.
pub(crate) fn write(mut file: &File, line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    file.write_all(&text)
}
