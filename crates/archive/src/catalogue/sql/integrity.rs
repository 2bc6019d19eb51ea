//! What must hold of an archive, asked of its database.

use super::{Transaction, Value, all, params};
use crate::catalogue::Result;

/// Each finds what contradicts one rule: what it concerns, a path or a label, and a sentence.
const RULES: [&str; 10] = [
    // A whole copy is whole. Files of LTFS may have holes, so theirs may be shorter.
    "SELECT file.path, format('copy %s is whole, but its segments have %s of %s bytes', \
        copy.number, coalesce(sum(segment.bytes), 0), coalesce(copy.zstd_bytes, file.bytes)) \
    FROM copy JOIN file ON file.id = copy.file \
    LEFT JOIN segment ON segment.copy = copy.id LEFT JOIN volume ON volume.id = segment.volume \
    WHERE copy.state = 'whole' GROUP BY copy.id, file.id \
    HAVING coalesce(sum(segment.bytes), 0) > coalesce(copy.zstd_bytes, file.bytes) \
        OR (coalesce(sum(segment.bytes), 0) < coalesce(copy.zstd_bytes, file.bytes) \
            AND count(*) FILTER (WHERE volume.format = 'ltfs') = 0)",
    // The bytes of a copy follow one another.
    "SELECT path, format('copy %s has a segment at byte %s of the file, the one before ends at %s', \
        number, file_offset, before) \
    FROM (SELECT file.path, copy.number, segment.file_offset, volume.format, \
        coalesce(lag(segment.file_offset + segment.bytes) OVER \
            (PARTITION BY segment.copy ORDER BY segment.file_offset, segment.bytes), 0) AS before \
        FROM segment JOIN copy ON copy.id = segment.copy JOIN file ON file.id = copy.file \
        JOIN volume ON volume.id = segment.volume) AS part \
    WHERE file_offset < before OR (file_offset > before AND format != 'ltfs')",
    // On volumes of ours no two segments share a byte of the tape.
    "SELECT label, format('segments overlap in block %s: one begins at byte %s of it, another ends at %s', \
        first_block, byte_offset, before_end) \
    FROM (SELECT volume.label, segment.first_block, segment.byte_offset, \
        lag(segment.last_block) OVER tape AS before_last, \
        lag(segment.byte_offset + segment.bytes \
            - (segment.last_block - segment.first_block) * volume.block_bytes) OVER tape AS before_end \
        FROM segment JOIN volume ON volume.id = segment.volume JOIN copy ON copy.id = segment.copy \
        WHERE volume.format = 'tapewise' AND segment.bytes > 0 AND copy.state != 'lost' \
        WINDOW tape AS (PARTITION BY segment.volume, segment.partition \
            ORDER BY segment.first_block, segment.byte_offset)) AS part \
    WHERE first_block < before_last OR (first_block = before_last AND byte_offset < before_end)",
    // On volumes of ours a segment's bytes end in its last block.
    "SELECT file.path, format('%s bytes from byte %s of block %s on volume %s do not end in block %s', \
        segment.bytes, segment.byte_offset, segment.first_block, volume.label, segment.last_block) \
    FROM segment JOIN volume ON volume.id = segment.volume \
    JOIN copy ON copy.id = segment.copy JOIN file ON file.id = copy.file \
    WHERE volume.format = 'tapewise' AND segment.bytes > 0 \
    AND segment.first_block + (segment.byte_offset + segment.bytes - 1) / volume.block_bytes \
        != segment.last_block",
    // What was committed lies in front of the next write.
    "SELECT volume.label, format('block %s is recorded, but the next write would begin at block %s', \
        max(segment.last_block), volume.next_block) \
    FROM segment JOIN volume ON volume.id = segment.volume JOIN copy ON copy.id = segment.copy \
    WHERE volume.format = 'tapewise' AND copy.state != 'lost' \
    GROUP BY volume.id HAVING max(segment.last_block) >= volume.next_block",
    // A live file is somewhere.
    "SELECT path, 'is live, but no copy is whole and it is not in the cache: it is lost' FROM file \
    WHERE state = 'live' \
    AND NOT EXISTS (SELECT 1 FROM copy WHERE copy.file = file.id AND copy.state = 'whole') \
    AND NOT EXISTS (SELECT 1 FROM cached WHERE cached.file = file.id)",
    // Two copies on one volume are one copy.
    "SELECT file.path, format('copies %s and %s are both on volume %s', \
        min(copy.number), max(copy.number), volume.label) \
    FROM segment JOIN copy ON copy.id = segment.copy JOIN file ON file.id = copy.file \
    JOIN volume ON volume.id = segment.volume WHERE copy.state != 'lost' \
    GROUP BY volume.id, file.id HAVING min(copy.number) != max(copy.number)",
    // The cache keeps what lacks copies, and only that.
    "SELECT path, CASE dirty WHEN 1 THEN 'the cache must keep it though it has its copies' \
        ELSE 'the cache may drop it though it lacks copies' END \
    FROM (SELECT file.path, cached.dirty, file.state != 'retired' AND file.copies_wanted > \
            (SELECT count(*) FROM copy WHERE copy.file = file.id AND copy.state = 'whole') AS lacks \
        FROM cached JOIN file ON file.id = cached.file) AS held \
    WHERE (dirty = 1) != lacks",
    // The cache holds whole files.
    "SELECT file.path, format('%s bytes of %s are in the cache', cached.bytes, file.bytes) \
    FROM cached JOIN file ON file.id = cached.file WHERE cached.bytes != file.bytes",
    // A copy that nobody writes has a part on tape, or there is no copy.
    "SELECT file.path, format('copy %s is neither being written nor partly on tape', copy.number) \
    FROM copy JOIN file ON file.id = copy.file WHERE copy.state = 'writing' \
    AND copy.open_write IS NULL \
    AND NOT EXISTS (SELECT 1 FROM segment WHERE segment.copy = copy.id)",
];

/// What breaks the rules, a sentence each; at most 100 of a rule.
pub fn broken_rules(transaction: &Transaction<'_>) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for rule in RULES {
        let found = all(
            transaction,
            &format!("{rule} LIMIT 100"),
            params![],
            |row| {
                let sentence: &str = row.get(1)?;
                let about = match row.get(0)? {
                    Value::Bytes(path) => String::from_utf8_lossy(path),
                    Value::Text(label) => label.into(),
                    value => format!("{value:?}").into(),
                };
                Ok(format!("{about}: {sentence}"))
            },
        )?;
        findings.extend(found);
    }
    Ok(findings)
}
