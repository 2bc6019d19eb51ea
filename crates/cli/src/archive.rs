//! An archive in a directory: its settings, its catalogue, its cache, and the drives that serve it.
//!
//! `archive.toml` says what there is; `catalogue.db` what lies where; `cache/` holds the files in
//! front of the tapes; `events.jsonl` everything that the drives did. One process moves files at a
//! time: it holds the lock of the cache.

use crate::device::Devices;
use crate::error::{CliError, Exit};
use crate::output::say;
use serde::{Deserialize, Serialize};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};
use tapewise_archive::cache::{Cache, CacheError, Directory, Water};
use tapewise_archive::catalogue::{CatalogueError, SqliteCatalogue};
use tapewise_archive::mover::{MoveError, Mover, Settings};
use tapewise_archive::pool::{Pool, PoolError};
use tapewise_archive::store::StoreError;
use tapewise_archive::volume::VolumeError;
use tapewise_formats::event_log::{EventWriter, Header};

/// The file that makes a directory an archive.
const SETTINGS: &str = "archive.toml";

/// What `archive.toml` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchiveSettings {
    /// The drives' devices, named as for every verb.
    pub drives: Vec<String>,
    /// The robots' devices.
    #[serde(default)]
    pub changers: Vec<String>,
    /// The drives' profile.
    pub profile: String,
    /// On how many volumes a file lies unless it is stored otherwise.
    pub copies: u32,
    /// The cache never holds more, in bytes.
    pub cache_high_bytes: u64,
    /// When it would, files go until it holds no more than this.
    pub cache_low_bytes: u64,
    /// Bytes of a block of a new volume: a multiple of 512 from 8 KiB on.
    pub block_bytes: u32,
    /// Bytes after which a segment is closed with a filemark.
    pub segment_bytes: u64,
    /// Files longer than this are written in parts, which may lie on several volumes.
    pub part_bytes: u64,
    /// Bytes after which a volume takes no more; absent: only its end ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume_bytes: Option<u64>,
}

/// An archive that is open; nobody has touched a drive yet.
pub struct Archive {
    directory: PathBuf,
    /// Its settings.
    pub settings: ArchiveSettings,
    /// What lies where.
    pub catalogue: Arc<SqliteCatalogue>,
}

impl Archive {
    /// Makes an archive in a directory that does not exist or is empty.
    pub fn create(directory: &Path, settings: &ArchiveSettings) -> Result<Archive, CliError> {
        let failed = |error: std::io::Error| CliError::failed(error).of(directory.display());
        std::fs::create_dir_all(directory).map_err(failed)?;
        if directory.read_dir().map_err(failed)?.next().is_some() {
            return Err(CliError::input("is not empty").of(directory.display()));
        }
        let text = toml::to_string(settings).map_err(CliError::failed)?;
        // The file that makes it an archive comes last, whole.
        SqliteCatalogue::open(&directory.join("catalogue.db"))?;
        let mut file = tempfile::NamedTempFile::new_in(directory).map_err(failed)?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(directory.join(SETTINGS))
            .map_err(|error| failed(error.error))?;
        Archive::open(directory)
    }

    /// Opens an archive.
    pub fn open(directory: &Path) -> Result<Archive, CliError> {
        let path = directory.join(SETTINGS);
        let text = std::fs::read_to_string(&path).map_err(|error| {
            CliError::input(error)
                .of(path.display())
                .hint("`tapewise catalog init DIR --drive DEVICE` makes an archive")
        })?;
        let settings: ArchiveSettings =
            toml::from_str(&text).map_err(|error| CliError::input(error).of(path.display()))?;
        if settings.drives.is_empty() || settings.copies == 0 {
            let what = "an archive needs a drive in `drives`, and `copies` of 1 or more";
            return Err(CliError::input(what).of(path.display()));
        }
        let catalogue = SqliteCatalogue::open(&directory.join("catalogue.db"))?;
        Ok(Archive {
            directory: directory.to_owned(),
            settings,
            catalogue: Arc::new(catalogue),
        })
    }

    /// Its cache, which only one process has at a time; what a killed one left is put right.
    pub fn cache(&self) -> Result<Cache, CliError> {
        let path = self.directory.join("cache");
        let disk = Directory::open(&path).map_err(|error| {
            let exit = match error.kind() {
                std::io::ErrorKind::ResourceBusy => Exit::Busy,
                _ => Exit::Failed,
            };
            CliError::with(exit, error).hint("another tapewise works on this archive: wait for it")
        })?;
        let water = Water {
            high_bytes: self.settings.cache_high_bytes,
            low_bytes: self.settings.cache_low_bytes,
        };
        let (cache, found) = Cache::open(Box::new(disk), Arc::clone(&self.catalogue) as _, water)?;
        if found.leftovers > 0 {
            say(format_args!(
                "tapewise: {} of an interrupted run removed from the cache; nothing of them was acknowledged\n",
                crate::units::count(found.leftovers as usize, "leftover")
            ));
        }
        if !found.damaged.is_empty() {
            say(format_args!(
                "tapewise: {} in the cache without a copy on tape are damaged or gone: restore {} from elsewhere; `tapewise catalog check` names them\n",
                crate::units::count(found.damaged.len(), "file"),
                path.display()
            ));
        }
        Ok(cache)
    }

    /// Opens drives and robots, and lets `work` move files until it has done or is interrupted.
    pub fn with_mover<T>(
        &self,
        cache: &Cache,
        stop: &AtomicBool,
        quiet: bool,
        work: impl FnOnce(&mut Mover<'_>) -> Result<T, MoveError>,
    ) -> Result<T, CliError> {
        let mut devices = Devices::default();
        let names = &self.settings.drives;
        let drives = names.iter().map(|name| devices.tape_for_use(name));
        let drives = drives.collect::<Result<_, _>>()?;
        let robots = self
            .settings
            .changers
            .iter()
            .map(|name| devices.changer(name));
        let robots = robots.collect::<Result<_, _>>()?;
        let listener = Box::new(move |line: &str| {
            if !quiet {
                say(format_args!("{line}\n"));
            }
        });
        let mut pool = Pool::new(drives, robots, None, listener)?;
        let settings = self.mover_settings(devices.byte_scale(&names[0])?.unwrap_or(1))?;
        let path = self.directory.join("events.jsonl");
        let log = crate::log_file::append(&path);
        let log = log.map_err(|error| CliError::failed(error).of(path.display()))?;
        let header = Header {
            byte_scale: (settings.byte_scale > 1).then_some(settings.byte_scale),
            ..Header::new(concat!("tapewise ", env!("CARGO_PKG_VERSION")))
        };
        let log = EventWriter::new(BufWriter::new(log), &header);
        let mut log = log.map_err(|error| CliError::failed(error).of(path.display()))?;
        let mut mover = Mover {
            catalogue: self.catalogue.as_ref(),
            cache,
            pool: &mut pool,
            settings: &settings,
            log: &mut log,
            stop,
            now_ns: &now_ns,
        };
        let taken_up = mover.take_up()?;
        if taken_up.writes > 0 || taken_up.recalls > 0 {
            say(format_args!(
                "tapewise: an interrupted run is taken up: {} given up of which nothing was acknowledged, {} queued again\n",
                crate::units::count(taken_up.writes, "write"),
                crate::units::count(taken_up.recalls as usize, "recall")
            ));
        }
        let done = work(&mut mover);
        for drive in 0..pool.drives() {
            if let Err(error) = pool.dismount(drive, &mut log) {
                say(format_args!("tapewise: {error}\n"));
            }
        }
        Ok(done?)
    }

    fn mover_settings(&self, byte_scale: u64) -> Result<Settings, CliError> {
        let profile = crate::profiles::load_drive(&self.settings.profile)?;
        Ok(Settings {
            block_bytes: self.settings.block_bytes,
            segment_bytes: self.settings.segment_bytes,
            part_bytes: self.settings.part_bytes,
            volume_bytes: self.settings.volume_bytes,
            byte_scale,
            ..Settings::of(profile)
        })
    }
}

/// The time, in nanoseconds since 1970.
pub fn now_ns() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

impl From<CatalogueError> for CliError {
    fn from(error: CatalogueError) -> CliError {
        match error {
            CatalogueError::Database(_)
            | CatalogueError::Io { .. }
            | CatalogueError::Damaged(_) => CliError::failed(error),
            CatalogueError::OnlyCopy { .. } => CliError::with(Exit::Refused, error),
            _ => CliError::input(error),
        }
    }
}

impl From<CacheError> for CliError {
    fn from(error: CacheError) -> CliError {
        CliError::failed(error)
    }
}

impl From<PoolError> for CliError {
    fn from(error: PoolError) -> CliError {
        let exit = match &error {
            PoolError::NoDrives
            | PoolError::Twice { .. }
            | PoolError::NoSuchVolume { .. }
            | PoolError::NotInLibrary { .. } => Exit::Input,
            PoolError::Elsewhere { .. }
            | PoolError::InUse { .. }
            | PoolError::AllBusy { .. }
            | PoolError::Reserved { .. } => Exit::Busy,
            PoolError::WrongCartridge { .. } => Exit::Refused,
            PoolError::NotGiven { .. } => Exit::NotReady,
            _ => Exit::Hardware,
        };
        CliError::with(exit, error)
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> CliError {
        match error {
            StoreError::Cache(error) => error.into(),
            _ => CliError::input(error),
        }
    }
}

impl From<MoveError> for CliError {
    fn from(error: MoveError) -> CliError {
        let message = error.to_string();
        let inner: CliError = match error {
            MoveError::Catalogue(error) => error.into(),
            MoveError::Cache(error) => error.into(),
            MoveError::Pool(error) => error.into(),
            MoveError::Run { source, .. } => source.into(),
            MoveError::Volume { source, .. } => match source {
                VolumeError::Run(source) | VolumeError::Abandoned { source, .. } => source.into(),
                VolumeError::NotBlank { .. } | VolumeError::OtherVolume { .. } => {
                    CliError::with(Exit::Refused, "")
                }
                _ => CliError::failed(""),
            },
            MoveError::NoMap { .. } => CliError::input(""),
            MoveError::Deliver(_) | MoveError::Copy { .. } | MoveError::NoVolume { .. } => {
                CliError::failed("")
            }
        };
        inner.saying(message)
    }
}
