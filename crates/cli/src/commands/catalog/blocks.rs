//! Cartridges of which only a list is known: which file lies in which blocks.

use crate::error::CliError;
use crate::output::say;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use tapewise_archive::catalogue::Recorded;
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::record::{self, Owner, Segment, Volume, VolumeFormat, VolumeState};
use tapewise_formats::csv_requests::read_csv;
use tapewise_formats::fields::FieldOptions;
use tapewise_formats::request::{Extent, Request};

/// A volume that is to be added: what is on it, and what is left out and why.
pub struct Found {
    pub volume: Volume,
    pub recorded: Vec<Recorded>,
    pub left_out: Vec<(Vec<u8>, String)>,
}

/// The cartridges of a list in the CSV of requests. A row without a volume is of the cartridge that the list
/// is named like.
pub fn of_blocks(path: &Path, block_size: Option<u64>) -> Result<Vec<Found>, CliError> {
    let block_bytes = block_size.ok_or_else(|| {
        CliError::input("how long the blocks of these cartridges are is not known")
            .hint("--block-size BYTES says it")
    })?;
    let file = File::open(path).map_err(CliError::input)?;
    let options = FieldOptions { block_size };
    let read = read_csv(BufReader::new(file), options).map_err(CliError::input)?;
    // Rows of one file are its pieces here, not requests of their own.
    let notices = read.notices.iter();
    for notice in notices.filter(|notice| notice.code != "repeated-id") {
        say(format_args!("tapewise: {}: {notice}\n", path.display()));
    }
    let named_like = path.file_stem().and_then(|stem| stem.to_str());
    let mut volumes: BTreeMap<&str, Vec<&Request>> = BTreeMap::new();
    for request in &read.requests {
        let label = request.volume.as_deref().or(named_like);
        let label = label.ok_or_else(|| CliError::input("it names no volume").at(&request.id))?;
        volumes.entry(label).or_default().push(request);
    }
    let found = volumes.iter();
    let found = found.map(|(label, requests)| of_volume(label, requests, block_bytes));
    Ok(found.collect())
}

fn of_volume(label: &str, requests: &[&Request], block_bytes: u64) -> Found {
    // A file in several pieces has several rows.
    let mut files: BTreeMap<&str, Vec<&Extent>> = BTreeMap::new();
    for request in requests {
        let inner = request.path.as_deref().unwrap_or(&request.id);
        let pieces = files.entry(inner.trim_start_matches('/')).or_default();
        pieces.extend(&request.extents);
    }
    let (mut recorded, mut left_out) = (Vec::new(), Vec::new());
    for (inner, pieces) in files {
        match of_pieces(label, inner, pieces, block_bytes) {
            Ok(file) => recorded.push(file),
            Err(why) => left_out.push((inner.as_bytes().to_vec(), why)),
        }
    }
    let volume = Volume {
        label: label.to_owned(),
        // Nothing on such a cartridge says which one it is: its barcode is all that it can be known by.
        uuid: format!("blocks:{label}"),
        format: VolumeFormat::Blocks,
        state: VolumeState::Full,
        // The option is at most 16,777,215.
        block_bytes: block_bytes as u32,
        next_block: 0,
        written_bytes: recorded
            .iter()
            .map(|recorded| recorded.file.bytes)
            .fold(0, u64::saturating_add),
    };
    Found {
        volume,
        recorded,
        left_out,
    }
}

/// The file of these pieces, in any order. Without a length in bytes a piece is all of its blocks.
fn of_pieces(
    label: &str,
    inner: &str,
    mut pieces: Vec<&Extent>,
    block_bytes: u64,
) -> Result<Recorded, String> {
    let path = InnerPath::new(format!("{label}/{inner}")).map_err(|error| error.to_string())?;
    if pieces.is_empty() {
        return Err("no blocks are said".to_owned());
    }
    pieces.sort_by_key(|piece| piece.file_offset);
    let mut bytes = 0u64;
    let mut segments = Vec::with_capacity(pieces.len());
    for extent in pieces {
        if extent.file_offset != bytes {
            return Err(format!(
                "a piece begins at byte {} of the file where byte {bytes} is next",
                extent.file_offset
            ));
        }
        let all = extent.block_count.checked_mul(block_bytes);
        let length = extent
            .byte_count
            .or_else(|| all?.checked_sub(extent.byte_offset))
            .ok_or("its length does not fit in 64 bits")?;
        segments.push(Segment {
            partition: extent.partition.unwrap_or(0),
            first_block: extent.start_block,
            last_block: extent.end_block(),
            byte_offset: extent.byte_offset,
            bytes: length,
            file_offset: bytes,
            start: extent.start,
            end: extent.end,
        });
        bytes = bytes
            .checked_add(length)
            .ok_or("its length does not fit in 64 bits")?;
    }
    Ok(Recorded {
        file: record::File {
            path: path.as_bytes().to_vec(),
            bytes,
            modified_ns: 0,
            mode: 0o644,
            sums: Vec::new(),
        },
        owner: Owner::default(),
        zstd_bytes: None,
        segments,
    })
}
