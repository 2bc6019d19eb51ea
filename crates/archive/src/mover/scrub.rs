//! Which volumes are read again first: those that were not read for longest, and of those of one day the ones
//! that were loaded most often. One that could not be read has its turn again after the others. What is to be scrubbed is a
//! value that can be shown; [`super::Mover::verify`] carries it out.

use super::Settings;
use crate::catalogue::{
    Catalogue, CatalogueError, Fact, LOAD_COUNT, NOT_VERIFIED, VERIFIED, VolumeId,
};
use std::cmp::Reverse;
use tapewise_model::Micros;

/// A volume that is to be read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scrub {
    /// The volume.
    pub volume: VolumeId,
    /// Its label.
    pub label: String,
    /// When it was last verified, or else when the copy on it that was not read for longest was last read or written.
    pub read_ns: i64,
    /// Whether it or that copy was ever read.
    pub is_read: bool,
    /// How often its cartridge was loaded; none where no drive has said it.
    pub loads: Option<u64>,
    /// The time of a drive that it is likely to take.
    pub predicted: Micros,
}

/// What a volume costs beside its bytes: fetching, loading, and going back to its beginning.
const MOUNT: Micros = Micros(180_000_000);

const DAY_NS: i64 = 86_400_000_000_000;

/// All volumes with files of the archive, or those of them that are named, in the order in which they are to be
/// scrubbed.
///
/// # Errors
/// Those of the catalogue.
pub fn scrub_order(
    catalogue: &dyn Catalogue,
    settings: &Settings,
    named: Option<&[VolumeId]>,
) -> Result<Vec<Scrub>, CatalogueError> {
    // A drive whose rate nobody knows costs its mounts.
    let rate = settings.profile.transfer().ok();
    let mut order = Vec::new();
    for (volume, record) in catalogue.volumes()? {
        if named.is_some_and(|named| !named.contains(&volume)) {
            continue;
        }
        let contents = catalogue.all_contents(volume)?;
        let copies = contents.iter();
        let copies = copies.map(|on| (on.read_ns.unwrap_or(0), on.is_read));
        let Some(read) = copies.min() else {
            continue;
        };
        let bytes: u64 = contents
            .iter()
            .map(|on| on.segment.bytes)
            .fold(0, u64::saturating_add);
        let bytes = bytes.saturating_mul(settings.byte_scale);
        let facts = catalogue.facts(volume)?;
        let fact = |name: &str| facts.iter().find(|fact| fact.name == name);
        // What has no sum of its own on the volume, such as a part of a file, was read with it.
        let verified = fact(VERIFIED).map(|fact: &Fact| (fact.seen_ns, true));
        let (read_ns, is_read) = read.max(verified.unwrap_or_default());
        let tried_ns = fact(NOT_VERIFIED).map_or(read_ns, |fact| fact.seen_ns);
        let scrub = Scrub {
            volume,
            label: record.label,
            read_ns,
            is_read,
            loads: fact(LOAD_COUNT).and_then(|fact| fact.value.parse().ok()),
            predicted: MOUNT + rate.as_ref().map_or(Micros::ZERO, |rate| rate.time(bytes)),
        };
        order.push((read_ns.max(tried_ns), scrub));
    }
    order.sort_by_key(|(looked_at_ns, scrub)| {
        let day = looked_at_ns.div_euclid(DAY_NS);
        (day, Reverse(scrub.loads), scrub.label.clone())
    });
    Ok(order.into_iter().map(|(_, scrub)| scrub).collect())
}

/// The first of these that fit a budget of drive time; the first one in any case, or it would never be read.
pub fn within(order: Vec<Scrub>, budget: Micros) -> Vec<Scrub> {
    let mut left = budget;
    let mut chosen = Vec::new();
    for scrub in order {
        if scrub.predicted <= left || chosen.is_empty() {
            left = (left - scrub.predicted).max(Micros::ZERO);
            chosen.push(scrub);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrub(number: i64, hours: i64) -> Scrub {
        Scrub {
            volume: VolumeId(number),
            label: format!("A0000{number}L8"),
            read_ns: 0,
            is_read: true,
            loads: None,
            predicted: Micros(hours * 3_600_000_000),
        }
    }

    #[test]
    fn what_fits_the_budget_is_chosen_in_its_order_and_one_volume_always() {
        let chosen = |hours: i64| -> Vec<i64> {
            let order = vec![scrub(1, 5), scrub(2, 9), scrub(3, 2)];
            let budget = Micros(hours * 3_600_000_000);
            let chosen = within(order, budget).into_iter();
            chosen.map(|scrub| scrub.volume.0).collect()
        };
        assert_eq!(chosen(1), [1]);
        assert_eq!(chosen(7), [1, 3]);
        assert_eq!(chosen(14), [1, 2]);
        assert_eq!(chosen(16), [1, 2, 3]);
    }
}
