//! Fills a cartridge with objects for the benchmark.
//!
//! "Ten 5000MB cartridges were written to capacity with 26KB image objects": an object is a block, of
//! bytes that do not compress.

use crate::stress::{SlottedCartridge, Tested};
use std::sync::atomic::AtomicBool;
use tapewise_model::units::count;
use tapewise_run::measure::{Filled, fill};
use tapewise_run::{Log, READY_LIMIT, Recorder, RunError};
use tapewise_scsi::Changer;

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Bytes of an object, as the host sees them.
    pub object_bytes: usize,
    /// Objects at most; the cartridge is written to capacity before.
    pub most: u64,
    /// What is on the cartridge may go.
    pub overwrite: bool,
    /// Chooses the bytes.
    pub seed: u64,
}

/// Mounts a cartridge, fills it, and brings it back. Gives how many objects are on it.
///
/// # Errors
/// [`RunError::Unsuitable`] for a cartridge that holds blocks which may not go, and those of moving,
/// loading and writing. What was mounted is brought back all the same where that can be done.
pub fn prepare(
    changer: &mut Changer,
    tested: &mut Tested,
    cartridge: &SlottedCartridge,
    terms: Terms,
    log: &mut dyn Log,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Filled),
) -> Result<u64, RunError> {
    changer.move_medium(cartridge.slot, tested.element)?;
    let written = write(tested, cartridge, terms, log, stop, progress);
    let unloaded = tested.drive.unload();
    let returned = changer.move_medium(tested.element, cartridge.slot);
    let written = written?;
    unloaded?;
    returned?;
    Ok(written)
}

fn write(
    tested: &mut Tested,
    cartridge: &SlottedCartridge,
    terms: Terms,
    log: &mut dyn Log,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Filled),
) -> Result<u64, RunError> {
    tested.drive.wait_until_loaded(READY_LIMIT)?;
    tested.drive.set_block_length(0)?;
    let mut recorder = Recorder::new(&mut tested.drive, log, stop);
    recorder.rewind()?;
    let there = recorder.end_of_data()?.block.unwrap_or(0);
    if there > 0 && !terms.overwrite {
        return Err(RunError::Unsuitable(format!(
            "{} holds {}, which would be overwritten",
            cartridge.label,
            count(there as usize, "block")
        )));
    }
    let filled = fill(
        &mut recorder,
        terms.object_bytes,
        terms.most,
        terms.seed,
        progress,
    )?;
    Ok(filled.blocks)
}
