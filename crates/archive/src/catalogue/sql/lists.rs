//! Lists of any length come in: in portions, so that memory does not grow with them.

use super::files::{ARRIVING_AT, LIVE_AT, file_at};
use super::recorded::insert_recorded;
use super::rows::{SEGMENT_ROW, check_path, segment_row};
use super::volume_rows::{check_segments, insert_volume};
use super::{ToValue, Transaction, Value, one, params, run};
use crate::catalogue::{CatalogueError, FileState, ListItem, Recorded, Result, VolumeId};
use crate::record::VolumeFormat;
use std::collections::HashSet;

/// Files that are entered at once.
const PORTION: usize = 10_000;

/// Tables of a list whose rows have numbers.
const NUMBERED: [&str; 2] = ["file", "copy"];

/// A list that is coming in.
struct List<'a> {
    transaction: &'a Transaction<'a>,
    /// Whether the catalogue may know a path of the list.
    knows_files: bool,
    /// What brings the rules of the tables back; none while they are there.
    rules: Option<Vec<String>>,
    /// Files that wait for their portion, each with its volume.
    portion: Vec<(VolumeId, VolumeFormat, Recorded)>,
    files: u64,
    at_ns: i64,
}

/// Adds volumes and the files on them; returns how many files.
pub fn add_list(
    transaction: &Transaction<'_>,
    items: &mut dyn Iterator<Item = Result<ListItem>>,
    at_ns: i64,
) -> Result<u64> {
    let sql = "SELECT EXISTS (SELECT 1 FROM file)";
    let mut list = List {
        transaction,
        knows_files: one(transaction, sql, params![], |row| row.get(0))?.unwrap_or(true),
        rules: None,
        portion: Vec::with_capacity(PORTION),
        files: 0,
        at_ns,
    };
    let mut on = None;
    for item in items {
        match (item?, on) {
            (ListItem::Volume(volume), _) => {
                on = Some((insert_volume(transaction, &volume, at_ns)?, volume.format));
            }
            (ListItem::File(file), Some((volume, format))) => {
                check_segments(&file, format)?;
                check_path(transaction, &file.file.path)?;
                list.portion.push((volume, format, file));
            }
            (ListItem::File(file), None) => {
                let what = "a list begins with a volume".to_owned();
                return Err(CatalogueError::Impossible {
                    path: file.file.path,
                    what,
                });
            }
        }
        if list.portion.len() == PORTION {
            list.enter()?;
        }
    }
    list.end()
}

impl List<'_> {
    /// Enters the files that wait.
    fn enter(&mut self) -> Result<()> {
        if !self.knows_files && self.rules.is_none() && self.portion.len() == PORTION {
            // It is quicker to look at all new rows once, at the end. Until then a path that comes twice is not seen.
            self.rules = Some(self.transaction.set_rules_aside()?);
        }
        let mut new = Vec::with_capacity(self.portion.len());
        let mut paths = HashSet::new();
        for entry in std::mem::take(&mut self.portion) {
            let (volume, format, file) = entry;
            let is_new = self.rules.is_some()
                || (paths.insert(file.file.path.clone()) && !self.is_known(&file.file.path)?);
            if is_new {
                new.push((volume, file));
            } else {
                // Perhaps a further copy of a file: looked at by itself, after those before it.
                self.load(&std::mem::take(&mut new))?;
                insert_recorded(self.transaction, (volume, format), &file, self.at_ns)?;
                self.files += 1;
            }
        }
        self.load(&new)
    }

    fn is_known(&self, path: &[u8]) -> Result<bool> {
        let found = |sql| file_at(self.transaction, sql, path);
        Ok(found(LIVE_AT)?.is_some() || found(ARRIVING_AT)?.is_some())
    }

    /// Enters files that the catalogue does not know, each with one whole copy.
    fn load(&mut self, new: &[(VolumeId, Recorded)]) -> Result<()> {
        if new.is_empty() {
            return Ok(());
        }
        let [first_file, first_copy] =
            NUMBERED.map(|table| self.transaction.last_number(table, "id"));
        let (first_file, first_copy) = (first_file? + 1, first_copy? + 1);
        let numbered = || (first_file..).zip(first_copy..).zip(new);
        let at_ns = Value::Integer(self.at_ns);
        let one = Value::Integer(1);
        let live = FileState::Live.to_value()?;
        let columns = [
            "id",
            "path",
            "bytes",
            "modified_ns",
            "mode",
            "user_name",
            "group_name",
            "account",
            "copies_wanted",
            "state",
            "created_ns",
        ];
        self.rows("file", &columns, &mut |put| {
            numbered().try_for_each(|((id, _), (_, Recorded { file, owner, .. }))| {
                put(&[
                    Value::Integer(id),
                    Value::Bytes(&file.path),
                    file.bytes.to_value()?,
                    Value::Integer(file.modified_ns),
                    file.mode.to_value()?,
                    Value::Text(&owner.user),
                    Value::Text(&owner.group),
                    Value::Text(&owner.account),
                    one,
                    live,
                    at_ns,
                ])
            })
        })?;
        self.rows("sum", &["file", "kind", "value"], &mut |put| {
            numbered().try_for_each(|((id, _), (_, recorded))| {
                recorded.file.sums.iter().try_for_each(|sum| {
                    put(&[
                        Value::Integer(id),
                        sum.kind.to_value()?,
                        Value::Bytes(&sum.value),
                    ])
                })
            })
        })?;
        let columns = ["id", "file", "number", "state", "written_ns", "zstd_bytes"];
        self.rows("copy", &columns, &mut |put| {
            numbered().try_for_each(|((file, id), (_, recorded))| {
                let whole = Value::Text("whole");
                put(&[
                    Value::Integer(id),
                    Value::Integer(file),
                    one,
                    whole,
                    at_ns,
                    recorded.zstd_bytes.to_value()?,
                ])
            })
        })?;
        self.rows("segment", &SEGMENT_ROW, &mut |put| {
            numbered().try_for_each(|((_, copy), (volume, recorded))| {
                recorded
                    .segments
                    .iter()
                    .try_for_each(|segment| put(&segment_row(*volume, copy, segment)?))
            })
        })?;
        let count = new.len() as i64;
        self.transaction
            .set_last_number("file", "id", first_file + count - 1)?;
        self.transaction
            .set_last_number("copy", "id", first_copy + count - 1)?;
        self.files += new.len() as u64;
        Ok(())
    }

    fn rows(&self, table: &str, columns: &[&str], fill: super::Fill<'_>) -> Result<()> {
        let columns: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
        self.transaction.load(table, &columns, fill)
    }

    /// Enters what is left, and looks at all of it.
    fn end(mut self) -> Result<u64> {
        self.enter()?;
        for rule in self.rules.iter().flatten() {
            run(self.transaction, rule, params![])?;
        }
        Ok(self.files)
    }
}
