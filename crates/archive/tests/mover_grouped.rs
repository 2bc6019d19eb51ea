//! Files that belong together are written onto one volume.

use crate::site;

use site::Site;
use std::collections::BTreeSet;
use tapewise_archive::catalogue::{Files as _, NewRecall, Requests as _, Volumes as _};
use tapewise_archive::placement::GroupBy;
use tapewise_emulator::Faults;

/// On which volumes the files of a directory lie.
fn volumes_of(site: &Site, files: &[(String, Vec<u8>)], directory: &str) -> Vec<String> {
    let mut labels = BTreeSet::new();
    for (path, _) in files.iter().filter(|(path, _)| path.starts_with(directory)) {
        let copies = site.catalogue.file(site.id(path)).expect("a file").copies;
        for (volume, _) in copies.iter().flat_map(|copy| &copy.segments) {
            labels.insert(site.catalogue.volume(*volume).expect("a volume").label);
        }
    }
    labels.into_iter().collect()
}

#[test]
fn files_of_a_directory_share_a_volume_until_there_is_no_room_for_all_of_them() {
    for by in GroupBy::ALL {
        let mut site = Site::new(1, 4, Faults::none());
        site.settings.group_by = by;
        site.settings.volume_bytes = Some(1_300_000);
        // In turns of four directories, each of about 500 kB: two of them fit a volume.
        let file = |number: u64| {
            let directory = ["a", "b", "c", "d"][number as usize % 4];
            (
                format!("{directory}/{number:02}"),
                vec![number as u8; 50_000],
            )
        };
        let files: Vec<_> = (0..40).map(file).collect();
        site.store_these(&files, 1);
        // Two recalls of whole directories are what is learned from.
        for directory in ["a", "b"] {
            let mine = files.iter().filter(|(path, _)| path.starts_with(directory));
            let recalls = mine.map(|(path, _)| NewRecall {
                file: site.id(path),
                terms: Default::default(),
                destination: None,
            });
            let recalls: Vec<_> = recalls.collect();
            site.pass(1_000_000_000_000);
            site.catalogue
                .submit(&recalls, site.now_ns())
                .expect("asked");
        }
        let migrated = site
            .mover(|mover| mover.migrate(i64::MAX))
            .expect("written");
        assert_eq!(migrated.files, 40, "{by:?}");
        let learned = migrated.learned.map(|learned| learned.by);
        assert_eq!(
            learned,
            (by == GroupBy::Learned).then_some(GroupBy::Directory)
        );
        let most = ["a", "b", "c", "d"].map(|one| volumes_of(&site, &files, one).len());
        match by {
            GroupBy::None | GroupBy::Time => assert!(most.into_iter().all(|on| on > 1), "{most:?}"),
            GroupBy::Directory | GroupBy::Dataset | GroupBy::Learned => assert_eq!(most, [1; 4]),
        }
        site.assert_integrity();
    }
}

#[test]
fn a_group_is_divided_before_its_files_have_no_place() {
    let mut site = Site::new(2, 2, Faults::none());
    site.settings.group_by = GroupBy::Directory;
    site.settings.volume_bytes = Some(900_000);
    // Three directories of 600 kB have room on two volumes only if one of them is divided.
    let file = |number: u64| {
        (
            format!("{}/{number:02}", number % 3),
            vec![number as u8; 50_000],
        )
    };
    let files: Vec<_> = (0..36).map(file).collect();
    site.store_these(&files, 1);
    let migrated = site
        .mover(|mover| mover.migrate(i64::MAX))
        .expect("written");
    assert_eq!(migrated.files, 36);
    let on = ["0", "1", "2"].map(|one| volumes_of(&site, &files, one).len());
    assert_eq!(on.into_iter().sum::<usize>(), 4, "{on:?}");
    site.assert_integrity();
}

/// Each of four directories gets a file every night; on how many volumes each lies after four nights, and the mounts that
/// wrote them.
fn after_four_nights(drives: u16, copies: u32, open_volumes: u32) -> ([usize; 4], u64) {
    let mut site = Site::new(drives, 16, Faults::none());
    site.settings.group_by = GroupBy::Directory;
    site.settings.volume_bytes = Some(260_000);
    site.settings.open_volumes = open_volumes;
    let mut all = Vec::new();
    let mut mounts = 0;
    for night in 0..4_u8 {
        let file = |directory| (format!("{directory}/{night}"), vec![night; 50_000]);
        let files = ["a", "b", "c", "d"].map(file);
        site.store_these(&files, copies);
        all.extend(files);
        let migrated = site.mover(|mover| mover.migrate(i64::MAX));
        let migrated = migrated.expect("written");
        mounts += migrated.mounts;
    }
    site.assert_integrity();
    let on = ["a", "b", "c", "d"].map(|one| volumes_of(&site, &all, one).len());
    (on, mounts)
}

#[test]
fn files_that_come_later_join_their_group_if_several_volumes_are_filled_side_by_side() {
    assert_eq!(after_four_nights(1, 1, 4), ([1; 4], 13));
    let (on, mounts) = after_four_nights(1, 1, 1);
    assert!(
        on.into_iter().all(|on| on > 1) && mounts < 10,
        "{on:?} {mounts}"
    );
    assert_eq!(after_four_nights(2, 1, 4).0, [1; 4]);
    // Each of two copies has a volume to come home to.
    assert_eq!(after_four_nights(2, 2, 8).0, [2; 4]);
}
