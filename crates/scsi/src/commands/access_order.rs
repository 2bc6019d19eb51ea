//! GENERATE and RECEIVE RECOMMENDED ACCESS ORDER (A4h/1Dh, A3h/1Dh): the drive's own order of reads,
//! on LTO-9 (full height) and later, TS1140 and later, T10000C and D (SSC-5, 6.3 and 7.9).
//!
//! Probe before use: drives without it reject the operation code, and some write a dump then. Where
//! in a returned descriptor the estimated time stands is not public; bytes 2 to 4, the only ones that
//! are reserved on the way in, are kept as they came.

use super::timeouts;
use crate::bytes::Fields;
use crate::cdb::Cdb;
use crate::command::{Command, Direction};
use crate::decode_error::DecodeError;
use crate::hex;
use crate::report::{Describe, Report};
use std::time::Duration;

/// What the drive shall do with the list (RAO PROCESS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessOrderProcess {
    /// 001b: keep the order and estimate its times.
    Estimate,
    /// 010b: find a better order.
    Reorder,
}

/// One user data segment: objects of one partition that are read in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// A name that the host chooses and the drive returns.
    pub name: [u8; 10],
    /// Partition.
    pub partition: u8,
    /// First object.
    pub first: u64,
    /// Last object. A segment of one object that stands first is where the head starts; one that
    /// stands last, or last but one before an unload, is where it shall end.
    pub last: u64,
}

impl Segment {
    /// Last in the list: the tape is to be unloaded at the end.
    pub const UNLOADED: Segment = Segment {
        name: [0; 10],
        partition: 0,
        first: 0,
        last: 0,
    };
}

/// Sends a list to the drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenerateAccessOrder {
    process: AccessOrderProcess,
    parameters: Vec<u8>,
}

/// Asks for the list back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveAccessOrder {
    /// How many segments to make room for.
    pub segments: usize,
}

/// Asks how long a list may be (UDS_LIMITS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveAccessOrderLimits;

/// How long a list may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessOrderLimits {
    /// Most segments: 2,730 on LTO-9.
    pub most_segments: u16,
    /// Most bytes of one descriptor.
    pub most_bytes: u16,
}

/// The list as the drive returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessOrder {
    /// The process that it was made with.
    pub process: u8,
    /// STATUS, whose values are not public but for 0, done.
    pub status: u8,
    /// The segments in the drive's order.
    pub segments: Vec<OrderedSegment>,
}

/// One segment of a returned list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderedSegment {
    /// The segment.
    pub segment: Segment,
    /// Bytes 2 to 4, where the estimate of the time from the end of the segment before to the
    /// beginning of this one is thought to stand.
    pub raw_time: [u8; 3],
    /// What longer descriptors (with geometry) add, as sent.
    pub rest: Vec<u8>,
}

/// Bytes of a descriptor without geometry, and what its length field says: those that follow it.
const DESCRIPTOR: usize = 32;

impl GenerateAccessOrder {
    /// Operation code and service action, for [`crate::TapeDrive::supports`].
    pub const CODE: (u8, u8) = (0xa4, 0x1d);

    /// A list of segments, in the host's order.
    pub fn new(process: AccessOrderProcess, segments: &[Segment]) -> GenerateAccessOrder {
        let bytes = segments.len() * DESCRIPTOR;
        let mut parameters = Vec::with_capacity(8 + bytes);
        parameters.extend([0; 4]);
        parameters.extend((bytes as u32).to_be_bytes());
        for segment in segments {
            parameters.extend((DESCRIPTOR as u16 - 2).to_be_bytes());
            parameters.extend([0; 3]);
            parameters.extend(segment.name);
            parameters.push(segment.partition);
            parameters.extend(segment.first.to_be_bytes());
            parameters.extend(segment.last.to_be_bytes());
        }
        GenerateAccessOrder {
            process,
            parameters,
        }
    }
}

impl Command for GenerateAccessOrder {
    type Answer = ();

    fn name(&self) -> &'static str {
        "GENERATE RECOMMENDED ACCESS ORDER"
    }

    fn cdb(&self) -> Cdb {
        let process = match self.process {
            AccessOrderProcess::Estimate => 1,
            AccessOrderProcess::Reorder => 2,
        };
        let [a, b, c, d] = (self.parameters.len() as u32).to_be_bytes();
        Cdb::new([0xa4, 0x1d, process, 0, 0, 0, a, b, c, d, 0, 0])
    }

    fn direction(&self) -> Direction<'_> {
        Direction::Out(&self.parameters)
    }

    fn timeout(&self) -> Duration {
        timeouts::LOCATE
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}

fn receive(flags: u8, allocation: usize) -> Cdb {
    let [a, b, c, d] = (allocation as u32).to_be_bytes();
    Cdb::new([0xa3, 0x1d | flags, 0, 0, 0, 0, a, b, c, d, 0, 0])
}

impl ReceiveAccessOrder {
    /// Operation code and service action, for [`crate::TapeDrive::supports`].
    pub const CODE: (u8, u8) = (0xa3, 0x1d);

    fn allocation(self) -> usize {
        8 + self.segments * DESCRIPTOR
    }
}

impl Command for ReceiveAccessOrder {
    type Answer = AccessOrder;

    fn name(&self) -> &'static str {
        "RECEIVE RECOMMENDED ACCESS ORDER"
    }

    fn cdb(&self) -> Cdb {
        receive(0, self.allocation())
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(self.allocation())
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<AccessOrder, DecodeError> {
        let header = Fields::new("recommended access order", answer);
        let list = header.part("recommended access order", 8, header.u32(4)? as usize)?;
        let mut segments = Vec::new();
        let mut at = 0;
        while at < list.len() {
            let length = 2 + usize::from(list.u16(at)?);
            segments.push(segment(list.part("segment", at, length)?)?);
            at += length;
        }
        Ok(AccessOrder {
            process: header.u8(0)? & 0x07,
            status: header.u8(1)? & 0x07,
            segments,
        })
    }
}

fn segment(descriptor: Fields<'_>) -> Result<OrderedSegment, DecodeError> {
    let mut name = [0; 10];
    name.copy_from_slice(descriptor.slice(5, 10)?);
    let mut raw_time = [0; 3];
    raw_time.copy_from_slice(descriptor.slice(2, 3)?);
    Ok(OrderedSegment {
        segment: Segment {
            name,
            partition: descriptor.u8(15)?,
            first: descriptor.u64(16)?,
            last: descriptor.u64(24)?,
        },
        raw_time,
        rest: descriptor.rest(DESCRIPTOR).to_vec(),
    })
}

impl Command for ReceiveAccessOrderLimits {
    type Answer = AccessOrderLimits;

    fn name(&self) -> &'static str {
        "RECEIVE RECOMMENDED ACCESS ORDER (limits)"
    }

    fn cdb(&self) -> Cdb {
        receive(0x80, 4)
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(4)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<AccessOrderLimits, DecodeError> {
        let data = Fields::new("limits of the access order", answer);
        Ok(AccessOrderLimits {
            most_segments: data.u16(0)?,
            most_bytes: data.u16(2)?,
        })
    }
}

impl Describe for AccessOrder {
    fn describe(&self, report: &mut Report) {
        report.line("process", self.process);
        report.line("status", self.status);
        for ordered in &self.segments {
            let Segment {
                name,
                partition,
                first,
                last,
            } = ordered.segment;
            let time = hex::plain(&ordered.raw_time);
            report.line(
                crate::bytes::text(&name),
                format_args!("partition {partition}, {first} to {last}, time {time} (hex)"),
            );
        }
    }
}

impl Describe for AccessOrderLimits {
    fn describe(&self, report: &mut Report) {
        report.line("most segments", self.most_segments);
        report.line("most bytes of one", self.most_bytes);
    }
}
