//! A library under continuous mounting: NERSC's test of three days, with any number of cycles in flight.
//!
//! "The test randomly picked a tape and mounted it in a drive, then dismounted it. As soon as a mount
//! or dismount was completed, the next one was issued" (Cholia & Meyer 2001). A cycle is a fetch, a
//! load, an unload and a return. One robot carries one cartridge at a time; drives load and unload by
//! themselves meanwhile. Nothing is read or written.
//!
//! One loop asks all drives in turn and sends the robot, so that the same seed gives the same moves on
//! a virtual clock. A drive that gets ready while the robot moves is noticed when the robot has
//! answered: with several cycles in flight, times are too long by up to a move.

use crate::pool::is_cleaner;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_model::{Micros, Random};
use tapewise_run::{Log, RunError};
use tapewise_scsi::commands::LoadUnload;
use tapewise_scsi::{Changer, Command, Condition, Inventory, NotReady, ScsiError, TapeDrive};

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

/// What a cycle is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The robot is to bring it.
    Fetch,
    Loading,
    Unloading,
    /// The robot is to take it back.
    Return,
    /// It is back in its slot.
    Done,
}

/// What a drive says of its cartridge.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    /// It can be read.
    Ready,
    /// The robot may take it, or has not put it in yet.
    Out,
    /// It is on its way in or out.
    Between,
    Failed(String),
}

impl Seen {
    fn of(asked: Result<(), ScsiError>) -> Seen {
        let Err(error) = asked else {
            return Seen::Ready;
        };
        match error.condition() {
            Some(Condition::NotReady(NotReady::NeedsLoad | NotReady::NoMedium)) => Seen::Out,
            // Another cartridge is what a unit attention tells here.
            Some(Condition::NotReady(NotReady::BecomingReady) | Condition::UnitAttention(_)) => {
                Seen::Between
            }
            _ => Seen::Failed(error.to_string()),
        }
    }
}

/// One cartridge on its way to a drive and back.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    drive: usize,
    cartridge: usize,
    step: Step,
    /// When mount or unmount was asked for.
    asked: Duration,
    /// When this step began.
    since: Duration,
    failed: u32,
}

/// A step that was not done is tried so often.
const TRIES: u32 = 3;

/// A cartridge that a drive has not loaded or unloaded after so long has failed.
const STEP_LIMIT: Duration = Duration::from_secs(900);

/// How often the drives are asked.
const POLL: Duration = Duration::from_millis(200);

/// The test while it runs.
struct Bench<'a> {
    changer: &'a mut Changer,
    drives: &'a mut [Tested],
    cartridges: &'a [SlottedCartridge],
    log: &'a mut dyn Log,
    began: Duration,
    free_drives: Vec<usize>,
    free_cartridges: Vec<usize>,
    random: Random,
    tally: Tally,
}

/// Mounts and dismounts random cartridges until the time is over or `stop` is set; then what is on its
/// way is brought back.
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
    log: &mut dyn Log,
    stop: &AtomicBool,
) -> Result<Tally, RunError> {
    let most = drives.len().min(cartridges.len());
    if terms.in_flight == 0 || terms.in_flight > most {
        return Err(RunError::Unsuitable(format!(
            "{} cycles in flight need as many drives and cartridges; there are {} and {}",
            terms.in_flight,
            drives.len(),
            cartridges.len()
        )));
    }
    let began = changer.now();
    let mut bench = Bench {
        began,
        free_drives: (0..drives.len()).collect(),
        free_cartridges: (0..cartridges.len()).collect(),
        random: Random::new(terms.seed, 0),
        tally: Tally::default(),
        changer,
        drives,
        cartridges,
        log,
    };
    bench.run(terms, stop)?;
    bench.tally.took = bench.clock(bench.changer.now());
    let inventory = bench.changer.inventory()?;
    bench.tally.left = cartridges
        .iter()
        .filter(|cartridge| {
            let slot = inventory.element(cartridge.slot);
            slot.and_then(|slot| slot.volume_tag.as_ref()) != Some(&cartridge.label)
        })
        .map(|cartridge| cartridge.label.clone())
        .collect();
    Ok(bench.tally)
}

impl Bench<'_> {
    fn run(&mut self, terms: Terms, stop: &AtomicBool) -> Result<(), RunError> {
        let mut cycles: Vec<Cycle> = Vec::new();
        loop {
            self.tally.interrupted = stop.load(Ordering::Relaxed);
            let is_over = self.changer.now().saturating_sub(self.began) >= terms.limit;
            while cycles.len() < terms.in_flight && !is_over && !self.tally.interrupted {
                let Some(cycle) = self.begin() else {
                    break;
                };
                cycles.push(cycle);
            }
            if cycles.is_empty() {
                return Ok(());
            }
            let mut is_moving = false;
            for cycle in &mut cycles {
                is_moving |= self.look(cycle)?;
            }
            // First come, first served.
            let wants_robot = |cycle: &&mut Cycle| matches!(cycle.step, Step::Fetch | Step::Return);
            let next = cycles.iter_mut().filter(wants_robot);
            if let Some(cycle) = next.min_by_key(|cycle| cycle.since) {
                is_moving = true;
                self.carry(cycle)?;
            }
            cycles.retain(|cycle| self.goes_on(cycle));
            if !is_moving {
                self.changer.wait(POLL);
            }
        }
    }

    /// A random cartridge for a random drive; none when failures have left none.
    fn begin(&mut self) -> Option<Cycle> {
        if self.free_drives.is_empty() || self.free_cartridges.is_empty() {
            return None;
        }
        let drive = self.random.below(self.free_drives.len() as u64) as usize;
        let cartridge = self.random.below(self.free_cartridges.len() as u64) as usize;
        let now = self.changer.now();
        Some(Cycle {
            drive: self.free_drives.swap_remove(drive),
            cartridge: self.free_cartridges.swap_remove(cartridge),
            step: Step::Fetch,
            asked: now,
            since: now,
            failed: 0,
        })
    }

    /// Whether the cycle is still on its way. One that is done frees its drive and cartridge; one that
    /// has failed too often keeps them.
    fn goes_on(&mut self, cycle: &Cycle) -> bool {
        if cycle.step == Step::Done {
            self.free_drives.push(cycle.drive);
            self.free_cartridges.push(cycle.cartridge);
        }
        cycle.step != Step::Done && cycle.failed < TRIES
    }

    /// Asks the drive whether it has loaded or unloaded. True when the cycle has got on.
    fn look(&mut self, cycle: &mut Cycle) -> Result<bool, RunError> {
        let action = match cycle.step {
            Step::Loading => Action::Mount,
            Step::Unloading => Action::Unmount,
            Step::Fetch | Step::Return | Step::Done => return Ok(false),
        };
        let drive = &mut self.drives[cycle.drive].drive;
        let seen = Seen::of(drive.wait_until_ready(Duration::ZERO));
        let is_late = self.changer.now().saturating_sub(cycle.since) > STEP_LIMIT;
        match (action, seen) {
            (Action::Mount, Seen::Ready) => {
                self.note(cycle, action, cycle.since, None)?;
                self.tally.mounts.push(self.clock_since(cycle.asked));
                self.unload(cycle)?;
            }
            (Action::Unmount, Seen::Out) => {
                self.note(cycle, action, cycle.since, None)?;
                cycle.step = Step::Return;
                cycle.since = self.changer.now();
            }
            (_, Seen::Failed(said)) => self.give_up(cycle, action, said)?,
            (_, seen) if is_late => {
                let said = format!("{seen:?} for {} s", STEP_LIMIT.as_secs());
                self.give_up(cycle, action, said)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A drive has failed: the robot is to take the cartridge, if the drive lets it.
    fn give_up(&mut self, cycle: &mut Cycle, action: Action, said: String) -> Result<(), RunError> {
        self.fail(cycle, action, said)?;
        cycle.step = Step::Return;
        cycle.since = self.changer.now();
        Ok(())
    }

    fn unload(&mut self, cycle: &mut Cycle) -> Result<(), RunError> {
        let now = self.changer.now();
        (cycle.asked, cycle.since, cycle.step) = (now, now, Step::Unloading);
        let command = LoadUnload {
            immediate: true,
            ..LoadUnload::UNLOAD
        };
        let drive = &mut self.drives[cycle.drive].drive;
        match command.send(drive.transport()) {
            Ok(()) => Ok(()),
            Err(error) => self.give_up(cycle, Action::Unmount, error.to_string()),
        }
    }

    /// Sends the robot.
    fn carry(&mut self, cycle: &mut Cycle) -> Result<(), RunError> {
        let slot = self.cartridges[cycle.cartridge].slot;
        let drive = self.drives[cycle.drive].element;
        let (action, from, to) = match cycle.step {
            Step::Return => (Action::Return, drive, slot),
            _ => (Action::Fetch, slot, drive),
        };
        let began = self.changer.now();
        if let Err(error) = self.changer.move_medium(from, to) {
            return self.fail(cycle, action, error.to_string());
        }
        self.note(cycle, action, began, None)?;
        cycle.failed = 0;
        cycle.since = self.changer.now();
        cycle.step = match action {
            Action::Return => {
                self.tally.unmounts.push(self.clock_since(cycle.asked));
                Step::Done
            }
            _ => Step::Loading,
        };
        Ok(())
    }

    fn fail(&mut self, cycle: &mut Cycle, action: Action, said: String) -> Result<(), RunError> {
        cycle.failed += 1;
        self.note(cycle, action, cycle.since, Some(said.clone()))?;
        self.tally.failures.push(Failure {
            at: self.clock(self.changer.now()),
            action,
            label: self.cartridges[cycle.cartridge].label.clone(),
            element: self.drives[cycle.drive].element,
            said,
        });
        Ok(())
    }

    fn clock(&self, now: Duration) -> Micros {
        micros(now.saturating_sub(self.began))
    }

    fn clock_since(&self, then: Duration) -> Micros {
        micros(self.changer.now().saturating_sub(then))
    }

    fn note(
        &mut self,
        cycle: &Cycle,
        action: Action,
        began: Duration,
        failed: Option<String>,
    ) -> Result<(), RunError> {
        let cartridge = &self.cartridges[cycle.cartridge];
        let is_robots = matches!(action, Action::Fetch | Action::Return);
        let identity = self.drives[cycle.drive].drive.identity();
        let event = Event {
            device: identity.serial.clone(),
            cartridge: Some(cartridge.label.clone()),
            slot: is_robots.then_some(cartridge.slot),
            outcome: match failed {
                None => Outcome::Done,
                Some(_) => Outcome::Failed,
            },
            sense: failed,
            ..Event::new(action, self.clock(began), self.clock_since(began))
        };
        self.log.event(&event).map_err(RunError::Log)
    }
}

fn micros(duration: Duration) -> Micros {
    Micros(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX))
}
