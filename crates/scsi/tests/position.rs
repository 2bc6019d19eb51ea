//! Where a drive is: told or counted, and gone to by whatever form of LOCATE it has.

use crate::drive::{count_of, drive, drive_that};
use crate::fake::tape::{Skill, content};
use crate::fake::{check, send};
use tapewise_scsi::{Completion, Condition, PositionSource, ScsiError, SpaceOutcome, hex};

#[test]
fn a_true_position_comes_from_the_drive() {
    let (mut drive, _) = drive("aaaaaa", Skill::ALL);
    drive.locate(0, 4).unwrap();
    let position = drive.position().unwrap();
    assert_eq!((position.block, position.source), (4, PositionSource::Long));
    assert!(!position.is_bop);
    drive.rewind().unwrap();
    assert!(drive.position().unwrap().is_bop);
}

#[test]
fn a_drive_that_has_told_its_position_and_lost_it_is_not_where_we_count() {
    let mut at = 0;
    let mut asked = 0;
    let (mut drive, _) = drive_that(move |opcode, data| match opcode {
        0x08 => {
            at += 1;
            Completion::good(0)
        }
        // No beginning of the partition is near.
        0x11 => Completion::good(0),
        0x34 => {
            let mut answer = [0; 32];
            asked += 1;
            match asked {
                1 => answer[15] = at,
                // The block is not known (LONU); then zeros.
                2 => answer[0] = 0x04,
                _ => {}
            }
            send(&answer, data)
        }
        _ => Completion::good(0),
    });
    drive.rewind().unwrap();
    drive.read(&mut [0; 10]).unwrap();
    assert_eq!(drive.position().unwrap().source, PositionSource::Long);
    for _ in 0..2 {
        drive.read(&mut [0; 10]).unwrap();
        assert!(matches!(drive.position(), Err(ScsiError::PositionUnknown)));
    }
}

#[test]
fn a_drive_that_is_right_about_the_beginning_alone_has_not_told_its_position() {
    let mut is_at_beginning = true;
    let (mut drive, _) = drive_that(move |opcode, data| match opcode {
        0x08 => {
            is_at_beginning = false;
            Completion::good(0)
        }
        0x34 => {
            let mut answer = [0; 32];
            answer[0] = u8::from(is_at_beginning) << 7;
            send(&answer, data)
        }
        _ => Completion::good(0),
    });
    drive.rewind().unwrap();
    assert_eq!(drive.position().unwrap().source, PositionSource::Long);
    drive.read(&mut [0; 10]).unwrap();
    let position = drive.position().unwrap();
    assert_eq!(
        (position.block, position.source),
        (1, PositionSource::Counted)
    );
}

#[test]
fn a_dummy_position_is_replaced_by_our_count_or_refused() {
    let (mut drive, _) = drive("aaa|aaa", Skill::LEAST);
    // Nothing was counted yet, and the flag of the beginning is missing: a step back shows that the
    // head stands there.
    let position = drive.position().unwrap();
    assert_eq!((position.block, position.is_bop), (0, true));
    drive.rewind().unwrap();
    assert_eq!(drive.position().unwrap().block, 0);
    drive.read(&mut [0; 100]).unwrap();
    let position = drive.position().unwrap();
    assert_eq!(
        (position.block, position.source),
        (1, PositionSource::Counted)
    );
    // Over filemarks nobody can count the blocks between.
    drive.space_filemarks(1).unwrap();
    assert!(matches!(drive.position(), Err(ScsiError::PositionUnknown)));
    // The step back that found it out was taken back.
    let mut buffer = [0; 100];
    drive.read(&mut buffer).unwrap();
    assert_eq!(buffer[0], content(4));
    drive.read(&mut buffer).unwrap();
    assert!(matches!(drive.position(), Err(ScsiError::PositionUnknown)));
    drive.read(&mut buffer).unwrap();
    assert_eq!(buffer[0], content(6));
}

#[test]
fn what_stops_a_space_is_an_outcome_and_is_counted() {
    for skill in [Skill::ALL, Skill::LEAST] {
        let (mut drive, _) = drive("aa|aaa", skill);
        drive.rewind().unwrap();
        let stop = drive.space_blocks(5).unwrap();
        assert_eq!(stop, SpaceOutcome::Filemark { remaining: Some(3) });
        assert_eq!(drive.position().unwrap().block, 3);
        let stop = drive.space_blocks(9).unwrap();
        assert_eq!(stop, SpaceOutcome::EndOfData { remaining: Some(6) });
        assert_eq!(drive.position().unwrap().block, 6);
        assert_eq!(drive.space_blocks(-3).unwrap(), SpaceOutcome::Done);
        assert_eq!(drive.position().unwrap().block, 3);
        let stop = drive.space_blocks(-2).unwrap();
        assert_eq!(stop, SpaceOutcome::Filemark { remaining: Some(2) });
        assert_eq!(drive.position().unwrap().block, 2);
        let stop = drive.space_blocks(-4).unwrap();
        assert_eq!(
            stop,
            SpaceOutcome::BeginningOfPartition { remaining: Some(2) }
        );
        assert_eq!(drive.position().unwrap().block, 0);
    }
}

#[test]
fn a_drive_that_cannot_say_what_it_has_is_tried_from_the_longest_locate_down() {
    let skill = Skill {
        reports_opcodes: false,
        locate16: false,
        ..Skill::ALL
    };
    let (mut drive, asked) = drive("aaaa", skill);
    drive.locate(0, 2).unwrap();
    drive.locate(0, 3).unwrap();
    // Refused once, and not tried again.
    assert_eq!((count_of(&asked, 0x92), count_of(&asked, 0x2b)), (1, 2));
}

#[test]
fn a_drive_that_says_what_it_has_is_believed() {
    let skill = Skill {
        locate16: false,
        ..Skill::ALL
    };
    let (mut drive, asked) = drive("aaaa", skill);
    drive.locate(0, 2).unwrap();
    assert_eq!((count_of(&asked, 0x92), count_of(&asked, 0x2b)), (0, 1));
    assert_eq!(drive.supports(0x92, None).unwrap(), Some(false));
    assert_eq!(drive.supports(0x2b, None).unwrap(), Some(true));
    assert_eq!(count_of(&asked, 0xa3), 1);
}

#[test]
fn a_locate_names_the_partition_only_to_change_it() {
    let (mut drive, asked) = drive("aaaa", Skill::ALL);
    drive.rewind().unwrap();
    drive.locate(0, 2).unwrap();
    drive.locate(1, 3).unwrap();
    let asked = asked.lock().unwrap();
    let locates: Vec<_> = asked.iter().filter(|cdb| cdb[0] == 0x92).collect();
    let cdb = |text| hex::parse(text).unwrap();
    assert_eq!(
        *locates[0],
        cdb("92 00 00 00 00 00 00 00 00 00 00 02 00 00 00 00")
    );
    assert_eq!(
        *locates[1],
        cdb("92 02 00 01 00 00 00 00 00 00 00 03 00 00 00 00")
    );
}

#[test]
fn after_a_rewind_of_an_unknown_partition_a_locate_asks_which_it_is() {
    // Opened by somebody who left it in partition 1: block 0 of partition 0 is elsewhere.
    let mut position = [0; 32];
    position[0] = 0x80;
    position[7] = 1;
    let (mut drive, asked) = drive_that(move |opcode, data| match opcode {
        0x34 => send(&position, data),
        0xa3 => check(5, 0, 0x2000, 0),
        _ => Completion::good(0),
    });
    drive.rewind().unwrap();
    drive.locate(0, 5).unwrap();
    let last = asked.lock().unwrap().last().cloned().unwrap();
    assert_eq!((last[0], last[1], last[3]), (0x92, 0x02, 0));
}

#[test]
fn after_a_rewind_from_another_partition_a_locate_asks_which_it_is() {
    // An LTO drive rewinds to partition 0: block 5 of partition 1 is in the partition that it was in before.
    let mut position = [0; 32];
    position[0] = 0x80;
    let (mut drive, asked) = drive_that(move |opcode, data| match opcode {
        0x34 => send(&position, data),
        0xa3 => check(5, 0, 0x2000, 0),
        _ => Completion::good(0),
    });
    drive.locate(1, 5).unwrap();
    drive.rewind().unwrap();
    drive.locate(1, 5).unwrap();
    let last = asked.lock().unwrap().last().cloned().unwrap();
    assert_eq!((last[0], last[1], last[3]), (0x92, 0x02, 1));
}

#[test]
fn a_block_beyond_the_recorded_data_is_not_reached() {
    let (mut drive, _) = drive("aaaa", Skill::ALL);
    let error = drive.locate(0, 9).unwrap_err();
    assert_eq!(error.condition(), Some(Condition::EndOfData));
    let (mut spacing, _) = self::drive("aaaa", Skill::LEAST);
    let error = spacing.locate(0, 9);
    assert!(
        matches!(error, Err(ScsiError::NotReached { block: 9, .. })),
        "{error:?}"
    );
}

#[test]
fn the_wrap_table_is_never_asked_for_blindly() {
    for skill in [Skill::ALL, Skill::LEAST] {
        let (mut drive, asked) = drive("aaaa", skill);
        assert_eq!(drive.end_of_wrap_table().unwrap(), None);
        let asked = asked.lock().unwrap();
        assert!(asked.iter().all(|cdb| cdb[0] != 0xa3 || cdb[1] == 0x0c));
    }
}

#[test]
fn the_place_on_tape_comes_with_request_sense() {
    let dump = &tapewise_house::text("scsi/cern-2018-m8.hex");
    let sense = hex::parse(dump).unwrap();
    let (mut drive, _) = drive_that(move |_, data| send(&sense, data));
    let place = drive.physical_position().unwrap().unwrap();
    assert_eq!(
        (place.wrap, place.lpos, place.partition),
        (Some(2), 72_311, Some(0))
    );
}

#[test]
fn a_way_that_cannot_ask_for_the_place_tells_none() {
    let (mut drive, _) = drive_that(|_, _| check(5, 0, 0x20f0, 0));
    assert_eq!(drive.physical_position().unwrap(), None);
}

#[test]
fn an_attention_that_request_sense_takes_is_not_lost() {
    let mut sense = [0; 18];
    sense[..14].copy_from_slice(&[0x70, 0, 6, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x28, 0]);
    let (mut drive, _) = drive_that(move |_, data| send(&sense, data));
    let error = drive.physical_position().unwrap_err();
    assert!(
        matches!(error.condition(), Some(Condition::UnitAttention(_))),
        "{error}"
    );
}
