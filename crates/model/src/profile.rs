//! What we know of a drive or a library: one TOML file each, every value with its source.

mod builtin;
mod check;
pub mod comparison;
mod drive;
mod limits;
pub mod means;
mod near;
pub mod text;
mod write;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

pub use builtin::{BUILTIN, find, names};
pub use check::Fault;
pub use near::near;

pub use crate::locate::{
    FourRegionValues, HelicalValues, KeyPointValues, LandingValues, Locate, LtoValues,
};
pub use crate::sourced::{Known, Sourced};

/// How far a profile can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Its times were confirmed on hardware.
    Verified,
    /// Its times are a model that somebody fitted to this drive and published.
    PublishedModel,
    /// Its times were recovered from our emulator only.
    Emulated,
    /// Its times are derived from specifications, or transferred from another drive.
    Estimate,
    /// Too little is known to predict times.
    FactsOnly,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Status::Verified => "verified on hardware",
            Status::PublishedModel => "published model",
            Status::Emulated => "emulated only",
            Status::Estimate => "estimate",
            Status::FactsOnly => "facts only",
        })
    }
}

/// Whether the profile is of a drive or of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A tape drive with its cartridge.
    Drive,
    /// A robot with its slots.
    Library,
}

/// A profile as its TOML file states it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The name used on the command line; also the file's name.
    pub name: String,
    /// What people call the device.
    pub title: String,
    /// Drive or library.
    pub kind: Kind,
    /// How far to trust it.
    pub status: Status,
    /// One sentence on what the times rest on.
    pub summary: String,
    /// Key to full reference.
    pub sources: BTreeMap<String, String>,
    /// The cartridge's shape and capacity.
    #[serde(default)]
    pub cartridge: CartridgeSpec,
    /// Rates and buffers.
    #[serde(default)]
    pub transfer: Transfer,
    /// Loading, unloading and rewinding.
    #[serde(default)]
    pub handling: Handling,
    /// The two-number summary of long seeks (Johnson & Miller 1998, section 5.7).
    #[serde(default)]
    pub seek: Seek,
    /// The locate-time model, absent where too little is known.
    pub locate: Option<Locate>,
    /// Rated life.
    #[serde(default)]
    pub life: Life,
    /// What the drive can do for a host.
    #[serde(default)]
    pub features: Features,
    /// Robot times and counts, for libraries.
    #[serde(default)]
    pub robot: Robot,
}

/// The cartridge's shape and capacity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CartridgeSpec {
    /// Serpentine or helical.
    pub layout: Known<crate::geometry::Layout>,
    /// Native capacity in decimal GB.
    pub capacity_gb: Known<f64>,
    /// Tape length in metres.
    pub length_m: Known<f64>,
    /// Metres of tape that carry user data.
    pub usable_m: Known<f64>,
    /// Wraps (DLT: tracks).
    pub wraps: Known<u16>,
    /// Data bands.
    pub bands: Known<u16>,
    /// Lowest LPOS of data.
    pub lpos_min: Known<u32>,
    /// Highest LPOS of data.
    pub lpos_max: Known<u32>,
    /// Sections of a wrap.
    pub sections: Known<u16>,
    /// Decimal GB on a full wrap.
    pub wrap_gb: Known<f64>,
    /// Data sets on a full wrap.
    pub data_sets_per_wrap: Known<f64>,
    /// Decimal KB of a data set.
    pub data_set_kb: Known<f64>,
    /// Error of a block's place in nominal geometry, as a share of its block number.
    pub nominal_error: Known<f64>,
    /// Wraps of the index partition that LTFS makes.
    pub ltfs_index_wraps: Known<u16>,
    /// Unwritten wraps between two partitions.
    pub guard_wraps: Known<u16>,
    /// Most partitions.
    pub partitions: Known<u16>,
    /// Places from which a drive can start reading after a fast search, along the tape.
    pub position_areas: Known<u16>,
    /// Density code (MODE SENSE block descriptor).
    pub density_code: Known<u16>,
    /// Recording channels.
    pub channels: Known<u16>,
}

/// Rates and buffers. MB are decimal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// Native streaming rate.
    pub rate_mb_s: Known<f64>,
    /// Smallest request that reaches the rate, in KB.
    pub transfer_kb: Known<f64>,
    /// Seconds for each MB read at gzip ratio C: a + b / C (Johnson & Miller 1998, section 5.6).
    pub read_s_per_mb: Known<[f64; 2]>,
    /// The same for writing.
    pub write_s_per_mb: Known<[f64; 2]>,
    /// The drive's own compression ratio at gzip ratio C: a + b C.
    pub compression_ratio: Known<[f64; 2]>,
    /// Largest delay between reads without loss of rate, in ms.
    pub read_delay_ms: Known<f64>,
    /// Data buffer in MB.
    pub buffer_mb: Known<f64>,
    /// Time to start again after the drive has disengaged the tape.
    pub restart_s: Known<f64>,
    /// The rates that speed matching offers, in MB/s, fastest first.
    pub speed_matching_mb_s: Known<Vec<f64>>,
}

/// Loading, unloading and rewinding, in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handling {
    /// Cartridge in the drive until ready.
    pub mount_s: Known<f64>,
    /// Request until the cartridge can be taken, tape rewound.
    pub unmount_s: Known<f64>,
    /// The same from the middle of the tape, where the drive allows it: mean.
    pub unmount_midtape_s: Known<f64>,
    /// Its standard deviation.
    pub unmount_midtape_sd_s: Known<f64>,
    /// Extra time of the first seek after a mount of a tape that was not rewound.
    pub first_seek_not_rewound_s: Known<f64>,
    /// Mean rewind.
    pub rewind_mean_s: Known<f64>,
    /// Rewind from the far end.
    pub rewind_full_s: Known<f64>,
    /// Mean time from load point to a record.
    pub search_mean_s: Known<f64>,
    /// Reversal at the end of a wrap while streaming.
    pub turnaround_s: Known<f64>,
    /// Stop, back up and start again.
    pub backhitch_s: Known<f64>,
    /// Measured mean from file to file, in the order of the list.
    pub file_to_file_s: Known<f64>,
    /// The same in the drive's recommended access order.
    pub file_to_file_rao_s: Known<f64>,
}

/// The two-number summary of long seeks, and the short ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seek {
    /// Fixed time of a seek.
    pub startup_s: Known<f64>,
    /// The same with the drive's positioning hints.
    pub startup_hinted_s: Known<f64>,
    /// Additional time across the whole tape (serpentine: track).
    pub full_s: Known<f64>,
    /// Below this many MB reading on is no slower than seeking.
    pub min_seek_mb: Known<f64>,
    /// Robot fetch that the paper's Table 5 assumes.
    pub fetch_s: Known<f64>,
}

/// Rated life.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Life {
    /// Full passes.
    pub passes: Known<f64>,
    /// Full reads or writes of the volume.
    pub volume_passes: Known<f64>,
    /// Loads and unloads.
    pub loads: Known<f64>,
    /// Metres of tape moved.
    pub motion_m: Known<f64>,
}

/// What the drive can do for a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// Orders reads by itself (GENERATE RECOMMENDED ACCESS ORDER).
    pub rao: Known<bool>,
    /// Most segments in one such request.
    pub rao_segments: Known<u32>,
    /// Tells where its wraps end (READ END OF WRAP POSITION).
    pub end_of_wrap_table: Known<bool>,
    /// Compresses.
    pub compression: Known<bool>,
    /// Can unmount without rewinding.
    pub unmount_midtape: Known<UnmountMidtape>,
    /// Sizes of blocks.
    pub block: Known<BlockSizes>,
    /// What the tape is packed in.
    pub package: Known<Package>,
}

/// Whether a drive can unmount without rewinding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnmountMidtape {
    /// Only at the beginning of tape.
    No,
    /// At one of several zones.
    Yes,
    /// At the beginning of tape or at end of data.
    Restricted,
}

/// Whether all blocks on a tape have one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockSizes {
    /// One size.
    Fixed,
    /// Any size.
    Variable,
}

/// What a tape is packed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Package {
    /// Two reels.
    Cassette,
    /// One reel.
    Cartridge,
}

/// Robot times in seconds, and counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Robot {
    /// Cartridge slots.
    pub slots: Known<u32>,
    /// Most drives.
    pub drives: Known<u32>,
    /// Shelf to drive: mean.
    pub fetch_s: Known<f64>,
    /// Its standard deviation.
    pub fetch_sd_s: Known<f64>,
    /// Drive to shelf: mean.
    pub return_s: Known<f64>,
    /// Its standard deviation.
    pub return_sd_s: Known<f64>,
    /// Inventory of one frame, at most.
    pub inventory_s: Known<f64>,
    /// Slots of the import/export station.
    pub io_slots: Known<u32>,
    /// Request to tape ready, in the library: least and most.
    pub mount_range_s: Known<[f64; 2]>,
    /// Unload to shelf: least and most.
    pub unmount_range_s: Known<[f64; 2]>,
}

/// Why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The text is not a profile.
    #[error("{file}: not a profile: {message}")]
    Toml {
        /// The profile's file or name.
        file: String,
        /// The parser's message with line and column.
        message: String,
    },
    /// A value names a source that is not listed.
    #[error("{file}: {field} names the source `{source_key}`, which [sources] does not list")]
    UnknownSource {
        /// The profile's file or name.
        file: String,
        /// Dotted path of the value.
        field: String,
        /// The key that is missing.
        source_key: String,
    },
    /// A value is impossible.
    #[error("{file}: {field}: {reason}")]
    Value {
        /// The profile's file or name.
        file: String,
        /// Dotted path of the value.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Something this use needs is not known of the drive.
    #[error("profile {name}: {what} is not known, so {consequence}")]
    Unknown {
        /// The profile's name.
        name: String,
        /// What is not known.
        what: String,
        /// What cannot be done without it.
        consequence: String,
    },
    /// There is no profile of that name.
    #[error("no profile `{name}`; there are: {known}")]
    NoSuchProfile {
        /// The name asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
}

impl Profile {
    /// Reads a profile from its TOML text; `file` is used in errors only.
    pub fn from_toml(file: &str, text: &str) -> Result<Profile, ProfileError> {
        let toml_error = |error: toml::de::Error| ProfileError::Toml {
            file: file.to_owned(),
            message: error.to_string().trim().to_owned(),
        };
        let table: toml::Table = toml::from_str(text).map_err(toml_error)?;
        let profile: Profile = toml::from_str(text).map_err(toml_error)?;
        limits::check(file, &table)?;
        for value in values(&table) {
            let source = value.source.to_owned();
            if !profile.sources.contains_key(&source) {
                return Err(ProfileError::UnknownSource {
                    file: file.to_owned(),
                    field: value.field,
                    source_key: source,
                });
            }
            if let Some(reason) = value.fault {
                return Err(ProfileError::Value {
                    file: file.to_owned(),
                    field: value.field,
                    reason: format!("is {}, but {reason}", value.text),
                });
            }
        }
        profile.check(file)?;
        Ok(profile)
    }
}

/// One sourced value of a profile, for listing.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileValue {
    /// Dotted path, such as `cartridge.wraps`.
    pub field: String,
    /// The value as text.
    pub text: String,
    /// The key of its source.
    pub source: String,
    /// Its note, if any.
    pub note: Option<String>,
    /// What makes the number, or one of them, impossible.
    fault: Option<&'static str>,
}

/// Every sourced value of a profile's TOML table, in the order of the file's sections.
pub fn values(table: &toml::Table) -> Vec<ProfileValue> {
    let mut found = Vec::new();
    for (section, entry) in table {
        let Some(entries) = entry.as_table() else {
            continue;
        };
        for (name, value) in entries {
            let Some(value) = value.as_table() else {
                continue;
            };
            let text = |key: &str| value.get(key).and_then(|v| v.as_str()).map(str::to_owned);
            let (Some(number), Some(source)) = (value.get("value"), text("source")) else {
                continue;
            };
            found.push(ProfileValue {
                field: format!("{section}.{name}"),
                text: number
                    .as_str()
                    .map_or_else(|| number.to_string(), str::to_owned),
                source,
                note: text("note"),
                fault: fault(number, MAY_BE_NEGATIVE.contains(&name.as_str())),
            });
        }
    }
    found
}

/// Values whose sign carries meaning: a bonus, and an offset either way.
const MAY_BE_NEGATIVE: [&str; 2] = ["mid_cross_s", "offset_tracks"];

fn fault(value: &toml::Value, may_be_negative: bool) -> Option<&'static str> {
    match value {
        toml::Value::Float(number) if !number.is_finite() => Some("must be finite"),
        toml::Value::Float(number) if *number < 0.0 && !may_be_negative => {
            Some("cannot be negative")
        }
        toml::Value::Integer(number) if *number < 0 && !may_be_negative => {
            Some("cannot be negative")
        }
        toml::Value::Array(items) => items.iter().find_map(|item| fault(item, may_be_negative)),
        _ => None,
    }
}
