//! Synthetic cartridges and recalls: everything a log has, and what it does not have.

use tapewise_fit::blind::{
    ApproachCost, CernCost, FinePosition, FoundVolume, LinearCost, Move, Volume,
};
use tapewise_model::locate::LtoCoefficients;
use tapewise_model::{Direction, Geometry, Layout, Micros, Random};

/// Blocks that the profile says a wrap holds.
pub const NOMINAL_WRAP_BLOCKS: f64 = 208_210.0;

/// What the drive truly takes: like CERN's regression, but another drive, and a header read on top.
pub const TRUE_COST: [f64; 7] = [5.6, 5.9, 2.6, -4.5, 4.4, 9.5, 0.000_68];

/// Blocks of a file of 2 GB with its labels.
const FILE_BLOCKS: u64 = 7_639;

/// In which order files are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recalls {
    /// Any file after any other.
    Random,
    /// Mount by mount, so many files each, in the order of blocks.
    Sorted { files: usize },
}

/// How the drive moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drive {
    /// As CERN's regression says, with [`TRUE_COST`].
    Regression,
    /// By landing points: fast to one of 100 of each wrap, then on at the pace of reading. The
    /// regression can only come near it.
    LandingPoints,
}

/// What there is in a world.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub seed: u64,
    pub wraps: u16,
    pub volumes: usize,
    pub moves: usize,
    pub recalls: Recalls,
    pub drive: Drive,
    /// How much cartridges differ as a whole, as a share.
    pub tape_share: f64,
    /// How much each wrap differs from the next, as a share.
    pub wrap_share: f64,
    pub noise_s: f64,
}

/// Cartridges of one kind, with the moves logged on them.
pub struct World {
    pub geometry: Geometry,
    pub volumes: Vec<Volume>,
    setting: Setting,
    /// First block of each wrap, one more for the end, for each volume.
    edges: Vec<Vec<f64>>,
}

impl Setting {
    /// Tapes that differ by 1 %, wraps that differ by 0.3 %, noise of 1.5 s.
    pub fn new(seed: u64, wraps: u16, volumes: usize, moves: usize, recalls: Recalls) -> Setting {
        Setting {
            seed,
            wraps,
            volumes,
            moves,
            recalls,
            drive: Drive::Regression,
            tape_share: 0.01,
            wrap_share: 0.003,
            noise_s: 1.5,
        }
    }
}

impl World {
    /// A world of this setting; 2 % of its moves went wrong.
    pub fn new(setting: Setting) -> World {
        let mut world = World {
            geometry: geometry(setting.wraps),
            volumes: Vec::new(),
            setting,
            edges: Vec::new(),
        };
        for nth in 0..setting.volumes {
            let mut random = Random::new(setting.seed, nth as u64);
            let edges = world.cartridge(&mut random);
            world.edges.push(edges);
            let moves = world.moves(nth, &mut random);
            world.volumes.push(Volume {
                name: format!("V{nth:05}"),
                moves,
            });
        }
        world
    }

    fn cartridge(&self, random: &mut Random) -> Vec<f64> {
        let tape = 1.0 + self.setting.tape_share * random.normal().clamp(-2.5, 2.5);
        let mut edges = vec![0.0];
        for wrap in 0..usize::from(self.geometry.wraps) {
            let blocks =
                NOMINAL_WRAP_BLOCKS * tape * (1.0 + self.setting.wrap_share * random.normal());
            edges.push(edges[wrap] + blocks.round());
        }
        edges
    }

    fn moves(&self, volume: usize, random: &mut Random) -> Vec<Move> {
        let (count, recalls) = (self.setting.moves, self.setting.recalls);
        let end = self.edges[volume][usize::from(self.geometry.wraps)] as u64;
        let files = end / FILE_BLOCKS;
        let mut at = random.below(files) * FILE_BLOCKS;
        let mut moves = Vec::with_capacity(count);
        while moves.len() < count {
            let mut targets: Vec<u64> = match recalls {
                Recalls::Random => vec![random.below(files)],
                Recalls::Sorted { files: n } => (0..n).map(|_| random.below(files)).collect(),
            };
            targets.sort_unstable();
            targets.dedup();
            for (nth, target) in targets.into_iter().enumerate() {
                let to = target * FILE_BLOCKS;
                // The first move of a mount is not logged as a move.
                if nth > 0 || recalls == Recalls::Random {
                    moves.push(self.timed(volume, at, to, random));
                }
                at = to + FILE_BLOCKS;
            }
        }
        moves.truncate(count);
        moves
    }

    fn timed(&self, volume: usize, from_block: u64, to_block: u64, random: &mut Random) -> Move {
        let mut seconds = self.true_time(volume, from_block, to_block);
        seconds += self.setting.noise_s * random.normal();
        if random.unit() < 0.02 {
            seconds += 20.0 + 100.0 * random.unit();
        }
        Move {
            from_block,
            to_block,
            time: Micros::from_secs_f64(seconds.max(0.05)),
        }
    }

    fn true_time(&self, volume: usize, from_block: u64, to_block: u64) -> f64 {
        let from = self.true_place(volume, from_block);
        let to = self.true_place(volume, to_block);
        if self.setting.drive == Drive::LandingPoints {
            return self.by_landing_points(&from, &to);
        }
        let mut values = [0.0; 7];
        self.expected_cost().fill(&from, &to, &mut values);
        values.iter().zip(TRUE_COST).map(|(v, c)| v * c).sum()
    }

    fn by_landing_points(&self, from: &FinePosition, to: &FinePosition) -> f64 {
        let geometry = &self.geometry;
        let spacing = f64::from(geometry.wrap_lpos()) / 100.0;
        let into = to.lpos - f64::from(geometry.lpos_min);
        let forward = geometry.direction(to.wrap) == Direction::Forward;
        let landing = if forward {
            (into / spacing).floor() * spacing
        } else {
            (into / spacing).ceil() * spacing
        } + f64::from(geometry.lpos_min);
        let travel = (landing - from.lpos).abs();
        let travel_s = if travel < 8_000.0 {
            0.09 * travel.sqrt()
        } else {
            4.02 + 0.000_5 * travel
        };
        let mut seconds = 1.5 + travel_s + 0.001_1 * (to.lpos - landing).abs();
        let turns = geometry.direction(from.wrap) != geometry.direction(to.wrap);
        let moves_forward = landing >= from.lpos;
        seconds += if from.wrap != to.wrap { 1.8 } else { 0.0 };
        seconds += if geometry.band(from.wrap) != geometry.band(to.wrap) {
            2.0
        } else {
            0.0
        };
        seconds += if turns { 1.0 } else { 0.0 };
        seconds + if moves_forward != forward { 3.0 } else { 0.0 }
    }

    /// Along the track, in wraps.
    pub fn true_along(&self, volume: usize, block: u64) -> f64 {
        let edges = &self.edges[volume];
        let block = block as f64;
        let wrap = edges
            .partition_point(|edge| *edge <= block)
            .clamp(1, edges.len() - 1)
            - 1;
        wrap as f64 + (block - edges[wrap]) / (edges[wrap + 1] - edges[wrap])
    }

    fn true_place(&self, volume: usize, block: u64) -> FinePosition {
        let along = self.true_along(volume, block);
        let wrap = (along as u16).min(self.geometry.wraps - 1);
        let into = (along - f64::from(wrap)) * f64::from(self.geometry.wrap_lpos());
        let lpos = match self.geometry.direction(wrap) {
            Direction::Forward => f64::from(self.geometry.lpos_min) + into,
            Direction::Reverse => f64::from(self.geometry.lpos_max) - into,
        };
        FinePosition { wrap, lpos }
    }

    /// The published regression, which is not what these drives do.
    pub fn expected_cost(&self) -> CernCost {
        CernCost::new(&self.geometry, &published())
    }

    /// The same with the term of approach.
    pub fn approach_cost(&self) -> ApproachCost {
        ApproachCost::new(&self.geometry, &published())
    }

    /// Blocks per wrap of a cartridge, in the mean.
    pub fn wrap_blocks(&self, volume: usize) -> f64 {
        let edges = &self.edges[volume];
        edges[edges.len() - 1] / (edges.len() - 1) as f64
    }

    /// Root mean square error of places over the tape, and what the fit says of it, in wraps.
    pub fn map_error(&self, volume: usize, found: &FoundVolume) -> (f64, f64) {
        let (mut squares, mut claimed, mut count) = (0.0, 0.0, 0.0);
        for block in (0..found.last_block()).step_by(50_021) {
            let (along, error) = found.along(block);
            squares += (along - self.true_along(volume, block)).powi(2);
            claimed += error * error;
            count += 1.0;
        }
        (f64::sqrt(squares / count), f64::sqrt(claimed / count))
    }

    /// The typical error and the share off by more than 2 s with the true map and cost.
    pub fn true_errors(&self) -> (f64, f64) {
        let all = self.volumes.iter().enumerate().flat_map(|(at, volume)| {
            let off =
                move |m: &Move| m.time.as_secs_f64() - self.true_time(at, m.from_block, m.to_block);
            volume.moves.iter().map(move |m| off(m).abs())
        });
        let mut errors: Vec<f64> = all.collect();
        errors.sort_unstable_by(f64::total_cmp);
        let off = errors.iter().filter(|error| **error > 2.0).count();
        let typical_s = 1.4826 * errors[errors.len() / 2];
        (typical_s, off as f64 / errors.len() as f64)
    }
}

fn published() -> LtoCoefficients {
    LtoCoefficients {
        intercept_s: 4.239,
        wrap_change_s: 6.698,
        band_change_s: 3.199,
        mid_cross_s: -6.042,
        direction_change_s: 5.218,
        step_back_s: 11.316,
        per_lpos_s: 0.000_619_2,
        residual_s: 8.193,
    }
}

fn geometry(wraps: u16) -> Geometry {
    Geometry {
        layout: Layout::Serpentine,
        wraps,
        bands: 4,
        lpos_min: 2_696,
        lpos_max: 171_097,
        metres_per_lpos: None,
        sections: 14,
    }
}
