//! Opens the logs, and says what was read of each.

use super::log_kind::{LogFormat, refused};
use crate::error::CliError;
use crate::log_file;
use crate::output::refuse_twice;
use crate::units;
use std::path::PathBuf;
use tapewise_fit::log::{LogKind, ReadLog, Records};

/// Reads all logs, and what there is to say of them.
pub fn read(paths: &[PathBuf], format: LogFormat) -> Result<(Records, Vec<String>), CliError> {
    refuse_twice(paths, "each locate counts once")?;
    let mut records = Records::default();
    let mut notices = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        let input = log_file::open(path)?;
        let read = records.read(&name, input, format.given());
        let read = read.map_err(|(kind, error)| {
            let error = refused(error);
            let error = match kind.filter(|_| format == LogFormat::Auto) {
                Some(kind) => error.hint(format!(
                    "it was read as {}; --log-format says otherwise. `tapewise help fit-a-profile` shows what is read",
                    kind.name()
                )),
                None => error,
            };
            error.of(&name)
        })?;
        say_read(&name, &read, &mut notices);
    }
    records.check().map_err(refused)?;
    Ok((records, notices))
}

fn say_read(name: &str, read: &ReadLog, notices: &mut Vec<String>) {
    notices.extend(
        read.notices
            .iter()
            .map(|notice| format!("{name}: {notice}")),
    );
    for (count, why) in [
        (
            read.unplaced,
            "that come first in a mount, move nothing or have no blocks",
        ),
        (read.failed, "that did not get there"),
        (read.repeated, "that were read before; each counts once"),
    ] {
        if count > 0 {
            let locates = units::count(count, "locate");
            notices.push(format!("{name}: left out {locates} {why}"));
        }
    }
    let contents = match read.kind {
        LogKind::Events | LogKind::Locates => units::count(read.moves, "locate"),
        LogKind::BlockMoves => units::count(read.moves, "move"),
        LogKind::Cta => format!(
            "{} read, {} passed over; {}, {} first of their mount, {} after an error",
            units::count(read.files, "file"),
            units::count(read.other_lines as usize, "other line"),
            units::count(read.moves, "move"),
            read.not_known[0],
            read.not_known[1],
        ),
    };
    notices.push(format!("{name}: read as {}: {contents}", read.kind.name()));
}
