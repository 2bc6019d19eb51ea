//! A real server of PostgreSQL for the tests: one a process, with a schema of its own for every catalogue.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use tapewise_archive::catalogue::PostgresUrl;

/// The script and, by its input, its life.
struct Server {
    directory: PathBuf,
    _script: Child,
}

/// Starts a server, unless it is not installed.
fn start() -> Option<Server> {
    let is_installed = std::fs::read_dir("/usr/lib/postgresql").is_ok_and(|versions| {
        let mut versions = versions.flatten();
        versions.any(|version| version.path().join("bin/initdb").exists())
    });
    if !is_installed {
        eprintln!("SKIPPED: tests on PostgreSQL: Debian's package postgresql is not installed");
        return None;
    }
    let directory = tempfile::tempdir().expect("a directory").keep();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/postgres_server/serve.sh");
    let mut script = Command::new(script)
        .arg(&directory)
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

/// The directory of the server's socket; none where there is no server.
pub fn socket() -> Option<&'static Path> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let server = SERVER.get_or_init(start).as_ref();
    server.map(|server| server.directory.as_path())
}

/// A connection past the catalogue.
pub fn raw(url: &str) -> postgres::Client {
    postgres::Client::connect(url, postgres::NoTls).expect("a connection")
}

/// The URL of a new and empty schema; none where there is no server.
pub fn new_url() -> Option<String> {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let socket = socket()?.to_str().expect("UTF-8").replace('/', "%2F");
    let schema = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let url = format!("postgresql://tapewise@{socket}/postgres");
    let mut client = raw(&url);
    let made = client.batch_execute(&format!("CREATE SCHEMA {schema}"));
    made.expect("a schema");
    Some(format!("{url}?options=-csearch_path%3D{schema}"))
}

/// The same, parsed.
pub fn parsed(url: &str) -> PostgresUrl {
    url.parse().expect("a URL")
}
