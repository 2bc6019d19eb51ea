//! The drives and robots as one host reaches them, with another host on the same drives.

use crate::fate::{Dead, Fates, Kind, Wrong};
use std::sync::Arc;
use std::time::Duration;
use tapewise_emulator::EmulatedTransport;
use tapewise_scsi::{Cdb, Completion, Data, Sense, SenseKey, Status, Transport, TransportError};

const READ: u8 = 0x08;
const WRITE: u8 = 0x0a;
/// Longer than anything that a drive does.
const LONG: Duration = Duration::from_secs(100_000);

/// A way to a drive or a robot that may go wrong.
pub struct Path {
    real: EmulatedTransport,
    /// The other host's way to the same drive; none to a robot.
    other: Option<EmulatedTransport>,
    fates: Arc<Fates>,
}

impl Path {
    /// A way, and the other host's.
    pub fn new(
        real: EmulatedTransport,
        other: Option<EmulatedTransport>,
        fates: Arc<Fates>,
    ) -> Path {
        Path { real, other, fates }
    }

    /// Carries a command out, and counts what the library's own weather makes of it.
    fn carry_out(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        let done = self.real.execute(cdb, data, timeout)?;
        if done.status == Status::CheckCondition
            && let Ok(sense) = Sense::decode(done.sense.bytes())
            && let Some(what) = weather(&sense)
        {
            self.fates.note("drive or robot, by itself", what);
        }
        Ok(done)
    }

    fn dead(&self) -> TransportError {
        TransportError::Io {
            device: self.real.name().to_owned(),
            source: Dead.into(),
        }
    }

    /// The other host does something to the tape, if the drive lets it.
    fn intrude(&mut self, wrong: Wrong) {
        let cdb = match wrong {
            Wrong::Rewound => [0x01, 0, 0, 0, 0, 0],
            Wrong::Unloaded => [0x1b, 0, 0, 0, 0, 0],
            _ => [0x16, 0, 0, 0, 0, 0],
        };
        if let Some(other) = &mut self.other {
            let done = send(other, cdb);
            if done {
                self.fates.note("another host", "was let in");
            }
        }
    }
}

/// What a drive or a robot does of itself, by the sense in which it says so. Resets and times of not being ready look
/// like those of every day, and are not counted.
fn weather(sense: &Sense) -> Option<&'static str> {
    Some(match (sense.key, sense.asc, sense.ascq) {
        (SenseKey::UnitAttention, 0x2a, 0x01) => "mode parameters changed",
        (SenseKey::MediumError, 0x0c, _) => "block cannot be written",
        (SenseKey::HardwareError, 0x15, _) => "robot fails to position",
        (SenseKey::HardwareError, ..) => "hardware error",
        _ => return None,
    })
}

/// Sends a command without data as the other host, which takes its unit attentions first; whether it was carried out.
pub fn send(other: &mut EmulatedTransport, cdb: [u8; 6]) -> bool {
    for _ in 0..4 {
        match other.execute(&Cdb::new(cdb), Data::None, LONG) {
            Ok(done) if done.status == Status::Good => return true,
            Ok(done) if done.status == Status::CheckCondition => {}
            _ => return false,
        }
    }
    false
}

impl Transport for Path {
    fn name(&self) -> &str {
        self.real.name()
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        let wrong = match self.fates.step(Kind::Command) {
            Ok(wrong) => wrong,
            Err(Dead) => return Err(self.dead()),
        };
        match wrong {
            Some(Wrong::Error) => {
                return Err(TransportError::Path {
                    device: self.real.name().to_owned(),
                    what: "the path failed".to_owned(),
                });
            }
            Some(wrong) => self.intrude(wrong),
            None => {}
        }
        let of_data = match cdb.opcode() {
            READ => self.fates.step(Kind::TapeRead),
            WRITE => self.fates.step(Kind::TapeWrite),
            _ => Ok(None),
        };
        let wrong = of_data.map_err(|Dead| self.dead())?;
        match (wrong, data) {
            (Some(Wrong::Bit), Data::In(room)) => {
                let done = self.carry_out(cdb, Data::In(&mut *room), timeout)?;
                if done.transferred > 0 {
                    room[done.transferred / 2] ^= 0x10;
                }
                Ok(done)
            }
            (Some(Wrong::Error), Data::In(_)) => {
                // Sense key 3, 11h/00h: the drive has tried, and could not read the block.
                let mut sense = [0u8; 18];
                (sense[0], sense[2], sense[7], sense[12]) = (0x70, 0x03, 10, 0x11);
                Ok(Completion::check_condition(0, &sense))
            }
            (Some(Wrong::Error), Data::Out(_)) => {
                let mut sense = [0u8; 18];
                (sense[0], sense[2], sense[7], sense[12]) = (0x70, 0x03, 10, 0x0c);
                Ok(Completion::check_condition(0, &sense))
            }
            (Some(wrong @ (Wrong::Rewound | Wrong::Unloaded | Wrong::Reserved)), data) => {
                self.intrude(wrong);
                self.carry_out(cdb, data, timeout)
            }
            (_, data) => self.carry_out(cdb, data, timeout),
        }
    }

    fn most_bytes(&self) -> Option<usize> {
        self.real.most_bytes()
    }

    fn now(&self) -> Duration {
        self.real.now()
    }

    fn wait(&mut self, duration: Duration) {
        self.real.wait(duration);
    }
}
