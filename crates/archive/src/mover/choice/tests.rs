use super::*;
use crate::catalogue::{FileId, RequestId, VolumeId};
use crate::mover::busy::ReadFor;
use crate::mover::owners::{Hold, OwnerShare, owner_shares};
use crate::record::Segment;
use std::collections::{BTreeMap, HashSet};
use tapewise_model::profile;
use tapewise_sim::mounts::{MountPolicy, Why};

fn owner(user: &str) -> Owner {
    let (activity, user) = user.split_once('/').unwrap_or(("", user));
    Owner {
        activity: activity.to_owned(),
        user: user.to_owned(),
    }
}

fn queue(label: &str, requests: &[(i64, &str, i64)]) -> VolumeQueue {
    let waiting = requests.iter().map(|&(id, user, minute)| Waiting {
        request: RequestId(id),
        file: FileId(id),
        number: 1,
        priority: 0,
        owner: owner(user),
        place: None,
        deadline_ns: None,
        created_ns: minute * 60_000_000_000,
        file_bytes: 1_000_000,
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

fn wanted(volumes: &[VolumeQueue]) -> Vec<WantedVolume> {
    volumes.iter().cloned().map(WantedVolume::from).collect()
}

fn with(mounts: MountSettings) -> Settings {
    let mut settings = Settings::of(profile::find("lto8").expect("a profile"));
    settings.mounts = mounts;
    settings
}

/// Four drives, half an hour after the queue began.
fn floor<'a>(at_work: &'a [Owner], here: &'a HashSet<String>) -> Floor<'a> {
    Floor {
        now_ns: 30 * 60_000_000_000,
        drives: 4,
        here,
        read_for: None,
        at_work,
        begun: &NOTHING,
        come: None,
    }
}

static NOTHING: BTreeMap<Vec<u8>, u64> = BTreeMap::new();

fn ask(
    mounts: MountSettings,
    volumes: &[VolumeQueue],
    here: &str,
    at_work: &[&str],
) -> Option<Next> {
    ask_beside(mounts, volumes, here, at_work, &NOTHING)
}

fn ask_beside(
    mounts: MountSettings,
    volumes: &[VolumeQueue],
    here: &str,
    at_work: &[&str],
    begun: &BTreeMap<Vec<u8>, u64>,
) -> Option<Next> {
    let at_work: Vec<Owner> = at_work.iter().map(|&user| owner(user)).collect();
    let here = HashSet::from([here.to_owned()]);
    let floor = Floor {
        begun,
        ..floor(&at_work, &here)
    };
    Chooser::new(&with(mounts)).next(wanted(volumes), &floor)
}

fn shares(
    mounts: MountSettings,
    volumes: &[VolumeQueue],
    at_work: &[&str],
    begun: &BTreeMap<Vec<u8>, u64>,
) -> Vec<OwnerShare> {
    let at_work: Vec<Owner> = at_work.iter().map(|&user| owner(user)).collect();
    let here = HashSet::new();
    let floor = Floor {
        begun,
        ..floor(&at_work, &here)
    };
    owner_shares(&mounts, &wanted(volumes), &floor)
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
fn reads_count_with_the_tape_that_they_take() {
    // Four times as many requests, each of a hundred times as much.
    let mut volumes = [
        queue("A", &[1, 2, 3, 4].map(|id| (id, "ann", 1))),
        queue("B", &[(5, "ann", 1)]),
    ];
    for segment in volumes[0]
        .waiting
        .iter_mut()
        .flat_map(|one| &mut one.segments)
    {
        segment.bytes *= 100;
    }
    let next = |byte_scale| {
        let settings = Settings {
            byte_scale,
            ..with(MountSettings::default())
        };
        let next = Chooser::new(&settings).next(wanted(&volumes), &floor(&[], &HashSet::new()));
        next.expect("one").queue.label
    };
    assert_eq!((next(1).as_str(), next(10_000).as_str()), ("A", "B"));
}

/// Times since 1970, summed, are more than 64 bits from some five thousand on.
#[test]
fn many_recalls_of_today_wait_as_long_as_they_do() {
    let today = 56 * 365 * 24 * 60;
    let many: Vec<_> = (1..=20_000).map(|id| (id, "ann", today)).collect();
    let few: Vec<_> = (30_001..=50_000)
        .map(|id| (id, "ann", today - 600))
        .collect();
    let volumes = [queue("A", &many), queue("B", &few)];
    let here = HashSet::new();
    let floor = Floor {
        now_ns: (today + 1) * 60_000_000_000,
        ..floor(&[], &here)
    };
    let settings = with(MountSettings::default());
    let next = Chooser::new(&settings).next(wanted(&volumes), &floor);
    assert_eq!(next.expect("one").queue.label, "B");
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
fn a_user_without_a_drive_goes_first_and_where_users_are_limited_alone() {
    let many: Vec<_> = (10..60).map(|id| (id, "greedy", 1)).collect();
    let volumes = [
        queue("A", &many),
        queue("B", &[(1, "greedy", 1), (2, "ann", 9)]),
    ];
    let at_work = ["greedy"; 3];
    let next = ask(MountSettings::default(), &volumes, "", &at_work).expect("one");
    assert_eq!(
        (next.queue.label.as_str(), next.owner.user.as_str()),
        ("B", "ann")
    );
    assert_eq!(next.reason.why, Why::Share);
    let order: Vec<i64> = next.queue.waiting.iter().map(|one| one.request.0).collect();
    assert_eq!(order, [2, 1]);
    let limited = MountSettings {
        drives_per_user: Some(4),
        ..MountSettings::default()
    };
    let next = ask(limited, &volumes, "", &at_work).expect("one");
    let order: Vec<i64> = next.queue.waiting.iter().map(|one| one.request.0).collect();
    assert_eq!(order, [2]);
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
fn of_users_who_stand_alike_those_for_whom_a_drive_has_just_read_go_last() {
    let volumes = [queue(
        "A",
        &[(1, "ann", 1), (2, "ann", 2), (3, "cat", 3), (4, "bob", 20)],
    )];
    let next = |mounts: MountSettings, here: &str, rounds: &[&[&str]]| {
        let here = HashSet::from([here.to_owned()]);
        let mut read_for = ReadFor::default();
        for users in rounds {
            read_for.add_round(users.iter().map(|user| owner(user)));
        }
        let floor = Floor {
            read_for: Some(&read_for),
            ..floor(&[], &here)
        };
        let next = Chooser::new(&with(mounts)).next(wanted(&volumes), &floor);
        let requests = next.expect("one").queue.waiting.into_iter();
        requests.map(|one| one.request.0).collect::<Vec<i64>>()
    };
    let limited = MountSettings {
        drives_per_user: Some(1),
        ..MountSettings::default()
    };
    let in_limits = |rounds: &[&[&str]]| next(limited.clone(), "A", rounds);
    assert_eq!(in_limits(&[]), [1, 2, 3, 4]);
    assert_eq!(in_limits(&[&["ann"]]), [3, 4]);
    // Two who ask for very much do not keep it between them: whoever has waited longest for a turn goes first.
    assert_eq!(in_limits(&[&["ann"], &["cat"]]), [4, 1, 2]);
    assert_eq!(in_limits(&[&["ann"], &["cat"], &["bob"]]), [1, 2, 3]);
    // Who was read for together goes on together.
    assert_eq!(in_limits(&[&["ann", "cat", "bob"]]), [1, 2, 3, 4]);
    let usual = MountSettings::default();
    assert_eq!(next(usual, "A", &[&["ann"]]), [3, 4, 1, 2]);
    // It has another cartridge.
    assert_eq!(next(limited.clone(), "B", &[&["ann"]]), [1, 2, 3, 4]);
    let oldest = MountSettings {
        policy: MountPolicy::Oldest,
        ..MountSettings::default()
    };
    assert_eq!(next(oldest, "A", &[&["ann"]]), [1, 2, 3, 4]);
}

#[test]
fn a_policy_without_shares_sees_all_owners_alike() {
    let volumes = [
        queue("A", &[(1, "greedy", 1), (3, "ann", 9)]),
        queue("B", &[(2, "greedy", 2)]),
    ];
    let mounts = MountSettings {
        policy: MountPolicy::Oldest,
        ..MountSettings::default()
    };
    let next = ask(mounts, &volumes, "", &["greedy"; 3]).expect("one");
    let order: Vec<i64> = next.queue.waiting.iter().map(|one| one.request.0).collect();
    assert_eq!((next.queue.label.as_str(), order), ("A", vec![1, 3]));
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
fn activities_have_shares_before_their_users_do() {
    let volumes = [
        queue("A", &[(1, "bulk/greedy", 1), (2, "bulk/greedy", 1)]),
        queue("B", &[(3, "analysis/ann", 9)]),
    ];
    let next = |at_work: &[&str]| {
        let next = ask(MountSettings::default(), &volumes, "", at_work).expect("one");
        (next.queue.label, next.has_and_due)
    };
    assert_eq!(next(&["bulk/bob"]), ("A".to_owned(), (0, 1.0)));
    // Another user of the same activity has the drives that are due to it.
    assert_eq!(next(&["bulk/bob"; 2]), ("B".to_owned(), (0, 2.0)));
}

#[test]
fn a_user_at_the_limit_waits_and_is_told_why() {
    let volumes = [
        queue("A", &[(1, "greedy", 1), (2, "greedy", 2)]),
        queue("B", &[(2, "greedy", 2), (3, "ann", 9)]),
    ];
    let mounts = MountSettings {
        drives_per_user: Some(2),
        ..MountSettings::default()
    };
    let at_work = ["bulk/greedy", "greedy"];
    let next = ask(mounts.clone(), &volumes, "", &at_work).expect("one");
    assert_eq!(
        (next.queue.label, next.owner),
        ("B".to_owned(), owner("ann"))
    );
    let shares = shares(mounts, &volumes, &at_work, &BTreeMap::new());
    let told: Vec<_> = shares
        .iter()
        .map(|one| {
            (
                one.owner.user.as_str(),
                one.drives,
                one.waiting,
                &one.held[..],
            )
        })
        .collect();
    let hold = [(Hold::User { drives: 2 }, 2)];
    assert_eq!(
        told,
        [
            ("ann", 0, 1, &[][..]),
            ("greedy", 1, 2, &hold[..]),
            ("greedy", 1, 0, &[][..])
        ]
    );
}

#[test]
fn no_more_recalls_to_a_directory_are_begun_than_it_takes() {
    let mut volumes = [
        queue("A", &[(1, "ann", 1), (2, "ann", 2), (3, "ann", 3)]),
        queue("B", &[(4, "bob", 9)]),
    ];
    for one in &mut volumes[0].waiting {
        one.place = Some(b"/slow".to_vec());
    }
    let mounts = MountSettings {
        recalls_per_destination: Some(3),
        ..MountSettings::default()
    };
    let begun = |count| BTreeMap::from([(b"/slow".to_vec(), count)]);
    let next = |count| ask_beside(mounts.clone(), &volumes, "", &[], &begun(count)).expect("one");
    let one = next(1).queue;
    assert_eq!((one.label.as_str(), one.waiting.len()), ("A", 2));
    assert_eq!(next(3).queue.label, "B");
    let told = shares(mounts.clone(), &volumes, &[], &begun(3));
    assert_eq!(told[0].held[0].1, 3);
    assert!(told[0].held[0].0.to_string().contains("/slow"));
    // A file whose first part has come is not left half-read.
    volumes[0].waiting[0].segments[0].file_offset = 7;
    let come = |_, _| 7;
    let (settings, here, begun) = (with(mounts), HashSet::new(), begun(3));
    let floor = Floor {
        come: Some(&come),
        begun: &begun,
        ..floor(&[], &here)
    };
    let next = Chooser::new(&settings).next(wanted(&volumes), &floor);
    let queue = next.expect("the rest of the file").queue;
    assert_eq!((queue.label.as_str(), queue.waiting.len()), ("A", 1));
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

#[test]
fn what_a_mount_does_not_read_costs_nothing_yet() {
    let mut volumes = [
        queue("A", &[(1, "ann", 1); 10]),
        queue("B", &[(20, "ann", 1), (21, "ann", 1)]),
    ];
    for (one, id) in volumes[0].waiting.iter_mut().zip(1..) {
        one.request = RequestId(id);
        // Five minutes of reading.
        one.segments[0].bytes = 100_000_000_000;
    }
    let next = |most_per_mount| {
        let mounts = MountSettings {
            most_per_mount,
            ..MountSettings::default()
        };
        ask(mounts, &volumes, "", &[]).expect("one").queue.label
    };
    assert_eq!([next(10), next(1)], ["B", "A"]);
}

#[test]
fn a_mount_is_cut_for_what_is_overdue_elsewhere_unless_the_rest_is_too() {
    let mounts = MountSettings {
        overdue_s: 1200.0,
        drives_per_user: Some(1),
        ..MountSettings::default()
    };
    let cuts = |policy, rest: i64, elsewhere: &[(i64, &str, i64)]| {
        let settings = with(MountSettings {
            policy,
            ..mounts.clone()
        });
        let (at_work, here) = ([owner("ann")], HashSet::new());
        // Another drive works for ann.
        let volumes = [
            queue("B", &[(8, "bob", 25)]),
            queue("C", elsewhere),
            queue("D", &[(9, "bob", 9)]),
        ];
        let rest = queue("A", &[(1, "ann", rest), (2, "ann", 29)]);
        Chooser::new(&settings).cuts(&rest, wanted(&volumes), &floor(&at_work, &here))
    };
    use MountPolicy::{Ahead, Index};
    let bob = [(5, "bob", 5)];
    assert_eq!(cuts(Ahead, 11, &bob).as_deref(), Some("C"));
    assert_eq!(cuts(Ahead, 10, &bob), None, "the rest is overdue");
    assert_eq!(cuts(Index, 11, &bob), None);
    let ann = [(5, "ann", 5)];
    assert_eq!(
        cuts(Ahead, 11, &ann).as_deref(),
        Some("D"),
        "ann is at the limit"
    );
}

#[test]
fn only_ahead_brings_cartridges_home_early_and_the_one_that_was_idle_for_longest() {
    let free: Vec<FreeDrive> = [(3, true, 40), (1, true, 7), (0, false, 0)]
        .map(|(drive, loaded, since_s)| FreeDrive {
            drive,
            kind: KindId(0),
            loaded,
            since: Micros(since_s * 1_000_000),
        })
        .into();
    let goes_home = |policy, again| {
        let settings = with(MountSettings {
            policy,
            ..MountSettings::default()
        });
        // A mount in a minute.
        Chooser::new(&settings).goes_home(&free, 1.0 / 60.0, again, 0)
    };
    assert_eq!(goes_home(MountPolicy::Ahead, 0.0), Some(1));
    assert_eq!(goes_home(MountPolicy::Oldest, 0.0), None);
    // Each is asked for again within a few seconds.
    assert_eq!(goes_home(MountPolicy::Ahead, 0.5), None);
}
