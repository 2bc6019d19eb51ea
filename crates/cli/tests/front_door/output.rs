//! What comes out, where it goes, and that it is the same every time.

use crate::program::{CLIPS, Desk, ORDER, fixture, steps};

#[test]
fn the_same_input_gives_the_same_bytes() {
    let desk = Desk::with_clips();
    for to in ["list", "list0", "json", "script", "csv"] {
        let args = format!("{ORDER} clips.csv --to {to}");
        let (first, second) = (desk.done(&args), desk.done(&args));
        assert_eq!(first.out, second.out, "{to}");
        assert_eq!(first.err, second.err, "{to}");
        // From a pipe, with another separator, line ends and a byte order mark.
        let sheet = CLIPS.replace(',', ";").replace('\n', "\r\n");
        let piped = desk.done_with(format!("\u{feff}{sheet}"), &format!("{ORDER} --to {to}"));
        assert_eq!(piped.out, first.out, "{to}");
        let tabs = desk.done_with(CLIPS.replace(',', "\t"), &format!("{ORDER} - --to {to}"));
        assert_eq!(tabs.out, first.out, "{to}");
    }
    let json = format!("{ORDER} clips.csv");
    assert_eq!(
        desk.done(&format!("{json} --json")).out,
        desk.done(&format!("{json} --to json")).out
    );
    for verb in [
        "profile list",
        "profile show lto9",
        "profile compare lto8 lto9",
    ] {
        assert_eq!(desk.done(verb).out, desk.done(verb).out, "{verb}");
    }
}

#[test]
fn the_seed_decides_what_is_drawn() {
    let desk = Desk::with_clips();
    let order = |seed: u64| {
        desk.done(&format!(
            "{ORDER} clips.csv --algorithm random --seed {seed}"
        ))
        .out
    };
    assert_eq!(order(1), order(1));
    assert!((2..9).any(|seed| order(seed) != order(1)));
    assert_eq!(desk.plan(&format!("{ORDER} clips.csv --seed 7"))["seed"], 7);
}

#[test]
fn a_plan_keeps_its_own_rules() {
    let desk = Desk::with_clips();
    let plan = desk.plan(&format!("{ORDER} clips.csv --end rewound"));
    assert_eq!(plan["format"], "tapewise-plan");
    assert_eq!(plan["version"], 1);
    let mut clock = 0;
    for (at, step) in plan["steps"].as_array().expect("steps").iter().enumerate() {
        assert_eq!(step["n"], at + 1);
        assert_eq!(step["begin_us"], clock);
        clock += step["duration_us"].as_u64().expect("microseconds");
    }
    let totals = &plan["totals"];
    assert_eq!(totals["total_us"], clock);
    let us = |field: &str| totals[field].as_u64().expect("microseconds");
    assert_eq!(us("total_us"), us("locate_us") + us("read_us"));
    assert!(us("worst_us") >= us("total_us"));
    let listed = desk.done(&format!("{ORDER} clips.csv --end rewound"));
    let read: Vec<&str> = steps(&plan, "read")
        .iter()
        .filter_map(|step| step["serves"][0]["id"].as_str())
        .collect();
    assert_eq!(read, listed.lines());
}

#[test]
fn the_list_goes_to_standard_output_and_words_elsewhere() {
    let desk = Desk::with_clips();
    let loud = desk.done(&format!("{ORDER} clips.csv --explain"));
    let quiet = desk.done(&format!("{ORDER} clips.csv --quiet"));
    assert_eq!(loud.out, quiet.out);
    assert_eq!(quiet.err, "");
    assert!(loud.err.contains("<- the order given"), "{}", loud.err);
    let zero = desk.done(&format!("{ORDER} clips.csv --to list0"));
    assert_eq!(zero.text(), quiet.text().replace('\n', "\0"));
}

#[test]
fn a_file_appears_whole_and_says_the_same() {
    let desk = Desk::with_clips();
    let direct = desk.done(&format!("{ORDER} clips.csv"));
    desk.put("order.txt", "old");
    let ran = desk.done(&format!("{ORDER} clips.csv -o order.txt --plot path.svg"));
    assert_eq!(ran.text(), "");
    assert_eq!(desk.read("order.txt").as_bytes(), direct.out);
    assert_eq!(desk.names(), ["clips.csv", "order.txt", "path.svg"]);
    desk.done("convert clips.csv --to list -o list.txt --sort");
    let dash = desk.done(&format!("{ORDER} clips.csv -o -"));
    assert_eq!(dash.out, direct.out);
    assert_eq!(desk.read("list.txt").lines().next(), Some("interview-1"));
}

#[test]
fn a_failure_leaves_the_file_as_it_was() {
    let desk = Desk::with_clips();
    desk.put("order.txt", "old");
    desk.put("bad.csv", "id,start_block,block_count\na,x,1\n");
    desk.refused(
        &format!("{ORDER} bad.csv -o order.txt --plot path.svg"),
        &["line 2"],
    );
    desk.refused(
        &format!("{ORDER} clips.csv -o order.txt --head 99999999999"),
        &["block"],
    );
    desk.refused("convert bad.csv -o order.txt", &["line 2"]);
    // Found out while writing: a name that a list of lines cannot hold.
    desk.put(
        "bad.csv",
        "id,start_block,block_count\nfine,1,1\n\"two\nlines\",9,1\n",
    );
    for args in [
        format!("{ORDER} bad.csv"),
        "convert bad.csv --to list".to_owned(),
    ] {
        let ran = desk.run(&format!("{args} -o order.txt"));
        assert_ne!(ran.code, 0);
        assert!(ran.err.contains("line feed"), "{}", ran.err);
    }
    assert_eq!(desk.read("order.txt"), "old");
    assert_eq!(desk.names(), ["bad.csv", "clips.csv", "order.txt"]);
}

#[test]
fn names_that_cannot_be_written_are_bad_input() {
    let desk = Desk::new();
    desk.put(
        "bad.csv",
        "id,start_block,block_count\nfine,1,1\n\"two\nlines\",9,1\n",
    );
    desk.refused(&format!("{ORDER} bad.csv"), &["line feed", "--to list0"]);
    desk.put(
        "bad.csv",
        "id,start_block,block_count\nfine,1,1\n/absolute,9,1\n",
    );
    desk.refused(&format!("{ORDER} bad.csv --to script"), &["/absolute"]);
    desk.put(
        "pieces.csv",
        "id,start_block,block_count\na,5,1\nb,70000,1\na,900000,1\n",
    );
    for kind in ["script", "powershell"] {
        desk.refused(
            &format!("{ORDER} pieces.csv --to {kind} -o copy"),
            &[
                "line 4: the id \"a\" is in line 2 too",
                "requests 1 and 3 have the same id, a",
                "JSON Lines",
            ],
        );
    }
}

#[test]
fn places_that_cannot_be_written_fail() {
    let desk = Desk::with_clips();
    for args in [
        "-o none/order.txt",
        "--plot none/path.svg",
        "-o .",
        "-o clips.csv/x",
    ] {
        let ran = desk.run(&format!("{ORDER} clips.csv {args}"));
        assert_eq!(ran.code, 1, "{args}: {}", ran.err);
        assert_eq!(ran.text(), "", "{args}");
        let place = args.split(' ').next_back().unwrap_or_default();
        assert!(ran.err.contains(place), "{args}: {}", ran.err);
        assert_eq!(desk.names(), ["clips.csv"], "{args}");
    }
    if cfg!(target_os = "linux") {
        for verb in [
            format!("{ORDER} clips.csv"),
            "profile list".into(),
            "convert clips.csv".into(),
        ] {
            let ran = desk.shell(&format!("$TAPEWISE {verb} > /dev/full"));
            assert_eq!(ran.code, 1, "{verb}: {}", ran.err);
            assert!(ran.err.contains("No space left"), "{}", ran.err);
        }
    }
}

/// A pipe whose reader is gone before the program writes; the status is the program's.
fn into_a_closed_pipe(desk: &Desk, verb: &str) {
    let line = format!("{{ $TAPEWISE {verb}; echo $? > status; }} | true");
    desk.shell(&line);
    let seen = desk.shell(&format!("$TAPEWISE {verb} 2> words | head -n 1"));
    assert_eq!(seen.code, 0, "{verb}");
    assert!(
        !desk.read("words").contains("panicked"),
        "{verb}: {}",
        desk.read("words")
    );
    assert_eq!(desk.read("status"), "0\n", "{verb}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let desk = Desk::with_clips();
    let kinds = ["list", "json", "script", "csv"];
    let orders = kinds.map(|to| format!("{ORDER} --quiet clips.csv --to {to}"));
    let others = [
        "convert clips.csv",
        "profile list",
        "profile show lto8",
        "--help",
    ];
    for verb in orders.into_iter().chain(others.map(str::to_owned)) {
        into_a_closed_pipe(&desk, &verb);
    }
}

#[test]
fn a_closed_standard_error_is_no_panic() {
    let desk = Desk::with_clips();
    let ran = desk.shell(&format!(
        "{{ $TAPEWISE {ORDER} clips.csv; echo $? > status; }} 2>&1 > order.txt | true"
    ));
    assert_eq!((ran.code, desk.read("status").as_str()), (0, "0\n"));
}

/// Names that a shell would take apart, copied by the script that the program writes.
#[test]
fn the_script_copies_every_file_in_order() {
    let desk = Desk::new();
    let names = [
        "plain.txt",
        "sub dir/with blank",
        "it's",
        "-rf",
        "$HOME `id` \\ \"q\"",
        "größe",
    ];
    let mut csv = "id,start_block,block_count\n".to_owned();
    std::fs::create_dir_all(desk.path().join("tape/sub dir")).expect("a directory");
    for (at, name) in names.iter().enumerate() {
        csv += &format!("\"{}\",{},1\n", name.replace('"', "\"\""), at * 100 + 1);
        desk.put(&format!("tape/{name}"), format!("content of {name}"));
    }
    desk.put("requests.csv", csv);
    let order = format!("{ORDER} requests.csv");
    desk.done(&format!(
        "{order} --to script --script-from tape --script-into back -o copy.sh"
    ));
    let copied = desk.shell("sh copy.sh");
    assert_eq!(copied.code, 0, "{}", copied.err);
    for name in names {
        assert_eq!(
            desk.read(&format!("back/{name}")),
            format!("content of {name}")
        );
    }
    let again = desk.shell("sh copy.sh");
    assert_eq!(again.code, 1);
    assert!(again.err.contains("not overwritten"), "{}", again.err);
    assert_eq!(desk.done(&order).lines().len(), names.len());
}

#[test]
fn the_manual_has_a_page_for_each_verb() {
    let desk = Desk::new();
    desk.done("manual pages");
    for page in [
        "tapewise",
        "tapewise-order",
        "tapewise-convert",
        "tapewise-profile",
        "tapewise-demo",
    ] {
        let text = desk.read(&format!("pages/{page}.1"));
        let title = format!(".TH {} 1 \"\" \"tapewise ", page.to_uppercase());
        assert!(text.starts_with(&title), "{text}");
        for section in ["EXAMPLES", "\"EXIT STATUS\"", "FILES", "\"SEE ALSO\""] {
            let is_there = text.contains(&format!(".SH {section}"));
            assert!(is_there || page == "tapewise-demo", "{page}: {section}");
        }
    }
    for completion in ["tapewise.bash", "_tapewise", "tapewise.fish"] {
        assert!(
            desk.read(&format!("pages/{completion}"))
                .contains("ltfs-index"),
            "{completion}"
        );
    }
}

/// Never tried on a device: as root, a rename over /dev/null takes it away from the whole machine.
#[test]
fn what_is_no_regular_file_is_written_and_not_replaced() {
    let desk = Desk::with_clips();
    let order = format!("$TAPEWISE {ORDER} --quiet clips.csv");
    let list = desk.done(&format!("{ORDER} clips.csv")).out;
    let line = format!("mkfifo pipe && {{ timeout 5 cat pipe > got & }} && {order} -o pipe; wait");
    assert_eq!(desk.shell(&line).code, 0);
    assert_eq!(desk.read("got").as_bytes(), list);
    assert_eq!(desk.shell("test -p pipe").code, 0);
    let line = format!("echo old > real && ln -s real link && {order} -o link");
    assert_eq!(desk.shell(&line).code, 0);
    assert_eq!(desk.shell("test -L link").code, 0);
    assert_eq!(desk.read("real").as_bytes(), list);
}

#[test]
fn a_file_keeps_its_mode_and_a_new_one_heeds_the_umask() {
    let desk = Desk::with_clips();
    let order = format!("$TAPEWISE {ORDER} --quiet clips.csv");
    let line = format!(
        "echo > old; chmod 600 old; {order} -o old; (umask 077; {order} -o new); ls -l old new"
    );
    let ran = desk.shell(&line);
    assert!(
        ran.lines()
            .iter()
            .all(|line| line.starts_with("-rw-------")),
        "{}",
        ran.text()
    );
}

#[test]
fn two_results_do_not_go_to_one_file() {
    let desk = Desk::with_clips();
    desk.refused(&format!("{ORDER} clips.csv -o both --plot both"), &["both"]);
}

#[test]
fn no_output_goes_over_an_input() {
    let desk = Desk::with_clips();
    std::fs::create_dir(desk.path().join("sub")).expect("a directory");
    #[cfg(unix)]
    std::os::unix::fs::symlink("clips.csv", desk.path().join("link.csv")).expect("a link");
    let before = desk.read("clips.csv");
    for (args, words) in [
        (
            "clips.csv -o clips.csv",
            "--output clips.csv would write over",
        ),
        ("clips.csv -o sub/../clips.csv", "--output sub/../clips.csv"),
        ("clips.csv --plot clips.csv", "--plot clips.csv"),
        ("clips.csv --explain --html clips.csv", "--html clips.csv"),
        #[cfg(unix)]
        ("clips.csv -o link.csv", "--output link.csv"),
    ] {
        desk.refused(&format!("{ORDER} {args}"), &[words, "another name"]);
    }
    desk.refused(
        "convert clips.csv --sort -o clips.csv",
        &["--output clips.csv"],
    );
    let names = fixture("ltfs/lto8-36files.xml");
    desk.put("names.txt", "d\n");
    desk.refused(
        &format!("order --profile lto8 --ltfs-index {names} --files-from names.txt -o names.txt"),
        &["--output names.txt"],
    );
    assert_eq!(desk.read("clips.csv"), before);
}

#[test]
fn convert_is_quiet_if_asked() {
    let desk = Desk::with_clips();
    assert!(!desk.done("convert clips.csv").err.is_empty());
    let quiet = desk.done("convert clips.csv -q");
    assert_eq!((quiet.err.as_str(), quiet.lines().len() > 1), ("", true));
}

#[test]
fn what_is_read_is_not_written_over_by_any_verb() {
    let desk = Desk::new();
    for name in ["log.jsonl", "a.csv", "s.toml"] {
        desk.put(name, "contents");
    }
    std::os::unix::fs::symlink("s.toml", desk.path().join("link")).expect("a link");
    for (args, words) in [
        (
            "fit log.jsonl --base lto8 -o ./log.jsonl",
            "--output ./log.jsonl would write over log.jsonl",
        ),
        (
            "audit a.csv --plot a.csv",
            "--plot a.csv would write over a.csv",
        ),
        (
            "simulate s.toml --trace link",
            "--trace link would write over s.toml",
        ),
        (
            "simulate s.toml --trace new --events new",
            "--trace and --events both name new",
        ),
        (
            "simulate s.toml --merge a.csv -o a.csv",
            "--output a.csv would write over a.csv",
        ),
        (
            "capacity s.toml --target mean<1s --csv s.toml -o x",
            "--csv s.toml would write over s.toml",
        ),
    ] {
        let ran = desk.run(args);
        assert_eq!(ran.code, 2, "{args}: {}", ran.err);
        assert!(
            ran.err.contains(words),
            "{args}: {words:?} not in {}",
            ran.err
        );
    }
    for name in ["log.jsonl", "a.csv", "s.toml"] {
        assert_eq!(desk.read(name), "contents");
    }
}
