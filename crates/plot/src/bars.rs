//! Bars that are stacked of parts: what something consists of, row by row.

use crate::axis;
use crate::colours::{GREY, INK};
use crate::page::fitted;
use crate::page::{Anchor, Colour, Font, Page};

/// What bars are made of.
#[derive(Clone, Debug)]
pub struct Part {
    /// What the legend says.
    pub name: &'static str,
    /// The colour.
    pub colour: Colour,
}

/// One row.
#[derive(Clone, Debug)]
pub struct Bar {
    /// What stands in front of it.
    pub name: String,
    /// How much of each part, in the unit of the axis.
    pub amounts: Vec<f64>,
}

/// Rows on one axis.
#[derive(Clone, Debug)]
pub struct Rows {
    /// Above them.
    pub title: String,
    /// What the axis counts, with its unit.
    pub unit: &'static str,
    /// What the bars are made of.
    pub parts: Vec<Part>,
    /// The rows, from above.
    pub bars: Vec<Bar>,
}

const WIDTH_PX: f64 = 960.0;
/// Room for the names of bars, and for the sums behind them.
const X_PX: [f64; 2] = [230.0, 880.0];
const TITLE_PX: f64 = 44.0;
/// The head of some rows with its legend, a row, and the axis below.
const HEAD_PX: f64 = 58.0;
const ROW_PX: f64 = 26.0;
const FOOT_PX: f64 = 58.0;
const BAR_PX: f64 = 17.0;
/// Longer names are cut.
const NAME_PX: f64 = 202.0;
const TICKS: usize = 7;
const GRID: Colour = Colour::rgb(228, 228, 228);

/// Rows of stacked bars below each other as SVG text, each with an axis of its own from zero.
pub fn stacked(title: &str, groups: &[Rows]) -> String {
    let height_of = |rows: &Rows| HEAD_PX + rows.bars.len() as f64 * ROW_PX + FOOT_PX;
    let height_px = TITLE_PX + groups.iter().map(height_of).sum::<f64>();
    Page::drawn(WIDTH_PX, height_px, |page| {
        page.words(title, (24.0, 26.0), Anchor::Start, font(17.0, true));
        let mut top = TITLE_PX;
        for rows in groups {
            draw(page, rows, top);
            top += height_of(rows);
        }
    })
}

fn font(px: f64, bold: bool) -> Font {
    let colour = if bold { INK } else { GREY };
    Font { px, bold, colour }
}

fn draw(page: &mut Page, rows: &Rows, top: f64) {
    page.words(
        &rows.title,
        (24.0, top + 12.0),
        Anchor::Start,
        font(14.0, true),
    );
    legend(page, &rows.parts, top + 36.0);
    let sum = |bar: &Bar| bar.amounts.iter().sum::<f64>();
    let most = rows.bars.iter().map(sum).fold(0.0, f64::max).max(1e-9);
    let across = |amount: f64| X_PX[0] + amount / most * (X_PX[1] - X_PX[0]);
    let first = top + HEAD_PX;
    let bottom = first + rows.bars.len() as f64 * ROW_PX;
    for tick in axis::round_ticks(0.0, most, TICKS) {
        let x = across(tick.at);
        page.line(&[(x, first - 4.0), (x, bottom)], GRID, 1.0);
        let at = (x, bottom + 12.0);
        page.words(&tick.label, at, Anchor::Middle, font(12.0, false));
    }
    let middle = (X_PX[0] + X_PX[1]) / 2.0;
    page.words(
        rows.unit,
        (middle, bottom + 32.0),
        Anchor::Middle,
        font(12.0, false),
    );
    for (number, bar) in rows.bars.iter().enumerate() {
        let y = first + (number as f64 + 0.5) * ROW_PX;
        let name = fitted(&bar.name, 12.0, NAME_PX);
        page.words(&name, (X_PX[0] - 10.0, y), Anchor::End, font(12.0, false));
        let mut from = 0.0;
        for (part, amount) in rows.parts.iter().zip(&bar.amounts) {
            let ends = [across(from), across(from + amount)];
            let corners = [(ends[0], y - BAR_PX / 2.0), (ends[1], y + BAR_PX / 2.0)];
            let says = format!(
                "{}: {} {} {}",
                bar.name,
                part.name,
                shown(*amount),
                rows.unit
            );
            page.tip(&says, |page| page.bar(corners, part.colour));
            from += amount;
        }
        let sum = shown(from);
        page.words(
            &sum,
            (across(from) + 8.0, y),
            Anchor::Start,
            font(12.0, false),
        );
    }
}

fn legend(page: &mut Page, parts: &[Part], y: f64) {
    let mut x = 24.0;
    for part in parts {
        let swatch = [(x, y - 5.0), (x + 14.0, y + 5.0)];
        page.bar(swatch, part.colour);
        page.words(part.name, (x + 20.0, y), Anchor::Start, font(12.0, false));
        x += 20.0 + part.name.chars().count() as f64 * 6.6 + 22.0;
    }
}

/// A sum with as many digits as can be told apart.
fn shown(sum: f64) -> String {
    match sum {
        sum if sum >= 100.0 => format!("{sum:.0}"),
        sum => format!("{sum:.1}"),
    }
}
