//! Writes requests as CSV in a given order, with their extra columns.

use std::io::{self, Write};

use crate::fields::Field;
use crate::number::excerpt;
use crate::request::{Extent, Request};

/// Why requests could not be written as CSV.
#[derive(Debug, thiserror::Error)]
pub enum CsvOutError {
    /// The output could not be written.
    #[error("cannot write: {0}")]
    Io(#[from] io::Error),
    /// An extra column that has the name of one of ours.
    #[error(
        "request \"{id}\" has an extra column \"{name}\", which is the name of a column of ours; rename it"
    )]
    NameTaken {
        /// The request, shortened.
        id: String,
        /// The column, shortened.
        name: String,
    },
}

/// Columns that are always written; the others only where a request has something in them.
const ALWAYS: [Field; 3] = [Field::Id, Field::StartBlock, Field::BlockCount];

/// Writes a header and one row for each extent, in the order given.
///
/// A request of several extents becomes several rows of the same id; reading them back gives a request for each row,
/// with `file_offset` saying where it belongs. A request without extents becomes a row without blocks, with size 0
/// unless it has a sort key. Extra columns follow in the order in which they first appear.
///
/// # Errors
/// When writing fails, or an extra column has the name of one of ours.
pub fn write_csv<'a>(
    out: &mut impl Write,
    requests: impl IntoIterator<Item = &'a Request> + Clone,
) -> Result<(), CsvOutError> {
    let mut used = [false; Field::ALL.len()];
    for field in ALWAYS {
        used[field as usize] = true;
    }
    let mut extras: Vec<&str> = Vec::new();
    for request in requests.clone() {
        for extent in rows(request) {
            for field in Field::ALL {
                used[*field as usize] |= value(request, extent, *field).is_some();
            }
        }
        for (name, _) in &request.extra {
            if Field::find(name).is_some() {
                return Err(CsvOutError::NameTaken {
                    id: excerpt(&request.id),
                    name: excerpt(name),
                });
            }
            if !extras.contains(&name.as_str()) {
                extras.push(name);
            }
        }
    }
    let all = Field::ALL.iter().copied();
    let columns: Vec<Field> = all.filter(|field| used[*field as usize]).collect();
    let mut writer = csv::Writer::from_writer(out);
    for name in columns
        .iter()
        .map(|field| field.name())
        .chain(extras.iter().copied())
    {
        writer.write_field(name).map_err(io::Error::from)?;
    }
    writer
        .write_record(None::<&[u8]>)
        .map_err(io::Error::from)?;
    for request in requests {
        for extent in rows(request) {
            for field in &columns {
                let text = value(request, extent, *field).unwrap_or_default();
                writer.write_field(text).map_err(io::Error::from)?;
            }
            for name in &extras {
                let found = request.extra.iter().find(|(other, _)| other == name);
                let text = found.map_or("", |(_, text)| text);
                writer.write_field(text).map_err(io::Error::from)?;
            }
            writer
                .write_record(None::<&[u8]>)
                .map_err(io::Error::from)?;
        }
    }
    writer.flush()?;
    Ok(())
}

/// The extents of a request, or one row without.
fn rows(request: &Request) -> impl Iterator<Item = Option<&Extent>> {
    let none = request.extents.is_empty().then_some(None);
    request.extents.iter().map(Some).chain(none)
}

fn value(request: &Request, extent: Option<&Extent>, field: Field) -> Option<String> {
    let positive = |number: u64| (number != 0).then(|| number.to_string());
    match field {
        Field::Id => Some(request.id.clone()),
        Field::Volume => request.volume.clone(),
        Field::Path => request.path.clone(),
        Field::Priority => (request.priority != 0).then(|| request.priority.to_string()),
        Field::Deadline => request.deadline.as_ref().map(ToString::to_string),
        Field::SortKey => request.sort_key.map(|key| key.to_string()),
        Field::EndBlock => None,
        Field::StartBlock => extent.map(|e| e.start_block.to_string()),
        Field::BlockCount => extent.map(|e| e.block_count.to_string()),
        Field::Partition => extent?.partition.map(|p| p.to_string()),
        Field::ByteOffset => positive(extent?.byte_offset),
        Field::FileOffset => positive(extent?.file_offset),
        Field::SizeBytes => match extent {
            Some(extent) => extent.byte_count.map(|bytes| bytes.to_string()),
            // Without it the reader could not tell an empty file from a row with its block missing.
            None => request.sort_key.is_none().then(|| "0".to_string()),
        },
        Field::StartWrap => extent?.start.map(|at| at.wrap.to_string()),
        Field::StartLpos => extent?.start.map(|at| at.lpos.to_string()),
        Field::EndWrap => extent?.end.map(|at| at.wrap.to_string()),
        Field::EndLpos => extent?.end.map(|at| at.lpos.to_string()),
    }
}
