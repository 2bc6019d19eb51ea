//! The enterprise drives of the slides' table, emulated: file after file in logical order, and in the order that the
//! drive recommends.
//!
//! The emulated drives' speeds were chosen so that the first comes near what CERN measured. The second, 7.7 and 7.11 s,
//! was not looked at; but how the makers' drives order is secret, and the emulated ones take the nearest file first.

use super::workload::{FILE_MB, FILES};
use super::{Bench, MeasuredDrive};
use crate::PaperError;
use crate::claims::Ours;
use crate::emulated::{Emulated, Loaded};
use rayon::prelude::*;
use tapewise_emulator::Variation;
use tapewise_formats::event::Action;
use tapewise_model::{Micros, Random};
use tapewise_plot::Table;
use tapewise_run::{Recorder, RunError};
use tapewise_scsi::Command;
use tapewise_scsi::commands::{
    AccessOrderProcess, GenerateAccessOrder, ReceiveAccessOrder, Segment,
};

/// The emulated drives, what the slides call them, and the claim of their own order.
const DRIVES: [(&str, &str, &str); 2] = [
    ("ts1155", "IBM TS1155", "rao-ts1155"),
    ("t10000d", "Oracle T10KD", "rao-t10000d"),
];

/// Bytes on tape that a block stands for.
const SCALE: u64 = 200_000_000;

/// Blocks of a file of 2 GB.
const FILE_BLOCKS: u64 = (FILE_MB * 1e6) as u64 / SCALE;

/// Cartridges, each with a batch of its own.
const CARTRIDGES: u64 = 3;

/// Positioning for each file on the emulated drives beside what CERN measured.
pub fn table(bench: &Bench, ours: &mut Ours) -> Result<Table, PaperError> {
    let mut table = Table::new(
        "Key points: from file to file on the enterprise drives, emulated, 150 files of 2 GB a tape",
        &[
            "drive",
            "LINEAR s",
            "slides",
            "off %",
            "RAO s",
            "slides",
            "off %",
            "RAO, MB/s",
            "slides' time, MB/s",
        ],
    );
    for (kind, name, claim) in DRIVES {
        let measured = bench.facts.drive_table.get(name);
        let missing = || PaperError::from(format!("claims.toml has no drive {name}"));
        let measured = measured.ok_or_else(missing)?;
        let one = |number| cartridge(kind, bench.seed * 1_000 + number);
        let times: Vec<[f64; 2]> = (0..CARTRIDGES)
            .into_par_iter()
            .map(one)
            .collect::<Result<_, PaperError>>()?;
        let rao_s = times.iter().map(|times| times[1]).sum::<f64>() / times.len() as f64;
        ours.set(
            claim,
            rao_s,
            "the emulated drive in its own order, nearest first",
        );
        table.row(row(name, &times, measured));
    }
    table.note("The emulated drives' speeds were chosen so that LINEAR comes near the slides; RAO was not looked at then.");
    table.note("RAO: the emulated drive takes the nearest file first, by its own geometry. How real drives order is not published.");
    table.note(format!(
        "Means of {CARTRIDGES} cartridges, a batch of {FILES} files each, from the beginning of tape."
    ));
    Ok(table)
}

fn row(name: &str, times: &[[f64; 2]], measured: &MeasuredDrive) -> Vec<String> {
    let mean = |which: usize| {
        times.iter().map(|times| times[which]).sum::<f64>() / times.len().max(1) as f64
    };
    let rate = |position_s: f64| FILE_MB / (position_s + FILE_MB / measured.rate_mb_s);
    let off = |ours: f64, theirs: f64| format!("{:+.0}", (ours / theirs - 1.0) * 100.0);
    let mut cells = vec![
        name.to_owned(),
        format!("{:.1}", mean(0)),
        format!("{:.1}", measured.position_s),
        off(mean(0), measured.position_s),
        format!("{:.1}", mean(1)),
    ];
    cells.extend(match measured.position_rao_s {
        Some(rao_s) => [format!("{rao_s:.2}"), off(mean(1), rao_s)],
        None => ["-".to_owned(), "-".to_owned()],
    });
    cells.push(format!("{:.0}", rate(mean(1))));
    cells.push(
        measured
            .position_rao_s
            .map_or("-".to_owned(), |rao_s| format!("{:.0}", rate(rao_s))),
    );
    cells
}

/// Positioning for each file of one batch, in seconds: in logical order, and as the drive recommends.
fn cartridge(kind: &str, seed: u64) -> Result<[f64; 2], PaperError> {
    let loaded = Loaded {
        kind,
        seed,
        scale: SCALE,
    };
    let mut emulated = Emulated::alone(loaded, Variation::default())?;
    let blocks = emulated.fill(1, seed)?;
    let mut random = Random::new(seed, 1 << 45);
    let mut files: Vec<u64> = (0..blocks / FILE_BLOCKS).collect();
    random.shuffle(&mut files);
    files.truncate(FILES);
    files.sort_unstable();
    let first_blocks: Vec<u64> = files.iter().map(|file| file * FILE_BLOCKS).collect();
    emulated.unrecorded(|recorder| {
        let linear_s = read(recorder, &first_blocks)?;
        let recommended = recommended(recorder, &first_blocks)?;
        Ok([linear_s, read(recorder, &recommended)?])
    })
}

/// Reads these files one after the other from the beginning of tape: seconds of positioning for each.
fn read(recorder: &mut Recorder<'_>, first_blocks: &[u64]) -> Result<f64, RunError> {
    recorder.rewind()?;
    let mut located = Micros::ZERO;
    for &block in first_blocks {
        located += recorder.locate(0, block)?;
        recorder.read(Action::Read, FILE_BLOCKS, &mut |_, _| Ok(()))?;
    }
    Ok(located.as_secs_f64() / first_blocks.len().max(1) as f64)
}

/// The same files in the order that the drive recommends from the beginning of tape.
fn recommended(recorder: &mut Recorder<'_>, first_blocks: &[u64]) -> Result<Vec<u64>, RunError> {
    recorder.rewind()?;
    let segment = |first: u64, last: u64| Segment {
        name: [0; 10],
        partition: 0,
        first,
        last,
    };
    let files = first_blocks
        .iter()
        .map(|&first| segment(first, first + FILE_BLOCKS - 1));
    // A single block at the head of the list is where the drive starts.
    let segments: Vec<Segment> = std::iter::once(segment(0, 0)).chain(files).collect();
    let transport = recorder.drive().transport();
    GenerateAccessOrder::new(AccessOrderProcess::Reorder, &segments).send(transport)?;
    let receive = ReceiveAccessOrder {
        segments: segments.len(),
    };
    let ordered = receive.send(recorder.drive().transport())?.segments;
    let files = ordered
        .iter()
        .map(|ordered| ordered.segment)
        .filter(|segment| segment.last > segment.first);
    Ok(files.map(|segment| segment.first).collect())
}
