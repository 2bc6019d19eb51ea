//! Where recalled files go: real files in memory, under a watch that lets steps fail and knows what a power cut takes.

use crate::fate::{Dead, Kind, Steps, Wrong};
use crate::files::{Choose, error, torn};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tapewise_archive::deliver::{Step, Watch};

/// Watches all destinations.
pub struct Destinations {
    steps: Arc<dyn Steps>,
    unsynced: Mutex<Unsynced>,
}

impl std::fmt::Debug for Destinations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Destinations")
    }
}

/// What was done and not synced.
#[derive(Default)]
struct Unsynced {
    /// Files whose contents are not on the medium.
    contents: BTreeSet<PathBuf>,
    /// Names that are not, in the order in which they were made.
    names: Vec<Name>,
}

enum Name {
    Made(PathBuf),
    Renamed(PathBuf, PathBuf),
}

impl Name {
    fn is_in(&self, directory: &Path) -> bool {
        let (Name::Made(path) | Name::Renamed(_, path)) = self;
        path.parent() == Some(directory)
    }
}

impl Destinations {
    /// Nothing is there yet.
    pub fn new(steps: Arc<dyn Steps>) -> Destinations {
        Destinations {
            steps,
            unsynced: Mutex::default(),
        }
    }

    fn unsynced(&self) -> MutexGuard<'_, Unsynced> {
        self.unsynced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything is on the medium.
    pub fn settle(&self) {
        *self.unsynced() = Unsynced::default();
    }

    /// Leaves what a power cut may leave; how much of it was lost.
    pub fn cut_power(&self, choose: &mut Choose<'_>) -> io::Result<u64> {
        let unsynced = std::mem::take(&mut *self.unsynced());
        let mut lost = 0;
        for path in unsynced.contents {
            let new = match fs::read(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                read => read?,
            };
            fs::write(&path, torn(Vec::new(), new, choose))?;
            lost += 1;
        }
        for name in unsynced.names.into_iter().rev() {
            if choose(2) == 0 {
                continue;
            }
            lost += 1;
            let gone = match name {
                Name::Renamed(from, to) => fs::rename(to, from),
                Name::Made(path) if path.is_dir() => fs::remove_dir_all(path),
                Name::Made(path) => fs::remove_file(path),
            };
            match gone {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(lost)
    }
}

impl Watch for Destinations {
    fn before(&self, step: Step<'_>) -> io::Result<()> {
        let kind = match step {
            Step::Read(_) => Kind::Read,
            _ => Kind::Destination,
        };
        let takes_room = matches!(
            step,
            Step::MakeDirectory(_) | Step::Create(_) | Step::Write(..) | Step::SetLength(..)
        );
        match self.steps.step(kind) {
            Err(Dead) => return Err(Dead.into()),
            Ok(Some(Wrong::Error)) => return Err(error(Wrong::Error)),
            Ok(Some(Wrong::Full)) if takes_room => return Err(error(Wrong::Full)),
            Ok(_) => {}
        }
        let mut unsynced = self.unsynced();
        match step {
            Step::MakeDirectory(path) => unsynced.names.push(Name::Made(path.to_owned())),
            Step::Create(path) => {
                unsynced.names.push(Name::Made(path.to_owned()));
                unsynced.contents.insert(path.to_owned());
            }
            Step::Write(path, ..) | Step::SetLength(path, _) => {
                unsynced.contents.insert(path.to_owned());
            }
            Step::Sync(path) => {
                unsynced.contents.remove(path);
            }
            Step::Rename(from, to) => {
                if unsynced.contents.remove(from) {
                    unsynced.contents.insert(to.to_owned());
                }
                let name = Name::Renamed(from.to_owned(), to.to_owned());
                unsynced.names.push(name);
            }
            Step::SyncDirectory(directory) => unsynced.names.retain(|name| !name.is_in(directory)),
            Step::Remove(path) => {
                unsynced.contents.remove(path);
            }
            Step::Mark(_) | Step::Read(_) => {}
        }
        Ok(())
    }
}
