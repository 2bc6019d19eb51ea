//! A picture of the head's path: the orders of one batch side by side, as SVG.

use crate::axis;
use crate::colours::{GREY, INK};
use crate::legs::{self, Kind, Leg};
use crate::page::{Anchor, Font, Page, fitted};
use crate::panel::{Drawing, FADE_STEPS, Frame, colour, fade};
use tapewise_model::{Geometry, Layout};
use tapewise_order::Plan;

/// One order in a picture.
pub struct Panel<'a> {
    /// Name of the order; total time and tape moved are added to it.
    pub title: String,
    /// What the drive does.
    pub plan: &'a Plan,
}

/// Width of two panels; more of them make the page wider.
const WIDTH_PX: f64 = 1400.0;
const LEFT_PX: f64 = 62.0;
/// Room for the names of bands beside the last panel.
const RIGHT_PX: f64 = 62.0;
const GAP_PX: f64 = 34.0;
/// A panel narrower than this has no room for its ticks.
const PANEL_PX: f64 = 400.0;
/// The path over the wraps, and below it the place over time; helical tape has the second only.
const PATH_PX: [f64; 2] = [112.0, 436.0];
const STRIP_PX: [f64; 2] = [510.0, 650.0];
const ALONE_PX: [f64; 2] = [120.0, 340.0];
/// From the bottom of the last panel to the end of the page: ticks and the title of the axis.
const FOOT_PX: f64 = 48.0;

/// The heads' paths of some orders of one batch as SVG text, all on the same scales.
///
/// Across runs the length of the tape, upwards the wraps; below stands the place along the tape
/// over time. Helical tape has one wrap and the second row only. The same plans give the same
/// bytes.
pub fn head_paths(panels: &[Panel], geometry: &Geometry, title: &str) -> String {
    let paths: Vec<Vec<Leg>> = panels
        .iter()
        .map(|panel| legs::legs(panel.plan, geometry))
        .collect();
    let extent = legs::extent(&paths, geometry);
    let count = panels.len() as f64;
    let fixed_px = LEFT_PX + RIGHT_PX + GAP_PX * (count - 1.0);
    let width_px = WIDTH_PX.max(fixed_px + PANEL_PX * count);
    let panel_px = (width_px - fixed_px) / count;
    let (path_px, strip_px) = rows(geometry);
    let height_px = strip_px[1] + FOOT_PX;

    Page::drawn(width_px, height_px, |page| {
        let font = heading(19.0);
        page.words(
            &fitted(title, 19.0, width_px - LEFT_PX),
            (LEFT_PX, 26.0),
            Anchor::Start,
            font,
        );
        legend(page, &paths, path_px.is_some());
        for (at, (panel, legs)) in panels.iter().zip(&paths).enumerate() {
            let left = LEFT_PX + at as f64 * (panel_px + GAP_PX);
            let x = [left, left + panel_px];
            let words = fitted(&panel_title(panel, geometry), 15.0, panel_px);
            page.words(&words, (left, 82.0), Anchor::Start, heading(15.0));
            let mut drawing = Drawing {
                page,
                geometry,
                extent,
                first: at == 0,
                last: at + 1 == panels.len(),
                wide: panel_px > 480.0,
            };
            if let Some(y) = path_px {
                drawing.path(Frame { x, y }, legs);
            }
            drawing.strip(Frame { x, y: strip_px }, legs);
        }
    })
}

/// Top and bottom of the path over the wraps, where there are several, and of the strip below.
fn rows(geometry: &Geometry) -> (Option<[f64; 2]>, [f64; 2]) {
    match geometry.layout {
        Layout::Serpentine => (Some(PATH_PX), STRIP_PX),
        Layout::Helical => (None, ALONE_PX),
    }
}

fn heading(px: f64) -> Font {
    Font {
        px,
        bold: true,
        colour: INK,
    }
}

/// Name, total time and tape moved: what two panels are compared by.
fn panel_title(panel: &Panel, geometry: &Geometry) -> String {
    let totals = &panel.plan.totals;
    let distance = match geometry.layout {
        // LPOS of helical tape counts data: lengths of tape say more than gigabytes passed.
        Layout::Helical => {
            let bare = Geometry {
                metres_per_lpos: None,
                ..geometry.clone()
            };
            axis::tape_moved(totals.distance_lpos, &bare)
        }
        Layout::Serpentine => axis::tape_moved(totals.distance_lpos, geometry),
    };
    format!("{}: {}, {distance} of tape", panel.title, totals.total)
}

/// What the colours mean; reading through only where it happens.
fn legend(page: &mut Page, paths: &[Vec<Leg>], with_wraps: bool) {
    const Y: f64 = 54.0;
    const SWATCH_PX: f64 = 30.0;
    let font = Font {
        px: 12.0,
        bold: false,
        colour: GREY,
    };
    let mut x = LEFT_PX;
    let label = |page: &mut Page, words: &str, x: &mut f64| {
        let at = (*x, Y);
        *x += words.chars().count() as f64 * 6.0 + 24.0;
        page.words(words, at, Anchor::Start, font);
    };
    page.dot((x + 5.0, Y), 4.5, INK);
    x += 17.0;
    label(page, "start", &mut x);

    let step_px = 4.0;
    for step in 0..FADE_STEPS {
        let left = x + step as f64 * step_px;
        let shade = fade(step as f64 / (FADE_STEPS - 1) as f64);
        page.line(&[(left, Y), (left + step_px + 0.5, Y)], shade, 2.5);
    }
    x += FADE_STEPS as f64 * step_px + 8.0;
    label(
        page,
        "positioning, from the first move (pale) to the last (dark)",
        &mut x,
    );

    let reads_through = |leg: &Leg| leg.kind == Kind::ReadThrough;
    let through = paths.iter().flatten().any(reads_through);
    let mut kinds = vec![(Kind::Read, "reading")];
    if through {
        kinds.push((Kind::ReadThrough, "reading through a gap"));
    }
    for (kind, words) in kinds {
        page.bar([(x, Y - 2.5), (x + SWATCH_PX, Y + 2.5)], colour(kind));
        x += SWATCH_PX + 8.0;
        label(page, words, &mut x);
    }
    if with_wraps {
        label(page, "above: where on the tape; below: when", &mut x);
    }
}

#[cfg(test)]
mod tests;
