//! Shares of the drives, and a site's policy as a text: divided as a hand would.

use proptest::prelude::*;
use tapewise_model::{Micros, Random};
use tapewise_sim::Scenario;
use tapewise_sim::mounts::{
    Choice, FreeDrive, KindId, MountPolicy, MountRules, MountSettings, Owner, OwnerId, PolicyError,
    Shares, Situation, Standing, Waiting, next,
};

/// Owners written as `activity/user`.
fn owners(names: &[&str]) -> Vec<Owner> {
    let owner = |name: &&str| {
        let (activity, user) = name.split_once('/').expect("activity/user");
        Owner {
            activity: activity.to_owned(),
            user: user.to_owned(),
        }
    };
    names.iter().map(owner).collect()
}

/// Who has what of the drives, where each of the owners has this many and waits for more.
fn divided(policy: &str, drives: usize, owned: &[(&str, usize)]) -> Shares {
    let settings = MountSettings::from_toml(policy).expect("a policy");
    let names: Vec<&str> = owned.iter().map(|(name, _)| *name).collect();
    let rules = settings.rules(&owners(&names));
    let mut shares = Shares::of(drives, &rules);
    for (number, (_, has)) in (0..).zip(owned) {
        let owner = OwnerId(number);
        shares.waits(owner, rules.share(owner));
        (0..*has).for_each(|_| shares.works(owner, rules.share(owner)));
    }
    shares
}

fn due(shares: &Shares, owners: u32) -> Vec<f64> {
    let owners = (0..owners).map(OwnerId);
    owners.map(|owner| shares.has_and_due(owner).1).collect()
}

#[test]
fn drives_are_divided_among_activities_and_then_among_their_users() {
    let asked = [("production/pia", 0), ("/ann", 0), ("/bob", 0)];
    assert_eq!(due(&divided("", 12, &asked), 3), [6.0, 3.0, 3.0]);
    let policy = "shares = { ann = 2 }\nactivity_shares = { production = 3 }";
    assert_eq!(due(&divided(policy, 12, &asked), 3), [9.0, 2.0, 1.0]);
    // Who does not ask has no share: the others divide it.
    assert_eq!(due(&divided(policy, 12, &asked[1..]), 2), [8.0, 4.0]);
}

#[test]
fn an_activity_with_its_drives_goes_after_one_without_however_many_users_it_has() {
    let asked = [("a/1", 1), ("a/2", 1), ("a/3", 1), ("a/4", 0), ("b/5", 2)];
    // Three of six are due to each. The fourth user of `a` has none, but `a` has its three, and `b` has two.
    let shares = divided("", 6, &asked);
    let standing = |owner| shares.standing(OwnerId(owner));
    assert!(standing(4) < standing(3) && standing(3) < standing(0));
    assert_eq!(shares.neediest([0, 3, 4].map(OwnerId)), Some(OwnerId(4)));
    assert_eq!(shares.neediest([0, 3].map(OwnerId)), Some(OwnerId(3)));
}

#[test]
fn a_limit_holds_for_a_user_in_all_activities_together() {
    let asked = [("a/greedy", 1), ("b/greedy", 1), ("b/ann", 0)];
    let shares = divided("drives_per_user = 2", 6, &asked);
    let at_limit = |owner| shares.standing(OwnerId(owner)).is_at_limit;
    assert_eq!([0, 1, 2].map(at_limit), [true, true, false]);
    let shares = divided("spare_drives = 4", 6, &asked);
    assert!(shares.standing(OwnerId(0)).is_at_limit);
    // Where there are no more drives than the spare ones, nobody is kept from them.
    let shares = divided("spare_drives = 6", 6, &asked);
    assert_eq!(shares.standing(OwnerId(2)), Standing::default());
}

#[test]
fn what_is_wrong_with_a_policy_is_named() {
    for (text, words) in [
        ("polisy = \"ahead\"", "polisy"),
        ("policy = \"cta\"", "policy"),
        ("overdue_s = -1", "overdue_s"),
        ("age = nan", "age"),
        ("most_per_mount = 0", "most_per_mount"),
        ("drives_per_user = 0", "drives_per_user"),
        ("recalls_per_destination = 0", "recalls_per_destination"),
        ("shares = { ann = 0 }", "shares"),
        ("activity_shares = { production = -1 }", "activity_shares"),
        ("policy = \"oldest\"\ndrives_per_user = 3", "ahead or index"),
    ] {
        let error = MountSettings::from_toml(text).expect_err(text);
        assert!(error.to_string().contains(words), "{text}: {error}");
        assert_eq!(matches!(error, PolicyError::Text(_)), words == "polisy");
    }
}

#[test]
fn a_policy_is_laid_over_a_scenario_whose_names_it_knows() {
    let text = r#"
        name = "named"
        requests = 10
        arrivals = { pattern = "poisson", per_hour = 1 }
        request = { owners = 2, names = [{ user = "greedy", activity = "bulk" }, { user = "ann" }] }
        [[library]]
        name = "library"
        robot = { get_s = 10, put_s = 10 }
        cartridge = [{ count = 10 }]
        drive = [{ count = 2, load_s = 15, unload_s = 15, search_s = 40, rewind_s = 20, rate_mb_s = 400 }]
    "#;
    let mut scenario = Scenario::from_toml(text).expect("a scenario");
    let policy = r#"
        recalls_per_destination = 5
        drives_per_user = 1
        shares = { ann = 3, carl = 2 }
        activity_shares = { bulk = 0.5 }
    "#;
    let mounts = MountSettings::from_toml(policy).expect("a policy");
    let without_effect = scenario.set_mounts(&mounts);
    assert_eq!(without_effect.len(), 2, "{without_effect:?}");
    assert!(without_effect[0].contains("carl") && without_effect[1].contains("destination"));
    let rules = &scenario.policy.rules;
    let of = |owner| {
        let share = rules.share(OwnerId(owner));
        (share.of_activity, share.of_user)
    };
    // The third user has no name: it is called by its number.
    assert_eq!([0, 1, 2].map(of), [(0.5, 1.0), (1.0, 3.0), (1.0, 1.0)]);
    assert_eq!(scenario.policy.mount, MountPolicy::Ahead);
    assert_eq!(rules.drives_per_user, Some(1));
}

/// What a drive works for, and until when; the time of the last mount for each owner.
struct Site {
    at_work: Vec<Option<(OwnerId, i64)>>,
    served: Vec<i64>,
}

/// The longest mount, and when a request is overdue, in microseconds.
const MOUNT: i64 = 1_000;
const OVERDUE: i64 = 50_000;

impl Site {
    /// Who has how many drives, while everybody waits for more.
    fn shares(&self, rules: &MountRules) -> Shares {
        let mut shares = Shares::of(self.at_work.len(), rules);
        for owner in (0..self.served.len() as u32).map(OwnerId) {
            shares.waits(owner, rules.share(owner));
        }
        for (owner, _) in self.at_work.iter().flatten() {
            shares.works(*owner, rules.share(*owner));
        }
        shares
    }

    /// The drive that is free first is given away; the time and to whom.
    fn give(&mut self, rules: &MountRules, random: &mut Random) -> (i64, OwnerId) {
        let until = |drive: &usize| self.at_work[*drive].map_or(0, |(_, until)| until);
        let free = (0..self.at_work.len()).min_by_key(until).expect("a drive");
        let now = self.at_work[free].take().map_or(0, |(_, until)| until);
        let waiting = |(owner, served): (u32, &i64)| Waiting {
            owner: OwnerId(owner),
            // The first owner asks for the most.
            weight: if owner == 0 { 100.0 } else { 1.0 },
            ..Waiting::first(owner, *served as u64, Micros(*served))
        };
        let waiting: Vec<Waiting> = (0..).zip(&self.served).map(waiting).collect();
        let situation = Situation {
            now: Micros(now),
            waiting: &waiting,
            drives: &[FreeDrive {
                drive: 0,
                kind: KindId(0),
                loaded: false,
                since: Micros::ZERO,
            }],
            reads: &|_, _| true,
            cost: &|_, _| Micros(1),
            rules,
            shares: &self.shares(rules),
        };
        let Choice::Mount { place, .. } = next(MountPolicy::Ahead, &situation) else {
            panic!("a drive is idle while all wait");
        };
        let owner = OwnerId(place as u32);
        self.at_work[free] = Some((owner, now + 1 + random.below(MOUNT as u64) as i64));
        (now, owner)
    }
}

proptest! {
    /// Everybody always waits. Nobody then has more drives than are due, rounded up, and nobody waits for longer than
    /// until the own request is overdue and those before it are served.
    #[test]
    fn whoever_always_waits_never_has_more_than_is_due_nor_starves(
        asking in prop::collection::vec((0_u8..3, 1_u8..=5), 2..6),
        drives in 4_usize..12,
        seed in 0_u64..1000,
    ) {
        let names: Vec<String> = (0..).zip(&asking).map(|(user, (activity, _))| format!("{activity}/{user}")).collect();
        let owners = owners(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let settings = MountSettings {
            overdue_s: OVERDUE as f64 / 1e6,
            shares: (0..).zip(&asking).map(|(user, (_, share)): (u32, _)| (user.to_string(), f64::from(*share))).collect(),
            ..MountSettings::default()
        };
        let rules = settings.rules(&owners);
        let mut random = Random::new(seed, 0);
        let mut site = Site { at_work: vec![None; drives], served: vec![0; asking.len()] };
        for step in 0..1000 {
            let (now, owner) = site.give(&rules, &mut random);
            let (has, due) = site.shares(&rules).has_and_due(owner);
            prop_assert!(has as f64 <= due.ceil(), "step {step}: {owner:?} has {has} of {due}");
            let waited = now - site.served[owner.0 as usize];
            let longest = OVERDUE + (asking.len() as i64 + 3) * MOUNT;
            prop_assert!(waited <= longest, "step {step}: {owner:?} waited {waited}");
            site.served[owner.0 as usize] = now;
        }
        let (now, longest) = (site.served.iter().max(), site.served.iter().min());
        prop_assert!(now.zip(longest).is_some_and(|(now, longest)| now - longest <= OVERDUE + 9 * MOUNT));
    }
}
