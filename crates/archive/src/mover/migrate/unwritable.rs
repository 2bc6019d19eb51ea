//! Volumes that cannot be written: whose fault it is, and what becomes of them.

use super::super::MoveError;
use super::super::session::DriveContext;
use super::Writing;
use crate::catalogue::{Loss, VolumeId};
use crate::record::VolumeState;
use crate::volume::VolumeError;
use tapewise_run::RunError;
use tapewise_scsi::Condition;

impl Writing<'_> {
    /// This run writes no more on a cartridge, nor does this mover for a while.
    pub(super) fn leave_out(&self, label: String, why: String) {
        if let Some(lessee) = self.with.lessee {
            lessee.leave_alone(&label);
        }
        self.state().done.volumes_lost.push((label, why));
    }

    /// The volume takes no more: its medium failed, it is not what the catalogue says, or it is write-protected, which a
    /// person can change.
    pub(super) fn lose(
        &self,
        with: DriveContext<'_>,
        id: VolumeId,
        label: String,
        why: &VolumeError,
    ) -> Result<(), MoveError> {
        let catalogue = with.catalogue;
        let is_new = catalogue.volume(id)?.state == VolumeState::Empty;
        let is_untouched = matches!(
            why,
            VolumeError::NotBlank { .. } | VolumeError::OtherVolume { .. } | VolumeError::WriteOnce
        ) || why.is_protected();
        if is_new && is_untouched {
            // Somebody else's cartridge, one of ours that was given up, or one that cannot be written now.
            catalogue.forget_volume(id, Loss::Refused, with.now())?;
        } else if !why.is_protected() {
            catalogue.set_volume_state(id, VolumeState::Suspect)?;
        }
        self.leave_out(label, why.to_string());
        Ok(())
    }
}

impl VolumeError {
    /// What a drive said when a volume could not be written.
    fn condition(&self) -> Option<Condition> {
        match self {
            VolumeError::Run(RunError::Scsi(error))
            | VolumeError::Abandoned {
                source: RunError::Scsi(error),
                ..
            } => error.condition(),
            _ => None,
        }
    }

    /// Whether the cartridge is write-protected.
    fn is_protected(&self) -> bool {
        self.condition() == Some(Condition::DataProtect)
    }

    /// Whether another volume may well take what this one did not.
    pub(super) fn is_of_the_volume(&self) -> bool {
        match self {
            VolumeError::Run(_) | VolumeError::Abandoned { .. } => matches!(
                self.condition(),
                Some(Condition::Medium | Condition::DataProtect)
            ),
            // The archive is older than the tape: who keeps it has to know before anything is written. Without threads
            // no volume can be written.
            VolumeError::BlockLength { .. }
            | VolumeError::Ahead { .. }
            | VolumeError::NoThread(_) => false,
            _ => true,
        }
    }
}
