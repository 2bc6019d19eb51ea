//! One user asks a service for very much, and thirty others for a file now and then: how many times as long does each of
//! the thirty wait as without that user? On emulated drives, by the program that `serve` and `mover` run, and in the
//! simulation of the same requests. `make greedy-user` prints the figures of docs/method/next-mount.md.
//!
//! First comes a simulation with the profile of the drives. Then come the emulated drives. Their time passes only while
//! all threads wait, so it does not matter how busy the machine is; still two runs differ by some seconds. Beside each of
//! their figures stands that of their twin: a simulation of the same requests with the times that the drives took, and with
//! searches by a model that is fitted to the log of another run.
//!
//! `cargo run --release -p tapewise-archive --example greedy_user -- [SEEDS [PART_OF_A_POLICY [FILES_EACH [FILES]]]]`: the
//! archive has `FILES` files for each of `FILES_EACH`.

#[path = "emulated/mod.rs"]
mod emulated;
#[path = "emulated/twin.rs"]
mod twin;

use emulated::{Archive, Shape, pool, stored};
use std::error::Error;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tapewise_archive::catalogue::{Catalogue, NewStage, WantedFile};
use tapewise_archive::mover::Settings;
use tapewise_archive::record::Segment;
use tapewise_emulator::{Clock, Library, LibrarySpec};
use tapewise_formats::asked_csv::Asked;
use tapewise_formats::event::Event;
use tapewise_library::pool::Pace;
use tapewise_model::{Micros, Profile, Random, profile};
use tapewise_sim::Scenario;
use tapewise_sim::library::Site;
use tapewise_sim::mounts::MountSettings;
use tapewise_sim::scenario::{Arrivals, Listed};
use twin::Tape;

const DRIVES: u16 = 8;
const CARTRIDGES: u16 = 60;
const USERS: u64 = 30;
/// Files that each of the thirty asks for, one after the other.
const EACH: u64 = 4;
/// Files of the archive for each of these, and how many of them the greedy user asks for at the beginning; fewer if
/// there are not as many that nobody else asks for.
const FILES: u64 = 450;
const MANY: u64 = 375;
/// From one request of the thirty to the next, on average.
const GAP_S: f64 = 50.0;
/// Bytes of tape for each stored byte: files of 15 kB are files of 3 GB there.
const SCALE: u64 = 200_000;
const FILE_BYTES: usize = 15_000;
const BLOCK_BYTES: u64 = 8192;
/// How often a drive without work looks for some.
const LOOKS: Duration = Duration::from_secs(5);

/// The drives' model is fitted to what a run reads of this many files, which are drawn by a seed of their own.
const FITTED: usize = 600;
const FITTED_TO: u64 = 1_000;

const GREEDY: &str = "greedy";

/// The policies of the table.
const POLICIES: [(&str, &str); 7] = [
    ("`oldest`", "policy = \"oldest\"\nmost_per_mount = 4"),
    ("`ahead`", ""),
    ("only `drives_per_user = 2`", "drives_per_user = 2"),
    ("`most_per_mount = 4`", "most_per_mount = 4"),
    (
        "the same, `drives_per_user = 4`",
        "most_per_mount = 4\ndrives_per_user = 4",
    ),
    (
        "the same, `drives_per_user = 2`",
        "most_per_mount = 4\ndrives_per_user = 2",
    ),
    (
        "the same, `drives_per_user = 1`",
        "most_per_mount = 4\ndrives_per_user = 1",
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let seeds: u64 = std::env::args().nth(1).map_or(Ok(1), |text| text.parse())?;
    let part = std::env::args().nth(2).unwrap_or_default();
    let size = Size {
        each: std::env::args()
            .nth(3)
            .map_or(Ok(EACH), |text| text.parse())?,
        files: std::env::args()
            .nth(4)
            .map_or(Ok(FILES), |text| text.parse())?,
    };
    if size.files <= USERS || size.each == 0 {
        return Err("FILES_EACH is at least 1, and FILES at least 31".into());
    }
    let policies = POLICIES.iter().filter(|(words, _)| words.contains(&part));
    // The simulation takes seconds, the emulated drives minutes.
    for emulates in [false, true] {
        let by = if emulates { " drives and twin |" } else { "" };
        println!("| policy | seed |{by} alone, s | beside, s | worst | within twice |");
        println!(
            "|---|--:|{}--:|--:|--:|--:|",
            if emulates { "---|" } else { "" }
        );
        for seed in 1..=seeds {
            let archive = Filled::new(seed, size)?;
            for (words, policy) in policies.clone() {
                let policy = MountSettings::from_toml(policy)?;
                let asks = [false, true].map(|is_greedy_there| asked(seed, size, is_greedy_there));
                if emulates {
                    let [alone, beside] = asks.each_ref().map(|asks| archive.both(&policy, asks));
                    let ([alone, alone_twin], [beside, beside_twin]) = (alone?, beside?);
                    let of_drives = Compared::of(&alone, &beside);
                    let of_twin = Compared::of(&alone_twin, &beside_twin);
                    println!("| {words} | {seed} | drives | {of_drives} |");
                    println!("| {words} | {seed} | twin | {of_twin} |");
                } else {
                    let [alone, beside] = asks.map(|asks| archive.simulated(&policy, &asks));
                    println!("| {words} | {seed} | {} |", Compared::of(&alone?, &beside?));
                }
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

/// How much is asked for, and of how many files.
#[derive(Clone, Copy)]
struct Size {
    /// Files that each of the thirty asks for.
    each: u64,
    /// Files of the archive for each of these.
    files: u64,
}

impl Size {
    /// Files of the archive.
    fn files(self) -> u64 {
        self.files * self.each
    }

    /// Files that the greedy user asks for.
    fn many(self) -> u64 {
        MANY.min(self.files - USERS) * self.each
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
fn asked(seed: u64, size: Size, is_greedy_there: bool) -> Vec<Ask> {
    let mut random = Random::new(seed, 2);
    let mut files: Vec<u64> = (0..size.files()).collect();
    random.shuffle(&mut files);
    let mut asks = Vec::new();
    let mut at_s = 300.0;
    for number in 0..USERS * size.each {
        at_s -= GAP_S * (1.0 - random.unit()).ln();
        asks.push(Ask {
            at: Micros::from_secs_f64(at_s),
            user: 1 + number % USERS,
            file: files[number as usize],
        });
    }
    if is_greedy_there {
        let many = files.iter().rev().take(size.many() as usize);
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
    size: Size,
    /// Label and segment of each file.
    places: Vec<(String, Segment)>,
    /// The drives as the log of another run tells.
    drive: Profile,
}

impl Filled {
    fn new(seed: u64, size: Size) -> Result<Filled, Box<dyn Error>> {
        let directory = tempfile::tempdir()?;
        let mut spec =
            LibrarySpec::with_robot("ibm3584", "lto8", DRIVES, CARTRIDGES + 10, CARTRIDGES, seed);
        for cartridge in &mut spec.cartridges {
            cartridge.scale = SCALE;
        }
        let full = directory.path().join("full");
        std::fs::create_dir(&full)?;
        let library = Library::create(&full.join("library"), &spec, Clock::virtual_time())?;
        let pool = pool(&library.apart(), 0..DRIVES, Pace::Turns)?;
        let base = profile::find("lto8")?;
        let settings = settings(&MountSettings::default(), &base, size);
        let mut archive = Archive::open(&full, pool, settings)?;
        let shape = Shape {
            files: size.files(),
            bytes: FILE_BYTES,
        };
        let ids = stored(&archive.cache, directory.path(), shape, seed)?;
        archive.migrate()?;
        let place = |id| {
            let copy = archive.catalogue.file(id)?.copies.remove(0);
            let (volume, segment) = copy.segments.into_iter().next().ok_or("no segment")?;
            let label = archive.catalogue.volume(volume)?.label;
            Ok::<_, Box<dyn Error>>((label, segment))
        };
        let places = ids.into_iter().map(place).collect::<Result<_, _>>()?;
        let mut filled = Filled {
            directory,
            size,
            places,
            drive: base,
        };
        filled.drive = twin::fitted(&filled.read_at_once(seed)?, &filled.drive)?;
        Ok(filled)
    }

    /// What drives do that read many files which are all asked for at once.
    fn read_at_once(&self, seed: u64) -> Result<Vec<Event>, Box<dyn Error>> {
        let run = self.copied()?;
        let library = Library::open(&run.path().join("library"), Clock::virtual_time())?;
        let pool = pool(&library.apart(), 0..DRIVES, Pace::Turns)?;
        let settings = settings(&MountSettings::default(), &self.drive, self.size);
        let mut archive = Archive::open(run.path(), pool, settings)?;
        for (number, ask) in asked(seed + FITTED_TO, self.size, true)
            .iter()
            .take(FITTED)
            .enumerate()
        {
            begin(archive.catalogue.as_ref(), number, ask, 10)?;
        }
        archive.mover(&AtomicBool::new(false), &|| 11).recall()?;
        Ok(archive.events)
    }

    /// A copy of the archive.
    fn copied(&self) -> Result<tempfile::TempDir, Box<dyn Error>> {
        let run = tempfile::tempdir_in(self.directory.path())?;
        copy(&self.directory.path().join("full"), run.path())?;
        Ok(run)
    }

    /// The mean response of each of the thirty, in seconds: as the drives answer, and as their twin does.
    fn both(&self, policy: &MountSettings, asks: &[Ask]) -> Result<[Vec<f64>; 2], Box<dyn Error>> {
        let (answered, events) = self.read(policy, asks)?;
        Ok([answered, self.of_twin(policy, asks, events)?])
    }

    /// The mean response of each of the thirty, and what the drives do for it.
    fn read(
        &self,
        policy: &MountSettings,
        asks: &[Ask],
    ) -> Result<(Vec<f64>, Vec<Event>), Box<dyn Error>> {
        let run = self.copied()?;
        let clock = Clock::common_time();
        let library = Library::open(&run.path().join("library"), clock.clone())?;
        let pool = pool(&library, 0..DRIVES, Pace::Looking(LOOKS))?;
        let mut archive =
            Archive::open(run.path(), pool, settings(policy, &self.drive, self.size))?;
        let catalogue = Arc::clone(&archive.catalogue);
        let began = clock.now();
        let now_ns = || 10 + (clock.now() - began).0 * 1_000;
        let is_over = AtomicBool::new(false);
        let mut mover = archive.mover(&is_over, &now_ns);
        let answered = std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                let answered = ask(catalogue.as_ref(), asks, &clock, began);
                is_over.store(true, Ordering::Relaxed);
                answered.map_err(|error| error.to_string())
            });
            // As a service does.
            while !is_over.load(Ordering::Relaxed) {
                match mover.recall_and_empty(&|_| (), &|| false) {
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
        });
        Ok((answered?, archive.events))
    }

    /// The same in a simulation with the times of these events.
    fn of_twin(
        &self,
        policy: &MountSettings,
        asks: &[Ask],
        mut events: Vec<Event>,
    ) -> Result<Vec<f64>, Box<dyn Error>> {
        let tape = Tape::of(&events, &self.drive)?;
        tape.weigh(&mut events);
        let one = |(number, ask): (usize, &Ask)| {
            let (label, segment) = &self.places[ask.file as usize];
            // Whole blocks are read.
            let blocks = segment.last_block - segment.first_block + 1;
            Asked {
                // What is asked at once comes in its order.
                arrived_s: ask.at.as_secs_f64() + number as f64 * 1e-6,
                cartridge: label.clone(),
                response_s: None,
                size_mb: Some(blocks as f64 * tape.block_bytes / 1e6),
                place: Some(tape.place(segment.first_block).clamp(0.0, 1.0)),
                priority: 0,
                owner: Some(user(ask.user)),
                activity: None,
                drive: None,
                library: None,
                case: None,
            }
        };
        let asked = asks.iter().enumerate().map(one).collect();
        let mut scenario = twin::twin(asked, events, &self.drive)?;
        scenario.set_mounts(policy);
        mean_of_each(&Site::new(&scenario, |_| Ok(self.drive.clone()))?, asks)
    }

    /// The mean response of each of the thirty in a simulation of such a library.
    fn simulated(&self, policy: &MountSettings, asks: &[Ask]) -> Result<Vec<f64>, Box<dyn Error>> {
        let mut labels: Vec<&str> = self.places.iter().map(|(label, _)| &label[..]).collect();
        labels.sort_unstable();
        labels.dedup();
        let list = asks.iter().map(|ask| {
            let (label, segment) = &self.places[ask.file as usize];
            let tape_bytes = (segment.first_block * BLOCK_BYTES * SCALE) as f64;
            Listed {
                at_s: ask.at.as_secs_f64(),
                library: 0,
                cartridge: labels.partition_point(|other| other < &&label[..]) as u32,
                place: (tape_bytes / 12e12).min(1.0),
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
        mean_of_each(&Site::new(&scenario, profile::find)?, asks)
    }
}

/// The mean response of each of the thirty in a simulation.
fn mean_of_each(site: &Site, asks: &[Ask]) -> Result<Vec<f64>, Box<dyn Error>> {
    let run = site.run(0)?;
    of_each(asks, |number| {
        let mut answers = run.answers.iter();
        let answer = answers.find(|answer| answer.number == number as u64);
        let answer = answer.ok_or("a request without an answer")?;
        Ok(answer.response.as_secs_f64())
    })
}

/// The mean of each of the thirty.
fn of_each(
    asks: &[Ask],
    response_s: impl Fn(usize) -> Result<f64, Box<dyn Error>>,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut of_users = vec![(0.0, 0); USERS as usize];
    for (number, ask) in asks.iter().enumerate().filter(|(_, ask)| ask.user > 0) {
        let (sum, answers) = &mut of_users[ask.user as usize - 1];
        *sum += response_s(number)?;
        *answers += 1;
    }
    let means = of_users.into_iter();
    Ok(means
        .map(|(sum, answers)| sum / f64::from(answers))
        .collect())
}

/// Asks for each file when it is its time, and waits until the thirty have theirs.
fn ask(
    catalogue: &dyn Catalogue,
    asks: &[Ask],
    clock: &Clock,
    began: Micros,
) -> Result<(), Box<dyn Error>> {
    for (number, ask) in asks.iter().enumerate() {
        clock.advance(began + ask.at - clock.now());
        let at_ns = 10 + (clock.now() - began).0 * 1_000;
        begin(catalogue, number, ask, at_ns)?;
    }
    let is_open = |request: &tapewise_archive::catalogue::Request| request.terms.user != GREEDY;
    while catalogue.unanswered()?.iter().any(is_open) {
        clock.advance(Micros(10_000_000));
    }
    Ok(())
}

/// Asks for a file.
fn begin(
    catalogue: &dyn Catalogue,
    number: usize,
    ask: &Ask,
    at_ns: i64,
) -> Result<(), Box<dyn Error>> {
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
    catalogue.begin_stage(&stage, &[], at_ns)?;
    Ok(())
}

fn settings(policy: &MountSettings, drive: &Profile, size: Size) -> Settings {
    let mut settings = Settings::of(drive.clone());
    settings.block_bytes = BLOCK_BYTES as u32;
    settings.segment_bytes = 1 << 20;
    settings.byte_scale = SCALE;
    settings.volume_bytes = Some(size.files() / u64::from(CARTRIDGES) * FILE_BYTES as u64);
    settings.mounts = policy.clone();
    settings
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
