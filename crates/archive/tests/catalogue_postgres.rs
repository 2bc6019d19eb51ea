//! What PostgreSQL has beside the contract: its schema, its errors, and connections that are lost.

use crate::{catalogue_help, postgres_server};

use catalogue_help::{assert_sound, store, volume};
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tapewise_archive::catalogue::{
    Answer, CacheRecords as _, Catalogue as _, CatalogueError, Claim, Files as _, Holder,
    Leases as _, PostgresCatalogue, PostgresUrl, Requests as _, SqliteCatalogue, Volumes as _,
    Wanted,
};

fn open(url: &str) -> Result<PostgresCatalogue, CatalogueError> {
    PostgresCatalogue::open(&url.parse()?, Path::new("."))
}

fn said(url: &str) -> String {
    open(url).err().expect("refused").to_string()
}

#[test]
fn what_is_wrong_with_a_database_is_said() {
    for (url, what) in [
        ("mysql://host/films", "no URL of a database"),
        ("postgresql://host:port/films", "no URL of a database"),
        ("postgresql:///films", "it names no host"),
        ("postgresql://host", "it names no database"),
        (
            "postgresql://127.0.0.1:9/films",
            "see whether the server runs",
        ),
    ] {
        let said = said(url);
        assert!(said.contains(what), "{url}: {said}");
    }
    let secret = "postgresql://ada:secret@host/films?nonsense=1";
    assert!(!said(secret).contains("secret"));
    let url: PostgresUrl = "postgresql://ada:secret@localhost:99/films"
        .parse()
        .expect("a URL");
    assert_eq!(
        format!("{url} {url:?}"),
        "postgresql://ada@localhost:99/films postgresql://ada@localhost:99/films"
    );
    let Some(url) = postgres_server::new_url() else {
        return;
    };
    let elsewhere = |name: &str| url.replace("/postgres?", &format!("/{name}?"));
    assert!(said(&elsewhere("nothing")).contains("no such database"));
    let nobody = url.replace("tapewise@", "nobody@");
    assert!(said(&nobody).contains("refuses this user"));

    let mut raw = postgres_server::raw(&url);
    raw.batch_execute("CREATE TABLE films (id INT)")
        .expect("a table");
    assert!(said(&url).contains("tables of something else, films for one"));
    raw.batch_execute("DROP TABLE films").expect("gone");
    let existing = PostgresCatalogue::open_existing(&postgres_server::parsed(&url), Path::new("."));
    let lost = existing.err().expect("refused");
    assert!(matches!(lost, CatalogueError::Lost { .. }), "{lost}");
    drop(open(&url).expect("a new catalogue"));

    let schema = url.rsplit_once("%3D").expect("a schema").1;
    let role = format!("CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA {schema} TO reader");
    raw.batch_execute(&role).expect("a role");
    let reader = url.replace("tapewise@", "reader@");
    assert!(said(&reader).contains("may not do this"));
    let version = "UPDATE tapewise_schema SET version =";
    raw.batch_execute(&format!("{version} 99")).expect("newer");
    assert!(said(&url).contains("use the newer program"));
    raw.batch_execute(&format!("{version} 1")).expect("older");
    let read = PostgresCatalogue::open_to_read(&postgres_server::parsed(&url));
    let older = read.err().expect("refused").to_string();
    assert!(older.contains("catalog upgrade"), "{older}");
}

#[test]
fn whoever_only_reads_changes_nothing() {
    let Some(url) = postgres_server::new_url() else {
        return;
    };
    drop(open(&url).expect("a new catalogue"));
    let reader = PostgresCatalogue::open_to_read(&postgres_server::parsed(&url)).expect("opened");
    assert_eq!(reader.volumes().expect("read"), []);
    let error = reader
        .add_volume(&volume("T00001L8"), 1)
        .expect_err("refused");
    assert!(error.to_string().contains("takes no changes"), "{error}");
}

#[test]
fn what_keeps_the_server_from_cleaning_up_is_told() {
    let Some(url) = postgres_server::new_url() else {
        return;
    };
    let catalogue = open(&url).expect("a new catalogue");
    let state = || {
        catalogue
            .server_state()
            .expect("a server")
            .expect("it is one")
    };
    assert!(
        state()
            .dead_rows
            .iter()
            .any(|(table, _)| table == "request")
    );
    let mut raw = postgres_server::raw(&url);
    let mut view = raw
        .build_transaction()
        .isolation_level(postgres::IsolationLevel::RepeatableRead)
        .start()
        .expect("a transaction");
    view.query_one("SELECT count(*) FROM request", &[])
        .expect("a view");
    for number in 0..20 {
        let label = format!("T{number:05}L8");
        catalogue.add_volume(&volume(&label), 1).expect("added");
    }
    // Whoever else works on the server may make it older.
    let oldest = state().oldest_view_transactions;
    assert!(oldest >= 20, "{oldest}");
}

#[test]
fn a_backup_is_a_catalogue_of_sqlite() {
    let Some(url) = postgres_server::new_url() else {
        return;
    };
    let catalogue = open(&url).expect("a new catalogue");
    catalogue.add_volume(&volume("T00001L8"), 1).expect("added");
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("backup");
    catalogue.backup(&path).expect("a backup");
    catalogue.backup(&path).expect("one over it");
    let restored = SqliteCatalogue::open_existing(&path).expect("a catalogue");
    let volumes = restored.volumes().expect("volumes");
    assert_eq!(
        (volumes[0].1.label.as_str(), volumes[0].1.state.name()),
        ("T00001L8", "full")
    );
    assert_eq!(
        restored.tie().expect("a tie"),
        catalogue.tie().expect("a tie")
    );
}

#[test]
fn an_older_catalogue_is_copied_first_and_then_brought_up_to_date() {
    let Some(url) = postgres_server::new_url() else {
        return;
    };
    let old = include_str!("../src/catalogue/migrations/postgres/005_archive.sql");
    let mut raw = postgres_server::raw(&url);
    let mark =
        "CREATE TABLE tapewise_schema (version BIGINT); INSERT INTO tapewise_schema VALUES (5)";
    raw.batch_execute(&format!("{mark}; {old}"))
        .expect("schema 5");
    let label = "INSERT INTO volume (label, uuid, format, state, block_bytes, next_block, written_bytes, added_ns) \
        VALUES ('T00001L8', 'uuid', 'tapewise', 'empty', 1000, 2, 0, 1)";
    raw.batch_execute(label).expect("a volume");
    let directory = tempfile::tempdir().expect("a directory");
    let place = postgres_server::parsed(&url);
    let pending = PostgresCatalogue::pending_upgrade(&place, directory.path()).expect("asked");
    let pending = pending.expect("an upgrade");
    assert_eq!((pending.found, pending.brings[0].0), (5, 6));
    assert!(!pending.copy.exists(), "asking changes nothing");
    let catalogue = PostgresCatalogue::open_existing(&place, directory.path()).expect("upgraded");
    let volumes = catalogue.volumes().expect("volumes");
    assert_eq!(catalogue.leases().expect("no leases yet"), []);
    assert_sound(&catalogue);
    // The copy is a catalogue of SQLite with the old schema, and can be brought up to date by itself.
    let found = SqliteCatalogue::open_to_read(&pending.copy)
        .err()
        .expect("refused");
    assert!(
        matches!(found, CatalogueError::Older { found: 5, .. }),
        "{found}"
    );
    let copy = SqliteCatalogue::open_existing(&pending.copy).expect("the copy");
    assert_eq!(copy.volumes().expect("volumes"), volumes);
    let again = PostgresCatalogue::pending_upgrade(&place, directory.path());
    assert_eq!(again.expect("asked"), None);
}

#[test]
fn an_answer_that_is_not_understood_is_no_lost_connection() {
    let Some(url) = postgres_server::new_url() else {
        return;
    };
    let catalogue = open(&url).expect("a new catalogue");
    catalogue.add_volume(&volume("T00001L8"), 1).expect("added");
    let mut raw = postgres_server::raw(&url);
    let mut retype = |to: &str| {
        let sql = format!("ALTER TABLE volume ALTER COLUMN next_block TYPE {to}");
        raw.batch_execute(&sql).expect("another type");
    };
    retype("NUMERIC");
    let error = catalogue.volumes().expect_err("no number that is known");
    assert!(matches!(error, CatalogueError::Answer(_)), "{error}");
    let said = error.to_string();
    assert!(said.contains("changed the catalogue's tables"), "{said}");
    assert!(
        said.contains("NUMERIC") || said.contains("numeric"),
        "{said}"
    );
    retype("BIGINT");
    assert_eq!(catalogue.volumes().expect("read").len(), 1);
}

#[test]
fn a_server_that_wants_a_password_is_reached() {
    // A server that asks for one: the message AuthenticationCleartextPassword, after what the client begins with.
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = server.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let (mut client, _) = server.accept().expect("a client");
        let _ = client.read(&mut [0; 1024]);
        let _ = client.write_all(&[b'R', 0, 0, 0, 8, 0, 0, 0, 3]);
        let _ = client.read(&mut [0; 1024]);
    });
    let said = said(&format!("postgresql://ada@127.0.0.1:{port}/films"));
    assert!(said.contains("refuses this user"), "{said}");
    assert!(said.contains("password missing"), "{said}");
}

#[test]
fn leases_go_by_the_clock_of_the_server() {
    let Some(url) = postgres_server::new_url() else {
        return;
    };
    let catalogue = open(&url).expect("a catalogue");
    let holder = |host: &str| Holder {
        host: host.to_owned(),
        process: 1,
        run: format!("run on {host}"),
    };
    let claim = |holder: &Holder, for_ns, at_ns| {
        let wanted = Wanted {
            drive: "D1",
            volume: None,
            holder,
            for_ns,
        };
        catalogue.claim(&wanted, at_ns).expect("an answer")
    };
    const HOUR_NS: i64 = 3_600_000_000_000;
    let (ada, bob) = (holder("ada"), holder("bob"));
    assert!(matches!(claim(&ada, HOUR_NS, 0), Claim::Got(_)));
    // A host whose clock is a century ahead takes nothing away.
    assert!(matches!(
        claim(&bob, HOUR_NS, 100 * 366 * 24 * HOUR_NS),
        Claim::Taken(_)
    ));
    assert!(matches!(claim(&ada, 1, 0), Claim::Got(_)));
    assert!(
        matches!(claim(&bob, HOUR_NS, 0), Claim::Got(_)),
        "by now it is over"
    );
}

#[test]
fn what_a_server_drops_is_connected_again() {
    let Some(url) = postgres_server::new_url() else {
        return;
    };
    let schema = url.rsplit_once("%3D").expect("a schema").1;
    let named = format!("{url}&application_name={schema}");
    let catalogue = open(&named).expect("a new catalogue");
    catalogue.add_volume(&volume("T00001L8"), 1).expect("added");
    let end =
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1";
    let mut raw = postgres_server::raw(&url);
    let ended: i64 = raw.query_one(end, &[&schema]).expect("asked").get(0);
    // A connection that made the schema may still be there.
    assert!(ended >= 1);
    // The end of the session may be on its way; the transaction that meets it fails, and the next one does not.
    let read = catalogue.volumes().or_else(|_| catalogue.volumes());
    assert_eq!(read.expect("read").len(), 1);
    catalogue.add_volume(&volume("T00002L8"), 1).expect("added");
}

/// What becomes of the message that commits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// It arrives, and its answer is lost.
    After,
    /// It is lost.
    Before,
}

/// Stands between a catalogue and the server, and cuts the connection at the first commit after it was armed.
fn between(cut: Cut, armed: &'static AtomicBool, directory: &Path) {
    let socket = postgres_server::socket()
        .expect("a server")
        .join(".s.PGSQL.5432");
    let listener = UnixListener::bind(directory.join(".s.PGSQL.5432")).expect("a socket");
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.expect("a client");
            let mut server = UnixStream::connect(&socket).expect("the server");
            let mut back = (
                server.try_clone().expect("one"),
                client.try_clone().expect("one"),
            );
            std::thread::spawn(move || {
                let mut buffer = [0; 65536];
                while let Ok(read @ 1..) = back.0.read(&mut buffer) {
                    if back.1.write_all(&buffer[..read]).is_err() {
                        break;
                    }
                }
            });
            std::thread::spawn(move || {
                let mut buffer = [0; 65536];
                while let Ok(read @ 1..) = client.read(&mut buffer) {
                    let is_commit = buffer[..read].windows(6).any(|six| six == b"COMMIT");
                    let cuts = is_commit && armed.swap(false, Ordering::SeqCst);
                    if cuts {
                        // Nothing more gets back.
                        client.shutdown(std::net::Shutdown::Both).expect("cut");
                    }
                    if !cuts || cut == Cut::After {
                        server.write_all(&buffer[..read]).expect("passed on");
                    }
                    if cuts {
                        // The server takes what has arrived, and sees that there is no more.
                        let _ = server.shutdown(std::net::Shutdown::Write);
                        break;
                    }
                }
            });
        }
    });
}

/// Adds a volume over a connection that is cut; the catalogue goes on through the same directory.
fn cut(
    cut: Cut,
    armed: &'static AtomicBool,
    directory: &Path,
) -> Option<(PostgresCatalogue, Result<(), String>)> {
    let url = postgres_server::new_url()?;
    between(cut, armed, directory);
    let own = postgres_server::socket()?.to_str()?.replace('/', "%2F");
    let through = directory.to_str()?.replace('/', "%2F");
    let catalogue = open(&url.replace(&own, &through)).expect("a catalogue");
    assert_eq!(catalogue.volumes().expect("read"), []);
    armed.store(true, Ordering::SeqCst);
    let added = catalogue.add_volume(&volume("T00001L8"), 1);
    Some((
        catalogue,
        added.map(drop).map_err(|error| error.to_string()),
    ))
}

#[test]
fn a_commit_whose_answer_is_lost_is_found_to_have_happened() {
    static ARMED: AtomicBool = AtomicBool::new(false);
    let directory = tempfile::tempdir().expect("a directory");
    let Some((catalogue, added)) = cut(Cut::After, &ARMED, directory.path()) else {
        return;
    };
    assert_eq!(added, Ok(()));
    assert_eq!(catalogue.volumes().expect("read").len(), 1);
}

#[test]
fn a_commit_that_is_lost_is_found_not_to_have_happened_and_can_be_done_again() {
    static ARMED: AtomicBool = AtomicBool::new(false);
    let directory = tempfile::tempdir().expect("a directory");
    let Some((catalogue, added)) = cut(Cut::Before, &ARMED, directory.path()) else {
        return;
    };
    let said = added.expect_err("lost");
    assert!(said.contains("the connection"), "{said}");
    assert_eq!(catalogue.volumes().expect("read").len(), 0);
    catalogue.add_volume(&volume("T00001L8"), 1).expect("added");
}

#[test]
fn two_writers_on_two_connections_take_turns() {
    let Some(url) = postgres_server::new_url() else {
        return;
    };
    let first = Arc::new(open(&url).expect("a catalogue"));
    let second = Arc::new(open(&url).expect("the same one"));
    // Each version of a path is stored after the others; both writers look for the last one, then write.
    let stored: Vec<_> = [first, second]
        .into_iter()
        .map(|catalogue| {
            std::thread::spawn(move || {
                let mut taken = 0;
                for _ in 0..50 {
                    match catalogue.announce(&[store("film", 1, 1)], 1) {
                        Ok(ids) => catalogue
                            .answer(ids[0].1, &Answer::Cancelled, 1)
                            .expect("cancelled"),
                        Err(CatalogueError::PathTaken { .. }) => taken += 1,
                        Err(error) => panic!("{error}"),
                    }
                }
                taken
            })
        })
        .collect();
    let taken: u32 = stored
        .into_iter()
        .map(|thread| thread.join().expect("ended"))
        .sum();
    let catalogue = open(&url).expect("the catalogue");
    let versions = catalogue.versions(b"film").expect("versions");
    assert_eq!(versions.len() as u32, 100 - taken);
    let mut times: Vec<i64> = versions
        .iter()
        .map(|id| catalogue.file(*id).expect("a file").created_ns)
        .collect();
    times.sort_unstable();
    times.dedup();
    assert_eq!(times.len(), versions.len(), "no two versions have one time");
}
