//! The report of an acceptance: its JSON form. docs/reference/acceptance-report.md describes it field by field.

use crate::check::{DriveName, Way};
use crate::error::RunError;
use crate::measure::summary::Measure;
use crate::measure::{Planned, Purpose, Step, Subject, Suite};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use tapewise_formats::event::{Event, Outcome};
use tapewise_model::{EndOfWrap, Micros, Profile};

/// The version of the format that is written and read.
pub const VERSION: u32 = 1;

/// What an acceptance has found so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptanceReport {
    /// [`VERSION`].
    pub tapewise_acceptance_report: u32,
    /// The program that wrote it, with its version.
    pub program: String,
    /// What was accepted.
    pub kind: Kind,
    /// How it was reached.
    pub way: Way,
    /// Which drive, or which library.
    pub device: DriveName,
    /// The profile that times are compared with; none for a library.
    pub profile: Option<String>,
    /// Chose the places.
    pub seed: u64,
    /// The budget.
    pub budget_us: Micros,
    /// Whether the cartridge may be written.
    pub writes: bool,
    /// A pseudonym of the cartridge, where the drive tells its serial number or barcode; none for a library.
    pub medium: Option<String>,
    /// How far it is.
    pub stage: Stage,
    /// The cartridge as it was found or filled; none before that, or for a library.
    pub cartridge: Option<WrittenCartridge>,
    /// What is measured, in order.
    pub parts: Vec<Part>,
    /// What is not, and why.
    pub left_out: Vec<LeftOutPart>,
    /// Time of drive or library so far.
    pub took_us: Micros,
    /// What was measured.
    pub measures: Vec<Measure>,
    /// What failed, in words.
    pub failures: Vec<String>,
}

/// What is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A drive.
    Drive,
    /// A robot with its drives.
    Library,
}

/// How far an acceptance is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// A blank cartridge is being filled.
    Filling,
    /// What only reads or moves.
    Reading,
    /// What writes; the data that was there is gone.
    Writing,
    /// Everything was measured.
    Done,
}

/// A cartridge as far as places are looked up on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenCartridge {
    /// The partition that is measured.
    pub partition: u8,
    /// Blocks and filemarks on it.
    pub blocks: u64,
    /// Length of a block.
    pub block_bytes: u64,
    /// What a byte stands for: 1 but on emulated cartridges.
    pub byte_scale: u64,
    /// Whether the drive says where it is.
    pub tells_place: bool,
    /// The drive's table of wrap ends: partition, wrap, last block.
    pub wrap_ends: Option<Vec<(u8, u16, u64)>>,
}

/// A part of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Samples that were planned.
    pub planned: u32,
    /// What one was predicted to take.
    pub each_us: Micros,
    /// Samples that were measured.
    pub samples: u32,
    /// Whether it is complete.
    pub ended: Ended,
}

/// Whether a part is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// It has not ended.
    NotYet,
    /// It was measured as planned.
    Done,
    /// The budget was spent before it had all its samples.
    OutOfTime,
}

/// A part that is not in the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOutPart {
    /// Its name.
    pub name: String,
    /// Why.
    pub why: String,
}

impl AcceptanceReport {
    /// One that has not begun, of this budget, reached in this way; nothing is planned, and nothing may be written.
    pub fn new(
        program: &str,
        kind: Kind,
        way: Way,
        device: DriveName,
        budget: Micros,
    ) -> AcceptanceReport {
        AcceptanceReport {
            tapewise_acceptance_report: VERSION,
            program: program.to_owned(),
            kind,
            way,
            device,
            profile: None,
            seed: 1,
            budget_us: budget,
            writes: false,
            medium: None,
            stage: Stage::Reading,
            cartridge: None,
            parts: Vec::new(),
            left_out: Vec::new(),
            took_us: Micros::ZERO,
            measures: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Whether it says what is to be measured.
    pub fn is_planned(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Notes a plan.
    pub fn plan(&mut self, suite: &Suite) {
        let parts = suite.steps.iter().map(|planned| Part {
            name: planned.step.name().to_owned(),
            planned: planned.samples,
            each_us: planned.each,
            samples: 0,
            ended: Ended::NotYet,
        });
        self.parts = parts.collect();
        let left_out = suite.left_out.iter().map(|(step, why)| LeftOutPart {
            name: step.name().to_owned(),
            why: why.to_string(),
        });
        self.left_out = left_out.collect();
    }

    /// Notes the plan of a former report on the same terms, so that each of its samples is measured again at its place.
    /// False where the terms, the cartridge's blocks or the budget differ.
    pub fn plan_as(&mut self, former: &AcceptanceReport) -> bool {
        let terms = |report: &AcceptanceReport| {
            let profile = report.profile.clone();
            (profile, report.budget_us, report.writes, report.places())
        };
        let is_same = terms(self) == terms(former);
        if is_same {
            let parts = former.parts.iter().map(|part| Part {
                samples: 0,
                ended: Ended::NotYet,
                ..part.clone()
            });
            self.parts = parts.collect();
            self.left_out.clone_from(&former.left_out);
        }
        is_same
    }

    /// What decides where samples are taken, beside their number: the seed, and partition, blocks, length of a block and
    /// scale of the cartridge.
    pub(super) fn places(&self) -> (u64, Option<(u8, u64, u64, u64)>) {
        let of = |it: &WrittenCartridge| (it.partition, it.blocks, it.block_bytes, it.byte_scale);
        (self.seed, self.cartridge.as_ref().map(of))
    }

    /// The plan that was noted; `None` where a part is none of a drive's.
    pub fn suite(&self) -> Option<Suite> {
        let steps = self.parts.iter().map(|part| {
            Some(Planned {
                step: part.name.parse().ok()?,
                samples: part.planned,
                each: part.each_us,
            })
        });
        Some(Suite::again(steps.collect::<Option<_>>()?, self.seed))
    }

    /// Notes how many samples of each part the log of a drive has.
    pub fn count(&mut self, events: &[Event]) {
        let mut samples: BTreeMap<Step, BTreeSet<u32>> = BTreeMap::new();
        for event in events.iter().filter(|event| event.outcome == Outcome::Done) {
            let purpose = event.purpose.as_deref().and_then(Purpose::parse);
            if let Some(purpose) = purpose.filter(|purpose| !purpose.prepares) {
                samples
                    .entry(purpose.step)
                    .or_default()
                    .insert(purpose.sample);
            }
        }
        for part in &mut self.parts {
            let step: Option<Step> = part.name.parse().ok();
            let found = step.and_then(|step| samples.get(&step));
            part.samples = found.map_or(0, |samples| samples.len() as u32);
        }
    }

    /// Notes that these parts have ended, some of them because the budget was spent.
    pub fn end(&mut self, suite: &Suite, cut_short: &[Step]) {
        for planned in &suite.steps {
            let name = planned.step.name();
            for part in self.parts.iter_mut().filter(|part| part.name == name) {
                part.ended = if cut_short.contains(&planned.step) {
                    Ended::OutOfTime
                } else {
                    Ended::Done
                };
            }
        }
    }
}

impl WrittenCartridge {
    /// The cartridge of a subject.
    pub fn of(subject: &Subject) -> WrittenCartridge {
        let ends = subject.wrap_ends.as_ref();
        WrittenCartridge {
            partition: subject.partition,
            blocks: subject.blocks,
            block_bytes: subject.block_bytes,
            byte_scale: subject.byte_scale,
            tells_place: subject.tells_place,
            wrap_ends: ends.map(|ends| {
                let ends = ends.iter();
                ends.map(|end| (end.partition, end.wrap, end.block))
                    .collect()
            }),
        }
    }

    /// The subject with such a cartridge.
    ///
    /// # Errors
    /// [`RunError::Unsuitable`] where the table of wrap ends contradicts the profile.
    pub fn subject(&self, profile: &Profile) -> Result<Subject, RunError> {
        let mut subject = Subject::new(profile, self.blocks, self.block_bytes, self.byte_scale);
        subject.tells_place = self.tells_place;
        subject.lies_in(self.partition);
        if let Some(ends) = &self.wrap_ends {
            let end = |&(partition, wrap, block): &(u8, u16, u64)| EndOfWrap {
                wrap,
                partition,
                block,
            };
            subject.has_table(ends.iter().map(end).collect())?;
        }
        Ok(subject)
    }
}
