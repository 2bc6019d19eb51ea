//! A cartridge: the profile of its drive, and what is known of where its blocks lie.
//!
//! Every caller that wants to know where a block is comes through [`Cartridge::block_map`], so there
//! is one choice and one set of rules. From the most trusted source to the least:
//!
//! 1. **Positions recorded with the request itself** need no map: see
//!    [`Cartridge::place`](crate::Cartridge::place).
//! 2. **The drive's table of wrap ends.** Its partitions and uneven wraps hold as they are. A table
//!    that contradicts itself, or that names a wrap which the profile's cartridge does not have, is
//!    an error.
//! 3. **Places that the drive reported for a few blocks** (probed, or recorded while the cartridge
//!    was written) correct the nominal geometry.
//!    * A place on a wrap that the profile's cartridge does not have is an error, as in a table:
//!      the profile is that of another cartridge, and all times predicted with it would be wrong.
//!    * If several blocks were reported at one place, the first of them counts: it lies nearest.
//!    * Places that may lie more than 0.8 % of a wrap from their blocks say less than the geometry
//!      does, and none of them counts.
//!    * If no place counts, the map is the nominal one, and its origin says so.
//! 4. **Key points** found by timing, for drives that are modelled by them. For other drives they
//!    are an error.
//! 5. **The nominal geometry** of the profile, in the layout that was given; without one, LTFS
//!    volumes have the partitions of LTFS and all others have a single one. It needs the size of a
//!    block.
//!
//! There is no sixth way: without any of these the answer is an error.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use tapewise_formats::map_file::{MapFile, ProbedPlace};
use tapewise_model::profile::{Kind, ProfileError};
use tapewise_model::{
    BlockMap, EndOfWrap, KeyPoints, LearnedMap, MapError, NominalLayout, Position, PositionSource,
    Profile,
};
use tapewise_order::Tape;

/// Largest share of a wrap that a reported place may lie from the block it was reported for:
/// interpolation between the ends of a wrap errs by as much. Only scaled cartridges of the emulator
/// exceed it.
const MOST_BESIDE: f64 = 0.008;

/// How a cartridge is partitioned if only its nominal geometry is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionLayout {
    /// One partition over all wraps.
    Single,
    /// The index partition of LTFS, guard wraps, the data partition.
    Ltfs,
}

/// A cartridge with the drive that reads it, and what is known of where its blocks lie.
///
/// Cloning is cheap but for the map.
#[derive(Clone, Debug)]
pub struct Cartridge {
    profile: Arc<Profile>,
    tape: Tape,
    layout: Option<PartitionLayout>,
    measured: Option<Measured>,
}

/// What was measured on this very cartridge.
#[derive(Clone, Debug)]
struct Measured {
    /// What messages call it: the name of its file.
    name: String,
    found: Measurement,
}

#[derive(Clone, Debug)]
enum Measurement {
    WrapEnds(Vec<EndOfWrap>),
    Places {
        places: Vec<ProbedPlace>,
        /// Bytes of tape that a place may lie from its block, for places told at writing.
        written_beside_bytes: Option<u64>,
    },
    KeyPoints(KeyPoints),
}

/// Where a [`BlockMap`] comes from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MapOrigin {
    /// The drive's own table of wrap ends.
    WrapEnds {
        /// Wraps with data.
        wraps: usize,
    },
    /// Nominal geometry, corrected by places that the drive reported for a few blocks.
    Probed {
        /// Places that counted.
        places: usize,
        /// The cartridge whose geometry it is.
        title: String,
    },
    /// Nominal geometry, corrected by places that the drive reported while the cartridge was written.
    Written {
        /// Places that counted.
        places: usize,
        /// The cartridge whose geometry it is.
        title: String,
    },
    /// Key points found by timing.
    KeyPoints {
        /// Wraps (tracks).
        wraps: usize,
    },
    /// Nominal geometry alone.
    Nominal {
        /// The cartridge whose geometry it is.
        title: String,
        /// Error of a position as a share of its block number: 0.01 is 1 %.
        share_error: f64,
    },
}

impl fmt::Display for MapOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ending = |count: usize| if count == 1 { "" } else { "s" };
        match self {
            MapOrigin::WrapEnds { wraps } => {
                let s = ending(*wraps);
                write!(
                    f,
                    "the drive's table of wrap ends, {wraps} wrap{s} with data"
                )
            }
            MapOrigin::Probed { places, title } => {
                let s = ending(*places);
                write!(
                    f,
                    "nominal geometry of {title}, put right by {places} place{s} that the drive told"
                )
            }
            MapOrigin::Written { places, title } => {
                let s = ending(*places);
                write!(
                    f,
                    "nominal geometry of {title}, put right by {places} place{s} that the drive told when it was \
                     written"
                )
            }
            MapOrigin::KeyPoints { wraps } => {
                let s = ending(*wraps);
                write!(f, "key points of this cartridge, {wraps} wrap{s}")
            }
            MapOrigin::Nominal { title, share_error } => {
                let error = share_error * 100.0;
                write!(f, "nominal geometry of {title}, taken as +-{error} %")
            }
        }
    }
}

/// Why it cannot be told where the blocks of a cartridge lie.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CartridgeError {
    /// The profile knows too little of the drive.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The profile describes a library.
    #[error("{name} is the profile of a library ({title}); a drive is needed here")]
    Library {
        /// The profile's name.
        name: String,
        /// What it is the profile of.
        title: String,
    },
    /// The drive's table of wrap ends contradicts itself or the profile.
    #[error("{map}: {source}")]
    Table {
        /// The map's name.
        map: String,
        /// What is wrong with it.
        source: MapError,
    },
    /// A reported place is on a wrap that the cartridge does not have.
    #[error("{map}: place {number} (wrap {wrap}): the cartridge has wraps 0 to {last} only")]
    NoSuchWrap {
        /// The map's name.
        map: String,
        /// Which place, from 1.
        number: usize,
        /// Its wrap.
        wrap: u16,
        /// The last wrap of the profile's cartridge.
        last: u16,
    },
    /// Key points, and a drive whose locate times do not depend on them.
    #[error("{map}: key points, but {profile} is not modelled by them")]
    KeyPointsUnused {
        /// The map's name.
        map: String,
        /// The profile's name.
        profile: String,
    },
    /// The profile does not say how LTFS divides its cartridges.
    #[error("profile {profile}: its partitions are not known")]
    PartitionsUnknown {
        /// The profile's name.
        profile: String,
    },
    /// Nominal geometry needs the size of a block.
    #[error("without the size of a block tapewise cannot tell where the blocks lie")]
    BlockSizeUnknown,
}

impl Cartridge {
    /// A cartridge of which only the profile is known: its geometry is nominal.
    ///
    /// # Errors
    /// [`CartridgeError::Library`], and [`CartridgeError::Profile`] if the profile leaves out the
    /// geometry or the locate times.
    pub fn new(profile: impl Into<Arc<Profile>>) -> Result<Cartridge, CartridgeError> {
        let profile = profile.into();
        if profile.kind == Kind::Library {
            return Err(CartridgeError::Library {
                name: profile.name.clone(),
                title: profile.title.clone(),
            });
        }
        let tape = Tape::new(&profile, None)?;
        Ok(Cartridge {
            profile,
            tape,
            layout: None,
            measured: None,
        })
    }

    /// The same cartridge with a map of it. `name` is what messages call the map, its file as a rule.
    ///
    /// # Errors
    /// [`CartridgeError::KeyPointsUnused`], [`CartridgeError::NoSuchWrap`], and
    /// [`CartridgeError::Profile`] if the profile cannot use key points.
    pub fn with_map(self, name: &str, map: MapFile) -> Result<Cartridge, CartridgeError> {
        let found = match map {
            MapFile::EndOfWrap(table) => Measurement::WrapEnds(table),
            MapFile::Probed(places) => Measurement::Places {
                places,
                written_beside_bytes: None,
            },
            MapFile::KeyPoints(key_points) => Measurement::KeyPoints(key_points),
        };
        self.with(name, found)
    }

    /// The same cartridge with the places that its drive reported while it was written. A file's
    /// place may lie up to `beside_bytes` bytes of tape before the file.
    ///
    /// # Errors
    /// [`CartridgeError::NoSuchWrap`].
    pub fn with_written_places(
        self,
        name: &str,
        places: Vec<ProbedPlace>,
        beside_bytes: u64,
    ) -> Result<Cartridge, CartridgeError> {
        let found = Measurement::Places {
            places,
            written_beside_bytes: Some(beside_bytes),
        };
        self.with(name, found)
    }

    fn with(mut self, name: &str, found: Measurement) -> Result<Cartridge, CartridgeError> {
        let map = || name.to_owned();
        match &found {
            Measurement::KeyPoints(key_points) => {
                if self.profile.nominal_sections().is_none() {
                    return Err(CartridgeError::KeyPointsUnused {
                        map: map(),
                        profile: self.profile.name.clone(),
                    });
                }
                self.tape = Tape::new(&self.profile, Some(key_points))?;
            }
            Measurement::Places { places, .. } => {
                let wraps = self.tape.geometry.wraps;
                let outside = places.iter().position(|place| place.wrap >= wraps);
                if let Some(at) = outside {
                    return Err(CartridgeError::NoSuchWrap {
                        map: map(),
                        number: at + 1,
                        wrap: places[at].wrap,
                        last: wraps.saturating_sub(1),
                    });
                }
            }
            Measurement::WrapEnds(_) => {}
        }
        let name = map();
        self.measured = Some(Measured { name, found });
        Ok(self)
    }

    /// The same cartridge with a layout of partitions, for nominal geometry.
    pub fn with_layout(self, layout: PartitionLayout) -> Cartridge {
        Cartridge {
            layout: Some(layout),
            ..self
        }
    }

    /// The profile of its drive.
    pub fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    /// Its geometry and times, as ordering needs them.
    pub fn tape(&self) -> &Tape {
        &self.tape
    }

    /// The name of its map, if it has one.
    pub fn map_name(&self) -> Option<&str> {
        self.measured.as_ref().map(|known| known.name.as_str())
    }

    /// Whether the whole tape is mapped by what was measured, so that its blocks need no size.
    pub(crate) fn is_mapped(&self) -> bool {
        let found = self.measured.as_ref().map(|known| &known.found);
        matches!(
            found,
            Some(Measurement::WrapEnds(_) | Measurement::KeyPoints(_))
        )
    }

    /// Where the blocks lie and where that is known from, by the rules at the top of this module.
    ///
    /// `block_bytes` is the bytes of tape that a block takes, `is_ltfs` whether blocks are counted
    /// in the partitions of an LTFS volume.
    ///
    /// # Errors
    /// [`CartridgeError`], if no rule gives an answer.
    pub fn block_map(
        &self,
        block_bytes: Option<u64>,
        is_ltfs: bool,
    ) -> Result<(BlockMap, MapOrigin), CartridgeError> {
        let Some(Measured { name, found }) = &self.measured else {
            return self.nominal(block_bytes, is_ltfs);
        };
        match found {
            Measurement::WrapEnds(table) => {
                // Only a partition without a complete wrap needs the nominal length of one.
                let usual = block_bytes.and_then(|bytes| self.profile.wrap_blocks(bytes).ok());
                let map = BlockMap::from_end_of_wrap(&self.tape.geometry, table, usual);
                let map = map.map_err(|source| CartridgeError::Table {
                    map: name.clone(),
                    source,
                })?;
                let wraps = wraps_of(&map);
                Ok((map, MapOrigin::WrapEnds { wraps }))
            }
            Measurement::KeyPoints(key_points) => {
                let map = key_points.block_map();
                let wraps = wraps_of(&map);
                Ok((map, MapOrigin::KeyPoints { wraps }))
            }
            Measurement::Places {
                places,
                written_beside_bytes,
            } => {
                let (nominal, origin) = self.nominal(block_bytes, is_ltfs)?;
                let beside_bytes = written_beside_bytes.unwrap_or(0) as f64;
                if beside_bytes > MOST_BESIDE * self.tape.wrap_bytes {
                    return Ok((nominal, origin));
                }
                let learned = self.corrected(nominal, places);
                let (places, title) = (learned.seen(), self.profile.title.clone());
                match (places, written_beside_bytes) {
                    (0, _) => Ok((learned.believed().clone(), origin)),
                    (_, None) => Ok((learned.block_map(), MapOrigin::Probed { places, title })),
                    (_, Some(_)) => Ok((learned.block_map(), MapOrigin::Written { places, title })),
                }
            }
        }
    }

    /// The layout that was given, or the one that the batch implies.
    pub(crate) fn nominal_layout(&self, is_ltfs: bool) -> Result<NominalLayout, CartridgeError> {
        match self.layout {
            Some(PartitionLayout::Single) => Ok(NominalLayout::Single),
            None if !is_ltfs => Ok(NominalLayout::Single),
            Some(PartitionLayout::Ltfs) | None => {
                let unknown = || CartridgeError::PartitionsUnknown {
                    profile: self.profile.name.clone(),
                };
                self.profile.ltfs_layout().ok_or_else(unknown)
            }
        }
    }

    fn nominal(
        &self,
        block_bytes: Option<u64>,
        is_ltfs: bool,
    ) -> Result<(BlockMap, MapOrigin), CartridgeError> {
        let layout = self.nominal_layout(is_ltfs)?;
        let block_bytes = block_bytes.ok_or(CartridgeError::BlockSizeUnknown)?;
        let map = self.profile.nominal_map(layout, block_bytes)?;
        let origin = MapOrigin::Nominal {
            title: self.profile.title.clone(),
            share_error: map.share_error(),
        };
        Ok((map, origin))
    }

    /// Nominal geometry put right by places that the drive reported.
    fn corrected(&self, nominal: BlockMap, places: &[ProbedPlace]) -> LearnedMap {
        let at = |place: &ProbedPlace| (place.partition, place.wrap, place.lpos);
        let mut first = BTreeMap::new();
        for place in places {
            let block = first.entry(at(place)).or_insert(place.block);
            *block = place.block.min(*block);
        }
        let mut learned = LearnedMap::new(nominal, &self.tape.geometry);
        for place in places {
            if first.get(&at(place)) != Some(&place.block) {
                continue;
            }
            let position = Position {
                partition: place.partition,
                wrap: place.wrap,
                lpos: place.lpos,
                source: PositionSource::Recorded,
                error_lpos: 0,
            };
            learned.observe(place.block, false, &position);
        }
        learned
    }
}

/// Wraps on which the map has blocks.
fn wraps_of(map: &BlockMap) -> usize {
    map.spans().chunk_by(|a, b| a.wrap == b.wrap).count()
}
