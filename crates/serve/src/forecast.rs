//! When each recall of the queue is likely to be answered, planned when somebody looks.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};
use tapewise_archive::catalogue::{CatalogueError, OutOfUse, RequestId};
use tapewise_archive::forecast::{Awaited, BusyDrive, Forecast};
use tapewise_archive::kept::Kept;
use tapewise_archive::mover::{Hold, MoveError, OwnerShare, Settings};
use tapewise_archive::open::Archive;
use tapewise_archive::pull_list::{Asking, Pull};

/// A longer queue is not even read: somebody waits for the answer.
pub(crate) const MOST_READ: u64 = 200_000;

/// The queue as it was planned at a time.
#[derive(Default)]
pub(crate) struct Outlook {
    /// When it was planned.
    pub at_ns: i64,
    /// What drives read.
    pub busy: Vec<BusyDrive>,
    /// The cartridges, in the order in which they are mounted after that.
    pub pulls: Vec<Pull>,
    /// What each owner has of the drives, and what is held back.
    pub shares: Vec<OwnerShare>,
    /// Volumes that are disabled, and which of them a recall waits for.
    disabled: Vec<OutOfUse>,
    waits_for: HashMap<RequestId, usize>,
    /// Recalls that find no room in the cache, and what keeps it full.
    without_room: HashSet<RequestId>,
    no_room: Option<String>,
    /// Why nobody begins what waits: then nothing has a time.
    pub unattended: Option<String>,
    /// Why no times are known, or not all.
    pub unknown: Option<String>,
    /// Whether some recalls that need a cartridge were not planned.
    ends_early: bool,
    turns: HashMap<RequestId, Turn>,
}

/// When it is a recall's turn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    /// How many recalls that need a cartridge are likely to be answered until then, this one among them.
    pub position: usize,
    /// Between which times it is likely to be answered.
    pub soonest_ns: i64,
    pub latest_ns: i64,
}

impl Outlook {
    /// When it is the turn of a recall, if it waits for a cartridge.
    pub fn turn(&self, request: Option<RequestId>) -> Option<Turn> {
        self.turns.get(&request?).copied()
    }

    /// The limit that holds back what a user asked for, if one does.
    pub fn hold(&self, user: &str) -> Option<&Hold> {
        let of_user = self.shares.iter().filter(|one| one.owner.user == user);
        let mut held = of_user.flat_map(|one| &one.held);
        held.find_map(|(hold, _)| matches!(hold, Hold::User { .. }).then_some(hold))
    }

    /// Whether a recall waits for room in the cache.
    pub fn lacks_room(&self, request: Option<RequestId>) -> bool {
        request.is_some_and(|request| self.without_room.contains(&request))
    }

    /// Why a recall waits for something that nobody knows the time of: a disabled volume, if its file is on no other, or
    /// room in the cache.
    pub fn waits_for(&self, request: Option<RequestId>) -> Option<String> {
        if self.lacks_room(request) {
            return self.no_room.clone();
        }
        let number = self.waits_for.get(&request?)?;
        self.disabled.get(*number).map(OutOfUse::to_string)
    }

    /// The same, where nobody begins what waits. What waits for something else waits for that first.
    fn unattended(mut self, why: String) -> Outlook {
        if self.stuck().is_none() {
            self.pulls.clear();
            self.turns.clear();
            self.unknown = Some(why.clone());
            self.unattended = Some(why);
        }
        self
    }

    /// Why nothing of what waits for cartridges can be read now.
    pub fn stuck(&self) -> Option<String> {
        if self.unattended.is_some() {
            return self.unattended.clone();
        }
        if !self.turns.is_empty() || self.ends_early {
            return None;
        }
        let disabled = || self.disabled.first().map(OutOfUse::to_string);
        self.no_room.clone().or_else(disabled)
    }

    /// The turn at which all of these have been answered.
    pub fn last_turn(&self, requests: impl Iterator<Item = Option<RequestId>>) -> Option<Turn> {
        let requests: Vec<Option<RequestId>> = requests.collect();
        // Nobody knows when a volume is put into use again.
        if requests
            .iter()
            .any(|&request| self.waits_for(request).is_some())
        {
            return None;
        }
        let turns: Vec<Option<Turn>> = requests.into_iter().map(|one| self.turn(one)).collect();
        // What needs no cartridge has no turn; nor has what comes after the end of the plan.
        if self.ends_early && turns.contains(&None) {
            return None;
        }
        turns.into_iter().flatten().reduce(|one, other| Turn {
            position: one.position.max(other.position),
            soonest_ns: one.soonest_ns.max(other.soonest_ns),
            latest_ns: one.latest_ns.max(other.latest_ns),
        })
    }

    fn of(archive: &Archive, on_paper: &Settings, at_ns: i64) -> Result<Outlook, CatalogueError> {
        let unknown = |why: String| Outlook {
            at_ns,
            unknown: Some(why),
            ..Outlook::default()
        };
        let open = archive.catalogue.open_recalls()?;
        if open.queued + open.started > MOST_READ {
            let why = format!("more than {MOST_READ} recalls wait: no times are planned");
            return Ok(unknown(why));
        }
        let asking = Asking {
            files: &[],
            now_ns: at_ns,
            drives: archive.settings.drives.len(),
            robots: archive.settings.changers.len().max(1),
        };
        let cache_bytes = archive.settings.cache_high_bytes;
        let forecast = Forecast::of(archive.catalogue.as_ref(), asking, cache_bytes, on_paper);
        let Forecast {
            busy,
            pulls,
            recalls,
            beyond,
            disabled,
            without_room,
            no_room,
            shares,
        } = match forecast {
            Ok(forecast) => forecast,
            Err(MoveError::Catalogue(error)) => return Err(error),
            Err(error) => return Ok(unknown(error.to_string())),
        };
        let at = |micros: tapewise_model::Micros| at_ns.saturating_add(micros.0 * 1_000);
        let turn = |(position, one): (usize, Awaited)| {
            let turn = Turn {
                position,
                soonest_ns: at(one.soonest),
                latest_ns: at(one.latest),
            };
            (one.request, turn)
        };
        let of_some = || {
            let planned = recalls.len();
            format!(
                "times are planned for the {planned} recalls that come first; {beyond} come after them"
            )
        };
        let (mut volumes, mut waits_for) = (Vec::new(), HashMap::new());
        for (what, requests) in disabled {
            waits_for.extend(requests.into_iter().map(|request| (request, volumes.len())));
            volumes.push(what);
        }
        Ok(Outlook {
            at_ns,
            busy,
            disabled: volumes,
            waits_for,
            without_room,
            no_room,
            pulls,
            shares,
            unattended: None,
            ends_early: beyond > 0,
            unknown: (beyond > 0).then(of_some),
            turns: (1..).zip(recalls).map(turn).collect(),
        })
    }
}

/// The last plan.
#[derive(Default)]
pub(crate) struct Planned {
    kept: Kept<Arc<Outlook>>,
    /// For those who come while the queue is planned anew.
    last: Mutex<Option<Arc<Outlook>>>,
    planning: Mutex<()>,
}

/// How long somebody waits for a plan if there is an older one.
const PATIENCE: Duration = Duration::from_secs(1);

impl Planned {
    /// The queue as it is planned now, or was a short time ago.
    pub fn outlook(
        &self,
        archive: &Archive,
        on_paper: &Settings,
        now_ns: i64,
        unattended: Option<String>,
    ) -> Result<Arc<Outlook>, CatalogueError> {
        self.with(|| {
            let outlook = Outlook::of(archive, on_paper, now_ns)?;
            Ok(match unattended {
                Some(why) => outlook.unattended(why),
                None => outlook,
            })
        })
    }

    /// Plans anew, unless that was done a short time ago or somebody else does it and takes long.
    fn with<E>(&self, plan: impl FnOnce() -> Result<Outlook, E>) -> Result<Arc<Outlook>, E> {
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let came = Instant::now();
        let turn = loop {
            match self.planning.try_lock() {
                Err(TryLockError::WouldBlock) if came.elapsed() < PATIENCE => {
                    thread::sleep(PATIENCE / 100);
                }
                turn => break turn,
            }
        };
        let is_busy = matches!(turn, Err(TryLockError::WouldBlock));
        if let Some(last) = last().clone().filter(|_| is_busy) {
            return Ok(last);
        }
        let plan = || plan().map(Arc::new);
        let kept = self
            .kept
            .with(Instant::now, plan, |kept| Arc::clone(kept))?;
        *last() = Some(Arc::clone(&kept));
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use tapewise_archive::catalogue::{Outage, Resource};

    #[test]
    fn whoever_comes_while_the_queue_is_planned_for_long_gets_the_last_plan() {
        let outlook = |at_ns| Outlook {
            at_ns,
            ..Outlook::default()
        };
        let planned = Planned::default();
        let at_ns = |plan: &dyn Fn() -> Result<Outlook, &'static str>| {
            planned.with(plan).map(|outlook| outlook.at_ns)
        };
        assert_eq!(at_ns(&|| Err("no catalogue")), Err("no catalogue"));
        assert_eq!(at_ns(&|| Ok(outlook(1))), Ok(1));
        let (is_planning, planning) = mpsc::channel();
        let (ends, end) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let long = scope.spawn(|| {
                let plan = move || {
                    is_planning.send(()).expect("heard");
                    end.recv().expect("an end");
                    Ok::<_, &str>(outlook(2))
                };
                planned.with(plan).map(|outlook| outlook.at_ns)
            });
            planning.recv().expect("begun");
            assert_eq!(at_ns(&|| Err("planned twice")), Ok(1));
            ends.send(()).expect("heard");
            assert_eq!(long.join().expect("no panic"), Ok(2));
        });
    }

    #[test]
    fn when_all_has_come_is_known_only_if_all_is_planned() {
        let turn = |position| Turn {
            position,
            soonest_ns: position as i64,
            latest_ns: 10 * position as i64,
        };
        let turns = [(RequestId(1), turn(4)), (RequestId(2), turn(3))];
        let mut outlook = Outlook {
            turns: HashMap::from(turns),
            ..Outlook::default()
        };
        let last = |outlook: &Outlook, requests: &[i64]| {
            let requests = requests.iter().map(|&request| Some(RequestId(request)));
            outlook.last_turn(requests).map(|turn| turn.latest_ns)
        };
        // The third needs no cartridge.
        assert_eq!(last(&outlook, &[1, 2, 3]), Some(40));
        assert_eq!(last(&outlook, &[3]), None);
        outlook.ends_early = true;
        assert_eq!(last(&outlook, &[1, 2]), Some(40));
        assert_eq!(last(&outlook, &[1, 2, 3]), None);
        // The second waits for a cartridge that is out of use.
        outlook.ends_early = false;
        outlook.disabled.push(OutOfUse {
            resource: Resource::Volume,
            name: "T00001L8".to_owned(),
            outage: Outage::Disabled,
            why: "it squeaks".to_owned(),
            since_ns: 1,
        });
        outlook.turns.remove(&RequestId(2));
        outlook.waits_for.insert(RequestId(2), 0);
        assert_eq!(last(&outlook, &[1, 2, 3]), None);
        assert_eq!(last(&outlook, &[1, 3]), Some(40));
        assert_eq!(outlook.stuck(), None);
        outlook.turns.clear();
        let why = "volume T00001L8 is disabled: it squeaks";
        assert_eq!(outlook.stuck().as_deref(), Some(why));
    }
}
