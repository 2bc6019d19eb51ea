//! `capacity`: the answer is that of trying every number of drives.

use crate::evidence::assert_is_well_formed;
use crate::program::Desk;
use crate::simulate::LIBRARY;
use serde_json::json;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.put("small.toml", LIBRARY);
    desk
}

/// Runs `capacity` on the small library; a target has blanks in it.
fn capacity(desk: &Desk, target: &str, more: &str) -> crate::program::Ran {
    let mut args = vec!["capacity", "small.toml", "--target", target];
    args.extend(more.split_whitespace());
    desk.run_args(b"", &args)
}

#[test]
fn the_answer_is_the_fewest_drives_whose_interval_is_below_the_target() {
    let desk = desk();
    let limit_s = 60.0;
    let fewest = (3..8).find(|drives| {
        let tried = desk.done(&format!("simulate small.toml --set drives={drives} --json"));
        let p95 = &tried.json()["cases"][0]["percentiles"]["p95_s"];
        p95["high"].as_f64().expect("an end") <= limit_s
    });
    let said = capacity(&desk, "p95 < 60 s", "--drives 1..8 --json");
    assert_eq!(said.code, 0, "{}", said.err);
    let said = said.json();
    assert_eq!(said["answer"]["drives"].as_u64(), fewest);
    assert_eq!(said["combinations"].as_array().map(Vec::len), Some(8));
    assert_eq!(said["target"]["metric"], "p95");
    assert_eq!([&said["case"], &said["seed"]], [&json!("small"), &json!(1)]);
    assert_eq!(said["requests_per_replication"], 400);
    let combinations = said["combinations"].as_array().expect("combinations");
    let simulated = combinations.iter().map(|one| &one["simulated"]);
    for simulated in simulated.filter(|one| one["replications"].is_u64()) {
        assert!(simulated["warm_up_cut"].is_f64() && simulated["unsettled"].is_u64());
    }
}

#[test]
fn the_answer_is_a_sentence_with_its_interval() {
    let desk = desk();
    let said = capacity(
        &desk,
        "median < 1 min at 90/h",
        "--drives 2..6 --robots 1..2 --plot p",
    );
    assert_eq!(said.code, 0, "{}", said.err);
    let answer = said.lines()[0].to_owned();
    assert!(answer.starts_with("answer "), "{answer}");
    assert!(answer.contains("1 robot, no window: median "), "{answer}");
    assert!(answer.contains(" to ") && answer.ends_with(')'), "{answer}");
    let drives = answer.trim_start_matches("answer").trim_start();
    let drives = drives.split_once(": ").expect("its name").0;
    let made = format!("made        {drives}: 6 replications of 400 requests, seed 1");
    assert!(said.text().contains(&made), "{made}: {}", said.text());
    assert_is_well_formed(&desk.read("p/capacity.svg"));
}

#[test]
fn every_row_is_drawn_however_far_it_is_from_the_target() {
    let desk = desk();
    let more = "--drives 1..6 --window 0s,90s --plot p";
    let said = capacity(&desk, "median < 1 s", more);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.text().contains("none of these meets the target"));
    let picture = desk.read("p/capacity.svg");
    for row in ["1 robot, no window", "1 robot, window 90 s", "target 1.0"] {
        assert!(picture.contains(row), "{row}: {picture}");
    }
}

#[test]
fn a_value_that_capacity_varies_is_not_set_as_well() {
    let desk = desk();
    for (more, words) in [
        ("--set drives=4", ["--set library.drive.count", "--drives"]),
        (
            "--policy oldest --set policy.mount=fifo",
            ["--set policy.mount", "--policy"],
        ),
        (
            "--window 0s,60s --set window=5",
            ["--set policy.window_s", "--window"],
        ),
    ] {
        let line = format!("capacity small.toml --target mean<60s {more}");
        desk.refused(&line, &words);
    }
}

#[test]
fn prices_name_what_a_year_costs_and_every_combination_is_in_the_csv() {
    let desk = desk();
    let more = "--drives 1..12 --price drive=9000,robot=4000 --csv all.csv";
    let said = capacity(&desk, "p95 < 60 s", more);
    assert_eq!(said.code, 0, "{}", said.err);
    let answer = said.lines()[0];
    let drives = answer.trim_start_matches("answer").trim_start();
    let (drives, _) = drives.split_once(" drives").expect("drives");
    let drives: u32 = drives.parse().expect("a number");
    let cost = drives * 9000 + 4000;
    assert!(answer.ends_with(&format!("), {cost} a year")), "{answer}");
    assert!(
        said.text()
            .contains("further from the answer left out: --all"),
        "{}",
        said.text()
    );
    let csv = desk.read("all.csv");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 13, "{csv}");
    let cells = |line: &str| line.split(',').count();
    assert!(
        lines.iter().all(|line| cells(line) == cells(lines[0])),
        "{csv}"
    );
    assert!(lines[12].ends_with(",112000"), "{}", lines[12]);
    let all = capacity(&desk, "p95 < 60 s", "--drives 1..12 --all");
    assert!(!all.text().contains("left out"), "{}", all.text());
    let piped = capacity(
        &desk,
        "p95 < 60 s",
        &format!("{more} --csv - -o answer.txt").replace("--csv all.csv ", ""),
    );
    assert_eq!(piped.text(), csv);
    let wrong = capacity(&desk, "p95 < 60 s", "--price tape=5");
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("drive=9000"), "{}", wrong.err);
}

#[test]
fn more_rows_than_there_are_colours_are_drawn_in_several_pictures() {
    let desk = desk();
    let more = "--drives 3..4 --robots 1..7 --replications 2 --plot p";
    capacity(&desk, "median < 1 min at 90/h", more);
    let pictures = [1, 2].map(|number| desk.read(&format!("p/capacity-{number}.svg")));
    for (picture, rows) in pictures.iter().zip([6, 1]) {
        assert_is_well_formed(picture);
        // Each row once in the legend; what can be pointed at names it again.
        assert_eq!(picture.matches(", no window</text>").count(), rows);
    }
}

#[test]
fn an_answer_that_is_not_sure_is_called_unsure() {
    let desk = desk();
    let known = capacity(&desk, "p95 < 9 h", "--drives 4 --json").json();
    let p95_s = &known["combinations"][0]["simulated"]["target_s"]["estimate"];
    let within = format!("p95 < {} s", p95_s.as_f64().expect("seconds"));
    let said = capacity(&desk, &within, "--drives 4");
    assert_eq!(said.code, 1, "{}", said.err);
    let words = "unsure: none of these surely meets the target";
    assert!(said.text().contains(words), "{}", said.text());
}

#[test]
fn where_the_robot_is_saturated_more_drives_do_not_help_and_that_is_said() {
    let desk = desk();
    let said = capacity(&desk, "p95 < 60 s at 500/h", "--drives 10,40");
    assert_eq!(said.code, 1, "{}", said.err);
    let text = said.text();
    assert!(text.contains("robots"), "{text}");
    assert!(text.contains("more drives do not help"), "{text}");
    assert!(text.contains("none of these meets the target"), "{text}");
    let two = capacity(&desk, "p95 < 60 s at 500/h", "--drives 20 --robots 2..4");
    assert_eq!(two.code, 0, "{}", two.text());
}

#[test]
fn where_a_robot_holds_up_the_drives_it_is_not_drives_that_are_asked_for() {
    // Ten seconds a mount: 340 an hour are 94 % of what the robot can do.
    let said = capacity(&desk(), "p95 < 40 s at 340/h", "--drives 10,14");
    assert_eq!(said.code, 1, "{}", said.err);
    let text = said.text();
    assert!(
        text.contains("more drives do not help, more robots do"),
        "{text}"
    );
}

#[test]
fn where_the_work_itself_takes_too_long_that_is_said() {
    let said = capacity(&desk(), "mean < 20 s", "--drives 4..12");
    assert_eq!(said.code, 1, "{}", said.err);
    let text = said.text();
    assert!(text.contains("so more of them do not help"), "{text}");
    assert!(text.contains("search"), "{text}");
}

#[test]
fn a_window_is_tried_where_mounts_are_shared() {
    let desk = Desk::new();
    let shared = LIBRARY.replace("most_per_mount = 1\naffinity = false", "order = \"sort\"");
    desk.put("small.toml", shared.replace("count = 500", "count = 20"));
    let said = capacity(
        &desk,
        "mean < 5 min at 300/h",
        "--drives 2..8 --window 0s,2min --json",
    );
    assert_eq!(said.code, 0, "{}", said.text());
    let said = said.json();
    let combinations = said["combinations"].as_array().expect("combinations");
    assert_eq!(combinations.len(), 14);
    let windows: Vec<f64> = (combinations.iter())
        .filter_map(|one| one["window_s"].as_f64())
        .collect();
    assert_eq!((windows[0], windows[13]), (0.0, 120.0));
}

#[test]
fn policies_are_compared_on_the_same_arrivals() {
    let desk = desk();
    let more = "--drives 2..8 --policy fifo,oldest";
    let both = capacity(&desk, "p95 < 60 s", &format!("{more} --json")).json();
    assert_eq!(
        [&both["format"], &both["version"]],
        [&json!("tapewise-capacity-policies"), &json!(1)]
    );
    let both = both["policies"].as_array().expect("policies");
    let fewest: Vec<i64> = (both.iter())
        .map(|policy| policy["answer"]["drives"].as_i64().expect("drives"))
        .collect();
    for (policy, name) in both.iter().zip(["fifo", "oldest"]) {
        assert_eq!(policy["policy"], name);
        let alone = format!("--drives 2..8 --policy {name} --json");
        let alone = capacity(&desk, "p95 < 60 s", &alone).json();
        assert_eq!(policy["answer"], alone["answer"], "{name}");
    }
    assert_eq!(both[1]["drives_saved"], json!(fewest[0] - fewest[1]));
    for option in ["--csv all.csv", "--html page.html", "--price drive=1"] {
        let refused = capacity(&desk, "p95 < 60 s", &format!("{more} {option}"));
        let name = option.split(' ').next().expect("an option");
        assert_eq!(refused.code, 2);
        assert!(
            refused.err.contains(&format!("{name} is for one policy")),
            "{}",
            refused.err
        );
    }
}

#[test]
fn what_cannot_be_sized_is_refused() {
    let desk = desk();
    desk.put(
        "cases.toml",
        LIBRARY.to_owned() + "[[case]]\nname = \"a\"\n[[case]]\nname = \"b\"\n",
    );
    let two = desk.run_args(b"", &["capacity", "cases.toml", "--target", "p95 < 60 s"]);
    assert_eq!(two.code, 2);
    assert!(two.err.contains("--case"), "{}", two.err);
    for (target, more) in [
        ("p95 60", ""),
        ("p97 < 60 s", ""),
        ("p95 < 60 s", "--drives 0"),
        ("p95 < 60 s", "--window x"),
    ] {
        assert_eq!(capacity(&desk, target, more).code, 2, "{target} {more}");
    }
}

#[test]
fn a_table_on_standard_output_leaves_no_room_for_the_answer() {
    let desk = desk();
    let more = "--drives 4..5 --csv -";
    let said = capacity(&desk, "p95 < 60 s", more);
    assert_eq!((said.code, said.text()), (2, ""), "{}", said.err);
    let said = capacity(&desk, "p95 < 60 s", &format!("{more} -o answer.txt"));
    assert!(said.text().starts_with("drives,"), "{}", said.err);
}
