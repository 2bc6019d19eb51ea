//! Whether requests can be taken: what a proxy that shares out requests asks, and what the log says.
//!
//! A failure of the catalogue is noticed by whoever asks for something, and kept until a write succeeds: on a full disk
//! everything can be read, and nothing entered.

use crate::audit;
use crate::service::Service;
use std::sync::atomic::Ordering;
use tapewise_archive::reserve::{Reserve, ReserveState};

impl Service {
    /// Why requests are refused now, in words that tell nothing of the machine; none: they are taken.
    pub(crate) fn unfit(&self) -> Option<&'static str> {
        if self.has_catalogue_failed.load(Ordering::Relaxed) {
            return Some("the catalogue cannot be written");
        }
        self.audit_trouble()
            .map(|_| "the audit trail cannot be written")
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

    /// Looks after what requests need, now and then: gives up the room that is kept for the catalogue if the disk is
    /// full, and finds out whether a catalogue that had failed can be written again.
    ///
    /// # Errors
    /// What somebody must put right, in words for the log.
    pub fn look_after(&self) -> Result<(), String> {
        let directory = self.archive.directory();
        let room = Reserve::of(directory).prepare();
        if room == ReserveState::Gone || self.has_catalogue_failed.load(Ordering::Relaxed) {
            let written = self.archive.catalogue.try_to_write();
            let has_failed = written.is_err();
            self.has_catalogue_failed
                .store(has_failed, Ordering::Relaxed);
            written.map_err(|error| format!("{error}; requests are refused"))?;
        }
        let directory = directory.display();
        match room {
            ReserveState::Kept => self.audit_trouble().map_or(Ok(()), Err),
            ReserveState::Released => Err(format!(
                "the disk of {directory} is full: tapewise gave up the room it keeps for the catalogue, to go on. Make room"
            )),
            ReserveState::Gone => Err(format!(
                "the disk of {directory} is full, and the room kept for the catalogue is used up. Make room"
            )),
        }
    }
}
