//! An order: which visit comes after which.

use crate::problem::{End, Motion, Problem};
use tapewise_model::Micros;

/// A permutation of the visits of a [`Problem`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order(Vec<u32>);

/// A sequence in which a visit is missing, stands twice or does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("visit {visit} at place {place} of {len} is there twice or is not a visit")]
pub struct NotAPermutation {
    /// The first visit that is wrong.
    pub visit: u32,
    /// Where it stands, counted from 0.
    pub place: usize,
    /// Length of the sequence.
    pub len: usize,
}

impl Order {
    /// An order from visit numbers.
    ///
    /// # Errors
    /// [`NotAPermutation`] unless every number from 0 to `len - 1` stands in the sequence once.
    pub fn new(sequence: Vec<u32>) -> Result<Order, NotAPermutation> {
        match first_wrong(&sequence) {
            None => Ok(Order(sequence)),
            Some(place) => Err(NotAPermutation {
                visit: sequence[place],
                place,
                len: sequence.len(),
            }),
        }
    }

    /// The order of a sequence that is a permutation by the way it was made.
    pub(crate) fn of(sequence: Vec<u32>) -> Order {
        debug_assert!(is_permutation(&sequence), "not a permutation: {sequence:?}");
        Order(sequence)
    }

    /// The visits in reading order.
    pub fn visits(&self) -> &[u32] {
        &self.0
    }

    /// The requests in reading order: every request with extents exactly once.
    pub fn requests(&self, problem: &Problem) -> Vec<u32> {
        let visit = |&index: &u32| &problem.visits()[index as usize].requests;
        self.0.iter().flat_map(visit).copied().collect()
    }

    /// The time spent between reads: moves between visits, the first from the head and the last to
    /// where the head is to be left.
    pub fn locate_time(&self, problem: &Problem) -> Micros {
        let Some((&first, &last)) = self.0.first().zip(self.0.last()) else {
            return Micros::ZERO;
        };
        let arcs = self
            .0
            .windows(2)
            .map(|pair| problem.arc(pair[0] as usize, pair[1] as usize));
        problem.first_arc(first as usize) + arcs.sum::<Micros>() + problem.end_cost(last as usize)
    }

    /// Number of moves that a locate-time model predicts: locates to and within visits, and the one
    /// to where the head is to be left. Streaming and reading on are not among them.
    pub fn locates(&self, problem: &Problem) -> usize {
        let from = std::iter::once(None).chain(self.0.iter().map(|&visit| Some(visit as usize)));
        let between = from
            .zip(&self.0)
            .map(|(from, &to)| problem.motion(from, to as usize).1);
        let within = problem
            .visits()
            .iter()
            .enumerate()
            .flat_map(|(visit, what)| {
                (1..what.extents.len()).map(move |extent| problem.inner_motion(visit, extent).1)
            });
        let moves = between
            .chain(within)
            .filter(|motion| *motion == Motion::Locate)
            .count();
        let finish = !self.0.is_empty() && problem.options().end != End::Anywhere;
        moves + usize::from(finish)
    }

    /// The time until everything is read and the head is where it is to be left.
    pub fn total_time(&self, problem: &Problem) -> Micros {
        let (read, inner_locate) = problem.fixed_time();
        self.locate_time(problem) + read + inner_locate
    }
}

/// Whether every number from 0 to `len - 1` stands in the sequence once.
pub fn is_permutation(sequence: &[u32]) -> bool {
    first_wrong(sequence).is_none()
}

/// The place of the first number that is too large or stands there twice.
fn first_wrong(sequence: &[u32]) -> Option<usize> {
    let mut seen = vec![false; sequence.len()];
    sequence.iter().position(|&item| {
        seen.get_mut(item as usize)
            .is_none_or(|seen| std::mem::replace(seen, true))
    })
}
