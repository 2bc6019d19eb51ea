//! Files of an archive go to a bucket and come from one: on a server of S3, killed on the way.

use crate::archive::{desk, empty_cache};
use crate::program::{Desk, TAPEWISE};
use std::process::Command;
use std::time::{Duration, Instant};
use tapewise_house::s3::Server;

/// Several parts, of which the server takes some time for each.
const LONG: usize = 40 << 20;

/// The program with variables that lead to a server.
fn command(desk: &Desk, server: &Server, args: &str) -> Command {
    let mut command = Command::new(TAPEWISE);
    command
        .args(args.split_whitespace())
        .current_dir(desk.path());
    command.env("TAPEWISE_CONFIG", "").envs(server.variables());
    command
}

fn run(desk: &Desk, server: &Server, args: &str) -> (i32, String) {
    let output = command(desk, server, args).output().expect("the program");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).expect("text");
    assert!(
        !said.contains("hush") && !said.contains("panicked"),
        "{said}"
    );
    (output.status.code().expect("a code"), said)
}

#[test]
fn a_recall_to_a_bucket_killed_on_the_way_leaves_no_object_and_goes_on() {
    let Some(server) = Server::start("recalls to buckets") else {
        return;
    };
    let desk = desk();
    server.ask("PUT", "/films", b"");
    let long: Vec<u8> = (0..LONG).map(|at| (at * 7 % 251) as u8).collect();
    server.ask("PUT", "/films/raw/long", &long);
    server.ask("PUT", "/films/raw/short", b"short");
    let (code, said) = run(&desk, &server, "store --archive A s3://films/raw");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("2 files"), "{said}");
    empty_cache(&desk);

    let recall = "recall --archive A --to s3://films/back --all-files";
    let mut killed = command(&desk, &server, recall).spawn().expect("started");
    let begun = Instant::now();
    let uploads = || String::from_utf8(server.ask("GET", "/films?uploads", b"").1).expect("XML");
    while !uploads().contains("<Key>back/raw/long</Key>") {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "nothing is uploaded"
        );
        assert_eq!(
            killed.try_wait().expect("a process"),
            None,
            "it was too quick"
        );
    }
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    assert_eq!(server.ask("GET", "/films/back/raw/long", b"").0, 404);

    let (code, said) = run(&desk, &server, recall);
    assert_eq!(code, 0, "{said}");
    assert!(server.ask("GET", "/films/back/raw/long", b"").1 == long);
    assert_eq!(server.ask("GET", "/films/back/raw/short", b"").1, b"short");
    let (code, said) = run(&desk, &server, recall);
    assert_eq!(code, 0, "{said}");

    let (code, said) = run(
        &desk,
        &server,
        "recall --archive A --to s3://none/back --all-files",
    );
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("s3://none/back: http://127.0.0.1:") && said.contains("NoSuchBucket"),
        "{said}"
    );
    let (code, said) = run(
        &desk,
        &server,
        "recall --ltfs emulated:lib#drive0 --to s3://films --all-files",
    );
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("works with --archive only"), "{said}");
}
