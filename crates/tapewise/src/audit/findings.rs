//! What an audit found: sums over mounts, and how far the model that prices them can be trusted.

use super::hours::Ledger;
use super::mounts::Mount;
use super::moves::{Moves, Verdict};
use super::prices::{ORDERS, Prices};
use std::collections::BTreeMap;
use tapewise_model::Micros;

/// A mount beside its prices; its reads are forgotten.
#[derive(Debug)]
pub struct PricedMount {
    /// Drive, volume and times.
    pub mount: Mount,
    /// How many runs of blocks were read.
    pub reads: usize,
    /// What a model says, or why it cannot.
    pub prices: Result<Prices, String>,
}

impl PricedMount {
    /// Keeps what an audit needs.
    pub fn new(mut mount: Mount, prices: Result<Prices, String>) -> PricedMount {
        let reads = std::mem::take(&mut mount.reads).len();
        PricedMount {
            mount,
            reads,
            prices,
        }
    }
}

/// Everything that an audit found.
#[derive(Debug, Default)]
pub struct Findings {
    /// Where the hours went.
    pub ledger: Ledger,
    /// Whether a log says that its times come from an emulated drive.
    pub emulated: bool,
    /// What was left out or odd.
    pub notices: Vec<String>,
    /// Mounts, those with the longest way first.
    pub mounts: Vec<PricedMount>,
}

/// Sums over the mounts that could be priced.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// Mounts.
    pub mounts: usize,
    /// Reads.
    pub reads: usize,
    /// On the way, measured.
    pub locating: Micros,
    /// Reading, measured.
    pub reading: Micros,
    /// On the way in the order really read, by the model.
    pub as_read: Micros,
    /// On the way in each of [`ORDERS`]; `None` where one does not apply to every mount.
    pub orders: [Option<Micros>; ORDERS.len()],
    /// For each mount, how many times the measured time the model's is, in ascending order.
    pub factors: Vec<f64>,
    /// Reads of blocks that their mount had read before.
    pub repeated: usize,
    /// Mounts whose search for an order was cut short by the clock.
    pub cut_short: usize,
    /// Things that failed or were given up.
    pub failed: u64,
    /// The moves of all these mounts.
    pub moves: Moves,
}

/// How far the model that priced the mounts is off where it can be checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trust {
    /// How many times the measured time the model's is.
    pub factor: f64,
    /// The median factor of the mounts and the one furthest from 1, if there are several.
    pub by_mount: Option<[f64; 2]>,
    /// What follows for other orders.
    pub verdict: Verdict,
}

/// Up to this factor the model is taken to know the moves of a log, and up to this one to know which of
/// two orders is shorter: what orders differ by.
const GOOD_FACTOR: f64 = 1.1;
const FAIR_FACTOR: f64 = 1.4;

/// How many times the measured time the model's is; none where either is nothing.
fn factor(model: Micros, measured: Micros) -> Option<f64> {
    let both = model > Micros::ZERO && measured > Micros::ZERO;
    both.then(|| model.as_secs_f64() / measured.as_secs_f64())
}

impl Findings {
    /// Puts the mounts with the longest way first; equals stay in the order of the logs.
    pub fn sort(&mut self) {
        self.mounts.sort_by_key(|priced| -priced.mount.moving());
    }

    /// Sums over the mounts that could be priced.
    pub fn sums(&self) -> Sums {
        let mut sums = Sums {
            orders: [Some(Micros::ZERO); ORDERS.len()],
            ..Sums::default()
        };
        for (priced, prices) in self.priced() {
            let moving = priced.mount.moving();
            sums.mounts += 1;
            sums.reads += priced.reads;
            sums.locating += moving;
            sums.reading += priced.mount.reading;
            sums.as_read += prices.as_read;
            for (sum, price) in sums.orders.iter_mut().zip(prices.orders) {
                *sum = sum.zip(price).map(|(sum, price)| sum + price);
            }
            sums.factors.extend(factor(prices.as_read, moving));
            sums.repeated += prices.repeated;
            sums.cut_short += usize::from(prices.cut_short);
            sums.failed += priced.mount.failed;
            sums.moves.extend(&prices.moves);
        }
        sums.factors.sort_by(f64::total_cmp);
        sums
    }

    /// The mounts that could be priced.
    pub fn priced(&self) -> impl Iterator<Item = (&PricedMount, &Prices)> {
        let priced = self.mounts.iter();
        priced.filter_map(|priced| Some((priced, priced.prices.as_ref().ok()?)))
    }

    /// How often each reason kept a mount from being priced.
    pub fn left_out(&self) -> BTreeMap<&str, usize> {
        let mut reasons = BTreeMap::new();
        for priced in &self.mounts {
            if let Err(reason) = &priced.prices {
                *reasons.entry(reason.as_str()).or_insert(0) += 1;
            }
        }
        reasons
    }

    /// How often each way to tell where blocks lie was taken.
    pub fn positions(&self) -> BTreeMap<&str, usize> {
        let mut positions = BTreeMap::new();
        for (_, prices) in self.priced() {
            *positions.entry(prices.positions.as_str()).or_insert(0) += 1;
        }
        positions
    }
}

impl Sums {
    /// How far the model is off in the order as read; none where nothing was measured or predicted.
    pub fn trust(&self) -> Option<Trust> {
        let factor = factor(self.as_read, self.locating)?;
        let median = self.factors.get(self.factors.len().saturating_sub(1) / 2);
        let off = |factor: &&f64| factor.max(1.0 / **factor);
        let worst = (self.factors.iter()).max_by(|a, b| off(a).total_cmp(&off(b)));
        let by_mount = match (median, worst) {
            (Some(&half), Some(&worst)) if self.factors.len() > 1 => Some([half, worst]),
            _ => None,
        };
        Some(Trust {
            factor,
            by_mount,
            verdict: self.verdict(factor.max(1.0 / factor)),
        })
    }

    /// What follows from a sum that is off by a factor, and from each move: a sum can be right by chance.
    fn verdict(&self, off: f64) -> Verdict {
        match self.moves.verdict() {
            Some(Verdict::Worthless) => Verdict::Worthless,
            _ if off > FAIR_FACTOR => Verdict::Worthless,
            Some(Verdict::Knows) | None if off <= GOOD_FACTOR => Verdict::Knows,
            _ => Verdict::Ranks,
        }
    }
}
