//! MODE SENSE and MODE SELECT (1Ah, 5Ah, 15h, 55h): settings, block length, density (SPC-5, 6.14 to 6.17).

use super::timeouts;
use crate::bytes::Fields;
use crate::cdb::Cdb;
use crate::command::{Command, Direction};
use crate::decode_error::DecodeError;
use crate::report::{Describe, Report};
use std::time::Duration;

/// MODE SENSE(6): the current values of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeSense6 {
    /// The page, 3Fh all of them.
    pub page: u8,
    /// The subpage, 0 for none.
    pub subpage: u8,
}

/// MODE SENSE(10), for pages that are longer than 255 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeSense10 {
    /// The page, 3Fh all of them.
    pub page: u8,
    /// The subpage, 0 for none.
    pub subpage: u8,
}

/// What MODE SENSE answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeData {
    /// Medium type; IBM LTO puts the kind of cartridge there.
    pub medium_type: u8,
    /// The cartridge is write-protected (WP).
    pub is_write_protected: bool,
    /// Buffered mode: 1 is the usual, writes answer when the buffer has them.
    pub buffered_mode: u8,
    /// Speed, 0 the default.
    pub speed: u8,
    /// The block descriptor, if there is one.
    pub block: Option<BlockDescriptor>,
    /// The pages, in the order in which they came.
    pub pages: Vec<ModePage>,
}

/// The block descriptor (SSC-5, 8.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockDescriptor {
    /// Density code of the cartridge; 0 none loaded or the default.
    pub density: u8,
    /// Number of blocks, 0 all.
    pub blocks: u32,
    /// Block length in bytes, 0 variable.
    pub length_bytes: u32,
}

/// One page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModePage {
    /// 0Fh: compression.
    Compression(Compression),
    /// 10h: device configuration.
    DeviceConfiguration(DeviceConfiguration),
    /// 11h: partitions of the cartridge.
    Partitions(Partitions),
    /// 1Dh of a changer: where its elements are.
    ElementAddresses(ElementAddresses),
    /// Any other page.
    Other {
        /// Its code.
        page: u8,
        /// Its subpage, 0 for none.
        subpage: u8,
        /// Its bytes after the header.
        bytes: Vec<u8>,
    },
}

/// Data compression page (SSC-5, 8.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    /// Data is compressed when written (DCE).
    pub is_enabled: bool,
    /// The drive can compress (DCC).
    pub is_capable: bool,
    /// Data is decompressed when read (DDE).
    pub decompresses: bool,
    /// Algorithm for writing.
    pub algorithm: u32,
    /// Algorithm for reading.
    pub decompression_algorithm: u32,
}

/// Device configuration page (SSC-5, 8.5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceConfiguration {
    /// Active partition.
    pub active_partition: u8,
    /// How long data may wait in the buffer, in tenths of a second.
    pub write_delay_ds: u16,
    /// The end of data is marked when the tape is moved away after writing (EEG).
    pub marks_end_of_data: bool,
    /// Writing stops with an error at early warning (SEW).
    pub synchronizes_at_early_warning: bool,
    /// SELECT DATA COMPRESSION ALGORITHM: 0 no compression.
    pub compression: u8,
    /// Reading reports early warning (REW).
    pub reports_early_warning: bool,
}

/// Medium partition page (SSC-5, 8.5.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partitions {
    /// The most additional partitions that the cartridge can have.
    pub most_additional: u8,
    /// Additional partitions it has.
    pub additional: u8,
    /// PSUM: sizes are in 0 bytes, 1 KB, 2 MB, 3 in 10 to the power of `size_exponent` bytes.
    pub size_unit: u8,
    /// PARTITION UNITS.
    pub size_exponent: u8,
    /// Sizes in those units; FFFFh is what is left.
    pub sizes: Vec<u16>,
}

/// Element address assignment page (SMC-3, 7.3.4): first address and number of each type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementAddresses {
    /// Robots (medium transport elements).
    pub robots: ElementRange,
    /// Slots (storage elements).
    pub slots: ElementRange,
    /// Import/export station.
    pub stations: ElementRange,
    /// Drives (data transfer elements).
    pub drives: ElementRange,
}

/// A run of element addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementRange {
    /// The first.
    pub first: u16,
    /// How many.
    pub count: u16,
}

impl ModeSense6 {
    /// All pages.
    pub const ALL: ModeSense6 = ModeSense6 {
        page: 0x3f,
        subpage: 0,
    };
}

impl Command for ModeSense6 {
    type Answer = ModeData;

    fn name(&self) -> &'static str {
        "MODE SENSE(6)"
    }

    fn cdb(&self) -> Cdb {
        Cdb::new([0x1a, 0, self.page & 0x3f, self.subpage, 252, 0])
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(252)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<ModeData, DecodeError> {
        let data = Fields::new("MODE SENSE(6) data", answer);
        let told = 1 + usize::from(data.u8(0)?);
        let header = Header {
            bytes: 4,
            medium_type: data.u8(1)?,
            device_specific: data.u8(2)?,
            descriptors: usize::from(data.u8(3)?),
        };
        mode_data(data, told, header)
    }
}

/// What MODE SENSE(10) may answer at most.
const LONG: u16 = 4096;

impl Command for ModeSense10 {
    type Answer = ModeData;

    fn name(&self) -> &'static str {
        "MODE SENSE(10)"
    }

    fn cdb(&self) -> Cdb {
        let [a, b] = LONG.to_be_bytes();
        Cdb::new([0x5a, 0, self.page & 0x3f, self.subpage, 0, 0, 0, a, b, 0])
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(usize::from(LONG))
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<ModeData, DecodeError> {
        let data = Fields::new("MODE SENSE(10) data", answer);
        let told = 2 + usize::from(data.u16(0)?);
        let header = Header {
            bytes: 8,
            medium_type: data.u8(2)?,
            device_specific: data.u8(3)?,
            descriptors: usize::from(data.u16(6)?),
        };
        mode_data(data, told, header)
    }
}

/// What the headers of both lengths say.
struct Header {
    bytes: usize,
    medium_type: u8,
    device_specific: u8,
    descriptors: usize,
}

fn mode_data(data: Fields<'_>, told: usize, header: Header) -> Result<ModeData, DecodeError> {
    // Drives say how much there would be, also when less was asked for or sent.
    let data = data.part("mode parameters", 0, told.min(data.len()))?;
    let descriptors = data.part("block descriptors", header.bytes, header.descriptors)?;
    let block = (descriptors.len() >= 8)
        .then(|| {
            Ok(BlockDescriptor {
                density: descriptors.u8(0)?,
                blocks: descriptors.u24(1)?,
                length_bytes: descriptors.u24(5)?,
            })
        })
        .transpose()?;
    let first_page = header.bytes + header.descriptors;
    Ok(ModeData {
        medium_type: header.medium_type,
        is_write_protected: header.device_specific & 0x80 != 0,
        buffered_mode: header.device_specific >> 4 & 0x07,
        speed: header.device_specific & 0x0f,
        block,
        pages: pages(
            Fields::new("mode pages", data.rest(first_page)),
            told > data.len(),
        )?,
    })
}

/// All pages; where the answer was cut short, those that came whole.
fn pages(data: Fields<'_>, is_cut: bool) -> Result<Vec<ModePage>, DecodeError> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < data.len() {
        match page(data, at) {
            Ok((page, length)) => {
                found.push(page);
                at += length;
            }
            Err(_) if is_cut => break,
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// The page at an offset, and its length.
fn page(data: Fields<'_>, at: usize) -> Result<(ModePage, usize), DecodeError> {
    let code = data.u8(at)? & 0x3f;
    let (subpage, header, length) = if data.bit(at, 6)? {
        (data.u8(at + 1)?, 4, usize::from(data.u16(at + 2)?))
    } else {
        (0, 2, usize::from(data.u8(at + 1)?))
    };
    let whole = data.part("mode page", at, header + length)?;
    let page = match (code, subpage) {
        (0x0f, 0) => ModePage::Compression(Compression::decode(whole)?),
        (0x10, 0) => ModePage::DeviceConfiguration(DeviceConfiguration::decode(whole)?),
        (0x11, 0) if length >= 2 => ModePage::Partitions(Partitions::decode(whole)?),
        (0x1d, 0) if length >= 16 => ModePage::ElementAddresses(ElementAddresses::decode(whole)?),
        _ => ModePage::Other {
            page: code,
            subpage,
            bytes: whole.rest(header).to_vec(),
        },
    };
    Ok((page, header + length))
}

impl Compression {
    fn decode(page: Fields<'_>) -> Result<Compression, DecodeError> {
        Ok(Compression {
            is_enabled: page.bit(2, 7)?,
            is_capable: page.bit(2, 6)?,
            decompresses: page.bit(3, 7)?,
            algorithm: page.u32(4)?,
            decompression_algorithm: page.u32(8)?,
        })
    }
}

impl DeviceConfiguration {
    fn decode(page: Fields<'_>) -> Result<DeviceConfiguration, DecodeError> {
        Ok(DeviceConfiguration {
            active_partition: page.u8(3)?,
            write_delay_ds: page.u16(6)?,
            reports_early_warning: page.bit(8, 0)?,
            marks_end_of_data: page.bit(10, 4)?,
            synchronizes_at_early_warning: page.bit(10, 3)?,
            compression: page.u8(14)?,
        })
    }
}

impl Partitions {
    fn decode(page: Fields<'_>) -> Result<Partitions, DecodeError> {
        let sizes = page.rest(8);
        Ok(Partitions {
            most_additional: page.u8(2)?,
            additional: page.u8(3)?,
            // A page that ends early says nothing of units and sizes; the counts are what matters.
            size_unit: page.u8(4).unwrap_or(0) >> 3 & 0x03,
            size_exponent: page.u8(6).unwrap_or(0) & 0x0f,
            sizes: sizes
                .chunks_exact(2)
                .map(|size| u16::from_be_bytes([size[0], size[1]]))
                .collect(),
        })
    }
}

impl ElementAddresses {
    fn decode(page: Fields<'_>) -> Result<ElementAddresses, DecodeError> {
        let range = |at| {
            Ok(ElementRange {
                first: page.u16(at)?,
                count: page.u16(at + 2)?,
            })
        };
        Ok(ElementAddresses {
            robots: range(2)?,
            slots: range(6)?,
            stations: range(10)?,
            drives: range(14)?,
        })
    }
}

/// MODE SELECT(6), which every drive has: of a block descriptor, or of one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeSelect6 {
    parameters: Vec<u8>,
}

impl ModeSelect6 {
    /// Sets a block length in bytes, 0 for variable; below 2²⁴. Density 0 and buffered mode 1 keep what
    /// drives come with.
    pub fn block_length(length_bytes: u32) -> ModeSelect6 {
        let [_, a, b, c] = length_bytes.to_be_bytes();
        ModeSelect6 {
            parameters: vec![0, 0, 0x10, 8, 0, 0, 0, 0, 0, a, b, c],
        }
    }

    /// Sends a page as [`ModeSelectPage::new`]; of more than 251 bytes only the first 251.
    pub fn page(page: &[u8]) -> ModeSelect6 {
        let mut parameters = vec![0, 0, 0x10, 0];
        parameters.extend(page.iter().take(251));
        if let Some(code) = parameters.get_mut(4) {
            *code &= 0x7f;
        }
        ModeSelect6 { parameters }
    }
}

impl Command for ModeSelect6 {
    type Answer = ();

    fn name(&self) -> &'static str {
        "MODE SELECT(6)"
    }

    fn cdb(&self) -> Cdb {
        Cdb::new([0x15, 0x10, 0, 0, self.parameters.len() as u8, 0])
    }

    fn direction(&self) -> Direction<'_> {
        Direction::Out(&self.parameters)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}

/// MODE SELECT(10) of one page, whose bytes are given whole, as MODE SENSE sent them or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeSelectPage {
    parameters: Vec<u8>,
}

impl ModeSelectPage {
    /// Sends a page, its code and length bytes included. PS, a bit for MODE SENSE alone, is cleared.
    pub fn new(page: &[u8]) -> ModeSelectPage {
        let mut parameters = vec![0, 0, 0, 0x10, 0, 0, 0, 0];
        parameters.extend_from_slice(page);
        if let Some(code) = parameters.get_mut(8) {
            *code &= 0x7f;
        }
        ModeSelectPage { parameters }
    }
}

impl Command for ModeSelectPage {
    type Answer = ();

    fn name(&self) -> &'static str {
        "MODE SELECT(10)"
    }

    fn cdb(&self) -> Cdb {
        let [a, b] = (self.parameters.len() as u16).to_be_bytes();
        Cdb::new([0x55, 0x10, 0, 0, 0, 0, 0, a, b, 0])
    }

    fn direction(&self) -> Direction<'_> {
        Direction::Out(&self.parameters)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}

impl Describe for ModeData {
    fn describe(&self, report: &mut Report) {
        report.line("medium type", format_args!("{:02x}h", self.medium_type));
        report.line("write protected", self.is_write_protected);
        report.line("buffered mode", self.buffered_mode);
        if let Some(block) = self.block {
            report.line("density", format_args!("{:02x}h", block.density));
            match block.length_bytes {
                0 => report.line("block length", "variable"),
                length => report.line("block length", format_args!("{length} bytes")),
            }
        }
        for page in &self.pages {
            page.describe(report);
        }
    }
}

impl Describe for ModePage {
    fn describe(&self, report: &mut Report) {
        match self {
            ModePage::Compression(page) => report.item("compression", |report| {
                report.line("enabled", page.is_enabled);
                report.line("capable", page.is_capable);
                report.line("decompresses", page.decompresses);
                report.line("algorithm", page.algorithm);
                report.line("decompression algorithm", page.decompression_algorithm);
            }),
            ModePage::DeviceConfiguration(page) => report.item("configuration", |report| {
                report.line("active partition", page.active_partition);
                let delay_ms = u32::from(page.write_delay_ds) * 100;
                report.line("write delay", format_args!("{delay_ms} ms"));
                report.line("reports early warning", page.reports_early_warning);
                report.line("marks end of data", page.marks_end_of_data);
                let stops = page.synchronizes_at_early_warning;
                report.line("synchronizes at early warning", stops);
                report.line("compression algorithm", page.compression);
            }),
            ModePage::Partitions(page) => report.item("partitions", |report| {
                report.line("additional", page.additional);
                report.line("most additional", page.most_additional);
                report.line("unit of sizes", page.unit_words());
                for (number, size) in page.sizes.iter().enumerate() {
                    report.line(format_args!("size of {number}"), size);
                }
            }),
            ModePage::ElementAddresses(page) => page.describe(report),
            ModePage::Other {
                page,
                subpage,
                bytes,
            } => {
                report.bytes(format_args!("page {page:02x}h/{subpage:02x}h"), bytes);
            }
        }
    }
}

impl Partitions {
    fn unit_words(&self) -> String {
        match self.size_unit {
            0 => "bytes".to_owned(),
            1 => "KB".to_owned(),
            2 => "MB".to_owned(),
            _ => format!("10^{} bytes", self.size_exponent),
        }
    }
}

impl Describe for ElementAddresses {
    fn describe(&self, report: &mut Report) {
        let types = [
            ("robots", self.robots),
            ("slots", self.slots),
            ("stations", self.stations),
            ("drives", self.drives),
        ];
        for (name, range) in types {
            let ElementRange { first, count } = range;
            report.line(name, format_args!("{count} from {first}"));
        }
    }
}
