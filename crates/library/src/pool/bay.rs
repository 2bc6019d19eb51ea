//! One drive of the pool: what it holds, what it is at, and its way of taking cartridges in.

use super::error::{Blame, PoolError};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tapewise_formats::event::Event;
use tapewise_model::Micros;
use tapewise_run::{Log, Recorder, RunError};
use tapewise_scsi::commands::{LogSense, RequestSense, TapeAlerts};
use tapewise_scsi::device::Host;
use tapewise_scsi::{Changer, Command, Condition, NotReady, ScsiError, TapeDrive};

/// Who loads a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Site {
    /// The robot of this library: the drive is this element.
    Element { library: usize, address: u16 },
    /// A person.
    ByHand,
}

/// What is in a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Nothing,
    Volume(String),
    /// A cartridge whose label the library cannot read.
    Unlabelled,
}

/// What a drive is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Free since this time on its clock.
    Idle { since: Duration },
    /// Somebody uses it.
    InUse,
    /// It failed.
    Aside { why: String },
}

/// What a drive says of a cartridge in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// There is none.
    Empty,
    /// There is one that is not loaded: it may be on its way out.
    Unloaded,
    /// It is loaded, or being loaded.
    Taken,
}

/// One drive of the pool.
pub(super) struct Bay {
    pub drive: TapeDrive,
    pub serial: String,
    pub site: Site,
    pub holds: Holds,
    pub state: State,
    pub mounts: u64,
    /// What it holds is somebody else's, and stays there until it is asked for.
    pub is_left: bool,
    /// The drive asked to be cleaned.
    pub is_dirty: bool,
    /// The volume that was given out to a person, who may not have taken it yet.
    pub gave_out: Option<String>,
    /// When the pool was made, on the drive's clock.
    pub began: Duration,
}

/// A mount is not interrupted: the cartridge would be on its way.
static NEVER: AtomicBool = AtomicBool::new(false);

/// How long a drive that says that it is empty is asked before its library is: it notices a cartridge within seconds.
const SEEN_SOON: Duration = Duration::from_secs(30);

/// How often a drive is asked whether there is a cartridge.
const POLL: Duration = Duration::from_millis(200);

/// How often a question is repeated that a unit attention stood before: there are a few at most.
const ATTENTIONS: usize = 8;

impl Bay {
    pub fn new(drive: TapeDrive, serial: String, site: Site) -> Bay {
        let began = drive.now();
        Bay {
            drive,
            serial,
            site,
            holds: Holds::Nothing,
            state: State::Idle { since: began },
            mounts: 0,
            is_left: false,
            is_dirty: false,
            gave_out: None,
            began,
        }
    }

    /// The drive as people call it.
    pub fn name(&self) -> String {
        match self.site {
            Site::Element { address, .. } => format!("drive {} ({})", address, self.serial),
            Site::ByHand => format!("drive {}", self.serial),
        }
    }

    /// The library whose robot loads it; `None` where a person does.
    pub fn library(&self) -> Option<usize> {
        match self.site {
            Site::Element { library, .. } => Some(library),
            Site::ByHand => None,
        }
    }

    /// The volume in it.
    pub fn volume(&self) -> Option<&str> {
        match &self.holds {
            Holds::Volume(label) => Some(label),
            Holds::Nothing | Holds::Unlabelled => None,
        }
    }

    /// It is free from now on.
    pub fn release(&mut self) {
        if self.state == State::InUse {
            let since = self.drive.now();
            self.state = State::Idle { since };
        }
    }

    /// Meets the robot, whose clock was at `began` when the pool was made: where the two have times of their own, who
    /// comes first waits for the other. On a real clock having the robot was the wait.
    pub fn meet(&mut self, robot: &mut Changer, began: Duration) {
        let robot_now = robot.now().saturating_sub(began);
        let now = self.drive.now().saturating_sub(self.began);
        if robot_now > now {
            self.drive.wait(robot_now - now);
        } else {
            robot.wait(now - robot_now);
        }
    }

    /// A log whose events say which drive and cartridge they are of, on the pool's clock.
    pub fn stamp<'a>(&self, log: &'a mut dyn Log) -> Stamp<'a> {
        let since = self.drive.now().saturating_sub(self.began);
        Stamp {
            log,
            device: self.serial.clone(),
            cartridge: self.volume().map(str::to_owned),
            since: Micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX)),
        }
    }

    /// Does what is timed and logged.
    pub fn recorded<T>(
        &mut self,
        volume: &str,
        log: &mut dyn Log,
        work: impl FnOnce(&mut Recorder<'_>) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let mut stamp = self.stamp(log);
        stamp.cartridge = Some(volume.to_owned());
        let mut recorder = Recorder::new(&mut self.drive, &mut stamp, &NEVER);
        work(&mut recorder)
    }

    /// Refuses a drive that another initiator has reserved.
    pub fn check_reservation(&mut self) -> Result<(), PoolError> {
        let held = self.drive.reserved_by_others(&Host::local());
        let held = held.map_err(|error| self.blamed(error.into()))?;
        match held {
            None => Ok(()),
            Some(holder) => Err(PoolError::Reserved {
                drive: self.name(),
                why: holder.to_string(),
            }),
        }
    }

    /// Whether there is a cartridge in it.
    pub fn presence(&mut self) -> Result<Presence, PoolError> {
        let asked = past_attentions(&mut self.drive, |drive| {
            drive.wait_until_ready(Duration::ZERO)
        });
        match asked {
            Ok(()) => Ok(Presence::Taken),
            Err(error) => match error.condition() {
                Some(Condition::NotReady(NotReady::NoMedium)) => Ok(Presence::Empty),
                Some(Condition::NotReady(NotReady::NeedsLoad)) => Ok(Presence::Unloaded),
                Some(Condition::NotReady(_)) => Ok(Presence::Taken),
                _ => Err(self.blamed(error.into())),
            },
        }
    }

    /// Whether there is a cartridge in it that may be this volume: any but another one that it has
    /// just given out.
    pub fn may_hold(&mut self, volume: &str) -> Result<bool, PoolError> {
        Ok(match self.presence()? {
            Presence::Empty => {
                self.gave_out = None;
                false
            }
            Presence::Unloaded => self.gave_out.as_ref().is_none_or(|last| last == volume),
            Presence::Taken => true,
        })
    }

    /// Waits for a while until the drive sees a cartridge; whether it does.
    pub fn sees_one(&mut self) -> Result<bool, PoolError> {
        let began = self.drive.now();
        while self.presence()? == Presence::Empty {
            if self.drive.now() >= began + SEEN_SOON {
                return Ok(false);
            }
            self.drive.wait(POLL);
        }
        Ok(true)
    }

    /// Waits until the cartridge that was put in can be read; a drive that does not load by itself is
    /// told to.
    pub fn load(&mut self, volume: &str, log: &mut dyn Log) -> Result<(), PoolError> {
        let loaded = self.recorded(volume, log, |recorder| match recorder.mount_of_robot() {
            Err(RunError::Scsi(error))
                if error.condition() == Some(Condition::NotReady(NotReady::NeedsLoad)) =>
            {
                recorder.mount()
            }
            other => other,
        });
        loaded.map_err(|error| self.blamed(error))?;
        self.mounts += 1;
        Ok(())
    }

    /// Gives the cartridge out, and notes whether the drive asks to be cleaned.
    pub fn unload(&mut self, volume: &str, log: &mut dyn Log) -> Result<(), PoolError> {
        self.is_dirty |= self.asks_for_cleaning()?;
        let unloaded = self.recorded(volume, log, |recorder| {
            let unloaded = recorder.unmount();
            match unloaded {
                // UNLOAD needs no position: what changed meanwhile does not matter to it.
                Err(RunError::Scsi(error)) if is_attention(&error) => recorder.unmount(),
                other => other,
            }
        });
        match unloaded {
            Ok(_) => Ok(()),
            Err(RunError::Scsi(error))
                if error.condition() == Some(Condition::NotReady(NotReady::NoMedium)) =>
            {
                Ok(())
            }
            Err(error) => Err(self.blamed(error)),
        }
    }

    /// Whether the drive wants a cleaning cartridge, by TapeAlert, and where it has none by its sense.
    fn asks_for_cleaning(&mut self) -> Result<bool, PoolError> {
        let page = LogSense {
            page: TapeAlerts::PAGE,
            subpage: 0,
        };
        let asked = past_attentions(&mut self.drive, |drive| page.send(drive.transport()));
        match asked {
            Ok(page) => Ok(page.tape_alerts().is_some_and(|alerts| {
                let wanted = [CLEAN_NOW, CLEAN_PERIODIC];
                alerts.set.iter().any(|flag| wanted.contains(flag))
            })),
            Err(error) if error.is_unsupported() => {
                let sense = RequestSense.send(self.drive.transport());
                let sense = sense.map_err(|error| self.blamed(error.into()))?;
                Ok(sense.code() == CLEANING_REQUESTED)
            }
            Err(error) => Err(self.blamed(error.into())),
        }
    }

    /// The error of this drive, by whose fault it is. It is set aside where it is its own.
    pub fn blamed(&mut self, error: RunError) -> PoolError {
        match (Blame::of_run(&error), error) {
            (Blame::Drive, error) => self.failed(&error.to_string()),
            (Blame::Reserved, RunError::Scsi(ScsiError::Reserved { holder })) => {
                PoolError::Reserved {
                    drive: self.name(),
                    why: holder.to_string(),
                }
            }
            (Blame::Reserved, _) => PoolError::Reserved {
                drive: self.name(),
                why: "another initiator has reserved it".to_owned(),
            },
            (Blame::Cartridge, RunError::Scsi(source)) => PoolError::Unusable {
                volume: self.volume().unwrap_or("the cartridge").to_owned(),
                drive: self.name(),
                source,
            },
            (_, source) => PoolError::Drive {
                drive: self.name(),
                source,
            },
        }
    }

    /// The drive has failed: it is set aside.
    pub fn failed(&mut self, why: &str) -> PoolError {
        self.state = State::Aside {
            why: why.to_owned(),
        };
        PoolError::DriveFailed {
            drive: self.name(),
            why: why.to_owned(),
        }
    }
}

/// TapeAlert: the drive needs to be cleaned, and is due to be.
const CLEAN_NOW: u8 = 20;
const CLEAN_PERIODIC: u8 = 21;
/// Sense 00h/17h: cleaning requested.
const CLEANING_REQUESTED: u16 = 0x0017;

fn is_attention(error: &ScsiError) -> bool {
    matches!(error.condition(), Some(Condition::UnitAttention(_)))
}

/// Asks what does not depend on what changed: unit attentions are taken away first.
pub(super) fn past_attentions<T>(
    drive: &mut TapeDrive,
    mut ask: impl FnMut(&mut TapeDrive) -> Result<T, ScsiError>,
) -> Result<T, ScsiError> {
    for _ in 0..ATTENTIONS {
        match ask(drive) {
            Err(error) if is_attention(&error) => {}
            other => return other,
        }
    }
    ask(drive)
}

/// A log of one drive: every event says whose it is, and when on the clock that all drives of the pool
/// share.
pub struct Stamp<'a> {
    log: &'a mut dyn Log,
    device: String,
    cartridge: Option<String>,
    /// When the recorder behind it began.
    since: Micros,
}

impl Log for Stamp<'_> {
    fn event(&mut self, event: &Event) -> std::io::Result<()> {
        self.log.event(&Event {
            at_us: event.at_us + self.since,
            device: Some(self.device.clone()),
            cartridge: self.cartridge.clone(),
            ..event.clone()
        })
    }
}
