//! Which volume is read next: the archive's queue as the problem that [`tapewise_sim::mounts`] decides, as it does for
//! simulated libraries.

use super::Settings;
use super::busy::Floor;
use super::owners::{Division, destination_hold};
use super::turns::{Turn, Turns};
use super::wanted::{WantedVolume, asked, micros};
use crate::catalogue::{VolumeQueue, Waiting};
use tapewise_model::Micros;
use tapewise_sim::library::MountCost;
use tapewise_sim::mounts::{
    self, Choice, Elsewhere, FreeDrive, KindId, MediumId, MountSettings, Owner, OwnerId, Pace,
    Reason, Shares, Situation,
};

/// A robot's way to a drive, and back, where costs of mounts are compared. It is the same for all volumes, so little
/// depends on it.
pub(crate) const ROBOT_S: [f64; 2] = [10.0, 10.0];

/// Chooses volumes for the drives of a profile.
pub(crate) struct Chooser<'a> {
    settings: &'a MountSettings,
    /// What a mount costs; none where the profile has no locate-time model. All volumes cost the same then.
    cost: Option<MountCost>,
    /// Bytes of tape that a byte stands for.
    byte_scale: f64,
}

/// A volume that is read next.
pub(crate) struct Next {
    /// The volume, with what is read of it now: first what those wait for who go first by their shares, then what waits
    /// longest. Where users are limited, what the others want comes in another round.
    pub queue: VolumeQueue,
    /// Whom it is read for.
    pub owner: Owner,
    /// The drives that work for the owner already, and those that are due.
    pub has_and_due: (usize, f64),
    /// Why it is next.
    pub reason: Reason,
}

impl<'a> Chooser<'a> {
    /// The chooser of an archive.
    pub fn new(settings: &'a Settings) -> Chooser<'a> {
        Chooser {
            settings: &settings.mounts,
            cost: MountCost::of_profile(&settings.profile, ROBOT_S).ok(),
            byte_scale: settings.byte_scale as f64,
        }
    }

    /// The volume to read next. Parts on several volumes are read in file order, and all of one copy.
    pub fn next(&self, volumes: Vec<WantedVolume>, floor: &Floor<'_>) -> Option<Next> {
        let volumes = self.readable(volumes, floor);
        let division = Division::of(self.settings, &volumes, floor);
        // Other policies do not see to shares: to them all owners are alike.
        let alike = Shares::default();
        let (shares, read_for) = if self.settings.policy.prices() {
            (&division.shares, floor.read_for)
        } else {
            (&alike, None)
        };
        let turns = Turns::of(&division, shares, read_for);
        let waiting = seen(&volumes, &turns, floor);
        let drive = FreeDrive {
            drive: 0,
            kind: KindId(0),
            loaded: !floor.here.is_empty(),
            since: Micros::ZERO,
        };
        let situation = Situation {
            now: micros(floor.now_ns),
            waiting: &waiting,
            drives: &[drive],
            reads: &|_, _| true,
            cost: &|waiting, drive| self.cost(waiting, drive),
            rules: &division.rules,
            shares: &division.shares,
        };
        let choice = mounts::next(self.settings.policy, &situation);
        let reason = mounts::reason(self.settings.policy, &situation, choice)?;
        let Choice::Mount { place, .. } = choice else {
            return None;
        };
        let owner = waiting[place].owner;
        let next = volumes[place].queue();
        let is_here = floor.here.contains(&next.label);
        let waiting = next.waiting.iter();
        let mut read: Vec<(Turn, &Waiting)> = waiting
            .map(|one| (turns.of_owner(&one.owner, is_here), one))
            .collect();
        // To read for these alone, and then for the others, moves the tape twice: only who limits users wants that.
        if self.settings.limits_users() {
            let first = read.iter().map(|(turn, _)| turn.group).min();
            read.retain(|(turn, _)| Some(turn.group) == first);
        }
        read.sort_by_key(|(turn, one)| (*turn, one.created_ns, one.request));
        let mut read: Vec<&Waiting> = read.into_iter().map(|(_, one)| one).collect();
        self.keep_within_limits(&mut read, floor);
        Some(Next {
            queue: VolumeQueue {
                waiting: read.into_iter().cloned().collect(),
                label: next.label.clone(),
                ..*next
            },
            owner: division.owners[owner.0 as usize].clone(),
            has_and_due: division.shares.has_and_due(owner),
            reason,
        })
    }

    /// The volume for which a drive ends its mount, of which it has not read `rest` yet.
    pub fn cuts(
        &self,
        rest: &VolumeQueue,
        volumes: Vec<WantedVolume>,
        floor: &Floor<'_>,
    ) -> Option<String> {
        let volumes = self.readable(volumes, floor);
        let division = Division::of(self.settings, &volumes, floor);
        let rules = &division.rules;
        let turns = Turns::of(&division, &division.shares, None);
        let mut elsewhere = seen(&volumes, &turns, floor);
        elsewhere.retain(|one| !division.shares.standing(one.owner).is_at_limit);
        let now = micros(floor.now_ns);
        let nobody = OwnerId::default();
        let left = rest.waiting.iter().map(|one| asked(nobody, one));
        let left = mounts::Waiting::nobody(0, MediumId(0)).for_owner(nobody, left);
        let waits = Elsewhere {
            waiting: elsewhere.iter().copied(),
            soon_empty: 0,
            rules,
        };
        if !mounts::cuts(self.settings.policy, now, &left, waits) {
            return None;
        }
        let overdue = elsewhere.iter().filter(|one| one.is_overdue(now, rules));
        let oldest = overdue.min_by_key(|one| one.oldest)?;
        Some(volumes[oldest.cartridge as usize].label().to_owned())
    }

    /// The drive whose cartridge goes home before anybody needs it, of those that have nothing to do. `mounts` and `again`
    /// are those of [`Pace`].
    pub fn goes_home(
        &self,
        free: &[FreeDrive],
        mounts: f64,
        again: f64,
        soon_empty: usize,
    ) -> Option<usize> {
        let cost = self.cost.as_ref()?;
        let pace = Pace {
            mounts,
            again,
            before_s: cost.before().as_secs_f64(),
            after_s: cost.after().as_secs_f64(),
            soon_empty,
        };
        let place = mounts::take_home(self.settings.policy, free, &pace)?;
        Some(free[place].drive as usize)
    }

    /// What can be read now of what waits for volumes.
    fn readable(&self, volumes: Vec<WantedVolume>, floor: &Floor<'_>) -> Vec<WantedVolume> {
        let is_next = |waiting: &Waiting| {
            let first = waiting.segments.first();
            let come = floor
                .come
                .map_or(0, |come| come(waiting.request, waiting.number));
            first.is_none_or(|segment| segment.file_offset == come)
        };
        let holds = self.settings.recalls_per_destination.is_some();
        let readable = volumes.into_iter().filter_map(|wanted| {
            if floor.come.is_none() && !wanted.sums().has_later_parts && !holds {
                return Some(wanted);
            }
            wanted.keeping(|one| {
                is_next(one) && destination_hold(self.settings, one, floor).is_none()
            })
        });
        readable.collect()
    }

    /// Takes as many recalls as one mount reads, and as each directory takes.
    fn keep_within_limits(&self, waiting: &mut Vec<&Waiting>, floor: &Floor<'_>) {
        let mut begun = floor.begun.clone();
        let most = self.settings.recalls_per_destination.map(u64::from);
        waiting.retain(|one| match (&one.place, most) {
            (Some(place), Some(most)) if !one.has_begun() => {
                let begun = begun.entry(place.clone()).or_default();
                *begun += 1;
                *begun <= most
            }
            _ => true,
        });
        waiting.truncate(self.settings.most_per_mount as usize);
    }

    /// What one mount costs: what it does not read costs nothing yet.
    fn cost(&self, waiting: &mounts::Waiting, drive: &FreeDrive) -> Micros {
        let Some(cost) = &self.cost else {
            return Micros(1);
        };
        let requests = waiting.requests.min(self.settings.most_per_mount);
        let read = f64::from(requests) / f64::from(waiting.requests.max(1));
        let size_mb = waiting.size_mb * read * self.byte_scale;
        match waiting.here {
            Some(_) => cost.goes_on(requests, size_mb),
            None => cost.cost(requests, size_mb, drive.loaded),
        }
    }
}

/// What waits for volumes, as their owners' shares let it be seen.
fn seen(volumes: &[WantedVolume], turns: &Turns<'_>, floor: &Floor<'_>) -> Vec<mounts::Waiting> {
    let seen = |(place, wanted): (usize, &WantedVolume)| {
        let is_here = floor.here.contains(wanted.label());
        let of_owners = &wanted.sums().of_owners;
        let oldest = of_owners.iter().map(|(_, sum)| sum.oldest).min();
        let mut seen = mounts::Waiting {
            ready: oldest.unwrap_or(u64::MAX),
            here: is_here.then_some(0),
            ..mounts::Waiting::nobody(place as u32, MediumId(0))
        };
        let Some((group, first)) = turns.first(place, is_here) else {
            return seen;
        };
        seen.owner = first;
        let sums = turns.of_volume(place, is_here).zip(of_owners);
        let sums = sums.filter(|(turn, _)| turn.group == group);
        sums.for_each(|(_, (_, sum))| seen.join(sum));
        seen
    };
    volumes.iter().enumerate().map(seen).collect()
}

#[cfg(test)]
mod tests;
