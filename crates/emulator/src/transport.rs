//! The way of a command into the emulated world.

use crate::changer;
use crate::clock::Clock;
use crate::exchange::Exchange;
use crate::faults::Faults;
use crate::snapshot::CommandDone;
use crate::world::World;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tapewise_model::Micros;
use tapewise_scsi::{Cdb, Completion, Data, SenseBytes, Transport, TransportError};

/// A device of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryUnit {
    /// A drive, counted from 0.
    Drive(usize),
    /// The robot.
    Changer,
}

/// A way to one emulated device, as one initiator. Time passes on the library's clock, which all
/// its devices share: on a virtual clock a command of one drive is time that passes for the others,
/// unless the devices run [apart](crate::Library::apart).
pub struct EmulatedTransport {
    world: Arc<Mutex<World>>,
    name: String,
    target: LibraryUnit,
    nexus: usize,
    opened: Micros,
    /// The time of this device alone, where devices run apart.
    own: Option<Micros>,
}

impl EmulatedTransport {
    pub(crate) fn new(
        world: Arc<Mutex<World>>,
        name: String,
        target: LibraryUnit,
        nexus: usize,
        opened: Micros,
        is_apart: bool,
    ) -> EmulatedTransport {
        EmulatedTransport {
            world,
            name,
            target,
            nexus,
            opened,
            own: is_apart.then_some(opened),
        }
    }

    /// Lets time pass for this device, and for the others unless it runs apart. With a clock that
    /// sleeps, other devices work in the meantime.
    fn advance(&mut self, clock: &Clock, time: Micros) {
        match &mut self.own {
            Some(own) => *own += time.max(Micros::ZERO),
            None => clock.advance(time),
        }
    }

    /// What an adapter does with a command of more data than it carries.
    fn refuse_larger(&self, bytes: usize, faults: &Faults) -> Result<(), TransportError> {
        const PAGE: u64 = 4096;
        let too_large = |limit_bytes: usize| {
            Err(TransportError::TooLarge {
                device: self.name.clone(),
                bytes,
                limit_bytes,
            })
        };
        match (faults.adapter_bytes, faults.adapter_segments) {
            (Some(most), _) if bytes as u64 > most => too_large(most as usize),
            // The list is too long for the adapter: as far as it knows, the bytes are not too many.
            (_, Some(most)) if bytes as u64 > most * PAGE => too_large(bytes),
            _ => Ok(()),
        }
    }

    /// The initiator is gone, as when its connection was cut: what holds only while it is there ends.
    pub fn lose_nexus(&mut self) {
        let mut world = self.world();
        match self.target {
            LibraryUnit::Drive(number) => world.drives[number].lose_nexus(self.nexus),
            LibraryUnit::Changer => world.changer.lose_nexus(self.nexus),
        }
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a command for whoever looks on.
fn note(
    world: &mut World,
    unit: LibraryUnit,
    cdb: &Cdb,
    now: Micros,
    spent: Micros,
    completion: &Completion,
) {
    let status = u8::from(completion.status);
    let mut head = None;
    let mut name = "changer".to_owned();
    if let LibraryUnit::Drive(number) = unit {
        let drive = &mut world.drives[number];
        drive.history.note(cdb.opcode(), spent, status);
        head = drive.head();
        name = format!("drive{number}");
    }
    if let Some(watcher) = &mut world.watcher {
        watcher(&CommandDone {
            at_us: now.0,
            took_us: spent.0,
            unit: name,
            command: crate::snapshot::name(cdb.opcode()),
            cdb: format!("{cdb:?}"),
            status,
            bytes: completion.transferred,
            head,
        });
    }
}

impl Transport for EmulatedTransport {
    fn name(&self) -> &str {
        &self.name
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        let mut world = self.world();
        if let LibraryUnit::Drive(number) = self.target {
            let handed = world.look_for_a_hand(number);
            handed.map_err(|error| TransportError::Io {
                device: self.name.clone(),
                source: std::io::Error::other(error),
            })?;
        }
        let (bytes, is_input) = match &data {
            Data::None => (0, false),
            Data::In(room) => (room.len(), true),
            Data::Out(bytes) => (bytes.len(), false),
        };
        let mut has_residue = true;
        if let LibraryUnit::Drive(number) = self.target {
            let faults = world.drives[number].faults();
            self.refuse_larger(bytes, faults)?;
            has_residue = !(faults.no_residue && is_input);
        }
        let now = self.own.unwrap_or_else(|| world.clock.now());
        let mut exchange = Exchange::new(*cdb, data, now, self.nexus);
        let done = match self.target {
            LibraryUnit::Drive(number) => world.drives[number].execute(&mut exchange),
            LibraryUnit::Changer => changer::execute(&mut world, &mut exchange),
        };
        let transferred = if has_residue {
            exchange.transferred()
        } else {
            bytes
        };
        let spent = exchange.spent();
        let completion = match done {
            Ok(()) => Completion::good(transferred),
            Err(stop) => stop.completion(transferred, |check| match self.target {
                LibraryUnit::Drive(number) => world.drives[number].sense(check, cdb.opcode()),
                LibraryUnit::Changer => SenseBytes::new(&check.fixed()),
            }),
        };
        note(&mut world, self.target, cdb, now, spent, &completion);
        let mut drives = world.drives.iter_mut();
        let host_error = drives.find_map(|drive| drive.host_error.take());
        let clock = world.clock.clone();
        drop(world);
        self.advance(&clock, spent);
        if let Some(source) = host_error {
            return Err(TransportError::Io {
                device: self.name.clone(),
                source,
            });
        }
        if Duration::from_micros(spent.0.unsigned_abs()) > timeout {
            return Err(TransportError::TimedOut {
                device: self.name.clone(),
                timeout,
            });
        }
        Ok(completion)
    }

    fn now(&self) -> Duration {
        let now = self.own.unwrap_or_else(|| self.world().clock.now());
        Duration::from_micros((now - self.opened).0.unsigned_abs())
    }

    fn wait(&mut self, duration: Duration) {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX / 4);
        let clock = self.world().clock.clone();
        self.advance(&clock, Micros(micros));
    }
}
