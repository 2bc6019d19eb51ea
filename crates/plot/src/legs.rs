//! From a plan to the legs of the head's path: arithmetic only, no drawing.

use tapewise_model::{Direction, Geometry, Micros};
use tapewise_order::{Action, Plan, Step};

/// What the head does on a leg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Goes somewhere without reading: a locate, or the way to where it is left.
    Move,
    /// Streams over what nobody asked for.
    ReadThrough,
    /// Reads what was asked for.
    Read,
}

/// A straight piece of the path: along one wrap, or from one place to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// What the head does.
    pub kind: Kind,
    /// First and last wrap; the same one unless it is a move.
    pub wrap: [u16; 2],
    /// Where it begins and ends, in LPOS units.
    pub lpos: [u32; 2],
    /// When it begins and ends.
    pub time: [Micros; 2],
}

/// What the panels of one picture have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Lowest and highest LPOS: the geometry's, and whatever lies outside of it.
    pub lpos: [u32; 2],
    /// One past the highest wrap.
    pub wraps: u16,
    /// The longest total.
    pub time: Micros,
}

/// The legs of a plan in the order of time; reading over the end of a wrap makes one leg a wrap.
pub fn legs(plan: &Plan, geometry: &Geometry) -> Vec<Leg> {
    let mut legs = Vec::new();
    for step in &plan.steps {
        let kind = match step.action {
            Action::Locate | Action::Finish => Kind::Move,
            Action::ReadThrough => Kind::ReadThrough,
            Action::Read => Kind::Read,
        };
        if kind == Kind::Move || step.to.wrap <= step.from.wrap {
            legs.push(Leg {
                kind,
                wrap: [step.from.wrap, step.to.wrap],
                lpos: [step.from.lpos, step.to.lpos],
                time: [step.begin, step.begin + step.duration],
            });
        } else {
            legs.extend(along_wraps(kind, step, geometry));
        }
    }
    legs
}

/// A step that streams over the ends of wraps, its time shared out by length.
fn along_wraps(kind: Kind, step: &Step, geometry: &Geometry) -> Vec<Leg> {
    let ends = |wrap: u16| match geometry.direction(wrap) {
        Direction::Forward => [geometry.lpos_min, geometry.lpos_max],
        Direction::Reverse => [geometry.lpos_max, geometry.lpos_min],
    };
    let pieces: Vec<(u16, [u32; 2])> = (step.from.wrap..=step.to.wrap)
        .map(|wrap| {
            let [mut first, mut last] = ends(wrap);
            if wrap == step.from.wrap {
                first = step.from.lpos;
            }
            if wrap == step.to.wrap {
                last = step.to.lpos;
            }
            (wrap, [first, last])
        })
        .collect();
    let length = |[first, last]: [u32; 2]| i128::from(first.abs_diff(last));
    let total: i128 = pieces.iter().map(|piece| length(piece.1)).sum();
    let mut gone = 0;
    let when = |gone: i128| {
        let share = i128::from(step.duration.0) * gone / total.max(1);
        step.begin + Micros(share as i64)
    };
    let pieces = pieces.into_iter().map(|(wrap, lpos)| {
        let begin = when(gone);
        gone += length(lpos);
        Leg {
            kind,
            wrap: [wrap, wrap],
            lpos,
            time: [begin, when(gone)],
        }
    });
    pieces.collect()
}

/// What all paths fit into.
pub fn extent(paths: &[Vec<Leg>], geometry: &Geometry) -> Extent {
    let mut extent = Extent {
        lpos: [geometry.lpos_min, geometry.lpos_max],
        wraps: geometry.wraps,
        time: Micros::ZERO,
    };
    for leg in paths.iter().flatten() {
        for (lpos, wrap) in leg.lpos.into_iter().zip(leg.wrap) {
            extent.lpos[0] = extent.lpos[0].min(lpos);
            extent.lpos[1] = extent.lpos[1].max(lpos);
            extent.wraps = extent.wraps.max(wrap.saturating_add(1));
        }
        extent.time = extent.time.max(leg.time[1]);
    }
    extent
}

/// Cuts a path into at most `parts` runs of legs of about equal time, for a fade.
pub fn runs(legs: &[Leg], parts: usize) -> Vec<&[Leg]> {
    let total = legs
        .last()
        .map_or(0, |leg| i128::from(leg.time[1].0))
        .max(1);
    let part = |leg: &Leg| i128::from(leg.time[0].0) * parts as i128 / total;
    legs.chunk_by(|a, b| part(a) == part(b)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_model::{Layout, Position, PositionSource};
    use tapewise_order::{Order, Totals};

    fn geometry() -> Geometry {
        Geometry {
            layout: Layout::Serpentine,
            wraps: 8,
            bands: 4,
            lpos_min: 100,
            lpos_max: 1_100,
            metres_per_lpos: None,
            sections: 14,
        }
    }

    fn at(wrap: u16, lpos: u32) -> Position {
        Position {
            partition: 0,
            wrap,
            lpos,
            source: PositionSource::Nominal,
            error_lpos: 0,
        }
    }

    fn step(action: Action, from: Position, to: Position, begin: i64, duration: i64) -> Step {
        Step {
            action,
            visit: 0,
            extent: 0,
            from,
            to,
            begin: Micros(begin),
            duration: Micros(duration),
        }
    }

    fn plan(steps: Vec<Step>) -> Plan {
        Plan {
            order: Order::new(vec![0]).unwrap(),
            totals: Totals::default(),
            steps,
        }
    }

    #[test]
    fn a_read_on_one_wrap_is_one_leg_and_so_is_a_move_across_wraps() {
        let plan = plan(vec![
            step(Action::Locate, at(0, 100), at(5, 900), 0, 40),
            step(Action::Read, at(5, 900), at(5, 700), 40, 10),
            step(Action::Finish, at(5, 700), at(0, 100), 50, 30),
        ]);
        let legs = legs(&plan, &geometry());
        let kinds: Vec<Kind> = legs.iter().map(|leg| leg.kind).collect();
        assert_eq!(kinds, [Kind::Move, Kind::Read, Kind::Move]);
        assert_eq!((legs[0].wrap, legs[0].lpos), ([0, 5], [100, 900]));
        assert_eq!(legs[2].time, [Micros(50), Micros(80)]);
    }

    #[test]
    fn reading_over_two_wrap_ends_makes_three_legs_that_share_the_time_by_length() {
        // 200 to the end of wrap 2, 1000 back along wrap 3, 300 out along wrap 4.
        let plan = plan(vec![step(
            Action::Read,
            at(2, 900),
            at(4, 400),
            1_000,
            3_000,
        )]);
        let legs = legs(&plan, &geometry());
        let places: Vec<_> = legs.iter().map(|leg| (leg.wrap[0], leg.lpos)).collect();
        assert_eq!(
            places,
            [(2, [900, 1_100]), (3, [1_100, 100]), (4, [100, 400])]
        );
        let times: Vec<i64> = legs.iter().map(|leg| leg.time[1].0).collect();
        assert_eq!(times, [1_400, 3_400, 4_000]);
        assert!(
            legs.windows(2)
                .all(|pair| pair[0].time[1] == pair[1].time[0])
        );
    }

    #[test]
    fn the_extent_is_the_geometry_and_what_lies_outside_of_it() {
        let plan = plan(vec![step(Action::Locate, at(0, 100), at(9, 1_150), 0, 70)]);
        let paths = [legs(&plan, &geometry()), Vec::new()];
        let expected = Extent {
            lpos: [100, 1_150],
            wraps: 10,
            time: Micros(70),
        };
        assert_eq!(extent(&paths, &geometry()), expected);
    }

    #[test]
    fn runs_hold_every_leg_once_in_order() {
        let steps = (0..50).map(|n| step(Action::Locate, at(0, 100), at(0, 200), n * 7, 7));
        let legs = legs(&plan(steps.collect()), &geometry());
        let runs = runs(&legs, 8);
        assert_eq!(runs.len(), 8);
        assert_eq!(runs.concat(), legs);
        assert!(super::runs(&[], 8).is_empty());
    }
}
