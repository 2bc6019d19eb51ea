//! What an order is good for: objectives, limits, proofs, and where the head is left.

use crate::program::{Desk, ORDER, steps};

/// [`crate::program::CLIPS`] with wishes.
const DUE: &str = "id,start_block,block_count,priority,deadline
interview-1,120000,4000,0,
interview-2,1980000,2500,0,
drone-07,240500,1800,0,
market,912000,6000,5,90
drone-08,242400,1500,0,
harbour,999000,3000,9,60
archive-1911,1430000,800,0,120
market-night,918000,2200,0,
";

fn desk() -> Desk {
    let desk = Desk::with_clips();
    desk.put("due.csv", DUE);
    desk
}

/// When each request is read, in microseconds from the start of a plan.
fn read_at(plan: &serde_json::Value, id: &str) -> u64 {
    let reads = steps(plan, "read").into_iter();
    let mut serving = reads.filter(|step| step["serves"][0]["id"] == id);
    let step = serving.next_back().expect("a read");
    let us = |field: &str| step[field].as_u64().expect("microseconds");
    us("begin_us") + us("duration_us")
}

/// The sums that the objectives make little, computed from the plan's steps alone.
fn sums(plan: &serde_json::Value) -> [u64; 3] {
    let (mut mean, mut late) = (0, 0);
    for line in DUE.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let weight = 1 + fields[3].parse::<u64>().expect("a priority");
        let read = read_at(plan, fields[0]);
        mean += weight * read;
        if let Ok(deadline_s) = fields[4].parse::<u64>() {
            late += weight * read.saturating_sub(deadline_s * 1_000_000);
        }
    }
    let total = plan["totals"]["total_us"].as_u64().expect("microseconds");
    [total, mean, late]
}

#[test]
fn each_objective_is_the_best_at_its_own() {
    let desk = desk();
    let plans = ["total", "mean", "deadline"].map(|objective| {
        let plan = desk.plan(&format!("{ORDER} due.csv --objective {objective}"));
        assert_eq!(plan["objective"], objective);
        assert_eq!(plan["totals"]["optimal"], true, "eight requests are exact");
        sums(&plan)
    });
    for (own, best) in plans.iter().enumerate() {
        for other in &plans {
            assert!(best[own] <= other[own], "{own}: {plans:?}");
        }
    }
    assert!(
        plans[1][1] < plans[0][1] && plans[2][2] < plans[0][2],
        "{plans:?}"
    );
    // At most 5 % of the least total are given for the mean.
    assert!(plans[1][0] * 100 <= plans[0][0] * 105, "{plans:?}");
}

#[test]
fn deadlines_are_points_in_time_or_seconds_from_now() {
    let desk = desk();
    let dated = DUE.replace(",90\n", ",2026-11-21T12:01:30Z\n");
    let dated = dated.replace(",60\n", ",2026-11-21T13:01:00+01:00\n");
    let dated = dated.replace(",120\n", ",2026-11-21T12:02:00Z\n");
    desk.put("dated.csv", &dated);
    let order = format!("{ORDER} --objective deadline");
    let now = "--now 2026-11-21T12:00:00Z";
    assert_eq!(
        desk.done(&format!("{order} due.csv")).out,
        desk.done(&format!("{order} dated.csv {now}")).out
    );
    let ran = desk.done(&format!(
        "{order} dated.csv --explain --now 2026-11-21T12:01:20Z"
    ));
    assert!(
        ran.err.contains("3 deadlines (1 passed already)"),
        "{}",
        ran.err
    );
    let clock = desk.done(&format!("{order} dated.csv --explain"));
    assert!(clock.err.contains("same --now"), "{}", clock.err);
    desk.refused(
        &format!("{order} dated.csv --now noon"),
        &["a time with its zone"],
    );
}

#[test]
fn wishes_that_lead_nowhere_are_refused_or_said() {
    let desk = desk();
    desk.refused(
        &format!("{ORDER} clips.csv --objective deadline"),
        &["no request has a deadline", "column deadline"],
    );
    desk.refused(
        &format!("{ORDER} clips.csv --objective speed"),
        &["total, mean, deadline"],
    );
    desk.refused(
        &format!("{ORDER} due.csv --objective mean --algorithm sort"),
        &["leave out --algorithm"],
    );
    desk.refused(
        &format!("{ORDER} due.csv --objective mean --extents apart"),
        &["leave out --extents apart"],
    );
    let ran = desk.done(&format!("{ORDER} clips.csv --objective mean"));
    assert!(ran.err.contains("all of them count alike"), "{}", ran.err);
    desk.put("none.csv", "id,start_block,block_count,deadline\n");
    desk.done(&format!("{ORDER} none.csv --objective deadline"));
}

#[test]
fn a_limit_on_tape_moved_is_kept_or_the_order_fails() {
    let desk = desk();
    let moved = |args: &str| desk.plan(&format!("{ORDER} {args}"))["totals"]["distance_m"].clone();
    let free = moved("due.csv --objective deadline")
        .as_f64()
        .expect("metres");
    let limited = moved("due.csv --objective deadline --max-distance 1200");
    let limited = limited.as_f64().expect("metres");
    assert!(free > 1200.0 && limited <= 1200.0, "{free} {limited}");
    let ran = desk.run(&format!(
        "{ORDER} clips.csv --max-distance 500 -o order.txt"
    ));
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("at most 500 m") && ran.err.contains("hint: --max-distance"));
    assert!(!desk.names().contains(&"order.txt".to_owned()));
    desk.refused(
        &format!("{ORDER} clips.csv --max-distance=-1"),
        &["give a number, 0 or more"],
    );
    desk.put(
        "short.csv",
        "id,start_block,block_count\na,1,1\nb,30000,1\n",
    );
    let dlt = "order --profile dlt4000 --block-size 32768 short.csv --max-distance 1000000";
    let ran = desk.done(dlt);
    assert!(ran.err.contains("--max-distance is in LPOS"), "{}", ran.err);
}

#[test]
fn an_interrupted_proof_gives_the_best_order_so_far_and_says_so() {
    use std::io::{BufRead, BufReader, Read};
    let desk = Desk::new();
    let mut list = "id,start_block,block_count\n".to_owned();
    for number in 0..1500u64 {
        list += &format!("r{number},{},200\n", number * 7_919 % 15_000 * 1_000);
    }
    desk.put("many.csv", list);
    let mut child = std::process::Command::new(crate::program::TAPEWISE)
        .args(ORDER.split(' '))
        .args(["--prove", "--time-budget", "10m", "many.csv"])
        .current_dir(desk.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains("Ctrl-C gives the best order so far") {
        line.clear();
        assert!(stderr.read_line(&mut line).expect("text") > 0, "it ended");
    }
    let interrupt = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupt.expect("kill").success());
    let mut said = String::new();
    let ran = child.wait_with_output().expect("the program ends");
    stderr.read_to_string(&mut said).expect("text");
    assert_eq!(ran.status.code(), Some(130), "{said}");
    assert_eq!(String::from_utf8_lossy(&ran.stdout).lines().count(), 1500);
    for words in [
        "the search was interrupted: this is the best order so far",
        "not proven",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn what_is_proven_is_said() {
    let desk = desk();
    let ran = desk.done(&format!("{ORDER} clips.csv --prove"));
    assert!(
        ran.err
            .contains("proven for these positions and times: no order is shorter"),
        "{}",
        ran.err
    );
    let usual = desk.done(&format!("{ORDER} clips.csv"));
    assert!(!usual.err.contains("proven"), "{}", usual.err);
    // An order that has no bound of its own is measured by that of our search.
    let sorted = desk.done(&format!("{ORDER} clips.csv --prove --algorithm fifo"));
    assert!(sorted.err.contains("no order is under"), "{}", sorted.err);
    assert!(!sorted.err.contains("no bound is known"), "{}", sorted.err);
    let plan = desk.plan(&format!("{ORDER} clips.csv"));
    assert_eq!(plan["totals"]["optimal"], true);
    assert_eq!(plan["totals"]["bound_us"], plan["totals"]["total_us"]);
    assert_eq!(plan["cut_short"], false);
    let sorted = desk.plan(&format!("{ORDER} clips.csv --algorithm sort"));
    assert_eq!(sorted["totals"]["optimal"], false);
}

#[test]
fn an_unload_is_a_rewind_and_what_the_profile_says() {
    let desk = desk();
    let total = |end: &str| {
        let plan = desk.plan(&format!("{ORDER} clips.csv --end {end}"));
        plan["totals"]["total_us"].as_u64().expect("microseconds")
    };
    assert_eq!(total("unloaded"), total("rewound") + 24_000_000);
    let plan = desk.plan(&format!("{ORDER} clips.csv --end unloaded"));
    assert_eq!(plan["end"]["at"], "unloaded");
    assert_eq!(plan["totals"]["optimal"], true);
    let last = steps(&plan, "finish").pop().expect("a last step").clone();
    let us = |field: &str| last[field].as_u64().expect("microseconds");
    assert_eq!(us("begin_us") + us("duration_us"), total("unloaded"));
    desk.refused(
        &format!("{ORDER} clips.csv --end ejected"),
        &["anywhere, rewound or unloaded"],
    );
}

#[test]
fn orders_are_priced_under_other_profiles_and_errors() {
    let desk = desk();
    let args = "--explain --sensitivity --price-under lto7-m8 --price-under lto6";
    let ran = desk.done(&format!("{ORDER} clips.csv {args}"));
    for words in [
        "lto8 (as planned)  lto7-m8",
        "every locate takes 1 s longer",
        "0.1 %",
    ] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    desk.refused(
        &format!("{ORDER} clips.csv --explain --price-under dlt4000"),
        &["--price-under dlt4000", "wraps", "laid out alike"],
    );
    desk.refused(
        &format!("{ORDER} clips.csv --price-under lto6"),
        &["--explain"],
    );
}

#[test]
fn reading_the_whole_tape_is_offered_where_it_is_faster() {
    let desk = Desk::new();
    let mut csv = "id,start_block,block_count\n".to_owned();
    // Every fourth block of a short tape, from the far end: nothing but turns.
    for block in (0..8_000u32).rev().step_by(2) {
        csv += &format!("b{block},{},1\n", block * 77);
    }
    desk.put("many.csv", csv);
    let order =
        "order --profile dlt4000 --block-size 32768 --no-read-through many.csv -o order.txt";
    let ran = desk.done(&format!("{order} --algorithm fifo"));
    assert!(ran.err.contains("reading the whole tape"), "{}", ran.err);
}
