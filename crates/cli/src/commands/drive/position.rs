//! `tapewise drive position`: where the head is.

use crate::error::CliError;
use crate::{device, output};
use tapewise_scsi::{PositionSource, Report};

/// Say where the head is: by block, and by wrap and LPOS where the drive tells.
///
/// Reads nothing and moves nothing.
#[derive(clap::Args, Debug)]
pub struct Position {
    /// The drive.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub fn run(args: &Position) -> Result<(), CliError> {
    let mut drive = device::tape_for_use(&args.device)?;
    drive.wait_until_ready(super::READY_LIMIT)?;
    output::report(&place(&mut drive)?, args.json)
}

/// Where a drive that is ready has its head.
pub fn place(drive: &mut tapewise_scsi::TapeDrive) -> Result<Report, CliError> {
    let mut report = Report::default();
    let logical = drive.position()?;
    report.line("partition", logical.partition);
    report.line("block", logical.block);
    report.some("filemarks before it", logical.filemarks);
    report.line(
        "known by",
        match logical.source {
            PositionSource::Long => "READ POSITION, long form",
            PositionSource::Extended => "READ POSITION, extended form",
            PositionSource::Short => "READ POSITION, short form",
            PositionSource::Counted => "counting from a rewind: the drive does not tell",
        },
    );
    if let Some(physical) = drive.physical_position()? {
        match physical.wrap {
            Some(wrap) if wrap % 2 == 0 => {
                report.line(
                    "wrap",
                    format_args!("{wrap}, away from the beginning of tape"),
                );
            }
            Some(wrap) => report.line(
                "wrap",
                format_args!("{wrap}, towards the beginning of tape"),
            ),
            None => report.line("wrap", "above 254, which the drive cannot say"),
        }
        report.line("LPOS", physical.lpos);
    }
    Ok(report)
}
