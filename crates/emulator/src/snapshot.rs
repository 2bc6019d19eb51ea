//! What the drives of an open library are doing, for whoever looks on.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use tapewise_model::Micros;

/// What a library is doing at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The library's clock in microseconds.
    pub clock_us: i64,
    /// The drives in their order.
    pub drives: Vec<DriveSnapshot>,
}

/// What a drive is doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriveSnapshot {
    /// Counted from 0.
    pub number: usize,
    /// Its serial number.
    pub serial: String,
    /// Its kind.
    pub kind: String,
    /// The cartridge in it.
    pub cartridge: Option<String>,
    /// `empty`, `unloaded`, `loading`, `cleaning`, `busy` or `ready`.
    pub state: String,
    /// Where the head is, while the tape is on it.
    pub head: Option<Head>,
    /// Metres of tape that the drive has moved in its life.
    pub metres: f64,
    /// The last commands, the latest last.
    pub last: Vec<String>,
}

/// Where a head is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// The partition.
    pub partition: u8,
    /// The logical object next to be read or written.
    pub block: u64,
    /// The wrap.
    pub wrap: u16,
    /// The longitudinal position.
    pub lpos: f64,
}

/// A command that a device has carried out: one line of the log of commands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandDone {
    /// When it came, in microseconds on the library's clock.
    pub at_us: i64,
    /// What it took.
    pub took_us: i64,
    /// `drive0`, `drive1`, … or `changer`.
    pub unit: String,
    /// What it is called.
    pub command: String,
    /// Its bytes in hex.
    pub cdb: String,
    /// The status byte.
    pub status: u8,
    /// Bytes that went through the data phase.
    pub bytes: usize,
    /// Where the head is after it, in a drive with tape on the head.
    pub head: Option<Head>,
}

/// Who is told of every command.
pub(crate) type Watcher = Box<dyn FnMut(&CommandDone) + Send>;

/// The last commands of a drive.
#[derive(Clone, Debug, Default)]
pub(crate) struct History(VecDeque<Done>);

#[derive(Clone, Copy, Debug)]
struct Done {
    opcode: u8,
    spent: Micros,
    status: u8,
}

/// Commands that are kept.
const KEPT: usize = 8;

impl History {
    /// Notes a command. Whoever only asks whether a drive is ready would drown the rest.
    pub fn note(&mut self, opcode: u8, spent: Micros, status: u8) {
        if opcode == 0 {
            return;
        }
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(Done {
            opcode,
            spent,
            status,
        });
    }

    /// One line for each command.
    pub fn lines(&self) -> Vec<String> {
        let line = |done: &Done| {
            let outcome = match done.status {
                0x00 => "good",
                0x02 => "check condition",
                0x18 => "reservation conflict",
                _ => "failed",
            };
            let seconds = done.spent.as_secs_f64();
            format!("{} {seconds:.3} s {outcome}", name(done.opcode))
        };
        self.0.iter().map(line).collect()
    }
}

/// What a command is called (SSC-4, Table 13; SMC-3, Table 8).
pub(crate) fn name(opcode: u8) -> String {
    match opcode {
        0x00 => "TEST UNIT READY",
        0x01 => "REWIND",
        0x03 => "REQUEST SENSE",
        0x04 => "FORMAT MEDIUM",
        0x05 => "READ BLOCK LIMITS",
        0x08 => "READ",
        0x0a => "WRITE",
        0x10 => "WRITE FILEMARKS",
        0x11 | 0x91 => "SPACE",
        0x12 => "INQUIRY",
        0x15 | 0x55 => "MODE SELECT",
        0x1a | 0x5a => "MODE SENSE",
        0x16 => "RESERVE",
        0x17 => "RELEASE",
        0x1b => "LOAD UNLOAD",
        0x1e => "PREVENT ALLOW MEDIUM REMOVAL",
        0x2b | 0x92 => "LOCATE",
        0x34 => "READ POSITION",
        0x44 => "REPORT DENSITY SUPPORT",
        0x4d => "LOG SENSE",
        0x5e => "PERSISTENT RESERVE IN",
        0x5f => "PERSISTENT RESERVE OUT",
        0x8c => "READ ATTRIBUTE",
        0x8d => "WRITE ATTRIBUTE",
        0xa0 => "REPORT LUNS",
        0x07 | 0x37 => "INITIALIZE ELEMENT STATUS",
        0xa5 => "MOVE MEDIUM",
        0xa6 => "EXCHANGE MEDIUM",
        0xb8 => "READ ELEMENT STATUS",
        other => return format!("command {other:02x}h"),
    }
    .to_owned()
}
