//! A cache that several movers have at the same time.

use crate::catalogue_help::store;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use tapewise_archive::cache::Cache;
use tapewise_archive::catalogue::{FileId, Holder};
use tapewise_archive::mover::Lessee;
use tapewise_archive::open::Archive;
use tapewise_archive::settings::ArchiveSettings;

const SETTINGS: &str = "
    drives = ['/dev/sg0']
    profile = 'lto8'
    copies = 1
    cache_high_bytes = 1_000_000
    cache_low_bytes = 500_000
    block_bytes = 8192
    segment_bytes = 1_048_576
    part_bytes = 1_048_576
";

fn lessee(archive: &Archive, host: &str) -> Lessee {
    let holder = Holder {
        host: host.to_owned(),
        process: 1,
        run: format!("run of {host}"),
    };
    let clock = Arc::new(|| 1);
    let lessee = Lessee::new(
        archive.catalogue.clone(),
        holder,
        1_000,
        clock.clone(),
        clock,
    );
    lessee.expect("a mover")
}

/// Opens the cache as a mover does for a round of its work.
fn opened(archive: &Archive, lessee: &Lessee) -> Cache {
    let desk = lessee.desk_anew().expect("a catalogue").expect("a desk");
    archive.shared_cache(desk.lease.epoch).expect("a cache").0
}

fn put(cache: &Cache, contents: &str) -> FileId {
    let bytes = contents.len() as u64;
    let mut incoming = cache
        .reserve(bytes, 1)
        .expect("room")
        .create()
        .expect("made");
    incoming.write_all(contents.as_bytes()).expect("written");
    let arrived = incoming.finish().expect("on disk");
    cache
        .store(vec![(arrived, store(contents, bytes, 1))], 1)
        .expect("stored")[0]
        .0
}

#[test]
fn no_file_takes_the_place_of_another_whoever_opens_the_cache_and_how_often() {
    let directory = tempfile::tempdir().expect("a directory");
    let open = |path: &Path| Archive::open(path).expect("an archive");
    let place = directory.path().join("A");
    let settings: ArchiveSettings = toml::from_str(SETTINGS).expect("settings");
    let archive = Archive::create(&place, &settings).expect("an archive");
    let (bob_archive, alone) = (open(&place), open(&place));
    let (ada, bob) = (lessee(&archive, "ada"), lessee(&bob_archive, "bob"));
    let mut files = Vec::new();
    for round in 0..3 {
        let ours = opened(&archive, &ada);
        let theirs = opened(&bob_archive, &bob);
        for (cache, whose) in [(&theirs, "bob"), (&ours, "ada"), (&theirs, "bob again")] {
            let contents = format!("{whose} in round {round}");
            files.push((put(cache, &contents), contents));
        }
        // The one that was second is first now, without having to put anything right.
        drop(ours);
        let ours = opened(&archive, &ada);
        drop(theirs);
        let contents = format!("the rest of round {round}");
        files.push((put(&ours, &contents), contents));
        drop(ours);
        // While no mover has it, somebody stores with the cache alone.
        let (cache, found) = alone.cache().expect("a cache");
        assert_eq!(found.leftovers, 0);
        let contents = format!("alone after round {round}");
        files.push((put(&cache, &contents), contents));
    }
    let (cache, _) = alone.cache().expect("a cache");
    for (file, contents) in files {
        let mut read = String::new();
        let opened = cache.read(file, None).expect("an answer");
        opened
            .expect("a file")
            .read_to_string(&mut read)
            .expect("contents");
        assert_eq!(read, contents);
    }
}

#[test]
fn who_shares_the_cache_waits_until_it_has_been_put_right() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = directory.path().join("A");
    let settings: ArchiveSettings = toml::from_str(SETTINGS).expect("settings");
    let archive = Archive::create(&place, &settings).expect("an archive");
    let other = Archive::open(&place).expect("an archive");
    let [epoch, next] = [(); 2].map(|()| archive.catalogue.new_epoch().expect("an epoch"));
    let (alone, _) = archive.cache().expect("a cache");
    std::thread::scope(|scope| {
        let joined = scope.spawn(|| other.shared_cache(next).map(|(cache, _)| cache));
        std::thread::sleep(std::time::Duration::from_millis(100));
        alone.share(epoch << 32).expect("shared");
        let joined = joined.join().expect("the thread").expect("a cache");
        let files = [put(&alone, "ours"), put(&joined, "theirs")];
        assert_ne!(files[0], files[1]);
    });
}

#[test]
fn a_catalogue_apart_answers_while_the_other_one_is_at_work() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings: ArchiveSettings = toml::from_str(SETTINGS).expect("settings");
    let archive = Archive::create(&directory.path().join("A"), &settings).expect("an archive");
    let apart = archive.catalogue_apart().expect("a connection");
    let mut list = std::iter::from_fn(|| {
        assert_eq!(apart.leases().expect("an answer"), []);
        None
    });
    assert_eq!(archive.catalogue.add_list(&mut list, 1).expect("added"), 0);
}
