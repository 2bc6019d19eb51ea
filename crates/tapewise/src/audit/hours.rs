//! The ledger: what every moment of a log was spent on, by drive, volume and user.

use std::collections::BTreeMap;
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_model::Micros;

/// What time was spent on, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// The robot carries a cartridge.
    Robot,
    /// From the cartridge in the drive until it is ready.
    Mount,
    /// On the way to a block.
    Locate,
    /// Reading on over what nobody asked for.
    ReadThrough,
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Writing filemarks.
    Filemarks,
    /// Going back to the beginning of tape.
    Rewind,
    /// From the request until the cartridge can be taken.
    Unmount,
    /// Waiting because somebody wanted it so.
    Pause,
    /// Nothing, with a cartridge in the drive.
    Idle,
    /// Anything that failed or was given up.
    Failed,
}

impl Spent {
    /// All of them.
    pub const ALL: [Spent; 12] = [
        Spent::Robot,
        Spent::Mount,
        Spent::Locate,
        Spent::ReadThrough,
        Spent::Read,
        Spent::Write,
        Spent::Filemarks,
        Spent::Rewind,
        Spent::Unmount,
        Spent::Pause,
        Spent::Idle,
        Spent::Failed,
    ];

    /// The heading of its column; with `_` for blanks, its key in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Spent::Robot => "robot",
            Spent::Mount => "mount",
            Spent::Locate => "locate",
            Spent::ReadThrough => "read through",
            Spent::Read => "read",
            Spent::Write => "write",
            Spent::Filemarks => "filemarks",
            Spent::Rewind => "rewind",
            Spent::Unmount => "unmount",
            Spent::Pause => "pause",
            Spent::Idle => "idle",
            Spent::Failed => "failed",
        }
    }

    fn of(event: &Event) -> Spent {
        if event.outcome != Outcome::Done {
            return Spent::Failed;
        }
        match event.action {
            Action::Fetch | Action::Return => Spent::Robot,
            Action::Mount => Spent::Mount,
            Action::Unmount => Spent::Unmount,
            Action::Locate => Spent::Locate,
            Action::ReadThrough => Spent::ReadThrough,
            Action::Read => Spent::Read,
            Action::Write => Spent::Write,
            Action::WriteFilemarks => Spent::Filemarks,
            Action::Rewind => Spent::Rewind,
            Action::Pause => Spent::Pause,
        }
    }
}

/// Time by what it was spent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hours([Micros; Spent::ALL.len()]);

impl Hours {
    /// Time spent on something.
    pub fn on(&self, what: Spent) -> Micros {
        self.0[what as usize]
    }

    /// Several added up.
    pub fn sum<'a>(several: impl Iterator<Item = &'a Hours>) -> Hours {
        let mut sum = Hours::default();
        for hours in several {
            for (sum, hours) in sum.0.iter_mut().zip(hours.0) {
                *sum += hours;
            }
        }
        sum
    }

    /// All of it.
    pub fn total(&self) -> Micros {
        self.0.iter().copied().sum()
    }
}

/// What a log does not say.
pub const NOT_SAID: &str = "(unknown)";

/// Time by drive, by volume and by user: three ways to divide the same hours.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Everything.
    pub all: Hours,
    /// By the drive's (or robot's) serial number.
    pub drives: BTreeMap<String, Hours>,
    /// By cartridge.
    pub volumes: BTreeMap<String, Hours>,
    /// By who it was done for.
    pub users: BTreeMap<String, Hours>,
    /// By the day, in UTC, on which it began: empty unless logs have dates.
    pub days: BTreeMap<String, Hours>,
    /// Events counted.
    pub events: u64,
}

impl Ledger {
    /// Counts an event, and the time that its drive did nothing before.
    pub fn add(&mut self, event: &Event, idle: Micros) {
        self.events += 1;
        let ways = [
            (&mut self.drives, &event.device),
            (&mut self.volumes, &event.cartridge),
            (&mut self.users, &event.user),
        ];
        let book = |hours: &mut Hours| {
            hours.0[Spent::of(event) as usize] += event.took_us;
            hours.0[Spent::Idle as usize] += idle;
        };
        book(&mut self.all);
        for (way, name) in ways {
            let name = name.as_deref().unwrap_or(NOT_SAID);
            // Names are few and events many: a name is copied only when it is new.
            match way.get_mut(name) {
                Some(hours) => book(hours),
                None => book(way.entry(name.to_owned()).or_default()),
            }
        }
    }
}

impl Ledger {
    /// Counts an event by its day, and the time that its drive did nothing before. Each is counted whole on the day
    /// on which the event began.
    pub fn add_day(&mut self, event: &Event, idle: Micros) {
        let hours = self.days.entry(day(event.at_us)).or_default();
        hours.0[Spent::of(event) as usize] += event.took_us;
        hours.0[Spent::Idle as usize] += idle;
    }
}

/// The day of a time since 1970, as `2026-11-21`: Howard Hinnant, "chrono-compatible low-level date algorithms".
fn day(at: Micros) -> String {
    let days = at.0.div_euclid(86_400_000_000) + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{of_month:02}")
}

/// Names with the most hours first.
pub fn sorted(hours: &BTreeMap<String, Hours>) -> Vec<(&str, &Hours)> {
    let mut rows: Vec<_> = hours
        .iter()
        .map(|(name, hours)| (name.as_str(), hours))
        .collect();
    // Stable: equals stay in the order of their names.
    rows.sort_by_key(|(_, hours)| -hours.total());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight_in_utc() {
        let of = |seconds: i64| day(Micros(seconds * 1_000_000));
        assert_eq!(of(0), "1970-01-01");
        assert_eq!(of(951_782_399), "2000-02-28");
        assert_eq!(of(951_782_400), "2000-02-29");
        assert_eq!(of(1_709_251_200), "2024-03-01");
        assert_eq!(of(1_661_346_853), "2022-08-24");
        assert_eq!(of(4_107_542_399), "2100-02-28");
        assert_eq!(of(4_107_542_400), "2100-03-01");
    }
}
