//! From what people call a device to the device: real ones, recordings, and the emulator.

use crate::error::{CliError, Exit};
use crate::output::say;
use crate::units;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tapewise_emulator::{CartridgeSpec, Clock, DriveKind, Library, LibraryError, LibrarySpec};
use tapewise_model::{Profile, profile};
use tapewise_scsi::device::{Address, DeviceError, Found, Host};
use tapewise_scsi::holders::{self, Holder, Holders};
use tapewise_scsi::{Changer, Condition, ScsiError, TapeDrive, Transport};

/// How devices are named, for the help of every verb that takes one.
pub const NAMES: &str = "\
Devices: /dev/sgN, /dev/nstN, /dev/tape/by-id/..., iscsi://HOST[:PORT]/TARGET/LUN, replay:FILE (a
recording), emulated:KIND (a new emulated drive with a blank cartridge, in a temporary directory that
is named and stays; KIND as in `tapewise profile list`), emulated:DIR (an emulated library made by `tapewise emulate`; its drives are
emulated:DIR#drive0, #drive1, ..., its robot emulated:DIR#changer).";

/// Opens a tape drive: asks who it is and nothing more.
pub fn tape(name: &str) -> Result<TapeDrive, CliError> {
    Devices::default().tape(name)
}

/// The devices of one command. An emulated library is opened once, by the first of its devices, and
/// the others are taken from it: its directory is locked while it is open.
#[derive(Default)]
pub struct Devices {
    libraries: Vec<(String, Library)>,
}

impl Devices {
    /// Opens a tape drive: asks who it is and nothing more.
    pub fn tape(&mut self, name: &str) -> Result<TapeDrive, CliError> {
        let transport = self.transport(name, Part::Drive(0))?;
        TapeDrive::open(transport).map_err(|error| CliError::from(error).of(name))
    }

    /// Opens a changer: asks who it is and nothing more.
    pub fn changer(&mut self, name: &str) -> Result<Changer, CliError> {
        let transport = self.transport(name, Part::Changer)?;
        Changer::open(transport).map_err(|error| CliError::from(error).of(name))
    }

    /// What a byte of the host stands for on the cartridges of an emulated device that was opened;
    /// `None` for a real one.
    pub fn byte_scale(&self, name: &str) -> Result<Option<u64>, CliError> {
        let Some(place) = emulated_place(name) else {
            return Ok(None);
        };
        let opened = self.libraries.iter().find(|(opened, _)| opened == place);
        let Some((_, library)) = opened else {
            return Ok(None);
        };
        let cartridges = library.spec().cartridges;
        let mut scales: Vec<u64> = cartridges.iter().map(|one| one.scale).collect();
        scales.sort_unstable();
        scales.dedup();
        match scales[..] {
            [scale] => Ok(Some(scale)),
            _ => Err(CliError::input(
                "the cartridges of the library have several scales: which one is in the drive is not known",
            )
            .of(name)),
        }
    }

    /// Makes a new emulated drive of this kind whose blank cartridge can be filled soon: a stored
    /// byte stands for many. Its name, for [`Devices::tape`], and its blocks.
    pub fn new_scaled(&mut self, kind: &str, directory: &Path) -> Result<ScaledBlock, CliError> {
        let block = ScaledBlock::of(&profile::find(kind)?);
        let mut spec = LibrarySpec::one_drive(kind, 1);
        spec.cartridges = vec![CartridgeSpec {
            scale: block.scale,
            ..CartridgeSpec::numbered(kind, 1, 1)
        }];
        let library = Library::create(directory, &spec, Clock::virtual_time())?;
        library.load_cartridge(&spec.cartridges[0].barcode)?;
        self.libraries.push((kind.to_owned(), library));
        Ok(block)
    }

    fn transport(&mut self, name: &str, usual: Part) -> Result<Box<dyn Transport>, CliError> {
        if let Some(emulated) = name.strip_prefix("emulated:") {
            let transport = self.emulated_transport(emulated, usual);
            return transport.map_err(|error| error.of(name));
        }
        let opened = Host::local().open(name)?;
        if let Some(notice) = opened.notice {
            say(format_args!("tapewise: {notice}\n"));
        }
        Ok(opened.transport)
    }

    fn emulated_transport(
        &mut self,
        name: &str,
        usual: Part,
    ) -> Result<Box<dyn Transport>, CliError> {
        let (place, part) = match name.rsplit_once('#') {
            Some((place, part)) => (place, parse_part(part)?),
            None => (name, usual),
        };
        let opened = self.libraries.iter().find(|(opened, _)| opened == place);
        let library = match opened {
            Some((_, library)) => library.clone(),
            None => {
                let library = match is_library(place) {
                    true => Library::open(Path::new(place), Clock::virtual_time())?,
                    false => fresh(place)?,
                };
                self.libraries.push((place.to_owned(), library.clone()));
                library
            }
        };
        let mut transport: Box<dyn Transport> = match part {
            Part::Drive(number) => Box::new(library.transport_to_drive(number)?),
            Part::Changer => Box::new(library.transport_to_changer()?),
        };
        // Power comes on when the library is opened; users find it switched on for a while.
        transport.wait(SWITCHED_ON);
        Ok(transport)
    }
}

/// The kind of a new emulated drive that this name asks for; `None` for a device that is there.
pub fn new_kind(name: &str) -> Option<&str> {
    let place = emulated_place(name)?;
    (DriveKind::find(place).is_some() && !is_library(place)).then_some(place)
}

/// The profile of an emulated kind, or of the drive that calls itself so.
pub fn profile_name(name: &str, product: &str) -> Option<String> {
    let kind = emulated_place(name).and_then(DriveKind::find);
    let named = || {
        DriveKind::names()
            .filter_map(DriveKind::find)
            .find(|kind| kind.identity.product == product)
    };
    kind.or_else(named).map(|kind| kind.name)
}

fn emulated_place(name: &str) -> Option<&str> {
    let emulated = name.strip_prefix("emulated:")?;
    Some(
        emulated
            .rsplit_once('#')
            .map_or(emulated, |(place, _)| place),
    )
}

fn is_library(place: &str) -> bool {
    Path::new(place).join("library.toml").is_file()
}

/// Blocks of an emulated cartridge that holds little on the disk and much on its tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaledBlock {
    /// Length of a block as the host sees it.
    pub host_bytes: usize,
    /// What a byte of it stands for.
    pub scale: u64,
}

impl ScaledBlock {
    /// As long as the drive likes them, or longer where the tape would hold too many.
    fn of(profile: &Profile) -> ScaledBlock {
        const HOST_BYTES: u64 = 64;
        const MOST_BLOCKS: f64 = 1e6;
        let number = |known: &profile::Known<f64>, unknown: f64| {
            known.as_ref().map_or(unknown, |known| known.value)
        };
        let gb = number(&profile.cartridge.capacity_gb, 100.0);
        let mut recorded = (number(&profile.transfer.transfer_kb, 512.0) * 1024.0) as u64;
        while gb * 1e9 / recorded as f64 > MOST_BLOCKS {
            recorded *= 2;
        }
        let scale = (recorded / HOST_BYTES).max(1);
        ScaledBlock {
            host_bytes: (recorded / scale) as usize,
            scale,
        }
    }
}

/// Opens a tape drive that is to do more than to say who it is: refused while somebody else uses it.
pub fn tape_for_use(name: &str) -> Result<TapeDrive, CliError> {
    Devices::default().tape_for_use(name)
}

impl Devices {
    /// As [`tape_for_use`].
    pub fn tape_for_use(&mut self, name: &str) -> Result<TapeDrive, CliError> {
        let holders = host_holders(name)?;
        if holders.unseen > 0 {
            say(format_args!(
                "tapewise: {name}: {} of other users cannot be looked into; root can tell whether they use the drive\n",
                units::count(holders.unseen, "process")
            ));
        }
        refuse(name, holders.found.first())?;
        let mut drive = self.tape(name)?;
        let reserved =
            reservation_of(&mut drive).map_err(|error| CliError::from(error).of(name))?;
        refuse(name, reserved.as_ref())?;
        Ok(drive)
    }
}

fn refuse(name: &str, holder: Option<&Holder>) -> Result<(), CliError> {
    match holder {
        Some(holder) => Err(
            CliError::with(Exit::Busy, format!("{name} is in use: {holder}"))
                .hint("nothing was sent to it but the question who it is"),
        ),
        None => Ok(()),
    }
}

/// Asks for a reservation; messages that wait in the drive come first, one each.
fn reservation_of(drive: &mut TapeDrive) -> Result<Option<Holder>, ScsiError> {
    const MOST_MESSAGES: usize = 8;
    for _ in 0..MOST_MESSAGES {
        match holders::reservation(drive.transport()) {
            Err(error) if is_message(&error) => {}
            other => return other,
        }
    }
    holders::reservation(drive.transport())
}

/// Whether an error only says what happened before, so that the question may be asked again.
fn is_message(error: &ScsiError) -> bool {
    matches!(error.condition(), Some(Condition::UnitAttention(_)))
}

/// Who uses a drive on this host, as far as this user can see.
pub fn host_holders(name: &str) -> Result<Holders, CliError> {
    let host = Host::local();
    let path = match name.starts_with("emulated:") {
        true => None,
        false => match host.resolve(name)?.0 {
            Address::Sg(path) | Address::St(path) => Some(path),
            Address::Iscsi(_) | Address::Replay(_) => None,
        },
    };
    let Some(path) = path else {
        return Ok(Holders::default());
    };
    let is_it = |found: &Found| {
        found.path == path
            || found.generic.as_ref() == Some(&path)
            || found.driver.as_ref() == Some(&path)
    };
    let failed = |error: std::io::Error| CliError::failed(error).of(name);
    match host
        .list()
        .map_err(failed)?
        .iter()
        .find(|found| is_it(found))
    {
        Some(found) => host.holders(found).map_err(failed),
        None => Ok(Holders::default()),
    }
}

/// How a device is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// SCSI generic.
    Sg,
    /// Linux's tape driver.
    St,
    /// iSCSI in user space.
    Iscsi,
    /// A recording.
    Replay,
    /// The emulator.
    Emulated,
}

/// How the device of that name is reached.
pub fn way(name: &str) -> Result<Way, CliError> {
    if name.starts_with("emulated:") {
        return Ok(Way::Emulated);
    }
    Ok(match Host::local().resolve(name)?.0 {
        Address::Sg(_) => Way::Sg,
        Address::St(_) => Way::St,
        Address::Iscsi(_) => Way::Iscsi,
        Address::Replay(_) => Way::Replay,
    })
}

/// Opens a changer: asks who it is and nothing more.
pub fn changer(name: &str) -> Result<Changer, CliError> {
    Devices::default().changer(name)
}

/// A device of an emulated library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Drive(usize),
    Changer,
}

fn parse_part(text: &str) -> Result<Part, CliError> {
    let number = text.strip_prefix("drive").and_then(|n| n.parse().ok());
    match (text, number) {
        ("changer", _) => Ok(Part::Changer),
        (_, Some(number)) => Ok(Part::Drive(number)),
        _ => Err(CliError::input(format!(
            "#{text} is neither #changer nor #drive0, #drive1, ..."
        ))),
    }
}

/// Longer than any emulated drive takes to load what lies in it.
const SWITCHED_ON: Duration = Duration::from_secs(600);

/// A new drive of a kind, in a directory that nobody will look for again.
fn fresh(kind: &str) -> Result<Library, CliError> {
    if DriveKind::find(kind).is_none() {
        return Err(
            CliError::input("neither a directory with a library.toml nor a kind of drive")
                .hint("`tapewise emulate` makes such a directory; kinds: `tapewise profile list`"),
        );
    }
    let directory: PathBuf = tempfile::Builder::new()
        .prefix("tapewise-emulated-")
        .tempdir()
        .map_err(CliError::failed)?
        .keep();
    let library = Library::fresh_drive(kind, 1, &directory, Clock::virtual_time())?;
    say(format_args!(
        "tapewise: a new emulated {kind} with a blank cartridge, in {}\n",
        directory.display()
    ));
    Ok(library)
}

impl From<DeviceError> for CliError {
    fn from(error: DeviceError) -> CliError {
        match error {
            DeviceError::Transport(_) => CliError::failed(error),
            _ => CliError::input(error),
        }
    }
}

impl From<LibraryError> for CliError {
    fn from(error: LibraryError) -> CliError {
        match error {
            LibraryError::InUse { .. } => CliError::with(Exit::Busy, error),
            LibraryError::Spec { .. } | LibraryError::Missing { .. } => CliError::input(error),
            _ => CliError::failed(error),
        }
    }
}
