//! READ ELEMENT STATUS (B8h): what stands where in a library (SMC-3, 6.12).

use super::timeouts;
use crate::bytes::{Fields, text};
use crate::cdb::Cdb;
use crate::command::{Command, Direction};
use crate::decode_error::DecodeError;
use crate::report::{Describe, Report};
use std::fmt;
use std::time::Duration;

/// What an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementKind {
    /// 1: a robot (medium transport element).
    Robot,
    /// 2: a slot (storage element).
    Slot,
    /// 3: a place of the import/export station.
    Station,
    /// 4: a drive (data transfer element).
    Drive,
}

/// Asks for elements of one type. (All types at once is type 0, which some targets answer wrongly.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadElementStatus {
    /// The type.
    pub kind: ElementKind,
    /// From this address on.
    pub first: u16,
    /// At most so many.
    pub count: u16,
    /// With volume tags (VOLTAG).
    pub volume_tags: bool,
    /// With the drives' identifiers (DVCID), which old libraries refuse.
    pub device_ids: bool,
}

/// One element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// What it is.
    pub kind: ElementKind,
    /// Its address.
    pub address: u16,
    /// A cartridge is in it.
    pub is_full: bool,
    /// It is in an abnormal state (EXCEPT); the code says which.
    pub exception: Option<(u8, u8)>,
    /// The robot can reach it (ACCESS; not told of robots).
    pub is_accessible: bool,
    /// A person put the cartridge there (IMPEXP, stations only).
    pub is_from_operator: bool,
    /// The element the cartridge was in before, where valid (SVALID).
    pub source: Option<u16>,
    /// The cartridge's label (primary volume tag), where asked for and readable.
    pub volume_tag: Option<String>,
    /// What identifies the drive in it, where asked for and told.
    pub device_id: Option<DeviceId>,
}

/// What a library says of the drive in an element (DVCID).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceId {
    /// The identifier as text, or in hex where it is binary.
    pub shown: String,
    /// The drive's serial number, where the identifier holds one.
    pub serial: Option<String>,
    /// The answer ended within the identifier: the end of it is missing.
    pub is_cut: bool,
}

/// The longest descriptor we make room for: 12 bytes, two volume tags, and an identifier.
const DESCRIPTOR: usize = 12 + 36 + 36 + 4 + 64;

impl ReadElementStatus {
    /// Bytes to ask for. The length has 24 bits; all 65,535 addresses fit.
    fn allocation(&self) -> usize {
        16 + usize::from(self.count) * DESCRIPTOR
    }
}

impl ElementKind {
    /// The four types, in the order of their codes.
    pub const ALL: [ElementKind; 4] = [
        ElementKind::Robot,
        ElementKind::Slot,
        ElementKind::Station,
        ElementKind::Drive,
    ];

    /// ELEMENT TYPE CODE.
    pub fn code(self) -> u8 {
        match self {
            ElementKind::Robot => 1,
            ElementKind::Slot => 2,
            ElementKind::Station => 3,
            ElementKind::Drive => 4,
        }
    }
}

impl fmt::Display for ElementKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ElementKind::Robot => "robot",
            ElementKind::Slot => "slot",
            ElementKind::Station => "station",
            ElementKind::Drive => "drive",
        })
    }
}

impl Command for ReadElementStatus {
    type Answer = Vec<Element>;

    fn name(&self) -> &'static str {
        "READ ELEMENT STATUS"
    }

    fn cdb(&self) -> Cdb {
        let kind = u8::from(self.volume_tags) << 4 | self.kind.code();
        let [f0, f1] = self.first.to_be_bytes();
        let [c0, c1] = self.count.to_be_bytes();
        let [_, a, b, c] = (self.allocation() as u32).to_be_bytes();
        let ids = u8::from(self.device_ids);
        Cdb::new([0xb8, kind, f0, f1, c0, c1, ids, a, b, c, 0, 0])
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(self.allocation())
    }

    fn timeout(&self) -> Duration {
        timeouts::INVENTORY
    }

    fn decode(&self, answer: &[u8]) -> Result<Vec<Element>, DecodeError> {
        element_status(answer)
    }
}

/// Decodes the answer to any READ ELEMENT STATUS: a header, and a page for each type.
///
/// There is a target that leaves out the last eight bytes. So the measure of a whole answer is the number of elements
/// that its header announces, and of the last one what is there counts.
///
/// # Errors
/// [`DecodeError`] when elements are missing, or a type is named that there is not.
pub fn element_status(answer: &[u8]) -> Result<Vec<Element>, DecodeError> {
    let header = Fields::new("element status data", answer);
    let announced = usize::from(header.u16(2)?);
    let told = 8 + header.u24(5)? as usize;
    let mut found = Vec::new();
    let mut at = 8;
    while at < told.min(answer.len()) {
        let end = at + 8 + header.u24(at + 5)? as usize;
        let page = header.part("element status page", at, end.min(answer.len()) - at)?;
        status_page(page, &mut found)?;
        at = end;
    }
    if found.len() != announced {
        return Err(DecodeError::Short {
            what: "element status data",
            have: answer.len(),
            need: told,
        });
    }
    Ok(found)
}

/// One page: descriptors of one type, all of the same length.
fn status_page(page: Fields<'_>, found: &mut Vec<Element>) -> Result<(), DecodeError> {
    let code = page.u8(0)?;
    let kind = ElementKind::ALL
        .into_iter()
        .find(|kind| kind.code() == code)
        .ok_or(DecodeError::Field {
            at: 0,
            what: "element type",
            value: u64::from(code),
            expected: "1 to 4",
        })?;
    let has_tag = page.bit(1, 7)?;
    let has_alternate_tag = page.bit(1, 6)?;
    let length = usize::from(page.u16(2)?);
    if length < 12 {
        return Err(DecodeError::Field {
            at: 2,
            what: "element descriptor length",
            value: length as u64,
            expected: "12 at least",
        });
    }
    // After 12 bytes come the tags that the page announces, and then the identifier.
    let id_at = 12 + 36 * (usize::from(has_tag) + usize::from(has_alternate_tag));
    for at in (8..page.len()).step_by(length) {
        let length = length.min(page.len() - at);
        let descriptor = page.part("element descriptor", at, length)?;
        found.push(element(kind, descriptor, has_tag, id_at)?);
    }
    Ok(())
}

fn element(
    kind: ElementKind,
    descriptor: Fields<'_>,
    has_tag: bool,
    id_at: usize,
) -> Result<Element, DecodeError> {
    // The last descriptor may be cut short: its address and flags are needed, the rest may be missing.
    let flags = descriptor.u8(2)?;
    let code = descriptor.u8(4).ok().zip(descriptor.u8(5).ok());
    let has_source = descriptor.bit(9, 7).unwrap_or(false);
    Ok(Element {
        kind,
        address: descriptor.u16(0)?,
        is_full: flags & 0x01 != 0,
        is_from_operator: kind == ElementKind::Station && flags & 0x02 != 0,
        exception: (flags & 0x04 != 0).then(|| code.unwrap_or_default()),
        is_accessible: flags & 0x08 != 0,
        source: descriptor.u16(10).ok().filter(|_| has_source),
        volume_tag: volume_tag(descriptor).filter(|_| has_tag),
        device_id: device_id(descriptor, id_at),
    })
}

/// The label: 32 characters, blanks to fill them, then a sequence number. Unread labels are blank. Of a label that the
/// answer cuts, what is there counts only if it ends with a blank: the name of another cartridge may go on as it does.
fn volume_tag(descriptor: Fields<'_>) -> Option<String> {
    const LENGTH: usize = 32;
    let bytes = descriptor.rest(12);
    let bytes = &bytes[..bytes.len().min(LENGTH)];
    let is_whole = bytes.len() == LENGTH || matches!(bytes.last(), Some(b' ' | 0));
    Some(text(bytes)).filter(|tag| is_whole && !tag.is_empty())
}

/// The identifier at the descriptor's end: a designation descriptor as in VPD page 83h.
fn device_id(descriptor: Fields<'_>, at: usize) -> Option<DeviceId> {
    let length = usize::from(descriptor.u8(at + 3).ok()?);
    let (bytes, is_cut) = match descriptor.slice(at + 4, length) {
        Ok(bytes) => (bytes, false),
        Err(_) => (descriptor.rest(at + 4), true),
    };
    let code_set = descriptor.u8(at).ok()? & 0x0f;
    let kind = descriptor.u8(at + 1).ok()? & 0x0f;
    let shown = match code_set {
        2 | 3 => text(bytes),
        _ => crate::hex::plain(bytes).replace(' ', ""),
    };
    // A T10 identifier is vendor (8), product (16) and then the serial number.
    let serial = match (code_set, kind) {
        (2 | 3, 1) => text(bytes.get(24..)?),
        (2 | 3, _) => shown.clone(),
        _ => String::new(),
    };
    (!shown.is_empty()).then_some(DeviceId {
        shown,
        serial: Some(serial).filter(|serial| !serial.is_empty()),
        is_cut,
    })
}

impl Describe for Vec<Element> {
    fn describe(&self, report: &mut Report) {
        for element in self {
            let mut said = String::from(if element.is_full { "full" } else { "empty" });
            if let Some(tag) = &element.volume_tag {
                said.push_str(&format!(", {tag}"));
            }
            if let Some(source) = element.source {
                said.push_str(&format!(", from {source}"));
            }
            if let Some((asc, ascq)) = element.exception {
                said.push_str(&format!(", {}", crate::sense::words(asc, ascq)));
            }
            if let Some(id) = &element.device_id {
                let rest = if id.is_cut { "..., cut short" } else { "" };
                said.push_str(&format!(", {}{rest}", id.shown));
            }
            report.line(format_args!("{} {}", element.kind, element.address), said);
        }
    }
}
