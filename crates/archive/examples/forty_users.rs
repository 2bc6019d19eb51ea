//! An emulated library of eight drives, recalled from by forty users at once, beside the simulation of the same: mean
//! responses for `ahead` and `oldest`. `make forty-users` prints the table of docs/method/next-mount.md.
//!
//! `cargo run --release -p tapewise-archive --example forty_users -- [SEEDS]`

#[path = "emulated/mod.rs"]
mod emulated;

use emulated::{Archive, Shape, pool, stored};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tapewise_archive::catalogue::{
    FileId, Files, NewRecall, Requests, SqliteCatalogue, Terms, Volumes,
};
use tapewise_archive::mover::Settings;
use tapewise_emulator::{Clock, Library, LibrarySpec};
use tapewise_formats::asked_csv::Asked;
use tapewise_formats::event::{Action, Event};
use tapewise_formats::event_log::{EventLog, Header, Session};
use tapewise_library::pool::Pace;
use tapewise_model::{Random, profile};
use tapewise_sim::Scenario;
use tapewise_sim::library::Site;
use tapewise_sim::mounts::MountPolicy;
use tapewise_sim::statistics::Interval;
use tapewise_sim::twin::{Log, Twin};

const DRIVES: u16 = 8;
const CARTRIDGES: u16 = 40;
const FILES: u64 = 1_600;
const USERS: u64 = 40;
/// Files that each user asks for.
const EACH: usize = 10;
/// Bytes of tape for each stored byte: files of 30 kB are files of 6 GB there.
const SCALE: u64 = 200_000;
const FILE_BYTES: usize = 30_000;

fn main() -> Result<(), Box<dyn Error>> {
    let seeds: u64 = std::env::args().nth(1).map_or(Ok(5), |text| text.parse())?;
    println!("| policy | emulated, s | simulated, s | difference, s |\n|---|--:|--:|--:|");
    for policy in [MountPolicy::Ahead, MountPolicy::Oldest] {
        let both = (1..=seeds).map(|seed| {
            let (asked, events) = read_by_drives(seed, policy)?;
            let responses = asked.iter().filter_map(|one| one.response_s);
            let mean_s = responses.sum::<f64>() / asked.len() as f64;
            Ok((mean_s, simulated(asked, events, policy)?))
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

/// The mean response of the same requests in a simulation with the times of these events.
fn simulated(
    asked: Vec<Asked>,
    events: Vec<Event>,
    policy: MountPolicy,
) -> Result<f64, Box<dyn Error>> {
    // Searches and rewinds are the model's; robots and loads are as they were measured.
    let mut header = Header::new("forty_users");
    header.profile = Some("lto8".to_owned());
    let log = EventLog {
        sessions: vec![Session {
            header: Some(header),
            events,
        }],
        ..EventLog::default()
    };
    let twin = Twin::new(&[Log::Asked(asked), Log::Events(log)])?;
    let mut scenario = Scenario::from_toml(&twin.text.replace("\"sort\"", "\"best\""))?;
    scenario.policy.mount = policy;
    let run = Site::new(&scenario, profile::find)?.run(0)?;
    let responses = run
        .answers
        .iter()
        .map(|answer| answer.response.as_secs_f64());
    Ok(responses.sum::<f64>() / run.answers.len() as f64)
}

fn settings(policy: MountPolicy) -> Result<Settings, Box<dyn Error>> {
    let mut settings = Settings::of(profile::find("lto8")?);
    settings.block_bytes = 8192;
    settings.segment_bytes = 1 << 20;
    settings.byte_scale = SCALE;
    settings.volume_bytes = Some(FILES / u64::from(CARTRIDGES) * FILE_BYTES as u64);
    settings.mounts.policy = policy;
    Ok(settings)
}

/// What forty users asked of an archive at once and when it was read; and what drives and robot did for it.
fn read_by_drives(
    seed: u64,
    policy: MountPolicy,
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
    let pool = pool(&library, DRIVES, Pace::Turns)?;
    let mut archive = Archive::open(directory.path(), pool, settings(policy)?)?;
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
    let asked = ask(&catalogue, ids, directory.path(), seed)?;
    let before = archive.events.len();
    let recalled = archive.mover(&AtomicBool::new(false), &|| 4).recall()?;
    assert_eq!(recalled.delivered, USERS * EACH as u64);
    let mut events = archive.events.split_off(before);
    for event in &mut events {
        event.bytes *= SCALE;
    }
    let asked = answered(&catalogue, asked, &events, began.as_secs_f64())?;
    Ok((asked, events))
}

/// Forty users ask for ten files each, all at once: the files, by who asks.
fn ask(
    catalogue: &SqliteCatalogue,
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

/// When each file was read, by the events of the drives.
fn answered(
    catalogue: &SqliteCatalogue,
    asked: Vec<(String, FileId)>,
    events: &[Event],
    began_s: f64,
) -> Result<Vec<Asked>, Box<dyn Error>> {
    let mut reads: BTreeMap<&str, Vec<(u64, u64, f64)>> = BTreeMap::new();
    for event in events.iter().filter(|event| event.action == Action::Read) {
        let block = |spot: &Option<tapewise_formats::event::Spot>| spot.as_ref()?.block;
        let (Some(cartridge), Some(first)) = (&event.cartridge, block(&event.from)) else {
            continue;
        };
        let end_s = (event.at_us + event.took_us).as_secs_f64() - began_s;
        reads
            .entry(cartridge)
            .or_default()
            .push((first, first + event.blocks, end_s));
    }
    let one = |(number, (user, file)): (usize, (String, FileId))| {
        let copy = catalogue.file(file)?.copies.remove(0);
        let (volume, segment) = copy.segments[0];
        let label = catalogue.volume(volume)?.label;
        let read = reads.get(label.as_str()).into_iter().flatten();
        let end_s = read
            .filter(|(first, end, _)| (*first..*end).contains(&segment.last_block))
            .map(|(_, _, end_s)| *end_s)
            .reduce(f64::min)
            .ok_or("a file that no event has read")?;
        Ok(Asked {
            arrived_s: number as f64 * 1e-6,
            cartridge: label,
            response_s: Some(end_s),
            size_mb: Some((FILE_BYTES as u64 * SCALE) as f64 / 1e6),
            place: Some((segment.first_block * 8192 * SCALE) as f64 / 12e12),
            priority: 0,
            owner: Some(user),
            drive: None,
            library: None,
        })
    };
    asked.into_iter().enumerate().map(one).collect()
}
