//! Mount policies answer for a situation as they say, and say nothing twice.

use tapewise_model::{Micros, Random, profile};
use tapewise_sim::Scenario;
use tapewise_sim::library::Site;
use tapewise_sim::mounts::{
    Asked, Choice, Elsewhere, FreeDrive, KindId, MediumId, MountPolicy, MountRules, OwnerId, Pace,
    Shares, Situation, Waiting, Why, cuts, next, reason, take_home, yields,
};

const MINUTE: i64 = 60_000_000;

/// Requests for one cartridge: each with its number, its minute of arrival, and its size.
fn waiting(cartridge: u32, medium: usize, requests: &[(u64, i64, f64, u8)]) -> Waiting {
    let mut waiting = Waiting::nobody(cartridge, MediumId(medium));
    waiting.ready = u64::from(cartridge);
    for &(number, minute, size_mb, priority) in requests {
        waiting.add(number, Micros(minute * MINUTE), size_mb, priority);
    }
    waiting
}

fn free(drive: u32, kind: usize, loaded: bool, since: i64) -> FreeDrive {
    FreeDrive {
        drive,
        kind: KindId(kind),
        loaded,
        since: Micros(since * MINUTE),
    }
}

/// Two minutes for a mount, one for what is still in the drive, and a second for each GB.
fn cost(waiting: &Waiting, drive: &FreeDrive) -> Micros {
    let before = if drive.loaded { MINUTE } else { 0 };
    Micros(before + 2 * MINUTE) + Micros::from_secs_f64(waiting.size_mb / 1e3)
}

fn ask(
    policy: MountPolicy,
    minute: i64,
    waiting: &[Waiting],
    drives: &[FreeDrive],
    rules: &MountRules,
) -> Choice {
    next(
        policy,
        &Situation {
            now: Micros(minute * MINUTE),
            waiting,
            drives,
            // Kind 0 reads everything, kind 1 medium 1 only.
            reads: &|kind, medium| kind == KindId(0) || medium == MediumId(1),
            cost: &cost,
            rules,
            shares: &Shares::default(),
        },
    )
}

fn cartridge(choice: Choice) -> Option<usize> {
    match choice {
        Choice::Mount { place, .. } => Some(place),
        Choice::Wait(_) => None,
    }
}

#[test]
fn every_policy_has_its_own_first() {
    let list = [
        waiting(0, 0, &[(5, 4, 1e3, 0)]),
        waiting(1, 0, &[(1, 1, 1e6, 0), (6, 5, 1e6, 0)]),
        waiting(2, 0, &[(2, 2, 1e6, 0), (3, 2, 1e6, 0), (7, 6, 1e6, 0)]),
        waiting(3, 0, &[(4, 3, 1e6, 9)]),
    ];
    let drives = [free(0, 0, false, 0)];
    let rules = MountRules::default();
    let first = |policy| cartridge(ask(policy, 10, &list, &drives, &rules));
    assert_eq!(first(MountPolicy::Fifo), Some(0));
    assert_eq!(first(MountPolicy::Oldest), Some(1));
    assert_eq!(first(MountPolicy::MostRequests), Some(2));
    assert_eq!(first(MountPolicy::Priority), Some(3));
    assert_eq!(first(MountPolicy::Cta), Some(3));
    // An urgent request counts 512 times.
    assert_eq!(first(MountPolicy::Index), Some(3));
    // One request in 121 s before three in 3,120 s.
    let index = ask(MountPolicy::Index, 10, &list[..3], &drives, &rules);
    assert_eq!(cartridge(index), Some(0));
}

#[test]
fn cta_waits_for_age_number_or_size_and_says_until_when() {
    let drives = [free(0, 0, false, 0)];
    let rules = MountRules {
        least_age_s: 600.0,
        enough_requests: 3,
        enough_gb: 100.0,
        ..MountRules::default()
    };
    let few = waiting(0, 0, &[(0, 1, 1e3, 0), (1, 2, 1e3, 0)]);
    let at = |minute, list: &[Waiting]| ask(MountPolicy::Cta, minute, list, &drives, &rules);
    assert_eq!(at(5, &[few]), Choice::Wait(Some(Micros(11 * MINUTE))));
    assert_eq!(cartridge(at(11, &[few])), Some(0));
    let many = waiting(1, 0, &[(2, 4, 1e3, 0), (3, 4, 1e3, 0), (4, 5, 1e3, 0)]);
    assert_eq!(cartridge(at(5, &[few, many])), Some(1));
    let large = waiting(2, 0, &[(5, 5, 1e5, 0)]);
    assert_eq!(cartridge(at(5, &[few, large])), Some(1));
}

#[test]
fn what_waits_alone_is_mounted_by_turn_where_a_policy_takes_what_comes() {
    let mut random = Random::new(3, 0);
    let mut nothing_reads = 0;
    for _ in 0..500 {
        let medium = random.below(2) as usize;
        let list = [waiting(7, medium, &[(0, random.below(9) as i64, 1.0, 3)])];
        let drives: Vec<FreeDrive> = (0..1 + random.below(3) as u32)
            .map(|drive| {
                let kind = random.below(2) as usize;
                free(drive, kind, random.below(2) == 0, random.below(4) as i64)
            })
            .collect();
        let readers =
            (drives.iter().enumerate()).filter(|(_, drive)| drive.kind == KindId(0) || medium == 1);
        let first = readers.min_by_key(|(_, drive)| drive.turn());
        nothing_reads += u32::from(first.is_none());
        let expected = first.map_or(Choice::Wait(None), |(drive, _)| Choice::Mount {
            place: 0,
            drive,
        });
        for policy in MountPolicy::ALL
            .into_iter()
            .filter(|policy| policy.takes_what_comes())
        {
            let choice = ask(policy, 10, &list, &drives, &MountRules::default());
            assert_eq!(choice, expected, "{policy:?} of {drives:?}");
        }
    }
    assert!((1..499).contains(&nothing_reads), "{nothing_reads}");
}

#[test]
fn a_drive_that_reads_the_medium_is_taken_the_empty_one_first() {
    let list = [waiting(0, 0, &[(0, 0, 1.0, 0)])];
    let rules = MountRules::default();
    let drives = [
        free(0, 1, false, 0),
        free(1, 0, true, 0),
        free(2, 0, false, 9),
        free(3, 0, false, 3),
    ];
    let drive = |drives: &[FreeDrive]| ask(MountPolicy::Oldest, 10, &list, drives, &rules);
    let mount = |drive| Choice::Mount { place: 0, drive };
    assert_eq!(drive(&drives), mount(3));
    assert_eq!(drive(&drives[..2]), mount(1));
    assert_eq!(drive(&drives[..1]), Choice::Wait(None));
}

#[test]
fn what_is_overdue_goes_first_and_the_oldest_of_it_before_the_others() {
    let drives = [free(0, 0, false, 0)];
    let rules = MountRules {
        overdue_s: 3600.0,
        ..MountRules::default()
    };
    for case in 0..500 {
        let mut random = Random::new(case, 0);
        let mut number = 0;
        let list: Vec<Waiting> = (0..1 + random.below(20) as u32)
            .map(|cartridge| {
                let requests: Vec<_> = (0..1 + random.below(9))
                    .map(|_| {
                        number += 1;
                        (number, random.below(120) as i64, random.unit() * 1e6, 0)
                    })
                    .collect();
                waiting(cartridge, 0, &requests)
            })
            .collect();
        let chosen = cartridge(ask(MountPolicy::Index, 130, &list, &drives, &rules)).unwrap();
        let is_overdue = |w: &&Waiting| w.oldest_arrived <= Micros(70 * MINUTE);
        let oldest = list.iter().filter(is_overdue).map(|w| w.oldest).min();
        if let Some(oldest) = oldest {
            assert_eq!(list[chosen].oldest, oldest, "case {case}");
        }
    }
}

/// One drive, two cartridges that take minutes to read, and a stream of requests for small files
/// that would always go before them.
fn crowded(policy: &str) -> Vec<f64> {
    let text = format!(
        r#"
        name = "crowded"
        requests = 3000
        arrivals = {{ pattern = "poisson", per_hour = 24 }}
        request = {{ size_mb = {{ values = [10, 10, 10, 10, 90000] }} }}
        policy = {{ {policy} }}
        [[library]]
        name = "library"
        robot = {{ get_s = 10, put_s = 10 }}
        cartridge = [{{ count = 400 }}]
        drive = [{{ count = 1, load_s = 15, unload_s = 15, search_s = 10, rewind_s = 10, rate_mb_s = 400 }}]
        "#
    );
    let scenario = Scenario::from_toml(&text).expect("a scenario");
    let site = Site::new(&scenario, profile::find).expect("a site");
    let run = site.run(0).expect("a run");
    run.answers
        .iter()
        .map(|answer| answer.response.as_secs_f64())
        .collect()
}

fn mean(responses: &[f64]) -> f64 {
    responses.iter().sum::<f64>() / responses.len() as f64
}

fn longest(responses: &[f64]) -> f64 {
    responses.iter().copied().fold(0.0, f64::max)
}

#[test]
fn the_index_shortens_the_mean_and_its_limit_shortens_the_longest_wait() {
    let most = crowded("mount = \"most-requests\"");
    let index = crowded("mount = \"index\"");
    let soon = crowded("mount = \"index\", rules = { overdue_s = 1200 }");
    assert!(
        mean(&index) < 0.9 * mean(&most),
        "{} {}",
        mean(&index),
        mean(&most)
    );
    assert!(
        longest(&soon) < longest(&index),
        "{} {}",
        longest(&soon),
        longest(&index)
    );
}

#[test]
fn free_drives_are_matched_at_once() {
    // Kind 0 reads everything, kind 1 only medium 1: the first cartridge takes the drive that the second cannot use.
    let list = [
        waiting(0, 1, &[(0, 0, 1.0, 0), (1, 0, 1.0, 0)]),
        waiting(1, 0, &[(2, 0, 1.0, 0)]),
    ];
    let drives = [free(0, 0, false, 0), free(1, 1, false, 5)];
    let rules = MountRules::default();
    let ask = |policy| ask(policy, 10, &list, &drives, &rules);
    assert_eq!(
        ask(MountPolicy::Index),
        Choice::Mount { place: 0, drive: 0 }
    );
    assert_eq!(
        ask(MountPolicy::Ahead),
        Choice::Mount { place: 0, drive: 1 }
    );
}

#[test]
fn matching_gives_as_many_drives_away_as_can_be() {
    let rules = MountRules::default();
    for case in 0..300 {
        let mut random = Random::new(case, 7);
        let mut list: Vec<Waiting> = (0..1 + random.below(6))
            .map(|n| waiting(n as u32, random.below(2) as usize, &[(n, 0, 1.0, 0)]))
            .collect();
        let mut drives: Vec<FreeDrive> = (0..1 + random.below(5))
            .map(|n| free(n as u32, random.below(2) as usize, random.below(2) == 0, 0))
            .collect();
        // Medium 0 needs a drive of kind 0; the rest goes anywhere.
        let of_kind = drives
            .iter()
            .filter(|drive| drive.kind == KindId(0))
            .count();
        let of_medium = list.iter().filter(|w| w.medium == MediumId(0)).count();
        let most = (of_medium.min(of_kind) + list.len() - of_medium).min(drives.len());
        let mut mounted = 0;
        while let Choice::Mount { place, drive } =
            ask(MountPolicy::Ahead, 10, &list, &drives, &rules)
        {
            list.remove(place);
            drives.remove(drive);
            mounted += 1;
        }
        assert_eq!(mounted, most, "case {case}");
    }
}

#[test]
fn what_is_overdue_cuts_a_mount_that_is_not() {
    let rules = MountRules {
        overdue_s: 3600.0,
        ..MountRules::default()
    };
    let (old, new) = (
        waiting(0, 0, &[(0, 0, 1.0, 0)]),
        waiting(1, 0, &[(1, 50, 1.0, 0)]),
    );
    let cut = |policy, minute, left: &Waiting, other: &Waiting, soon_empty| {
        let elsewhere = Elsewhere {
            waiting: [*other],
            soon_empty,
            rules: &rules,
        };
        cuts(policy, Micros(minute * MINUTE), left, elsewhere)
    };
    assert!(cut(MountPolicy::Ahead, 60, &new, &old, 0));
    assert!(!cut(MountPolicy::Ahead, 59, &new, &old, 0));
    assert!(!cut(MountPolicy::Ahead, 60, &old, &new, 0));
    assert!(!cut(MountPolicy::Ahead, 200, &new, &old, 0));
    assert!(!cut(MountPolicy::Index, 60, &new, &old, 0));
    assert!(
        !cut(MountPolicy::Ahead, 60, &new, &old, 1),
        "another drive is on its way"
    );
}

#[test]
fn cartridges_go_home_before_their_drive_is_needed_unless_they_are_asked_for_again() {
    let pace = Pace {
        mounts: 1.0 / 100.0,
        again: 0.0,
        before_s: 25.0,
        after_s: 64.0,
        soon_empty: 0,
    };
    // 0.64 mounts begin while one drive is emptied; twice the deviation more is 2.24, so three are kept empty.
    let loaded = [
        free(0, 0, true, 5),
        free(1, 0, true, 3),
        free(2, 0, false, 0),
    ];
    assert_eq!(take_home(MountPolicy::Ahead, &loaded, &pace), Some(1));
    assert_eq!(take_home(MountPolicy::Index, &loaded, &pace), None);
    let soon = Pace {
        soon_empty: 2,
        ..pace
    };
    assert_eq!(take_home(MountPolicy::Ahead, &loaded, &soon), None);
    let again = Pace {
        again: 1.0 / 60.0,
        ..pace
    };
    assert_eq!(take_home(MountPolicy::Ahead, &loaded, &again), None);
}

fn of_owner(cartridge: u32, owner: u32, requests: &[(u64, i64, f64, u8)]) -> Waiting {
    Waiting {
        owner: OwnerId(owner),
        ..waiting(cartridge, 0, requests)
    }
}

/// Two owners of equal shares in a library of four drives, of which one works for the second and `has` for the first.
fn shares(has: usize) -> Shares {
    let rules = MountRules::default();
    let mut shares = Shares::of(4, &rules);
    for (owner, drives) in [(OwnerId(0), has), (OwnerId(1), 1)] {
        shares.waits(owner, rules.share(owner));
        (0..drives).for_each(|_| shares.works(owner, rules.share(owner)));
    }
    shares
}

#[test]
fn a_cartridge_weighs_what_those_wait_for_who_go_first() {
    let asked = |owner, number, size_mb| Asked {
        owner: OwnerId(owner),
        number,
        arrived: Micros(number as i64 * MINUTE),
        size_mb,
        priority: 0,
    };
    let all = [
        asked(1, 0, 10.0),
        asked(0, 7, 1.0),
        asked(1, 2, 10.0),
        asked(0, 5, 2.0),
    ];
    let whole = waiting(
        3,
        0,
        &[
            (0, 0, 10.0, 0),
            (2, 2, 10.0, 0),
            (5, 5, 2.0, 0),
            (7, 7, 1.0, 0),
        ],
    );
    // Two drives are due to each, and the second owner has one.
    let seen = |has| whole.for_owners(&shares(has), all.into_iter());
    assert_eq!(seen(0), whole, "both have less than is due");
    let of_second = of_owner(3, 1, &[(0, 0, 10.0, 0), (2, 2, 10.0, 0)]);
    assert_eq!(seen(2), of_second);
}

#[test]
fn a_drive_does_not_go_on_for_one_who_is_served_while_another_waits_who_is_not() {
    let (of_first, of_second) = (
        of_owner(0, 0, &[(0, 0, 1.0, 0)]),
        of_owner(1, 1, &[(1, 9, 1.0, 0)]),
    );
    let gives_way = |has, left: &Waiting, waits: Waiting, soon_empty| {
        yields(&shares(has), left, [waits].into_iter(), soon_empty)
    };
    assert!(gives_way(2, &of_first, of_second, 0));
    assert!(
        !gives_way(2, &of_first, of_second, 1),
        "another drive is on its way"
    );
    assert!(!gives_way(2, &of_second, of_first, 0));
    assert!(
        !gives_way(1, &of_first, of_second, 0),
        "both have less than is due"
    );
}

#[test]
fn an_owner_with_its_share_of_the_drives_goes_after_one_without() {
    let many = of_owner(0, 0, &[(0, 0, 1.0, 0), (1, 0, 1.0, 0), (2, 0, 1.0, 0)]);
    let one = of_owner(1, 1, &[(3, 5, 1.0, 0)]);
    let drives = [free(0, 0, false, 0)];
    let rules = MountRules::default();
    let ask = |shares: &Shares| {
        let situation = Situation {
            now: Micros(10 * MINUTE),
            waiting: &[many, one],
            drives: &drives,
            reads: &|_, _| true,
            cost: &cost,
            rules: &rules,
            shares,
        };
        let choice = next(MountPolicy::Ahead, &situation);
        let why = reason(MountPolicy::Ahead, &situation, choice).map(|reason| reason.why);
        (cartridge(choice), why)
    };
    assert_eq!(ask(&shares(1)), (Some(0), Some(Why::Worth)));
    assert_eq!(ask(&shares(2)), (Some(1), Some(Why::Share)));
    // Where nobody is counted, nobody has a share.
    assert_eq!(ask(&Shares::default()), (Some(0), Some(Why::Worth)));
}

#[test]
fn a_cartridge_in_the_drive_goes_on_unless_the_policy_prices_another_higher() {
    let few = Waiting {
        here: Some(0),
        ..waiting(0, 0, &[(5, 9, 1.0, 0)])
    };
    let many: Vec<_> = (0..50).map(|number| (number, 8, 1.0, 0)).collect();
    let many = waiting(1, 0, &many);
    let elsewhere = Waiting {
        here: Some(7),
        ..many
    };
    let drives = [free(0, 0, true, 0)];
    let rules = MountRules::default();
    for policy in MountPolicy::ALL
        .into_iter()
        .filter(|policy| *policy != MountPolicy::Cta)
    {
        let first = |other| cartridge(ask(policy, 10, &[few, other], &drives, &rules));
        assert_eq!(
            first(many),
            Some(usize::from(policy.prices())),
            "{policy:?}"
        );
        assert_eq!(
            first(elsewhere),
            Some(0),
            "{policy:?}: it is in another drive"
        );
    }
}

#[test]
fn each_step_of_urgency_counts_double() {
    let drives = [free(0, 0, false, 0)];
    let rules = MountRules::default();
    let three = waiting(0, 0, &[(0, 9, 1.0, 0), (1, 9, 1.0, 0), (2, 9, 1.0, 0)]);
    let first = |priority| {
        let urgent = waiting(1, 0, &[(3, 9, 1.0, priority)]);
        cartridge(ask(
            MountPolicy::Index,
            10,
            &[three, urgent],
            &drives,
            &rules,
        ))
    };
    assert_eq!([1, 2].map(first), [Some(0), Some(1)]);
}
