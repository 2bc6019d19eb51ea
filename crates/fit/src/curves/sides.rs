//! Which side of the cartridge each wrap lies on, and the place between the two sides, found from times.
//!
//! Moves on one wrap show what winding takes. By that, each move to another wrap is as long as the direct way, or as the
//! way by some station. So each move votes whether its two wraps lie on one side or on two, the louder the more the two
//! ways differ. The division taken is the one that most votes agree with.

use super::drawing::{Drawing, Drawn};
use super::moves::{Move, Moves};
use super::shape::{Shape, Sides};
use std::collections::BTreeMap;

/// Rounds in which the curve of winding is drawn.
const ROUNDS: usize = 12;
/// Places tried for the station, in parts of the tape.
const STATIONS: u32 = 40;
/// Fewest moves on one wrap that tell what winding takes.
const LEAST_ON_WRAP: usize = 30;
/// What a single move can say is limited, in seconds: it may have been lengthened by a retry.
const HEARD_S: f64 = 5.0;
/// Most wraps after which sides may alternate anew.
const PERIODS: usize = 32;
/// What the moves of a wrap must say together, in seconds: more than one of them, which may have been a retry.
const LOUD_S: f64 = 2.5 * HEARD_S;
/// An error of the nearest 95 %, in seconds, below which nobody looks for sides.
const PUZZLED_S: f64 = 1.0;

/// By two wraps: how far off the moves between them are, in seconds, if both lie on one side, and if they do not.
type Costs = BTreeMap<[u16; 2], [f64; 2]>;

/// The drawing with the wraps divided, to begin with; none if there is no need, or too few moves on one wrap.
pub(super) fn divided(now: &Drawn, moves: &Moves) -> Option<Drawing> {
    if now.drawing.shape.sides.is_some() || now.trimmed_s < PUZZLED_S {
        return None;
    }
    let on_wrap = |each: &&Move| each.stepped() == 0;
    let all: Vec<Move> = moves.all.iter().filter(on_wrap).copied().collect();
    if all.len() < LEAST_ON_WRAP {
        return None;
    }
    let alone = Moves {
        all,
        ..moves.clone()
    };
    let winding = Drawing::ordinary(&alone).drawn(&alone, ROUNDS).drawing;
    // What a move takes beside winding is not known yet: as much as the quicker moves need.
    let other_wrap = moves.all.iter().filter(|each| each.stepped() > 0);
    let mut rest: Vec<f64> = other_wrap
        .map(|each| each.time_s - winding.wound_s(each.direct()))
        .collect();
    rest.sort_by(f64::total_cmp);
    let fixed = rest.get(rest.len() / 4).copied().unwrap_or(0.0);
    let stations = (1..STATIONS).map(|at| f64::from(at) / f64::from(STATIONS));
    let divisions = stations.map(|station| {
        let costs = costs(&winding, moves, station, |_| fixed);
        let far = agreed(&costs, moves.geometry.wraps);
        let total: f64 = costs
            .iter()
            .map(|(wraps, cost)| cost[usize::from(differ(&far, *wraps))])
            .sum();
        (total, Sides { station, far })
    });
    let (_, sides) = divisions.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(winding.reshaped(
        Shape {
            sides: Some(sides),
            ..Shape::plain()
        },
        moves,
    ))
}

/// The same drawing with the wraps divided once more, by all that it knows of the time of a move.
pub(super) fn settled(mut drawing: Drawing, moves: &Moves) -> Drawing {
    if let Some(Sides { station, .. }) = drawing.shape.sides {
        let costs = costs(&drawing, moves, station, |each| drawing.fixed_s(each));
        let far = agreed(&costs, moves.geometry.wraps);
        drawing.shape.sides = Some(Sides { station, far });
    }
    drawing
}

fn differ(far: &[bool], [a, b]: [u16; 2]) -> bool {
    far[usize::from(a)] != far[usize::from(b)]
}

/// How far off moves are if the station is there, and a move takes so much beside winding.
fn costs(winding: &Drawing, moves: &Moves, station: f64, fixed_s: impl Fn(&Move) -> f64) -> Costs {
    let mut costs = Costs::new();
    for each in moves.all.iter().filter(|each| each.stepped() > 0) {
        let around = (each.from - station).abs() + (each.to - station).abs();
        let off = |way: f64| {
            (each.time_s - fixed_s(each) - winding.wound_s(way))
                .abs()
                .min(HEARD_S)
        };
        let [a, b] = each.wraps;
        let cost = costs.entry([a.min(b), a.max(b)]).or_default();
        *cost = [cost[0] + off(each.direct()), cost[1] + off(around)];
    }
    costs
}

/// The division that agrees with the loudest votes, wrap by wrap from the one that is heard best, and then with the
/// majority at every wrap.
fn agreed(costs: &Costs, wraps: u16) -> Vec<bool> {
    let mut heard = vec![Vec::new(); usize::from(wraps)];
    for (&[a, b], cost) in costs {
        // Above zero it speaks for one side.
        let vote = cost[1] - cost[0];
        heard[usize::from(a)].push((usize::from(b), vote));
        heard[usize::from(b)].push((usize::from(a), vote));
    }
    let mut side = vec![0.0; heard.len()];
    // How loudly what is settled speaks to each wrap.
    let mut said = vec![0.0_f64; heard.len()];
    while let Some(next) = (0..side.len())
        .filter(|&wrap| side[wrap] == 0.0)
        .max_by(|&a, &b| said[a].abs().total_cmp(&said[b].abs()))
    {
        side[next] = if said[next] < 0.0 { -1.0 } else { 1.0 };
        heard[next]
            .iter()
            .for_each(|&(other, vote)| said[other] += vote * side[next]);
    }
    for _ in 0..heard.len() {
        let wrong = |&wrap: &usize| {
            let heeded: f64 = heard[wrap]
                .iter()
                .map(|&(other, vote)| vote * side[other] * side[wrap])
                .sum();
            heeded < 0.0
        };
        let Some(wrong) = (0..side.len()).find(wrong) else {
            break;
        };
        side[wrong] = -side[wrong];
    }
    let loudness = |wrap: &usize| heard[*wrap].iter().map(|(_, vote)| vote.abs()).sum::<f64>();
    for wrap in (0..side.len()).filter(|wrap| loudness(wrap) < LOUD_S) {
        side[wrap] = 0.0;
    }
    repeated(side)
}

/// Gives wraps that no move concerns the side that the others suggest: sides alternate in the same way all over the tape.
fn repeated(mut side: Vec<f64>) -> Vec<bool> {
    let agreeing = |period: &usize| {
        let pairs = side.iter().zip(&side[*period..]);
        pairs.map(|(a, b)| a * b).sum::<f64>() / (side.len() - period) as f64
    };
    let periods = 1..=PERIODS.min(side.len() / 2);
    let period = periods
        .max_by(|a, b| agreeing(a).total_cmp(&agreeing(b)))
        .unwrap_or(1);
    let known = side.clone();
    for wrap in (0..side.len()).filter(|&wrap| known[wrap] == 0.0) {
        let others = (wrap % period..side.len()).step_by(period);
        side[wrap] = others.map(|other| known[other]).sum();
    }
    side.into_iter().map(|side| side < 0.0).collect()
}
