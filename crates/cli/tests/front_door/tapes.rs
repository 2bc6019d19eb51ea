//! Several tapes at once: one list of names, a pull list, and the order on each tape.

use crate::program::Desk;

/// Four volumes of 30 clips each in `tapes`, and something that is no index.
fn desk() -> Desk {
    let desk = Desk::new();
    std::fs::create_dir(desk.path().join("tapes")).expect("a directory");
    for tape in 0..4u64 {
        let clip = |number: u64| {
            let block = (number * 7_919 + tape * 131) % 300 * 60_000 + 10;
            let length = 3_000_000_000 + number * 1_000_000;
            format!(
                "<file><name>T{tape}C{number:03}.mov</name><length>{length}</length><extentinfo><extent>\
                 <fileoffset>0</fileoffset><partition>b</partition><startblock>{block}</startblock>\
                 <byteoffset>0</byteoffset><bytecount>{length}</bytecount></extent></extentinfo></file>"
            )
        };
        let clips: String = (0..30).map(clip).collect();
        desk.put(
            &format!("tapes/SHOW{tape}.xml"),
            format!(
                "<?xml version=\"1.0\"?><ltfsindex version=\"2.4.0\"><volumeuuid>5005b061-f7af-46ed-9a6f-00000000000{tape}</volumeuuid>\
                 <generationnumber>3</generationnumber><directory><name>SHOW{tape}</name><contents>{clips}</contents></directory></ltfsindex>"
            ),
        );
    }
    desk.put(
        "tapes/label.xml",
        "<ltfslabel version=\"2.4.0\"></ltfslabel>",
    );
    let names: String = (0..60u64)
        .map(|number| {
            format!(
                "T{}C{:03}\n",
                [0, 0, 0, 1, 1, 2][number as usize % 6],
                number / 2
            )
        })
        .collect();
    desk.put("clips.txt", names);
    desk
}

const ORDER: &str = "order --profile lto8 --files-from clips.txt";

#[test]
fn a_directory_of_indexes_gives_a_pull_list_with_the_hours_of_each_tape() {
    let desk = desk();
    let ran = desk.done(&format!("{ORDER} --ltfs-index tapes"));
    for words in [
        "tape",
        "SHOW0",
        "SHOW1",
        "SHOW2",
        "all read after",
        "with 1 drive",
        "1 tape of those given is not needed",
    ] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    let names = ran.lines();
    let tape = |name: &str| name.as_bytes()[1];
    let tapes: Vec<u8> = names.iter().map(|name| tape(name)).collect();
    let mut changes = tapes.clone();
    changes.dedup();
    assert_eq!(changes.len(), 3, "each tape is read in one go: {changes:?}");

    let json = |drives: u32| {
        desk.done(&format!(
            "{ORDER} --ltfs-index tapes --drives {drives} --json --quiet"
        ))
        .json()
    };
    let (one, three) = (json(1), json(3));
    let end = |document: &serde_json::Value| document["end_us"].as_i64().expect("an end");
    assert!(end(&three) < end(&one));
    assert_eq!(one["format"], "tapewise-pull-list");
    let cartridges = three["cartridges"].as_array().expect("cartridges");
    let drives: std::collections::BTreeSet<_> =
        cartridges.iter().map(|one| one["drive"].as_u64()).collect();
    assert_eq!(drives.len(), 3);
    let last = cartridges
        .iter()
        .filter_map(|one| one["read_us"].as_i64())
        .max();
    assert_eq!(last, Some(end(&three)));
    // Each tape by itself is ordered as if it were alone.
    let alone = desk.done(&format!(
        "{ORDER} --ltfs-index tapes/SHOW2.xml --ignore-missing --end unloaded"
    ));
    let own: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| tape(name) == b'2')
        .collect();
    assert_eq!(alone.lines(), own);
}

#[test]
fn drives_are_busy_until_their_tapes_are_out_or_as_long_as_end_says() {
    let desk = desk();
    let hours = |end: &str| {
        let ran = desk.done(&format!("{ORDER} --ltfs-index tapes --json {end}"));
        let lists: serde_json::Value = serde_json::from_str(ran.text()).expect("JSON");
        let of_tape = |tape: &serde_json::Value| tape["drive_time_us"].as_i64().expect("a number");
        let tapes = lists["cartridges"].as_array().expect("tapes");
        tapes.iter().map(of_tape).sum::<i64>()
    };
    assert_eq!(hours(""), hours("--end unloaded"));
    assert!(hours("--end rewound") < hours(""));
    // What is not in the hours is not said to be in them.
    let drive = tapewise_house::root().join("profiles/lto8.toml");
    let drive = std::fs::read_to_string(drive).expect("a profile");
    let without = drive
        .lines()
        .filter(|line| !line.starts_with("mount_s") && !line.starts_with("unmount_s"));
    desk.put("bare.toml", without.collect::<Vec<_>>().join("\n"));
    for (profile, end, words) in [
        ("lto8", "", "with mounting, rewinding and unloading"),
        (
            "lto8",
            "--end rewound",
            "with mounting and rewinding, without unloading",
        ),
        (
            "bare.toml",
            "",
            "with rewinding, without mounting and unloading",
        ),
    ] {
        let ran = desk.done(&format!(
            "order --files-from clips.txt --ltfs-index tapes --profile {profile} {end}"
        ));
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
}

#[test]
fn of_tapes_with_one_name_the_uuid_tells_which_is_meant() {
    let desk = desk();
    let other = desk.read("tapes/SHOW1.xml").replace("SHOW1", "SHOW0");
    desk.put("tapes/SHOW1.xml", other);
    let first = "5005b061-f7af-46ed-9a6f-000000000000";
    let order = "order --profile lto8 --ltfs-index tapes --all-files";
    desk.refused(
        &format!("{order} --volume show0"),
        &["2 of the volumes are called so", first],
    );
    let one = desk.done(&format!("{order} --volume {first}"));
    assert!(one.lines().iter().all(|name| name.starts_with("T0")));
}

#[test]
fn each_tape_gets_a_list_of_its_own_and_one_can_be_picked() {
    let desk = desk();
    desk.done(&format!(
        "{ORDER} --ltfs-index tapes/SHOW0.xml tapes/SHOW1.xml tapes/SHOW2.xml -o lists/"
    ));
    let mut there: Vec<String> = std::fs::read_dir(desk.path().join("lists"))
        .expect("a directory")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("text")
        })
        .collect();
    there.sort();
    assert_eq!(there, ["SHOW0.txt", "SHOW1.txt", "SHOW2.txt"]);
    for (given, directory) in [("--json", "plans"), ("--to json", "more-plans")] {
        desk.done(&format!(
            "{ORDER} --ltfs-index tapes {given} -o {directory}/"
        ));
        let plan = desk.read(&format!("{directory}/SHOW2.json"));
        assert!(plan.contains("\"format\": \"tapewise-plan\""), "{plan}");
    }
    let one = desk.done(&format!("{ORDER} --ltfs-index tapes --volume show1"));
    assert_eq!(one.text(), desk.read("lists/SHOW1.txt"));
    desk.refused(
        &format!("{ORDER} --ltfs-index tapes --explain"),
        &["--explain is for one tape"],
    );
    for (given, option) in [
        ("--objective mean", "--objective"),
        ("--max-distance 3", "--max-distance"),
        ("--spare-tape", "--spare-tape"),
        ("--end 0:200", "--end with a place"),
    ] {
        desk.refused(
            &format!("{ORDER} --ltfs-index tapes {given}"),
            &[&format!("tapewise: {option} is for one tape")],
        );
    }
    desk.refused(
        &format!("{ORDER} --ltfs-index tapes --to script"),
        &["-o DIR/"],
    );
    desk.refused_with(
        "T9C999\n",
        "order --profile lto8 --ltfs-index tapes",
        &["1 name of standard input is not in the volumes"],
    );
}

#[test]
fn an_index_that_was_cut_off_is_called_so() {
    let desk = desk();
    let whole = desk.read("tapes/SHOW0.xml");
    for bytes in [24, 30, 36, 45, 60, 90, 400, whole.len() - 3] {
        desk.put("cut.xml", &whole[..bytes]);
        desk.refused(
            "order --profile lto8 --ltfs-index cut.xml --all-files",
            &["cut off"],
        );
    }
}
