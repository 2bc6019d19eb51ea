//! What is still wanted of a volume goes onto others.

use super::open::LABEL_END;
use super::tiers::Moved;
use super::{MoveError, Mover};
use crate::catalogue::{CatalogueError, FileId, Forgotten, Loss, VolumeId};
use crate::record::{Volume, VolumeState};
use crate::volume::{Blank, Member, VolumeError, VolumeWriter};
use std::collections::HashSet;
use tapewise_library::pool::{Trouble, WorkError};
use tapewise_run::{Log, Recorder, RunError};
use tapewise_scsi::TapeDrive;

/// What a repack did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repacked {
    /// What was read, and written elsewhere.
    pub moved: Moved,
    /// What the catalogue forgot with the volume; none where it is kept, because files could not be moved.
    pub forgotten: Option<Forgotten>,
    /// What the cartridge holds and the catalogue lacks, for which the volume is kept.
    pub holds_more: Option<String>,
}

impl Mover<'_> {
    /// Labels a cartridge anew whose volume was forgotten, so that it is written again. What stands on it is
    /// given up.
    ///
    /// # Errors
    /// [`MoveError`]: among others that the cartridge is another volume than the one that was forgotten, that it holds
    /// more than the catalogue knew ([`VolumeError::Ahead`]), or that its label is in the catalogue.
    pub fn reuse(&mut self, forgotten: &Volume) -> Result<VolumeId, MoveError> {
        let label = &forgotten.label;
        let volume = Volume {
            uuid: (self.new_uuid)(),
            state: VolumeState::Empty,
            block_bytes: self.settings.block_bytes,
            next_block: LABEL_END,
            written_bytes: 0,
            ..forgotten.clone()
        };
        let (with, stop) = (self.with(), self.stop);
        let id = self.catalogue.add_volume(&volume, with.now())?;
        let labels = std::slice::from_ref(label);
        let pace = self.pool.pace();
        let job = |_: usize, drive: &mut TapeDrive, log: &mut dyn Log| {
            drive.prevent_removal(true).map_err(RunError::from)?;
            let mut recorder = Recorder::new(drive, log, stop);
            let is_safe = |member: &Member| with.is_safe(member, None).unwrap_or(false);
            // A catalogue that was restored knows less than stands here, and has moved only that.
            let at_end = VolumeWriter::resume(&mut recorder, forgotten, &is_safe);
            let is_drives = matches!(at_end, Err(VolumeError::Run(_)));
            let label = with.label_of(&volume);
            let relabelled =
                at_end.and_then(|_| VolumeWriter::label(&mut recorder, &label, Blank::Overwritten));
            let released = drive.prevent_removal(false);
            match relabelled {
                Err(VolumeError::Run(error)) if is_drives => Err(Trouble::Run(error)),
                relabelled => {
                    Ok(relabelled.and(released.map_err(|error| VolumeError::Run(error.into()))))
                }
            }
        };
        let done = self.pool.work(labels, pace, self.log, stop, &job);
        let relabelled = match done.into_iter().next() {
            Some(Ok(Ok(()))) | None => return Ok(id),
            Some(Ok(Err(source))) => MoveError::Volume {
                label: label.clone(),
                source,
            },
            Some(Err(WorkError::Pool(error))) => error.into(),
            Some(Err(WorkError::Run(source))) => MoveError::Run {
                label: label.clone(),
                source,
            },
        };
        self.catalogue
            .forget_volume(id, Loss::Refused, with.now())?;
        Err(relabelled)
    }

    /// Writes what is still wanted of a volume onto others, in portions that the cache has room for, then
    /// takes the volume out of the catalogue.
    ///
    /// The cartridge itself is not touched: until it is labelled anew what it held can be read.
    ///
    /// # Errors
    /// [`MoveError`]; the volume is then still in the catalogue, and takes no more.
    pub fn repack(&mut self, volume: VolumeId) -> Result<Repacked, MoveError> {
        self.catalogue.set_volume_state(volume, VolumeState::Full)?;
        let mut seen = HashSet::new();
        // Lost copies too: they are made again from their sisters.
        let contents = self.catalogue.all_contents(volume)?.into_iter();
        let live: Vec<FileId> = contents
            .filter(|on| on.live && seen.insert(on.file))
            .map(|on| on.file)
            .collect();
        let mut moved = Moved::default();
        if let Err(error) = self.move_off(live, &|id, _| id != volume, &mut moved) {
            return Err(error.after(moved));
        }
        let (mut forgotten, mut holds_more) = (None, None);
        if moved.failed.is_empty() && moved.migrated.refused.is_empty() {
            let now_ns = (self.now_ns)();
            match (self.catalogue).forget_volume(volume, Loss::Refused, now_ns) {
                Ok(done) => forgotten = Some(done),
                Err(CatalogueError::HoldsMore { what, .. }) => holds_more = Some(what),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Repacked {
            moved,
            forgotten,
            holds_more,
        })
    }
}
