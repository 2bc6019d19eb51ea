//! Maps of one cartridge: the drive's table of wrap ends, or key points, as CSV.
//!
//! The columns say which: `wrap`, `block` and optionally `partition` are a table of wrap ends
//! (READ END OF WRAP POSITION: the last block of each wrap, and for the last wrap of a partition
//! the position of end of data); with `lpos` besides they are places that the drive reported for a
//! few blocks; `track` and `segment` are the first segments of the sections of a DLT4000, in
//! reading order.

use std::io::{self, BufRead, BufReader, Read, Write};

use tapewise_model::{EndOfWrap, KeyPoints};

use crate::csv_table::{Table, TableError};
use crate::number::{excerpt, parse_u64};

/// What a map file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MapFile {
    /// A drive's table of wrap ends.
    EndOfWrap(Vec<EndOfWrap>),
    /// Places that the drive reported, by REQUEST SENSE behind a locate.
    Probed(Vec<ProbedPlace>),
    /// Key points found by timing.
    KeyPoints(KeyPoints),
}

/// Where the drive said that a block begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbedPlace {
    /// Partition, 0 to 3.
    pub partition: u8,
    /// The block.
    pub block: u64,
    /// Physical wrap.
    pub wrap: u16,
    /// Longitudinal position.
    pub lpos: u32,
}

/// Why a map file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum MapFileError {
    /// No table: not readable, not UTF-8, or not the same columns everywhere.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Columns of no known map.
    #[error(
        "the columns are {found}; expected wrap,partition,block (a table of wrap ends), with lpos (places that the drive reported), or track,segment (key points)"
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

/// Reads a map of a cartridge: CSV of the same kinds as requests, in UTF-8.
///
/// For key points, the row of the track behind the last gives the number of segments, one past the last segment.
///
/// # Errors
/// Names the line and column of the first field that is wrong.
pub fn read_map(input: impl Read) -> Result<MapFile, MapFileError> {
    let table = Table::open(
        BufReader::new(input),
        "with wrap and block, or track and segment",
    )?;
    let (wrap, block) = (table.column("wrap")?, table.column("block")?);
    let (track, segment) = (table.column("track")?, table.column("segment")?);
    let lpos = table.column("lpos")?;
    match (wrap, block, track, segment) {
        (Some(wrap), Some(block), ..) => {
            let partition = table.column("partition")?;
            let columns = (
                Column::new("wrap", wrap, u64::from(u16::MAX)),
                partition.map(|at| Column::new("partition", at, 3)),
                Column::new("block", block, u64::MAX >> 1),
            );
            match lpos {
                Some(at) => probed(table, columns, Column::new("lpos", at, i32::MAX as u64))
                    .map(MapFile::Probed),
                None => end_of_wrap(table, columns).map(MapFile::EndOfWrap),
            }
        }
        (_, _, Some(track), Some(segment)) => {
            let columns = (
                Column::new("track", track, u64::from(u16::MAX)),
                Column::new("segment", segment, u64::from(u32::MAX)),
                table
                    .column("error")?
                    .map(|at| Column::new("error", at, u64::from(u16::MAX))),
            );
            key_points(table, columns).map(MapFile::KeyPoints)
        }
        _ => Err(MapFileError::Columns {
            found: table.names().join(",").chars().take(500).collect(),
        }),
    }
}

/// A column of numbers from 0 to `most`.
#[derive(Clone, Copy)]
struct Column {
    name: &'static str,
    at: usize,
    most: u64,
}

impl Column {
    fn new(name: &'static str, at: usize, most: u64) -> Self {
        Self { name, at, most }
    }

    fn number(self, line: u64, fields: &[&str]) -> Result<u64, MapFileError> {
        let text = fields[self.at];
        let number = parse_u64(text).ok().filter(|&number| number <= self.most);
        number.ok_or_else(|| MapFileError::Field {
            line,
            column: self.name,
            text: excerpt(text.trim()),
            most: self.most,
        })
    }
}

fn end_of_wrap<R: BufRead>(
    mut table: Table<R>,
    (wrap, partition, block): (Column, Option<Column>, Column),
) -> Result<Vec<EndOfWrap>, MapFileError> {
    let mut ends = Vec::new();
    while let Some(row) = table.next()? {
        let (line, fields) = (row.line, row.fields()?);
        ends.push(EndOfWrap {
            wrap: wrap.number(line, &fields)? as u16,
            partition: match partition {
                Some(partition) => partition.number(line, &fields)? as u8,
                None => 0,
            },
            block: block.number(line, &fields)?,
        });
    }
    if ends.is_empty() {
        return Err(MapFileError::Empty);
    }
    Ok(ends)
}

fn probed<R: BufRead>(
    mut table: Table<R>,
    (wrap, partition, block): (Column, Option<Column>, Column),
    lpos: Column,
) -> Result<Vec<ProbedPlace>, MapFileError> {
    let mut places = Vec::new();
    while let Some(row) = table.next()? {
        let (line, fields) = (row.line, row.fields()?);
        places.push(ProbedPlace {
            partition: match partition {
                Some(partition) => partition.number(line, &fields)? as u8,
                None => 0,
            },
            block: block.number(line, &fields)?,
            wrap: wrap.number(line, &fields)? as u16,
            lpos: lpos.number(line, &fields)? as u32,
        });
    }
    if places.is_empty() {
        return Err(MapFileError::Empty);
    }
    Ok(places)
}

/// Writes a map so that [`read_map`] reads it back.
///
/// # Errors
/// Those of the writer.
pub fn write_map(out: &mut dyn Write, map: &MapFile) -> io::Result<()> {
    match map {
        MapFile::EndOfWrap(table) => {
            writeln!(out, "partition,wrap,block")?;
            for end in table {
                writeln!(out, "{},{},{}", end.partition, end.wrap, end.block)?;
            }
        }
        MapFile::Probed(places) => {
            writeln!(out, "partition,block,wrap,lpos")?;
            for place in places {
                let ProbedPlace {
                    partition,
                    block,
                    wrap,
                    lpos,
                } = place;
                writeln!(out, "{partition},{block},{wrap},{lpos}")?;
            }
        }
        MapFile::KeyPoints(key_points) => {
            // Key points that were timed one by one have no error to speak of.
            let (head, error) = match key_points.error() {
                0 => ("", String::new()),
                error => (",error", format!(",{error}")),
            };
            writeln!(out, "track,segment{head}")?;
            for track in 0..key_points.tracks() {
                for segment in key_points.track(track) {
                    writeln!(out, "{track},{segment}{error}")?;
                }
            }
            let (tracks, segments) = (key_points.tracks(), key_points.segments());
            writeln!(out, "{tracks},{segments}{error}")?;
        }
    }
    Ok(())
}

/// The row after the last track holds the end of the tape: one past its last segment. The largest error of the rows counts.
fn key_points<R: BufRead>(
    mut table: Table<R>,
    (track, segment, error): (Column, Column, Option<Column>),
) -> Result<KeyPoints, MapFileError> {
    let mut starts: Vec<Vec<u64>> = Vec::new();
    let (mut last_line, mut largest) = (0, 0);
    while let Some(row) = table.next()? {
        let (line, fields) = (row.line, row.fields()?);
        if let Some(error) = error {
            largest = largest.max(error.number(line, &fields)?);
        }
        let track = track.number(line, &fields)? as usize;
        let segment = segment.number(line, &fields)?;
        push_key_point(&mut starts, track, segment)
            .map_err(|reason| MapFileError::KeyPoints { line, reason })?;
        last_line = line;
    }
    if starts.is_empty() {
        return Err(MapFileError::Empty);
    }
    let at_end = |reason: String| MapFileError::KeyPoints {
        line: last_line,
        reason,
    };
    match starts.pop().as_deref() {
        Some([end]) if !starts.is_empty() => KeyPoints::new(starts, *end)
            .map(|points| points.with_error(largest as u32))
            .map_err(at_end),
        _ => Err(at_end(
            "the last row must be the track after the last one, with the end of the tape as its only segment"
                .to_owned(),
        )),
    }
}

/// Adds one row; what [`KeyPoints::new`] would refuse in the whole is refused here, where its line is known.
fn push_key_point(starts: &mut Vec<Vec<u64>>, track: usize, segment: u64) -> Result<(), String> {
    let last = starts.last().and_then(|track| track.last()).copied();
    let is_next = track == starts.len();
    if !is_next && track + 1 != starts.len() {
        return Err(match starts.len() {
            0 => format!("track {track} is the first; tracks count from 0"),
            tracks => format!("track {track} follows track {}", tracks - 1),
        });
    }
    match last {
        None if segment != 0 => return Err("the first key point must be segment 0".to_owned()),
        Some(last) if segment <= last => {
            return Err(format!("key point {segment} is not after key point {last}"));
        }
        _ => {}
    }
    let wanted = starts.first().map_or(0, Vec::len);
    let found = starts.last().map_or(0, Vec::len);
    if (is_next && found != wanted) || (!is_next && track > 0 && found == wanted) {
        return Err(format!(
            "every track must have {wanted} key points, as track 0 has"
        ));
    }
    if is_next {
        starts.push(vec![segment])
    } else {
        starts[track].push(segment)
    }
    Ok(())
}
