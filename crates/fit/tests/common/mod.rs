//! Drives made up for the tests, with mechanics that are not those of any model: ramps of constant
//! acceleration, irregular landing points, settling, overruns, rules for reading on, noise,
//! retries.
#![allow(dead_code)] // each test file uses its own part

use tapewise_fit::{Ground, Sample};
use tapewise_model::{Geometry, Layout, Micros, Position, PositionSource, Random};

pub fn lto8() -> Geometry {
    Geometry {
        layout: Layout::Serpentine,
        wraps: 208,
        bands: 4,
        lpos_min: 2_696,
        lpos_max: 171_097,
        metres_per_lpos: Some(922.0 / 168_401.0),
        sections: 14,
    }
}

pub fn ground() -> Ground {
    Ground {
        read_per_lpos_s: Some(58_122.0 / 360.0 / 168_401.0),
        ..Ground::new(lto8())
    }
}

/// Where a made-up drive can land, in shares of the tape from the beginning of the wrap.
#[derive(Clone, Debug)]
pub enum Landing {
    Anywhere,
    /// So many, evenly, shifted by a share of a cell in each direction.
    Even(f64, [f64; 2]),
    /// Forward and reverse wraps, in reading order.
    At(Vec<f64>, Vec<f64>),
}

#[derive(Clone, Debug)]
pub struct Drive {
    pub landing: Landing,
    /// Landing points of each cartridge lie off by so much, one standard deviation, as a share of
    /// the tape.
    pub jitter: f64,
    pub read_m_s: f64,
    pub search_m_s: f64,
    /// On the way to the half that holds the destination.
    pub outside_m_s: f64,
    pub accel_m_s2: f64,
    pub command_s: f64,
    pub step_s: f64,
    pub settle_s: f64,
    pub band_s: f64,
    pub rank_s: f64,
    pub overrun_s: f64,
    pub read_on_m: f64,
    pub noise_s: f64,
    pub noise_share: f64,
    pub retries: f64,
}

impl Drive {
    pub fn new(landing: Landing) -> Drive {
        Drive {
            landing,
            jitter: 0.0,
            read_m_s: 5.75,
            search_m_s: 9.2,
            outside_m_s: 9.2,
            accel_m_s2: 6.0,
            command_s: 0.8,
            step_s: 1.1,
            settle_s: 1.7,
            band_s: 1.6,
            rank_s: 0.7,
            overrun_s: 2.3,
            read_on_m: 40.0,
            noise_s: 0.4,
            noise_share: 0.0,
            retries: 0.0,
        }
    }

    fn landing(&self, order: f64, forward: bool, cartridge: u32) -> f64 {
        let off = Random::new(99, u64::from(cartridge)).normal() * self.jitter;
        let below = |list: &[f64]| {
            let places = list.iter().map(|place| place + off);
            places.filter(|place| *place <= order).fold(0.0, f64::max)
        };
        match &self.landing {
            Landing::Anywhere => order,
            Landing::Even(cells, shift) => {
                let shift = shift[usize::from(!forward)] + off * cells;
                (((order * cells - shift).floor() + shift) / cells).max(0.0)
            }
            Landing::At(list, _) if forward => below(list),
            Landing::At(_, list) => below(list),
        }
    }

    fn run_s(&self, metres: f64, outside: f64) -> f64 {
        let ramp = self.search_m_s.powi(2) / self.accel_m_s2;
        if metres < ramp {
            return 2.0 * (metres / self.accel_m_s2).sqrt();
        }
        let outside = outside.min(metres);
        outside / self.outside_m_s
            + (metres - outside) / self.search_m_s
            + self.search_m_s / self.accel_m_s2
    }

    /// The time of a move before noise.
    pub fn time_s(&self, from: &Position, to: &Position, cartridge: u32) -> f64 {
        let geometry = lto8();
        let length = f64::from(geometry.wrap_lpos());
        let share = |lpos: u32| (f64::from(lpos) - f64::from(geometry.lpos_min)) / length;
        let forward = to.wrap & 1 == 0;
        let order = |lpos: u32| {
            if forward {
                share(lpos)
            } else {
                1.0 - share(lpos)
            }
        };
        let (head, target) = (order(from.lpos), order(to.lpos));
        let landing = self.landing(target, forward, cartridge);
        if from.wrap == to.wrap && target >= head {
            let metres = (target - head) * 922.0;
            if landing <= head || metres < self.read_on_m {
                return 0.35 + metres / self.read_m_s;
            }
        }
        let mut seconds = self.command_s;
        if from.wrap != to.wrap {
            seconds += self.step_s + self.settle_s;
            let bands = [from.wrap, to.wrap].map(|wrap| usize::from(geometry.band(wrap)));
            if bands[0] != bands[1] {
                let rank = [2i32, 1, 3, 0];
                let far = (rank[bands[0]] - rank[bands[1]]).abs();
                seconds += self.band_s + self.rank_s * f64::from(far);
            }
        }
        let same_direction = (from.wrap ^ to.wrap) & 1 == 0;
        let behind = landing < head;
        // The tape runs on in reading direction; each change of direction is a stop.
        seconds += match (same_direction, behind) {
            (true, false) => 0.0,
            (true, true) => 2.0 * self.overrun_s,
            (false, _) => self.overrun_s,
        };
        let crosses = (head < 0.5) != (landing < 0.5);
        let outside = if crosses {
            (head - 0.5).abs() * 922.0
        } else {
            0.0
        };
        seconds
            + self.run_s((landing - head).abs() * 922.0, outside)
            + (target - landing).max(0.0) * 922.0 / self.read_m_s
    }

    /// A log of moves on `cartridges`: at random, near on the same wrap, and near on others.
    pub fn log(&self, records: usize, cartridges: u32, seed: u64) -> Vec<Sample> {
        let mut random = Random::new(seed, 0);
        let mut at = place(0, 2_696);
        let each = records.div_ceil(cartridges as usize);
        let mut log = Vec::new();
        for index in 0..records {
            let cartridge = (index / each) as u32;
            let from = at;
            let to = next(&from, &mut random);
            let exact = self.time_s(&from, &to, cartridge);
            let noise = self.noise_s + self.noise_share * exact;
            let retry = f64::from(u8::from(random.unit() < self.retries)) * 45.0;
            let time_s = (exact + noise * random.normal() + retry).max(0.05);
            log.push(Sample {
                cartridge,
                from,
                to,
                time: Micros::from_secs_f64(time_s),
            });
            at = ahead(&to, random.below(900) as u32);
        }
        log
    }
}

pub fn place(wrap: u16, lpos: u32) -> Position {
    Position {
        partition: 0,
        wrap,
        lpos,
        source: PositionSource::Recorded,
        error_lpos: 0,
    }
}

/// Reading a file moves the head on along its wrap.
fn ahead(from: &Position, lpos: u32) -> Position {
    let forward = from.wrap & 1 == 0;
    let lpos = if forward {
        (from.lpos + lpos).min(171_097)
    } else {
        from.lpos.saturating_sub(lpos).max(2_696)
    };
    place(from.wrap, lpos)
}

fn next(from: &Position, random: &mut Random) -> Position {
    let anywhere = 2_696 + random.below(168_402) as u32;
    let wrap = random.below(208) as u16;
    let near = (i64::from(from.lpos) + random.below(30_000) as i64 - 15_000).clamp(2_696, 171_097);
    match random.below(20) {
        0..=11 => place(wrap, anywhere),
        12..=14 => place(from.wrap, near as u32),
        15 => place(from.wrap, anywhere),
        _ => place(wrap, near as u32),
    }
}

/// Places at random in reading order, one list for each direction.
pub fn scattered(points: usize, seed: u64) -> Landing {
    let mut random = Random::new(seed, 1);
    let mut list = || (0..points).map(|_| random.unit()).collect();
    Landing::At(list(), list())
}
