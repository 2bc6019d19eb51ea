//! Quantities as people say them.

use tapewise_model::Micros;
pub use tapewise_model::units::{bytes, count};
pub use tapewise_plot::{metres, tape_moved};
use tapewise_sim::statistics::Interval;

/// A part in per cent, without the sign: a small one keeps its digits.
pub fn percent(percent: f64) -> String {
    match percent {
        0.0 => "0".to_owned(),
        percent if percent < 0.01 => "under 0.01".to_owned(),
        percent if percent < 1.0 => format!("{percent:.2}"),
        percent => format!("{percent:.0}"),
    }
}

/// A time in seconds that was computed or measured.
pub fn time(seconds: f64) -> String {
    Micros::from_secs_f64(seconds).to_string()
}

/// A time with the ends of its interval.
pub fn time_between(interval: &Interval) -> String {
    let ends = [interval.estimate, interval.low().max(0.0), interval.high()];
    let [estimate, low, high] = ends.map(time);
    format!("{estimate} ({low} to {high})")
}

/// Processor time.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        seconds if seconds >= 1.0 => format!("{seconds:.1} s"),
        seconds if seconds >= 1e-3 => format!("{:.0} ms", seconds * 1e3),
        _ => "<1 ms".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_under_a_millisecond_is_none_to_speak_of() {
        assert_eq!(seconds(0.0004), "<1 ms");
        assert_eq!(seconds(0.25), "250 ms");
    }
}
