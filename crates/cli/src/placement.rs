//! Drive, cartridge and head, as they are given on the command line.

use crate::error::CliError;
use crate::profiles;
use std::path::{Path, PathBuf};
use tapewise::{Cartridge, EndLocation, ExtentOrder, Location, PartitionLayout, Placement};
use tapewise_formats::map_file::{MapFile, read_map};

/// The drive, the cartridge, and where the head is.
#[derive(clap::Args, Clone, Debug)]
pub struct PlacementArgs {
    /// Drive profile: a name from `tapewise profile list`, or a TOML file.
    #[arg(long, value_name = "NAME|FILE")]
    pub profile: String,
    /// Map of this cartridge: the drive's table of wrap ends, or key points, as CSV.
    #[arg(long, value_name = "CSV")]
    map: Option<PathBuf>,
    /// How the cartridge is partitioned, if only its nominal geometry is known [default: ltfs for
    /// LTFS volumes, else single].
    #[arg(long, value_name = "LAYOUT")]
    layout: Option<Layout>,
    /// Where the head is: bot, a block (BLOCK or PARTITION:BLOCK), or wrap=W,lpos=L.
    #[arg(long, value_name = "PLACE", default_value = "bot")]
    pub head: Location,
    /// Where to leave the head: anywhere, rewound, unloaded (rewound, and the cartridge out of the
    /// drive), or a place as for --head.
    #[arg(long, value_name = "PLACE", default_value = "anywhere")]
    pub end: EndLocation,
    /// How to read a file with several extents. together: in file order, so that it is complete before
    /// the next file. apart: each extent where it costs least; the program that reads the plan puts
    /// them together.
    #[arg(long, value_name = "HOW", default_value = "together")]
    pub extents: Extents,
    /// Always locate, even if reading over a gap would be faster.
    #[arg(long)]
    no_read_through: bool,
}

/// How a file of several extents is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Extents {
    /// In file order, one after the other: what a copy file by file does.
    Together,
    /// Each extent for itself: for plans only.
    Apart,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Layout {
    /// One partition over all wraps.
    Single,
    /// The index partition of LTFS, guard wraps, the data partition.
    Ltfs,
}

impl PlacementArgs {
    /// The cartridge: its profile and its map, loaded once.
    ///
    /// # Errors
    /// Bad input: no such profile, or a map that is none, or not of such a cartridge.
    pub fn cartridge(&self) -> Result<Cartridge, CliError> {
        let cartridge = cartridge(&self.profile, self.map.as_deref())?;
        Ok(match self.layout {
            Some(Layout::Single) => cartridge.with_layout(PartitionLayout::Single),
            Some(Layout::Ltfs) => cartridge.with_layout(PartitionLayout::Ltfs),
            None => cartridge,
        })
    }

    /// The files that are read: the profile, unless its name is that of none, and the map.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let map = self.map.as_deref();
        map.into_iter().chain([Path::new(&self.profile)])
    }

    /// The first option besides the profile that was given another value than it has by itself.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--map", self.map.is_some()),
            ("--layout", self.layout.is_some()),
            ("--head", self.head != Location::default()),
            ("--end", self.end != EndLocation::default()),
            ("--extents", self.extents != Extents::Together),
            ("--no-read-through", self.no_read_through),
        ];
        let mut given = given.into_iter().filter(|(_, given)| *given);
        given.next().map(|(option, _)| option)
    }

    /// Whether a map of one cartridge was given.
    pub fn has_map(&self) -> bool {
        self.map.is_some()
    }

    /// Where the head is and where it is left, and how files are read.
    pub fn placement(&self) -> Placement {
        Placement {
            head: self.head,
            end: self.end,
            extents: match self.extents {
                Extents::Together => ExtentOrder::Together,
                Extents::Apart => ExtentOrder::Apart,
            },
            coalesce_blocks: None,
            read_through: !self.no_read_through,
        }
    }
}

/// A cartridge of this profile (a name or a file), with its map if there is one.
///
/// # Errors
/// As [`PlacementArgs::cartridge`].
pub fn cartridge(profile: &str, map: Option<&Path>) -> Result<Cartridge, CliError> {
    let profile = profiles::load_drive(profile)?;
    let Some(path) = map else {
        return Ok(Cartridge::new(profile)?);
    };
    let name = path.display().to_string();
    Ok(Cartridge::new(profile)?.with_map(&name, load_map(path)?)?)
}

/// A map from its file.
///
/// # Errors
/// Bad input: a file that cannot be read, or is not a map.
pub fn load_map(path: &Path) -> Result<MapFile, CliError> {
    let bytes = crate::batch::read_bytes(path)?;
    read_map(&bytes[..]).map_err(|error| CliError::input(error).of(path.display()))
}
