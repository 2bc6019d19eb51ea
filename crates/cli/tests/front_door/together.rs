//! Several `recall --archive` at once: one works, all are answered, each file comes once.

use crate::program::{Desk, TAPEWISE};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use tapewise_archive::catalogue::{Catalogue, Files, RequestState, Requests, SqliteCatalogue};
use tapewise_model::Random;

const PROCESSES: u64 = 5;
const FILES: u64 = 40;

/// An archive of two drives whose files lie on tape only.
fn desk() -> (Desk, BTreeMap<String, Vec<u8>>) {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 2 --slots 8 --cartridges 4 --scale 100000");
    desk.done(
        "catalog init A --drive emulated:lib#drive0 --drive emulated:lib#drive1 --changer emulated:lib#changer \
         --profile lto8 --block-size 8192 --segment-size 32768 --cache-gb 0.1",
    );
    std::fs::create_dir(desk.path().join("reel")).expect("a directory");
    let mut files = BTreeMap::new();
    for number in 0..FILES {
        let mut random = Random::new(5, number);
        let bytes = 1 + random.below(9_000);
        let contents: Vec<u8> = (0..bytes).map(|_| random.below(256) as u8).collect();
        let name = format!("reel/{number}.bin");
        desk.put(&name, &contents);
        files.insert(name, contents);
    }
    desk.done("store --archive A reel --copies 2");
    (desk, files)
}

#[test]
fn five_that_recall_at_once_all_get_their_files_and_each_file_comes_once() {
    let (desk, files) = desk();
    crate::archive::empty_cache(&desk);
    let names: Vec<&String> = files.keys().collect();
    let mut random = Random::new(55, 0);
    let mut lists: Vec<BTreeSet<&String>> = Vec::new();
    for _ in 0..PROCESSES {
        let some = (0..15).map(|_| names[random.below(FILES) as usize]);
        lists.push(some.collect());
    }
    // The first two deliver to one directory, the others each to its own.
    let to = |process: usize| format!("out{}", process.max(1));
    let children: Vec<_> = lists
        .iter()
        .enumerate()
        .map(|(process, list)| {
            let name = format!("list{process}");
            let list: Vec<&str> = list.iter().map(|name| name.as_str()).collect();
            desk.put(&name, list.join("\n"));
            Command::new(TAPEWISE)
                .args(["recall", "--archive", "A", "--to", &to(process)])
                .args(["--files-from", &name, "--batch-window", "500ms"])
                .current_dir(desk.path())
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the program starts")
        })
        .collect();
    let mut worked = 0;
    for (process, child) in children.into_iter().enumerate() {
        let ran = child.wait_with_output().expect("the program ends");
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "process {process}: {said}");
        let told = String::from_utf8_lossy(&ran.stdout).into_owned();
        let count = lists[process].len();
        assert!(
            told.contains(&format!("delivered  {count} files")),
            "process {process}: {told}"
        );
        worked += usize::from(!told.contains("by another tapewise"));
        for name in &lists[process] {
            let path = desk.path().join(to(process)).join(name);
            let back = std::fs::read(&path).expect("delivered");
            assert!(back == files[*name], "process {process}: {name}");
            assert_eq!(std::fs::metadata(&path).expect("delivered").nlink(), 1);
        }
    }
    assert!(worked >= 1, "somebody worked");
    let catalogue =
        SqliteCatalogue::open(&desk.path().join("A/catalogue.db")).expect("a catalogue");
    assert!(catalogue.unanswered().expect("a catalogue").is_empty());
    assert_eq!(
        catalogue.integrity().expect("a catalogue"),
        Vec::<String>::new()
    );
    for name in &names {
        assert!(
            catalogue
                .live_file(name.as_bytes())
                .expect("a catalogue")
                .is_some()
        );
    }
}

#[test]
fn what_two_ask_for_is_one_request_until_it_is_answered() {
    let (desk, _) = desk();
    let catalogue =
        SqliteCatalogue::open(&desk.path().join("A/catalogue.db")).expect("a catalogue");
    let file = catalogue.live_file(b"reel/1.bin").expect("a catalogue");
    let recall = tapewise_archive::catalogue::NewRecall {
        file: file.expect("a file"),
        terms: Default::default(),
        destination: Some(b"/somewhere".to_vec()),
    };
    let first = catalogue
        .join(&[recall.clone(), recall.clone()], 1)
        .expect("asked");
    let second = catalogue
        .join(std::slice::from_ref(&recall), 2)
        .expect("asked");
    assert_eq!([first[0], first[1]], [second[0], second[0]]);
    let answer = tapewise_archive::catalogue::Answer::Cancelled;
    catalogue.answer(first[0], &answer, 3).expect("answered");
    let third = catalogue.join(&[recall], 4).expect("asked");
    assert_ne!(third[0], first[0]);
    let state = catalogue.request(third[0]).expect("a request").state;
    assert_eq!(state, RequestState::Queued);
}

#[test]
fn what_another_delivered_first_is_not_taken_for_what_was_delivered_for_others() {
    let (desk, _) = desk();
    let held = tapewise_archive::cache::Directory::open(&desk.path().join("A/cache"));
    let held = held.expect("the lock");
    desk.put("list", "reel/1.bin\nreel/2.bin");
    let mut child = Command::new(TAPEWISE)
        .args([
            "recall",
            "--archive",
            "A",
            "--to",
            "out",
            "--files-from",
            "list",
        ])
        .current_dir(desk.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let catalogue =
        SqliteCatalogue::open(&desk.path().join("A/catalogue.db")).expect("a catalogue");
    let waiting = || catalogue.unanswered().expect("a catalogue");
    while waiting().len() < 2 {
        assert!(child.try_wait().expect("a process").is_none(), "it ended");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // One is answered by whoever has the lock, and somebody else asks for a third.
    let answer = tapewise_archive::catalogue::Answer::Delivered;
    let first = waiting()[0].id;
    catalogue.answer(first, &answer, 3).expect("answered");
    let file = catalogue.live_file(b"reel/3.bin").expect("a catalogue");
    let recall = tapewise_archive::catalogue::NewRecall {
        file: file.expect("a file"),
        terms: Default::default(),
        destination: Some(desk.path().as_os_str().as_encoded_bytes().to_vec()),
    };
    catalogue.join(&[recall], 4).expect("asked");
    drop(held);
    let ran = child.wait_with_output().expect("the program ends");
    let told = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{told}");
    assert!(told.contains("delivered  2 files"), "{told}");
    assert!(told.contains("for others 1 file\n"), "{told}");
}

#[test]
fn a_recall_that_is_interrupted_leaves_nothing_in_the_queue_unless_it_shall() {
    let (desk, _) = desk();
    let held = tapewise_archive::cache::Directory::open(&desk.path().join("A/cache"));
    let held = held.expect("the lock");
    let list: Vec<String> = (0..30).map(|number| format!("reel/{number}.bin")).collect();
    desk.put("list", list.join("\n"));
    let catalogue =
        SqliteCatalogue::open(&desk.path().join("A/catalogue.db")).expect("a catalogue");
    let waiting = || catalogue.unanswered().expect("a catalogue").len();
    for (more, left, words) in [
        (None, 0, "withdrawn  30 files"),
        (Some("--keep-queued"), 30, "queued     30 files"),
    ] {
        let child = Command::new(TAPEWISE)
            .args([
                "recall",
                "--archive",
                "A",
                "--to",
                "out",
                "--files-from",
                "list",
            ])
            .args(more)
            .current_dir(desk.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        while waiting() < 30 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let interrupt = Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status();
        assert!(interrupt.expect("kill").success());
        let ran = child.wait_with_output().expect("the program ends");
        let (told, said) = (
            String::from_utf8_lossy(&ran.stdout).into_owned(),
            String::from_utf8_lossy(&ran.stderr).into_owned(),
        );
        assert_eq!(ran.status.code(), Some(130), "{said}");
        assert!(told.contains(words), "{told}{said}");
        assert_eq!(waiting(), left, "{told}{said}");
    }
    drop(held);
    let one = desk.done_with("reel/31.bin\n", "recall --archive A --to elsewhere");
    assert!(one.err.contains("30 more recalls"), "{}", one.err);
    assert!(one.text().contains("for others 30 files"), "{}", one.text());
}

#[test]
fn a_store_beside_another_run_is_told_who_works() {
    let (desk, _) = desk();
    let cache = desk.path().join("A/cache");
    let held = tapewise_archive::cache::Directory::open(&cache).expect("the lock");
    let refused = desk.run("store --archive A reel");
    assert_eq!(refused.code, 4, "{}", refused.err);
    let me = format!("process {}", std::process::id());
    assert!(refused.err.contains(&me), "{}", refused.err);
    drop(held);
    desk.done("store --archive A reel");
}

#[test]
fn files_come_into_the_cache_while_others_share_it() {
    let (desk, _) = desk();
    let archive = tapewise_archive::open::Archive::open(&desk.path().join("A")).expect("opened");
    let epoch = archive.catalogue.new_epoch().expect("an epoch");
    let (working, _) = archive.shared_cache(epoch).expect("a cache");
    desk.put("late.bin", "late");
    let refused = desk.run("store --archive A late.bin");
    assert_eq!(refused.code, 4, "{}", refused.err);
    assert!(refused.err.contains("--later"), "{}", refused.err);
    desk.done("store --archive A late.bin --later");
    drop(working);
    let stored = desk.done("store --archive A late.bin");
    assert!(
        stored.text().contains("1 file of the same length"),
        "{}",
        stored.text()
    );
    let next = archive.catalogue.next_migrations(i64::MAX, 1);
    assert!(next.expect("a catalogue").is_empty());
}
