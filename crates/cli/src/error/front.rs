//! What to do about the errors on the way from requests to a plan, and their exit codes.

use super::CliError;
use tapewise::batch::{BatchError, UnorderableError};
use tapewise::rao::DriveOrderError;
use tapewise::{CartridgeError, GoalError, PlaceError, PositionError, SearchError};
use tapewise_model::PositionSource;

impl From<BatchError> for CliError {
    fn from(error: BatchError) -> CliError {
        let hint = match &error {
            BatchError::NamesOnly { .. } => {
                "names alone have no place on a tape: add --ltfs-index INDEX.xml or --ltfs-mount DIR"
            }
            BatchError::NotFound { .. } => {
                "--match name compares the last part of each name only, --strip-prefix takes off what is in front; --ignore-missing skips names that are not found"
            }
            error if error.has_path_twice() => {
                "an index has each path once: take another index of this volume"
            }
            BatchError::Ambiguous { .. } => "give the whole path",
            _ => return CliError::input(error),
        };
        CliError::input(error).hint(hint)
    }
}

impl From<UnorderableError> for CliError {
    fn from(error: UnorderableError) -> CliError {
        let hint = match &error {
            UnorderableError::OnlySortKeys { .. } => {
                "tapewise convert --sort writes them in the order of their keys"
            }
            _ => "order one cartridge at a time: --volume NAME",
        };
        CliError::input(error).hint(hint)
    }
}

impl From<CartridgeError> for CliError {
    fn from(error: CartridgeError) -> CliError {
        let hint = match &error {
            CartridgeError::PartitionsUnknown { .. } => {
                "give the drive's table of wrap ends with --map, or --layout single"
            }
            CartridgeError::BlockSizeUnknown => {
                "add --block-size BYTES, or --map with the drive's table of wrap ends and a column size_bytes"
            }
            CartridgeError::Library { .. } => {
                "`tapewise profile list` shows which profiles are drives"
            }
            _ => return CliError::input(error),
        };
        CliError::input(error).hint(hint)
    }
}

impl From<PlaceError> for CliError {
    fn from(error: PlaceError) -> CliError {
        let hint = match &error {
            PlaceError::UnloadUnknown { .. } => {
                return CliError::input(format!("--end unloaded: {error}")).hint("--end rewound");
            }
            PlaceError::Request { source, .. } => hint_of_request(source),
            PlaceError::Head(PositionError::SeveralPartitions) => Some(PARTITION),
            PlaceError::Head(PositionError::HeadWithoutMap) => Some("give wrap=W,lpos=L instead"),
            _ => None,
        };
        match (error, hint) {
            (PlaceError::Batch(error), _) => error.into(),
            (PlaceError::Cartridge(error), _) => error.into(),
            (error, Some(hint)) => CliError::input(error).hint(hint),
            (error, None) => CliError::input(error),
        }
    }
}

const PARTITION: &str = "add a column partition; for --head and --end give PARTITION:BLOCK";

fn hint_of_request(error: &PositionError) -> Option<&'static str> {
    match error {
        PositionError::SizeUnknown => Some("add --block-size BYTES or a column size_bytes"),
        PositionError::SeveralPartitions => Some(PARTITION),
        PositionError::NotOnMap {
            map: PositionSource::Nominal,
            ..
        } => Some(
            "is this the right --profile, --block-size, --layout? A table of wrap ends (--map) settles it",
        ),
        PositionError::NotOnMap { .. } => Some("is this the map of the right cartridge?"),
        _ => None,
    }
}

impl From<SearchError> for CliError {
    fn from(error: SearchError) -> CliError {
        match error {
            SearchError::Goal(error) => error.into(),
            error => CliError::input(error),
        }
    }
}

impl From<GoalError> for CliError {
    fn from(error: GoalError) -> CliError {
        match error {
            GoalError::NoDeadlines => {
                CliError::input(format!("--objective deadline: {error}")).hint(
                    "add a column deadline (seconds from now, or 2026-11-21T04:01:25Z), or use --objective mean",
                )
            }
            GoalError::TooMuchTape { least, .. } => {
                CliError::failed(format!("--max-distance: {error}")).hint(format!(
                    "--max-distance {least:.0}, or read fewer requests at a time"
                ))
            }
            error => CliError::input(error),
        }
    }
}

impl CliError {
    /// What is wrong with the lists for a drive, or its answers; `option` is what they are for.
    pub fn of_drive_order(option: &str, error: DriveOrderError) -> CliError {
        let hint = match &error {
            DriveOrderError::HeadIsPhysical => "--head BLOCK or PARTITION:BLOCK",
            DriveOrderError::Answer(_) => {
                "it must answer the lists that --to rao writes for the same requests"
            }
            DriveOrderError::ExtentsApart => {
                return CliError::input(format!(
                    "{option}: the drive's order is taken file by file, not with --extents apart"
                ));
            }
            DriveOrderError::List(_) => return CliError::input(error),
            _ => return CliError::input(error).of(option),
        };
        CliError::input(error).of(option).hint(hint)
    }
}
