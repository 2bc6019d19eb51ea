//! What the papers publish of drives and libraries, for whoever has measured one of their own.

use crate::claims::Paper;
use crate::error::PaperError;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A drive or a library of a paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// What it was, and whose paper has it.
    pub of: String,
    /// What was measured, as [`Quantity`] names it.
    pub values: BTreeMap<Quantity, String>,
}

/// What papers measured of drives and libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Taking in a cartridge, s.
    Mount,
    /// Giving it out, s.
    Unmount,
    /// The fixed part of a locate, s.
    Startup,
    /// A locate over the whole tape, s.
    Full,
    /// From where on a locate is sooner than reading on, MB.
    Crossover,
    /// The delay between reads that costs nothing, ms.
    Delay,
    /// Reading data that does not compress, MB/s.
    Read,
    /// Writing it, MB/s.
    Write,
    /// Reading data that compresses, MB/s.
    ReadCompressible,
    /// Writing it, MB/s.
    WriteCompressible,
    /// Slot to drive, s.
    Fetch,
    /// Drive to slot, s.
    Return,
    /// Mounts an hour without a pause.
    MountsPerHour,
    /// The robot's look at every label, s.
    Inventory,
}

#[derive(Deserialize)]
struct JohnsonMiller {
    drives: BTreeMap<String, Drive>,
    robots: BTreeMap<String, Robot>,
}

#[derive(Deserialize)]
struct Drive {
    mount_s: f64,
    unmount_s: f64,
    #[serde(rename = "rate_MB_s")]
    rate_mb_s: f64,
    seek_startup_s: f64,
    seek_full_s: f64,
    #[serde(rename = "min_seek_MB")]
    min_seek_mb: f64,
    read_delay_ms: Option<f64>,
    #[serde(rename = "max_read_MB_s")]
    max_read_mb_s: Option<f64>,
    #[serde(rename = "max_write_MB_s")]
    max_write_mb_s: Option<f64>,
}

#[derive(Deserialize)]
struct Robot {
    fetch_mean: f64,
    return_mean: f64,
}

#[derive(Deserialize)]
struct Nersc {
    mount_s: [f64; 2],
    unmount_s: [f64; 2],
    inventory_s_per_frame_max: f64,
    #[serde(rename = "table_1_MB_s")]
    rates: BTreeMap<String, Rates>,
}

/// Written and read.
#[derive(Deserialize)]
struct Rates {
    compressible: [f64; 2],
    noncompressible: [f64; 2],
}

/// What Johnson and Miller 1998 (Tables 2 and 4) and NERSC 2001 publish.
///
/// # Errors
/// Where `claims.toml` does not have it.
pub fn published() -> Result<Vec<Published>, PaperError> {
    let nersc = Paper::load("nersc_2001")?;
    let mounts_per_hour = nersc.value("mount-stress-rate")?.to_string();
    let mut all = vec![of_nersc(&nersc.facts_as()?, mounts_per_hour)];
    let table: JohnsonMiller = Paper::load("johnson_miller_1998")?.facts_as()?;
    for (name, drive) in table.drives {
        let values = [
            (Quantity::Mount, Some(drive.mount_s)),
            (Quantity::Unmount, Some(drive.unmount_s)),
            (Quantity::Startup, Some(drive.seek_startup_s)),
            (Quantity::Full, Some(drive.seek_full_s)),
            (Quantity::Crossover, Some(drive.min_seek_mb)),
            (Quantity::Delay, drive.read_delay_ms),
            (Quantity::Read, Some(drive.rate_mb_s)),
            (Quantity::ReadCompressible, drive.max_read_mb_s),
            (Quantity::WriteCompressible, drive.max_write_mb_s),
        ];
        all.push(of_1998(name, values));
    }
    for (name, robot) in table.robots {
        let values = [
            (Quantity::Fetch, Some(robot.fetch_mean)),
            (Quantity::Return, Some(robot.return_mean)),
        ];
        all.push(of_1998(name, values));
    }
    Ok(all)
}

fn of_1998(name: String, values: impl IntoIterator<Item = (Quantity, Option<f64>)>) -> Published {
    let values = values.into_iter();
    let known = values.filter_map(|(quantity, value)| Some((quantity, value?.to_string())));
    Published {
        of: format!("{name}, 1998"),
        values: known.collect(),
    }
}

fn of_nersc(paper: &Nersc, mounts_per_hour: String) -> Published {
    let range = |low: f64, high: f64| format!("{low} to {high}");
    let rates = |pick: fn(&Rates) -> f64| {
        let all = paper.rates.values().map(pick);
        let (low, high) = all.fold((f64::INFINITY, 0.0_f64), |(low, high), rate| {
            (low.min(rate), high.max(rate))
        });
        range(low, high)
    };
    let values = [
        (Quantity::Mount, range(paper.mount_s[0], paper.mount_s[1])),
        (
            Quantity::Unmount,
            range(paper.unmount_s[0], paper.unmount_s[1]),
        ),
        (Quantity::Write, rates(|rates| rates.noncompressible[0])),
        (Quantity::Read, rates(|rates| rates.noncompressible[1])),
        (
            Quantity::WriteCompressible,
            rates(|rates| rates.compressible[0]),
        ),
        (
            Quantity::ReadCompressible,
            rates(|rates| rates.compressible[1]),
        ),
        (Quantity::MountsPerHour, mounts_per_hour),
        (
            Quantity::Inventory,
            format!("below {}", paper.inventory_s_per_frame_max),
        ),
    ];
    Published {
        of: "LTO-1 in an IBM 3584, 2001".to_owned(),
        values: values.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_numbers_come_as_they_are_printed() {
        let all = published().expect("the papers");
        let of = |name: &str, quantity| {
            let found = all
                .iter()
                .find(|one| one.of.contains(name))
                .expect("a drive");
            found.values.get(&quantity).map(String::as_str)
        };
        assert_eq!(of("LTO-1", Quantity::Mount), Some("25 to 30"));
        assert_eq!(of("LTO-1", Quantity::ReadCompressible), Some("25 to 34.5"));
        assert_eq!(of("LTO-1", Quantity::MountsPerHour), Some("133"));
        assert_eq!(of("DLT 7000", Quantity::Crossover), Some("150"));
        assert_eq!(of("DLT 7000", Quantity::Delay), None);
        assert_eq!(of("Ampex 810", Quantity::Fetch), Some("2.9"));
    }
}
