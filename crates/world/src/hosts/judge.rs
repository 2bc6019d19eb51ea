//! Who wrote what, as the drives saw it: independent of what movers believe.
//!
//! Each command that a drive carries out is known by the process that sent it, and by the last lease that the catalogue
//! had for this process and this drive. After a tape was touched under its lease, nothing may be written on it under an
//! earlier one. Who has the lease of the drive alone may unload what stands in it.

use crate::fate::Injected;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tapewise_archive::catalogue::{CatalogueError, Leases, SqliteCatalogue, Volumes};
use tapewise_emulator::Library;
use tapewise_scsi::{Cdb, Completion, Status};

/// Commands that put something on the tape: WRITE and WRITE FILEMARKS.
const WRITES: [u8; 2] = [0x0a, 0x10];
/// Commands that read or move it: REWIND, READ, SPACE, LOAD UNLOAD, LOCATE, and LOCATE(16).
const MOVES: [u8; 6] = [0x01, 0x08, 0x11, 0x1b, 0x2b, 0x92];
const RESERVE_OUT: u8 = 0x5f;
const PREEMPT_AND_ABORT: u8 = 5;

/// Whether a command puts something on the tape.
pub fn writes(cdb: &Cdb) -> bool {
    WRITES.contains(&cdb.opcode())
}

/// Looks at every command.
pub struct Judge {
    library: Library,
    catalogue: SqliteCatalogue,
    /// It looks into the catalogue, which is no step of anybody.
    looks: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The last lease of each process on each drive: its epoch, and the label of its cartridge.
    leases: BTreeMap<(String, usize), (u64, Option<String>)>,
    /// The latest lease under which each cartridge was touched, and by whom.
    touched: BTreeMap<String, (u64, String)>,
    /// What was written against the leases, first of all.
    forbidden: Option<String>,
    counts: Injected,
}

impl Judge {
    /// A judge over a library and the archive in a directory.
    ///
    /// # Errors
    /// Those of the catalogue.
    pub fn new(library: &Library, archive: &Path) -> Result<Judge, CatalogueError> {
        Ok(Judge {
            library: library.clone(),
            catalogue: SqliteCatalogue::open_to_read(&archive.join("catalogue.db"))?,
            looks: AtomicBool::new(false),
            state: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is the judge who uses the catalogue now.
    pub fn looks(&self) -> bool {
        self.looks.load(Ordering::Relaxed)
    }

    /// Notes that something happened.
    pub fn note(&self, whereabouts: &'static str, what: &'static str) {
        *self.state().counts.entry((whereabouts, what)).or_insert(0) += 1;
    }

    /// What happened, and how often.
    pub fn counts(&self) -> Injected {
        self.state().counts.clone()
    }

    /// What was written against the leases, if anything was.
    pub fn forbidden(&self) -> Option<String> {
        self.state().forbidden.clone()
    }

    /// A process is about to send a command to a drive: the lease that it has.
    pub fn look(&self, run: &str, drive: usize) {
        self.looks.store(true, Ordering::Relaxed);
        let found = self.catalogue.leases().unwrap_or_default().into_iter();
        let serial = &self.library.snapshot().drives[drive].serial;
        let mut found = found.filter(|one| one.holder.run == run && one.drive == *serial);
        if let Some(lease) = found.next() {
            let label = lease.volume.and_then(|id| self.catalogue.volume(id).ok());
            let label = label.map(|volume| volume.label);
            let of = (run.to_owned(), drive);
            self.state().leases.insert(of, (lease.epoch, label));
        }
        self.looks.store(false, Ordering::Relaxed);
    }

    /// A drive has answered a command of a process.
    pub fn answered(&self, run: &str, drive: usize, cdb: &Cdb, done: &Completion) {
        let opcode = cdb.opcode();
        match done.status {
            Status::ReservationConflict if writes(cdb) => {
                self.note("drive", "refused a late write")
            }
            Status::ReservationConflict => self.note("drive", "refused another late command"),
            Status::Good if opcode == RESERVE_OUT && cdb.bytes()[1] & 0x1f == PREEMPT_AND_ABORT => {
                self.note("drive", "taken from an older lease");
            }
            Status::Good | Status::CheckCondition if writes(cdb) || MOVES.contains(&opcode) => {
                self.touched(run, drive, writes(cdb) && done.status == Status::Good);
            }
            _ => {}
        }
    }

    fn touched(&self, run: &str, drive: usize, is_written: bool) {
        let Some(label) = self.library.snapshot().drives[drive].cartridge.clone() else {
            return;
        };
        let mut state = self.state();
        let of = (run.to_owned(), drive);
        let (epoch, leased) = state.leases.get(&of).cloned().unwrap_or_default();
        let is_leased = leased.as_ref() == Some(&label);
        let (latest, by) = state.touched.get(&label).cloned().unwrap_or_default();
        if is_written && (epoch < latest || !is_leased) {
            let last = format!("{by} touched it under lease {latest}");
            let why = format!("{run} wrote on {label} under lease {epoch} of {leased:?}; {last}");
            state.forbidden.get_or_insert(why);
            let counted = state.counts.entry(("drive", "accepted a late write"));
            *counted.or_insert(0) += 1;
        } else if is_leased && epoch >= latest {
            state.touched.insert(label, (epoch, of.0));
        }
    }
}
