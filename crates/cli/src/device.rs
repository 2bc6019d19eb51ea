//! From what people call a device to the device: real ones, recordings, and the emulator.

mod emulated;
mod in_use;

use emulated::is_product_of;

pub use emulated::{ScaledBlock, byte_scale_on_paper, new_kind, profile_name};
pub use in_use::host_holders;

use crate::error::{CliError, Exit};
use crate::output::say;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use tapewise_emulator::LibraryError;
use tapewise_library::pool::Pace;
use tapewise_model::Profile;
use tapewise_model::profile::BUILTIN;
use tapewise_scsi::device::{Address, DeviceError, Host};
use tapewise_scsi::{Changer, TapeDrive, Transport};

/// How devices are named, for the help of every verb that takes one.
pub const NAMES: &str = "\
Devices:
  /dev/sgN, /dev/nstN, /dev/tape/by-id/...  a drive or robot of this machine
  iscsi://HOST[:PORT]/TARGET/LUN            one reached over iSCSI
  emulated:DIR                              an emulated library made by `tapewise emulate`; its drives
                                            are DIR#drive0, DIR#drive1, ..., its robot DIR#changer
  emulated:KIND                             a new emulated drive with a blank cartridge, which is gone
                                            when the command ends; KIND as in `tapewise profile list`
  replay:FILE                               a recording

Some robots do not tell the serial numbers of their drives. Add the numbers after the robot's name,
by element address: /dev/sg5,257=10WT012345,258=...";

/// Opens a tape drive: asks who it is and nothing more.
pub fn tape(name: &str) -> Result<TapeDrive, CliError> {
    Devices::default().tape(name)
}

/// Opens a tape drive that is to do more than to say who it is: refused while somebody else uses it.
pub fn tape_for_use(name: &str) -> Result<TapeDrive, CliError> {
    Devices::default().tape_for_use(name)
}

/// Opens a tape drive to ask about its reservations: refused while a program on this host has it open.
pub fn tape_unless_held(name: &str) -> Result<TapeDrive, CliError> {
    in_use::refuse_held(name)?;
    tape(name)
}

/// Opens a changer: asks who it is and nothing more.
pub fn changer(name: &str) -> Result<Changer, CliError> {
    Devices::default().changer(name)
}

/// The devices of one command. An emulated library is opened once, by the first of its devices, and
/// the others are taken from it: its directory is locked while it is open.
#[derive(Default)]
pub struct Devices {
    libraries: emulated::Libraries,
    /// Serial numbers of drives that are to work, each with the name that the drive was opened by.
    names: Vec<(String, String)>,
}

impl Devices {
    /// Devices of which emulated ones on a virtual clock run apart, each with a time of its own: see
    /// [`tapewise_emulator::Library::apart`].
    pub fn apart() -> Devices {
        Devices {
            libraries: emulated::Libraries::apart(),
            names: Vec::new(),
        }
    }

    /// Opens a tape drive: asks who it is and nothing more.
    pub fn tape(&mut self, name: &str) -> Result<TapeDrive, CliError> {
        let transport = self.transport(name, emulated::Part::Drive(0))?;
        TapeDrive::open(transport).map_err(|error| CliError::from(error).of(name))
    }

    /// As [`tape_for_use`].
    pub fn tape_for_use(&mut self, name: &str) -> Result<TapeDrive, CliError> {
        in_use::refuse_held(name)?;
        let mut drive = self.tape(name)?;
        in_use::refuse_reserved(name, &mut drive)?;
        Ok(drive)
    }

    /// Opens a tape drive for a verb that relies on being alone with it: reserved until it is closed.
    /// Refused while somebody else uses it.
    pub fn tape_alone(&mut self, name: &str) -> Result<TapeDrive, CliError> {
        in_use::refuse_held(name)?;
        let mut drive = self.tape(name)?;
        self.refuse_another_name(name, &drive)?;
        // A recording holds the answers to other commands.
        if way(name)? != Way::Replay {
            in_use::reserve(name, &mut drive)?;
        }
        Ok(drive)
    }

    /// Opens a tape drive that a lease will say who has: refused while a program on this host has it open.
    pub fn tape_beside_others(&mut self, name: &str) -> Result<TapeDrive, CliError> {
        in_use::refuse_held(name)?;
        self.tape(name)
    }

    /// The name that a drive was opened by, if it tells a serial number.
    pub fn name(&self, drive: &TapeDrive) -> Option<&str> {
        let serial = drive.identity().serial.as_ref()?;
        let mut names = self.names.iter();
        names.find_map(|(known, name)| (known == serial).then_some(name.as_str()))
    }

    /// Refuses a drive that was opened by another name before: there may be several ways to it.
    pub fn refuse_another_name(&mut self, name: &str, drive: &TapeDrive) -> Result<(), CliError> {
        let Some(serial) = &drive.identity().serial else {
            return Ok(());
        };
        let mut names = self.names.iter();
        match names.find(|(known, other)| known == serial && other != name) {
            Some((_, other)) => Err(same_drive(other, name).saying(format_args!(
                "{other} and {name} are the same drive, with serial number {serial}"
            ))),
            None => {
                self.names.push((serial.clone(), name.to_owned()));
                Ok(())
            }
        }
    }

    /// Opens a changer: asks who it is and nothing more.
    pub fn changer(&mut self, name: &str) -> Result<Changer, CliError> {
        let (name, ties) = ties(name)?;
        let transport = self.transport(name, emulated::Part::Changer)?;
        let opened = Changer::open(transport);
        let mut changer = opened.map_err(|error| CliError::from(error).of(name))?;
        changer.tie(ties);
        Ok(changer)
    }

    /// Makes a new emulated drive of this kind whose blank cartridge can be filled soon: a stored
    /// byte stands for many. Devices named after the kind are taken from it. Its blocks.
    pub fn new_scaled(&mut self, kind: &str) -> Result<ScaledBlock, CliError> {
        self.libraries.new_scaled(kind)
    }

    /// What a byte of the host stands for on the cartridges of an emulated device that was opened;
    /// `None` for a real one.
    pub fn byte_scale(&self, name: &str) -> Result<Option<u64>, CliError> {
        let scale = self.libraries.byte_scale(name);
        scale.map_err(|error| error.of(name))
    }

    /// How the work of several drives is spread over time: in turns where time passes only by what commands take.
    pub fn pace(&self) -> Pace {
        if self.libraries.share_a_clock() {
            Pace::Turns
        } else {
            Pace::Threads
        }
    }

    fn transport(
        &mut self,
        name: &str,
        usual: emulated::Part,
    ) -> Result<Box<dyn Transport>, CliError> {
        let emulated = self.libraries.transport(name, usual);
        if let Some(transport) = emulated.map_err(|error| error.of(name))? {
            return Ok(transport);
        }
        let opened = Host::local().open(name);
        let opened = opened.map_err(|error| in_use::cannot_open(name, error))?;
        if let Some(notice) = opened.notice {
            say(format_args!("tapewise: {notice}\n"));
        }
        Ok(opened.transport)
    }
}

/// Says that a drive is of another kind than the profile that its archive has: once, for a mover opens its drives again
/// and again.
pub fn say_if_of_another_kind(name: &str, drive: &TapeDrive, profile: &Profile) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    // What somebody has fitted or written is meant for these drives.
    if !BUILTIN.iter().any(|(known, _)| *known == profile.name) {
        return;
    }
    let product = &drive.identity().product;
    if is_product_of(&profile.name, product) {
        return;
    }
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(its_own) = profile_name(name, product)
        && said.insert(name.to_owned())
    {
        say(format_args!(
            "tapewise: {name} is a {product}, whose profile is {its_own}: times will be predicted as of {}\n",
            profile.name
        ));
    }
}

/// Refuses a list that names a drive twice, as far as that shows before a drive is opened.
pub fn refuse_twice(names: &[String]) -> Result<(), CliError> {
    let nodes: Vec<String> = names.iter().map(|name| node(name)).collect();
    for (at, node) in nodes.iter().enumerate() {
        if let Some(before) = nodes[..at].iter().position(|other| other == node) {
            return Err(same_drive(&names[before], &names[at]));
        }
    }
    Ok(())
}

/// One name for all names of a device of this host. A name that leads nowhere stays as it is.
fn node(name: &str) -> String {
    emulated::node(name).unwrap_or_else(|| match in_use::found(name) {
        Ok(Some(found)) => found.path.display().to_string(),
        _ => name.to_owned(),
    })
}

fn same_drive(one: &str, other: &str) -> CliError {
    let what = if one == other {
        format!("{one} is given twice")
    } else {
        format!("{one} and {other} are the same drive")
    };
    CliError::input(what).hint("give one name for each drive")
}

/// Element addresses of drives, each with the serial number of the drive that is in it.
type Ties = Vec<(u16, String)>;

/// A robot's name, and the drives that are tied to its elements behind it: `/dev/sg5,257=10WT012345`.
fn ties(name: &str) -> Result<(&str, Ties), CliError> {
    let mut parts = name.split(',');
    let robot = parts.next().unwrap_or(name);
    let tie = |part: &str| {
        let (element, serial) = part.split_once('=')?;
        let serial = serial.trim();
        (!serial.is_empty()).then_some(())?;
        Some((element.trim().parse().ok()?, serial.to_owned()))
    };
    let ties = parts.map(|part| {
        tie(part).ok_or_else(|| {
            CliError::input(format!(
                "{name}: {part:?} does not tie a drive to an element"
            ))
            .hint("write ROBOT,ELEMENT=SERIAL, as in /dev/sg5,257=10WT012345")
        })
    });
    Ok((robot, ties.collect::<Result<_, _>>()?))
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

/// Whether there is such a device; it is not opened.
pub fn find(name: &str) -> Result<(), CliError> {
    if emulated::find(name).map_err(|error| error.of(name))? {
        return Ok(());
    }
    let (name, _) = ties(name)?;
    let found = Host::local().resolve(name).map(drop);
    found.map_err(CliError::from)
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

impl From<DeviceError> for CliError {
    fn from(error: DeviceError) -> CliError {
        match error {
            DeviceError::Transport(_) => CliError::failed(error),
            DeviceError::NoDevice { ref name } | DeviceError::NotFound { ref name, .. } => {
                let hint = if Path::new(name).join("library.toml").is_file() {
                    format!("the emulated library in that directory is called emulated:{name}")
                } else {
                    "`tapewise doctor` lists the devices of this host; emulated:DIR is an emulated library".to_owned()
                };
                CliError::input(error).hint(hint)
            }
            _ => CliError::input(error),
        }
    }
}

impl From<LibraryError> for CliError {
    fn from(error: LibraryError) -> CliError {
        match error {
            LibraryError::InUse { .. } => CliError::with(Exit::Busy, error),
            LibraryError::Spec { .. }
            | LibraryError::Format { .. }
            | LibraryError::Missing { .. } => CliError::input(error),
            _ => CliError::failed(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_that_is_reached_in_two_ways_is_known_by_its_serial_number() {
        let mut devices = Devices::default();
        let drive = devices.tape_alone("emulated:lto8").expect("a drive");
        for _ in 0..2 {
            devices
                .refuse_another_name("emulated:lto8", &drive)
                .expect("the same name");
        }
        let other = devices.tape_alone("emulated:lto8#drive0");
        let other = other.err().expect("refused");
        assert_eq!(other.exit(), Exit::Input);
        let said = other.message();
        let both = "emulated:lto8 and emulated:lto8#drive0 are the same drive, with serial number ";
        assert!(said.starts_with(both), "{said}");
    }
}
