//! An archive for a verb: its devices opened, and what was found in it said.

use crate::buckets;
use crate::crew::Crew;
use crate::device::{Devices, byte_scale_on_paper};
use crate::error::{CliError, Exit};
use crate::log_file::Watched;
use crate::now::now_ns;
use crate::output::say;
use crate::progress::{Drives, Meter, State};
use crate::socket::host_name;
use crate::telemetry;
use crate::units::count;
use std::io::{ErrorKind, LineWriter};
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};
use tapewise::Cartridge;
use tapewise_archive::cache::{Cache, CacheError, Recovered};
use tapewise_archive::catalogue::{CatalogueError, Held, PostgresUrl, Upgrade};
use tapewise_archive::mover::{MoveError, Mover, Settings, random_uuid};
use tapewise_archive::open::{Archive as Opened, Machinery, Notice, OpenError, read_settings};
use tapewise_archive::reserve::ReserveState;
use tapewise_archive::settings::ArchiveSettings;
use tapewise_archive::store::StoreError;
use tapewise_archive::volume::VolumeError;
use tapewise_formats::event::Event;
use tapewise_formats::event_log::{EventWriter, Header};
use tapewise_run::READY_LIMIT;

/// An archive that is open. Nobody has touched its cache or a drive yet.
pub struct Archive(Opened);

impl Deref for Archive {
    type Target = Opened;

    fn deref(&self) -> &Opened {
        &self.0
    }
}

impl DerefMut for Archive {
    fn deref_mut(&mut self) -> &mut Opened {
        &mut self.0
    }
}

impl Archive {
    /// Makes an archive in a directory that does not exist or is empty.
    pub fn create(directory: &Path, settings: &ArchiveSettings) -> Result<Archive, CliError> {
        check_profile(&settings.profile)?;
        Ok(Archive(Opened::create(directory, settings)?))
    }

    /// Opens an archive to work on it.
    pub fn open(directory: &Path) -> Result<Archive, CliError> {
        say_if_others_see_the_password(directory);
        let opened = Opened::open(directory).map_err(|error| hinted(error, directory))?;
        Archive(opened).checked()
    }

    /// Opens an archive whose catalogue is to be made again; a lost one is made anew.
    pub fn open_to_rebuild(directory: &Path) -> Result<Archive, CliError> {
        say_if_others_see_the_password(directory);
        Archive(Opened::open_to_rebuild(directory)?).checked()
    }

    /// Itself, when its drives' profile is known. A full disk is said.
    fn checked(self) -> Result<Archive, CliError> {
        let archive = self;
        archive.check_profile()?;
        let directory = archive.directory();
        let full = format!("tapewise: the disk of {} is full", directory.display());
        match archive.reserve {
            ReserveState::Kept => {}
            ReserveState::Released => say(format_args!(
                "{full}: tapewise gave up the room it keeps for the catalogue, to go on. Make room\n"
            )),
            ReserveState::Gone => say(format_args!(
                "{full}, and the room kept for the catalogue is used up. Make room\n"
            )),
        }
        Ok(archive)
    }

    /// Opens an archive to look things up: nothing is changed, not even on a full disk.
    pub fn open_to_read(directory: &Path) -> Result<Archive, CliError> {
        say_if_others_see_the_password(directory);
        let opened = Opened::open_to_read(directory).map_err(|error| hinted(error, directory))?;
        let archive = Archive(opened);
        archive.check_profile()?;
        Ok(archive)
    }

    /// What would bring its catalogue up to date, or did: see [`Opened::pending_upgrade`] and [`Opened::upgrade`].
    pub fn upgrade(directory: &Path, dry_run: bool) -> Result<Option<Upgrade>, CliError> {
        let upgrade = if dry_run {
            Opened::pending_upgrade(directory)
        } else {
            Opened::upgrade(directory)
        };
        upgrade.map_err(|error| hinted(error, directory))
    }

    /// Moves its catalogue: see [`Opened::move_catalogue`].
    pub fn move_catalogue(
        directory: &Path,
        to: Option<&str>,
    ) -> Result<Option<Vec<Held>>, CliError> {
        Opened::move_catalogue(directory, to).map_err(|error| hinted(error, directory))
    }

    fn check_profile(&self) -> Result<(), CliError> {
        let path = self.directory().join("archive.toml");
        check_profile(&self.settings.profile).map_err(|error| error.of(path.display()))
    }

    /// Its cache, which only one process has at a time: busy where another one works.
    pub fn cache(&self) -> Result<Cache, CliError> {
        self.cache_if_free()?.map_err(|busy| {
            let hint = "another tapewise works on this archive: wait for it";
            CliError::with(Exit::Busy, busy).hint(hint)
        })
    }

    /// Its cache, beside others who share it: see [`Opened::shared_cache`].
    pub fn shared_cache(&self, epoch: u64) -> Result<Cache, CliError> {
        match self.0.shared_cache(epoch) {
            Err(error) => Err(self.hinted(error)),
            Ok((cache, found)) => {
                self.say_recovered(&found);
                Ok(cache)
            }
        }
    }

    /// Its cache, or who has it; what a killed process left is put right.
    pub fn cache_if_free(&self) -> Result<Result<Cache, std::io::Error>, CliError> {
        match self.0.cache() {
            Err(OpenError::Busy(busy)) => Ok(Err(busy)),
            Err(error) => Err(self.hinted(error)),
            Ok((cache, found)) => {
                self.say_recovered(&found);
                Ok(Ok(cache))
            }
        }
    }

    /// Refuses a catalogue that is not the one that its cache belongs to, and changes nothing.
    pub fn check_tie(&self) -> Result<(), CliError> {
        self.0.look_at_tie().map_err(|error| self.hinted(error))
    }

    /// An error of its cache, with what to do about it.
    fn hinted(&self, error: OpenError) -> CliError {
        let directory = self.directory();
        let is_of_another = matches!(
            error,
            OpenError::Cache(
                CacheError::OlderCatalogue { .. }
                    | CacheError::ForkedCatalogue
                    | CacheError::OtherCatalogue { .. }
            )
        );
        let error = hinted(error, directory);
        if !is_of_another {
            return error;
        }
        let right = match self.settings.catalogue {
            None => "put the right catalogue.db back",
            Some(_) => "set `catalogue` in archive.toml to the right database, or restore that one",
        };
        error.hint(format!(
            "{right}, or go on with this one: `tapewise catalog reconcile --archive {}` keeps the files that it does not know",
            directory.display()
        ))
    }

    /// Ties its cache to the catalogue that there is; cached files that it does not know are set aside.
    pub fn reconcile(&self) -> Result<(Cache, Recovered), CliError> {
        let (cache, found) = self.0.reconcile()?;
        self.say_recovered(&found);
        Ok((cache, found))
    }

    /// Says what opening the cache found and put right.
    fn say_recovered(&self, found: &Recovered) {
        let cache = self.cache_directory();
        if found.leftovers > 0 {
            say(format_args!(
                "tapewise: {} of an interrupted run removed from the cache; none of it was acknowledged\n",
                count(found.leftovers as usize, "leftover")
            ));
        }
        if let Some(set_aside) = &found.set_aside {
            let directory = cache.join(&set_aside.directory);
            if set_aside.earlier > 0 {
                say(format_args!(
                    "tapewise: {} in {} {} replaced by a later one of the same path, which has it: NAME.earlier-1 is the last one before NAME, NAME.earlier-2 the one before that. Remove those that you do not want to store\n",
                    count(set_aside.earlier, "file"),
                    directory.display(),
                    if set_aside.earlier == 1 {
                        "was"
                    } else {
                        "were"
                    },
                ));
            }
            say(format_args!(
                "tapewise: the catalogue does not know {} in the cache. They are kept in {}, under the paths they were stored with where the disk remembers those. Look at them, and store them again: `tapewise store --archive {} {}/*`; then remove the directory\n",
                count(set_aside.files, "file"),
                directory.display(),
                self.directory().display(),
                directory.display()
            ));
        }
        if found.forgotten > 0 {
            say(format_args!(
                "tapewise: the catalogue had {} in the cache that {} gone or damaged there; recalls read what is on tape\n",
                count(found.forgotten as usize, "file"),
                if found.forgotten == 1 { "is" } else { "are" }
            ));
        }
        if !found.damaged.is_empty() {
            say(format_args!(
                "tapewise: {} in the cache without a copy on tape are damaged or gone: restore {} from elsewhere, or store them again. `tapewise catalog check --archive {}` names them\n",
                count(found.damaged.len(), "file"),
                cache.display(),
                self.directory().display()
            ));
        }
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

    /// How its volumes are written.
    pub fn mover_settings(&self, byte_scale: u64) -> Result<Settings, CliError> {
        let profile = crate::profiles::load_drive(&self.settings.profile)?;
        Ok(Settings {
            buckets: buckets::of_environment(),
            ..self.settings.of_mover(profile, byte_scale)
        })
    }

    /// Opens drives and robots, and lets `work` move files until it has done or is interrupted.
    pub fn with_mover<T>(
        &self,
        cache: &Cache,
        stop: &Arc<AtomicBool>,
        quiet: bool,
        work: impl FnOnce(&mut Mover<'_>) -> Result<T, MoveError>,
    ) -> Result<T, CliError> {
        self.with_measured_mover(cache, stop, quiet, &|_, state| state, work)
    }

    /// The same, and `complete` adds to the progress what is known of this work.
    pub fn with_measured_mover<T>(
        &self,
        cache: &Cache,
        stop: &Arc<AtomicBool>,
        quiet: bool,
        complete: &(dyn Fn(&Drives, State) -> State + Sync),
        work: impl FnOnce(&mut Mover<'_>) -> Result<T, MoveError>,
    ) -> Result<T, CliError> {
        let meter = Meter::unless(quiet);
        let tracer = telemetry::tracer("tapewise", &host_name())?;
        let drives = Drives::default();
        let show = || meter.show(complete(&drives, drives.state()));
        let watch = |event: &Event| {
            drives.saw(event);
            if let Some(tracer) = &tracer {
                telemetry::trace(tracer, self.catalogue.as_ref(), event, now_ns());
            }
            if meter.is_due() {
                show();
            }
        };
        let done = self.with_watched_mover(cache, stop, quiet, &watch, work);
        show();
        done
    }

    /// The same without progress, and `watch` sees all that the drives do.
    pub fn with_watched_mover<T>(
        &self,
        cache: &Cache,
        stop: &Arc<AtomicBool>,
        quiet: bool,
        watch: &(dyn Fn(&Event) + Sync),
        work: impl FnOnce(&mut Mover<'_>) -> Result<T, MoveError>,
    ) -> Result<T, CliError> {
        let crew = Crew {
            drives: &self.settings.drives,
            changers: &self.settings.changers,
            lessee: None,
            most_drives: usize::MAX,
        };
        self.with_crew(cache, &crew, stop, quiet, watch, work)
    }

    /// The same with other drives and robots, alone or beside other movers.
    pub fn with_crew<T>(
        &self,
        cache: &Cache,
        crew: &Crew<'_>,
        stop: &Arc<AtomicBool>,
        quiet: bool,
        watch: &(dyn Fn(&Event) + Sync),
        work: impl FnOnce(&mut Mover<'_>) -> Result<T, MoveError>,
    ) -> Result<T, CliError> {
        let mut devices = Devices::default();
        let mut pool = crew.pool(&mut devices, self, cache, stop, quiet)?;
        let scale = devices.byte_scale(&crew.drives[0])?;
        let settings = self.mover_settings(scale.unwrap_or(1))?;
        let path = self.events();
        let log = crate::log_file::append_private(&path);
        let log = log.map_err(|error| CliError::failed(error).of(path.display()))?;
        let header = Header {
            profile: Some(self.settings.profile.clone()),
            ..crate::log_file::header(scale)
        };
        let log = EventWriter::new(LineWriter::with_capacity(LONGEST_LINE, log), &header);
        let mut log = log.map_err(|error| CliError::failed(error).of(path.display()))?;
        let mut log = Watched {
            log: &mut log,
            watch,
        };
        let machinery = Machinery {
            pool: &mut pool,
            settings: &settings,
            log: &mut log,
            lessee: crew.lessee,
            stop,
            now_ns: &now_ns,
            new_uuid: &random_uuid,
        };
        Ok(self.0.work(cache, machinery, &mut tell, work)?)
    }
}

/// Says, once, that others can read the password in the URL of the catalogue.
fn say_if_others_see_the_password(directory: &Path) {
    static ONCE: Once = Once::new();
    let path = directory.join("archive.toml");
    let mode = path.metadata().map_or(0, |file| file.mode() & 0o777);
    // If the settings cannot be read, opening the archive tells why.
    let settings = read_settings(directory).ok();
    let url = settings.and_then(|settings| settings.catalogue?.parse::<PostgresUrl>().ok());
    if mode & 0o007 != 0 && url.is_some_and(|url| url.has_password()) {
        ONCE.call_once(|| {
            let path = path.display();
            say(format_args!(
                "tapewise: {path} has the mode {mode:04o}: every user of this machine can get at the password of the \
                 catalogue's database in it; `chmod o-rwx {path}` keeps others out\n"
            ));
        });
    }
}

/// No event is longer: each is written as a whole, so that several processes may append to one log.
const LONGEST_LINE: usize = 1 << 16;

/// Sees that the profile places blocks on the tape and knows how long locates take. With any other one an archive would
/// take files that it cannot read back.
fn check_profile(name: &str) -> Result<(), CliError> {
    let loaded = crate::profiles::load_drive(name).map_err(|error| error.of("`profile`"))?;
    Cartridge::new(loaded).map(drop).map_err(|error| {
        CliError::input(format!("`profile`: {error}")).hint(
            "an archive needs a profile that says how the drive moves: `tapewise profile list` shows which do. That of a \
             similar drive will do: files are read all the same, in an order that is not the best",
        )
    })
}

fn tell(notice: Notice) {
    match notice {
        Notice::TakenUp(taken_up) => say(format_args!(
            "tapewise: continues an interrupted run: gave up {} (nothing in it was acknowledged), queued {} again\n",
            count(taken_up.writes, "write"),
            count(taken_up.recalls as usize, "recall")
        )),
        Notice::NotDismounted(error) => say(format_args!("tapewise: {error}\n")),
    }
}

/// An error of opening an archive, with what to do about it there.
fn hinted(error: OpenError, directory: &Path) -> CliError {
    let directory = directory.display();
    let hint = match &error {
        OpenError::Catalogue(CatalogueError::Lost { path, .. })
            if PostgresUrl::is_one(&path.to_string_lossy()) =>
        {
            Some(format!(
                "set `catalogue` in archive.toml to the right database, or restore that one: put a backup, from `tapewise catalog backup`, in place as {directory}/catalogue.db, and remove `catalogue` from archive.toml; then run `tapewise catalog reconcile --archive {directory}`. Without a backup `tapewise catalog rebuild --archive {directory}` reads the cartridges"
            ))
        }
        OpenError::Catalogue(CatalogueError::Lost { .. }) => Some(format!(
            "put a backup of it in its place, from `tapewise catalog backup`, and remove catalogue.db-wal beside it; then run `tapewise catalog reconcile --archive {directory}`. Without a backup `tapewise catalog rebuild --archive {directory}` reads the cartridges"
        )),
        OpenError::Busy(_) => {
            Some("another tapewise works on this archive alone: wait for it".to_owned())
        }
        _ => None,
    };
    let error = CliError::from(error);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// What to do about a cartridge that holds what the catalogue lacks.
pub const READ_IN_THE_REST: &str = "`catalog rebuild` with all cartridges at hand, in a clean drive, reads the rest in; \
    `catalog forget --accept-loss` gives it up";

impl From<CatalogueError> for CliError {
    fn from(error: CatalogueError) -> CliError {
        match error {
            CatalogueError::Database(_)
            | CatalogueError::Answer(_)
            | CatalogueError::CommitUnknown { .. }
            | CatalogueError::Io { .. }
            | CatalogueError::Lost { .. }
            | CatalogueError::Damaged(_)
            | CatalogueError::NameIndex(_) => CliError::failed(error),
            CatalogueError::InFlight { .. } => CliError::with(Exit::Busy, error),
            CatalogueError::OnlyCopy { .. } => CliError::with(Exit::Refused, error),
            CatalogueError::HoldsMore { .. } => {
                CliError::with(Exit::Refused, error).hint(READ_IN_THE_REST)
            }
            _ => CliError::input(error),
        }
    }
}

impl From<OpenError> for CliError {
    fn from(error: OpenError) -> CliError {
        match error {
            OpenError::NoSettings { ref source, .. } if source.kind() == ErrorKind::NotFound => {
                CliError::input(error)
                    .hint("`tapewise catalog init DIR --drive DEVICE` makes an archive")
            }
            OpenError::NoSettings { .. }
            | OpenError::NotSettings { .. }
            | OpenError::Settings { .. }
            | OpenError::Policy { .. }
            | OpenError::NotEmpty { .. } => CliError::input(error),
            OpenError::Busy(_) => CliError::with(Exit::Busy, error),
            OpenError::Catalogue(error) => error.into(),
            OpenError::Cache(error) => error.into(),
            _ => CliError::failed(error),
        }
    }
}

impl From<CacheError> for CliError {
    fn from(error: CacheError) -> CliError {
        match error {
            CacheError::TooLarge { .. } => CliError::input(error).hint("raise cache_high_bytes"),
            CacheError::OlderCatalogue { .. }
            | CacheError::ForkedCatalogue
            | CacheError::OtherCatalogue { .. } => CliError::with(Exit::Refused, error),
            _ => CliError::failed(error),
        }
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> CliError {
        match error {
            StoreError::Cache(error) => error.into(),
            StoreError::Catalogue(error) => error.into(),
            StoreError::Mismatch { .. } => CliError::with(Exit::Checksum, error),
            StoreError::Unavailable { .. } => CliError::failed(error),
            StoreError::TooLarge { .. } => CliError::input(error).hint("raise cache_high_bytes"),
            StoreError::Twice { .. } => CliError::input(error)
                .hint("store them one after the other, with --under for one of them"),
            StoreError::Another { .. } => CliError::input(error)
                .hint("--replace stores the new one, or --under puts it elsewhere"),
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
                VolumeError::Run(source)
                | VolumeError::Abandoned { source, .. }
                | VolumeError::UnreadableLabel(source) => source.into(),
                VolumeError::NotBlank { .. }
                | VolumeError::OtherVolume { .. }
                | VolumeError::WriteOnce => {
                    CliError::with(Exit::Refused, "")
                }
                VolumeError::Ahead { .. } => CliError::with(Exit::Refused, "").hint(format!(
                    "if this archive's directory was restored, add what is on the tape to its catalogue: `tapewise catalog add \
                     --archive DIR --tape {label}`, or `tapewise catalog rebuild` for all cartridges"
                )),
                _ => CliError::failed(""),
            },
            MoveError::NoMap { .. } => CliError::input(""),
            MoveError::NoVolume { .. } => CliError::with(Exit::Partial, ""),
            MoveError::Deliver(_) | MoveError::Copy { .. } => CliError::failed(""),
        };
        match inner.exit() {
            // The volume that was at work has nothing to do with it.
            Exit::Interrupted => inner,
            _ => inner.saying(message),
        }
    }
}
