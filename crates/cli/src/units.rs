//! Quantities as people say them.

use tapewise_model::Micros;
pub use tapewise_model::units::{bytes, count};
pub use tapewise_plot::{metres, tape_moved};

/// A part in per cent, without the sign: a small one keeps its digits.
pub fn percent(percent: f64) -> String {
    match percent {
        0.0 => "0".to_owned(),
        percent if percent < 0.01 => "under 0.01".to_owned(),
        percent if percent < 1.0 => format!("{percent:.2}"),
        percent => format!("{percent:.0}"),
    }
}

/// A time that a person waits: whole minutes, or hours and minutes.
pub fn about(time: Micros) -> String {
    let minutes = (time.as_secs_f64() / 60.0).round() as u64;
    match minutes {
        0 => "1 min".to_owned(),
        1..60 => format!("{minutes} min"),
        _ => format!("{}h{:02}", minutes / 60, minutes % 60),
    }
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

    #[test]
    fn a_wait_is_said_in_minutes() {
        assert_eq!(about(Micros(20_000_000)), "1 min");
        assert_eq!(about(Micros(41 * 60_000_000)), "41 min");
        assert_eq!(about(Micros(125 * 60_000_000)), "2h05");
    }
}
