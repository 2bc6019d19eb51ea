//! An archive in a directory: its settings, its catalogue, its cache, and the drives that serve it.
//!
//! `archive.toml` says what there is; `catalogue.db` what lies where; `cache/` holds the files in
//! front of the tapes; `events.jsonl` everything that the drives did. One process moves files at a
//! time: it holds the lock of the cache.

use crate::device::{Devices, byte_scale_on_paper};
use crate::error::{CliError, Exit};
use crate::output::say;
use crate::person::Terminal;
use serde::{Deserialize, Serialize};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};
use tapewise_archive::cache::{Cache, CacheError, Directory, Water};
use tapewise_archive::catalogue::{CatalogueError, Pattern, SqliteCatalogue};
use tapewise_archive::mover::{MoveError, Mover, Precompress, Settings, Tier, random_uuid};
use tapewise_archive::store::StoreError;
use tapewise_archive::volume::{VolumeError, is_block_length};
use tapewise_formats::event_log::{EventWriter, Header};
use tapewise_library::pool::{Pace, Person, Pool, PoolError};
use tapewise_run::READY_LIMIT;

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
    /// zstd level, 1 to 19, at which files are compressed before they are written; absent: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zstd_level: Option<i32>,
    /// Seconds that recalls gather before the first of them is served; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_window_s: Option<u64>,
    /// The pools of volumes that files go through as they age; absent: every volume takes every file.
    #[serde(default, rename = "tier", skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<TierSettings>,
}

/// One pool of volumes in `archive.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TierSettings {
    /// What it is called.
    pub name: String,
    /// Labels of its volumes: a pattern with * ? [a-z].
    pub volumes: String,
    /// Days after which files come to it.
    pub after_days: u32,
}

impl From<&TierSettings> for Tier {
    fn from(tier: &TierSettings) -> Tier {
        Tier {
            name: tier.name.clone(),
            volumes: Pattern::Glob(tier.volumes.clone().into_bytes()),
            after_ns: i64::from(tier.after_days).saturating_mul(86_400_000_000_000),
        }
    }
}

/// What zstd levels can be asked for: those beyond take memory of whoever restores.
pub const ZSTD_LEVELS: std::ops::RangeInclusive<i32> = 1..=19;

impl ArchiveSettings {
    /// Whether an archive can work with these.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub fn check(&self) -> Result<(), String> {
        let is_wrong = |key: &str, value: &dyn std::fmt::Display, must: &str| {
            Err(format!("`{key}` is {value}: it must be {must}"))
        };
        let (high, low) = (self.cache_high_bytes, self.cache_low_bytes);
        let (block, segment) = (u64::from(self.block_bytes), self.segment_bytes);
        if self.drives.is_empty() {
            return is_wrong("drives", &"empty", "a list of at least one drive");
        }
        if !(1..=8).contains(&self.copies) {
            return is_wrong("copies", &self.copies, "from 1 to 8");
        }
        if high == 0 {
            return is_wrong("cache_high_bytes", &high, "more than 0");
        }
        if low > high {
            let must = format!("at most `cache_high_bytes`, {high}");
            return is_wrong("cache_low_bytes", &low, &must);
        }
        if !is_block_length(self.block_bytes) {
            let must = "a multiple of 512 from 8192 to 8388608";
            return is_wrong("block_bytes", &block, must);
        }
        if segment < block {
            return is_wrong("segment_bytes", &segment, "at least `block_bytes`");
        }
        if self.part_bytes < block {
            return is_wrong("part_bytes", &self.part_bytes, "at least `block_bytes`");
        }
        if let Some(bytes) = self.volume_bytes.filter(|bytes| *bytes < block) {
            return is_wrong("volume_bytes", &bytes, "at least `block_bytes`, or absent");
        }
        if let Some(level) = self.zstd_level.filter(|level| !ZSTD_LEVELS.contains(level)) {
            return is_wrong("zstd_level", &level, "from 1 to 19, or absent");
        }
        if let Err(error) = crate::profiles::load_drive(&self.profile) {
            return Err(format!("`profile`: {}", error.message()));
        }
        for (number, tier) in self.tiers.iter().enumerate() {
            let before = &self.tiers[..number];
            if tier.volumes.is_empty() {
                return is_wrong("tier.volumes", &"empty", "a pattern of labels, as A*L8");
            }
            if before.iter().any(|other| other.name == tier.name) {
                return is_wrong("tier.name", &tier.name, "another one for every tier");
            }
            if let Some(last) = before
                .last()
                .filter(|last| last.after_days >= tier.after_days)
            {
                let must = format!("more than the {} of tier {}", last.after_days, last.name);
                return is_wrong("tier.after_days", &tier.after_days, &must);
            }
        }
        Ok(())
    }
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
        settings.check().map_err(CliError::input)?;
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
        settings
            .check()
            .map_err(|what| CliError::input(what).of(path.display()))?;
        let catalogue = SqliteCatalogue::open(&directory.join("catalogue.db"))?;
        Ok(Archive {
            directory: directory.to_owned(),
            settings,
            catalogue: Arc::new(catalogue),
        })
    }

    /// Its cache, which only one process has at a time: busy where another one works.
    pub fn cache(&self) -> Result<Cache, CliError> {
        self.cache_if_free()?.map_err(|busy| {
            let hint = "another tapewise works on this archive: wait for it";
            CliError::with(Exit::Busy, busy).hint(hint)
        })
    }

    /// Its cache, or who has it; what a killed process left is put right.
    pub fn cache_if_free(&self) -> Result<Result<Cache, std::io::Error>, CliError> {
        let path = self.directory.join("cache");
        let disk = match Directory::open(&path) {
            Err(busy) if busy.kind() == std::io::ErrorKind::ResourceBusy => return Ok(Err(busy)),
            opened => opened.map_err(|error| CliError::failed(error).of(path.display()))?,
        };
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
        Ok(Ok(cache))
    }

    /// Whether a person loads its drives.
    pub fn is_loaded_by_hand(&self) -> bool {
        self.settings.changers.is_empty()
    }

    /// Labels of the cartridges in its libraries.
    pub fn labels_in_libraries(&self) -> Result<Vec<String>, CliError> {
        let mut devices = Devices::default();
        let mut labels = Vec::new();
        for name in &self.settings.changers {
            let mut changer = devices.changer(name)?;
            changer.wait_until_ready(READY_LIMIT)?;
            let inventory = changer.inventory()?;
            labels.extend(
                inventory
                    .elements()
                    .filter_map(|place| place.volume_tag.clone()),
            );
        }
        Ok(labels)
    }

    /// How its volumes are, as far as it is known before a drive is opened.
    pub fn settings_on_paper(&self) -> Result<Settings, CliError> {
        let scale = byte_scale_on_paper(&self.settings.drives[0])?;
        self.mover_settings(scale.unwrap_or(1))
    }

    /// Opens drives and robots, and lets `work` move files until it has done or is interrupted.
    pub fn with_mover<T>(
        &self,
        cache: &Cache,
        stop: &Arc<AtomicBool>,
        quiet: bool,
        work: impl FnOnce(&mut Mover<'_>) -> Result<T, MoveError>,
    ) -> Result<T, CliError> {
        let mut devices = Devices::default();
        let names = &self.settings.drives;
        let drives = names.iter().map(|name| devices.tape_alone(name));
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
        let person: Option<Box<dyn Person>> = match self.is_loaded_by_hand() {
            true => Some(Box::new(Terminal::new(stop))),
            false => None,
        };
        let pace = match devices.share_a_clock() {
            true => Pace::Turns,
            false => Pace::Threads,
        };
        let mut pool = Pool::new(drives, robots, person, listener)?;
        pool.set_pace(pace);
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
            new_uuid: &random_uuid,
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

    /// How its volumes are written.
    pub fn mover_settings(&self, byte_scale: u64) -> Result<Settings, CliError> {
        let profile = crate::profiles::load_drive(&self.settings.profile)?;
        Ok(Settings {
            block_bytes: self.settings.block_bytes,
            segment_bytes: self.settings.segment_bytes,
            part_bytes: self.settings.part_bytes,
            volume_bytes: self.settings.volume_bytes,
            byte_scale,
            tiers: self.settings.tiers.iter().map(Tier::from).collect(),
            precompress: self.settings.zstd_level.map(|level| Precompress {
                level,
                threads: std::thread::available_parallelism().map_or(1, usize::from),
            }),
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
        match error {
            CacheError::TooLarge { .. } => CliError::input(error).hint("raise cache_high_bytes"),
            _ => CliError::failed(error),
        }
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
            PoolError::WrongCartridge { .. } | PoolError::WrongLabel { .. } => Exit::Refused,
            PoolError::NoCleaner { .. }
            | PoolError::NotGiven { .. }
            | PoolError::NobodyThere { .. } => Exit::NotReady,
            PoolError::Stopped { .. } => Exit::Interrupted,
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
            MoveError::Volume { label, source } => match source {
                VolumeError::Run(source) | VolumeError::Abandoned { source, .. } => source.into(),
                VolumeError::NotBlank { .. } | VolumeError::OtherVolume { .. } => {
                    CliError::with(Exit::Refused, "")
                }
                VolumeError::Ahead { .. } => CliError::with(Exit::Refused, "").hint(format!(
                    "if this archive's directory was restored, read in what is on the tape: `tapewise catalog add \
                     --archive DIR --tape {label}`, or `tapewise catalog rebuild` for all cartridges"
                )),
                _ => CliError::failed(""),
            },
            MoveError::NoMap { .. } => CliError::input(""),
            MoveError::NoVolume { .. } => CliError::with(Exit::Partial, ""),
            MoveError::Deliver(_) | MoveError::Copy { .. } => CliError::failed(""),
        };
        inner.saying(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> ArchiveSettings {
        ArchiveSettings {
            drives: vec!["emulated:lto8".to_owned()],
            changers: Vec::new(),
            profile: "lto8".to_owned(),
            copies: 1,
            cache_high_bytes: 1_000_000,
            cache_low_bytes: 800_000,
            block_bytes: 262_144,
            segment_bytes: 1 << 30,
            part_bytes: 1 << 40,
            volume_bytes: None,
            zstd_level: None,
            batch_window_s: None,
            tiers: vec![tier("fast", 0), tier("deep", 90)],
        }
    }

    fn tier(name: &str, after_days: u32) -> TierSettings {
        TierSettings {
            name: name.to_owned(),
            volumes: "A*".to_owned(),
            after_days,
        }
    }

    #[test]
    fn settings_that_no_archive_can_work_with_are_refused_and_the_key_is_named() {
        assert_eq!(usual().check(), Ok(()));
        type Spoil = fn(&mut ArchiveSettings);
        let cases: [(&str, Spoil); 14] = [
            ("drives", |settings| settings.drives.clear()),
            ("profile", |settings| settings.profile = "lto99".to_owned()),
            ("profile", |settings| {
                settings.profile = "ibm3584".to_owned()
            }),
            ("copies", |settings| settings.copies = 0),
            ("cache_high_bytes", |settings| settings.cache_high_bytes = 0),
            ("cache_low_bytes", |settings| {
                settings.cache_low_bytes = 1_000_001
            }),
            ("block_bytes", |settings| settings.block_bytes = 8_000),
            ("segment_bytes", |settings| settings.segment_bytes = 0),
            ("part_bytes", |settings| settings.part_bytes = 0),
            ("volume_bytes", |settings| settings.volume_bytes = Some(0)),
            ("zstd_level", |settings| settings.zstd_level = Some(20)),
            ("tier.volumes", |settings| settings.tiers[1].volumes.clear()),
            ("tier.name", |settings| {
                settings.tiers[1].name = "fast".to_owned()
            }),
            ("tier.after_days", |settings| {
                settings.tiers[1].after_days = 0
            }),
        ];
        for (key, spoil) in cases {
            let mut settings = usual();
            spoil(&mut settings);
            let said = settings.check().expect_err(key);
            assert!(said.contains(&format!("`{key}`")), "{key}: {said}");
        }
    }
}
