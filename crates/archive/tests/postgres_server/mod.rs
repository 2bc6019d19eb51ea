//! A real server of PostgreSQL for the tests: one a process, with a schema of its own for every catalogue.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use tapewise_archive::catalogue::PostgresUrl;
use tapewise_house::postgres::Server;

/// The server of this process; none where it is not installed.
fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    SERVER
        .get_or_init(|| Server::start("tests on PostgreSQL"))
        .as_ref()
}

/// The directory of the server's socket; none where there is no server.
pub fn socket() -> Option<&'static Path> {
    server().map(Server::directory)
}

/// A connection past the catalogue.
pub fn raw(url: &str) -> postgres::Client {
    postgres::Client::connect(url, postgres::NoTls).expect("a connection")
}

/// The URL of a new and empty schema; none where there is no server.
pub fn new_url() -> Option<String> {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let url = server()?.url();
    let schema = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let mut client = raw(&url);
    let made = client.batch_execute(&format!("CREATE SCHEMA {schema}"));
    made.expect("a schema");
    Some(format!("{url}?options=-csearch_path%3D{schema}"))
}

/// The same, parsed.
pub fn parsed(url: &str) -> PostgresUrl {
    url.parse().expect("a URL")
}
