//! The named fields of a request, shared by the CSV and the JSON Lines reader.

use crate::deadline::{Deadline, DeadlineError};
use crate::number::{NumberFault, excerpt, parse_u64};
use crate::request::{Extent, Request, WrapLpos, blocks_for, run_fits};

/// Declares the fields we know, so that a row is a small array and the names stand in one place.
macro_rules! fields {
    ($($variant:ident = $name:literal),* $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Field { $($variant,)* }
        impl Field {
            pub(crate) const ALL: &'static [Field] = &[$(Field::$variant,)*];
            pub(crate) fn name(self) -> &'static str {
                match self { $(Field::$variant => $name,)* }
            }
        }
    };
}

fields! {
    Id = "id", Volume = "volume", Path = "path", Partition = "partition", StartBlock = "start_block",
    BlockCount = "block_count", EndBlock = "end_block", ByteOffset = "byte_offset",
    SizeBytes = "size_bytes", FileOffset = "file_offset", StartWrap = "start_wrap",
    StartLpos = "start_lpos", EndWrap = "end_wrap", EndLpos = "end_lpos", Priority = "priority",
    Deadline = "deadline", SortKey = "sort_key",
}

const FIELD_COUNT: usize = Field::ALL.len();

impl Field {
    /// The field of that name, upper or lower case.
    pub(crate) fn find(name: &str) -> Option<Field> {
        let mut all = Field::ALL.iter().copied();
        all.find(|field| field.name().eq_ignore_ascii_case(name))
    }

    /// Whether the field says where an extent lies, rather than what the request is.
    pub(crate) fn is_of_extent(self) -> bool {
        use Field::*;
        matches!(
            self,
            Partition
                | StartBlock
                | BlockCount
                | EndBlock
                | ByteOffset
                | SizeBytes
                | FileOffset
                | StartWrap
                | StartLpos
                | EndWrap
                | EndLpos
        )
    }
}

/// What the reader of named fields must be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FieldOptions {
    /// The block size in bytes; needed where a size in bytes stands instead of a block count.
    pub block_size: Option<u64>,
}

/// What is wrong with one field of a row; the line is in the error around it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// A number that is none.
    #[error("{column} is \"{text}\", expected {fault}")]
    BadNumber {
        /// The column.
        column: &'static str,
        /// Its text, shortened.
        text: String,
        /// What was expected.
        fault: NumberFault,
    },
    /// A value out of its range.
    #[error("{column} is \"{text}\", expected {expected}")]
    BadValue {
        /// The column.
        column: &'static str,
        /// Its text, shortened.
        text: String,
        /// What was expected.
        expected: String,
    },
    /// A deadline that is none.
    #[error("deadline: {0}")]
    BadDeadline(#[from] DeadlineError),
    /// A field that must be there is empty.
    #[error("{column} is empty{why}")]
    Missing {
        /// The column.
        column: &'static str,
        /// Why it is needed, beginning with a colon.
        why: &'static str,
    },
    /// A size in bytes without a block size.
    #[error(
        "size_bytes needs the block size to become blocks; give it (--block-size), or give block_count"
    )]
    NeedsBlockSize,
    /// A last block before the first.
    #[error(
        "end_block {end_block} is before start_block {start_block}; end_block is the last block, inclusive"
    )]
    EndBeforeStart {
        /// The first block.
        start_block: u64,
        /// The last block.
        end_block: u64,
    },
    /// A run of blocks that ends beyond 64 bits.
    #[error("{block_count} blocks from start_block {start_block} end beyond 2^64")]
    Overflow {
        /// The first block.
        start_block: u64,
        /// The number of blocks.
        block_count: u64,
    },
    /// Two fields that contradict each other.
    #[error("{0}")]
    Conflict(String),
}

/// The fields of one row; an empty field is none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    values: [Option<&'a str>; FIELD_COUNT],
}

impl<'a> Row<'a> {
    pub(crate) fn new() -> Self {
        Self {
            values: [None; FIELD_COUNT],
        }
    }

    pub(crate) fn set(&mut self, field: Field, text: &'a str) {
        // Blanks around a number mean nothing; in a name they are part of it, unless there is nothing else.
        let empty = match field {
            Field::Id | Field::Path => text.is_empty(),
            _ => text.trim_ascii().is_empty(),
        };
        self.values[field as usize] = (!empty).then_some(text);
    }

    pub(crate) fn get(&self, field: Field) -> Option<&'a str> {
        self.values[field as usize]
    }

    fn number(&self, field: Field) -> Result<Option<u64>, RowError> {
        self.number_up_to(field, u64::MAX)
    }

    fn number_up_to(&self, field: Field, max: u64) -> Result<Option<u64>, RowError> {
        let Some(text) = self.get(field) else {
            return Ok(None);
        };
        match parse_u64(text) {
            Ok(number) if number <= max => Ok(Some(number)),
            Ok(_) => Err(RowError::BadValue {
                column: field.name(),
                text: excerpt(text),
                expected: format!("a whole number from 0 to {max}"),
            }),
            Err(fault) => Err(RowError::BadNumber {
                column: field.name(),
                text: excerpt(text),
                fault,
            }),
        }
    }

    fn position(&self, wrap: Field, lpos: Field) -> Result<Option<WrapLpos>, RowError> {
        let wrap_value = self.number_up_to(wrap, u64::from(u16::MAX))?;
        let lpos_value = self.number_up_to(lpos, u64::from(u32::MAX))?;
        match (wrap_value, lpos_value) {
            // Both casts are within the limits checked above.
            (Some(wrap), Some(lpos)) => Ok(Some(WrapLpos {
                wrap: wrap as u16,
                lpos: lpos as u32,
            })),
            (None, None) => Ok(None),
            (Some(_), None) => Err(RowError::Missing {
                column: lpos.name(),
                why: ": a wrap needs its LPOS",
            }),
            (None, Some(_)) => Err(RowError::Missing {
                column: wrap.name(),
                why: ": an LPOS needs its wrap",
            }),
        }
    }

    fn priority(&self) -> Result<i64, RowError> {
        let Some(text) = self.get(Field::Priority) else {
            return Ok(0);
        };
        text.trim_ascii().parse().map_err(|_| RowError::BadValue {
            column: Field::Priority.name(),
            text: excerpt(text),
            expected: "a whole number, higher is sooner".to_string(),
        })
    }

    /// Everything of the request but its extents and extra fields; `fallback_id` where neither id nor path is there.
    pub(crate) fn request(&self, fallback_id: Option<String>) -> Result<Request, RowError> {
        let path = self.get(Field::Path).map(str::to_string);
        let id = self.get(Field::Id).map(str::to_string);
        let id = id.or_else(|| fallback_id.map(|number| path.clone().unwrap_or(number)));
        Ok(Request {
            id: id.ok_or(RowError::Missing {
                column: "id",
                why: ": every row needs one when there is an id column",
            })?,
            volume: self.get(Field::Volume).map(|v| v.trim_ascii().to_string()),
            path,
            extents: Vec::new(),
            priority: self.priority()?,
            deadline: self.get(Field::Deadline).map(Deadline::parse).transpose()?,
            sort_key: self.number(Field::SortKey)?,
            extra: Vec::new(),
        })
    }

    /// The extent of the row; `None` for an empty file, or a row that has a sort key and no block.
    pub(crate) fn extent(&self, options: FieldOptions) -> Result<Option<Extent>, RowError> {
        let size_bytes = self.number(Field::SizeBytes)?;
        let byte_offset = self.number(Field::ByteOffset)?.unwrap_or(0);
        let partition = self.number_up_to(Field::Partition, 3)?.map(|p| p as u8);
        let Some(start_block) = self.number(Field::StartBlock)? else {
            return self.no_start_block(size_bytes);
        };
        if let Some(block_size) = options.block_size
            && byte_offset >= block_size.max(1)
        {
            return Err(RowError::Conflict(format!(
                "byte_offset {byte_offset} is not inside a block of {block_size} bytes"
            )));
        }
        let counted = self.counted(start_block)?;
        if size_bytes == Some(0) && counted.is_none() {
            return Ok(None);
        }
        let needed = match (size_bytes, options.block_size) {
            (Some(size), Some(block_size)) => {
                Some(blocks_for(byte_offset, size, block_size).ok_or_else(|| {
                    RowError::BadValue {
                        column: "size_bytes",
                        text: size.to_string(),
                        expected:
                            "a size that fits in 64 bits with byte_offset, and a block size above 0"
                                .to_string(),
                    }
                })?)
            }
            _ => None,
        };
        let block_count = match (counted, needed, size_bytes) {
            (Some(counted), Some(needed), Some(size)) if needed > counted => {
                return Err(RowError::Conflict(format!(
                    "size_bytes {size} from byte_offset {byte_offset} needs {needed} blocks, the row has {counted}"
                )));
            }
            (Some(counted), _, _) => counted,
            (None, Some(needed), _) => needed,
            (None, None, Some(_)) => return Err(RowError::NeedsBlockSize),
            (None, None, None) => {
                return Err(RowError::Missing {
                    column: "block_count",
                    why: ": give block_count, end_block or size_bytes",
                });
            }
        };
        if !run_fits(start_block, block_count) {
            return Err(RowError::Overflow {
                start_block,
                block_count,
            });
        }
        Ok(Some(Extent {
            partition,
            start_block,
            block_count,
            byte_offset,
            byte_count: size_bytes,
            file_offset: self.number(Field::FileOffset)?.unwrap_or(0),
            start: self.position(Field::StartWrap, Field::StartLpos)?,
            end: self.position(Field::EndWrap, Field::EndLpos)?,
        }))
    }

    /// The block count as block_count or end_block give it.
    fn counted(&self, start_block: u64) -> Result<Option<u64>, RowError> {
        let block_count = self.number(Field::BlockCount)?;
        if block_count == Some(0) {
            return Err(RowError::BadValue {
                column: "block_count",
                text: "0".to_string(),
                expected: "at least 1 (an empty file has size_bytes 0 and no block_count)"
                    .to_string(),
            });
        }
        let Some(end_block) = self.number(Field::EndBlock)? else {
            return Ok(block_count);
        };
        if end_block < start_block {
            return Err(RowError::EndBeforeStart {
                start_block,
                end_block,
            });
        }
        // Only 0 to 2^64 - 1 overflows here; no tape has that many blocks.
        let from_end = (end_block - start_block)
            .checked_add(1)
            .ok_or(RowError::Overflow {
                start_block,
                block_count: u64::MAX,
            })?;
        match block_count {
            Some(count) if count != from_end => Err(RowError::Conflict(format!(
                "block_count {count} and end_block {end_block} disagree: from start_block {start_block} that is {from_end} blocks"
            ))),
            _ => Ok(Some(from_end)),
        }
    }

    fn no_start_block(&self, size_bytes: Option<u64>) -> Result<Option<Extent>, RowError> {
        let has_blocks =
            self.get(Field::BlockCount).is_some() || self.get(Field::EndBlock).is_some();
        let is_empty_file = size_bytes == Some(0);
        if !has_blocks && (is_empty_file || self.get(Field::SortKey).is_some()) {
            return Ok(None);
        }
        Err(RowError::Missing {
            column: "start_block",
            why: ": without its first block a request cannot be placed on the tape",
        })
    }
}
