//! A mover with a very long queue, from end to end: every file of an archive is asked for by forty users, more is asked
//! for while drives read, and eight emulated drives work it off for a while.
//!
//! `cargo run --release -p tapewise-archive --example long_queue -- [FILES] [CARTRIDGES] [SECONDS]`
//!
//! `CATALOGUE_URL=postgresql://...` keeps its catalogue in that database, which is empty, instead of a file of SQLite. With
//! many files set TMPDIR to a file system in memory: each file is stored, synced and migrated first.

#[path = "emulated/mod.rs"]
mod emulated;

use emulated::{Archive, numbers, pool};
use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};
use tapewise_archive::catalogue::{Catalogue, CatalogueError, FileId, NewRecall, Place, Terms};
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::forecast::Forecast;
use tapewise_archive::mover::{Mover, Recalled, Settings};
use tapewise_archive::pull_list::Asking;
use tapewise_archive::store::{Source, StoreTerms, store};
use tapewise_emulator::{Clock, Library, LibrarySpec};
use tapewise_formats::event::Event;
use tapewise_library::pool::Pace;
use tapewise_model::{Random, profile};
use tapewise_run::Log;

/// Bytes of tape for each stored byte: 256 of them are 100 MB there.
const SCALE: u64 = 400_000;
const BYTES: u64 = 256;
const DRIVES: u16 = 8;
const USERS: u64 = 40;
/// Files that are stored and brought onto tape at a time.
const PORTION: u64 = 50_000;
/// How often somebody asks for more while drives read, and for how many files.
const ASKS: Duration = Duration::from_millis(250);
const ASKED: u64 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let [files, cartridges, seconds] = numbers([20_000, 20, 30])?;
    if cartridges == 0 || files < 10 * cartridges {
        return Err("at least one cartridge, and ten files on each".into());
    }
    let directory = tempfile::tempdir()?;
    let catalogue = match std::env::var("CATALOGUE_URL") {
        Ok(url) => Place::Database {
            url: url.parse()?,
            copies: directory.path().to_owned(),
        },
        Err(_) => Place::File(directory.path().join("catalogue.db")),
    };
    let mut archive = filled(&catalogue, directory.path(), files, cartridges)?;
    archive.events.clear();

    let mut random = Random::new(3, 1);
    let mut recalls: Vec<NewRecall> = (1..=files as i64)
        .map(|file| recall(FileId(file), random.below(USERS)))
        .collect();
    random.shuffle(&mut recalls);
    let began = Instant::now();
    for some in recalls.chunks(10_000) {
        archive.catalogue.submit(some, now_ns())?;
    }
    drop(recalls);
    println!(
        "ask     {files} recalls entered in {:.1} s",
        began.elapsed().as_secs_f64()
    );

    // A service does not plan longer queues.
    if files <= 200_000 {
        plan(&archive)?;
    }

    let (recalled, asked, took) = work_off(&mut archive, files, Duration::from_secs(seconds))?;
    let open = archive.catalogue.open_recalls()?;
    let answered = files + asked - open.queued - open.started;
    println!(
        "all     {answered} answered in {took:.0} s, {} of them joined a mount; {} mounts; {asked} asked for meanwhile; \
         {} failed; {} MB of memory at most",
        recalled.joined,
        recalled.mounts,
        recalled.failed.len(),
        peak_mb(),
    );
    assert!(recalled.failed.is_empty() && recalled.unavailable.is_empty());
    assert_eq!(recalled.delivered, answered);
    assert_eq!(archive.catalogue.integrity()?, Vec::<String>::new());
    Ok(())
}

/// An archive of files of one length, each of which is on a tape and nowhere else.
fn filled(
    catalogue: &Place,
    directory: &Path,
    files: u64,
    cartridges: u64,
) -> Result<Archive, Box<dyn Error>> {
    let cartridges = u16::try_from(cartridges + 2)?;
    let mut spec =
        LibrarySpec::with_robot("ibm3584", "lto8", DRIVES, cartridges + 10, cartridges, 7);
    (spec.cartridges.iter_mut()).for_each(|cartridge| cartridge.scale = SCALE);
    let library =
        Library::create(&directory.join("library"), &spec, Clock::virtual_time())?.apart();
    let mut settings = Settings::of(profile::find("lto8")?);
    settings.block_bytes = 8192;
    settings.byte_scale = SCALE;
    let on_each = files / u64::from(cartridges - 2);
    settings.segment_bytes = on_each * BYTES / 4;
    settings.volume_bytes = Some(on_each * (BYTES + 2_500));
    let pool = pool(&library, 0..DRIVES, Pace::Turns)?;
    let mut archive = Archive::of(catalogue, directory, pool, settings)?;
    let how = StoreTerms {
        terms: Terms::default(),
        copies: 1,
        replace: false,
        also: Vec::new(),
    };
    let from = directory.join("source");
    std::fs::write(&from, [7; BYTES as usize])?;
    let began = Instant::now();
    let mut at = 0;
    while at < files {
        let until = files.min(at + PORTION);
        let numbers: Vec<u64> = (at..until).collect();
        for some in numbers.chunks(1_000) {
            let sources = some.iter().map(|number| {
                Ok(Source {
                    from: from.clone(),
                    path: InnerPath::new(format!("p{}/{number}", number / 1000))?,
                    bytes: BYTES,
                })
            });
            let sources = sources.collect::<Result<Vec<_>, Box<dyn Error>>>()?;
            store(&archive.cache, &sources, &how, 1)?;
        }
        archive.migrate()?;
        at = until;
    }
    println!(
        "store   {files} files on {} volumes in {:.0} s",
        archive.catalogue.volumes()?.len(),
        began.elapsed().as_secs_f64()
    );
    Ok(archive)
}

fn recall(file: FileId, user: u64) -> NewRecall {
    NewRecall {
        file,
        terms: Terms {
            user: format!("user{user}"),
            ..Terms::default()
        },
        destination: None,
    }
}

/// Plans the whole queue on paper, as a service does that is asked when files will come.
fn plan(archive: &Archive) -> Result<(), Box<dyn Error>> {
    let asking = Asking {
        files: &[],
        now_ns: now_ns(),
        drives: usize::from(DRIVES),
        robots: 1,
    };
    let began = Instant::now();
    let forecast = Forecast::of(
        archive.catalogue.as_ref(),
        asking,
        u64::MAX,
        &archive.settings,
    )?;
    println!(
        "plan    {} recalls in {} mounts, in {:.1} s",
        forecast.recalls.len(),
        forecast.pulls.len(),
        began.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Lets the drives work for so long; what they did, how many recalls were asked for meanwhile, and the seconds that it took.
fn work_off(
    archive: &mut Archive,
    files: u64,
    lasts: Duration,
) -> Result<(Recalled, u64, f64), Box<dyn Error>> {
    let ended = AtomicBool::new(false);
    let catalogue = Arc::clone(&archive.catalogue);
    let began = Instant::now();
    let told = Mutex::new((0, 0, 0.0));
    let tell = |done: &Recalled| {
        let mut told = told.lock().expect("nobody panics");
        told.0 += done.delivered;
        // Nobody asks for more when as many have come as were asked for at first.
        ended.fetch_or(told.0 >= files, Ordering::Relaxed);
        let seconds = began.elapsed().as_secs_f64();
        if seconds > told.2 + lasts.as_secs_f64() / 10.0 {
            let rate = (told.0 - told.1) as f64 / (seconds - told.2);
            println!(
                "        {seconds:4.0} s: {} answered, {rate:.0} a second",
                told.0
            );
            *told = (told.0, told.0, seconds);
        }
    };
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| ask(catalogue.as_ref(), files, &ended));
        let ends = || began.elapsed() > lasts;
        let never = AtomicBool::new(false);
        let mover = archive.mover(&never, &now_ns);
        // What drives do is not kept: there is no end to it.
        let mut mover = Mover {
            log: &mut Unheard,
            ..mover
        };
        let recalled = mover.recall_and_empty(&tell, &ends);
        let took = began.elapsed().as_secs_f64();
        ended.store(true, Ordering::Relaxed);
        let asked = asking.join().expect("nobody panics")?;
        Ok((recalled?, asked, took))
    })
}

/// A log that nobody reads.
struct Unheard;

impl Log for Unheard {
    fn event(&mut self, _: &Event) -> std::io::Result<()> {
        Ok(())
    }
}

/// Asks for files until it is told to stop; for how many it did.
fn ask(catalogue: &dyn Catalogue, files: u64, ended: &AtomicBool) -> Result<u64, CatalogueError> {
    let (mut random, mut asked) = (Random::new(3, 2), 0);
    while !ended.load(Ordering::Relaxed) {
        let some =
            (0..ASKED).map(|_| recall(FileId(1 + random.below(files) as i64), random.below(USERS)));
        let some: Vec<NewRecall> = some.collect();
        catalogue.submit(&some, now_ns())?;
        asked += ASKED;
        std::thread::sleep(ASKS);
    }
    Ok(asked)
}

fn now_ns() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |now| now.as_nanos() as i64)
}

/// The most memory that this process has had, MB.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kb.unwrap_or(0) / 1000
}
