//! How a catalogue grows: `cargo bench -p tapewise-archive --bench catalogue -- FILES REQUESTS [URL]`.
//!
//! Loads a list of files, finds by path and by pattern, enters recalls and claims them from several
//! threads, each with a connection of its own. In a new file of SQLite, or with a URL in an empty PostgreSQL database.
//! Prints a table.
//!
//! `-- snapshot MINUTES REQUESTS URL URL` claims in two empty PostgreSQL databases in turns, while a report's snapshot
//! is open in the first.

mod list;
mod movers;
mod snapshot;

use list::{list, path};
use movers::Work;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};
use tapewise_archive::catalogue::{
    Catalogue, FileId, NewRecall, NewStage, PART_NAMES, Pattern, Place, RecallQueue, RequestId,
    Submitted, Terms, WantedFile,
};

/// Recalls that are begun after a claim.
const BEGUN: usize = 200;

/// The most memory that this process has had, MB.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kb.unwrap_or(0) / 1000
}

/// The time that processors have worked for this process.
fn processor() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = behind_name.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

fn line(what: &str, figure: &str) {
    println!("| {what:<44} | {figure:>22} |");
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let done = work();
    (done, begun.elapsed())
}

/// The longest of some answers to questions of one kind.
fn slowest(times: u64, mut ask: impl FnMut(u64)) -> String {
    let took = (0..times).map(|at| timed(|| ask(at)).1).max();
    format!(
        "{:.1} ms at most",
        took.unwrap_or_default().as_secs_f64() * 1e3
    )
}

fn look(catalogue: &dyn Catalogue, files: u64) {
    let spread = |at| spread(at, files);
    let by_path = slowest(100, |at| {
        let path = Pattern::Path(path(spread(at)).into_bytes());
        assert_eq!(catalogue.find(&path, None, 2).expect("found").len(), 1);
    });
    line("find by path", &by_path);
    let by_prefix = slowest(10, |at| {
        let path = path(spread(at));
        let below = path.rsplit_once('/').map_or("", |(below, _)| below);
        let glob = Pattern::Glob(format!("{below}/*.h5").into_bytes());
        assert!(!catalogue.find(&glob, None, 100).expect("found").is_empty());
    });
    line("find by pattern below a directory", &by_prefix);
    find_by_part(catalogue, files, 2);
}

/// A file that is spread among the others.
fn spread(at: u64, files: u64) -> u64 {
    at.wrapping_mul(0x9E37_79B9_7F4A_7C15) % files
}

fn find_by_part(catalogue: &dyn Catalogue, files: u64, times: u64) {
    let anywhere = slowest(times, |at| {
        let glob = Pattern::Glob(format!("*detector-{:010}*", spread(at + 1, files)).into_bytes());
        assert_eq!(catalogue.find(&glob, None, 2).expect("found").len(), 1);
    });
    line("find one file by a part of its name", &anywhere);
}

/// Patterns with long, short, numbered and broken runs of letters, with one file and with very many.
const PATTERNS: [&str; 11] = [
    "*-0009803398.h5",
    "*99999999*",
    "*0000000001*",
    "*618033*",
    "*[0-9]803398*",
    "*99999*",
    "*tector-00818*98.h5",
    "*-0098*1234.h5",
    "*nothing*",
    "*1234[5]6*",
    "*0001.h5",
];

/// How long lists of the files take whose names match: the first time, and when asked again.
fn find_by_patterns(catalogue: &dyn Catalogue) {
    for pattern in PATTERNS {
        let glob = Pattern::Glob(pattern.as_bytes().to_vec());
        let ask = || catalogue.find(&glob, None, 50_000).expect("found").len();
        let ((count, first), (_, again)) = (timed(ask), timed(ask));
        let (first, again) = (first.as_secs_f64(), again.as_secs_f64());
        let what = format!("find {count} by {pattern}, and again");
        line(&what, &format!("{first:.2} s, {again:.2} s"));
    }
}

fn size(path: &Path) -> String {
    let bytes = path.metadata().map_or(0, |file| file.len());
    format!("{:.2} GB", bytes as f64 / 1e9)
}

/// Stage requests of several lengths, each for files that nobody has asked for.
fn stages(catalogue: &dyn Catalogue, files: u64) {
    let mut last = files;
    for (count, times) in [(1, 50), (10, 50), (1_000, 5), (10_000, 2)] {
        if last < count * times {
            return;
        }
        let ((), took) = timed(|| {
            for _ in 0..times {
                last -= count;
                let wanted = (last..last + count).map(|at| WantedFile {
                    spelling: format!("/{}", path(at)),
                    paths: Ok(vec![path(at).into_bytes()]),
                    lifetime_ns: 1,
                    activity: String::new(),
                });
                let stage = NewStage {
                    id: format!("stage {last}"),
                    user: "user".to_owned(),
                    repeat_key: None,
                    asked_hash: Vec::new(),
                    files: wanted.collect(),
                };
                let begun = catalogue.begin_stage(&stage, &[], 1);
                assert_eq!(begun.expect("begun"), Submitted::New);
            }
        });
        let ms = |took: Duration| format!("{:.1} ms", took.as_secs_f64() * 1e3 / times as f64);
        line(&format!("stage of {count} files"), &ms(took));
        let ((), took) = timed(|| {
            for time in 0..times {
                let id = format!("stage {}", last + time * count);
                catalogue.delete_stage(&id, 2).expect("deleted");
            }
        });
        line("its cancellation", &ms(took));
    }
}

fn main() {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| arg != "--bench")
        .collect();
    let directory = tempfile::tempdir().expect("a directory");
    if let [mode, minutes, requests, with, without] = &args[..]
        && mode == "snapshot"
    {
        let minutes = minutes.parse().expect("minutes");
        let requests = requests.parse().expect("a number");
        return snapshot::compare(minutes, requests, [with, without], directory.path());
    }
    let number = |at: usize, usual| {
        args.get(at)
            .map_or(usual, |text| text.parse().expect("a number"))
    };
    let (files, requests) = (number(0, 100_000u64), number(1, 10_000u64));
    let place = match args.get(2) {
        Some(url) => Place::Database {
            url: url.parse().expect("a URL"),
            copies: directory.path().to_owned(),
        },
        None => Place::File(directory.path().join("catalogue.db")),
    };
    let catalogue = place.open().expect("a catalogue");
    println!(
        "| {:<44} | {:>22} |",
        format!("{files} files, {requests} recalls"),
        engine(&place)
    );
    println!("|{:-<46}|{:->24}|", "", "");
    let (added, took) = timed(|| catalogue.add_list(&mut list(files), 1));
    assert_eq!(added.expect("added"), files);
    line("load a list", &format!("{:.1} s", took.as_secs_f64()));
    let worked = processor().as_secs_f64();
    line("time of the processor for it", &format!("{worked:.1} s"));
    line(
        "memory of this process, at most",
        &format!("{} MB", peak_mb()),
    );
    if let Place::File(path) = &place {
        line("size of the file", &size(path));
    }
    look(&*catalogue, files);
    let parts = || (0..).take_while(|_| catalogue.index_names(PART_NAMES).expect("indexed"));
    let (parts, took) = timed(|| parts().count());
    let what = format!("index {} of the names", parts * PART_NAMES);
    line(&what, &format!("{:.1} s", took.as_secs_f64()));
    if let Place::File(path) = &place {
        line("size of the file", &size(path));
    }
    line(
        "memory of this process, at most",
        &format!("{} MB", peak_mb()),
    );
    find_by_part(&*catalogue, files, 20);
    find_by_patterns(&*catalogue);
    let recalls = (0..requests).map(|at| NewRecall {
        file: FileId(1 + (at % files) as i64),
        terms: Terms::default(),
        destination: None,
    });
    let recalls: Vec<NewRecall> = recalls.collect();
    let (ids, took) = timed(|| catalogue.submit(&recalls, 1).expect("asked"));
    line("enter the recalls", &format!("{:.1} s", took.as_secs_f64()));
    let work = Work {
        place: &place,
        requests: &ids,
        begun: BEGUN,
        answered: 0,
        lasts: Duration::from_secs(5),
        claimed: AtomicU64::new(0),
    };
    for movers in [1, 4, 16] {
        let claims = work.claims_a_second(movers);
        let what = format!("claims of {BEGUN} recalls, {movers} movers");
        line(&what, &format!("{claims:.0} a second"));
    }
    let (queue, took) = timed(|| catalogue.recall_queue().expect("a queue"));
    let waiting = queue.volumes.iter().map(|volume| volume.waiting.len());
    let what = format!("read the queue of {} recalls", waiting.sum::<usize>());
    line(&what, &format!("{:.2} s", took.as_secs_f64()));
    again(&*catalogue, &queue);
    stages(&*catalogue, files);
}

/// What a mover reads of a queue that it keeps, before each choice.
fn again(catalogue: &dyn Catalogue, queue: &RecallQueue) {
    let ms = |took: Duration| format!("{:.1} ms", took.as_secs_f64() * 1e3);
    let (newer, took) = timed(|| catalogue.recalls_after(queue.newest).expect("a queue"));
    assert!(newer.volumes.is_empty());
    line("what has come since", &ms(took));
    let waiting = queue
        .volumes
        .first()
        .map_or(&[][..], |volume| &volume.waiting);
    let chosen: Vec<RequestId> = waiting.iter().take(BEGUN).map(|one| one.request).collect();
    let (_, took) = timed(|| catalogue.recalls_among(&chosen).expect("a queue"));
    let what = format!("look {} of them up again", chosen.len());
    line(&what, &ms(took));
}

fn engine(place: &Place) -> &'static str {
    match place {
        Place::File(_) => "SQLite",
        Place::Database { .. } => "PostgreSQL",
    }
}
