//! The drive's own order: the lists to ask it with, and its answers.

use crate::batch::{Batch, read_bytes};
use crate::error::CliError;
use crate::placement::{EndPlace, ExtentOrder, Place, Placed, PlacementArgs};
use std::path::PathBuf;
use tapewise_formats::Request;
use tapewise_formats::rao::{parameter_list, read_answers};
use tapewise_formats::rao_batch::{BlockPlace, RaoBatch, bound};
use tapewise_formats::rao_dump::read_dump;
use tapewise_order::Order;

/// The requests as the drive is asked for them: in the order of their blocks, so that each of
/// several lists covers a stretch of the tape.
struct Asked {
    requests: Vec<Request>,
    /// Where each stands in the batch.
    from: Vec<usize>,
}

impl Asked {
    fn new(batch: &Batch) -> Asked {
        let place = |&at: &usize| {
            let first = batch.requests[at].extents.first();
            first.map(|extent| (extent.partition.unwrap_or(0), extent.start_block))
        };
        let mut from: Vec<usize> = (0..batch.requests.len()).collect();
        from.sort_by_key(place);
        let requests = from.iter().map(|&at| batch.requests[at].clone()).collect();
        Asked { requests, from }
    }
}

/// The parameter lists of GENERATE RECOMMENDED ACCESS ORDER, one for each window.
///
/// # Errors
/// Bad input: a head that is given by its physical position, which the drive is not told.
pub fn lists(batch: &Batch, args: &PlacementArgs) -> Result<Vec<Vec<u8>>, CliError> {
    let asked = Asked::new(batch);
    let unload = matches!(args.end, EndPlace::Rewound | EndPlace::Unloaded);
    let mut head = head(args, "--to rao")?;
    let rao_batch = RaoBatch::new(&asked.requests);
    let mut lists = Vec::new();
    for window in rao_batch.windows() {
        let segments = bound(window, head, unload).map_err(CliError::input)?;
        lists.push(parameter_list(&segments).map_err(CliError::input)?);
        // Where the drive ends a list is known when it has answered; by block it ends here.
        if let Some(last) = window.last() {
            head = BlockPlace {
                partition: last.partition,
                block: last.last_block,
            };
        }
    }
    Ok(lists)
}

/// The head's place as the drive is told it; `option` needs it.
///
/// # Errors
/// Bad input: a place that is given by wrap and LPOS.
pub fn head(args: &PlacementArgs, option: &str) -> Result<BlockPlace, CliError> {
    match args.head {
        Place::BeginningOfTape => Ok(BlockPlace {
            partition: 0,
            block: 0,
        }),
        Place::Block { partition, block } => Ok(BlockPlace {
            partition: partition.unwrap_or(0),
            block,
        }),
        Place::Physical(_) => Err(CliError::input(format!(
            "{option}: the drive takes the head's place as a block"
        ))
        .hint("--head BLOCK or PARTITION:BLOCK")),
    }
}

/// The order of the drive's answers, each file with one or several.
///
/// # Errors
/// Bad input: a file that is no answer, or none to these requests.
pub fn order(
    batch: &Batch,
    placed: &Placed,
    args: &PlacementArgs,
    files: &[PathBuf],
) -> Result<Order, CliError> {
    if args.extents == ExtentOrder::Apart {
        return Err(CliError::input(
            "--rao-order: the drive's order is taken file by file, not with --extents apart",
        ));
    }
    let mut answers = Vec::new();
    for file in files {
        let name = file.display();
        let bad = |error: &dyn std::fmt::Display| CliError::input(format!("{name}: {error}"));
        let bytes = read_bytes(file)?;
        let data = read_dump(&bytes).map_err(|e| bad(&e))?;
        answers.extend(read_answers(&data).map_err(|e| bad(&e))?);
    }
    let asked = Asked::new(batch);
    let sequence = RaoBatch::new(&asked.requests)
        .order(&answers)
        .map_err(|error| {
            let hint = "it must answer the lists that --to rao writes for the same requests";
            CliError::input(format!("--rao-order: {error}")).hint(hint)
        })?;
    // File by file, each request of the batch is one of the problem, in the same place.
    let requests: Vec<u32> = sequence.iter().map(|&at| asked.from[at] as u32).collect();
    tapewise_order::rao(&placed.problem, &requests)
        .map_err(|error| CliError::input(format!("--rao-order: {error}")))
}
