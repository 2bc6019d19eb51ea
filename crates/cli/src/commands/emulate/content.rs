//! `tapewise emulate --ltfs` and `--fill`: what the cartridges of a new library hold.

use super::ltfs::{self, Source};
use crate::error::CliError;
use crate::{quantity, units};
use std::path::PathBuf;
use tapewise_emulator::{CartridgeSpec, Library, LibrarySpec, Recorder};

/// What the cartridges hold.
#[derive(clap::Args, Debug)]
pub(super) struct Content {
    /// Make the first cartridge an LTFS volume with the files of this directory, or with those that an index lists.
    ///
    /// Give it again for the next cartridges. An index has no data: tapewise makes up the bytes of its files by
    /// --seed, which takes about 30 bytes of disk for each block, and leaves the checksums out of the index on the
    /// cartridge.
    #[arg(long, value_name = "INDEX.xml|DIR")]
    ltfs: Vec<PathBuf>,
    /// Fill the next cartridge with blocks of made-up data up to this much of its tape, such as 500GB, or to
    /// its end if it is smaller. The data takes no room on the disk.
    #[arg(long, value_name = "SIZE", value_parser = quantity::size::<u64>)]
    fill: Option<u64>,
    /// Bytes of a block of --fill.
    #[arg(long, value_name = "BYTES", default_value_t = 1_048_576, requires = "fill",
          value_parser = quantity::size_in::<u64>(1..=16_777_215))]
    fill_block_size: u64,
}

/// What one cartridge is to hold.
pub(super) enum Planned {
    Ltfs(Source),
    Filled { bytes: u64, block_bytes: u64 },
}

/// What the options ask for, one cartridge after the other; whatever is wrong with a source is found here.
pub(super) fn plan(args: &Content) -> Result<Vec<Planned>, CliError> {
    let sources = args.ltfs.iter().map(|path| ltfs::source(path));
    let mut cartridges = sources
        .map(|source| source.map(Planned::Ltfs))
        .collect::<Result<Vec<_>, _>>()?;
    cartridges.extend(args.fill.map(|bytes| Planned::Filled {
        bytes,
        block_bytes: args.fill_block_size,
    }));
    Ok(cartridges)
}

/// Gives a drive without a robot as many cartridges as there are contents; a robot has its own number of them.
pub(super) fn make_room(content: &[Planned], spec: &mut LibrarySpec) -> Result<(), CliError> {
    let (wanted, there) = (content.len(), spec.cartridges.len());
    if spec.robot.is_none() {
        let kind = spec.drives[0].kind.clone();
        spec.cartridges.extend((there..wanted).map(|at| {
            CartridgeSpec::numbered(&kind, spec.seed.wrapping_add(at as u64), at as u16 + 1)
        }));
        return Ok(());
    }
    if wanted > there {
        let message = format!(
            "--ltfs and --fill need {}, and the library has {there}",
            units::count(wanted, "cartridge")
        );
        return Err(CliError::input(message).hint("give --cartridges a larger number"));
    }
    Ok(())
}

/// Writes on the first cartridges. Returns a line about each.
pub(super) fn write(content: &[Planned], library: &Library) -> Result<Vec<String>, CliError> {
    let spec = library.spec();
    let pairs = content.iter().zip(&spec.cartridges);
    pairs
        .map(|(content, cartridge)| {
            let barcode = &cartridge.barcode;
            let recorder = library.recorder(barcode)?;
            let what = match content {
                Planned::Ltfs(source) => ltfs::write(source, barcode, recorder)?,
                &Planned::Filled { bytes, block_bytes } => {
                    fill(bytes / cartridge.scale, block_bytes, recorder)?
                }
            };
            Ok(format!("{barcode}: {what}"))
        })
        .collect()
}

fn fill(bytes: u64, block_bytes: u64, mut recorder: Recorder) -> Result<String, CliError> {
    let mut blocks = 0u64;
    while (blocks + 1) * block_bytes <= bytes && recorder.room(0) > 2 * block_bytes {
        recorder.made_up(0, block_bytes)?;
        blocks += 1;
    }
    if blocks > 0 {
        recorder.filemark(0)?;
    }
    recorder.finish()?;
    Ok(format!("{blocks} blocks of {block_bytes} bytes"))
}
