//! Devices of the emulator: `emulated:DIR`, `emulated:KIND`, and a part of either behind a `#`.

use crate::error::CliError;
use crate::output::say;
use std::path::Path;
use tapewise_emulator::{CartridgeSpec, Clock, DriveKind, Library, LibrarySpec};
use tapewise_model::{Micros, Profile, profile};
use tapewise_scsi::Transport;

/// A device of an emulated library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A drive, numbered from 0.
    Drive(usize),
    /// The robot.
    Changer,
}

/// Longer than any emulated drive takes to load what lies in it: power comes on when the library is
/// opened, and users find it switched on for a while.
const SWITCHED_ON: Micros = Micros(600_000_000);

/// The emulated libraries that one command has open, each under its place in the device's name.
#[derive(Default)]
pub struct Libraries {
    open: Vec<(String, Library)>,
    is_apart: bool,
}

impl Libraries {
    /// As [`super::Devices::apart`].
    pub fn apart() -> Libraries {
        Libraries {
            is_apart: true,
            ..Libraries::default()
        }
    }

    /// The way to a device, `usual` where the name says no part; `None` for a device that is not
    /// emulated.
    pub fn transport(
        &mut self,
        name: &str,
        usual: Part,
    ) -> Result<Option<Box<dyn Transport>>, CliError> {
        let Some((place, part)) = place_and_part(name) else {
            return Ok(None);
        };
        let part = part.map_or(Ok(usual), parse_part)?;
        let library = self.library(place)?;
        Ok(Some(match part {
            Part::Drive(number) => Box::new(library.transport_to_drive(number)?),
            Part::Changer => Box::new(library.transport_to_changer()?),
        }))
    }

    /// As [`super::Devices::byte_scale`].
    pub fn byte_scale(&self, name: &str) -> Result<Option<u64>, CliError> {
        let Some(library) = place_and_part(name).and_then(|(place, _)| self.opened(place)) else {
            return Ok(None);
        };
        scale(&library.spec()).map(Some)
    }

    /// Whether time passes only by what commands take, on a clock that all devices share.
    pub fn share_a_clock(&self) -> bool {
        let mut open = self.open.iter();
        open.any(|(_, library)| library.spec().clock_scale.is_none())
    }

    /// As [`super::Devices::new_scaled`].
    pub fn new_scaled(&mut self, kind: &str) -> Result<ScaledBlock, CliError> {
        let block = ScaledBlock::of(&profile::find(kind)?);
        self.add(kind, new_drive(kind, block.scale)?);
        Ok(block)
    }

    fn library(&mut self, place: &str) -> Result<Library, CliError> {
        if let Some(library) = self.opened(place) {
            return Ok(library.clone());
        }
        let library = if is_library(place) {
            let directory = Path::new(place);
            let clock = LibrarySpec::read(directory)?.clock();
            Library::open(directory, clock)?
        } else if DriveKind::find(place).is_some() {
            say(format_args!(
                "tapewise: a new emulated {place} with a blank cartridge, gone when this command ends\n"
            ));
            new_drive(place, 1)?
        } else {
            return Err(no_library());
        };
        Ok(self.add(place, library))
    }

    fn opened(&self, place: &str) -> Option<&Library> {
        let mut open = self.open.iter();
        open.find_map(|(opened, library)| (opened == place).then_some(library))
    }

    fn add(&mut self, place: &str, library: Library) -> Library {
        library.skip(SWITCHED_ON);
        let library = if self.is_apart {
            library.apart()
        } else {
            library
        };
        self.open.push((place.to_owned(), library.clone()));
        library
    }
}

/// A new drive of a kind with a blank cartridge in it, in a directory that goes with it.
fn new_drive(kind: &str, scale: u64) -> Result<Library, CliError> {
    let directory = tempfile::Builder::new()
        .prefix("tapewise-emulated-")
        .tempdir()
        .map_err(CliError::failed)?;
    let mut spec = LibrarySpec::one_drive(kind, 1);
    spec.cartridges = vec![CartridgeSpec {
        scale,
        ..CartridgeSpec::numbered(kind, 1, 1)
    }];
    let library = Library::create(directory.path(), &spec, Clock::virtual_time())?;
    library.load_cartridge(&spec.cartridges[0].barcode)?;
    Ok(library.owning(directory))
}

fn no_library() -> CliError {
    CliError::input("neither a directory with a library.toml nor a kind of drive")
        .hint(
            "`tapewise emulate DIR` makes such a directory, whose devices are emulated:DIR#drive0, emulated:DIR#drive1 \
             and emulated:DIR#changer; a DIR that does not begin with / is looked for below the directory in which \
             tapewise is started; kinds: `tapewise profile list`",
        )
}

/// Whether the name is that of an emulated device.
///
/// # Errors
/// Bad input: it would be, and there is none.
pub fn find(name: &str) -> Result<bool, CliError> {
    match place_and_part(name) {
        None => Ok(false),
        Some((place, _)) if is_library(place) || DriveKind::find(place).is_some() => Ok(true),
        Some(_) => Err(no_library()),
    }
}

/// The kind of a new emulated drive that this name asks for; `None` for a device that is there.
pub fn new_kind(name: &str) -> Option<&str> {
    let (place, _) = place_and_part(name)?;
    (DriveKind::find(place).is_some() && !is_library(place)).then_some(place)
}

/// The profile of an emulated kind, or of the drive that calls itself so. Of several the one with the
/// shortest name: `lto8`, where the same drive with M8 media is `lto7-m8`.
pub fn profile_name(name: &str, product: &str) -> Option<String> {
    let kind = place_and_part(name).and_then(|(place, _)| DriveKind::find(place));
    let named = || {
        DriveKind::names()
            .filter_map(DriveKind::find)
            .filter(|kind| kind.identity.product == product)
            .min_by_key(|kind| kind.name.len())
    };
    kind.or_else(named).map(|kind| kind.name)
}

/// Whether a drive that gives this name is of the kind that the profile is of.
pub fn is_product_of(profile: &str, product: &str) -> bool {
    DriveKind::find(profile).is_some_and(|kind| kind.identity.product == product)
}

/// As [`super::Devices::byte_scale`], for a device that nobody opens: from what its library is made of.
pub fn byte_scale_on_paper(name: &str) -> Result<Option<u64>, CliError> {
    let Some((place, _)) = place_and_part(name).filter(|(place, _)| is_library(place)) else {
        return Ok(None);
    };
    scale(&LibrarySpec::read(Path::new(place))?).map(Some)
}

/// What a byte stands for on the cartridges of a library.
fn scale(library: &LibrarySpec) -> Result<u64, CliError> {
    let cartridges = library.cartridges.iter();
    let mut scales: Vec<u64> = cartridges.map(|one| one.scale).collect();
    scales.sort_unstable();
    scales.dedup();
    match scales[..] {
        [scale] => Ok(scale),
        _ => Err(CliError::input(
            "the cartridges of the library have several scales: which one is in the drive is not known",
        )),
    }
}

/// Place and part of an emulated device's name; `None` for others.
fn place_and_part(name: &str) -> Option<(&str, Option<&str>)> {
    let emulated = name.strip_prefix("emulated:")?;
    Some(match emulated.rsplit_once('#') {
        Some((place, part)) => (place, Some(part)),
        None => (emulated, None),
    })
}

/// One name for all names of an emulated drive: its library by its whole path, and its number.
pub fn node(name: &str) -> Option<String> {
    let (place, part) = place_and_part(name)?;
    let whole = Path::new(place).canonicalize();
    let place = whole.map_or_else(|_| place.to_owned(), |path| path.display().to_string());
    Some(format!("emulated:{place}#{}", part.unwrap_or("drive0")))
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

fn is_library(place: &str) -> bool {
    LibrarySpec::path(Path::new(place)).is_file()
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
