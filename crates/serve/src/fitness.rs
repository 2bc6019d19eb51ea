//! Whether requests can be taken: what a proxy that shares out requests asks, and what the log says.
//!
//! A failure of the catalogue is noticed by whoever asks for something, and kept until a write succeeds: on a full disk
//! everything can be read, and nothing entered.

use crate::audit;
use crate::service::Service;
use std::sync::{MutexGuard, PoisonError};
use tapewise_archive::reserve::{Reserve, ReserveState};

impl Service {
    /// Why requests are refused now, in words that tell nothing of the machine; none: they are taken.
    pub(crate) fn unfit(&self) -> Option<&'static str> {
        if self.catalogue_failure().is_some() {
            return Some("the catalogue cannot be used");
        }
        self.audit_trouble()
            .map(|_| "the audit trail cannot be written")
    }

    /// What is known of a failure of the catalogue.
    pub(crate) fn catalogue_failure(&self) -> MutexGuard<'_, Option<String>> {
        let failure = self.catalogue_failure.lock();
        failure.unwrap_or_else(PoisonError::into_inner)
    }

    /// Why no line can be written into the audit trail.
    fn audit_trouble(&self) -> Option<String> {
        let path = self.audit_file.as_ref()?;
        let error = audit::open(path).err()?;
        let path = path.display();
        Some(format!(
            "the audit trail {path} cannot be written: {error}; requests are refused until it can"
        ))
    }

    /// Looks after what requests need, now and then: lets the lifetimes of files begin that have come, forgets requests
    /// that ended `keep_ns` ago, gives up the room that is kept for the catalogue if the disk is full, and finds out
    /// whether a catalogue that had failed can be written again.
    ///
    /// # Errors
    /// What somebody must put right, in words for the log.
    pub fn look_after(&self, keep_ns: i64) -> Result<(), String> {
        let directory = self.archive.directory();
        let room = Reserve::of(directory).prepare();
        let catalogue = &self.archive.catalogue;
        let settled = catalogue.settle_stages(keep_ns, (self.now_ns)());
        let settled = settled.err().map(|error| error.to_string());
        let failure = settled.or(self.catalogue_failure().clone());
        let written = if room == ReserveState::Gone || failure.is_some() {
            catalogue.try_to_write().map_err(|error| error.to_string())
        } else {
            Ok(())
        };
        let its_own = || {
            let looked = self.archive.look_at_tie();
            looked.map_err(|error| error.to_string())
        };
        let usable = written.and_then(|()| its_own());
        *self.catalogue_failure() = usable.clone().err();
        usable.map_err(|why| format!("{why}; requests are refused"))?;
        let directory = directory.display();
        match room {
            // Whoever asked was not told why, so the log says it even if it is over.
            ReserveState::Kept => self.audit_trouble().or(failure).map_or(Ok(()), Err),
            ReserveState::Released => Err(format!(
                "the disk of {directory} is full: tapewise gave up the room it keeps for the catalogue, to go on. Make room"
            )),
            ReserveState::Gone => Err(format!(
                "the disk of {directory} is full, and the room kept for the catalogue is used up. Make room"
            )),
        }
    }
}
