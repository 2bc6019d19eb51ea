//! A tape drive: blocks of any length, what is repeated and what never is, and any walk along a tape.

use crate::fake;

use crate::fake::tape::{Object, Skill, content, tape};
use fake::{Asked, Fake, check, inquiry, moved, send};
use proptest::prelude::*;
use tapewise_scsi::commands::{ReadOutcome, Rewind, WriteOutcome};
use tapewise_scsi::{Command, Completion, Data, ScsiError, Status, TapeDrive};

/// Blocks, and filemarks for `|`.
fn objects(text: &str) -> Vec<Object> {
    let object = |letter| match letter {
        '|' => Object::Filemark,
        _ => Object::Block(100),
    };
    text.chars().map(object).collect()
}

/// A tape as [`objects`] has it, in a drive that can do so much.
pub fn drive(text: &str, skill: Skill) -> (TapeDrive, Asked) {
    let (fake, asked) = tape(objects(text), skill);
    (TapeDrive::open(fake).unwrap(), asked)
}

/// The drive that answers so to all but INQUIRY.
pub fn drive_that(
    mut answer: impl FnMut(u8, Data<'_>) -> Completion + Send + 'static,
) -> (TapeDrive, Asked) {
    let (fake, asked) = Fake::new(move |cdb, data| match cdb.opcode() {
        0x12 => inquiry(cdb, 1, "FAKE000001", data),
        opcode => answer(opcode, data),
    });
    (TapeDrive::open(fake).unwrap(), asked)
}

pub fn opcodes(asked: &Asked) -> Vec<u8> {
    asked.lock().unwrap().iter().map(|cdb| cdb[0]).collect()
}

pub fn count_of(asked: &Asked, opcode: u8) -> usize {
    opcodes(asked)
        .iter()
        .filter(|asked| **asked == opcode)
        .count()
}

#[test]
fn opening_asks_who_it_is_and_nothing_more() {
    let (drive, asked) = drive("", Skill::ALL);
    assert_eq!(opcodes(&asked), [0x12, 0x12, 0x12]);
    assert_eq!(drive.identity().vendor, "TEST");
    assert_eq!(drive.identity().serial.as_deref(), Some("FAKE000001"));
    assert!(drive.identity().designators.is_empty());
}

#[test]
fn a_changer_is_not_opened_as_a_drive() {
    let (fake, _) = Fake::new(|cdb, data| inquiry(cdb, 8, "X", data));
    let refused = TapeDrive::open(fake).err().unwrap();
    assert_eq!(refused.to_string(), "this is a changer, not a tape drive");
}

#[test]
fn a_block_of_any_length_is_read_or_said_to_be_longer() {
    let (fake, _) = tape(
        vec![
            Object::Block(100),
            Object::Block(60),
            Object::Block(300),
            Object::Filemark,
        ],
        Skill::ALL,
    );
    let mut drive = TapeDrive::open(fake).unwrap();
    let mut buffer = [0; 100];
    let mut outcomes = Vec::new();
    for _ in 0..5 {
        outcomes.push(drive.read(&mut buffer).unwrap());
    }
    assert_eq!(
        outcomes,
        [
            ReadOutcome::Block { bytes: 100 },
            ReadOutcome::Block { bytes: 60 },
            ReadOutcome::Longer { block_bytes: 300 },
            ReadOutcome::Filemark,
            ReadOutcome::EndOfData,
        ]
    );
    assert_eq!(drive.position().unwrap().block, 4);
}

#[test]
fn a_block_whose_bytes_did_not_all_arrive_is_an_error() {
    // The drive says 1000 of 1500, and sends the 500 that it should have left out.
    let (mut drive, _) = drive_that(|_, _| moved(500, 0, 0x20, 0, 500));
    let lost = drive.read(&mut [0; 1500]);
    assert!(
        matches!(
            lost,
            Err(ScsiError::BlockLength {
                block_bytes: 1000,
                transferred: 500,
                ..
            })
        ),
        "{lost:?}"
    );
}

#[test]
fn lengths_that_do_not_fit_the_command_are_refused_before_it_is_sent() {
    let (mut drive, asked) = drive("", Skill::ALL);
    let before = opcodes(&asked).len();
    assert!(matches!(
        drive.read(&mut vec![0; 1 << 24]),
        Err(ScsiError::TooLarge { .. })
    ));
    assert!(matches!(
        drive.write(&vec![0; 1 << 24]),
        Err(ScsiError::TooLarge { .. })
    ));
    assert!(matches!(
        drive.set_block_length(1 << 24),
        Err(ScsiError::TooLarge { .. })
    ));
    assert!(matches!(
        drive.write_filemarks(1 << 24, false),
        Err(ScsiError::TooLarge { .. })
    ));
    assert_eq!(opcodes(&asked).len(), before);
}

#[test]
fn the_end_of_the_medium_is_an_outcome_of_a_write() {
    let outcome = |sense: Completion| {
        let (mut drive, _) = drive_that(move |_, _| sense);
        drive.write(&[0; 10])
    };
    assert_eq!(
        outcome(Completion::good(10)).unwrap(),
        WriteOutcome::Written
    );
    let early = moved(10, 0, 0x40, 0x0002, 0);
    assert_eq!(outcome(early).unwrap(), WriteOutcome::EarlyWarning);
    assert_eq!(
        outcome(check(0xd, 0x40, 0x0002, 10)).unwrap(),
        WriteOutcome::EndOfMedium
    );
    assert!(outcome(check(7, 0, 0x2700, 0)).is_err());
}

#[test]
fn what_was_not_written_is_an_error_whatever_the_status_and_the_position_is_lost() {
    let cut = [
        // The path carried a part of it, and the drive is content.
        (Completion::good(9), 1),
        (moved(9, 0, 0x40, 0x0002, 0), 1),
        (moved(9, 1, 0, 0x0c00, 0), 1),
        // The drive says that there is a rest: that is no early warning to go on after.
        (check(0, 0x40, 0x0002, 10), 10),
        (moved(10, 1, 0, 0x0c00, 4), 4),
        (moved(10, 0, 0, 0x0017, 4), 4),
    ];
    for (done, missing) in cut {
        let (mut drive, _) = drive_that(move |opcode, _| match opcode {
            0x0a => done,
            0x34 => check(5, 0, 0x2000, 0),
            _ => Completion::good(0),
        });
        drive.rewind().unwrap();
        assert_eq!(drive.position().unwrap().block, 0);
        match drive.write(&[0; 10]) {
            Err(ScsiError::NotWritten { left, .. }) => assert_eq!(left, missing),
            other => panic!("{done:?}: {other:?}"),
        }
        assert!(matches!(drive.position(), Err(ScsiError::PositionUnknown)));
    }
    let (mut drive, _) = drive_that(|_, _| check(1, 0, 0x0c00, 1));
    assert!(drive.write_filemarks(1, false).is_err());
}

#[test]
fn a_unit_attention_is_an_error_and_the_command_is_not_repeated() {
    let mut attention = true;
    let (mut drive, asked) = drive_that(move |_, data| {
        if std::mem::take(&mut attention) {
            return check(6, 0, 0x2900, 0);
        }
        send(&[0; 10], data)
    });
    let error = drive.read(&mut [0; 10]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "READ(6): unit attention: power on, reset, or bus device reset occurred (06/29/00)"
    );
    assert_eq!(count_of(&asked, 0x08), 1);
}

/// Mode parameters, log parameters and the drive's clock change neither position nor cartridge.
#[test]
fn after_a_unit_attention_that_changes_nothing_the_command_is_sent_again() {
    let mut waiting = vec![0x2a10, 0x2a02, 0x2a01];
    let (mut drive, asked) = drive_that(move |_, data| match waiting.pop() {
        Some(code) => check(6, 0, code, 0),
        None => send(&[0; 10], data),
    });
    let outcome = drive.read(&mut [0; 10]).unwrap();
    assert_eq!(outcome, ReadOutcome::Block { bytes: 10 });
    assert_eq!(count_of(&asked, 0x08), 4);
    let notices = drive.take_notices();
    let codes: Vec<u16> = notices.iter().map(|sense| sense.code()).collect();
    assert_eq!(codes, [0x2a01, 0x2a02, 0x2a10]);
    // Commands that have no method of the drive are no exception.
    let mut attention = true;
    let (mut drive, _) = drive_that(move |_, data| {
        if std::mem::take(&mut attention) {
            check(6, 0, 0x2a01, 0)
        } else {
            send(&[0; 10], data)
        }
    });
    Rewind::default().send(drive.transport()).unwrap();
    assert_eq!(drive.take_notices().len(), 1);
    // A drive that says nothing else is not asked for ever.
    let (mut drive, asked) = drive_that(|_, _| check(6, 0, 0x2a01, 0));
    assert!(drive.rewind().is_err());
    assert_eq!(count_of(&asked, 0x01), 9);
}

#[test]
fn a_unit_attention_after_which_the_drive_may_be_another_s_or_elsewhere_or_write_otherwise_is_an_error()
 {
    for code in [
        0x2800, 0x2903, 0x2a03, 0x2a0d, 0x2a11, 0x2a13, 0x2f00, 0x3f01, 0x5a01,
    ] {
        let (mut drive, asked) = drive_that(move |_, _| check(6, 0, code, 0));
        assert!(drive.rewind().is_err());
        assert_eq!(count_of(&asked, 0x01), 1, "{code:#x}");
    }
}

#[test]
fn a_reservation_conflict_is_an_error_at_once() {
    let (mut drive, asked) = drive_that(|_, _| {
        let mut done = Completion::good(0);
        done.status = Status::ReservationConflict;
        done
    });
    assert!(drive.rewind().is_err());
    assert_eq!(count_of(&asked, 0x01), 1);
}

#[test]
fn recovered_errors_and_cleaning_requests_are_notices() {
    let mut answers = vec![check(1, 0, 0x1701, 0), check(0, 0, 0x0017, 0)].into_iter();
    let (mut drive, _) = drive_that(move |_, _| answers.next().unwrap());
    drive.rewind().unwrap();
    drive.rewind().unwrap();
    let codes: Vec<u16> = drive
        .take_notices()
        .iter()
        .map(|sense| sense.code())
        .collect();
    assert_eq!(codes, [0x1701, 0x0017]);
}

/// One thing to do to a drive.
#[derive(Clone, Debug)]
enum Step {
    Locate(usize),
    Read,
    Rewind,
    SpaceBlocks(i64),
    WriteHere(Vec<Object>),
}

fn object() -> impl Strategy<Value = Object> {
    prop_oneof![3 => (1_usize..100).prop_map(Object::Block), 1 => Just(Object::Filemark)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0_usize..40).prop_map(Step::Locate),
        3 => Just(Step::Read),
        1 => Just(Step::Rewind),
        2 => (-5_i64..8).prop_map(Step::SpaceBlocks),
        1 => proptest::collection::vec(object(), 1..5).prop_map(Step::WriteHere),
    ]
}

/// Goes through the steps on a drive, and holds every read against a list.
fn walk(mut tape_now: Vec<Object>, steps: Vec<Step>, skill: Skill) -> Result<(), TestCaseError> {
    let (fake, _) = tape(tape_now.clone(), skill);
    let mut drive = TapeDrive::open(fake).unwrap();
    drive.rewind().unwrap();
    for step in steps {
        match step {
            Step::Locate(block) => {
                let reached = drive.locate(0, block as u64).is_ok();
                prop_assert_eq!(reached, block <= tape_now.len(), "{:?}", block);
                if reached {
                    prop_assert_eq!(drive.position().unwrap().block, block as u64);
                }
            }
            Step::Read => {
                let Ok(position) = drive.position() else {
                    continue;
                };
                let at = position.block as usize;
                let mut buffer = [0xff; 100];
                let expected = match tape_now.get(at) {
                    None => ReadOutcome::EndOfData,
                    Some(Object::Filemark) => ReadOutcome::Filemark,
                    Some(Object::Block(bytes)) => ReadOutcome::Block { bytes: *bytes },
                };
                prop_assert_eq!(drive.read(&mut buffer).unwrap(), expected);
                if let ReadOutcome::Block { bytes } = expected {
                    prop_assert!(buffer[..bytes].iter().all(|byte| *byte == content(at)));
                }
            }
            Step::Rewind => drive.rewind().unwrap(),
            Step::SpaceBlocks(count) => {
                drive.space_blocks(count).unwrap();
            }
            Step::WriteHere(objects) => {
                let Ok(position) = drive.position() else {
                    continue;
                };
                tape_now.truncate(position.block as usize);
                for object in objects {
                    tape_now.push(object);
                    match object {
                        Object::Block(bytes) => drive.write(&vec![0; bytes]).unwrap(),
                        Object::Filemark => drive.write_filemarks(1, true).unwrap(),
                    };
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn with_and_without_locate_every_read_finds_the_block_that_belongs_there(
        objects in proptest::collection::vec(object(), 0..30),
        steps in proptest::collection::vec(step(), 1..20),
        spaces_through_filemarks in any::<bool>(),
        has_locate in any::<bool>(),
        knows_position in any::<bool>(),
    ) {
        let skill = Skill {
            locate10: has_locate,
            locate16: has_locate,
            reports_opcodes: has_locate,
            knows_position,
            spaces_through_filemarks,
        };
        walk(objects, steps, skill)?;
    }
}
