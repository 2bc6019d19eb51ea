//! From the cache to quick volumes and on to others, on a clock of our own: what is due is moved, a copy goes
//! when its successor is on tape, and every byte is as it was.

use crate::site;

use site::{Site, noise};
use tapewise_archive::catalogue::{Catalogue, Files, Pattern, VolumeId, Volumes};
use tapewise_archive::mover::{MoveError, Tier, due};
use tapewise_archive::record::{Volume, VolumeState};
use tapewise_emulator::Faults;

const DAY_NS: i64 = 86_400_000_000_000;

/// Files stay in the cache for 2 days, on the first two cartridges up to 30, then go to the others.
fn hierarchy(cartridges: u16) -> Site {
    let mut site = Site::new(2, cartridges, Faults::none());
    let labels: Vec<String> = site.pool.volumes().into_keys().collect();
    let last = |label: &String| label[..6].chars().last().expect("a digit");
    let (quick, deep) = labels.split_at(2);
    let of = |labels: &[String]| {
        let digits: String = labels.iter().map(last).collect();
        Pattern::Glob(format!("?????[{digits}]*").into_bytes())
    };
    let tier = |name: &str, labels: &[String], days: i64| Tier {
        name: name.to_owned(),
        volumes: of(labels),
        after_ns: days * DAY_NS,
    };
    site.settings.tiers = vec![tier("quick", quick, 2), tier("deep", deep, 30)];
    site
}

/// The labels of the volumes with whole copies of a file.
fn labels(site: &Site, path: &str) -> Vec<String> {
    let found = site
        .catalogue
        .find(&Pattern::Path(path.as_bytes().to_vec()), None, 1);
    found.expect("a catalogue").remove(0).volumes
}

fn is_of(site: &Site, tier: usize, label: &str) -> bool {
    site.settings.tiers[tier].volumes.matches(label.as_bytes())
}

fn assert_all_on(site: &Site, files: &[(String, Vec<u8>)], tier: usize, copies: usize) {
    for (path, _) in files {
        let labels = labels(site, path);
        assert_eq!(labels.len(), copies, "{path}: {labels:?}");
        assert!(
            labels.iter().all(|label| is_of(site, tier, label)),
            "{path}: {labels:?}"
        );
    }
}

fn plan(site: &Site) -> Vec<(Option<String>, Option<usize>, usize)> {
    let due = due(site.catalogue.as_ref(), &site.settings, site.now_ns()).expect("a catalogue");
    due.into_iter()
        .map(|due| (due.from.map(|(_, label)| label), due.to, due.files.len()))
        .collect()
}

fn volumes(site: &Site) -> Vec<(VolumeId, Volume)> {
    site.catalogue.volumes().expect("a catalogue")
}

#[test]
fn files_go_through_the_tiers_as_they_age() {
    let mut site = hierarchy(4);
    let files = site.store(40, 1, 3);
    assert_eq!(plan(&site), []);
    let moved = site
        .mover(|mover| mover.migrate_due())
        .expect("nothing to do");
    assert_eq!((moved.files, moved.migrated.files), (0, 0));

    site.pass(2 * DAY_NS);
    assert_eq!(plan(&site), [(None, Some(0), 40)]);
    let moved = site.mover(|mover| mover.migrate_due()).expect("moved");
    assert_eq!((moved.files, moved.migrated.files), (0, 40));
    assert_all_on(&site, &files, 0, 1);
    assert_eq!(plan(&site), []);
    site.empty_cache();
    let young = site.store(20, 1, 5);

    site.pass(28 * DAY_NS);
    let due = plan(&site);
    assert_eq!(due[0], (None, Some(0), 20), "{due:?}");
    assert_eq!(
        due[1..].iter().map(|(.., files)| files).sum::<usize>(),
        40,
        "{due:?}"
    );
    let moved = site.mover(|mover| mover.migrate_due()).expect("moved");
    assert_eq!(
        (moved.files, moved.dropped, moved.failed.len()),
        (40, 40, 0)
    );
    assert_all_on(&site, &files, 1, 1);
    assert_all_on(&site, &young, 0, 1);
    site.assert_integrity();
    assert_eq!(plan(&site), []);
    let again = site
        .mover(|mover| mover.migrate_due())
        .expect("nothing to do");
    assert_eq!((again.files, again.migrated.mounts), (0, 0));
    // Nothing is held for anybody: all that is on tape may go.
    site.empty_cache();
    assert_eq!(site.cache.usage().held_bytes, 0);
    site.assert_comes_back(&files, "back");
    site.assert_comes_back(&young, "young");
}

#[test]
fn what_is_old_enough_goes_from_the_cache_straight_to_the_last_tier() {
    let mut site = hierarchy(4);
    let files = site.store(12, 1, 3);
    site.pass(31 * DAY_NS);
    assert_eq!(plan(&site), [(None, Some(1), 12)]);
    site.mover(|mover| mover.migrate_due()).expect("moved");
    assert_all_on(&site, &files, 1, 1);
}

#[test]
fn two_copies_move_to_two_volumes_and_the_old_ones_are_emptied() {
    let mut site = hierarchy(5);
    let files = site.store(25, 2, 3);
    site.pass(2 * DAY_NS);
    site.mover(|mover| mover.migrate_due()).expect("moved");
    assert_all_on(&site, &files, 0, 2);
    site.empty_cache();
    site.pass(28 * DAY_NS);
    let moved = site.mover(|mover| mover.migrate_due()).expect("moved");
    assert_eq!(
        (moved.files, moved.dropped, moved.emptied.len()),
        (25, 50, 2)
    );
    assert_all_on(&site, &files, 1, 2);
    site.assert_integrity();
}

#[test]
fn a_tier_is_emptied_in_portions_that_the_cache_has_room_for() {
    let mut site = hierarchy(4);
    let files = site.store(60, 1, 3);
    site.pass(2 * DAY_NS);
    site.mover(|mover| mover.migrate_due()).expect("moved");
    site.empty_cache();
    // Some 500 kB through a cache of 120 kB, in which the longest file has 50 kB.
    site.reopen_cache(120_000, 60_000);
    site.pass(28 * DAY_NS);
    let moved = site.mover(|mover| mover.migrate_due()).expect("moved");
    assert_eq!((moved.files, moved.failed.len()), (60, 0));
    let all: u64 = files
        .iter()
        .map(|(_, contents)| contents.len() as u64)
        .sum();
    assert!(
        all > 2 * 120_000 && moved.staged_bytes == all,
        "{} {all}",
        moved.staged_bytes
    );
    assert_all_on(&site, &files, 1, 1);
    site.assert_integrity();
    site.reopen_cache(1 << 30, 1 << 29);
    site.empty_cache();
    site.assert_comes_back(&files, "back");
}

#[test]
fn without_cartridges_for_the_next_tier_nothing_is_dropped() {
    let mut site = hierarchy(2);
    let files = site.store(10, 1, 3);
    site.pass(2 * DAY_NS);
    site.mover(|mover| mover.migrate_due()).expect("moved");
    site.pass(28 * DAY_NS);
    let mut error = site
        .mover(|mover| mover.migrate_due())
        .expect_err("no cartridge");
    assert!(
        matches!(error, MoveError::NoVolume { files: 10, .. }),
        "{error}"
    );
    // What was done before is in the error.
    let moved = error.take_moved().expect("what was done");
    let bytes = files.iter().map(|(_, contents)| contents.len() as u64);
    assert_eq!((moved.files, moved.staged_bytes), (0, bytes.sum()));
    assert_all_on(&site, &files, 0, 1);
    site.assert_integrity();
    site.empty_cache();
    assert_eq!(site.cache.usage().held_bytes, 0);
}

#[test]
fn what_finds_no_volume_in_its_tier_keeps_nothing_from_going_to_another_one() {
    let mut site = hierarchy(4);
    let files = site.store(20, 1, 3);
    site.pass(2 * DAY_NS);
    site.mover(|mover| mover.migrate_due()).expect("moved");
    site.empty_cache();
    site.pass(28 * DAY_NS);
    // Three copies, and two quick cartridges.
    let greedy: Vec<(String, Vec<u8>)> = (0..4)
        .map(|number| (format!("greedy/{number}"), noise(number, 1000)))
        .collect();
    site.store_these(&greedy, 3);
    site.pass(2 * DAY_NS);
    let error = site.mover(|mover| mover.migrate_due()).expect_err("two");
    let MoveError::NoVolume { files: 4, done, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!((done.files, done.emptied.len()), (20, 0));
    assert_all_on(&site, &files, 1, 1);
    assert_all_on(&site, &greedy, 0, 2);
    // The same in the next tier, which has two cartridges too, through a cache that has room for a part of them.
    let modest = site.store(20, 1, 7);
    site.pass(2 * DAY_NS);
    let _ = site.mover(|mover| mover.migrate_due());
    site.empty_cache();
    site.reopen_cache(120_000, 100_000);
    site.pass(28 * DAY_NS);
    let error = site.mover(|mover| mover.migrate_due()).expect_err("two");
    assert!(matches!(error, MoveError::NoVolume { .. }), "{error}");
    assert_all_on(&site, &modest, 1, 1);
    site.assert_integrity();
}

#[test]
fn a_volume_that_is_repacked_through_a_small_cache_loses_nothing() {
    let mut site = Site::new(1, 4, Faults::none());
    let files = site.store(60, 1, 3);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    site.empty_cache();
    site.reopen_cache(120_000, 60_000);
    let (volume, record) = volumes(&site)[0].clone();
    let repacked = site.mover(|mover| mover.repack(volume)).expect("repacked");
    assert!(repacked.forgotten.is_some(), "{repacked:?}");
    assert!(
        volumes(&site)
            .iter()
            .all(|(_, volume)| volume.label != record.label)
    );
    site.assert_integrity();
    site.reopen_cache(1 << 30, 1 << 29);
    site.empty_cache();
    site.assert_comes_back(&files, "back");
}

#[test]
fn a_file_that_no_cache_takes_keeps_no_other_one_where_it_is() {
    let mut site = Site::new(1, 4, Faults::none());
    let files = site.store(12, 1, 3);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    site.empty_cache();
    // Less than the longest two files have.
    site.reopen_cache(40_000, 20_000);
    let volume = volumes(&site)[0].0;
    let repacked = site.mover(|mover| mover.repack(volume)).expect("kept");
    assert_eq!(repacked.forgotten, None);
    let long = files.iter().filter(|(_, contents)| contents.len() > 40_000);
    assert_eq!(repacked.moved.failed.len(), long.count());
    let why = &repacked.moved.failed[0].1;
    assert!(why.contains("never fits a cache of 40000"), "{why}");
    let left = site.catalogue.contents(volume).expect("contents");
    let left = left.iter().filter(|on| on.segment.bytes > 0);
    assert_eq!(left.count(), repacked.moved.failed.len());
    site.assert_integrity();
}

#[test]
fn a_volume_that_cannot_be_read_keeps_its_files_in_the_catalogue_when_it_is_repacked() {
    let mut site = Site::new(1, 3, Faults::none());
    let files = site.store(10, 1, 3);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    site.empty_cache();
    let (volume, record) = volumes(&site)[0].clone();
    site.overwrite(&record.label);
    let repacked = site.mover(|mover| mover.repack(volume)).expect("kept");
    assert_eq!((repacked.forgotten, repacked.moved.failed.len()), (None, 9));
    assert_eq!(
        site.catalogue.volume(volume).expect("kept").state,
        VolumeState::Full
    );
    for (path, _) in &files {
        assert_eq!(labels(&site, path).len(), 1, "{path}");
    }
    // Nobody waits for what was only read to be moved.
    let queue = tapewise_archive::catalogue::Requests::recall_queue(site.catalogue.as_ref());
    assert_eq!(queue.expect("a queue").volumes, []);
}

#[test]
fn a_copy_that_is_wanted_is_not_dropped() {
    let mut site = Site::new(1, 3, Faults::none());
    let files = site.store(3, 2, 3);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    let catalogue: &dyn Catalogue = site.catalogue.as_ref();
    let refused = catalogue.drop_copy(site.id(&files[1].0), 1);
    assert!(
        refused
            .expect_err("wanted")
            .to_string()
            .contains("2 are wanted")
    );
    assert!(catalogue.drop_copy(site.id(&files[1].0), 7).is_err());
}
