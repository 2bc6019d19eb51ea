//! `measure` on emulated drives: the table at the end, taken up again, refused, interrupted.

use crate::program::Desk;

fn events(desk: &Desk, log: &str) -> usize {
    let log = desk.read(log);
    log.lines()
        .filter(|line| line.contains("\"purpose\""))
        .count()
}

#[test]
fn a_suite_ends_with_a_table_and_is_not_measured_twice() {
    let desk = Desk::new();
    let line = "measure emulated:ampex-dst310 -o log.jsonl --only mount,seek-mid";
    let ran = desk.done(line);
    for word in [
        "mount",
        "unmount, rewound",
        "seek between any places",
        "says nothing of hardware",
    ] {
        assert!(ran.text().contains(word), "{word:?} not in\n{}", ran.text());
    }
    // No line that is overwritten where nobody looks.
    assert!(!ran.err.contains('\r'), "{}", ran.err);
    let first = events(&desk, "log.jsonl");
    let again = desk.done(line);
    // The last sample alone: it may have been stopped half way.
    assert!(events(&desk, "log.jsonl") - first <= 3);
    assert!(again.text().contains("seek between any places"));
    let other = desk.run(&format!("{line} --seed 2"));
    assert_eq!(other.code, 2, "{}", other.err);
    assert!(other.err.contains("--seed 1"), "{}", other.err);
    desk.refused("measure emulated:lto8 -o -", &["the log is a file"]);
    let before = desk.read("log.jsonl");
    let other = desk.run(&line.replace("ampex-dst310", "lto8"));
    assert_eq!(other.code, 2, "{}", other.err);
    for words in [
        "log.jsonl is the log of drive DST310",
        "and this is ULT3580-TD8",
        "--output",
    ] {
        assert!(other.err.contains(words), "{words:?} not in {}", other.err);
    }
    assert_eq!(desk.read("log.jsonl"), before);
}

#[test]
fn a_log_whose_last_line_was_cut_off_goes_on_behind_the_line_before() {
    let desk = Desk::new();
    let line = "measure emulated:ampex-dst310 -o log.jsonl --only mount,seek-mid";
    let whole = desk.done(line);
    let log = desk.read("log.jsonl");
    desk.put("log.jsonl", &log[..log.len() * 2 / 3]);
    let again = desk.done(line);
    let numbers = |text: &str| -> Vec<String> {
        let rows = text.lines().filter(|row| !row.contains("of drive time"));
        rows.map(str::to_owned).collect()
    };
    assert_eq!(again.lines().len(), whole.lines().len(), "{}", again.text());
    assert_eq!(numbers(again.text())[..2], numbers(whole.text())[..2]);
    assert!(events(&desk, "log.jsonl") >= log.matches("\"purpose\"").count());
}

#[test]
fn nothing_is_written_without_write_and_nothing_overwritten_without_overwrite() {
    let desk = Desk::new();
    desk.done("emulate lib --drive ampex-dst310 --scale 16384");
    let steps = "--only block-size,mount --block-size 64";
    let blank = desk.run("measure emulated:lib -o log.jsonl --only mount");
    assert_eq!(blank.code, 2, "{}", blank.err);
    assert!(blank.err.contains("--write"), "{}", blank.err);
    let ran = desk.done(&format!(
        "measure emulated:lib -o log.jsonl --write {steps}"
    ));
    let full = "smallest block that is read at the full rate: 1024 KiB";
    assert!(ran.text().contains(full), "{}", ran.text());
    // The same log again: the cartridge was filled for it.
    let again = desk.done(&format!(
        "measure emulated:lib -o log.jsonl --write {steps}"
    ));
    assert!(again.text().contains(full), "{}", again.text());
    let refused = desk.run(&format!("measure emulated:lib -o b.jsonl --write {steps}"));
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("--overwrite"), "{}", refused.err);
    // This drive has no compression, and the program says so in words.
    let ran = desk.run("measure emulated:lib -o c.jsonl --write --overwrite --only compression");
    assert!(
        ran.err.contains("the drive has no compression to measure"),
        "{}",
        ran.err
    );
}

/// What is measured for a fit takes the time that was given, and a fit of it knows moves that it never saw.
#[test]
fn what_is_measured_for_a_fit_keeps_its_time_and_predicts_other_moves() {
    let desk = Desk::new();
    desk.done("measure emulated:lto9 -o walk.jsonl --for-fit=2h");
    let whole = desk.read("walk.jsonl");
    let took = |log: &str| -> f64 {
        let line = |line: &str| serde_json::from_str::<serde_json::Value>(line).ok();
        let walked = log.lines().filter_map(line).filter(|event| {
            let purpose = event["purpose"].as_str();
            purpose.is_some_and(|purpose| purpose.starts_with("walk"))
        });
        walked
            .filter_map(|event| event["took_us"].as_f64())
            .sum::<f64>()
            / 3.6e9
    };
    assert!((took(&whole) - 2.0).abs() < 0.1, "{} h", took(&whole));
    // Stopped on the way and taken up again, it takes the rest.
    let lines: Vec<&str> = whole.lines().collect();
    desk.put("half.jsonl", lines[..lines.len() / 2].join("\n") + "\n");
    desk.done("measure emulated:lto9 -o half.jsonl --for-fit=2h");
    let took = took(&desk.read("half.jsonl"));
    assert!((took - 2.0).abs() < 0.1, "{took} h");

    let other = desk.run("fit walk.jsonl --base lto10 --output other.toml");
    assert_eq!(other.code, 2, "{}", other.err);
    let words = "the log was made with the profile lto9, whose tape has 280 wraps, and the tape of lto10 has";
    assert!(other.err.contains(words), "{}", other.err);
    desk.done("fit walk.jsonl --base lto9 --output mine.toml");
    desk.done("measure emulated:lto9 -o other.jsonl --only seek-mid --seed 5");
    let ran = desk.done("audit other.jsonl --profile mine.toml --json");
    let audit: serde_json::Value = serde_json::from_str(ran.text()).expect("JSON");
    assert_eq!(audit["priced"]["trust"], "good", "{audit}");
    let off_s = audit["priced"]["moves_median_error_s"].as_f64();
    assert!(off_s.is_some_and(|seconds| seconds < 1.0), "{audit}");
}

#[test]
fn a_cartridge_that_can_be_written_only_once_is_not_measured_by_writing() {
    let desk = Desk::new();
    desk.done("emulate lib");
    let text = desk.read("lib/library.toml");
    desk.put(
        "lib/library.toml",
        text.replace("worm = []", "worm = [\"TW0001\"]"),
    );
    let refused = desk.run("measure emulated:lib -o log.jsonl --write --quick");
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("WORM"), "{}", refused.err);
    let seen = desk
        .done("drive status emulated:lib --active --json")
        .json();
    assert_eq!(seen["cartridge"]["written_in_its_life_bytes"], 0, "{seen}");
}

#[test]
fn a_robot_of_the_same_emulated_library_is_measured_with_its_drive() {
    let desk = Desk::new();
    desk.done(
        "emulate lib --drive sony-dtf --robot sony-dms-b9 --drives 1 --slots 9 --cartridges 1 --scale 65536",
    );
    desk.done("library mount emulated:lib TW0001");
    let ran = desk.done(
        "measure emulated:lib#drive0 --changer emulated:lib#changer -o log.jsonl --only robot --write --block-size 64",
    );
    for word in ["robot, slot to drive", "robot, drive to slot"] {
        assert!(ran.text().contains(word), "{}", ran.text());
    }
}

#[test]
fn an_interrupt_ends_the_suite_with_130_and_a_log_that_goes_on() {
    let desk = Desk::new();
    let ran = desk.shell(
        "$TAPEWISE measure emulated:dlt4000 --only key-points -o log.jsonl & pid=$!
         while kill -0 $pid && ! grep -q key-points log.jsonl 2>/dev/null; do sleep 0.05; done
         kill -INT $pid; wait $pid",
    );
    assert_eq!(ran.code, 130, "{}", ran.err);
    assert!(ran.err.contains("interrupted"), "{}", ran.err);
    assert!(
        ran.err.contains("the log keeps every measurement"),
        "{}",
        ran.err
    );
    let log = desk.read("log.jsonl");
    assert!(log.ends_with("}\n"), "a line that is not whole");
    let unwhole = log
        .lines()
        .find(|line| serde_json::from_str::<serde_json::Value>(line).is_err());
    assert_eq!(unwhole, None);
}

#[test]
fn what_was_measured_is_drawn_and_where_blocks_lie_is_written() {
    let desk = Desk::new();
    let ran = desk.done("measure emulated:lto8 -o log.jsonl --quick --plot pictures --map A.map");
    let table = "table of 208 wraps from the drive";
    assert!(ran.text().contains(table), "{}", ran.text());
    for name in ["seek-from-beginning", "seek-between", "rewind", "wraps"] {
        let svg = desk.read(&format!("pictures/{name}.svg"));
        assert!(
            svg.starts_with("<svg") && svg.contains("(emulated)"),
            "{name}"
        );
        assert!(ran.err.contains(&format!("{name}.svg")), "{}", ran.err);
    }
    let map = desk.read("A.map");
    assert_eq!(map.lines().count(), 1 + 208, "{map}");
    desk.put(
        "blocks.csv",
        "id,start_block,block_count\na,5,1\nb,400000,1\n",
    );
    desk.done("order --profile lto8 --block-size 16777216 --map A.map blocks.csv");
}

#[test]
fn a_step_that_cannot_be_done_is_refused_or_said() {
    let desk = Desk::new();
    let measure = "measure emulated:dlt4000 -o log.jsonl --only";
    desk.refused(&format!("{measure} block-size"), &["--write"]);
    desk.refused(&format!("{measure} robot"), &["--changer"]);
    for (asked, because) in [
        (
            format!("{measure} seek-bot --budget 2h"),
            "give it with --only key-points",
        ),
        (
            format!("{measure} key-points,mount --budget 2h"),
            "give it with --only key-points",
        ),
        (format!("{measure} key-points --budget 0h"), "more than 0"),
        (format!("{measure} key-points --budget soon"), "give hours"),
        // Another drive is refused before its cartridge is filled, or moves.
        (
            format!(
                "{} key-points --budget 2h",
                measure.replace("dlt4000", "lto8")
            ),
            "lto8 is not modelled by key points",
        ),
    ] {
        desk.refused(&asked, &[because]);
    }
    assert!(!desk.names().contains(&"log.jsonl".to_owned()));
    // A picture of nothing that was measured.
    desk.refused(
        &format!("{measure} mount --dry-run --plot pictures"),
        &["--plot"],
    );
    let ran = desk.done(&format!("{measure} mount,positions --map A.map --dry-run"));
    let said = "positions is left out: the drive does not say where on the tape it is";
    assert!(ran.err.contains(said), "{}", ran.err);
}

#[test]
fn an_ltfs_cartridge_is_measured_in_the_partition_of_its_data_and_a_profile_comes_of_it() {
    let desk = Desk::new();
    let index = tapewise_house::fixture("ltfs/TST002-gen4-3001files-3302extents.xml");
    desk.put("index.xml", std::fs::read(index).expect("the fixture"));
    desk.done("emulate lib --ltfs index.xml --scale 20000");
    desk.done("measure emulated:lib -o log.jsonl --only seek-bot,seek-mid,positions");
    let log = desk.read("log.jsonl");
    let locates = log
        .lines()
        .filter(|line| line.contains("\"purpose\":\"seek-mid"));
    let within = locates.filter(|line| line.contains("\"to\":{\"partition\":1"));
    assert!(within.count() > 50, "{log}");
    assert!(!log.contains("\"outcome\""), "{log}");
    desk.done("fit log.jsonl --base lto8 --output mine.toml");
    assert!(
        desk.read("mine.toml").contains("[locate"),
        "{}",
        desk.read("mine.toml")
    );
}

#[test]
fn places_that_cannot_be_read_are_listed_and_the_others_are_measured() {
    let desk = Desk::new();
    desk.done("emulate T --drive lto8 --fill 20GB");
    let toml = desk.read("T/library.toml");
    let bad = |probability: &str| {
        let line = format!("bad_block = {probability}\n");
        desk.put("T/library.toml", toml.replace("bad_block = 0.0\n", &line));
    };
    bad("0.1");
    let line = "measure emulated:T -o log.jsonl --only seek-mid";
    for _ in 0..2 {
        let ran = desk.run(line);
        assert_eq!(ran.code, 7, "{}", ran.err);
        let words = "was not measured at block";
        assert!(ran.text().contains(words), "{}", ran.text());
        assert!(ran.text().contains("seek between any places"));
        assert!(ran.err.contains("the others were measured"), "{}", ran.err);
    }
    bad("1.0");
    let ran = desk.run(&line.replace("log.jsonl", "other.jsonl"));
    assert_eq!(ran.code, 6, "{}", ran.err);
}

#[test]
fn the_help_lists_every_step() {
    let help = Desk::new().done("measure --help");
    let words: Vec<&str> = help.text().split([' ', ',', ';', '.', '\n']).collect();
    for step in tapewise_run::measure::Step::ALL {
        assert!(words.contains(&step.name()), "{step} is not in the help");
    }
}
