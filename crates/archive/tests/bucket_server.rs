//! Buckets of a server that none of us wrote.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use tapewise_archive::bucket::{Bucket, BucketUrl, Buckets};
use tapewise_archive::deliver::{DeliverError, Expected, InnerPath, Presence};
use tapewise_archive::store::{SourceFile, Sources};
use tapewise_archive::sums::{Kind, Sum};
use tapewise_house::s3::Server;

/// Three parts.
const LONG: usize = (20 << 20) + 7;

fn buckets(server: &Server) -> Buckets {
    let (status, _) = server.ask("PUT", "/films", b"");
    assert_eq!(status, 200, "a bucket");
    Buckets::new(server.variables())
}

fn place(buckets: &Buckets, url: &str) -> Bucket {
    let url = BucketUrl::new(url.as_bytes()).expect("a place");
    buckets.open(&url).expect("a bucket")
}

fn path(text: &str) -> InnerPath {
    InnerPath::new(text).expect("a path")
}

fn expected(contents: &[u8]) -> Expected {
    Expected {
        sums: vec![Sum::of(Kind::Xxh3, contents)],
        ..Expected::of(contents.len() as u64)
    }
}

fn deliver(place: &Bucket, path: &InnerPath, contents: &[u8]) -> Result<bool, DeliverError> {
    let Some(mut upload) = place.begin(path, expected(contents))? else {
        return Ok(false);
    };
    upload.write(contents)?;
    upload.finish().map(|_| true)
}

fn source(buckets: &Buckets, path: &str) -> Box<dyn SourceFile> {
    Sources::open(buckets, Path::new(path)).expect("an object")
}

fn uploads(server: &Server) -> String {
    let (_, body) = server.ask("GET", "/films?uploads", b"");
    String::from_utf8(body).expect("XML")
}

#[test]
fn files_go_to_a_server_and_come_back_and_none_is_replaced() {
    let Some(server) = Server::start("buckets of a server") else {
        return;
    };
    let buckets = buckets(&server);
    let place = place(&buckets, "s3://films/out");
    assert!(place.is_empty().expect("it answers"));
    let long: Vec<u8> = (0..LONG).map(|at| (at * 7 % 251) as u8).collect();
    for (name, contents) in [("long", &long[..]), ("é #1+%20?", b"short"), ("empty", b"")] {
        let path = path(name);
        assert!(
            deliver(&place, &path, contents).expect("delivered"),
            "{name}"
        );
        assert!(!deliver(&place, &path, contents).expect("asked"), "{name}");
        let mut source = source(&buckets, &format!("s3://films/out/{name}"));
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes).expect("read");
        assert!(bytes == contents, "{name}");
        let other = deliver(&place, &path, b"other");
        assert!(
            matches!(other, Err(DeliverError::Exists { .. })),
            "{name}: {other:?}"
        );
    }

    // An object comes while another upload of its name is on its way.
    let late = path("late");
    let mut upload = place
        .begin(&late, expected(&long))
        .expect("begun")
        .expect("absent");
    upload.write(&long).expect("written");
    server.ask("PUT", "/films/out/late", b"theirs");
    let refused = upload.finish();
    assert!(
        matches!(refused, Err(DeliverError::Exists { .. })),
        "{refused:?}"
    );
    assert_eq!(server.ask("GET", "/films/out/late", b"").1, b"theirs");

    // Neither a wrong file nor one that is given up leaves anything.
    let mut upload = place
        .begin(&path("wrong"), expected(&long))
        .expect("begun")
        .expect("absent");
    upload.write(&vec![0; LONG]).expect("written");
    assert!(
        uploads(&server).contains("<Key>out/wrong</Key>"),
        "{}",
        uploads(&server)
    );
    let wrong = upload.finish();
    assert!(
        matches!(wrong, Err(DeliverError::Mismatch { .. })),
        "{wrong:?}"
    );
    assert_eq!(server.ask("GET", "/films/out/wrong", b"").0, 404);
    assert!(!uploads(&server).contains("<Key>"), "{}", uploads(&server));
}

#[test]
fn a_server_states_sums_and_what_it_says_is_told_in_its_words() {
    let Some(server) = Server::start("buckets of a server") else {
        return;
    };
    let buckets = buckets(&server);
    server.ask("PUT", "/films/abc", b"abc");
    let abc = source(&buckets, "s3://films/abc");
    let md5: Sum = "md5:900150983cd24fb0d6963f7d28e17f72"
        .parse()
        .expect("a sum");
    assert_eq!(abc.stated(), std::slice::from_ref(&md5));
    let known = Expected {
        sums: vec![md5],
        ..Expected::of(3)
    };
    let place = place(&buckets, "s3://films");
    let presence = place.presence(&path("abc"), &known).expect("asked");
    assert!(matches!(presence, Presence::Delivered(..)), "{presence:?}");

    // Somebody writes to an object that is read.
    let mut object = source(&buckets, "s3://films/abc");
    server.ask("PUT", "/films/abc", b"abd");
    let error = object.read(&mut [0; 3]).expect_err("changed");
    assert!(
        error.to_string().contains("changed while it was read"),
        "{error}"
    );

    let none = self::place(&buckets, "s3://nofilms/x")
        .is_empty()
        .expect_err("none");
    let variables = BTreeMap::from(server.variables());
    let endpoint = &variables["AWS_ENDPOINT_URL"];
    let said =
        format!("s3://nofilms/x: {endpoint}: The specified bucket does not exist (NoSuchBucket)");
    assert_eq!(none.to_string(), said);
    let nowhere = server.variables().map(|(name, text)| match name.as_str() {
        "AWS_ENDPOINT_URL" => (name, "http://127.0.0.1:9".to_owned()),
        _ => (name, text),
    });
    let nobody = self::place(&Buckets::new(nowhere), "s3://films").is_empty();
    let said = nobody.expect_err("nobody is there").to_string();
    assert!(
        said.starts_with("s3://films: http://127.0.0.1:9: ") && said.contains("Connection refused"),
        "{said}"
    );
}

/// Takes one request, refuses it, and gives its head.
fn refuse_one(listener: &TcpListener) -> String {
    let (mut stream, _) = listener.accept().expect("a request");
    let mut head = String::new();
    for line in BufReader::new(stream.try_clone().expect("the stream")).lines() {
        let line = line.expect("a line");
        if line.is_empty() {
            break;
        }
        head = head + &line + "\n";
    }
    let refused = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    stream.write_all(refused.as_bytes()).expect("answered");
    head
}

/// Servers refuse what they find beside the signature, and state sums only to who asks for them.
#[test]
fn all_headers_of_s3_are_signed_and_sums_are_asked_for() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let taking = std::thread::spawn(move || [refuse_one(&listener), refuse_one(&listener)]);
    let variables = [
        ("AWS_ENDPOINT_URL", format!("http://{address}")),
        ("AWS_ACCESS_KEY_ID", "somebody".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "hush".to_owned()),
    ];
    let buckets = Buckets::new(variables.map(|(name, text)| (name.to_owned(), text)));
    let place = place(&buckets, "s3://films/out");
    let refused = place.is_empty().expect_err("refused");
    assert!(refused.to_string().contains("403 Forbidden"), "{refused}");
    let presence = place.presence(&path("clip"), &expected(b"film"));
    presence.expect_err("refused");
    let [listed, asked] = taking.join().expect("two requests");
    assert!(
        asked.contains("\nx-amz-checksum-mode: ENABLED\n"),
        "{asked}"
    );
    for head in [listed, asked] {
        let (_, signed) = head.split_once("SignedHeaders=").expect("a signature");
        let signed = signed.split(',').next().unwrap_or_default();
        let names = head.lines().filter_map(|line| line.split_once(':'));
        for (name, _) in names.filter(|(name, _)| name.starts_with("x-amz-")) {
            assert!(signed.split(';').any(|one| one == name), "{name}: {head}");
        }
    }
}

#[test]
fn objects_are_found_beside_keys_that_are_no_paths_and_these_are_named() {
    let Some(server) = Server::start("buckets of a server") else {
        return;
    };
    let buckets = buckets(&server);
    for key in ["p/a", "p/x//y", "p/f/", "p/z"] {
        assert_eq!(server.ask("PUT", &format!("/films/{key}"), b"abc").0, 200);
    }
    let place = place(&buckets, "s3://films/p");
    let mut sources = Vec::new();
    let odd = place.find(Path::new(""), &mut sources, &mut |other| panic!("{other}"));
    let odd: Vec<String> = odd
        .expect("found")
        .iter()
        .map(ToString::to_string)
        .collect();
    let paths: Vec<String> = sources.iter().map(|one| one.path.to_string()).collect();
    assert_eq!(paths, ["p/a", "p/z"]);
    let [slash, empty] = &odd[..] else {
        panic!("{odd:?}");
    };
    assert!(slash.starts_with("s3://films/p/f/: its key"), "{slash}");
    assert!(empty.starts_with("s3://films/p/x//y: its key"), "{empty}");
}
