//! Visits by wrap and section, for the orders of 1996 that work without locate times.

use crate::problem::Problem;
use crate::tape::Tape;
use tapewise_model::Point;

/// Unread visits of every section, and which sections still have any.
pub(crate) struct Sections {
    sections: u16,
    /// By wrap, then section: visits in logical order.
    visits: Vec<Vec<u32>>,
    /// By section and direction: wraps with unread visits, lowest last.
    wraps: Vec<[Vec<u16>; 2]>,
    left: usize,
}

impl Sections {
    pub(crate) fn new(problem: &Problem) -> Sections {
        let geometry = &problem.tape().geometry;
        let sections = geometry.sections;
        let count = usize::from(geometry.wraps) * usize::from(sections);
        let mut visits = vec![Vec::new(); count];
        let mut wraps = vec![[Vec::new(), Vec::new()]; usize::from(sections)];
        for visit in 0..problem.len() as u32 {
            let start = &problem.starts()[visit as usize];
            let (wrap, section) = Self::place(problem.tape(), start);
            visits[usize::from(wrap) * usize::from(sections) + usize::from(section)].push(visit);
        }
        for wrap in (0..geometry.wraps).rev() {
            for section in 0..sections {
                let index = usize::from(wrap) * usize::from(sections) + usize::from(section);
                if !visits[index].is_empty() {
                    wraps[usize::from(section)][usize::from(wrap & 1)].push(wrap);
                }
            }
        }
        Sections {
            sections,
            visits,
            wraps,
            left: problem.len(),
        }
    }

    /// The wrap and section of a point; a wrap that the cartridge does not have counts as its last.
    pub(crate) fn place(tape: &Tape, point: &Point) -> (u16, u16) {
        (point.wrap.min(tape.geometry.wraps - 1), tape.section(point))
    }

    /// Number of sections of a wrap.
    pub(crate) fn sections(&self) -> i32 {
        i32::from(self.sections)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// The lowest wrap of the given direction (0 forward, 1 reverse) with unread visits in a
    /// section.
    pub(crate) fn lowest_wrap(&self, section: i32, direction: u16) -> Option<u16> {
        let section = usize::try_from(section).ok()?;
        self.wraps.get(section)?[usize::from(direction)]
            .last()
            .copied()
    }

    /// Whether a section of a wrap has unread visits.
    pub(crate) fn has(&self, wrap: u16, section: i32) -> bool {
        (0..self.sections()).contains(&section)
            && !self.visits[usize::from(wrap) * usize::from(self.sections) + section as usize]
                .is_empty()
    }

    /// Takes all visits of a section of a wrap, in logical order.
    pub(crate) fn take(&mut self, wrap: u16, section: i32) -> Vec<u32> {
        let index = usize::from(wrap) * usize::from(self.sections) + section as usize;
        let visits = std::mem::take(&mut self.visits[index]);
        self.left -= visits.len();
        self.wraps[section as usize][usize::from(wrap & 1)].retain(|&other| other != wrap);
        visits
    }
}
