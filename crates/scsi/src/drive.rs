//! A tape drive: the commands in the order in which a drive wants them, and what it said on the way.
//!
//! Nothing is repeated silently. A unit attention is an error except where one waits for the drive,
//! because whoever sent the command relied on a position or a cartridge that may be gone. After one that
//! leaves all as it was ([`Attention::is_benign`]) [`heard`] sends the command again, and keeps the attention as a
//! notice. A drive that is busy or becoming ready is asked again until the command's time-out.

mod count;
mod fence;
mod heard;
mod path_limit;
mod position;
mod reserve;
mod travel;
mod ways;

pub use fence::{Fenced, Permit};
pub use position::{LogicalPosition, PhysicalPosition, PositionSource};
pub use reserve::{Exclusivity, Registrations, Reserved};
pub use travel::SpaceOutcome;

use crate::command::Command;
use crate::commands::{
    AttributeValue, DeviceKind, LoadUnload, ModeData, ModeSelect6, ModeSense6, PreventAllow,
    ReadAttributes, ReadBlock, ReadOutcome, ReportSupportedOpcodes, RequestSense, SupportedOpcode,
    Write6, WriteFilemarks, WriteOutcome,
};
use crate::error::ScsiError;
use crate::identity::Identity;
use crate::ready::{POLL, is_expected, wait_until_ready};
use crate::sense::{Attention, Condition, NotReady, Sense};
use crate::transport::{Completion, Data, Status, Transport, TransportError};
use count::Count;
use heard::{Heard, MOST_ATTENTIONS, is_benign, is_reset};
use path_limit::PathLimit;
use std::time::Duration;
use ways::{LocateBy, PositionForm};

/// READ, WRITE and WRITE FILEMARKS have 24 bits for lengths and counts.
const MOST_24_BITS: u64 = 0xff_ffff;

/// A tape drive behind a transport.
pub struct TapeDrive {
    transport: Heard,
    identity: Identity,
    path_limit: PathLimit,
    /// What REPORT SUPPORTED OPERATION CODES said: not asked, asked in vain, or the list.
    opcodes: Option<Option<Vec<SupportedOpcode>>>,
    locate_by: Option<LocateBy>,
    position_form: Option<PositionForm>,
    /// It has told where it is at least once.
    tells_position: bool,
    count: Count,
    /// The code of the sense with which the last read met the end of data.
    end_of_data: Option<u16>,
    /// It was reset, and reservations may have ended that were not made again.
    was_reset: bool,
    /// Says whether this host may still write; one that is alone with the drive always may.
    permit: Option<Permit>,
}

impl TapeDrive {
    /// Opens a drive. It sends INQUIRY and nothing else, so that a drive another initiator uses is not
    /// disturbed, and the unit attention is left for that initiator.
    ///
    /// # Errors
    /// [`ScsiError::WrongDevice`], and those of INQUIRY.
    pub fn open(mut transport: Box<dyn Transport>) -> Result<TapeDrive, ScsiError> {
        let identity = Identity::ask(transport.as_mut(), DeviceKind::Tape)?;
        Ok(TapeDrive {
            transport: Heard::new(transport),
            identity,
            path_limit: PathLimit::default(),
            opcodes: None,
            locate_by: None,
            position_form: None,
            tells_position: false,
            count: Count::default(),
            end_of_data: None,
            was_reset: false,
            permit: None,
        })
    }

    /// Who it is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The transport, for commands that have no method here. What they move is not counted; a reset that they tell of is
    /// noticed.
    pub fn transport(&mut self) -> &mut dyn Transport {
        &mut self.transport
    }

    /// Whether the way to the drive writes filemarks that nobody has ordered: [`Transport::closes_with_filemark`].
    pub fn closes_with_filemark(&self) -> bool {
        self.transport.closes_with_filemark()
    }

    /// The time since the transport was opened, on the drive's clock.
    pub fn now(&self) -> Duration {
        self.transport.now()
    }

    /// Lets so much time pass on the drive's clock.
    pub fn wait(&mut self, duration: Duration) {
        self.transport.wait(duration);
    }

    /// What the drive said of commands that it carried out all the same: recovered errors, cleaning
    /// requests, changed parameters. Each is given once.
    pub fn take_notices(&mut self) -> Vec<Sense> {
        std::mem::take(&mut self.transport.notices)
    }

    /// Waits until the drive is ready.
    ///
    /// # Errors
    /// [`ScsiError::StillNotReady`] after the limit; at once where waiting is of no use: no
    /// cartridge, one that [`TapeDrive::load`] must load, a cleaning cartridge.
    pub fn wait_until_ready(&mut self, limit: Duration) -> Result<(), ScsiError> {
        self.wait_for(limit, false)
    }

    /// Waits until a cartridge that a robot or a person puts in is loaded and ready.
    ///
    /// # Errors
    /// As [`TapeDrive::wait_until_ready`], but no cartridge is waited for too, for two minutes at most.
    pub fn wait_until_loaded(&mut self, limit: Duration) -> Result<(), ScsiError> {
        self.wait_for(limit, true)
    }

    fn wait_for(&mut self, limit: Duration, without_medium: bool) -> Result<(), ScsiError> {
        let mut said = Vec::new();
        let done = wait_until_ready(&mut self.transport, limit, without_medium, &mut |sense| {
            said.push(sense)
        });
        let done = done.and_then(|()| self.take_attentions(&mut said));
        said.iter().for_each(|sense| self.heard(sense));
        let done = match self.was_reset {
            // A reset may end reservations.
            true => done.and_then(|()| self.reserve_again()),
            false => done,
        };
        self.was_reset &= done.is_err();
        for sense in said {
            match sense.condition() {
                // What one waits for is no news.
                Condition::UnitAttention(Attention::MediumChanged | Attention::Reset) => {}
                _ => self.transport.notices.push(sense),
            }
        }
        if let Err(error) = &done
            && let Some(sense) = error.sense()
        {
            self.heard(sense);
        }
        done
    }

    /// Takes what a drive that is ready still wants to tell: some give the attentions of a new
    /// cartridge only to REQUEST SENSE, or to the next command that moves tape. Those that belong to
    /// a mount are added to `said`.
    fn take_attentions(&mut self, said: &mut Vec<Sense>) -> Result<(), ScsiError> {
        for _ in 0..MOST_ATTENTIONS {
            let Some(sense) = self.news()? else {
                return Ok(());
            };
            match sense.condition() {
                Condition::UnitAttention(attention) if is_expected(attention) => said.push(sense),
                Condition::UnitAttention(_) => return Err(request_sense_error(sense)),
                _ if sense.is_deferred => return Err(request_sense_error(sense)),
                // What another program's last command left behind.
                _ => {
                    said.push(sense);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// What REQUEST SENSE tells that this initiator does not know yet; `None` when it is only where
    /// the head is, or repeats the sense of the last command that failed.
    fn news(&mut self) -> Result<Option<Sense>, ScsiError> {
        let sense = match self.if_supported(&RequestSense) {
            Ok(Some(sense)) => sense,
            // A target that has nothing to tell and therefore sends nothing.
            Ok(None) | Err(ScsiError::Decode { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(self.transport.is_news(&sense).then_some(sense))
    }

    /// Whether the drive has a command, by REPORT SUPPORTED OPERATION CODES, asked once; none when
    /// the drive cannot say.
    ///
    /// # Errors
    /// Those of the command, except that a drive may not have it.
    pub fn supports(
        &mut self,
        opcode: u8,
        service_action: Option<u8>,
    ) -> Result<Option<bool>, ScsiError> {
        if self.opcodes.is_none() {
            self.opcodes = Some(self.if_supported(&ReportSupportedOpcodes)?);
        }
        let wanted = service_action.map(u16::from);
        Ok(self.opcodes.as_ref().and_then(Option::as_ref).map(|list| {
            list.iter().any(|command| {
                command.opcode == opcode && (wanted.is_none() || command.service_action == wanted)
            })
        }))
    }

    /// Sets the block length in bytes, 0 for variable, which is what [`TapeDrive::read`] and
    /// [`TapeDrive::write`] need.
    ///
    /// # Errors
    /// [`ScsiError::TooLarge`] from 2²⁴ bytes on, and those of MODE SELECT.
    pub fn set_block_length(&mut self, bytes: u32) -> Result<(), ScsiError> {
        fits("MODE SELECT(6)", "block length", u64::from(bytes))?;
        self.perform(&ModeSelect6::block_length(bytes))
    }

    /// Mode parameters: density, block length, write protection, and a page (3Fh all of them).
    ///
    /// # Errors
    /// [`ScsiError`] as for every command.
    pub fn mode(&mut self, page: u8) -> Result<ModeData, ScsiError> {
        self.perform(&ModeSense6 { page, subpage: 0 })
    }

    /// Loads the cartridge that is in the drive. Attentions of a reset or of another cartridge that came before are no
    /// news: nobody relies on a position until the load is over.
    ///
    /// # Errors
    /// [`ScsiError`] as for every command; 28h may come with the next one.
    pub fn load(&mut self) -> Result<(), ScsiError> {
        for _ in 0..MOST_ATTENTIONS {
            let Err(error) = self.perform(&LoadUnload::LOAD) else {
                self.count.forget();
                return Ok(());
            };
            match error.condition() {
                Some(Condition::UnitAttention(Attention::Reset)) => self.reserve_again()?,
                Some(Condition::UnitAttention(attention)) if is_expected(attention) => {}
                _ => return Err(error),
            }
        }
        self.perform(&LoadUnload::LOAD)
    }

    /// Rewinds, unthreads and ejects the cartridge. That this host prevented removal, in a program that was killed,
    /// is no obstacle; what other hosts prevent is left to them.
    ///
    /// # Errors
    /// [`ScsiError`] as for every command, among them that removal is prevented.
    pub fn unload(&mut self) -> Result<(), ScsiError> {
        match self.perform(&LoadUnload::UNLOAD) {
            Err(error) if error.condition() == Some(Condition::RemovalPrevented) => {
                self.prevent_removal(false)?;
                self.perform(&LoadUnload::UNLOAD)?;
            }
            unloaded => unloaded?,
        }
        self.count.forget();
        Ok(())
    }

    /// Prevents or allows that the cartridge is taken. A drive without this command lets it be taken at any time.
    ///
    /// # Errors
    /// [`ScsiError`] as for every command, except that a drive may not have it.
    pub fn prevent_removal(&mut self, prevent: bool) -> Result<(), ScsiError> {
        self.if_supported(&PreventAllow { prevent }).map(drop)
    }

    /// Bytes to ask for while the length of the blocks is not known: what blocks usually have at
    /// most, and no more than the path to the drive carries for sure.
    pub fn first_read_bytes(&self) -> usize {
        /// Twice what LTFS uses.
        const USUAL: usize = 1 << 20;
        let sure = self.transport.most_bytes().unwrap_or(USUAL);
        sure.clamp(path_limit::SMALLEST, USUAL)
    }

    /// Reads the next block, of any length up to that of the buffer. Where the path to the drive does
    /// not carry as much with one command, a shorter read finds out how long the block is: the
    /// outcome of a block that does not fit the path either is [`ReadOutcome::Longer`], once, and
    /// then an error.
    ///
    /// # Errors
    /// [`ScsiError::TooLarge`] for a buffer from 2²⁴ bytes on, [`ScsiError::BlockLength`] when part of
    /// the block is missing, and those of every command.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<ReadOutcome, ScsiError> {
        let mut room = self.path_limit.room(buffer.len());
        let outcome = loop {
            match self.read_into(&mut buffer[..room]) {
                Err(error) => match self.path_limit.smaller(room, &error) {
                    Some(smaller) => room = smaller,
                    None => return Err(error),
                },
                Ok(outcome) => break outcome,
            }
        };
        if let ReadOutcome::Longer { block_bytes } = outcome {
            self.path_limit.told(block_bytes);
        }
        Ok(outcome)
    }

    fn read_into(&mut self, buffer: &mut [u8]) -> Result<ReadOutcome, ScsiError> {
        let command = ReadBlock {
            length: fits("READ(6)", "buffer length", buffer.len() as u64)?,
        };
        let mut code = None;
        let outcome = self.retry(command.timeout(), |transport| {
            let done = execute(ReadBlock::NAME, || {
                transport.execute(&command.cdb(), Data::In(&mut *buffer), command.timeout())
            })?;
            code = done.sense().map(|sense| sense.code());
            Ok((command.outcome(&done)?, note(&done)))
        })?;
        self.end_of_data = code.filter(|_| outcome == ReadOutcome::EndOfData);
        match outcome {
            ReadOutcome::Block { .. } | ReadOutcome::Longer { .. } => self.count.step(1),
            ReadOutcome::Filemark => {
                self.count.step(1);
                self.count.passed_filemark();
            }
            ReadOutcome::EndOfData | ReadOutcome::EndOfMedium => {}
        }
        Ok(outcome)
    }

    /// Writes a block.
    ///
    /// # Errors
    /// [`ScsiError::TooLarge`] from 2²⁴ bytes on, and those of every command.
    pub fn write(&mut self, data: &[u8]) -> Result<WriteOutcome, ScsiError> {
        self.may_write()?;
        let command = Write6 {
            length: fits("WRITE(6)", "block length", data.len() as u64)?,
        };
        let outcome = self.retry(command.timeout(), |transport| {
            let done = execute(Write6::NAME, || {
                transport.execute(&command.cdb(), Data::Out(data), command.timeout())
            })?;
            Ok((command.outcome(&done, data.len())?, note(&done)))
        })?;
        if outcome != WriteOutcome::EndOfMedium {
            self.count.wrote(1, false);
        }
        Ok(outcome)
    }

    /// Writes filemarks, and unless `immediate` waits until all that was written is on the tape. A
    /// count of 0 only waits.
    ///
    /// # Errors
    /// [`ScsiError::TooLarge`] from 2²⁴ on, and those of every command.
    pub fn write_filemarks(
        &mut self,
        count: u32,
        immediate: bool,
    ) -> Result<WriteOutcome, ScsiError> {
        fits(WriteFilemarks::NAME, "count", u64::from(count))?;
        self.may_write()?;
        let command = WriteFilemarks { count, immediate };
        let outcome = self.retry(command.timeout(), |transport| {
            let done = execute(WriteFilemarks::NAME, || {
                transport.execute(&command.cdb(), Data::None, command.timeout())
            })?;
            Ok((command.outcome(&done)?, note(&done)))
        })?;
        if outcome != WriteOutcome::EndOfMedium && count > 0 {
            self.count.wrote(u64::from(count), true);
        }
        Ok(outcome)
    }

    /// Before the tape is written: the lease is in force, and after a reset it is known again where the head is, which
    /// may be the beginning of the tape, and the drive is reserved as before.
    fn may_write(&mut self) -> Result<(), ScsiError> {
        self.check_permit()?;
        self.notice_reset();
        if self.was_reset {
            if self.count.at().is_none() {
                return Err(ScsiError::WasReset);
            }
            self.reserve_again()?;
            self.was_reset = false;
        }
        Ok(())
    }

    /// Notices a reset of which a command told that had no method here: nothing that was counted holds.
    fn notice_reset(&mut self) {
        if std::mem::take(&mut self.transport.was_reset) {
            self.was_reset = true;
            self.count.forget();
        }
    }

    /// Sends a command, again while the drive is busy or becoming ready.
    fn perform<C: Command>(&mut self, command: &C) -> Result<C::Answer, ScsiError> {
        self.retry(command.timeout(), |transport| {
            command.send_noting(transport)
        })
    }

    /// Whether the last read found the end of data, and not only no data. BLANK CHECK comes with 00h/05h (or without a
    /// code) where the end is found; with 14h/03h and others of 14h the drive has looked for it in vain: what lies there
    /// may be data whose end was never written, because power failed.
    pub fn found_end_of_data(&self) -> bool {
        self.end_of_data.is_some_and(|code| code >> 8 == 0)
    }

    /// Whether anything was ever written to the cartridge, by its memory (attribute 0220h, TOTAL MBYTES WRITTEN IN
    /// MEDIUM LIFE, SPC-5); none if the drive or the cartridge does not tell.
    ///
    /// # Errors
    /// Those of READ ATTRIBUTE, except that a drive may not have it.
    pub fn was_ever_written(&mut self) -> Result<Option<bool>, ScsiError> {
        const MBYTES_WRITTEN: u16 = 0x0220;
        let mbytes = self.attribute(MBYTES_WRITTEN)?;
        Ok(mbytes.map(|bytes| bytes.iter().any(|&byte| byte != 0)))
    }

    /// Whether the cartridge can be written only once (WORM), by its memory (attribute 0408h, MEDIUM TYPE, SPC-5);
    /// none if the drive or the cartridge does not tell.
    ///
    /// # Errors
    /// Those of READ ATTRIBUTE, except that a drive may not have it.
    pub fn is_write_once(&mut self) -> Result<Option<bool>, ScsiError> {
        const MEDIUM_TYPE: u16 = 0x0408;
        const WORM: u8 = 0x80;
        let medium_type = self.attribute(MEDIUM_TYPE)?;
        Ok(medium_type.map(|bytes| bytes[0] == WORM))
    }

    /// A number in the cartridge's memory, of one byte at least.
    fn attribute(&mut self, id: u16) -> Result<Option<Vec<u8>>, ScsiError> {
        let command = ReadAttributes {
            partition: 0,
            first: id,
        };
        let attributes = self.if_supported(&command)?.unwrap_or_default();
        let found = attributes.into_iter().find(|found| found.id == id);
        Ok(found.and_then(|found| match found.value {
            AttributeValue::Binary(bytes) if !bytes.is_empty() => Some(bytes),
            _ => None,
        }))
    }

    /// Sends a command that the drive may not have.
    fn if_supported<C: Command>(&mut self, command: &C) -> Result<Option<C::Answer>, ScsiError> {
        match self.perform(command) {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if error.is_unsupported() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends until the drive takes it, for at most the time-out. Its notes are kept; after an error
    /// our count is worth what the error leaves of it.
    fn retry<T>(
        &mut self,
        timeout: Duration,
        mut send: impl FnMut(&mut dyn Transport) -> Result<(T, Option<Sense>), ScsiError>,
    ) -> Result<T, ScsiError> {
        self.notice_reset();
        let began = self.now();
        loop {
            match send(&mut self.transport) {
                Ok((answer, note)) => {
                    self.transport.notices.extend(note);
                    return Ok(answer);
                }
                Err(error) if is_busy(&error) && self.now() < began + timeout => {
                    self.transport.wait(POLL);
                }
                Err(error) => {
                    match error.sense() {
                        Some(sense) => self.heard(sense),
                        // The drive has not seen it.
                        None if error.is_too_large() => {}
                        None => self.count.lose(),
                    }
                    return Err(error);
                }
            }
        }
    }

    /// What sense says of the position: a refused command moved nothing, another cartridge has other
    /// filemarks, and after anything else we do not know where we are.
    fn heard(&mut self, sense: &Sense) {
        self.was_reset |= is_reset(sense);
        match sense.condition() {
            Condition::UnsupportedCommand
            | Condition::UnsupportedField
            | Condition::IllegalRequest
            | Condition::RemovalPrevented
            | Condition::Fine
            | Condition::Recovered
            | Condition::NotReady(NotReady::BecomingReady)
            | Condition::UnitAttention(
                Attention::ReservationsChanged
                | Attention::EncryptionChanged
                | Attention::RemovalRequested,
            ) => {}
            _ if is_benign(sense) => {}
            Condition::UnitAttention(_) | Condition::NotReady(_) => self.count.forget(),
            _ => self.count.lose(),
        }
    }
}

/// The error that REQUEST SENSE told of.
fn request_sense_error(sense: Sense) -> ScsiError {
    ScsiError::Sense {
        command: RequestSense.name(),
        sense: Box::new(sense),
    }
}

/// Whether the drive did not take the command because of what it is doing.
fn is_busy(error: &ScsiError) -> bool {
    match error {
        ScsiError::Status { status, .. } => matches!(status, Status::Busy | Status::TaskSetFull),
        ScsiError::Sense { sense, .. } => {
            sense.condition() == Condition::NotReady(NotReady::BecomingReady)
        }
        _ => false,
    }
}

fn execute(
    command: &'static str,
    send: impl FnOnce() -> Result<Completion, TransportError>,
) -> Result<Completion, ScsiError> {
    send().map_err(|error| ScsiError::transport(command, error))
}

/// The sense of a command that was carried out with trouble.
fn note(done: &Completion) -> Option<Sense> {
    done.sense().filter(|sense| {
        sense.condition() == Condition::Recovered
            || sense.condition() == Condition::Fine && sense.code() != 0
    })
}

/// A number that must fit 24 bits.
fn fits(command: &'static str, what: &'static str, value: u64) -> Result<u32, ScsiError> {
    if value > MOST_24_BITS {
        return Err(ScsiError::TooLarge {
            command,
            what,
            value,
            most: MOST_24_BITS,
        });
    }
    Ok(value as u32)
}
