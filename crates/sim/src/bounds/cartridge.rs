//! What is asked of one cartridge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tapewise_model::Micros;

/// The price of one tick of one response, in the integers in which everything is priced.
pub const UNIT: i64 = 4096;

/// One read that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// When it is asked for.
    pub arrived: Micros,
    /// The least time that a drive needs for it, the way to it included.
    pub work: Micros,
}

/// A cartridge with all that is ever asked of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cartridge {
    /// The caller's number of it.
    pub number: u32,
    /// The least time of a drive from the beginning of a mount to the first search.
    pub before: Micros,
    /// The least time of a drive from the last read of a mount to the drive being empty.
    pub after: Micros,
    /// What is asked of it.
    pub reads: Vec<Work>,
}

impl Cartridge {
    /// All completions, summed, if it had a drive for itself that could break reads off: no schedule has less.
    ///
    /// The shortest rest goes first, which is best on one machine (Schrage 1968).
    pub(super) fn alone(&self) -> Micros {
        let mut coming: Vec<Work> = self.reads.clone();
        coming.sort_by_key(|read| Reverse(read.arrived));
        let Some(first) = coming.last() else {
            return Micros::ZERO;
        };
        let mut now = (first.arrived + self.before).0;
        let mut sum = 0;
        let mut rests: BinaryHeap<Reverse<i64>> = BinaryHeap::new();
        loop {
            while let Some(read) = coming.pop_if(|read| read.arrived.0 <= now) {
                rests.push(Reverse(read.work.0));
            }
            let next = coming.last().map(|read| read.arrived.0);
            match (rests.pop(), next) {
                (Some(Reverse(rest)), Some(next)) if now + rest > next => {
                    rests.push(Reverse(now + rest - next));
                    now = next;
                }
                (Some(Reverse(rest)), _) => {
                    now += rest;
                    sum += now;
                }
                (None, Some(next)) => now = next,
                (None, None) => break,
            }
        }
        Micros(sum)
    }

    /// The same on whichever of two kinds of drives is quicker, for each time alone.
    pub fn least_of_both(&self, other: &Cartridge) -> Cartridge {
        let reads = self.reads.iter().zip(&other.reads);
        Cartridge {
            number: self.number,
            before: self.before.min(other.before),
            after: self.after.min(other.after),
            reads: reads
                .map(|(a, b)| Work {
                    arrived: a.arrived,
                    work: a.work.min(b.work),
                })
                .collect(),
        }
    }
}
