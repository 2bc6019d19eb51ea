//! Gniewek's benchmark: random retrievals that arrive when they arrive, one for each mount.
//!
//! "Each retrieval request was defined by a time, a library slot location, and a within cartridge
//! location", the gaps exponential, the cartridges in turn, the places uniform; "there were no second
//! hits to a mounted cartridge" (Gniewek, Davidson & Caldwell 1999, "Desired output"). A request waits
//! for a drive and for the robot; its response ends with the read. Then the drive rewinds, unloads, and
//! the robot puts the cartridge back, so that the next request finds an empty drive: the order after
//! the paper's change of software. Nothing is written.
//!
//! Every drive goes through these steps by itself, and meets the others at the robot, at the queue and
//! at the log. Where clocks are real each drive has a thread. Emulated devices that run
//! [apart](Pace::Turns) are sent commands in the order of their times: the drive whose time is earliest
//! takes its next step, whole, and the same seed gives the same events.

mod hall;
pub mod measured;
pub mod pattern;
pub mod prepare;
mod queue;
pub mod scenario;
mod session;

pub use hall::{Shelved, Tally, number_of, purpose};

use crate::pool::Pace;
use crate::stress::Tested;
use crate::turns::{self, begin_together, into_inner};
use hall::{Hall, Record, Robot};
use queue::Queue;
use session::Session;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use tapewise_formats::bench_csv::Retrieval;
use tapewise_run::{Log, RunError};
use tapewise_scsi::Changer;

/// Carries out a pattern, or what of it was begun when `stop` was set; all cartridges are then brought
/// back. At [`Pace::Turns`] the devices must run apart, on clocks that began together.
///
/// What a request was for is in the purpose of its events, `request 17`; times count from when the
/// pattern began.
///
/// # Errors
/// [`RunError::Unsuitable`] where drives or cartridges are missing, [`RunError::Log`], and
/// [`RunError::Scsi`] when the library does not tell what stands where in the end. That a step fails is
/// no error: it is counted, and its request is not answered.
pub fn bench(
    changer: &mut Changer,
    drives: &mut [Tested],
    shelved: &[Shelved],
    pattern: &[Retrieval],
    pace: Pace,
    log: &mut (dyn Log + Send),
    stop: &AtomicBool,
) -> Result<Tally, RunError> {
    check(drives.len(), shelved, pattern)?;
    let began = begin_together(changer, drives.iter_mut().map(|tested| &mut tested.drive));
    let hall = Hall {
        shelved,
        robot: Mutex::new(Robot { changer, began }),
        queue: Mutex::new(Queue::new(pattern, shelved.len())),
        record: Mutex::new(Record {
            log,
            tally: Tally::default(),
        }),
        stop,
    };
    let sessions = drives.iter_mut().map(|tested| Session::new(&hall, tested));
    turns::work_off(sessions.collect(), pace)?;
    let Hall { robot, record, .. } = hall;
    let changer = into_inner(robot).changer;
    let mut tally = into_inner(record).tally;
    let is_whole = tally.answered == pattern.len() as u64;
    tally.interrupted = stop.load(Ordering::Relaxed) && !is_whole;
    let inventory = changer.inventory()?;
    let in_its_slot = |one: &&Shelved| {
        let slot = inventory.element(one.slot);
        slot.and_then(|slot| slot.volume_tag.as_ref()) == Some(&one.stocked.label)
    };
    let left = shelved.iter().filter(|one| !in_its_slot(one));
    tally.left = left.map(|one| one.stocked.label.clone()).collect();
    Ok(tally)
}

fn check(drives: usize, shelved: &[Shelved], pattern: &[Retrieval]) -> Result<(), RunError> {
    let unsuitable = |what: String| Err(RunError::Unsuitable(what));
    if drives == 0 {
        return unsuitable("a benchmark needs a drive".to_owned());
    }
    if let Some(empty) = shelved.iter().find(|one| one.stocked.objects == 0) {
        return unsuitable(format!("{} holds no objects", empty.stocked.label));
    }
    let is_there = |one: &&Retrieval| (1..=shelved.len()).contains(&(one.cartridge as usize));
    match pattern.iter().find(|one| !is_there(one)) {
        Some(one) => unsuitable(format!(
            "retrieval {} is of cartridge {}; there are {}",
            one.number,
            one.cartridge,
            shelved.len()
        )),
        None => Ok(()),
    }
}
