//! What a process refused, whether it had reason to, and the documented way on.

use super::{Judged, Life, PATIENCE, sum_of, terms};
use crate::fate::{Plan, Wrong};
use crate::world::{Opening, Trouble};
use tapewise_archive::cache::CacheError;
use tapewise_archive::catalogue::{CatalogueError, Copy, CopyState, Entry};
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::mover::{MoveError, Others, ReadIn};
use tapewise_archive::open::OpenError;
use tapewise_archive::store::{Source, StoreError, StoreTerms, store_from};
use tapewise_archive::volume::VolumeError;
use tapewise_library::pool::PoolError;
use tapewise_scsi::ScsiError;
use xxhash_rust::xxh3::xxh3_64;

/// What a process says when it does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// The catalogue is lost, or not as new as the cache.
    Stale,
    /// A tape holds what the archive does not have elsewhere.
    Ahead,
    /// Another host has a drive.
    Reserved,
    /// No drive can be had: somebody's cartridge is in it, perhaps.
    NoDrive,
    /// Anything else.
    Other,
}

impl Refusal {
    fn of(trouble: &Trouble) -> Refusal {
        let of_volume = |error: &MoveError| match error {
            MoveError::Volume {
                source: VolumeError::Ahead { .. },
                ..
            } => Refusal::Ahead,
            MoveError::Pool(PoolError::Reserved { .. }) => Refusal::Reserved,
            MoveError::Pool(PoolError::NoDriveLeft { .. }) => Refusal::NoDrive,
            _ => Refusal::Other,
        };
        match trouble {
            Trouble::Open(OpenError::Catalogue(CatalogueError::Lost { .. })) => Refusal::Stale,
            Trouble::Open(OpenError::Cache(
                CacheError::OlderCatalogue { .. }
                | CacheError::ForkedCatalogue
                | CacheError::OtherCatalogue { .. },
            )) => Refusal::Stale,
            Trouble::Devices(ScsiError::Reserved { .. }) => Refusal::Reserved,
            Trouble::Move(error) => of_volume(error),
            _ => Refusal::Other,
        }
    }
}

impl Life {
    /// Whether a process had reason to end as it did; what it refuses with a way on, that way is gone.
    pub(super) fn judge(&mut self, plan: Plan, seed: u64, trouble: &Trouble) -> Judged {
        let words = trouble.beginning(&self.world.place(""));
        let refusal = Refusal::of(trouble);
        *self
            .counts
            .refused
            .entry(format!("{refusal:?}: {words}"))
            .or_insert(0) += 1;
        let intruded = matches!(
            plan.wrong,
            Some((_, _, Wrong::Rewound | Wrong::Unloaded | Wrong::Reserved))
        );
        match refusal {
            Refusal::Ahead if self.names_harmed(&trouble.to_string()) => {
                // What was written and not committed may be all that is left of a file that was damaged in the cache.
                self.stale.get_or_insert("a cached file was damaged");
                self.go_on(seed)
            }
            Refusal::Stale | Refusal::Ahead if self.stale.is_none() => {
                Err(format!("refused without reason: {trouble}"))
            }
            Refusal::Stale | Refusal::Ahead => self.go_on(seed),
            Refusal::Reserved if self.other_holds => Ok(()),
            Refusal::Reserved => {
                // What another host of ours has left behind.
                let released = self.world.release_drives();
                match released {
                    Err(error) if !intruded => {
                        Err(format!("the drives cannot be released: {error}"))
                    }
                    _ => Ok(()),
                }
            }
            Refusal::NoDrive => {
                self.take_out();
                Ok(())
            }
            Refusal::Other => Ok(()),
        }
    }

    /// Whether a message names a file of which an operator damaged a copy.
    fn names_harmed(&self, message: &str) -> bool {
        let mut versions = self.oracle.versions.iter();
        versions
            .any(|version| self.harmed.contains(&version.sum) && message.contains(&version.path))
    }

    /// A killed rebuild leaves a cartridge in its drive that the catalogue does not know. It stays there until somebody
    /// takes it out; if that fails too, they try again another day.
    fn take_out(&self) {
        let _ = self.world.take_out();
    }

    /// The documented way on after a refusal: the catalogue again from the cartridges, and what was set aside stored
    /// again.
    pub(super) fn go_on(&mut self, seed: u64) -> Judged {
        for again in 0..PATIENCE {
            self.rebuild(Plan::default(), seed ^ again)?;
            if self.stale.is_none() {
                return self.store_what_was_set_aside(seed);
            }
            if self.swapped.is_some() || self.other_holds {
                // Not before these are put right.
                return Ok(());
            }
        }
        Err("the catalogue cannot be rebuilt".to_owned())
    }

    pub(super) fn rebuild(&mut self, plan: Plan, seed: u64) -> Judged {
        if let Some(swapped) = &mut self.swapped {
            swapped.is_read = true;
        }
        let done = self.world.run((plan, seed), Opening::Rebuild, |process| {
            let copies = process.archive.settings.copies;
            process.moving(|mover| {
                let labels = mover.cartridges();
                mover.read_in(&labels, Others::Pass, copies)
            })
        });
        match done {
            Ok(Ok(rebuilt)) => {
                let is_read = |read: &ReadIn| match read {
                    ReadIn::Added(added) => added.troubles.is_empty(),
                    ReadIn::Passed(_) => true,
                    ReadIn::Failed(_) => false,
                };
                self.counts.mounts += rebuilt.volumes.len() as u64;
                let is_waiting = |read: &ReadIn| {
                    matches!(
                        read,
                        ReadIn::Failed(MoveError::Pool(PoolError::NoDriveLeft { .. }))
                    )
                };
                if rebuilt.volumes.iter().any(|(_, read)| is_waiting(read)) {
                    self.take_out();
                }
                if plan == Plan::default()
                    && rebuilt.volumes.iter().all(|(_, read)| is_read(read))
                    && self.swapped.is_none()
                {
                    self.stale = None;
                }
                Ok(())
            }
            Ok(Err(trouble)) => self.judge(plan, seed, &trouble),
            Err(_) => Ok(()),
        }
    }

    /// Stores again what was set aside, as the message says.
    pub(super) fn store_what_was_set_aside(&mut self, seed: u64) -> Judged {
        let mut aside: Vec<(String, Vec<u8>)> = Vec::new();
        for (name, bytes, path) in self.world.disk.tree().files() {
            let path = path.and_then(|path| String::from_utf8(path.to_owned()).ok());
            if let (true, Some(path)) = (name.starts_with("quarantine"), path) {
                aside.push((path, bytes.to_owned()));
            }
        }
        for (path, bytes) in aside {
            let is_wanted = self
                .oracle
                .wanted(&path)
                .is_some_and(|version| version.contents == bytes);
            if !is_wanted {
                continue;
            }
            let from = self.world.place("sources").join("aside");
            let mut given = self.given();
            given.add(&from, bytes.clone(), self.world.now_ns());
            let source = Source {
                from,
                path: InnerPath::new(&path).map_err(|error| error.to_string())?,
                bytes: bytes.len() as u64,
            };
            let sum = xxh3_64(&bytes);
            let done = self
                .world
                .run((Plan::default(), seed), Opening::Usual, |process| {
                    let catalogue = &process.archive.catalogue;
                    if let Some(live) = catalogue.live_file(path.as_bytes())? {
                        let cache = &process.cache;
                        let is_left = is_on_tape(&catalogue.file(live)?)
                            || cache.is_whole(live).map_err(StoreError::from)?;
                        if is_left && sum_of(catalogue.as_ref(), live)? == Some(sum) {
                            return Ok(());
                        }
                        if !is_left {
                            cache.give_up(live).map_err(StoreError::from)?;
                        }
                    }
                    let how = StoreTerms {
                        terms: terms(),
                        copies: process.archive.settings.copies,
                        replace: true,
                        also: Vec::new(),
                    };
                    let mut stored = store_from(
                        &given,
                        &process.cache,
                        std::slice::from_ref(&source),
                        &how,
                        process.now_ns(),
                    );
                    if let Err(StoreError::Cache(CacheError::Full { .. })) = stored {
                        process.moving(|mover| mover.migrate(i64::MAX))?;
                        stored = store_from(
                            &given,
                            &process.cache,
                            std::slice::from_ref(&source),
                            &how,
                            process.now_ns(),
                        );
                    }
                    stored?;
                    Ok(())
                });
            match done {
                Ok(Ok(())) => {}
                // It stays where it is, and is stored another day: until then the catalogue does not know it.
                _ => {
                    self.stale = Some("what was set aside is not stored yet");
                    return Ok(());
                }
            }
        }
        self.world
            .disk
            .tree()
            .remove(|name| name.starts_with("quarantine"));
        Ok(())
    }
}

/// Whether a copy of a file is whole: as for `store`, it is known then, and if the cache has all of it.
fn is_on_tape(entry: &Entry) -> bool {
    let is_whole = |copy: &Copy| copy.state == CopyState::Whole;
    entry.copies.iter().any(is_whole)
}
