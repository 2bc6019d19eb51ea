//! From what people call a device to the device: real ones, recordings, and the emulator.

use crate::error::{CliError, Exit};
use crate::output::say;
use crate::units;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tapewise_emulator::{Clock, DriveKind, Library, LibraryError};
use tapewise_scsi::device::{Address, DeviceError, Found, Host};
use tapewise_scsi::holders::{self, Holder, Holders};
use tapewise_scsi::{Changer, Condition, ScsiError, TapeDrive, Transport};

/// How devices are named, for the help of every verb that takes one.
pub const NAMES: &str = "\
Devices: /dev/sgN, /dev/nstN, /dev/tape/by-id/..., iscsi://HOST[:PORT]/TARGET/LUN, replay:FILE (a
recording), emulated:KIND (a new emulated drive with a blank cartridge, gone at the end; KIND as in
`tapewise profile list`), emulated:DIR (an emulated library made by `tapewise emulate`; its drives are
emulated:DIR#drive0, #drive1, ..., its robot emulated:DIR#changer).";

/// Opens a tape drive: asks who it is and nothing more.
pub fn tape(name: &str) -> Result<TapeDrive, CliError> {
    let transport = transport(name, Part::Drive(0))?;
    TapeDrive::open(transport).map_err(|error| CliError::from(error).of(name))
}

/// Opens a tape drive that is to do more than to say who it is: refused while somebody else uses it.
pub fn tape_for_use(name: &str) -> Result<TapeDrive, CliError> {
    let holders = host_holders(name)?;
    if holders.unseen > 0 {
        say(format_args!(
            "tapewise: {name}: {} of other users cannot be looked into; root can tell whether they use the drive\n",
            units::count(holders.unseen, "process")
        ));
    }
    refuse(name, holders.found.first())?;
    let mut drive = tape(name)?;
    let reserved = reservation_of(&mut drive).map_err(|error| CliError::from(error).of(name))?;
    refuse(name, reserved.as_ref())?;
    Ok(drive)
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

/// Whether an error says what happened before, or that the drive loads a cartridge just now: then
/// there is no reservation that would matter.
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
    let transport = transport(name, Part::Changer)?;
    Changer::open(transport).map_err(|error| CliError::from(error).of(name))
}

/// A device of an emulated library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Drive(usize),
    Changer,
}

fn transport(name: &str, usual: Part) -> Result<Box<dyn Transport>, CliError> {
    if let Some(emulated) = name.strip_prefix("emulated:") {
        return emulated_transport(emulated, usual).map_err(|error| error.of(name));
    }
    let opened = Host::local().open(name)?;
    if let Some(notice) = opened.notice {
        say(format_args!("tapewise: {notice}\n"));
    }
    Ok(opened.transport)
}

fn emulated_transport(name: &str, usual: Part) -> Result<Box<dyn Transport>, CliError> {
    let (place, part) = match name.rsplit_once('#') {
        Some((place, part)) => (place, parse_part(part)?),
        None => (name, usual),
    };
    let library = match Path::new(place).join("library.toml").is_file() {
        true => Library::open(Path::new(place), Clock::virtual_time())?,
        false => fresh(place)?,
    };
    let mut transport: Box<dyn Transport> = match part {
        Part::Drive(number) => Box::new(library.transport_to_drive(number)?),
        Part::Changer => Box::new(library.transport_to_changer()?),
    };
    // Power comes on when the library is opened; users find it switched on for a while.
    transport.wait(SWITCHED_ON);
    Ok(transport)
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
