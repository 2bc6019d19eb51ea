//! Curves: times made of curves that a log draws, for drives whose law nobody has written down.
//!
//! ```text
//! way(LPOS)   = the tape's pace, summed up along the tape; an even pace where none is listed
//! d           = |way(LPOS') - way(LPOS)|, or by way of the station if the wraps lie on different sides
//! travel(d)   = the least of travel[i] + travel_per_way[i] * d
//! t = fixed(what changes) + travel(d) + step(wraps)             the head steps after the tape has stopped
//! t = fixed(what changes) + max(travel(d), step(wraps, bands))  the head steps while the tape runs
//! t = read_on + read_per_lpos * (LPOS' - LPOS) if that is less  ahead on the same wrap, at most as far as the drive reads on
//! ```
//!
//! Each curve stands for something that transports are known to do. A drive without a capstan winds at the speed that its
//! reels allow, so a metre takes longer in one place than in another: the pace. A short move is ruled by acceleration and
//! takes a time like the root of its distance: a curve that bends down, which is the least of several lines. Towards one
//! end winding may be slower than towards the other: two such curves. The head steps across the tape before or after it
//! is wound, or at the same time, and then the slower of both counts (Sandstå et al. on the MLR1). A cartridge with two
//! short reels is loaded in the middle, and what lies to either side is reached from there (Gniewek et al. 1999).
//!
//! Where steps count, times are not made of straight pieces that an order could look up: it prices all pairs.

mod values;

pub use values::CurvesValues;

use super::neighbours::{Groups, OwnWrap, TurningPoints};
use super::point::Point;
use super::rays::{Asked, Destination, Look, Slopes, Straight, base};
use super::times::Times;
use crate::geometry::{Direction, Geometry};
use crate::micros::{Micros, Pace};
use crate::position::Position;

/// Coefficients of the model of curves. None is below zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurvesCoefficients {
    /// Seconds of a locate on one wrap: destination ahead of the head in reading direction, and behind.
    pub same_wrap_s: [f64; 2],
    /// Seconds of a locate to another wrap of the band: in the same direction ahead and behind, in the other direction
    /// ahead and behind.
    pub other_wrap_s: [f64; 4],
    /// Seconds that a change of band adds, for the pairs 0-1, 0-2, ..., 1-2, ... of bands: to the step, if the head steps
    /// while the tape runs.
    pub band_change_s: Vec<f64>,
    /// For equal stretches of the tape, how many times longer than on the fastest one an LPOS unit takes.
    pub pace: Vec<f64>,
    /// Seconds at no distance of each line of travel away from the beginning of tape.
    pub away_s: Vec<f64>,
    /// Seconds for each unit of way of each of these lines: an LPOS unit of the fastest stretch.
    pub away_per_way_s: Vec<f64>,
    /// The lines of travel towards the beginning of tape.
    pub towards_s: Vec<f64>,
    /// Seconds for each unit of way of each of those lines.
    pub towards_per_way_s: Vec<f64>,
    /// Numbers of wraps to step over, rising.
    pub step_wraps: Vec<u16>,
    /// Seconds to step over as many; a straight line between two of them.
    pub step_s: Vec<f64>,
    /// Whether the head steps while the tape runs.
    pub steps_beside: bool,
    /// The place that moves between the two sides go by.
    pub station_lpos: Option<u32>,
    /// The wraps of the second side.
    pub far_wraps: Vec<u16>,
    /// Seconds before the drive reads on to a place ahead on the same wrap.
    pub read_on_s: f64,
    /// Seconds to read one LPOS unit of tape.
    pub read_per_lpos_s: f64,
    /// The furthest place ahead on the same wrap that the drive reads on to; any if it has no such rule.
    pub read_on_lpos: Option<u32>,
    /// Standard error of one prediction, where known.
    pub residual_s: Option<f64>,
}

/// Bits of a zone: the side, the direction; the band above them.
const SIDE: u16 = 1;
const DIRECTION: u16 = 2;
const BAND_SHIFT: u16 = 2;

/// Lines of travel: the least of them counts.
type Lines = Vec<(Micros, Pace)>;

/// The model of curves for a cartridge of one geometry.
#[derive(Clone, Debug)]
pub struct CurvesModel {
    /// By zone of the source, zone of the destination, and whether the destination is behind.
    elsewhere: Vec<[Micros; 2]>,
    same_wrap: [Micros; 2],
    /// Where each stretch of the tape begins, in units of way, and how long each LPOS unit is there.
    stretches: Vec<(f64, f64)>,
    stretch_lpos: f64,
    /// Away from the beginning of tape, and towards it.
    lines: [Lines; 2],
    /// By number of wraps that the head steps over; none where steps take no time of their own.
    steps: Vec<Micros>,
    /// What a change of band adds to a step, by the bands of source and destination.
    step_of_bands: Vec<Micros>,
    steps_beside: bool,
    /// The station, as LPOS and as way.
    station: Option<(i32, i32)>,
    far: Vec<bool>,
    read_on: Micros,
    read: Pace,
    /// How far ahead the drive reads on at most.
    reach: Option<i32>,
    geometry: Geometry,
    residual: Option<Micros>,
}

impl CurvesModel {
    /// The model for cartridges of this geometry.
    ///
    /// `band_change_s` must have an entry for each pair of the geometry's bands, and lists of one curve one length;
    /// profiles are checked for that. A missing entry counts as zero.
    pub fn new(coefficients: &CurvesCoefficients, geometry: &Geometry) -> CurvesModel {
        let c = coefficients;
        let micros = Micros::from_secs_f64;
        let zones = geometry.bands << BAND_SHIFT;
        let steps = steps(c, geometry.wraps);
        let steps_beside = c.steps_beside && !steps.is_empty();
        let of_bands = |from: u16, to: u16| {
            let pair = geometry.band_pair(from, to);
            *pair
                .and_then(|pair| c.band_change_s.get(pair))
                .unwrap_or(&0.0)
        };
        let fixed = |from: u16, to: u16| {
            let turn = usize::from((from ^ to) & DIRECTION != 0);
            let added = if steps_beside {
                0.0
            } else {
                of_bands(from >> BAND_SHIFT, to >> BAND_SHIFT)
            };
            [0, 1].map(|behind| micros(c.other_wrap_s[2 * turn + behind] + added))
        };
        let step_of_bands = |from: u16, to: u16| {
            if steps_beside {
                micros(of_bands(from, to))
            } else {
                Micros::ZERO
            }
        };
        let bands = geometry.bands;
        let lines = |startups: &[f64], paces: &[f64]| -> Lines {
            let lines = std::iter::zip(startups, paces);
            lines
                .map(|(&startup_s, &pace)| (micros(startup_s), Pace::over(pace, 1.0)))
                .collect()
        };
        let even = [1.0];
        let paces = if c.pace.is_empty() {
            &even
        } else {
            &c.pace[..]
        };
        let stretch_lpos = f64::from(geometry.wrap_lpos()) / paces.len() as f64;
        let mut begin = f64::from(geometry.lpos_min);
        let stretches = paces.iter().map(|&pace| {
            let stretch = (begin, pace);
            begin += pace * stretch_lpos;
            stretch
        });
        let mut model = CurvesModel {
            elsewhere: (0..zones)
                .flat_map(|from| (0..zones).map(move |to| fixed(from, to)))
                .collect(),
            same_wrap: c.same_wrap_s.map(micros),
            stretches: stretches.collect(),
            stretch_lpos,
            lines: [
                lines(&c.away_s, &c.away_per_way_s),
                lines(&c.towards_s, &c.towards_per_way_s),
            ],
            step_of_bands: (0..bands)
                .flat_map(|from| (0..bands).map(move |to| step_of_bands(from, to)))
                .collect(),
            steps,
            steps_beside,
            station: None,
            far: (0..geometry.wraps)
                .map(|wrap| c.far_wraps.contains(&wrap))
                .collect(),
            read_on: micros(c.read_on_s),
            read: Pace::over(c.read_per_lpos_s, 1.0),
            reach: c.read_on_lpos.map(|lpos| lpos as i32),
            geometry: geometry.clone(),
            residual: c.residual_s.map(micros),
        };
        model.station = c
            .station_lpos
            .map(|lpos| (lpos as i32, model.way(lpos as i32)));
        model
    }

    /// How far along the tape a place is, in units of way.
    fn way(&self, lpos: i32) -> i32 {
        let into = f64::from(lpos) - f64::from(self.geometry.lpos_min);
        let last = self.stretches.len() - 1;
        let stretch = ((into / self.stretch_lpos).max(0.0) as usize).min(last);
        let (begin, pace) = self.stretches[stretch];
        (begin + pace * (into - stretch as f64 * self.stretch_lpos)).round() as i32
    }

    fn zones(&self) -> usize {
        usize::from(self.geometry.bands) << BAND_SHIFT
    }

    fn zone(&self, wrap: u16) -> u16 {
        let reverse = self.geometry.direction(wrap) == Direction::Reverse;
        let far =
            self.station.is_some() && self.far.get(usize::from(wrap)).copied().unwrap_or(false);
        let direction = if reverse { DIRECTION } else { 0 };
        self.geometry.band(wrap) << BAND_SHIFT | direction | if far { SIDE } else { 0 }
    }

    /// Where the last part of a move to a zone begins, in LPOS and in units of way, and what is wound before: the head's
    /// own place, or the station.
    #[inline(always)]
    fn start(&self, from: &Point, zone: u16) -> (i32, i32, i64) {
        match self.station {
            Some((lpos, way)) if (from.zone ^ zone) & SIDE != 0 => {
                (lpos, way, i64::from(from.way - way).abs())
            }
            _ => (from.lpos, from.way, 0),
        }
    }

    #[inline(always)]
    fn travel(lines: &Lines, way: i64) -> Micros {
        let least = lines
            .iter()
            .map(|&(startup, pace)| (startup + pace.time(way)).0)
            .min();
        Micros(least.unwrap_or(0))
    }

    fn fixed_elsewhere(&self, from: u16, to: u16) -> [Micros; 2] {
        self.elsewhere[usize::from(from) * self.zones() + usize::from(to)]
    }

    fn wraps_count(&self) -> bool {
        !self.steps.is_empty()
    }
}

/// The seconds to step over each number of wraps.
fn steps(c: &CurvesCoefficients, wraps: u16) -> Vec<Micros> {
    let knots: Vec<(f64, f64)> = std::iter::zip(&c.step_wraps, &c.step_s)
        .map(|(&wraps, &s)| (wraps.into(), s))
        .collect();
    let (Some(&first), Some(&last)) = (knots.first(), knots.last()) else {
        return Vec::new();
    };
    let seconds = |wraps: f64| {
        let after = knots.partition_point(|knot| knot.0 <= wraps);
        match (
            after.checked_sub(1).map(|before| knots[before]),
            knots.get(after),
        ) {
            (None, _) => first.1,
            (_, None) => last.1,
            (Some(before), Some(after)) => {
                before.1 + (after.1 - before.1) * (wraps - before.0) / (after.0 - before.0)
            }
        }
    };
    // On its own wrap the head has nowhere to go.
    let stepped = (1..wraps).map(|wraps| Micros::from_secs_f64(seconds(wraps.into())));
    std::iter::once(Micros::ZERO).chain(stepped).collect()
}

impl Times for CurvesModel {
    fn point(&self, position: &Position) -> Point {
        let lpos = position.lpos as i32;
        Point {
            lpos,
            wrap: position.wrap,
            zone: self.zone(position.wrap),
            way: self.way(lpos),
            ..Point::default()
        }
    }

    #[inline(always)]
    fn time(&self, from: &Point, to: &Point) -> Micros {
        let forward = to.zone & DIRECTION == 0;
        let same_wrap = from.wrap == to.wrap;
        let (_, start, before) = self.start(from, to.zone);
        let up = i64::from(to.way) - i64::from(start);
        // Right at the start is ahead of it.
        let away = if forward { up >= 0 } else { up > 0 };
        let behind = usize::from(away != forward);
        let travel = Self::travel(&self.lines[usize::from(!away)], before + up.abs());
        let fixed = if same_wrap {
            self.same_wrap
        } else {
            self.fixed_elsewhere(from.zone, to.zone)
        };
        let wraps = usize::from(from.wrap.abs_diff(to.wrap));
        let step = self.steps.get(wraps).copied().unwrap_or_default();
        let moved = if self.steps_beside {
            let bands = [from, to].map(|point| usize::from(point.zone >> BAND_SHIFT));
            let of_bands = bands[0] * usize::from(self.geometry.bands) + bands[1];
            travel.max(step + self.step_of_bands[of_bands])
        } else {
            travel + step
        };
        let locate = fixed[behind] + moved;
        let up = i64::from(to.lpos) - i64::from(from.lpos);
        let onward = if forward { up } else { -up };
        let reach = self.reach.map_or(i64::MAX, i64::from);
        if same_wrap && (0..=reach).contains(&onward) {
            locate.min(self.read_on + self.read.time(onward))
        } else {
            locate
        }
    }

    /// A locate to the beginning of tape as if it lay ahead on the own wrap: no other move needs so little.
    fn rewind(&self, from: &Point) -> Micros {
        let begin = self.way(self.geometry.lpos_min as i32);
        self.same_wrap[0] + Self::travel(&self.lines[1], i64::from(from.way) - i64::from(begin))
    }

    fn residual(&self) -> Option<Micros> {
        self.residual
    }
}

/// By zone; where each number of wraps has a time of its own, by wrap.
impl Groups for CurvesModel {
    fn groups(&self) -> usize {
        if self.wraps_count() {
            self.far.len().max(1)
        } else {
            self.zones()
        }
    }

    fn group(&self, to: &Point) -> usize {
        usize::from(if self.wraps_count() { to.wrap } else { to.zone }).min(self.groups() - 1)
    }

    fn turning_points(&self, from: &Point, group: usize) -> TurningPoints {
        let zone = if self.wraps_count() {
            self.zone(group as u16)
        } else {
            group as u16
        };
        let (start, ..) = self.start(from, zone);
        TurningPoints::one(start - i32::from(zone & DIRECTION == 0))
    }

    fn own_wrap(&self, from: &Point) -> Option<OwnWrap> {
        Some(OwnWrap::Turns(TurningPoints::one(
            from.lpos - i32::from(from.wrap & 1 == 0),
        )))
    }
}

/// Classes by zone and line of travel, with the way along the tape. The own wrap has classes of its own, by line, and one
/// for reading on.
impl Straight for CurvesModel {
    fn is_straight(&self) -> bool {
        !self.wraps_count()
    }

    fn slopes(&self, class: usize) -> Slopes {
        let most = self.most_lines();
        let of_wrap = class
            .checked_sub(self.on_wrap(0, 0))
            .map(|class| (class / (most + 1), class % (most + 1)));
        if let Some((wrap, line)) = of_wrap
            && line == most
        {
            let forward = wrap & 1 == 0;
            let read = Some(self.read.fine()).filter(|_| self.reach.is_none());
            return Slopes {
                below: read.filter(|_| !forward).map(|read| -read),
                above: read.filter(|_| forward),
            };
        }
        let line = of_wrap.map_or(class % most, |(_, line)| line);
        let [above, below] = [0, 1].map(|way| self.lines[way].get(line).map(|line| line.1.fine()));
        Slopes {
            below: below.map(|pace| -pace),
            above,
        }
    }

    fn destinations(&self, to: &Point, give: &mut dyn FnMut(Destination)) {
        let weight = Micros::ZERO;
        for line in 0..self.most_lines() {
            let class = usize::from(to.zone) * self.most_lines() + line;
            give(Destination {
                class,
                along: to.way,
                weight,
                group: Some(to.wrap.into()),
            });
            give(Destination {
                class: self.on_wrap(to.wrap, line),
                along: to.way,
                weight,
                group: None,
            });
        }
        let class = self.on_wrap(to.wrap, self.most_lines());
        give(Destination {
            class,
            along: to.lpos,
            weight,
            group: None,
        });
    }

    fn looks(&self, from: &Point, give: &mut dyn FnMut(Look)) {
        for line in 0..self.most_lines() {
            for zone in 0..self.zones() as u16 {
                let class = usize::from(zone) * self.most_lines() + line;
                let fixed = self.fixed_elsewhere(from.zone, zone);
                let look = self.look(from, class, line, zone, fixed);
                give(Look {
                    except: Some(from.wrap.into()),
                    ..look
                });
            }
            give(self.look(
                from,
                self.on_wrap(from.wrap, line),
                line,
                from.zone,
                self.same_wrap,
            ));
        }
        if self.reach.is_some() {
            return;
        }
        let (forward, read) = (from.wrap & 1 == 0, self.read.fine());
        give(Look {
            class: self.on_wrap(from.wrap, self.most_lines()),
            // The source's own place is ahead of it.
            pivot: from.lpos - i32::from(forward),
            below: (!forward).then(|| base(self.read_on, -read, from.lpos)),
            above: forward.then(|| base(self.read_on, read, from.lpos)),
            except: None,
        });
    }

    fn asked(&self, from: &Point) -> Option<Asked> {
        let reach = self.reach?;
        let along = if from.wrap & 1 == 0 {
            from.lpos..=from.lpos.saturating_add(reach)
        } else {
            from.lpos.saturating_sub(reach)..=from.lpos
        };
        Some(Asked {
            class: self.on_wrap(from.wrap, self.most_lines()),
            along,
        })
    }
}

impl CurvesModel {
    fn most_lines(&self) -> usize {
        self.lines[0].len().max(self.lines[1].len())
    }

    /// The class of a line of travel on one wrap; one line more than there are is reading on.
    fn on_wrap(&self, wrap: u16, line: usize) -> usize {
        let most = self.most_lines();
        self.zones() * most + usize::from(wrap) * (most + 1) + line
    }

    /// One line of travel to destinations of a zone ahead and behind.
    fn look(&self, from: &Point, class: usize, line: usize, zone: u16, fixed: [Micros; 2]) -> Look {
        let forward = zone & DIRECTION == 0;
        let (_, start, before) = self.start(from, zone);
        let piece = |away: bool| {
            let &(startup, pace) = self.lines[usize::from(!away)].get(line)?;
            let slope = if away { pace.fine() } else { -pace.fine() };
            let fixed = fixed[usize::from(away != forward)] + startup;
            Some(base(fixed, slope, start) + pace.fine() * before)
        };
        Look {
            class,
            pivot: start - i32::from(forward),
            below: piece(false),
            above: piece(true),
            except: None,
        }
    }
}
