//! Names as people have them: with mount points, in other case, bare, as patterns, or wrong.

use crate::mount::{file, mount_point};
use crate::program::Desk;

/// An index of a volume with two days of clips, one name in both.
fn desk() -> Desk {
    let desk = Desk::new();
    let clip = |name: &str, block: u64| {
        format!(
            "<file><name>{name}</name><length>600000</length><extentinfo><extent><fileoffset>0</fileoffset>\
             <partition>b</partition><startblock>{block}</startblock><byteoffset>0</byteoffset>\
             <bytecount>600000</bytecount></extent></extentinfo></file>"
        )
    };
    let day = |name: &str, clips: &[String]| {
        let clips = clips.join("");
        format!("<directory><name>{name}</name><contents>{clips}</contents></directory>")
    };
    let one = day("day1", &[clip("A001.mov", 40), clip("A002.mov", 900_000)]);
    let two = day(
        "Caf\u{e9}",
        &[clip("A001.mov", 400_000), clip("B001.mov", 7_000)],
    );
    desk.put(
        "tape.xml",
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><ltfsindex version=\"2.4.0\"><volumeuuid>5005b061-f7af-46ed-9a6f-1cf307d37bc0</volumeuuid>\
             <directory><name>SHOW</name><contents>{one}{two}</contents></directory></ltfsindex>"
        ),
    );
    desk
}

const ORDER: &str = "order --profile lto8 --ltfs-index tape.xml";

#[test]
fn a_list_from_another_machine_is_understood_and_what_was_guessed_is_said() {
    let desk = desk();
    for (names, count, said) in [
        (
            "/Volumes/SHOW/day1/A001.mov\n/Volumes/SHOW/day1/A002.mov\n",
            2,
            "took Volumes/SHOW off 2 names",
        ),
        (
            "T:\\SHOW\\day1\\A001.mov\r\nT:\\SHOW\\day1\\A002.mov\r\n",
            2,
            "took SHOW off 2 names",
        ),
        (
            "A002.mov\nB001\n",
            2,
            "by the last part of the path only: A002.mov is day1/A002.mov",
        ),
        (
            "Cafe\u{301}/B001.mov\n",
            1,
            "with accents encoded in another way",
        ),
        ("DAY1/a001.MOV\n", 1, "with other upper and lower case"),
        ("day1/*.mov\n", 2, "as a pattern"),
    ] {
        let ran = desk.done_with(names, ORDER);
        assert_eq!(ran.lines().len(), count, "{names}: {}", ran.err);
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
    }
    let ran = desk.done_with(
        "/x/y/day1/A001.mov\n",
        &format!("{ORDER} --strip-prefix /x/y --match path"),
    );
    assert_eq!(ran.lines(), ["day1/A001.mov"]);
    assert!(!ran.err.contains("took"), "{}", ran.err);
}

#[test]
fn a_name_that_is_there_twice_is_a_question_and_one_that_is_not_there_gets_its_nearest() {
    let desk = desk();
    desk.refused_with(
        "A001.mov\n",
        ORDER,
        &[
            "which one is meant?",
            "day1/A001.mov or Caf\u{e9}/A001.mov",
            "hint: give the whole path",
        ],
    );
    desk.refused_with(
        "day1/A001.mov\nday1/A0O2.mov\n",
        ORDER,
        &[
            "1 name of standard input is not in tape.xml",
            "line 2: day1/A0O2.mov; nearest: day1/A002.mov, ",
        ],
    );
    desk.refused_with(
        "DAY1/A001.mov\n",
        &format!("{ORDER} --match path"),
        &["nearest: day1/A001.mov"],
    );
    desk.refused_with(
        "a\n",
        &format!("{ORDER} --match fuzzy"),
        &["give one of auto, path, name, glob"],
    );
}

#[test]
fn names_below_a_mount_are_understood_alike() {
    let Some(mount) = mount_point() else { return };
    file(&mount, "day1/A001.mov", "50", 600_000);
    file(&mount, "day2/B001.mov", "90", 600_000);
    let desk = Desk::new();
    let args = format!(
        "order --profile lto8 --ltfs-mount {}",
        mount.path().display()
    );
    let ran = desk.done_with("/Volumes/SHOW/day2/B001.mov\na001.mov\n", &args);
    assert_eq!(ran.lines().len(), 2, "{}", ran.err);
    assert!(
        ran.err.contains("took Volumes/SHOW off 1 name"),
        "{}",
        ran.err
    );
    assert_eq!(desk.done_with("day1\n", &args).lines(), ["day1/A001.mov"]);
    desk.refused_with("none.mov\n", &args, &["line 1: none.mov"]);
}
