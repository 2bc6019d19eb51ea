//! The drive's own order: lists out, answers in. The "drive" here only turns its list round.

use crate::program::{CLIPS, Desk};

const ORDER: &str = "order --profile lto9 --block-size 524288";
const HEADER_BYTES: usize = 8;
const DESCRIPTOR_BYTES: usize = 32;

/// An answer: the list's segments in reverse, without the binding point in front.
fn answer(list: &[u8]) -> Vec<u8> {
    let segments: Vec<&[u8]> = list[HEADER_BYTES..].chunks(DESCRIPTOR_BYTES).collect();
    let turned: Vec<u8> = segments[1..]
        .iter()
        .rev()
        .copied()
        .flatten()
        .copied()
        .collect();
    let mut answer = vec![2, 1, 0, 0];
    answer.extend((turned.len() as u32).to_be_bytes());
    answer.extend(turned);
    answer
}

#[test]
fn a_list_goes_out_and_its_answer_comes_back_as_an_order() {
    let desk = Desk::with_clips();
    let list = desk.done(&format!("{ORDER} clips.csv --to rao")).out;
    assert_eq!(list.len(), HEADER_BYTES + 9 * DESCRIPTOR_BYTES);
    desk.done(&format!("{ORDER} clips.csv --to rao -o list.bin"));
    assert_eq!(
        std::fs::read(desk.path().join("list.bin")).expect("a list"),
        list
    );
    desk.put("answer.bin", answer(&list));
    let hex: String = answer(&list)
        .iter()
        .map(|byte| format!("{byte:02x} "))
        .collect();
    desk.put("answer.hex", hex);
    for file in ["answer.bin", "answer.hex"] {
        let given = desk.done(&format!(
            "{ORDER} clips.csv --rao-order {file} --algorithm drive"
        ));
        assert_eq!(
            given.lines(),
            [
                "interview-2",
                "archive-1911",
                "harbour",
                "market-night",
                "market",
                "drone-08",
                "drone-07",
                "interview-1"
            ]
        );
        let beside = desk.done(&format!("{ORDER} clips.csv --rao-order {file} --explain"));
        let row = beside
            .err
            .lines()
            .find(|line| line.starts_with("drive's own RAO"));
        let row = row.expect("a row");
        assert!(row.chars().any(|c| c.is_ascii_digit()), "{row}");
        assert!(!beside.err.contains("stand-in"), "{}", beside.err);
        let plan = desk.plan(&format!(
            "{ORDER} clips.csv --rao-order {file} --algorithm drive"
        ));
        assert_eq!(plan["algorithm"], "drive/1");
    }
}

#[test]
fn the_stand_in_is_named_as_one_and_decides_nothing() {
    let desk = Desk::with_clips();
    let all = desk.done(&format!("{ORDER} clips.csv --explain --all"));
    assert!(all.err.contains("emulated RAO (a stand-in)"), "{}", all.err);
    let none = desk.done("order --profile lto8 --block-size 524288 clips.csv --explain --all");
    assert!(!none.err.contains("stand-in"), "{}", none.err);
    let usual = desk.done(&format!("{ORDER} clips.csv --explain"));
    assert!(usual.err.contains("ask it: --to rao"), "{}", usual.err);
}

#[test]
fn answers_to_other_questions_are_refused() {
    let desk = Desk::with_clips();
    let list = desk.done(&format!("{ORDER} clips.csv --to rao")).out;
    desk.put("answer.bin", answer(&list));
    desk.put(
        "fewer.csv",
        CLIPS.lines().take(4).collect::<Vec<_>>().join("\n"),
    );
    let order = format!("{ORDER} --rao-order answer.bin");
    desk.refused(&format!("{order} fewer.csv"), &["--rao-order", "asked for"]);
    desk.refused(
        &format!("{order} --rao-order answer.bin clips.csv"),
        &["a second time"],
    );
    desk.refused(
        &format!("{ORDER} --rao-order clips.csv clips.csv"),
        &["clips.csv", "not hex"],
    );
    desk.refused(
        &format!("{ORDER} --algorithm drive clips.csv"),
        &["--to rao", "--rao-order"],
    );
    desk.refused(
        &format!("{order} --extents apart --json clips.csv"),
        &["file by file"],
    );
}

#[test]
fn more_than_a_drive_takes_goes_in_several_lists() {
    let desk = Desk::new();
    let mut csv = "id,start_block,block_count\n".to_owned();
    for block in (0..3_000u32).rev() {
        csv += &format!("b{block},{},4\n", block * 1_000);
    }
    desk.put("many.csv", csv);
    desk.refused(
        &format!("{ORDER} --to rao many.csv"),
        &["2 lists", "-o list"],
    );
    desk.done(&format!("{ORDER} --to rao -o list many.csv"));
    assert_eq!(desk.names(), ["list.1", "list.2", "many.csv"]);
    for number in 1..=2 {
        let list = std::fs::read(desk.path().join(format!("list.{number}"))).expect("a list");
        desk.put(&format!("answer.{number}"), answer(&list));
    }
    let both = "--rao-order answer.1 --rao-order answer.2 --algorithm drive";
    let given = desk.done(&format!("{ORDER} {both} many.csv"));
    let lines = given.lines();
    // Windows cover the tape one after the other, each turned round.
    assert_eq!(
        (lines[0], lines[2_727], lines[2_728]),
        ("b2727", "b0", "b2999")
    );
    desk.refused(
        &format!("{ORDER} --rao-order answer.1 many.csv"),
        &["272 of 3000 segments are missing"],
    );
    desk.refused(
        &format!("{ORDER} --to rao --head wrap=3,lpos=9000 many.csv"),
        &["as a block"],
    );
    desk.refused(
        &format!("{ORDER} --to rao --explain many.csv"),
        &["only asks the drive"],
    );
}
