//! Pairs of numbers behind a line that says `PAIRS`: first block, number of blocks.

use crate::format::{Content, Format, ReadError};
use crate::request::{Extent, Request, Requests};
use std::io::BufRead;

/// See [`crate::detect::FORMATS`].
pub const FORMAT: Format = Format {
    name: "pairs",
    title: "pairs of blocks",
    endings: &["pairs"],
    recognise: |head| head.text().starts_with("PAIRS\n").then_some("the first line says PAIRS"),
    content: Content::Requests {
        read: |input, _| read_pairs(input).map_err(ReadError::new),
        block_bytes: None,
        is_text: true,
    },
};

fn read_pairs(input: impl BufRead) -> std::io::Result<Requests> {
    let mut read = Requests::default();
    for line in input.lines().skip(1) {
        let line = line?;
        let numbers = line.split_once(' ').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let (start_block, block_count) = numbers.ok_or(std::io::ErrorKind::InvalidData)?;
        read.requests.push(Request {
            id: line.clone(),
            extents: vec![Extent { start_block, block_count, ..Extent::default() }],
            ..Request::default()
        });
    }
    Ok(read)
}
