//! When a file is likely to be there: the emulated library, which knows nothing of the models, keeps to it.

use crate::site;

use site::Site;
use std::collections::HashMap;
use tapewise_archive::catalogue::FileId;
use tapewise_archive::pull_list::{Asking, pull_list};
use tapewise_emulator::Faults;
use tapewise_formats::event::Action;
use tapewise_model::Micros;

/// A site of one drive with files on several volumes, and nothing in its cache.
fn site() -> (Site, Vec<(String, Vec<u8>)>) {
    let mut site = Site::new(1, 16, Faults::none());
    site.settings.volume_bytes = Some(400_000);
    let files = site.store(120, 1, 11);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    site.empty_cache();
    let drive = 0;
    site.pool.dismount(drive, &mut site.events).expect("home");
    site.events.clear();
    let files = files
        .into_iter()
        .filter(|(_, contents)| !contents.is_empty());
    (site, files.collect())
}

/// What is expected of these files.
fn expected(site: &Site, files: &[&(String, Vec<u8>)]) -> HashMap<FileId, (Micros, Micros)> {
    let ids: Vec<FileId> = files.iter().map(|(path, _)| site.id(path)).collect();
    let asking = Asking {
        files: &ids,
        now_ns: site.now_ns(),
        drives: 1,
    };
    let list = pull_list(site.catalogue.as_ref(), asking, &site.settings).expect("a list");
    let expected = list.expected.iter();
    expected
        .map(|one| (one.file, (one.soonest, one.latest)))
        .collect()
}

/// When each of these files had been read, from the beginning of the recall.
fn came(
    site: &mut Site,
    files: &[&(String, Vec<u8>)],
    others: &[&(String, Vec<u8>)],
) -> HashMap<FileId, Micros> {
    let to = site.destination("back");
    site.request(others, &to);
    let requests = site.request(files, &to);
    site.mover(|mover| mover.recall()).expect("recalled");
    let began = site.events.first().expect("events").at_us;
    let read = |request: &String| {
        let of = site.events.iter().filter(|event| {
            event.action == Action::Read && event.purpose.as_ref() == Some(request)
        });
        of.map(|event| event.at_us + event.took_us - began)
            .max()
            .expect("read")
    };
    let names = requests.iter().map(|request| request.0.to_string());
    files
        .iter()
        .zip(names)
        .map(|((path, _), name)| (site.id(path), read(&name)))
        .collect()
}

#[test]
fn a_file_is_there_between_the_times_that_were_expected() {
    let (mut site, files) = site();
    let wanted: Vec<_> = files.iter().step_by(3).collect();
    let expected = expected(&site, &wanted);
    let came = came(&mut site, &wanted, &[]);
    assert_eq!(expected.len(), wanted.len());
    for (file, (soonest, latest)) in &expected {
        let came = came[file];
        assert!(
            (soonest..=latest).contains(&&came),
            "{file:?}: {came} is not in {soonest} to {latest}"
        );
    }
}

#[test]
fn what_waits_in_the_queue_makes_the_latest_time_later_and_it_holds_too() {
    let (mut site, files) = site();
    let wanted: Vec<_> = files.iter().step_by(7).collect();
    let others: Vec<_> = files.iter().skip(1).step_by(7).collect();
    let alone = expected(&site, &wanted);
    let to = site.destination("others");
    site.request(&others, &to);
    let beside = expected(&site, &wanted);
    let came = came(&mut site, &wanted, &[]);
    for (file, (soonest, latest)) in &beside {
        assert_eq!(*soonest, alone[file].0);
        let came = came[file];
        assert!(
            (soonest..=latest).contains(&&came),
            "{file:?}: {came} is not in {soonest} to {latest}"
        );
    }
    let sum =
        |times: &HashMap<FileId, (Micros, Micros)>| times.values().map(|one| one.1).sum::<Micros>();
    assert!(sum(&beside) > sum(&alone));
}
