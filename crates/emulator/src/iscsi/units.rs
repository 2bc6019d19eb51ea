//! The logical units of a target, and the initiators that use them.

use super::connection::lock;
use crate::inquiry;
use crate::library::Library;
use crate::transport::{EmulatedTransport, LibraryUnit};
use std::sync::Mutex;
use std::time::Duration;
use tapewise_scsi::{Cdb, Completion, Data, SenseBytes, SenseKey, Transport, TransportError};

/// No command of ours is too slow: who waits for it is at the other end.
const ANY_TIME: Duration = Duration::from_secs(u32::MAX as u64);

pub(super) struct Units {
    library: Library,
    units: Vec<Unit>,
}

struct Unit {
    what: LibraryUnit,
    /// One command at a time, as long as it takes: other initiators wait.
    turn: Mutex<()>,
}

/// A unit as one session uses it.
pub(super) struct Nexus {
    transport: EmulatedTransport,
}

impl Units {
    pub fn new(library: Library) -> Units {
        let spec = library.spec();
        let robot = spec.robot.is_some().then_some(LibraryUnit::Changer);
        let drives = (0..spec.drives.len()).map(LibraryUnit::Drive);
        let unit = |what| Unit {
            what,
            turn: Mutex::new(()),
        };
        Units {
            units: robot.into_iter().chain(drives).map(unit).collect(),
            library,
        }
    }

    pub fn count(&self) -> usize {
        self.units.len()
    }

    /// Whether commands take none of the host's time.
    pub fn is_virtual(&self) -> bool {
        self.library.is_virtual()
    }

    pub fn names(&self) -> Vec<String> {
        let spec = self.library.spec();
        self.units
            .iter()
            .map(|unit| match unit.what {
                LibraryUnit::Changer => {
                    format!("robot {}", spec.robot.as_deref().unwrap_or_default())
                }
                LibraryUnit::Drive(number) => {
                    let drive = &spec.drives[number];
                    format!("drive {} {}", drive.kind, drive.serial)
                }
            })
            .collect()
    }

    /// The way of an initiator port to a unit; `None` when there is no such unit.
    pub fn open(&self, number: usize, port: &str) -> Option<Nexus> {
        let transport = self
            .library
            .connect(self.units.get(number)?.what, port)
            .ok()?;
        Some(Nexus { transport })
    }

    /// Carries out a command in its turn. What only asks who is there does not wait for its turn.
    pub fn execute(
        &self,
        number: usize,
        nexus: &mut Nexus,
        cdb: &Cdb,
        data: Data<'_>,
    ) -> Result<Completion, TransportError> {
        const AT_ONCE: [u8; 3] = [0x03, 0x12, 0xa0];
        let unit = self.units.get(number);
        let turn = unit.filter(|_| !AT_ONCE.contains(&cdb.opcode()));
        let _turn = turn.map(|unit| lock(&unit.turn));
        let done = nexus.transport.execute(cdb, data, ANY_TIME);
        let is_waiting = done
            .as_ref()
            .ok()
            .and_then(Completion::sense)
            .is_some_and(|sense| sense.key == SenseKey::NotReady && sense.asc == 0x04);
        if let Some(unit) = unit.filter(|_| is_waiting) {
            self.library.finish_waiting(unit.what);
        }
        done
    }

    /// Resets a unit, or all of them.
    pub fn reset(&self, number: Option<usize>) {
        let units = self.units.iter().enumerate();
        for (_, unit) in units.filter(|(one, _)| number.is_none_or(|number| number == *one)) {
            self.library.reset(unit.what);
        }
    }

    /// REPORT LUNS, which is an answer of the target.
    pub fn report(&self, room: &mut [u8], cdb: &Cdb) -> Completion {
        let mut answer = (8 * self.count() as u32).to_be_bytes().to_vec();
        answer.extend([0; 4]);
        for number in 0..self.count() as u64 {
            // Peripheral addressing up to 255, flat space above.
            let form = if number < 256 {
                number << 48
            } else {
                (0x4000 | number) << 48
            };
            answer.extend(form.to_be_bytes());
        }
        let allocation = cdb.bytes().get(6..10).map_or(0, |bytes| {
            bytes
                .iter()
                .fold(0, |sum: usize, &byte| sum << 8 | usize::from(byte))
        });
        Completion::good(copy(&answer, room, allocation))
    }
}

impl Drop for Nexus {
    fn drop(&mut self) {
        self.transport.lose_nexus();
    }
}

/// What a unit answers that is not there: INQUIRY says so, REQUEST SENSE too, anything else fails.
pub(super) fn absent(cdb: &Cdb, room: &mut [u8]) -> Completion {
    const NOT_SUPPORTED: u16 = 0x2500;
    let mut sense = [0; 18];
    (sense[0], sense[2], sense[7]) = (0x70, 0x05, 10);
    sense[12..14].copy_from_slice(&NOT_SUPPORTED.to_be_bytes());
    match cdb.opcode() {
        0x12 if cdb.bytes()[1] & 1 == 0 => {
            let mut answer = inquiry::standard(&inquiry::Identity {
                device_type: 0x7f,
                vendor: "TAPEWISE",
                product: "",
                revision: "",
                serial: "",
            });
            answer[0] = 0x7f;
            let allocation = usize::from(cdb.bytes()[3]) << 8 | usize::from(cdb.bytes()[4]);
            Completion::good(copy(&answer, room, allocation))
        }
        0x03 => Completion::good(copy(&sense, room, usize::from(cdb.bytes()[4]))),
        _ => Completion {
            status: tapewise_scsi::Status::CheckCondition,
            transferred: 0,
            sense: SenseBytes::new(&sense),
        },
    }
}

fn copy(answer: &[u8], room: &mut [u8], allocation: usize) -> usize {
    let length = answer.len().min(room.len()).min(allocation);
    room[..length].copy_from_slice(&answer[..length]);
    length
}
