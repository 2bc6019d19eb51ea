//! The nearest unread visit from any place, by looking at a few candidates.
//!
//! The locate-time model tells how destinations group (see `tapewise_model::locate::Neighbours`);
//! within a group only the visits next to a turning point can be nearest. Besides these, streaming
//! on is cheapest to the visit that follows logically. So one step looks at O(groups) visits.

use crate::problem::Problem;
use tapewise_model::Micros;
use tapewise_model::locate::{OwnWrap, TurningPoints};

const NONE: u32 = u32::MAX;

/// Visits of one group in order along the tape; the unread ones are found in almost no time by
/// following and shortening links over the read ones.
struct Lane {
    lpos: Vec<i32>,
    visits: Vec<u32>,
    /// Slot `i + 1` links to the nearest unread slot at or behind it; slot 0 and the last are ends.
    up: Vec<u32>,
    down: Vec<u32>,
}

impl Lane {
    fn new(problem: &Problem, mut visits: Vec<u32>) -> Lane {
        visits.sort_by_key(|&visit| (problem.starts()[visit as usize].lpos, visit));
        let lpos = visits
            .iter()
            .map(|&visit| problem.starts()[visit as usize].lpos)
            .collect();
        let links: Vec<u32> = (0..visits.len() as u32 + 2).collect();
        Lane {
            lpos,
            visits,
            up: links.clone(),
            down: links,
        }
    }

    fn follow(links: &mut [u32], mut slot: usize) -> usize {
        while links[slot] as usize != slot {
            let next = links[slot] as usize;
            links[slot] = links[next];
            slot = next;
        }
        slot
    }

    fn visit(&self, slot: usize) -> Option<u32> {
        self.visits.get(slot.wrapping_sub(1)).copied()
    }

    fn is_read(&mut self) -> bool {
        Self::follow(&mut self.up, 1) == self.visits.len() + 1
    }

    fn remove(&mut self, slot: usize) {
        self.up[slot] = slot as u32 + 1;
        self.down[slot] = slot as u32 - 1;
    }

    /// All unread visits.
    fn each(&mut self, look: &mut impl FnMut(u32)) {
        let mut slot = Self::follow(&mut self.up, 1);
        while let Some(visit) = self.visit(slot) {
            look(visit);
            slot = Self::follow(&mut self.up, slot + 1);
        }
    }

    /// The unread visits next to a turning point: the first above that `accept`s, and the first
    /// at or below it.
    fn around(&mut self, turning: i32, accept: impl Fn(u32) -> bool) -> [Option<u32>; 2] {
        let above = self.lpos.partition_point(|&lpos| lpos <= turning) + 1;
        let mut slot = Self::follow(&mut self.up, above);
        while self.visit(slot).is_some_and(|visit| !accept(visit)) {
            slot = Self::follow(&mut self.up, slot + 1);
        }
        let upper = self.visit(slot);
        let mut slot = Self::follow(&mut self.down, above - 1);
        while self.visit(slot).is_some_and(|visit| !accept(visit)) {
            slot = Self::follow(&mut self.down, slot - 1);
        }
        [upper, self.visit(slot)]
    }
}

/// Finds nearest unread visits.
pub(crate) struct Nearest<'a> {
    problem: &'a Problem,
    groups: Vec<Lane>,
    wraps: Vec<Lane>,
    /// All visits in logical order.
    logical: Vec<u32>,
    /// Group and slot in it, wrap lane and slot in it, of every visit.
    places: Vec<[u32; 4]>,
    /// Groups that had unread visits when last looked at.
    busy: Vec<u32>,
    least_elsewhere: Option<Micros>,
}

impl<'a> Nearest<'a> {
    pub(crate) fn new(problem: &'a Problem) -> Nearest<'a> {
        let neighbours = problem.tape().model.neighbours();
        let separate_wraps = neighbours.own_wrap(problem.head()).is_some();
        let mut by_group = vec![Vec::new(); neighbours.groups()];
        let mut by_wrap = Vec::new();
        for (visit, start) in problem.starts().iter().enumerate() {
            by_group[neighbours.group(start)].push(visit as u32);
            if separate_wraps {
                let wrap = usize::from(start.wrap);
                by_wrap.resize(by_wrap.len().max(wrap + 1), Vec::new());
                by_wrap[wrap].push(visit as u32);
            }
        }
        let lanes = |members: Vec<Vec<u32>>| -> Vec<Lane> {
            members
                .into_iter()
                .map(|visits| Lane::new(problem, visits))
                .collect()
        };
        let (groups, wraps) = (lanes(by_group), lanes(by_wrap));
        let mut places = vec![[NONE; 4]; problem.len()];
        for (lanes, at) in [(&groups, 0), (&wraps, 2)] {
            for (lane_index, lane) in lanes.iter().enumerate() {
                for (index, &visit) in lane.visits.iter().enumerate() {
                    places[visit as usize][at] = lane_index as u32;
                    places[visit as usize][at + 1] = index as u32 + 1;
                }
            }
        }
        let busy = (0..groups.len() as u32).filter(|&g| !groups[g as usize].visits.is_empty());
        let busy = busy.collect();
        let logical = (0..problem.len() as u32 + 1).collect();
        Nearest {
            problem,
            groups,
            wraps,
            logical,
            places,
            busy,
            least_elsewhere: neighbours.least_elsewhere(),
        }
    }

    /// Takes a visit out: it has been read.
    pub(crate) fn remove(&mut self, visit: u32) {
        let [group, slot, wrap, wrap_slot] = self.places[visit as usize];
        self.groups[group as usize].remove(slot as usize);
        if wrap != NONE {
            self.wraps[wrap as usize].remove(wrap_slot as usize);
        }
        self.logical[visit as usize] = visit + 1;
    }

    /// Calls `look` with what lies at hand: in the group in which `from` ends, and what follows it
    /// logically.
    fn at_hand(&mut self, from: u32, look: &mut impl FnMut(u32)) {
        let problem = self.problem;
        let neighbours = problem.tape().model.neighbours();
        let point = &problem.ends()[from as usize];
        let group = neighbours.group(point);
        let turning = neighbours.turning_points(point, group);
        around_each(&mut self.groups[group], turning, |_| true, look);
        self.following(from, look);
    }

    /// Calls `look` with the unread visit that follows `from` logically.
    fn following(&mut self, from: u32, look: &mut impl FnMut(u32)) {
        let next = Lane::follow(&mut self.logical, self.problem.following(from as usize));
        if next < self.problem.len() {
            look(next as u32);
        }
    }

    /// Calls `look` with every visit that can be nearest to the end of `from` (the head when
    /// `None`), some perhaps twice.
    fn candidates(&mut self, from: Option<u32>, look: &mut impl FnMut(u32)) {
        let problem = self.problem;
        let neighbours = problem.tape().model.neighbours();
        let point = from.map_or(problem.head(), |from| &problem.ends()[from as usize]);
        let own_wrap = neighbours.own_wrap(point);
        let starts = problem.starts();
        let groups = &mut self.groups;
        self.busy.retain(|&group| {
            let lane = &mut groups[group as usize];
            if lane.is_read() {
                return false;
            }
            let accept =
                |visit: u32| own_wrap.is_none() || starts[visit as usize].wrap != point.wrap;
            let turning = neighbours.turning_points(point, group as usize);
            around_each(lane, turning, accept, look);
            true
        });
        if let Some(own_wrap) = own_wrap
            && let Some(lane) = self.wraps.get_mut(usize::from(point.wrap))
        {
            match own_wrap {
                OwnWrap::Turns(turning) => around_each(lane, turning, |_| true, look),
                OwnWrap::Anywhere => lane.each(look),
            }
        }
        if let Some(from) = from {
            self.following(from, look);
        }
    }

    /// The unread visit that is nearest to the end of `from` (the head when `None`), the lowest
    /// numbered of the candidates that tie.
    pub(crate) fn nearest(&mut self, from: Option<u32>) -> Option<u32> {
        let problem = self.problem;
        let mut best: Option<(Micros, u32)> = None;
        let mut look = |visit: u32| {
            let found = (arc(problem, from, visit), visit);
            if best.is_none_or(|best| found < best) {
                best = Some(found);
            }
            best
        };
        if let (Some(from), Some(least)) = (from, self.least_elsewhere) {
            let mut at_hand = None;
            self.at_hand(from, &mut |visit| at_hand = look(visit));
            if let Some((time, visit)) = at_hand
                && time <= least
            {
                return Some(visit);
            }
        }
        self.candidates(from, &mut |visit| {
            look(visit);
        });
        best.map(|(_, visit)| visit)
    }

    /// Up to `most` near unread visits with their times, nearest first: all the candidates, which
    /// need not be the very nearest beyond the first.
    pub(crate) fn near(&mut self, from: u32, most: usize) -> Vec<(Micros, u32)> {
        let problem = self.problem;
        let mut found = Vec::new();
        self.candidates(Some(from), &mut |visit| {
            if visit != from {
                found.push((arc(problem, Some(from), visit), visit));
            }
        });
        found.sort_unstable();
        found.dedup();
        found.truncate(most);
        found
    }
}

#[inline]
fn arc(problem: &Problem, from: Option<u32>, to: u32) -> Micros {
    match from {
        Some(from) => problem.arc(from as usize, to as usize),
        None => problem.first_arc(to as usize),
    }
}

fn around_each(
    lane: &mut Lane,
    turning: TurningPoints,
    accept: impl Fn(u32) -> bool + Copy,
    look: &mut impl FnMut(u32),
) {
    for turning in [Some(turning.first), turning.second].into_iter().flatten() {
        lane.around(turning, accept)
            .into_iter()
            .flatten()
            .for_each(&mut *look);
    }
}
