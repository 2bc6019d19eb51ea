//! LOG SENSE (4Dh): counters of drive and cartridge (SPC-5, 6.8; SSC-5, 8.4).

use super::tape_alert::TapeAlerts;
use super::timeouts;
use crate::bytes::{Fields, number, text};
use crate::cdb::Cdb;
use crate::command::{Command, Direction};
use crate::decode_error::DecodeError;
use crate::hex;
use crate::report::{Describe, Report};
use std::time::Duration;

/// Asks for a page of cumulative values (PC 01b).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSense {
    /// The page; 00h for the list of pages.
    pub page: u8,
    /// The subpage, 0 for none.
    pub subpage: u8,
}

/// A page: a list of parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPage {
    /// The page.
    pub page: u8,
    /// The subpage, 0 for none.
    pub subpage: u8,
    /// Its parameters in the order in which they came; of page 00h, the list, there are none.
    pub parameters: Vec<LogParameter>,
    /// Page 00h: the pages there are, as sent.
    pub pages: Vec<u8>,
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogParameter {
    /// Its code.
    pub code: u16,
    /// The parameter control byte.
    pub control: u8,
    /// Its value.
    pub value: Vec<u8>,
}

/// The most that a length of two bytes can announce, and the header.
const LENGTH: u16 = u16::MAX;

impl Command for LogSense {
    type Answer = LogPage;

    fn name(&self) -> &'static str {
        "LOG SENSE"
    }

    fn cdb(&self) -> Cdb {
        self.with_length(LENGTH)
    }

    fn cdb_within(&self, bytes: usize) -> Option<Cdb> {
        Some(self.with_length(u16::try_from(bytes).unwrap_or(LENGTH)))
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(usize::from(LENGTH))
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<LogPage, DecodeError> {
        LogPage::decode(answer)
    }
}

impl LogSense {
    fn with_length(&self, length: u16) -> Cdb {
        let [a, b] = length.to_be_bytes();
        let page = 0x40 | self.page & 0x3f;
        Cdb::new([0x4d, 0, page, self.subpage, 0, 0, 0, a, b, 0])
    }
}

impl LogPage {
    /// Decodes any page: each names its own code.
    ///
    /// # Errors
    /// [`DecodeError`] when it or a parameter of it is shorter than it says.
    pub fn decode(answer: &[u8]) -> Result<LogPage, DecodeError> {
        let header = Fields::new("log page", answer);
        let list = header.part("log page", 4, usize::from(header.u16(2)?))?;
        let page = header.u8(0)? & 0x3f;
        // SPF: byte 1 is a subpage. The list of pages and of subpages has no parameters.
        let subpage = if header.bit(0, 6)? { header.u8(1)? } else { 0 };
        let is_list = page == 0 || subpage == 0xff;
        Ok(LogPage {
            page,
            subpage,
            parameters: if is_list {
                Vec::new()
            } else {
                parameters(list)?
            },
            pages: if is_list {
                list.rest(0).to_vec()
            } else {
                Vec::new()
            },
        })
    }

    /// The value of a parameter.
    pub fn parameter(&self, code: u16) -> Option<&LogParameter> {
        self.parameters
            .iter()
            .find(|parameter| parameter.code == code)
    }

    /// The flags of TapeAlert; none for another page.
    pub fn tape_alerts(&self) -> Option<TapeAlerts> {
        (self.page == TapeAlerts::PAGE && self.subpage == 0).then(|| {
            let is_set = |flag: &u8| self.number(u16::from(*flag)).unwrap_or(0) & 1 == 1;
            TapeAlerts {
                set: (1..=64).filter(is_set).collect(),
            }
        })
    }

    /// The value of a parameter that is a number of up to eight bytes. All bits set is the standard's
    /// way to say that the number is not known.
    pub fn number(&self, code: u16) -> Option<u64> {
        self.parameter(code)?.number()
    }

    /// The value of a parameter that is text, without its padding.
    pub fn text(&self, code: u16) -> Option<String> {
        Some(text(&self.parameter(code)?.value))
    }
}

fn parameters(list: Fields<'_>) -> Result<Vec<LogParameter>, DecodeError> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < list.len() {
        let length = usize::from(list.u8(at + 3)?);
        found.push(LogParameter {
            code: list.u16(at)?,
            control: list.u8(at + 2)?,
            value: list.slice(at + 4, length)?.to_vec(),
        });
        at += 4 + length;
    }
    Ok(found)
}

impl LogParameter {
    /// The value as a number.
    pub fn number(&self) -> Option<u64> {
        let is_number = (1..=8).contains(&self.value.len());
        let is_unknown = self.value.len() > 1 && self.value.iter().all(|byte| *byte == 0xff);
        (is_number && !is_unknown).then(|| number(&self.value))
    }

    /// The value as its control byte says that it is: a number, text, or bytes.
    fn shown(&self) -> String {
        match self.control & 0x03 {
            0x01 => text(&self.value),
            _ => self
                .number()
                .map_or_else(|| hex::plain(&self.value), |number| number.to_string()),
        }
    }
}

/// Makes a page's type from one table of code, field and label.
macro_rules! counters {
    ($(#[$about:meta])* $name:ident, $page:literal {
        $($(#[$meaning:meta])* $code:literal $field:ident $label:literal,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$meaning])* pub $field: Option<u64>,)*
        }

        impl $name {
            /// The page's code.
            pub const PAGE: u8 = $page;

            /// What a page of this code says; none for another page.
            pub fn of(page: &LogPage) -> Option<$name> {
                (page.page == $page && page.subpage == 0).then(|| $name {
                    $($field: page.number($code),)*
                })
            }

            fn label(code: u16) -> Option<&'static str> {
                match code {
                    $($code => Some($label),)*
                    _ => None,
                }
            }
        }
    };
}

counters! {
    /// Page 17h: the life of the cartridge. What the drive did not send is none.
    VolumeStatistics, 0x17 {
        /// The page is valid: 1.
        0x0000 valid "page valid",
        /// Times it was mounted.
        0x0001 mounts "mounts",
        /// Data sets written.
        0x0002 data_sets_written "data sets written",
        /// Write errors that were recovered.
        0x0003 write_retries "recovered write errors",
        /// Write errors that were not.
        0x0004 unrecovered_writes "unrecovered write errors",
        /// Suspended writes.
        0x0005 suspended_writes "suspended writes",
        /// Fatal suspended writes.
        0x0006 fatal_suspended_writes "fatal suspended writes",
        /// Data sets read.
        0x0007 data_sets_read "data sets read",
        /// Read errors that were recovered.
        0x0008 read_retries "recovered read errors",
        /// Read errors that were not.
        0x0009 unrecovered_reads "unrecovered read errors",
        /// Unrecovered write errors in the last mount.
        0x000c last_mount_unrecovered_writes "unrecovered write errors, last mount",
        /// Unrecovered read errors in the last mount.
        0x000d last_mount_unrecovered_reads "unrecovered read errors, last mount",
        /// MB written in the last mount.
        0x000e last_mount_written_mb "MB written, last mount",
        /// MB read in the last mount.
        0x000f last_mount_read_mb "MB read, last mount",
        /// MB written in its life.
        0x0010 written_mb "MB written",
        /// MB read in its life.
        0x0011 read_mb "MB read",
        /// Compression ratio of writes in the last mount, in hundredths.
        0x0012 write_compression_percent "write compression, 1/100",
        /// Compression ratio of reads in the last mount, in hundredths.
        0x0013 read_compression_percent "read compression, 1/100",
        /// Milliseconds of medium mount time.
        0x0014 mount_ms "mount time, ms",
        /// Milliseconds of medium ready time.
        0x0015 ready_ms "ready time, ms",
        /// Native capacity in MB.
        0x0016 native_capacity_mb "native capacity, MB",
        /// Native capacity that is used, in MB.
        0x0017 used_capacity_mb "used native capacity, MB",
        /// Capacity that the application may plan with, in MB.
        0x0018 application_capacity_mb "application design capacity, MB",
        /// Useful life that is left, in percent.
        0x0019 life_remaining_percent "remaining life, %",
        /// Write-protected: 1.
        0x0080 write_protected "write protected",
        /// Write-once: 1.
        0x0081 worm "WORM",
        /// Too warm in its life: 1.
        0x0082 temperature_exceeded "temperature exceeded",
        /// Mounts in which it was written.
        0x0100 write_mounts "mounts with writes",
        /// Times the head passed the beginning of the medium.
        0x0101 beginning_passes "passes of beginning",
        /// Times the head passed the middle.
        0x0102 middle_passes "passes of middle",
    }
}

counters! {
    /// Page 14h: the life of the drive. What it did not send is none.
    DeviceStatistics, 0x14 {
        /// Cartridges loaded in its life.
        0x0000 loads "loads",
        /// Cleanings in its life.
        0x0001 cleanings "cleanings",
        /// Hours of power.
        0x0002 power_on_h "power-on hours",
        /// Hours of tape motion.
        0x0003 motion_h "motion hours",
        /// Metres of tape moved.
        0x0004 tape_m "metres of tape",
        /// Hours of motion at the last load of an incompatible cartridge.
        0x0005 incompatible_at_h "motion hours at last incompatible load",
        /// Hours of power at the last temperature condition.
        0x0006 temperature_at_h "power-on hours at last temperature condition",
        /// Hours of power at the last power consumption condition.
        0x0007 power_condition_at_h "power-on hours at last power condition",
        /// Hours of motion since the last successful cleaning.
        0x0008 since_cleaning_h "motion hours since cleaning",
        /// Hours of motion since the cleaning before it.
        0x0009 since_second_cleaning_h "motion hours since second to last cleaning",
        /// Hours of motion since the third to last cleaning.
        0x000a since_third_cleaning_h "motion hours since third to last cleaning",
        /// Power cycles.
        0x000c power_cycles "power cycles",
        /// Loads since the last reset.
        0x000d loads_since_reset "loads since reset",
        /// Hard write errors.
        0x000e write_errors "hard write errors",
        /// Hard read errors.
        0x000f read_errors "hard read errors",
        /// Removal is prevented: 1.
        0x0080 removal_prevented "removal prevented",
    }
}

counters! {
    /// Page 31h: what is left of a cartridge, on LTO drives before page 17h. Values in MiB.
    TapeCapacity, 0x31 {
        /// Left in the first partition, MiB.
        0x0001 remaining_0_mib "remaining in partition 0, MiB",
        /// Left in the second partition, MiB.
        0x0002 remaining_1_mib "remaining in partition 1, MiB",
        /// Most in the first partition, MiB.
        0x0003 most_0_mib "capacity of partition 0, MiB",
        /// Most in the second partition, MiB.
        0x0004 most_1_mib "capacity of partition 1, MiB",
    }
}

counters! {
    /// Page 0Ch: bytes through the drive, and capacities of the partition.
    SequentialAccess, 0x0c {
        /// Bytes that initiators wrote, before compression.
        0x0000 written_by_host_bytes "bytes written by hosts",
        /// Bytes of them on tape, after compression.
        0x0001 written_to_tape_bytes "bytes written to tape",
        /// Bytes read from tape, before decompression.
        0x0002 read_from_tape_bytes "bytes read from tape",
        /// Bytes that initiators read, after decompression.
        0x0003 read_by_host_bytes "bytes read by hosts",
        /// Native MB from the beginning of the partition to the end of data.
        0x0004 to_end_of_data_mb "MB to end of data",
        /// Native MB from the beginning of the partition to early warning.
        0x0005 to_early_warning_mb "MB to early warning",
        /// Least native MB from early warning to the end of the partition.
        0x0006 early_warning_mb "MB from early warning to end",
        /// Native MB from the beginning of the partition to where the head is.
        0x0007 to_here_mb "MB to the current position",
        /// Most native MB that the buffer holds.
        0x0008 buffer_mb "MB of buffer",
        /// The drive asks to be cleaned: not 0.
        0x0100 cleaning_requested "cleaning requested",
    }
}

/// The label of a parameter of a page that we know.
fn label(page: u8, code: u16) -> Option<&'static str> {
    match page {
        VolumeStatistics::PAGE => match code {
            0x0040 => Some("cartridge serial number"),
            0x0041 => Some("tape lot"),
            0x0042 => Some("barcode"),
            0x0043 => Some("manufacturer"),
            0x0044 => Some("licence"),
            0x0045 => Some("personality"),
            _ => VolumeStatistics::label(code),
        },
        DeviceStatistics::PAGE => match code {
            0x0040 => Some("drive manufacturer's serial number"),
            0x0041 => Some("drive serial number"),
            _ => DeviceStatistics::label(code),
        },
        TapeCapacity::PAGE => TapeCapacity::label(code),
        SequentialAccess::PAGE => SequentialAccess::label(code),
        _ => None,
    }
}

impl Describe for LogPage {
    fn describe(&self, report: &mut Report) {
        report.line("page", format_args!("{:02x}h", self.page));
        if self.subpage != 0 {
            report.line("subpage", format_args!("{:02x}h", self.subpage));
        }
        report.bytes("pages", &self.pages);
        if let Some(alerts) = self.tape_alerts() {
            alerts.describe(report);
            return;
        }
        for parameter in &self.parameters {
            let value = parameter.shown();
            match label(self.page, parameter.code) {
                Some(label) => report.line(label, value),
                None => report.line(format_args!("{:04x}h", parameter.code), value),
            }
        }
    }
}
