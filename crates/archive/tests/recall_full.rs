//! A destination is full: what is to go there waits, and what goes elsewhere goes on.

use crate::{site, small_disk};

use site::{Site, terms};
use small_disk::SmallDisk;
use std::path::Path;
use std::sync::Arc;
use tapewise_archive::cache::{Cache, Water};
use tapewise_archive::catalogue::{
    Answer, CacheRecords, CopyState, Files, NewRecall, Recorded, RequestId, RequestState, Requests,
    Volumes,
};
use tapewise_archive::mover::{FullPlace, Precompress};
use tapewise_archive::record::{File, Owner, Segment, Volume, VolumeFormat, VolumeState};
use tapewise_emulator::Faults;
use tapewise_library::pool::Pace;

const BLOCK: u32 = 4096;

/// More than any disk of a machine that runs tests has room for, and no more than a file may have.
const HUGE_BYTES: u64 = 12 << 40;

/// A file of one block; of such a length where the block is said to be a zstd frame.
fn listed(path: &str, block: u64, expanded_bytes: Option<u64>) -> Recorded {
    Recorded {
        file: File {
            path: path.as_bytes().to_vec(),
            bytes: expanded_bytes.unwrap_or(u64::from(BLOCK)),
            modified_ns: 0,
            mode: 0o644,
            sums: Vec::new(),
        },
        owner: Owner::default(),
        zstd_bytes: expanded_bytes.map(|_| u64::from(BLOCK)),
        segments: vec![Segment {
            partition: 0,
            first_block: block,
            last_block: block,
            byte_offset: 0,
            bytes: u64::from(BLOCK),
            file_offset: 0,
            start: None,
            end: None,
        }],
    }
}

/// Two files that share a block: they are read together.
fn neighbours() -> [Recorded; 2] {
    let bytes = u64::from(BLOCK) * 3 / 2;
    [
        ("neighbour", 30, 0),
        ("other neighbour", 31, bytes % u64::from(BLOCK)),
    ]
    .map(|(path, first_block, byte_offset)| {
        let mut file = listed(path, first_block, None);
        file.file.bytes = bytes;
        let segment = &mut file.segments[0];
        segment.last_block = first_block + 1;
        segment.byte_offset = byte_offset;
        segment.bytes = bytes;
        file
    })
}

/// Two tapes of 40 blocks each; the file `huge` lies first on the first one, then small ones.
fn site(pace: Pace) -> Site {
    let mut site = Site::new(2, 3, Faults::none());
    site.at_pace(pace);
    let labels: Vec<String> = site.pool.volumes().into_keys().take(2).collect();
    for (tape, label) in labels.iter().enumerate() {
        let drive = site.pool.mount(label, &mut site.events).expect("mounted");
        for number in 0..40 {
            let written = site.pool.drive(drive).write(&[number; BLOCK as usize]);
            written.expect("written");
        }
        let marked = site.pool.drive(drive).write_filemarks(1, false);
        marked.expect("written");
        let dismounted = site.pool.dismount(drive, &mut site.events);
        dismounted.expect("dismounted");
        let volume = Volume {
            label: label.clone(),
            uuid: format!("blocks:{label}"),
            format: VolumeFormat::Blocks,
            state: VolumeState::Full,
            block_bytes: BLOCK,
            next_block: 0,
            written_bytes: 0,
        };
        let mut files: Vec<Recorded> = (1..20)
            .map(|block| listed(&format!("t{tape}/{block}"), block, None))
            .collect();
        if tape == 0 {
            files.push(listed("huge", 0, Some(HUGE_BYTES)));
            files.extend(neighbours());
        }
        let added = site.catalogue.add_recorded(&volume, &files, 5);
        added.expect("added");
    }
    site
}

fn request(site: &Site, path: &str, to: &Path) -> RequestId {
    let recall = NewRecall {
        file: site.id(path),
        terms: terms(),
        destination: Some(to.as_os_str().as_encoded_bytes().to_vec()),
    };
    let requests = site.catalogue.submit(&[recall], 1);
    requests.expect("a request")[0]
}

fn state(site: &Site, request: RequestId) -> RequestState {
    site.catalogue.request(request).expect("a request").state
}

#[test]
fn what_goes_to_a_full_destination_waits_and_what_goes_elsewhere_is_delivered() {
    for pace in [Pace::Turns, Pace::Threads] {
        let mut site = site(pace);
        let (full, open) = (site.destination("full"), site.destination("open"));
        let huge = request(&site, "huge", &full);
        let behind = request(&site, "t0/3", &full);
        let elsewhere = [
            request(&site, "t0/5", &open),
            request(&site, "t1/5", &open),
            request(&site, "t1/9", &open),
        ];
        let done = site.mover(|mover| mover.recall()).expect("recalled");
        assert_eq!((done.delivered, done.failed), (3, vec![]), "{pace:?}");
        for request in elsewhere {
            assert_eq!(state(&site, request), RequestState::Delivered, "{pace:?}");
        }
        for request in [huge, behind] {
            assert_eq!(state(&site, request), RequestState::Queued, "{pace:?}");
        }
        let [FullPlace { place, why }] = &done.full[..] else {
            panic!("{pace:?}: {:?}", done.full);
        };
        assert_eq!(place.as_deref(), Some(full.as_os_str().as_encoded_bytes()));
        assert!(why.contains("No space left"), "{why}");
        site.assert_integrity();

        // With room, that is without the huge one, the same goes on.
        let cancelled = site.catalogue.answer(huge, &Answer::Cancelled, 9);
        cancelled.expect("cancelled");
        let done = site.mover(|mover| mover.recall()).expect("recalled");
        assert_eq!((done.delivered, done.full), (1, vec![]), "{pace:?}");
        assert_eq!(
            std::fs::read(full.join("t0/3")).expect("delivered"),
            [3; 4096]
        );
    }
}

/// A recall into the cache, where the file is to stay.
fn fetch(site: &Site, path: &str) -> RequestId {
    let recall = NewRecall {
        file: site.id(path),
        terms: terms(),
        destination: None,
    };
    let kept = site.catalogue.pin(recall.file, "ada", None);
    kept.expect("pinned");
    site.catalogue.submit(&[recall], 1).expect("a request")[0]
}

#[test]
fn what_goes_into_a_full_cache_waits_and_its_cartridge_is_not_mounted_before_there_is_room() {
    for pace in [Pace::Turns, Pace::Threads] {
        let mut site = site(pace);
        // Room for one file.
        site.reopen_cache(5_000, 4_500);
        let open = site.destination("open");
        let asked = [fetch(&site, "t0/3"), fetch(&site, "t0/9")];
        let elsewhere = request(&site, "t0/15", &open);
        let done = site.mover(|mover| mover.recall()).expect("recalled");
        assert_eq!((done.delivered, done.failed), (2, vec![]), "{pace:?}");
        assert_eq!(done.mounts, 1, "{pace:?}");
        assert_eq!(state(&site, elsewhere), RequestState::Delivered);
        let states = asked.map(|request| state(&site, request));
        let (came, waits) = match states {
            [RequestState::Delivered, RequestState::Queued] => ("t0/3", asked[1]),
            [RequestState::Queued, RequestState::Delivered] => ("t0/9", asked[0]),
            states => panic!("{pace:?}: {states:?}"),
        };

        // What waits on another cartridge is not mounted either.
        let other = fetch(&site, "t1/5");
        let done = site.mover(|mover| mover.recall()).expect("nothing to do");
        assert_eq!((done.delivered, done.mounts), (0, 0), "{pace:?}");
        let said = done.full[0].to_string();
        assert!(
            said.starts_with("the cache is full of files that it has to keep: 904 bytes of room"),
            "{said}"
        );
        assert_eq!((done.full.len(), done.unavailable), (1, vec![]));

        // With room for one more, one more comes.
        site.catalogue.unpin(site.id(came), "ada").expect("let go");
        let done = site.mover(|mover| mover.recall()).expect("recalled");
        assert_eq!(done.delivered, 1, "{pace:?}");
        let states = [waits, other].map(|request| state(&site, request));
        let delivered = states
            .iter()
            .filter(|state| **state == RequestState::Delivered);
        assert_eq!(delivered.count(), 1, "{pace:?}: {states:?}");
        site.assert_integrity();
    }
}

#[test]
fn of_two_cartridges_one_is_mounted_if_the_cache_has_room_for_one_file() {
    for pace in [Pace::Turns, Pace::Threads] {
        let mut site = site(pace);
        site.reopen_cache(5_000, 4_500);
        let asked = [fetch(&site, "t0/3"), fetch(&site, "t1/5")];
        let done = site.mover(|mover| mover.recall()).expect("recalled");
        assert_eq!((done.delivered, done.mounts), (1, 1), "{pace:?}");
        assert_eq!(done.full.len(), 1, "{pace:?}");
        let states = asked.map(|request| state(&site, request));
        assert!(states.contains(&RequestState::Queued), "{pace:?}");
        // With room for two both drives read; one of them has its cartridge.
        site.reopen_cache(9_000, 8_500);
        for path in ["t0/3", "t1/5"] {
            site.catalogue.unpin(site.id(path), "ada").expect("let go");
        }
        fetch(&site, "t0/9");
        let done = site.mover(|mover| mover.recall()).expect("recalled");
        assert_eq!((done.delivered, done.mounts), (2, 1), "{pace:?}");
        site.assert_integrity();
    }
}

#[test]
fn of_two_files_that_are_read_together_one_comes_if_the_cache_has_room_for_one() {
    let mut site = site(Pace::Turns);
    site.reopen_cache(7_000, 4_500);
    let asked = [fetch(&site, "neighbour"), fetch(&site, "other neighbour")];
    let done = site.mover(|mover| mover.recall()).expect("recalled");
    assert_eq!((done.delivered, done.mounts, done.failed), (1, 1, vec![]));
    let states = asked.map(|request| state(&site, request));
    assert_eq!(states, [RequestState::Delivered, RequestState::Queued]);
    let done = site.mover(|mover| mover.recall()).expect("nothing to do");
    assert_eq!((done.delivered, done.mounts), (0, 0));
    site.assert_integrity();
}

#[test]
fn a_tape_of_which_all_goes_to_a_full_destination_is_not_read_on_and_others_are() {
    let mut site = site(Pace::Turns);
    // One drive knows that the destination is full before it looks for the other tape.
    site.pool.set_aside(1, "not needed", &mut site.events);
    let (full, open) = (site.destination("full"), site.destination("open"));
    let waiting = [
        request(&site, "huge", &full),
        request(&site, "t0/7", &full),
        request(&site, "t1/7", &full),
    ];
    let done = site.mover(|mover| mover.recall()).expect("recalled");
    assert_eq!((done.delivered, done.full.len()), (0, 1));
    let delivered = request(&site, "t1/2", &open);
    let done = site.mover(|mover| mover.recall()).expect("recalled");
    assert_eq!((done.delivered, done.full.len()), (1, 1));
    assert_eq!(state(&site, delivered), RequestState::Delivered);
    for request in waiting {
        assert_eq!(state(&site, request), RequestState::Queued);
    }
}

#[test]
fn what_the_disk_of_the_cache_does_not_take_waits_and_what_goes_elsewhere_comes() {
    for precompress in [
        None,
        Some(Precompress {
            level: 3,
            threads: 1,
        }),
    ] {
        let mut site = Site::new(1, 2, Faults::none());
        site.settings.precompress = precompress;
        let text = |name: &str| (name.to_owned(), name.repeat(5_000).into_bytes());
        site.store_these(&[text("into the cache"), text("elsewhere")], 1);
        site.mover(|mover| mover.migrate(i64::MAX))
            .expect("migrated");
        site.empty_cache();
        let disk = SmallDisk::new(&site.directory.path().join("full"), None);
        let water = Water {
            high_bytes: 1 << 30,
            low_bytes: 1 << 29,
        };
        let records = Arc::clone(&site.catalogue) as _;
        site.cache = Cache::open(disk, records, water).expect("a cache").0;
        let waits = fetch(&site, "into the cache");
        let open = site.destination("open");
        let comes = request(&site, "elsewhere", &open);
        let done = site.mover(|mover| mover.recall()).expect("recalled");
        assert_eq!((done.delivered, done.failed), (1, vec![]));
        assert_eq!(state(&site, comes), RequestState::Delivered);
        assert_eq!(state(&site, waits), RequestState::Queued);
        let [FullPlace { place: None, why }] = &done.full[..] else {
            panic!("{:?}", done.full);
        };
        assert!(why.contains("No space left"), "{why}");
        // What no disk takes is no broken copy.
        let copies = site.catalogue.file(site.id("into the cache"));
        let copies = copies.expect("a file").copies;
        assert_eq!(copies[0].state, CopyState::Whole);
        assert_eq!(copies[0].zstd_bytes.is_some(), precompress.is_some());
        site.assert_integrity();
    }
}
