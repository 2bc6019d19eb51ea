//! A walk through the tape whose moves teach a fit most for the time they take.
//!
//! Moves between any two places teach little: they take longest, and a good order makes few of them.
//! So most moves are short, of every kind that a serpentine drive tells apart: on along the wrap and
//! back, over to a neighbouring wrap, and to any wrap near the same place. Their lengths are spread
//! evenly over orders of magnitude, so that what a drive does within metres is met as often as what
//! it does within a tape. The end of one move is the beginning of the next: no time goes by that
//! measures nothing.

use super::bench::{Bench, seek};
use super::seeks::along;
use super::subject::Subject;
use crate::error::RunError;
use tapewise_model::Random;

/// Walks for so many samples, or for as long as there is time where no number is given.
pub(super) fn walk(bench: &mut Bench<'_, '_>, samples: Option<u32>) -> Result<(), RunError> {
    let (partition, subject) = (bench.subject.partition, bench.subject);
    let mut random = bench.random();
    let mut at = Stop::anywhere(subject, &mut random);
    while bench.goes_on() && samples.is_none_or(|samples| bench.done() < samples) {
        at = at.next(subject, &mut random);
        let block = at.block(subject);
        bench.sample(
            None,
            |_| Ok(()),
            |recorder| seek(recorder, partition, block),
        )?;
    }
    Ok(())
}

/// The shortest move on a wrap, as a share of the tape: half a metre of a tape of a kilometre.
const SHORTEST: f64 = 0.0005;

/// The longest of those whose lengths are spread over orders of magnitude.
const LONGEST: f64 = 0.5;

/// Where the walk stands: a wrap, and a place along the tape as a share of its length.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stop {
    wrap: u16,
    along: f64,
}

impl Stop {
    fn anywhere(subject: &Subject, random: &mut Random) -> Stop {
        Stop {
            wrap: any_wrap(subject, random),
            along: random.unit(),
        }
    }

    /// The next stop.
    fn next(self, subject: &Subject, random: &mut Random) -> Stop {
        let wraps = u64::from(subject.full_wraps().max(1));
        let wrap = match random.below(8) {
            0 => return Stop::anywhere(subject, random),
            1..=3 => self.wrap,
            // The wraps next to it, two up and two down.
            4 | 5 => {
                let step = random.below(4) + 1;
                ((u64::from(self.wrap) + 3 * wraps + step + u64::from(step > 2) - 3) % wraps) as u16
            }
            _ => any_wrap(subject, random),
        };
        let length = SHORTEST * (LONGEST / SHORTEST).powf(random.unit());
        let ahead = self.along + length;
        let back = self.along - length;
        let along = match (random.below(2) == 0, ahead < 1.0, back >= 0.0) {
            (true, true, _) | (_, _, false) => ahead,
            _ => back,
        };
        Stop { wrap, along }
    }

    fn block(self, subject: &Subject) -> u64 {
        let map = subject.map.as_ref();
        let block = map.and_then(|map| along(map, self.wrap, self.along));
        let block = block.unwrap_or((self.along * subject.blocks as f64) as u64);
        block.min(subject.blocks.saturating_sub(1))
    }
}

fn any_wrap(subject: &Subject, random: &mut Random) -> u16 {
    random.below(u64::from(subject.full_wraps().max(1))) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_model::profile;

    /// Every kind of move is made, no stop lies beyond the tape, and neighbours are neighbours.
    #[test]
    fn a_walk_stays_on_the_tape_and_makes_moves_of_every_kind() {
        let drive = profile::find("lto8").expect("a profile");
        let subject = Subject::new(&drive, 720_000, 16 << 20, 1);
        let wraps = subject.full_wraps();
        let mut random = Random::new(1, 0);
        let mut at = Stop::anywhere(&subject, &mut random);
        let mut kinds = [0_u32; 4];
        for _ in 0..2_000 {
            let next = at.next(&subject, &mut random);
            assert!(
                next.wrap < wraps && (0.0..1.0).contains(&next.along),
                "{next:?}"
            );
            assert!(next.block(&subject) < 720_000);
            let length = (next.along - at.along).abs();
            kinds[usize::from(next.wrap == at.wrap)] += 1;
            kinds[2] +=
                u32::from(matches!(next.wrap.abs_diff(at.wrap), 1 | 2) && length <= LONGEST);
            kinds[3] += u32::from(length < 0.005);
            at = next;
        }
        assert!(kinds.iter().all(|&count| count > 300), "{kinds:?}");
    }

    #[test]
    fn on_a_tape_without_wraps_it_goes_on_and_back() {
        let drive = profile::find("dat-4mm").expect("a profile");
        let subject = Subject::new(&drive, 90_000, 16 << 10, 1);
        let mut random = Random::new(1, 0);
        let mut at = Stop::anywhere(&subject, &mut random);
        for _ in 0..1_000 {
            at = at.next(&subject, &mut random);
            assert!(at.wrap == 0 && at.block(&subject) < 90_000, "{at:?}");
        }
    }
}
