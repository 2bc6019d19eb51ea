//! Commands that only ask, by the names of their decoders, and their answers as the device sent them.

use crate::commands::{
    ElementKind, Inquiry, InquiryVpd, LogSense, ModeSense6, ModeSense10, ReadAttributeList,
    ReadAttributes, ReadBlockLimits, ReadElementStatus, ReadEndOfWrapPosition,
    ReadEndOfWrapPositions, ReadKeys, ReadPositionExtended, ReadPositionLong, ReadPositionShort,
    ReadReservation, ReceiveAccessOrder, ReceiveAccessOrderLimits, ReportDensitySupport,
    ReportLuns, ReportSupportedOpcode, ReportSupportedOpcodes, RequestSense,
};
use crate::{
    Cdb, Command, Condition, Data, Direction, ScsiError, TapeDrive, Transport, TransportError,
};
use std::str::FromStr;
use std::time::Duration;

/// Which page, operation code, wrap or type of element: `17` or `a3/1f`, in hex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The first number.
    pub code: u8,
    /// Subpage or service action.
    pub sub: Option<u8>,
}

/// Why there is no such question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// Not a page in hex.
    #[error("{text:?} is not a number of one or two hex digits")]
    Page {
        /// The text.
        text: String,
    },
    /// The command has no pages to choose.
    #[error("{name} has no pages")]
    NoPages {
        /// The command.
        name: String,
    },
    /// There is no such command.
    #[error("there is no command {name:?}")]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// There is no such type of element.
    #[error("elements are of type 1 robot, 2 slot, 3 station or 4 drive")]
    NoSuchElements,
}

/// Why a drive was not asked, or what it answered instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The drive has a list of its commands, and this one is not in it.
    #[error(
        "{name} ({opcode:02X}h/{action:02X}h) was not sent: the drive does not list it among its commands"
    )]
    Unlisted {
        /// The command.
        name: &'static str,
        /// Its operation code.
        opcode: u8,
        /// Its service action.
        action: u8,
    },
    /// The drive has no list of its commands.
    #[error(
        "{name} ({opcode:02X}h/{action:02X}h) was not sent: the drive does not say which commands it has"
    )]
    Untold {
        /// The command.
        name: &'static str,
        /// Its operation code.
        opcode: u8,
        /// Its service action.
        action: u8,
    },
    /// The command failed.
    #[error(transparent)]
    Scsi(#[from] ScsiError),
}

impl FromStr for Page {
    type Err = QuestionError;

    fn from_str(text: &str) -> Result<Page, QuestionError> {
        let number = |text: &str| {
            u8::from_str_radix(text, 16).map_err(|_| QuestionError::Page {
                text: text.to_owned(),
            })
        };
        let (code, sub) = match text.split_once('/') {
            Some((code, sub)) => (code, Some(number(sub)?)),
            None => (text, None),
        };
        let code = number(code)?;
        Ok(Page { code, sub })
    }
}

/// A command that changes nothing and asks for data.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    name: &'static str,
    cdb: Cdb,
    room: usize,
    /// The same for a path that does not carry as much.
    shorter: Option<Cdb>,
    timeout: Duration,
}

/// Segments that the longest list of an LTO-9 has; other drives take fewer.
const MOST_SEGMENTS: usize = 2_730;

/// What every path carries: a page of memory.
const SHORTER: usize = 4096;

impl Question {
    /// What a command asks.
    pub fn of(command: &impl Command) -> Question {
        let room = match command.direction() {
            Direction::In(room) => room,
            Direction::None | Direction::Out(_) => 0,
        };
        Question {
            name: command.name(),
            cdb: command.cdb(),
            room,
            shorter: command.cdb_within(SHORTER),
            timeout: command.timeout(),
        }
    }

    /// What the decoder of that name is for.
    ///
    /// # Errors
    /// [`QuestionError`]: no such decoder, or a page where there is none to choose.
    pub fn named(name: &str, page: Option<Page>) -> Result<Question, QuestionError> {
        if page.is_some() && !PAGED.contains(&name) {
            return Err(QuestionError::NoPages {
                name: name.to_owned(),
            });
        }
        let page = page.unwrap_or(Page {
            code: default_page(name),
            sub: None,
        });
        let (code, subpage) = (page.code, page.sub.unwrap_or(0));
        Ok(match name {
            "inquiry" => Question::of(&Inquiry),
            "vpd" => Question::of(&InquiryVpd { page: code }),
            "sense" => Question::of(&RequestSense),
            "position" => Question::of(&ReadPositionShort),
            "position-long" => Question::of(&ReadPositionLong),
            "position-extended" => Question::of(&ReadPositionExtended),
            "block-limits" => Question::of(&ReadBlockLimits),
            "mode" => Question::of(&ModeSense6 {
                page: code,
                subpage,
            }),
            "mode-10" => Question::of(&ModeSense10 {
                page: code,
                subpage,
            }),
            "log" => Question::of(&LogSense {
                page: code,
                subpage,
            }),
            "attributes" => Question::of(&ReadAttributes {
                partition: 0,
                first: 0,
            }),
            "attribute-list" => Question::of(&ReadAttributeList { partition: 0 }),
            "density" => Question::of(&ReportDensitySupport { of_medium: false }),
            "opcodes" => Question::of(&ReportSupportedOpcodes),
            "opcode" => Question::of(&ReportSupportedOpcode {
                opcode: code,
                service_action: page.sub.map(u16::from),
            }),
            "keys" => Question::of(&ReadKeys),
            "reservation" => Question::of(&ReadReservation),
            "wrap-ends" => Question::of(&ReadEndOfWrapPositions),
            "wrap-end" => Question::of(&ReadEndOfWrapPosition {
                wrap: u16::from(code),
            }),
            "access-order" => Question::of(&ReceiveAccessOrder {
                segments: MOST_SEGMENTS,
            }),
            "access-order-limits" => Question::of(&ReceiveAccessOrderLimits),
            "luns" => Question::of(&ReportLuns),
            "elements" => Question::of(&elements(code)?),
            _ => {
                return Err(QuestionError::Unknown {
                    name: name.to_owned(),
                });
            }
        })
    }

    /// The operation code and service action that a drive must say it has before it is asked.
    /// Drives that do not know these have been seen to write a dump.
    fn probed(&self) -> Option<(u8, u8)> {
        let code = (self.cdb.opcode(), self.cdb.service_action());
        matches!(code, (0xa3, 0x1d | 0x1f)).then_some(code)
    }

    /// Whether it may be sent: a drive must say that it has what is to be probed.
    ///
    /// # Errors
    /// Those of REPORT SUPPORTED OPERATION CODES.
    pub fn is_known_to(&self, drive: &mut TapeDrive) -> Result<bool, ScsiError> {
        match self.probed() {
            Some((opcode, action)) => Ok(drive.supports(opcode, Some(action))? == Some(true)),
            None => Ok(true),
        }
    }

    /// Asks a drive; what it has to have is probed first. `heed` is as in [`Question::send`].
    ///
    /// # Errors
    /// [`AskError`]: the drive does not say that it has the command; what the drive answers.
    pub fn ask(
        &self,
        drive: &mut TapeDrive,
        heed: &mut dyn FnMut(&ScsiError),
    ) -> Result<Vec<u8>, AskError> {
        if let Some(code) = self.probed() {
            require(drive, self.name, code)?;
        }
        Ok(self.send(drive.transport(), heed)?)
    }

    /// Sends it. Messages that wait in the device come first, one each: `heed` is told of them, and the
    /// command is sent again.
    ///
    /// # Errors
    /// [`ScsiError`] as for every command.
    pub fn send(
        &self,
        transport: &mut dyn Transport,
        heed: &mut dyn FnMut(&ScsiError),
    ) -> Result<Vec<u8>, ScsiError> {
        const MOST_MESSAGES: usize = 8;
        for _ in 0..MOST_MESSAGES {
            match self.send_once(transport) {
                Err(error) if matches!(error.condition(), Some(Condition::UnitAttention(_))) => {
                    heed(&error);
                }
                other => return other,
            }
        }
        self.send_once(transport)
    }

    fn send_once(&self, transport: &mut dyn Transport) -> Result<Vec<u8>, ScsiError> {
        let mut answer = vec![0; self.room];
        let mut done = transport.execute(&self.cdb, Data::In(&mut answer), self.timeout);
        if let (Err(TransportError::TooLarge { .. }), Some(shorter)) = (&done, &self.shorter) {
            answer.truncate(SHORTER);
            done = transport.execute(shorter, Data::In(&mut answer), self.timeout);
        }
        let done = done.map_err(|error| ScsiError::transport(self.name, error))?;
        done.check(self.name)?;
        answer.truncate(done.transferred);
        Ok(answer)
    }
}

/// Refuses a command that the drive does not say it has, so that it is never sent blindly.
///
/// # Errors
/// [`AskError`]: refused, and those of REPORT SUPPORTED OPERATION CODES.
pub fn require(
    drive: &mut TapeDrive,
    name: &'static str,
    (opcode, action): (u8, u8),
) -> Result<(), AskError> {
    match drive.supports(opcode, Some(action))? {
        Some(true) => Ok(()),
        Some(false) => Err(AskError::Unlisted {
            name,
            opcode,
            action,
        }),
        None => Err(AskError::Untold {
            name,
            opcode,
            action,
        }),
    }
}

/// Those where a page, an operation code, a wrap or a type of element is chosen.
pub const PAGED: &[&str] = &[
    "vpd", "mode", "mode-10", "log", "opcode", "wrap-end", "elements",
];

/// All mode pages; drives of a library; of others what has the number 0, a list of pages mostly.
fn default_page(name: &str) -> u8 {
    match name {
        "mode" | "mode-10" => 0x3f,
        "elements" => ElementKind::Drive.code(),
        _ => 0,
    }
}

fn elements(code: u8) -> Result<ReadElementStatus, QuestionError> {
    let kind = ElementKind::ALL
        .into_iter()
        .find(|kind| kind.code() == code);
    Ok(ReadElementStatus {
        kind: kind.ok_or(QuestionError::NoSuchElements)?,
        first: 0,
        count: u16::MAX,
        volume_tags: true,
        device_ids: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::DECODERS;

    #[test]
    fn every_decoder_has_a_command_that_asks_for_data_and_changes_nothing() {
        // INQUIRY, REQUEST SENSE, MODE SENSE, READ BLOCK LIMITS, READ POSITION, REPORT DENSITY, LOG
        // SENSE, PERSISTENT RESERVE IN, READ ATTRIBUTE, REPORT LUNS, A3h, READ ELEMENT STATUS.
        const ASKING: [u8; 13] = [
            0x12, 0x03, 0x1a, 0x5a, 0x05, 0x34, 0x44, 0x4d, 0x5e, 0x8c, 0xa0, 0xa3, 0xb8,
        ];
        for decoder in DECODERS {
            let question = Question::named(decoder.name, None).expect(decoder.name);
            assert!(question.room > 0, "{}", decoder.name);
            assert!(ASKING.contains(&question.cdb.opcode()), "{}", decoder.name);
        }
    }

    #[test]
    fn what_drives_may_not_know_is_probed_first() {
        let probed: Vec<&str> = DECODERS
            .iter()
            .map(|decoder| decoder.name)
            .filter(|name| {
                let question = Question::named(name, None).expect("a command");
                question.probed().is_some()
            })
            .collect();
        assert_eq!(
            probed,
            [
                "wrap-ends",
                "wrap-end",
                "access-order",
                "access-order-limits"
            ]
        );
    }

    #[test]
    fn a_page_is_one_or_two_numbers_in_hex() {
        let page = |code, sub| Ok(Page { code, sub });
        assert_eq!("17".parse(), page(0x17, None));
        assert_eq!("a3/1F".parse(), page(0xa3, Some(0x1f)));
        for wrong in ["", "g1", "100", "17/", "/17", "1/2/3"] {
            assert!(wrong.parse::<Page>().is_err(), "{wrong:?}");
        }
    }
}
