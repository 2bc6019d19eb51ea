//! A library under continuous mounting: NERSC's test of three days, with any number of cycles in flight.
//!
//! "The test randomly picked a tape and mounted it in a drive, then dismounted it. As soon as a mount
//! or dismount was completed, the next one was issued" (Cholia & Meyer 2001). A cycle is a fetch, a
//! load, an unload and a return. One robot carries one cartridge at a time; drives load and unload by
//! themselves meanwhile. Nothing is read or written.
//!
//! Each cycle in flight goes through these steps by itself and meets the others at the robot. Where clocks are real
//! each has a thread. Emulated devices that run [apart](Pace::Turns) are sent commands in the order of their times: the
//! cycle whose time is earliest takes its next step, whole, and the same seed gives the same moves.

use crate::pool::{Pace, is_cleaner};
use crate::turns::{self, Job, begin_together, duration, into_inner, lock, micros};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_model::{Micros, Random};
use tapewise_run::{Log, RunError};
use tapewise_scsi::{Changer, Inventory, ScsiError, TapeDrive};

/// A drive under test.
pub struct Tested {
    /// The drive.
    pub drive: TapeDrive,
    /// Its element address.
    pub element: u16,
}

/// A cartridge to mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlottedCartridge {
    /// Its label.
    pub label: String,
    /// The slot it stands in, and is brought back to.
    pub slot: u16,
}

impl SlottedCartridge {
    /// The cartridges with a label that stand in slots the robot can reach; cleaning cartridges stay
    /// where they are.
    pub fn all(inventory: &Inventory) -> Vec<SlottedCartridge> {
        let slots = inventory
            .slots
            .iter()
            .filter(|slot| !inventory.is_blocked(slot));
        let labelled = slots.filter_map(|slot| {
            let label = slot.volume_tag.clone().filter(|_| slot.is_full)?;
            let slot = slot.address;
            (!is_cleaner(&label)).then_some(SlottedCartridge { label, slot })
        });
        labelled.collect()
    }
}

/// How the test goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Cycles at once; no more than there are drives.
    pub in_flight: usize,
    /// No cycle is begun after so long.
    pub limit: Duration,
    /// Chooses cartridges and drives.
    pub seed: u64,
}

impl Terms {
    /// Refuses more cycles at once than there are drives or cartridges.
    ///
    /// # Errors
    /// [`RunError::Unsuitable`].
    pub fn check(&self, drives: usize, cartridges: usize) -> Result<(), RunError> {
        if (1..=drives.min(cartridges)).contains(&self.in_flight) {
            return Ok(());
        }
        Err(RunError::Unsuitable(format!(
            "{} cycles in flight need as many drives and cartridges; there are {drives} and {cartridges}",
            self.in_flight,
        )))
    }
}

/// Something that did not go as it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// When, since the test began.
    pub at: Micros,
    /// What was being done.
    pub action: Action,
    /// The cartridge.
    pub label: String,
    /// The drive's element.
    pub element: u16,
    /// What the device said.
    pub said: String,
}

/// What came of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// From the first move until the last cartridge was back.
    pub took: Micros,
    /// From each request until the drive was ready.
    pub mounts: Vec<Micros>,
    /// From each request until the cartridge was back in its slot.
    pub unmounts: Vec<Micros>,
    /// What failed.
    pub failures: Vec<Failure>,
    /// Cartridges that are not in their slots.
    pub left: Vec<String>,
    /// Somebody stopped it.
    pub interrupted: bool,
}

/// How times are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Mean.
    pub mean: Micros,
    /// The 5th, 50th and 95th percentile, and the longest.
    pub percentiles: [Micros; 4],
}

impl Spread {
    /// The spread of these times; none of no times.
    pub fn of(times: &[Micros]) -> Option<Spread> {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1)?;
        let sum: i64 = sorted.iter().map(|time| time.0).sum();
        Some(Spread {
            mean: Micros(sum / sorted.len() as i64),
            percentiles: [5, 50, 95, 100].map(|part| sorted[last * part / 100]),
        })
    }
}

impl Tally {
    /// Mounts an hour.
    pub fn per_hour(&self) -> f64 {
        self.mounts.len() as f64 * 3600.0 / self.took.as_secs_f64()
    }
}

/// One cartridge on its way to a drive and back.
struct Cycle<'a> {
    tested: &'a mut Tested,
    cartridge: usize,
    /// The next step: fetch, mount, unmount, return; none when it is back.
    next: Option<Action>,
    /// When mount or unmount was asked for.
    asked: Micros,
    /// Tries of this step that failed.
    failed: u32,
}

/// A move of the robot that was not made is tried so often.
const TRIES: u32 = 3;

/// A cartridge that a drive has not loaded after so long has failed.
const LOAD_LIMIT: Duration = Duration::from_secs(900);

/// What the cycles share.
struct Hall<'a> {
    cartridges: &'a [SlottedCartridge],
    terms: Terms,
    stop: &'a AtomicBool,
    /// All devices' clocks when the test began.
    began: Duration,
    robot: Mutex<&'a mut Changer>,
    free: Mutex<Free<'a>>,
    record: Mutex<Record<'a>>,
}

/// What a cycle can begin with.
struct Free<'a> {
    drives: Vec<&'a mut Tested>,
    cartridges: Vec<usize>,
    random: Random,
}

struct Record<'a> {
    log: &'a mut (dyn Log + Send),
    tally: Tally,
}

/// One cycle after the other.
struct Lane<'h, 'a> {
    hall: &'h Hall<'a>,
    cycle: Option<Cycle<'a>>,
    now: Micros,
}

/// Mounts and dismounts random cartridges until the time is over or `stop` is set; then what is on its
/// way is brought back. At [`Pace::Turns`] the devices must run apart.
///
/// # Errors
/// [`RunError::Unsuitable`] without drives or cartridges for so many cycles, [`RunError::Log`], and
/// [`RunError::Scsi`] when the library does not tell what stands where in the end. That a mount fails
/// is no error: it is counted.
pub fn stress(
    changer: &mut Changer,
    drives: &mut [Tested],
    cartridges: &[SlottedCartridge],
    terms: Terms,
    pace: Pace,
    log: &mut (dyn Log + Send),
    stop: &AtomicBool,
) -> Result<Tally, RunError> {
    terms.check(drives.len(), cartridges.len())?;
    let began = begin_together(changer, drives.iter_mut().map(|tested| &mut tested.drive));
    let hall = Hall {
        cartridges,
        terms,
        stop,
        began,
        robot: Mutex::new(changer),
        free: Mutex::new(Free {
            drives: drives.iter_mut().collect(),
            cartridges: (0..cartridges.len()).collect(),
            random: Random::new(terms.seed, 0),
        }),
        record: Mutex::new(Record {
            log,
            tally: Tally::default(),
        }),
    };
    let lanes = (0..terms.in_flight).map(|_| Lane::new(&hall));
    turns::work_off(lanes.collect(), pace)?;
    let Hall { robot, record, .. } = hall;
    let changer = into_inner(robot);
    let mut tally = into_inner(record).tally;
    tally.interrupted = stop.load(Ordering::Relaxed);
    let inventory = changer.inventory()?;
    let in_its_slot = |one: &&SlottedCartridge| {
        let slot = inventory.element(one.slot);
        slot.and_then(|slot| slot.volume_tag.as_ref()) == Some(&one.label)
    };
    let left = cartridges.iter().filter(|one| !in_its_slot(one));
    tally.left = left.map(|one| one.label.clone()).collect();
    Ok(tally)
}

impl Job for Lane<'_, '_> {
    fn turn(&self) -> (Micros, Micros) {
        (self.now, self.now)
    }

    fn step(&mut self) -> Result<bool, RunError> {
        let on_its_way = match self.cycle.take() {
            Some(cycle) => self.hall.unless_back(cycle),
            None => None,
        };
        let Some(mut cycle) = on_its_way.or_else(|| self.begin()) else {
            return Ok(false);
        };
        let Some(action) = cycle.next else {
            return Ok(false);
        };
        let began = self.hall.time(&cycle.tested.drive);
        let (began, done) = match action {
            Action::Fetch | Action::Return => self.hall.carry(&mut cycle, action),
            Action::Mount => (began, cycle.tested.drive.wait_until_loaded(LOAD_LIMIT)),
            _ => (began, cycle.tested.drive.unload()),
        };
        self.now = self.hall.time(&cycle.tested.drive);
        let took = (began, self.now);
        self.hall.note(&cycle, action, took, done.as_ref().err())?;
        if action == Action::Mount {
            cycle.asked = self.now;
        }
        cycle.failed = done.as_ref().map_or(cycle.failed + 1, |()| 0);
        cycle.next = match (action, done) {
            (Action::Fetch, Ok(())) => Some(Action::Mount),
            (Action::Mount, Ok(())) => Some(Action::Unmount),
            (Action::Return, Ok(())) => None,
            // The drive and its cartridge are left as they are.
            (Action::Fetch | Action::Return, Err(_)) if cycle.failed >= TRIES => return Ok(true),
            (Action::Fetch, Err(_)) => Some(Action::Fetch),
            // What a drive has not loaded or unloaded the robot is to take, if the drive lets it.
            _ => Some(Action::Return),
        };
        self.cycle = Some(cycle);
        Ok(true)
    }
}

impl<'h, 'a> Lane<'h, 'a> {
    fn new(hall: &'h Hall<'a>) -> Lane<'h, 'a> {
        Lane {
            hall,
            cycle: None,
            now: Micros::ZERO,
        }
    }

    /// A random cartridge for a random drive; none when the time is over, or failures have left none.
    fn begin(&mut self) -> Option<Cycle<'a>> {
        let is_over = duration(self.now) >= self.hall.terms.limit;
        if is_over || self.hall.stop.load(Ordering::Relaxed) {
            return None;
        }
        let (tested, cartridge) = lock(&self.hall.free).draw()?;
        let idle = self.now - self.hall.time(&tested.drive);
        tested.drive.wait(duration(idle));
        Some(Cycle {
            asked: self.hall.time(&tested.drive),
            tested,
            cartridge,
            next: Some(Action::Fetch),
            failed: 0,
        })
    }
}

impl<'a> Free<'a> {
    fn draw(&mut self) -> Option<(&'a mut Tested, usize)> {
        if self.drives.is_empty() || self.cartridges.is_empty() {
            return None;
        }
        let drive = self.random.below(self.drives.len() as u64) as usize;
        let cartridge = self.random.below(self.cartridges.len() as u64) as usize;
        Some((
            self.drives.swap_remove(drive),
            self.cartridges.swap_remove(cartridge),
        ))
    }
}

impl<'a> Hall<'a> {
    /// Time since the test began.
    fn time(&self, drive: &TapeDrive) -> Micros {
        micros(drive.now().saturating_sub(self.began))
    }

    /// Sends the robot, when it is free. Gives when it set out.
    fn carry(&self, cycle: &mut Cycle, action: Action) -> (Micros, Result<(), ScsiError>) {
        let slot = self.cartridges[cycle.cartridge].slot;
        let Tested { drive, element } = &mut *cycle.tested;
        let (from, to) = match action {
            Action::Return => (*element, slot),
            _ => (slot, *element),
        };
        let mut robot = lock(&self.robot);
        // Who comes first waits for the other; on a real clock holding the robot was the wait.
        let (robot_now, drive_now) = (robot.now(), drive.now());
        drive.wait(robot_now.saturating_sub(drive_now));
        robot.wait(drive_now.saturating_sub(robot_now));
        let at = self.time(drive);
        let moved = robot.move_medium(from, to);
        drive.wait(robot.now().saturating_sub(drive.now()));
        (at, moved)
    }

    /// The cycle, unless its cartridge is back: then its drive and its cartridge are free. Where cycles take turns, this
    /// is done at their time.
    fn unless_back(&self, cycle: Cycle<'a>) -> Option<Cycle<'a>> {
        if cycle.next.is_some() {
            return Some(cycle);
        }
        let mut free = lock(&self.free);
        free.drives.push(cycle.tested);
        free.cartridges.push(cycle.cartridge);
        None
    }

    /// A step has ended: into the log and the tally.
    fn note(
        &self,
        cycle: &Cycle,
        action: Action,
        (began, ended): (Micros, Micros),
        failed: Option<&ScsiError>,
    ) -> Result<(), RunError> {
        let cartridge = &self.cartridges[cycle.cartridge];
        let is_robots = matches!(action, Action::Fetch | Action::Return);
        let said = failed.map(ToString::to_string);
        let event = Event {
            device: cycle.tested.drive.identity().serial.clone(),
            cartridge: Some(cartridge.label.clone()),
            slot: is_robots.then_some(cartridge.slot),
            outcome: match failed {
                None => Outcome::Done,
                Some(_) => Outcome::Failed,
            },
            sense: said.clone(),
            ..Event::new(action, began, ended - began)
        };
        let mut record = lock(&self.record);
        let tally = &mut record.tally;
        tally.took = tally.took.max(ended);
        match (said, action) {
            (Some(said), action) => tally.failures.push(Failure {
                at: ended,
                action,
                label: cartridge.label.clone(),
                element: cycle.tested.element,
                said,
            }),
            (None, Action::Mount) => tally.mounts.push(ended - cycle.asked),
            (None, Action::Return) => tally.unmounts.push(ended - cycle.asked),
            _ => {}
        }
        record.log.event(&event).map_err(RunError::Log)
    }
}
