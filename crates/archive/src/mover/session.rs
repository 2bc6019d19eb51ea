//! A volume in a drive, with its map and its event log.

use super::{MoveError, Mover};
use crate::catalogue::VolumeId;
use crate::ltfs::read::{Cartridge, Outcome, Receiver, TapeRead};
use crate::record::{Segment, Volume, VolumeFormat};
use crate::volume::{VolumeError, read_label};
use tapewise_model::{BlockMap, EndOfWrap, NominalLayout, Position};
use tapewise_order::Tape;
use tapewise_run::{Recorder, RunError};
use tapewise_scsi::TapeDrive;

impl Mover<'_> {
    /// Mounts a volume, sees by its label on tape that it is the one, and reads what is wanted of
    /// it, in our order.
    pub(super) fn read_volume(
        &mut self,
        volume: VolumeId,
        wants: &[Vec<Segment>],
        name: &dyn Fn(usize) -> String,
        receiver: &mut dyn Receiver,
    ) -> Result<Outcome, MoveError> {
        let record = self.catalogue.volume(volume)?;
        let label = record.label.clone();
        loop {
            let index = self.pool.mount(&label, self.log)?;
            let result = self.read_mounted(index, &record, wants, name, receiver);
            match (&result, self.pool.is_loaded_by_hand(index)) {
                (Err(error), true) if let Some(found) = error.other_cartridge() => {
                    // The person took another one: it is given out, and they are asked again.
                    self.pool.reject(index, &found, self.log)?;
                }
                _ => return self.let_go(index, result),
            }
        }
    }

    fn read_mounted(
        &mut self,
        index: usize,
        record: &Volume,
        wants: &[Vec<Segment>],
        name: &dyn Fn(usize) -> String,
        receiver: &mut dyn Receiver,
    ) -> Result<Outcome, MoveError> {
        let label = &record.label;
        let run = |source: RunError| MoveError::Run {
            label: label.clone(),
            source,
        };
        let mut log = self.pool.stamp(index, self.log);
        let drive = self.pool.drive(index);
        if record.format == VolumeFormat::Tapewise {
            let mut recorder = Recorder::new(drive, &mut log, self.stop);
            check_label(record, &mut recorder)?;
        }
        let cartridge = self.settings.cartridge(record, drive)?;
        let here = drive
            .physical_position()
            .map_err(|error| run(error.into()))?;
        let head = Position::beginning_of_tape(cartridge.tape.geometry.lpos_min);
        let read = TapeRead::new(&cartridge, head, wants, here.is_some());
        let read = read.map_err(|error| MoveError::NoMap {
            label: label.clone(),
            what: error.to_string(),
        })?;
        let mut recorder = Recorder::new(drive, &mut log, self.stop);
        read.run(&mut recorder, name, receiver, &mut |_| {})
            .map_err(run)
    }

    /// The drive is free again; one that failed is set aside.
    pub(super) fn let_go<T>(
        &mut self,
        index: usize,
        result: Result<T, MoveError>,
    ) -> Result<T, MoveError> {
        match &result {
            Err(error) if error.is_of_the_drive() => {
                self.pool.set_aside(index, &error.to_string(), self.log);
            }
            _ => self.pool.release(index),
        }
        result
    }
}

/// Another cartridge than the catalogue's, whatever its barcode says, is not read.
fn check_label(record: &Volume, recorder: &mut Recorder<'_>) -> Result<(), MoveError> {
    let wrong = |source| MoveError::Volume {
        label: record.label.clone(),
        source,
    };
    let found = read_label(recorder).map_err(wrong)?;
    match found.uuid == record.uuid {
        true => Ok(()),
        false => Err(wrong(VolumeError::OtherVolume {
            expected: record.uuid.clone(),
            found: found.uuid,
            found_barcode: found.barcode,
        })),
    }
}

impl super::Settings {
    /// What ordering needs to know of the cartridge in a drive: the drive's own table of wrap ends,
    /// or nominal geometry where it has none.
    fn cartridge(&self, volume: &Volume, drive: &mut TapeDrive) -> Result<Cartridge, MoveError> {
        let no_map = |what: String| MoveError::NoMap {
            label: volume.label.clone(),
            what,
        };
        let of_drive = |source| MoveError::Run {
            label: volume.label.clone(),
            source: RunError::Scsi(source),
        };
        let tape = Tape::new(&self.profile, None).map_err(|error| no_map(error.to_string()))?;
        let tape_bytes = u64::from(volume.block_bytes).saturating_mul(self.byte_scale);
        let table = drive.end_of_wrap_table().map_err(of_drive)?;
        let map = match table.filter(|table| !table.is_empty()) {
            Some(table) => {
                let ends = table.iter().map(|end| EndOfWrap {
                    wrap: end.wrap,
                    // The standard has partitions 0 to 3.
                    partition: end.partition as u8,
                    block: end.block,
                });
                let ends: Vec<EndOfWrap> = ends.collect();
                let usual = self.profile.wrap_blocks(tape_bytes).ok();
                BlockMap::from_end_of_wrap(&tape.geometry, &ends, usual)
                    .map_err(|error| no_map(error.to_string()))?
            }
            None => self
                .profile
                .nominal_map(NominalLayout::Single, tape_bytes)
                .map_err(|error| no_map(error.to_string()))?,
        };
        Ok(Cartridge {
            tape,
            map,
            block_bytes: u64::from(volume.block_bytes),
            byte_scale: self.byte_scale,
            algorithm: self.algorithm,
        })
    }
}
