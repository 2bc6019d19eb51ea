//! Studies: the same bytes on any number of threads and machines, and what is not steady is said.

use tapewise_model::Micros;
use tapewise_sim::library::{Answer, Part, Parts, Run, Site};
use tapewise_sim::scenario::WarmUp;
use tapewise_sim::statistics::{Histogram, LONGEST};
use tapewise_sim::{
    Outcome, Results, Scenario, Shard, Steady, Study, StudyError, Summary, WarmUpCut,
};

fn site(change: impl Fn(&mut Scenario)) -> Site {
    let text = r#"
        name = "small"
        requests = 600
        replications = 6
        warm_up = "keep"
        arrivals = { pattern = "poisson", per_hour = 60 }
        [[library]]
        name = "library"
        robot = { get_s = { near = 3, far = 9 }, put_s = { mean = 5, cv = 0.2 } }
        cartridge = [{ count = 50 }]
        [[library.drive]]
        count = 3
        load_s = 15
        unload_s = { least = 10, most = 20 }
        search_s = { near = 5, far = 80 }
        rewind_s = { near = 2, far = 70 }
    "#;
    let mut scenario = Scenario::from_toml(text).expect("a scenario");
    change(&mut scenario);
    Site::new(&scenario, tapewise_model::profile::find).expect("a site")
}

fn on_threads(threads: usize, site: &Site) -> Study {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let study = pool.expect("threads").install(|| site.study(Shard::WHOLE));
    study.expect("a study")
}

#[test]
fn one_thread_and_two_give_the_same() {
    let site = site(|_| ());
    assert_eq!(on_threads(1, &site), on_threads(2, &site));
}

#[test]
fn another_seed_gives_another_study() {
    let other = site(|scenario| scenario.seed = 2);
    assert_ne!(
        on_threads(1, &site(|_| ())).summaries,
        on_threads(1, &other).summaries
    );
}

#[test]
fn shards_in_any_order_merge_to_the_whole() {
    for warm_up in [WarmUp::Keep, WarmUp::Automatic] {
        // The last of seven has a partner that is made for its warm-up only.
        let site = site(|scenario| (scenario.warm_up, scenario.replications) = (warm_up, 7));
        let shard = |index| site.study(Shard { index, of: 4 }).expect("a shard");
        let merged = Study::merge(vec![shard(2), shard(0), shard(3), shard(1)]);
        assert_eq!(merged.expect("a whole"), on_threads(1, &site));
    }
}

#[test]
fn shards_that_are_missing_twice_there_or_of_another_scenario_are_refused() {
    let site_of_one = site(|_| ());
    let shard = |index| site_of_one.study(Shard { index, of: 3 }).expect("a shard");
    let other = site(|scenario| scenario.seed = 2);
    let other = other.study(Shard { index: 1, of: 3 }).expect("a shard");
    let reason = |shards| Study::merge(shards).expect_err("apart").to_string();
    assert!(reason(vec![shard(0), shard(2)]).contains("replication 2 is missing"));
    assert!(reason(vec![shard(0), shard(1), shard(1), shard(2)]).contains("twice"));
    assert!(reason(vec![shard(0), shard(1)]).contains("4 of 6"));
    assert!(reason(vec![shard(0), other, shard(2)]).contains("different scenarios"));
    assert!(reason(vec![]).contains("none"));
    let none = site_of_one.study(Shard { index: 3, of: 3 });
    assert!(matches!(none, Err(StudyError::NoSuchShard { .. })));
}

#[test]
fn shards_of_other_profile_contents_are_of_another_scenario() {
    let text = r#"
        name = "known by name"
        requests = 100
        arrivals = { pattern = "poisson", per_hour = 3 }
        [[library]]
        name = "library"
        robot = { get_s = 3, put_s = 3 }
        cartridge = [{ count = 50 }]
        drive = [{ count = 2, profile = "lto8" }]
    "#;
    let scenario = Scenario::from_toml(text).expect("a scenario");
    let of = |mount_s: f64| {
        let site = Site::new(&scenario, |name| {
            let mut profile = tapewise_model::profile::find(name)?;
            if let Some(mount) = &mut profile.handling.mount_s {
                mount.value = mount_s;
            }
            Ok(profile)
        });
        site.expect("a site").fingerprint()
    };
    assert_eq!(of(20.0), of(20.0));
    assert_ne!(of(20.0), of(21.0));
}

#[test]
fn with_a_precision_there_are_no_shards() {
    let site = site(|scenario| {
        // Refused before they are made: so many would take hours.
        scenario.requests = 5_000_000;
        scenario.replications = 10_000;
        scenario.precision = Some(tapewise_sim::scenario::Precision {
            share: 0.02,
            most: 10_000,
        });
    });
    let shard = site.study(Shard { index: 0, of: 2 });
    assert!(matches!(shard, Err(StudyError::Undivided { .. })));
}

/// A quarter's sum, a part's sum and the sum of squares times the count are beyond 63 and 128 bits.
#[test]
fn sums_of_the_longest_times_are_exact() {
    let longest = LONGEST.0;
    let answer = |number: u64| {
        let response = Micros(longest - 2_000_000 * (number % 2) as i64);
        let mut parts = Parts::default();
        parts[Part::DriveWait] = response;
        Answer {
            number,
            arrived: Micros(number as i64),
            response,
            parts,
            library: 0,
            cartridge: 0,
            place: 0.0,
            size_mb: 0.0,
            drive: Some(0),
            priority: 0,
            owner: 0,
            cleaning_meanwhile: Micros::ZERO,
            failures_meanwhile: Micros::ZERO,
        }
    };
    let run = Run {
        replication: 0,
        answers: (0..1 << 18).map(answer).collect(),
        usage: Vec::new(),
        duration: LONGEST,
    };
    let summary =
        Summary::new(&run, WarmUpCut::NONE, &mut Histogram::default()).expect("a summary");
    let mean_us = longest - 1_000_000;
    assert_eq!(summary.quarters, [Micros(mean_us); 4]);
    let quarter = |number: u64| (number << 16..(number + 1) << 16).sum::<u64>();
    assert_eq!(summary.found, [0, 1, 2, 3].map(quarter));
    assert_eq!(summary.mean_s(), mean_us as f64 / 1e6);
    assert_eq!(summary.part_s(Part::DriveWait), mean_us as f64 / 1e6);
    assert!((summary.variance_s2() - 1.0).abs() < 1e-5);
    let text = serde_json::to_string(&summary).expect("JSON");
    assert_eq!(
        serde_json::from_str::<Summary>(&text).expect("read"),
        summary
    );
}

#[test]
fn replications_are_made_until_the_mean_is_as_sure_as_wanted() {
    let site = site(|scenario| {
        scenario.precision = Some(tapewise_sim::scenario::Precision {
            share: 0.02,
            most: 1000,
        });
    });
    let study = site.study(Shard::WHOLE).expect("a study");
    let results = Results::new(site.scenario(), &study).expect("results");
    assert!(study.replications > 6, "six are not enough for 2 %");
    assert!(results.mean_s.half_width <= 0.0201 * results.mean_s.estimate);
}

#[test]
fn a_queue_that_grows_is_not_steady() {
    // One request a mount takes some 150 s of a drive: three drives bear about 70 an hour.
    let growing = site(|scenario| {
        scenario.arrivals = tapewise_sim::scenario::Arrivals::Poisson { per_hour: 100.0 };
        scenario.what.cartridges = tapewise_sim::scenario::CartridgePick::InTurn;
        scenario.policy.affinity = false;
        scenario.policy.most_per_mount = Some(1);
        scenario.policy.dismount = tapewise_sim::scenario::Dismount::WhenNeeded;
    });
    let results = |site: &Site| {
        let study = site.study(Shard::WHOLE).expect("a study");
        Results::new(site.scenario(), &study).expect("results")
    };
    assert!(matches!(results(&growing).steady, Steady::Growing { .. }));
    assert_eq!(results(&site(|_| ())).steady, Steady::Yes);
}

/// Drives that are idle for most of the time would be as idle if there were more of them.
#[test]
fn a_queue_that_grows_beside_idle_drives_does_not_ask_for_more_of_them() {
    let said = |rate: f64, window_s: f64| {
        let site = site(|scenario| {
            scenario.requests = 4000;
            scenario.policy.window_s = window_s;
            scenario.arrivals = tapewise_sim::scenario::Arrivals::Poisson { per_hour: rate };
        });
        let study = site.study(Shard::WHOLE).expect("a study");
        match Outcome::new(&site, study).expect("an outcome") {
            Outcome::Unstable(why) => why.to_string(),
            Outcome::Steady(_) => "steady".to_owned(),
        }
    };
    let idle = said(100.0, 1e6);
    assert!(idle.contains("a window that is longer"), "{idle}");
    let busy = said(3000.0, 0.0);
    assert!(busy.contains("add drives or robots"), "{busy}");
}

/// Three drives read at most 2,160 requests an hour, as no search takes less than 5 s. Mounts get fuller, so the
/// responses of the last quarter are no longer than those of the second.
#[test]
fn a_queue_that_grows_behind_fuller_mounts_is_not_steady() {
    let study = |per_hour: f64| {
        let site = site(|scenario| {
            scenario.requests = 4000;
            scenario.arrivals = tapewise_sim::scenario::Arrivals::Poisson { per_hour };
        });
        let study = site.study(Shard::WHOLE).expect("a study");
        let steady = Results::new(site.scenario(), &study)
            .expect("results")
            .steady;
        (study, steady)
    };
    let (overloaded, verdict) = study(3000.0);
    let [_, second, _, last] = overloaded.summaries[0].quarters;
    assert!(last < second, "{last} {second}");
    assert!(matches!(verdict, Steady::Growing { .. }), "{verdict:?}");
    assert_eq!(study(500.0).1, Steady::Yes);
}

/// One drive and one request an hour, each answered within minutes; then all at once.
#[test]
fn requests_find_those_that_are_not_answered_yet() {
    let found = |gap_s: f64| {
        let site = site(|scenario| {
            scenario.requests = 40;
            scenario.arrivals = tapewise_sim::scenario::Arrivals::Renewal {
                per_hour: 3600.0 / gap_s,
                cv: 0.0,
            };
        });
        let run = site.run(0).expect("a run");
        let summary = Summary::new(&run, WarmUpCut::NONE, &mut Histogram::default());
        summary.expect("a summary").found
    };
    assert_eq!(found(3600.0), [0; 4]);
    // Ten requests find 0 to 9 others, the next ten 10 to 19, and so on.
    assert_eq!(found(0.001), [45, 145, 245, 345]);
}

#[test]
fn parts_of_the_mean_response_sum_to_it() {
    let site = site(|_| ());
    let study = on_threads(1, &site);
    let results = Results::new(site.scenario(), &study).expect("results");
    let parts: f64 = results.parts.iter().map(|part| part.s.estimate).sum();
    assert!((parts - results.mean_s.estimate).abs() < 1e-6);
    assert_eq!(results.requests, 3600);
}
