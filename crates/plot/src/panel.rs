//! One order on the page: the head's path over the wraps, and its place over time.

use crate::axis::{self, Along, Tick};
use crate::colours::{BLUE, GREEN, GREY, INK, VERMILLION};
use crate::legs::{Extent, Kind, Leg, runs};
use crate::page::{Anchor, Colour, Font, Page, Px};
use tapewise_model::Geometry;

const FRAME: Colour = Colour::rgb(150, 150, 150);
const GRID: Colour = Colour::rgb(225, 225, 225);
const TAPE: Colour = Colour::rgb(250, 250, 250);

/// Steps of the fade from the first move to the last.
pub const FADE_STEPS: usize = 12;

/// Up to this many legs arrows show which way each move goes; beyond, the fade must do.
const ARROWS_UP_TO: usize = 40;
/// Reads of more legs than this say nothing when they are pointed at: the file would be too large.
const TOLD_UP_TO: usize = 4_000;

/// Room that the words at the end of a path take.
const DONE_PX: f64 = 100.0;

/// The colour of a moment: pale at the start (0), dark at the end (1).
pub fn fade(moment: f64) -> Colour {
    let (pale, dark) = ((158.0, 205.0, 236.0), (0.0, 62.0, 112.0));
    let mix = |a: f64, b: f64| (a + (b - a) * moment).round() as u8;
    Colour::rgb(
        mix(pale.0, dark.0),
        mix(pale.1, dark.1),
        mix(pale.2, dark.2),
    )
}

/// A rectangle of the page.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Left and right edge.
    pub x: [f64; 2],
    /// Top and bottom edge.
    pub y: [f64; 2],
}

/// From data to a stretch of the page.
#[derive(Clone, Copy, Debug)]
struct Scale {
    data: [f64; 2],
    page: [f64; 2],
}

impl Scale {
    fn px(&self, value: f64) -> f64 {
        let span = self.data[1] - self.data[0];
        let share = if span > 0.0 {
            (value - self.data[0]) / span
        } else {
            0.0
        };
        self.page[0] + share * (self.page[1] - self.page[0])
    }
}

const SMALL: Font = Font {
    px: 11.5,
    bold: false,
    colour: GREY,
};

/// What a panel is drawn from.
pub struct Drawing<'a> {
    /// The page.
    pub page: &'a mut Page,
    /// Shape of the tape.
    pub geometry: &'a Geometry,
    /// What all panels fit into.
    pub extent: Extent,
    /// Whether this panel carries the labels of the vertical axes.
    pub first: bool,
    /// Whether this panel carries the names of the bands.
    pub last: bool,
    /// Whether the page has room for long titles of axes.
    pub wide: bool,
}

impl Drawing<'_> {
    /// The path over the wraps: length of the tape across, wraps upwards.
    pub fn path(&mut self, frame: Frame, legs: &[Leg]) {
        let across = self.lpos_scale(frame.x);
        let wraps = f64::from(self.extent.wraps);
        let up = Scale {
            data: [0.0, wraps],
            page: [frame.y[1], frame.y[0]],
        };
        let wrap_px = (frame.y[1] - frame.y[0]) / wraps;
        let place = |lpos: u32, wrap: u16| -> Px {
            (across.px(f64::from(lpos)), up.px(f64::from(wrap) + 0.5))
        };
        self.background(frame);
        self.bands(frame, up);
        let along = axis::along(self.geometry, self.extent.lpos, 6);
        self.lower_axis(frame, across, &along.ticks, self.title_of(&along));
        let ticks = axis::wrap_ticks(self.geometry, self.extent.wraps, 8);
        self.left_axis(frame, up, &ticks, "wrap");

        for run in runs(legs, FADE_STEPS) {
            let line: Vec<Px> = run
                .iter()
                .flat_map(|leg| [0, 1].map(|end| place(leg.lpos[end], leg.wrap[end])))
                .collect();
            self.page.line(&line, fade(moment(run, legs)), 0.9);
        }
        let half_px = (wrap_px / 2.0).clamp(1.4, 3.0);
        for leg in legs.iter().filter(|leg| leg.kind != Kind::Move) {
            let ends = [0, 1].map(|end| place(leg.lpos[end], leg.wrap[end]));
            if legs.len() > TOLD_UP_TO {
                read_bar(self.page, ends, half_px, leg.kind);
                continue;
            }
            let what = match leg.kind {
                Kind::ReadThrough => "read through",
                Kind::Read | Kind::Move => "read",
            };
            let took = leg.time[1] - leg.time[0];
            let says = format!(
                "{what}, wrap {}, after {}: {took}",
                leg.wrap[0], leg.time[0]
            );
            self.page
                .tip(&says, |page| read_bar(page, ends, half_px, leg.kind));
        }
        if legs.len() <= ARROWS_UP_TO {
            for leg in legs.iter().filter(|leg| leg.kind == Kind::Move) {
                self.arrow([0, 1].map(|end| place(leg.lpos[end], leg.wrap[end])));
            }
        }
        if let Some(leg) = legs.first() {
            self.page.dot(place(leg.lpos[0], leg.wrap[0]), 4.5, INK);
        }
    }

    /// The place along the tape over time: every turn of the head is a corner.
    pub fn strip(&mut self, frame: Frame, legs: &[Leg]) {
        let across = Scale {
            data: [0.0, self.extent.time.0.max(1) as f64],
            page: frame.x,
        };
        let up = self.lpos_scale([frame.y[1], frame.y[0]]);
        let place = |leg: &Leg, end: usize| -> Px {
            (
                across.px(leg.time[end].0 as f64),
                up.px(f64::from(leg.lpos[end])),
            )
        };
        self.background(frame);
        let along = axis::along(self.geometry, self.extent.lpos, 5);
        self.left_axis(frame, up, &along.ticks, &along.short_title);
        let ticks = axis::time_ticks(self.extent.time, 7);
        self.lower_axis(frame, across, &ticks, "time from the start");
        for run in runs(legs, FADE_STEPS) {
            let ends = run.iter().flat_map(|leg| [place(leg, 0), place(leg, 1)]);
            let line: Vec<Px> = ends.collect();
            self.page.line(&line, fade(moment(run, legs)), 0.9);
        }
        for leg in legs.iter().filter(|leg| leg.kind != Kind::Move) {
            let ends = [place(leg, 0), place(leg, 1)];
            self.page.line(&ends, colour(leg.kind), 2.2);
        }
        if let Some((first, last)) = legs.first().zip(legs.last()) {
            let end = across.px(last.time[1].0 as f64);
            let room_px = frame.x[1] - end;
            if room_px > 1.0 {
                let line = [(end, frame.y[0]), (end, frame.y[1])];
                self.page.line(&line, INK.faded(0.6), 1.0);
            }
            if room_px > DONE_PX {
                let at = (end + 5.0, frame.y[0] + 10.0);
                let total = format!("done after {}", last.time[1]);
                self.page.words(&total, at, Anchor::Start, SMALL);
            }
            self.page.dot(place(first, 0), 4.0, INK);
        }
    }

    fn title_of<'b>(&self, along: &'b Along) -> &'b str {
        if self.wide {
            &along.title
        } else {
            &along.short_title
        }
    }

    fn lpos_scale(&self, page: [f64; 2]) -> Scale {
        Scale {
            data: self.extent.lpos.map(f64::from),
            page,
        }
    }

    fn background(&mut self, frame: Frame) {
        let [left, right] = frame.x;
        let [top, bottom] = frame.y;
        self.page.bar([(left, top), (right, bottom)], TAPE);
        let corners = [
            (left, top),
            (right, top),
            (right, bottom),
            (left, bottom),
            (left, top),
        ];
        self.page.line(&corners, FRAME, 1.0)
    }

    fn bands(&mut self, frame: Frame, up: Scale) {
        if self.geometry.bands < 2 {
            return;
        }
        let [left, right] = frame.x;
        let starts: Vec<u16> = axis::band_starts(self.geometry).collect();
        for (band, &wrap) in starts.iter().enumerate() {
            let y = up.px(f64::from(wrap));
            if band > 0 {
                self.page.line(&[(left, y), (right, y)], GRID, 1.2);
            }
            if self.last {
                let end = starts.get(band + 1).copied().unwrap_or(self.geometry.wraps);
                let middle = (y + up.px(f64::from(end))) / 2.0;
                let name = format!("band {band}");
                self.page
                    .words(&name, (right + 8.0, middle), Anchor::Start, SMALL);
            }
        }
    }

    fn lower_axis(&mut self, frame: Frame, scale: Scale, ticks: &[Tick], title: &str) {
        let bottom = frame.y[1];
        for tick in ticks {
            let x = scale.px(tick.at);
            self.page
                .line(&[(x, bottom), (x, bottom + 4.0)], FRAME, 1.0);
            self.page
                .words(&tick.label, (x, bottom + 13.0), Anchor::Middle, SMALL);
        }
        let middle = (frame.x[0] + frame.x[1]) / 2.0;
        self.page
            .words(title, (middle, bottom + 30.0), Anchor::Middle, SMALL)
    }

    fn left_axis(&mut self, frame: Frame, scale: Scale, ticks: &[Tick], title: &str) {
        let left = frame.x[0];
        for tick in ticks {
            let y = scale.px(tick.at);
            self.page.line(&[(left - 4.0, y), (left, y)], FRAME, 1.0);
            if self.first {
                self.page
                    .words(&tick.label, (left - 7.0, y), Anchor::End, SMALL);
            }
        }
        if self.first {
            let at = (left - 40.0, frame.y[0] - 11.0);
            self.page.words(title, at, Anchor::Start, SMALL);
        }
    }

    /// An arrowhead a little past the middle of a move.
    fn arrow(&mut self, ends: [Px; 2]) {
        let (dx, dy) = (ends[1].0 - ends[0].0, ends[1].1 - ends[0].1);
        let length = dx.hypot(dy);
        if length < 18.0 {
            return;
        }
        let (ux, uy) = (dx / length, dy / length);
        let tip = (
            ends[0].0 + dx * 0.55 + ux * 5.0,
            ends[0].1 + dy * 0.55 + uy * 5.0,
        );
        let wing = |side: f64| {
            (
                tip.0 - ux * 10.0 - uy * 4.0 * side,
                tip.1 - uy * 10.0 + ux * 4.0 * side,
            )
        };
        self.page.shape(&[tip, wing(1.0), wing(-1.0)], BLUE)
    }
}

/// A thick bar along a wrap, at least as wide as can be seen.
fn read_bar(page: &mut Page, ends: [Px; 2], half_px: f64, kind: Kind) {
    let middle = (ends[0].0 + ends[1].0) / 2.0;
    let half_length = ((ends[0].0 - ends[1].0).abs() / 2.0).max(0.8);
    let corners = [
        (middle - half_length, ends[0].1 - half_px),
        (middle + half_length, ends[0].1 + half_px),
    ];
    page.bar(corners, colour(kind))
}

/// The colour of reading and of reading through.
pub fn colour(kind: Kind) -> Colour {
    match kind {
        Kind::Move => BLUE,
        Kind::ReadThrough => GREEN,
        Kind::Read => VERMILLION,
    }
}

/// When a run of legs takes place, from 0 to 1.
fn moment(run: &[Leg], legs: &[Leg]) -> f64 {
    let total = legs.last().map_or(0, |leg| leg.time[1].0).max(1);
    run.first()
        .map_or(0.0, |leg| leg.time[0].0 as f64 / total as f64)
}
