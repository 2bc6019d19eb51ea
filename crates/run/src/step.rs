//! What a drive is to do, step by step.

use tapewise_model::Micros;
use tapewise_order::{Action, End, Plan, Problem};

/// A run of blocks that somebody wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The visit of the plan it belongs to, or what else the caller counts by.
    pub visit: u32,
    /// Which segment of the visit.
    pub segment: u32,
    /// Partition, 0 to 3.
    pub partition: u8,
    /// First block, filemarks counted.
    pub first_block: u64,
    /// Last block, inclusive.
    pub last_block: u64,
}

/// One thing the drive is to do, and how long that takes by the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Go to the piece that is read next.
    Locate(Micros),
    /// Read on to the piece that is read next.
    ReadThrough(Micros),
    /// Read a piece.
    Read(Piece, Micros),
    /// Go back to the beginning of tape.
    Rewind(Micros),
}

/// The steps that a plan takes on the drive.
///
/// Where a plan ends anywhere but at the beginning of tape, the head stays behind the last block.
pub fn steps(plan: &Plan, problem: &Problem) -> Vec<Step> {
    let step = |step: &tapewise_order::Step| {
        Some(match step.action {
            Action::Locate => Step::Locate(step.duration),
            Action::ReadThrough => Step::ReadThrough(step.duration),
            Action::Read => {
                let visit = &problem.visits()[step.visit as usize];
                let segment = &visit.extents[step.extent as usize];
                let piece = Piece {
                    visit: step.visit,
                    segment: step.extent,
                    partition: segment.partition(),
                    first_block: segment.first_block,
                    last_block: segment.last_block,
                };
                Step::Read(piece, step.duration)
            }
            Action::Finish if problem.options().end == End::Rewound => Step::Rewind(step.duration),
            Action::Finish => return None,
        })
    };
    plan.steps.iter().filter_map(step).collect()
}
