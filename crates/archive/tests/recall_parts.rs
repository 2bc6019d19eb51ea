//! A file that lies in pieces: it is read in the order of its bytes, all of one copy, from volumes that can be
//! had; and what cannot be read is not given up where it is all that there is.

use crate::site;

use rusqlite::{Connection, params};
use site::{Site, terms};
use tapewise_archive::catalogue::{
    CopyState, FileId, Files, NewRecall, Recorded, RequestId, Requests, VolumeId, Volumes,
};
use tapewise_archive::mover::Recalled;
use tapewise_archive::pull_list::{Asking, pull_list};
use tapewise_archive::record::{File, Owner, Segment, Volume, VolumeFormat, VolumeState};
use tapewise_archive::sums::{Kind, Sum};
use tapewise_emulator::{BadBlock, Faults};

const BLOCK: u32 = 4096;

/// What a block holds: its number.
fn block(number: u8) -> Vec<u8> {
    vec![number; BLOCK as usize]
}

/// Tapes of 40 blocks each, on which block `b` is full of `b`, and `b + 100` on the one that is wrong.
fn site(tapes: usize, wrong: Option<usize>, faults: Faults) -> Site {
    let mut site = Site::new(1, tapes as u16 + 1, faults);
    let labels: Vec<String> = site.pool.volumes().into_keys().take(tapes).collect();
    for (tape, label) in labels.iter().enumerate() {
        let drive = site.pool.mount(label, &mut site.events).expect("mounted");
        let added = if wrong == Some(tape) { 100 } else { 0 };
        for number in 0..40 {
            let written = site.pool.drive(drive).write(&block(number + added));
            written.expect("written");
        }
        let marked = site.pool.drive(drive).write_filemarks(1, false);
        marked.expect("written");
        let dismounted = site.pool.dismount(drive, &mut site.events);
        dismounted.expect("dismounted");
        add_tape(&site, label);
    }
    site
}

/// A tape in the catalogue, with nothing on it.
fn add_tape(site: &Site, label: &str) -> VolumeId {
    let volume = Volume {
        label: label.to_owned(),
        uuid: format!("blocks:{label}"),
        format: VolumeFormat::Blocks,
        state: VolumeState::Full,
        block_bytes: BLOCK,
        next_block: 0,
        written_bytes: 0,
    };
    let added = site.catalogue.add_recorded(&volume, &[], 5);
    added.expect("added")
}

/// A file of one block after the other, each on a tape, for each of its copies. The catalogue takes such
/// copies from a mover only, which cuts files where volumes are full.
fn file(site: &Site, path: &str, copies: &[&[(usize, u8)]]) -> (FileId, Vec<u8>) {
    let contents: Vec<u8> = copies[0].iter().flat_map(|(_, b)| block(*b)).collect();
    let elsewhere = site.catalogue.volumes().expect("a catalogue");
    let id = |tape: usize| elsewhere[tape].0.0;
    let first = copies[0][0];
    let recorded = Recorded {
        file: File {
            path: path.as_bytes().to_vec(),
            bytes: u64::from(BLOCK),
            modified_ns: 0,
            mode: 0o644,
            sums: vec![Sum::of(Kind::Xxh3, &contents)],
        },
        owner: Owner::default(),
        zstd_bytes: None,
        segments: vec![Segment {
            partition: 0,
            first_block: u64::from(first.1),
            last_block: u64::from(first.1),
            byte_offset: 0,
            bytes: u64::from(BLOCK),
            file_offset: 0,
            start: None,
            end: None,
        }],
    };
    let scaffold = Volume {
        label: format!("scaffold of {path}"),
        uuid: format!("scaffold of {path}"),
        format: VolumeFormat::Blocks,
        state: VolumeState::Full,
        block_bytes: BLOCK,
        next_block: 0,
        written_bytes: 0,
    };
    let scaffold = site.catalogue.add_recorded(&scaffold, &[recorded], 5);
    let scaffold = scaffold.expect("added").0;
    let file = site.id(path);
    let raw = Connection::open(site.directory.path().join("catalogue.db")).expect("a database");
    let run = |sql: &str, params: &[&dyn rusqlite::ToSql]| {
        raw.execute(sql, params).expect("done");
    };
    let bytes = contents.len() as u64;
    run("DELETE FROM segment WHERE volume = ?1", params![scaffold]);
    run("DELETE FROM copy WHERE file = ?1", params![file.0]);
    run("DELETE FROM volume WHERE id = ?1", params![scaffold]);
    let sql = "UPDATE file SET bytes = ?2, copies_wanted = ?3 WHERE id = ?1";
    run(sql, params![file.0, bytes, copies.len() as u32]);
    for (number, blocks) in (1u32..).zip(copies) {
        let sql = "INSERT INTO copy (file, number, state, written_ns) VALUES (?1, ?2, 'whole', 5)";
        run(sql, params![file.0, number]);
        let copy = raw.last_insert_rowid();
        for (at, (tape, block)) in (0u64..).zip(*blocks) {
            let sql = "INSERT INTO segment (volume, partition, first_block, byte_offset, copy, file_offset, \
                last_block, bytes) VALUES (?1, 0, ?2, 0, ?3, ?4, ?2, ?5)";
            let offset = at * u64::from(BLOCK);
            run(sql, params![id(*tape), block, copy, offset, BLOCK]);
        }
    }
    (file, contents)
}

fn recall(site: &mut Site, file: FileId) -> (RequestId, Recalled) {
    let to = site.destination("back");
    let recall = NewRecall {
        file,
        terms: terms(),
        destination: Some(to.as_os_str().as_encoded_bytes().to_vec()),
    };
    let requests = site.catalogue.submit(&[recall], 7).expect("a request");
    let recalled = site.mover(|mover| mover.recall()).expect("recalled");
    (requests[0], recalled)
}

fn assert_delivered(site: &mut Site, path: &str, (file, contents): (FileId, Vec<u8>)) -> Recalled {
    let (_, recalled) = recall(site, file);
    assert_eq!((recalled.delivered, &recalled.failed), (1, &vec![]));
    let back = std::fs::read(site.destination("back").join(path)).expect("delivered");
    assert!(back == contents, "{path}");
    recalled
}

fn states(site: &Site, file: FileId) -> Vec<CopyState> {
    let copies = site.catalogue.file(file).expect("a file").copies;
    copies.iter().map(|copy| copy.state).collect()
}

fn volume(site: &Site, tape: usize) -> VolumeId {
    site.catalogue.volumes().expect("a catalogue")[tape].0
}

#[test]
fn a_file_that_was_edited_comes_back_in_the_order_of_its_bytes_and_not_of_the_tape() {
    let mut site = site(1, None, Faults::none());
    let edited = file(&site, "edited", &[&[(0, 10), (0, 30), (0, 11)]]);
    let turned = file(&site, "turned", &[&[(0, 21), (0, 20)]]);
    let files = [edited.0, turned.0];
    assert_delivered(&mut site, "edited", edited);
    assert_delivered(&mut site, "turned", turned);
    let tape = volume(&site, 0);
    let verified = site.verify(tape).expect("verified");
    assert_eq!((verified.right, verified.lost), (2, vec![]));
    for file in files {
        assert_eq!(states(&site, file), [CopyState::Whole]);
    }
}

#[test]
fn parts_between_which_another_volume_has_one_are_read_one_after_the_other() {
    let mut site = site(2, None, Faults::none());
    let film = file(&site, "film", &[&[(0, 3), (1, 4), (0, 5)]]);
    let asking = Asking {
        files: &[film.0],
        now_ns: site.now_ns(),
        drives: 2,
        robots: 1,
    };
    let list = pull_list(site.catalogue.as_ref(), asking, &site.settings).expect("a list");
    let pulls = list.pulls.iter().map(|pull| pull.bytes / u64::from(BLOCK));
    assert_eq!(pulls.collect::<Vec<_>>(), [1, 1, 1]);
    let recalled = assert_delivered(&mut site, "film", film);
    assert_eq!(recalled.mounts, 3);
}

#[test]
fn a_file_of_which_a_part_cannot_be_had_is_read_from_its_other_copy() {
    let mut site = site(2, None, Faults::none());
    // In the catalogue, and not in the library.
    add_tape(&site, "ZZ0001");
    let film = file(&site, "film", &[&[(0, 3), (2, 4)], &[(1, 3), (1, 4)]]);
    let alone = file(&site, "alone", &[&[(0, 7), (2, 8)]]);
    let recalled = assert_delivered(&mut site, "film", film);
    let [(label, _)] = &recalled.unavailable[..] else {
        panic!("{recalled:?}");
    };
    assert_eq!(label, "ZZ0001");
    // What has no other copy waits, and nothing of it is left at its destination.
    let (_, recalled) = recall(&mut site, alone.0);
    assert_eq!((recalled.delivered, recalled.failed), (0, vec![]));
    assert_eq!(site.catalogue.unanswered().expect("a catalogue").len(), 1);
    let back = std::fs::read_dir(site.destination("back")).expect("a directory");
    assert_eq!(back.count(), 1);
}

#[test]
fn parts_of_two_copies_are_not_mixed() {
    // The wrong part is the second one of copy 2, on the tape that would be read before that of copy 1.
    let mut site = site(4, Some(2), Faults::none());
    let film = file(&site, "film", &[&[(0, 3), (3, 4)], &[(1, 3), (2, 4)]]);
    let id = film.0;
    let recalled = assert_delivered(&mut site, "film", film);
    assert_eq!(recalled.mounts, 2);
    assert_eq!(states(&site, id), [CopyState::Whole; 2]);
}

/// Block 7 of the first tape cannot be read.
fn bad() -> Faults {
    let probe = Site::new(1, 1, Faults::none());
    let labels: Vec<String> = probe.pool.volumes().into_keys().collect();
    Faults {
        bad_blocks: vec![BadBlock {
            barcode: labels[0].clone(),
            partition: 0,
            block: 7,
        }],
        ..Faults::none()
    }
}

#[test]
fn the_only_copy_is_not_given_up_because_it_cannot_be_read() {
    let mut site = site(2, None, bad());
    let (only, _) = file(&site, "only", &[&[(0, 7)]]);
    let (_, recalled) = recall(&mut site, only);
    assert_eq!((recalled.delivered, recalled.failed.len()), (0, 1));
    assert_eq!(states(&site, only), [CopyState::Whole]);
    let tape = volume(&site, 0);
    let verified = site.verify(tape).expect("verified");
    assert_eq!((verified.right, verified.lost.len()), (0, 1));
    assert_eq!(states(&site, only), [CopyState::Whole]);
    let repacked = site.mover(|mover| mover.repack(tape)).expect("kept");
    assert_eq!((repacked.forgotten, repacked.moved.failed.len()), (None, 1));
    assert_eq!(states(&site, only), [CopyState::Whole]);

    // Where there is another one, that is read from then on.
    let both = file(&site, "both", &[&[(0, 7)], &[(1, 7)]]);
    let id = both.0;
    assert_delivered(&mut site, "both", both);
    assert_eq!(states(&site, id), [CopyState::Lost, CopyState::Whole]);
}
