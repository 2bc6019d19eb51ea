//! The index of names: made piece by piece, and asked.

use super::{AT_ONCE, Database, Transaction, Value, enter, many, one, params, walk};
use crate::catalogue::names::{self, Candidate, Candidates, PART_PAGES, Packed, Part, Set, Wanted};
use crate::catalogue::{FileId, Pattern, Result};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Files that are found in the index. If more of them match, the first ones are found sooner by looking at paths in
/// their order.
const MOST_FOUND: usize = 200_000;

/// How many parts the index has, and the last file in it.
fn state(transaction: &Transaction<'_>) -> Result<(u64, FileId)> {
    let sql = "SELECT count(*), coalesce(max(last_file), 0) FROM name_part";
    let state = one(transaction, sql, params![], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    Ok(state.unwrap_or((0, FileId(0))))
}

/// As [`index_names`](crate::catalogue::Files::index_names).
pub fn index<D: Database>(database: &D, names: usize) -> Result<bool> {
    let (before, part) = database.read(|transaction| {
        let before = state(transaction)?;
        let mut part = Part::new();
        let sql = "SELECT id, path FROM file WHERE id > ?1 ORDER BY id LIMIT ?2";
        walk(transaction, sql, params![before.1, names as u64], |row| {
            part.take(row.get(0)?, row.get(1)?)?;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok((before, part))
    })?;
    if part.names() < names {
        return Ok(false);
    }
    let (number, last) = (before.0, part.last());
    let Packed { pages, sets } = part.finish()?;
    database.write(|transaction| {
        // Another process may have been quicker.
        if state(transaction)? != before {
            return Ok(true);
        }
        let first_page = number * PART_PAGES as u64;
        let pages: Vec<[Value<'_>; 2]> = (first_page as i64..)
            .zip(&pages)
            .map(|(page, packed)| [Value::Integer(page), Value::Bytes(packed)])
            .collect();
        enter(transaction, "name_page", ["page", "packed"], &pages)?;
        let part = Value::Integer(number as i64);
        let sets: Vec<[Value<'_>; 3]> = sets
            .iter()
            .map(|(Set(set), packed)| [Value::Integer((*set).into()), part, Value::Bytes(packed)])
            .collect();
        enter(transaction, "name_gram", ["gram", "part", "blocks"], &sets)?;
        let row = [[part, Value::Integer(last.0)]];
        enter(transaction, "name_part", ["part", "last_file"], &row)?;
        Ok(true)
    })
}

/// What the index says of a pattern.
pub struct Indexed {
    /// The files, live or not, whose paths match, by path.
    pub files: Vec<(Vec<u8>, FileId)>,
    /// The last file that the index has.
    pub last: FileId,
}

/// The files of the index whose paths match and come after `after`. None where the index is no help: there is none, the
/// pattern begins with its longest run of letters, too many files match, or the system starts no threads.
pub fn matching(
    transaction: &Transaction<'_>,
    pattern: &Pattern,
    after: &[u8],
) -> Result<Option<Indexed>> {
    // Of what begins with its longest run of letters, the order of paths knows where it lies.
    if pattern.literal() == pattern.literal_prefix() {
        return Ok(None);
    }
    let wanted = Wanted::of(&pattern.literals());
    let sets = wanted.sets();
    let (parts, last) = state(transaction)?;
    if parts == 0 || sets.is_empty() {
        return Ok(None);
    }
    let mut of_parts: BTreeMap<u64, Candidates<'_>> = BTreeMap::new();
    let sql = "SELECT part, gram, blocks FROM name_gram WHERE gram IN ({many})";
    let sets: Vec<i64> = sets.into_iter().map(|Set(set)| set.into()).collect();
    many(transaction, sql, &[], &sets, |row| {
        let of_part = of_parts.entry(row.get(0)?);
        let candidates = of_part.or_insert_with(|| Candidates::all(&wanted));
        candidates.keep(Set(row.get(1)?), row.get(2)?)
    })?;
    let of_parts = of_parts.iter();
    let pages = of_parts.flat_map(|(&part, candidates)| candidates.of_part(part));
    let pages: BTreeMap<i64, u32> = pages.map(|(page, blocks)| (page as i64, blocks)).collect();
    let numbers: Vec<i64> = pages.keys().copied().collect();
    let is_wanted = |path: &[u8]| path > after && pattern.matches(path);
    let files = names::look_into(pattern.literal(), &is_wanted, |looking| {
        let sql = "SELECT page, packed FROM name_page WHERE page IN ({many})";
        for numbers in numbers.chunks(AT_ONCE) {
            if looking.found() > MOST_FOUND {
                break;
            }
            many(transaction, sql, &[], numbers, |row| {
                if let Some(&blocks) = pages.get(&row.get(0)?) {
                    let packed = row.get(1)?;
                    looking.take(Candidate { packed, blocks });
                }
                Ok(())
            })?;
        }
        Ok(())
    })?;
    let Some(mut files) = files.filter(|files| files.len() <= MOST_FOUND) else {
        return Ok(None);
    };
    files.sort_unstable();
    Ok(Some(Indexed { files, last }))
}
