//! The way to a drive, what the drive told last, and what we hold of it.
//!
//! Sense comes with the status of the command that failed, and a drive that keeps to SAM forgets it
//! then. Others keep it for the next REQUEST SENSE, where it is no news.

use crate::cdb::Cdb;
use crate::command::Command;
use crate::commands::{PersistentReserveOut, ReleaseUnit, ReservationType};
use crate::sense::{Attention, Condition, Sense};
use crate::transport::{Completion, Data, Status, Transport, TransportError};
use std::time::Duration;

const REQUEST_SENSE: u8 = 0x03;

/// How many unit attentions may stand before one command; more than a drive has kinds of them.
pub(super) const MOST_ATTENTIONS: usize = 8;

/// A transport that remembers the sense of the last command that ended with CHECK CONDITION, that sends a command again
/// after a unit attention that changes nothing for it, and that releases the drive when it goes.
pub(super) struct Heard {
    inner: Box<dyn Transport>,
    last: Option<Sense>,
    held: Option<Held>,
    /// A command, whoever sent it, came back with the attention of a reset.
    pub was_reset: bool,
    /// What the drive said of commands that it carried out all the same.
    pub notices: Vec<Sense>,
}

/// The reservation that we hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// Registered with this key; reserved or about to be.
    Persistent { key: u64 },
    /// RESERVE(6).
    Unit,
}

impl Heard {
    pub fn new(inner: Box<dyn Transport>) -> Heard {
        Heard {
            inner,
            last: None,
            held: None,
            was_reset: false,
            notices: Vec::new(),
        }
    }

    /// Says what we hold, for [`Heard::release`].
    pub fn set_held(&mut self, held: Option<Held>) {
        self.held = held;
    }

    /// What we hold.
    pub fn held(&self) -> Option<Held> {
        self.held
    }

    /// Whether we hold the drive under this key.
    pub fn holds(&self, key: u64) -> bool {
        self.held == Some(Held::Persistent { key })
    }

    /// Gives up what we hold. The drive may have lost it in a reset, or the path to it be gone: there
    /// is nothing to do about either.
    pub fn release(&mut self) {
        const EXCLUSIVE: ReservationType = ReservationType::ExclusiveAccess;
        match self.held.take() {
            None => {}
            Some(Held::Unit) => self.insist(&ReleaseUnit),
            Some(Held::Persistent { key }) => {
                self.insist(&PersistentReserveOut::release(key, EXCLUSIVE));
                self.insist(&PersistentReserveOut::register(0));
            }
        }
    }

    /// Sends a command past the unit attentions that wait in the drive.
    fn insist(&mut self, command: &impl Command<Answer = ()>) {
        for _ in 0..MOST_ATTENTIONS {
            match command.send(self) {
                Err(error) if matches!(error.condition(), Some(Condition::UnitAttention(_))) => {}
                _ => return,
            }
        }
    }

    /// Whether the answer to a REQUEST SENSE tells something that we do not know. From then on it is
    /// known. After an answer without news the same sense, should it come again, is news.
    pub fn is_news(&mut self, sense: &Sense) -> bool {
        if !matters(sense) {
            self.last = None;
            return false;
        }
        let is_known = self.is_known(sense);
        if !is_known {
            self.last = Some(sense.clone());
        }
        !is_known
    }

    /// Whether sense repeats what the last failed command came back with.
    fn is_known(&self, sense: &Sense) -> bool {
        self.last.as_ref().is_some_and(|last| same(last, sense))
    }
}

/// Whether this is a unit attention after which a command can be sent again.
pub(super) fn is_benign(sense: &Sense) -> bool {
    matches!(sense.condition(), Condition::UnitAttention(attention) if attention.is_benign())
}

/// Whether the device says that it was reset, and so may have lost position and reservations.
pub(super) fn is_reset(sense: &Sense) -> bool {
    sense.condition() == Condition::UnitAttention(Attention::Reset)
}

/// Whether sense is more than where the head is and what it met.
fn matters(sense: &Sense) -> bool {
    !matches!(
        sense.condition(),
        Condition::Fine
            | Condition::Filemark
            | Condition::EndOfData
            | Condition::BeginningOfPartition
            | Condition::EarlyWarning
            | Condition::IncorrectLength
    )
}

fn same(one: &Sense, other: &Sense) -> bool {
    (one.key, one.code(), one.is_deferred) == (other.key, other.code(), other.is_deferred)
}

impl Drop for Heard {
    fn drop(&mut self) {
        self.release();
    }
}

impl Transport for Heard {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        let mut data = data;
        let mut attentions = 0;
        loop {
            let again = match &mut data {
                Data::None => Data::None,
                Data::In(room) => Data::In(room),
                Data::Out(bytes) => Data::Out(bytes),
            };
            let done = self.inner.execute(cdb, again, timeout)?;
            if done.status != Status::CheckCondition {
                if let (REQUEST_SENSE, Data::In(answer)) = (cdb.opcode(), &data) {
                    let sense = Sense::decode(&answer[..done.transferred.min(answer.len())]).ok();
                    let news = sense.filter(|sense| !self.is_known(sense));
                    self.was_reset |= news.as_ref().is_some_and(is_reset);
                }
                return Ok(done);
            }
            self.last = done.sense();
            self.was_reset |= self.last.as_ref().is_some_and(is_reset);
            match &self.last {
                Some(sense) if is_benign(sense) && attentions < MOST_ATTENTIONS => {
                    attentions += 1;
                    self.notices.push(sense.clone());
                }
                _ => return Ok(done),
            }
        }
    }

    fn most_bytes(&self) -> Option<usize> {
        self.inner.most_bytes()
    }

    fn closes_with_filemark(&self) -> bool {
        self.inner.closes_with_filemark()
    }

    fn now(&self) -> Duration {
        self.inner.now()
    }

    fn wait(&mut self, duration: Duration) {
        self.inner.wait(duration);
    }
}
