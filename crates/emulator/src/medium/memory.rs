//! The chip in a cartridge: identity, partitions, counters, and what hosts have left there.

use super::MediumError;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// What a cartridge remembers apart from its data (SPC-5, 7.4: medium auxiliary memory).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CartridgeMemory {
    /// The serial number its maker gave it.
    pub serial: String,
    /// The wraps of each partition; empty for a single partition over all the tape.
    pub partition_wraps: Vec<u16>,
    /// Where the tape was left, in LPOS, if it was taken out without being rewound.
    pub parked_lpos: Option<f64>,
    /// How often it was loaded.
    pub loads: u64,
    /// Metres of tape that have moved past a head.
    pub metres: f64,
    /// Host bytes written over its life.
    pub bytes_written: u64,
    /// Host bytes read over its life.
    pub bytes_read: u64,
    /// How often it was formatted.
    pub initialisations: u64,
    /// Serial numbers of the drives it was in, the latest first, four at most.
    pub drives: Vec<String>,
    /// What hosts have written, by identifier.
    pub host: Vec<HostAttribute>,
}

/// An attribute that a host wrote (WRITE ATTRIBUTE).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostAttribute {
    /// Its identifier, 0800h to 0BFFh.
    pub id: u16,
    /// 0 binary, 1 ASCII, 2 text.
    pub format: u8,
    /// The partition it belongs to.
    pub partition: u8,
    /// Its value.
    pub value: Vec<u8>,
}

impl CartridgeMemory {
    /// That of a cartridge never used.
    pub fn new(serial: &str) -> CartridgeMemory {
        CartridgeMemory {
            serial: serial.to_owned(),
            ..CartridgeMemory::default()
        }
    }

    /// How many partitions the cartridge has.
    pub fn partitions(&self) -> u8 {
        self.partition_wraps.len().max(1) as u8
    }

    /// Notes that a drive has loaded the cartridge.
    pub fn note_load(&mut self, drive_serial: &str) {
        self.loads += 1;
        self.drives.insert(0, drive_serial.to_owned());
        self.drives.truncate(4);
    }

    /// Replaces an attribute; an empty value removes it (SPC-5, 6.54).
    pub fn set_host_attribute(&mut self, attribute: HostAttribute) {
        self.host
            .retain(|old| old.id != attribute.id || old.partition != attribute.partition);
        if !attribute.value.is_empty() {
            self.host.push(attribute);
            self.host.sort_by_key(|one| (one.partition, one.id));
        }
    }

    pub(super) fn read(path: &Path) -> Result<CartridgeMemory, MediumError> {
        let text = fs::read_to_string(path).map_err(MediumError::io(path))?;
        toml::from_str(&text).map_err(|error| MediumError::Format {
            path: path.to_owned(),
            what: error.to_string(),
        })
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), MediumError> {
        let text = toml::to_string(self).map_err(|error| MediumError::Format {
            path: path.to_owned(),
            what: error.to_string(),
        })?;
        crate::files::write_whole(path, &text).map_err(MediumError::io(path))
    }
}
