//! Wear: how much of a cartridge's rated life its use has taken.

use crate::geometry::Geometry;
use crate::profile::Profile;
use std::ops::AddAssign;

/// What a cartridge has been through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wear {
    /// Tape that has passed the head, in LPOS units, searching included.
    pub distance_lpos: u64,
    /// Times the cartridge was loaded.
    pub loads: u64,
}

impl AddAssign for Wear {
    fn add_assign(&mut self, other: Wear) {
        self.distance_lpos = self.distance_lpos.saturating_add(other.distance_lpos);
        self.loads = self.loads.saturating_add(other.loads);
    }
}

impl Wear {
    /// The tape moved, as passes from one end to the other.
    pub fn passes(&self, geometry: &Geometry) -> f64 {
        self.distance_lpos as f64 / f64::from(geometry.wrap_lpos().max(1))
    }

    /// The tape moved in metres, where the geometry knows its units in metres.
    pub fn metres(&self, geometry: &Geometry) -> Option<f64> {
        Some(self.distance_lpos as f64 * geometry.metres_per_lpos?)
    }
}

/// The measure in which a life is rated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Passes of the whole tape under the head.
    Passes,
    /// Metres of tape moved.
    Metres,
    /// Loads.
    Loads,
}

impl Measure {
    /// The measure in one word, for documents.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Passes => "passes",
            Measure::Metres => "metres",
            Measure::Loads => "loads",
        }
    }

    /// The measure in words.
    pub fn words(self) -> &'static str {
        match self {
            Measure::Passes => "end-to-end passes",
            Measure::Metres => "m of tape moved",
            Measure::Loads => "loads",
        }
    }
}

/// What a kind of cartridge is rated for. Each is `None` where it was not published.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RatedLife {
    /// Passes of the whole tape under the head.
    pub passes: Option<f64>,
    /// Metres of tape moved.
    pub motion_m: Option<f64>,
    /// Loads.
    pub loads: Option<f64>,
}

impl Profile {
    /// What the profile says of the cartridge's life.
    pub fn rated_life(&self) -> RatedLife {
        let value = |known: &crate::profile::Known<f64>| known.as_ref().map(|known| known.value);
        RatedLife {
            passes: value(&self.life.passes),
            motion_m: value(&self.life.motion_m),
            loads: value(&self.life.loads),
        }
    }
}

/// A part of a rated life that is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Used {
    /// Of what.
    pub measure: Measure,
    /// How much.
    pub amount: f64,
    /// What the cartridge is rated for.
    pub rated: f64,
}

impl Used {
    /// The share of the rated life, 1 at its end.
    pub fn share(&self) -> f64 {
        self.amount / self.rated
    }

    /// What to say from 80 % of the rated life on.
    pub fn warning(&self) -> Option<String> {
        const SOON: f64 = 0.8;
        let advice = match self.share() {
            share if share >= 1.0 => "past its rated life: copy it and retire it",
            share if share >= SOON => "near the end of its rated life: plan its replacement",
            _ => return None,
        };
        Some(format!(
            "{:.0} of {:.0} {} ({:.0} %): {advice}",
            self.amount,
            self.rated,
            self.measure.words(),
            self.share() * 100.0
        ))
    }
}

impl RatedLife {
    /// The shares of this life that `wear` is, one for each measure that is rated and known.
    pub fn used(&self, wear: &Wear, geometry: &Geometry) -> Vec<Used> {
        let measures = [
            (Measure::Passes, Some(wear.passes(geometry)), self.passes),
            (Measure::Metres, wear.metres(geometry), self.motion_m),
            (Measure::Loads, Some(wear.loads as f64), self.loads),
        ];
        let used = measures.into_iter().filter_map(|(measure, amount, rated)| {
            Some(Used {
                measure,
                amount: amount?,
                rated: rated.filter(|&rated| rated > 0.0)?,
            })
        });
        used.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;

    fn passes_of(name: &str, passes: u64, loads: u64) -> Vec<Used> {
        let profile = profile::find(name).unwrap();
        let geometry = profile.geometry().unwrap();
        let wear = Wear {
            distance_lpos: passes * u64::from(geometry.wrap_lpos()),
            loads,
        };
        profile.rated_life().used(&wear, &geometry)
    }

    #[test]
    fn a_dlt_lives_for_half_a_million_passes_and_a_4mm_tape_for_1500() {
        let dlt = passes_of("dlt4000", 5_000, 0);
        assert_eq!(dlt[0].rated, 500_000.0);
        assert!((dlt[0].share() - 0.01).abs() < 1e-9);
        assert_eq!(dlt[0].warning(), None);
        let dat = passes_of("dat-4mm", 1_200, 0)[0].warning().unwrap();
        assert!(
            dat.starts_with("1200 of 1500 end-to-end passes (80 %): near"),
            "{dat}"
        );
    }

    #[test]
    fn an_lto8_is_rated_in_metres_and_in_loads() {
        let used = passes_of("lto8", 23_862, 20_000);
        let [metres, loads] = used[..] else {
            panic!("{used:?}")
        };
        assert_eq!(metres.measure, Measure::Metres);
        // 22,000,000 m are 23,861 passes of the 922 m that carry data.
        assert!((metres.share() - 1.0).abs() < 1e-3, "{}", metres.share());
        assert!(loads.warning().unwrap().contains("past its rated life"));
    }

    #[test]
    fn what_is_not_rated_is_not_judged() {
        assert!(passes_of("sony-dtf", 1_000_000, 1_000_000).is_empty());
    }

    #[test]
    fn wear_adds_up() {
        let mut wear = Wear {
            distance_lpos: 5,
            loads: 1,
        };
        wear += Wear {
            distance_lpos: 7,
            loads: 2,
        };
        assert_eq!(
            wear,
            Wear {
                distance_lpos: 12,
                loads: 3
            }
        );
    }
}
