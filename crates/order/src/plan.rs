//! The plan: an order with its steps, predicted times and tape moved.

use crate::order::Order;
use crate::problem::{End, Motion, Problem};
use crate::tape::Tape;
use tapewise_model::{Micros, Position};

/// What the drive does in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Locates to the next block to read.
    Locate,
    /// Streams over blocks that nobody asked for, because that is faster than a locate.
    ReadThrough,
    /// Reads blocks that were asked for.
    Read,
    /// Goes back to the beginning of tape, or to where the head is to be left.
    Finish,
}

/// One thing the drive does.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it does.
    pub action: Action,
    /// The visit it serves; the last one for [`Action::Finish`].
    pub visit: u32,
    /// For a read: which extent of the visit.
    pub extent: u32,
    /// Where it begins.
    pub from: Position,
    /// Where it ends.
    pub to: Position,
    /// When it begins, from the start of the plan.
    pub begin: Micros,
    /// How long it takes.
    pub duration: Micros,
}

/// An order carried out on paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The order.
    pub order: Order,
    /// What the drive does, step by step.
    pub steps: Vec<Step>,
    /// What it adds up to.
    pub totals: Totals,
}

/// What a plan adds up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Everything.
    pub total: Micros,
    /// Between reads: locates, read-throughs, the way to where the head is to be left.
    pub locate: Micros,
    /// Reading what was asked for.
    pub read: Micros,
    /// Number of locates.
    pub locates: u64,
    /// Longitudinal distance of all motion, in LPOS units.
    pub distance_lpos: u64,
    /// Times the head changes to another wrap.
    pub wrap_changes: u64,
}

impl Plan {
    /// The steps that an order of a problem's visits takes.
    pub fn new(problem: &Problem, order: Order) -> Plan {
        let mut writer = Writer {
            steps: Vec::new(),
            clock: Micros::ZERO,
            at: problem.options().head,
        };
        let mut before: Option<u32> = None;
        for &visit in order.visits() {
            let (time, motion) = problem.motion(before.map(|v| v as usize), visit as usize);
            let extents = &problem.visits()[visit as usize].extents;
            writer.go(visit, 0, motion, time, extents[0].start);
            for (index, extent) in extents.iter().enumerate() {
                if index > 0 {
                    let (time, motion) = problem.inner_motion(visit as usize, index);
                    writer.go(visit, index as u32, motion, time, extent.start);
                }
                let duration = problem.read_time(extent);
                writer.step(Action::Read, visit, index as u32, extent.end, duration);
            }
            before = Some(visit);
        }
        if let Some(last) = before {
            let target = match problem.options().end {
                End::Anywhere => None,
                End::Rewound => Some(Position::beginning_of_tape(
                    problem.tape().geometry.lpos_min,
                )),
                End::At(position) => Some(position),
            };
            if let Some(target) = target {
                writer.step(
                    Action::Finish,
                    last,
                    0,
                    target,
                    problem.end_cost(last as usize),
                );
            }
        }
        let totals = Totals::of(&writer.steps, problem.tape());
        Plan {
            order,
            steps: writer.steps,
            totals,
        }
    }
}

struct Writer {
    steps: Vec<Step>,
    clock: Micros,
    at: Position,
}

impl Writer {
    fn go(&mut self, visit: u32, extent: u32, motion: Motion, time: Micros, to: Position) {
        match motion {
            // The turn at the end of a wrap, if any, is time spent but no command.
            Motion::Contiguous if time == Micros::ZERO => self.at = to,
            Motion::Contiguous | Motion::ReadThrough => {
                self.step(Action::ReadThrough, visit, extent, to, time);
            }
            Motion::Locate => self.step(Action::Locate, visit, extent, to, time),
        }
    }

    fn step(&mut self, action: Action, visit: u32, extent: u32, to: Position, duration: Micros) {
        let (from, begin) = (self.at, self.clock);
        self.steps.push(Step {
            action,
            visit,
            extent,
            from,
            to,
            begin,
            duration,
        });
        self.clock += duration;
        self.at = to;
    }
}

impl Totals {
    /// The sums over some steps on a tape.
    pub fn of(steps: &[Step], tape: &Tape) -> Totals {
        let mut totals = Totals::default();
        for step in steps {
            totals.total += step.duration;
            match step.action {
                Action::Read => totals.read += step.duration,
                _ => totals.locate += step.duration,
            }
            totals.locates += u64::from(step.action == Action::Locate);
            let streaming = matches!(step.action, Action::Read | Action::ReadThrough);
            totals.distance_lpos += tape.distance_lpos(&step.from, &step.to, streaming);
            totals.wrap_changes += if streaming {
                u64::from(step.from.wrap.abs_diff(step.to.wrap))
            } else {
                u64::from(step.from.wrap != step.to.wrap)
            };
        }
        totals
    }
}
