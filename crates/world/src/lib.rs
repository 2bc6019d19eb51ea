//! A whole archive in one process, with everything that can go wrong around it, by seed.
//!
//! # The fault model
//!
//! A *life* is one archive with its library, from `Archive::create` on, and a list of events. Its seed decides
//! everything: the site, the events, what goes wrong in each of them and at which step, and what a power cut leaves.
//! The same seed gives the same life again.
//!
//! **Time** is the emulated library's virtual clock. Hours pass between events. Operators set the host's clock forwards
//! and backwards; the library's goes on.
//!
//! **Processes.** Every event that needs the archive runs a process of its own: it opens settings, catalogue and cache,
//! reserves the drives, works, and ends. It may be killed before any step that leaves something behind, or the power
//! may be cut there. From then on nothing that it does has an effect, destructors included. One thing happens at a
//! time; the drives take turns in an order that the seed gives. While something is written to tape a second thread
//! prepares the blocks. It only reads.
//!
//! **The cache's disk** is in memory, names and contents. What was not synced is lost at a power cut, or torn, or has
//! holes; names that were not synced with their directory are there or not, each for itself. Writes, reads, syncs and
//! names fail, are interrupted, do less than was asked for, or find the disk full. A bit of a file may turn.
//!
//! **The catalogue** is SQLite's own files under `tapewise-torn`: writes that were not synced are lost or torn by
//! sectors, in any order. Its disk fails and runs full.
//!
//! **Drives and robots** are the emulator's: paths that fail, resets, drives that are not ready, unit attentions, writes
//! that fail, robots that fail, drives that lose their power with what they had buffered. A read may come back
//! with a wrong bit once, or with a medium error once.
//!
//! **Other hosts** rewind, unload or reserve a drive between any two commands, as far as the drive lets them, or hold
//! the drives for days.
//!
//! **Operators** restore a copy of the directory, or of the catalogue alone, or a backup; lose the catalogue, or empty
//! it; lose the whole disk but the settings; swap cartridges; write over one; change the clock; move the archive to another host, whose drives may still be
//! reserved by the first one; start a second process. Where tapewise refuses, they do what its message says.
//!
//! **Sources and destinations.** Files that are stored are in memory: reading them fails, does less than was asked
//! for, or finds that somebody writes to them meanwhile. Destinations are real files, whose every step can fail, find
//! the disk full, or be the last one of its process. At a power cut contents that were not synced are torn, and names
//! that were not synced with their directory are there or not, each for itself.
//!
//! **Others' tapes.** LTFS volumes of some generations, one of whose indexes cannot be read.
//!
//! **The event log** is in memory. Writing to it fails, does less than was asked for, or finds the disk full; a power
//! cut takes the end of what the process wrote, for nobody syncs it.
//!
//! **Not modelled.** `archive.toml` and the file `reserve` are real files, and nothing goes wrong with them. Disks that
//! say they have synced and have not. Two drives at work in the same instant. Files of zero bytes.
//!
//! # The oracle
//!
//! It knows the contents of every file that was acknowledged. After each event it looks on the cache's disk and on the
//! tapes, with a tar reader of others and without the catalogue:
//!
//! 1. No file that was acknowledged is gone, unless it went by what an operator did.
//! 2. While nothing was restored or lost, the catalogue knows every one of them in its last version, finds it in one
//!    place at least, and has no copy on a tape that is not there.
//! 3. What is delivered was stored under that path, in its last version. What was answered as delivered is there, also
//!    after a power cut. Who tries again after a kill finds no rests of the first time when all has come.
//! 4. A volume of LTFS that is read by an older index than its newest one says so.
//! 5. A refusal has its reason: none for an old catalogue where none was restored, none for a reserved drive that
//!    nobody has.
//! 6. The event log can be read, whatever ended the processes that wrote it.
//!
//! At the end people put right what people can put right, and every file is recalled and compared.

mod configuration;
mod destinations;
mod devices;
mod events;
mod fate;
mod files;
mod hosts;
mod log;
mod oracle;
mod others;
mod run;
mod shrink;
mod sources;
mod world;

pub use events::{Event, What};
pub use fate::{End, Injected, Kind, Plan, Wrong};
pub use hosts::{Guards, Trouble, live_together, troubles};
pub use run::{Broken, Counts, live};
pub use shrink::{shrink, shrink_troubles};

/// The events in the life of a seed.
pub fn life(seed: u64, events: u64) -> Vec<Event> {
    (0..events)
        .map(|number| Event::draw(seed, number))
        .collect()
}
