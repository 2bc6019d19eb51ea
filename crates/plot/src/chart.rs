//! Dots and lines over two axes with round ticks: what measurements are shown with.

use crate::axis::{self, Tick};
use crate::colours::{GREY, INK};
use crate::page::{Anchor, Colour, Font, Page, Px};
use tapewise_model::units;

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
    pub colour: Colour,
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

const SIZE_PX: [f64; 2] = [900.0, 560.0];
const X_PX: [f64; 2] = [70.0, 872.0];
const Y_PX: [f64; 2] = [500.0, 92.0];
const FRAME: Colour = Colour::rgb(150, 150, 150);
const GRID: Colour = Colour::rgb(228, 228, 228);
/// Up to so many dots of one series stand out from a line that they lie on.
const A_HANDFUL: usize = 20;
/// Up to so many dots of one series are drawn large enough to be seen one by one.
const FEW_DOTS: usize = 300;
/// More dots of one series than this only make the file larger.
const MOST_DOTS: usize = 2_000;
const TICKS: usize = 8;
/// At most this many places of a series can be pointed at: their targets are 12 px wide, so these cover a line over
/// the whole chart, and more would only make the file larger.
const MOST_TARGETS: usize = 80;

/// The scale across.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// From zero, or from the least value where that is below.
    Even,
    /// Every doubling as wide as the next: for values above zero.
    Doubling,
    /// From the least to the largest value, with half a step beside them: for whole numbers.
    Counts,
}

/// A chart as SVG text, from zero, or from the least value where that is below, to the largest of
/// each axis.
pub fn chart(words: Words, series: &[Series]) -> String {
    chart_over(words, series, Across::Even)
}

/// The same with this scale across.
pub fn chart_over(words: Words, series: &[Series], scale: Across) -> String {
    let mut series = series.to_vec();
    let margin = match scale {
        Across::Even => return drawn(words, &series, scale, None),
        Across::Counts => 0.5,
        Across::Doubling => {
            let places = series.iter_mut().flat_map(|series| &mut series.places);
            places.for_each(|place| place[0] = place[0].max(f64::MIN_POSITIVE).log2());
            0.25
        }
    };
    let xs = || {
        series
            .iter()
            .flat_map(|series| &series.places)
            .map(|place| place[0])
    };
    let least = xs().fold(f64::INFINITY, f64::min) - margin;
    let most = xs().fold(f64::NEG_INFINITY, f64::max) + margin;
    let ticks = match scale {
        Across::Doubling => axis::doubling_ticks(least, most),
        // A step of less than one would stand between two counts.
        _ => axis::round_ticks(least, most, TICKS.min((most - least).max(1.0) as usize)),
    };
    drawn(words, &series, scale, Some(([least, most], ticks)))
}

/// A chart of these series; `across` is from where to where the scale across goes, and its ticks, if not from zero.
fn drawn(
    words: Words,
    series: &[Series],
    scale: Across,
    across: Option<([f64; 2], Vec<Tick>)>,
) -> String {
    let ends = |axis: usize| {
        let places = series.iter().flat_map(|series| &series.places);
        let (least, most) = places.fold((0.0f64, 0.0f64), |(least, most), place| {
            (least.min(place[axis]), most.max(place[axis]))
        });
        [least * 1.02, most.max(1e-9) * 1.02]
    };
    let (across_ends, across) = across.unwrap_or_else(|| {
        let [least, most] = ends(0);
        ([least, most], axis::round_ticks(least, most, TICKS))
    });
    let ends = [across_ends, ends(1)];
    Page::drawn(SIZE_PX[0], SIZE_PX[1], |page| {
        let place = |[x, y]: [f64; 2]| -> Px {
            let along = |value: f64, [least, most]: [f64; 2], [low, high]: [f64; 2]| {
                low + ((value - least) / (most - least)).clamp(0.0, 1.0) * (high - low)
            };
            (along(x, ends[0], X_PX), along(y, ends[1], Y_PX))
        };
        page.words(
            words.title,
            (X_PX[0], 26.0),
            Anchor::Start,
            font(17.0, true),
        );
        axes(page, &across, ends, words, &place);
        for each in series {
            let places: Vec<Px> = each.places.iter().map(|&at| place(at)).collect();
            mark(page, each, &places);
        }
        // After everything else, so that nothing lies above what is pointed at.
        for each in series.iter().filter(|each| !each.name.is_empty()) {
            targets(page, each, words, scale, &place);
        }
        legend(page, series)
    })
}

fn mark(page: &mut Page, series: &Series, places: &[Px]) {
    match series.mark {
        Mark::Line => page.line(places, series.colour, 2.0),
        Mark::Area => page.shape(places, series.colour.faded(0.25)),
        Mark::Guide => page.line(places, series.colour, 1.2),
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
                page.bar(corners, series.colour.faded(opacity));
            }
        }
    }
}

/// What the places of a series say when they are pointed at.
fn targets(
    page: &mut Page,
    series: &Series,
    words: Words,
    scale: Across,
    place: &impl Fn([f64; 2]) -> Px,
) {
    const HALF_PX: f64 = 6.0;
    let step = series.places.len().div_ceil(MOST_TARGETS).max(1);
    for &at in series.places.iter().step_by(step) {
        let x = match scale {
            Across::Doubling => at[0].exp2(),
            Across::Even | Across::Counts => at[0],
        };
        let says = format!(
            "{}; {}: {}; {}: {}",
            series.name,
            words.across,
            short(x),
            words.up,
            short(at[1])
        );
        page.tip(&says, |page| page.target(place(at), HALF_PX));
    }
}

/// A value with as many digits as a person looks for.
fn short(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        units::number(value)
    }
}

fn font(px: f64, bold: bool) -> Font {
    let colour = if bold { INK } else { GREY };
    Font { px, bold, colour }
}

fn axes(
    page: &mut Page,
    across: &[Tick],
    ends: [[f64; 2]; 2],
    words: Words,
    place: &impl Fn([f64; 2]) -> Px,
) {
    for tick in across {
        let (x, _) = place([tick.at, ends[1][0]]);
        page.line(&[(x, Y_PX[0]), (x, Y_PX[1])], GRID, 1.0);
        page.words(
            &tick.label,
            (x, Y_PX[0] + 14.0),
            Anchor::Middle,
            font(12.0, false),
        );
    }
    for tick in axis::round_ticks(ends[1][0], ends[1][1], TICKS) {
        let (_, y) = place([ends[0][0], tick.at]);
        page.line(&[(X_PX[0], y), (X_PX[1], y)], GRID, 1.0);
        page.words(
            &tick.label,
            (X_PX[0] - 8.0, y),
            Anchor::End,
            font(12.0, false),
        );
    }
    let frame = [(X_PX[0], Y_PX[1]), (X_PX[0], Y_PX[0]), (X_PX[1], Y_PX[0])];
    page.line(&frame, FRAME, 1.0);
    let middle = (X_PX[0] + X_PX[1]) / 2.0;
    page.words(
        words.across,
        (middle, Y_PX[0] + 38.0),
        Anchor::Middle,
        font(13.0, false),
    );
    page.words(
        words.up,
        (X_PX[0] - 48.0, Y_PX[1] - 16.0),
        Anchor::Start,
        font(13.0, false),
    )
}

fn legend(page: &mut Page, series: &[Series]) {
    let named: Vec<&Series> = series.iter().filter(|each| !each.name.is_empty()).collect();
    for (each, (x, y)) in named.iter().zip(legend_places(&named)) {
        let swatch = [(x, y - 3.0), (x + 14.0, y + 3.0)];
        page.bar(swatch, each.colour);
        page.words(&each.name, (x + 20.0, y), Anchor::Start, font(12.0, false));
    }
}

/// Where each begins: on one line, or on more where they would run off the page.
fn legend_places(named: &[&Series]) -> Vec<Px> {
    const LINE_PX: f64 = 15.0;
    let (mut x, mut y) = (X_PX[0], 52.0);
    let mut places = Vec::with_capacity(named.len());
    for each in named {
        let width = 20.0 + each.name.chars().count() as f64 * 6.4;
        if x > X_PX[0] && x + width > SIZE_PX[0] {
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
    use crate::colours::BLUE;

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
        assert!(ends.fold(0.0, f64::max) <= SIZE_PX[0], "{all:?}");
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
        let svg = drawn;
        for label in ["0.25", "0.5"] {
            assert!(svg.contains(&format!(">{label}</text>")), "{label}: {svg}");
        }
    }
}
