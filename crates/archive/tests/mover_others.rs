//! Recalls by the mover from LTFS volumes and from tar tapes of others, from drives without a table of
//! wrap ends, and to destinations that do not take everything.

use crate::site;

use site::Site;
use std::path::Path;
use std::sync::Arc;
use tapewise_archive::catalogue::{Files, Recorded, Requests, SqliteCatalogue, Volumes};
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::ltfs::deliver::Wanted;
use tapewise_archive::ltfs::volume::LtfsVolume;
use tapewise_archive::mover::{MoveError, Others, ReadIn, Recalled};
use tapewise_archive::record::{File, Owner, Volume, VolumeFormat, VolumeState};
use tapewise_emulator::{Clock, Faults, Library, LibrarySpec};
use tapewise_formats::event::Action;
use tapewise_house::ltfs_tape;
use tapewise_library::pool::{Answer, Pace, Person, Pool, PoolError};
use tapewise_model::{Random, profile};
use tapewise_scsi::TapeDrive;

/// A site whose library has cartridges of another kind, and of this scale.
fn site_of(kind: &str, scale: u64) -> Site {
    let mut site = Site::new(1, 1, Faults::none());
    let mut spec = LibrarySpec::with_robot("ibm3584", kind, 1, 8, 3, 7);
    for cartridge in &mut spec.cartridges {
        cartridge.scale = scale;
    }
    let path = site.directory.path().join("another");
    let library = Library::create(&path, &spec, Clock::virtual_time()).expect("a library");
    site.pool = site::pool(&library, 1);
    site.library = library;
    site.settings.profile = profile::find(kind).expect("a profile");
    site.settings.byte_scale = scale;
    site
}

/// Something is written on a cartridge without the archive.
fn elsewhere<T>(site: &mut Site, label: &str, write: impl FnOnce(&mut TapeDrive) -> T) -> T {
    let drive = site.pool.mount(label, &mut site.events).expect("mounted");
    let written = write(site.pool.drive(drive));
    site.pool
        .dismount(drive, &mut site.events)
        .expect("dismounted");
    written
}

/// The real volume TST001 on a cartridge, in the catalogue by its index.
fn with_ltfs(site: &mut Site, label: &str, block_bytes: u32) -> Vec<(String, Vec<u8>)> {
    let volume = elsewhere(site, label, |drive| {
        ltfs_tape::write_real_volume(drive);
        LtfsVolume::look(drive).expect("a volume")
    });
    let mut files = Vec::new();
    volume
        .index
        .visit(|file| files.push(file))
        .expect("an index");
    files.retain(|file| file.symlink.is_none());
    let layout = volume.layout.with_block_size(u64::from(block_bytes));
    let recorded: Vec<Recorded> = files
        .iter()
        .map(|file| {
            let wanted = Wanted::new(file, &layout, None, vec![], vec![]).expect("a file");
            Recorded {
                file: File {
                    path: InnerPath::new(format!("{label}/{}", wanted.path))
                        .expect("a path")
                        .as_bytes()
                        .to_vec(),
                    bytes: file.length,
                    modified_ns: 0,
                    mode: 0o644,
                    sums: vec![],
                },
                owner: Owner::default(),
                zstd_bytes: None,
                segments: wanted.segments,
            }
        })
        .collect();
    let record = Volume {
        label: label.to_owned(),
        uuid: volume.label.volume_uuid.to_uppercase(),
        format: VolumeFormat::Ltfs,
        state: VolumeState::Full,
        block_bytes,
        next_block: 0,
        written_bytes: 0,
    };
    site.catalogue
        .add_recorded(&record, &recorded, 1)
        .expect("added");
    let wanted = recorded.iter().map(|one| {
        let path = String::from_utf8(one.file.path.clone()).expect("a name");
        (path, Vec::new())
    });
    wanted.collect()
}

fn recall(site: &mut Site, files: &[(String, Vec<u8>)], to: &Path) -> Recalled {
    site.request(&files.iter().collect::<Vec<_>>(), to);
    site.mover(|mover| mover.recall()).expect("recalled")
}

#[test]
fn files_of_an_ltfs_volume_come_back_as_where_it_was_mounted() {
    let mut site = site_of("lto8", 1);
    let files = with_ltfs(&mut site, "TW0002", 524_288);
    let to = site.destination("back");
    let recalled = recall(&mut site, &files, &to);
    assert_eq!((recalled.delivered, recalled.failed), (19, vec![]));
    assert_eq!(recalled.unavailable, []);
    let (label, whence) = &recalled.positions[0];
    assert_eq!(label, "TW0002");
    assert!(
        whence.contains("the drive's table of wrap ends"),
        "{whence}"
    );
    let published = std::fs::read_to_string(ltfs_tape::fixture("TST001.sha256"));
    for line in published.expect("the fixture").lines() {
        use tapewise_archive::sums::{Kind, Sum};
        let (sum, name) = line.split_once("  ./").expect("a line of sha256sum");
        let bytes = std::fs::read(to.join("TW0002").join(name)).expect("delivered");
        assert_eq!(Sum::of(Kind::Sha256, &bytes).hex(), sum, "{name}");
    }
}

#[test]
fn an_ltfs_volume_is_added_from_its_tape_and_what_is_neither_leaves_no_entry() {
    let mut site = site_of("lto8", 1);
    elsewhere(&mut site, "TW0002", ltfs_tape::write_real_volume);
    elsewhere(&mut site, "TW0003", |drive| {
        drive.rewind().expect("rewound");
        drive.write(&[7; 80]).expect("written");
        drive.write_filemarks(1, false).expect("written");
    });
    let labels = ["TW0002", "TW0003"].map(str::to_owned);
    let read = site.mover(|mover| mover.read_in(&labels, Others::Add, 1));
    let read = read.expect("read").volumes;
    let [(_, ReadIn::Added(added)), (_, ReadIn::Passed(why))] = &read[..] else {
        panic!("{read:?}");
    };
    assert_eq!(
        (added.joined.files, added.left_out.len()),
        (19, 1),
        "{added:?}"
    );
    assert!(
        why.contains("neither a tar archive nor an LTFS volume"),
        "{why}"
    );
    let volumes = site.catalogue.volumes().expect("volumes");
    let known: Vec<_> = volumes
        .iter()
        .map(|(_, one)| (one.label.as_str(), one.format))
        .collect();
    assert_eq!(known, [("TW0002", VolumeFormat::Ltfs)]);
    let files = [("TW0002/docs/a/hello.txt".to_owned(), Vec::new())];
    let to = site.destination("back");
    let recalled = recall(&mut site, &files, &to);
    assert_eq!((recalled.delivered, recalled.failed), (1, vec![]));
}

/// A drive without a robot, and nobody beside it.
struct Nobody;

impl Person for Nobody {
    fn ask(&mut self, _: &str, _: &str) {}

    fn answer(&mut self) -> Answer {
        Answer::Gone
    }

    fn take(&mut self, _: &str, _: &str) {}
}

#[test]
fn a_cartridge_that_a_person_put_in_is_not_added_under_another_label_than_its_own() {
    let mut site = site_of("lto8", 1);
    site.store(4, 1, 3);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    elsewhere(&mut site, "TW0002", ltfs_tape::write_real_volume);
    let catalogue = site.directory.path().join("another.db");
    site.catalogue = Arc::new(SqliteCatalogue::open(&catalogue).expect("a catalogue"));
    for (label, right) in [("TW0001", "TW0001"), ("TW0002", "TST001L8")] {
        site.pool = site::pool(&site.library, 1);
        let mounted = site.pool.mount(label, &mut site.events);
        mounted.expect("it is in the drive");
        let read = |site: &mut Site, label: &str| {
            let drive = site.library.transport_to_drive(0).expect("a drive");
            let drives = vec![TapeDrive::open(Box::new(drive)).expect("a drive")];
            let pool = Pool::new(drives, Vec::new(), Some(Box::new(Nobody)), Box::new(|_| {}));
            site.pool = pool.expect("a pool");
            site.pool.set_pace(Pace::Turns);
            site.read_in(&[label]).volumes.remove(0).1
        };
        let added = read(&mut site, right);
        assert!(matches!(added, ReadIn::Added(_)), "{added:?}");
        let before = site.catalogue.volumes().expect("volumes");
        let refused = read(&mut site, "TW0009");
        let nobody = matches!(
            refused,
            ReadIn::Failed(MoveError::Pool(PoolError::NobodyThere { .. }))
        );
        assert!(nobody, "{refused:?}");
        assert_eq!(site.catalogue.volumes().expect("volumes"), before);
    }
}

#[test]
fn another_ltfs_volume_under_the_same_barcode_is_not_read() {
    let mut site = site_of("lto8", 1);
    let files = with_ltfs(&mut site, "TW0001", 524_288);
    let other = "19819039-0237-4bbb-bc65-167aecf34347";
    elsewhere(&mut site, "TW0001", |drive| {
        ltfs_tape::write_from(drive, 0, 0, &ltfs_tape::label('a', other));
    });
    let to = site.destination("back");
    let recalled = recall(&mut site, &files, &to);
    let (label, why) = recalled.unavailable.first().expect("refused");
    assert_eq!(label, "TW0001");
    assert!(why.contains(other), "{why}");
    // The empty file needs no tape.
    assert_eq!((recalled.delivered, recalled.mounts), (1, 0));

    elsewhere(&mut site, "TW0001", |drive| {
        drive.rewind().expect("rewound");
        drive.write(&[7; 80]).expect("written");
        drive.write_filemarks(1, false).expect("written");
    });
    let recalled = recall(&mut site, &[], &to);
    let (_, why) = recalled.unavailable.first().expect("refused");
    for words in ["TW0001 by its barcode", "no LTFS volume"] {
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn an_ltfs_volume_added_with_blocks_of_another_length_is_refused_with_the_right_one() {
    let mut site = site_of("lto8", 1);
    let files = with_ltfs(&mut site, "TW0001", 65_536);
    let to = site.destination("back");
    let recalled = recall(&mut site, &files, &to);
    let (_, why) = recalled.unavailable.first().expect("refused");
    assert!(why.contains("--block-size 524288"), "{why}");
}

#[test]
fn a_tar_tape_of_others_is_added_and_its_files_come_back() {
    let mut site = site_of("lto8", 1);
    let contents: Vec<Vec<u8>> = (0..30).map(|number| site::contents(21, number)).collect();
    elsewhere(&mut site, "TW0003", |drive| {
        drive.rewind().expect("rewound");
        for (nth, files) in contents.chunks(10).enumerate() {
            let mut builder = ::tar::Builder::new(Vec::new());
            for (number, bytes) in files.iter().enumerate() {
                let mut header = ::tar::Header::new_gnu();
                header.set_size(bytes.len() as u64);
                header.set_mode(0o644);
                builder
                    .append_data(&mut header, format!("{nth}/{number}"), bytes.as_slice())
                    .expect("appended");
            }
            let archive = builder.into_inner().expect("an archive");
            // Each archive in blocks of another length.
            for block in archive.chunks(10_240 >> nth) {
                drive.write(block).expect("written");
            }
            drive.write_filemarks(1, false).expect("written");
        }
    });
    let added = site::added(site.read_in(&["TW0003"]));
    assert_eq!((added.joined.files, added.troubles.len()), (30, 0));
    let files: Vec<(String, Vec<u8>)> = contents
        .into_iter()
        .enumerate()
        .map(|(number, bytes)| (format!("TW0003/{}/{}", number / 10, number % 10), bytes))
        .collect();
    let mut wanted = files.clone();
    Random::new(3, 1).shuffle(&mut wanted);
    let to = site.destination("back");
    let recalled = recall(&mut site, &wanted, &to);
    assert_eq!((recalled.delivered, recalled.failed), (30, vec![]));
    for (path, bytes) in &files {
        assert_eq!(
            &std::fs::read(to.join(path)).expect("delivered"),
            bytes,
            "{path}"
        );
    }
    let (volume, _) = site
        .catalogue
        .find_volume("TW0003")
        .expect("a catalogue")
        .expect("a volume");
    let verified = site.verify(volume).expect("verified");
    assert_eq!((verified.right, verified.lost), (30, vec![]));
}

#[test]
fn a_drive_without_a_table_of_wrap_ends_reads_by_what_was_recorded_at_writing() {
    let mut site = site_of("lto5", 1);
    let files = site.store(40, 1, 31);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    site.empty_cache();
    let to = site.destination("back");
    let recalled = recall(&mut site, &files, &to);
    assert_eq!((recalled.delivered, recalled.failed), (40, vec![]));
    let (_, whence) = recalled.positions.first().expect("a volume");
    assert!(
        whence.contains("that the drive told when it was written"),
        "{whence}"
    );
    for (path, bytes) in &files {
        assert_eq!(
            &std::fs::read(to.join(path)).expect("delivered"),
            bytes,
            "{path}"
        );
    }
}

#[test]
fn what_one_destination_does_not_take_keeps_no_other_request_from_the_cache_or_from_tape() {
    let mut site = Site::new(1, 2, Faults::none());
    let files = site.store(20, 1, 41);
    let to = site.destination("back");
    // Names are taken by other files.
    let taken = [&files[3].0, &files[4].0];
    for path in taken {
        let path = to.join(path);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        std::fs::write(path, "of somebody else").expect("written");
    }
    for is_cached in [true, false] {
        if !is_cached {
            site.mover(|mover| mover.migrate(i64::MAX))
                .expect("migrated");
            site.empty_cache();
            for (path, _) in files.iter().filter(|(path, _)| !taken.contains(&path)) {
                std::fs::remove_file(to.join(path)).expect("was delivered");
            }
        }
        let recalled = recall(&mut site, &files, &to);
        assert_eq!(recalled.delivered, 18, "{recalled:?}");
        assert_eq!(recalled.failed.len(), 2);
        for (request, why) in &recalled.failed {
            let file = site.catalogue.request(*request).expect("a request").file;
            let path = site.catalogue.file(file).expect("a file").file.path;
            assert!(taken.iter().any(|taken| taken.as_bytes() == path));
            assert!(!why.words.is_empty());
        }
        for (path, bytes) in &files {
            let found = std::fs::read(to.join(path)).expect("there");
            if taken.contains(&path) {
                assert_eq!(found, b"of somebody else")
            } else {
                assert_eq!(&found, bytes, "{path}")
            }
        }
    }
    assert!(site.catalogue.unanswered().expect("a catalogue").is_empty());
    site.assert_integrity();
}

#[test]
fn a_volume_of_more_files_than_are_read_together_is_verified_from_end_to_end_with_one_rewind() {
    let mut site = Site::new(1, 2, Faults::none());
    let files = site.store(300, 1, 51);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    let (volume, _) = site.catalogue.volumes().expect("a catalogue")[0].clone();
    site.events.clear();
    let verified = site.verify(volume).expect("verified");
    assert_eq!(
        (verified.right, verified.lost),
        (files.len() as u64, vec![])
    );
    let rewinds = site.events.iter();
    let rewinds = rewinds.filter(|event| event.action == Action::Rewind);
    assert_eq!(rewinds.count(), 1, "the label is read once");
}
