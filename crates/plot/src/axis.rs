//! Ticks and their labels: round numbers, units where a person expects them.

use tapewise_model::{Geometry, Layout, Micros};

/// A place on an axis with its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where, in the units of the data.
    pub at: f64,
    /// What is written there.
    pub label: String,
}

/// Steps between ticks of time, in seconds.
const TIME_STEPS_S: [f64; 18] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0, 7_200.0,
    10_800.0, 21_600.0, 43_200.0, 86_400.0,
];

/// Ticks of time from zero in microseconds, at most `most` steps.
pub fn time_ticks(until: Micros, most: usize) -> Vec<Tick> {
    let until_s = until.as_secs_f64();
    let enough = |step: &f64| until_s / step <= most as f64;
    let step = TIME_STEPS_S.into_iter().find(enough);
    let step = step.unwrap_or_else(|| round_step(until_s / 86_400.0, most) * 86_400.0);
    let label = |seconds: f64| {
        let whole = seconds.round() as u64;
        match whole {
            0 => "0".to_owned(),
            _ if step >= 86_400.0 => format!("{}d", whole / 86_400),
            _ if until_s >= 3_600.0 && whole < 3_600 => format!("{}m{:02}", whole / 60, whole % 60),
            _ if until_s >= 3_600.0 => format!("{}h{:02}", whole / 3_600, whole / 60 % 60),
            _ if until_s > 120.0 => format!("{}m{:02}", whole / 60, whole % 60),
            _ => format!("{whole} s"),
        }
    };
    multiples(0.0, until_s, step)
        .map(|seconds| Tick {
            at: seconds * 1e6,
            label: label(seconds),
        })
        .collect()
}

/// The scale of places along the tape.
#[derive(Clone, Debug, PartialEq)]
pub struct Along {
    /// What the axis measures, with its unit.
    pub title: String,
    /// The same in few words.
    pub short_title: String,
    /// Ticks at LPOS values.
    pub ticks: Vec<Tick>,
}

/// Ticks along the tape: metres where known, data on helical tape, else LPOS.
pub fn along(geometry: &Geometry, lpos: [u32; 2], most: usize) -> Along {
    let range = format!("LPOS {} to {}", thousands(lpos[0]), thousands(lpos[1]));
    let (zero, unit_lpos, title, short_title) = match (geometry.metres_per_lpos, geometry.layout) {
        (Some(metres), _) if metres > 0.0 => (
            f64::from(geometry.lpos_min),
            1.0 / metres,
            format!("along the tape, m ({range})"),
            "along the tape, m".to_owned(),
        ),
        // Profiles of helical drives count KB of data: docs/reference/profiles.md.
        (_, Layout::Helical) => (
            f64::from(geometry.lpos_min),
            1e6,
            "along the tape, GB of data".to_owned(),
            "along the tape, GB of data".to_owned(),
        ),
        _ => (
            0.0,
            1.0,
            "along the tape, LPOS".to_owned(),
            "along the tape, LPOS".to_owned(),
        ),
    };
    let [low, high] = lpos.map(|lpos| (f64::from(lpos) - zero) / unit_lpos);
    let step = round_step(high - low, most);
    let ticks = multiples(low, high, step)
        .map(|value| Tick {
            at: zero + value * unit_lpos,
            label: decimal(value, step),
        })
        .collect();
    Along {
        title,
        short_title,
        ticks,
    }
}

/// Ticks of wraps: the first wrap of each band, or round numbers where there is one band only.
pub fn wrap_ticks(geometry: &Geometry, wraps: u16, most: usize) -> Vec<Tick> {
    let tick = |wrap: f64| Tick {
        at: wrap,
        label: decimal(wrap, 1.0),
    };
    if geometry.bands > 1 && usize::from(geometry.bands) <= most {
        return band_starts(geometry)
            .map(|wrap| tick(f64::from(wrap)))
            .collect();
    }
    let step = round_step(f64::from(wraps), most).max(1.0);
    multiples(0.0, f64::from(wraps.saturating_sub(1)), step)
        .map(tick)
        .collect()
}

/// The first wrap of each band.
pub fn band_starts(geometry: &Geometry) -> impl Iterator<Item = u16> {
    (0..geometry.wraps).filter(|&wrap| wrap == 0 || geometry.band(wrap) != geometry.band(wrap - 1))
}

/// Round numbers from `low` to `high`, at most about `most` of them.
pub fn round_ticks(low: f64, high: f64, most: usize) -> Vec<Tick> {
    let step = round_step(high - low, most);
    let tick = |value| Tick {
        at: value,
        label: decimal(value, step),
    };
    multiples(low, high, step).map(tick).collect()
}

/// Powers of two between two exponents of them; each tick stands at its exponent.
pub fn doubling_ticks(low: f64, high: f64) -> Vec<Tick> {
    let whole = |power: f64| power.clamp(-31.0, 31.0) as i32;
    let tick = |power: i32| Tick {
        at: f64::from(power),
        label: match u32::try_from(power) {
            Ok(power) => thousands(1 << power),
            Err(_) => 2f64.powi(power).to_string(),
        },
    };
    (whole(low.ceil())..=whole(high.floor()))
        .map(tick)
        .collect()
}

/// 1, 2 or 5 times a power of ten, such that at most `most` steps span `range`.
fn round_step(range: f64, most: usize) -> f64 {
    let rough = (range / most.max(1) as f64).max(f64::MIN_POSITIVE);
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps
        .into_iter()
        .find(|&step| step >= rough * 0.999_999)
        .unwrap_or(steps[3])
}

fn multiples(low: f64, high: f64, step: f64) -> impl Iterator<Item = f64> {
    let first = (low / step - 1e-9).ceil();
    (0..100)
        .map(move |n| (first + f64::from(n)) * step)
        .take_while(move |&value| value <= high + step * 1e-9)
}

fn decimal(value: f64, step: f64) -> String {
    let digits = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    if digits > 0 || value < 0.0 {
        format!("{value:.digits$}")
    } else {
        thousands(value.round() as u32)
    }
}

/// A whole number with commas.
pub fn thousands(number: u32) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Metres of tape.
pub fn metres(metres: f64) -> String {
    match metres {
        metres if metres >= 9_950.0 => format!("{:.0} km", metres / 1e3),
        metres if metres >= 1_000.0 => format!("{:.1} km", metres / 1e3),
        metres => format!("{metres:.0} m"),
    }
}

/// Tape moved, in metres, or in lengths of the tape where metres are not known.
pub fn tape_moved(lpos: u64, geometry: &Geometry) -> String {
    match geometry.metres_per_lpos {
        Some(per_lpos) => metres(lpos as f64 * per_lpos),
        None => {
            let lengths = lpos as f64 / f64::from(geometry.wrap_lpos().max(1));
            let digits = usize::from(lengths < 10.0);
            format!("{lengths:.digits$} lengths")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lto8() -> Geometry {
        Geometry {
            layout: Layout::Serpentine,
            wraps: 208,
            bands: 4,
            lpos_min: 2_696,
            lpos_max: 171_097,
            metres_per_lpos: Some(922.0 / 168_401.0),
            sections: 14,
        }
    }

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn ticks_of_time_are_round_in_seconds_minutes_and_hours() {
        let of = |seconds: f64, most| time_ticks(Micros::from_secs_f64(seconds), most);
        assert_eq!(labels(&of(42.0, 5)), ["0", "10 s", "20 s", "30 s", "40 s"]);
        assert_eq!(labels(&of(700.0, 4)), ["0", "5m00", "10m00"]);
        assert_eq!(
            labels(&of(10_000.0, 6)),
            ["0", "30m00", "1h00", "1h30", "2h00", "2h30"]
        );
        assert_eq!(labels(&of(0.0, 6)), ["0"]);
        assert!(of(1e12, 6).len() <= 7);
    }

    #[test]
    fn the_tape_is_marked_in_metres_from_the_first_data() {
        let along = along(&lto8(), [2_696, 171_097], 5);
        assert_eq!(labels(&along.ticks), ["0", "200", "400", "600", "800"]);
        assert_eq!(along.ticks[0].at, 2_696.0);
        assert!(along.title.ends_with("m (LPOS 2,696 to 171,097)"));
    }

    #[test]
    fn without_metres_the_tape_is_marked_in_lpos_and_helical_tape_in_data() {
        let bare = Geometry {
            metres_per_lpos: None,
            ..lto8()
        };
        let ticks = along(&bare, [2_696, 171_097], 4).ticks;
        assert_eq!(labels(&ticks), ["50,000", "100,000", "150,000"]);
        let helical = Geometry {
            layout: Layout::Helical,
            lpos_min: 0,
            lpos_max: 1_615_000,
            ..bare
        };
        let ticks = along(&helical, [0, 1_615_000], 4).ticks;
        assert_eq!(labels(&ticks), ["0.0", "0.5", "1.0", "1.5"]);
    }

    #[test]
    fn wraps_are_marked_where_bands_begin() {
        assert_eq!(
            labels(&wrap_ticks(&lto8(), 208, 8)),
            ["0", "52", "104", "156"]
        );
        let dlt = Geometry {
            bands: 1,
            wraps: 64,
            ..lto8()
        };
        assert_eq!(
            labels(&wrap_ticks(&dlt, 64, 8)),
            ["0", "10", "20", "30", "40", "50", "60"]
        );
    }

    #[test]
    fn tape_moved_is_given_in_the_unit_that_fits() {
        assert_eq!(tape_moved(11_689_600, &lto8()), "64 km");
        assert_eq!(tape_moved(1_000_000, &lto8()), "5.5 km");
        assert_eq!(tape_moved(100_000, &lto8()), "548 m");
        let bare = Geometry {
            metres_per_lpos: None,
            ..lto8()
        };
        assert_eq!(tape_moved(16_840_100, &bare), "100 lengths");
    }
}
