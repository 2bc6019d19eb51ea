//! The paper's measurements again, on emulated drives and robots: the suite of `tapewise measure`,
//! its summary, and what the figures need beyond it.

mod figures;
mod midtape;
mod robots;
mod table_4;

use super::{AMPEX, Bench, DAT_4MM, DLT4000, DLT7000, Drive, IBM3590, SONY};
use crate::PaperError;
use crate::claims::Ours;
use crate::emulated::{Emulated, Loaded, seek};
use rayon::prelude::*;
use tapewise_emulator::Variation;
use tapewise_plot::{Drawn, Table};
use tapewise_run::measure::summary::{Line, Summary};
use tapewise_run::measure::{Step, Subject, Suite};
use tapewise_run::{Recorder, RunError};

/// Bytes on tape that a stored byte stands for: a tape of 40 GB is a file of 40 MB.
const SCALE: u64 = 1024;

/// Steps that all drives go through, and for some the one behind them.
const STEPS: [Step; 9] = [
    Step::Mount,
    Step::SeekBot,
    Step::SeekOpposite,
    Step::SeekMid,
    Step::ShortSeek,
    Step::Stream,
    Step::Delay,
    Step::LargeRead,
    Step::Midtape,
];

/// Mid-tape unmounts of the drives that can: Figures 1 and 6 have about as many points.
const MIDTAPE_SAMPLES: u32 = 120;

/// Short seeks: serpentine drives jump from landing point to landing point, so that where seeking
/// begins to pay needs several times the suite's samples to come out within some per cent.
const SHORT_SAMPLES: u32 = 960;

/// How much longer the start of a reverse track takes on a 3590 with the fault that the paper saw
/// (note 2), in seconds: it is called very large and drawn, but no number is printed.
const SLOW_REVERSE_S: f64 = 40.0;

/// A drive as measured.
struct Measured {
    name: &'static str,
    subject: Subject,
    summary: Summary,
    seeks: Seeks,
}

/// One seek from the beginning of tape with the rewind behind it, and from elsewhere.
#[derive(Clone, Copy, Debug)]
struct Timed {
    /// MB from the beginning of tape, in the order of the data.
    mb: f64,
    seek_s: f64,
    rewind_s: f64,
}

/// Seeks that the figures show and the suite has too few of.
#[derive(Default)]
struct Seeks {
    /// From the beginning of tape; serpentine: on the first tracks, one list for each.
    from_bot: Vec<Vec<Timed>>,
    /// The same places a second time, where the drive has hints.
    hinted: Vec<Timed>,
    /// From and to one place in the middle: MB of the other end, seconds there and back.
    middle_mb: f64,
    from_middle: Vec<Timed>,
    to_middle: Vec<Timed>,
}

/// Everything that was measured, in the order of Table 4.
struct Lab {
    drives: Vec<Measured>,
    /// The 3590 with its fault, for Figure 5.
    slow_reverse: Vec<Vec<Timed>>,
}

impl Lab {
    fn drive(&self, name: &str) -> &Measured {
        let found = self.drives.iter().find(|drive| drive.name == name);
        found.expect("every drive of the paper is measured")
    }
}

/// What the gated claims rest on: drives and robots, without the drive that has a fault.
pub fn gated(bench: &Bench, ours: &mut Ours) -> Result<(), PaperError> {
    let lab = Lab {
        drives: all(bench)?,
        slow_reverse: Vec::new(),
    };
    robots::table_2(bench, ours)?;
    table_4::tables(bench, &lab, ours)?;
    Ok(())
}

fn all(bench: &Bench) -> Result<Vec<Measured>, PaperError> {
    let drives = bench.drives.par_iter();
    drives.map(|drive| measure(drive, bench.seed)).collect()
}

/// What was measured, as tables and figures.
pub fn report(bench: &Bench, ours: &mut Ours) -> Result<(Vec<Table>, Vec<Drawn>), PaperError> {
    let lab = Lab {
        drives: all(bench)?,
        slow_reverse: slow_reverse(bench)?,
    };
    let mut tables = robots::tables(bench, ours)?;
    tables.extend(table_4::tables(bench, &lab, ours)?);
    tables.push(midtape::table(&lab));
    Ok((tables, figures::all(bench, &lab)?))
}

fn block_kb(drive: &Drive) -> Result<usize, PaperError> {
    let kb = drive.need(&drive.profile.transfer.transfer_kb, "the transfer size")?;
    Ok(kb as usize)
}

/// A drive with a full cartridge, in blocks of the size that the paper found best.
fn filled(drive: &Drive, seed: u64, variation: Variation) -> Result<Emulated, PaperError> {
    let loaded = Loaded {
        kind: &drive.profile.name,
        seed,
        scale: SCALE,
    };
    let mut emulated = Emulated::alone(loaded, variation)?;
    // A block of so many KB takes as many stored bytes.
    emulated.fill(block_kb(drive)?, seed)?;
    Ok(emulated)
}

fn measure(drive: &Drive, seed: u64) -> Result<Measured, PaperError> {
    let mut emulated = filled(drive, seed, Variation::default())?;
    let ((subject, seeks), events) = emulated.record(|recorder| {
        let subject = Subject::explore(recorder, &drive.profile, SCALE)?;
        suite(recorder, &subject, steps(drive.name), seed)?;
        let seeks = Seeks::measure(recorder, drive.name, &subject)?;
        // Writes over everything, so it comes last.
        let suite = Suite::writing(&subject, Some(writing_steps(drive.name)), false, seed);
        suite.run(recorder, &subject, None, &[], &mut |_| ())?;
        Ok((subject, seeks))
    })?;
    Ok(Measured {
        name: drive.name,
        summary: Summary::of(&events, &subject),
        subject,
        seeks,
    })
}

/// The steps that read; the paper unmounted two drives away from the beginning of tape.
fn steps(name: &str) -> &'static [Step] {
    match name {
        AMPEX | SONY => &STEPS,
        _ => &STEPS[..STEPS.len() - 1],
    }
}

/// The steps that write; the paper measured the compression of two drives.
fn writing_steps(name: &str) -> &'static [Step] {
    match name {
        DLT4000 | SONY => &[Step::BlockSize, Step::Compression],
        _ => &[Step::BlockSize],
    }
}

fn suite(
    recorder: &mut Recorder<'_>,
    subject: &Subject,
    steps: &[Step],
    seed: u64,
) -> Result<(), RunError> {
    let mut suite = Suite::plan(subject, Some(steps), false, None, seed);
    for planned in &mut suite.steps {
        match planned.step {
            Step::Midtape => planned.samples = MIDTAPE_SAMPLES,
            Step::ShortSeek => planned.samples = SHORT_SAMPLES,
            _ => {}
        }
    }
    suite.run(recorder, subject, None, &[], &mut |_| ())?;
    Ok(())
}

/// Targets on the whole tape, and on each of the tracks that a figure shows.
const HELICAL_TARGETS: u64 = 100;
const TRACK_TARGETS: u64 = 60;

impl Seeks {
    fn measure(
        recorder: &mut Recorder<'_>,
        name: &str,
        subject: &Subject,
    ) -> Result<Seeks, RunError> {
        let mut seeks = Seeks::default();
        let tracks = match name {
            DLT4000 | DLT7000 => 4,
            IBM3590 => 2,
            _ => 0,
        };
        for track in 0..tracks {
            let targets = track_targets(subject, track);
            let timed = from_bot(recorder, subject, &targets)?;
            seeks.from_bot.push(timed);
        }
        if tracks == 0 {
            let targets = spread(0, subject.blocks, HELICAL_TARGETS);
            seeks.from_bot.push(from_bot(recorder, subject, &targets)?);
            if name == AMPEX {
                // Every place has been visited since the mount, so the drive has a hint for it.
                seeks.hinted = from_bot(recorder, subject, &targets)?;
            }
        }
        match name {
            DAT_4MM => {
                let targets = spread(0, subject.blocks, HELICAL_TARGETS);
                seeks.around(recorder, subject, subject.blocks / 2, &targets)?;
            }
            DLT4000 => {
                let middle = subject.wrap(MIDDLE_TRACK).unwrap_or((0, subject.blocks));
                let tracks = MIDDLE_TRACK - 1..MIDDLE_TRACK + 3;
                let targets: Vec<u64> = tracks
                    .flat_map(|track| track_targets(subject, track))
                    .collect();
                seeks.around(recorder, subject, middle.0.midpoint(middle.1), &targets)?;
            }
            _ => {}
        }
        Ok(seeks)
    }

    /// From one place to many, and back.
    fn around(
        &mut self,
        recorder: &mut Recorder<'_>,
        subject: &Subject,
        middle: u64,
        targets: &[u64],
    ) -> Result<(), RunError> {
        self.middle_mb = mb(subject, middle);
        seek(recorder, middle)?;
        for &block in targets {
            let out = seek(recorder, block)?.as_secs_f64();
            let back = seek(recorder, middle)?.as_secs_f64();
            let timed = |seek_s| Timed {
                mb: mb(subject, block),
                seek_s,
                rewind_s: 0.0,
            };
            self.from_middle.push(timed(out));
            self.to_middle.push(timed(back));
        }
        Ok(())
    }
}

impl Seeks {
    /// Startup of the line through seeks with hints.
    fn hinted_startup_s(&self) -> Option<f64> {
        let points: Vec<(f64, f64)> = self
            .hinted
            .iter()
            .map(|timed| (timed.mb, timed.seek_s))
            .collect();
        Line::through(&points).map(|line| line.intercept)
    }
}

/// A reverse track in the middle of a DLT (Figure 8).
const MIDDLE_TRACK: u16 = 31;

fn track_targets(subject: &Subject, track: u16) -> Vec<u64> {
    let (first, end) = subject.wrap(track).unwrap_or((0, subject.blocks));
    spread(first, end, TRACK_TARGETS)
}

/// Evenly from the first to the last.
fn spread(first: u64, end: u64, targets: u64) -> Vec<u64> {
    let last = end.saturating_sub(2).max(first);
    (0..targets)
        .map(|at| first + (last - first) * at / (targets - 1))
        .collect()
}

fn mb(subject: &Subject, block: u64) -> f64 {
    block as f64 * subject.recorded_block_bytes() as f64 / 1e6
}

/// From the beginning of tape to each of these blocks, with a rewind after each.
fn from_bot(
    recorder: &mut Recorder<'_>,
    subject: &Subject,
    targets: &[u64],
) -> Result<Vec<Timed>, RunError> {
    recorder.rewind()?;
    let mut timed = Vec::new();
    for &block in targets {
        let seek_s = seek(recorder, block)?.as_secs_f64();
        let rewind_s = recorder.rewind()?.as_secs_f64();
        timed.push(Timed {
            mb: mb(subject, block),
            seek_s,
            rewind_s,
        });
    }
    Ok(timed)
}

/// Figure 5 on a 3590 whose reverse tracks start slowly.
fn slow_reverse(bench: &Bench) -> Result<Vec<Vec<Timed>>, PaperError> {
    let drive = bench.drive(IBM3590);
    let variation = Variation {
        slow_reverse_start_s: Some(SLOW_REVERSE_S),
        ..Variation::default()
    };
    let mut emulated = filled(drive, bench.seed, variation)?;
    emulated.unrecorded(|recorder| {
        let subject = Subject::explore(recorder, &drive.profile, SCALE)?;
        (0..2)
            .map(|track| from_bot(recorder, &subject, &track_targets(&subject, track)))
            .collect()
    })
}

/// Pairs of an abscissa and a time.
type Points = Vec<(f64, f64)>;

fn gb((mb, seconds): (f64, f64)) -> (f64, f64) {
    (mb / 1e3, seconds)
}

/// GB and seconds of the seeks.
fn seeks(timed: &[Timed]) -> Points {
    let points = timed.iter().map(|timed| gb((timed.mb, timed.seek_s)));
    points.collect()
}

/// GB and seconds of the rewinds.
fn rewinds(timed: &[Timed]) -> Points {
    let points = timed.iter().map(|timed| gb((timed.mb, timed.rewind_s)));
    points.collect()
}
