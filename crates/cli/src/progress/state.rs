//! How far a work has come: its numbers, and the line that shows them.

use serde::{Serialize, Serializer};
use std::fmt;
use std::time::Duration;
use tapewise_formats::event::Event;
use tapewise_model::{Micros, units};

/// Width of the bar in characters.
const WIDTH: usize = 20;

/// How far a work has come, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct State {
    /// What the drive or robot did last, by its name in the event log; or the step of the work.
    pub doing: Option<String>,
    /// Serial number of the drive or robot that did it.
    pub device: Option<String>,
    /// The cartridge in it.
    pub cartridge: Option<String>,
    /// What is counted: `file`, `mount`, `replication`.
    pub unit: Option<&'static str>,
    /// How many of them are done.
    pub done: Option<u64>,
    /// How many there are.
    pub of: Option<u64>,
    /// Bytes that are done.
    pub bytes: Option<u64>,
    /// Bytes that there are.
    pub of_bytes: Option<u64>,
    /// The part that is done, if it does not follow from the numbers above: from 0 to 1.
    pub share: Option<f64>,
    /// The time that is left, if it was predicted.
    #[serde(skip)]
    pub left: Option<Left>,
}

/// The time that is left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Left {
    /// As predicted.
    pub time: Micros,
    /// The range that it may come out in, if that is known.
    pub range: Option<[Micros; 2]>,
}

impl Left {
    /// Drive time that was predicted, of which nothing else is known.
    pub fn predicted(time: Micros) -> Left {
        Left { time, range: None }
    }

    /// The same, and the range within which it stays if it is off as what is done was: by the ratio of the time that
    /// was taken to the time that was predicted for it. A start says nothing yet.
    pub fn as_before(time: Micros, took: Micros, predicted: Micros) -> Left {
        if predicted.0 <= 0 || took.0 <= 0 || predicted.0 < time.0 / 20 {
            return Left::predicted(time);
        }
        let ratio = took.as_secs_f64() / predicted.as_secs_f64();
        let other = Micros::from_secs_f64(time.as_secs_f64() * ratio);
        Left {
            time,
            range: Some([time.min(other), time.max(other)]),
        }
    }
}

impl State {
    /// This many of some things.
    pub fn counted(unit: &'static str, done: u64, of: Option<u64>) -> State {
        State {
            unit: Some(unit),
            done: Some(done),
            of,
            ..State::default()
        }
    }

    /// The same, while this is done.
    pub fn doing(self, what: impl fmt::Display) -> State {
        State {
            doing: Some(what.to_string()),
            ..self
        }
    }

    /// The same, and this is what a device did last.
    pub fn after(self, event: &Event) -> State {
        State {
            doing: Some(event.action.to_string()),
            device: event.device.clone(),
            cartridge: event.cartridge.clone(),
            ..self
        }
    }
}

/// A state with what follows from it and from the time it took to get there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shown {
    #[serde(flatten)]
    state: State,
    /// Bytes in a second of this machine's time, on average since the work began.
    bytes_per_s: Option<f64>,
    #[serde(serialize_with = "seconds")]
    left_s: Option<Micros>,
    #[serde(serialize_with = "seconds")]
    left_low_s: Option<Micros>,
    #[serde(serialize_with = "seconds")]
    left_high_s: Option<Micros>,
    /// `prediction`, in drive time; or `pace`, if the rest goes as what is done.
    left_from: Option<&'static str>,
}

fn seconds<S: Serializer>(time: &Option<Micros>, out: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(out)
}

impl Shown {
    pub fn new(state: State, elapsed: Duration) -> Shown {
        let part = |done: Option<u64>, of: Option<u64>| {
            let (done, of) = (done?, of.filter(|of| *of > 0)?);
            Some((done as f64 / of as f64).min(1.0))
        };
        let by_number = part(state.bytes, state.of_bytes).or(part(state.done, state.of));
        let share = state.share.or(by_number);
        let seconds = elapsed.as_secs_f64();
        let pace = share.filter(|share| *share > 0.0 && seconds > 0.0);
        let by_pace = pace.map(|share| Micros::from_secs_f64(seconds * (1.0 - share) / share));
        let range = state.left.and_then(|left| left.range);
        Shown {
            bytes_per_s: (state.bytes.filter(|bytes| *bytes > 0 && seconds > 0.0))
                .map(|bytes| bytes as f64 / seconds),
            left_s: state.left.map(|left| left.time).or(by_pace),
            left_low_s: range.map(|[low, _]| low),
            left_high_s: range.map(|[_, high]| high),
            left_from: match (state.left, by_pace) {
                (Some(_), _) => Some("prediction"),
                (None, Some(_)) => Some("pace"),
                (None, None) => None,
            },
            state: State { share, ..state },
        }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = &self.state;
        if let Some(share) = state.share {
            let full = "#".repeat((share * WIDTH as f64).round() as usize);
            write!(f, "[{full:<WIDTH$}] {:3.0} %  ", share * 100.0)?;
        }
        let mut parts = Vec::new();
        if let (Some(unit), Some(done)) = (state.unit, state.done) {
            parts.push(match state.of {
                Some(of) => format!("{done} of {}", units::count(of as usize, unit)),
                None => units::count(done as usize, unit),
            });
        }
        let rate = self.bytes_per_s.map(|rate| units::bytes(rate as u64));
        if let Some(bytes) = state.bytes {
            let of = state.of_bytes.map(|of| format!(" of {}", units::bytes(of)));
            let rate = rate.map(|rate| format!(" at {rate}/s"));
            let (of, rate) = (of.unwrap_or_default(), rate.unwrap_or_default());
            parts.push(format!("{}{of}{rate}", units::bytes(bytes)));
        }
        let at = [&state.doing, &state.cartridge].map(|one| one.as_deref());
        let at: Vec<&str> = at.into_iter().flatten().collect();
        if !at.is_empty() {
            parts.push(at.join(" "));
        }
        if let Some(left) = self.left_s {
            parts.push(format!("about {left} left"));
        }
        f.write_str(&parts.join(", "))?;
        match (self.left_low_s, self.left_high_s) {
            (Some(low), Some(high)) if low < high => write!(f, " ({low} to {high})"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(seconds: f64) -> Micros {
        Micros::from_secs_f64(seconds)
    }

    #[test]
    fn the_line_has_share_numbers_rate_place_and_time_left_with_its_range() {
        let state = State {
            bytes: Some(3_000_000_000),
            cartridge: Some("TW0001L8".to_owned()),
            share: Some(0.25),
            left: Some(Left::as_before(secs(900.0), secs(360.0), secs(300.0))),
            ..State::counted("file", 12, Some(60)).doing("locate")
        };
        let line = Shown::new(state, Duration::from_secs(20)).to_string();
        let expected = "[#####               ]  25 %  12 of 60 files, 3.00 GB at 150 MB/s, locate TW0001L8, \
                        about 15m00 left (15m00 to 18m00)";
        assert_eq!(line, expected);
    }

    #[test]
    fn what_is_not_known_is_null_and_not_in_the_line() {
        let nothing = Shown::new(State::default(), Duration::from_secs(5));
        assert_eq!(nothing.to_string(), "");
        let json = serde_json::to_value(&nothing).expect("an object");
        let fields = json.as_object().expect("an object");
        assert_eq!(fields.len(), 14);
        assert!(fields.values().all(serde_json::Value::is_null), "{json}");
    }

    #[test]
    fn without_a_prediction_the_rest_goes_as_what_is_done() {
        let state = State::counted("replication", 3, Some(12));
        let json = serde_json::to_value(Shown::new(state, Duration::from_secs(6))).expect("JSON");
        assert_eq!(json["left_s"], 18.0);
        assert_eq!(json["left_from"], "pace");
        assert_eq!(json["share"], 0.25);
        // Bytes say more than files, which differ in size.
        let by_bytes = State {
            bytes: Some(50),
            of_bytes: Some(100),
            ..State::counted("file", 1, Some(10))
        };
        let json = serde_json::to_value(Shown::new(by_bytes, Duration::from_secs(6)));
        assert_eq!(json.expect("JSON")["left_s"], 6.0);
    }

    #[test]
    fn the_range_of_the_time_left_is_how_far_off_what_is_done_was() {
        let slower = Left::as_before(secs(100.0), secs(60.0), secs(50.0));
        assert_eq!(slower.range, Some([secs(100.0), secs(120.0)]));
        let faster = Left::as_before(secs(100.0), secs(40.0), secs(50.0));
        assert_eq!(faster.range, Some([secs(80.0), secs(100.0)]));
        let start = Left::as_before(secs(100.0), secs(9.0), secs(1.0));
        assert_eq!(start.range, None);
    }
}
