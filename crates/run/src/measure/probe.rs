//! The key points of a cartridge for as much time as there is.
//!
//! Each locate is the one on whose time the hypotheses of [`LearnedKeyPoints`] disagree most for the time it takes; it
//! begins where the last one ended, so no time goes by that tells nothing. What is known grows fast at first: an hour
//! places the tracks within a few hundredths of a section, for which [the search](super::key_points) takes days.

use super::bench::{Bench, seek};
use crate::error::RunError;
use tapewise_formats::event::{Action, Event, Outcome, Spot};
use tapewise_model::{LearnedKeyPoints, Profile, TimedLocate};

/// Locates after which is learned what they tell: as a share of those there are, and at least.
const LEARN_EACH: f64 = 0.15;
const LEARN_FIRST: usize = 12;

/// Times that all locates of a log are asked anew.
const ROUNDS: usize = 3;

/// A cartridge with fewer blocks than this share of what it nominally holds is not full.
const FULL: f64 = 0.99;

/// Where the tape ends, if data of this many blocks fills it.
pub fn full_end(profile: &Profile, blocks: u64) -> Option<u64> {
    let nominal = profile.nominal_key_points()?.segments() as f64;
    (blocks as f64 >= FULL * nominal).then_some(blocks)
}

/// What the locates of a log tell of a cartridge; `None` for drives that are not modelled by key points. `end` is where
/// the tape ends, if that is known.
pub fn learned<'e>(
    events: impl IntoIterator<Item = &'e Event>,
    profile: &Profile,
    end: Option<u64>,
    seed: u64,
) -> Option<LearnedKeyPoints> {
    let mut learned = LearnedKeyPoints::new(profile.key_point_belief()?, end, seed);
    locates(events).for_each(|locate| learned.observe(locate));
    (0..ROUNDS).for_each(|_| learned.learn());
    Some(learned)
}

/// The locates of some events that tell where key points lie: between blocks of the first partition. Those from the
/// beginning of tape are left out, which a drive leaves slowly.
fn locates<'e>(events: impl IntoIterator<Item = &'e Event>) -> impl Iterator<Item = TimedLocate> {
    let is_locate =
        |event: &&Event| event.action == Action::Locate && event.outcome == Outcome::Done;
    events.into_iter().filter(is_locate).filter_map(|event| {
        let block = |spot: &Option<Spot>| {
            let spot = spot.as_ref().filter(|spot| spot.partition == 0)?;
            spot.block
        };
        Some(TimedLocate {
            from: block(&event.from).filter(|&from| from > 0)?,
            to: block(&event.to)?,
            time: event.took_us,
        })
    })
}

/// Asks the drive this often, or for as long as there is time where no number is given.
pub(super) fn probe(bench: &mut Bench<'_, '_>, samples: Option<u32>) -> Result<(), RunError> {
    let (partition, blocks) = (bench.subject.partition, bench.subject.blocks);
    let Some(belief) = bench.subject.profile.key_point_belief() else {
        return Ok(());
    };
    let end = full_end(&bench.subject.profile, blocks);
    let mut learned = LearnedKeyPoints::new(belief, end, bench.seed());
    let mut random = bench.random();
    let (mut head, mut next) = (0, LEARN_FIRST);
    while bench.goes_on() && samples.is_none_or(|samples| bench.done() < samples) {
        let to = learned.next_probe(head, blocks, &mut random);
        let sample = bench.sample(
            Some(to as i64),
            |_| Ok(()),
            |recorder| seek(recorder, partition, to),
        )?;
        locates(&sample).for_each(|locate| learned.observe(locate));
        head = to + 1;
        if learned.locates() >= next {
            learned.learn();
            next += LEARN_FIRST.max((learned.locates() as f64 * LEARN_EACH) as usize);
        }
    }
    Ok(())
}
