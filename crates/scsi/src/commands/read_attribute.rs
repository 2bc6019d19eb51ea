//! READ ATTRIBUTE (8Ch): what stands in the cartridge's memory (SPC-5, 6.18 and 7.4).

use super::timeouts;
use crate::bytes::{Fields, number, text};
use crate::cdb::Cdb;
use crate::command::{Command, Direction};
use crate::decode_error::DecodeError;
use crate::hex;
use crate::report::{Describe, Report};
use std::time::Duration;

/// Asks for the values of the attributes of a partition, from one on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAttributes {
    /// The partition.
    pub partition: u8,
    /// The first attribute, 0 for all.
    pub first: u16,
}

/// Asks which attributes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAttributeList {
    /// The partition.
    pub partition: u8,
}

/// The identifiers of the attributes there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeList {
    /// In the order in which they came.
    pub ids: Vec<u16>,
}

/// One attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its identifier.
    pub id: u16,
    /// Only the drive may write it.
    pub is_read_only: bool,
    /// Its value.
    pub value: AttributeValue,
}

/// A value, by its FORMAT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    /// Binary.
    Binary(Vec<u8>),
    /// ASCII, without its padding.
    Ascii(String),
    /// Text of a character set that attribute 0805h names; shown as UTF-8 where it is.
    Text(Vec<u8>),
    /// The reserved format 3.
    Reserved(Vec<u8>),
}

/// Cartridge memories hold 32 KiB at most; headers of attributes add to that.
const LENGTH: u32 = 64 * 1024;

fn cdb(service_action: u8, partition: u8, first: u16) -> Cdb {
    let mut cdb = [0; 16];
    cdb[0] = 0x8c;
    cdb[1] = service_action;
    cdb[7] = partition;
    cdb[8..10].copy_from_slice(&first.to_be_bytes());
    cdb[10..14].copy_from_slice(&LENGTH.to_be_bytes());
    Cdb::new(cdb)
}

impl Command for ReadAttributes {
    type Answer = Vec<Attribute>;

    fn name(&self) -> &'static str {
        "READ ATTRIBUTE"
    }

    fn cdb(&self) -> Cdb {
        cdb(0x00, self.partition, self.first)
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(LENGTH as usize)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<Vec<Attribute>, DecodeError> {
        let header = Fields::new("attribute values", answer);
        let list = header.part("attribute values", 4, header.u32(0)? as usize)?;
        let mut found = Vec::new();
        let mut at = 0;
        while at < list.len() {
            let length = usize::from(list.u16(at + 3)?);
            let value = list.slice(at + 5, length)?;
            let flags = list.u8(at + 2)?;
            found.push(Attribute {
                id: list.u16(at)?,
                is_read_only: flags & 0x80 != 0,
                value: match flags & 0x03 {
                    0 => AttributeValue::Binary(value.to_vec()),
                    1 => AttributeValue::Ascii(text(value)),
                    2 => AttributeValue::Text(value.to_vec()),
                    _ => AttributeValue::Reserved(value.to_vec()),
                },
            });
            at += 5 + length;
        }
        Ok(found)
    }
}

impl Command for ReadAttributeList {
    type Answer = AttributeList;

    fn name(&self) -> &'static str {
        "READ ATTRIBUTE (list)"
    }

    fn cdb(&self) -> Cdb {
        cdb(0x01, self.partition, 0)
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(LENGTH as usize)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<AttributeList, DecodeError> {
        let header = Fields::new("attribute list", answer);
        let list = header.part("attribute list", 4, header.u32(0)? as usize)?;
        let ids = (0..list.len()).step_by(2).map(|at| list.u16(at));
        Ok(AttributeList {
            ids: ids.collect::<Result<_, _>>()?,
        })
    }
}

/// Names of attributes: SPC-5 Tables 327 to 330; 1001h and above as LTO drives have them.
#[rustfmt::skip]
const NAMES: &[(u16, &str)] = &[
    (0x0000, "remaining capacity, MiB"),
    (0x0001, "maximum capacity, MiB"),
    (0x0002, "TapeAlert flags"),
    (0x0003, "load count"),
    (0x0004, "memory space remaining, bytes"),
    (0x0005, "assigning organization"),
    (0x0006, "formatted density"),
    (0x0007, "initialization count"),
    (0x0008, "volume identifier"),
    (0x0009, "volume change reference"),
    (0x020a, "drive at last load"),
    (0x020b, "drive at last load but one"),
    (0x020c, "drive at last load but two"),
    (0x020d, "drive at last load but three"),
    (0x0220, "MiB written in life"),
    (0x0221, "MiB read in life"),
    (0x0222, "MiB written in last load"),
    (0x0223, "MiB read in last load"),
    (0x0224, "first encrypted block"),
    (0x0225, "first unencrypted block after it"),
    (0x0340, "medium usage history"),
    (0x0341, "partition usage history"),
    (0x0400, "medium manufacturer"),
    (0x0401, "medium serial number"),
    (0x0402, "medium length, m"),
    (0x0403, "medium width, 0.1 mm"),
    (0x0404, "medium assigning organization"),
    (0x0405, "medium density"),
    (0x0406, "medium manufacture date"),
    (0x0407, "memory capacity, bytes"),
    (0x0408, "medium type"),
    (0x0409, "medium type information"),
    (0x0800, "application vendor"),
    (0x0801, "application name"),
    (0x0802, "application version"),
    (0x0803, "user medium label"),
    (0x0804, "date and time last written"),
    (0x0805, "text localization"),
    (0x0806, "barcode"),
    (0x0807, "owning host"),
    (0x0808, "media pool"),
    (0x0809, "partition user text label"),
    (0x080a, "load/unload at partition"),
    (0x080b, "application format version"),
    (0x080c, "volume coherency information"),
    (0x0820, "medium globally unique identifier"),
    (0x0821, "media pool globally unique identifier"),
    (0x1000, "unique cartridge identity, of partition"),
    (0x1001, "unique cartridge identity"),
    (0x1002, "alternative cartridge identity"),
    (0x1010, "media optimization needed"),
    (0x1011, "media optimization version"),
    (0x1623, "volume lock state"),
];

fn name(id: u16) -> Option<&'static str> {
    let at = NAMES.binary_search_by_key(&id, |(named, _)| *named).ok()?;
    Some(NAMES[at].1)
}

impl Attribute {
    /// What the attribute is called, none where we do not know it.
    pub fn name(&self) -> Option<&'static str> {
        name(self.id)
    }

    /// The value as a number, for binary values of up to eight bytes.
    pub fn number(&self) -> Option<u64> {
        match &self.value {
            AttributeValue::Binary(bytes) if (1..=8).contains(&bytes.len()) => Some(number(bytes)),
            _ => None,
        }
    }

    /// The value for a person.
    fn shown(&self) -> String {
        match &self.value {
            AttributeValue::Ascii(text) => text.clone(),
            AttributeValue::Text(bytes) => String::from_utf8_lossy(bytes)
                .trim_matches(['\0', ' '])
                .to_owned(),
            AttributeValue::Binary(bytes) | AttributeValue::Reserved(bytes) => self
                .number()
                .map_or_else(|| hex::plain(bytes), |number| number.to_string()),
        }
    }
}

impl Describe for Vec<Attribute> {
    fn describe(&self, report: &mut Report) {
        for attribute in self {
            let value = attribute.shown();
            match attribute.name() {
                Some(name) => report.line(name, value),
                None => report.line(format_args!("{:04x}h", attribute.id), value),
            }
        }
    }
}

impl Describe for AttributeList {
    fn describe(&self, report: &mut Report) {
        for id in &self.ids {
            report.line(format_args!("{id:04x}h"), name(*id).unwrap_or("not known"));
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_names_are_sorted_by_identifier() {
        assert!(super::NAMES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
