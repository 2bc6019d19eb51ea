//! Files stored, migrated to tape, dropped from the cache, and recalled: every byte is as it was.

use crate::site;

use site::{Site, noise};
use std::collections::BTreeSet;
use std::sync::Arc;
use tapewise_archive::catalogue::{Copy, Files, Loss, SqliteCatalogue, VolumeId, Volumes};
use tapewise_archive::mover::scrub_order;
use tapewise_archive::record::VolumeState;
use tapewise_emulator::Faults;
use tapewise_model::Random;

fn volumes(site: &Site) -> Vec<(VolumeId, tapewise_archive::record::Volume)> {
    site.catalogue.volumes().expect("a catalogue")
}

#[test]
fn what_was_stored_comes_back_from_tape_as_it_was() {
    let mut site = Site::new(2, 4, Faults::none());
    let files = site.store(120, 1, 3);
    let migrated = site
        .mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    assert_eq!((migrated.files, migrated.refused.len()), (120, 0));
    site.assert_integrity();
    site.empty_cache();
    assert_eq!(site.cache.usage().held_bytes, 0);

    let mut wanted: Vec<_> = files.iter().collect();
    Random::new(1, 1).shuffle(&mut wanted);
    wanted.truncate(60);
    let to = site.destination("back");
    site.request(&wanted, &to);
    let recalled = site.mover(|mover| mover.recall()).expect("recalled");
    assert_eq!((recalled.delivered, recalled.failed.len()), (60, 0));
    assert_eq!(recalled.unverified, 0);
    for (path, contents) in &wanted {
        assert_eq!(
            &std::fs::read(to.join(path)).expect("delivered"),
            contents,
            "{path}"
        );
    }
    site.assert_integrity();

    let again = site.mover(|mover| mover.recall()).expect("nothing to do");
    assert_eq!((again.delivered, again.mounts), (0, 0));
}

#[test]
fn what_was_damaged_in_the_cache_is_taken_from_the_tape() {
    let mut site = Site::new(1, 2, Faults::none());
    let files = site.store(8, 1, 3);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    let places = [1, 2, 3, 4].map(|number| site.in_cache(&format!("d3/{number}")));
    let [changed, longer, unreadable, gone] = &places;
    let mut contents = std::fs::read(changed).expect("a file of the cache");
    *contents.last_mut().expect("a byte") ^= 1;
    std::fs::write(changed, contents).expect("written");
    let mut contents = std::fs::read(longer).expect("a file of the cache");
    contents.push(1);
    std::fs::write(longer, contents).expect("written");
    for place in [unreadable, gone] {
        std::fs::remove_file(place).expect("removed");
    }
    // Nothing lies at address 0: the read fails with EIO, as that of a bad disk does.
    std::os::unix::fs::symlink("/proc/self/mem", unreadable).expect("a link");
    site.assert_comes_back(&files, "back");
    site.assert_integrity();
    for place in &places {
        assert!(
            place.symlink_metadata().is_err(),
            "what was damaged is gone"
        );
    }
    let held: usize = files.iter().map(|(_, contents)| contents.len()).sum();
    let damaged: usize = files[1..5].iter().map(|(_, contents)| contents.len()).sum();
    assert_eq!(site.cache.usage().held_bytes, (held - damaged) as u64);
}

#[test]
fn what_is_damaged_and_only_in_the_cache_fails_alone() {
    let mut site = Site::new(1, 2, Faults::none());
    let files = site.store(8, 1, 3);
    std::fs::remove_file(site.in_cache("d3/2")).expect("removed");
    let to = site.destination("back");
    site.request(&files.iter().collect::<Vec<_>>(), &to);
    let recalled = site.mover(|mover| mover.recall()).expect("recalled");
    assert_eq!((recalled.delivered, recalled.failed.len()), (7, 1));
    let why = recalled.failed[0].1.to_string();
    assert!(why.contains("should be in the cache"), "{why}");
}

#[test]
fn two_copies_lie_on_two_volumes_and_one_is_enough() {
    let mut site = Site::new(2, 4, Faults::none());
    let files = site.store(40, 2, 5);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    site.assert_integrity();
    for (path, contents) in &files {
        let copies = site.catalogue.file(site.id(path)).expect("a file").copies;
        assert_eq!(copies.len(), 2, "{path}");
        let on = |copy: usize| copies[copy].segments.iter().map(|(volume, _)| *volume);
        assert!(contents.is_empty() || on(0).all(|volume| on(1).all(|other| other != volume)));
    }
    site.empty_cache();
    // The cartridge that would be read first is written over by somebody else.
    let (first, volume) = volumes(&site).remove(0);
    site.overwrite(&volume.label);
    let lost = site.verify(first);
    assert!(lost.is_err(), "{lost:?}");
    let to = site.destination("back");
    site.request(&files.iter().collect::<Vec<_>>(), &to);
    let recalled = site.mover(|mover| mover.recall()).expect("recalled");
    assert_eq!((recalled.delivered, recalled.failed), (40, vec![]));
    assert_eq!(recalled.unavailable.len(), 1, "{:?}", recalled.unavailable);
    for (path, contents) in &files {
        assert_eq!(
            &std::fs::read(to.join(path)).expect("delivered"),
            contents,
            "{path}"
        );
    }
}

#[test]
fn a_file_longer_than_a_part_spans_volumes_and_comes_back_whole() {
    let mut site = Site::new(2, 6, Faults::none());
    site.settings.part_bytes = 16 << 10;
    site.settings.volume_bytes = Some(40 << 10);
    let files = site.store(12, 1, 9);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    site.assert_integrity();
    let long = files
        .iter()
        .find(|(_, contents)| contents.len() == 50_000)
        .expect("a long file");
    let copies = site
        .catalogue
        .file(site.id(&long.0))
        .expect("a file")
        .copies;
    let mut on: Vec<_> = copies[0]
        .segments
        .iter()
        .map(|(volume, _)| *volume)
        .collect();
    on.dedup();
    assert!(on.len() > 1, "{on:?}");
    site.empty_cache();
    let to = site.destination("back");
    site.request(&files.iter().collect::<Vec<_>>(), &to);
    let recalled = site.mover(|mover| mover.recall()).expect("recalled");
    assert_eq!((recalled.delivered, recalled.failed), (12, vec![]));
    assert_eq!(std::fs::read(to.join(&long.0)).expect("delivered"), long.1);
}

#[test]
fn a_copy_that_is_half_on_tape_goes_on_as_it_was_cut_or_begins_again() {
    for (part_bytes, cut) in [(20_000, 16_384), (12_000, 12_000)] {
        let mut site = Site::new(1, 1, Faults::none());
        site.settings.part_bytes = 16_384;
        site.settings.volume_bytes = Some(20_000);
        let files = vec![("film".to_owned(), site::contents(9, 1))];
        site.store_these(&files, 1);
        // After the first part the only cartridge is full, until more is to go onto it.
        let migrated = site.mover(|mover| mover.migrate(i64::MAX));
        assert!(migrated.is_err(), "{migrated:?}");
        let (id, volume) = volumes(&site).remove(0);
        let emptier = VolumeState::Filling;
        site.catalogue.set_volume_state(id, emptier).expect("set");
        site.settings.volume_bytes = None;
        site.settings.part_bytes = part_bytes;
        site.mover(|mover| mover.migrate(i64::MAX))
            .expect("migrated");
        let copies = site.catalogue.file(site.id("film")).expect("it").copies;
        let parts = copies[0].segments.iter();
        let from: Vec<u64> = parts.map(|(_, segment)| segment.file_offset).collect();
        let expected: Vec<u64> = (0..50_000).step_by(cut).collect();
        assert_eq!(from, expected);
        site.empty_cache();
        site.assert_comes_back(&files, "back");
        // So the tape alone tells all of it.
        let blank = SqliteCatalogue::in_memory().expect("a catalogue");
        site.catalogue = Arc::new(blank);
        let rebuilt = site.read_in(&[&volume.label]);
        assert_eq!(rebuilt.joined.files, 1, "{rebuilt:?}");
        let found = site.catalogue.file(site.id("film")).expect("it").copies;
        let places = |copy: &Copy| -> Vec<(u64, u64)> {
            let parts = copy.segments.iter();
            parts
                .map(|(_, part)| (part.first_block, part.byte_offset))
                .collect()
        };
        assert_eq!(places(&found[0]), places(&copies[0]));
    }
}

#[test]
fn a_file_in_parts_gets_a_copy_again_for_one_that_went_with_a_cartridge() {
    let mut site = Site::new(2, 20, Faults::none());
    site.settings.part_bytes = 16 << 10;
    site.settings.volume_bytes = Some(40 << 10);
    let files = site.store(12, 2, 9);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    site.empty_cache();
    let long = files.iter().find(|(_, contents)| contents.len() == 50_000);
    let long = site.id(&long.expect("a long file").0);
    let entry = site.catalogue.file(long).expect("a file");
    let gone = entry.copies[0].segments[0].0;
    let forgotten = site.catalogue.forget_volume(gone, Loss::Refused, 9);
    assert!(forgotten.expect("all have another copy").lacking > 0);
    let mut to_remake = BTreeSet::new();
    for (volume, _) in volumes(&site) {
        to_remake.extend(site.verify(volume).expect("verified").to_remake);
    }
    assert!(to_remake.contains(&long), "{to_remake:?}");
    let to_remake: Vec<_> = to_remake.into_iter().collect();
    let remade = site.mover(|mover| mover.remake(to_remake)).expect("remade");
    assert_eq!(remade.failed, vec![]);
    for (path, _) in &files {
        let entry = site.catalogue.file(site.id(path)).expect("a file");
        assert_eq!((entry.lacks(), entry.copies.len()), (0, 2), "{path}");
    }
    site.assert_integrity();
}

#[test]
fn a_volume_is_verified_and_repacked_without_what_nobody_wants() {
    let mut site = Site::new(1, 4, Faults::none());
    let files = site.store(50, 1, 11);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    site.empty_cache();
    let (volume, record) = volumes(&site)[0].clone();
    let verified = site.verify(volume).expect("verified");
    assert_eq!((verified.right, verified.lost), (50, vec![]));

    for (path, _) in &files[..25] {
        site.catalogue.retire(site.id(path), 100).expect("retired");
    }
    let repacked = site.mover(|mover| mover.repack(volume)).expect("repacked");
    let forgotten = repacked.forgotten.expect("the volume is forgotten");
    assert_eq!((forgotten.retired, repacked.moved.files), (0, 25));
    site.assert_integrity();
    let left = volumes(&site);
    assert!(
        left.iter().all(|(_, volume)| volume.label != record.label),
        "{left:?}"
    );
    site.empty_cache();
    let to = site.destination("back");
    site.request(&files[25..].iter().collect::<Vec<_>>(), &to);
    let recalled = site.mover(|mover| mover.recall()).expect("recalled");
    assert_eq!((recalled.delivered, recalled.failed), (25, vec![]));
}

#[test]
fn every_volume_has_its_turn_to_be_scrubbed() {
    let mut site = Site::new(1, 12, Faults::none());
    site.settings.part_bytes = 16 << 10;
    site.settings.volume_bytes = Some(48 << 10);
    // In parts, which have no sums of their own on a volume, and whole.
    site.store_these(&[("film".to_owned(), noise(5, 150 << 10))], 1);
    site.store(20, 1, 3);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    let labels: BTreeSet<String> = volumes(&site)
        .into_iter()
        .map(|(_, one)| one.label)
        .collect();
    assert!(labels.len() > 3, "{labels:?}");
    // One cannot be read at all.
    site.overwrite("TW0002");
    let mut scrubbed = BTreeSet::new();
    for _ in &labels {
        site.pass(2 * 86_400_000_000_000);
        let order = scrub_order(site.catalogue.as_ref(), &site.settings, None).expect("an order");
        let _ = site.verify(order[0].volume);
        scrubbed.insert(order[0].label.clone());
    }
    assert_eq!(scrubbed, labels);
    let order = scrub_order(site.catalogue.as_ref(), &site.settings, None).expect("an order");
    let unread = order.iter().filter(|scrub| !scrub.is_read);
    assert_eq!(
        unread.map(|scrub| &*scrub.label).collect::<Vec<_>>(),
        ["TW0002"]
    );
}

#[test]
fn a_volume_whose_medium_fails_takes_no_more_and_its_files_go_elsewhere() {
    let faults = Faults {
        seed: 4,
        bad_block: 0.001,
        ..Faults::none()
    };
    let mut site = Site::new(2, 6, faults);
    let files = site.store(200, 1, 13);
    let migrated = site
        .mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    assert_eq!((migrated.files, migrated.refused.len()), (200, 0));
    site.assert_integrity();
    let suspect = volumes(&site)
        .iter()
        .filter(|(_, volume)| volume.state == VolumeState::Suspect)
        .count();
    assert_eq!(suspect, migrated.volumes_lost.len());
    site.empty_cache();
    let to = site.destination("back");
    site.request(&files.iter().collect::<Vec<_>>(), &to);
    let recalled = site.mover(|mover| mover.recall()).expect("recalled");
    assert_eq!(recalled.delivered + recalled.failed.len() as u64, 200);
    for (path, contents) in &files {
        if let Ok(read) = std::fs::read(to.join(path)) {
            assert_eq!(&read, contents, "{path}");
        }
    }
    site.assert_integrity();
}
