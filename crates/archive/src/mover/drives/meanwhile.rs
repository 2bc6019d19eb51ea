//! What changes while a drive reads: recalls that come for its cartridge join the mount, and a mount ends early for a
//! cartridge that must not wait.
//!
//! Both are asked between two reads, and decided as if the drive were free and all that it has not read yet were back in
//! the queue. If that gives it the same cartridge, what came for it is read in this mount.

use super::{Busy, Claimed, Floor, OwnMount, Recalling, State, lock, requests};
use crate::catalogue::{RequestId, VolumeQueue, Waiting};
use crate::mover::MoveError;
use crate::mover::choice::Next;
use crate::mover::recall::Between;
use std::collections::HashSet;
use tapewise_sim::mounts::{MountPolicy, Owner};

/// How often a drive looks for something that must not wait.
const LOOK_NS: i64 = 60_000_000_000;

/// The drive of a mount, between two reads.
struct Meanwhile<'a> {
    recalling: &'a Recalling<'a>,
    /// The mount, as it was when it began.
    claimed: &'a Claimed,
    /// Recalls that it has taken so far.
    taken: usize,
    /// The newest request that was looked at.
    seen: RequestId,
    /// When it last looked for something that must not wait.
    looked_ns: i64,
}

impl Between for Meanwhile<'_> {
    /// For a cartridge that is overdue while nothing of the rest is.
    fn leaves(&mut self, rest: &dyn Fn() -> Vec<Waiting>) -> Result<bool, MoveError> {
        let Recalling { with, chooser, .. } = self.recalling;
        let now_ns = with.now();
        let mounts = &with.settings.mounts;
        let is_due = now_ns.saturating_sub(self.looked_ns) >= LOOK_NS;
        if mounts.policy != MountPolicy::Ahead || !is_due {
            return Ok(false);
        }
        self.looked_ns = now_ns;
        let oldest_ns = with.catalogue.open_recalls()?.oldest_ns;
        let oldest_s = oldest_ns.map_or(0.0, |oldest_ns| {
            now_ns.saturating_sub(oldest_ns) as f64 / 1e9
        });
        if oldest_s < mounts.overdue_s {
            return Ok(false);
        }
        let rest = self.rest(rest());
        let mut state = lock(&self.recalling.state);
        // A drive that is free takes it, and so does this one if nothing is left to be read.
        if state.claimed.len() < self.recalling.usable || rest.waiting.is_empty() {
            return Ok(false);
        }
        let mut volumes = self.recalling.open_to(&state)?;
        volumes.retain(|wanted| {
            let label = wanted.label();
            !state.claimed.contains_key(label) && !state.cut_for.contains(label)
        });
        let (busy, here) = (self.busy(&state)?, HashSet::new());
        let cuts = |floor: &Floor<'_>| chooser.cuts(&rest, volumes, floor);
        let overdue = self.recalling.ask(&here, &busy, cuts);
        let is_cut = overdue.is_some();
        state.cut_for.extend(overdue);
        Ok(is_cut)
    }

    fn joins(&mut self, rest: &dyn Fn() -> Vec<Waiting>) -> Result<Vec<Waiting>, MoveError> {
        let with = &self.recalling.with;
        let most = with.settings.mounts.most_per_mount as usize;
        let room = most.saturating_sub(self.taken);
        if room == 0 {
            return Ok(Vec::new());
        }
        let newest = (with.catalogue).newest(self.seen, self.claimed.queue.volume)?;
        self.seen = newest.request;
        if !newest.is_wanted {
            return Ok(Vec::new());
        }
        let mut state = lock(&self.recalling.state);
        let Some(next) = self.goes_on_with(&state, rest())? else {
            return Ok(Vec::new());
        };
        let mut joining = next.queue.waiting;
        joining.truncate(room);
        if !joining.is_empty() {
            self.begin(&mut state, &mut joining, next.owner)?;
            self.taken += joining.len();
        }
        Ok(joining)
    }
}

impl Recalling<'_> {
    /// The drive of a mount that begins.
    pub(super) fn between<'a>(&'a self, claimed: &'a Claimed) -> impl Between + 'a {
        let waiting = &claimed.queue.waiting;
        let newest = waiting.iter().map(|one| one.request).max();
        // What came before it was chosen was looked at then.
        let seen = newest.unwrap_or(RequestId(0)).max(claimed.newest);
        Meanwhile {
            recalling: self,
            claimed,
            taken: waiting.len(),
            seen,
            looked_ns: self.with.now(),
        }
    }
}

impl Meanwhile<'_> {
    /// What the drive has not read yet of its cartridge.
    fn rest(&self, waiting: Vec<Waiting>) -> VolumeQueue {
        VolumeQueue {
            waiting,
            ..self.claimed.queue.clone()
        }
    }

    /// What all drives do, as if this one were free.
    fn busy(&self, state: &State) -> Result<Busy, MoveError> {
        let own: Vec<OwnMount<'_>> = state.claimed.values().map(Claimed::mount).collect();
        let mut busy = Busy::of(&self.recalling.with, self.recalling.drives, &own)?;
        let claimed = state.claimed.get(&self.claimed.queue.label);
        let own = claimed.map_or(&self.claimed.owner, |claimed| &claimed.owner);
        let own = busy.at_work.iter().position(|owner| owner == own);
        own.map(|own| busy.at_work.remove(own));
        Ok(busy)
    }

    /// What has come for the cartridge, and for whom, where the drive would go on with it if it were free now.
    fn goes_on_with(&self, state: &State, rest: Vec<Waiting>) -> Result<Option<Next>, MoveError> {
        let label = &self.claimed.queue.label;
        if state.ended.is_some() {
            return Ok(None);
        }
        let mut volumes = self.recalling.open_to(state)?;
        volumes.retain(|wanted| {
            wanted.label() == label || !state.claimed.contains_key(wanted.label())
        });
        let mut busy = self.busy(state)?;
        for place in rest.iter().filter_map(|one| one.place.as_ref()) {
            if let Some(begun) = busy.begun.get_mut(place) {
                *begun = begun.saturating_sub(1);
            }
        }
        let is_begun: HashSet<RequestId> = rest.iter().map(|one| one.request).collect();
        let own = volumes.iter_mut().find(|wanted| wanted.label() == label);
        let Some(own) = own else {
            return Ok(None);
        };
        own.add(rest);
        let here = HashSet::from([label.clone()]);
        let next = self.recalling.choose(volumes, &here, &busy);
        let mut next = next.filter(|next| next.queue.label == *label);
        if let Some(next) = &mut next {
            let waiting = &mut next.queue.waiting;
            waiting.retain(|one| !is_begun.contains(&one.request));
        }
        Ok(next)
    }

    /// Begins with what joins, as far as nobody else does or has cancelled it. From then on the drive works for whoever
    /// goes first now: else its first owner would be at a limit while it reads for others.
    fn begin(
        &self,
        state: &mut State,
        joining: &mut Vec<Waiting>,
        owner: Owner,
    ) -> Result<(), MoveError> {
        let Recalling { with, .. } = self.recalling;
        let asked = requests(joining);
        self.recalling.kept.remove(&asked);
        match (&self.claimed.leased, with.lessee) {
            (Some(leased), Some(lessee)) => {
                let ours = lessee.take(leased, &asked)?;
                joining.retain(|one| ours.contains(&one.request));
            }
            _ => match with.catalogue.start(&asked, self.claimed.started_ns) {
                Err(error) if error.is_withdrawn() => {
                    self.recalling.kept.look_again(&asked)?;
                    joining.clear();
                }
                started => started?,
            },
        }
        if let Some(claimed) = state.claimed.get_mut(&self.claimed.queue.label)
            && !joining.is_empty()
        {
            claimed.queue.waiting.extend_from_slice(joining);
            claimed.owner = owner;
        }
        Ok(())
    }
}
