//! How long a volume is in a drive that reads some of it, and when each file has been read.

use crate::mover::{MoveError, Settings};
use crate::read::{Known, MappedTape, TapeRead};
use crate::record::{Segment, Volume};
use tapewise_model::{Micros, Position};
use tapewise_order::Action;

/// How long a volume is in a drive.
pub(crate) struct DriveTimes {
    /// Loaded, read in our order, rewound, until it can be taken.
    pub all: Micros,
    /// From the cartridge in the drive until each want has been read.
    pub read: Vec<Micros>,
}

impl Settings {
    /// How long a volume is in a drive that reads this of it.
    pub(super) fn drive_times(
        &self,
        volume: &Volume,
        wants: &[Vec<Segment>],
    ) -> Result<DriveTimes, MoveError> {
        let no_map = |what: String| MoveError::NoMap {
            label: volume.label.clone(),
            what,
        };
        let known = Known {
            profile: &self.profile,
            format: volume.format,
            block_bytes: u64::from(volume.block_bytes),
            byte_scale: self.byte_scale,
            written: wants,
        };
        let (cartridge, _) =
            MappedTape::on_shelf(&known).map_err(|error| no_map(error.to_string()))?;
        let cartridge = MappedTape {
            algorithm: self.algorithm,
            ..cartridge
        };
        let head = Position::beginning_of_tape(cartridge.tape.geometry.lpos_min);
        let read = TapeRead::new(&cartridge, head, wants, false);
        let (problem, plan) = read.map_err(|error| no_map(error.to_string()))?.plan();
        let seconds = |known: &tapewise_model::profile::Known<f64>| {
            known.as_ref().map_or(0.0, |known| known.value)
        };
        let handling = &self.profile.handling;
        let mount = Micros::from_secs_f64(seconds(&handling.mount_s));
        let after = seconds(&handling.rewind_mean_s) + seconds(&handling.unmount_s);
        let mut read = vec![mount; wants.len()];
        for step in plan.steps.iter().filter(|step| step.action == Action::Read) {
            let visit = &problem.visits()[step.visit as usize];
            let extent = &visit.extents[step.extent as usize];
            for &want in &visit.requests {
                let here = extent.first_block..=extent.last_block;
                let ends = wants[want as usize].iter().filter(|segment| {
                    segment.partition == extent.partition() && here.contains(&segment.last_block)
                });
                let last = ends.map(|segment| segment.last_block).max();
                let share = blocks(extent.first_block, last.unwrap_or(extent.last_block))
                    / blocks(extent.first_block, extent.last_block);
                let until = Micros((step.duration.0 as f64 * share) as i64);
                read[want as usize] = mount + step.begin + until;
            }
        }
        Ok(DriveTimes {
            all: mount + plan.totals.total + Micros::from_secs_f64(after),
            read,
        })
    }
}

impl DriveTimes {
    /// The same from a time on at which the cartridge comes into the drive.
    pub fn begin_at(&mut self, comes: Micros) {
        let read = self.read.iter_mut();
        read.chain([&mut self.all]).for_each(|at| *at = comes + *at);
    }
}

/// How many blocks there are from one to another one.
fn blocks(first: u64, last: u64) -> f64 {
    last.saturating_sub(first) as f64 + 1.0
}
