//! From a block's number to its place on the tape.
//!
//! Compression, bad spots and uneven wraps change how many blocks a wrap holds, so the place of a
//! block is looked up in a map of this very cartridge, never computed from an assumed size. The
//! maps, from the most trusted: the drive's table of wrap ends, key points found by timing, and
//! the nominal geometry of the profile. A position recorded for the segment itself needs no map.

use crate::geometry::{Direction, Geometry};
use crate::position::{Position, PositionSource};

/// A run of blocks that lies on one wrap, in reading order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrapSpan {
    /// Partition, 0 to 3.
    pub partition: u8,
    /// Physical wrap.
    pub wrap: u16,
    /// First block, counted from the beginning of the partition.
    pub first_block: u64,
    /// One past the last block.
    pub end_block: u64,
    /// Where the first block begins.
    pub lpos_first: u32,
    /// Where the last block ends.
    pub lpos_end: u32,
}

impl WrapSpan {
    /// The place `block` begins; `block` may be one past the last, and is clamped to the span.
    fn lpos(&self, block: u64) -> u32 {
        let blocks = (self.end_block - self.first_block).max(1);
        let into = block.clamp(self.first_block, self.end_block) - self.first_block;
        let along =
            |length: u32| ((u128::from(length) * u128::from(into)) / u128::from(blocks)) as u32;
        if self.lpos_end >= self.lpos_first {
            self.lpos_first + along(self.lpos_end - self.lpos_first)
        } else {
            self.lpos_first - along(self.lpos_first - self.lpos_end)
        }
    }
}

/// One entry of a drive's table of wrap ends (READ END OF WRAP POSITION, long form).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndOfWrap {
    /// Physical wrap.
    pub wrap: u16,
    /// Partition the wrap belongs to.
    pub partition: u8,
    /// The last block on the wrap; on the wrap with end of data, the position of end of data.
    pub block: u64,
}

/// How a cartridge is partitioned, where only the nominal geometry is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NominalLayout {
    /// One partition over all wraps.
    Single,
    /// Partition 0 for the LTFS index at the beginning, guard wraps, partition 1 for the data.
    Ltfs {
        /// Wraps of the index partition.
        index_wraps: u16,
        /// Unwritten wraps between the two.
        guard_wraps: u16,
    },
}

/// Why a block has no place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// The block is behind the last one the map knows.
    #[error(
        "block {block} of partition {partition} lies beyond the last one of the map ({source_name}), which is {last}"
    )]
    BeyondEnd {
        /// Partition asked for.
        partition: u8,
        /// Block asked for.
        block: u64,
        /// The last block the map knows.
        last: u64,
        /// Where the map came from.
        source_name: String,
    },
    /// The map has no such partition.
    #[error("the map ({source_name}) has no partition {partition}, where block {block} should be")]
    NoPartition {
        /// Partition asked for.
        partition: u8,
        /// Block asked for.
        block: u64,
        /// Where the map came from.
        source_name: String,
    },
    /// The spans that a map is made of are not in order of partition and block.
    #[error(
        "span {span} of the map begins at block {block} of partition {partition}, before the span in front of it"
    )]
    OutOfOrder {
        /// Index of the span, from 0.
        span: usize,
        /// Its partition.
        partition: u8,
        /// Its first block.
        block: u64,
    },
    /// The drive's table contradicts itself or the geometry.
    #[error("end-of-wrap table, entry {entry} (wrap {wrap}): {reason}")]
    BadTable {
        /// Index of the entry, from 0.
        entry: usize,
        /// Its wrap.
        wrap: u16,
        /// What is wrong.
        reason: String,
    },
}

/// Where every block of a cartridge lies.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockMap {
    spans: Vec<WrapSpan>,
    source: PositionSource,
    /// Error of a block's place as a share of its block number: errors add up along the tape.
    share_error: f64,
    /// Error of every place along its wrap, in LPOS units.
    lpos_error: u32,
}

/// Interpolation within a wrap was 0.7-0.8 % of a wrap off on the one real tape for which both
/// the table and a reported position are public (CERN 2018, sense dump of an M8 cartridge).
const END_OF_WRAP_SHARE_OF_WRAP: f64 = 0.008;

impl BlockMap {
    /// The map that a drive's table of wrap ends gives, partitions and uneven wraps honoured.
    ///
    /// The last wrap of a partition ends at end of data, not at the end of the wrap: how far along
    /// the wrap that is follows from the median of the partition's complete wraps, or, where there
    /// is none, from `nominal_wrap_blocks`.
    ///
    /// # Errors
    /// [`MapError::BadTable`] when the table contradicts itself or the geometry, or when a partition
    /// without a complete wrap needs `nominal_wrap_blocks` and there is none.
    pub fn from_end_of_wrap(
        geometry: &Geometry,
        table: &[EndOfWrap],
        nominal_wrap_blocks: Option<f64>,
    ) -> Result<BlockMap, MapError> {
        check_table(geometry, table)?;
        let mut spans: Vec<WrapSpan> = Vec::with_capacity(table.len());
        for (index, entry) in table.iter().enumerate() {
            let first_block = spans
                .last()
                .filter(|before| before.partition == entry.partition)
                .map_or(0, |before| before.end_block);
            let holds_end_of_data = table
                .get(index + 1)
                .is_none_or(|next| next.partition != entry.partition);
            let end_block = if holds_end_of_data {
                entry.block
            } else {
                entry.block + 1
            };
            let blocks = (end_block - first_block) as f64;
            let full_blocks = if holds_end_of_data {
                let complete = spans
                    .iter()
                    .filter(|span| span.partition == entry.partition);
                let sizes = complete
                    .map(|span| span.end_block - span.first_block)
                    .collect();
                let typical = median(sizes)
                    .map(|blocks| blocks as f64)
                    .or(nominal_wrap_blocks);
                let unknown = || MapError::BadTable {
                    entry: index,
                    wrap: entry.wrap,
                    reason: "is the only wrap of its partition, so how far along it the data ends \
                             is not known without the size of a block"
                        .to_owned(),
                };
                typical.ok_or_else(unknown)?.max(blocks)
            } else {
                blocks
            };
            let share = blocks / full_blocks.max(1.0);
            let (lpos_first, lpos_end) = ends(geometry, entry.wrap, share);
            spans.push(WrapSpan {
                partition: entry.partition,
                wrap: entry.wrap,
                first_block,
                end_block,
                lpos_first,
                lpos_end,
            });
        }
        let lpos_error = (f64::from(geometry.wrap_lpos()) * END_OF_WRAP_SHARE_OF_WRAP) as u32;
        Ok(BlockMap::of_sorted(
            spans,
            PositionSource::EndOfWrapTable,
            0.0,
            lpos_error,
        ))
    }

    /// The map of a full cartridge of nominal geometry, every wrap holding `wrap_blocks` blocks.
    ///
    /// `share_error` is the error of a place as a share of the block number, 0.01 for 1 %.
    pub fn nominal(
        geometry: &Geometry,
        layout: NominalLayout,
        wrap_blocks: f64,
        share_error: f64,
    ) -> BlockMap {
        let partitions: Vec<(u8, std::ops::Range<u16>)> = match layout {
            NominalLayout::Single => vec![(0, 0..geometry.wraps)],
            NominalLayout::Ltfs {
                index_wraps,
                guard_wraps,
            } => {
                let data = (index_wraps + guard_wraps).min(geometry.wraps);
                vec![(0, 0..index_wraps), (1, data..geometry.wraps)]
            }
        };
        let mut spans = Vec::new();
        for (partition, wraps) in partitions {
            for (nth, wrap) in wraps.enumerate() {
                let (lpos_first, lpos_end) = ends(geometry, wrap, 1.0);
                spans.push(WrapSpan {
                    partition,
                    wrap,
                    first_block: (nth as f64 * wrap_blocks).round() as u64,
                    end_block: ((nth + 1) as f64 * wrap_blocks).round() as u64,
                    lpos_first,
                    lpos_end,
                });
            }
        }
        BlockMap::of_sorted(spans, PositionSource::Nominal, share_error, 0)
    }

    /// A map from spans in order of partition and block, with its source and errors.
    ///
    /// # Errors
    /// [`MapError::OutOfOrder`] if a span begins before the one in front of it.
    pub fn new(
        spans: Vec<WrapSpan>,
        source: PositionSource,
        share_error: f64,
        lpos_error: u32,
    ) -> Result<BlockMap, MapError> {
        let begin = |span: &WrapSpan| (span.partition, span.first_block);
        match spans
            .windows(2)
            .position(|pair| begin(&pair[1]) < begin(&pair[0]))
        {
            None => Ok(BlockMap::of_sorted(spans, source, share_error, lpos_error)),
            Some(before) => {
                let wrong = spans[before + 1];
                Err(MapError::OutOfOrder {
                    span: before + 1,
                    partition: wrong.partition,
                    block: wrong.first_block,
                })
            }
        }
    }

    /// The same map with another source and other errors.
    #[must_use]
    pub fn with_errors(
        self,
        source: PositionSource,
        share_error: f64,
        lpos_error: u32,
    ) -> BlockMap {
        BlockMap {
            source,
            share_error,
            lpos_error,
            ..self
        }
    }

    /// The map of spans that are in order by the way they were made.
    pub(crate) fn of_sorted(
        spans: Vec<WrapSpan>,
        source: PositionSource,
        share_error: f64,
        lpos_error: u32,
    ) -> BlockMap {
        debug_assert!(spans.is_sorted_by_key(|span| (span.partition, span.first_block)));
        BlockMap {
            spans,
            source,
            share_error,
            lpos_error,
        }
    }

    /// Where the map came from.
    pub fn source(&self) -> PositionSource {
        self.source
    }

    /// The error of a place as a share of its block number.
    pub fn share_error(&self) -> f64 {
        self.share_error
    }

    /// The error of every place along its wrap, in LPOS units.
    pub fn lpos_error(&self) -> u32 {
        self.lpos_error
    }

    /// The runs of blocks, in order of partition and block.
    pub fn spans(&self) -> &[WrapSpan] {
        &self.spans
    }

    /// One past the last block of a partition, 0 when the map has no such partition.
    pub fn end_block(&self, partition: u8) -> u64 {
        self.spans
            .iter()
            .rev()
            .find(|span| span.partition == partition)
            .map_or(0, |s| s.end_block)
    }

    /// Where `block` begins.
    pub fn position(&self, partition: u8, block: u64) -> Result<Position, MapError> {
        let span = self.span(partition, block)?;
        Ok(self.at(span, block))
    }

    /// Where the head stands when `block` has been read: on the same wrap, at the block's far edge.
    pub fn position_after(&self, partition: u8, block: u64) -> Result<Position, MapError> {
        let span = self.span(partition, block)?;
        Ok(self.at(span, block + 1))
    }

    /// Like [`BlockMap::position`], with a block beyond the end taken to be at the end: for maps
    /// that are varied to see what an error would cost.
    pub fn nearest_position(&self, partition: u8, block: u64, after: bool) -> Option<Position> {
        let last = self.end_block(partition).checked_sub(1)?;
        let span = self.span(partition, block.min(last)).ok()?;
        Some(self.at(span, block.min(last) + u64::from(after)))
    }

    /// The same map with every wrap holding `factor` times as many blocks.
    pub fn scaled(&self, factor: f64) -> BlockMap {
        let scale = |block: u64| (block as f64 * factor).round() as u64;
        let spans = self
            .spans
            .iter()
            .map(|span| WrapSpan {
                first_block: scale(span.first_block),
                end_block: scale(span.end_block),
                ..*span
            })
            .collect();
        BlockMap {
            spans,
            ..self.clone()
        }
    }

    fn span(&self, partition: u8, block: u64) -> Result<&WrapSpan, MapError> {
        let behind = self
            .spans
            .partition_point(|span| (span.partition, span.first_block) <= (partition, block));
        let found = behind.checked_sub(1).map(|index| &self.spans[index]);
        match found.filter(|span| span.partition == partition) {
            Some(span) if block < span.end_block => Ok(span),
            Some(_) => Err(MapError::BeyondEnd {
                partition,
                block,
                last: self.end_block(partition).saturating_sub(1),
                source_name: self.source.to_string(),
            }),
            None => Err(MapError::NoPartition {
                partition,
                block,
                source_name: self.source.to_string(),
            }),
        }
    }

    fn at(&self, span: &WrapSpan, block: u64) -> Position {
        let length = span.lpos_end.abs_diff(span.lpos_first);
        let blocks = (span.end_block - span.first_block).max(1);
        let along = self.share_error * block as f64 * f64::from(length) / blocks as f64;
        Position {
            partition: span.partition,
            wrap: span.wrap,
            lpos: span.lpos(block),
            source: self.source,
            error_lpos: self.lpos_error + along as u32,
        }
    }
}

/// Where recording on a wrap begins, and where it ends when `share` of the wrap is used.
fn ends(geometry: &Geometry, wrap: u16, share: f64) -> (u32, u32) {
    let used = (f64::from(geometry.wrap_lpos()) * share.clamp(0.0, 1.0)).round() as u32;
    match geometry.direction(wrap) {
        Direction::Forward => (geometry.lpos_min, geometry.lpos_min + used),
        Direction::Reverse => (geometry.lpos_max, geometry.lpos_max - used),
    }
}

fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

fn check_table(geometry: &Geometry, table: &[EndOfWrap]) -> Result<(), MapError> {
    let bad = |entry: usize, reason: String| {
        Err(MapError::BadTable {
            entry,
            wrap: table[entry].wrap,
            reason,
        })
    };
    for (index, entry) in table.iter().enumerate() {
        if entry.wrap >= geometry.wraps {
            return bad(
                index,
                format!("the cartridge has wraps 0 to {} only", geometry.wraps - 1),
            );
        }
        let Some(before) = index.checked_sub(1).map(|before| table[before]) else {
            continue;
        };
        if entry.wrap <= before.wrap {
            return bad(index, format!("follows wrap {}", before.wrap));
        }
        if entry.partition < before.partition {
            return bad(
                index,
                format!("partition {} follows {}", entry.partition, before.partition),
            );
        }
        if entry.partition == before.partition && entry.block <= before.block {
            return bad(
                index,
                format!("ends at block {}, not after {}", entry.block, before.block),
            );
        }
    }
    Ok(())
}
