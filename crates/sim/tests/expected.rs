//! What formulas expect of a scenario, against the simulation of the same.

use tapewise_sim::library::{NoFormula, Site};
use tapewise_sim::scenario::{Arrivals, CartridgePick, Dismount, MountPolicy};
use tapewise_sim::{Results, Scenario, Shard};

/// Many cartridges, so that requests hardly ever meet on one.
fn site(change: impl Fn(&mut Scenario)) -> Site {
    let text = r#"
        name = "library"
        requests = 3000
        replications = 4
        arrivals = { pattern = "poisson", per_hour = 150 }
        policy = { most_per_mount = 1, affinity = false }
        [[library]]
        name = "library"
        robot = { get_s = { near = 3, far = 7 }, put_s = { near = 3, far = 7 } }
        cartridge = [{ count = 5000 }]
        software = { poll_s = 4, request_s = 1 }
        [[library.drive]]
        count = 4
        load_s = 8
        unload_s = { least = 5, most = 7 }
        search_s = { near = 5, far = 21 }
        rewind_s = { near = 1, far = 25 }
    "#;
    let mut scenario = Scenario::from_toml(text).expect("a scenario");
    change(&mut scenario);
    Site::new(&scenario, tapewise_model::profile::find).expect("a site")
}

fn per_hour(rate: f64) -> Arrivals {
    Arrivals::Poisson { per_hour: rate }
}

/// Simulated over expected: mean and 95th percentile.
fn ratios(site: &Site) -> (f64, f64) {
    let study = site.study(Shard::WHOLE).expect("a study");
    let results = Results::new(site.scenario(), &study).expect("results");
    let expected = site.expected().expect("a formula");
    let p95 = results.percentiles.iter().find(|at| at.percent == 95);
    let p95_s = p95.expect("one of them").s.estimate;
    (
        results.mean_s.estimate / expected.mean_s,
        p95_s / expected.quantile_s(0.95).expect("a percentile"),
    )
}

fn assert_near(site: &Site, mean: f64, p95: f64) {
    let (of_mean, of_p95) = ratios(site);
    assert!((of_mean - 1.0).abs() < mean, "mean: {of_mean}");
    assert!((of_p95 - 1.0).abs() < p95, "p95: {of_p95}");
}

/// M/M/4 at 0.8. Erlang's C is 0.596, so the wait is 0.596 * 48 / (4 - 3.2): a service that is drawn a hundredth too
/// short makes it a twentieth too short.
#[test]
fn drives_beside_a_robot_that_takes_no_time_are_m_m_c() {
    for seed in 1..=5 {
        let site = site(|scenario| {
            let text = r#"
                robot = { get_s = 0, put_s = 0 }
                drive = [{ count = 4, load_s = { mean = 48, cv = 1 }, unload_s = 0, search_s = 0, rewind_s = 0 }]
                name = "library"
                cartridge = [{ count = 5000 }]
            "#;
            scenario.libraries = vec![toml::from_str(text).expect("a library")];
            scenario.seed = seed;
            scenario.arrivals = per_hour(240.0);
        });
        let expected = site.expected().expect("a formula");
        let off = expected.mean_s / 83.78 - 1.0;
        assert!(off.abs() < 0.05, "seed {seed}: {off}");
        assert_eq!(expected.steady.robot_wait_s.round(), 0.0);
    }
}

#[test]
fn with_idle_drives_nothing_but_the_work_itself_is_left() {
    assert_near(&site(|s| s.arrivals = per_hour(5.0)), 0.01, 0.02);
}

#[test]
fn half_loaded_drives_and_a_robot_are_as_expected() {
    assert_near(&site(|s| s.arrivals = per_hour(130.0)), 0.03, 0.06);
}

#[test]
fn heavily_loaded_drives_and_a_robot_are_nearly_as_expected() {
    assert_near(&site(|s| s.arrivals = per_hour(190.0)), 0.12, 0.15);
}

#[test]
fn unload_and_put_before_the_answer_are_counted_where_drives_are_emptied_late() {
    let late = |s: &mut Scenario| {
        s.arrivals = per_hour(100.0);
        s.policy.dismount = Dismount::WhenNeeded;
    };
    let at_once = site(|s| s.arrivals = per_hour(100.0));
    let mean_s = |site: &Site| site.expected().expect("a formula").mean_s;
    assert!(mean_s(&site(late)) > mean_s(&at_once) + 10.0);
    assert_near(&site(late), 0.05, 0.08);
}

#[test]
fn a_disk_in_front_takes_its_share() {
    let cached = site(|s| {
        s.cache = Some(tapewise_sim::scenario::Cache {
            hit_share: Some(0.5),
            size_gb: None,
            answer_s: tapewise_sim::Distribution::constant(0.5),
        });
    });
    assert_near(&cached, 0.04, 0.06);
}

#[test]
fn windows_make_batches_as_expected() {
    let windowed = site(|s| {
        s.policy.most_per_mount = None;
        s.policy.affinity = true;
        s.policy.window_s = 300.0;
        s.libraries[0].cartridges[0].count = 40;
    });
    let expected = windowed.expected().expect("a formula");
    let of_one_per_s = 150.0 / 3600.0 / 40.0;
    assert!((expected.batch_size - (1.0 + of_one_per_s * 300.0)).abs() < 1e-12);
    // Requests that join while their cartridge waits for a drive spare mounts that are expected.
    assert_near(&windowed, 0.08, 0.1);
}

#[test]
fn more_drives_do_not_make_responses_longer_but_for_the_robot_that_more_wait_for() {
    let mut before = f64::INFINITY;
    for drives in 4..12 {
        let site = site(|s| s.libraries[0].drives[0].count = drives);
        let p95_s = site.expected().expect("a formula").quantile_s(0.95);
        let p95_s = p95_s.expect("a percentile");
        assert!(
            p95_s <= 1.001 * before,
            "{drives} drives: {p95_s} after {before}"
        );
        before = p95_s;
    }
}

#[test]
fn a_robot_that_cannot_do_it_is_named_whatever_the_drives() {
    // Ten seconds for each request: 360 an hour, at most. Nothing says that a mount has one
    // request, so the scenario itself is not refused.
    let saturated = site(|s| {
        s.policy.most_per_mount = None;
        s.arrivals = per_hour(400.0);
        s.libraries[0].drives[0].count = 50;
    });
    let refused = saturated.expected().expect_err("too much");
    let NoFormula::Saturated { what, load } = refused else {
        panic!("{refused}");
    };
    assert_eq!(what, "robots");
    assert!((load - 400.0 / 360.0).abs() < 0.01, "{load}");
}

#[test]
fn what_no_formula_knows_is_refused_with_the_reason() {
    let reason = |change: fn(&mut Scenario)| {
        let refused = site(change).expected().expect_err("no formula");
        refused.to_string()
    };
    assert_eq!(
        reason(|s| s.arrivals = Arrivals::Renewal {
            per_hour: 50.0,
            cv: 2.0
        }),
        "arrivals are not Poisson"
    );
    assert_eq!(
        reason(|s| s.what.cartridges = CartridgePick::Clustered { run: 3.0 }),
        "requests come in runs for one cartridge"
    );
    // Three of four drives stand idle while somebody waits.
    assert_eq!(
        reason(|s| {
            s.policy.mount = MountPolicy::Ahead;
            s.policy.rules.drives_per_user = Some(1);
        }),
        "no user is given all drives"
    );
    assert_eq!(
        reason(|s| {
            let other = s.libraries[0].clone();
            s.libraries.push(tapewise_sim::scenario::Library {
                name: "other".to_owned(),
                ..other
            });
        }),
        "several libraries"
    );
}
