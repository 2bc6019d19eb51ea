//! Landing points: fast to the nearest one at or before the destination, then reading up to it.
//!
//! ```text
//! locate = fixed(what changes) + travel(|L - LPOS|) + read_per_lpos * |LPOS' - L|
//! travel(d) = the least of travel[i] + travel_per_lpos[i] * d
//! t = locate, or on the same wrap read_on + read_per_lpos * (LPOS' - LPOS) if that is less
//! ```
//!
//! `L` is the last landing point at or before the destination in its reading direction; the
//! beginning of a wrap is one, and without a list every place is. Where a landing point lies a bit
//! elsewhere on each cartridge, what is expected of a destination beside it lies between two
//! landing points: `L` then climbs from one to the next in steps. What the fixed part tells apart
//! is what the mechanics must do: on the same wrap, whether `L` is ahead or behind; elsewhere also
//! whether the reading direction turns, and between which bands the head steps. A second, steeper
//! line of travel is the tape getting up to speed.
//!
//! The model is ours. That drives read up to their destination from a place they can find at speed
//! is Hillyer & Silberschatz 1996 (key points of the DLT4000) and CERN 2018 ("landing" slides of
//! the annex, LTO). Without landing points it is CERN's regression with one constant for each kind
//! of move.

mod values;

pub use values::LandingValues;

use super::neighbours::{Groups, OwnWrap, TurningPoints};
use super::point::Point;
use super::rays::{Destination, Look, Slopes, Straight, base};
use super::times::Times;
use crate::geometry::{Direction, Geometry};
use crate::micros::{Micros, Pace};
use crate::position::Position;

/// Coefficients of the landing-point model. All but `mid_cross_s` are zero or more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LandingCoefficients {
    /// Seconds of a locate on one wrap: landing ahead of the head in reading direction, and behind.
    pub same_wrap_s: [f64; 2],
    /// Seconds of a locate to another wrap of the band: in the same direction, landing ahead and
    /// behind as the destination is read; in the other direction, ahead and behind.
    pub other_wrap_s: [f64; 4],
    /// Seconds that a change of band adds, for the pairs 0-1, 0-2, ..., 1-2, ... of bands.
    pub band_change_s: Vec<f64>,
    /// Seconds added where head and landing point lie in different halves of the tape.
    pub mid_cross_s: f64,
    /// Seconds saved then for each LPOS unit between the head and the middle: outside the area that
    /// holds the destination a drive need not count, and may run faster.
    pub outside_saves_per_lpos_s: f64,
    /// Seconds at no distance of each line of travel; travel is the least of the lines.
    pub travel_s: Vec<f64>,
    /// Seconds for each LPOS unit of each line.
    pub travel_per_lpos_s: Vec<f64>,
    /// Seconds before the drive reads on to a place ahead on the same wrap.
    pub read_on_s: f64,
    /// Seconds to read one LPOS unit of tape.
    pub read_per_lpos_s: f64,
    /// Seconds added where the drive lands at the very beginning of a wrap: wraps that run away from
    /// the beginning of tape, and towards it.
    pub wrap_start_s: [f64; 2],
    /// Landing points of wraps that run away from the beginning of tape, in LPOS units.
    pub forward_lpos: Vec<u32>,
    /// Landing points of wraps that run towards it.
    pub reverse_lpos: Vec<u32>,
    /// How far, either way, a cartridge's landing point may lie from where it is listed.
    pub landing_spread_lpos: u32,
    /// Standard error of one prediction, where known.
    pub residual_s: Option<f64>,
}

/// Bits of a zone: the half of the tape, the direction; the band above them.
const HALF: u16 = 1;
const DIRECTION: u16 = 2;
const BAND_SHIFT: u16 = 2;

/// The landing-point model for a cartridge of one geometry.
#[derive(Clone, Debug)]
pub struct LandingModel {
    /// By zone of the source, zone of the destination, and whether the landing point is behind.
    elsewhere: Vec<[Micros; 2]>,
    /// By whether the middle is crossed, and whether the landing point is behind.
    same_wrap: [[Micros; 2]; 2],
    lines: Vec<(Micros, Pace)>,
    read_on: Micros,
    read: Pace,
    outside: Pace,
    wrap_start: [Micros; 2],
    starts: [i32; 2],
    forward: Landings,
    reverse: Landings,
    halves: bool,
    geometry: Geometry,
    residual: Option<Micros>,
}

/// Destinations with one landing point.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// The first of them in reading order.
    first: i32,
    landing: i32,
}

/// The cells of one direction, from the beginning of tape. Empty where every place is a landing
/// point.
#[derive(Clone, Debug)]
struct Landings(Vec<Cell>);

/// Steps from one landing point to the next where it is not known which of them serves. Three lose
/// a twentieth of what a straight line would gain over none, and times within each still rise in
/// reading order.
const STEPS: i64 = 3;

impl Landings {
    /// From the places listed; the beginning of the wrap is one, and known exactly.
    fn new(points: &[u32], start_of_wrap: u32, spread: u32, direction: Direction) -> Landings {
        if points.is_empty() {
            return Landings(Vec::new());
        }
        let sign = match direction {
            Direction::Forward => 1,
            Direction::Reverse => -1,
        };
        // In reading order, which runs down the tape on reverse wraps.
        let listed = points.iter().chain([&start_of_wrap]);
        let mut places: Vec<i64> = listed.map(|&lpos| sign * i64::from(lpos)).collect();
        places.sort_unstable();
        places.dedup();
        let mut cells = vec![(places[0], places[0])];
        for (at, pair) in places.windows(2).enumerate() {
            let (before, point) = (pair[0], pair[1]);
            let next = places.get(at + 2).map_or(i64::MAX, |next| next - point);
            let spread = if sign * point == i64::from(start_of_wrap) {
                0
            } else {
                i64::from(spread).min((point - before) / 2).min(next / 2)
            };
            for step in 1..=STEPS + 1 {
                // Where the chance that the point is reached passes the middle between two steps.
                let first = point + spread * (2 * step - STEPS - 2) / (STEPS + 1);
                let landing = before + (point - before) * step / (STEPS + 1);
                match cells.last_mut() {
                    Some(last) if last.0 == first => last.1 = landing,
                    _ => cells.push((first, landing)),
                }
            }
        }
        let cell = |(first, landing): (i64, i64)| Cell {
            first: (sign * first) as i32,
            landing: (sign * landing) as i32,
        };
        let mut cells: Vec<Cell> = cells.into_iter().map(cell).collect();
        cells.sort_unstable_by_key(|cell| cell.first);
        Landings(cells)
    }

    /// Which cell a place is in, counted from the beginning of tape.
    fn cell(&self, lpos: i32, forward: bool) -> usize {
        let reached = if forward {
            self.0.partition_point(|cell| cell.first <= lpos)
        } else {
            self.0.partition_point(|cell| cell.first < lpos) + 1
        };
        // Before the first one in reading direction the drive begins with that one too.
        reached.clamp(1, self.0.len().max(1)) - 1
    }

    fn serving(&self, lpos: i32, forward: bool) -> i32 {
        if self.0.is_empty() {
            lpos
        } else {
            self.0[self.cell(lpos, forward)].landing
        }
    }
}

impl LandingModel {
    /// The model for cartridges of this geometry.
    ///
    /// `band_change_s` must have an entry for each pair of the geometry's bands, and the lists of
    /// travel one length; profiles are checked for that. A missing entry counts as zero.
    pub fn new(coefficients: &LandingCoefficients, geometry: &Geometry) -> LandingModel {
        let c = coefficients;
        let micros = Micros::from_secs_f64;
        let cross = |crossed: usize| if crossed == 1 { c.mid_cross_s } else { 0.0 };
        let zones = geometry.bands << BAND_SHIFT;
        let fixed = |from: u16, to: u16| {
            let turn = usize::from((from ^ to) & DIRECTION != 0);
            let pair = geometry.band_pair(from >> BAND_SHIFT, to >> BAND_SHIFT);
            let band_change = pair
                .and_then(|pair| c.band_change_s.get(pair))
                .unwrap_or(&0.0);
            let added = band_change + cross(usize::from((from ^ to) & HALF));
            [0, 1].map(|behind| micros(c.other_wrap_s[2 * turn + behind] + added))
        };
        let landings = |points: &[u32], start, direction| {
            Landings::new(points, start, c.landing_spread_lpos, direction)
        };
        LandingModel {
            elsewhere: (0..zones)
                .flat_map(|from| (0..zones).map(move |to| fixed(from, to)))
                .collect(),
            same_wrap: [0, 1].map(|crossed| c.same_wrap_s.map(|s| micros(s + cross(crossed)))),
            lines: std::iter::zip(&c.travel_s, &c.travel_per_lpos_s)
                .map(|(&startup_s, &pace)| (micros(startup_s), Pace::over(pace, 1.0)))
                .collect(),
            read_on: micros(c.read_on_s),
            read: Pace::over(c.read_per_lpos_s, 1.0),
            outside: Pace::over(c.outside_saves_per_lpos_s, 1.0),
            wrap_start: c.wrap_start_s.map(micros),
            starts: [geometry.lpos_min, geometry.lpos_max].map(|lpos| lpos as i32),
            forward: landings(&c.forward_lpos, geometry.lpos_min, Direction::Forward),
            reverse: landings(&c.reverse_lpos, geometry.lpos_max, Direction::Reverse),
            halves: c.mid_cross_s != 0.0 || c.outside_saves_per_lpos_s != 0.0,
            geometry: geometry.clone(),
            residual: c.residual_s.map(micros),
        }
    }

    fn landings(&self, forward: bool) -> &Landings {
        if forward {
            &self.forward
        } else {
            &self.reverse
        }
    }

    /// Zones of a destination: band, direction and half of its landing point.
    fn zones(&self) -> usize {
        usize::from(self.geometry.bands) << BAND_SHIFT
    }

    /// The zone of a destination.
    fn zone(&self, to: &Point) -> usize {
        usize::from(to.zone)
    }

    /// The half of the tape, 0 or 1, that a zone lies in; 0 where halves make no difference.
    fn half(zone: usize) -> usize {
        zone & usize::from(HALF)
    }

    /// Whether wraps of a zone run away from the beginning of tape.
    fn is_forward(zone: usize) -> bool {
        zone & usize::from(DIRECTION) == 0
    }

    /// Destinations of one zone that share a landing point: groups in which time rises in reading
    /// order. The group of a destination, numbered within all zones.
    fn group_of(&self, to: &Point) -> usize {
        self.zone(to) * self.cells() + self.cell(to).unwrap_or(0)
    }

    /// Landing points of the direction that has more of them.
    fn cells(&self) -> usize {
        self.forward.0.len().max(self.reverse.0.len()).max(1)
    }

    /// Which landing point serves a destination; `None` where every place is one.
    fn cell(&self, to: &Point) -> Option<usize> {
        let forward = Self::is_forward(self.zone(to));
        let landings = self.landings(forward);
        (!landings.0.is_empty()).then(|| landings.cell(to.lpos, forward))
    }

    /// Whether every place of a zone is a landing point.
    fn lands_anywhere(&self, zone: usize) -> bool {
        self.landings(Self::is_forward(zone)).0.is_empty()
    }

    /// The half of the tape that a source counts to: where it is, not where it was reached from.
    fn source_zone(&self, from: &Point) -> usize {
        let far = self.halves && from.lpos >= self.geometry.lpos_middle() as i32;
        self.zone(from) & !usize::from(HALF) | usize::from(far)
    }

    /// The fixed parts of moves to other wraps of a zone: landing point ahead, and behind.
    #[inline(always)]
    fn fixed_elsewhere(&self, from: &Point, zone: usize) -> [Micros; 2] {
        let source = self.source_zone(from);
        let saved = self.saved(from, source, Self::half(zone));
        self.elsewhere[source * self.zones() + zone].map(|fixed| fixed - saved)
    }

    /// The fixed parts of locates on the own wrap to landing points of a half.
    #[inline(always)]
    fn fixed_on_wrap(&self, from: &Point, half: usize) -> [Micros; 2] {
        let source = self.source_zone(from);
        let saved = self.saved(from, source, half);
        self.same_wrap[Self::half(source) ^ half].map(|fixed| fixed - saved)
    }

    /// What is saved on the way to a landing point of a half: it depends on the source only.
    #[inline(always)]
    fn saved(&self, from: &Point, source_zone: usize, half: usize) -> Micros {
        if Self::half(source_zone) == half {
            return Micros::ZERO;
        }
        let outside = i64::from(from.lpos) - i64::from(self.geometry.lpos_middle());
        self.outside.time(outside.abs())
    }

    /// What a destination adds to any locate: reading up to it, and the beginning of a wrap.
    #[inline(always)]
    fn weight(&self, to: &Point) -> Micros {
        let forward = Self::is_forward(self.zone(to));
        let reverse = usize::from(!forward);
        let along = i64::from(to.lpos) - i64::from(to.landing);
        let read = self.read.time([along, -along][reverse].max(0));
        // Where the drive lands anywhere, it lands at a beginning by chance only.
        if to.landing == self.starts[reverse] && !self.landings(forward).0.is_empty() {
            read + self.wrap_start[reverse]
        } else {
            read
        }
    }

    #[inline(always)]
    fn travel(&self, distance: i64) -> Micros {
        let lines = self.lines.iter();
        let least = lines
            .map(|&(startup, pace)| (startup + pace.time(distance)).0)
            .min();
        Micros(least.unwrap_or(0))
    }
}

impl Times for LandingModel {
    fn point(&self, position: &Position) -> Point {
        let forward = self.geometry.direction(position.wrap) == Direction::Forward;
        let lpos = position.lpos as i32;
        let landing = self.landings(forward).serving(lpos, forward);
        let far_half = self.halves && landing >= self.geometry.lpos_middle() as i32;
        let half = if far_half { HALF } else { 0 };
        let direction = if forward { 0 } else { DIRECTION };
        Point {
            lpos,
            wrap: position.wrap,
            zone: self.geometry.band(position.wrap) << BAND_SHIFT | direction | half,
            landing,
            ..Point::default()
        }
    }

    #[inline(always)]
    fn time(&self, from: &Point, to: &Point) -> Micros {
        let forward = Self::is_forward(self.zone(to));
        let same_wrap = from.wrap == to.wrap;
        let fixed = if same_wrap {
            self.fixed_on_wrap(from, Self::half(self.zone(to)))
        } else {
            self.fixed_elsewhere(from, self.zone(to))
        };
        let ahead = i64::from(to.landing) - i64::from(from.lpos);
        let behind = if forward { ahead < 0 } else { ahead > 0 };
        let locate = fixed[usize::from(behind)] + self.travel(ahead.abs()) + self.weight(to);
        let up = i64::from(to.lpos) - i64::from(from.lpos);
        let onward = if forward { up } else { -up };
        if same_wrap && onward >= 0 {
            locate.min(self.read_on + self.read.time(onward))
        } else {
            locate
        }
    }

    /// A locate to the beginning of the first wrap, as if it lay ahead on the own one: no other
    /// move needs so little.
    fn rewind(&self, from: &Point) -> Micros {
        self.same_wrap[0][0] + self.travel(i64::from(from.lpos) - i64::from(self.geometry.lpos_min))
    }

    fn residual(&self) -> Option<Micros> {
        self.residual
    }
}

impl Groups for LandingModel {
    fn groups(&self) -> usize {
        self.zones() * self.cells()
    }

    fn group(&self, to: &Point) -> usize {
        self.group_of(to)
    }

    fn turning_points(&self, from: &Point, group: usize) -> TurningPoints {
        let zone = group / self.cells();
        let forward = LandingModel::is_forward(zone);
        TurningPoints::one(match (self.lands_anywhere(zone), forward) {
            // Right at the source is ahead of it.
            (true, _) => from.lpos - i32::from(forward),
            // Behind one landing point, time rises in reading order.
            (false, true) => i32::MIN,
            (false, false) => i32::MAX,
        })
    }

    fn own_wrap(&self, _from: &Point) -> Option<OwnWrap> {
        Some(OwnWrap::Anywhere)
    }
}

/// Classes by zone and line of travel, with the landing point along the tape and what the
/// destination adds as the weight: the least of the lines is the travel. The own wrap has classes
/// of its own, by half and line, and one for reading on.
impl Straight for LandingModel {
    fn slopes(&self, class: usize) -> Slopes {
        let lines = self.lines.len();
        let of_wrap = class.checked_sub(self.on_wrap(0, 0, 0));
        let kinds = 2 * lines + 1;
        if let Some(class) = of_wrap.filter(|class| class % kinds == 2 * lines) {
            let forward = (class / kinds) & 1 == 0;
            return Slopes {
                below: (!forward).then_some(-self.read.fine()),
                above: forward.then_some(self.read.fine()),
            };
        }
        let line = of_wrap.map_or(class, |class| class % kinds) % lines;
        Slopes::valley(self.lines[line].1)
    }

    fn destinations(&self, to: &Point, give: &mut dyn FnMut(Destination)) {
        let zone = self.zone(to);
        let weight = self.weight(to);
        for line in 0..self.lines.len() {
            let classes = [
                (zone * self.lines.len() + line, Some(u32::from(to.wrap))),
                (self.on_wrap(to.wrap, Self::half(zone), line), None),
            ];
            for (class, group) in classes {
                give(Destination {
                    class,
                    along: to.landing,
                    weight,
                    group,
                });
            }
        }
        give(Destination {
            class: self.reading_on_wrap(to.wrap),
            along: to.lpos,
            weight: Micros::ZERO,
            group: None,
        });
    }

    fn looks(&self, from: &Point, give: &mut dyn FnMut(Look)) {
        let own = Some(u32::from(from.wrap));
        for zone in 0..self.zones() {
            let fixed = self.fixed_elsewhere(from, zone);
            for line in 0..self.lines.len() {
                let class = zone * self.lines.len() + line;
                let look = self.look(from, class, line, Self::is_forward(zone), fixed);
                give(Look {
                    except: own,
                    ..look
                });
            }
        }
        let forward = from.wrap & 1 == 0;
        for half in 0..2 {
            let fixed = self.fixed_on_wrap(from, half);
            for line in 0..self.lines.len() {
                let class = self.on_wrap(from.wrap, half, line);
                give(self.look(from, class, line, forward, fixed));
            }
        }
        let read = self.read.fine();
        give(Look {
            class: self.reading_on_wrap(from.wrap),
            // The source's own place is ahead of it.
            pivot: from.lpos - i32::from(forward),
            below: (!forward).then(|| base(self.read_on, -read, from.lpos)),
            above: forward.then(|| base(self.read_on, read, from.lpos)),
            except: None,
        });
    }
}

impl LandingModel {
    fn on_wrap(&self, wrap: u16, half: usize, line: usize) -> usize {
        let lines = self.lines.len();
        self.zones() * lines + usize::from(wrap) * (2 * lines + 1) + half * lines + line
    }

    fn reading_on_wrap(&self, wrap: u16) -> usize {
        self.on_wrap(wrap, 2, 0)
    }

    /// One line of travel to landing points ahead and behind.
    fn look(
        &self,
        from: &Point,
        class: usize,
        line: usize,
        forward: bool,
        [ahead, behind]: [Micros; 2],
    ) -> Look {
        let (startup, pace) = self.lines[line];
        let (below, above) = if forward {
            (behind, ahead)
        } else {
            (ahead, behind)
        };
        Look {
            class,
            pivot: from.lpos - i32::from(forward),
            below: Some(base(startup + below, -pace.fine(), from.lpos)),
            above: Some(base(startup + above, pace.fine(), from.lpos)),
            except: None,
        }
    }
}
