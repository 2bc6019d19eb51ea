//! Near visits by the weave pattern: those of the sections that come first in it (Hillyer & Silberschatz 1996, the
//! future work of section 4).
//!
//! A section of one direction is entered at about the same place on every track, so which of its visits are quick to
//! reach hardly depends on where from: they are sorted once, and a few locate times are priced for each visit.

use crate::orders::sections::Sections;
use crate::orders::weave::{Wraps, pattern};
use crate::problem::Problem;
use tapewise_model::Micros;

/// The visits of a batch by section.
pub(crate) struct Woven<'a> {
    problem: &'a Problem,
    sections: usize,
    /// By section, then direction: visits by how quick they are to reach, from the head as from elsewhere.
    by_class: Vec<[Vec<u32>; 2]>,
    /// By wrap, then section: the first visit in logical order.
    first: Vec<Option<u32>>,
}

impl<'a> Woven<'a> {
    pub(crate) fn new(problem: &'a Problem) -> Woven<'a> {
        let geometry = &problem.tape().geometry;
        let sections = usize::from(geometry.sections);
        let mut by_class = vec![[Vec::new(), Vec::new()]; sections];
        let mut first = vec![None; usize::from(geometry.wraps) * sections];
        for (visit, start) in (0..).zip(problem.starts()) {
            let (wrap, section) = Sections::place(problem.tape(), start);
            by_class[usize::from(section)][usize::from(wrap & 1)].push(visit);
            let first: &mut Option<u32> =
                &mut first[usize::from(wrap) * sections + usize::from(section)];
            first.get_or_insert(visit);
        }
        for visits in by_class.iter_mut().flatten() {
            visits.sort_by_cached_key(|&visit| (problem.first_arc(visit as usize), visit));
        }
        Woven {
            problem,
            sections,
            by_class,
            first,
        }
    }

    /// Up to `most` near visits with their times, nearest first.
    pub(crate) fn near(&self, from: u32, most: usize) -> Vec<(Micros, u32)> {
        let problem = self.problem;
        let (wrap, section) = Sections::place(problem.tape(), &problem.ends()[from as usize]);
        let direction = usize::from(wrap & 1);
        let sign = if direction == 0 { 1 } else { -1 };
        let mut found = Vec::with_capacity(2 * most);
        let mut look = |visit: u32| {
            if visit != from {
                found.push((problem.arc(from as usize, visit as usize), visit));
            }
            found.len() < 2 * most
        };
        let mut seen = vec![[false; 2]; self.sections];
        look_on(problem.following(from as usize), problem.len(), &mut look);
        for (wraps, section) in pattern(i32::from(section), sign, self.sections as i32) {
            let Some(section) = usize::try_from(section).ok().filter(|s| *s < self.sections) else {
                continue;
            };
            let class = match wraps {
                Wraps::Same => {
                    let first = self.first[usize::from(wrap) * self.sections + section];
                    if first.is_some_and(|visit| !look(visit)) {
                        break;
                    }
                    continue;
                }
                Wraps::CoDirectional => direction,
                Wraps::AntiDirectional => 1 - direction,
            };
            if std::mem::replace(&mut seen[section][class], true) {
                continue;
            }
            if !self.by_class[section][class]
                .iter()
                .take(most)
                .all(|&visit| look(visit))
            {
                break;
            }
        }
        found.sort_unstable();
        found.dedup();
        found.truncate(most);
        found
    }
}

/// Looks at the visit that follows logically, if there is one.
fn look_on(next: usize, visits: usize, look: &mut impl FnMut(u32) -> bool) {
    if next < visits {
        look(next as u32);
    }
}
