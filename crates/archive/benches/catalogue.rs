//! How a catalogue grows: `cargo bench -p tapewise-archive --bench catalogue -- FILES REQUESTS [URL]`.
//!
//! Loads a list of files, finds by path and by pattern, enters recalls and claims them from several
//! threads, each with a connection of its own. In a new file of SQLite, or with a URL in an empty PostgreSQL database.
//! Prints a table.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tapewise_archive::catalogue::{
    Catalogue, Claim, Holder, ListItem, NewRecall, Pattern, Place, Recorded, Result, Terms, Wanted,
};
use tapewise_archive::record::{File, Owner, Segment, Volume, VolumeFormat, VolumeState};
use tapewise_archive::sums::{Kind, Sum};

/// Files of a volume.
const ON_VOLUME: u64 = 100_000;

/// Recalls that are begun with after a claim.
const TAKEN: u64 = 200;

fn path(number: u64) -> String {
    // A site's layout: years, campaigns, runs.
    let (year, campaign, run) = (2000 + number % 26, number / 26 % 400, number / 10_400);
    format!("data/{year}/campaign-{campaign:03}/run-{run:06}/detector-{number:010}.h5")
}

fn item(number: u64) -> Recorded {
    let path = path(number).into_bytes();
    let first_block = number % ON_VOLUME * 100;
    Recorded {
        file: File {
            bytes: 40_000_000 + number % 1000,
            modified_ns: 1_700_000_000_000_000_000 + number as i64,
            mode: 0o640,
            sums: vec![Sum {
                kind: Kind::Adler32,
                value: (number as u32).to_be_bytes().to_vec(),
            }],
            path,
        },
        owner: Owner {
            user: "ops".to_owned(),
            group: "site".to_owned(),
            account: String::new(),
        },
        zstd_bytes: None,
        segments: vec![Segment {
            partition: 0,
            first_block,
            last_block: first_block + 80,
            byte_offset: 0,
            bytes: 40_000_000 + number % 1000,
            file_offset: 0,
            start: None,
            end: None,
        }],
    }
}

fn volume(number: u64) -> Volume {
    Volume {
        label: format!("V{number:05}L9"),
        uuid: format!("uuid-{number}"),
        format: VolumeFormat::Blocks,
        state: VolumeState::Full,
        block_bytes: 524_288,
        next_block: 0,
        written_bytes: 0,
    }
}

fn list(files: u64) -> impl Iterator<Item = Result<ListItem>> {
    (0..files).flat_map(|number| {
        let first = number.is_multiple_of(ON_VOLUME);
        let on = first.then(|| ListItem::Volume(volume(number / ON_VOLUME)));
        on.into_iter().chain([ListItem::File(item(number))]).map(Ok)
    })
}

/// The most memory that this process has had, MB.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kb.unwrap_or(0) / 1000
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

/// Claims recalls from several movers at once for some seconds. Returns claims a second.
fn claims(
    place: &Place,
    movers: u64,
    volumes: u64,
    requests: &[tapewise_archive::catalogue::RequestId],
) -> f64 {
    const LASTS: Duration = Duration::from_secs(5);
    let claimed = AtomicU64::new(0);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for mover in 0..movers {
            let (claimed, requests) = (&claimed, requests);
            scope.spawn(move || {
                let catalogue = place.open_existing().expect("the catalogue");
                let holder = Holder {
                    host: format!("host {mover}"),
                    process: 1,
                    run: format!("run {mover}"),
                };
                let drive = format!("drive {mover}");
                let labels = catalogue.volumes().expect("volumes");
                for turn in 0.. {
                    if begun.elapsed() > LASTS {
                        break;
                    }
                    let at = (turn * movers + mover) % volumes;
                    let wanted = Wanted {
                        drive: &drive,
                        volume: Some(labels[at as usize].0),
                        holder: &holder,
                        for_ns: 60_000_000_000,
                    };
                    let Claim::Got(lease) = catalogue.claim(&wanted, 1).expect("an answer") else {
                        continue;
                    };
                    let first = ((turn * movers + mover) * TAKEN) as usize % requests.len();
                    let some = &requests[first..(first + TAKEN as usize).min(requests.len())];
                    catalogue.take(&lease, some, 1).expect("taken");
                    catalogue.give_back(&lease).expect("given back");
                    claimed.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    claimed.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64()
}

fn look(catalogue: &dyn Catalogue, files: u64) {
    let spread = |at: u64| at.wrapping_mul(0x9E37_79B9_7F4A_7C15) % files;
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
    let anywhere = slowest(2, |at| {
        let glob = Pattern::Glob(format!("*detector-{:010}*", spread(at)).into_bytes());
        assert_eq!(catalogue.find(&glob, None, 2).expect("found").len(), 1);
    });
    line("find one file by a part of its name", &anywhere);
}

fn main() {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| arg != "--bench")
        .collect();
    let number = |at: usize, usual| {
        args.get(at)
            .map_or(usual, |text| text.parse().expect("a number"))
    };
    let (files, requests) = (number(0, 100_000u64), number(1, 10_000u64));
    let directory = tempfile::tempdir().expect("a directory");
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
    line(
        "memory of this process, at most",
        &format!("{} MB", peak_mb()),
    );
    if let Place::File(path) = &place {
        let bytes = |path: &Path| path.metadata().map_or(0, |file| file.len());
        line(
            "size of the file",
            &format!("{:.2} GB", bytes(path) as f64 / 1e9),
        );
    }
    look(&*catalogue, files);
    let recalls = (0..requests).map(|at| NewRecall {
        file: tapewise_archive::catalogue::FileId(1 + (at % files) as i64),
        terms: Terms::default(),
        destination: None,
    });
    let recalls: Vec<NewRecall> = recalls.collect();
    let (ids, took) = timed(|| catalogue.submit(&recalls, 1).expect("asked"));
    line("enter the recalls", &format!("{:.1} s", took.as_secs_f64()));
    let volumes = files.div_ceil(ON_VOLUME);
    for movers in [1, 4, 16] {
        let claims = claims(&place, movers, volumes.max(1), &ids);
        let what = format!("claims of {TAKEN} recalls, {movers} movers");
        line(&what, &format!("{claims:.0} a second"));
    }
}

fn engine(place: &Place) -> &'static str {
    match place {
        Place::File(_) => "SQLite",
        Place::Database { .. } => "PostgreSQL",
    }
}
