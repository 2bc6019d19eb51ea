//! Movers that claim recalls, each from a thread with a connection of its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tapewise_archive::catalogue::{Answer, Claim, Holder, Place, RequestId, Wanted};

/// What movers do, and for how long.
pub struct Work<'a> {
    pub place: &'a Place,
    pub requests: &'a [RequestId],
    /// Recalls that are begun after a claim; those that are not answered are given back.
    pub begun: usize,
    /// Recalls that are answered after a claim.
    pub answered: usize,
    pub lasts: Duration,
    /// Claims that were made before: whoever goes on begins with the next requests.
    pub claimed: AtomicU64,
}

impl Work<'_> {
    /// Lets movers work at once. Returns claims a second.
    pub fn claims_a_second(&self, movers: usize) -> f64 {
        let before = self.claimed.load(Ordering::Relaxed);
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for mover in 0..movers {
                scope.spawn(move || self.serve(mover, movers, begun));
            }
        });
        let claimed = self.claimed.load(Ordering::Relaxed) - before;
        claimed as f64 / begun.elapsed().as_secs_f64()
    }

    /// One mover: it has a lease on itself for as long as it works, and mounts its share of the volumes in turn.
    fn serve(&self, mover: usize, movers: usize, begun: Instant) {
        let catalogue = self.place.open_existing().expect("the catalogue");
        let holder = Holder {
            host: format!("host {mover}"),
            process: 1,
            run: format!("run {mover}"),
        };
        let claim = |drive: &str, volume| {
            let wanted = Wanted {
                drive,
                volume,
                holder: &holder,
                for_ns: 60_000_000_000,
            };
            match catalogue.claim(&wanted, now_ns()).expect("an answer") {
                Claim::Got(lease) => lease,
                other => panic!("{other:?}"),
            }
        };
        let desk = claim(&holder.desk(), None);
        let volumes = catalogue.volumes().expect("volumes");
        let mut own = volumes.iter().skip(mover).step_by(movers).cycle();
        while begun.elapsed() < self.lasts {
            let lease = claim(&format!("drive {mover}"), own.next().map(|(id, _)| *id));
            let turn = self.claimed.fetch_add(1, Ordering::Relaxed) as usize;
            let mut portions = self.requests.chunks(self.begun);
            let some = portions.nth(turn % portions.len()).expect("requests");
            let taken = catalogue.take(&lease, some, now_ns()).expect("taken");
            for request in taken.into_iter().take(self.answered) {
                let under = catalogue.under(&lease);
                under
                    .answer(request, &Answer::Delivered, now_ns())
                    .expect("answered");
            }
            catalogue.give_back(&lease).expect("given back");
        }
        catalogue.give_back(&desk).expect("given back");
    }
}

/// The time of the day, by which SQLite's leases go.
fn now_ns() -> i64 {
    let since = std::time::UNIX_EPOCH.elapsed().expect("a time after 1970");
    since.as_nanos() as i64
}
