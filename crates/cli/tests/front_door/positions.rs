//! Where blocks lie: recorded, by map, by nominal geometry; and what is refused.

use crate::program::{CLIPS, Desk, ORDER, steps};
use serde_json::Value;
use std::fmt::Write;

/// A table of wrap ends in which every wrap holds as many blocks.
fn wrap_ends(wraps: u64, blocks: u64) -> String {
    let mut csv = "wrap,partition,block\n".to_owned();
    for wrap in 0..wraps {
        let _ = writeln!(csv, "{wrap},0,{}", (wrap + 1) * blocks - 1);
    }
    csv
}

fn source(plan: &Value) -> &str {
    plan["positions"]["source"].as_str().expect("a source")
}

fn sorted(lines: &[&str]) -> Vec<String> {
    let mut lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    lines.sort();
    lines
}

fn clip_names() -> Vec<String> {
    let names: Vec<&str> = CLIPS
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').next())
        .collect();
    sorted(&names)
}

#[test]
fn recorded_positions_need_no_map() {
    let desk = Desk::new();
    desk.put(
        "recorded.csv",
        "id,start_block,block_count,size_bytes,start_wrap,start_lpos,end_wrap,end_lpos\n\
         far,1,1,100000,30,1000,30,1100\nnear,9000000,5,900000,2,50000,2,50100\n",
    );
    let plan = desk.plan("order --profile lto8 recorded.csv");
    assert_eq!(source(&plan), "recorded");
    assert_eq!(plan["positions"]["error_lpos"], 0);
    let reads = steps(&plan, "read");
    let place = |step: &Value| [step["wrap"].clone(), step["lpos"].clone()];
    assert_eq!(place(reads[0]), [30, 1000], "{plan}");
    assert_eq!(place(reads[1]), [2, 50_000], "{plan}");
    desk.refused(
        "order --profile lto8 recorded.csv --head 5",
        &["without a map", "wrap=W,lpos=L"],
    );
}

#[test]
fn recorded_positions_beyond_the_cartridge_are_refused() {
    let desk = Desk::new();
    let refused = |profile: &str, place: &str, word: &str| {
        let header =
            "id,start_block,block_count,size_bytes,start_wrap,start_lpos,end_wrap,end_lpos";
        desk.put("r.csv", format!("{header}\nclip,1,1,5,{place}\n"));
        desk.refused(
            &format!("order --profile {profile} r.csv"),
            &["request clip", word],
        );
    };
    refused(
        "lto8",
        "208,0,208,9",
        "wrap 208 does not exist: lto8 has wraps 0 to 207",
    );
    refused("lto9", "280,0,280,9", "wraps 0 to 279");
    refused("lto10", "472,0,472,9", "wraps 0 to 471");
    refused(
        "lto8",
        "3,9999999,3,9",
        "LPOS 9999999 is beyond the end of the tape",
    );
    desk.put("r.csv", "id,start_block,block_count,start_wrap\na,1,1,3\n");
    desk.refused(
        "order --profile lto8 r.csv",
        &["r.csv", "line 2", "start_lpos is empty"],
    );
}

#[test]
fn a_table_of_wrap_ends_counts_more_than_nominal_geometry() {
    let desk = Desk::with_clips();
    desk.put("map.csv", wrap_ends(208, 150_000));
    let nominal = desk.plan(&format!("{ORDER} clips.csv"));
    let mapped = desk.plan(&format!("{ORDER} clips.csv --map map.csv"));
    assert_eq!(
        (source(&nominal), source(&mapped)),
        ("nominal", "end-of-wrap")
    );
    for step in steps(&mapped, "read") {
        let block = step["start_block"].as_u64().expect("a block");
        assert_eq!(step["wrap"], block / 150_000, "{step}");
    }
    let error = |plan: &Value| plan["positions"]["error_lpos"].as_u64();
    assert!(error(&mapped) < error(&nominal));
    let spread = |plan: &Value| {
        let us = |field: &str| plan["totals"][field].as_u64().expect("microseconds");
        us("worst_us") - us("total_us")
    };
    assert!(spread(&mapped) < spread(&nominal));
}

#[test]
fn maps_that_do_not_fit_are_refused() {
    let desk = Desk::with_clips();
    let refused = |map: &str, words: &[&str]| {
        desk.put("m.csv", map);
        desk.refused(&format!("{ORDER} clips.csv --map m.csv"), words);
    };
    refused(
        "a,b\n0,1\n",
        &[
            "m.csv",
            "the columns are a,b",
            "wrap,partition,block",
            "track,segment",
        ],
    );
    refused("wrap,block\n", &["m.csv", "no rows"]);
    refused("", &["m.csv", "the file is empty"]);
    refused(
        "wrap,block\n0,10\n1,x\n",
        &["m.csv", "line 3, column block", "\"x\""],
    );
    refused("wrap,block\n0,-1\n", &["m.csv", "line 2, column block"]);
    refused("wrap,block\n0\n", &["m.csv", "line 2"]);
    refused(
        "wrap,block\n0,100\n1,50\n",
        &["m.csv", "wrap 1", "not after 100"],
    );
    refused("wrap,block\n3,100\n1,500\n", &["m.csv", "follows wrap 3"]);
    refused(&wrap_ends(209, 150_000), &["m.csv", "wrap 208", "0 to 207"]);
    refused(
        &wrap_ends(10, 100_000),
        &["request interview-2", "block 1980000", "which is 999998"],
    );
    refused(
        "track,segment\n0,0\n1,9\n",
        &["m.csv", "lto8 is not modelled by them"],
    );
    desk.refused(
        &format!("{ORDER} clips.csv --map none.csv"),
        &["none.csv: No such file"],
    );
    desk.refused(
        &format!("{ORDER} clips.csv --map ."),
        &[".: is a directory"],
    );
}

#[test]
fn key_points_place_the_segments_of_a_dlt4000() {
    let desk = Desk::new();
    let (tracks, sections) = (64, 14);
    let mut map = "track,segment\n".to_owned();
    for section in 0..tracks * sections {
        let _ = writeln!(map, "{},{}", section / sections, section * 700);
    }
    let _ = writeln!(map, "{tracks},{}", tracks * sections * 700);
    desk.put("keys.csv", map);
    desk.put(
        "r.csv",
        "id,start_block,block_count\nx,9900,10\ny,500000,10\nz,600,5\n",
    );
    let args = "order --profile dlt4000 --block-size 32768 r.csv --map keys.csv";
    let plan = desk.plan(args);
    assert_eq!(source(&plan), "key-points");
    let wraps = |plan: &Value| {
        let wrap = |step: &&Value| (step["serves"][0]["id"].to_string(), step["wrap"].as_u64());
        let mut wraps: Vec<_> = steps(plan, "read").iter().map(wrap).collect();
        wraps.sort();
        wraps.into_iter().map(|(_, wrap)| wrap).collect::<Vec<_>>()
    };
    assert_eq!(wraps(&plan), [Some(1), Some(500_000 / 9_800), Some(0)]);
    desk.put("r.csv", "id,start_block,block_count\nx,627199,2\n");
    desk.refused(args, &["request x", "block 627200"]);
}

#[test]
fn blocks_and_partitions_outside_the_nominal_cartridge_are_refused() {
    let desk = Desk::new();
    let refused = |row: &str, more: &str, words: &[&str]| {
        desk.put(
            "r.csv",
            format!("id,start_block,block_count,partition\n{row}\n"),
        );
        desk.refused(&format!("{ORDER} r.csv {more}"), words);
    };
    refused(
        "a,99999999,1,",
        "",
        &["request a", "block 99999999 of partition 0", "--block-size"],
    );
    refused(
        "a,1,18446744073709551615,",
        "",
        &["request a", "beyond the last one"],
    );
    refused("a,5,1,1", "", &["request a", "no partition 1"]);
    refused("a,5,1,2", "--layout ltfs", &["request a", "no partition 2"]);
    refused(
        "a,5,1,7",
        "",
        &["r.csv: line 2: partition is \"7\"", "0 to 3"],
    );
}

#[test]
fn the_layout_moves_the_data_behind_index_and_guard_wraps() {
    let desk = Desk::new();
    desk.put("single.csv", "id,start_block,block_count\na,5,1\n");
    desk.put(
        "ltfs.csv",
        "id,partition,start_block,block_count\na,1,5,1\nb,0,5,1\n",
    );
    let wraps = |args: &str| {
        let plan = desk.plan(&format!("{ORDER} --algorithm fifo {args}"));
        let wraps = steps(&plan, "read")
            .into_iter()
            .map(|step| step["wrap"].clone());
        wraps.collect::<Vec<Value>>()
    };
    assert_eq!(wraps("single.csv"), [0]);
    assert_eq!(wraps("single.csv --layout single"), [0]);
    assert_eq!(wraps("ltfs.csv --layout ltfs"), [4, 0]);
    let args = format!("{ORDER} ltfs.csv --layout ltfs");
    desk.refused(
        &args.replace("lto8", "lto10"),
        &["lto10", "partitions are not known", "--map"],
    );
    desk.refused(
        &args.replace("lto8", "dat-4mm"),
        &["dat-4mm", "partitions are not known"],
    );
}

#[test]
fn the_size_of_a_block_is_never_guessed() {
    let desk = Desk::with_clips();
    desk.refused(
        "order --profile lto8 clips.csv",
        &["size of a block", "--block-size BYTES"],
    );
    desk.put("map.csv", wrap_ends(208, 150_000));
    let mapped = "order --profile lto8 clips.csv --map map.csv";
    desk.refused(mapped, &["size of a block", "size_bytes"]);
    desk.put(
        "sized.csv",
        "id,start_block,block_count,size_bytes\na,5,1,99\n",
    );
    desk.done("order --profile lto8 sized.csv --map map.csv");
    desk.put("bytes.csv", "id,start_block,size_bytes\na,5,99\n");
    desk.refused(
        "order --profile lto8 bytes.csv",
        &["bytes.csv: line 2", "--block-size"],
    );
    desk.done("order --profile lto8 bytes.csv --block-size 262144");
    desk.refused(
        "order --profile lto8 clips.csv --block-size 512Q",
        &["--block-size", "512Q", "give a size, such as 524288, 512K"],
    );
}

#[test]
fn blocks_of_no_bytes_are_refused() {
    let desk = Desk::with_clips();
    desk.refused(
        "order --profile lto8 --block-size 0 clips.csv",
        &["--block-size"],
    );
    desk.refused("convert --block-size 0 clips.csv", &["--block-size"]);
}

#[test]
fn one_cartridge_at_a_time() {
    let desk = Desk::new();
    desk.put(
        "r.csv",
        "id,volume,start_block,block_count\na,V1,5,1\nb,V2,9,1\nc,V1,7,1\n",
    );
    let args = format!("{ORDER} r.csv");
    desk.refused(&args, &["2 cartridges: V1, V2", "--volume NAME"]);
    let plan = desk.plan(&format!("{args} --volume V1"));
    assert_eq!(plan["volume"], "V1");
    assert_eq!(plan["totals"]["requests"], 2);
    desk.refused(
        &format!("{args} --volume V3"),
        &["3 requests, none on volume V3"],
    );
}

#[test]
fn helical_tape_is_one_line() {
    let desk = Desk::new();
    desk.put(
        "r.csv",
        "id,start_block,block_count\na,40000,10\nb,30,10\nc,20000,10\n",
    );
    for profile in ["sony-dtf", "dat-4mm", "ampex-dst310"] {
        let args = format!("order --profile {profile} --block-size 32768 r.csv");
        assert_eq!(desk.done(&args).lines(), ["b", "c", "a"], "{profile}");
        let plan = desk.plan(&args);
        assert_eq!(plan["totals"]["wrap_changes"], 0);
        assert_eq!(plan["totals"]["distance_m"], Value::Null);
    }
    desk.put("r.csv", "id,start_block,block_count\na,500000,10\n");
    desk.refused(
        "order --profile dat-4mm --block-size 32768 r.csv",
        &["block 500000", "49285"],
    );
}

#[test]
fn every_drive_with_a_model_orders() {
    let desk = Desk::new();
    desk.put(
        "r.csv",
        "id,start_block,block_count\na,20000,10\nb,30,10\nc,9000,10\n",
    );
    let profiles = desk.done("profile list --json").json();
    let mut ordered = 0;
    for profile in profiles["profiles"].as_array().expect("profiles") {
        let name = profile["name"].as_str().expect("a name");
        let args = format!("order --profile {name} --block-size 32768 r.csv");
        match (profile["kind"].as_str(), profile["model"].is_null()) {
            (Some("library"), _) => drop(desk.refused(&args, &[name, "profile of a library"])),
            (_, true) => drop(desk.refused(&args, &["profile", name, "not known"])),
            _ => {
                ordered += 1;
                assert_eq!(sorted(&desk.done(&args).lines()), ["a", "b", "c"], "{name}");
            }
        }
    }
    assert!(ordered >= 25, "{ordered}");
}

#[test]
fn the_last_wraps_of_large_cartridges_can_be_reached() {
    let desk = Desk::new();
    for (profile, wraps) in [("lto9", 280), ("lto10", 472)] {
        desk.put("map.csv", wrap_ends(wraps, 1000));
        desk.put(
            "r.csv",
            format!(
                "id,start_block,block_count,size_bytes\na,{},9,9\n",
                wraps * 1000 - 20
            ),
        );
        let plan = desk.plan(&format!("order --profile {profile} --map map.csv r.csv"));
        assert_eq!(steps(&plan, "read")[0]["wrap"], wraps - 1);
    }
}

#[test]
fn the_head_starts_where_it_is_said() {
    let desk = Desk::with_clips();
    let plan = |head: &str| desk.plan(&format!("{ORDER} clips.csv --head {head}"));
    assert_eq!(plan("bot")["head"]["at"], "bot");
    assert_eq!(plan("0:7")["head"]["block"], 7);
    assert_eq!(plan("918000")["head"]["at"], "block");
    let at = plan("wrap=17,lpos=20000");
    assert_eq!(
        at["head"],
        serde_json::json!({"at": "position", "wrap": 17, "lpos": 20000})
    );
    // Right behind this clip lies the next one wanted.
    let behind = plan("915000");
    assert_eq!(
        behind["steps"].as_array().map(Vec::len),
        plan("bot")["steps"].as_array().map(Vec::len)
    );
    let args = format!("{ORDER} clips.csv --head");
    for wrong in [
        "somewhere",
        "wrap=1",
        "wrap=1,lpos=x",
        "1:2:3",
        "300:1",
        "0x10",
        "rewound",
    ] {
        desk.refused(
            &format!("{args} {wrong}"),
            &["--head", wrong, "bot, BLOCK, PARTITION:BLOCK"],
        );
    }
    desk.refused(
        &format!("{args} wrap=208,lpos=0"),
        &["wrap 208", "0 to 207"],
    );
    desk.refused(&format!("{args} 99999999999"), &["block 99999999999"]);
    desk.refused(&format!("{args} 1:5"), &["no partition 1"]);
}

#[test]
fn the_end_place_adds_a_step() {
    let desk = Desk::with_clips();
    let plan = |end: &str| desk.plan(&format!("{ORDER} clips.csv --end {end}"));
    assert!(steps(&plan("anywhere"), "finish").is_empty());
    let rewound = plan("rewound");
    let finish = steps(&rewound, "finish");
    assert_eq!(finish.len(), 1);
    assert_eq!(finish[0]["end_wrap"], 0);
    assert_eq!(
        finish[0]["n"],
        rewound["steps"].as_array().map(Vec::len).expect("steps")
    );
    let at = plan("wrap=2,lpos=3000");
    assert_eq!(steps(&at, "finish")[0]["end_lpos"], 3000);
    assert_eq!(at["end"]["wrap"], 2);
    let args = format!("{ORDER} clips.csv --end");
    desk.refused(
        &format!("{args} nowhere"),
        &["--end", "nowhere", "anywhere, rewound"],
    );
    desk.refused(&format!("{args} 99999999999"), &["block 99999999999"]);
}

#[test]
fn reading_through_is_an_option_that_saves_time() {
    let desk = Desk::with_clips();
    let with = desk.plan(&format!("{ORDER} clips.csv"));
    let without = desk.plan(&format!("{ORDER} clips.csv --no-read-through"));
    assert!(!steps(&with, "read-through").is_empty());
    assert!(steps(&without, "read-through").is_empty());
    let total = |plan: &Value| plan["totals"]["total_us"].as_u64();
    assert!(total(&with) < total(&without));
}

#[test]
fn every_order_visits_every_clip_and_opt_is_the_shortest() {
    let desk = Desk::with_clips();
    let refused = desk.refused(
        &format!("{ORDER} clips.csv --algorithm bst"),
        &["bst", "best"],
    );
    let names = refused
        .err
        .split("there are: ")
        .nth(1)
        .and_then(|names| names.lines().next());
    let names = names.expect("the orders there are").split(", ");
    // The drive's own has to be asked for.
    let names: Vec<&str> = names.filter(|name| *name != "drive").collect();
    assert_eq!(names.len(), 14);
    let mut totals = std::collections::BTreeMap::new();
    for name in names {
        let args = format!("{ORDER} clips.csv --algorithm {name}");
        assert_eq!(sorted(&desk.done(&args).lines()), clip_names(), "{name}");
        let plan = desk.plan(&args);
        assert_eq!(
            plan["algorithm"].as_str().and_then(|a| a.split('/').next()),
            Some(name)
        );
        totals.insert(
            name.to_owned(),
            plan["totals"]["total_us"].as_u64().expect("microseconds"),
        );
    }
    assert_eq!(totals["opt"], *totals.values().min().expect("orders"));
    assert!(totals["best"] <= totals["sort"]);
}

#[test]
fn orders_that_do_not_apply_say_why() {
    let desk = Desk::new();
    let row = |n: u64| format!("x{n},{},10\n", n * 50_000);
    let rows: String = (1..=17).map(row).collect();
    desk.put("r.csv", format!("id,start_block,block_count\n{rows}"));
    desk.refused(
        &format!("{ORDER} r.csv --algorithm opt"),
        &["opt does not apply", "16", "17"],
    );
    let cta = "order --profile dlt4000 --block-size 32768 r.csv --algorithm cta";
    desk.refused(&cta.replace("r.csv", "few.csv"), &["few.csv: No such file"]);
    desk.put("few.csv", "id,start_block,block_count\na,5,1\n");
    desk.refused(
        &cta.replace("r.csv", "few.csv"),
        &["cta does not apply", "for LTO", "DLT4000"],
    );
}

#[test]
fn unknown_names_suggest_what_was_meant() {
    let desk = Desk::with_clips();
    desk.refused(
        "order --profile lto88 clips.csv",
        &["lto88", "did you mean lto8"],
    );
    desk.refused(
        "order --profile whatever clips.csv",
        &["whatever", "tapewise profile list"],
    );
    desk.refused(
        "order --profile ./my.toml clips.csv",
        &["./my.toml: No such file"],
    );
    desk.refused(
        &format!("{ORDER} clips.csv --format csw"),
        &["csw", "csv, jsonl, ltfs-index"],
    );
    desk.refused(&format!("{ORDER} clips.csv --to jso"), &["jso", "json"]);
    desk.refused(
        &format!("{ORDER} clips.csv --layout ltsf"),
        &["ltsf", "ltfs"],
    );
    desk.refused(
        &format!("{ORDER} clips.csv --extents aprat"),
        &["aprat", "apart"],
    );
    desk.refused(
        &format!("{ORDER} clips.csv --explian"),
        &["--explian", "--explain"],
    );
    desk.refused("ordr", &["ordr", "order"]);
    desk.refused("profile shwo lto8", &["shwo", "show"]);
    desk.refused("reproduce hilyer", &["hilyer", "hillyer"]);
    desk.refused(&format!("{ORDER} clips.csv --all"), &["--explain"]);
    desk.refused(
        &format!("{ORDER} clips.csv --json --to csv"),
        &["--json", "--to"],
    );
}

#[test]
fn a_profile_in_a_file_is_used_or_refused_by_its_own_fields() {
    let desk = Desk::new();
    let profile = include_str!("snapshots/input/my-drive.toml");
    desk.put("my.toml", profile);
    desk.put("r.csv", "id,start_block,block_count\na,40000,10\nb,30,10\n");
    let args = "order --profile my.toml --block-size 32768 r.csv";
    assert_eq!(desk.done(args).lines(), ["b", "a"]);
    desk.put(
        "my.toml",
        profile.replace("full_s = { value = 110", "full_s = { value = -110"),
    );
    desk.refused(args, &["my.toml", "full_s", "-110"]);
    desk.put("my.toml", profile.replace("[handling]", "[handlin]"));
    desk.refused(args, &["my.toml", "line 26", "handlin"]);
    desk.put("my.toml", "");
    desk.refused(args, &["my.toml", "missing field"]);
    desk.refused("profile validate my.toml", &["my.toml", "missing field"]);
}

#[test]
fn the_partition_is_not_guessed_on_a_layout_of_ltfs() {
    let desk = Desk::with_clips();
    desk.refused(&format!("{ORDER} --layout ltfs clips.csv"), &["partition"]);
}
