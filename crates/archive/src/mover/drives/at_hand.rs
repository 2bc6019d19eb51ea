//! What a recall delivers and answers without a drive.

use super::Recalling;
use crate::catalogue::{Answer, Cause, Failure, RecallQueue, RequestId};
use crate::mover::MoveError;
use crate::mover::hand_over::Recalled;
use crate::mover::lessee::{Leased, Lessee};
use crate::mover::session::DriveContext;
use crate::movers::broken_volume_of;
use std::collections::HashSet;

impl Recalling<'_> {
    /// Delivers what is at hand, and answers what cannot be served.
    pub(super) fn deliver_at_hand(&self, done: &mut Recalled) -> Result<(), MoveError> {
        let queue = self.kept.take_at_hand()?;
        let Some(lessee) = self.with.lessee else {
            return self.hand_over(self.with, &queue, done);
        };
        if queue.at_hand.is_empty() && queue.stranded.is_empty() {
            return Ok(());
        }
        let Ok(desk) = lessee.desk()? else {
            return Ok(());
        };
        let delivered = self.deliver_as(lessee, &desk, queue, done);
        if delivered.is_err() {
            lessee.leave_desk();
        }
        delivered
    }

    /// Delivers what is at hand, as far as no other mover does.
    fn deliver_as(
        &self,
        lessee: &Lessee,
        desk: &Leased,
        mut queue: RecallQueue,
        done: &mut Recalled,
    ) -> Result<(), MoveError> {
        let all = queue.at_hand.iter().chain(&queue.stranded);
        let all: Vec<RequestId> = all.map(|(request, _)| *request).collect();
        let taken = lessee.take(desk, &all)?;
        let ours: HashSet<RequestId> = taken.iter().copied().collect();
        for list in [&mut queue.at_hand, &mut queue.stranded] {
            list.retain(|(request, _)| ours.contains(request));
        }
        let with = self.with.under(desk);
        self.hand_over(with, &queue, done)?;
        // What goes where nothing fits waits again.
        with.catalogue.requeue(&taken)?;
        Ok(())
    }

    fn hand_over(
        &self,
        with: DriveContext<'_>,
        queue: &RecallQueue,
        done: &mut Recalled,
    ) -> Result<(), MoveError> {
        for &(request, file) in &queue.at_hand {
            with.deliver_at_hand(request, file, &self.full, done)?;
        }
        for &(request, file) in &queue.stranded {
            let entry = with.catalogue.file(file)?;
            let out_of_use = with.catalogue.out_of_use()?;
            let why = match broken_volume_of(with.catalogue, &entry, &out_of_use)? {
                Some(volume) => format!("no copy of the file can be read: {volume}"),
                None => "no copy of the file is whole".to_owned(),
            };
            let failure = Failure::new(Cause::NoCopy, why);
            let answer = Answer::Failed(failure.clone());
            if with.answer(request, &answer)? {
                done.failed.push((request, failure));
            }
        }
        Ok(())
    }
}
