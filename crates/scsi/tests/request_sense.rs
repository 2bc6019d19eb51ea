//! What REQUEST SENSE tells beside the place of the head: what is news, and what is not.

use crate::fake;

use fake::{Fake, check, inquiry, send};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tapewise_scsi::{Attention, Completion, Condition, Data, ScsiError, TapeDrive};

const LIMIT: Duration = Duration::from_secs(60);

/// What the next commands and the next REQUEST SENSE answer: key and code.
#[derive(Default)]
struct Script {
    commands: Vec<(u8, u16)>,
    senses: Vec<(u8, u16)>,
    /// The target keeps the sense of the last failed command.
    keeps: Option<(u8, u16)>,
}

/// A drive that follows a script, and fails no command that is not in it.
fn drive(script: Script, is_keeping: bool) -> (TapeDrive, Arc<Mutex<Script>>) {
    let script = Arc::new(Mutex::new(script));
    let own = Arc::clone(&script);
    let (fake, _) = Fake::new(move |cdb, data| {
        let mut script = own.lock().unwrap();
        match cdb.opcode() {
            0x12 => inquiry(cdb, 1, "FAKE000001", data),
            0x03 => {
                let told = if script.senses.is_empty() {
                    script.keeps
                } else {
                    Some(script.senses.remove(0))
                };
                sense_data(told, data)
            }
            _ if script.commands.is_empty() => Completion::good(0),
            _ => {
                let (key, code) = script.commands.remove(0);
                script.keeps = is_keeping.then_some((key, code));
                check(key, 0, code, 0)
            }
        }
    });
    (TapeDrive::open(fake).unwrap(), script)
}

fn sense_data(told: Option<(u8, u16)>, data: Data<'_>) -> Completion {
    let (key, code) = told.unwrap_or((0, 0));
    let [asc, ascq] = code.to_be_bytes();
    let mut sense = [0; 18];
    sense[0] = 0x70;
    sense[2] = key;
    sense[7] = 10;
    sense[12..14].copy_from_slice(&[asc, ascq]);
    send(&sense, data)
}

#[test]
fn sense_that_repeats_that_of_our_last_failed_command_is_no_news() {
    for told in [(5, 0x2000), (6, 0x2900), (3, 0x1100), (2, 0x0401)] {
        let script = Script {
            commands: vec![told],
            ..Script::default()
        };
        let (mut drive, _) = drive(script, true);
        drive.rewind().err();
        for _ in 0..3 {
            assert!(drive.physical_position().is_ok(), "{told:?}");
        }
    }
}

#[test]
fn other_sense_than_that_of_our_last_failed_command_is_an_error() {
    let script = Script {
        commands: vec![(5, 0x2000)],
        senses: vec![(6, 0x2900)],
        ..Script::default()
    };
    let (mut drive, _) = drive(script, true);
    drive.rewind().unwrap_err();
    let error = drive.physical_position().unwrap_err();
    let reset = Condition::UnitAttention(Attention::Reset);
    assert_eq!(error.condition(), Some(reset), "{error}");
}

#[test]
fn an_attention_that_leaves_the_position_as_it_was_is_a_notice() {
    let script = Script {
        senses: vec![(6, 0x2a01), (6, 0x2a02)],
        ..Script::default()
    };
    let (mut drive, _) = drive(script, false);
    assert!(drive.physical_position().is_ok());
    let notices = drive.take_notices();
    let codes: Vec<u16> = notices.iter().map(|sense| sense.code()).collect();
    assert_eq!(codes, [0x2a01, 0x2a02]);
}

#[test]
fn an_attention_that_comes_again_after_an_answer_without_news_is_an_error() {
    let script = Script {
        commands: vec![(6, 0x2900)],
        senses: vec![(0, 0), (6, 0x2900)],
        ..Script::default()
    };
    let (mut drive, _) = drive(script, false);
    drive.rewind().unwrap_err();
    assert!(drive.physical_position().is_ok());
    assert!(drive.physical_position().is_err());
}

#[test]
fn a_wait_takes_the_attentions_of_a_mount_that_only_request_sense_tells() {
    let script = Script {
        senses: vec![(6, 0x2900), (6, 0x2800), (6, 0x2a01)],
        ..Script::default()
    };
    let (mut drive, _) = drive(script, false);
    drive.wait_until_ready(LIMIT).unwrap();
    assert!(drive.physical_position().is_ok());
    // Parameters that somebody changed are worth telling.
    let codes: Vec<u16> = drive
        .take_notices()
        .iter()
        .map(|sense| sense.code())
        .collect();
    assert_eq!(codes, [0x2a01]);
}

#[test]
fn a_wait_does_not_take_an_attention_that_no_mount_causes() {
    for code in [0x2a03, 0x5a01] {
        let script = Script {
            senses: vec![(6, 0x2800), (6, code)],
            ..Script::default()
        };
        let (mut drive, _) = drive(script, false);
        let error = drive.wait_until_ready(LIMIT).unwrap_err();
        assert!(matches!(error, ScsiError::Sense { .. }), "{error}");
        assert_eq!(error.sense().unwrap().code(), code);
    }
}

#[test]
fn what_another_program_s_command_left_behind_is_a_notice_of_the_wait() {
    let script = Script {
        keeps: Some((5, 0x2400)),
        ..Script::default()
    };
    let (mut drive, _) = drive(script, true);
    drive.wait_until_ready(LIMIT).unwrap();
    assert_eq!(drive.take_notices().len(), 1);
    assert!(drive.physical_position().is_ok());
}
