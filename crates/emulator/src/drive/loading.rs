//! Cartridges in and out: by robot, by hand, by LOAD UNLOAD.

use super::{Drive, InsertedCartridge, Loaded, Threading, wrap_end};
use crate::check::Check;
use crate::exchange::{Exchange, Stop};
use crate::kind::DriveKind;
use crate::mechanics::{Mechanics, Unloaded};
use tapewise_model::{Micros, Random};

/// How long a cleaning takes; assumed. The makers say "up to five minutes".
const CLEANING: Micros = Micros(120_000_000);

impl Drive {
    /// A cartridge is put in; the drive begins to load it.
    pub fn insert(&mut self, cartridge: InsertedCartridge, now: Micros) {
        let is_compatible = match DriveKind::find(&cartridge.kind) {
            Some(kind) => {
                kind.name == self.kind.name
                    || (kind.family == self.kind.family
                        && kind.identity.density_code == self.kind.identity.density_code)
            }
            None => false,
        };
        let medium = cartridge.medium;
        self.loaded = Some(Loaded {
            barcode: cartridge.barcode,
            wrap_ends: Vec::new(),
            medium,
            tape: cartridge.tape,
            mechanics: None,
            is_compatible,
            state: Threading::Unloaded,
            partition: 0,
            object: 0,
            has_met_end: false,
            is_lost: false,
        });
        if self.holds_cleaner() {
            self.clean(now);
        } else {
            self.thread(now);
        }
    }

    /// Whether the cartridge is a cleaning cartridge: its label begins with CLN, as is usual.
    fn holds_cleaner(&self) -> bool {
        let loaded = self.loaded.as_ref();
        loaded.is_some_and(|loaded| loaded.barcode.starts_with("CLN"))
    }

    fn clean(&mut self, now: Micros) {
        if let Some(loaded) = &mut self.loaded {
            loaded.state = Threading::Cleaning(now + CLEANING);
        }
    }

    /// The robot takes the cartridge; a drive that has it threaded unloads it first. Returns the
    /// time that takes.
    pub fn give_up(&mut self, now: Micros) -> Result<Micros, Check> {
        self.settle(now);
        let mut time = (self.busy_until - now).max(Micros::ZERO);
        let state = self.loaded.as_ref().map(|loaded| loaded.state);
        if let Some(Threading::Loading(until) | Threading::Cleaning(until)) = state {
            time = time.max(until - now);
            self.settle(now + time);
        }
        if self.is_threaded() {
            time += self.unthread()?;
        }
        self.remove();
        Ok(time)
    }

    /// The cartridge is taken out.
    pub fn remove(&mut self) {
        self.loaded = None;
        self.prevented.clear();
        self.access_order.clear();
    }

    /// Begins to load the cartridge that is in the drive.
    fn thread(&mut self, now: Micros) -> Micros {
        let Some(loaded) = &mut self.loaded else {
            return Micros::ZERO;
        };
        self.life.loads += 1;
        loaded.medium.memory.note_load(&self.serial);
        // Noise differs from load to load, and is the same for the same seed and load.
        let noise = Random::new(self.seed, self.life.loads);
        let parked = loaded.medium.memory.parked_lpos.take();
        let (mechanics, motion) =
            Mechanics::load(&self.kind.mechanism, loaded.tape.clone(), parked, noise);
        loaded.mechanics = Some(mechanics);
        loaded.wrap_ends = wrap_end::snapshot(&loaded.tape, &loaded.medium);
        let time = motion.time + Micros::from_secs_f64(self.faults.faults.slow_load_s);
        loaded.state = Threading::Loading(now + time);
        loaded.at_beginning();
        self.count(motion);
        time
    }

    /// Unloads the cartridge, which stays in the drive. Returns the time that takes.
    fn unthread(&mut self) -> Result<Micros, Check> {
        let loaded = self.ready()?;
        let partition = loaded.partition;
        let here = loaded.current()?;
        let end = here.offset(here.end_of_data());
        loaded.state = Threading::Unloaded;
        let Some(mechanics) = loaded.mechanics.take() else {
            return Ok(Micros::ZERO);
        };
        let Unloaded {
            motion,
            parked_lpos,
        } = mechanics.unload((partition, end));
        loaded.medium.memory.parked_lpos = parked_lpos;
        self.count(motion);
        self.access_order.clear();
        let saved = self.ready()?.medium.sync();
        let done = saved.and(self.life.save());
        done.map(|()| motion.time)
            .map_err(|error| self.host_disk(error))
    }
}

/// LOAD UNLOAD (SSC-4, 7.2).
pub(super) fn load_unload(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let (load, to_end) = (exchange.bit(4, 0), exchange.bit(4, 2));
    let immediate = exchange.bit(1, 0);
    if to_end {
        return Err(Check::invalid_cdb_bits(4, 2).into());
    }
    if drive.loaded.is_none() {
        return Err(Check::NO_MEDIUM.into());
    }
    let waiting = match drive.loaded.as_ref().map(|loaded| loaded.state) {
        Some(Threading::Cleaning(_)) => return Err(Check::CLEANING.into()),
        Some(Threading::Loading(until)) => until - exchange.now(),
        _ => (drive.busy_until - exchange.now()).max(Micros::ZERO),
    };
    let is_threaded = drive.is_threaded();
    if load && drive.holds_cleaner() {
        return Err(Check::INCOMPATIBLE_MEDIUM.into());
    }
    if !load && drive.is_removal_prevented() {
        return Err(Check::REMOVAL_PREVENTED.into());
    }
    if is_threaded {
        drive.flush(exchange)?;
    }
    let time = match load {
        true if is_threaded => {
            let loaded = drive.ready()?;
            let motion = loaded.mechanics()?.rewind();
            loaded.at_beginning();
            drive.count(motion);
            motion.time
        }
        true => drive.thread(exchange.now()),
        false if is_threaded => drive.unthread()?,
        false => Micros::ZERO,
    };
    let time = waiting + time;
    if immediate {
        drive.busy_until = exchange.now() + time;
        return Ok(());
    }
    exchange.spend(time);
    drive.settle(exchange.now());
    Ok(())
}

/// PREVENT ALLOW MEDIUM REMOVAL (SPC-5, 6.16): for each initiator by itself.
pub(super) fn prevent(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let nexus = exchange.nexus;
    drive.prevented.retain(|&one| one != nexus);
    match exchange.byte(4) & 3 {
        0 => Ok(()),
        1 => {
            drive.prevented.push(nexus);
            Ok(())
        }
        _ => Err(Check::invalid_cdb_bits(4, 1).into()),
    }
}
