//! Fits the model of curves to a drive whose law nobody has written down.
//!
//! A shape says which curves there are. The search begins with the plainest one, and adds what explains most for the
//! numbers it takes, until nothing pays for itself.

mod drawing;
mod moves;
mod shape;
mod sides;

use crate::fitted::{Coefficients, Fitted};
use crate::sample::{FitError, Ground, Sample};
use crate::undetermined::Undetermined;
use drawing::{Drawing, Drawn};
use moves::Moves;
use shape::{PAIRS, PARTS, READ, READ_ON, Shape, Steps, end};
use tapewise_model::locate::CurvesCoefficients;

/// Most records that shapes are compared with; the one that is taken is drawn with all.
const COMPARED: usize = 2_000;
/// Stretches of the tape that may have a pace of their own: the fewest, which are halved while that pays, and the most.
const STRETCHES: [usize; 2] = [8, 64];
/// What stepping over all wraps, or all bands, may take beside winding the whole tape, to begin with.
const STEP_SHARES: [f64; 3] = [0.1, 0.3, 0.9];
/// How far ahead the drive may read on, in lengths of the tape, to begin with.
const REACHES: [f64; 3] = [1.0 / 128.0, 1.0 / 32.0, 1.0 / 8.0];
/// Rounds in which a shape gains something.
const GAINS: usize = 8;
/// Rounds of reweighting for a shape that is tried, and for one that is taken.
const TRIED: usize = 8;
const TAKEN: usize = 24;

/// Fits the model of curves.
pub(crate) fn fit(samples: &[Sample], ground: &Ground) -> Result<Fitted, FitError> {
    let moves = Moves::new(samples, ground);
    let drawing = search(&moves.thinned(COMPARED)).drawing;
    let drawn = sides::settled(drawing, &moves).drawn(&moves, TAKEN);
    let constants = drawn.drawing.constants(&moves).into_iter();
    let undetermined = constants.filter_map(|each| {
        Undetermined::unless(&each.name, each.records, each.seconds, each.std_error)
    });
    Ok(Fitted {
        undetermined: undetermined.collect(),
        coefficients: Coefficients::Curves(coefficients(&drawn, &moves)),
        outliers: drawn.outliers,
        table: None,
        landed: None,
    })
}

/// The shape with the least price, drawn.
fn search(moves: &Moves) -> Drawn {
    let price = (moves.all.len() as f64).ln();
    let mut best = Drawing::ordinary(moves).drawn(moves, TAKEN);
    for _ in 0..GAINS {
        let tried = richer(&best, moves)
            .into_iter()
            .map(|drawing| drawing.drawn(moves, TRIED));
        match tried.min_by(|a, b| a.price.total_cmp(&b.price)) {
            Some(drawn) if drawn.price < best.price - price => {
                best = drawn.drawing.drawn(moves, TAKEN)
            }
            _ => break,
        }
    }
    best
}

/// Drawings with one thing more than this one, to begin with.
fn richer(drawn: &Drawn, moves: &Moves) -> Vec<Drawing> {
    let now = &drawn.drawing;
    let shape = &now.shape;
    let reshaped = |shape| now.reshaped(shape, moves);
    let mut all = Vec::new();
    // Halves of slow ends of the tape may explain nothing and their quarters a lot, so both are tried.
    let halved = STRETCHES[0].max(2 * shape.stretches);
    for stretches in [halved, 2 * halved] {
        if stretches <= STRETCHES[1] {
            all.push(reshaped(Shape {
                stretches,
                ..shape.clone()
            }));
        }
    }
    if !shape.each_way {
        all.push(reshaped(Shape {
            each_way: true,
            ..shape.clone()
        }));
    }
    if shape.steps != Steps::After {
        all.push(reshaped(Shape {
            steps: Steps::After,
            ..shape.clone()
        }));
    }
    if shape.steps != Steps::Beside {
        let beside = reshaped(Shape {
            steps: Steps::Beside,
            ..shape.clone()
        });
        let whole_s: f64 = now.values[now.travel..now.stepping].iter().sum();
        for share in STEP_SHARES {
            let all_s = share * whole_s;
            all.push(beside.clone().stepping_at(all_s, moves.geometry.wraps));
            all.push(
                beside
                    .clone()
                    .changing_bands_at(all_s, moves.geometry.bands),
            );
        }
    }
    if shape.reach.is_infinite() {
        all.extend(REACHES.map(|reach| {
            reshaped(Shape {
                reach,
                ..shape.clone()
            })
        }));
    }
    all.extend(sides::divided(drawn, moves));
    all
}

/// In the form of the model, whose checks it passes.
fn coefficients(drawn: &Drawn, moves: &Moves) -> CurvesCoefficients {
    let drawing = &drawn.drawing;
    let values = &drawing.values;
    let length = f64::from(moves.geometry.wrap_lpos());
    let fastest = drawing.pace.iter().copied().fold(f64::INFINITY, f64::min);
    // A unit of way is an LPOS unit of the fastest stretch.
    let whole = length / fastest;
    let [away, towards] = [0, usize::from(drawing.shape.each_way)]
        .map(|curve| lines(&values[drawing.travel + curve * PARTS..][..PARTS], whole));
    let (step_wraps, step_s) = steps(drawing, moves.geometry.wraps);
    let sides = drawing.shape.sides.as_ref();
    let far = |sides: &shape::Sides| {
        (0..moves.geometry.wraps)
            .filter(|&wrap| sides.far[usize::from(wrap)])
            .collect()
    };
    CurvesCoefficients {
        same_wrap_s: [0, 1].map(|kind| micros(values[kind])),
        other_wrap_s: [2, 3, 4, 5].map(|kind| micros(values[kind])),
        band_change_s: values[PAIRS..drawing.travel]
            .iter()
            .map(|&s| micros(s))
            .collect(),
        pace: if drawing.pace.len() > 1 {
            drawing
                .pace
                .iter()
                .map(|pace| (pace / fastest).max(1.0))
                .collect()
        } else {
            Vec::new()
        },
        away_s: away.0,
        away_per_way_s: away.1,
        towards_s: towards.0,
        towards_per_way_s: towards.1,
        step_wraps,
        step_s,
        steps_beside: drawing.shape.steps == Steps::Beside,
        station_lpos: sides
            .map(|sides| moves.geometry.lpos_min + (sides.station * length).round() as u32),
        far_wraps: sides.map(far).unwrap_or_default(),
        read_on_s: micros(values[READ_ON]),
        read_per_lpos_s: values[READ] / length,
        read_on_lpos: Some(drawing.shape.reach)
            .filter(|reach| reach.is_finite())
            .map(|reach| (reach * length).round() as u32),
        residual_s: Some(micros(drawn.residual_s)),
    }
}

/// The lines whose least is travel, the steepest first: between two bends it is a line.
fn lines(parts: &[f64], whole: f64) -> (Vec<f64>, Vec<f64>) {
    let (mut startups, mut paces): (Vec<f64>, Vec<f64>) = Default::default();
    // Parts stand from the furthest bend to the nearest.
    for passed in (1..=parts.len()).rev() {
        let startup: f64 = (passed..parts.len()).map(|at| parts[at] * end(at)).sum();
        let pace = parts[..passed].iter().sum::<f64>() / whole;
        if paces.last() != Some(&pace) {
            startups.push(micros(startup));
            paces.push(pace);
        }
    }
    (startups, paces)
}

/// Numbers of wraps, and the seconds to step over them.
fn steps(drawing: &Drawing, wraps: u16) -> (Vec<u16>, Vec<f64>) {
    let values = &drawing.values[drawing.stepping..];
    let Some((&first, doublings)) = values.split_first() else {
        return (Vec::new(), Vec::new());
    };
    let mut seconds = if drawing.shape.steps == Steps::Beside {
        first
    } else {
        0.0
    };
    let mut knots = vec![(1, micros(seconds))];
    for (at, more) in doublings.iter().enumerate() {
        seconds += more;
        knots.push((2u16.saturating_pow(at as u32 + 1), micros(seconds)));
    }
    debug_assert!(knots.last().is_some_and(|knot| knot.0 >= wraps));
    knots.into_iter().unzip()
}

/// Seconds to whole microseconds, so that a profile states what the model computes with.
fn micros(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}
