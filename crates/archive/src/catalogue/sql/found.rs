//! Live files by path or pattern, and the volumes that they are on.

use super::names::{self, Indexed};
use super::{Row, Transaction, many, params, search};
use crate::catalogue::{FileId, Found, Pattern, Result};
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

/// As [`find`](crate::catalogue::Files::find).
pub fn find(
    transaction: &Transaction<'_>,
    pattern: &Pattern,
    after: Option<&[u8]>,
    limit: usize,
) -> Result<Vec<Found>> {
    let sql = "SELECT copy.file, volume.label FROM copy JOIN segment ON segment.copy = copy.id \
        JOIN volume ON volume.id = segment.volume \
        WHERE copy.file IN ({many}) AND copy.state = 'whole' \
        GROUP BY copy.file, copy.number, volume.id, volume.label \
        ORDER BY copy.file, copy.number, min(segment.file_offset)";
    let mut found = matches(transaction, pattern, after, limit)?;
    let files: Vec<FileId> = found.iter().map(|file| file.file).collect();
    let mut volumes: HashMap<FileId, Vec<String>> = HashMap::new();
    many(transaction, sql, &[], &files, |row| {
        volumes.entry(row.get(0)?).or_default().push(row.get(1)?);
        Ok(())
    })?;
    for file in &mut found {
        file.volumes = volumes.remove(&file.file).unwrap_or_default();
    }
    Ok(found)
}

/// The first path after all that begin with a prefix; none where no path comes after them.
fn end_of(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte < u8::MAX)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

/// Paths that the database answers with at once. The planner of PostgreSQL reads all paths one by one, in their order,
/// if it expects to find as many soon; of few it would expect that of rare ones too.
const AT_ONCE: usize = 10_000;

/// The columns of [`found`]. An empty file may have whole copies that lie nowhere.
const FOUND: &str = "SELECT id, path, bytes, modified_ns, EXISTS (SELECT 1 FROM cached WHERE file = file.id), \
    copies_wanted - (SELECT count(*) FROM copy WHERE copy.file = file.id AND copy.state = 'whole') FROM file";

/// A file that a search found; its volumes are looked up later.
fn found(row: &Row<'_>) -> Result<Found> {
    Ok(Found {
        file: row.get(0)?,
        path: row.get(1)?,
        bytes: row.get(2)?,
        modified_ns: row.get(3)?,
        cached: row.get(4)?,
        volumes: Vec::new(),
        lacking: row.get::<i64>(5)?.max(0) as u32,
    })
}

/// Live files that match, of those that the index has and of those that are newer.
fn matches_by_index(
    transaction: &Transaction<'_>,
    pattern: &Pattern,
    after: &[u8],
    limit: usize,
    indexed: &Indexed,
) -> Result<Vec<Found>> {
    let mut all = Vec::new();
    for some in indexed.files.chunks(super::AT_ONCE) {
        let some: Vec<FileId> = some.iter().map(|(_, file)| *file).collect();
        let sql = format!("{FOUND} WHERE id IN ({{many}}) AND state = 'live'");
        many(transaction, &sql, &[], &some, |row| {
            all.push(found(row)?);
            Ok(())
        })?;
        if all.len() >= limit {
            break;
        }
    }
    // The first ones by path.
    let mut newer = BTreeMap::new();
    let contains = transaction.contains("path", "?1");
    let sql = format!("{FOUND} WHERE {contains} AND state = 'live' AND id > ?2");
    let params = params![pattern.literal(), indexed.last];
    search(transaction, &sql, params, |row| {
        let path: &[u8] = row.get(1)?;
        if path > after && pattern.matches(path) {
            newer.insert(path.to_vec(), found(row)?);
            if newer.len() > limit {
                newer.pop_last();
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    all.extend(newer.into_values());
    all.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    all.truncate(limit);
    Ok(all)
}

/// Live files that match, without the volumes that they are on.
fn matches(
    transaction: &Transaction<'_>,
    pattern: &Pattern,
    after: Option<&[u8]>,
    limit: usize,
) -> Result<Vec<Found>> {
    // No bytes at all are smaller than every path.
    let mut after = after.unwrap_or_default().to_vec();
    if let Some(indexed) = names::matching(transaction, pattern, &after)? {
        return matches_by_index(transaction, pattern, &after, limit, &indexed);
    }
    let prefix = pattern.literal_prefix();
    // No path holds a zero byte, so this one ends before all that begin with it, such as those of a directory.
    let end = match pattern {
        Pattern::Path(path) => Some([path, &b"\0"[..]].concat()),
        Pattern::Prefix(_) | Pattern::Glob(_) => end_of(prefix),
    };
    let (until, end) = match end {
        Some(end) => ("<", end),
        None => (">=", Vec::new()),
    };
    // A database that looks at every path asks in this order, and few paths come to the second question. Of two places to
    // begin at it would take either, and read all from there.
    let contains = transaction.contains("path", "?2");
    let sql = |from: &str| {
        format!(
            "{FOUND} WHERE {contains} AND state = 'live' AND path {from} ?1 AND path {until} ?3 \
            ORDER BY path LIMIT {AT_ONCE}"
        )
    };
    let mut all = Vec::new();
    loop {
        let mut seen = 0;
        let mut last = Vec::new();
        let (from, begin) = if after.as_slice() < prefix {
            (">=", prefix)
        } else {
            (">", after.as_slice())
        };
        let params = params![begin, pattern.literal(), end];
        search(transaction, &sql(from), params, |row| {
            if all.len() == limit {
                return Ok(ControlFlow::Break(()));
            }
            let path: &[u8] = row.get(1)?;
            seen += 1;
            if seen == AT_ONCE {
                last = path.to_vec();
            }
            if pattern.matches(path) {
                all.push(found(row)?);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if all.len() == limit || seen < AT_ONCE {
            return Ok(all);
        }
        after = last;
    }
}
