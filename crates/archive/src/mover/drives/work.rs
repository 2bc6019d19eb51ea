//! A recall as the pool of drives sees it: what a drive does next, and what becomes of it.

use super::{Recalling, lock};
use crate::mover::MoveError;
use crate::mover::hand_over::Recalled;
use crate::mover::lessee::admission;
use tapewise_library::pool::{Admission, Fit, Trouble, Work, WorkError};
use tapewise_run::{Log, RunError};
use tapewise_scsi::TapeDrive;
use tapewise_sim::mounts::FreeDrive;

impl Work for Recalling<'_> {
    fn prepare(&self) {
        // One at a time: another drive does not wait for a copy, it looks for a volume.
        let Ok(_hands) = self.hands.try_lock() else {
            return;
        };
        {
            let state = lock(&self.state);
            if state.ended.is_some() {
                return;
            }
            // The last drive does not end by what is kept, unless it ends in any case.
            if state.claimed.is_empty() && !state.is_over {
                self.kept.forget_old();
            }
        }
        let mut done = Recalled::default();
        let delivered = self.deliver_at_hand(&mut done);
        (self.tell)(&done);
        let mut state = lock(&self.state);
        state.done.add(done);
        if let Err(error) = delivered {
            state.ended.get_or_insert(error);
        }
    }

    fn next(&self, fits: &dyn Fn(&str) -> Fit) -> Option<String> {
        let mut state = lock(&self.state);
        state.is_over |= self.ends.is_some_and(|ends| ends());
        if state.is_over || state.ended.is_some() {
            return None;
        }
        let claimed = self.claim(&mut state, fits);
        claimed.unwrap_or_else(|error| {
            state.ended = Some(error);
            None
        })
    }

    fn admit(&self, volume: &str, drive: &mut TapeDrive) -> Result<Admission, RunError> {
        admission(self.lease(volume, drive), |error| {
            lock(&self.state).ended.get_or_insert(error);
        })
    }

    fn carry_out(
        &self,
        volume: &str,
        drive: &mut TapeDrive,
        log: &mut dyn Log,
    ) -> Result<(), Trouble> {
        let claimed = {
            let mut state = lock(&self.state);
            state.cut_for.remove(volume);
            state.claimed.get(volume).cloned()
        };
        let Some(claimed) = claimed else {
            return Ok(());
        };
        let mut done = Recalled::default();
        let read = self.read(&claimed, drive, log, &mut done);
        (self.tell)(&done);
        let mut state = lock(&self.state);
        state.done.add(done);
        let error = match read {
            Ok(true) => return Err(Trouble::Elsewhere),
            Ok(false) => {
                state.seen.read(claimed.queue.volume, self.with.now());
                state.unread.remove(volume);
                let state = &mut *state;
                // Until the drive's time has come here it works for the same owner; nothing of the volume is claimed.
                if let Some(claimed) = state.claimed.get_mut(volume) {
                    let read = std::mem::take(&mut claimed.queue.waiting);
                    claimed.leased = None;
                    let read_for = state.read_for.entry(volume.to_owned()).or_default();
                    read_for.add_round(read.into_iter().map(|one| one.owner));
                }
                return Ok(());
            }
            Err(error) => error,
        };
        if self.is_for_another_drive(&state, volume, &error) {
            state.unread.insert(volume.to_owned(), error);
            return Err(Trouble::Elsewhere);
        }
        if let Some(found) = error.other_cartridge() {
            return Err(Trouble::Another(found));
        }
        if error.is_of_destination() {
            // All that is left of it goes where nothing more is taken.
            return match self.release(&mut state, volume) {
                Ok(()) => Ok(()),
                Err(error) => {
                    state.ended.get_or_insert(error);
                    Ok(())
                }
            };
        }
        match error.of_drive() {
            Ok(source) => Err(Trouble::Run(source)),
            Err(error) => {
                self.end(&mut state, volume, error);
                Ok(())
            }
        }
    }

    fn goes_home(&self, drive: usize, free: &[FreeDrive], soon_empty: usize) -> bool {
        self.brings_home(drive, free, soon_empty)
    }

    fn ends_empty(&self) -> bool {
        self.ends.is_some()
    }

    fn emptied(&self, drive: &mut TapeDrive) -> Result<Admission, RunError> {
        admission(self.lease_empty(drive), |error| {
            lock(&self.state).ended.get_or_insert(error);
        })
    }

    fn done(&self, volume: &str) {
        lock(&self.state).claimed.remove(volume);
    }

    fn put_back(&self, volume: &str) {
        let mut state = lock(&self.state);
        let claimed = state.claimed.get(volume);
        let leased = claimed.and_then(|claimed| claimed.leased.clone());
        let mut released = self.release(&mut state, volume);
        if let (Some(lessee), Some(leased)) = (self.with.lessee, leased)
            && state.unread.contains_key(volume)
        {
            // It is back in its slot. With the lease another drive would not get it.
            released = released.and(lessee.give_back(&leased.lease));
        }
        if let Err(error) = released {
            state.ended.get_or_insert(error);
        }
    }

    fn give_up(&self, volume: &str, error: WorkError) {
        let error = match error {
            WorkError::Pool(error) => error.into(),
            WorkError::Run(source) => MoveError::Run {
                label: volume.to_owned(),
                source,
            },
        };
        self.end(&mut lock(&self.state), volume, error);
    }
}
