//! What became of the files of a recall, and the media hash list that says so for good.

use crate::error::{CliError, Exit};
use crate::names::as_text;
use crate::now::now_ns;
use crate::units;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use tapewise_archive::deliver::{
    DeliverError, Delivered, Destination, Expected, InnerPath, Outcome, Took,
};
use tapewise_archive::sums::{Kind, Sum, mhl_element};
use tapewise_formats::mhl::{MhlCreator, MhlRecord, rfc3339, write_mhl, xml_can_hold};
use tapewise_model::Micros;

/// What became of the files.
#[derive(Debug, Default)]
pub struct Report {
    there: Vec<Delivered>,
    new: Vec<Delivered>,
    mismatches: usize,
    unreadable: usize,
    other_failures: usize,
    positioning: Duration,
    reading: Duration,
}

impl Report {
    /// Of files that were there before.
    pub fn new(there: impl Iterator<Item = Delivered>) -> Report {
        Report {
            there: there.collect(),
            ..Report::default()
        }
    }

    /// A file has arrived.
    pub fn delivered(&mut self, delivered: Delivered, took: Took) {
        self.positioning += took.positioning;
        self.reading += took.reading;
        self.new.push(delivered);
    }

    /// A file could not be delivered.
    pub fn failed(&mut self, error: &DeliverError) {
        match error {
            DeliverError::Mismatch { .. } => self.mismatches += 1,
            _ => self.other_failures += 1,
        }
    }

    /// A file could not be read.
    pub fn unreadable(&mut self, error: &io::Error) {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => self.other_failures += 1,
            // The tape's own troubles come through a mount as an input/output error.
            _ => self.unreadable += 1,
        }
    }

    /// A file was left out, because nothing can name it.
    pub fn left_out(&mut self) {
        self.other_failures += 1;
    }

    /// A file lies where the tape cannot be read, or is not what the index says.
    pub fn lost(&mut self) {
        self.unreadable += 1;
    }

    /// What has arrived, now or before, for a JSON document.
    pub fn files_json(&self) -> Vec<serde_json::Value> {
        let files = self.there.iter().map(|file| (file, true));
        let files = files.chain(self.new.iter().map(|file| (file, false)));
        files
            .map(|(file, before)| {
                let sums: Vec<String> = file.sums.iter().map(Sum::to_string).collect();
                serde_json::json!({
                    "path": as_text(file.path.as_bytes()),
                    "bytes": file.bytes,
                    "verified": file.outcome == Outcome::Verified,
                    "there_before": before,
                    "sums": sums,
                })
            })
            .collect()
    }

    /// How many of so many files have not arrived.
    pub fn missing(&self, files: usize) -> usize {
        files - self.new.len()
    }

    /// Whether some of so many files have neither arrived nor failed.
    pub fn is_incomplete(&self, files: usize) -> bool {
        self.missing(files) > self.mismatches + self.unreadable + self.other_failures
    }

    /// The exit code for so many files, or the error that says how many are missing.
    pub fn exit(&self, files: usize) -> Result<ExitCode, CliError> {
        let missing = self.missing(files);
        if missing == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        let here = self.new.len() + self.there.len();
        let exit = match (here, self.mismatches, self.unreadable) {
            (1.., ..) => Exit::Partial,
            (_, 1.., _) => Exit::Checksum,
            (_, _, 1..) => Exit::Medium,
            _ => Exit::Failed,
        };
        let said = format!("{} not delivered", units::count(missing, "file"));
        Err(CliError::with(exit, said).hint("the same command tries those again, and only those"))
    }

    /// Writes a list of all files that are there and their sums into the destination, if any are new.
    pub fn write_mhl(
        &self,
        destination: &Destination,
        directory: &Path,
        start_ns: i64,
        say: &dyn Fn(&dyn fmt::Display),
    ) -> Result<(), CliError> {
        if self.new.is_empty() {
            return Ok(());
        }
        let finish_ns = now_ns();
        let mut files: Vec<&Delivered> = self.there.iter().chain(&self.new).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let (text, left_out) = mhl_text(&files, start_ns, finish_ns)?;
        if left_out > 0 {
            let names = units::count(left_out, "name");
            say(&format_args!(
                "{names} that XML cannot hold: not in the MHL"
            ));
        }
        let resolved = directory.canonicalize();
        let folder = resolved.as_deref().unwrap_or(directory).file_name();
        let folder = folder.unwrap_or_default().as_encoded_bytes();
        let date = rfc3339(finish_ns).replace('T', "_").replace([':', 'Z'], "");
        // A second run may end in the same second; its list gets a number then.
        for number in 1.. {
            let number = match number {
                1 => String::new(),
                _ => format!("_{number}"),
            };
            let name = [folder, b"_", date.as_bytes(), number.as_bytes(), b".mhl"].concat();
            let path = InnerPath::new(name).map_err(CliError::failed)?;
            match put(destination, &path, &text) {
                Err(DeliverError::Exists { .. } | DeliverError::Busy { .. }) => {}
                Err(e) => return Err(CliError::failed(e)),
                Ok(_) => {
                    say(&format_args!("checksums in {path}"));
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Delivers a small file whose contents are at hand.
fn put(
    destination: &Destination,
    path: &InnerPath,
    text: &[u8],
) -> Result<Delivered, DeliverError> {
    let expected = Expected {
        sums: vec![Sum::of(Kind::Xxh64, text)],
        ..Expected::of(text.len() as u64)
    };
    let mut delivery = destination.begin(path, expected)?;
    delivery.write(text)?;
    delivery.finish()
}

/// The list, and the number of names that it cannot hold.
fn mhl_text(
    files: &[&Delivered],
    start_ns: i64,
    finish_ns: i64,
) -> Result<(Vec<u8>, usize), CliError> {
    let named = |file: &&&Delivered| {
        let name = std::str::from_utf8(file.path.as_bytes()).ok();
        name.is_some_and(xml_can_hold)
    };
    let listed: Vec<&&Delivered> = files.iter().filter(named).collect();
    let left_out = files.len() - listed.len();
    let hashes: Vec<Vec<(&str, String)>> = listed
        .iter()
        .map(|file| {
            let hash = |sum: &Sum| Some((mhl_element(sum.kind)?, sum.hex()));
            file.sums.iter().filter_map(hash).collect()
        })
        .collect();
    let records = listed.iter().zip(&hashes).map(|(file, hashes)| MhlRecord {
        path: std::str::from_utf8(file.path.as_bytes()).unwrap_or_default(),
        bytes: file.bytes,
        modified_ns: file.modified_ns,
        hashes,
        hashed_ns: finish_ns,
    });
    let creator = MhlCreator {
        tool: concat!("tapewise ", env!("CARGO_PKG_VERSION")).to_owned(),
        start_ns,
        finish_ns,
    };
    let mut text = Vec::new();
    write_mhl(&mut text, &creator, records).map_err(CliError::failed)?;
    Ok((text, left_out))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |files: &[Delivered], outcome| {
            let those = files.iter().filter(|file| file.outcome == outcome);
            those.count()
        };
        let bytes = self
            .new
            .iter()
            .map(|file| file.bytes)
            .fold(0, u64::saturating_add);
        let (files, bytes) = (units::count(self.new.len(), "file"), units::bytes(bytes));
        write!(f, "{files} delivered, {bytes}: ")?;
        write!(f, "{} verified", count(&self.new, Outcome::Verified))?;
        let unverified = count(&self.new, Outcome::Unverified);
        if unverified > 0 {
            write!(
                f,
                ", {unverified} unverified (no checksum is known of them)"
            )?;
        }
        let time = |time: Duration| Micros(i64::try_from(time.as_micros()).unwrap_or(i64::MAX));
        // Only files of a mounted volume are timed here; a drive's own times follow elsewhere.
        if !(self.positioning + self.reading).is_zero() {
            let (positioning, reading) = (time(self.positioning), time(self.reading));
            write!(f, "; {positioning} positioning, {reading} reading")?;
        }
        let mut not_kept: BTreeMap<String, usize> = BTreeMap::new();
        for what in self.new.iter().flat_map(|file| &file.not_kept) {
            *not_kept.entry(what.to_string()).or_default() += 1;
        }
        for (what, files) in not_kept {
            write!(f, "\ntapewise: {what} ({})", units::count(files, "file"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_second_list_of_the_same_second_stands_beside_the_first() {
        let directory = tempfile::tempdir().expect("a directory");
        let destination = Destination::open(directory.path()).expect("a destination");
        for (name, text) in [
            (&b"one"[..], &b"1"[..]),
            (b"two", b"22"),
            (b"three", b"333"),
        ] {
            let path = InnerPath::new(name).expect("a name");
            let mut report = Report::default();
            let delivered = put(&destination, &path, text).expect("a file");
            report.delivered(delivered, Took::default());
            let written = report.write_mhl(&destination, directory.path(), now_ns(), &|_| {});
            assert!(written.is_ok(), "{written:?}");
        }
        let entries = fs::read_dir(directory.path()).expect("the directory");
        let names = entries.map(|entry| entry.expect("an entry").file_name().into_string());
        let lists = names.filter(|name| name.as_ref().is_ok_and(|name| name.ends_with(".mhl")));
        assert_eq!(lists.count(), 3);
    }
}
