//! Volumes.

use super::files::{retire, settle_all};
use super::hand_over::hand_over;
use super::lists::add_list;
use super::recorded::insert_recorded;
use super::rejoin::{give_up_missing, rejoin, was_full_in_backup};
use super::rows::{self, SEGMENT, VOLUME, segment};
use super::volume_rows::{insert_volume, refuse_open_writes, volume};
use super::{Database, Row, Transaction, all, many, one, params, run};
use crate::catalogue::{
    CatalogueError, Fact, FileId, Forgotten, HOLDS_MORE, LOAD_COUNT, ListItem, Loss, OnVolume,
    Recorded, Rediscovered, Rejoined, Result, VolumeId, Volumes,
};
use crate::record::{Segment, Volume, VolumeState};
use std::collections::BTreeSet;

/// Live files that are nowhere but on this volume. A copy that was lost counts here, where it may be
/// the last trace of a file, and not elsewhere.
fn only_here(transaction: &Transaction<'_>, id: VolumeId) -> Result<Vec<(FileId, Vec<u8>)>> {
    let sql = "SELECT DISTINCT file.id, file.path FROM segment \
        JOIN copy ON copy.id = segment.copy JOIN file ON file.id = copy.file \
        WHERE segment.volume = ?1 AND copy.state != 'writing' AND file.state = 'live' \
        AND NOT EXISTS (SELECT 1 FROM cached WHERE cached.file = file.id) \
        AND NOT EXISTS (SELECT 1 FROM copy AS other \
            WHERE other.file = file.id AND other.state = 'whole' \
            AND NOT EXISTS (SELECT 1 FROM segment AS part \
                WHERE part.copy = other.id AND part.volume = ?1)) \
        ORDER BY file.path";
    all(transaction, sql, [id], |row| Ok((row.get(0)?, row.get(1)?)))
}

fn forget(
    transaction: &Transaction<'_>,
    id: VolumeId,
    loss: Loss,
    at_ns: i64,
) -> Result<Forgotten> {
    let label = volume(transaction, id)?.label;
    refuse_open_writes(transaction, id)?;
    let lost = only_here(transaction, id)?;
    if let (Loss::Refused, Some((_, example))) = (loss, lost.first()) {
        return Err(CatalogueError::OnlyCopy {
            label,
            files: lost.len() as u64,
            example: example.clone(),
        });
    }
    if loss == Loss::Refused {
        let sql = "SELECT value FROM fact WHERE volume = ?1 AND name = ?2 AND value != ''";
        let more: Option<String> =
            one(transaction, sql, params![id, HOLDS_MORE], |row| row.get(0))?;
        if let Some(what) = more {
            return Err(CatalogueError::HoldsMore { label, what });
        }
    }
    let sql = "SELECT DISTINCT copy.id, copy.file FROM segment \
        JOIN copy ON copy.id = segment.copy WHERE segment.volume = ?1";
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let copies: Vec<(i64, FileId)> = all(transaction, sql, [id], row)?;
    let numbers: Vec<i64> = copies.iter().map(|(copy, _)| *copy).collect();
    for sql in [
        "DELETE FROM segment WHERE copy IN ({many})",
        "DELETE FROM copy WHERE id IN ({many})",
    ] {
        many(transaction, sql, &[], &numbers, |_| Ok(()))?;
    }
    for (file, _) in &lost {
        retire(transaction, *file, at_ns)?;
    }
    let files: BTreeSet<FileId> = copies.iter().map(|(_, file)| *file).collect();
    let files: Vec<FileId> = files.into_iter().collect();
    let complete = settle_all(transaction, &files, at_ns)?;
    let mut lacking = 0;
    let sql = "SELECT id FROM file WHERE state = 'live' AND id IN ({many})";
    many(transaction, sql, &[], &files, |row| {
        lacking += u64::from(complete.binary_search(&row.get(0)?).is_err());
        Ok(())
    })?;
    run(transaction, "DELETE FROM volume WHERE id = ?1", [id])?;
    Ok(Forgotten {
        copies: copies.len() as u64,
        retired: lost.len() as u64,
        lacking,
    })
}

impl<D: Database> Volumes for D {
    fn add_volume(&self, volume: &Volume, at_ns: i64) -> Result<VolumeId> {
        self.write(|transaction| insert_volume(transaction, volume, at_ns))
    }

    fn add_recorded(&self, volume: &Volume, files: &[Recorded], at_ns: i64) -> Result<VolumeId> {
        self.write(|transaction| {
            let id = insert_volume(transaction, volume, at_ns)?;
            for recorded in files {
                insert_recorded(transaction, (id, volume.format), recorded, at_ns)?;
            }
            Ok(id)
        })
    }

    fn add_list(
        &self,
        items: &mut dyn Iterator<Item = Result<ListItem>>,
        at_ns: i64,
    ) -> Result<u64> {
        hand_over(items, |items| {
            self.write_list(|transaction| add_list(transaction, items, at_ns))
        })
    }

    fn give_up_missing(&self, uuid: &str, found: &[Segment], at_ns: i64) -> Result<u64> {
        self.write(|transaction| give_up_missing(transaction, uuid, found, at_ns))
    }

    fn rejoin(&self, on: &[Volume], copies: &[Rediscovered], at_ns: i64) -> Result<Rejoined> {
        self.write(|transaction| rejoin(transaction, on, copies, at_ns))
    }

    fn find_volume(&self, label: &str) -> Result<Option<(VolumeId, Volume)>> {
        let sql = format!("SELECT id, {VOLUME} FROM volume WHERE label = ?1");
        self.read(|transaction| {
            one(transaction, &sql, [label], |row| {
                Ok((row.get(0)?, rows::volume(row, 1)?))
            })
        })
    }

    fn volume(&self, id: VolumeId) -> Result<Volume> {
        self.read(|transaction| volume(transaction, id))
    }

    fn volumes(&self) -> Result<Vec<(VolumeId, Volume)>> {
        let sql = format!("SELECT id, {VOLUME} FROM volume ORDER BY label");
        self.read(|transaction| {
            all(transaction, &sql, params![], |row| {
                Ok((row.get(0)?, rows::volume(row, 1)?))
            })
        })
    }

    fn set_volume_uuid(&self, id: VolumeId, uuid: &str) -> Result<()> {
        let sql = "UPDATE volume SET uuid = ?2 WHERE id = ?1 AND state = 'empty'";
        self.write(
            |transaction| match run(transaction, sql, params![id, uuid])? {
                0 => Err(CatalogueError::NoVolume(id)),
                _ => Ok(()),
            },
        )
    }

    fn set_volume_state(&self, id: VolumeId, state: VolumeState) -> Result<()> {
        let sql = "UPDATE volume SET state = ?2 WHERE id = ?1";
        self.write(
            |transaction| match run(transaction, sql, params![id, state])? {
                0 => Err(CatalogueError::NoVolume(id)),
                _ => was_full_in_backup(transaction, id).map(|_| ()),
            },
        )
    }

    fn contents(&self, id: VolumeId) -> Result<Vec<OnVolume>> {
        let mut all = self.all_contents(id)?;
        all.retain(|on| !on.lost);
        Ok(all)
    }

    fn all_contents(&self, id: VolumeId) -> Result<Vec<OnVolume>> {
        let sql = format!(
            "SELECT file.id, file.path, copy.number, file.state = 'live', file.created_ns, \
            copy.zstd_bytes, copy.state = 'lost', \
            coalesce(copy.verified_ns, copy.written_ns), copy.verified_ns IS NOT NULL, {SEGMENT} FROM segment \
            JOIN copy ON copy.id = segment.copy JOIN file ON file.id = copy.file \
            WHERE segment.volume = ?1 \
            ORDER BY partition, first_block, byte_offset, copy, file_offset"
        );
        self.read(|transaction| {
            volume(transaction, id)?;
            all(transaction, &sql, [id], |row| {
                Ok(OnVolume {
                    file: row.get(0)?,
                    path: row.get(1)?,
                    number: row.get(2)?,
                    live: row.get(3)?,
                    stored_ns: row.get(4)?,
                    zstd_bytes: row.get(5)?,
                    lost: row.get(6)?,
                    read_ns: row.get(7)?,
                    is_read: row.get(8)?,
                    segment: segment(row, 9)?,
                })
            })
        })
    }

    fn forget_volume(&self, id: VolumeId, loss: Loss, at_ns: i64) -> Result<Forgotten> {
        self.write(|transaction| forget(transaction, id, loss, at_ns))
    }

    fn note_facts(&self, id: VolumeId, facts: &[(&str, &str)], at_ns: i64) -> Result<()> {
        let sql = "INSERT INTO fact (volume, name, value, seen_ns) VALUES (?1, ?2, ?3, ?4) \
            ON CONFLICT (volume, name) DO UPDATE SET value = ?3, seen_ns = ?4";
        self.write(|transaction| {
            volume(transaction, id)?;
            for (name, value) in facts {
                run(transaction, sql, params![id, name, value, at_ns])?;
            }
            Ok(())
        })
    }

    fn most_loads(&self) -> Result<Option<u64>> {
        let sql = "SELECT max(CAST(value AS BIGINT)) FROM fact WHERE name = ?1";
        let most: Option<Option<i64>> =
            self.read(|transaction| one(transaction, sql, [LOAD_COUNT], |row| row.get(0)))?;
        Ok(most.flatten().map(i64::unsigned_abs))
    }

    fn with_fact(&self, name: &str) -> Result<Vec<VolumeId>> {
        let sql = "SELECT volume FROM fact WHERE name = ?1 ORDER BY volume";
        self.read(|transaction| all(transaction, sql, [name], |row| row.get(0)))
    }

    fn facts(&self, id: VolumeId) -> Result<Vec<Fact>> {
        let sql = "SELECT name, value, seen_ns FROM fact WHERE volume = ?1 ORDER BY name";
        self.read(|transaction| {
            all(transaction, sql, [id], |row| {
                Ok(Fact {
                    name: row.get(0)?,
                    value: row.get(1)?,
                    seen_ns: row.get(2)?,
                })
            })
        })
    }
}
