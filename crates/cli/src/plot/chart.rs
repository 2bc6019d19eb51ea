//! Dots and lines over two axes with round ticks: what measurements are shown with.

use super::axis::{self, Tick};
use super::canvas::{self, Anchor, Canvas, Font, Px};
use super::panel::{GREY, INK};
use crate::error::CliError;
use plotters::style::{Color, RGBColor};

/// What is drawn of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A small dot at each place.
    Dots,
    /// A line through the places.
    Line,
    /// A thin one, behind what is to be held against it.
    Guide,
    /// A pale shape with the places as its corners.
    Area,
}

/// Places with a name and a colour.
#[derive(Clone, Debug)]
pub struct Series {
    /// What the legend says; nothing where this is empty.
    pub name: String,
    /// Dots or a line.
    pub mark: Mark,
    /// The colour.
    pub colour: RGBColor,
    /// The places, in the units of the axes.
    pub places: Vec<[f64; 2]>,
}

/// A chart's words.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// Above the chart.
    pub title: &'a str,
    /// Below the horizontal axis.
    pub across: &'a str,
    /// Above the vertical axis.
    pub up: &'a str,
}

const SIZE_PX: [u32; 2] = [900, 560];
const X_PX: [f64; 2] = [70.0, 872.0];
const Y_PX: [f64; 2] = [500.0, 92.0];
const FRAME: RGBColor = RGBColor(150, 150, 150);
const GRID: RGBColor = RGBColor(228, 228, 228);
/// Up to so many dots of one series stand out from a line that they lie on.
const A_HANDFUL: usize = 20;
/// Up to so many dots of one series are drawn large enough to be seen one by one.
const FEW_DOTS: usize = 300;
/// More dots of one series than this only make the file larger.
const MOST_DOTS: usize = 4_000;
const TICKS: usize = 8;

/// The scale across.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// From zero, or from the least value where that is below.
    Even,
    /// Every doubling as wide as the next: for values above zero.
    Doubling,
}

/// A chart as SVG text, from zero, or from the least value where that is below, to the largest of
/// each axis.
///
/// # Errors
/// Where the picture cannot be made.
pub fn chart(words: Words, series: &[Series]) -> Result<String, CliError> {
    chart_over(words, series, Across::Even)
}

/// The same with this scale across.
///
/// # Errors
/// Where the picture cannot be made.
pub fn chart_over(words: Words, series: &[Series], scale: Across) -> Result<String, CliError> {
    if scale == Across::Even {
        return drawn(words, series, None);
    }
    let mut series = series.to_vec();
    let places = series.iter_mut().flat_map(|series| &mut series.places);
    places.for_each(|place| place[0] = place[0].max(f64::MIN_POSITIVE).log2());
    let xs = || {
        series
            .iter()
            .flat_map(|series| &series.places)
            .map(|place| place[0])
    };
    let [least, most] = [
        xs().fold(f64::INFINITY, f64::min) - 0.25,
        xs().fold(f64::NEG_INFINITY, f64::max) + 0.25,
    ];
    drawn(words, &series, Some([least, most]))
}

/// A chart of these series; `doublings` is what powers of two the scale across goes from and to.
fn drawn(words: Words, series: &[Series], doublings: Option<[f64; 2]>) -> Result<String, CliError> {
    let ends = |axis: usize| {
        let places = series.iter().flat_map(|series| &series.places);
        let (least, most) = places.fold((0.0f64, 0.0f64), |(least, most), place| {
            (least.min(place[axis]), most.max(place[axis]))
        });
        [least * 1.02, most.max(1e-9) * 1.02]
    };
    let ends = [doublings.unwrap_or_else(|| ends(0)), ends(1)];
    let across = match doublings {
        Some([least, most]) => axis::doubling_ticks(least, most),
        None => axis::round_ticks(ends[0][0], ends[0][1], TICKS),
    };
    canvas::page(SIZE_PX[0], SIZE_PX[1], |canvas| {
        let place = |[x, y]: [f64; 2]| -> Px {
            let along = |value: f64, [least, most]: [f64; 2], [low, high]: [f64; 2]| {
                low + ((value - least) / (most - least)).clamp(0.0, 1.0) * (high - low)
            };
            (along(x, ends[0], X_PX), along(y, ends[1], Y_PX))
        };
        canvas.words(
            words.title,
            (X_PX[0], 26.0),
            Anchor::Start,
            font(17.0, true),
        )?;
        axes(canvas, &across, ends, words, &place)?;
        for each in series {
            let places: Vec<Px> = each.places.iter().map(|&at| place(at)).collect();
            mark(canvas, each, &places)?;
        }
        legend(canvas, series)
    })
}

fn mark(canvas: &Canvas, series: &Series, places: &[Px]) -> Result<(), CliError> {
    match series.mark {
        Mark::Line => canvas.line(places, series.colour.to_rgba(), 2.0),
        Mark::Area => canvas.shape(places, series.colour.mix(0.25)),
        Mark::Guide => canvas.line(places, series.colour.to_rgba(), 1.2),
        Mark::Dots => {
            let step = places.len().div_ceil(MOST_DOTS).max(1);
            let count = places.len();
            let (half_px, opacity) = if count <= A_HANDFUL {
                (3.2, 0.8)
            } else if count <= FEW_DOTS {
                (2.2, 0.55)
            } else {
                (1.3, 0.55)
            };
            for &(x, y) in places.iter().step_by(step) {
                let corners = [(x - half_px, y - half_px), (x + half_px, y + half_px)];
                canvas.bar(corners, series.colour.mix(opacity))?;
            }
            Ok(())
        }
    }
}

fn font(px: f64, bold: bool) -> Font {
    let colour = if bold { INK } else { GREY };
    Font { px, bold, colour }
}

fn axes(
    canvas: &Canvas,
    across: &[Tick],
    ends: [[f64; 2]; 2],
    words: Words,
    place: &impl Fn([f64; 2]) -> Px,
) -> Result<(), CliError> {
    for tick in across {
        let (x, _) = place([tick.at, ends[1][0]]);
        canvas.line(&[(x, Y_PX[0]), (x, Y_PX[1])], GRID.to_rgba(), 1.0)?;
        canvas.words(
            &tick.label,
            (x, Y_PX[0] + 14.0),
            Anchor::Middle,
            font(12.0, false),
        )?;
    }
    for tick in axis::round_ticks(ends[1][0], ends[1][1], TICKS) {
        let (_, y) = place([ends[0][0], tick.at]);
        canvas.line(&[(X_PX[0], y), (X_PX[1], y)], GRID.to_rgba(), 1.0)?;
        canvas.words(
            &tick.label,
            (X_PX[0] - 8.0, y),
            Anchor::End,
            font(12.0, false),
        )?;
    }
    let frame = [(X_PX[0], Y_PX[1]), (X_PX[0], Y_PX[0]), (X_PX[1], Y_PX[0])];
    canvas.line(&frame, FRAME.to_rgba(), 1.0)?;
    let middle = (X_PX[0] + X_PX[1]) / 2.0;
    canvas.words(
        words.across,
        (middle, Y_PX[0] + 38.0),
        Anchor::Middle,
        font(13.0, false),
    )?;
    canvas.words(
        words.up,
        (X_PX[0] - 48.0, Y_PX[1] - 16.0),
        Anchor::Start,
        font(13.0, false),
    )
}

fn legend(canvas: &Canvas, series: &[Series]) -> Result<(), CliError> {
    let named: Vec<&Series> = series.iter().filter(|each| !each.name.is_empty()).collect();
    for (each, (x, y)) in named.iter().zip(legend_places(&named)) {
        let swatch = [(x, y - 3.0), (x + 14.0, y + 3.0)];
        canvas.bar(swatch, each.colour.to_rgba())?;
        canvas.words(&each.name, (x + 20.0, y), Anchor::Start, font(12.0, false))?;
    }
    Ok(())
}

/// Where each begins: on one line, or on more where they would run off the page.
fn legend_places(named: &[&Series]) -> Vec<Px> {
    const LINE_PX: f64 = 15.0;
    let (mut x, mut y) = (X_PX[0], 52.0);
    let mut places = Vec::with_capacity(named.len());
    for each in named {
        let width = 20.0 + each.name.chars().count() as f64 * 6.4;
        if x > X_PX[0] && x + width > f64::from(SIZE_PX[0]) {
            // Lines stand between the title and the words of the axis.
            places
                .iter_mut()
                .for_each(|(_, above): &mut Px| *above -= LINE_PX / 2.0);
            (x, y) = (X_PX[0], y + LINE_PX / 2.0);
        }
        places.push((x, y));
        x += width + 24.0;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::BLUE;

    fn series(name: &str, places: Vec<[f64; 2]>) -> Series {
        Series {
            name: name.to_owned(),
            mark: Mark::Line,
            colour: BLUE,
            places,
        }
    }

    #[test]
    fn a_legend_that_is_too_long_for_a_line_goes_on_below() {
        let names = ["1 robot, window 300 s"; 7].map(|name| series(name, Vec::new()));
        let named: Vec<&Series> = names.iter().collect();
        let few = legend_places(&named[..3]);
        assert!(few.iter().all(|&(_, y)| y == 52.0), "{few:?}");
        let all = legend_places(&named);
        let last = all[6];
        assert!(last.1 > all[0].1 && all[4].0 == X_PX[0], "{all:?}");
        let ends = all.iter().map(|&(x, _)| x + 20.0 + 21.0 * 6.4);
        assert!(ends.fold(0.0, f64::max) <= f64::from(SIZE_PX[0]), "{all:?}");
    }

    #[test]
    fn values_below_one_stand_in_their_own_place_on_a_scale_of_doublings() {
        let words = Words {
            title: "",
            across: "",
            up: "",
        };
        let places = [0.25, 0.5, 1.0, 2.0].map(|x| [x, x]);
        let drawn = chart_over(words, &[series("", places.to_vec())], Across::Doubling);
        let svg = drawn.expect("a chart");
        for label in ["0.25", "0.5"] {
            assert!(
                svg.lines().any(|line| line.trim() == label),
                "{label}: {svg}"
            );
        }
    }
}
