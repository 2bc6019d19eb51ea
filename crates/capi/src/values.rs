//! The structures that cross the border, laid out as C lays them out.
//!
//! A structure that may grow begins with its size, or is handed over with it. A caller that was compiled with an older,
//! shorter structure is understood: what it does not have counts as 0.

/// Raised when a function or a structure changes so that older hosts no longer work. The shared library's
/// number is the same.
pub const ABI_VERSION: u32 = 0;

/// `partition`s of a cartridge are these: 0 to 3.
pub const MAX_PARTITION: u32 = 3;

/// A batch never streams over a gap between two requests: the host always locates.
pub const NO_READ_THROUGH: u32 = 1;

/// The extent belongs to the request of the extent before it: a file in several parts.
pub const EXTENT_CONTINUES: u32 = 1;
/// `start_wrap` and `start_lpos` were recorded for this very extent.
pub const EXTENT_HAS_START: u32 = 2;
/// `end_wrap` and `end_lpos` were recorded for this very extent.
pub const EXTENT_HAS_END: u32 = 4;
/// The request has a deadline.
pub const EXTENT_HAS_DEADLINE: u32 = 8;

/// One partition over all wraps.
pub const LAYOUT_SINGLE: u32 = 0;
/// The index partition of LTFS, guard wraps, the data partition.
pub const LAYOUT_LTFS: u32 = 1;

/// The beginning of tape; as an end: rewound.
pub const AT_BEGINNING: u32 = 0;
/// At the beginning of a block.
pub const AT_BLOCK: u32 = 1;
/// At a wrap and an LPOS, as drives report them.
pub const AT_POSITION: u32 = 2;
/// Wherever the last read ends; only as an end.
pub const AT_ANYWHERE: u32 = 3;
/// Rewound, and the cartridge ready to be taken; only as an end.
pub const AT_UNLOADED: u32 = 4;

/// The least time until everything is read.
pub const OBJECTIVE_TOTAL: u32 = 0;
/// The least mean time of the requests, weighted by priority.
pub const OBJECTIVE_MEAN: u32 = 1;
/// The least lateness after deadlines.
pub const OBJECTIVE_DEADLINE: u32 = 2;

/// Go on until no order can be shorter, or work or budget are used up.
pub const ORDER_PROVE: u32 = 1;
/// Give up to a ten-thousandth of the objective for less tape moved.
pub const ORDER_SPARE_TAPE: u32 = 2;

/// `bound_us` holds: no order takes less with these times.
pub const ESTIMATE_HAS_BOUND: u32 = 1;
/// No order is better.
pub const ESTIMATE_OPTIMAL: u32 = 2;
/// The budget ended the search, so another call may give another order.
pub const ESTIMATE_CUT_SHORT: u32 = 4;

/// Positions recorded for the extents themselves.
pub const POSITIONS_RECORDED: u32 = 0;
/// The drive's table of wrap ends.
pub const POSITIONS_WRAP_ENDS: u32 = 1;
/// Nominal geometry, corrected by reported places.
pub const POSITIONS_PLACES: u32 = 2;
/// Nominal geometry alone: not measured on this cartridge.
pub const POSITIONS_NOMINAL: u32 = 3;

/// An entry of the drive's table of wrap ends (READ END OF WRAP POSITION, long form), unaltered.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct WrapEnd {
    /// The last block on the wrap; on the wrap with end of data, the position of end of data.
    pub block: u64,
    /// The wrap, counted over the whole tape.
    pub wrap: u32,
    /// The partition, 0 to 3.
    pub partition: u32,
}

/// Where the drive said that a block begins.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// The block, counted within its partition.
    pub block: u64,
    /// The wrap, counted over the whole tape.
    pub wrap: u32,
    /// The longitudinal position.
    pub lpos: u32,
    /// The partition, 0 to 3.
    pub partition: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// A run of blocks to read: a request, or with `EXTENT_CONTINUES` a further part of one.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// The first block, as READ POSITION counts, filemarks included.
    pub first_block: u64,
    /// How many blocks, filemarks included; 0: as many as `bytes` fill.
    pub blocks: u64,
    /// How many bytes; 0: those of `blocks` full blocks.
    pub bytes: u64,
    /// When the request has to be read, in microseconds from now.
    pub deadline_us: u64,
    /// Higher is sooner; for the mean objective.
    pub priority: i64,
    /// Bits `EXTENT_...`.
    pub flags: u32,
    /// The partition, 0 to 3.
    pub partition: u32,
    /// The wrap where the first block begins.
    pub start_wrap: u32,
    /// The LPOS where the first block begins.
    pub start_lpos: u32,
    /// The wrap where the last block ends.
    pub end_wrap: u32,
    /// The LPOS where the last block ends.
    pub end_lpos: u32,
}

/// A place for the head.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Location {
    /// One of `AT_...`.
    pub at: u32,
    /// The partition, for `AT_BLOCK`.
    pub partition: u32,
    /// The block, for `AT_BLOCK`.
    pub block: u64,
    /// The wrap, for `AT_POSITION`.
    pub wrap: u32,
    /// The LPOS, for `AT_POSITION`.
    pub lpos: u32,
}

/// What the order is to be good for, and how hard to look. All zeros, but for `size`, is the usual.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The size of this structure.
    pub size: u32,
    /// Bits `ORDER_...`.
    pub flags: u32,
    /// One of `OBJECTIVE_...`.
    pub objective: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The seed of what is drawn; 0 stands for 1.
    pub seed: u64,
    /// How many moves may be looked at; 0 is as many as are usual. The same work gives the same order everywhere.
    pub work: u64,
    /// How long each search may take, in microseconds; 0 is as long as the work lasts.
    pub budget_us: u64,
    /// An order by name, such as `sort` or `cta`, to compare with; null is tapewise's own.
    pub algorithm: *const std::ffi::c_char,
}

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted {
            size: size_of::<Wanted>() as u32,
            flags: 0,
            objective: OBJECTIVE_TOTAL,
            reserved: 0,
            seed: 0,
            work: 0,
            budget_us: 0,
            algorithm: std::ptr::null(),
        }
    }
}

/// What an order takes. Times are predictions.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// The size of this structure, which the caller sets.
    pub size: u32,
    /// Bits `ESTIMATE_...`.
    pub flags: u32,
    /// Until everything is read and the head is where it is left.
    pub total_us: u64,
    /// The part of the total between reads.
    pub locate_us: u64,
    /// The part of the total that reads what was asked for.
    pub read_us: u64,
    /// The total at worst, if map and times are as far off as they may be: the total lies up to here.
    pub worst_us: u64,
    /// No order takes less with these times; see `ESTIMATE_HAS_BOUND`.
    pub bound_us: u64,
    /// Tape moved, in LPOS.
    pub distance_lpos: u64,
    /// How many requests wait, which is how many numbers an order has.
    pub requests: u64,
    /// The least trusted source of a position, one of `POSITIONS_...`.
    pub positions: u32,
    /// Must be 0.
    pub reserved: u32,
}
