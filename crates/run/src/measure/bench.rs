//! The bench: one sample after the other, from the log where it was measured before, else from
//! the drive; and how long it will still take.

use super::step::{Purpose, Step};
use super::subject::Subject;
use crate::error::RunError;
use crate::recorder::{Item, ReadRun, Recorder};
use std::collections::{HashMap, HashSet};
use tapewise_formats::event::{Action, Event, Outcome, Spot};
use tapewise_model::{Micros, Random};

/// How far a measurement has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The step.
    pub step: Step,
    /// Samples of it that are done.
    pub done: u32,
    /// Samples it will have, as far as can be said.
    pub of: u32,
    /// Drive time since the suite began, what was taken from a log not counted.
    pub took: Micros,
    /// Drive time that is left for all steps: of this one as its samples go, of the others as
    /// predicted.
    pub left: Micros,
}

/// A drive on the bench.
pub(super) struct Bench<'b, 'r> {
    pub recorder: &'b mut Recorder<'r>,
    pub subject: &'b Subject,
    /// What was measured before, by step and sample.
    past: HashMap<(Step, u32), Vec<Event>>,
    /// Which of these failed.
    past_failed: HashSet<(Step, u32)>,
    seed: u64,
    step: Step,
    sample: u32,
    of: u32,
    /// Predicted time of the steps behind this one.
    later: Micros,
    /// Predicted time of a sample of this step.
    each: Micros,
    /// When, on the recorder's clock, the suite began, and this step.
    began: Micros,
    step_began: Micros,
    /// Samples of this step that came from the drive and not from a log.
    timed: u32,
    /// When, on the recorder's clock, nothing more is to begin.
    until: Option<Micros>,
    /// Samples in a row, up to now, whose place could not be read.
    unread: u32,
    progress: &'b mut dyn FnMut(Progress),
}

/// The events of a sample that measured something, in order.
pub(super) type Sample = Vec<Event>;

/// What the bench is told of a step before it begins.
pub(super) struct Ahead {
    pub step: Step,
    pub samples: u32,
    pub each: Micros,
    /// Predicted time of the steps behind it.
    pub later: Micros,
}

impl<'b, 'r> Bench<'b, 'r> {
    pub fn new(
        recorder: &'b mut Recorder<'r>,
        subject: &'b Subject,
        seed: u64,
        log: &[Event],
        until: Option<Micros>,
        progress: &'b mut dyn FnMut(Progress),
    ) -> Bench<'b, 'r> {
        let began = recorder.clock();
        Bench {
            recorder,
            subject,
            past: past(log),
            past_failed: failed(log).filter_map(sample_of).collect(),
            seed,
            step: Step::Mount,
            sample: 0,
            of: 0,
            later: Micros::ZERO,
            each: Micros::ZERO,
            began,
            step_began: began,
            timed: 0,
            until,
            unread: 0,
            progress,
        }
    }

    /// Begins a step.
    pub fn begin(&mut self, ahead: &Ahead) {
        self.step = ahead.step;
        self.sample = 0;
        self.of = ahead.samples;
        self.each = ahead.each;
        self.later = ahead.later;
        self.step_began = self.recorder.clock();
        self.timed = 0;
        self.unread = 0;
        self.tell();
    }

    /// Samples of this step that are done.
    pub fn done(&self) -> u32 {
        self.sample
    }

    /// The seed of the suite.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Random numbers of this step, the same whenever it is taken up again.
    pub fn random(&self) -> Random {
        Random::new(self.seed, self.step as u64)
    }

    /// Whether there is time for another sample.
    pub fn has_time(&self) -> bool {
        self.until.is_none_or(|until| self.recorder.clock() < until)
    }

    /// Whether another sample of this step is worth beginning: there is time, and not place after place is unreadable.
    pub fn goes_on(&self) -> bool {
        self.has_time() && self.unread < MOST_UNREAD
    }

    /// The next sample: `prepare` brings the tape to where it begins, `measure` is what counts.
    ///
    /// A sample that the log has is taken from there and the tape stays where it is. One whose place cannot be read is
    /// in the log as failed, and the next sample can be measured: only what came before the failure is returned.
    pub fn sample(
        &mut self,
        parameter: Option<i64>,
        prepare: impl FnOnce(&mut Recorder<'_>) -> Result<(), RunError>,
        measure: impl FnOnce(&mut Recorder<'_>) -> Result<(), RunError>,
    ) -> Result<Sample, RunError> {
        let number = self.sample;
        self.sample += 1;
        let key = (self.step, number);
        if let Some(events) = self.past.remove(&key) {
            let has_failed = self.past_failed.contains(&key);
            self.unread = if has_failed { self.unread + 1 } else { 0 };
            self.tell();
            return Ok(events);
        }
        let purpose = |prepares| Purpose {
            step: self.step,
            sample: number,
            prepares,
        };
        let recorder = &mut *self.recorder;
        recorder.go_on()?;
        recorder.set_purpose(Some(purpose(true).to_string()), parameter);
        recorder.keep_events();
        let result = prepare(recorder).and_then(|()| {
            recorder.set_purpose(Some(purpose(false).to_string()), parameter);
            recorder.keep_events();
            measure(recorder)
        });
        let mut events = recorder.kept_events();
        recorder.set_purpose(None, None);
        match result {
            // A search for key points has to know every time, and what cannot be written is no place of its own.
            Err(error)
                if error.is_of_the_place()
                    && self.step != Step::KeyPoints
                    && !self.step.writes() =>
            {
                self.unread += 1;
                events.retain(counts);
            }
            Err(error) => return Err(error),
            Ok(()) => self.unread = 0,
        }
        self.timed += 1;
        self.tell();
        Ok(events)
    }

    fn tell(&mut self) {
        let now = self.recorder.clock();
        let samples = i64::from(self.of.saturating_sub(self.sample));
        let each = match self.timed {
            0..FEW => self.each,
            timed => Micros((now - self.step_began).0 / i64::from(timed)),
        };
        let left = Micros(each.0.saturating_mul(samples)) + self.later;
        (self.progress)(Progress {
            step: self.step,
            done: self.sample,
            of: self.of.max(self.sample),
            took: now - self.began,
            left: self
                .until
                .map_or(left, |until| left.min(until - now).max(Micros::ZERO)),
        });
    }
}

/// Fewer samples than these say less than the profile does of how long the others will take.
const FEW: u32 = 3;

/// Unreadable places in a row after which a step ends: most of the tape may be unreadable, and a drive tries long.
const MOST_UNREAD: u32 = 3;

/// The sample that an event is of.
pub(super) fn sample_of(event: &Event) -> Option<(Step, u32)> {
    let purpose = Purpose::parse(event.purpose.as_deref()?)?;
    Some((purpose.step, purpose.sample))
}

/// Whether an event is a part of what its sample measured.
fn counts(event: &Event) -> bool {
    let purpose = event.purpose.as_deref().and_then(Purpose::parse);
    event.outcome == Outcome::Done && purpose.is_some_and(|purpose| !purpose.prepares)
}

/// What the samples of a log failed at that were not measured again. The steps that read go on after such a place.
pub fn failed<'e>(log: impl IntoIterator<Item = &'e Event>) -> impl Iterator<Item = &'e Event> {
    let is_failed = |event: &&Event| event.outcome == Outcome::Failed && sample_of(event).is_some();
    latest(log).into_iter().filter(is_failed)
}

/// The samples of a log. The last one may have been stopped half way, so it is measured again.
fn past(log: &[Event]) -> HashMap<(Step, u32), Vec<Event>> {
    let mut samples: HashMap<(Step, u32), Vec<Event>> = HashMap::new();
    let mut last = None;
    for event in latest(log) {
        let Some(key) = sample_of(event) else {
            continue;
        };
        last = Some(key);
        let events = samples.entry(key).or_default();
        if counts(event) {
            events.push(event.clone());
        }
    }
    if let Some(key) = last {
        samples.remove(&key);
    }
    samples
}

/// The events of a log without those of samples that were measured again: such a sample counts as it was the last time.
pub(super) fn latest<'e>(log: impl IntoIterator<Item = &'e Event>) -> Vec<&'e Event> {
    let mut last = None;
    let mut run = 0_usize;
    let mut runs: HashMap<(Step, u32), usize> = HashMap::new();
    let mut events = Vec::new();
    for event in log {
        let key = sample_of(event);
        // A suite that is taken up again looks at the cartridge first, which is of no sample.
        run += usize::from(key != last);
        last = key;
        if let Some(key) = key {
            runs.insert(key, run);
        }
        events.push((key, run, event));
    }
    events.retain(|(key, run, _)| key.is_none_or(|key| runs.get(&key) == Some(run)));
    events.into_iter().map(|(_, _, event)| event).collect()
}

/// Reads blocks that nobody wants.
pub(super) fn read(recorder: &mut Recorder<'_>, blocks: u64) -> Result<ReadRun, RunError> {
    recorder.read(Action::Read, blocks, &mut |_, _: Item<'_>| Ok(()))
}

/// Goes to a block of the partition that is measured, and reads it, which is what a seek is for.
pub(super) fn seek(recorder: &mut Recorder<'_>, partition: u8, block: u64) -> Result<(), RunError> {
    recorder.locate(partition, block)?;
    read(recorder, 1)?;
    Ok(())
}

/// Brings the head to the beginning of tape, unless it is there.
pub(super) fn to_beginning(recorder: &mut Recorder<'_>) -> Result<(), RunError> {
    let there = recorder.head().and_then(|head: Spot| head.block) == Some(0);
    if there && recorder.head().is_some_and(|head| head.partition == 0) {
        Ok(())
    } else {
        recorder.rewind().map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_that_was_measured_again_counts_as_it_was_the_last_time() {
        let event = |purpose: Option<&str>, took| Event {
            purpose: purpose.map(str::to_owned),
            ..Event::new(Action::Locate, Micros::ZERO, Micros(took))
        };
        // Stopped in the middle of sample 1; then the cartridge is looked at, and sample 1 measured again.
        let log = [
            event(Some("walk 0"), 1),
            event(Some("walk 1 prepare"), 2),
            event(Some("walk 1"), 3),
            event(None, 4),
            event(Some("walk 1 prepare"), 5),
            event(Some("walk 1"), 6),
            event(Some("walk 2"), 7),
        ];
        let kept: Vec<i64> = latest(&log).iter().map(|event| event.took_us.0).collect();
        assert_eq!(kept, [1, 4, 5, 6, 7]);
        let past = past(&log);
        assert_eq!(past.len(), 2, "the last one may be half a sample");
        assert_eq!(past[&(Step::Walk, 1)].len(), 1);
    }
}
