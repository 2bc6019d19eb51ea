//! Who did what when: a row of bars for each drive and robot, and below it how many wait.

use crate::axis;
use crate::colours::{GREY, INK};
use crate::page::fitted;
use crate::page::{Anchor, Colour, Font, Page};
use tapewise_model::Micros;

/// What bars of a kind mean, and their colour.
pub type Kind = (&'static str, Colour);

/// One who does things.
pub struct Row {
    /// What stands in front of its bars.
    pub name: String,
    /// From, until, and which kind.
    pub bars: Vec<(Micros, Micros, usize)>,
}

/// A timeline's words and times.
pub struct Timeline<'a> {
    /// Above the rows.
    pub title: &'a str,
    /// What bars mean.
    pub kinds: &'a [Kind],
    /// From above.
    pub rows: &'a [Row],
    /// How many there are from each time on.
    pub inside: &'a [(Micros, u64)],
    /// Where the time axis begins.
    pub from: Micros,
    /// Where it ends.
    pub until: Micros,
}

const WIDTH_PX: f64 = 1200.0;
const LEFT_PX: f64 = 62.0;
const RIGHT_PX: f64 = 24.0;
const NAMES_PX: f64 = 110.0;
const TOP_PX: f64 = 84.0;
const ROW_PX: f64 = 18.0;
const STRIP_PX: f64 = 90.0;
const GAP_PX: f64 = 34.0;
const FOOT_PX: f64 = 50.0;
const GRID: Colour = Colour::rgb(228, 228, 228);
const TICKS: usize = 10;

impl Timeline<'_> {
    /// The picture as SVG text.
    pub fn draw(&self) -> String {
        let strip_px = TOP_PX + ROW_PX * self.rows.len() as f64 + GAP_PX;
        let height_px = strip_px + STRIP_PX + FOOT_PX;
        Page::drawn(WIDTH_PX, height_px, |page| {
            let title = fitted(self.title, 17.0, WIDTH_PX - LEFT_PX);
            page.words(&title, (LEFT_PX, 26.0), Anchor::Start, font(17.0, true));
            self.legend(page);
            self.time_axis(page, strip_px + STRIP_PX);
            for (number, row) in self.rows.iter().enumerate() {
                self.row(page, row, TOP_PX + ROW_PX * number as f64);
            }
            self.strip(page, [strip_px, strip_px + STRIP_PX])
        })
    }

    fn x(&self, time: Micros) -> f64 {
        let left = LEFT_PX + NAMES_PX;
        let span = (self.until - self.from).as_secs_f64().max(1e-6);
        let share = ((time - self.from).as_secs_f64() / span).clamp(0.0, 1.0);
        left + share * (WIDTH_PX - RIGHT_PX - left)
    }

    fn legend(&self, page: &mut Page) {
        const Y: f64 = 54.0;
        let mut x = LEFT_PX;
        for (name, colour) in self.kinds {
            page.bar([(x, Y - 5.0), (x + 14.0, Y + 5.0)], *colour);
            page.words(name, (x + 20.0, Y), Anchor::Start, font(12.0, false));
            x += 20.0 + name.chars().count() as f64 * 6.4 + 22.0;
        }
    }

    fn time_axis(&self, page: &mut Page, bottom_px: f64) {
        for tick in axis::time_ticks(self.until - self.from, TICKS) {
            let x = self.x(self.from + Micros(tick.at as i64));
            page.line(&[(x, TOP_PX - 6.0), (x, bottom_px)], GRID, 1.0);
            let at = (x, bottom_px + 14.0);
            page.words(&tick.label, at, Anchor::Middle, font(12.0, false));
        }
        let middle = (LEFT_PX + NAMES_PX + WIDTH_PX - RIGHT_PX) / 2.0;
        let words = format!("time since {} of the replication", self.from);
        let at = (middle, bottom_px + 36.0);
        page.words(&words, at, Anchor::Middle, font(13.0, false))
    }

    fn row(&self, page: &mut Page, row: &Row, top_px: f64) {
        let name = fitted(&row.name, 12.0, NAMES_PX + LEFT_PX - 24.0);
        let at = (LEFT_PX + NAMES_PX - 8.0, top_px + ROW_PX / 2.0);
        page.words(&name, at, Anchor::End, font(12.0, false));
        for &(from, until, kind) in &row.bars {
            if until <= self.from || from >= self.until {
                continue;
            }
            let corners = [
                (self.x(from), top_px + 3.0),
                (self.x(until), top_px + ROW_PX - 3.0),
            ];
            let (what, colour) = self.kinds[kind];
            let says = format!("{}: {what} from {from}, {}", row.name, until - from);
            page.tip(&says, |page| page.bar(corners, colour));
        }
    }

    /// How many are inside: steps from zero to the most that there are.
    fn strip(&self, page: &mut Page, y: [f64; 2]) {
        let before = self.inside.iter().rev().find(|at| at.0 <= self.from);
        let mut now = before.map_or(0, |at| at.1);
        let within = (self.inside.iter()).filter(|at| at.0 > self.from && at.0 < self.until);
        let most = within
            .clone()
            .map(|at| at.1)
            .chain([now, 1])
            .max()
            .unwrap_or(1);
        let height = |count: u64| y[1] - (y[1] - y[0]) * count as f64 / most as f64;
        let mut line = vec![(self.x(self.from), height(now))];
        for &(at, count) in within {
            line.push((self.x(at), height(now)));
            line.push((self.x(at), height(count)));
            now = count;
        }
        line.push((self.x(self.until), height(now)));
        for count in [0, most] {
            let at = (LEFT_PX + NAMES_PX - 8.0, height(count));
            page.words(&count.to_string(), at, Anchor::End, font(12.0, false));
            let ends = [self.from, self.until].map(|time| (self.x(time), height(count)));
            page.line(&ends, GRID, 1.0);
        }
        let at = (LEFT_PX + NAMES_PX - 8.0, (y[0] + y[1]) / 2.0);
        page.words("requests inside", at, Anchor::End, font(12.0, false));
        page.line(&line, INK, 1.4)
    }
}

fn font(px: f64, bold: bool) -> Font {
    let colour = if bold { INK } else { GREY };
    Font { px, bold, colour }
}
