//! One command on its way through a device, and the table a device is made of.

use crate::check::Check;
use tapewise_model::Micros;
use tapewise_scsi::{Cdb, Completion, Data, SenseBytes, Status};

/// A command that a device is carrying out: its bytes, its data, and the time it has taken so far.
pub(crate) struct Exchange<'a> {
    cdb: Cdb,
    data: Data<'a>,
    transferred: usize,
    start: Micros,
    spent: Micros,
    /// The initiator, counted from 0: unit attentions and reservations are kept for each.
    pub nexus: usize,
}

impl<'a> Exchange<'a> {
    pub fn new(cdb: Cdb, data: Data<'a>, start: Micros, nexus: usize) -> Exchange<'a> {
        Exchange {
            cdb,
            data,
            transferred: 0,
            start,
            spent: Micros::ZERO,
            nexus,
        }
    }

    /// The time on the device's clock.
    pub fn now(&self) -> Micros {
        self.start + self.spent
    }

    /// The command takes so much longer.
    pub fn spend(&mut self, time: Micros) {
        self.spent += time;
    }

    /// What the command has taken.
    pub fn spent(&self) -> Micros {
        self.spent
    }

    /// Bytes that went through the data phase.
    pub fn transferred(&self) -> usize {
        self.transferred
    }

    /// Operation code.
    pub fn opcode(&self) -> u8 {
        self.cdb.opcode()
    }

    /// Service action, for the operation codes that have one.
    pub fn service_action(&self) -> u8 {
        self.cdb.service_action()
    }

    /// Byte `at` of the CDB, 0 beyond its end.
    pub fn byte(&self, at: usize) -> u8 {
        self.cdb.bytes().get(at).copied().unwrap_or(0)
    }

    /// Bit `bit` of byte `at` of the CDB.
    pub fn bit(&self, at: usize, bit: u8) -> bool {
        self.byte(at) >> bit & 1 == 1
    }

    /// The big-endian number in `N` bytes of the CDB from `at`.
    pub fn number<const N: usize>(&self, at: usize) -> u64 {
        (at..at + N).fold(0, |number, at| number << 8 | u64::from(self.byte(at)))
    }

    /// Sends an answer, cut to the allocation length of the CDB and the room the host has.
    pub fn answer(&mut self, answer: &[u8], allocation: u64) {
        let Data::In(room) = &mut self.data else {
            return;
        };
        let allowed = usize::try_from(allocation).unwrap_or(usize::MAX);
        let length = answer.len().min(allowed).min(room.len());
        room[..length].copy_from_slice(&answer[..length]);
        self.transferred = length;
    }

    /// Sends mode parameters, whose first byte, or two of MODE SENSE(10), say how many follow.
    pub fn answer_mode(&mut self, mut parameters: Vec<u8>) {
        let allocation = if self.opcode() == 0x5a {
            let length = parameters.len() as u16 - 2;
            parameters[..2].copy_from_slice(&length.to_be_bytes());
            self.number::<2>(7)
        } else {
            parameters[0] = parameters.len() as u8 - 1;
            self.number::<1>(4)
        };
        self.answer(&parameters, allocation);
    }

    /// The host's room for data, up to `length` bytes.
    ///
    /// # Errors
    /// Data phase error when the host has less room than its CDB says.
    pub fn room(&mut self, length: u64) -> Result<&mut [u8], Check> {
        match &mut self.data {
            Data::In(room) if room.len() as u64 >= length => Ok(&mut room[..length as usize]),
            _ if length == 0 => Ok(&mut []),
            _ => Err(Check::DATA_PHASE),
        }
    }

    /// Says that `length` bytes were put into the room.
    pub fn sent(&mut self, length: usize) {
        self.transferred += length;
    }

    /// The data that the host sends, `length` bytes of it.
    ///
    /// # Errors
    /// Data phase error when the host sends less than its CDB says.
    pub fn received(&mut self, length: u64) -> Result<&'a [u8], Check> {
        match self.data {
            Data::Out(bytes) if bytes.len() as u64 >= length => {
                self.transferred = length as usize;
                Ok(&bytes[..length as usize])
            }
            _ if length == 0 => Ok(&[]),
            _ => Err(Check::DATA_PHASE),
        }
    }
}

/// Why a command did not end with GOOD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// CHECK CONDITION.
    Check(Check),
    /// Another initiator has reserved the device.
    ReservationConflict,
}

impl From<Check> for Stop {
    fn from(check: Check) -> Stop {
        Stop::Check(check)
    }
}

impl Stop {
    /// The completion, with the sense bytes that the device makes of the check.
    pub fn completion(
        self,
        transferred: usize,
        sense: impl FnOnce(&Check) -> SenseBytes,
    ) -> Completion {
        match self {
            Stop::Check(check) => Completion {
                status: Status::CheckCondition,
                transferred,
                sense: sense(&check),
            },
            Stop::ReservationConflict => Completion {
                status: Status::ReservationConflict,
                transferred,
                sense: SenseBytes::none(),
            },
        }
    }
}

/// A command that a device knows: one line of its table.
pub(crate) struct Entry<D: 'static> {
    pub opcode: u8,
    /// Those that are carried out alike, of an operation code that has service actions.
    pub service_actions: &'static [u8],
    pub cdb_length: u8,
    /// After so many seconds the standard's nominal time is over: the time-outs descriptor.
    pub nominal_s: u32,
    /// Whether it may be sent while there is no ready medium, and with a unit attention pending.
    pub needs: Needs,
    /// Whether this device has it.
    pub supported: fn(&D) -> bool,
    pub run: fn(&mut D, &mut Exchange<'_>) -> Result<(), Stop>,
}

impl<D> Entry<D> {
    fn has_actions(&self) -> bool {
        !self.service_actions.is_empty()
    }

    /// Whether it is the line of this service action, if its operation code has any.
    fn is_for(&self, action: u64) -> bool {
        let mut actions = self.service_actions.iter();
        !self.has_actions() || actions.any(|&one| u64::from(one) == action)
    }
}

/// What a command needs before it may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Answered in every state, unit attentions stay (INQUIRY, REPORT LUNS, REQUEST SENSE: SAM-5, 5.14).
    Nothing,
    /// Reports unit attentions, and then works without a medium.
    Device,
    /// A loaded medium.
    Medium,
    /// A loaded medium, and a position that is known.
    Position,
}

/// The line of the table for this command.
///
/// # Errors
/// Invalid operation code, or invalid field in byte 1 where only the service action is unknown.
pub(crate) fn find<D>(
    table: &'static [Entry<D>],
    device: &D,
    exchange: &Exchange<'_>,
) -> Result<&'static Entry<D>, Check> {
    let mut known_opcode = false;
    for entry in table {
        if entry.opcode == exchange.opcode() && (entry.supported)(device) {
            known_opcode = true;
            if entry.is_for(exchange.service_action().into()) {
                return Ok(entry);
            }
        }
    }
    Err(if known_opcode {
        Check::invalid_cdb_bits(1, 4)
    } else {
        Check::INVALID_OPCODE
    })
}

/// REPORT SUPPORTED OPERATION CODES (SPC-5, 6.43), from the table without the codes that are hidden.
///
/// # Errors
/// Invalid field for reporting options that this device does not have.
pub(crate) fn report_supported<D>(
    table: &'static [Entry<D>],
    device: &D,
    hidden: &[u8],
    exchange: &mut Exchange<'_>,
) -> Result<(), Stop> {
    let with_timeouts = exchange.bit(2, 7);
    let opcode = exchange.byte(3);
    let action = exchange.number::<2>(4);
    let allocation = exchange.number::<4>(6);
    let mut here = table
        .iter()
        .filter(|entry| (entry.supported)(device) && !hidden.contains(&entry.opcode));
    let answer = match exchange.byte(2) & 7 {
        0 => all_commands(here, with_timeouts),
        option @ 1..=3 => {
            let has_actions = table
                .iter()
                .any(|entry| entry.opcode == opcode && entry.has_actions());
            if option < 3 && has_actions != (option == 2) {
                return Err(Check::invalid_cdb(4).into());
            }
            let entry = here.find(|entry| entry.opcode == opcode && entry.is_for(action));
            one_command(entry, action as u8, with_timeouts)
        }
        _ => return Err(Check::invalid_cdb_bits(2, 2).into()),
    };
    exchange.answer(&answer, allocation);
    Ok(())
}

fn all_commands<'t, D: 'static>(
    entries: impl Iterator<Item = &'t Entry<D>>,
    with_timeouts: bool,
) -> Vec<u8> {
    let mut answer = vec![0; 4];
    for entry in entries {
        let flags = u8::from(entry.has_actions()) | u8::from(with_timeouts) << 1;
        let actions = if entry.has_actions() {
            entry.service_actions
        } else {
            &[0]
        };
        for &action in actions {
            answer.extend([entry.opcode, 0, 0, action, 0, flags, 0, entry.cdb_length]);
            if with_timeouts {
                answer.extend(timeouts(entry));
            }
        }
    }
    let length = answer.len() as u32 - 4;
    answer[..4].copy_from_slice(&length.to_be_bytes());
    answer
}

fn one_command<D>(entry: Option<&Entry<D>>, action: u8, with_timeouts: bool) -> Vec<u8> {
    /// Supported as the standard says, and not supported.
    const SUPPORTED: u8 = 3;
    const UNSUPPORTED: u8 = 1;
    let Some(entry) = entry else {
        return vec![0, UNSUPPORTED, 0, 0];
    };
    let mut answer = vec![
        0,
        SUPPORTED | u8::from(with_timeouts) << 7,
        0,
        entry.cdb_length,
    ];
    // The usage map: the operation code, then ones for what may be set; ours does not go by bits.
    answer.push(entry.opcode);
    answer.extend(std::iter::repeat_n(0xff, usize::from(entry.cdb_length) - 2));
    answer.push(0);
    if entry.has_actions() {
        answer[5] = 0xe0 | action;
    }
    if with_timeouts {
        answer.extend(timeouts(entry));
    }
    answer
}

/// The command time-outs descriptor: nominal and recommended seconds.
fn timeouts<D>(entry: &Entry<D>) -> [u8; 12] {
    let mut descriptor = [0; 12];
    descriptor[1] = 0x0a;
    descriptor[4..8].copy_from_slice(&entry.nominal_s.to_be_bytes());
    descriptor[8..].copy_from_slice(&(2 * entry.nominal_s).to_be_bytes());
    descriptor
}
