//! The key points of a DLT cartridge, found by timing (after Hillyer & Silberschatz 1996, section 3).
//!
//! A key point is where the time to locate falls from one segment to the next. The search goes from
//! key point to key point: the next one is expected a section ahead of the last, and the range
//! around it is narrowed by locates, each from a place just behind the range. Seen from there the
//! drive scans back to a landing point and reads up to the segment, and the landing point moves
//! up by a section, 10 s of scanning less and 15.5 s of reading less, when the segment passes the
//! key point: 25 s, which no noise hides. And no time is lost on ways back, for every probe ends
//! next to where the following one begins.
//!
//! The first boundary of a track, between its sections 0 and 1, shows in no locate: both are
//! reached from the track's beginning. It is put where the nominal proportions have it.

use super::bench::{Bench, seek};
use super::step::{Purpose, Step};
use crate::error::RunError;
use std::collections::HashMap;
use tapewise_formats::event::{Action, Event};
use tapewise_model::profile::Profile;
use tapewise_model::{KeyPoints, Micros, NominalSections};

/// How many locates the whole cartridge is expected to take.
pub fn expected_probes(profile: &Profile) -> u32 {
    profile.nominal_sections().map_or(0, |nominal| {
        u32::from(nominal.tracks) * u32::from(nominal.sections - 1) * 8
    })
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The key points.
    pub key_points: KeyPoints,
    /// Locates that were timed.
    pub probes: u32,
}

/// Why a search ended without key points.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// A probe failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The times do not fall where a key point must be.
    #[error(
        "no fall of the locate time between segments {first} and {last}: no key point of a DLT is there"
    )]
    NoFall {
        /// First segment looked at.
        first: u64,
        /// Last segment looked at.
        last: u64,
    },
    /// What was found is no cartridge.
    #[error("the key points found do not follow each other: {0}")]
    Disorder(String),
}

/// Half of the first range around where a key point is expected, in segments.
const REACH: u64 = 24;

/// The widest that half may become: beyond it the next key point would come into sight, as the shortest section has 568
/// segments and a track may end 250 from where it is expected.
const WIDEST_REACH: u64 = 272;

/// How far behind the range a probe starts, in segments.
const BEHIND: u64 = 8;

/// A fall of the locate time that is no noise.
const LEAST_FALL: Micros = Micros(3_000_000);

/// Searches a cartridge of `segments` segments. `probe` gives the time of a locate from one segment
/// to another.
///
/// # Errors
/// [`SearchError`].
pub fn search(
    nominal: NominalSections,
    segments: u64,
    probe: &mut dyn FnMut(u64, u64) -> Result<Micros, RunError>,
) -> Result<Found, SearchError> {
    let mut search = Search {
        segments,
        probes: 0,
        probe,
    };
    let mut starts = Vec::new();
    let mut first = 0;
    for track in 0..nominal.tracks {
        let lengths = lengths(&nominal, track);
        let mut points = vec![first];
        // The second boundary is expected two sections from the beginning, and so gives the first.
        let mut at = first + lengths[0];
        for section in 2..usize::from(nominal.sections) {
            let found = search.fall_near(at + lengths[section - 1])?;
            if section == 2 {
                let share = lengths[0] as f64 / (lengths[0] + lengths[1]) as f64;
                points.push(first + ((found - first) as f64 * share).round() as u64);
            }
            points.push(found);
            at = found;
        }
        starts.push(points);
        let end = at + lengths[usize::from(nominal.sections) - 1];
        first = if track + 1 < nominal.tracks {
            search.fall_near(end)?
        } else {
            segments
        };
    }
    let probes = search.probes;
    let key_points = KeyPoints::new(starts, segments).map_err(SearchError::Disorder)?;
    Ok(Found { key_points, probes })
}

/// Nominal lengths of a track's sections in reading order: the short one lies at the far end.
fn lengths(nominal: &NominalSections, track: u16) -> Vec<u64> {
    let mut lengths = vec![u64::from(nominal.section_segments); usize::from(nominal.sections)];
    let short = u64::from(nominal.last_section_segments);
    if track.is_multiple_of(2) {
        lengths[usize::from(nominal.sections) - 1] = short
    } else {
        lengths[0] = short
    }
    lengths
}

struct Search<'p> {
    segments: u64,
    probes: u32,
    probe: &'p mut dyn FnMut(u64, u64) -> Result<Micros, RunError>,
}

impl Search<'_> {
    fn time(&mut self, source: u64, target: u64) -> Result<Micros, RunError> {
        self.probes += 1;
        (self.probe)(source, target)
    }

    /// The first segment behind the fall of the locate time nearest to where it is expected.
    fn fall_near(&mut self, expected: u64) -> Result<u64, SearchError> {
        let mut reach = REACH;
        loop {
            let last = (expected + reach).min(self.segments.saturating_sub(BEHIND + 1));
            let first = expected.saturating_sub(reach).min(last);
            let source = last + BEHIND;
            let before = self.time(source, first)?;
            let behind = self.time(source, last)?;
            if before - behind >= LEAST_FALL {
                return Ok(self.narrow(source, (first, before), (last, behind))?);
            }
            if reach >= WIDEST_REACH {
                return Err(SearchError::NoFall { first, last });
            }
            reach = (2 * reach).min(WIDEST_REACH);
        }
    }

    /// Halves the range; a time counts to the side whose time it is nearer to.
    fn narrow(
        &mut self,
        source: u64,
        (mut first, mut before): (u64, Micros),
        (mut last, mut behind): (u64, Micros),
    ) -> Result<u64, RunError> {
        while last - first > 1 {
            let middle = first.midpoint(last);
            let time = self.time(source, middle)?;
            if before - time < time - behind {
                (first, before) = (middle, time);
            } else {
                (last, behind) = (middle, time);
            }
        }
        Ok(last)
    }
}

/// The key points that a log's probes lead to: the same search, its times taken from the log.
///
/// # Errors
/// [`SearchError`]; [`RunError::Unsuitable`] where the log has not all probes.
pub fn of_log<'e>(
    events: impl IntoIterator<Item = &'e Event>,
    nominal: NominalSections,
    segments: u64,
) -> Result<Found, SearchError> {
    let mut times: HashMap<u32, Micros> = HashMap::new();
    for event in events {
        let purpose = event.purpose.as_deref().and_then(Purpose::parse);
        let Some(purpose) = purpose.filter(|of| of.step == Step::KeyPoints && !of.prepares) else {
            continue;
        };
        // The locate begins a probe: one that was measured again counts as the last time.
        match event.action {
            Action::Locate => times.insert(purpose.sample, event.took_us),
            _ => times
                .get(&purpose.sample)
                .copied()
                .and_then(|time| times.insert(purpose.sample, time + event.took_us)),
        };
    }
    let mut next = 0;
    search(nominal, segments, &mut |_, _| {
        let missing = || RunError::Unsuitable(format!("the log has no probe {next}"));
        let time = times.get(&next).copied().ok_or_else(missing)?;
        next += 1;
        Ok(time)
    })
}

/// The key points of the cartridge that a log is of, where the log has all probes of a search. The cartridge ends where
/// the log goes farthest: a measurement begins at the end of the data.
pub fn of_whole_log<'e, E: Iterator<Item = &'e Event>>(
    events: impl Fn() -> E,
    nominal: NominalSections,
) -> Option<Found> {
    let spots = events().flat_map(|event| [&event.from, &event.to]);
    let segments = spots.flatten().filter_map(|spot| spot.block).max()?;
    of_log(events(), nominal, segments).ok()
}

/// The most segments that are read over to come to where a probe starts; farther is located.
const READ_OVER: u64 = 400;

/// Searches the cartridge on the bench.
pub(super) fn measure(bench: &mut Bench<'_, '_>) -> Result<Option<Found>, RunError> {
    let partition = bench.subject.partition;
    let Some(nominal) = bench.subject.profile.nominal_sections() else {
        return Ok(None);
    };
    let segments = bench.subject.blocks;
    let mut probe = |source: u64, target: u64| -> Result<Micros, RunError> {
        if !bench.has_time() {
            return Err(RunError::OutOfTime);
        }
        let sample = bench.sample(
            Some(source as i64),
            |recorder| {
                let here = recorder.head().and_then(|head| head.block);
                match here {
                    Some(here) if here <= source && source - here <= READ_OVER => recorder
                        .read(Action::ReadThrough, source - here, &mut |_, _| Ok(()))
                        .map(|_| ()),
                    _ => recorder.locate(partition, source).map(|_| ()),
                }
            },
            |recorder| seek(recorder, partition, target),
        )?;
        Ok(sample.iter().map(|event| event.took_us).sum())
    };
    match search(nominal, segments, &mut probe) {
        Ok(found) => Ok(Some(found)),
        Err(SearchError::Run(RunError::OutOfTime)) => Ok(None),
        Err(SearchError::Run(error)) => Err(error),
        Err(other) => Err(RunError::Unsuitable(other.to_string())),
    }
}
