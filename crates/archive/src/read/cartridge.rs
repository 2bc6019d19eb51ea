//! What ordering needs to know of the cartridge in a drive: where its blocks lie, and the head.

use crate::record::{Segment, VolumeFormat};
use crate::volume::ASK_PLACE_BYTES;
use std::collections::BTreeMap;
use std::fmt;
use tapewise_model::profile::ProfileError;
use tapewise_model::{
    BlockMap, LearnedMap, MapError, NominalLayout, Position, PositionSource, Profile,
};
use tapewise_order::{Algorithm, Tape};
use tapewise_run::{RunError, wrap_ends};
use tapewise_scsi::{ScsiError, TapeDrive};

/// The drive with the cartridge in it, as far as ordering and reading need them.
#[derive(Clone, Debug)]
pub struct Cartridge {
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

/// Whence it is known where the blocks of a cartridge lie.
#[derive(Clone, Debug, PartialEq)]
pub enum Whence {
    /// The drive's own table, as of when the cartridge was loaded.
    WrapEnds {
        /// Wraps with data.
        wraps: usize,
    },
    /// Nominal geometry, put right by what the drive told when the cartridge was written.
    Recorded {
        /// Places it told.
        places: usize,
        /// The cartridge whose geometry it is.
        title: String,
    },
    /// Nominal geometry alone.
    Nominal {
        /// The cartridge whose geometry it is.
        title: String,
        /// Error of a place as a share of its block number.
        share_error: f64,
    },
}

impl fmt::Display for Whence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        match self {
            Whence::WrapEnds { wraps } => {
                let s = plural(*wraps);
                write!(
                    f,
                    "the drive's table of wrap ends, {wraps} wrap{s} with data"
                )
            }
            Whence::Recorded { places, title } => {
                let s = plural(*places);
                write!(
                    f,
                    "nominal geometry of {title}, put right by {places} place{s} that the drive told when it was \
                     written, learned while it is read"
                )
            }
            Whence::Nominal { title, share_error } => {
                let error = share_error * 100.0;
                write!(
                    f,
                    "nominal geometry of {title}, taken as +-{error} %, learned while it is read"
                )
            }
        }
    }
}

/// Why nobody can say where the blocks of a cartridge lie.
#[derive(Debug, thiserror::Error)]
pub enum NoMap {
    /// The drive did not answer, or said what cannot be.
    #[error(transparent)]
    Drive(#[from] RunError),
    /// Its table of wrap ends contradicts itself.
    #[error("the drive's table of wrap ends: {0}")]
    Table(#[from] MapError),
    /// The profile knows too little.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// It does not know how LTFS divides such a cartridge.
    #[error(
        "profile {profile}: how LTFS divides its cartridges is not known, and there is no table of wrap ends"
    )]
    NoPartitions {
        /// The profile.
        profile: String,
    },
}

impl Cartridge {
    /// The cartridge in a drive, and whence its map is: the drive's own table of wrap ends, else as
    /// [`Cartridge::on_shelf`].
    ///
    /// # Errors
    /// [`NoMap`].
    pub fn in_drive(
        drive: &mut TapeDrive,
        known: &Known<'_>,
    ) -> Result<(Cartridge, Whence), NoMap> {
        let table = wrap_ends(drive)?.filter(|table| !table.is_empty());
        let Some(table) = table else {
            return Cartridge::on_shelf(known);
        };
        let tape = Tape::new(known.profile, None)?;
        let usual = known.profile.wrap_blocks(known.tape_bytes()).ok();
        let map = BlockMap::from_end_of_wrap(&tape.geometry, &table, usual)?;
        let wraps = table.len();
        Ok((known.with(tape, map), Whence::WrapEnds { wraps }))
    }

    /// A cartridge that is in no drive: nominal geometry, with the places that were recorded when it
    /// was written.
    ///
    /// # Errors
    /// [`NoMap`].
    pub fn on_shelf(known: &Known<'_>) -> Result<(Cartridge, Whence), NoMap> {
        let tape = Tape::new(known.profile, None)?;
        let (map, whence) = written_map(&tape, nominal_map(known)?, known);
        Ok((known.with(tape, map), whence))
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

    fn with(&self, tape: Tape, map: BlockMap) -> Cartridge {
        Cartridge {
            tape,
            map,
            format: self.format,
            block_bytes: self.block_bytes,
            byte_scale: self.byte_scale,
            algorithm: Algorithm::Best,
        }
    }
}

fn nominal_map(known: &Known<'_>) -> Result<BlockMap, NoMap> {
    let layout = match known.format {
        VolumeFormat::Ltfs => known
            .profile
            .ltfs_layout()
            .ok_or_else(|| NoMap::NoPartitions {
                profile: known.profile.name.clone(),
            })?,
        _ => NominalLayout::Single,
    };
    Ok(known.profile.nominal_map(layout, known.tape_bytes())?)
}

/// Share of a wrap that recorded places may lie beside the blocks they are recorded for: as much as
/// interpolation between the ends of a wrap errs. Only scaled cartridges of the emulator exceed it.
const MOST_BESIDE: f64 = 0.008;

/// A map with what was recorded of its blocks, where that says more than the map does.
fn written_map(tape: &Tape, nominal: BlockMap, known: &Known<'_>) -> (BlockMap, Whence) {
    let title = known.profile.title.clone();
    let share_error = nominal.share_error();
    // A file lies at most so far behind the place that is recorded for its beginning.
    let beside = ASK_PLACE_BYTES as f64 * known.byte_scale as f64;
    if beside > MOST_BESIDE * tape.wrap_bytes {
        return (nominal, Whence::Nominal { title, share_error });
    }
    // Of all that begin behind one place, the first lies nearest to it.
    let mut first = BTreeMap::new();
    for segment in known.written.iter().flatten() {
        if let Some(start) = segment.start {
            let at = (segment.partition, start.wrap, start.lpos);
            let block = first.entry(at).or_insert(segment.first_block);
            *block = segment.first_block.min(*block);
        }
    }
    let mut learned = LearnedMap::new(nominal.clone(), &tape.geometry);
    for (&(partition, wrap, lpos), &block) in &first {
        let at = Position {
            partition,
            wrap,
            lpos,
            source: PositionSource::Recorded,
            error_lpos: 0,
        };
        if wrap < tape.geometry.wraps {
            learned.observe(block, false, &at);
        }
    }
    match learned.seen() {
        0 => (nominal, Whence::Nominal { title, share_error }),
        places => (learned.block_map(), Whence::Recorded { places, title }),
    }
}
