//! Replications of a scenario: made in parallel, divided over machines, put together again.
//!
//! A replication depends on the scenario, the seed and its number, and on nothing else, so it does
//! not matter on which thread or machine it is made: a [`Study`] of all replications is the same,
//! byte for byte, as its shards [merged](Study::merge).

use crate::library::{Answer, Part, Run, Site, Slow, Stalled, Usage};
use crate::scenario::WarmUp;
use crate::statistics::{Histogram, Moments, Pilot, StatisticsError, replications_needed, warm_up};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use tapewise_model::Micros;

/// How often an interval is to hold the truth.
pub const LEVEL: f64 = 0.95;

/// Percentiles that are reported.
pub const PERCENTILES: [u8; 8] = [5, 10, 25, 50, 75, 90, 95, 99];

/// Slowest responses that are kept of each replication and of a study.
const SLOWEST: usize = 10;

/// What one replication comes to, in integers, so that it survives any file unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Which replication.
    pub replication: u64,
    /// Requests that count: all but those cut off as warm-up.
    pub requests: u64,
    /// Requests cut off, as the [partner](WarmUpCut) of the replication says.
    pub cut: u64,
    /// Whether the cut fell in the first half; if not, half is cut off, and nothing is proven.
    pub settled: bool,
    /// Their responses.
    pub responses: Moments,
    /// [`PERCENTILES`] of the responses.
    pub percentiles: [Micros; PERCENTILES.len()],
    /// Mean response of each quarter of all requests.
    pub quarters: [Micros; 4],
    /// Requests that were not answered yet when a request of each quarter arrived, summed: a queue that grows is seen
    /// here. Responses do not show it if many requests share a mount, because the last ones share the fullest mounts.
    pub found: [u64; 4],
    /// Parts of the responses, each summed, in microseconds and in the order of [`Part::ALL`].
    pub parts_us: [i128; Part::ALL.len()],
    /// How busy each library was, warm-up included.
    pub usage: Vec<Usage>,
    /// From the first arrival to the last answer.
    pub duration: Micros,
    /// The slowest responses, slowest first.
    pub slowest: Vec<Slow>,
}

impl Summary {
    /// Mean response in seconds.
    pub fn mean_s(&self) -> f64 {
        self.responses.mean_s().unwrap_or(0.0)
    }

    /// Variance of the responses in square seconds.
    pub fn variance_s2(&self) -> f64 {
        self.responses.variance_s2().unwrap_or(0.0)
    }

    /// The mean of a part in seconds.
    pub fn part_s(&self, part: Part) -> f64 {
        self.parts_us[part as usize] as f64 / 1e6 / self.requests as f64
    }

    /// Cuts the warm-up off a run and adds the rest up.
    ///
    /// # Errors
    /// [`StatisticsError::TimeOutOfRange`].
    pub fn new(run: &Run, warm_up: WarmUpCut, seen: &mut Histogram) -> Result<Summary, StudyError> {
        let WarmUpCut { cut, settled } = warm_up;
        let counted = &run.answers[cut..];
        let mut sorted: Vec<Micros> = counted.iter().map(|answer| answer.response).collect();
        sorted.sort_unstable();
        let percentile = |percent: u8| sorted[nearest_rank(sorted.len(), percent)];
        let mut responses = Moments::default();
        for answer in counted {
            responses.push(answer.response)?;
            seen.push(answer.response)?;
        }
        let of_part = |answer: &Answer, part| i128::from(answer.parts[part].0);
        Ok(Summary {
            replication: run.replication,
            requests: counted.len() as u64,
            cut: cut as u64,
            settled,
            responses,
            percentiles: PERCENTILES.map(percentile),
            quarters: quarters(run),
            found: found(run),
            parts_us: Part::ALL.map(|part| counted.iter().map(|a| of_part(a, part)).sum()),
            usage: run.usage.clone(),
            duration: run.duration,
            slowest: run.slowest(cut, SLOWEST),
        })
    }
}

/// Where a warm-up ends.
///
/// It is looked for in one replication and cut off another, its partner: 0 and 1 are partners, 2 and 3, and so on. A
/// rule that looks for the surest mean likes to cut off a long queue that chance built up early. If it did so in the
/// same replication, responses would come out too short, and intervals would hold the truth far too rarely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarmUpCut {
    /// Requests that are cut off.
    pub cut: usize,
    /// Whether that is less than half; if not, it is half.
    pub settled: bool,
}

impl WarmUpCut {
    /// Nothing is cut off.
    pub const NONE: WarmUpCut = WarmUpCut {
        cut: 0,
        settled: true,
    };

    /// The end of the warm-up of a run, by MSER-5.
    ///
    /// # Errors
    /// [`StatisticsError`] for a run that is too short for a warm-up to be looked for.
    pub fn of(run: &Run) -> Result<WarmUpCut, StatisticsError> {
        let seconds = |answer: &Answer| answer.response.as_secs_f64();
        let responses: Vec<f64> = run.answers.iter().map(seconds).collect();
        let (cut, settled) = match warm_up(&responses) {
            Ok(cut) => (cut, true),
            Err(StatisticsError::NotSettled { .. }) => (responses.len() / 2, false),
            Err(error) => return Err(error),
        };
        Ok(WarmUpCut { cut, settled })
    }
}

/// The place of a percentile among `count` sorted values, counted from 0: the smallest value such that at least `percent`
/// per cent of all values are no larger.
pub(crate) fn nearest_rank(count: usize, percent: u8) -> usize {
    (count * usize::from(percent)).div_ceil(100).max(1) - 1
}

fn quarters(run: &Run) -> [Micros; 4] {
    let count = run.answers.len();
    std::array::from_fn(|quarter| {
        let part = &run.answers[quarter * count / 4..(quarter + 1) * count / 4];
        let sum: i128 = part.iter().map(|a| i128::from(a.response.0)).sum();
        Micros((sum / part.len().max(1) as i128) as i64)
    })
}

fn found(run: &Run) -> [u64; 4] {
    let count = run.answers.len();
    let mut answered: Vec<Micros> = (run.answers.iter())
        .map(|answer| answer.arrived + answer.response)
        .collect();
    answered.sort_unstable();
    let inside = |number: usize| {
        let before = answered.partition_point(|&at| at <= run.answers[number].arrived);
        number.saturating_sub(before) as u64
    };
    std::array::from_fn(|quarter| {
        (quarter * count / 4..(quarter + 1) * count / 4)
            .map(inside)
            .sum()
    })
}

/// A part of the replications: the pairs whose number leaves `index` when divided by `of`. Partners stay together, as
/// each needs the other for its [warm-up](WarmUpCut).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Which, from 0.
    pub index: u64,
    /// Of how many.
    pub of: u64,
}

impl Shard {
    /// All replications.
    pub const WHOLE: Shard = Shard { index: 0, of: 1 };
}

/// Replications of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// The scenario's name.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// [`Site::fingerprint`].
    pub fingerprint: u64,
    /// Replications of the whole.
    pub replications: u64,
    /// The part that this is.
    pub shard: Shard,
    /// What each came to, in their order.
    pub summaries: Vec<Summary>,
    /// All responses that count.
    pub histogram: Histogram,
}

/// Why a study cannot be made or put together.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A replication stopped.
    #[error(transparent)]
    Stalled(#[from] Stalled),
    /// Something cannot be computed of so few or such values.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
    /// There is no such shard.
    #[error(
        "shard {index}/{of}: shards are counted from 0, and each needs a pair of replications ({replications} replications are {} pairs)",
        replications.div_ceil(2)
    )]
    NoSuchShard {
        /// Which was asked for.
        index: u64,
        /// Of how many.
        of: u64,
        /// Replications of the whole.
        replications: u64,
    },
    /// The number of replications is not known beforehand.
    #[error(
        "scenario {scenario}: with `precision` the number of replications is found on the way, so they cannot be divided; state `replications` alone"
    )]
    Undivided {
        /// The scenario's name.
        scenario: String,
    },
    /// The shards are not those of one study.
    #[error("these shards are not the parts of one study: {reason}")]
    Apart {
        /// What is missing, twice there or different.
        reason: String,
    },
}

impl Site {
    /// Makes the replications of a shard, on as many threads as rayon has: as many as the scenario
    /// states, or more until the mean is as sure as it is to be.
    ///
    /// # Errors
    /// [`StudyError`].
    pub fn study(&self, shard: Shard) -> Result<Study, StudyError> {
        let scenario = self.scenario();
        let (index, of, replications) = (shard.index, shard.of, scenario.replications);
        if index >= of || of > replications.div_ceil(2) {
            return Err(StudyError::NoSuchShard {
                index,
                of,
                replications,
            });
        }
        if scenario.precision.is_some() && shard != Shard::WHOLE {
            return Err(StudyError::Undivided {
                scenario: scenario.name.clone(),
            });
        }
        let mut study = Study {
            replications,
            shard,
            ..Study::none(self)
        };
        let is_of_shard = |number: &u64| (number / 2) % of == index;
        study.add(self, (0..replications).filter(is_of_shard).collect())?;
        let Some(precision) = scenario.precision else {
            return Ok(study);
        };
        // The deviation that a forecast rests on is itself an estimate: look again with each step.
        loop {
            let means: Vec<f64> = study.summaries.iter().map(Summary::mean_s).collect();
            let mean = means.iter().sum::<f64>() / means.len() as f64;
            let pilot = Pilot {
                metric: "mean response",
                values: &means,
                half_width: precision.share * mean,
            };
            let most = precision.most as usize;
            let needed = replications_needed(&[pilot], LEVEL, most)?.replications as u64;
            if needed <= study.replications {
                return Ok(study);
            }
            study.extend(self, needed)?;
        }
    }
}

impl Site {
    /// One or both replications of a pair. Without a warm-up to look for, partners are of no use.
    fn pair(&self, numbers: &[u64]) -> Result<Vec<(Summary, Histogram)>, StudyError> {
        let keeps = self.scenario().warm_up == WarmUp::Keep;
        let made = |place| {
            let number = numbers[0] / 2 * 2 + place;
            if keeps && !numbers.contains(&number) {
                return Ok(None);
            }
            let run = self.run(number)?;
            let cut = if keeps {
                WarmUpCut::NONE
            } else {
                WarmUpCut::of(&run)?
            };
            Ok::<_, StudyError>(Some((run, cut)))
        };
        let (first, second) = rayon::join(|| made(0), || made(1));
        let pair = [first?, second?];
        let of = |number: &u64| {
            let [run, partner] =
                [number % 2, 1 - number % 2].map(|place| pair[place as usize].as_ref());
            let cut = partner.map_or(WarmUpCut::NONE, |(_, cut)| *cut);
            let mut seen = Histogram::default();
            let (run, _) = run.expect("every number that is asked for was made");
            Ok((Summary::new(run, cut, &mut seen)?, seen))
        };
        numbers.iter().map(of).collect()
    }
}

impl Study {
    /// A study of no replications yet, for [`Study::extend`].
    pub fn none(site: &Site) -> Study {
        let scenario = site.scenario();
        Study {
            scenario: scenario.name.clone(),
            seed: scenario.seed,
            fingerprint: site.fingerprint(),
            replications: 0,
            shard: Shard::WHOLE,
            summaries: Vec::new(),
            histogram: Histogram::default(),
        }
    }

    /// Makes more replications of the whole, until there are this many: the same, byte for byte, as that many made
    /// at once.
    ///
    /// # Errors
    /// [`StudyError`] as for [`Site::study`].
    pub fn extend(&mut self, site: &Site, replications: u64) -> Result<(), StudyError> {
        if self.replications < replications {
            self.add(site, (self.replications..replications).collect())?;
            self.replications = replications;
        }
        Ok(())
    }

    fn add(&mut self, site: &Site, numbers: Vec<u64>) -> Result<(), StudyError> {
        let pairs: Vec<&[u64]> = numbers.chunk_by(|a, b| a / 2 == b / 2).collect();
        let made = pairs.into_par_iter().map(|pair| site.pair(pair));
        for (summary, seen) in made.collect::<Result<Vec<Vec<_>>, StudyError>>()?.concat() {
            self.summaries.push(summary);
            self.histogram.join(&seen);
        }
        Ok(())
    }

    /// Puts shards together, in any order: the same, byte for byte, as the study made at once.
    ///
    /// # Errors
    /// [`StudyError::Apart`] where they are not all the parts of one study.
    pub fn merge(mut shards: Vec<Study>) -> Result<Study, StudyError> {
        let apart = |reason: String| Err(StudyError::Apart { reason });
        shards.sort_by_key(|study| study.shard.index);
        let mut rest = shards.into_iter();
        let Some(mut whole) = rest.next() else {
            return apart("there is none".to_owned());
        };
        for study in rest {
            if study.fingerprint != whole.fingerprint {
                let (one, other) = (&whole.scenario, &study.scenario);
                return apart(format!("{one} and {other} are different scenarios"));
            }
            whole.summaries.extend(study.summaries);
            whole.histogram.join(&study.histogram);
        }
        whole.summaries.sort_by_key(|summary| summary.replication);
        whole.shard = Shard::WHOLE;
        let numbers = whole.summaries.iter().map(|summary| summary.replication);
        if let Some((place, found)) = (0..).zip(numbers).find(|(place, found)| place != found) {
            return if place < found {
                apart(format!("replication {place} is missing"))
            } else {
                apart(format!("replication {found} is there twice"))
            };
        }
        match (whole.summaries.len() as u64, whole.replications) {
            (found, all) if found != all => apart(format!("{found} of {all} replications")),
            _ => Ok(whole),
        }
    }

    /// The slowest responses of all replications, slowest first.
    pub fn slowest(&self) -> Vec<Slow> {
        let mut all: Vec<&Slow> = (self.summaries.iter())
            .flat_map(|summary| &summary.slowest)
            .collect();
        all.sort_by(|a, b| {
            let earlier = (a.replication, a.number).cmp(&(b.replication, b.number));
            b.response.cmp(&a.response).then(earlier)
        });
        all.into_iter().take(SLOWEST).cloned().collect()
    }
}
