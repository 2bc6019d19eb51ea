//! `library bench`: Gniewek's nine cases on an emulated library, and the same simulated.

use crate::program::Desk;
use tapewise_model::profile;
use tapewise_sim::library::Site;
use tapewise_sim::{Scenario, Shard, Summary};

const MAKE: &str = "emulate lib --robot ibm3575-l18 --drive ibm3570c --drives 6 --slots 180 \
                    --cartridges 10 --scale 1000000";
const PREPARE: &str = "library bench prepare emulated:lib --drive emulated:lib#drive0 \
                       --object-bytes 10000000 --cartridges TW0001,TW0002,TW0003,TW0004,TW0005,\
                       TW0006,TW0007,TW0008,TW0009,TW0010 -o cartridges.csv";

/// Requests an hour and drives: the paper's cases.
const CASES: [(u32, u16); 9] = [
    (50, 2),
    (50, 4),
    (50, 6),
    (100, 4),
    (100, 6),
    (150, 4),
    (150, 6),
    (200, 6),
    (250, 6),
];

fn prepared() -> Desk {
    let desk = Desk::new();
    desk.done(MAKE);
    desk.done(&format!("{PREPARE} --write"));
    desk
}

fn run(desk: &Desk, drives: u16, log: &str) -> serde_json::Value {
    let drives = (0..drives).map(|number| format!("emulated:lib#drive{number}"));
    let drives: Vec<String> = drives.collect();
    let drives = drives.join(",");
    let args = format!(
        "library bench run emulated:lib pattern.csv --cartridges cartridges.csv \
         --drives {drives} -o {log} --json"
    );
    desk.done(&args).json()
}

/// Mean and standard deviation of the mean response of a replication.
fn simulated(toml: &str) -> (f64, f64) {
    let scenario = Scenario::from_toml(toml).expect("a scenario");
    let site = Site::new(&scenario, profile::find).expect("a site");
    let study = site.study(Shard::WHOLE).expect("a study");
    let means: Vec<f64> = study.summaries.iter().map(Summary::mean_s).collect();
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    let squares: f64 = means.iter().map(|one| (one - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

#[test]
fn nine_cases_on_an_emulated_library_answer_as_their_simulation_does() {
    let desk = prepared();
    for (rate, drives) in CASES {
        desk.done(&format!(
            "library bench pattern --rate {rate} --requests 150 -o pattern.csv"
        ));
        let log = format!("{rate}-{drives}.jsonl");
        let measured = run(&desk, drives, &log);
        assert_eq!(measured["answered"], 150);
        assert_eq!(measured["drives"], drives);
        let again = desk.done(&format!(
            "library bench report pattern.csv {log} --json --scenario case.toml"
        ));
        assert_eq!(again.json(), measured);
        let mean = measured["response_s"]["mean"].as_f64().expect("a mean");
        let (simulated_s, deviation_s) = simulated(&desk.read("case.toml"));
        let off = (mean - simulated_s) / deviation_s;
        assert!(
            off.abs() < 3.0,
            "{rate}-{drives}: {mean} s, simulated {simulated_s} +- {deviation_s} s"
        );
        if rate == 250 {
            // A robot that rests for two seconds after each move is another library.
            let text = desk.read("case.toml");
            let slower = text.replace("[library.robot]\n", "[library.robot]\nsettle_s = 2\n");
            let (slower_s, deviation_s) = simulated(&slower);
            assert!((slower_s - mean) / deviation_s > 3.0, "{slower_s} {mean}");
        }
    }
}

#[test]
fn a_report_adds_up_and_a_log_is_not_written_over() {
    let desk = prepared();
    desk.done("library bench pattern --rate 200 --requests 40 --seed 3 -o pattern.csv");
    let report = run(&desk, 3, "events.jsonl");
    let bins = report["histogram"].as_array().expect("bins").iter();
    let counted: u64 = bins.filter_map(|bin| bin["count"].as_u64()).sum();
    assert_eq!(counted, 40);
    for step in report["steps"].as_array().expect("steps") {
        assert_eq!(step["count"], 40, "{step}");
    }
    let text = desk.done("library bench report pattern.csv events.jsonl");
    for words in [
        "40 of 40 requests answered",
        "3 drives that took part; 0 failures",
        "the robot moved",
        "prove nothing about hardware",
    ] {
        assert!(
            text.text().contains(words),
            "{words:?} not in\n{}",
            text.text()
        );
    }
    let before = desk.read("events.jsonl");
    let again = desk.run(
        "library bench run emulated:lib pattern.csv --cartridges cartridges.csv \
         --drives emulated:lib#drive0 -o events.jsonl",
    );
    assert_eq!(again.code, 3, "{}", again.err);
    assert_eq!(desk.read("events.jsonl"), before);

    desk.done("library bench pattern --rate 200 --requests 39 --seed 4 -o other.csv");
    let other = desk.run("library bench report other.csv events.jsonl");
    assert_eq!(other.code, 2, "{}", other.err);
    assert!(other.err.contains("not of this pattern"), "{}", other.err);
}

#[test]
fn cartridges_are_written_only_with_consent_and_once() {
    let desk = Desk::new();
    desk.done(MAKE);
    let refused = desk.run(PREPARE);
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("--write"), "{}", refused.err);
    // A byte of this library stands for a megabyte: 26 KB are none.
    let unfit = PREPARE.replace("--object-bytes 10000000", "--write");
    desk.refused(
        &unfit,
        &["--object-bytes 26000", "1000000", "emulated:lib#drive0"],
    );
    let few = "library bench prepare emulated:lib --drive emulated:lib#drive0 --write \
               --object-bytes 10000000 --objects 5 -o cartridges.csv --cartridges";
    desk.done(&format!("{few} TW0003,TW0001"));
    let table = "cartridge,label,objects,object_bytes\n1,TW0003,5,10\n2,TW0001,5,10\n";
    assert_eq!(desk.read("cartridges.csv"), table);
    // The same command does nothing more; with one cartridge more it fills that one.
    desk.done(&format!("{few} TW0003,TW0001"));
    assert_eq!(desk.read("cartridges.csv"), table);
    desk.done(&format!("{few} TW0003,TW0001,TW0002"));
    assert_eq!(
        desk.read("cartridges.csv"),
        format!("{table}3,TW0002,5,10\n")
    );
    let other = desk.run(&format!("{few} TW0001"));
    assert_eq!(other.code, 2, "{}", other.err);

    let again = few.replace("cartridges.csv", "again.csv");
    let full = desk.run(&format!("{again} TW0001"));
    assert_eq!(full.code, 3, "{}", full.err);
    assert!(full.err.contains("holds 5 blocks"), "{}", full.err);
    desk.done(&format!("{again} TW0001 --overwrite"));
}

#[test]
fn a_run_without_an_answer_says_why() {
    let desk = Desk::new();
    desk.done(MAKE);
    desk.done(
        "library bench prepare emulated:lib --drive emulated:lib#drive0 --write --objects 5 \
         --object-bytes 10000000 -o cartridges.csv --cartridges TW0001,TW0002",
    );
    let longer = desk.read("cartridges.csv").replace(",5,10", ",5,11");
    desk.put("cartridges.csv", longer);
    desk.done("library bench pattern --rate 100 --requests 4 --cartridges 2 -o pattern.csv");
    let ran = desk.run(
        "library bench run emulated:lib pattern.csv --cartridges cartridges.csv \
         --drives emulated:lib#drive0,emulated:lib#drive1 -o events.jsonl",
    );
    assert_eq!((ran.code, ran.text()), (9, ""), "{}", ran.err);
    for words in ["4 failures", "an object of 11 bytes", "TW0001"] {
        assert!(ran.err.contains(words), "{words:?} not in {}", ran.err);
    }
}

#[test]
fn a_pattern_is_the_same_every_time_and_a_rate_of_nothing_is_refused() {
    let desk = Desk::new();
    let pattern = "library bench pattern --rate 150 --requests 20 --cartridges 3";
    let text = desk.done(pattern).text().to_owned();
    assert_eq!(text.lines().count(), 21);
    assert!(text.starts_with("number,at_s,cartridge,location\n1,0.000000,1,"));
    assert_eq!(desk.done(pattern).text(), text);
    assert_ne!(desk.done(&format!("{pattern} --seed 2")).text(), text);
    for rate in ["0", "-5", "nan", "0.001"] {
        let ran = desk.run(&format!("library bench pattern --rate={rate}"));
        assert_eq!(ran.code, 2, "{rate}: {}", ran.err);
    }
}
