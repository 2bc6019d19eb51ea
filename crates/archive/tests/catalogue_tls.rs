//! The connection to PostgreSQL under TLS: who is let in, who is believed, and what a URL may say.

use std::net::TcpListener;
use std::path::Path;
use tapewise_archive::catalogue::{Catalogue as _, PostgresCatalogue, PostgresUrl};
use tapewise_house::postgres::Server;

fn opened(url: &str) -> Result<PostgresCatalogue, String> {
    let url: PostgresUrl = url.parse().expect("a URL");
    PostgresCatalogue::open(&url, Path::new(".")).map_err(|error| error.to_string())
}

#[test]
fn both_sides_show_certificates_and_check_them() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("an address").port();
    drop(free);
    let Some(server) = Server::start_with_tls("TLS to PostgreSQL", port) else {
        return;
    };
    let file = |name: &str| format!("{}/{name}", server.directory().display());
    let at = |host: &str, root: &str| {
        let root = file(root);
        format!(
            "postgresql://tapewise@{host}:{port}/postgres?sslmode=verify-full&sslrootcert={root}"
        )
    };
    let (certificate, key) = (file("client.pem"), file("client.key"));
    let shown = format!("&sslcert={certificate}&sslkey={key}");

    let catalogue = opened(&(at("localhost", "ca.pem") + &shown)).expect("let in");
    assert_eq!(catalogue.integrity().expect("read"), [""; 0]);

    for (url, what) in [
        (at("localhost", "ca.pem"), "client certificate"),
        (
            at("localhost", "other.pem") + &shown,
            "is not to be trusted",
        ),
        (
            at("127.0.0.1", "ca.pem") + &shown,
            "only valid for DnsName(\"localhost\")",
        ),
        (at("localhost", "none.pem") + &shown, "none.pem"),
        (at("localhost", "ca.key") + &shown, "ca.key"),
        (
            at("localhost", "ca.pem") + &shown.replace("client.key", "other.key"),
            "other.key",
        ),
        (
            format!("postgresql://tapewise@localhost:{port}/postgres"),
            "no encryption",
        ),
    ] {
        let said = opened(&url).err().expect("not let in");
        assert!(said.contains(what), "{url}: {said}");
    }
}

#[test]
fn a_url_says_what_nobody_has_to_guess() {
    let parsed = |url: &str| {
        url.parse::<PostgresUrl>()
            .map_err(|error| error.to_string())
    };
    for fine in [
        "postgresql://db.example.org/films?sslmode=disable",
        "postgresql://db.example.org/films?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem&connect_timeout=5",
        "postgresql://localhost/films",
        "postgresql://[::1]/films?application_name=one",
        "postgresql://ada@%2Frun%2Fpostgresql/films",
    ] {
        parsed(fine).unwrap_or_else(|error| panic!("{fine}: {error}"));
    }
    for (url, what) in [
        (
            "postgresql://db.example.org/films",
            "the URL is right, but the connection to that host would not be encrypted",
        ),
        (
            "postgresql://localhost,db.example.org/films",
            "add the parameters sslmode=verify-full&sslrootcert=FILE",
        ),
        (
            "postgresql://db.example.org/films?sslmode=require",
            "sslmode is require: give verify-full",
        ),
        ("postgresql://localhost/films?sslmode=", "sslmode is : give"),
        (
            "postgresql://db.example.org/films?sslmode=verify-full",
            "needs sslrootcert",
        ),
        (
            "postgresql://localhost/films?sslrootcert=ca.pem",
            "need sslmode=verify-full",
        ),
        (
            "postgresql://db.example.org/films?sslmode=disable&sslcert=me.pem",
            "need sslmode=verify-full",
        ),
        (
            "postgresql://db.example.org/films?sslmode=verify-full&sslrootcert=ca.pem&sslkey=me.key",
            "go together",
        ),
        (
            "postgresql://%2Frun%2Fpostgresql/films?sslmode=verify-full&sslrootcert=ca.pem",
            "a socket",
        ),
        (
            "postgresql://localhost/films?sslnonsense=1",
            "unknown option",
        ),
    ] {
        let said = parsed(url).expect_err("refused");
        let is_no_url = url.contains("nonsense");
        assert_eq!(said.contains("no URL"), is_no_url, "{url}: {said}");
        assert!(said.contains(what), "{url}: {said}");
    }
}
