//! From events to numbers: the rows of Johnson & Miller's tables, and what else the suite measures.
//!
//! Pure functions of a log. Where the drive did not report where it was, places come from the
//! nominal map of the cartridge.

mod crossover;
mod curves;
mod delay;
mod falls;
mod measures;
mod moves;
mod stat;
mod writing;

pub use crossover::Crossover;
pub use curves::Curve;
pub use delay::{DelayTolerance, RESTART_S, Restart};
pub use falls::Falls;
pub use measures::{Better, Measure, TIME, measures};
pub use moves::{Move, Moves, Way};
pub use stat::{Line, Stat};
pub use writing::{BlockRate, Compressed, Compression};

use super::bench::{failed, latest, sample_of};
use super::seeks::CLOSE_WRAPS;
use super::step::{Purpose, Step};
use super::subject::Subject;
use std::collections::{BTreeMap, BTreeSet};
use tapewise_formats::event::{Action, Event, Outcome};

/// What a log says of a drive. `None` where the log has too little.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Seconds from the cartridge in the drive until ready.
    pub mount_s: Option<Stat>,
    /// Seconds to unmount, rewound.
    pub unmount_s: Option<Stat>,
    /// Seconds to unmount from the middle of the tape.
    pub unmount_midtape_s: Option<Stat>,
    /// Seconds of the first seek after such an unmount and a mount.
    pub first_seek_s: Option<Stat>,
    /// The same against the target's place along the tape, as a share of it.
    pub first_seek_line: Option<Line>,
    /// Robot, slot to drive, seconds.
    pub fetch_s: Option<Stat>,
    /// Robot, drive to slot, seconds.
    pub return_s: Option<Stat>,
    /// Seconds to seek from the beginning of tape.
    pub seek_bot_s: Option<Stat>,
    /// The same against the target's place: helical all, serpentine forward tracks behind the first.
    pub seek_bot_line: Option<Line>,
    /// Seconds to seek to the neighbouring track of the other direction.
    pub seek_opposite_s: Option<Stat>,
    /// Fixed part of a seek, and what a whole tape (serpentine: track) takes: the two numbers of the
    /// paper's section 5.7.
    pub long_seek: Option<LongSeek>,
    /// Seconds to seek between any two places.
    pub seek_mid_s: Option<Stat>,
    /// Seconds to rewind against the place along the tape.
    pub rewind_line: Option<Line>,
    /// Seconds to rewind.
    pub rewind_s: Option<Stat>,
    /// MB/s at a stretch.
    pub rate_mb_s: Option<Stat>,
    /// From where on a locate is sooner than reading on.
    pub crossover: Option<Crossover>,
    /// The delay between reads that costs nothing.
    pub delay: Option<DelayTolerance>,
    /// What a long pause after a large read costs.
    pub restart: Option<Restart>,
    /// Where the time to seek falls from one target to the next.
    pub landing: Option<Falls>,
    /// Rates by size of block, smallest first.
    pub block_rates: Vec<BlockRate>,
    /// What the drive's compression gains.
    pub compression: Option<Compression>,
    /// Locates that were timed to find key points.
    pub key_point_probes: usize,
    /// Locates that were chosen to tell where key points lie.
    pub chosen_probes: usize,
    /// Places that the drive reported: block, wrap, LPOS.
    pub positions: Vec<(u64, u16, u32)>,
    /// The single moves.
    pub moves: Moves,
    /// Samples that were measured whole.
    pub samples: usize,
}

/// The two-number summary of long seeks (Johnson & Miller 1998, section 5.7).
///
/// Helical: both from the line of seeks from the beginning of tape. Serpentine: the startup is half
/// of what a seek to a track of the other direction costs, and the full seek is the one from the
/// beginning of tape to the far end of a forward track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongSeek {
    /// Seconds of the fixed part.
    pub startup_s: f64,
    /// Seconds across the tape.
    pub full_s: f64,
}

impl Summary {
    /// What these events say. Samples that failed are left out.
    pub fn of<'e>(events: impl IntoIterator<Item = &'e Event>, subject: &Subject) -> Summary {
        let log = Samples::of(events, subject);
        let mut summary = Summary {
            mount_s: log.stat(Step::Mount, Action::Mount),
            unmount_s: log.stat(Step::Mount, Action::Unmount),
            unmount_midtape_s: log.stat(Step::Midtape, Action::Unmount),
            fetch_s: log.stat(Step::Robot, Action::Fetch),
            return_s: log.stat(Step::Robot, Action::Return),
            rate_mb_s: log.rate(),
            crossover: Crossover::of(log.of_step(Step::ShortSeek), subject),
            delay: DelayTolerance::of(log.of_step(Step::Delay)),
            restart: Restart::of(log.of_step(Step::LargeRead), subject),
            landing: Falls::of(log.seeks(Step::Landing)),
            block_rates: BlockRate::all(log.of_step(Step::BlockSize), subject),
            compression: Compression::of(log.of_step(Step::Compression), subject),
            key_point_probes: log.of_step(Step::KeyPoints).count(),
            chosen_probes: log.of_step(Step::Probe).count(),
            positions: log.positions.iter().copied().collect(),
            moves: Moves::of(&log),
            samples: log.samples.len(),
            ..Summary::default()
        };
        log.long_seeks(&mut summary);
        summary
    }
}

/// Events by step and sample.
struct Samples<'e, 's> {
    subject: &'s Subject,
    samples: BTreeMap<(Step, u32), Vec<&'e Event>>,
    rewinds: Vec<&'e Event>,
    positions: BTreeSet<(u64, u16, u32)>,
}

impl<'e, 's> Samples<'e, 's> {
    fn of(events: impl IntoIterator<Item = &'e Event>, subject: &'s Subject) -> Samples<'e, 's> {
        let events = latest(events);
        let failed: BTreeSet<(Step, u32)> = failed(events.iter().copied())
            .filter_map(sample_of)
            .collect();
        let events = events.into_iter();
        let events = events.filter(|event| event.outcome == Outcome::Done);
        let mut samples: BTreeMap<(Step, u32), Vec<&Event>> = BTreeMap::new();
        let (mut rewinds, mut positions) = (Vec::new(), BTreeSet::new());
        for event in events {
            let purpose = event.purpose.as_deref().and_then(Purpose::parse);
            // What was written over later says nothing of where blocks lie now, and while a drive
            // writes, its head is behind what it took.
            let is_gone = event.action == Action::Write
                || purpose.is_some_and(|purpose| purpose.step.writes());
            if event.action == Action::Rewind && !is_gone {
                rewinds.push(event);
            }
            if let Some(to) = event.to.filter(|_| !is_gone)
                && let (Some(block), Some(wrap), Some(lpos)) = (to.block, to.wrap, to.lpos)
                && to.partition == subject.partition
            {
                positions.insert((block, wrap, lpos));
            }
            let measures = purpose.is_some_and(|purpose| !purpose.prepares);
            let key = sample_of(event).filter(|key| measures && !failed.contains(key));
            if let Some(key) = key {
                samples.entry(key).or_default().push(event);
            }
        }
        Samples {
            subject,
            samples,
            rewinds,
            positions,
        }
    }

    fn of_step(&self, step: Step) -> impl Iterator<Item = &[&'e Event]> {
        let range = self.samples.range((step, 0)..=(step, u32::MAX));
        range.map(|(_, events)| events.as_slice())
    }

    fn stat(&self, step: Step, action: Action) -> Option<Stat> {
        let events = self.of_step(step).flatten();
        let times = events.filter(|event| event.action == action);
        let seconds: Vec<f64> = times.map(|event| event.took_us.as_secs_f64()).collect();
        Stat::of(&seconds)
    }

    /// Every locate of a step with the block read behind it.
    fn seeks(&self, step: Step) -> impl Iterator<Item = Move> {
        self.of_step(step).flat_map(moves::seeks)
    }

    fn long_seeks(&self, summary: &mut Summary) {
        let seconds = |step| {
            self.seeks(step)
                .map(|seek| seek.seconds)
                .collect::<Vec<_>>()
        };
        summary.seek_bot_s = Stat::of(&seconds(Step::SeekBot));
        summary.seek_mid_s = Stat::of(&seconds(Step::SeekMid));
        summary.first_seek_s = Stat::of(&seconds(Step::Midtape));
        let points = |step| -> Vec<(u16, f64, f64)> {
            let placed = self.seeks(step).filter_map(|seek| {
                let (wrap, share) = self.subject.place(seek.to?)?;
                Some((wrap, share, seek.seconds))
            });
            placed.collect()
        };
        let serpentine = self.subject.is_serpentine();
        // On the first track a drive may read on; behind it a line has one kind of seek. Where far
        // tracks begin is known too badly from nominal geometry.
        let is_close = |wrap: u16| wrap < CLOSE_WRAPS;
        let is_forward =
            |wrap: u16| !serpentine || (wrap >= 2 && is_close(wrap) && wrap.is_multiple_of(2));
        let line = |points: &[(u16, f64, f64)], fits: &dyn Fn(u16) -> bool| {
            let chosen = points.iter().filter(|(wrap, ..)| fits(*wrap));
            Line::through(&chosen.map(|&(_, x, y)| (x, y)).collect::<Vec<_>>())
        };
        let from_beginning = points(Step::SeekBot);
        summary.seek_bot_line = line(&from_beginning, &is_forward);
        summary.seek_opposite_s = Stat::of(&seconds(Step::SeekOpposite));
        summary.first_seek_line = line(&points(Step::Midtape), &is_forward);
        summary.long_seek = match (serpentine, summary.seek_bot_line, summary.seek_opposite_s) {
            (false, Some(line), _) => Some(LongSeek {
                startup_s: line.intercept,
                full_s: line.slope,
            }),
            (true, Some(line), Some(opposite)) => Some(LongSeek {
                startup_s: opposite.mean / 2.0,
                full_s: line.at(1.0),
            }),
            _ => None,
        };
        // A rewind from the beginning moves nothing.
        let rewinds = self.rewinds.iter().filter_map(|event| {
            let (_, share) = self.subject.place(event.from?)?;
            (event.from?.block != Some(0)).then_some((share, event.took_us.as_secs_f64()))
        });
        let rewinds: Vec<(f64, f64)> = rewinds.collect();
        let times: Vec<f64> = rewinds.iter().map(|(_, seconds)| *seconds).collect();
        summary.rewind_line = Line::through(&rewinds);
        summary.rewind_s = Stat::of(&times);
    }

    /// MB on the tape that an event moved.
    fn mb(&self, event: &Event) -> f64 {
        event.bytes.saturating_mul(self.subject.byte_scale) as f64 / 1e6
    }

    fn rate(&self) -> Option<Stat> {
        let events = self.of_step(Step::Stream).flatten();
        let reads = events.filter(|event| event.action == Action::Read && event.bytes > 0);
        let rates: Vec<f64> = reads
            .map(|event| self.mb(event) / event.took_us.as_secs_f64())
            .collect();
        Stat::of(&rates)
    }
}
