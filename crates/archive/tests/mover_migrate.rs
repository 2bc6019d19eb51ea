//! From the cache onto volumes: nobody waits for what no volume takes, what is damaged is never written,
//! and what is compressed before it is written comes back with tapewise and without.

use crate::site;

use rusqlite::Connection;
use site::{Site, Stopping, noise};
use std::io::Write;
use std::process::{Command, Stdio};
use tapewise_archive::catalogue::{Copy, CopyState, Files, Loss, Recorded, Volumes, Writes};
use tapewise_archive::mover::{MoveError, Others, Precompress};
use tapewise_archive::record::{File, Owner, Segment, Volume, VolumeFormat, VolumeState};
use tapewise_emulator::{BadBlock, Faults};
use tapewise_formats::event::Action;
use tapewise_scsi::commands::ReadOutcome;

fn copies(site: &Site, path: &str) -> Vec<Copy> {
    site.catalogue.file(site.id(path)).expect("a file").copies
}

/// Files that shrink, with names from a prefix.
fn texts(prefix: &str, count: u64) -> Vec<(String, Vec<u8>)> {
    let text = |number: u64| {
        let line = format!("frame {number} of the only copy of a film\n");
        line.repeat(200 + 40 * number as usize).into_bytes()
    };
    (0..count)
        .map(|number| (format!("{prefix}/{number}"), text(number)))
        .collect()
}

/// The catalogue is lost.
fn lose(site: &Site) {
    for (id, _) in site.catalogue.volumes().expect("volumes") {
        let forgotten = site.catalogue.forget_volume(id, Loss::Accepted, 5);
        forgotten.expect("forgotten");
    }
    let raw = Connection::open(site.directory.path().join("catalogue.db"));
    let delete = "DELETE FROM request; DELETE FROM sum; DELETE FROM file";
    raw.expect("a database")
        .execute_batch(delete)
        .expect("deleted");
}

const QUICK: Precompress = Precompress {
    level: 3,
    threads: 2,
};

#[test]
fn a_file_that_no_volume_takes_keeps_no_other_one_waiting() {
    let mut site = Site::new(1, 2, Faults::none());
    // Three copies and two cartridges: the third one has no place.
    let greedy = site.store(4, 3, 1);
    let modest = site.store(30, 1, 2);
    let error = site
        .mover(|mover| mover.migrate(i64::MAX))
        .expect_err("no third volume");
    assert!(
        matches!(
            error,
            MoveError::NoVolume {
                files: 4,
                volumes: 2,
                ..
            }
        ),
        "{error}"
    );
    for (path, _) in &greedy {
        let states: Vec<CopyState> = copies(&site, path).iter().map(|copy| copy.state).collect();
        assert_eq!(states, [CopyState::Whole; 2], "{path}");
    }
    for (path, _) in &modest {
        assert_eq!(copies(&site, path).len(), 1, "{path}");
    }
    site.assert_integrity();
}

#[test]
fn two_copies_in_parts_find_volumes_that_hold_nothing_of_each_other() {
    let mut site = Site::new(1, 5, Faults::none());
    site.settings.part_bytes = 16 << 10;
    site.settings.volume_bytes = Some(48 << 10);
    let files = site.store(12, 2, 5);
    let migrated = site
        .mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    assert_eq!((migrated.files, migrated.refused.len()), (12, 0));
    site.assert_integrity();
    site.empty_cache();
    site.assert_comes_back(&files, "back");
}

#[test]
fn a_cartridge_that_holds_more_than_was_read_in_is_neither_repacked_away_nor_forgotten() {
    let mut site = Site::new(1, 9, Faults::none());
    site.settings.part_bytes = 16 << 10;
    site.settings.volume_bytes = Some(48 << 10);
    let film = ("film".to_owned(), noise(5, 120 << 10));
    site.store_these(std::slice::from_ref(&film), 1);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("written");
    site.empty_cache();
    let holds_more = |site: &mut Site| {
        let known = site.catalogue.find_volume("TW0001").expect("a catalogue");
        let (id, _) = known.expect("read in");
        let repacked = site.mover(|mover| mover.repack(id)).expect("repacked");
        assert_eq!(repacked.forgotten.is_none(), repacked.holds_more.is_some());
        repacked.holds_more
    };
    lose(&site);
    // Parts alone, as the other cartridges are elsewhere; or as somebody stops it all before they were read.
    site.read_in(&["TW0001"]);
    let more = holds_more(&mut site).expect("more");
    assert!(more.contains("parts of files without the others"), "{more}");
    // Nobody wants them when the file was replaced.
    site.store_these(&[("film".to_owned(), noise(6, 1000))], 1);
    site.read_in(&["TW0001"]);
    assert_eq!(holds_more(&mut site), None);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("written");
    site.empty_cache();
    lose(&site);
    let labels = ["TW0001", "TW0002", "TW0003", "TW0004"];
    let stopped = site.mover(|mover| {
        (mover.stop, mover.log) = Stopping::at(Action::Mount, 2);
        mover.read_in(&labels.map(str::to_owned), Others::Add, 1)
    });
    stopped.expect_err("stopped");
    assert_eq!(holds_more(&mut site), Some(more.clone()));
    // Or one of them is being written, and so is not added.
    site.read_in(&["TW0002"]);
    let (other, _) = site
        .catalogue
        .find_volume("TW0002")
        .expect("one")
        .expect("it");
    site.store(1, 1, 9);
    let begun = site
        .catalogue
        .begin_write(other, &[(site.id("d9/0"), 1)], 9);
    let begun = begun.expect("begun");
    let rebuilt = site.read_in(&labels);
    assert_eq!((rebuilt.joined.files, rebuilt.left_out.len()), (0, 1));
    assert_eq!(holds_more(&mut site), Some(more));
    site.catalogue.abandon_write(begun.id).expect("given up");
    assert_eq!(site.read_in(&labels).joined.files, 1);
    // Alone again, but the catalogue knows the file.
    site.read_in(&["TW0001"]);
    site.assert_comes_back(std::slice::from_ref(&film), "back");
    site.empty_cache();
    assert_eq!(holds_more(&mut site), None);

    // A place that could not be read, until the drive was cleaned.
    let bad_blocks = vec![BadBlock {
        barcode: "TW0001".to_owned(),
        partition: 0,
        block: 3,
    }];
    let faults = Faults {
        bad_blocks,
        ..Faults::none()
    };
    let mut site = Site::new(1, 3, faults);
    let files = site.store(4, 1, 3);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("written");
    site.empty_cache();
    lose(&site);
    site.read_in(&["TW0001"]);
    assert!(holds_more(&mut site).is_some());
    site = site.with_faults(Faults::none());
    site.read_in(&["TW0001"]);
    site.assert_comes_back(&files, "back");
    assert_eq!(holds_more(&mut site), None);
}

#[test]
fn what_is_left_of_a_copy_that_was_given_up_is_not_missing_after_a_rebuild() {
    let mut site = Site::new(1, 9, Faults::none());
    site.settings.part_bytes = 16 << 10;
    site.settings.volume_bytes = Some(48 << 10);
    let film = [("film".to_owned(), noise(5, 120 << 10))];
    site.store_these(&film, 1);
    let stopped = site.mover(|mover| {
        (mover.stop, mover.log) = Stopping::at(Action::Mount, 2);
        mover.migrate(i64::MAX)
    });
    stopped.expect_err("stopped");
    // Shorter ones: it begins again.
    site.settings.part_bytes = 8 << 10;
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("written");
    site.empty_cache();
    let volumes = site.catalogue.volumes().expect("volumes");
    let labels: Vec<&str> = volumes.iter().map(|(_, one)| one.label.as_str()).collect();
    assert!(labels.len() > 3, "{labels:?}");
    lose(&site);
    let alone = site.read_in(&labels[..1]);
    assert_eq!((alone.joined.files, alone.left_out.len()), (0, 1));
    let rebuilt = site.read_in(&labels);
    assert_eq!((rebuilt.joined.files, rebuilt.left_out), (1, vec![]));
    assert_eq!(site.read_in(&labels[..1]).left_out, []);
    site.assert_comes_back(&film, "back");
}

#[test]
fn a_file_that_was_damaged_in_the_cache_is_never_written() {
    for (part_bytes, precompress) in [(1 << 30, None), (16 << 10, None), (1 << 30, Some(QUICK))] {
        let mut site = Site::new(1, 2, Faults::none());
        site.settings.part_bytes = part_bytes;
        site.settings.precompress = precompress;
        let mut files = site.store(12, 1, 3);
        let more = texts("t", 6);
        site.store_these(&more, 1);
        files.extend(more);
        for path in ["d3/1", "t/4"] {
            let place = site.in_cache(path);
            let mut contents = std::fs::read(&place).expect("a file of the cache");
            *contents.last_mut().expect("a byte") ^= 1;
            std::fs::write(&place, contents).expect("written");
        }
        let migrated = site
            .mover(|mover| mover.migrate(i64::MAX))
            .expect("migrated");
        assert_eq!(
            (migrated.files, migrated.refused.len()),
            (16, 2),
            "{part_bytes} {migrated:?}"
        );
        for (file, why) in &migrated.refused {
            assert!(why.contains("xxh3:"), "{file:?}: {why}");
        }
        for path in ["d3/1", "t/4"] {
            assert_eq!(copies(&site, path), [], "{path}");
        }
        // Put right by hand, it goes to tape as if nothing had been.
        for path in ["d3/1", "t/4"] {
            let (_, contents) = files.iter().find(|(name, _)| name == path).expect("a file");
            std::fs::write(site.in_cache(path), contents).expect("written");
        }
        let migrated = site
            .mover(|mover| mover.migrate(i64::MAX))
            .expect("migrated");
        assert_eq!((migrated.files, migrated.refused.len()), (2, 0));
        site.empty_cache();
        site.assert_comes_back(&files, "back");
        site.assert_integrity();
    }
}

#[test]
fn a_file_that_is_gone_from_the_cache_keeps_no_other_one_from_tape() {
    for precompress in [None, Some(QUICK)] {
        let mut site = Site::new(1, 2, Faults::none());
        site.settings.precompress = precompress;
        site.store_these(&texts("t", 6), 1);
        std::fs::remove_file(site.in_cache("t/2")).expect("removed");
        let migrated = site
            .mover(|mover| mover.migrate(i64::MAX))
            .expect("migrated");
        assert_eq!((migrated.files, migrated.refused.len()), (5, 1));
        let why = &migrated.refused[0].1;
        assert!(why.contains("should be in the cache"), "{why}");
    }
}

#[test]
fn what_shrinks_is_compressed_before_it_is_written_and_comes_back_as_it_was() {
    let mut site = Site::new(1, 4, Faults::none());
    site.settings.precompress = Some(QUICK);
    let mut files = texts("t", 30);
    site.store_these(&files, 2);
    let noise = site.store(12, 2, 3);
    let migrated = site
        .mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    assert_eq!((migrated.files, migrated.refused.len()), (42, 0));
    let text_bytes: u64 = 2 * files.iter().map(|(_, text)| text.len() as u64).sum::<u64>();
    let compressed = migrated.compressed;
    assert_eq!(
        (compressed.copies, compressed.file_bytes, compressed.no_room),
        (60, text_bytes, 0)
    );
    assert!(compressed.frame_bytes * 10 < text_bytes, "{compressed:?}");
    for (path, _) in &files {
        assert!(
            copies(&site, path)
                .iter()
                .all(|copy| copy.zstd_bytes.is_some()),
            "{path}"
        );
    }
    for (path, _) in &noise {
        assert!(
            copies(&site, path)
                .iter()
                .all(|copy| copy.zstd_bytes.is_none()),
            "{path}"
        );
    }
    site.assert_integrity();
    site.empty_cache();
    files.extend(noise);
    site.assert_comes_back(&files, "back");
    let volumes = site.catalogue.volumes().expect("a catalogue");
    for (id, volume) in volumes {
        let verified = site.verify(id).expect("verified");
        let found = (verified.right, verified.parts, verified.lost.len());
        assert_eq!(found, (42, 0, 0), "{}", volume.label);
    }
}

#[test]
fn compressed_copies_are_known_again_when_the_catalogue_was_lost() {
    let mut site = Site::new(1, 2, Faults::none());
    site.settings.precompress = Some(QUICK);
    let mut files = texts("t", 12);
    site.store_these(&files, 1);
    files.extend(site.store(8, 1, 3));
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    site.empty_cache();
    let (id, volume) = site.catalogue.volumes().expect("a catalogue").remove(0);
    let forgotten = site.catalogue.forget_volume(id, Loss::Accepted, 9);
    assert_eq!(forgotten.expect("forgotten").retired, 20);
    let added = site::added(site.read_in(&[&volume.label]));
    let counts = (added.left_out.len(), added.troubles.len());
    assert_eq!((added.joined.files, counts), (20, (0, 0)));
    site.assert_integrity();
    site.assert_comes_back(&files, "back");
}

#[test]
fn a_tape_of_others_that_is_known_by_a_list_of_blocks_is_read_and_not_verified() {
    let mut site = Site::new(1, 2, Faults::none());
    let labels: Vec<String> = site.pool.volumes().into_keys().collect();
    let label = labels[0].clone();
    let block = |number: u8| vec![number; 4096];
    let drive = site.pool.mount(&label, &mut site.events).expect("mounted");
    for number in 0..40 {
        let written = site.pool.drive(drive).write(&block(number));
        written.expect("written");
    }
    site.pool
        .drive(drive)
        .write_filemarks(1, false)
        .expect("written");
    site.pool
        .dismount(drive, &mut site.events)
        .expect("dismounted");
    let volume = Volume {
        label: label.clone(),
        uuid: format!("blocks:{label}"),
        format: VolumeFormat::Blocks,
        state: VolumeState::Full,
        block_bytes: 4096,
        next_block: 0,
        written_bytes: 0,
    };
    let listed = |first: u64, count: u64, offset: u64, bytes: u64| Recorded {
        file: File {
            path: format!("{label}/{first}").into_bytes(),
            bytes,
            modified_ns: 0,
            mode: 0o644,
            sums: Vec::new(),
        },
        owner: Owner::default(),
        zstd_bytes: None,
        segments: vec![Segment {
            partition: 0,
            first_block: first,
            last_block: first + count - 1,
            byte_offset: offset,
            bytes,
            file_offset: 0,
            start: None,
            end: None,
        }],
    };
    let files = [
        listed(30, 3, 0, 3 * 4096),
        listed(2, 1, 100, 50),
        listed(11, 2, 4000, 196),
    ];
    site.catalogue
        .add_recorded(&volume, &files, 5)
        .expect("added");
    let bytes =
        |first: u8, count: u8| -> Vec<u8> { (first..first + count).flat_map(block).collect() };
    let wanted = [
        (format!("{label}/30"), bytes(30, 3)),
        (format!("{label}/2"), bytes(2, 1)[100..150].to_vec()),
        (format!("{label}/11"), bytes(11, 2)[4000..4196].to_vec()),
    ];
    let to = site.destination("back");
    site.request(&wanted.iter().collect::<Vec<_>>(), &to);
    let recalled = site.mover(|mover| mover.recall()).expect("recalled");
    assert_eq!(
        (recalled.delivered, recalled.unverified, recalled.failed),
        (3, 3, vec![])
    );
    for (path, contents) in &wanted {
        assert_eq!(
            &std::fs::read(to.join(path)).expect("delivered"),
            contents,
            "{path}"
        );
    }
}

#[test]
fn a_cartridge_holds_more_files_when_they_are_compressed_before_they_are_written() {
    let on_tape = |precompress: Option<Precompress>| {
        let mut site = Site::new(1, 2, Faults::none());
        site.settings.precompress = precompress;
        site.store_these(&texts("t", 20), 1);
        site.mover(|mover| mover.migrate(i64::MAX))
            .expect("migrated");
        let volumes = site.catalogue.volumes().expect("a catalogue");
        volumes
            .iter()
            .map(|(_, volume)| volume.written_bytes)
            .sum::<u64>()
    };
    let (plain, squeezed) = (on_tape(None), on_tape(Some(QUICK)));
    assert!(squeezed * 5 < plain, "{squeezed} of {plain}");
    // The number of threads changes nothing.
    let one = Precompress {
        threads: 1,
        ..QUICK
    };
    assert_eq!(squeezed, on_tape(Some(one)));
}

#[test]
fn without_room_for_a_frame_a_file_is_written_as_it_is_and_that_is_counted() {
    let mut site = Site::new(1, 2, Faults::none());
    site.settings.precompress = Some(QUICK);
    let big = ("big".to_owned(), b"so and so on, ".repeat(40_000_000 / 14));
    site.store_these(std::slice::from_ref(&big), 1);
    // Somebody else fills the cache up.
    let full = site.cache.reserve((1 << 30) - 50_000_000, 1).expect("room");
    let migrated = site
        .mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    assert_eq!(
        (migrated.compressed.copies, migrated.compressed.no_room),
        (0, 1)
    );
    drop(full);
    site.empty_cache();
    site.assert_comes_back(&[big], "back");
}

/// The bytes of a cartridge's tape files.
fn tape_files(site: &mut Site, label: &str) -> Vec<Vec<u8>> {
    let drive = site.pool.mount(label, &mut site.events).expect("mounted");
    let drive = site.pool.drive(drive);
    drive.rewind().expect("rewound");
    let mut files = vec![Vec::new()];
    let mut buffer = vec![0; 1 << 20];
    loop {
        match drive.read(&mut buffer).expect("read") {
            ReadOutcome::Block { bytes } => {
                files.last_mut().expect("a file").extend(&buffer[..bytes]);
            }
            ReadOutcome::Filemark => files.push(Vec::new()),
            ReadOutcome::EndOfData => return files,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn tar_and_zstd_alone_restore_what_was_compressed() {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !has("tar") || !has("zstd") {
        eprintln!("SKIPPED: there is no tar or no zstd here, restoring with them was not tried");
        return;
    }
    let mut site = Site::new(1, 1, Faults::none());
    site.settings.precompress = Some(QUICK);
    let files = texts("t", 8);
    site.store_these(&files, 1);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    let label = site.catalogue.volumes().expect("a catalogue")[0]
        .1
        .label
        .clone();
    let to = site.destination("by-hand");
    for segment in tape_files(&mut site, &label)
        .iter()
        .filter(|file| !file.is_empty())
    {
        let mut tar = Command::new("tar")
            .args(["-x", "--warning=no-unknown-keyword"])
            .current_dir(&to)
            .stdin(Stdio::piped())
            .spawn()
            .expect("tar starts");
        let mut into = tar.stdin.take().expect("a pipe");
        into.write_all(segment).expect("tar takes it");
        drop(into);
        assert!(tar.wait().expect("tar ends").success());
    }
    for (path, contents) in &files {
        let zst = to.join(format!("{path}.zst"));
        let done = Command::new("zstd").args(["-q", "-d"]).arg(&zst).status();
        assert!(done.expect("zstd starts").success(), "{path}");
        assert!(
            &std::fs::read(to.join(path)).expect("restored") == contents,
            "{path}"
        );
    }
}

#[test]
fn of_a_file_that_is_longer_than_a_cartridge_nothing_is_written() {
    // Cartridges of 12 TB at 1 to 4 million: 3 MB.
    let mut site = Site::at_scale(1, 10, Faults::none(), 4_000_000);
    site.store(10, 1, 1);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    let before = site.catalogue.volumes().expect("a catalogue");
    site.store_these(&[("huge".to_owned(), noise(0, 3_100_000))], 1);
    let migrated = site.mover(|mover| mover.migrate(i64::MAX));
    let refused = migrated.expect("nothing else waits").refused;
    let why = "it does not fit a whole cartridge: set part_bytes below 3000000";
    assert_eq!(refused, [(site.id("huge"), why.to_owned())]);
    assert_eq!(site.catalogue.volumes().expect("a catalogue"), before);
}

#[test]
fn a_file_that_fits_no_cartridge_is_refused_and_uses_none_up() {
    // Cartridges of 12 TB at 1 to 4 million: 3 MB. The profile does not say so.
    let mut site = Site::at_scale(1, 10, Faults::none(), 4_000_000);
    site.settings.profile.cartridge.capacity_gb = None;
    let huge: Vec<(String, Vec<u8>)> = (0..3)
        .map(|number| (format!("huge/{number}"), noise(number, 5_000_000)))
        .collect();
    let small = site.store(30, 1, 1);
    site.store_these(&huge, 1);
    let more = site.store(30, 1, 2);
    let migrated = site
        .mover(|mover| mover.migrate(i64::MAX))
        .expect("all that fits");
    assert_eq!(migrated.files, 60);
    assert_eq!(migrated.refused.len(), 3, "{:?}", migrated.refused);
    let mut below = 0;
    for (_, why) in &migrated.refused {
        let (words, bytes) = why.rsplit_once(' ').expect("a number");
        assert_eq!(
            words,
            "it does not fit a whole cartridge: set part_bytes below"
        );
        below = bytes.parse().expect("a number");
        assert!((2_500_000..3_500_000).contains(&below), "{why}");
    }
    let volumes = site.catalogue.volumes().expect("a catalogue");
    let full = volumes
        .iter()
        .filter(|(_, volume)| volume.state == VolumeState::Full);
    assert!(full.count() <= 1, "{volumes:?}");
    assert!(volumes.len() <= 2, "{volumes:?}");
    site.assert_integrity();

    // What was said helps.
    site.settings.part_bytes = below / 3;
    let migrated = site
        .mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    assert_eq!((migrated.files, migrated.refused), (3, vec![]));
    site.empty_cache();
    for files in [huge, small, more] {
        site.assert_comes_back(&files, "back");
    }
}
