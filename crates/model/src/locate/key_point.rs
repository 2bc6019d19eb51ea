//! The DLT4000 by key points (Hillyer & Silberschatz 1996, section 3).
//!
//! The transport has two speeds: read, 15.5 s a section, and scan, 10 s a section. With the
//! sections of the destination track numbered 0 to 13 in its reading direction, `s` the source's
//! section so numbered and `j` the destination's:
//!
//! | case | destination | motion |
//! |---|---|---|
//! | 1 | same track, ahead, `j - s <= 2` | read |
//! | 2 | same direction, `j - s >= 2` | scan forward to key point `j - 1`, read |
//! | 3 | same direction, `j - s <= 1`, `j >= 2` | scan backward to key point `j - 1`, read |
//! | 4 | same direction, `j - s <= 1`, `j < 2` | scan backward to the track's beginning, read |
//! | 5 | other direction, `j - s >= 2` | scan forward to key point `j - 1`, read |
//! | 6 | other direction, `j - s <= 1`, `j >= 2` | scan backward to key point `j - 1`, read |
//! | 7 | other direction, `j - s <= 1`, `j < 2` | scan backward to the track's beginning, read |
//!
//! Key point `j - 1` is "the key point that is two before the destination". Each case has a
//! constant for switching tracks and turning around, which the paper does not print.

use super::neighbours::{Groups, TurningPoints};
use super::point::Point;
use super::rays::{Destination, Look, Slopes, Straight, base};
use super::stated::{Shape, Stated};
use super::times::Times;
use crate::key_points::KeyPoints;
use crate::micros::{Micros, Pace};
use crate::position::Position;
use crate::sourced::{Known, Sourced, value};
use serde::{Deserialize, Serialize};

/// The speeds and constants of the key-point model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyPointCoefficients {
    /// Seconds to read one section.
    pub read_s_per_section: f64,
    /// Seconds to scan past one section.
    pub scan_s_per_section: f64,
    /// Segments of a section.
    pub section_segments: u32,
    /// Seconds added in each of the seven cases.
    pub case_s: [f64; 7],
    /// Standard error of one prediction in seconds, where known.
    pub residual_s: Option<f64>,
}

/// What a profile states of it, and of the cartridges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // each field is documented where its equation stands
pub struct KeyPointValues {
    pub read_s_per_section: Sourced<f64>,
    pub scan_s_per_section: Sourced<f64>,
    pub section_segments: Sourced<u32>,
    pub last_section_segments: Sourced<u32>,
    pub segment_kb: Sourced<f64>,
    pub case_s: Sourced<[f64; 7]>,
    pub track_sd_segments: Sourced<f64>,
    pub dip_sd_segments: Sourced<f64>,
    pub residual_s: Known<f64>,
}

impl KeyPointValues {
    /// The coefficients without their sources.
    pub fn coefficients(&self) -> KeyPointCoefficients {
        KeyPointCoefficients {
            read_s_per_section: self.read_s_per_section.value,
            scan_s_per_section: self.scan_s_per_section.value,
            section_segments: self.section_segments.value,
            case_s: self.case_s.value,
            residual_s: value(&self.residual_s),
        }
    }
}

impl Stated for KeyPointValues {
    const NAME: &'static str = "key-point";
    type Model = KeyPointModel;

    fn model(&self, shape: &Shape<'_>) -> Option<KeyPointModel> {
        Some(KeyPointModel::new(&self.coefficients(), shape.key_points?))
    }

    /// The least constant of a case that leaves the track or the section, and a track at scanning speed.
    fn startup_and_full_s(&self, shape: &Shape<'_>) -> Option<(f64, f64)> {
        let cases = self.case_s.value[1..].iter().copied();
        let least = cases.fold(f64::INFINITY, f64::min);
        let length = f64::from(shape.key_points?.length());
        let sections = length / f64::from(self.section_segments.value);
        Some((least, sections * self.scan_s_per_section.value))
    }

    fn fault(&self, _bands: u16) -> Option<(&'static str, String)> {
        let is_zero = self.section_segments.value == 0;
        is_zero.then(|| ("locate.section_segments", "cannot be 0".to_owned()))
    }
}

/// What the transport does on a locate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Motion {
    /// The case of the paper, 1 to 7.
    pub case: usize,
    /// Segments that are scanned past.
    pub scanned: u32,
    /// Segments that are read to get to the destination.
    pub read: u32,
}

/// The key-point model of one cartridge.
#[derive(Clone, Debug)]
pub struct KeyPointModel {
    read: Pace,
    scan: Pace,
    case: [Micros; 7],
    /// The constants of cases 2 to 7: by the source's section and direction, then by the
    /// destination's direction and section; sections counted from the beginning of tape.
    locating: Vec<Micros>,
    /// By track, then by section in reading order: where the section begins.
    section_lpos: Vec<Vec<u32>>,
    sections: u16,
    /// Segments of the shortest section.
    shortest_section: i64,
    residual: Option<Micros>,
}

impl KeyPointModel {
    /// The model for a cartridge with these key points.
    pub fn new(coefficients: &KeyPointCoefficients, key_points: &KeyPoints) -> KeyPointModel {
        let section = f64::from(coefficients.section_segments);
        let starts = (0..key_points.tracks())
            .flat_map(|track| key_points.track(track))
            .copied();
        let bounds: Vec<u64> = starts.chain([key_points.segments()]).collect();
        let shortest = bounds.windows(2).map(|pair| pair[1] - pair[0]).min();
        let mut model = KeyPointModel {
            read: Pace::over(coefficients.read_s_per_section, section),
            scan: Pace::over(coefficients.scan_s_per_section, section),
            case: coefficients.case_s.map(Micros::from_secs_f64),
            locating: Vec::new(),
            section_lpos: (0..key_points.tracks())
                .map(|t| key_points.section_lpos(t))
                .collect(),
            sections: key_points.sections(),
            shortest_section: shortest.unwrap_or(0) as i64,
            residual: coefficients.residual_s.map(Micros::from_secs_f64),
        };
        let sections = 0..model.sections();
        for (from, from_wrap) in sections.clone().flat_map(|from| [(from, 0), (from, 1)]) {
            for (to_wrap, to) in [0, 1]
                .iter()
                .flat_map(|w| sections.clone().map(move |to| (*w, to)))
            {
                let ahead = model.sections_ahead(from, to, to_wrap);
                let time = model.locating(ahead, to, from_wrap, to_wrap);
                model.locating.push(time);
            }
        }
        model
    }

    /// Number of tracks.
    fn tracks(&self) -> usize {
        self.section_lpos.len()
    }

    /// Sections of a track.
    fn sections(&self) -> usize {
        usize::from(self.sections)
    }

    /// Section number counted from the beginning of tape to reading order of a track, and back.
    #[inline(always)]
    fn flip_if_reverse(&self, section: i32, wrap: u16) -> i32 {
        if wrap & 1 == 0 {
            section
        } else {
            i32::from(self.sections) - 1 - section
        }
    }

    /// The section of a point, counted from the beginning of tape.
    fn section(&self, point: &Point) -> u16 {
        point.zone
    }

    /// The segments from one point of a track to another where the drive only reads (case 1).
    #[inline(always)]
    fn ahead_on_track(&self, from: &Point, to: &Point) -> Option<i32> {
        let (from_section, to_section) = (usize::from(from.zone), usize::from(to.zone));
        let up = to.lpos - from.lpos;
        let forward = if to.wrap & 1 == 0 { up } else { -up };
        let is_near = self.sections_ahead(from_section, to_section, to.wrap) <= 2;
        (is_near && forward >= 0).then_some(forward)
    }

    /// How many sections ahead a section of track `to_wrap` is of section `from`, both counted from
    /// the beginning of tape.
    fn sections_ahead(&self, from: usize, to: usize, to_wrap: u16) -> i32 {
        self.flip_if_reverse(to as i32, to_wrap) - self.flip_if_reverse(from as i32, to_wrap)
    }

    /// The constant of the case, 2 to 7, of a move from track `from_wrap` to a section of `to_wrap`
    /// that many sections ahead.
    #[inline(always)]
    fn locating(&self, ahead: i32, section: usize, from_wrap: u16, to_wrap: u16) -> Micros {
        let destination = self.flip_if_reverse(section as i32, to_wrap);
        self.case[locate_case(ahead, destination, from_wrap ^ to_wrap)]
    }

    /// Where the drive goes over to reading on the way to a section, counted from the beginning of
    /// tape.
    fn landing(&self, wrap: u16, section: usize) -> i32 {
        let reading_section = self.flip_if_reverse(section as i32, wrap);
        let before = (reading_section - 1).max(0);
        self.section_lpos[usize::from(wrap)][before as usize] as i32
    }

    /// The constants of cases 2 to 7 for moves from a point, by the destination's direction and
    /// section.
    #[inline(always)]
    fn locating_from(&self, from: &Point) -> &[Micros] {
        let row = 2 * usize::from(from.zone) + usize::from(from.wrap & 1);
        &self.locating[row * 2 * self.sections()..][..2 * self.sections()]
    }

    /// The time between two points, given what [`KeyPointModel::locating_from`] has for the first:
    /// for many moves from one place.
    #[inline(always)]
    fn time_by(&self, locating: &[Micros], from: &Point, to: &Point) -> Micros {
        if from.wrap == to.wrap
            && let Some(read) = self.ahead_on_track(from, to)
        {
            return self.case[0] + self.read.time(i64::from(read));
        }
        let cell = usize::from(to.wrap & 1) * self.sections() + usize::from(to.zone);
        let scanned = i64::from((to.landing - from.lpos).abs());
        locating[cell] + self.scan.time(scanned) + to.reading
    }

    /// The least that cases 2 to 7 can take: from a key point the drive reads a whole section and
    /// more, but for the first two sections of a track.
    fn least_outside(&self) -> Micros {
        let [_, c2, c3, c4, c5, c6, c7] = self.case;
        let past_a_section = c2.min(c3).min(c5).min(c6) + self.read.time(self.shortest_section);
        past_a_section.min(c4).min(c7)
    }

    /// What the transport does on a locate: for fits of the speeds and constants.
    pub fn motion(&self, from: &Position, to: &Position) -> Motion {
        let case = self.case(from, to);
        let (from, to) = (self.point(from), self.point(to));
        let (scanned, read) = match case {
            1 => (0, to.lpos - from.lpos),
            _ => (to.landing - from.lpos, to.lpos - to.landing),
        };
        Motion {
            case,
            scanned: scanned.unsigned_abs(),
            read: read.unsigned_abs(),
        }
    }

    /// Which of the seven cases of the paper a locate falls in, 1 to 7.
    pub fn case(&self, from: &Position, to: &Position) -> usize {
        let (from, to) = (self.point(from), self.point(to));
        if from.wrap == to.wrap && self.ahead_on_track(&from, &to).is_some() {
            return 1;
        }
        let ahead = self.sections_ahead(from.zone.into(), to.zone.into(), to.wrap);
        let destination = self.flip_if_reverse(to.zone.into(), to.wrap);
        locate_case(ahead, destination, from.wrap ^ to.wrap) + 1
    }
}

impl Times for KeyPointModel {
    fn point(&self, position: &Position) -> Point {
        let wrap = position.wrap.min(self.section_lpos.len() as u16 - 1);
        let starts = &self.section_lpos[usize::from(wrap)];
        let reading_section = if wrap & 1 == 0 {
            starts.partition_point(|&start| start <= position.lpos)
        } else {
            starts.partition_point(|&start| start >= position.lpos)
        }
        .saturating_sub(1);
        let landing = starts[reading_section.saturating_sub(1)];
        let section = self.flip_if_reverse(reading_section as i32, wrap);
        Point {
            lpos: position.lpos as i32,
            wrap,
            zone: section as u16,
            landing: landing as i32,
            reading: self
                .read
                .time(i64::from((position.lpos as i32 - landing as i32).abs())),
            ..Point::default()
        }
    }

    #[inline(always)]
    fn time(&self, from: &Point, to: &Point) -> Micros {
        self.time_by(self.locating_from(from), from, to)
    }

    fn rewind(&self, from: &Point) -> Micros {
        self.scan.time(i64::from(from.lpos))
    }

    fn times(&self, from: &Point, to: &[Point], times: &mut [Micros]) {
        let locating = self.locating_from(from);
        for (slot, to) in times.iter_mut().zip(to) {
            *slot = self.time_by(locating, from, to);
        }
    }

    fn own_section(&self, point: &Point) -> Option<u16> {
        Some(self.section(point))
    }

    fn residual(&self) -> Option<Micros> {
        self.residual
    }
}

/// The case, 2 to 7 counted from 0, of a move that is no mere reading: to section `destination` of
/// a track in reading order, `ahead` sections ahead; the tracks' numbers differ by `tracks` bits.
#[inline(always)]
fn locate_case(ahead: i32, destination: i32, tracks: u16) -> usize {
    let anti_directional = usize::from(tracks & 1);
    let landing = match (ahead >= 2, destination >= 2) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 2,
    };
    1 + 3 * anti_directional + landing
}

impl Groups for KeyPointModel {
    fn groups(&self) -> usize {
        self.tracks() * self.sections()
    }

    fn group(&self, to: &Point) -> usize {
        usize::from(to.wrap) * self.sections() + usize::from(self.section(to))
    }

    fn turning_points(&self, from: &Point, group: usize) -> TurningPoints {
        // Time rises in reading order; in the source's own section it also starts anew right ahead
        // of the source.
        let track = group / self.sections();
        let start = if track & 1 == 0 { i32::MIN } else { i32::MAX };
        if self.group(from) == group {
            TurningPoints {
                first: start,
                second: Some(from.lpos),
            }
        } else {
            TurningPoints::one(start)
        }
    }

    fn least_elsewhere(&self) -> Option<Micros> {
        Some(self.least_outside())
    }
}

/// Classes by direction and section, with the place of landing along the tape and the reading
/// behind it as the weight. Case 1, reading on, has a class for each section of each track, and
/// what lies behind the source in its own section another one.
impl Straight for KeyPointModel {
    fn slopes(&self, class: usize) -> Slopes {
        let Some(class) = class.checked_sub(2 * self.sections()) else {
            return Slopes::valley(self.scan);
        };
        let track = class / (2 * self.sections());
        let forward = track & 1 == 0;
        let reading_on = (class / self.sections()) & 1 == 0;
        let slope = match (reading_on, forward) {
            (true, true) => self.read.fine(),
            (true, false) => -self.read.fine(),
            (false, _) => 0,
        };
        Slopes {
            below: (reading_on != forward).then_some(slope),
            above: (reading_on == forward).then_some(slope),
        }
    }

    fn destinations(&self, to: &Point, give: &mut dyn FnMut(Destination)) {
        let section = usize::from(self.section(to));
        let read = self.read.time(i64::from((to.lpos - to.landing).abs()));
        give(Destination {
            class: self.of_section(to.wrap, section),
            along: to.landing,
            weight: read,
            group: Some(u32::from(to.wrap)),
        });
        give(Destination {
            class: self.reading_on(to.wrap, section),
            along: to.lpos,
            weight: Micros::ZERO,
            group: None,
        });
        give(Destination {
            class: self.behind(to.wrap, section),
            along: to.lpos,
            weight: read,
            group: None,
        });
    }

    fn looks(&self, from: &Point, give: &mut dyn FnMut(Look)) {
        let own = usize::from(self.section(from));
        for wrap in [from.wrap & !1, from.wrap | 1] {
            let own_direction = wrap == from.wrap;
            for section in 0..self.sections() {
                let ahead = self.sections_ahead(own, section, wrap);
                let fixed = self.locating(ahead, section, from.wrap, wrap);
                let slope = self.scan.fine();
                give(Look {
                    class: self.of_section(wrap, section),
                    pivot: from.lpos,
                    below: Some(base(fixed, -slope, from.lpos)),
                    above: Some(base(fixed, slope, from.lpos)),
                    except: (own_direction && (0..=2).contains(&ahead)).then_some(u32::from(wrap)),
                });
                if own_direction && (0..=2).contains(&ahead) {
                    self.look_along_own_track(from, section, give);
                }
            }
        }
        let landing = self.landing(from.wrap, own);
        let scan = self.scan.time(i64::from((landing - from.lpos).abs()));
        let fixed = self.locating(0, own, from.wrap, from.wrap) + scan;
        let at = Some(base(fixed, 0, 0));
        let forward = from.wrap & 1 == 0;
        give(Look {
            class: self.behind(from.wrap, own),
            pivot: from.lpos - i32::from(forward),
            below: at.filter(|_| forward),
            above: at.filter(|_| !forward),
            except: None,
        });
    }
}

impl KeyPointModel {
    fn of_section(&self, wrap: u16, section: usize) -> usize {
        usize::from(wrap & 1) * self.sections() + section
    }

    fn reading_on(&self, wrap: u16, section: usize) -> usize {
        2 * self.sections() * (1 + usize::from(wrap)) + section
    }

    fn behind(&self, wrap: u16, section: usize) -> usize {
        self.reading_on(wrap, section) + self.sections()
    }

    fn look_along_own_track(&self, from: &Point, section: usize, give: &mut dyn FnMut(Look)) {
        let forward = from.wrap & 1 == 0;
        let read = self.read.fine();
        give(Look {
            class: self.reading_on(from.wrap, section),
            pivot: from.lpos - i32::from(forward),
            below: (!forward).then(|| base(Micros::ZERO, -read, from.lpos)),
            above: forward.then(|| base(Micros::ZERO, read, from.lpos)),
            except: None,
        });
    }
}
