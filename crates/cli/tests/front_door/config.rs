//! Defaults of the environment and the configuration file, and the help that the program has inside.

use crate::program::{Desk, TAPEWISE};

#[test]
fn a_profile_that_is_set_need_not_be_given_and_config_show_says_where_it_comes_from() {
    let desk = Desk::with_clips();
    let order = "$TAPEWISE order --quiet --block-size 512K clips.csv";
    let given = desk.shell("$TAPEWISE order --quiet --profile LTO-8 --block-size 524288 clips.csv");
    assert_eq!(given.code, 0, "{}", given.err);
    let missing = desk.shell(order);
    assert_eq!(missing.code, 2, "{}", missing.err);
    for words in [
        "--profile",
        "hint: ",
        "lto8",
        "TAPEWISE_PROFILE",
        "tapewise profile list",
    ] {
        assert!(missing.err.contains(words), "{words}: {}", missing.err);
    }
    let labelled = desk.shell("$TAPEWISE order --ltfs-index A00012L6.xml");
    assert!(
        labelled
            .err
            .contains("A00012L6 is probably read with --profile lto6"),
        "{}",
        labelled.err
    );
    let set = desk.shell(&format!("TAPEWISE_PROFILE=lto8 {order}"));
    assert_eq!(set.text(), given.text(), "{}", set.err);
    desk.put("config.toml", "profile = \"LTO8\"\narchive = \"A\"\n");
    let file = desk.shell(&format!("TAPEWISE_CONFIG=$PWD/config.toml {order}"));
    assert_eq!(file.text(), given.text(), "{}", file.err);
    let show =
        desk.shell("TAPEWISE_ARCHIVE=/srv/a TAPEWISE_CONFIG=config.toml $TAPEWISE config show");
    for words in [
        "LTO8",
        "config.toml",
        "/srv/a",
        "environment, TAPEWISE_ARCHIVE",
    ] {
        assert!(show.text().contains(words), "{words}: {}", show.text());
    }
    let json = desk
        .shell("TAPEWISE_CONFIG=config.toml $TAPEWISE config show --json")
        .json();
    assert_eq!(json["settings"]["profile"]["value"], "LTO8");
    desk.put("config.toml", "profil = \"lto8\"\n");
    let wrong = desk.shell("TAPEWISE_CONFIG=config.toml $TAPEWISE profile list");
    assert_eq!(wrong.code, 2);
    assert!(
        wrong
            .err
            .contains("unknown key `profil`; there are: profile, archive"),
        "{}",
        wrong.err
    );
    assert!(!TAPEWISE.is_empty());
}

#[test]
fn an_archive_that_is_set_need_not_be_given() {
    let desk = crate::archive::desk();
    desk.put("one.bin", "contents");
    let run = |line: &str| {
        let ran = desk.shell(&format!("export TAPEWISE_ARCHIVE=A; {line}"));
        assert_eq!(ran.code, 0, "{line}: {}", ran.err);
        ran
    };
    run("$TAPEWISE store one.bin");
    assert!(run("$TAPEWISE catalog find").text().contains("one.bin"));
    let back = run("echo one.bin | $TAPEWISE recall --to out");
    assert!(back.text().contains("delivered  1 file"), "{}", back.text());
    for option in ["--replace", "--head", "--seed"] {
        let value = if option == "--replace" { "" } else { "5" };
        let line = format!("TAPEWISE_ARCHIVE=A $TAPEWISE recall --to out {option} {value}");
        let ran = desk.shell(&format!("echo one.bin | {line}"));
        let words = format!("{option} is not for an archive, and TAPEWISE_ARCHIVE");
        assert!(ran.code == 2 && ran.err.contains(&words), "{}", ran.err);
    }
}

#[test]
fn the_reference_is_inside_the_program() {
    let desk = Desk::new();
    let page = desk.done("help exit-codes");
    assert!(page.text().starts_with("# Exit codes"), "{}", page.text());
    let verb = desk.done("help recall queue");
    assert!(verb.text().contains("--archive <DIR>"), "{}", verb.text());
    let all = desk.done("help");
    for words in ["requests-csv", "Files of `library bench`", "order "] {
        assert!(all.text().contains(words), "{words}: {}", all.text());
    }
    desk.refused("help nothing", &["no help on nothing", "tapewise help"]);
}
