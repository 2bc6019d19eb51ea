//! Batches in every order, over many trials.

use super::workload::{Cartridge, Sizes};
use crate::PaperError;
use rayon::prelude::*;
use tapewise_model::Random;
use tapewise_order::{
    Action, Algorithm, Alternatives, Inputs, Order, Plan, Problem, cta_sltf, sltf, two_pass,
};

/// Our order is found of every so many-th batch.
pub const BEST_EVERY: u64 = 4;

/// An order of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// As drawn.
    Random,
    /// By block.
    Linear,
    /// Two passes by direction and LPOS.
    Scan,
    /// Shortest locate time first.
    Sltf,
    /// CTA's SLTF, planned once over the batch.
    CtaWhole,
    /// CTA's SLTF in its windows.
    CtaWindows,
    /// Ours.
    Best,
}

impl Contender {
    /// All, in the order of the table.
    pub const ALL: [Contender; 7] = [
        Contender::Random,
        Contender::Linear,
        Contender::Scan,
        Contender::Sltf,
        Contender::CtaWhole,
        Contender::CtaWindows,
        Contender::Best,
    ];

    /// The slides' name, or that of the peer.
    pub fn name(self) -> &'static str {
        match self {
            Contender::Random => "RANDOM",
            Contender::Linear => "LINEAR",
            Contender::Scan => "SCAN",
            Contender::Sltf => "SLTF",
            Contender::CtaWhole => "CTA's SLTF",
            Contender::CtaWindows => "CTA's, in windows",
            Contender::Best => "tapewise best",
        }
    }

    /// Whether it takes part in this trial. Ours takes longer to find than all others together, and varies less.
    fn takes_part(self, trial: u64) -> bool {
        self != Contender::Best || trial.is_multiple_of(BEST_EVERY)
    }

    /// The order it gives a batch.
    pub fn order(self, problem: &Problem) -> Order {
        match self {
            Contender::Scan => two_pass(problem),
            Contender::Sltf => sltf(problem),
            Contender::CtaWhole => cta_sltf(problem, false),
            Contender::CtaWindows => cta_sltf(problem, true),
            // The batch is drawn in random order, so as listed is random.
            Contender::Random => ordered(Algorithm::Fifo, problem),
            Contender::Linear => ordered(Algorithm::Sort, problem),
            Contender::Best => ordered(Algorithm::Best, problem),
        }
    }
}

fn ordered(algorithm: Algorithm, problem: &Problem) -> Order {
    let exact = Alternatives::none();
    algorithm
        .order(problem, &Inputs::new(&exact))
        .expect("only OPT refuses a batch")
}

/// What one order of one batch costs.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    positioning_s: f64,
    moved_lpos: u64,
    positioning_lpos: u64,
}

impl Outcome {
    fn of(problem: &Problem, contender: Contender) -> Outcome {
        let plan = Plan::new(problem, contender.order(problem));
        let distance =
            |step: &tapewise_order::Step| u64::from(step.from.lpos.abs_diff(step.to.lpos));
        let between = plan.steps.iter().filter(|step| step.action != Action::Read);
        Outcome {
            positioning_s: plan.totals.locate.as_secs_f64(),
            moved_lpos: plan.totals.distance_lpos,
            positioning_lpos: between.map(distance).sum(),
        }
    }
}

/// Mean and standard deviation over trials.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation of one trial.
    pub sd: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Spread {
        let count = values.clone().count().max(1) as f64;
        let mean = values.clone().sum::<f64>() / count;
        let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
        Spread {
            mean,
            sd: (squares / (count - 1.0).max(1.0)).sqrt(),
        }
    }
}

/// What one order costs over the trials of a case.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The order.
    pub contender: Contender,
    /// Positioning of a whole batch, in seconds.
    pub positioning_s: Spread,
    /// All motion of the tape, in km.
    pub moved_km: Spread,
    /// The motion between reads only, in km.
    pub positioning_km: Spread,
}

/// A case: so many files recalled from such tapes, so often.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Files on the tape.
    pub sizes: Sizes,
    /// Files recalled.
    pub files: usize,
    /// Batches drawn, each from a tape of its own.
    pub trials: u64,
    /// Seed of everything random.
    pub seed: u64,
}

impl Case {
    /// Every batch in every order. All orders get the same batches, and so do all drives; the
    /// result does not depend on the number of threads.
    pub fn run(
        &self,
        cartridge: &Cartridge,
        contenders: &[Contender],
    ) -> Result<Vec<Sample>, PaperError> {
        let outcomes: Vec<Vec<Option<Outcome>>> = (0..self.trials)
            .into_par_iter()
            .map(|trial| {
                let problem = self.batch(cartridge, trial)?;
                let outcome = |contender: &Contender| {
                    let takes_part = contender.takes_part(trial);
                    takes_part.then(|| Outcome::of(&problem, *contender))
                };
                Ok(contenders.iter().map(outcome).collect())
            })
            .collect::<Result<_, PaperError>>()?;
        let km = cartridge.metres_per_lpos / 1e3;
        let sample = |(index, &contender): (usize, &Contender)| {
            let trials = || outcomes.iter().filter_map(|outcome| outcome[index]);
            Sample {
                contender,
                positioning_s: Spread::of(trials().map(|o| o.positioning_s)),
                moved_km: Spread::of(trials().map(|o| o.moved_lpos as f64 * km)),
                positioning_km: Spread::of(trials().map(|o| o.positioning_lpos as f64 * km)),
            }
        };
        Ok(contenders.iter().enumerate().map(sample).collect())
    }

    /// One batch: the stream of random numbers is that of the number of files and the trial.
    pub fn batch(&self, cartridge: &Cartridge, trial: u64) -> Result<Problem, PaperError> {
        let mut random = Random::new(self.seed, (self.files as u64) << 32 | trial);
        cartridge.recall(self.sizes, self.files, &mut random)
    }
}
