//! What the drive answers, byte by byte, names struck out.

use super::error::CheckError;
use super::hidden::{self, Hidden};
use super::report::{Answer, Opcode};
use crate::error::RunError;
use crate::facts::{Heed, Notice, optional};
use tapewise_scsi::commands::{ReportSupportedOpcodes, SupportedOpcode, VpdPage};
use tapewise_scsi::question::{Page, Question};
use tapewise_scsi::{Command, TapeDrive, hex};

/// Answers, and what must not be in them.
pub struct Answers {
    /// In the order in which they were asked for.
    pub list: Vec<Answer>,
    /// What is struck out.
    pub hidden: Hidden,
}

/// What is asked of every drive, with its page. Vital product data with names in it (80h, 83h, B1h,
/// B3h) and those of makers are left out.
const QUESTIONS: &[(&str, Option<u8>)] = &[
    ("inquiry", None),
    ("vpd", Some(VpdPage::SUPPORTED)),
    ("vpd", Some(EXTENDED_INQUIRY)),
    ("vpd", Some(VpdPage::SEQUENTIAL_ACCESS)),
    ("block-limits", None),
    ("density", None),
    ("mode", Some(ALL_PAGES)),
    ("mode-10", Some(ALL_PAGES)),
    ("log", Some(0)),
    ("position", None),
    ("position-long", None),
    ("position-extended", None),
    ("wrap-ends", None),
    ("access-order-limits", None),
];

const EXTENDED_INQUIRY: u8 = 0x86;
const ALL_PAGES: u8 = 0x3f;

impl Answers {
    /// None yet.
    pub fn new(drive: &TapeDrive) -> Answers {
        Answers {
            list: Vec::new(),
            hidden: Hidden::of(drive.identity()),
        }
    }

    /// Asks everything that needs no motion.
    ///
    /// # Errors
    /// Those of the commands, except that a drive may not have one.
    pub fn of_the_drive(&mut self, drive: &mut TapeDrive, heed: Heed) -> Result<(), CheckError> {
        for &(name, code) in QUESTIONS {
            let page = code.map(|code| Page { code, sub: None });
            let question = Question::named(name, page)?;
            let mut answer = Answer {
                command: name.to_owned(),
                page: code.map(|code| format!("{code:02x}")),
                at_block: None,
                hex: None,
                refused: None,
            };
            if question.is_known_to(drive).map_err(RunError::from)? {
                match question.send(drive.transport(), &mut |error| heed(Notice::Message(error))) {
                    Ok(bytes) => answer.hex = Some(self.shown(name, bytes)),
                    Err(error) if error.is_unsupported() => {
                        answer.refused = Some(error.to_string());
                    }
                    Err(error) => return Err(RunError::from(error).into()),
                }
            } else {
                answer.refused = Some("not asked: the drive does not list it".to_owned())
            }
            self.list.push(answer);
        }
        Ok(())
    }

    /// Keeps sense that was asked for with the head at a block.
    pub fn keep_sense(&mut self, block: u64, bytes: Vec<u8>) {
        let hex = self.shown("sense", bytes);
        self.list.push(Answer {
            command: "sense".to_owned(),
            page: None,
            at_block: Some(block),
            hex: Some(hex),
            refused: None,
        });
    }

    fn shown(&self, name: &str, bytes: Vec<u8>) -> String {
        let covered = match name {
            "inquiry" => hidden::inquiry(bytes),
            "sense" => hidden::sense(bytes),
            _ => bytes,
        };
        hex::plain(&self.hidden.strike(covered))
    }
}

/// The commands that the drive says it has.
///
/// # Errors
/// Those of REPORT SUPPORTED OPERATION CODES, except that a drive may not have it.
pub fn opcodes(drive: &mut TapeDrive, heed: Heed) -> Result<Option<Vec<Opcode>>, RunError> {
    let list = optional(ReportSupportedOpcodes.send(drive.transport()), heed)?;
    let opcode = |command: &SupportedOpcode| Opcode {
        code: match command.service_action {
            Some(action) => format!("{:02x}/{action:02x}", command.opcode),
            None => format!("{:02x}", command.opcode),
        },
        nominal_s: command.timeouts.map(|timeouts| timeouts.nominal_s),
        recommended_s: command.timeouts.map(|timeouts| timeouts.recommended_s),
    };
    Ok(list.map(|list| list.iter().map(opcode).collect()))
}
