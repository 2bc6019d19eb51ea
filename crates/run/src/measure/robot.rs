//! A robot's ways: from the drive to a slot and back, slot by slot (Johnson & Miller 1998, 5.1).

use super::bench::{Bench, to_beginning};
use crate::error::RunError;
use tapewise_formats::event::Action;
use tapewise_scsi::Changer;

/// The robot that serves the drive.
pub struct Robot<'a> {
    /// The changer.
    pub changer: &'a mut Changer,
    /// The drive's element address.
    pub drive: u16,
    /// Empty slots, whose ways are measured. The cartridge ends in the drive, where it began.
    pub slots: Vec<u16>,
}

pub(super) fn ways(
    bench: &mut Bench<'_, '_>,
    robot: &mut Robot<'_>,
    samples: u32,
) -> Result<(), RunError> {
    let mut slots = robot.slots.clone();
    bench.random().shuffle(&mut slots);
    for slot in slots.into_iter().cycle().take(samples as usize) {
        if !bench.goes_on() {
            break;
        }
        let (changer, drive) = (&mut *robot.changer, robot.drive);
        bench.sample(None, to_beginning, |recorder| {
            recorder.unmount()?;
            recorder.carry(changer, Action::Return, slot, drive)?;
            recorder.carry(changer, Action::Fetch, slot, drive)?;
            recorder.mount_of_robot().map(|_| ())
        })?;
    }
    Ok(())
}
