//! Maps of one cartridge: the drive's table of wrap ends, or key points, as CSV.
//!
//! The columns say which: `wrap`, `block` and optionally `partition` are a table of wrap ends
//! (READ END OF WRAP POSITION: the last block of each wrap, and for the last wrap of a partition
//! the position of end of data); `track` and `segment` are the first segments of the sections of a
//! DLT4000, in reading order.

use std::io::Read;

use tapewise_model::{EndOfWrap, KeyPoints};

/// What a map file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MapFile {
    /// A drive's table of wrap ends.
    EndOfWrap(Vec<EndOfWrap>),
    /// Key points found by timing.
    KeyPoints(KeyPoints),
}

/// Why a map file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum MapFileError {
    /// Not CSV, or not readable.
    #[error("{0}")]
    Csv(#[from] csv::Error),
    /// Columns of no known map.
    #[error(
        "the columns are {found}; expected wrap,partition,block (a table of wrap ends) or track,segment (key points)"
    )]
    Columns {
        /// The columns found.
        found: String,
    },
    /// A field that is no number, or too large.
    #[error("line {line}, column {column}: \"{text}\" is not a number from 0 to {most}")]
    Field {
        /// The line, from 1.
        line: u64,
        /// The column's name.
        column: &'static str,
        /// The text.
        text: String,
        /// The largest number allowed.
        most: u64,
    },
    /// Tracks out of order, or sections that do not follow each other.
    #[error("line {line}: {reason}")]
    KeyPoints {
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// No rows.
    #[error("the map has no rows")]
    Empty,
}

/// Reads a map of a cartridge.
///
/// `segments` is the number of segments of a cartridge of key points, one past the last: the file
/// gives it as a row of the track behind the last.
///
/// # Errors
/// Names the line and column of the first field that is wrong.
pub fn read_map(input: impl Read) -> Result<MapFile, MapFileError> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(input);
    let headers = reader.headers()?.clone();
    let column = |name: &str| {
        headers
            .iter()
            .position(|h| h.trim_start_matches('\u{feff}').eq_ignore_ascii_case(name))
    };
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>()?;
    if rows.is_empty() {
        return Err(MapFileError::Empty);
    }
    match (
        column("wrap"),
        column("block"),
        column("track"),
        column("segment"),
    ) {
        (Some(wrap), Some(block), ..) => {
            end_of_wrap(&rows, wrap, block, column("partition")).map(MapFile::EndOfWrap)
        }
        (_, _, Some(track), Some(segment)) => {
            key_points(&rows, track, segment).map(MapFile::KeyPoints)
        }
        _ => Err(MapFileError::Columns {
            found: headers.iter().collect::<Vec<_>>().join(","),
        }),
    }
}

fn end_of_wrap(
    rows: &[csv::StringRecord],
    wrap: usize,
    block: usize,
    partition: Option<usize>,
) -> Result<Vec<EndOfWrap>, MapFileError> {
    rows.iter()
        .map(|row| {
            Ok(EndOfWrap {
                wrap: number(row, wrap, "wrap", u64::from(u16::MAX))? as u16,
                partition: match partition {
                    Some(at) => number(row, at, "partition", 3)? as u8,
                    None => 0,
                },
                block: number(row, block, "block", u64::MAX >> 1)?,
            })
        })
        .collect()
}

/// The row behind the last track holds the end of the tape: one past its last segment.
fn key_points(
    rows: &[csv::StringRecord],
    track: usize,
    segment: usize,
) -> Result<KeyPoints, MapFileError> {
    let mut starts: Vec<Vec<u64>> = Vec::new();
    for row in rows {
        let number_of_track = number(row, track, "track", u64::from(u16::MAX))? as usize;
        let first = number(row, segment, "segment", u64::from(u32::MAX))?;
        if number_of_track == starts.len() {
            starts.push(Vec::new());
        }
        if number_of_track + 1 != starts.len() {
            let reason = format!(
                "track {number_of_track} follows track {}",
                starts.len().saturating_sub(1)
            );
            return Err(MapFileError::KeyPoints {
                line: line(row),
                reason,
            });
        }
        starts[number_of_track].push(first);
    }
    let last_line = rows.last().map_or(0, line);
    let at_end = |reason: &str| MapFileError::KeyPoints {
        line: last_line,
        reason: reason.to_owned(),
    };
    let end = match starts.pop().as_deref() {
        Some([end]) => *end,
        _ => {
            return Err(at_end(
                "the last row must be the track behind the last, with the end of the tape as its only segment",
            ));
        }
    };
    KeyPoints::new(starts, end).map_err(|reason| at_end(&reason))
}

fn line(row: &csv::StringRecord) -> u64 {
    row.position().map_or(0, csv::Position::line)
}

fn number(
    row: &csv::StringRecord,
    at: usize,
    column: &'static str,
    most: u64,
) -> Result<u64, MapFileError> {
    let text = row.get(at).unwrap_or_default();
    text.parse()
        .ok()
        .filter(|&number| number <= most)
        .ok_or_else(|| MapFileError::Field {
            line: line(row),
            column,
            text: text.to_owned(),
            most,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_wrap_ends_is_known_by_its_columns() {
        let read = read_map("block,Wrap,partition\n1623,0,0\n208310,4,1\n".as_bytes()).unwrap();
        let expected = vec![
            EndOfWrap {
                wrap: 0,
                partition: 0,
                block: 1_623,
            },
            EndOfWrap {
                wrap: 4,
                partition: 1,
                block: 208_310,
            },
        ];
        assert_eq!(read, MapFile::EndOfWrap(expected));
    }

    #[test]
    fn key_points_end_with_the_end_of_the_tape() {
        let read = read_map("track,segment\n0,0\n0,700\n1,1270\n1,1838\n2,2542\n".as_bytes());
        let expected = KeyPoints::new(vec![vec![0, 700], vec![1_270, 1_838]], 2_542).unwrap();
        assert_eq!(read.unwrap(), MapFile::KeyPoints(expected));
    }

    #[test]
    fn errors_name_line_and_column() {
        let error = |text: &str| read_map(text.as_bytes()).unwrap_err().to_string();
        assert!(error("wrap,block\n0,1\n1,x\n").contains("line 3, column block: \"x\""));
        assert!(error("a,b\n0,1\n").contains("the columns are a,b"));
        assert!(error("track,segment\n0,0\n2,7\n").contains("line 3: track 2 follows track 0"));
        assert!(error("wrap,block\n").contains("no rows"));
    }
}
