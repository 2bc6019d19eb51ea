//! What Python hands over, as the library takes it.

use crate::attention::guarded;
use crate::errors::{CartridgeError, InputError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::fmt::Display;
use tapewise::formats::deadline::Deadline;
use tapewise::formats::map_file::{MapFile, ProbedPlace};
use tapewise::formats::{Extent, Request, WrapLpos};
use tapewise::model::{EndOfWrap, Profile};
use tapewise::{Batch, Cartridge, ExtentOrder, PartitionLayout, Placed, Placement};

/// An error of somebody's arguments.
pub fn input_error(error: impl Display) -> PyErr {
    InputError::new_err(error.to_string())
}

/// The attributes of a `Cartridge`.
#[derive(FromPyObject)]
pub struct CartridgeArguments {
    profile_text: String,
    /// Wrap, partition, block.
    wrap_ends: Option<Vec<(u16, u8, u64)>>,
    /// Partition, block, wrap, LPOS.
    places: Option<Vec<(u8, u64, u16, u32)>>,
    beside_bytes: u64,
    layout: Option<String>,
}

impl CartridgeArguments {
    pub fn cartridge(self) -> PyResult<Cartridge> {
        let wrong = |error: tapewise::CartridgeError| CartridgeError::new_err(error.to_string());
        let profile = Profile::from_toml("profile", &self.profile_text).map_err(input_error)?;
        let mut cartridge = Cartridge::new(profile).map_err(wrong)?;
        if let Some(layout) = &self.layout {
            cartridge = cartridge.with_layout(match layout.as_str() {
                "single" => PartitionLayout::Single,
                "ltfs" => PartitionLayout::Ltfs,
                other => {
                    return Err(input_error(format!(
                        "layout \"{other}\" is neither single nor ltfs"
                    )));
                }
            });
        }
        if let Some(table) = self.wrap_ends {
            let end = |(wrap, partition, block)| EndOfWrap {
                wrap,
                partition,
                block,
            };
            let map = MapFile::EndOfWrap(table.into_iter().map(end).collect());
            cartridge = cartridge.with_map("wrap_ends", map).map_err(wrong)?;
        }
        if let Some(places) = self.places {
            let place = |(partition, block, wrap, lpos)| ProbedPlace {
                partition,
                block,
                wrap,
                lpos,
            };
            let places = places.into_iter().map(place).collect();
            cartridge = match self.beside_bytes {
                0 => cartridge.with_map("places", MapFile::Probed(places)),
                beside => cartridge.with_written_places("places", places, beside),
            }
            .map_err(wrong)?;
        }
        Ok(cartridge)
    }
}

/// The columns of a `Batch` as the bytes of numbers of 64 bits, one row for each extent.
#[derive(FromPyObject)]
pub struct BatchArguments {
    ids: Vec<String>,
    request: PyBackedBytes,
    start_block: PyBackedBytes,
    block_count: PyBackedBytes,
    /// 0 if nobody knows.
    byte_count: PyBackedBytes,
    /// Negative if nobody knows.
    partition: PyBackedBytes,
    /// Start wrap, start LPOS, end wrap, end LPOS one after the other; negative if not recorded.
    recorded: PyBackedBytes,
    /// One for each request.
    priority: PyBackedBytes,
    /// One for each request; negative if there is none.
    deadline_s: PyBackedBytes,
    block_size: Option<u64>,
}

impl BatchArguments {
    pub fn batch(self) -> PyResult<Batch> {
        let request = numbers(&self.request, u64::from_ne_bytes);
        let start_block = numbers(&self.start_block, u64::from_ne_bytes);
        let block_count = numbers(&self.block_count, u64::from_ne_bytes);
        let byte_count = numbers(&self.byte_count, u64::from_ne_bytes);
        let partition = numbers(&self.partition, i64::from_ne_bytes);
        let recorded = numbers(&self.recorded, i64::from_ne_bytes);
        let (priority, deadline_s) = (
            numbers(&self.priority, i64::from_ne_bytes),
            numbers(&self.deadline_s, f64::from_ne_bytes),
        );
        let rows = start_block.len();
        let same = [
            request.len(),
            block_count.len(),
            byte_count.len(),
            partition.len(),
        ];
        let requests = self.ids.len();
        if same != [rows; 4] || priority.len() != requests || deadline_s.len() != requests {
            return Err(input_error("the columns of a batch have different lengths"));
        }
        if let Some(at) = deadline_s.iter().position(|at: &f64| at.is_nan()) {
            return Err(input_error(format!(
                "deadline_s: request {at} has no number; negative is no deadline"
            )));
        }
        let mut made: Vec<Request> = self
            .ids
            .into_iter()
            .zip(priority)
            .zip(deadline_s)
            .map(request_of)
            .collect();
        for row in 0..rows {
            let (first, count) = (start_block[row], block_count[row]);
            if count == 0 || first.checked_add(count).is_none() {
                return Err(input_error(format!(
                    "row {row}: {count} blocks from block {first} on"
                )));
            }
            let places = recorded.get(row * 4..row * 4 + 4);
            let at = |wrap: usize| recorded_place(places?[wrap], places?[wrap + 1]);
            let owner = usize::try_from(request[row])
                .ok()
                .and_then(|at| made.get_mut(at));
            let owner = owner.ok_or_else(|| {
                input_error(format!("row {row}: there is no request {}", request[row]))
            })?;
            owner.extents.push(Extent {
                partition: partition_of(partition[row])
                    .map_err(|why| input_error(format!("row {row}: {why}")))?,
                start_block: first,
                block_count: count,
                byte_count: Some(byte_count[row]).filter(|&bytes| bytes > 0),
                start: at(0),
                end: at(2),
                ..Extent::default()
            });
        }
        Ok(Batch {
            requests: made,
            block_size: self.block_size,
            ..Batch::default()
        })
    }
}

fn numbers<T>(bytes: &PyBackedBytes, number: fn([u8; 8]) -> T) -> Vec<T> {
    let (eights, _) = bytes.as_chunks::<8>();
    eights.iter().map(|&eight| number(eight)).collect()
}

/// A recorded place; none where one of its numbers stands for none.
fn recorded_place(wrap: i64, lpos: i64) -> Option<WrapLpos> {
    let (wrap, lpos) = (u16::try_from(wrap).ok()?, u32::try_from(lpos).ok()?);
    Some(WrapLpos { wrap, lpos })
}

/// A partition of a tape; none if it is negative.
fn partition_of(number: i64) -> Result<Option<u8>, String> {
    const MOST: u8 = 3;
    match u8::try_from(number) {
        Ok(partition) if partition <= MOST => Ok(Some(partition)),
        _ if number < 0 => Ok(None),
        _ => Err(format!("partition {number} is more than {MOST}")),
    }
}

fn request_of(((id, priority), deadline_s): ((String, i64), f64)) -> Request {
    Request {
        id,
        priority,
        deadline: Some(deadline_s)
            .filter(|&at| at >= 0.0)
            .map(Deadline::Seconds),
        ..Request::default()
    }
}

/// Where the head is, where it is left, and how gaps are passed.
#[derive(FromPyObject)]
pub struct PlacementArguments {
    head: String,
    end: String,
    read_through: bool,
}

/// A batch on a cartridge, with positions.
pub fn place(
    py: Python<'_>,
    batch: BatchArguments,
    cartridge: CartridgeArguments,
    placement: &PlacementArguments,
) -> PyResult<Placed> {
    let placement = Placement {
        head: placement.head.parse().map_err(input_error)?,
        end: placement.end.parse().map_err(input_error)?,
        extents: ExtentOrder::Together,
        coalesce_blocks: None,
        read_through: placement.read_through,
    };
    let (batch, cartridge) = (batch.batch()?, cartridge.cartridge()?);
    let placed = guarded(py, || cartridge.place(batch, &placement))?;
    placed.map_err(|error| CartridgeError::new_err(error.to_string()))
}
