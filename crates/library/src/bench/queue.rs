//! Requests that wait, first come, first served, except that a cartridge must be in its slot.

use std::collections::VecDeque;
use tapewise_formats::bench_csv::Retrieval;
use tapewise_model::Micros;

/// How often a drive asks whether the cartridge of a waiting request is back.
const POLL: Micros = Micros(200_000);

/// What waits, and where the cartridges are.
pub(super) struct Queue<'a> {
    waiting: VecDeque<&'a Retrieval>,
    /// By the cartridge's number less 1.
    home: Vec<Home>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    /// In its slot from then on.
    Since(Micros),
    /// In a drive, or on its way.
    Away,
}

/// What a free drive does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// This request, whose cartridge nobody else takes from now on.
    Take(Retrieval),
    /// There is nothing before that time.
    Wait(Micros),
    /// All requests are taken.
    Nothing,
}

impl<'a> Queue<'a> {
    /// A pattern by time, and all of its cartridges in their slots.
    pub fn new(pattern: &'a [Retrieval], cartridges: usize) -> Queue<'a> {
        Queue {
            waiting: pattern.iter().collect(),
            home: vec![Home::Since(Micros::ZERO); cartridges],
        }
    }

    /// What a drive that is free at this time does.
    pub fn next(&mut self, now: Micros) -> Next {
        for (place, &one) in self.waiting.iter().enumerate() {
            if one.at > now {
                // Something has arrived before and waits for its cartridge.
                let asks_again = if place == 0 { one.at } else { now + POLL };
                return Next::Wait(one.at.min(asks_again));
            }
            let home = &mut self.home[one.cartridge as usize - 1];
            if matches!(*home, Home::Since(then) if then <= now) {
                *home = Home::Away;
                self.waiting.remove(place);
                return Next::Take(*one);
            }
        }
        if self.waiting.is_empty() {
            Next::Nothing
        } else {
            Next::Wait(now + POLL)
        }
    }

    /// A cartridge is in its slot again.
    pub fn is_back(&mut self, cartridge: u32, now: Micros) {
        self.home[cartridge as usize - 1] = Home::Since(now);
    }

    /// A cartridge is not to be had any more, and neither is what is asked of it.
    pub fn is_lost(&mut self, cartridge: u32) {
        self.waiting.retain(|one| one.cartridge != cartridge);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(of: &[(i64, u32)]) -> Vec<Retrieval> {
        let retrieval = |(number, &(at, cartridge)): (u64, &(i64, u32))| Retrieval {
            number,
            at: Micros(at),
            cartridge,
            location: 1,
        };
        (1..).zip(of).map(retrieval).collect()
    }

    #[test]
    fn a_request_is_taken_when_it_has_come_and_its_cartridge_is_back() {
        let pattern = pattern(&[(0, 1), (10, 1), (20, 2), (2_000_000, 1)]);
        let mut queue = Queue::new(&pattern, 2);
        assert_eq!(queue.next(Micros(0)), Next::Take(pattern[0]));
        assert_eq!(queue.next(Micros(5)), Next::Wait(Micros(10)));
        // The second waits for its cartridge; the third does not wait for the second.
        assert_eq!(queue.next(Micros(10)), Next::Wait(Micros(20)));
        assert_eq!(queue.next(Micros(30)), Next::Take(pattern[2]));
        assert_eq!(queue.next(Micros(30)), Next::Wait(Micros(30) + POLL));
        queue.is_back(1, Micros(50));
        assert_eq!(queue.next(Micros(49)), Next::Wait(Micros(49) + POLL));
        assert_eq!(queue.next(Micros(50)), Next::Take(pattern[1]));
        queue.is_lost(1);
        assert_eq!(queue.next(Micros(60)), Next::Nothing);
    }
}
