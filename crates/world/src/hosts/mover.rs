//! What a host does: `tapewise mover`, started again whenever it has died.

use super::host::Host;
use super::site::{LEASE, Site};
use super::way::Way;
use crate::destinations::Destinations;
use crate::world::Trouble;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tapewise_archive::cache::{Cache, Water};
use tapewise_archive::catalogue::{CacheRecords, Holder};
use tapewise_archive::mover::{Denied, Lessee, MoveError, Mover, Settings};
use tapewise_archive::open::{Archive, Machinery};
use tapewise_formats::event::{Action, Event};
use tapewise_library::pool::{Pace, Pool};
use tapewise_model::Micros;
use tapewise_scsi::{Changer, TapeDrive};

/// How long a mover rests when nothing waits, and before it tries again what went wrong.
const IDLE: Micros = Micros(60_000_000);
/// How long it takes until a host that has died is there again.
const AGAIN: Micros = Micros(200_000_000);

/// A run of `tapewise mover`.
pub struct Running {
    site: Arc<Site>,
    host: Arc<Host>,
    /// What no other run is called.
    run: String,
    archive: Archive,
    lessee: Arc<Lessee>,
}

/// Lets movers run on a host until the life is over.
pub fn runs_movers(site: &Arc<Site>, host: &Arc<Host>) {
    for process in 1.. {
        let running = Running::start(site, host, process);
        match running.map(|running| running.until_it_ends()) {
            Ok(()) => {}
            Err(trouble) => site.failed(&trouble),
        }
        if site.is_over() {
            return;
        }
        host.starts(None);
        host.rest(AGAIN);
    }
}

impl Running {
    fn start(site: &Arc<Site>, host: &Arc<Host>, process: u32) -> Result<Running, Trouble> {
        let archive = Archive::open(&site.place("archive"))?;
        let holder = Holder {
            host: format!("host{}", host.number),
            process,
            run: format!("host{} process {process}", host.number),
        };
        let run = holder.run.clone();
        let (days, own) = (Arc::clone(host), Arc::clone(host));
        let mut lessee = Lessee::new(
            Arc::clone(&archive.catalogue),
            holder,
            LEASE.0 * 1000,
            Arc::new(move || days.now_ns()),
            Arc::new(move || own.own_ns()),
        )?;
        if !site.guards.fence {
            lessee = lessee.without_fence();
        }
        if !site.guards.epochs {
            lessee = lessee.without_epochs();
        }
        let lessee = Arc::new(lessee);
        host.starts(Some(Arc::clone(&lessee)));
        Ok(Running {
            site: Arc::clone(site),
            host: Arc::clone(host),
            run,
            archive,
            lessee,
        })
    }

    fn until_it_ends(&self) {
        let mut first = 0;
        while !self.host.is_dead() && !self.site.is_over() {
            first += 1;
            match self.round(first) {
                Ok(true) => {}
                Ok(false) => self.host.rest(self.idle()),
                Err(_) if self.host.is_dead() => {}
                Err(trouble) => {
                    self.site.failed(&trouble);
                    drop(self.lessee.give_back_drives());
                    self.host.rest(self.idle());
                }
            }
        }
        drop(self.lessee.give_back_all());
    }

    /// At the end nothing goes wrong any more, and nobody is in a hurry.
    fn idle(&self) -> Micros {
        if self.site.is_calm() { LEASE } else { IDLE }
    }

    /// Carries out what waits, as far as it gets drives and cartridges; whether it did something.
    fn round(&self, first: usize) -> Result<bool, Trouble> {
        self.lessee.give_back_drives()?;
        let Ok(desk) = self.lessee.desk()? else {
            return Ok(false);
        };
        let catalogue = &self.archive.catalogue;
        let is_migrating = !catalogue.next_migrations(i64::MAX, 1)?.is_empty();
        if catalogue.open_recalls()?.queued == 0 && !is_migrating {
            return Ok(false);
        }
        let held = self.site.hold_cache(self.host.number, false);
        let held = held.ok_or_else(|| io::Error::other("another process has the cache"))?;
        let disk = self.site.disk.seen_by(Arc::clone(&self.host) as _);
        let first_key = desk.lease.epoch << 32;
        let cache = if held.is_alone {
            let (cache, _) = self.archive.cache_on(Box::new(disk))?;
            cache.share(first_key).map_err(MoveError::from)?;
            self.site.let_others_in();
            cache
        } else {
            let settings = &self.archive.settings;
            let water = Water {
                high_bytes: settings.cache_high_bytes,
                low_bytes: settings.cache_low_bytes,
            };
            let records: Arc<dyn CacheRecords> = Arc::clone(&self.archive.catalogue) as _;
            Cache::join(Box::new(disk), records, water, first_key)
        };
        let Some(mut pool) = self.pool(first)? else {
            return Ok(false);
        };
        self.work(&cache, &mut pool, is_migrating)
    }

    fn work(&self, cache: &Cache, pool: &mut Pool, is_migrating: bool) -> Result<bool, Trouble> {
        let lto8 = self.site.lto8.clone();
        let settings = self
            .archive
            .settings
            .of_mover(lto8, self.site.configuration.scale);
        let settings = Settings {
            precompress: None,
            overlap: false,
            watch: Some(Arc::new(Destinations::new(Arc::clone(&self.host) as _))),
            ..settings
        };
        let mut log: Vec<Event> = Vec::new();
        let stop = AtomicBool::new(false);
        let machinery = Machinery {
            pool,
            settings: &settings,
            log: &mut log,
            lessee: Some(&self.lessee),
            stop: &stop,
            now_ns: &|| self.host.now_ns(),
            new_uuid: &|| self.site.new_uuid(),
        };
        let done = self
            .archive
            .work(cache, machinery, &mut |_| {}, |mover: &mut Mover<'_>| {
                let recalled = mover.recall()?;
                let answered = recalled.delivered + recalled.failed.len() as u64;
                let segments = if is_migrating {
                    mover.migrate(i64::MAX)?.segments
                } else {
                    0
                };
                Ok(answered + segments > 0)
            });
        let mounts = log.iter().filter(|event| event.action == Action::Mount);
        self.site
            .mounts
            .fetch_add(mounts.count() as u64, Ordering::Relaxed);
        Ok(done?)
    }

    /// The drives that it gets, with their robot; none where others have them all. Another drive comes first each time.
    fn pool(&self, first: usize) -> Result<Option<Pool>, Trouble> {
        let all = usize::from(self.site.configuration.drives);
        let mut drives = Vec::new();
        for number in (0..all).map(|number| (first + number) % all) {
            let port = format!("{} at drive {number}", self.run);
            let real = self.site.library.transport_to_drive_from(&port, number);
            let real = real.map_err(io::Error::other)?;
            let way = Way::new(real, Some(number), &self.run, &self.site, &self.host);
            let mut drive = TapeDrive::open(Box::new(way))?;
            match self.lessee.claim(&mut drive, None) {
                Ok(Ok(_)) => drives.push(drive),
                Ok(Err(Denied::Drive(_) | Denied::Volume(_))) | Err(MoveError::Pool(_)) => {}
                Err(error) => return Err(error.into()),
            }
            if drives.len() == self.site.most_drives {
                break;
            }
        }
        if drives.is_empty() {
            return Ok(None);
        }
        let robot = self.site.library.transport_to_changer();
        let robot = robot.map_err(io::Error::other)?;
        let way = Way::new(robot, None, &self.run, &self.site, &self.host);
        let robot = Changer::open(Box::new(way))?;
        let mut pool = Pool::new(drives, vec![robot], None, Box::new(|_| {}))?;
        pool.set_pace(Pace::Turns);
        Ok(Some(pool))
    }
}
