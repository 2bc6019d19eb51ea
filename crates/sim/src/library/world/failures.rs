//! Drives that fail, and what becomes of their cartridges and requests.

use super::{Event, World};
use crate::library::cartridges::Whereabouts;
use crate::library::drive::State;
use crate::library::ids::DriveId;
use crate::library::mechanics::Round;
use crate::library::parts::Part;
use tapewise_model::Micros;

impl World<'_> {
    /// A drive fails, at once or when no robot is at work on it.
    pub(super) fn failure(&mut self, number: DriveId) {
        let stands_by = self.waits_for_unload(self.drives[number].hall);
        let drive = &mut self.drives[number];
        match drive.state {
            State::WaitsForGet | State::Getting | State::WaitsForPut | State::Putting => {
                drive.fails = true;
            }
            State::Unloading if stands_by => drive.fails = true,
            _ => self.fail(number),
        }
    }

    pub(super) fn fail(&mut self, number: DriveId) {
        let (now, kind) = (self.now(), self.kind(number));
        let drive = &mut self.drives[number];
        let state = drive.state;
        // What is cut short is no action of a log.
        drive.turn_to(State::Failed, now);
        drive.fails = false;
        let hall = &mut self.halls[drive.hall];
        match state {
            State::Empty | State::Idle => hall.free -= 1,
            State::Cleaning => hall.lost[0].change(now, -1),
            _ => {}
        }
        hall.lost[1].change(now, 1);
        hall.usage.failures += 1;
        self.failures_since_answer += 1;
        // What has been waited until now was not for the repair.
        let stuck = drive.cartridge;
        for &request in stuck.iter().flat_map(|&c| &self.cartridges[c].waiting) {
            self.answers[request].count(Part::DriveWait, now);
        }
        // Those that have not been read go back to where they waited, before all others.
        let unread: Vec<_> = drive.unread().collect();
        drive.batch.clear();
        drive.round = Round::default();
        let next = drive.next.take();
        let (spent, lost) = (drive.spent, hall.lost.map(|loss| loss.sum(now)));
        for joined in unread.into_iter().rev() {
            let answer = &mut self.answers[joined.request];
            answer.parts.add_growth(&spent, &joined.spent);
            answer.begin_to_wait(now, lost);
            let cartridge = self.cartridge_of(joined.request);
            (self.cartridges[cartridge].waiting).insert(0, joined.request);
        }
        for cartridge in [stuck, next].into_iter().flatten() {
            self.recount(cartridge);
        }
        if let Some(cartridge) = stuck {
            self.cartridges[cartridge].place = Whereabouts::Stuck;
        }
        if let Some(failures) = &kind.failures {
            let hours = failures.repair_hours.sample(&mut self.failure_times);
            let takes = Micros::from_secs_f64(hours * 3600.0);
            self.agenda.after(takes, Event::Repaired { drive: number });
        }
        self.shelve(next);
    }

    pub(super) fn repaired(&mut self, number: DriveId) {
        let (now, kind) = (self.now(), self.kind(number));
        let drive = &mut self.drives[number];
        let cartridge = drive.cartridge.take();
        self.halls[drive.hall].lost[1].change(now, -1);
        if let Some(cartridge) = cartridge {
            for &request in &self.cartridges[cartridge].waiting {
                self.answers[request].count(Part::Failure, now);
            }
        }
        if let Some(failures) = &kind.failures {
            let hours = failures.after_hours.sample(&mut self.failure_times);
            let after = Micros::from_secs_f64(hours * 3600.0);
            self.agenda.after(after, Event::Failure { drive: number });
        }
        self.emptied(number);
        self.shelve(cartridge);
    }
}
