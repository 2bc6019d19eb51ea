//! An archive in a directory, from the outside in: settings, catalogue, cache, and what a killed run left.
//!
//! `archive.toml` says what there is, `catalogue.db` what lies where unless `archive.toml` names a database, `cache/` holds
//! the files in front of the tapes, `events.jsonl` everything that the drives did, `reserve` room for the catalogue on a
//! full disk. One process moves files at a time: it has the cache.
//!
//! Opening never makes a catalogue. Beside `archive.toml` a catalogue that is missing or empty was lost, and a
//! new one would know nothing of the files in the cache.
//!
//! Nothing here prints: what was found and put right is a value.

mod cached;

use crate::cache::{Cache, CacheError, Directory, Disk, QUARANTINE, Recovered, Water};
use crate::catalogue::{
    CacheRecords, Catalogue, CatalogueError, Held, Place, Upgrade, move_catalogue,
};
use crate::mover::{Lessee, MoveError, Mover, Settings, TakenUp};
use crate::reserve::{Reserve, ReserveState};
use crate::settings::{ArchiveSettings, SettingsError};
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tapewise_library::pool::{Pool, PoolError};
use tapewise_run::Log;
use tapewise_sim::mounts::{MountSettings, PolicyError};

/// The file that makes a directory an archive.
const SETTINGS: &str = "archive.toml";

/// The file of the catalogue.
const CATALOGUE: &str = "catalogue.db";

/// How long a process that shares the cache is given to put it right, until it lets others in; and how often they look.
const LONGEST_OPENING: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);

/// Why an archive cannot be opened or made. Nothing was changed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// `archive.toml` cannot be read.
    #[error("{path}: {source}")]
    NoSettings {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// `archive.toml` is no TOML, or has keys that are unknown or of another type.
    #[error("{path}: {source}")]
    NotSettings {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<toml::de::Error>,
    },
    /// No archive can work with a setting.
    #[error("{}{source}", .path.as_ref().map_or(String::new(), |path| format!("{}: ", path.display())))]
    Settings {
        /// The file; none where the settings were not read from one.
        path: Option<PathBuf>,
        /// The key, and what it must be.
        source: SettingsError,
    },
    /// The file that `policy_file` names is no policy.
    #[error("{path}: {source}")]
    Policy {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: PolicyError,
    },
    /// The settings cannot be written as TOML.
    #[error("the settings cannot be written: {0}")]
    Unwritable(#[from] toml::ser::Error),
    /// A new archive belongs in a new directory.
    #[error("{path}: is not empty")]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The catalogue is missing, empty, damaged, or of something else.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// Another process has the cache.
    #[error("{0}")]
    Busy(io::Error),
    /// The cache.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

/// An archive that is open. Nobody has touched its cache or a drive yet.
pub struct Archive {
    directory: PathBuf,
    /// Its settings.
    pub settings: ArchiveSettings,
    /// What lies where.
    pub catalogue: Arc<dyn Catalogue>,
    /// Whether there is room for the catalogue.
    pub reserve: ReserveState,
}

/// What works for an archive: drives and robots, how volumes are written, where events go, and the time.
pub struct Machinery<'a> {
    /// Drives and robots.
    pub pool: &'a mut Pool,
    /// How volumes are written.
    pub settings: &'a Settings,
    /// Where events go.
    pub log: &'a mut (dyn Log + Send),
    /// What the mover may use, where others move files of the same archive; none where it is alone.
    pub lessee: Option<&'a Lessee>,
    /// Set by whoever wants the work to stop.
    pub stop: &'a AtomicBool,
    /// The time, nanoseconds since 1970.
    pub now_ns: &'a (dyn Fn() -> i64 + Sync),
    /// A UUID for a new volume: [`random_uuid`](crate::mover::random_uuid), except where a seed is to give the same
    /// run again.
    pub new_uuid: &'a (dyn Fn() -> String + Sync),
}

/// What a person should hear of while an archive is worked on.
#[derive(Debug)]
pub enum Notice {
    /// A run that was killed had left something open; it is put right.
    TakenUp(TakenUp),
    /// After the work a drive did not give its cartridge back.
    NotDismounted(PoolError),
}

impl Archive {
    /// Makes an archive in a directory that does not exist or is empty.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn create(directory: &Path, settings: &ArchiveSettings) -> Result<Archive, OpenError> {
        let wrong = |source| OpenError::Settings { path: None, source };
        settings.check().map_err(wrong)?;
        let failed = at(directory);
        std::fs::create_dir_all(directory).map_err(&failed)?;
        if directory.read_dir().map_err(&failed)?.next().is_some() {
            let path = directory.to_owned();
            return Err(OpenError::NotEmpty { path });
        }
        let text = toml::to_string(settings)?;
        catalogue_of(directory, settings)?.open()?;
        // The file that makes the directory an archive comes last.
        write_settings(directory, &text)?;
        let parent = directory
            .parent()
            .filter(|name| !name.as_os_str().is_empty());
        sync_directory(parent.unwrap_or(Path::new("."))).map_err(&failed)?;
        Archive::open(directory)
    }

    /// Opens an archive to work on it.
    ///
    /// # Errors
    /// [`OpenError`]; a catalogue that is missing or empty is one.
    pub fn open(directory: &Path) -> Result<Archive, OpenError> {
        Archive::open_with(directory, Place::open_existing)
    }

    /// Opens an archive whose catalogue is to be made again from its cartridges. One that is missing or empty is
    /// made anew; its cache must then be [reconciled](Archive::reconcile).
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_to_rebuild(directory: &Path) -> Result<Archive, OpenError> {
        Archive::open_with(directory, Place::open)
    }

    fn open_with(
        directory: &Path,
        open: impl FnOnce(&Place) -> Result<Arc<dyn Catalogue>, CatalogueError>,
    ) -> Result<Archive, OpenError> {
        let settings = read_settings(directory)?;
        // Room comes first: on a full disk not even an empty write-ahead log could be made.
        let reserve = Reserve::of(directory).prepare();
        let catalogue = open(&catalogue_of(directory, &settings)?)?;
        Ok(Archive {
            directory: directory.to_owned(),
            settings,
            catalogue,
            reserve,
        })
    }

    /// Opens an archive to look things up: nothing in it is changed, and a disk that is full or cannot be
    /// written to does not matter.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_to_read(directory: &Path) -> Result<Archive, OpenError> {
        let settings = read_settings(directory)?;
        let catalogue = catalogue_of(directory, &settings)?.open_to_read()?;
        Ok(Archive {
            directory: directory.to_owned(),
            settings,
            catalogue,
            reserve: ReserveState::Kept,
        })
    }

    /// The catalogue over a connection of its own: what is asked there waits for nothing that is asked here.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn catalogue_apart(&self) -> Result<Arc<dyn Catalogue>, OpenError> {
        Ok(catalogue_of(&self.directory, &self.settings)?.open_existing()?)
    }

    /// What the next [`Archive::open`] would do to the catalogue's schema; nothing is changed. `None` where it is
    /// this program's.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn pending_upgrade(directory: &Path) -> Result<Option<Upgrade>, OpenError> {
        let settings = read_settings(directory)?;
        Ok(catalogue_of(directory, &settings)?.pending_upgrade()?)
    }

    /// Brings the catalogue's schema up to date while no other process works on the archive, and says what was done.
    ///
    /// # Errors
    /// [`OpenError`]; the catalogue then has its old schema or a whole newer one.
    pub fn upgrade(directory: &Path) -> Result<Option<Upgrade>, OpenError> {
        let pending = Archive::pending_upgrade(directory)?;
        let path = directory.join("cache");
        let _held = hold(&path, Directory::open)?;
        Archive::open(directory)?;
        Ok(pending)
    }

    /// Moves the catalogue to a database, or without a URL to the file in the directory, while no other process works
    /// on the archive here, and says so in `archive.toml`. The old one is left and marked: nobody opens it any more.
    /// Returns what each table holds; none if the catalogue is there already.
    ///
    /// # Errors
    /// [`OpenError`]; the archive then has its old catalogue. Killed in between, the same move goes on.
    pub fn move_catalogue(
        directory: &Path,
        to: Option<&str>,
    ) -> Result<Option<Vec<Held>>, OpenError> {
        let path = directory.join(SETTINGS);
        let settings = read_settings(directory)?;
        let moved = ArchiveSettings {
            catalogue: to.map(str::to_owned),
            ..settings.clone()
        };
        let wrong = |source| OpenError::Settings { path: None, source };
        moved.check().map_err(wrong)?;
        let text = std::fs::read_to_string(&path).map_err(at(&path))?;
        let text = with_catalogue(&text, to).map_err(|source| OpenError::NotSettings {
            path: path.clone(),
            source: Box::new(source),
        })?;
        let _held = hold(&directory.join("cache"), Directory::open)?;
        let (from, to) = (
            catalogue_of(directory, &settings)?,
            catalogue_of(directory, &moved)?,
        );
        if settings.catalogue == moved.catalogue {
            to.open_to_read()?;
            return Ok(None);
        }
        let held = move_catalogue(&from, &to)?;
        write_settings(directory, &text)?;
        Ok(Some(held))
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where its cache is.
    pub fn cache_directory(&self) -> PathBuf {
        self.directory.join("cache")
    }

    /// Where files of the cache are set aside that the catalogue does not know, or that are damaged.
    pub fn quarantine_directory(&self) -> PathBuf {
        self.cache_directory().join(QUARANTINE)
    }

    /// Where its event log is.
    pub fn events(&self) -> PathBuf {
        self.directory.join("events.jsonl")
    }

    /// Its cache, which one process has at a time. What a killed process left in it is put right.
    ///
    /// # Errors
    /// [`OpenError::Busy`] where another process has it; [`CacheError::OlderCatalogue`],
    /// [`CacheError::ForkedCatalogue`] and [`CacheError::OtherCatalogue`] where the catalogue is not the one that the
    /// cache belongs to.
    pub fn cache(&self) -> Result<(Cache, Recovered), OpenError> {
        self.cache_on(self.disk()?)
    }

    /// Its cache, together with other processes that share it. The first one puts right what killed processes left, and
    /// the others wait for it, a little. `epoch` is one under which no cache was opened before, such as that of a lease:
    /// files that come in are called by it, and a name that was used twice would put one file in the place of another.
    ///
    /// # Errors
    /// As [`Archive::cache`]; [`OpenError::Busy`] where a process goes on having it alone.
    pub fn shared_cache(&self, epoch: u64) -> Result<(Cache, Recovered), OpenError> {
        // Names of files in the cache are numbers: each epoch has four billion of its own.
        let first_key = epoch << 32;
        let until = Instant::now() + LONGEST_OPENING;
        loop {
            match self.share_cache(first_key) {
                Err(OpenError::Busy(_)) if Instant::now() < until => std::thread::sleep(LOOK),
                shared => return shared,
            }
        }
    }

    fn share_cache(&self, first_key: u64) -> Result<(Cache, Recovered), OpenError> {
        let records = || Arc::clone(&self.catalogue) as Arc<dyn CacheRecords>;
        match hold(&self.cache_directory(), Directory::open) {
            Ok(directory) => {
                let (cache, found) = Cache::open(Box::new(directory), records(), self.water())?;
                match cache.share(first_key) {
                    // Somebody else looked at that moment.
                    Err(CacheError::Io { source, .. })
                        if source.kind() == io::ErrorKind::ResourceBusy =>
                    {
                        Err(OpenError::Busy(source))
                    }
                    shared => Ok(shared.map(|()| (cache, found))?),
                }
            }
            Err(OpenError::Busy(_)) => {
                let disk = Box::new(hold(&self.cache_directory(), Directory::join)?);
                let cache = Cache::join(disk, records(), self.water(), first_key);
                Ok((cache, Recovered::default()))
            }
            Err(error) => Err(error),
        }
    }

    /// Its cache, on another disk than the directory of the archive: one that a test has in hand.
    ///
    /// # Errors
    /// As [`Archive::cache`].
    pub fn cache_on(&self, disk: Box<dyn Disk>) -> Result<(Cache, Recovered), OpenError> {
        let records: Arc<dyn Catalogue> = Arc::clone(&self.catalogue);
        Ok(Cache::open(disk, records, self.water())?)
    }

    /// Its cache, with a catalogue that was restored or made anew: see [`Cache::reconcile`].
    ///
    /// # Errors
    /// [`OpenError::Busy`] where another process has it.
    pub fn reconcile(&self) -> Result<(Cache, Recovered), OpenError> {
        self.reconcile_on(self.disk()?)
    }

    /// As [`Archive::reconcile`], on a disk as in [`Archive::cache_on`].
    ///
    /// # Errors
    /// As [`Archive::reconcile`].
    pub fn reconcile_on(&self, disk: Box<dyn Disk>) -> Result<(Cache, Recovered), OpenError> {
        let records: Arc<dyn Catalogue> = Arc::clone(&self.catalogue);
        Ok(Cache::reconcile(disk, records, self.water())?)
    }

    fn disk(&self) -> Result<Box<dyn Disk>, OpenError> {
        Ok(Box::new(hold(&self.cache_directory(), Directory::open)?))
    }

    fn water(&self) -> Water {
        Water {
            high_bytes: self.settings.cache_high_bytes,
            low_bytes: self.settings.cache_low_bytes,
        }
    }

    /// Lets `work` move files, after what a killed run left open was put right. Then every drive gives its
    /// cartridge back.
    ///
    /// # Errors
    /// [`MoveError`]; what was done until then is kept.
    pub fn work<T>(
        &self,
        cache: &Cache,
        machinery: Machinery<'_>,
        tell: &mut dyn FnMut(Notice),
        work: impl FnOnce(&mut Mover<'_>) -> Result<T, MoveError>,
    ) -> Result<T, MoveError> {
        let machinery = self.leaving_others(machinery)?;
        let Machinery {
            pool,
            settings,
            log,
            lessee,
            stop,
            now_ns,
            new_uuid,
        } = machinery;
        let mut mover = Mover {
            catalogue: self.catalogue.as_ref(),
            cache,
            pool: &mut *pool,
            settings,
            log: &mut *log,
            lessee,
            stop,
            now_ns,
            new_uuid,
        };
        let taken_up = mover.take_up()?;
        if taken_up != TakenUp::default() {
            tell(Notice::TakenUp(taken_up));
        }
        let done = work(&mut mover);
        for error in pool.dismount_all(log) {
            tell(Notice::NotDismounted(error));
        }
        if let Some(lessee) = lessee {
            lessee.give_back_drives()?;
        }
        done
    }
}

impl Archive {
    /// Cartridges that are in drives now, and that the catalogue does not know, stay there: somebody has loaded
    /// them for something else. Of the archive's own nobody can tell whether a killed run of ours left them there.
    fn leaving_others<'a>(&self, machinery: Machinery<'a>) -> Result<Machinery<'a>, MoveError> {
        let known = self.catalogue.volumes()?;
        let is_known = |label: &str| known.iter().any(|(_, volume)| volume.label == label);
        machinery.pool.leave(&|label| !is_known(label));
        Ok(machinery)
    }
}

/// Where the catalogue of an archive is.
fn catalogue_of(directory: &Path, settings: &ArchiveSettings) -> Result<Place, CatalogueError> {
    Ok(match &settings.catalogue {
        None => Place::File(directory.join(CATALOGUE)),
        Some(url) => Place::Database {
            url: url.parse()?,
            copies: directory.to_owned(),
        },
    })
}

/// The cache's directory, taken alone or together with others.
fn hold(
    path: &Path,
    how: impl FnOnce(&Path) -> io::Result<Directory>,
) -> Result<Directory, OpenError> {
    how(path).map_err(|source| match source.kind() {
        io::ErrorKind::ResourceBusy => OpenError::Busy(source),
        _ => OpenError::Io {
            path: path.to_owned(),
            source,
        },
    })
}

/// Puts `archive.toml` in its place, whole. A device's name or a URL in it may hold a secret.
fn write_settings(directory: &Path, text: &str) -> Result<(), OpenError> {
    let failed = at(directory);
    let mut file = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o600))
        .tempfile_in(directory)
        .map_err(&failed)?;
    io::Write::write_all(&mut file, text.as_bytes()).map_err(&failed)?;
    file.as_file().sync_all().map_err(&failed)?;
    file.persist(directory.join(SETTINGS))
        .map_err(|error| failed(error.error))?;
    sync_directory(directory).map_err(&failed)
}

/// The text of `archive.toml` with another catalogue; all else in it stays, comments too.
fn with_catalogue(text: &str, to: Option<&str>) -> Result<String, toml::de::Error> {
    // Parsed to name a mistake as for every other reader.
    let _: ArchiveSettings = toml::from_str(text)?;
    let mut document = text.parse::<toml_edit::DocumentMut>().unwrap_or_default();
    match to {
        Some(url) => document["catalogue"] = toml_edit::value(url),
        None => drop(document.remove("catalogue")),
    }
    Ok(document.to_string())
}

/// The settings of an archive, which is not opened for it.
///
/// # Errors
/// [`OpenError`]: they cannot be read, or no archive can work with them.
pub fn read_settings(directory: &Path) -> Result<ArchiveSettings, OpenError> {
    let path = directory.join(SETTINGS);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(source) => return Err(OpenError::NoSettings { path, source }),
    };
    let settings: ArchiveSettings = match toml::from_str(&text) {
        Ok(settings) => settings,
        Err(source) => {
            let source = Box::new(source);
            return Err(OpenError::NotSettings { path, source });
        }
    };
    match settings.check() {
        Ok(()) => with_policy(directory, settings),
        Err(source) => Err(OpenError::Settings {
            path: Some(path),
            source,
        }),
    }
}

/// The settings, with what the policy file says, if they name one.
fn with_policy(
    directory: &Path,
    mut settings: ArchiveSettings,
) -> Result<ArchiveSettings, OpenError> {
    if let Some(name) = settings.policy_file.take() {
        let path = directory.join(name);
        let unread =
            |error| PolicyError::Text(format!("{error}; archive.toml names it as policy_file"));
        let text = std::fs::read_to_string(&path).map_err(unread);
        let policy = text.and_then(|text| MountSettings::from_toml(&text));
        settings.mounts = policy.map_err(|source| OpenError::Policy { path, source })?;
    }
    Ok(settings)
}

fn at(path: &Path) -> impl Fn(io::Error) -> OpenError {
    let path = path.to_owned();
    move |source| OpenError::Io {
        path: path.clone(),
        source,
    }
}

fn sync_directory(path: &Path) -> io::Result<()> {
    std::fs::File::open(path)?.sync_all()
}
