//! Which steps, how often, and what that will take; then the steps one after the other.

use super::bench::{Ahead, Bench, Progress};
use super::robot::{self, Robot};
use super::step::{Purpose, Step};
use super::subject::Subject;
use super::{delays, key_points, probe, seeks, short, walk, writing};
use crate::error::RunError;
use crate::recorder::Recorder;
use std::fmt;
use tapewise_formats::event::Event;
use tapewise_model::Micros;

/// A step with the number of its samples and what each is predicted to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The step.
    pub step: Step,
    /// How many samples. Where the step itself finds out when it is done, about how many.
    pub samples: u32,
    /// What one sample is predicted to take.
    pub each: Micros,
}

impl Planned {
    /// What all samples are predicted to take.
    pub fn total(&self) -> Micros {
        Micros(self.each.0.saturating_mul(i64::from(self.samples)))
    }
}

/// The plan of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suite {
    /// The steps in order.
    pub steps: Vec<Planned>,
    /// Steps that were left out, and why.
    pub left_out: Vec<(Step, LeftOut)>,
    /// Drive time that must not be exceeded.
    pub limit: Option<Micros>,
    seed: u64,
}

/// Why a step is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// There is no time for it.
    NoTime,
    /// The drive does not say where on the tape it is.
    NoPlaces,
    /// The drive has no compression.
    NoCompression,
    /// It writes, and nobody said that the cartridge may be written.
    NoWriting,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LeftOut::NoTime => "there is no time for it",
            LeftOut::NoPlaces => "the drive does not say where on the tape it is",
            LeftOut::NoCompression => "the drive has no compression",
            LeftOut::NoWriting => "it writes, and --write is not given",
        })
    }
}

/// Drive time of `--quick`.
pub const QUICK: Micros = Micros(30 * 60 * 1_000_000);

/// Locates that a probe without a limit is predicted to make.
const PROBES: u32 = 300;

/// Moves of a walk that has no limit.
const WALK_SAMPLES: u32 = 300;

impl Suite {
    /// The full suite, or as much of it as fits into `limit`.
    ///
    /// `wanted` are the steps asked for; without it all that this drive can do. The steps that write
    /// are not among them: see [`Suite::writing`].
    pub fn plan(
        subject: &Subject,
        wanted: Option<&[Step]>,
        has_robot: bool,
        limit: Option<Micros>,
        seed: u64,
    ) -> Suite {
        let is_wanted = |step: Step| match wanted {
            Some(wanted) => wanted.contains(&step),
            None => is_usual(step, subject, limit.is_some()),
        };
        let steps = Step::ALL.into_iter().filter(|&step| is_wanted(step));
        let steps = steps.filter(|&step| !step.writes() && (step != Step::Robot || has_robot));
        let needs_places = |step: &Step| matches!(step, Step::Positions | Step::Landing);
        let (placeless, steps): (Vec<Step>, Vec<Step>) =
            steps.partition(|step| needs_places(step) && !subject.tells_place);
        let mut suite = Suite::of(steps.into_iter(), subject, limit, seed);
        suite.left_out = placeless
            .into_iter()
            .map(|step| (step, LeftOut::NoPlaces))
            .collect();
        if let Some(limit) = limit {
            suite.shorten(limit);
        }
        suite
    }

    /// A walk that takes as long as the time given: what teaches a fit of the locate time most.
    pub fn for_fit(subject: &Subject, time: Micros, seed: u64) -> Suite {
        Suite::open(Step::Walk, subject, time, seed)
    }

    /// Locates that tell where key points lie, for as long as the time given.
    pub fn for_key_points(subject: &Subject, time: Micros, seed: u64) -> Suite {
        Suite::open(Step::Probe, subject, time, seed)
    }

    /// A step that goes on for as long as there is time.
    fn open(step: Step, subject: &Subject, time: Micros, seed: u64) -> Suite {
        let mut suite = Suite::of(std::iter::once(step), subject, Some(time), seed);
        for planned in &mut suite.steps {
            planned.samples = u32::try_from(time.0 / planned.each.0.max(1)).unwrap_or(u32::MAX);
        }
        suite
    }

    /// Everything that is worth knowing of a new drive, within `limit`: what reads, and, where the cartridge may be
    /// written, what writes. [`Suite::apart`] parts the two.
    ///
    /// What has one sample as a rule is measured several times, so that it has a spread.
    pub fn acceptance(subject: &Subject, writes: bool, limit: Micros, seed: u64) -> Suite {
        let why_not = |step: &Step| match step {
            step if step.writes() && !writes => Some(LeftOut::NoWriting),
            Step::DataPath | Step::Compression if !compresses(subject) => {
                Some(LeftOut::NoCompression)
            }
            _ => None,
        };
        let wanted = Step::ALL.into_iter().filter(|&step| worth(step) > 0.0);
        let wanted = wanted.filter(|step| *step != Step::SeekOpposite || subject.is_serpentine());
        let (left_out, steps): (Vec<Step>, Vec<Step>) =
            wanted.partition(|step| why_not(step).is_some());
        let mut suite = Suite::of(steps.into_iter(), subject, Some(limit), seed);
        for planned in &mut suite.steps {
            match planned.step {
                Step::BlockSize => planned.samples *= ROUNDS,
                Step::Mount => planned.samples *= 3,
                _ => {}
            }
        }
        let left_out = left_out.into_iter();
        suite.left_out = left_out
            .filter_map(|step| Some((step, why_not(&step)?)))
            .collect();
        suite.spend(limit);
        suite
    }

    /// Spends the time on the samples that teach most for what they take.
    ///
    /// The first samples of a step, the fewest that have a spread, teach half of what it is worth; of the rest a mean
    /// of n teaches what is missing less one over the root of n, as its error falls.
    fn spend(&mut self, limit: Micros) {
        let full = std::mem::take(&mut self.steps);
        let mut counts = vec![0_u32; full.len()];
        let mut left = limit;
        // The next samples of a step: how many, what they take, and what they teach for each second.
        let next = |planned: &Planned, count: u32| {
            let first = fewest(planned.step).min(planned.samples).max(1);
            let more = if count == 0 { first } else { 1 };
            let missing = |count: u32| 0.5 * (f64::from(first) / f64::from(count)).sqrt();
            let taught = match count {
                0 => 0.5,
                count => missing(count) - missing(count + 1),
            };
            let takes = Micros(planned.each.0.saturating_mul(i64::from(more)));
            (
                more,
                takes,
                worth(planned.step) * taught / takes.as_secs_f64().max(1e-6),
            )
        };
        loop {
            let open = full.iter().zip(&mut counts);
            let open = open.filter(|(planned, count)| **count < planned.samples);
            let open = open.map(|(planned, count)| (next(planned, *count), count));
            let open = open.filter(|((_, takes, _), _)| *takes <= left);
            let best = open.max_by(|(a, _), (b, _)| a.2.total_cmp(&b.2));
            let Some(((more, takes, _), count)) = best else {
                break;
            };
            *count += more;
            left -= takes;
        }
        for (planned, samples) in full.into_iter().zip(counts) {
            match samples {
                0 => self.left_out.push((planned.step, LeftOut::NoTime)),
                samples => self.steps.push(Planned { samples, ..planned }),
            }
        }
    }

    /// A suite of these steps, as one was planned before.
    pub fn again(steps: Vec<Planned>, seed: u64) -> Suite {
        Suite {
            steps,
            left_out: Vec::new(),
            limit: None,
            seed,
        }
    }

    /// The steps that read, and those that write.
    pub fn apart(mut self) -> (Suite, Suite) {
        let steps = std::mem::take(&mut self.steps);
        let (writes, reads) = steps.into_iter().partition(|planned| planned.step.writes());
        let writing = Suite::again(writes, self.seed);
        self.steps = reads;
        (self, writing)
    }

    /// The steps that write, for a cartridge whose data may go. `subject` is a cartridge of blocks as
    /// long as those it will be filled with.
    pub fn writing(subject: &Subject, wanted: Option<&[Step]>, quick: bool, seed: u64) -> Suite {
        let is_wanted = |step: &Step| match (wanted, step) {
            (Some(wanted), step) => wanted.contains(step),
            (None, Step::DataPath | Step::FileSize) => false,
            (None, Step::Compression) => compresses(subject) && !quick,
            (None, _) => true,
        };
        let steps = Step::ALL.into_iter().filter(|step| step.writes());
        Suite::of(steps.filter(is_wanted), subject, None, seed)
    }

    fn of(
        steps: impl Iterator<Item = Step>,
        subject: &Subject,
        limit: Option<Micros>,
        seed: u64,
    ) -> Suite {
        Suite {
            steps: steps.map(|step| planned(step, subject)).collect(),
            left_out: Vec::new(),
            limit,
            seed,
        }
    }

    /// Whether it is one step that goes on for as long as there is time.
    fn is_open(&self) -> bool {
        let goes_on = |planned: &Planned| matches!(planned.step, Step::Walk | Step::Probe);
        self.limit.is_some() && self.steps.iter().all(goes_on)
    }

    /// What such a step in the log took: one that is taken up again goes on for the rest of its time.
    fn spent(&self, log: &[Event]) -> Micros {
        let is_of_step = |event: &&Event| {
            let purpose = event.purpose.as_deref().and_then(Purpose::parse);
            purpose.is_some_and(|purpose| self.steps.iter().any(|of| of.step == purpose.step))
        };
        if !self.is_open() {
            return Micros::ZERO;
        }
        let events = log.iter().filter(is_of_step);
        events.map(|event| event.took_us).sum()
    }

    /// What the whole suite is predicted to take.
    pub fn total(&self) -> Micros {
        self.steps.iter().map(Planned::total).sum()
    }

    /// Takes samples from the longest step until everything fits; where all have the
    /// fewest, the longest is left out, but not the seeks from the beginning of tape.
    fn shorten(&mut self, limit: Micros) {
        let full = self.steps.clone();
        while self.total() > limit {
            let longest = self
                .steps
                .iter_mut()
                .filter(|planned| planned.samples > fewest(planned.step))
                .max_by_key(|planned| planned.total());
            match longest {
                Some(planned) => planned.samples -= 1,
                None => {
                    let others = self.steps.iter().enumerate();
                    let others = others.filter(|(_, planned)| planned.step != Step::SeekBot);
                    let Some((at, _)) = others.max_by_key(|(_, planned)| planned.total()) else {
                        break;
                    };
                    let step = self.steps.remove(at).step;
                    self.left_out.push((step, LeftOut::NoTime));
                }
            }
        }
        // What the last step left out had taken goes to those that stayed, fewest samples first.
        loop {
            let left = limit - self.total();
            let longer = self.steps.iter_mut().filter(|planned| {
                let most = full.iter().find(|one| one.step == planned.step);
                planned.each <= left && most.is_some_and(|most| planned.samples < most.samples)
            });
            match longer.min_by_key(|planned| planned.samples) {
                Some(planned) => planned.samples += 1,
                None => break,
            }
        }
    }

    /// Carries the suite out: the steps that the limit cut short. `log` is what was measured before,
    /// `progress` is told of every sample.
    ///
    /// # Errors
    /// [`RunError`]; what was measured until then stands in the log, and the suite goes on from it.
    pub fn run(
        &self,
        recorder: &mut Recorder<'_>,
        subject: &Subject,
        mut robot: Option<Robot<'_>>,
        log: &[Event],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Step>, RunError> {
        let until = self
            .limit
            .map(|limit| recorder.clock() + limit - self.spent(log));
        let mut later = self.total();
        let mut cut_short = Vec::new();
        let mut bench = Bench::new(recorder, subject, self.seed, log, until, progress);
        for planned in &self.steps {
            later -= planned.total();
            bench.begin(&Ahead {
                step: planned.step,
                samples: planned.samples,
                each: planned.each,
                later,
            });
            let samples = (!self.is_open()).then_some(planned.samples);
            run_step(&mut bench, planned.step, samples, robot.as_mut())?;
            if !bench.has_time() && samples.is_some_and(|samples| bench.done() < samples) {
                cut_short.push(planned.step);
            }
        }
        Ok(cut_short)
    }
}

/// Rounds of an acceptance through what is usually measured once: fewer have hardly a spread.
const ROUNDS: u32 = 4;

/// What a step is worth in an acceptance, beside the others: a recall is mounts, locates and reads, and most locates of a
/// good order are short. Where blocks lie is the cartridge's affair, and no part of it.
fn worth(step: Step) -> f64 {
    match step {
        Step::Walk => 4.0,
        Step::Mount | Step::SeekBot | Step::SeekMid | Step::DataPath => 2.0,
        Step::SeekOpposite | Step::Stream | Step::Midtape | Step::FileSize => 1.0,
        Step::ShortSeek | Step::Delay | Step::LargeRead | Step::BlockSize | Step::Compression => {
            0.5
        }
        Step::Robot | Step::Positions | Step::Landing | Step::KeyPoints | Step::Probe => 0.0,
    }
}

fn compresses(subject: &Subject) -> bool {
    let compression = subject.profile.features.compression.as_ref();
    compression.is_none_or(|compression| compression.value)
}

/// Steps that are measured when nothing else is said: quick ones leave out those that need hours.
fn is_usual(step: Step, subject: &Subject, quick: bool) -> bool {
    match step {
        Step::SeekOpposite => subject.is_serpentine(),
        // The drive's table says it of all blocks, and other steps see how true that is.
        Step::Positions => subject.is_serpentine() && !(quick && subject.wrap_ends.is_some()),
        Step::Landing => subject.is_serpentine() && !quick,
        Step::KeyPoints => subject.profile.nominal_sections().is_some() && !quick,
        Step::LargeRead => !quick,
        Step::Walk | Step::Probe => false,
        _ => true,
    }
}

/// The fewest samples of a step that are still worth something: a mean and a spread, as a rule.
fn fewest(step: Step) -> u32 {
    match step {
        Step::Delay | Step::LargeRead | Step::KeyPoints | Step::Compression => u32::MAX,
        // All rounds of an acceptance: what is cut short has no spread.
        Step::DataPath => ROUNDS * writing::DATA_PATHS.len() as u32,
        Step::FileSize | Step::BlockSize => u32::MAX,
        Step::Walk => 24,
        // Distances grow until seeking pays, and that takes about so many.
        Step::ShortSeek => 24,
        // Rates hardly differ from place to place.
        Step::Stream => 2,
        _ => 4,
    }
}

fn planned(step: Step, subject: &Subject) -> Planned {
    let expected = subject.expected();
    let remount = expected.unmount + expected.mount;
    let seek = expected.locate;
    // To a neighbouring wrap, or back over what was read: no way along the tape to speak of.
    let near = Micros(seek.0 / 3);
    let second = |count: f64| Micros::from_secs_f64(count);
    let (samples, each) = match step {
        Step::Mount => (8, remount),
        Step::Robot => (16, remount + second(40.0)),
        Step::SeekBot => (60, seek + expected.rewind),
        Step::SeekOpposite => (96, near + near),
        Step::SeekMid => (60, seek),
        Step::ShortSeek => (48, seek + near + near + second(40.0)),
        Step::Stream => (8, seek + second(20.0)),
        Step::Delay => {
            let reads = subject.reading(2 * delays::READS);
            (delays::DELAY_SAMPLES, near + reads)
        }
        Step::LargeRead => {
            let reads = subject.reading(subject.blocks_of_mb(120.0));
            (delays::LARGE_SAMPLES, near + reads + second(70.0))
        }
        Step::Midtape => (40, remount + seek + seek + expected.rewind),
        Step::Positions => (64, seek),
        Step::Landing => (120, seek + seek),
        Step::KeyPoints => (key_points::expected_probes(&subject.profile), second(65.0)),
        Step::Probe => (PROBES, Micros(seek.0 / 3)),
        // Most moves are short.
        Step::Walk => (WALK_SAMPLES, Micros(seek.0 / 2)),
        Step::BlockSize => {
            let sizes = writing::block_sizes(subject).len() as u32;
            (sizes, second(2.0 * writing::STRETCH_S) + near)
        }
        Step::Compression => (writing::COMPRESSION_SAMPLES, corpus_time(subject)),
        Step::DataPath => {
            let kinds = writing::DATA_PATHS.len() as u32;
            (2 * ROUNDS * kinds, second(2.0 * writing::STRETCH_S) + near)
        }
        Step::FileSize => {
            let sizes = writing::file_sizes_mb(subject).len() as u32;
            (ROUNDS * sizes, second(2.0 * writing::STRETCH_S) + near)
        }
    };
    Planned {
        step,
        samples,
        each,
    }
}

/// A kind of data written and a stretch of it read: a whole tape where the drive does not say where
/// it is.
fn corpus_time(subject: &Subject) -> Micros {
    let gb = subject.profile.cartridge.capacity_gb.as_ref();
    let whole = || subject.reading(subject.blocks_of_mb(gb.map_or(20.0, |gb| gb.value) * 1e3));
    let written = if subject.tells_place {
        Micros::from_secs_f64(writing::MARKED_STRETCH_S)
    } else {
        whole()
    };
    let read = Micros::from_secs_f64(writing::STRETCH_S);
    written + subject.expected().rewind + read
}

fn run_step(
    bench: &mut Bench<'_, '_>,
    step: Step,
    wanted: Option<u32>,
    robot: Option<&mut Robot<'_>>,
) -> Result<(), RunError> {
    let samples = wanted.unwrap_or(u32::MAX);
    match step {
        Step::Mount => seeks::mount(bench, samples),
        Step::Robot => match robot {
            Some(robot) => robot::ways(bench, robot, samples),
            None => Ok(()),
        },
        Step::SeekBot => seeks::from_beginning(bench, samples),
        Step::SeekOpposite => seeks::opposite(bench, samples),
        Step::SeekMid => seeks::between(bench, samples),
        Step::ShortSeek => short::short_seeks(bench, samples),
        Step::Stream => seeks::stream(bench, samples),
        Step::Delay => delays::between_reads(bench),
        Step::LargeRead => delays::after_large_reads(bench),
        Step::Midtape => seeks::midtape(bench, samples),
        Step::Positions => seeks::positions(bench, samples),
        Step::Landing => seeks::landing(bench, samples),
        Step::KeyPoints => key_points::measure(bench).map(|_| ()),
        Step::Probe => probe::probe(bench, wanted),
        Step::Walk => walk::walk(bench, wanted),
        Step::BlockSize => writing::by_block_size(bench, samples),
        Step::DataPath => writing::data_paths(bench, samples),
        Step::FileSize => writing::by_file_size(bench, samples),
        Step::Compression => writing::compression(bench, samples),
    }
}
