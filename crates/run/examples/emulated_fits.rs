//! How far fitted models are off on emulated drives, on cartridges they were not fitted to, as a
//! table in Markdown.
//!
//! ```text
//! cargo run --release -p tapewise-run --example emulated_fits -- [LOCATES [DIRECTORY]]
//! ```
//!
//! prints the table of `docs/method/fitting.md`: 10 cartridges, 2,000 locates unless told otherwise.
//! With a directory the logs are kept there as CSV. Every move goes through [`TapeDrive`]; its ends
//! are what the drive says of its position.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use tapewise_emulator::{CartridgeSpec, Clock, DriveKind, Library, LibrarySpec, Variation};
use tapewise_fit::{Candidate, Ground, Sample, compare};
use tapewise_model::{Micros, Position, PositionSource, Profile, Random, profile};
use tapewise_scsi::TapeDrive;

/// Blocks of a full cartridge, and bytes of each as stored: the cartridge's scale makes up for it.
const BLOCKS: u64 = 20_000;
const BLOCK: usize = 512;
/// Files that a recall asks for.
const BATCH: usize = 50;
const CARTRIDGES: usize = 10;
const KINDS: [&str; 4] = ["lto8", "lto7-m8", "lto6", "lto9"];
/// Seeds of other mechanics, see [`DriveKind::perturbed`]; none is the kind's own.
const MECHANICS: [Option<u64>; 4] = [None, Some(1), Some(2), Some(3)];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let locates = arguments.next().map_or(Ok(2_000), |text| text.parse())?;
    let kept = arguments.next();
    println!(
        "| drive | CERN's regression | without outliers | ours | without outliers | outliers | found | seconds |"
    );
    println!("|---|--:|--:|--:|--:|--:|---|--:|");
    for kind in KINDS {
        for perturbed in MECHANICS {
            let name = match perturbed {
                None => kind.to_owned(),
                Some(seed) => format!("{kind}-perturbed-{seed}"),
            };
            let samples = log(kind, perturbed, locates)?;
            if let Some(directory) = &kept {
                std::fs::write(
                    Path::new(directory).join(name.clone() + ".csv"),
                    csv(&samples),
                )?;
            }
            row(&name, &samples, &profile::find(kind)?)?;
        }
    }
    Ok(())
}

fn row(name: &str, samples: &[Sample], profile: &Profile) -> Result<(), Box<dyn Error>> {
    let ground = Ground::of(profile)?;
    let started = Instant::now();
    let found = compare(samples, &ground)?;
    let seconds = started.elapsed().as_secs_f64();
    let of = |candidate| found.of(candidate).ok_or("not a serpentine drive");
    let [cern, ours] = [of(Candidate::LtoRegression)?, of(Candidate::LandingPoint)?];
    let landed = ours.fitted.landed.as_ref().ok_or("no landing points")?;
    println!(
        "| {name} | {:.2} | {:.2} | {:.2} | {:.2} | {} | {}, {:?} | {seconds:.1} |",
        cern.overall.residual_s,
        cern.overall.bulk_s,
        ours.overall.residual_s,
        ours.overall.bulk_s,
        found.outliers,
        landed.structure.name(),
        landed.points,
    );
    Ok(())
}

fn csv(samples: &[Sample]) -> String {
    let mut text = "volume,from_wrap,from_lpos,to_wrap,to_lpos,locate_us\n".to_owned();
    for Sample {
        cartridge,
        from,
        to,
        time,
    } in samples
    {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "TW{cartridge:04},{},{},{},{},{}",
            from.wrap, from.lpos, to.wrap, to.lpos, time.0
        );
    }
    text
}

/// Locates on full cartridges.
fn log(kind: &str, perturbed: Option<u64>, locates: usize) -> Result<Vec<Sample>, Box<dyn Error>> {
    let mut samples = Vec::new();
    for cartridge in 0..CARTRIDGES as u32 {
        let directory = tempfile::tempdir()?;
        let (_library, mut drive) = mounted(kind, cartridge, perturbed, directory.path())?;
        let mut random = Random::new(100 + u64::from(cartridge), 0);
        let visits = visits(locates / CARTRIDGES, &mut random);
        let mut from = told(&mut drive)?;
        for block in visits {
            let before = drive.now();
            drive.locate(0, block)?;
            let time = Micros((drive.now() - before).as_micros() as i64);
            let to = told(&mut drive)?;
            // Sense has one byte for the wrap: above 254 the drive cannot say it.
            if let (Some(from), Some(to)) = (from, to) {
                samples.push(Sample {
                    cartridge,
                    from,
                    to,
                    time,
                });
            }
            drive.read(&mut [0; BLOCK])?;
            from = told(&mut drive)?;
        }
    }
    Ok(samples)
}

fn mounted(
    kind: &str,
    cartridge: u32,
    perturbed: Option<u64>,
    directory: &Path,
) -> Result<(Library, TapeDrive), Box<dyn Error>> {
    let seed = 100 + u64::from(cartridge);
    let capacity = DriveKind::find(kind)
        .ok_or("no such drive")?
        .capacity_bytes();
    let mut spec = LibrarySpec::one_drive(kind, seed);
    spec.variation = Variation {
        perturbed,
        ..Variation::default()
    };
    spec.cartridges = vec![CartridgeSpec {
        // A little less than full, as the smallest cartridge can take it.
        scale: capacity * 97 / 100 / (BLOCKS * BLOCK as u64),
        ..CartridgeSpec::numbered(kind, seed, 1)
    }];
    let library = Library::create(&directory.join("library"), &spec, Clock::virtual_time())?;
    library.load_cartridge("TW0001")?;
    let mut drive = TapeDrive::open(Box::new(library.transport_to_drive(0)?))?;
    drive.wait_until_ready(Duration::from_secs(600))?;
    // What does not compress takes on the tape what it takes on the host.
    let mut random = Random::new(seed, 1);
    let mut block = [0; BLOCK];
    for _ in 0..BLOCKS {
        block.fill_with(|| random.below(256) as u8);
        drive.write(&block)?;
    }
    drive.rewind()?;
    Ok((library, drive))
}

fn told(drive: &mut TapeDrive) -> Result<Option<Position>, Box<dyn Error>> {
    let told = drive
        .physical_position()?
        .ok_or("the drive does not tell positions")?;
    Ok(told.wrap.map(|wrap| Position {
        partition: 0,
        wrap,
        lpos: told.lpos,
        source: PositionSource::Recorded,
        error_lpos: 0,
    }))
}

/// Blocks in the order of recalls: as asked for, by block number, and from near to near.
fn visits(count: usize, random: &mut Random) -> Vec<u64> {
    let mut visits = Vec::new();
    let mut batch = 0;
    while visits.len() < count {
        let mut files: Vec<u64> = (0..BATCH).map(|_| random.below(BLOCKS)).collect();
        match batch % 3 {
            0 => {}
            1 => files.sort_unstable(),
            _ => {
                // Close along the tape: whole pairs of wraps of LTO-8 away, and a little more.
                let mut at = files[0];
                for file in &mut files {
                    let wraps = 2 * random.below(104) * BLOCKS / 208;
                    at = (at + wraps + random.below(BLOCKS / 1_000)) % BLOCKS;
                    *file = at;
                }
            }
        }
        visits.extend(files);
        batch += 1;
    }
    visits.truncate(count);
    visits
}
