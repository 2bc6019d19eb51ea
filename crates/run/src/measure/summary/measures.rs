//! What a log says of a drive, quantity by quantity, each with its spread: what two reports are compared by.

use super::super::bench::latest;
use super::super::step::{Purpose, Step};
use super::super::subject::Subject;
use super::super::writing::DATA_PATHS;
use super::writing::Written;
use super::{Samples, Stat, Summary};
use crate::check::judge::place;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_model::profile::Known;

/// A quantity that was measured, with its spread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The part of the suite that measured it.
    pub part: String,
    /// What was measured.
    pub what: String,
    /// `s`, `ms`, `MB`, `MB/s` or `1/h`.
    pub unit: String,
    /// Which way it gets better.
    pub better: Better,
    /// How often.
    pub n: usize,
    /// Mean.
    pub mean: f64,
    /// Standard deviation, with n - 1; 0 where it was measured once.
    pub sd: f64,
    /// What the profile says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<f64>,
    /// The values, in the order of the samples.
    pub values: Vec<f64>,
}

/// Which way a quantity gets better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Less of it is better: a time.
    Lower,
    /// More of it is better: a rate.
    Higher,
}

impl Measure {
    /// A quantity from its values; `None` without any.
    pub fn of(
        part: &str,
        what: impl Into<String>,
        (unit, better): (&str, Better),
        values: &[f64],
    ) -> Option<Measure> {
        let stat = Stat::of(values)?;
        Some(Measure {
            part: part.to_owned(),
            what: what.into(),
            unit: unit.to_owned(),
            better,
            n: stat.n,
            mean: stat.mean,
            sd: stat.sd,
            profile: None,
            values: values.to_vec(),
        })
    }
}

/// Seconds, of which fewer are better.
pub const TIME: (&str, Better) = ("s", Better::Lower);
const RATE: (&str, Better) = ("MB/s", Better::Higher);

/// What these events say of the drive, in the order of the suite. Times that failed are left out.
///
/// Locates between any places differ by where they go. The same less what the profile predicts for each hardly do, so
/// that a change shows in few of them.
pub fn measures(events: &[Event], subject: &Subject) -> Vec<Measure> {
    let log = Samples::of(events, subject);
    let summary = Summary::of(events, subject);
    let mut found = Found::default();
    let handling = &subject.profile.handling;
    let rate = value(&subject.profile.transfer.rate_mb_s);
    found.written(&log, subject, rate);
    let times = |step, action: Action| -> Vec<f64> {
        let events = log.of_step(step).flatten();
        let events = events.filter(|event| event.action == action);
        events.map(|event| event.took_us.as_secs_f64()).collect()
    };
    found.add(
        Step::Mount,
        "mount",
        TIME,
        &times(Step::Mount, Action::Mount),
    );
    found.expect(value(&handling.mount_s));
    let unmounts = times(Step::Mount, Action::Unmount);
    found.add(Step::Mount, "unmount, rewound", TIME, &unmounts);
    found.expect(value(&handling.unmount_s));
    let predicted = less_predicted(events, subject);
    for (step, what, expected) in [
        (
            Step::SeekBot,
            "locate from the beginning of tape",
            value(&handling.search_mean_s),
        ),
        (Step::SeekOpposite, "locate to an opposite track", None),
        (
            Step::SeekMid,
            "locate between any places",
            value(&handling.file_to_file_s),
        ),
        (Step::Walk, "locate of a walk, most of them short", None),
    ] {
        let seconds: Vec<f64> = log.seeks(step).map(|seek| seek.seconds).collect();
        found.add(step, what, TIME, &seconds);
        found.expect(expected);
        if let Some(errors) = predicted.get(&step) {
            found.add(step, &format!("{what}, less predicted"), TIME, errors);
            found.expect(Some(0.0));
        }
    }
    let rewinds = times(Step::SeekBot, Action::Rewind);
    found.add(Step::SeekBot, "rewind", TIME, &rewinds);
    found.expect(value(&handling.rewind_mean_s));
    let away = times(Step::Midtape, Action::Unmount);
    found.add(Step::Midtape, "unmount from mid-tape", TIME, &away);
    let first: Vec<f64> = log.seeks(Step::Midtape).map(|seek| seek.seconds).collect();
    found.add(Step::Midtape, "first locate after it", TIME, &first);
    let reads = log.of_step(Step::Stream).flatten();
    let reads = reads.filter(|event| event.action == Action::Read && event.bytes > 0);
    let rates: Vec<f64> = reads
        .map(|read| log.mb(read) / read.took_us.as_secs_f64())
        .collect();
    found.add(Step::Stream, "read at a stretch", RATE, &rates);
    found.expect(rate);
    found.once(&summary);
    found.measures
}

fn value(known: &Known<f64>) -> Option<f64> {
    known.as_ref().map(|sourced| sourced.value)
}

/// Seconds that each locate took less what the profile predicts for it, by step; nothing where the profile has no
/// model or places are not known.
fn less_predicted(events: &[Event], subject: &Subject) -> BTreeMap<Step, Vec<f64>> {
    let mut errors: BTreeMap<Step, Vec<f64>> = BTreeMap::new();
    let Ok(model) = subject.profile.locate_model(None) else {
        return errors;
    };
    // Nominal geometry is off by more than a drive is, except where there is one track.
    let is_sure = subject.wrap_ends.is_some() || !subject.is_serpentine();
    let map = subject.map.as_ref().filter(|_| is_sure);
    for event in latest(events) {
        let purpose = event.purpose.as_deref().and_then(Purpose::parse);
        let is_locate = event.action == Action::Locate && event.outcome == Outcome::Done;
        let Some(purpose) = purpose.filter(|it| is_locate && !it.prepares && !it.step.writes())
        else {
            continue;
        };
        let of = |spot: Option<_>| place(&spot?, map);
        if let (Some(from), Some(to)) = (of(event.from), of(event.to)) {
            let error = event.took_us - model.locate(&from, &to);
            errors
                .entry(purpose.step)
                .or_default()
                .push(error.as_secs_f64());
        }
    }
    errors
}

/// The measures found so far.
#[derive(Default)]
struct Found {
    measures: Vec<Measure>,
    /// Whether the last one had values.
    has_last: bool,
}

impl Found {
    fn add(&mut self, step: Step, what: &str, kind: (&str, Better), values: &[f64]) {
        let measure = Measure::of(step.name(), what, kind, values);
        self.has_last = measure.is_some();
        self.measures.extend(measure);
    }

    /// What the profile says of the last one.
    fn expect(&mut self, profile: Option<f64>) {
        if let Some(last) = self.measures.last_mut().filter(|_| self.has_last) {
            last.profile = profile;
        }
    }

    fn written(&mut self, log: &Samples<'_, '_>, subject: &Subject, rate: Option<f64>) {
        let paths = log.of_step(Step::DataPath).filter_map(|events| {
            let purpose = Purpose::parse(events.first()?.purpose.as_deref()?)?;
            let kind = purpose.sample as usize % DATA_PATHS.len();
            Some((kind, rates(&Written::of(events, subject)?)))
        });
        let name = |&kind: &usize| {
            let name = DATA_PATHS.get(kind).map_or("", |(_, name)| name);
            format!("{name} data")
        };
        let incompressible = |&kind: &usize| rate.filter(|_| kind == 0);
        self.both_ways(Step::DataPath, by(paths), name, incompressible);
        let files = log
            .of_step(Step::FileSize)
            .filter_map(|events| Some((events.first()?.parameter?, of_files(events, log)?)));
        self.both_ways(
            Step::FileSize,
            by(files),
            |mb| format!("files of {mb} MB"),
            |_| None,
        );
        let blocks = log.of_step(Step::BlockSize).filter_map(|events| {
            Some((
                events.first()?.parameter?,
                rates(&Written::of(events, subject)?),
            ))
        });
        let name = |bytes: &i64| format!("blocks of {} KiB", bytes / 1024);
        self.both_ways(Step::BlockSize, by(blocks), name, |_| None);
    }

    fn both_ways<K: Ord>(
        &mut self,
        step: Step,
        rates: BTreeMap<K, Vec<[f64; 2]>>,
        name: impl Fn(&K) -> String,
        profile: impl Fn(&K) -> Option<f64>,
    ) {
        for (at, verb) in ["write", "read"].into_iter().enumerate() {
            for (key, rates) in &rates {
                let values: Vec<f64> = rates.iter().map(|rate| rate[at]).collect();
                self.add(step, &format!("{verb}, {}", name(key)), RATE, &values);
                self.expect(profile(key));
            }
        }
    }

    /// What a whole step gives one number for.
    fn once(&mut self, summary: &Summary) {
        let crossover = summary.crossover.as_ref().map(|crossover| crossover.mb);
        let delay = summary.delay.as_ref().map(|delay| delay.ms);
        let restart = summary.restart.as_ref().map(|restart| restart.penalty_s);
        let compression = summary.compression.as_ref();
        let long = summary.long_seek;
        for (step, what, kind, value) in [
            (
                Step::SeekOpposite,
                "startup of a locate",
                TIME,
                long.map(|long| long.startup_s),
            ),
            (
                Step::SeekBot,
                "locate over the whole tape",
                TIME,
                long.map(|long| long.full_s),
            ),
            (
                Step::ShortSeek,
                "reading on is slower than a locate from",
                ("MB", Better::Lower),
                crossover,
            ),
            (
                Step::Delay,
                "delay between reads that costs nothing",
                ("ms", Better::Higher),
                delay,
            ),
            (Step::LargeRead, "restart after a pause", TIME, restart),
            (
                Step::Compression,
                "largest rate of reading, by the regression",
                RATE,
                compression.map(|found| found.max_read_mb_s()),
            ),
            (
                Step::Compression,
                "largest rate of writing, by the regression",
                RATE,
                compression.map(|found| found.max_write_mb_s()),
            ),
        ] {
            self.add(step, what, kind, value.as_slice());
        }
    }
}

fn by<K: Ord>(rates: impl Iterator<Item = (K, [f64; 2])>) -> BTreeMap<K, Vec<[f64; 2]>> {
    let mut all: BTreeMap<K, Vec<[f64; 2]>> = BTreeMap::new();
    for (key, rate) in rates {
        all.entry(key).or_default().push(rate);
    }
    all
}

fn rates(written: &Written) -> [f64; 2] {
    [written.write_mb_s, written.read_mb_s]
}

/// MB/s of files written, each with its filemark, and read.
fn of_files(events: &[&Event], log: &Samples<'_, '_>) -> Option<[f64; 2]> {
    let sum = |is_it: fn(Action) -> bool| {
        let events = events.iter().filter(|event| is_it(event.action));
        let (mb, seconds) = events.fold((0.0, 0.0), |(mb, seconds), event| {
            (mb + log.mb(event), seconds + event.took_us.as_secs_f64())
        });
        (mb > 0.0 && seconds > 0.0).then_some(mb / seconds)
    };
    Some([
        sum(|action| matches!(action, Action::Write | Action::WriteFilemarks))?,
        sum(|action| action == Action::Read)?,
    ])
}
