//! What the drives of a pool work off, and how it ends.

use super::floor::Fit;
use crate::pool::error::PoolError;
use tapewise_run::{Log, RunError};
use tapewise_scsi::TapeDrive;
use tapewise_sim::mounts::FreeDrive;

/// Why the work on a volume was not done.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The volume could not be mounted.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// It was mounted, and then the work ended.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// How the work on a mounted volume ended before its end.
#[derive(Debug)]
pub enum Trouble {
    /// Drive, path or cartridge, or whoever takes what is read.
    Run(RunError),
    /// The cartridge is another one, and this is what its label says: a person who put it in is asked
    /// again.
    Another(String),
    /// What was read is doubtful: another drive is to read it too. The volume is given back, and put back
    /// to what waits; without another drive it stays there.
    Elsewhere,
}

/// Whether a drive may work on a volume that was taken for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may.
    Go,
    /// Not on this volume: somebody else was quicker.
    NotNow,
    /// Nor on any other, and why: the drive is set aside.
    Leave(String),
}

impl From<RunError> for Trouble {
    fn from(error: RunError) -> Trouble {
        Trouble::Run(error)
    }
}

/// What the drives of a pool work off.
pub trait Work: Sync {
    /// Does what needs no drive, before a volume is looked for. Several may call it at once.
    fn prepare(&self) {}

    /// The volume for a drive that is free, which is worked on from then on; nothing when no volume
    /// that waits fits. One at a time is asked.
    fn next(&self, fits: &dyn Fn(&str) -> Fit) -> Option<String>;

    /// Whether the drive may have the volume, before anything moves.
    ///
    /// # Errors
    /// Those of the drive.
    fn admit(&self, volume: &str, drive: &mut TapeDrive) -> Result<Admission, RunError> {
        let _ = (volume, drive);
        Ok(Admission::Go)
    }

    /// Does what is to be done with a mounted volume.
    ///
    /// # Errors
    /// [`Trouble`]: where the drive is to blame it is put back, otherwise given up.
    fn carry_out(
        &self,
        volume: &str,
        drive: &mut TapeDrive,
        log: &mut dyn Log,
    ) -> Result<(), Trouble>;

    /// Whether the cartridge in a drive goes home before anybody needs the drive. Nobody asks for it, and other drives
    /// work. `free` are the drives that do not; `soon_empty` is the number of drives whose cartridges are on their way home.
    fn goes_home(&self, drive: usize, free: &[FreeDrive], soon_empty: usize) -> bool {
        let _ = (drive, free, soon_empty);
        false
    }

    /// Whether all cartridges go home when nothing is left to do. Drives that are empty look for work meanwhile.
    fn ends_empty(&self) -> bool {
        false
    }

    /// A drive has given its cartridge back before another one takes its place; whether it may go on.
    ///
    /// # Errors
    /// Those of the drive.
    fn emptied(&self, drive: &mut TapeDrive) -> Result<Admission, RunError> {
        let _ = drive;
        Ok(Admission::Go)
    }

    /// A drive is done with a volume that it carried out.
    fn done(&self, volume: &str) {
        let _ = volume;
    }

    /// A drive failed at a volume: it waits again, for another drive.
    fn put_back(&self, volume: &str);

    /// The volume cannot be worked on, and is not to be taken again.
    fn give_up(&self, volume: &str, error: WorkError);
}
