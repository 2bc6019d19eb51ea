//! The log of cta-taped: both formats, what is passed over, what is refused, and the moves that follow.

use proptest::prelude::*;
use tapewise_formats::block_moves_csv::read_block_moves;
use tapewise_formats::cta_log::{CtaLog, CtaLogError, CtaRead, read_cta_log, read_cta_log_of};
use tapewise_model::Micros;

/// A line of the default format for a file read, with the fields the daemon writes around those we use.
fn pairs(mount: u32, f_seq: u64, block: u64, bytes: u64, seconds: &str) -> String {
    format!(
        "Aug 24 15:14:13.521000000 tpsrv01 cta-taped: LVL=\"INFO\" PID=\"71\" TID=\"78\" \
         MSG=\"File successfully read from tape\" instance=\"prod\" thread=\"TapeRead\" tapeDrive=\"LTO8D1\" \
         tapeVid=\"V01007\" mountId=\"{mount}\" vo=\"vo\" mediaType=\"LTO8\" tapePool=\"p\" \
         fileId=\"4294967{f_seq}\" BlockId=\"{block}\" fSeq=\"{f_seq}\" dstURL=\"root://d//eos/a b=c\" \
         isRepack=\"0\" isVerifyOnly=\"0\" positionTime=\"{seconds}\" readWriteTime=\"1.25\" \
         waitFreeMemoryTime=\"0.000012\" waitReportingTime=\"0.1\" transferTime=\"1.35\" totalTime=\"9.9\" \
         dataVolume=\"{bytes}\" headerVolume=\"480\" LBPMode=\"LBP_Off\" status=\"success\" "
    )
}

fn json(drive: &str, mount: u32, f_seq: u64, block: u64, bytes: u64, seconds: f64) -> String {
    format!(
        "{{\"epoch_time\":1661346853.521,\"local_time\":\"2022-08-24T15:14:13+0200\",\"hostname\":\"h\",\
         \"program\":\"cta-taped\",\"log_level\":\"INFO\",\"pid\":1,\"tid\":2,\
         \"message\":\"File successfully read from tape\",\"tapeDrive\":\"{drive}\",\"tapeVid\":\"V01007\",\
         \"mountId\":\"{mount}\",\"fSeq\":{f_seq},\"isRepack\":false,\"BlockId\":{block},\
         \"dataVolume\":{bytes},\"positionTime\":{seconds},\"readWriteTime\":1.25}}"
    )
}

fn read(text: &str) -> Result<CtaLog, CtaLogError> {
    read_cta_log(text.as_bytes())
}

#[test]
fn both_formats_say_the_same() {
    let a = read(&pairs(7, 12, 4_000, 2_000_000_000, "41.5")).unwrap();
    let b = read(&json("LTO8D1", 7, 12, 4_000, 2_000_000_000, 41.5)).unwrap();
    assert_eq!(b.reads[0].written_us, Some(1_661_346_853_521_000));
    let without = |mut log: CtaLog| {
        log.reads[0].written_us = None;
        log
    };
    assert_eq!(a, without(b));
    let expected = CtaRead {
        volume: "V01007".into(),
        f_seq: 12,
        block: 4_000,
        data_bytes: 2_000_000_000,
        position_time: Micros(41_500_000),
        read_time: Some(Micros(1_250_000)),
        written_us: None,
        mount: "LTO8D1 7".into(),
        lost_before: false,
        line: 1,
    };
    assert_eq!(a.reads, [expected]);
}

#[test]
fn a_time_without_a_year_is_of_the_year_given_and_of_the_next_after_december() {
    let at = |stamp: &str, f_seq: u64| {
        let line = pairs(7, f_seq, f_seq * 1_000_000, 5, "1");
        line.replace("Aug 24 15:14:13.521000000", stamp)
    };
    let log = [
        at("Dec 31 23:59:59.500000000", 1),
        at("Jan  1 00:00:00", 2),
        at("Feb 29 12:00:00", 3),
        at("no time here", 4),
    ];
    let read = read_cta_log_of(log.join("\n").as_bytes(), Some(2023)).unwrap();
    let times: Vec<Option<i64>> = read.reads.iter().map(|read| read.written_us).collect();
    let expected = [
        Some(1_704_067_199_500_000),
        Some(1_704_067_200_000_000),
        Some(1_709_208_000_000_000),
        None,
    ];
    assert_eq!(times, expected);
}

#[test]
fn the_lines_of_the_reference_page_are_read_and_say_the_same() {
    let page = &tapewise_house::page("reference/cta-log.md");
    let line = |start| page.lines().find(|line| line.starts_with(start)).unwrap();
    let of = |start| read(line(start)).unwrap().reads;
    assert_eq!(of("Aug 24"), of("{\"log_level"));
    let csv = page
        .split("```csv\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let moves = read_block_moves(csv.unwrap().as_bytes()).unwrap();
    // The row is the read of the example and a next one at block 90000.
    assert_eq!(moves[0].from_block, of("Aug 24")[0].end_block());
}

#[test]
fn a_read_ends_where_the_next_file_begins() {
    // 3 headers, a filemark, 2 blocks of data, a filemark, 3 trailers, a filemark.
    let log = read(&pairs(1, 2, 100, 262_145, "9")).unwrap();
    assert_eq!(log.reads[0].end_block(), 100 + 11);
    // The first file of a tape is stored with block 0, which is the label.
    let first = read(&pairs(1, 1, 0, 262_144, "9")).unwrap();
    assert_eq!(
        (first.reads[0].first_block(), first.reads[0].end_block()),
        (1, 11)
    );
}

#[test]
fn moves_join_reads_of_one_mount_only_though_drives_write_one_log() {
    let text = [
        json("D1", 1, 5, 50_000, 262_144, 30.0),
        json("D2", 2, 9, 90_000, 262_144, 33.0),
        json("D1", 1, 2, 20_000, 262_144, 25.5),
        json("D1", 3, 4, 40_000, 262_144, 28.0),
    ]
    .join("\n");
    let found = read(&text).unwrap().moves();
    assert_eq!((found.moves.len(), found.first_of_mount), (1, 3));
    let only = &found.moves[0];
    assert_eq!((only.from_block, only.to_block), (50_010, 20_000));
    assert_eq!((only.took, only.line), (Micros(25_500_000), 3));
}

#[test]
fn behind_an_error_nobody_knows_where_the_head_was() {
    let error = "Aug 24 15:14:13.5 h cta-taped: LVL=\"ERROR\" PID=\"1\" TID=\"2\" \
                 MSG=\"Error reading a file in TapeReadFileTask\" tapeDrive=\"LTO8D1\" mountId=\"1\" ";
    let text = [
        &pairs(1, 1, 0, 1, "3"),
        error,
        &pairs(1, 9, 9_000, 1, "40"),
        &pairs(1, 3, 3_000, 1, "20"),
    ]
    .map(|line| line.to_string())
    .join("\n");
    let log = read(&text).unwrap();
    let found = log.moves();
    assert_eq!(
        (log.passed_over, found.behind_error, found.moves.len()),
        (1, 1, 1)
    );
    assert_eq!(found.moves[0].line, 4);
}

#[test]
fn other_messages_are_passed_over_even_when_they_quote_this_one() {
    let other = "Aug 24 15:14:13.5 h cta-taped: LVL=\"INFO\" MSG=\"Successfully positioned for reading\" fSeq=\"1\" ";
    let quoting =
        "Aug 24 15:14:13.5 h cta-taped: MSG=\"x\" text=\"File successfully read from tape\" ";
    let text = format!(
        "{other}\n\n{quoting}\nplain text\n{}\n",
        pairs(1, 1, 0, 1, "3")
    );
    let log = read(&text).unwrap();
    assert_eq!((log.reads.len(), log.passed_over), (1, 3));
    assert!(log.notices.is_empty());
}

#[test]
fn what_is_needed_is_named_with_its_line() {
    let good = pairs(1, 1, 0, 1, "3");
    let cases = [
        (
            good.replace("BlockId=\"0\" ", ""),
            "line 2: \"File successfully read from tape\" without BlockId",
        ),
        (
            good.replace("tapeVid=\"V01007\" ", ""),
            "line 2: \"File successfully read from tape\" without tapeVid",
        ),
        (
            good.replace("fSeq=\"1\"", "fSeq=\"-1\""),
            "line 2: fSeq is \"-1\", expected a whole number, not negative",
        ),
        (
            good.replace("positionTime=\"3\"", "positionTime=\"-3\""),
            "line 2: positionTime is \"-3\", expected seconds, between 0 and those of a day",
        ),
        (
            good.replace("positionTime=\"3\"", "positionTime=\"nan\""),
            "line 2: positionTime is \"nan\", expected seconds, between 0 and those of a day",
        ),
    ];
    for (line, expected) in cases {
        let text = format!("{good}\n{line}\n");
        assert_eq!(read(&text).unwrap_err().to_string(), expected);
    }
    let nothing = read("a\nb\n").unwrap_err();
    assert!(matches!(nothing, CtaLogError::NothingRead { lines: 2 }));
}

#[test]
fn block_numbers_that_do_not_grow_with_the_files_are_refused() {
    let text = [pairs(1, 4, 700, 1, "3"), pairs(1, 2, 800, 1, "3")].join("\n");
    assert!(matches!(
        read(&text).unwrap_err(),
        CtaLogError::DummyBlocks {
            f_seq: 4,
            block: 700,
            other_f_seq: 2,
            other_block: 800,
            ..
        }
    ));
    // The same file twice is no contradiction.
    let twice = [pairs(1, 4, 700, 1, "3"), pairs(2, 4, 700, 1, "3")].join("\n");
    assert_eq!(read(&twice).unwrap().reads.len(), 2);
}

#[test]
fn a_log_without_mounts_is_read_with_a_notice() {
    let text = pairs(1, 1, 0, 1, "3").replace("mountId=\"1\" ", "");
    let log = read(&text).unwrap();
    assert_eq!(log.notices[0].code, "no-mount-id");
}

#[test]
fn a_line_cut_short_is_an_error_not_a_shorter_file() {
    let good = pairs(1, 1, 0, 123, "3");
    let cut = &good[..good.find("dataVolume").unwrap() + "dataVolume=\"1".len()];
    assert!(matches!(
        read(cut).unwrap_err(),
        CtaLogError::Missing {
            field: "dataVolume",
            line: 1
        }
    ));
    let damaged = format!(
        "{}\n{{\"message\":\"File successfully read from tape\",\n",
        good
    );
    let log = read(&damaged).unwrap();
    assert_eq!((log.reads.len(), log.passed_over), (1, 1));
    assert_eq!(
        (log.notices[0].code.as_str(), log.notices[0].line),
        ("damaged-line", Some(2))
    );
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(MSG=\"File successfully read from tape\"|[{}\"=: a-z0-9\n]{0,30}){0,6}") {
        let _ = read(&text);
    }

    #[test]
    fn what_is_written_is_read_back(
        f_seq in 1u64..1_000_000,
        block in 0u64..u64::from(u32::MAX),
        bytes in 0u64..1 << 50,
        micros in 0i64..86_400_000_000,
    ) {
        let seconds = micros as f64 / 1e6;
        for line in [pairs(3, f_seq, block, bytes, &format!("{seconds:.6}")), json("d", 3, f_seq, block, bytes, seconds)] {
            let log = read(&line).unwrap();
            let read = &log.reads[0];
            prop_assert_eq!((read.f_seq, read.block, read.data_bytes), (f_seq, block, bytes));
            prop_assert!((read.position_time.0 - micros).abs() <= 1);
        }
    }
}
