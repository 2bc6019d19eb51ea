//! Serpentine in four regions (Johnson & Miller 1998, section 5.4.2 and Table 3).
//!
//! With `p` the place along a track in its reading direction as a share of the track, 0 for the
//! start and ' for the destination, and `o` the offset whose operator the print lost ("p_004"):
//!
//! | destination track | target `t` | `p' > t` | `p' <= t` |
//! |---|---|---|---|
//! | same direction | `p0 + o` | `ahead + slope_ahead * abs(t - p')` | `behind + slope_behind * abs(t - p')` |
//! | other direction | `1 - (p0 + o)` | as above | as above |
//!
//! For the DLT 4000: ahead 21 s + 154 s a track, behind 31 s + 132 s a track. The two meet with a
//! step of 10 s for any `o`.

use super::neighbours::{Groups, TurningPoints};
use super::point::Point;
use super::rays::{Destination, Look, Slopes, Straight, base};
use super::stated::{Shape, Stated};
use super::times::Times;
use crate::micros::{Micros, Pace};
use crate::sourced::Sourced;
use serde::{Deserialize, Serialize};

/// Four-region piecewise linear seek time of a serpentine drive.
#[derive(Clone, Debug)]
pub struct FourRegion {
    ahead: Micros,
    ahead_pace: Pace,
    behind: Micros,
    behind_pace: Pace,
    offset_lpos: i32,
    lpos_min: i32,
    length_lpos: i32,
}

impl FourRegion {
    /// Intercepts in seconds, slopes in seconds a track, the offset in tracks; places run from
    /// `lpos_min` to `lpos_max`.
    pub fn new(
        ahead_s: [f64; 2],
        behind_s: [f64; 2],
        offset_tracks: f64,
        lpos_min: u32,
        lpos_max: u32,
    ) -> FourRegion {
        let length = f64::from(lpos_max - lpos_min);
        FourRegion {
            ahead: Micros::from_secs_f64(ahead_s[0]),
            ahead_pace: Pace::over(ahead_s[1], length),
            behind: Micros::from_secs_f64(behind_s[0]),
            behind_pace: Pace::over(behind_s[1], length),
            offset_lpos: (offset_tracks * length).round() as i32,
            lpos_min: lpos_min as i32,
            length_lpos: (lpos_max - lpos_min) as i32,
        }
    }

    /// The place along a track in its reading direction, 0 at the start of the track.
    #[inline(always)]
    fn along(&self, lpos: i32, wrap: u16) -> i32 {
        let from_bot = lpos - self.lpos_min;
        if wrap & 1 == 0 {
            from_bot
        } else {
            self.length_lpos - from_bot
        }
    }

    /// The place along a track of the given direction that costs least from `from`.
    #[inline(always)]
    fn target(&self, from: &Point, to_wrap: u16) -> i32 {
        let start = self.along(from.lpos, from.wrap) + self.offset_lpos;
        if (from.wrap ^ to_wrap) & 1 == 0 {
            start
        } else {
            self.length_lpos - start
        }
    }

    /// The same as a longitudinal position.
    fn target_lpos(&self, from: &Point, to_wrap: u16) -> i32 {
        let target = self.target(from, to_wrap);
        self.lpos_min
            + if to_wrap & 1 == 0 {
                target
            } else {
                self.length_lpos - target
            }
    }
}

/// What a profile states of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // each field is documented where its equation stands
pub struct FourRegionValues {
    pub ahead_s: Sourced<f64>,
    pub ahead_s_per_track: Sourced<f64>,
    pub behind_s: Sourced<f64>,
    pub behind_s_per_track: Sourced<f64>,
    pub offset_tracks: Sourced<f64>,
}

impl Stated for FourRegionValues {
    const NAME: &'static str = "four-region";
    type Model = FourRegion;

    fn model(&self, shape: &Shape<'_>) -> Option<FourRegion> {
        Some(FourRegion::new(
            [self.ahead_s.value, self.ahead_s_per_track.value],
            [self.behind_s.value, self.behind_s_per_track.value],
            self.offset_tracks.value,
            shape.geometry.lpos_min,
            shape.geometry.lpos_max,
        ))
    }

    /// The line ahead.
    fn startup_and_full_s(&self, _: &Shape<'_>) -> Option<(f64, f64)> {
        Some((self.ahead_s.value, self.ahead_s_per_track.value))
    }
}

impl Times for FourRegion {
    #[inline(always)]
    fn time(&self, from: &Point, to: &Point) -> Micros {
        let ahead = i64::from(self.along(to.lpos, to.wrap) - self.target(from, to.wrap));
        if ahead > 0 {
            self.ahead + self.ahead_pace.time(ahead)
        } else {
            self.behind + self.behind_pace.time(-ahead)
        }
    }

    /// Startup and the slope of backward motion: the paper gives no rewind for these drives.
    fn rewind(&self, from: &Point) -> Micros {
        self.ahead + self.behind_pace.time(i64::from(from.lpos - self.lpos_min))
    }
}

impl Groups for FourRegion {
    fn groups(&self) -> usize {
        2
    }

    fn group(&self, to: &Point) -> usize {
        usize::from(to.wrap & 1)
    }

    fn turning_points(&self, from: &Point, group: usize) -> TurningPoints {
        // Right at the target is behind it: on a reverse track, that is the upper side.
        let reverse = (group & 1) as i32;
        TurningPoints::one(self.target_lpos(from, group as u16) - reverse)
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
