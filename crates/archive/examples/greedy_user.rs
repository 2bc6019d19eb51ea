//! One user asks a service for very much, and thirty others for a file now and then: how many times as long does each of
//! the thirty wait as without that user? On emulated drives, by the program that `serve` and `mover` run, and in the
//! simulation of the same requests. `make greedy-user` prints the figures of docs/method/next-mount.md.
//!
//! First comes the simulation, then the emulated drives. Their time passes only while all threads wait, so however busy
//! the machine is, their times are the same.
//!
//! `cargo run --release -p tapewise-archive --example greedy_user -- [SEEDS [PART_OF_A_POLICY]]`

#[path = "emulated/mod.rs"]
mod emulated;

use emulated::{Archive, Shape, pool, stored};
use std::error::Error;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tapewise_archive::catalogue::{
    Files, MostOpen, NewStage, Requests, SqliteCatalogue, Stages, WantedFile,
};
use tapewise_archive::mover::Settings;
use tapewise_emulator::{Clock, Library, LibrarySpec};
use tapewise_library::pool::Pace;
use tapewise_model::{Micros, Random, profile};
use tapewise_sim::Scenario;
use tapewise_sim::library::Site;
use tapewise_sim::mounts::MountSettings;
use tapewise_sim::scenario::{Arrivals, Listed};

const DRIVES: u16 = 8;
const CARTRIDGES: u16 = 60;
const FILES: u64 = 1_800;
const USERS: u64 = 30;
/// Files that each of the thirty asks for, one after the other.
const EACH: u64 = 4;
/// Files that the greedy user asks for, all at the beginning.
const MANY: u64 = 1_500;
/// From one request of the thirty to the next, on average.
const GAP_S: f64 = 50.0;
/// Bytes of tape for each stored byte: files of 15 kB are files of 3 GB there.
const SCALE: u64 = 200_000;
const FILE_BYTES: usize = 15_000;
/// How often a drive without work looks for some.
const LOOKS: Duration = Duration::from_secs(5);

const GREEDY: &str = "greedy";

/// The policies of the table.
const POLICIES: [(&str, &str); 5] = [
    ("`oldest`", "policy = \"oldest\"\nmost_per_mount = 4"),
    ("`ahead`", ""),
    ("`most_per_mount = 4`", "most_per_mount = 4"),
    (
        "the same, `drives_per_user = 4`",
        "most_per_mount = 4\ndrives_per_user = 4",
    ),
    (
        "the same, `drives_per_user = 2`",
        "most_per_mount = 4\ndrives_per_user = 2",
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let seeds: u64 = std::env::args().nth(1).map_or(Ok(1), |text| text.parse())?;
    let part = std::env::args().nth(2).unwrap_or_default();
    let policies = POLICIES.iter().filter(|(words, _)| words.contains(&part));
    // The simulation takes seconds, the emulated drives minutes.
    for answers in [Filled::simulated, Filled::of_each] {
        println!("| policy | seed | alone, s | beside, s | worst | within twice |");
        println!("|---|--:|--:|--:|--:|--:|");
        for seed in 1..=seeds {
            let archive = Filled::new(seed)?;
            for (words, policy) in policies.clone() {
                let policy = MountSettings::from_toml(policy)?;
                let alone = answers(&archive, &policy, &asked(seed, false))?;
                let beside = answers(&archive, &policy, &asked(seed, true))?;
                println!("| {words} | {seed} | {} |", Compared::of(&alone, &beside));
            }
        }
        println!();
    }
    Ok(())
}

/// How long the thirty wait, and how many times as long beside the greedy user.
struct Compared {
    alone_s: f64,
    beside_s: f64,
    worst: f64,
    within_twice: usize,
}

impl Compared {
    fn of(alone: &[f64], beside: &[f64]) -> Compared {
        let times = beside.iter().zip(alone).map(|(one, other)| one / other);
        let mean = |of: &[f64]| of.iter().sum::<f64>() / USERS as f64;
        Compared {
            alone_s: mean(alone),
            beside_s: mean(beside),
            worst: times.clone().fold(0.0, f64::max),
            within_twice: times.filter(|times| *times <= 2.0).count(),
        }
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Compared {
            alone_s,
            beside_s,
            worst,
            within_twice,
        } = self;
        write!(
            f,
            "{alone_s:.0} | {beside_s:.0} | {worst:.1} | {within_twice}"
        )
    }
}

/// A request: when, whose, and for which file.
struct Ask {
    at: Micros,
    /// 0 is the greedy user; the others count from 1.
    user: u64,
    file: u64,
}

/// What is asked, by time; no file twice.
fn asked(seed: u64, is_greedy_there: bool) -> Vec<Ask> {
    let mut random = Random::new(seed, 2);
    let mut files: Vec<u64> = (0..FILES).collect();
    random.shuffle(&mut files);
    let mut asks = Vec::new();
    let mut at_s = 300.0;
    for number in 0..USERS * EACH {
        at_s -= GAP_S * (1.0 - random.unit()).ln();
        asks.push(Ask {
            at: Micros::from_secs_f64(at_s),
            user: 1 + number % USERS,
            file: files[number as usize],
        });
    }
    if is_greedy_there {
        let many = files.iter().rev().take(MANY as usize);
        let many = many.map(|&file| Ask {
            at: Micros::ZERO,
            user: 0,
            file,
        });
        asks.splice(0..0, many);
    }
    asks
}

fn user(number: u64) -> String {
    match number {
        0 => GREEDY.to_owned(),
        number => format!("user{number}"),
    }
}

/// An archive whose files are on tape.
struct Filled {
    directory: tempfile::TempDir,
    /// Cartridge and place on it, as a share of its length, of each file.
    places: Vec<(u32, f64)>,
}

impl Filled {
    fn new(seed: u64) -> Result<Filled, Box<dyn Error>> {
        let directory = tempfile::tempdir()?;
        let mut spec =
            LibrarySpec::with_robot("ibm3584", "lto8", DRIVES, CARTRIDGES + 10, CARTRIDGES, seed);
        for cartridge in &mut spec.cartridges {
            cartridge.scale = SCALE;
        }
        let full = directory.path().join("full");
        std::fs::create_dir(&full)?;
        let library = Library::create(&full.join("library"), &spec, Clock::virtual_time())?;
        let pool = pool(&library.apart(), DRIVES, Pace::Turns)?;
        let mut archive = Archive::open(&full, pool, settings(&MountSettings::default())?)?;
        let shape = Shape {
            files: FILES,
            bytes: FILE_BYTES,
        };
        let ids = stored(&archive.cache, directory.path(), shape, seed)?;
        archive.migrate()?;
        let place = |id| {
            let copy = archive.catalogue.file(id)?.copies.remove(0);
            let (volume, segment) = copy.segments[0];
            let tape_bytes = (segment.first_block * 8192 * SCALE) as f64;
            Ok::<_, Box<dyn Error>>((volume.0 as u32 - 1, tape_bytes / 12e12))
        };
        let places = ids.into_iter().map(place).collect::<Result<_, _>>()?;
        Ok(Filled { directory, places })
    }

    /// The mean response of each of the thirty, in seconds, as the drives answer.
    fn of_each(&self, policy: &MountSettings, asks: &[Ask]) -> Result<Vec<f64>, Box<dyn Error>> {
        let run = tempfile::tempdir_in(self.directory.path())?;
        copy(&self.directory.path().join("full"), run.path())?;
        let clock = Clock::common_time();
        let library = Library::open(&run.path().join("library"), clock.clone())?;
        let pool = pool(&library, DRIVES, Pace::Looking(LOOKS))?;
        let mut archive = Archive::open(run.path(), pool, settings(policy)?)?;
        let catalogue = Arc::clone(&archive.catalogue);
        let began = clock.now();
        let now_ns = || 10 + (clock.now() - began).0 * 1_000;
        let is_over = AtomicBool::new(false);
        let mut mover = archive.mover(&is_over, &now_ns);
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                let answered = ask(&catalogue, asks, &clock, began);
                is_over.store(true, Ordering::Relaxed);
                answered.map_err(|error| error.to_string())
            });
            while !is_over.load(Ordering::Relaxed) {
                match mover.recall() {
                    Err(error) if !is_over.load(Ordering::Relaxed) => return Err(error.into()),
                    _ => clock.advance(Micros::from_secs_f64(LOOKS.as_secs_f64())),
                }
            }
            asking.join().map_err(|_| "the users gave up")??;
            of_each(asks, |number| {
                let stage = catalogue.stage(&user(asks[number].user), &number.to_string())?;
                let stage = stage.ok_or("a stage is gone")?;
                let done_ns = stage.files[0].done_ns.ok_or("a file did not come")?;
                Ok((done_ns - stage.created_ns) as f64 / 1e9)
            })
        })
    }

    /// The same in a simulation of such a library.
    fn simulated(&self, policy: &MountSettings, asks: &[Ask]) -> Result<Vec<f64>, Box<dyn Error>> {
        let list = asks.iter().map(|ask| {
            let (cartridge, place) = self.places[ask.file as usize];
            Listed {
                at_s: ask.at.as_secs_f64(),
                library: 0,
                cartridge,
                place: place.min(1.0),
                size_mb: (FILE_BYTES as u64 * SCALE) as f64 / 1e6,
                priority: 0,
                owner: ask.user as u32,
            }
        });
        let text = format!(
            r#"
            name = "greedy-user"
            requests = {}
            warm_up = "keep"
            arrivals = {{ pattern = "poisson", per_hour = 1 }}
            policy = {{ order = "best", dismount = "when-needed" }}
            [[library]]
            name = "library"
            robot = {{ get_s = 10, put_s = 10 }}
            cartridge = [{{ count = {CARTRIDGES} }}]
            drive = [{{ count = {DRIVES}, profile = "lto8" }}]
            "#,
            asks.len()
        );
        let mut scenario = Scenario::from_toml(&text)?;
        scenario.arrivals = Arrivals::Trace {
            list: list.collect(),
        };
        scenario.set_mounts(policy);
        let run = Site::new(&scenario, profile::find)?.run(0)?;
        let response = |number| {
            let answers = run.answers.iter();
            let answer = answers
                .into_iter()
                .find(|answer| answer.number == number as u64);
            Ok(answer
                .ok_or("a request without an answer")?
                .response
                .as_secs_f64())
        };
        of_each(asks, response)
    }
}

/// The mean of each of the thirty.
fn of_each(
    asks: &[Ask],
    response_s: impl Fn(usize) -> Result<f64, Box<dyn Error>>,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut sums = vec![0.0; USERS as usize];
    for (number, ask) in asks.iter().enumerate().filter(|(_, ask)| ask.user > 0) {
        sums[ask.user as usize - 1] += response_s(number)?;
    }
    Ok(sums.into_iter().map(|sum| sum / EACH as f64).collect())
}

/// Asks for each file when it is its time, and waits until the thirty have theirs.
fn ask(
    catalogue: &SqliteCatalogue,
    asks: &[Ask],
    clock: &Clock,
    began: Micros,
) -> Result<(), Box<dyn Error>> {
    let most = MostOpen {
        all: u64::MAX,
        of_user: u64::MAX,
    };
    for (number, ask) in asks.iter().enumerate() {
        clock.advance(began + ask.at - clock.now());
        let path = format!("f/{}", ask.file);
        let stage = NewStage {
            id: number.to_string(),
            user: user(ask.user),
            repeat_key: None,
            asked_hash: Vec::new(),
            files: vec![WantedFile {
                spelling: format!("/{path}"),
                paths: Ok(vec![path.into_bytes()]),
                lifetime_ns: i64::MAX / 4,
                activity: String::new(),
            }],
        };
        let at_ns = 10 + (clock.now() - began).0 * 1_000;
        catalogue.begin_stage(&stage, most, at_ns)?;
    }
    let is_open = |request: &tapewise_archive::catalogue::Request| request.terms.user != GREEDY;
    while catalogue.unanswered()?.iter().any(is_open) {
        clock.advance(Micros(10_000_000));
    }
    Ok(())
}

fn settings(policy: &MountSettings) -> Result<Settings, Box<dyn Error>> {
    let mut settings = Settings::of(profile::find("lto8")?);
    settings.block_bytes = 8192;
    settings.segment_bytes = 1 << 20;
    settings.byte_scale = SCALE;
    settings.volume_bytes = Some(FILES / u64::from(CARTRIDGES) * FILE_BYTES as u64);
    settings.mounts = policy.clone();
    Ok(settings)
}

/// Copies a directory with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            std::fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
