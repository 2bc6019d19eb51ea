//! Scenario files: what is wrong is refused with its key and the reason, and those in scenarios/ run.

use tapewise_model::profile;
use tapewise_sim::library::{Part, Site};
use tapewise_sim::scenario::Overload;
use tapewise_sim::scenario::builtin::BUILTIN;
use tapewise_sim::{Results, Scenario, ScenarioError, Shard};

const GOOD: &str = r#"
name = "good"
requests = 200
replications = 2
warm_up = "keep"
[arrivals]
pattern = "poisson"
per_hour = 30
[request]
cartridges = { pick = "uniform" }
[policy]
most_per_mount = 4
[[library]]
name = "one"
robot = { get_s = 5, put_s = 5 }
drive = [{ count = 2, load_s = 10, unload_s = 10, search_s = 20, rewind_s = 20 }]
cartridge = [{ count = 10 }]
"#;

fn refused(text: &str) -> String {
    let refused = Scenario::from_toml(text)
        .and_then(|scenario| Site::new(&scenario, profile::find).map(|_| ()));
    refused.expect_err(text).to_string()
}

#[test]
fn every_mistake_is_refused_with_its_key_and_the_reason() {
    for (was, is, expected) in [
        ("requests = 200", "requests = 0", "requests: is 0"),
        (
            "replications = 2",
            "replications = 1",
            "an interval needs at least 2",
        ),
        (
            "replications = 2",
            "replicatons = 2",
            "unknown field `replicatons`",
        ),
        ("per_hour = 30", "per_hour = -3", "arrivals.per_hour: is -3"),
        (
            "per_hour = 30",
            "per_hour = 3000",
            "unstable: drives of library one",
        ),
        ("\"poisson\"", "\"poison\"", "unknown variant `poison`"),
        (
            "most_per_mount = 4",
            "most_per_mount = 0",
            "nothing would ever be read",
        ),
        (
            "most_per_mount = 4",
            "window_s = -1",
            "policy.window_s: is -1",
        ),
        (
            "most_per_mount = 4",
            "window_requests = 3",
            "give `window_s` too",
        ),
        (
            "most_per_mount = 4",
            "dismount = \"after-idle\"",
            "policy.idle_s: is needed",
        ),
        ("most_per_mount = 4", "idle_s = 3", "policy.idle_s: needs"),
        (
            "most_per_mount = 4",
            "order = \"fastest\"",
            "no order `fastest`; there are: fifo",
        ),
        (
            "most_per_mount = 4",
            "order = \"best\"",
            "needs drives whose profile has a locate-time model",
        ),
        ("\"uniform\"", "\"zipf\"", "missing field `exponent`"),
        (
            "{ pick = \"uniform\" }",
            "{ pick = \"clustered\", run = 0.5 }",
            "run: is 0.5",
        ),
        ("load_s = 10", "load_s = -10", "`mean` is -10"),
        ("load_s = 10, ", "", "drive[0].load_s: state it"),
        (
            "count = 2, ",
            "count = 2, profile = \"lto99\", ",
            "no profile `lto99`",
        ),
        (
            "count = 2, ",
            "count = 2, rate_mb_s = 0, ",
            "drive.rate_mb_s: is 0",
        ),
        (
            "count = 2, ",
            "count = 2, rate_mb_s = 1e-12, ",
            "drive.rate_mb_s: is 1e-12; between 0.05 and 1000000",
        ),
        (
            "per_hour = 30",
            "per_hour = 1e-9",
            "arrivals.per_hour: is 1e-9; at least 0.00002, or 200 requests take more than",
        ),
        (
            "per_hour = 30",
            "per_hour = 1e300",
            "arrivals.per_hour: is 1e300; at most 1000000000",
        ),
        (
            "load_s = 10",
            "load_s = 1e300",
            "`mean` is 1e300; at most 100000000",
        ),
        (
            "count = 2, ",
            "count = 0, ",
            "drive.count (of all groups): is 0",
        ),
        ("get_s = 5, ", "", "robot.get_s: state it"),
        (
            "count = 10",
            "count = 10, media = \"lto9\", filled = 1.5",
            "filled: is 1.5",
        ),
        (
            "[policy]",
            "[cache]\nhit_share = 1.5\nanswer_s = 1\n[policy]",
            "cache.hit_share: is 1.5",
        ),
        (
            "[policy]",
            "[cache]\nanswer_s = 1\n[policy]",
            "either `hit_share` or `size_gb`",
        ),
        (
            "name = \"one\"",
            "name = \"one\"\nshare = 0",
            "library.share (their sum): is 0",
        ),
        (
            "[arrivals]",
            "[precision]\nshare = 2\n[arrivals]",
            "precision.share: is 2",
        ),
        (
            "[policy]",
            "[cache]\nsize_gb = 5\nanswer_s = 1\n[policy]",
            "cache.size_gb: is never filled",
        ),
        (
            "name = \"one\"",
            "name = \"one\"\ncount = 1001",
            "count: is 1001",
        ),
        (
            "count = 10 ",
            "count = 10000001 ",
            "cartridge.count (of all groups): is 10000001",
        ),
    ] {
        assert!(GOOD.contains(was), "{was}");
        let error = refused(&GOOD.replacen(was, is, 1));
        assert!(error.contains(expected), "{is}: {error}");
    }
    assert!(Scenario::from_toml(GOOD).is_ok());
}

#[test]
fn a_cartridge_that_no_drive_reads_is_refused() {
    let text = GOOD
        .replace("count = 10", "count = 10, media = \"lto9\"")
        .replace("count = 2, ", "count = 2, reads = [\"lto8\"], ");
    assert!(refused(&text).contains("no drive reads `lto9`"));
}

#[test]
fn load_that_robots_cannot_bear_is_refused_before_it_is_simulated() {
    let text = GOOD
        .replace("most_per_mount = 4", "most_per_mount = 1")
        .replace("count = 2", "count = 20")
        .replace("per_hour = 30", "per_hour = 400");
    let scenario = Scenario::from_toml(&text).expect("a scenario");
    let error = Site::new(&scenario, profile::find).err();
    let Some(ScenarioError::Unstable(Overload { what, load, .. })) = error else {
        panic!("not refused: {error:?}");
    };
    assert_eq!(what, "robots");
    assert!((load - 400.0 * 10.0 / 3600.0).abs() < 1e-9);
}

#[test]
fn a_trace_is_checked_request_by_request() {
    let trace = |list: &str| {
        let arrivals = format!("pattern = \"trace\"\nlist = [{list}]");
        let text = GOOD.replace("pattern = \"poisson\"\nper_hour = 30", &arrivals);
        text.replace("requests = 200", "requests = 2")
    };
    let good = "{ at_s = 1, cartridge = 0, place = 0.5 }, { at_s = 2, cartridge = 9, place = 1 }";
    let two = trace(good).replace("name = \"one\"", "name = \"one\"\ncount = 2");
    assert!(refused(&two).contains("library.count: a trace names libraries by their place"));
    let scenario = Scenario::from_toml(&trace(good)).expect("a trace");
    let site = Site::new(&scenario, profile::find).expect("a site");
    let run = site.run(0).expect("a run");
    assert_eq!(run.answers[1].cartridge, 9);
    assert_eq!(run.answers[1].arrived.0, 2_000_000);
    for (was, is, expected) in [
        (
            "cartridge = 9",
            "cartridge = 10",
            "list[1].cartridge: there are 10",
        ),
        ("at_s = 2", "at_s = 0", "list[1].at_s: is before"),
        (
            "at_s = 2",
            "at_s = 1e12",
            "list[1].at_s: is 1000000000000.0 s; at most",
        ),
        ("place = 1 ", "place = 1.1", "list[1].place: is 1.1"),
        // Sizes are those of the list, and reading them takes time.
        (
            "place = 1 ",
            "place = 1, size_mb = 1 ",
            "drive[0].rate_mb_s: state it",
        ),
    ] {
        let error = refused(&trace(&good.replace(was, is)));
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn cases_state_only_what_differs() {
    let text = format!(
        "{GOOD}\n[[case]]\nname = \"a\"\narrivals = {{ per_hour = 10 }}\n\
         [[case]]\nname = \"b\"\narrivals = {{ pattern = \"closed\", users = 3, think_s = 9 }}\n\
         library = [{{ drive = [{{ count = 7 }}] }}]\n"
    );
    let cases = Scenario::cases(&text).expect("two cases");
    assert_eq!(cases.len(), 2);
    assert_eq!(
        cases[0].libraries,
        Scenario::from_toml(GOOD).unwrap().libraries
    );
    assert_eq!(cases[1].libraries[0].drives[0].count, 7);
    let cases_refused = Scenario::from_toml(&text).expect_err("two").to_string();
    assert!(cases_refused.contains("2 cases"));
    let twice = Scenario::cases(&text.replace("\"b\"", "\"a\""));
    assert!(
        twice
            .expect_err("twice")
            .to_string()
            .contains("another case")
    );
}

#[test]
fn a_list_of_a_case_is_laid_over_one_by_one_unless_it_is_longer_or_empty() {
    let common = GOOD.replace(
        "[request]",
        "[request]\npriorities = [{ priority = 1, share = 1 }, { priority = 2, share = 1 }]",
    );
    let urgency = |list: &str| {
        let case = format!("{common}\n[[case]]\nname = \"a\"\nrequest = {{ priorities = {list} }}");
        let cases = Scenario::cases(&case).expect("a case");
        let classes = cases[0].what.priorities.iter();
        classes.map(|class| class.priority).collect::<Vec<u8>>()
    };
    assert_eq!(urgency("[{ priority = 7 }]"), [7, 2]);
    assert_eq!(urgency("[]"), Vec::<u8>::new());
    let three = "{ priority = 7, share = 1 }, ".repeat(3);
    assert_eq!(urgency(&format!("[{three}]")), [7, 7, 7]);
}

#[test]
fn more_libraries_or_cartridges_than_are_counted_are_refused() {
    let library = |name: usize, count: u32, cartridges: u32| {
        let one = &GOOD[GOOD.find("[[library]]").expect("a library")..];
        one.replace("\"one\"", &format!("\"{name}\"\ncount = {count}"))
            .replace("count = 10 }", &format!("count = {cartridges} }}"))
    };
    let common = &GOOD[..GOOD.find("[[library]]").expect("a library")];
    let many: String = (0..11).map(|name| library(name, 1000, 1)).collect();
    let error = refused(&format!("{common}{many}"));
    assert!(
        error.contains("library.count (of all): is 11000"),
        "{error}"
    );
    let error = refused(&format!("{common}{}", library(0, 2, 6_000_000)));
    assert!(
        error.contains("cartridge.count (of all libraries): is 12000000"),
        "{error}"
    );
}

/// With searches of a profile's model a rewind may be stated, as times only: a way is by places, which are the model's.
#[test]
fn a_rewind_that_is_stated_beside_a_profile_is_the_one_that_is_taken() {
    let site = |rewind: &str| {
        let drive = format!("profile = \"lto8\", rewind_s = {rewind}");
        let text = GOOD.replace("search_s = 20, rewind_s = 20", &drive);
        let scenario = Scenario::from_toml(&text).expect("a scenario");
        Site::new(&scenario, profile::find)
    };
    let run = site("7").expect("a site").run(0).expect("a run");
    let mounts = run.usage[0].mounts as i64;
    let rewinds = run.usage[0].drive_time[Part::Rewind];
    assert!(mounts > 2 && rewinds.0 % 7_000_000 == 0, "{rewinds:?}");
    assert!(
        (mounts - rewinds.0 / 7_000_000).abs() <= 2,
        "{mounts}: {rewinds:?}"
    );
    let error = site("{ near = 1, far = 20 }").err().expect("by distance");
    assert!(error.to_string().contains("rewind_s"), "{error}");
}

/// One request a mount: of places drawn by Zipf most lie at the beginning, and so do cartridges.
#[test]
fn a_load_is_weighed_by_the_places_and_cartridges_that_are_drawn() {
    let text = |picks: &str, per_hour: u32, drive: &str, robot: &str| {
        GOOD.replace("most_per_mount = 4", "most_per_mount = 1")
            .replace("cartridges = { pick = \"uniform\" }", picks)
            .replace("per_hour = 30", &format!("per_hour = {per_hour}"))
            .replace("search_s = 20, rewind_s = 20", drive)
            .replace("get_s = 5, put_s = 5", robot)
    };
    let load = |text: &str| {
        let scenario = Scenario::from_toml(text).expect("a scenario");
        match Site::new(&scenario, profile::find) {
            Err(ScenarioError::Unstable(overload)) => overload.load,
            other => panic!("not refused: {:?}", other.err()),
        }
    };
    let (searches, robot) = (
        "search_s = { near = 1, far = 101 }, rewind_s = 0",
        "get_s = 0, put_s = 0",
    );
    let weights = |count: u32| (1..=count).map(move |k| 1.0 / f64::from(k * k));
    let mean = |count: u32, at: fn(f64, f64) -> f64| {
        let places = (0..count).map(|k| at(k.into(), count.into()));
        let sum: f64 = places.zip(weights(count)).map(|(at, w)| at * w).sum();
        sum / weights(count).sum::<f64>()
    };
    let places = "places = { pick = \"zipf\", parts = 100, exponent = 2 }";
    let search_s = 1.0 + 100.0 * mean(100, |k, of| (k + 0.5) / of);
    assert!(search_s < 4.0);
    let found = load(&text(places, 3600, searches, robot));
    assert!((found - (20.0 + search_s) / 2.0).abs() < 1e-9, "{found}");

    let cartridges = "cartridges = { pick = \"zipf\", exponent = 2 }";
    let get = "get_s = { near = 1, far = 100 }, put_s = 0";
    let get_s = 1.0 + 99.0 * mean(10, |k, of| k / (of - 1.0));
    let found = load(&text(cartridges, 3600, "search_s = 0, rewind_s = 0", get));
    assert!((found - (20.0 + get_s) / 2.0).abs() < 1e-9, "{found}");
}

#[test]
fn libraries_that_are_alike_share_the_requests() {
    let text = GOOD.replace("name = \"one\"", "name = \"one\"\ncount = 3");
    let scenario = Scenario::from_toml(&text).expect("a scenario");
    let names: Vec<&str> = scenario.libraries.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["one 1", "one 2", "one 3"]);
    let run = Site::new(&scenario, profile::find)
        .expect("a site")
        .run(0)
        .expect("a run");
    for library in 0..3 {
        let share = run.answers.iter().filter(|a| a.library == library).count();
        assert!((40..100).contains(&share), "{share} of 200");
    }
}

#[test]
fn every_scenario_file_runs_and_says_what_came_of_it() {
    for (_, text) in BUILTIN {
        for mut scenario in Scenario::cases(text).expect("cases") {
            (scenario.requests, scenario.replications) = (600, 2);
            let site = Site::new(&scenario, profile::find).expect("a site");
            let study = site.study(Shard::WHOLE).expect("a study");
            let results = Results::new(&scenario, &study).expect("results");
            assert!(
                results.mean_s.estimate > 1.0,
                "{}: {results:?}",
                scenario.name
            );
            assert!(!results.slowest.is_empty());
        }
    }
}
