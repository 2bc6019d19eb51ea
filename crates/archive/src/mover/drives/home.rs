//! Which cartridges go home before anybody needs their drive.

use super::{Recalling, lock};
use crate::mover::MoveError;
use crate::mover::lessee::Denied;
use tapewise_library::pool::Admission;
use tapewise_scsi::TapeDrive;
use tapewise_sim::mounts::FreeDrive;

impl Recalling<'_> {
    /// Whether the cartridge of a drive goes home now. These are the drives that have nothing to do.
    pub(super) fn brings_home(&self, drive: usize, free: &[FreeDrive], soon_empty: usize) -> bool {
        let elapsed_ns = self.with.now().saturating_sub(self.began_ns);
        let state = lock(&self.state);
        let mounts = state.seen.mounts() as f64 / (elapsed_ns as f64 / 1e9).max(1.0);
        let again = state.seen.again_per_s();
        let next = self.chooser.goes_home(free, mounts, again, soon_empty);
        next == Some(drive)
    }

    /// Claims a drive without the volume that it had: another mover may have that now.
    pub(super) fn lease_empty(&self, drive: &mut TapeDrive) -> Result<Admission, MoveError> {
        let Some(lessee) = self.with.lessee else {
            return Ok(Admission::Go);
        };
        Ok(match lessee.claim(drive, None)? {
            Ok(_) => Admission::Go,
            Err(Denied::Drive(why) | Denied::Volume(why)) => Admission::Leave(why),
        })
    }
}
