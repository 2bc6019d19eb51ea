//! When a file is likely to be there: the emulated library, which knows nothing of the models, keeps to it.

use crate::site;

use site::Site;
use std::collections::HashMap;
use tapewise_archive::catalogue::{FileId, Files, RequestId};
use tapewise_archive::pull_list::{Asking, pull_list};
use tapewise_emulator::Faults;
use tapewise_formats::event::{Action, Event};
use tapewise_model::Micros;

pub type Wanted<'a> = [&'a (String, Vec<u8>)];

/// A site of one drive with files on several volumes, and nothing in its cache.
pub fn site() -> (Site, Vec<(String, Vec<u8>)>) {
    let mut site = Site::new(1, 16, Faults::none());
    site.settings.volume_bytes = Some(400_000);
    let files = site.store(120, 1, 11);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    site.empty_cache();
    site.pool.dismount(0, &mut site.events).expect("home");
    site.events.clear();
    let files = files
        .into_iter()
        .filter(|(_, contents)| !contents.is_empty());
    (site, files.collect())
}

/// The soonest and the latest time that is expected of each of these files.
fn expected(site: &Site, files: &Wanted<'_>) -> HashMap<FileId, (Micros, Micros)> {
    let ids: Vec<FileId> = files.iter().map(|(path, _)| site.id(path)).collect();
    let asking = Asking {
        files: &ids,
        now_ns: site.now_ns(),
        drives: 1,
        robots: 1,
    };
    let list = pull_list(site.catalogue.as_ref(), asking, &site.settings).expect("a list");
    let expected = list.expected.iter();
    expected
        .map(|one| (one.file, (one.soonest, one.latest)))
        .collect()
}

/// When these files had been read, from the beginning of the recall. Files that share a block are read together,
/// under the name of one of them: the others are left out.
fn came(site: &mut Site, files: &Wanted<'_>) -> HashMap<FileId, Micros> {
    let to = site.destination("back");
    let requests = site.request(files, &to);
    recalled(site, files, requests)
}

/// The same for files that are asked for already.
pub fn recalled(
    site: &mut Site,
    files: &Wanted<'_>,
    requests: Vec<RequestId>,
) -> HashMap<FileId, Micros> {
    site.mover(|mover| mover.recall()).expect("recalled");
    let began = site.events.first().expect("events").at_us;
    let mut came = HashMap::new();
    for ((path, _), request) in files.iter().zip(requests) {
        let purpose = format!("request {}", request.0);
        let is_its = |event: &&Event| {
            event.action == Action::Read && event.purpose.as_ref() == Some(&purpose)
        };
        let of = site.events.iter().filter(is_its);
        if let Some(end) = of.map(|event| event.at_us + event.took_us).max() {
            came.insert(site.id(path), end - began);
        }
    }
    came
}

/// Whether every file that came did so between the times that were expected.
pub fn assert_as_expected(
    expected: &HashMap<FileId, (Micros, Micros)>,
    came: &HashMap<FileId, Micros>,
) {
    assert!(
        came.len() * 3 > expected.len(),
        "{} of {}",
        came.len(),
        expected.len()
    );
    for (file, came) in came {
        let (soonest, latest) = &expected[file];
        assert!(
            (soonest..=latest).contains(&came),
            "{file:?}: {came} is not in {soonest} to {latest}"
        );
    }
}

#[test]
fn a_file_is_there_between_the_times_that_were_expected() {
    let (mut site, files) = site();
    let wanted: Vec<_> = files.iter().step_by(3).collect();
    let expected = expected(&site, &wanted);
    assert_eq!(expected.len(), wanted.len());
    assert_as_expected(&expected, &came(&mut site, &wanted));
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
    for (file, (soonest, _)) in &beside {
        assert!(*soonest <= alone[file].0);
    }
    let sum = |times: &HashMap<FileId, (Micros, Micros)>| {
        let latest = times.values().map(|(_, latest)| *latest);
        latest.sum::<Micros>()
    };
    assert!(sum(&beside) > sum(&alone));
    assert_as_expected(&beside, &came(&mut site, &wanted));
}

#[test]
fn files_that_share_blocks_are_there_one_after_the_other() {
    let mut site = Site::new(1, 4, Faults::none());
    // 50 KB each: long beside the headers between them, which no plan counts.
    let files: Vec<(String, Vec<u8>)> = (0..12)
        .map(|number| (format!("d/{number}"), site::contents(3, 10 * number + 1)))
        .collect();
    site.store_these(&files, 1);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    site.empty_cache();
    site.pool.dismount(0, &mut site.events).expect("home");
    site.events.clear();
    // Most end in the block in which the next one begins, and are read together.
    let wanted: Vec<_> = files.iter().collect();
    let expected = expected(&site, &wanted);
    let to = site.destination("back");
    let requests = site.request(&wanted, &to);
    let of_request: HashMap<RequestId, FileId> = requests
        .iter()
        .copied()
        .zip(wanted.iter().map(|(path, _)| site.id(path)))
        .collect();
    site.mover(|mover| mover.recall()).expect("recalled");
    let began = site.events.first().expect("events").at_us;
    let mut together = 0;
    for event in &site.events {
        let read = Some(event).filter(|event| event.action == Action::Read);
        let purpose = read.and_then(|event| event.purpose.as_deref());
        let names = purpose.and_then(|purpose| purpose.strip_prefix("request "));
        // A file in two parts is read by itself.
        let Some(names) = names.filter(|names| !names.contains("segment")) else {
            continue;
        };
        let requests: Vec<i64> = names
            .split(", ")
            .map(|name| name.parse().expect("a number"))
            .collect();
        together = together.max(requests.len());
        let first = event.from.and_then(|spot| spot.block).expect("a block");
        for request in requests {
            let file = of_request[&RequestId(request)];
            let entry = site.catalogue.file(file).expect("a file");
            let (_, segment) = entry.copies[0].segments.last().expect("a segment");
            // The tape passes at one speed, so a file is there when its share of the blocks has passed.
            let share = (segment.last_block + 1 - first) as f64 / event.blocks as f64;
            let until = Micros((event.took_us.0 as f64 * share) as i64);
            let came = event.at_us + until - began;
            let (soonest, latest) = expected[&file];
            assert!(
                (soonest..=latest).contains(&came),
                "request {request}: {came} is not in {soonest} to {latest}"
            );
        }
    }
    assert!(together > 2, "{together} files were read together");
}
