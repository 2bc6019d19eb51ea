//! Waiting until a drive is ready: for a cartridge, for a load, for a drive that is busy.

use crate::drive::{count_of, drive_that, opcodes};
use crate::fake::{Fake, check, inquiry, send};
use std::time::Duration;
use tapewise_scsi::{Completion, Condition, NotReady, ScsiError, Status, TapeDrive};

const LIMIT: Duration = Duration::from_secs(60);

/// What REQUEST SENSE answers when there is nothing to tell.
const NO_SENSE: [u8; 18] = [0x70, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

#[test]
fn waiting_takes_the_attentions_of_a_new_cartridge_and_of_a_reset() {
    let mut answers = vec![
        check(6, 0, 0x2900, 0),
        check(2, 0, 0x3e00, 0),
        check(2, 0, 0x0401, 0),
        check(2, 0, 0x0401, 0),
        check(6, 0, 0x2800, 0),
        check(6, 0, 0x2a01, 0),
        Completion::good(0),
    ]
    .into_iter();
    let (mut drive, _) = drive_that(move |opcode, data| match opcode {
        0x03 => send(&NO_SENSE, data),
        _ => answers.next().unwrap(),
    });
    drive.wait_until_ready(LIMIT).unwrap();
    assert!(drive.now() > Duration::ZERO && drive.now() < LIMIT);
    // Parameters that somebody else changed are no reason to stop, but worth telling.
    let notices = drive.take_notices();
    assert_eq!(notices.len(), 1);
    assert_eq!(notices[0].code(), 0x2a01);
    assert!(drive.take_notices().is_empty());
}

#[test]
fn waiting_ends_at_its_limit_and_at_once_without_a_cartridge() {
    let (mut drive, _) = drive_that(|_, _| check(2, 0, 0x0401, 0));
    let late = drive.wait_until_ready(LIMIT).unwrap_err();
    assert!(
        matches!(late, ScsiError::StillNotReady { waited, .. } if waited >= LIMIT),
        "{late}"
    );

    let (mut empty, _) = drive_that(|_, _| check(2, 0, 0x3a00, 0));
    let missing = empty.wait_until_ready(LIMIT).unwrap_err();
    assert_eq!(
        missing.condition(),
        Some(Condition::NotReady(NotReady::NoMedium))
    );
    assert_eq!(empty.now(), Duration::ZERO);

    // A robot's cartridge is not there at once.
    let mut empty_for = 10;
    let (mut loading, _) = drive_that(move |opcode, data| {
        if opcode == 0x03 {
            return send(&NO_SENSE, data);
        }
        empty_for -= 1;
        if empty_for > 0 {
            check(2, 0, 0x3a00, 0)
        } else {
            Completion::good(0)
        }
    });
    loading.wait_until_loaded(LIMIT).unwrap();
}

#[test]
fn only_a_cartridge_that_is_being_loaded_is_waited_for_for_hours() {
    const HOURS: Duration = Duration::from_secs(3 * 3600);
    const NO_CARTRIDGE: u16 = 0x3a00;
    const GETS_READY: u16 = 0x0401;
    // How long a drive is waited for that gives the first answer a few times and then the second for ever.
    let waited = |first: u16, times: usize, then: u16| {
        let mut asked = 0;
        let (mut drive, _) = drive_that(move |opcode, data| {
            if opcode == 0x03 {
                return send(&NO_SENSE, data);
            }
            asked += 1;
            check(2, 0, if asked > times { then } else { first }, 0)
        });
        let error = drive.wait_until_loaded(HOURS).unwrap_err();
        (error.sense().unwrap().code(), drive.now().as_secs())
    };
    let hours = HOURS.as_secs();
    assert_eq!(waited(GETS_READY, 0, GETS_READY), (GETS_READY, hours));
    assert_eq!(waited(NO_CARTRIDGE, 9, GETS_READY), (GETS_READY, hours));
    assert_eq!(waited(NO_CARTRIDGE, 0, NO_CARTRIDGE), (NO_CARTRIDGE, 120));
    // It was taken out again, after an hour.
    let polls = 5 * 3600;
    assert_eq!(
        waited(GETS_READY, polls, NO_CARTRIDGE),
        (NO_CARTRIDGE, 3600 + 119)
    );
}

#[test]
fn a_device_that_never_stops_to_call_for_attention_is_given_up() {
    let (fake, asked) = Fake::new(|cdb, data| match cdb.opcode() {
        0x12 => inquiry(cdb, 1, "", data),
        _ => check(6, 0, 0x2900, 0),
    });
    let mut drive = TapeDrive::open(fake).unwrap();
    assert!(drive.wait_until_ready(Duration::from_secs(2)).is_err());
    assert!(opcodes(&asked).len() < 1000);
}

#[test]
fn a_busy_drive_is_asked_again_until_the_time_out() {
    let mut busy = 3;
    let (mut drive, asked) = drive_that(move |_, _| {
        busy -= 1;
        let mut done = Completion::good(0);
        done.status = if busy >= 0 {
            Status::Busy
        } else {
            Status::Good
        };
        done
    });
    drive.rewind().unwrap();
    assert_eq!(count_of(&asked, 0x01), 4);

    let (mut drive, _) = drive_that(|_, _| {
        let mut done = Completion::good(0);
        done.status = Status::Busy;
        done
    });
    let late = drive.rewind().unwrap_err();
    assert!(
        matches!(
            late,
            ScsiError::Status {
                status: Status::Busy,
                ..
            }
        ),
        "{late}"
    );
    // REWIND may take 780 seconds, and so may waiting for it.
    assert!(drive.now() >= Duration::from_secs(780));
}
