//! Cartridges of which only a list is known: which file lies in which blocks.

use super::add::told;
use crate::archive::{Archive, now_ns};
use crate::error::CliError;
use crate::output::say;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use tapewise_archive::catalogue::{Recorded, Volumes};
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::record::{self, Owner, Segment, Volume, VolumeFormat, VolumeState};
use tapewise_formats::csv_requests::read_csv;
use tapewise_formats::fields::FieldOptions;
use tapewise_formats::request::Request;

/// Adds the cartridges of a list in the CSV of requests. A row without a volume is of the cartridge that
/// the list is named like.
pub fn add_blocks(archive: &Archive, path: &Path, block_size: Option<u64>) -> Result<(), CliError> {
    let block_bytes = block_size.ok_or_else(|| {
        CliError::input("how long the blocks of these cartridges are is not known")
            .hint("--block-size BYTES says it")
    })?;
    let file = File::open(path).map_err(CliError::input)?;
    let options = FieldOptions { block_size };
    let read = read_csv(BufReader::new(file), options).map_err(CliError::input)?;
    for notice in &read.notices {
        say(format_args!("tapewise: {}: {notice}\n", path.display()));
    }
    let named_like = path.file_stem().and_then(|stem| stem.to_str());
    let mut volumes: BTreeMap<&str, Vec<&Request>> = BTreeMap::new();
    for request in &read.requests {
        let label = request.volume.as_deref().or(named_like);
        let label = label.ok_or_else(|| CliError::input("it names no volume").at(&request.id))?;
        volumes.entry(label).or_default().push(request);
    }
    for (label, requests) in volumes {
        add_volume(archive, label, &requests, block_bytes)?;
    }
    Ok(())
}

fn add_volume(
    archive: &Archive,
    label: &str,
    requests: &[&Request],
    block_bytes: u64,
) -> Result<(), CliError> {
    let (mut recorded, mut left_out) = (Vec::new(), Vec::new());
    for request in requests {
        match of_list(label, request, block_bytes) {
            Ok(file) => recorded.push(file),
            Err(why) => left_out.push((request.id.clone().into_bytes(), why)),
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
        written_bytes: recorded.iter().map(|recorded| recorded.file.bytes).sum(),
    };
    archive
        .catalogue
        .add_recorded(&volume, &recorded, now_ns())?;
    told(label, recorded.len(), &left_out)
}

/// The file that a row names. Without a length in bytes it is all of its blocks.
fn of_list(label: &str, request: &Request, block_bytes: u64) -> Result<Recorded, String> {
    let inner = request.path.as_deref().unwrap_or(&request.id);
    let inner = inner.trim_start_matches('/');
    let path = InnerPath::new(format!("{label}/{inner}")).map_err(|error| error.to_string())?;
    if request.extents.is_empty() {
        return Err("no blocks are said".to_owned());
    }
    let mut bytes = 0u64;
    let mut segments = Vec::with_capacity(request.extents.len());
    for extent in &request.extents {
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
