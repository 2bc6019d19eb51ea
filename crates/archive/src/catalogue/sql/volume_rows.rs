//! The rows of volumes, and what they must keep to.

use super::rows::{self, VOLUME, checked};
use super::{Row, Transaction, new_row, one, params};
use crate::catalogue::{CatalogueError, Recorded, Result, VolumeId, WriteId};
use crate::record::{Volume, VolumeFormat};

/// A volume, or the error that there is none.
pub fn volume(transaction: &Transaction<'_>, id: VolumeId) -> Result<Volume> {
    let sql = format!("SELECT {VOLUME} FROM volume WHERE id = ?1");
    let found = one(transaction, &sql, [id], |row| rows::volume(row, 0))?;
    found.ok_or(CatalogueError::NoVolume(id))
}

/// Enters a volume whose label and UUID are new.
pub fn insert_volume(
    transaction: &Transaction<'_>,
    volume: &Volume,
    at_ns: i64,
) -> Result<VolumeId> {
    let sql = "SELECT 1 FROM volume WHERE label = ?1 OR uuid = ?2";
    let known = one(transaction, sql, [&volume.label, &volume.uuid], |_| Ok(()))?;
    if known.is_some() {
        return Err(CatalogueError::VolumeKnown {
            label: volume.label.clone(),
            uuid: volume.uuid.clone(),
        });
    }
    let sql = format!(
        "INSERT INTO volume ({VOLUME}, added_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id"
    );
    let params = params![
        volume.label,
        volume.uuid,
        volume.format,
        volume.state,
        volume.block_bytes,
        volume.next_block,
        volume.written_bytes,
        at_ns
    ];
    Ok(VolumeId(new_row(transaction, &sql, params)?))
}

/// Refuses segments that are not the file: their bytes follow one another and add up to its length.
///
/// Files of LTFS may have holes, which are zeros and in no segment.
pub fn check_segments(recorded: &Recorded, format: VolumeFormat) -> Result<()> {
    let path = &recorded.file.path;
    let wrong = |what: String| CatalogueError::Impossible {
        path: path.clone(),
        what,
    };
    let holes = format == VolumeFormat::Ltfs;
    let mut end = 0u64;
    for segment in &recorded.segments {
        checked(path, "block", segment.last_block)?;
        checked(path, "an offset of", segment.byte_offset)?;
        if segment.last_block < segment.first_block || segment.partition > 3 {
            return Err(wrong(format!(
                "blocks {} to {} of partition {} are not a segment",
                segment.first_block, segment.last_block, segment.partition
            )));
        }
        let at = segment.file_offset;
        if at < end || (at > end && !holes) {
            return Err(wrong(format!(
                "a segment begins at byte {at} of the file where byte {end} is next"
            )));
        }
        end = at
            .checked_add(segment.bytes)
            .ok_or_else(|| wrong(format!("a segment of {} bytes", segment.bytes)))?;
    }
    let bytes = recorded.zstd_bytes.unwrap_or(recorded.file.bytes);
    if end > bytes || (end < bytes && !holes) {
        return Err(wrong(format!(
            "its segments end at byte {end}, the file has {bytes}"
        )));
    }
    Ok(())
}

/// Refuses to forget a volume that a write depends on.
pub fn refuse_open_writes(transaction: &Transaction<'_>, id: VolumeId) -> Result<()> {
    let sql = "SELECT open_write.id, volume.label FROM open_write \
        JOIN volume ON volume.id = open_write.volume \
        WHERE open_write.volume = ?1 OR EXISTS (SELECT 1 FROM copy \
        JOIN segment ON segment.copy = copy.id \
        WHERE copy.open_write = open_write.id AND segment.volume = ?1)";
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let open: Option<(WriteId, String)> = one(transaction, sql, [id], row)?;
    match open {
        Some((write, label)) => Err(CatalogueError::WriteOpen { write, label }),
        None => Ok(()),
    }
}
