//! What a model can tell of its geometry to an order that prices all moves at once.
//!
//! Destinations belong to classes within which, from any one source, the time is made of at most
//! two straight pieces along the tape: one up to a pivot and one behind it. What a place adds
//! whatever the source, its weight, comes on top:
//!
//! ```text
//! time(source, place) = base(source, class, piece) + slope(class, piece) * along(place) + weight(place)
//! ```
//!
//! So the cheapest place of a piece is the one of least `slope * along + weight`, whatever the
//! source: a running minimum over the class in the order of `along` answers for all sources, and
//! nobody looks at all pairs.
//!
//! A source looks only at some classes, and in a class it may pass over a group of places that
//! another class prices (the own wrap, say). Over all its looks, no place is priced below its time,
//! and every place is priced at its time by one of them.

use super::key_point::KeyPointModel;
use super::lto::{DIRECTION, HALF, LtoRegression};
use super::{FourRegion, HelicalLinear, LandingModel, LocateModel, Point};
use crate::micros::{Micros, Pace};

/// The two slopes of a class; `None` where no source uses that piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slopes {
    /// Up to and at the pivot, in fine time for each LPOS unit: see [`Pace::FRACTION_BITS`].
    pub below: Option<i64>,
    /// Behind the pivot.
    pub above: Option<i64>,
}

impl Slopes {
    /// Falling up to the pivot, rising behind it.
    fn valley(pace: Pace) -> Slopes {
        Slopes {
            below: Some(-pace.fine()),
            above: Some(pace.fine()),
        }
    }
}

/// A destination as a member of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The class.
    pub class: usize,
    /// Where it is along the tape, in LPOS units.
    pub along: i32,
    /// What it adds from whatever source.
    pub weight: Micros,
    /// Members that a look may pass over together; `None` where no look passes over any.
    pub group: Option<u32>,
}

/// A class as seen from one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// The class.
    pub class: usize,
    /// The last LPOS that belongs to the lower piece.
    pub pivot: i32,
    /// What the time would be at LPOS 0 if the lower piece went on to there, in fine time, with the
    /// half that rounds to the nearest microsecond; `None` where the piece is no way to go.
    pub below: Option<i64>,
    /// The same for the upper piece.
    pub above: Option<i64>,
    /// The group that is passed over.
    pub except: Option<u32>,
}

/// The classes of a model.
#[derive(Clone, Copy, Debug)]
pub struct Rays<'a>(&'a LocateModel);

impl LocateModel {
    /// The classes of destinations and the straight pieces that times to them are made of.
    pub fn rays(&self) -> Rays<'_> {
        Rays(self)
    }
}

/// The classes of a model, as its file states them.
pub(super) trait Straight {
    /// The slopes of a class.
    fn slopes(&self, class: usize) -> Slopes;

    /// Gives the classes that a destination belongs to.
    fn destinations(&self, to: &Point, give: &mut dyn FnMut(Destination));

    /// Gives the classes that a source looks at.
    fn looks(&self, from: &Point, give: &mut dyn FnMut(Look));

    /// See [`Rays::free_stretch`].
    fn free_stretch(&self) -> Option<std::ops::Range<i32>> {
        None
    }
}

impl Rays<'_> {
    /// The slopes of a class.
    pub fn slopes(&self, class: usize) -> Slopes {
        self.0.model().slopes(class)
    }

    /// The stretch along the tape from which a move onwards on the wrap can take no time though
    /// blocks are skipped: the middle, where the regression has it so. Runs of visits are better
    /// not taken for one there.
    pub fn free_stretch(&self) -> Option<std::ops::Range<i32>> {
        self.0.model().free_stretch()
    }

    /// Gives the classes that a destination belongs to.
    pub fn destinations(&self, to: &Point, mut give: impl FnMut(Destination)) {
        self.0.model().destinations(to, &mut give);
    }

    /// Gives the classes that a source looks at.
    pub fn looks(&self, from: &Point, mut give: impl FnMut(Look)) {
        self.0.model().looks(from, &mut give);
    }
}

/// `fixed + slope * (along - pivot)`, brought to the form of [`Look::below`].
pub(super) fn base(fixed: Micros, slope: i64, pivot: i32) -> i64 {
    const HALF_A_MICROSECOND: i64 = 1 << (Pace::FRACTION_BITS - 1);
    (fixed.0 << Pace::FRACTION_BITS) + HALF_A_MICROSECOND - slope * i64::from(pivot)
}

/// One class for the line of long seeks, one for that of short ones: the faster counts.
impl Straight for HelicalLinear {
    fn slopes(&self, class: usize) -> Slopes {
        match (class, self.short) {
            (1, Some(short)) => Slopes::valley(short.pace),
            _ => Slopes::valley(self.pace),
        }
    }

    fn destinations(&self, to: &Point, give: &mut dyn FnMut(Destination)) {
        let places = self.lines().map(|(class, ..)| Destination {
            class,
            along: to.lpos,
            weight: Micros::ZERO,
            group: None,
        });
        places.for_each(give);
    }

    fn looks(&self, from: &Point, give: &mut dyn FnMut(Look)) {
        let looks = self.lines().map(|(class, startup, pace)| Look {
            class,
            pivot: from.lpos,
            below: Some(base(startup, -pace.fine(), from.lpos)),
            above: Some(base(startup, pace.fine(), from.lpos)),
            except: None,
        });
        looks.for_each(give);
    }
}

impl HelicalLinear {
    fn lines(&self) -> impl Iterator<Item = (usize, Micros, Pace)> {
        let long = (0, self.startup, self.pace);
        let short = self.short.map(|short| (1, short.startup, short.pace));
        std::iter::once(long).chain(short)
    }
}

/// One class for each direction.
impl Straight for FourRegion {
    fn slopes(&self, direction: usize) -> Slopes {
        let (ahead, behind) = (self.ahead_pace.fine(), self.behind_pace.fine());
        let (below, above) = match direction {
            0 => (behind, ahead),
            _ => (ahead, behind),
        };
        Slopes {
            below: Some(-below),
            above: Some(above),
        }
    }

    fn destinations(&self, to: &Point, give: &mut dyn FnMut(Destination)) {
        give(Destination {
            class: usize::from(to.wrap & 1),
            along: to.lpos,
            weight: Micros::ZERO,
            group: None,
        });
    }

    fn looks(&self, from: &Point, give: &mut dyn FnMut(Look)) {
        let (ahead, behind) = (self.ahead_pace.fine(), self.behind_pace.fine());
        let forward = self.target_lpos(from, 0);
        give(Look {
            class: 0,
            pivot: forward,
            below: Some(base(self.behind, -behind, forward)),
            above: Some(base(self.ahead, ahead, forward)),
            except: None,
        });
        // Right at the target is behind it: on a reverse track, that is the upper piece.
        let reverse = self.target_lpos(from, 1);
        give(Look {
            class: 1,
            pivot: reverse - 1,
            below: Some(base(self.ahead, -ahead, reverse)),
            above: Some(base(self.behind, behind, reverse)),
            except: None,
        });
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

/// The half of the tape in which a source on a wrap of the same band, and of another one, differs
/// from its own wrap: classes for all bands, for each band, and for each wrap. Crossing the middle
/// on the own wrap can come to less than nothing, which is clamped: a level piece near the middle.
impl Straight for LtoRegression {
    fn slopes(&self, class: usize) -> Slopes {
        let valley = Slopes::valley(self.pace);
        let level = Some(0);
        match class.checked_sub(self.of_wrap(0, 0, false)) {
            Some(own_wrap) if own_wrap & 3 == 2 => Slopes {
                above: level,
                ..valley
            },
            Some(own_wrap) if own_wrap & 3 == 3 => Slopes {
                below: level,
                ..valley
            },
            _ => valley,
        }
    }

    fn destinations(&self, to: &Point, give: &mut dyn FnMut(Destination)) {
        let half = to.zone & HALF;
        let mut give = |class, group| {
            give(Destination {
                class,
                along: to.lpos,
                weight: Micros::ZERO,
                group,
            })
        };
        let corner = to.zone & (DIRECTION | HALF);
        give(usize::from(corner), Some(u32::from(self.band(to))));
        give(self.of_band(to.zone), Some(u32::from(to.wrap)));
        for crossing in [false, true] {
            give(self.of_wrap(to.wrap, half, crossing), None);
        }
    }

    fn looks(&self, from: &Point, give: &mut dyn FnMut(Look)) {
        let slope = self.pace.fine();
        let band = self.band(from);
        for corner in 0..Self::CORNERS {
            let change = (from.zone ^ corner) & (DIRECTION | HALF);
            let elsewhere = [
                (usize::from(corner), true, u32::from(band)),
                (
                    self.of_band(self.zone_of(band, corner)),
                    false,
                    u32::from(from.wrap),
                ),
            ];
            for (class, other_band, except) in elsewhere {
                let fixed = self.fixed_time(change, other_band, true);
                give(Look {
                    class,
                    pivot: from.lpos,
                    below: Some(base(fixed, -slope, from.lpos)),
                    above: Some(base(fixed, slope, from.lpos)),
                    except: Some(except),
                });
            }
        }
        give(self.own_half(from));
        give(self.own_wrap_across(from));
    }

    fn free_stretch(&self) -> Option<std::ops::Range<i32>> {
        let reach = self.free_distance(self.fixed_time(HALF, false, false));
        let middle = self.middle();
        (reach > 0).then(|| middle - reach..middle + reach)
    }
}

impl LtoRegression {
    /// The four combinations of direction and half.
    const CORNERS: u16 = 4;

    fn of_band(&self, zone: u16) -> usize {
        usize::from(Self::CORNERS + zone)
    }

    fn of_wrap(&self, wrap: u16, half: u16, crossing: bool) -> usize {
        let before = Self::CORNERS * (1 + self.geometry.bands);
        usize::from(before) + 4 * usize::from(wrap) + 2 * usize::from(crossing) + usize::from(half)
    }

    /// The own wrap on this side of the middle: backward there is a step.
    fn own_half(&self, from: &Point) -> Look {
        let slope = self.pace.fine();
        let forward = from.wrap & 1 == 0;
        let ahead = self.fixed_time(0, false, false);
        let behind = ahead + self.step_back;
        let (below, above) = if forward {
            (behind, ahead)
        } else {
            (ahead, behind)
        };
        Look {
            class: self.of_wrap(from.wrap, from.zone & HALF, false),
            // The source's own place is ahead of it.
            pivot: from.lpos - i32::from(forward),
            below: Some(base(below, -slope, from.lpos)),
            above: Some(base(above, slope, from.lpos)),
            except: None,
        }
    }

    /// The furthest distance that takes no time on top of this, in LPOS units; -1 where none does.
    fn free_distance(&self, fixed: Micros) -> i32 {
        let room = (1 << Pace::FRACTION_BITS) - 1 - base(fixed, 0, 0);
        room.div_euclid(self.pace.fine().max(1)).clamp(-1, 1 << 30) as i32
    }

    /// The own wrap across the middle: free as far as the time would be less than nothing.
    fn own_wrap_across(&self, from: &Point) -> Look {
        let slope = self.pace.fine();
        let half = from.zone & HALF ^ HALF;
        let upward = half == HALF;
        let backward = upward != (from.wrap & 1 == 0);
        let mut fixed = self.fixed_time(HALF, false, false);
        if backward {
            fixed += self.step_back;
        }
        let free = self.free_distance(fixed);
        let level = Some(base(Micros::ZERO, 0, 0));
        let (pivot, below, above) = if upward {
            let pivot = from.lpos.saturating_add(free);
            (pivot, level, Some(base(fixed, slope, from.lpos)))
        } else {
            let pivot = from.lpos.saturating_sub(free).saturating_sub(1);
            (pivot, Some(base(fixed, -slope, from.lpos)), level)
        };
        Look {
            class: self.of_wrap(from.wrap, half, true),
            pivot,
            below,
            above,
            except: None,
        }
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
