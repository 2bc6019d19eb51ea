//! What drives do, learned from their events: what each did last and where its head is, what each cartridge took in the
//! last day, and how long the ways were.
//!
//! An event comes when its action has ended. So this says what was done last, never what is being done. What a robot
//! does for a drive is told of the drive.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use tapewise_formats::event::{Action, Event, Outcome, Spot};
use tapewise_model::{Geometry, Micros, Wear};
use tapewise_run::Odometer;

/// Mounts are remembered for a day, and no more than this many: 40 drives make fewer, even if each mount takes ten minutes.
const DAY_NS: i64 = 86_400_000_000_000;
const MOST_MOUNTS: usize = 10_000;

/// Upper ends of the classes in which positioning times are counted, in seconds.
pub(crate) const CLASSES_S: [f64; 9] = [1.0, 5.0, 10.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0];

/// Drives that have done something since the program began.
#[derive(Clone, Debug, Default)]
pub struct Drives {
    pub(crate) devices: BTreeMap<String, Device>,
    /// Oldest first.
    pub(crate) mounts: VecDeque<Mounted>,
    /// Positionings by class, one more for those beyond the last.
    pub(crate) positionings: [u64; CLASSES_S.len() + 1],
    pub(crate) positioning_us: u64,
    /// How much tape a place on it is; none: nobody said which drives these are.
    geometry: Option<Geometry>,
    /// What each cartridge has been through.
    pub(crate) wear: BTreeMap<String, Wear>,
}

/// A drive.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    /// What it did last.
    pub last: Action,
    /// When that was known here.
    pub at_ns: i64,
    /// The cartridge that it has.
    pub cartridge: Option<String>,
    /// Whether it has loaded that since it got it.
    pub is_loaded: bool,
    /// Where its head is.
    pub spot: Option<Spot>,
    /// Why the last action failed.
    pub error: Option<String>,
    /// Actions that failed.
    pub errors: u64,
    /// Microseconds of mounting, positioning and reading.
    pub took_us: [u64; 3],
    /// The same as plans predicted it, of what was done by a plan, and what that took.
    pub predicted_us: [u64; 3],
    pub by_plan_us: [u64; 3],
    /// Plans of which a bound is known, as they were when the drive began with them: what they take together, and what
    /// they take at least, in whatever order.
    pub bounded_plans: u64,
    pub planned_us: u64,
    pub bound_us: u64,
    /// Tape moved, and cartridges loaded.
    pub wear: Wear,
}

/// A cartridge in a drive, from when it came to when it went.
#[derive(Clone, Debug)]
pub(crate) struct Mounted {
    pub drive: String,
    pub cartridge: String,
    pub began_ns: i64,
    /// None while it is there.
    pub ended_ns: Option<i64>,
    /// Microseconds of mounting, positioning and reading, on the drive's clock.
    pub took_us: [u64; 3],
    pub locates: u64,
    pub bytes: u64,
    pub errors: u64,
}

/// What the time of an action is counted as: mounting, positioning, reading.
pub(crate) const KINDS: [&str; 3] = ["mount", "position", "read"];

/// Those of them that a plan predicts.
pub(crate) const PLANNED: Range<usize> = 1..3;

fn kind(action: Action) -> Option<usize> {
    match action {
        Action::Mount | Action::Unmount | Action::Fetch | Action::Return => Some(0),
        Action::Locate | Action::Rewind | Action::ReadThrough => Some(1),
        Action::Read => Some(2),
        Action::Write | Action::WriteFilemarks | Action::Pause => None,
    }
}

/// Whether a drive has no cartridge after an action.
fn is_end(action: Action) -> bool {
    matches!(action, Action::Unmount | Action::Return)
}

fn whole(time: Micros) -> u64 {
    u64::try_from(time.0).unwrap_or_default()
}

impl Drives {
    /// Drives that have done nothing yet, whose cartridges are like this.
    pub(crate) fn with(geometry: Geometry) -> Drives {
        Drives {
            geometry: Some(geometry),
            ..Drives::default()
        }
    }

    /// The cartridge that has moved most, as passes from one end of the tape to the other.
    pub(crate) fn most_passes(&self) -> Option<f64> {
        let geometry = self.geometry.as_ref()?;
        let passes = self.wear.values().map(|wear| wear.passes(geometry));
        passes.max_by(f64::total_cmp)
    }

    /// Metres of tape that a drive has moved, where it is known how long the tape is.
    pub(crate) fn metres(&self, device: &Device) -> Option<f64> {
        device.wear.metres(self.geometry.as_ref()?)
    }

    /// Adds what one of them did, as it is known at a time. Whether it goes on with the cartridge that it has: the log
    /// calls that a mount too.
    pub(crate) fn saw(&mut self, event: &Event, now_ns: i64) -> bool {
        let took_us = whole(event.took_us);
        let kind = kind(event.action);
        let has_failed = event.outcome == Outcome::Failed;
        let name = event.device.clone().unwrap_or_default();
        let device = self.devices.entry(name.clone()).or_insert(Device {
            last: event.action,
            at_ns: now_ns,
            cartridge: None,
            is_loaded: false,
            spot: None,
            error: None,
            errors: 0,
            took_us: [0; 3],
            predicted_us: [0; 3],
            by_plan_us: [0; 3],
            bounded_plans: 0,
            planned_us: 0,
            bound_us: 0,
            wear: Wear::default(),
        });
        let goes_on = event.action == Action::Mount
            && device.is_loaded
            && device.cartridge == event.cartridge;
        let geometry = self.geometry.as_ref().filter(|_| !goes_on);
        let wear = geometry.map(|geometry| worn(event, device.spot, geometry));
        device.wear += wear.unwrap_or_default();
        match event.action {
            Action::Mount => device.is_loaded = !has_failed,
            Action::Fetch | Action::Unmount | Action::Return => device.is_loaded = false,
            _ => {}
        }
        device.last = event.action;
        device.at_ns = now_ns;
        device.error = None;
        if has_failed {
            let why = event.sense.clone();
            device.error = Some(why.unwrap_or_else(|| "it failed".to_owned()));
            device.errors += 1;
        }
        if let Some(kind) = kind {
            device.took_us[kind] += took_us;
            if let (Some(predicted), false) = (event.predicted_us, has_failed) {
                device.predicted_us[kind] += whole(predicted);
                device.by_plan_us[kind] += took_us;
            }
        }
        if let Some((plan, bound)) = event.plan.and_then(|plan| Some((plan, plan.bound_us?))) {
            device.bounded_plans += 1;
            device.planned_us += whole(plan.predicted_us);
            device.bound_us += whole(bound);
        }
        if is_end(event.action) && !has_failed {
            (device.cartridge, device.spot) = (None, None);
        } else {
            device.cartridge = event.cartridge.clone().or(device.cartridge.take());
            device.spot = event.to.or(device.spot);
        }
        if kind == Some(1) {
            let seconds = took_us as f64 / 1e6;
            let class = CLASSES_S.iter().position(|&most| seconds <= most);
            self.positionings[class.unwrap_or(CLASSES_S.len())] += 1;
            self.positioning_us += took_us;
        }
        if let (Some(wear), Some(cartridge)) = (wear, &event.cartridge) {
            *self.wear.entry(cartridge.clone()).or_default() += wear;
        }
        self.add_to_mount(event, &name, now_ns);
        goes_on
    }

    /// Adds an action of a drive to the mount of its cartridge.
    fn add_to_mount(&mut self, event: &Event, drive: &str, now_ns: i64) {
        let Some(cartridge) = event.cartridge.as_deref() else {
            return;
        };
        let is_its = |mount: &&mut Mounted| mount.drive == drive && mount.cartridge == cartridge;
        let last = self.mounts.iter_mut().rev().find(is_its);
        // After the unmount the robot takes the cartridge away: that is the end of the same mount.
        if last.is_none_or(|last| last.ended_ns.is_some() && !is_end(event.action)) {
            self.forget(now_ns);
            self.mounts.push_back(Mounted {
                drive: drive.to_owned(),
                cartridge: cartridge.to_owned(),
                began_ns: now_ns,
                ended_ns: None,
                took_us: [0; 3],
                locates: 0,
                bytes: 0,
                errors: 0,
            });
        }
        let Some(mount) = self.mounts.iter_mut().rev().find(is_its) else {
            return;
        };
        if let Some(kind) = kind(event.action) {
            mount.took_us[kind] += whole(event.took_us);
        }
        mount.locates += u64::from(event.action == Action::Locate);
        mount.bytes = mount.bytes.saturating_add(event.bytes);
        mount.errors += u64::from(event.outcome == Outcome::Failed);
        if is_end(event.action) {
            mount.ended_ns = Some(now_ns);
        }
    }

    fn forget(&mut self, now_ns: i64) {
        self.mounts.retain(|mount| {
            let ended_ns = mount.ended_ns.unwrap_or(now_ns);
            now_ns.saturating_sub(ended_ns) < DAY_NS
        });
        while self.mounts.len() >= MOST_MOUNTS {
            self.mounts.pop_front();
        }
    }
}

/// What an action takes of a cartridge's life. Where the log does not say where the head was, it is where the last
/// action left it.
fn worn(event: &Event, last: Option<Spot>, geometry: &Geometry) -> Wear {
    let event = Event {
        from: event.from.or(last),
        ..event.clone()
    };
    let mut odometer = Odometer::new(geometry, None);
    odometer.add(&event);
    odometer.wear
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_formats::event::PlanBegun;

    fn event(action: Action, took_s: i64) -> Event {
        Event {
            device: Some("D1".to_owned()),
            cartridge: Some("T1".to_owned()),
            ..Event::new(action, Micros::ZERO, Micros(took_s * 1_000_000))
        }
    }

    #[test]
    fn a_mount_is_all_that_a_drive_does_with_a_cartridge() {
        let mut drives = Drives::default();
        let there = Spot {
            wrap: Some(3),
            lpos: Some(700),
            ..Spot::default()
        };
        let actions = [
            event(Action::Mount, 20),
            Event {
                to: Some(there),
                ..event(Action::Locate, 50)
            },
            Event {
                bytes: 7,
                ..event(Action::Read, 2)
            },
        ];
        for (at_ns, action) in (10..).zip(&actions) {
            drives.saw(action, at_ns);
        }
        assert_eq!(drives.devices["D1"].spot, Some(there));
        drives.saw(&event(Action::Unmount, 20), 19);
        drives.saw(&event(Action::Return, 10), 20);
        assert_eq!(drives.mounts.len(), 1, "the robot's part belongs to it");
        let device = &drives.devices["D1"];
        assert_eq!((&device.cartridge, device.spot), (&None, None));
        let mount = &drives.mounts[0];
        assert_eq!((mount.began_ns, mount.ended_ns), (10, Some(20)));
        assert_eq!((mount.locates, mount.bytes), (1, 7));
        assert_eq!(mount.took_us, [50_000_000, 50_000_000, 2_000_000]);
        assert_eq!(drives.positionings, [0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
        // The next time is another mount, and after a day the first one is forgotten.
        drives.saw(&event(Action::Mount, 20), 30);
        assert_eq!(drives.mounts.len(), 2);
        drives.saw(&event(Action::Unmount, 20), 31);
        drives.saw(&event(Action::Mount, 20), 20 + DAY_NS);
        assert_eq!(drives.mounts.len(), 2);
    }

    #[test]
    fn predictions_count_with_what_they_were_made_for_and_gaps_with_their_bounds() {
        let mut drives = Drives::default();
        let second = |seconds: i64| Some(Micros(seconds * 1_000_000));
        let plan = |bound_us| PlanBegun {
            predicted_us: Micros(90_000_000),
            bound_us,
        };
        let located = Event {
            predicted_us: second(40),
            plan: Some(plan(second(81))),
            ..event(Action::Locate, 50)
        };
        let failed = Event {
            outcome: Outcome::Failed,
            ..located.clone()
        };
        let without_bound = Event {
            plan: Some(plan(None)),
            ..event(Action::Locate, 7)
        };
        for event in [&located, &failed, &without_bound] {
            drives.saw(event, 1);
        }
        let device = &drives.devices["D1"];
        assert_eq!(device.predicted_us, [0, 40_000_000, 0]);
        assert_eq!(device.by_plan_us, [0, 50_000_000, 0]);
        let plans = (device.bounded_plans, device.planned_us, device.bound_us);
        assert_eq!(plans, (2, 180_000_000, 162_000_000));
    }

    #[test]
    fn tape_moves_from_where_the_last_action_left_the_head() {
        let profile = tapewise_model::profile::find("lto8").expect("a profile");
        let geometry = profile.geometry().expect("a geometry");
        let (begin, length) = (geometry.lpos_min, geometry.wrap_lpos());
        let mut drives = Drives::with(geometry);
        let at = |lpos| {
            Some(Spot {
                wrap: Some(0),
                lpos: Some(lpos),
                ..Spot::default()
            })
        };
        let moves = [
            (Action::Mount, at(begin)),
            // The log does not say from where.
            (Action::Locate, at(begin + length / 2)),
            (Action::Unmount, None),
        ];
        for (action, to) in moves {
            drives.saw(
                &Event {
                    to,
                    ..event(action, 1)
                },
                1,
            );
        }
        let device = &drives.devices["D1"];
        // Half of the 922 m that carry data, and back; an LTO-8 cartridge's life is told in metres.
        let metres = drives.metres(device).expect("a length");
        assert!((metres - 922.0).abs() < 1.0, "{metres}");
        let passes = drives.most_passes().expect("passes");
        assert!((passes - 1.0).abs() < 1e-4, "{passes}");
        assert_eq!(device.wear.loads, 1);
    }

    #[test]
    fn to_read_more_of_the_cartridge_in_a_drive_is_no_load() {
        let profile = tapewise_model::profile::find("lto8").expect("a profile");
        let mut drives = Drives::with(profile.geometry().expect("a geometry"));
        let other = Event {
            cartridge: Some("T2".to_owned()),
            ..event(Action::Mount, 20)
        };
        let mount = |took_s| event(Action::Mount, took_s);
        let did = [
            (event(Action::Fetch, 10), false),
            (mount(20), false),
            (event(Action::Read, 5), false),
            (mount(0), true),
            (event(Action::Read, 5), false),
            (event(Action::Unmount, 20), false),
            (other, false),
            // It failed: the next one is a load.
            (
                Event {
                    outcome: Outcome::Failed,
                    ..mount(1)
                },
                false,
            ),
            (mount(20), false),
        ];
        for (event, goes_on) in &did {
            assert_eq!(drives.saw(event, 1), *goes_on, "{event:?}");
        }
        let loads = &drives.devices["D1"].wear.loads;
        assert_eq!(*loads, 4, "one of them failed");
        assert_eq!(drives.wear["T1"].loads, 3);
    }

    #[test]
    fn what_a_destination_does_not_take_is_no_error_of_the_drive() {
        let mut drives = Drives::default();
        let given_up = Event {
            outcome: Outcome::Abandoned,
            sense: Some("cannot hand on what was read: no space left on device".to_owned()),
            ..event(Action::Read, 1)
        };
        drives.saw(&given_up, 1);
        let device = &drives.devices["D1"];
        assert_eq!((&device.error, device.errors), (&None, 0));
        assert_eq!(drives.mounts[0].errors, 0);
    }

    #[test]
    fn what_failed_is_told_until_something_works_again() {
        let mut drives = Drives::default();
        let failed = Event {
            outcome: Outcome::Failed,
            sense: Some("medium error".to_owned()),
            ..event(Action::Read, 1)
        };
        drives.saw(&failed, 1);
        assert_eq!(drives.devices["D1"].error.as_deref(), Some("medium error"));
        drives.saw(&event(Action::Locate, 1), 2);
        let device = &drives.devices["D1"];
        assert_eq!((&device.error, device.errors), (&None, 1));
        assert_eq!(drives.mounts[0].errors, 1);
    }
}
