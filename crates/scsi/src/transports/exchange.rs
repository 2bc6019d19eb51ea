//! The file of a recording: one JSON line for the device, then one for each exchange.
//!
//! All bytes are hex, with a space between two; times are microseconds since the device was opened.

use crate::transport::{Completion, SenseBytes, Status, TransportError};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::Duration;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    /// The version of the format.
    pub tapewise_exchanges: u32,
    /// What the user called the device.
    pub device: String,
}

/// The version we write and read.
pub(super) const VERSION: u32 = 1;

/// One command and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Exchange {
    /// When the command was sent.
    pub at_us: u64,
    /// How long it took.
    pub took_us: u64,
    pub cdb: Hex,
    /// Data for the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_out: Option<Bytes>,
    /// Room for data from the device, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<usize>,
    /// Data from the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_in: Option<Bytes>,
    #[serde(flatten)]
    pub end: End,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum End {
    /// With a status.
    Status {
        status: u8,
        transferred: usize,
        #[serde(default, skip_serializing_if = "Hex::is_empty")]
        sense: Hex,
    },
    /// Not in time.
    TimedOut { timed_out_after_us: u64 },
    /// The path failed.
    Failed { failed: String },
}

impl End {
    /// What is written of a command's result.
    pub(super) fn of(result: &Result<Completion, TransportError>) -> End {
        match result {
            Ok(done) => End::Status {
                status: u8::from(done.status),
                transferred: done.transferred,
                sense: Hex(done.sense.bytes().to_vec()),
            },
            Err(TransportError::TimedOut { timeout, .. }) => End::TimedOut {
                timed_out_after_us: micros(*timeout),
            },
            Err(error) => End::Failed {
                failed: error.to_string(),
            },
        }
    }

    /// The result that was written.
    pub(super) fn result(&self, device: &str) -> Result<Completion, TransportError> {
        let device = device.to_owned();
        match self {
            End::Status {
                status,
                transferred,
                sense,
            } => Ok(Completion {
                status: Status::from(*status),
                transferred: *transferred,
                sense: SenseBytes::new(&sense.0),
            }),
            End::TimedOut { timed_out_after_us } => Err(TransportError::TimedOut {
                device,
                timeout: Duration::from_micros(*timed_out_after_us),
            }),
            End::Failed { failed } => Err(TransportError::Path {
                device,
                what: failed.clone(),
            }),
        }
    }
}

/// Data, whole or its beginning, with what is needed to recognise it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bytes {
    pub length: usize,
    /// CRC-32 of all of it (IEEE 802.3), present when `hex` is only its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crc32: Option<u32>,
    pub hex: Hex,
}

impl Bytes {
    /// `data`, or its first `most` bytes and its checksum.
    pub(super) fn of(data: &[u8], most: usize) -> Bytes {
        Bytes {
            length: data.len(),
            crc32: (data.len() > most).then(|| crc32fast::hash(data)),
            hex: Hex(data[..data.len().min(most)].to_vec()),
        }
    }

    /// Whether `data` is what was recorded.
    pub(super) fn is(&self, data: &[u8]) -> bool {
        data.len() == self.length
            && data.starts_with(&self.hex.0)
            && self.crc32.is_none_or(|crc| crc == crc32fast::hash(data))
    }

    /// Whether the parts agree: all the bytes, or fewer and a checksum.
    pub(super) fn is_sound(&self) -> bool {
        let kept = self.hex.0.len();
        kept == self.length || (kept < self.length && self.crc32.is_some())
    }
}

/// Bytes that are written as hex.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Hex(pub Vec<u8>);

impl Hex {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Display for Hex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            write!(f, "{space}{byte:02x}")?;
        }
        Ok(())
    }
}

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hex, D::Error> {
        let text = String::deserialize(deserializer)?;
        let byte = |pair: &str| {
            let is_pair = pair.len() == 2 && pair.bytes().all(|digit| digit.is_ascii_hexdigit());
            let byte = u8::from_str_radix(pair, 16).ok().filter(|_| is_pair);
            byte.ok_or_else(|| serde::de::Error::custom(format!("\"{pair}\" is not a byte in hex")))
        };
        let bytes = text.split_ascii_whitespace().map(byte);
        bytes.collect::<Result<_, _>>().map(Hex)
    }
}

/// A time as it is written.
pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
