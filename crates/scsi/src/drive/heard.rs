//! The way to a drive, and what the drive told last.
//!
//! Sense comes with the status of the command that failed, and a drive that keeps to SAM forgets it
//! then. Others keep it for the next REQUEST SENSE, where it is no news.

use crate::cdb::Cdb;
use crate::sense::{Condition, Sense};
use crate::transport::{Completion, Data, Status, Transport, TransportError};
use std::time::Duration;

/// A transport that remembers the sense of the last command that ended with CHECK CONDITION.
pub(super) struct Heard {
    inner: Box<dyn Transport>,
    last: Option<Sense>,
}

impl Heard {
    pub fn new(inner: Box<dyn Transport>) -> Heard {
        Heard { inner, last: None }
    }

    /// Whether the answer to a REQUEST SENSE tells something that we do not know. From then on it is
    /// known. After an answer without news the same sense, should it come again, is news.
    pub fn is_news(&mut self, sense: &Sense) -> bool {
        if !matters(sense) {
            self.last = None;
            return false;
        }
        let is_known = self.last.as_ref().is_some_and(|last| same(last, sense));
        if !is_known {
            self.last = Some(sense.clone());
        }
        !is_known
    }
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
        let done = self.inner.execute(cdb, data, timeout)?;
        if done.status == Status::CheckCondition {
            self.last = done.sense();
        }
        Ok(done)
    }

    fn most_bytes(&self) -> Option<usize> {
        self.inner.most_bytes()
    }

    fn now(&self) -> Duration {
        self.inner.now()
    }

    fn wait(&mut self, duration: Duration) {
        self.inner.wait(duration);
    }
}
