//! What ordering needs to know of the tape in a drive: where its blocks lie, and the head.

use crate::record::{Segment, VolumeFormat};
use crate::volume::ASK_PLACE_BYTES;
use std::fmt;
use tapewise::{CartridgeError, MapOrigin};
use tapewise_formats::map_file::{MapFile, ProbedPlace};
use tapewise_model::{BlockMap, Position, PositionSource, Profile};
use tapewise_order::{Algorithm, Tape};
use tapewise_run::{RunError, wrap_ends};
use tapewise_scsi::{ScsiError, TapeDrive};

/// The drive with the cartridge in it, as far as ordering and reading need them.
#[derive(Clone, Debug)]
pub struct MappedTape {
    /// How long the drive takes.
    pub tape: Tape,
    /// Where blocks are believed to lie.
    pub map: BlockMap,
    /// How its data is laid out.
    pub format: VolumeFormat,
    /// Bytes of a block; of the longest where they differ.
    pub block_bytes: u64,
    /// Bytes of tape that a byte stands for: more than 1 on emulated cartridges only.
    pub byte_scale: u64,
    /// How what waits is ordered: ours, unless another order is to stand beside it.
    pub algorithm: Algorithm,
}

/// What is known of a cartridge before its drive is asked.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The drive's profile.
    pub profile: &'a Profile,
    /// How its data is laid out.
    pub format: VolumeFormat,
    /// Bytes of a block; of the longest where they differ.
    pub block_bytes: u64,
    /// Bytes of tape that a byte stands for.
    pub byte_scale: u64,
    /// Runs of blocks on it, of which the drive that wrote them may have told where it was.
    pub written: &'a [Vec<Segment>],
}

/// Where the map of a cartridge comes from; a map that is not the drive's own is corrected while the
/// cartridge is read.
#[derive(Clone, Debug, PartialEq)]
pub struct MapSource(pub MapOrigin);

impl fmt::Display for MapSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            MapOrigin::WrapEnds { .. } => write!(f, "{}", self.0),
            _ => write!(f, "{}, learned while it is read", self.0),
        }
    }
}

/// Why nobody can say where the blocks of a cartridge lie.
#[derive(Debug, thiserror::Error)]
pub enum NoMap {
    /// The drive did not answer, or said what cannot be.
    #[error(transparent)]
    Drive(#[from] RunError),
    /// Profile, table and places do not give a map.
    #[error(transparent)]
    Cartridge(#[from] CartridgeError),
}

impl MappedTape {
    /// The cartridge in a drive, and where its map comes from: the drive's own table of wrap ends, else as
    /// [`MappedTape::on_shelf`].
    ///
    /// # Errors
    /// [`NoMap`].
    pub fn in_drive(
        drive: &mut TapeDrive,
        known: &Known<'_>,
    ) -> Result<(MappedTape, MapSource), NoMap> {
        let table = wrap_ends(drive)?.filter(|table| !table.is_empty());
        match table {
            Some(table) => {
                let table = MapFile::EndOfWrap(table);
                let cartridge = known.cartridge()?;
                known.mapped(&cartridge.with_map("the drive's table of wrap ends", table)?)
            }
            None => MappedTape::on_shelf(known),
        }
    }

    /// A cartridge that is in no drive: nominal geometry, with the places that were recorded when it
    /// was written.
    ///
    /// # Errors
    /// [`NoMap`].
    pub fn on_shelf(known: &Known<'_>) -> Result<(MappedTape, MapSource), NoMap> {
        // A file lies at most this far behind the place that is recorded for its beginning.
        let beside_bytes = ASK_PLACE_BYTES.saturating_mul(known.byte_scale);
        let name = "what the drive told when it was written";
        let cartridge = known.cartridge()?;
        known.mapped(&cartridge.with_written_places(name, known.places(), beside_bytes)?)
    }

    /// Where the head is, and whether the drive tells that after every read. A drive that does not
    /// is rewound, so that it is known once.
    ///
    /// # Errors
    /// [`ScsiError`].
    pub fn head(&self, drive: &mut TapeDrive) -> Result<(Position, bool), ScsiError> {
        let told = drive.physical_position()?;
        if let Some((wrap, lpos)) = told.and_then(|told| Some((told.wrap?, told.lpos))) {
            let head = Position {
                partition: drive.position()?.partition,
                wrap,
                lpos,
                source: PositionSource::Recorded,
                error_lpos: 0,
            };
            return Ok((head, true));
        }
        drive.locate(0, 0)?;
        let head = Position::beginning_of_tape(self.tape.geometry.lpos_min);
        Ok((head, told.is_some()))
    }
}

impl Known<'_> {
    /// Bytes of tape that a block takes.
    fn tape_bytes(&self) -> u64 {
        self.block_bytes.saturating_mul(self.byte_scale)
    }

    fn cartridge(&self) -> Result<tapewise::Cartridge, CartridgeError> {
        tapewise::Cartridge::new(self.profile.clone())
    }

    /// The places that the drive told while the cartridge was written.
    fn places(&self) -> Vec<ProbedPlace> {
        let told = |segment: &Segment| {
            let start = segment.start?;
            Some(ProbedPlace {
                partition: segment.partition,
                block: segment.first_block,
                wrap: start.wrap,
                lpos: start.lpos,
            })
        };
        self.written.iter().flatten().filter_map(told).collect()
    }

    fn mapped(&self, cartridge: &tapewise::Cartridge) -> Result<(MappedTape, MapSource), NoMap> {
        let is_ltfs = self.format == VolumeFormat::Ltfs;
        let (map, origin) = cartridge.block_map(Some(self.tape_bytes()), is_ltfs)?;
        let cartridge = MappedTape {
            tape: cartridge.tape().clone(),
            map,
            format: self.format,
            block_bytes: self.block_bytes,
            byte_scale: self.byte_scale,
            algorithm: Algorithm::Best,
        };
        Ok((cartridge, MapSource(origin)))
    }
}
