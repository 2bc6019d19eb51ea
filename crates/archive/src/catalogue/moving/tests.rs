//! Moves that are killed after each of their steps, in a process of their own, and then done again.

use super::*;
use crate::catalogue::{CacheKey, Loss, NewFile, NewStore, PostgresUrl, Terms, VolumeId};
use crate::record::{File, Owner, Volume, VolumeFormat, VolumeState};
use std::process::Command;
use tapewise_house::postgres::Server;

const STEPS: [Step; 6] = [
    Step::Begun,
    Step::Filled,
    Step::Arrived,
    Step::Marked,
    Step::Moved,
    Step::Ended,
];

/// How a process ends that counts as killed: nothing of it is tidied up.
const KILLED: i32 = 99;

/// What tells [`a_process_that_ends_in_a_move`] where to go, from where, and after which step it ends.
const VARIABLES: [&str; 3] = ["MOVE_FROM", "MOVE_TO", "MOVE_ENDS_AFTER"];

/// A place by its path or URL.
fn place(name: &str) -> Place {
    if PostgresUrl::is_one(name) {
        Place::Database {
            url: name.parse().expect("a URL"),
            copies: ".".into(),
        }
    } else {
        Place::File(name.into())
    }
}

/// Does nothing, except in a process that [`kill_after`] starts.
#[test]
fn a_process_that_ends_in_a_move() {
    let [Ok(from), Ok(to), Ok(after)] = VARIABLES.map(std::env::var) else {
        return;
    };
    let moved = move_in_steps(&place(&from), &place(&to), &mut |step| {
        if format!("{step:?}") == after {
            std::process::exit(KILLED);
        }
    });
    panic!("it went on: {moved:?}");
}

/// Moves a catalogue in a process that is killed after this step.
fn kill_after(step: Step, from: &str, to: &str) {
    let values = [from.to_owned(), to.to_owned(), format!("{step:?}")];
    let test = "catalogue::moving::tests::a_process_that_ends_in_a_move";
    let ran = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", test])
        .envs(VARIABLES.into_iter().zip(values))
        .output()
        .expect("a process");
    assert_eq!(ran.status.code(), Some(KILLED), "{step:?}: {ran:?}");
}

/// Puts a volume and a file into a catalogue.
fn add(name: &str, number: u64) {
    let catalogue = place(name).open().expect("a catalogue");
    let volume = Volume {
        label: format!("T{number:05}L8"),
        uuid: format!("uuid {number}"),
        format: VolumeFormat::Tapewise,
        state: VolumeState::Empty,
        block_bytes: 1000,
        next_block: 2,
        written_bytes: 0,
    };
    catalogue.add_volume(&volume, 1).expect("added");
    let file = File {
        path: format!("film {number}").into_bytes(),
        bytes: number,
        modified_ns: 3,
        mode: 0o644,
        sums: Vec::new(),
    };
    let store = NewStore {
        new: NewFile {
            file,
            owner: Owner::default(),
            copies: 1,
            replace: false,
        },
        terms: Terms::default(),
        source: None,
    };
    let stored = catalogue.store_cached(&[(CacheKey(number), store)], 2);
    stored.expect("stored");
}

fn held(name: &str) -> Vec<Held> {
    look(&place(name), what_it_holds).expect("a catalogue")
}

/// Why nobody opens a place; nothing where it is the catalogue.
fn refused(name: &str) -> Option<CatalogueError> {
    let read = place(name).open_to_read().err();
    let written = place(name).open_existing().err();
    assert_eq!(read.is_some(), written.is_some(), "{read:?} {written:?}");
    read
}

/// A directory, a file in it, and the database of a server.
fn places(server: &Server) -> (tempfile::TempDir, String, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("catalogue.db");
    let file = file.to_str().expect("UTF-8").to_owned();
    (directory, file, server.url())
}

#[test]
fn a_move_that_is_killed_after_any_step_leaves_one_catalogue_and_goes_on_when_it_is_done_again() {
    let Some(server) = Server::start("moves that are killed") else {
        return;
    };
    let (_directory, file, url) = places(&server);
    add(&file, 1);
    // What earlier moves left is in the way of all but the first.
    for step in STEPS {
        for (from, to) in [(&file, &url), (&url, &file)] {
            let before = held(from);
            kill_after(step, from, to);
            match (refused(from), refused(to)) {
                // Before the first move nothing at all is in the other place.
                (None, Some(_)) if step < Step::Moved => {}
                (Some(CatalogueError::Moved { .. }), Some(CatalogueError::Arriving { .. }))
                    if step == Step::Moved => {}
                (Some(CatalogueError::Moved { .. }), None) if step == Step::Ended => {}
                both => panic!("{from} to {to}, killed after {step:?}: {both:?}"),
            }
            let moved = move_catalogue(&place(from), &place(to));
            assert_eq!(moved.expect("moved"), before, "{from} to {to}, {step:?}");
            assert_eq!(held(to), before);
            let old = refused(from).expect("refused");
            assert!(matches!(old, CatalogueError::Moved { .. }), "{old}");
            assert!(refused(to).is_none());
        }
    }
    let left = Path::new(&file).with_file_name("catalogue.db.arriving");
    assert!(!left.exists());
}

#[test]
fn whoever_had_a_catalogue_open_before_it_was_moved_changes_nothing_there() {
    let Some(server) = Server::start("moves of catalogues that are open") else {
        return;
    };
    let (_directory, file, url) = places(&server);
    add(&file, 1);
    for (from, to) in [(&file, &url), (&url, &file)] {
        let open = place(from).open_existing().expect("a catalogue");
        // It has a session with the server.
        open.volumes().expect("read");
        move_catalogue(&place(from), &place(to)).expect("moved");
        let refused = open.forget_volume(VolumeId(1), Loss::Refused, 2);
        let refused = refused.expect_err("refused");
        assert!(matches!(refused, CatalogueError::Moved { .. }), "{refused}");
    }
}

#[test]
fn what_changes_after_a_move_was_killed_goes_along_with_the_next_one() {
    let Some(server) = Server::start("catalogues that go on after a move was killed") else {
        return;
    };
    let (_directory, file, url) = places(&server);
    add(&file, 1);
    for (number, (from, to)) in (2..).zip([(&file, &url), (&url, &file)]) {
        kill_after(Step::Arrived, from, to);
        add(from, number);
        let now = held(from);
        move_catalogue(&place(from), &place(to)).expect("moved");
        assert_eq!(held(to), now);
        assert!(refused(to).is_none());
    }
}

#[test]
fn a_move_that_was_killed_is_ended_by_nothing_but_the_same_move() {
    let Some(server) = Server::start("moves that are not the same") else {
        return;
    };
    let (directory, file, url) = places(&server);
    let other = directory.path().join("other");
    let (elsewhere, other) = (
        directory.path().join("elsewhere"),
        other.to_str().expect("UTF-8"),
    );
    let elsewhere = elsewhere.to_str().expect("UTF-8");
    add(&file, 1);
    add(other, 2);
    for there in [url.as_str(), elsewhere] {
        // The old place counts: another catalogue does not go over what has arrived of this one.
        kill_after(Step::Arrived, &file, there);
        let error = move_catalogue(&place(other), &place(there)).expect_err("refused");
        assert!(matches!(error, CatalogueError::Arriving { .. }), "{error}");
        assert!(refused(other).is_none());
    }
    // It may go to another place than it was going to.
    kill_after(Step::Moved, &file, elsewhere);
    for there in [url.as_str(), other] {
        let error = move_catalogue(&place(&file), &place(there)).expect_err("refused");
        assert!(matches!(error, CatalogueError::Moved { .. }), "{error}");
        assert!(error.to_string().contains("run the same command again"));
    }
    let arriving = refused(elsewhere).expect("refused").to_string();
    assert!(arriving.contains(&file), "{arriving}");
    let before = held(elsewhere);
    let moved = move_catalogue(&place(&file), &place(elsewhere)).expect("moved");
    assert_eq!(moved, before);
    // What had arrived elsewhere before is left of it, and replaced.
    move_catalogue(&place(elsewhere), &place(&url)).expect("moved");
    assert_eq!(held(&url), before);
    // It went on from there: the first place does not lead to what the second one was.
    let error = move_catalogue(&place(&file), &place(elsewhere)).expect_err("refused");
    assert!(matches!(error, CatalogueError::Moved { .. }), "{error}");
}

#[test]
fn the_log_of_a_catalogue_that_was_moved_is_not_taken_for_that_of_the_one_in_its_place() {
    let Some(server) = Server::start("logs of catalogues that were moved") else {
        return;
    };
    let (_directory, file, url) = places(&server);
    add(&file, 1);
    // Whoever closes a file last ends its log, but not if it only reads.
    let reader = place(&file).open_to_read().expect("opened");
    reader.tie().expect("read");
    move_catalogue(&place(&file), &place(&url)).expect("moved");
    drop(reader);
    let log = Path::new(&file).with_file_name("catalogue.db-wal");
    assert!(log.metadata().expect("a log").len() > 0);
    add(&url, 2);
    let now = held(&url);
    move_catalogue(&place(&url), &place(&file)).expect("moved back");
    let catalogue = place(&file).open_existing().expect("the catalogue");
    assert_eq!(catalogue.integrity().expect("asked"), Vec::<String>::new());
    drop(catalogue);
    assert_eq!(held(&file), now);
}

#[test]
fn a_catalogue_does_not_go_where_it_is() {
    let Some(server) = Server::start("a catalogue that stays where it is") else {
        return;
    };
    let (_directory, file, url) = places(&server);
    for there in [&file, &url] {
        place(there).open().expect("an empty catalogue");
        let error = move_catalogue(&place(there), &place(there)).expect_err("refused");
        assert!(matches!(error, CatalogueError::Occupied { .. }), "{error}");
        assert!(refused(there).is_none());
    }
}
