//! The emulated drives: what each is called, what it can do, how it moves tape.
//!
//! One file in `mechanics/` for each drive, in physical quantities, every value with its source. A file may say
//! `like = "family-lto"` and then states only what it does not share with that file. The profiles of
//! `tapewise_model` are not read here: what a model believes and what an emulated drive does are two things, and
//! tests/kinds.rs compares them.

mod files;
mod perturb;

use crate::mechanics::{Loading, Mechanism, Noise, Streaming, Transport};
use crate::shape::Shape;
use serde::Deserialize;
use tapewise_model::Layout;
use tapewise_model::profile::{BlockSizes, UnmountMidtape};

pub use files::KindError;

/// A drive to emulate, with the cartridge that belongs to it.
#[derive(Clone, Debug)]
pub struct DriveKind {
    /// Its name, which is that of its profile too.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// The line of drives it belongs to.
    pub family: Family,
    /// Vendor, product and revision as INQUIRY states them.
    pub identity: Identity,
    /// What the drive can do.
    pub features: Features,
    /// The drive's own compression, absent where it has none.
    pub compression: Option<Compression>,
    /// Rated life of a cartridge.
    pub life: Life,
    /// The cartridge's shape.
    pub shape: Shape,
    /// How the drive moves tape.
    pub mechanism: Mechanism,
}

/// Lines of drives that behave alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// At most 8 characters.
    pub vendor: String,
    /// At most 16 characters.
    pub product: String,
    /// At most 4 characters.
    pub revision: String,
    /// Density code of its medium in the block descriptor of MODE SENSE.
    pub density_code: u8,
    /// The largest block in bytes, as READ BLOCK LIMITS states it.
    pub largest_block: u32,
}

/// What a drive can do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// The drive proposes an order of reading (GENERATE RECOMMENDED ACCESS ORDER).
    pub access_order: bool,
    /// The drive tells where its wraps end (READ END OF WRAP POSITION).
    pub end_of_wrap_table: bool,
    /// REQUEST SENSE tells the physical wrap and the longitudinal position.
    pub position_in_sense: bool,
    /// Block sizes: any, or multiples of one.
    pub block_sizes: BlockSizes,
    /// Where a cartridge may be taken out.
    pub unmount_midtape: UnmountMidtape,
    /// Most partitions of a cartridge.
    pub partitions: u8,
}

/// The capacity that compression gains at gzip ratio C: `a + b C` (Johnson & Miller 1998, 5.6).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
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

/// A file of mechanics, its sources left out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KindFile {
    title: String,
    family: Family,
    identity: Identity,
    features: Features,
    tape: Shape,
    transport: Transport,
    streaming: Streaming,
    compression: Option<Compression>,
    loading: Loading,
    noise: Noise,
    #[serde(default)]
    life: Life,
}

impl DriveKind {
    /// The kind of that name, if there is one.
    pub fn find(name: &str) -> Option<DriveKind> {
        let (_, text) = files::KINDS.iter().find(|(kind, _)| *kind == name)?;
        // The files of the program are read in a test: a mistake in one is found there.
        DriveKind::parse(name, text).ok()
    }

    /// The names of all kinds, in order of listing.
    pub fn names() -> impl Iterator<Item = &'static str> {
        files::KINDS.iter().map(|(name, _)| *name)
    }

    /// The kind that the text of a file of mechanics describes.
    ///
    /// # Errors
    /// [`KindError`] with the key that is missing, unknown, or has no source.
    pub fn parse(name: &str, text: &str) -> Result<DriveKind, KindError> {
        let file: KindFile = files::read(name, text)?;
        Ok(DriveKind {
            name: name.to_owned(),
            title: file.title,
            family: file.family,
            identity: file.identity,
            compression: file.compression,
            life: file.life,
            shape: file.tape,
            mechanism: Mechanism {
                transport: file.transport,
                streaming: file.streaming,
                loading: file.loading,
                noise: file.noise,
                unmount_midtape: file.features.unmount_midtape,
            },
            features: file.features,
        })
    }

    /// Whether data lies to and fro on wraps.
    pub fn is_serpentine(&self) -> bool {
        self.mechanism.transport.is_serpentine()
    }

    /// Serpentine or helical.
    pub fn layout(&self) -> Layout {
        match self.mechanism.transport {
            Transport::Serpentine(_) => Layout::Serpentine,
            Transport::Helical(_) => Layout::Helical,
        }
    }

    /// Bytes that a cartridge takes on average.
    pub fn capacity_bytes(&self) -> u64 {
        (self.shape.wrap_bytes * f64::from(self.shape.wraps)) as u64
    }
}
