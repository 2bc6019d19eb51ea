//! What a fit without positions is given: moves of volumes, and what is believed before any is seen.

use tapewise_model::Micros;

/// A move of the head between blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The block the head would have read next.
    pub from_block: u64,
    /// The block it was sent to.
    pub to_block: u64,
    /// How long that took.
    pub time: Micros,
}

/// The moves seen on one cartridge of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Its barcode.
    pub name: String,
    /// Its moves, in any order.
    pub moves: Vec<Move>,
}

/// What is believed before any move is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Blocks that a wrap nominally holds.
    pub wrap_blocks: f64,
    /// How much cartridges differ from that as a whole, one standard deviation as a share.
    pub tape_share: f64,
    /// How much each wrap of a cartridge differs from the next, one standard deviation as a share.
    pub wrap_share: f64,
    /// A volume with fewer moves that move is not searched.
    pub least_moves: usize,
}

impl Options {
    /// 1 % from tape to tape, 0.3 % from wrap to wrap, at least 40 moves.
    pub fn new(wrap_blocks: f64) -> Options {
        Options {
            wrap_blocks,
            tape_share: 0.01,
            wrap_share: 0.003,
            least_moves: 40,
        }
    }
}

/// The moves of a volume that move.
pub(super) fn moving(volume: &Volume) -> Vec<Move> {
    let all = volume.moves.iter().copied();
    all.filter(|m| m.from_block != m.to_block).collect()
}
