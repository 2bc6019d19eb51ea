//! Commands that only ask, by the names of their decoders, and their answers as the drive sent them.

use crate::error::{CliError, Exit};
use crate::output;
use std::str::FromStr;
use std::time::Duration;
use tapewise_scsi::commands::{
    ElementKind, Inquiry, InquiryVpd, LogSense, ModeSense6, ModeSense10, ReadAttributeList,
    ReadAttributes, ReadBlockLimits, ReadElementStatus, ReadEndOfWrapPosition,
    ReadEndOfWrapPositions, ReadKeys, ReadPositionExtended, ReadPositionLong, ReadPositionShort,
    ReadReservation, ReceiveAccessOrder, ReceiveAccessOrderLimits, ReportDensitySupport,
    ReportLuns, ReportSupportedOpcode, ReportSupportedOpcodes, RequestSense,
};
use tapewise_scsi::{
    Cdb, Command, Condition, Data, Direction, ScsiError, TapeDrive, Transport, TransportError,
};

/// Which page, operation code, wrap or type of element: `17` or `a3/1f`, in hex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The first number.
    pub code: u8,
    /// Subpage or service action.
    pub sub: Option<u8>,
}

impl FromStr for Page {
    type Err = String;

    fn from_str(text: &str) -> Result<Page, String> {
        let number = |text: &str| {
            u8::from_str_radix(text, 16)
                .map_err(|_| format!("{text:?} is not a number of one or two hex digits"))
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
    /// Bad input: no such decoder, or a page where there is none to choose.
    pub fn named(name: &str, page: Option<Page>) -> Result<Question, CliError> {
        if page.is_some() && !PAGED.contains(&name) {
            return Err(CliError::input(format!("{name} has no pages"))
                .hint(format!("--page is for {}", PAGED.join(", "))));
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
                return Err(CliError::input(format!("there is no command {name:?}"))
                    .hint("`tapewise drive show --list` names them"));
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
    pub fn is_known_to(&self, drive: &mut TapeDrive) -> Result<bool, CliError> {
        match self.probed() {
            Some((opcode, action)) => Ok(drive.supports(opcode, Some(action))? == Some(true)),
            None => Ok(true),
        }
    }

    /// Asks a drive; what it has to have is probed first.
    ///
    /// # Errors
    /// Refused, when the drive does not say that it has the command; what the drive answers.
    pub fn ask(&self, drive: &mut TapeDrive) -> Result<Vec<u8>, CliError> {
        if let Some(code) = self.probed() {
            refuse_unless_supported(drive, self.name, code)?;
        }
        Ok(self.send(drive.transport())?)
    }

    /// Sends it. Messages that wait in the device come first, one each: they are said, and the
    /// command is sent again.
    ///
    /// # Errors
    /// [`ScsiError`] as for every command.
    pub fn send(&self, transport: &mut dyn Transport) -> Result<Vec<u8>, ScsiError> {
        const MOST_MESSAGES: usize = 8;
        for _ in 0..MOST_MESSAGES {
            match self.send_once(transport) {
                Err(error) if matches!(error.condition(), Some(Condition::UnitAttention(_))) => {
                    output::say(format_args!("tapewise: the device says {error}\n"));
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

/// Refuses a command that the drive does not say it has: it is never sent blindly.
///
/// # Errors
/// Refused, and those of REPORT SUPPORTED OPERATION CODES.
pub fn refuse_unless_supported(
    drive: &mut TapeDrive,
    name: &str,
    (opcode, action): (u8, u8),
) -> Result<(), CliError> {
    let why = match drive.supports(opcode, Some(action))? {
        Some(true) => return Ok(()),
        Some(false) => "the drive does not list it among its commands",
        None => "the drive does not say which commands it has",
    };
    Err(CliError::with(
        Exit::Refused,
        format!("{name} ({opcode:02X}h/{action:02X}h) was not sent: {why}"),
    ))
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

fn elements(code: u8) -> Result<ReadElementStatus, CliError> {
    let kind = ElementKind::ALL
        .into_iter()
        .find(|kind| kind.code() == code);
    let kind = kind.ok_or_else(|| {
        CliError::input("elements are of type 1 robot, 2 slot, 3 station or 4 drive")
    })?;
    Ok(ReadElementStatus {
        kind,
        first: 0,
        count: u16::MAX,
        volume_tags: true,
        device_ids: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_scsi::commands::DECODERS;

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
