//! An emulated library of eight drives, recalled from by forty users at once, beside the simulation of the same: mean
//! responses for `ahead` and `oldest`. `make forty-users` prints the table of docs/method/next-mount.md.
//!
//! The drive's times are those of a model that is fitted to the log of another run, as a site does it. The archive plans
//! by that model, and the simulation simulates by it.
//!
//! `cargo run --release -p tapewise-archive --example forty_users -- [SEEDS]`

#[path = "emulated/mod.rs"]
mod emulated;
#[path = "emulated/twin.rs"]
mod twin;

use emulated::{Archive, Shape, pool, stored};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tapewise_archive::catalogue::{Catalogue, FileId, NewRecall, Terms};
use tapewise_archive::mover::Settings;
use tapewise_emulator::{Clock, Library, LibrarySpec};
use tapewise_formats::asked_csv::Asked;
use tapewise_formats::event::{Action, Event};
use tapewise_library::pool::Pace;
use tapewise_model::{Profile, Random, profile};
use tapewise_sim::library::Site;
use tapewise_sim::mounts::MountPolicy;
use tapewise_sim::statistics::Interval;
use twin::Tape;

const DRIVES: u16 = 8;
const CARTRIDGES: u16 = 40;
const FILES: u64 = 1_600;
const USERS: u64 = 40;
/// Files that each user asks for.
const EACH: usize = 10;
/// Bytes of tape for each stored byte: files of 30 kB are files of 6 GB there.
const SCALE: u64 = 200_000;
const FILE_BYTES: usize = 30_000;
const BLOCK_BYTES: u32 = 8192;

/// The seed of the run that the drive's model is fitted to. The table begins with the next one.
const FITTED_TO: u64 = 20;
/// Runs of each simulation: its times are drawn.
const DRAWS: u64 = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let seeds: u64 = std::env::args()
        .nth(1)
        .map_or(Ok(10), |text| text.parse())?;
    let drive = fitted()?;
    println!("| policy | emulated, s | simulated, s | difference, s |\n|---|--:|--:|--:|");
    for policy in [MountPolicy::Ahead, MountPolicy::Oldest] {
        let both = (FITTED_TO + 1..=FITTED_TO + seeds).map(|seed| {
            let (asked, events) = read_by_drives(seed, policy, &drive)?;
            let responses = asked.iter().filter_map(|one| one.response_s);
            let mean_s = responses.sum::<f64>() / asked.len() as f64;
            Ok((mean_s, simulated(asked, events, policy, &drive)?))
        });
        let both = both.collect::<Result<Vec<(f64, f64)>, Box<dyn Error>>>()?;
        let interval = |of: fn(&(f64, f64)) -> f64| {
            let values: Vec<f64> = both.iter().map(of).collect();
            let mean = Interval::of_mean(&values, 0.95)?;
            Ok::<_, Box<dyn Error>>(format!("{:.0} ± {:.0}", mean.estimate, mean.half_width))
        };
        println!(
            "| `{}` | {} | {} | {} |",
            policy.name(),
            interval(|both| both.0)?,
            interval(|both| both.1)?,
            interval(|both| both.1 - both.0)?
        );
    }
    Ok(())
}

/// The profile of the emulated drive: LTO-8, with a locate-time model that is fitted to the log of a run.
fn fitted() -> Result<Profile, Box<dyn Error>> {
    let base = profile::find("lto8")?;
    let (_, events) = read_by_drives(FITTED_TO, MountPolicy::Oldest, &base)?;
    twin::fitted(&events, &base)
}

/// The mean response of the same requests in a simulation with the times of these events.
fn simulated(
    asked: Vec<Asked>,
    events: Vec<Event>,
    policy: MountPolicy,
    drive: &Profile,
) -> Result<f64, Box<dyn Error>> {
    // The archive reads all that waits for a cartridge in one order. The simulation reads first what those wait for who
    // go first by their shares, so it is told of one user.
    let asked = asked.into_iter().map(|one| Asked { owner: None, ..one });
    let mut scenario = twin::twin(asked.collect(), events, drive)?;
    scenario.policy.mount = policy;
    let site = Site::new(&scenario, |_| Ok(drive.clone()))?;
    let mut responses_s = Vec::new();
    for draw in 0..DRAWS {
        let run = site.run(draw)?;
        let responses = run.answers.iter();
        responses_s.extend(responses.map(|answer| answer.response.as_secs_f64()));
    }
    Ok(responses_s.iter().sum::<f64>() / responses_s.len() as f64)
}

fn settings(policy: MountPolicy, drive: &Profile) -> Settings {
    let mut settings = Settings::of(drive.clone());
    settings.block_bytes = BLOCK_BYTES;
    settings.segment_bytes = 1 << 20;
    settings.byte_scale = SCALE;
    settings.volume_bytes = Some(FILES / u64::from(CARTRIDGES) * FILE_BYTES as u64);
    settings.mounts.policy = policy;
    settings
}

/// What forty users asked of an archive at once and when it was read; and what drives and robot did for it.
fn read_by_drives(
    seed: u64,
    policy: MountPolicy,
    drive: &Profile,
) -> Result<(Vec<Asked>, Vec<Event>), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let mut spec =
        LibrarySpec::with_robot("ibm3584", "lto8", DRIVES, CARTRIDGES + 10, CARTRIDGES, seed);
    for cartridge in &mut spec.cartridges {
        cartridge.scale = SCALE;
    }
    // Every device has a time of its own, so that drives work beside each other on a virtual clock.
    let place = directory.path().join("library");
    let library = Library::create(&place, &spec, Clock::virtual_time())?.apart();
    let pool = pool(&library, 0..DRIVES, Pace::Turns)?;
    let mut archive = Archive::open(directory.path(), pool, settings(policy, drive))?;
    let shape = Shape {
        files: FILES,
        bytes: FILE_BYTES,
    };
    let ids = stored(&archive.cache, directory.path(), shape, seed)?;
    archive.migrate()?;
    let drives = 0..usize::from(DRIVES);
    let began = drives.clone().map(|drive| archive.pool.drive(drive).now());
    let began = began.fold(Duration::ZERO, Duration::max);
    for drive in drives {
        let drive = archive.pool.drive(drive);
        drive.wait(began.saturating_sub(drive.now()));
    }
    let catalogue = Arc::clone(&archive.catalogue);
    let asked = ask(catalogue.as_ref(), ids, directory.path(), seed)?;
    let before = archive.events.len();
    let recalled = archive.mover(&AtomicBool::new(false), &|| 4).recall()?;
    assert_eq!(recalled.delivered, USERS * EACH as u64);
    let events = archive.events.split_off(before);
    answered(catalogue.as_ref(), asked, events, began.as_secs_f64())
}

/// Forty users ask for ten files each, all at once: the files, by who asks.
fn ask(
    catalogue: &dyn Catalogue,
    mut ids: Vec<FileId>,
    directory: &Path,
    seed: u64,
) -> Result<Vec<(String, FileId)>, Box<dyn Error>> {
    Random::new(seed, 2).shuffle(&mut ids);
    ids.truncate(USERS as usize * EACH);
    let to = directory.join("back");
    std::fs::create_dir(&to)?;
    let mut asked = Vec::new();
    for (number, file) in ids.into_iter().enumerate() {
        let user = format!("user{}", number as u64 % USERS);
        let recall = NewRecall {
            file,
            terms: Terms {
                user: user.clone(),
                ..Terms::default()
            },
            destination: Some(to.as_os_str().as_encoded_bytes().to_vec()),
        };
        catalogue.submit(&[recall], 3)?;
        asked.push((user, file));
    }
    Ok(asked)
}

/// When each file was read, how much tape that was and where it lies, by the events of the drives; and the events with
/// bytes of tape instead of the host's.
fn answered(
    catalogue: &dyn Catalogue,
    asked: Vec<(String, FileId)>,
    mut events: Vec<Event>,
    began_s: f64,
) -> Result<(Vec<Asked>, Vec<Event>), Box<dyn Error>> {
    let tape = Tape::of(&events, &profile::find("lto8")?)?;
    tape.weigh(&mut events);
    let one = |(number, (user, file)): (usize, (String, FileId))| {
        let copy = catalogue.file(file)?.copies.remove(0);
        let (volume, segment) = copy.segments[0];
        let label = catalogue.volume(volume)?.label;
        let has_it = |event: &&Event| {
            let first = event.from.and_then(|spot| spot.block);
            event.action == Action::Read
                && event.cartridge.as_ref() == Some(&label)
                && first.is_some_and(|first| {
                    (first..first + event.blocks).contains(&segment.last_block)
                })
        };
        let read = events
            .iter()
            .find(has_it)
            .ok_or("a file that no event has read")?;
        let first = read.from.and_then(|spot| spot.block).ok_or("no block")?;
        let before = segment.first_block.saturating_sub(first) as f64 * tape.block_wraps;
        let place = tape.wraps(&read.from).ok_or("no place")? + before;
        // Whole blocks are read.
        let size = (segment.last_block - segment.first_block + 1) as f64 * tape.block_bytes;
        Ok(Asked {
            arrived_s: number as f64 * 1e-6,
            cartridge: label,
            response_s: Some((read.at_us + read.took_us).as_secs_f64() - began_s),
            size_mb: Some(size / 1e6),
            place: Some(tape.share(place)),
            priority: 0,
            owner: Some(user),
            activity: None,
            drive: None,
            library: None,
            case: None,
        })
    };
    let asked: Result<Vec<Asked>, Box<dyn Error>> =
        asked.into_iter().enumerate().map(one).collect();
    Ok((asked?, events))
}
