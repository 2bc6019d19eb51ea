//! What the drives of a migration do: claim a volume, fill it, and say what came of it.

use super::super::MoveError;
use super::super::lessee::{Denied, admission};
use super::Writing;
use crate::record::VolumeState;
use tapewise_library::pool::{Admission, Fit, PoolError, Trouble, Work, WorkError};
use tapewise_run::{Log, READY_LIMIT, RunError};
use tapewise_scsi::TapeDrive;

impl Writing<'_> {
    /// Claims volume and drive among all movers.
    fn lease(&self, volume: &str, drive: &mut TapeDrive) -> Result<Admission, MoveError> {
        let Some(lessee) = self.with.lessee else {
            return Ok(Admission::Go);
        };
        let Some(id) = self.state().claimed.get(volume).map(|claim| claim.volume) else {
            return Ok(Admission::NotNow);
        };
        let leased = match lessee.claim(drive, Some(id))? {
            Ok(leased) => leased,
            Err(Denied::Drive(why)) => return Ok(Admission::Leave(why)),
            Err(Denied::Volume(_)) => {
                self.deny(volume);
                return Ok(Admission::NotNow);
            }
        };
        let mut state = self.state();
        let Some(claim) = state.claimed.get_mut(volume) else {
            return Ok(Admission::NotNow);
        };
        claim.leased = Some(leased);
        Ok(Admission::Go)
    }

    /// Others have a volume.
    fn deny(&self, volume: &str) {
        let mut state = self.state();
        state.unclaim(volume);
        state.denied.insert(volume.to_owned());
    }
}

impl Work for Writing<'_> {
    fn next(&self, fits: &dyn Fn(&str) -> Fit) -> Option<String> {
        let mut state = self.state();
        if state.ended.is_some() || state.is_all_claimed {
            return None;
        }
        let claimed = self.claim(&mut state, fits);
        claimed.unwrap_or_else(|error| {
            state.end(error);
            None
        })
    }

    fn admit(&self, volume: &str, drive: &mut TapeDrive) -> Result<Admission, RunError> {
        admission(self.lease(volume, drive), |error| self.state().end(error))
    }

    fn carry_out(
        &self,
        volume: &str,
        drive: &mut TapeDrive,
        log: &mut dyn Log,
    ) -> Result<(), Trouble> {
        let mut state = self.state();
        let Some(claim) = state.claimed.get(volume).cloned() else {
            return Ok(());
        };
        state.done.mounts += u64::from(!claim.is_here);
        drop(state);
        let filled = self.fill(&claim, drive, log);
        let Err(error) = filled else {
            self.state().unclaim(volume);
            return Ok(());
        };
        let is_labelled = matches!(
            self.with.catalogue.volume(claim.volume),
            Ok(volume) if volume.state != VolumeState::Empty
        );
        if self.state().may_go_on_after(&error, is_labelled) {
            drive
                .wait_until_ready(READY_LIMIT)
                .map_err(RunError::from)?;
            // Whoever takes the volume next reads its label and its end, most likely this drive.
            self.state().unclaim(volume);
            return Ok(());
        }
        if self.with.lessee.is_some() && error.is_lease_lost() {
            // Whoever has the volume now goes on with it.
            self.deny(volume);
            return Ok(());
        }
        match error.of_drive() {
            // The files wait still: another drive takes them.
            Ok(source) => Err(Trouble::Run(source)),
            Err(error) => {
                let mut state = self.state();
                state.unclaim(volume);
                state.end(error);
                Ok(())
            }
        }
    }

    fn put_back(&self, volume: &str) {
        self.state().unclaim(volume);
    }

    /// Dropped, held by a drive that failed, used by others: the next volume takes the files.
    fn give_up(&self, volume: &str, error: WorkError) {
        let error: MoveError = match error {
            WorkError::Pool(error) => error.into(),
            WorkError::Run(source) => MoveError::Run {
                label: volume.to_owned(),
                source,
            },
        };
        self.state().unclaim(volume);
        match error {
            MoveError::Pool(PoolError::Unusable { .. }) => {
                self.leave_out(volume.to_owned(), error.to_string());
            }
            error if error.is_of_the_volume() => {
                let lost = (volume.to_owned(), error.to_string());
                self.state().done.volumes_lost.push(lost);
            }
            error => self.state().end(error),
        }
    }
}
