//! `tapewise drive position`: where the head is.

use crate::error::CliError;
use crate::{device, json, output};
use serde::Serialize;
use tapewise_scsi::{PositionSource, Report, TapeDrive};

/// Show where the head is: the block, and wrap and LPOS if the drive reports them.
///
/// Nothing is read and nothing moves.
#[derive(clap::Args, Debug)]
pub struct Position {
    /// The drive.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Where a drive has its head.
#[derive(Serialize)]
pub struct HeadPlace {
    partition: u8,
    block: u64,
    /// None where the drive does not count them.
    filemarks_before_it: Option<u64>,
    known_by: &'static str,
    /// None above 254, and where the drive does not tell.
    wrap: Option<u16>,
    lpos: Option<u32>,
}

/// Runs the verb.
pub fn run(args: &Position) -> Result<(), CliError> {
    let mut drive = device::tape_for_use(&args.device)?;
    drive.wait_until_ready(super::READY_LIMIT)?;
    let place = HeadPlace::of(&mut drive)?;
    if args.json {
        json::print("drive-position", &place)
    } else {
        output::print(&place.report().to_string())
    }
}

impl HeadPlace {
    /// Where a drive that is ready has its head.
    pub fn of(drive: &mut TapeDrive) -> Result<HeadPlace, CliError> {
        let logical = drive.position()?;
        let physical = drive.physical_position()?;
        Ok(HeadPlace {
            partition: logical.partition,
            block: logical.block,
            filemarks_before_it: logical.filemarks,
            known_by: match logical.source {
                PositionSource::Long => "READ POSITION, long form",
                PositionSource::Extended => "READ POSITION, extended form",
                PositionSource::Short => "READ POSITION, short form",
                PositionSource::Counted => "counting from a rewind: the drive does not tell",
            },
            wrap: physical.and_then(|physical| physical.wrap),
            lpos: physical.map(|physical| physical.lpos),
        })
    }

    /// The same for a person.
    pub fn report(&self) -> Report {
        let mut report = Report::default();
        report.line("partition", self.partition);
        report.line("block", self.block);
        report.some("filemarks before it", self.filemarks_before_it);
        report.line("known by", self.known_by);
        if let Some(lpos) = self.lpos {
            report.line(
                "wrap",
                match self.wrap {
                    Some(wrap) if wrap % 2 == 0 => {
                        format!("{wrap}, away from the beginning of tape")
                    }
                    Some(wrap) => format!("{wrap}, towards the beginning of tape"),
                    None => "above 254, which the drive cannot say".to_owned(),
                },
            );
            report.line("LPOS", lpos);
        }
        report
    }
}
