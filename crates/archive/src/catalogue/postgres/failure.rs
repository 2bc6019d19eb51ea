//! What an error of PostgreSQL means to whoever keeps the archive, and what to do.

use ::postgres::Error;
use std::error::Error as _;
use std::fmt;
use std::io;

/// An error of the server or of the connection to it, in words.
#[derive(Debug)]
pub(super) struct Failure(pub Error);

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = match (self.0.as_db_error(), self.0.source()) {
            (Some(answer), _) => answer.message().to_owned(),
            (None, Some(source)) => source.to_string(),
            (None, None) => self.0.to_string(),
        };
        write!(f, "{} ({cause})", words(&self.0))
    }
}

/// Whether the server itself says that the transaction did not happen. The end of a session may come before or after
/// the commit that was on its way.
pub(super) fn is_rolled_back(error: &Error) -> bool {
    let answer = error.as_db_error();
    answer.is_some_and(|answer| answer.severity() == "ERROR")
}

/// Whether the server's certificate is not valid for it, or nobody vouches for it whom the URL names.
fn is_distrusted(error: &Error) -> bool {
    let source = error
        .source()
        .and_then(|source| source.downcast_ref::<io::Error>());
    let inner = source.and_then(|error| error.get_ref()?.downcast_ref::<rustls::Error>());
    matches!(inner, Some(rustls::Error::InvalidCertificate(_)))
}

const REFUSED: &str = "the server refuses this user: see the user and password of the URL, and the server's pg_hba.conf";

/// How the driver words that the server was not reached, or went away. It keeps the kind of an error to itself.
const CONNECTION: [&str; 4] = [
    "error connecting to server",
    "error communicating with the server",
    "error performing TLS handshake",
    "timeout waiting for server",
];

/// The same, if a login fails on this side: the URL has no password, or the server does not prove that it knows it.
const LOGIN: [&str; 2] = ["invalid configuration", "authentication error"];

/// Whether the server was reached, reported no error, and its answer is still none that this program knows.
pub(super) fn is_answer(error: &Error) -> bool {
    let said = error.to_string();
    let mut others = CONNECTION.iter().chain(&LOGIN);
    error.code().is_none() && !error.is_closed() && !others.any(|words| said == *words)
}

fn words(error: &Error) -> &'static str {
    if is_distrusted(error) {
        return "the certificate of the catalogue's database server is not to be trusted: see the host's name and \
            sslrootcert in the URL";
    }
    if is_answer(error) {
        return "this program does not know what to make of the answer of the catalogue's database server: see \
            whether the URL leads to PostgreSQL, and whether another program has changed the catalogue's tables";
    }
    let said = error.to_string();
    if LOGIN.contains(&said.as_str()) {
        return REFUSED;
    }
    let Some(code) = error.code() else {
        return "the connection to the catalogue's database server failed: see whether the server runs, whether \
            this host reaches it, and whether it lets this host in (pg_hba.conf)";
    };
    match code.code() {
        "3D000" => "the server has no such database: create it, with `createdb` for one",
        "42P01" => "the catalogue lacks a table: restore a backup of it",
        "3F000" => "the database has no such schema: create it, or correct `search_path`",
        "28P01" | "28000" => REFUSED,
        "42501" => {
            "the user of the catalogue's URL may not do this: see who owns the catalogue's tables"
        }
        "23505" => {
            "two rows have one name, a path that a list has twice for one: nothing was entered"
        }
        "25006" => {
            "the server takes no changes: it is a standby, or was told so; connect to the primary"
        }
        "53100" => "the disk of the catalogue's database server is full: make room on it",
        "53300" => "the server has too many connections: raise its max_connections, or end some",
        "54000" => {
            "a name is too long: PostgreSQL keeps names of at most about 2,700 bytes in its indexes"
        }
        "22021" => "a text has a zero byte or is not UTF-8, which PostgreSQL does not keep",
        "55P03" => {
            "another process has been writing to the catalogue for too long: wait for it, or see what it does"
        }
        "57P01" | "57P02" | "57P03" => {
            "the catalogue's database server is being stopped or started: try again"
        }
        "58030" => "the disk of the catalogue's database server failed: see the server's log",
        "XX001" | "XX002" => "the catalogue's database is damaged: restore a backup of it",
        _ => "the catalogue's database failed",
    }
}
