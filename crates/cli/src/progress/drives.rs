//! What drives and robots did, added up from their events.

use super::{State, locked};
use std::sync::Mutex;
use tapewise_formats::event::{Action, Event};
use tapewise_model::Micros;

/// What the drives and robots of one work did.
#[derive(Default)]
pub struct Drives(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    last: Option<Event>,
    bytes: u64,
    took: Micros,
}

impl Drives {
    /// Adds what one of them did.
    pub fn saw(&self, event: &Event) {
        let mut seen = locked(&self.0);
        seen.bytes = seen.bytes.saturating_add(event.bytes);
        // A robot's time is no drive's.
        if !matches!(event.action, Action::Fetch | Action::Return) {
            seen.took += event.took_us;
        }
        seen.last = Some(event.clone());
    }

    /// What was done last, and all bytes that were read and written.
    pub fn state(&self) -> State {
        let seen = locked(&self.0);
        let state = State {
            bytes: Some(seen.bytes),
            ..State::default()
        };
        match &seen.last {
            Some(event) => state.after(event),
            None => state,
        }
    }

    /// Drive time, of all drives together.
    pub fn took(&self) -> Micros {
        locked(&self.0).took
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_drive_time_add_up_and_the_last_action_has_its_name() {
        let drives = Drives::default();
        assert_eq!(drives.state().doing, None);
        let event = |action, bytes| Event {
            bytes,
            device: Some("D1".to_owned()),
            ..Event::new(action, Micros::ZERO, Micros(5))
        };
        for event in [
            event(Action::Fetch, 0),
            event(Action::Read, 7),
            event(Action::ReadThrough, 3),
        ] {
            drives.saw(&event);
        }
        let state = drives.state();
        assert_eq!(state.doing.as_deref(), Some("read-through"));
        assert_eq!(
            (state.bytes, state.device.as_deref()),
            (Some(10), Some("D1"))
        );
        assert_eq!(drives.took(), Micros(10));
    }
}
