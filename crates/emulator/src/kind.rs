//! The catalogue of emulated drives: what each is called, what it can do, how it moves tape.
//!
//! Published numbers are read from the profiles. What no publication tells and mechanics need all
//! the same stands in `kind/catalogue.rs` and `kind/transports.rs`, each number with its reason;
//! docs/method/emulator.md lists them.

pub(crate) mod catalogue;
mod perturb;
mod transports;

use crate::mechanics::{Helical, Loading, Noise, Serpentine, Streaming};
use tapewise_model::profile::{BlockSizes, Known, UnmountMidtape};
use tapewise_model::{Layout, Profile, profile};

/// A drive to emulate, with the cartridge that belongs to it.
#[derive(Clone, Debug)]
pub struct DriveKind {
    /// The name of its profile.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// The line of drives it belongs to.
    pub family: Family,
    /// Vendor, product and revision as INQUIRY states them.
    pub identity: Identity,
    /// Density code of its medium in the block descriptor of MODE SENSE.
    pub density_code: u8,
    /// Whether the drive proposes an order of reading (GENERATE RECOMMENDED ACCESS ORDER).
    pub has_rao: bool,
    /// Whether the drive tells where its wraps end (READ END OF WRAP POSITION).
    pub has_end_of_wrap_table: bool,
    /// Whether REQUEST SENSE tells the physical wrap and the longitudinal position.
    pub reports_position_in_sense: bool,
    /// Block sizes: any, or multiples of one.
    pub blocks: BlockSizes,
    /// The largest block in bytes, as READ BLOCK LIMITS states it.
    pub largest_block: u32,
    /// The drive's own compression, absent where it has none.
    pub compression: Option<Compression>,
    /// Where a cartridge may be taken out.
    pub unmount_midtape: UnmountMidtape,
    /// Most partitions of a cartridge.
    pub partitions: u8,
    /// The drive's buffer in bytes.
    pub buffer_bytes: u64,
    /// Rated life of a cartridge.
    pub life: Life,
    /// The cartridge's shape.
    pub shape: Shape,
    /// How the drive moves from place to place.
    pub transport: Transport,
    /// How it streams.
    pub streaming: Streaming,
    /// How it takes a cartridge in and gives it out.
    pub loading: Loading,
    /// How irregular its motions are.
    pub noise: Noise,
}

/// Lines of drives that behave alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// 4mm, Ampex DST, Sony DTF.
    Helical,
    /// DLT4000, DLT7000.
    Dlt,
    /// IBM 3590.
    Ibm3590,
    /// IBM 3570, loaded in the middle of the tape.
    Ibm3570,
    /// Linear Tape-Open.
    Lto,
    /// IBM 3592: TS1140 to TS1170.
    Ibm3592,
    /// StorageTek T10000.
    T10000,
}

/// Who a drive says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// At most 8 characters.
    pub vendor: &'static str,
    /// At most 16 characters.
    pub product: &'static str,
    /// At most 4 characters.
    pub revision: &'static str,
}

/// The capacity that compression gains at gzip ratio C: `a + b C` (Johnson & Miller 1998, 5.6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compression {
    /// At gzip ratio 0.
    pub a: f64,
    /// For each unit of gzip ratio.
    pub b: f64,
}

impl Compression {
    /// Bytes on tape for `host_bytes` that gzip would compress `gzip_ratio` to 1.
    pub fn recorded_bytes(&self, host_bytes: u64, gzip_ratio: f64) -> u64 {
        (host_bytes as f64 / (self.a + self.b * gzip_ratio.max(1.0))).ceil() as u64
    }
}

/// Rated life of a cartridge, where one is published.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Life {
    /// Passes of the head over a place.
    pub passes: Option<f64>,
    /// Full reads or writes.
    pub volume_passes: Option<f64>,
    /// Loads and unloads.
    pub loads: Option<f64>,
    /// Metres of tape moved.
    pub motion_m: Option<f64>,
}

/// What all cartridges of a kind have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Wraps; DLT: tracks; helical: 1.
    pub wraps: u16,
    /// Data bands.
    pub bands: u16,
    /// LPOS at the beginning of data.
    pub lpos_min: f64,
    /// LPOS at its far end.
    pub lpos_max: f64,
    /// Metres of tape for each LPOS unit.
    pub metres_per_lpos: f64,
    /// Bytes that a full wrap takes on average.
    pub wrap_bytes: f64,
    /// Wraps left unwritten between two partitions.
    pub guard_wraps: u16,
    /// How cartridges differ.
    pub spread: Spread,
    /// The places on a wrap that the drive can find by a fast search.
    pub landings: Landings,
    /// Where a cartridge lies when it is loaded, as a share of the tape: 0, or 0.5 for the 3570.
    pub load_point: f64,
}

/// How the cartridges of a kind differ from each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Standard deviation of the bytes on a stretch of tape, as a share.
    pub density_sd: f64,
    /// Chance that a stretch of tape has a bad spot.
    pub bad_spot_chance: f64,
    /// Most that a bad spot takes of its stretch, as a share.
    pub bad_spot_most: f64,
    /// Standard deviation of a wrap's end, in LPOS.
    pub wrap_end_sd_lpos: f64,
    /// Standard deviation of a landing point's place, in LPOS.
    pub landing_sd_lpos: f64,
}

/// Where on a wrap a fast search can end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Landings {
    /// At any place (helical).
    Anywhere,
    /// At the beginnings of this many sections of each wrap, the last shorter by this share.
    Sections {
        /// Sections of a wrap.
        count: u16,
        /// The length of the section farthest from the beginning of tape, in lengths of others.
        last: f64,
    },
    /// Every so many metres from the beginning of tape.
    Every {
        /// Metres from one to the next.
        metres: f64,
    },
}

/// How a drive moves from place to place.
#[derive(Clone, Debug, PartialEq)]
pub enum Transport {
    /// To and fro on wraps.
    Serpentine(Serpentine),
    /// Along one helical track.
    Helical(Helical),
}

impl DriveKind {
    /// The kind of that name, if there is one.
    pub fn find(name: &str) -> Option<DriveKind> {
        let entry = catalogue::ENTRIES.iter().find(|entry| entry.name == name)?;
        let profile = profile::find(name).ok()?;
        Some(DriveKind::new(entry, &profile))
    }

    /// The names of all kinds, in order of listing.
    pub fn names() -> impl Iterator<Item = &'static str> {
        catalogue::ENTRIES.iter().map(|entry| entry.name)
    }

    fn new(entry: &catalogue::Entry, profile: &Profile) -> DriveKind {
        let features = &profile.features;
        let rate_mb_s = number(&profile.transfer.rate_mb_s).unwrap_or(entry.rate_mb_s);
        let shape = transports::shape(entry, profile, rate_mb_s);
        let transport = transports::transport(entry, profile, &shape, rate_mb_s);
        let streaming = Streaming::of(profile, entry, rate_mb_s);
        let is_lto = entry.family == Family::Lto;
        let compression = match number(&profile.transfer.compression_ratio) {
            Some([a, b]) => Some(Compression { a, b }),
            // A drive gains about half of what gzip gains (Johnson & Miller 1998, section 5.6).
            None if features.compression.as_ref().is_none_or(|on| on.value) => {
                Some(Compression { a: 0.5, b: 0.5 })
            }
            None => None,
        };
        DriveKind {
            name: profile.name.clone(),
            title: profile.title.clone(),
            family: entry.family,
            identity: entry.identity,
            density_code: number(&profile.cartridge.density_code)
                .map_or(entry.density_code, |code| code as u8),
            has_rao: number(&features.rao).unwrap_or(false),
            has_end_of_wrap_table: number(&features.end_of_wrap_table).unwrap_or(false),
            reports_position_in_sense: is_lto || entry.family == Family::Ibm3592,
            blocks: number(&features.block).unwrap_or(BlockSizes::Variable),
            largest_block: entry.largest_block,
            compression,
            unmount_midtape: number(&features.unmount_midtape).unwrap_or(UnmountMidtape::No),
            partitions: number(&profile.cartridge.partitions).unwrap_or(1) as u8,
            buffer_bytes: streaming.buffer_bytes as u64,
            life: Life {
                passes: number(&profile.life.passes),
                volume_passes: number(&profile.life.volume_passes),
                loads: number(&profile.life.loads),
                motion_m: number(&profile.life.motion_m),
            },
            loading: Loading::of(profile, entry),
            noise: transports::noise(entry),
            shape,
            transport,
            streaming,
        }
    }

    /// Whether data lies to and fro on wraps.
    pub fn is_serpentine(&self) -> bool {
        matches!(self.transport, Transport::Serpentine(_))
    }

    /// Serpentine or helical.
    pub fn layout(&self) -> Layout {
        match self.transport {
            Transport::Serpentine(_) => Layout::Serpentine,
            Transport::Helical(_) => Layout::Helical,
        }
    }

    /// Bytes that a cartridge takes on average.
    pub fn capacity_bytes(&self) -> u64 {
        (self.shape.wrap_bytes * f64::from(self.shape.wraps)) as u64
    }
}

/// The value of a profile's entry, if the profile has it.
pub(crate) fn number<T: Clone>(known: &Known<T>) -> Option<T> {
    known.as_ref().map(|sourced| sourced.value.clone())
}
