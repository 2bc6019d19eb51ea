//! The drive tests on an emulated LTO-1: rates by block, filemarks and data (Table 1), seeks (Table 2).

use super::{Facts, Rates};
use crate::PaperError;
use crate::emulated::{Emulated, Loaded};
use std::time::Duration;
use tapewise_emulator::Variation;
use tapewise_model::Random;
use tapewise_plot::{Drawn, Figure, Table};
use tapewise_run::{Recorder, RunError};
use tapewise_scsi::TapeDrive;

/// Bytes on tape that a stored byte stands for.
pub const SCALE: usize = 16;

/// The paper's file: a gigabyte.
const FILE_BYTES: u64 = 1_000_000_000;

/// "tar" writes records of 10 KiB unless it is told otherwise.
const TAR_BLOCK: usize = 10_240;

/// Different blocks, written over and over.
const BLOCKS: usize = 16;

/// One way of writing and reading a file.
#[derive(Clone, Copy)]
pub struct Way {
    /// Bytes of a block on tape.
    pub block_bytes: usize,
    /// Blocks between filemarks.
    pub interval: u64,
    /// Bytes of the file on tape.
    pub file_bytes: u64,
    /// Whether the drive makes the data smaller.
    pub compressible: bool,
}

pub fn tables(facts: &Facts, seed: u64) -> Result<(Vec<Table>, Vec<Drawn>), PaperError> {
    let (curves, figures) = curves(facts, seed)?;
    let mut tables = vec![table_1(facts, seed)?];
    tables.extend(curves);
    tables.push(table_2(facts, seed)?);
    Ok((tables, figures))
}

/// A new drive with a blank cartridge.
fn drive(seed: u64) -> Result<Emulated, PaperError> {
    let loaded = Loaded {
        kind: "lto1",
        seed,
        scale: SCALE as u64,
    };
    Emulated::alone(loaded, Variation::default())
}

/// Blocks as they are stored. Half of a compressible one are zeros: two to one for any compressor.
fn blocks(way: Way, seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed, 0);
    let stored = way.block_bytes / SCALE;
    let noise = if way.compressible { stored / 2 } else { stored };
    let block = |_| {
        let mut block = vec![0; stored];
        block[..noise].fill_with(|| random.below(256) as u8);
        block
    };
    (0..BLOCKS).map(block).collect()
}

/// Writes a file and reads it back: MB/s of either. A file ends with a filemark, which empties the
/// buffer; the time of a read counts from its first block.
fn rates(way: Way, seed: u64) -> Result<[f64; 2], PaperError> {
    let blocks = blocks(way, seed);
    let count = way.file_bytes / way.block_bytes as u64;
    let moved_mb = (count * way.block_bytes as u64) as f64 / 1e6;
    drive(seed)?.unrecorded(|recorder| {
        recorder.rewind()?;
        recorder.compress(true)?;
        let began = recorder.clock();
        let mut left = count;
        while left > 0 {
            let run = left.min(way.interval);
            recorder.write_blocks(run, &|number| &blocks[number as usize % BLOCKS])?;
            recorder.write_filemark()?;
            left -= run;
        }
        let wrote_s = (recorder.clock() - began).as_secs_f64();
        recorder.rewind()?;
        let began = recorder.clock();
        let objects = count + count.div_ceil(way.interval);
        let action = tapewise_formats::event::Action::Read;
        recorder.read(action, objects, &mut |_, _| Ok(()))?;
        let read_s = (recorder.clock() - began).as_secs_f64();
        Ok([moved_mb / wrote_s, moved_mb / read_s])
    })
}

/// Rates of a path, by whether the drive makes the data smaller.
type RatesOf<'a> = &'a dyn Fn(bool) -> Result<[f64; 2], PaperError>;

fn table_1(facts: &Facts, seed: u64) -> Result<Table, PaperError> {
    let mut table = Table::new(
        "Table 1: MB/s of a 1 GB file, theirs and ours on an emulated LTO-1",
        &["path", "data", "write", "ours", "read", "ours"],
    );
    let hpss = Way {
        block_bytes: facts.hpss.block_kb * 1024,
        interval: facts.hpss.blocks_between_tapemarks,
        file_bytes: FILE_BYTES,
        compressible: true,
    };
    let tar = Way {
        block_bytes: TAR_BLOCK,
        interval: u64::MAX,
        ..hpss
    };
    let paths: [(&str, RatesOf<'_>); 3] = [
        ("tar", &|compressible| {
            let way = Way {
                compressible,
                ..tar
            };
            rates(way, seed)
        }),
        ("hpss scrub", &|compressible| {
            let way = Way {
                compressible,
                ..hpss
            };
            rates(way, seed)
        }),
        ("migrate/stage", &|compressible| {
            let way = Way {
                compressible,
                ..hpss
            };
            super::migrate::rates(way, &blocks(way, seed), seed)
        }),
    ];
    for (path, ours_of) in paths {
        let theirs: &Rates = facts
            .table_1
            .get(path)
            .ok_or_else(|| PaperError::from(format!("claims.toml: no {path}")))?;
        let data = [
            ("compressible", theirs.compressible, true),
            ("noncompressible", theirs.noncompressible, false),
        ];
        for (name, theirs, compressible) in data {
            let ours = ours_of(compressible)?;
            let cells = [theirs[0], ours[0], theirs[1], ours[1]].map(|rate| format!("{rate:.1}"));
            table.row([path.to_owned(), name.to_owned()].into_iter().chain(cells));
        }
    }
    table.note("tar: blocks of 10 KiB, one filemark; scrub: as the paper set it up");
    table.note("ours is the drive alone: no host, disk or bus of 2001, which theirs waited for");
    table.note(
        "tar: the emulated drive takes some 8 ms for each command whatever its length; that is assumed, \
         and too much for blocks of 10 KiB, or their tar was given larger ones",
    );
    table.note("their compressible data is not described; half of ours are zeros");
    table.note(
        "migrate/stage: by the mover of our archive, in segments of the paper's length; the time is that of \
         the drive, for the disk behind the cache is this machine's",
    );
    Ok(table)
}

/// Rate against filemark interval and against size of file, and where 95 % of streaming is reached.
fn curves(facts: &Facts, seed: u64) -> Result<(Vec<Table>, Vec<Drawn>), PaperError> {
    let block_bytes = facts.hpss.block_kb * 1024;
    let way = Way {
        block_bytes,
        interval: u64::MAX,
        file_bytes: FILE_BYTES,
        compressible: false,
    };
    let streaming = rates(
        Way {
            file_bytes: 4 * FILE_BYTES,
            ..way
        },
        seed,
    )?;
    let mb = |blocks: u64| (blocks * block_bytes as u64) as f64 / 1e6;
    let steps: Vec<u64> = (0..12)
        .map(|power| 1 << power)
        .chain([facts.hpss.blocks_between_tapemarks])
        .collect();
    let mut by_interval = Vec::new();
    let mut by_size = Vec::new();
    for &blocks in &steps {
        let interval = Way {
            interval: blocks,
            ..way
        };
        by_interval.push((mb(blocks), rates(interval, seed)?));
        let size = Way {
            file_bytes: blocks * block_bytes as u64,
            ..way
        };
        by_size.push((mb(blocks), rates(size, seed)?));
    }
    let mut figure = Figure::new(
        "nersc-filemarks",
        "Writing an emulated LTO-1: rate by the distance of filemarks, and by the size of one file",
        "MB between filemarks, or of the file",
        "MB/s",
    )
    .doubling();
    let points = |curve: &[(f64, [f64; 2])]| {
        curve
            .iter()
            .map(|(mb, rate)| (*mb, rate[0]))
            .collect::<Vec<_>>()
    };
    figure = figure.line("filemarks at this distance", points(&by_interval));
    figure = figure.line("one file of this size", points(&by_size));
    let tables = vec![
        curve(
            "Rate by MB between filemarks, 1 GB in blocks of 256 KB",
            &by_interval,
            streaming,
        ),
        curve(
            "Rate of one file from the beginning of tape, by its size",
            &by_size,
            streaming,
        ),
    ];
    Ok((tables, vec![figure.draw()?]))
}

fn curve(title: &str, points: &[(f64, [f64; 2])], streaming: [f64; 2]) -> Table {
    let mut table = Table::new(
        title,
        &[
            "MB",
            "write MB/s",
            "of streaming",
            "read MB/s",
            "of streaming",
        ],
    );
    for (mb, rates) in points {
        let cell = |way: usize| {
            [
                format!("{:.2}", rates[way]),
                format!("{:.0} %", 100.0 * rates[way] / streaming[way]),
            ]
        };
        table.row(
            [format!("{mb:.1}")]
                .into_iter()
                .chain(cell(0))
                .chain(cell(1)),
        );
    }
    for (way, what) in ["written", "read"].into_iter().enumerate() {
        let reached = points
            .iter()
            .find(|(_, rates)| rates[way] >= 0.95 * streaming[way]);
        table.note(match reached {
            Some((mb, _)) => format!(
                "95 % of streaming ({:.1} MB/s) {what}: from {mb:.0} MB on",
                streaming[way]
            ),
            None => format!(
                "95 % of streaming ({:.1} MB/s) {what}: not reached",
                streaming[way]
            ),
        });
    }
    table
}

/// Files of the seek test, so many that they are 17 GB.
const SEEK_FILE_BYTES: u64 = 100_000_000;
const SEEK_FILES: u64 = 170;

/// Files that each command is timed over.
const SEEKS: u64 = 40;

/// Seconds to the end of the data, and over a file forward and backward in the mean.
fn seek_times(facts: &Facts, seed: u64) -> Result<[f64; 3], PaperError> {
    let way = Way {
        block_bytes: facts.hpss.block_kb * 1024,
        interval: u64::MAX,
        file_bytes: SEEK_FILE_BYTES,
        compressible: false,
    };
    let data = blocks(way, seed);
    let count = way.file_bytes / way.block_bytes as u64;
    drive(seed)?.unrecorded(|recorder| {
        recorder.rewind()?;
        for _ in 0..SEEK_FILES {
            recorder.write_blocks(count, &|number| &data[number as usize % BLOCKS])?;
            recorder.write_filemark()?;
        }
        recorder.rewind()?;
        let append = timed(recorder, |drive| drive.space_to_end_of_data())?;
        let mut random = Random::new(seed, 1);
        let (mut forward, mut backward) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..SEEKS {
            let file = 1 + random.below(SEEK_FILES - 2);
            recorder.locate(0, file * (count + 1))?;
            forward += timed(recorder, |drive| drive.space_filemarks(1).map(|_| ()))?;
            // In front of the filemark of this file, then back over it to that of the one before.
            recorder.locate(0, (file + 1) * (count + 1) - 1)?;
            backward += timed(recorder, |drive| drive.space_filemarks(-1).map(|_| ()))?;
        }
        let each = |sum: Duration| sum.as_secs_f64() / SEEKS as f64;
        Ok([append.as_secs_f64(), each(forward), each(backward)])
    })
}

fn table_2(facts: &Facts, seed: u64) -> Result<Table, PaperError> {
    let [append_s, forward_s, backward_s] = seek_times(facts, seed)?;
    let mut table = Table::new(
        "Table 2: seeks, MB passed over by seconds, theirs and ours on an emulated LTO-1",
        &[
            "what",
            "MB",
            "theirs MB/s",
            "theirs s",
            "ours s",
            "ours MB/s",
        ],
    );
    let file_mb = SEEK_FILE_BYTES as f64 / 1e6;
    let all_mb = file_mb * SEEK_FILES as f64;
    for (what, mb, theirs, ours_s) in [
        (
            "append to the end of data",
            all_mb,
            facts.table_2.append,
            append_s,
        ),
        (
            "forward over a file (fsf)",
            file_mb,
            facts.table_2.forward,
            forward_s,
        ),
        (
            "backward over a file (bsf)",
            file_mb,
            facts.table_2.backward,
            backward_s,
        ),
    ] {
        table.row([
            what.to_owned(),
            format!("{mb:.0}"),
            format!("{theirs:.0}"),
            format!("{:.1}", mb / theirs),
            format!("{ours_s:.1}"),
            format!("{:.0}", mb / ours_s),
        ]);
    }
    table.note(
        "the emulated drive's seek is that of later LTO drives on this tape: see the profile lto1",
    );
    Ok(table)
}

/// How long the drive takes for something that moves the tape.
fn timed(
    recorder: &mut Recorder<'_>,
    work: impl FnOnce(&mut TapeDrive) -> Result<(), tapewise_scsi::ScsiError>,
) -> Result<Duration, RunError> {
    let drive = recorder.drive();
    let began = drive.now();
    work(drive)?;
    let took = drive.now().saturating_sub(began);
    recorder.forget_head();
    Ok(took)
}
