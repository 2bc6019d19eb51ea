//! Cartridges that cannot be written: others take the files, and nothing that is on them is written over.

use crate::site::{Site, noise};

use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tapewise_archive::catalogue::{Catalogue, Holder, Loss, Volumes};
use tapewise_archive::mover::{Clock, Lessee};
use tapewise_archive::record::VolumeState;
use tapewise_emulator::Faults;
use tapewise_formats::event::{Action, Event};

#[test]
fn a_cartridge_of_another_archive_is_never_taken_for_a_blank_and_called_not_blank() {
    let mut site = Site::new(1, 2, Faults::none());
    site.store(4, 1, 3);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("written");
    let (id, theirs) = site.catalogue.volumes().expect("volumes").remove(0);
    // From now on it is that of an archive that this one knows nothing of.
    let forgotten = site.catalogue.forget_volume(id, Loss::Accepted, 5);
    forgotten.expect("forgotten");
    site.store(4, 1, 4);
    let migrated = site
        .mover(|mover| mover.migrate(i64::MAX))
        .expect("written");
    let said = format!(
        "the cartridge is not blank: it is volume {} ({}). Nothing was written",
        theirs.uuid, theirs.label
    );
    let (label, why) = &migrated.volumes_lost[0];
    assert!(*label == theirs.label && why.starts_with(&said), "{why}");
    let volumes = site.catalogue.volumes().expect("volumes");
    assert!(
        volumes
            .iter()
            .all(|(_, volume)| volume.label != theirs.label)
    );
}

#[test]
fn a_mover_tries_a_cartridge_that_is_not_blank_once_a_day() {
    let mut site = Site::new(1, 1, Faults::none());
    site.overwrite("TW0001");
    site.store(4, 1, 3);
    let clock = Arc::new(AtomicI64::new(1));
    let now: Clock = {
        let clock = Arc::clone(&clock);
        Arc::new(move || clock.load(Ordering::Relaxed))
    };
    let holder = Holder {
        host: "ada".to_owned(),
        process: 1,
        run: "this".to_owned(),
    };
    let catalogue = Arc::clone(&site.catalogue) as Arc<dyn Catalogue>;
    let lessee = Lessee::new(catalogue, holder, i64::MAX / 4, now.clone(), now);
    let lessee: &Lessee = Box::leak(Box::new(lessee.expect("a mover")));
    let mut mounts = |hours: i64| {
        clock.store(hours * 3_600_000_000_000, Ordering::Relaxed);
        let migrated = site.mover(|mover| {
            mover.lessee = Some(lessee);
            mover.migrate(i64::MAX)
        });
        migrated.expect_err("no blank cartridge");
        let of = |event: &&Event| event.action == Action::Rewind;
        site.events.iter().filter(of).count()
    };
    let first = mounts(0);
    assert_eq!([1, 2, 23].map(&mut mounts), [first; 3]);
    assert!(mounts(25) > first);
}

/// The first cartridge is WORM.
fn one_worm() -> Faults {
    Faults {
        worm: vec!["TW0001".to_owned()],
        ..Faults::none()
    }
}

#[test]
fn a_worm_cartridge_is_never_taken_for_a_blank() {
    let mut site = Site::new(1, 2, one_worm());
    let files = site.store(8, 1, 3);
    let migrated = site
        .mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    let (label, why) = &migrated.volumes_lost[0];
    assert_eq!(label, "TW0001");
    assert!(
        why.contains("WORM") && why.contains("Nothing was written"),
        "{why}"
    );
    let volumes = site.catalogue.volumes().expect("volumes");
    let labels: Vec<&str> = volumes
        .iter()
        .map(|(_, volume)| volume.label.as_str())
        .collect();
    assert_eq!(labels, ["TW0002"]);
    site.empty_cache();
    site.assert_comes_back(&files, "back");
}

#[test]
fn where_every_cartridge_is_worm_the_error_says_so() {
    let mut site = Site::new(1, 1, one_worm());
    site.store(8, 1, 3);
    let error = site
        .mover(|mover| mover.migrate(i64::MAX))
        .expect_err("no cartridge");
    let said = error.to_string();
    assert!(said.contains("TW0001: the cartridge is WORM"), "{said}");
}

#[test]
fn a_write_protected_cartridge_is_written_again_when_it_is_protected_no_more() {
    let protected = || Faults {
        write_protected: vec!["TW0001".to_owned()],
        ..Faults::none()
    };
    let states = |site: &Site| {
        let volumes = site.catalogue.volumes().expect("volumes").into_iter();
        let states = volumes.map(|(_, volume)| (volume.label, volume.state));
        states.collect::<Vec<_>>()
    };
    let filling = |label: &str| (label.to_owned(), VolumeState::Filling);
    let migrate = |site: &mut Site, seed| {
        site.store(4, 1, seed);
        let migrated = site.mover(|mover| mover.migrate(i64::MAX));
        let lost = migrated.expect("migrated").volumes_lost;
        lost.into_iter().map(|(label, _)| label).collect::<Vec<_>>()
    };
    // As a blank cartridge it does not become a volume.
    let mut site = Site::new(1, 2, protected());
    assert_eq!(migrate(&mut site, 1), ["TW0001"]);
    assert_eq!(states(&site), [filling("TW0002")]);
    let mut site = Site::new(1, 2, Faults::none());
    assert_eq!(migrate(&mut site, 1), [""; 0]);
    site = site.with_faults(protected());
    assert_eq!(migrate(&mut site, 2), ["TW0001"]);
    assert_eq!(states(&site), [filling("TW0001"), filling("TW0002")]);
}

#[test]
fn a_volume_that_has_no_room_left_is_full_whatever_the_catalogue_says() {
    let mut site = Site::new(1, 9, Faults::none());
    site.settings.block_bytes = 256 << 10;
    site.settings.segment_bytes = 30_000_000;
    let mut files: Vec<(String, Vec<u8>)> = (0..650)
        .map(|number| (format!("d/{number}"), noise(number, 200_000)))
        .collect();
    site.store_these(&files, 1);
    let migrate = |site: &mut Site| {
        let migrated = site.mover(|mover| mover.migrate(i64::MAX));
        let migrated = migrated.expect("migrated");
        assert_eq!(migrated.volumes_lost, []);
    };
    migrate(&mut site);
    let state = |site: &Site| {
        let volume = site.catalogue.find_volume("TW0001").expect("an answer");
        let (id, volume) = volume.expect("it");
        (id, volume.state)
    };
    let (id, found) = state(&site);
    assert_eq!(found, VolumeState::Full);
    // Until not even a block and its filemark have room.
    for round in 0..5 {
        // As after a rebuild, which cannot see it; and all others are full.
        for (other, _) in site.catalogue.volumes().expect("volumes") {
            let state = if other == id {
                VolumeState::Filling
            } else {
                VolumeState::Full
            };
            let set = site.catalogue.set_volume_state(other, state);
            set.expect("set");
        }
        let more = vec![(format!("more/{round}"), noise(99 + round, 200_000))];
        site.store_these(&more, 1);
        files.extend(more);
        migrate(&mut site);
        assert_eq!(state(&site), (id, VolumeState::Full));
    }
    site.empty_cache();
    site.assert_comes_back(&files, "back");
}

#[test]
fn a_copy_after_the_end_that_the_catalogue_knows_is_not_written_over_for_being_itself_a_copy() {
    let mut site = Site::new(1, 1, Faults::none());
    let mut files = site.store(4, 1, 3);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("written");
    let (id, before) = site.catalogue.volumes().expect("volumes").remove(0);
    files.extend(site.store(4, 1, 4));
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("written");
    site.empty_cache();
    // As if the end of the tape had not been read, and what stands there had been verified since.
    let raw = Connection::open(site.directory.path().join("catalogue.db")).expect("a database");
    let sql = "UPDATE volume SET next_block = ?1 WHERE id = ?2";
    let back = raw.execute(sql, [before.next_block as i64, id.0]);
    assert_eq!(back.expect("changed"), 1);
    site.store(4, 1, 5);
    let refused = site.mover(|mover| mover.migrate(i64::MAX));
    let said = refused.expect_err("more than is known").to_string();
    assert!(said.contains("holds more than the catalogue"), "{said}");
    site.assert_comes_back(&files, "back");
}
