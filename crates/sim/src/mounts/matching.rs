//! Several free drives at once: who gets which, where not every drive reads every medium.
//!
//! The cartridges that can be mounted together, each on a drive of its own, are the independent sets of a
//! transversal matroid. Taking the cartridges in the order of their ranks, and each that still fits
//! together with those before it, gives the set of greatest weight (Edmonds 1971). One fits if an augmenting path
//! finds it a drive.

use super::{FreeDrive, MediumId, Place, Situation};

/// The first cartridge by rank, and the drive that it has if as many of the next ones as possible have
/// one too.
pub(super) fn first(situation: &Situation, ranked: &[(Place, usize)]) -> Option<(usize, usize)> {
    let ranked = foremost(situation, ranked);
    let mut matched: Vec<Option<usize>> = vec![None; situation.drives.len()];
    let mut free = situation.drives.len();
    let mut chosen = None;
    for (_, place) in ranked {
        if free == 0 {
            break;
        }
        let mut seen = vec![false; situation.drives.len()];
        if fits(situation, place, &mut matched, &mut seen) {
            free -= 1;
            chosen = chosen.or(Some(place));
        }
    }
    let place = chosen?;
    let drive = matched.iter().position(|&of| of == Some(place))?;
    Some((place, drive))
}

/// Of each medium as many cartridges as there are drives, in order of rank: no other can be matched.
fn foremost(situation: &Situation, ranked: &[(Place, usize)]) -> Vec<(Place, usize)> {
    let most = situation.drives.len();
    let mut by_medium: Vec<Vec<(Place, usize)>> = Vec::new();
    for &one in ranked {
        let MediumId(medium) = situation.waiting[one.1].medium;
        by_medium.resize_with(by_medium.len().max(medium + 1), Vec::new);
        by_medium[medium].push(one);
    }
    for list in &mut by_medium {
        if most > 0 && list.len() > most {
            list.select_nth_unstable(most - 1);
            list.truncate(most);
        }
    }
    let mut foremost = by_medium.concat();
    foremost.sort_unstable();
    foremost
}

/// Finds a drive for a cartridge, moving those that have one to others if need be.
fn fits(
    situation: &Situation,
    place: usize,
    matched: &mut [Option<usize>],
    seen: &mut [bool],
) -> bool {
    let waiting = &situation.waiting[place];
    // A cartridge that is in a drive stays in it.
    let fits_in = |drive: &FreeDrive| match waiting.here {
        Some(here) => drive.drive == here,
        None => (situation.reads)(drive.kind, waiting.medium),
    };
    let mut drives: Vec<usize> = (0..situation.drives.len())
        .filter(|&drive| fits_in(&situation.drives[drive]))
        .collect();
    drives.sort_by_key(|&drive| {
        let free = &situation.drives[drive];
        (free.loaded, free.since, free.drive)
    });
    for drive in drives {
        if std::mem::replace(&mut seen[drive], true) {
            continue;
        }
        let moves = match matched[drive] {
            None => true,
            Some(other) => fits(situation, other, matched, seen),
        };
        if moves {
            matched[drive] = Some(place);
            return true;
        }
    }
    false
}
