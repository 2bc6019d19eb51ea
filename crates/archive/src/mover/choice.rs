//! Which volume is read next: the archive's queue as the problem that [`tapewise_sim::mounts`] decides, as it does for
//! simulated libraries.

use super::Settings;
use crate::catalogue::{RequestId, VolumeQueue, Waiting};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use tapewise_model::Micros;
use tapewise_sim::library::MountCost;
use tapewise_sim::mounts::{
    self, Choice, FreeDrive, KindId, MediumId, MountPolicy, MountRules, OwnerId, Reason, Shares,
    Situation,
};

/// A robot's way to a drive, and back, where costs of mounts are compared. It is the same for all volumes, so little
/// depends on it.
pub(crate) const ROBOT_S: [f64; 2] = [10.0, 10.0];

/// How the next volume is chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MountSettings {
    /// The policy: one that never waits.
    pub policy: MountPolicy,
    /// Seconds after which a request goes before all that have not waited for as long.
    pub overdue_s: f64,
    /// Requests that are read of a volume before the drive is given away anew.
    pub most_per_mount: u32,
    /// Drives that no user alone is given.
    pub spare_drives: u32,
    /// Shares of the drives by user; whoever is not listed has 1.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub shares: BTreeMap<String, f64>,
}

impl Default for MountSettings {
    fn default() -> MountSettings {
        let rules = MountRules::default();
        MountSettings {
            policy: MountPolicy::Ahead,
            overdue_s: rules.overdue_s,
            most_per_mount: 1000,
            spare_drives: 0,
            shares: BTreeMap::new(),
        }
    }
}

/// Chooses volumes for the drives of a profile.
pub(crate) struct Chooser<'a> {
    settings: &'a MountSettings,
    rules: MountRules,
    /// What a mount costs; none where the profile has no locate-time model. All volumes cost the same then.
    cost: Option<MountCost>,
}

/// What is known when a drive is free.
pub(crate) struct Floor<'a> {
    /// The time, nanoseconds since 1970.
    pub now_ns: i64,
    /// Drives of the archive.
    pub drives: usize,
    /// Labels of what is in the drive that is free.
    pub here: &'a HashSet<String>,
    /// Users whom the other drives work for.
    pub at_work: &'a [String],
    /// How many bytes of a copy have been read; where another copy was begun, an offset that no part has.
    pub come: &'a dyn Fn(RequestId, u32) -> u64,
}

/// A volume that is read next.
pub(crate) struct Next {
    /// The volume, with what is read of it now: first what the users wait for that have fewer drives than their shares,
    /// then what waits longest.
    pub queue: VolumeQueue,
    /// The user it is read for.
    pub user: String,
    /// Why it is next.
    pub reason: Reason,
}

impl<'a> Chooser<'a> {
    /// The chooser of an archive.
    pub fn new(settings: &'a Settings) -> Chooser<'a> {
        let mounts = &settings.mounts;
        Chooser {
            settings: mounts,
            rules: MountRules {
                overdue_s: mounts.overdue_s,
                spare_drives: mounts.spare_drives,
                ..MountRules::default()
            },
            cost: MountCost::of_profile(&settings.profile, ROBOT_S).ok(),
        }
    }

    /// The volume to read next. Parts on several volumes are read in file order, and all of one copy.
    pub fn next(&self, volumes: Vec<VolumeQueue>, floor: &Floor<'_>) -> Option<Next> {
        let readable = volumes.into_iter().filter_map(|mut queue| {
            queue.waiting.retain(|waiting| {
                let first = waiting.segments.first();
                let come = (floor.come)(waiting.request, waiting.number);
                first.is_none_or(|segment| segment.file_offset == come)
            });
            (!queue.waiting.is_empty()).then_some(queue)
        });
        let volumes: Vec<VolumeQueue> = readable.collect();
        let users = Users::of(&volumes, floor.at_work);
        let shares = self.shares(&volumes, &users, floor);
        let seen = |(place, queue): (usize, &VolumeQueue)| {
            let waiting = waiting(place, queue, floor);
            let requests = queue.waiting.iter();
            let requests =
                requests.map(|one| (users.id(&one.user), number(one), micros(one.created_ns)));
            waiting.for_owners(&shares, requests)
        };
        let waiting: Vec<mounts::Waiting> = volumes.iter().enumerate().map(seen).collect();
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
            rules: &self.rules,
            shares: &shares,
        };
        let choice = mounts::next(self.settings.policy, &situation);
        let reason = mounts::reason(self.settings.policy, &situation, choice)?;
        let Choice::Mount { place, .. } = choice else {
            return None;
        };
        let user = users.name(waiting[place].owner);
        let mut queue = volumes[place].clone();
        let served = |one: &Waiting| shares.is_served(users.id(&one.user));
        queue
            .waiting
            .sort_by_key(|one| (served(one), one.created_ns, one.request));
        queue
            .waiting
            .truncate(self.settings.most_per_mount as usize);
        Some(Next {
            queue,
            user,
            reason,
        })
    }

    /// Who has how many drives.
    fn shares(&self, volumes: &[VolumeQueue], users: &Users<'_>, floor: &Floor<'_>) -> Shares {
        let share = |user: &str| self.settings.shares.get(user).copied().unwrap_or(1.0);
        let mut shares = Shares::of(floor.drives);
        for one in volumes.iter().flat_map(|queue| &queue.waiting) {
            shares.waits(users.id(&one.user), share(&one.user));
        }
        for user in floor.at_work {
            shares.works(users.id(user), share(user));
        }
        shares
    }

    fn cost(&self, waiting: &mounts::Waiting, drive: &FreeDrive) -> Micros {
        let (requests, size_mb) = (waiting.requests, waiting.size_mb);
        let Some(cost) = &self.cost else {
            return Micros(1);
        };
        match waiting.here {
            Some(_) => cost.goes_on(requests, size_mb),
            None => cost.cost(requests, size_mb, drive.loaded),
        }
    }
}

/// The users that ask, numbered.
struct Users<'a>(Vec<&'a str>);

impl<'a> Users<'a> {
    fn of(volumes: &'a [VolumeQueue], at_work: &'a [String]) -> Users<'a> {
        let waiting = volumes.iter().flat_map(|queue| &queue.waiting);
        let waiting = waiting.map(|one| one.user.as_str());
        let mut users: Vec<&str> = waiting.chain(at_work.iter().map(String::as_str)).collect();
        users.sort_unstable();
        users.dedup();
        Users(users)
    }

    fn id(&self, user: &str) -> OwnerId {
        OwnerId(self.0.partition_point(|&other| other < user) as u32)
    }

    fn name(&self, OwnerId(owner): OwnerId) -> String {
        self.0
            .get(owner as usize)
            .map_or(String::new(), |&name| name.to_owned())
    }
}

/// What waits for a volume.
fn waiting(place: usize, queue: &VolumeQueue, floor: &Floor<'_>) -> mounts::Waiting {
    let mut all = mounts::Waiting::nobody(place as u32, MediumId(0));
    for one in &queue.waiting {
        let bytes = one.segments.iter().map(|segment| segment.bytes);
        let size_mb = bytes.fold(0, u64::saturating_add) as f64 / 1e6;
        // Steps of urgency below zero count too; beyond a hundred none does.
        let priority = (one.priority.clamp(-100, 100) + 100) as u8;
        all.add(number(one), micros(one.created_ns), size_mb, priority);
    }
    all.ready = all.oldest;
    all.here = floor.here.contains(&queue.label).then_some(0);
    all
}

/// Requests of one moment in the order of their numbers.
fn number(waiting: &Waiting) -> u64 {
    waiting.request.0 as u64
}

fn micros(ns: i64) -> Micros {
    Micros(ns / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{FileId, VolumeId};
    use crate::record::Segment;
    use tapewise_model::profile;
    use tapewise_sim::mounts::Why;

    fn queue(label: &str, requests: &[(i64, &str, i64)]) -> VolumeQueue {
        let waiting = requests.iter().map(|&(id, user, minute)| Waiting {
            request: RequestId(id),
            file: FileId(id),
            number: 1,
            priority: 0,
            user: user.to_owned(),
            deadline_ns: None,
            created_ns: minute * 60_000_000_000,
            zstd_bytes: None,
            segments: vec![Segment {
                partition: 0,
                first_block: 0,
                last_block: 0,
                byte_offset: 0,
                bytes: 1_000_000,
                file_offset: 0,
                start: None,
                end: None,
            }],
        });
        VolumeQueue {
            volume: VolumeId(1),
            label: label.to_owned(),
            waiting: waiting.collect(),
        }
    }

    fn ask(
        mounts: MountSettings,
        volumes: &[VolumeQueue],
        here: &str,
        at_work: &[&str],
    ) -> Option<Next> {
        let mut settings = Settings::of(profile::find("lto8").expect("a profile"));
        settings.mounts = mounts;
        let at_work: Vec<String> = at_work.iter().map(|&user| user.to_owned()).collect();
        let floor = Floor {
            now_ns: 30 * 60_000_000_000,
            drives: 4,
            here: &HashSet::from([here.to_owned()]),
            at_work: &at_work,
            come: &|_, _| 0,
        };
        Chooser::new(&settings).next(volumes.to_vec(), &floor)
    }

    #[test]
    fn every_policy_of_the_simulation_that_never_waits_chooses_here_too() {
        let volumes = [
            queue("A", &[(3, "ann", 3), (4, "ann", 3)]),
            queue("B", &[(1, "ann", 1)]),
            queue("C", &[(2, "ann", 2)]),
        ];
        let next = |policy, here| {
            let mounts = MountSettings {
                policy,
                ..MountSettings::default()
            };
            ask(mounts, &volumes, here, &[]).expect("one").queue.label
        };
        for (policy, expected) in [
            (MountPolicy::Oldest, "B"),
            (MountPolicy::MostRequests, "A"),
            (MountPolicy::Ahead, "A"),
        ] {
            assert_eq!(next(policy, ""), expected, "{policy:?}");
            assert_eq!(next(policy, "C"), "C", "{policy:?}: it is in the drive");
        }
    }

    #[test]
    fn what_is_overdue_goes_before_what_is_in_the_drive() {
        let volumes = [queue("A", &[(1, "ann", 20)]), queue("B", &[(2, "ann", 1)])];
        let mounts = MountSettings {
            overdue_s: 1200.0,
            ..MountSettings::default()
        };
        let next = ask(mounts, &volumes, "A", &[]).expect("one");
        assert_eq!(
            (next.queue.label.as_str(), next.reason.why),
            ("B", Why::Overdue)
        );
    }

    #[test]
    fn a_user_without_a_drive_goes_first_and_what_others_want_of_that_volume_comes_after() {
        let many: Vec<_> = (10..60).map(|id| (id, "greedy", 1)).collect();
        let volumes = [
            queue("A", &many),
            queue("B", &[(1, "greedy", 1), (2, "ann", 9)]),
        ];
        let at_work = ["greedy"; 3];
        let next = ask(MountSettings::default(), &volumes, "", &at_work).expect("one");
        assert_eq!(
            (next.queue.label.as_str(), next.user.as_str()),
            ("B", "ann")
        );
        assert_eq!(next.reason.why, Why::Share);
        let order: Vec<i64> = next.queue.waiting.iter().map(|one| one.request.0).collect();
        assert_eq!(order, [2, 1]);
        // With three times the share the three drives are the other's due.
        let shares = BTreeMap::from([("greedy".to_owned(), 7.0)]);
        let mounts = MountSettings {
            shares,
            ..MountSettings::default()
        };
        assert_eq!(
            ask(mounts, &volumes, "", &at_work)
                .expect("one")
                .queue
                .label,
            "A"
        );
    }

    #[test]
    fn no_user_alone_is_given_the_spare_drives() {
        let volumes = [queue("A", &[(1, "greedy", 1)])];
        let mounts = MountSettings {
            spare_drives: 1,
            ..MountSettings::default()
        };
        assert!(ask(mounts.clone(), &volumes, "", &["greedy"; 3]).is_none());
        assert!(ask(mounts, &volumes, "", &["greedy"; 2]).is_some());
    }

    #[test]
    fn a_mount_takes_the_oldest_requests_and_no_more_than_the_settings_say() {
        let volumes = [queue("A", &[(1, "ann", 9), (2, "ann", 5), (3, "ann", 7)])];
        let mounts = MountSettings {
            most_per_mount: 2,
            ..MountSettings::default()
        };
        let next = ask(mounts, &volumes, "", &[]).expect("one");
        let order: Vec<i64> = next.queue.waiting.iter().map(|one| one.request.0).collect();
        assert_eq!(order, [2, 3]);
    }
}
