//! Drives without a robot: a person is told what to put in, and the drive is asked whether it is there.

use super::bay::{Bay, Holds, Presence};
use super::desk::Desk;
use super::error::PoolError;
use super::listener::Said;
use super::person::Answer;
use std::time::Duration;

/// How long a drive may take to notice a cartridge that a person has put in.
const SEEN_LIMIT: Duration = Duration::from_secs(60);

/// How often it is asked meanwhile.
const POLL: Duration = Duration::from_secs(1);

impl Desk {
    /// Has a person put a volume into a drive. What is in it already may be the volume, unless it came
    /// out of the drive just now: its label on tape will tell.
    ///
    /// A person is asked for one cartridge at a time, and the robots of the pool wait for the answer.
    pub(super) fn insert(&mut self, bay: &mut Bay, volume: &str) -> Result<(), PoolError> {
        if !bay.may_hold(volume)? {
            self.ask(bay, volume)?;
        }
        bay.gave_out = None;
        bay.holds = Holds::Volume(volume.to_owned());
        Ok(())
    }

    fn ask(&mut self, bay: &mut Bay, volume: &str) -> Result<(), PoolError> {
        let name = bay.name();
        let label = volume.to_owned();
        let Some(person) = &mut self.person else {
            return Err(PoolError::NobodyThere { volume: label });
        };
        person.ask(volume, &name);
        loop {
            match person.answer() {
                Answer::Inserted if is_seen(bay)? => return Ok(()),
                Answer::Inserted => {
                    let words = &format!("{name} sees no cartridge");
                    let volume = Some(label.as_str());
                    (self.listener)(Said { words, volume });
                    person.ask(&label, &name);
                }
                Answer::Nothing if bay.may_hold(volume)? => return Ok(()),
                Answer::Nothing => {}
                Answer::Skipped => return Err(PoolError::NotGiven { volume: label }),
                Answer::Gone => return Err(PoolError::NobodyThere { volume: label }),
                Answer::Stop => return Err(PoolError::Stopped { volume: label }),
            }
        }
    }
}

/// Whether there is a cartridge, whichever: a person has said so.
fn is_seen(bay: &mut Bay) -> Result<bool, PoolError> {
    let began = bay.drive.now();
    while bay.presence()? == Presence::Empty {
        if bay.drive.now() >= began + SEEN_LIMIT {
            return Ok(false);
        }
        bay.drive.wait(POLL);
    }
    Ok(true)
}
