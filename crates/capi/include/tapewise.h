/* tapewise: the order in which a tape is read soonest.
 *
 * Made by cbindgen from crates/capi. Handles are opaque. One handle is used by one thread at a time; different handles
 * do not know of each other. Nothing is global and no thread is started: a host may fork. Set the field `size` of a
 * structure that has one to the size of the structure, and all else to 0 for the usual.
 *
 * Licensed under MIT or Apache-2.0, at your choice. */

#ifndef TAPEWISE_H
#define TAPEWISE_H

#include <stddef.h>
#include <stdint.h>

// Raised when a function or a structure changes so that older hosts no longer work. The shared library's
// number is the same.
#define TAPEWISE_ABI_VERSION 0

// A batch never streams over a gap between two requests: the host always locates.
#define TAPEWISE_NO_READ_THROUGH 1

// The extent belongs to the request of the extent before it: a file in several parts.
#define TAPEWISE_EXTENT_CONTINUES 1

// `start_wrap` and `start_lpos` were recorded for this very extent.
#define TAPEWISE_EXTENT_HAS_START 2

// `end_wrap` and `end_lpos` were recorded for this very extent.
#define TAPEWISE_EXTENT_HAS_END 4

// The request has a deadline.
#define TAPEWISE_EXTENT_HAS_DEADLINE 8

// One partition over all wraps.
#define TAPEWISE_LAYOUT_SINGLE 0

// The index partition of LTFS, guard wraps, the data partition.
#define TAPEWISE_LAYOUT_LTFS 1

// The beginning of tape; as an end: rewound.
#define TAPEWISE_AT_BEGINNING 0

// At the beginning of a block.
#define TAPEWISE_AT_BLOCK 1

// At a wrap and an LPOS, as drives report them.
#define TAPEWISE_AT_POSITION 2

// Wherever the last read ends; only as an end.
#define TAPEWISE_AT_ANYWHERE 3

// Rewound, and the cartridge ready to be taken; only as an end.
#define TAPEWISE_AT_UNLOADED 4

// The least time until everything is read.
#define TAPEWISE_OBJECTIVE_TOTAL 0

// The least mean time of the requests, weighted by priority.
#define TAPEWISE_OBJECTIVE_MEAN 1

// The least lateness after deadlines.
#define TAPEWISE_OBJECTIVE_DEADLINE 2

// Go on until no order can be shorter, or work or budget are used up.
#define TAPEWISE_ORDER_PROVE 1

// Give up to a ten-thousandth of the objective for less tape moved.
#define TAPEWISE_ORDER_SPARE_TAPE 2

// `bound_us` holds: no order takes less with these times.
#define TAPEWISE_ESTIMATE_HAS_BOUND 1

// No order is better.
#define TAPEWISE_ESTIMATE_OPTIMAL 2

// The budget ended the search, so another call may give another order.
#define TAPEWISE_ESTIMATE_CUT_SHORT 4

// Positions recorded for the extents themselves.
#define TAPEWISE_POSITIONS_RECORDED 0

// The drive's table of wrap ends.
#define TAPEWISE_POSITIONS_WRAP_ENDS 1

// Nominal geometry, corrected by reported places.
#define TAPEWISE_POSITIONS_PLACES 2

// Nominal geometry alone: not measured on this cartridge.
#define TAPEWISE_POSITIONS_NOMINAL 3

// What a call answers.
enum tapewise_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The call did what it was asked for.
  TAPEWISE_STATUS_OK = 0,
  // The arguments are wrong: a null pointer, a number out of range, an array that is too small.
  TAPEWISE_STATUS_USAGE = 1,
  // There is no such profile, or the profile knows too little of the drive.
  TAPEWISE_STATUS_PROFILE = 2,
  // The table of wrap ends, or a reported place, contradicts the cartridge.
  TAPEWISE_STATUS_MAP = 3,
  // A request, the head or the end has no position on this cartridge.
  TAPEWISE_STATUS_POSITION = 4,
  // The objective or the order does not apply to this batch.
  TAPEWISE_STATUS_GOAL = 5,
  // A defect of the library. The handle can only be freed.
  TAPEWISE_STATUS_INTERNAL = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tapewise_status tapewise_status;
#else
typedef int32_t tapewise_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Requests on a cartridge. It keeps what it needs of the cartridge, which may be freed before.
typedef struct tapewise_batch tapewise_batch;

// A cartridge: the profile of its drive, and what is known of this very tape.
typedef struct tapewise_cartridge tapewise_cartridge;

// An entry of the drive's table of wrap ends (READ END OF WRAP POSITION, long form), unaltered.
typedef struct {
  // The last block on the wrap; on the wrap with end of data, the position of end of data.
  uint64_t block;
  // The wrap, counted over the whole tape.
  uint32_t wrap;
  // The partition, 0 to 3.
  uint32_t partition;
} tapewise_wrap_end;

// Where the drive said that a block begins.
typedef struct {
  // The block, counted within its partition.
  uint64_t block;
  // The wrap, counted over the whole tape.
  uint32_t wrap;
  // The longitudinal position.
  uint32_t lpos;
  // The partition, 0 to 3.
  uint32_t partition;
  // Must be 0.
  uint32_t reserved;
} tapewise_place;

// A run of blocks to read: a request, or with `EXTENT_CONTINUES` a further part of one.
typedef struct {
  // The first block, as READ POSITION counts, filemarks included.
  uint64_t first_block;
  // How many blocks, filemarks included; 0: as many as `bytes` fill.
  uint64_t blocks;
  // How many bytes; 0: those of `blocks` full blocks.
  uint64_t bytes;
  // When the request has to be read, in microseconds from now.
  uint64_t deadline_us;
  // Higher is sooner; for the mean objective.
  int64_t priority;
  // Bits `EXTENT_...`.
  uint32_t flags;
  // The partition, 0 to 3.
  uint32_t partition;
  // The wrap where the first block begins.
  uint32_t start_wrap;
  // The LPOS where the first block begins.
  uint32_t start_lpos;
  // The wrap where the last block ends.
  uint32_t end_wrap;
  // The LPOS where the last block ends.
  uint32_t end_lpos;
} tapewise_extent;

// A place for the head.
typedef struct {
  // One of `AT_...`.
  uint32_t at;
  // The partition, for `AT_BLOCK`.
  uint32_t partition;
  // The block, for `AT_BLOCK`.
  uint64_t block;
  // The wrap, for `AT_POSITION`.
  uint32_t wrap;
  // The LPOS, for `AT_POSITION`.
  uint32_t lpos;
} tapewise_location;

// What the order is to be good for, and how hard to look. All zeros, but for `size`, is the usual.
typedef struct {
  // The size of this structure.
  uint32_t size;
  // Bits `ORDER_...`.
  uint32_t flags;
  // One of `OBJECTIVE_...`.
  uint32_t objective;
  // Must be 0.
  uint32_t reserved;
  // The seed of what is drawn; 0 stands for 1.
  uint64_t seed;
  // How many moves may be looked at; 0 is as many as are usual. The same work gives the same order everywhere.
  uint64_t work;
  // How long each search may take, in microseconds; 0 is as long as the work lasts.
  uint64_t budget_us;
  // An order by name, such as `sort` or `cta`, to compare with; null is tapewise's own.
  const char *algorithm;
} tapewise_wanted;

// What an order takes. Times are predictions.
typedef struct {
  // The size of this structure, which the caller sets.
  uint32_t size;
  // Bits `ESTIMATE_...`.
  uint32_t flags;
  // Until everything is read and the head is where it is left.
  uint64_t total_us;
  // The part of the total between reads.
  uint64_t locate_us;
  // The part of the total that reads what was asked for.
  uint64_t read_us;
  // The total at worst, if map and times are as far off as they may be: the total lies up to here.
  uint64_t worst_us;
  // No order takes less with these times; see `ESTIMATE_HAS_BOUND`.
  uint64_t bound_us;
  // Tape moved, in LPOS.
  uint64_t distance_lpos;
  // How many requests wait, which is how many numbers an order has.
  uint64_t requests;
  // The least trusted source of a position, one of `POSITIONS_...`.
  uint32_t positions;
  // Must be 0.
  uint32_t reserved;
} tapewise_estimate;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the interface: 0. It is raised when older hosts no longer work.
uint32_t tapewise_abi_version(void);

// Opens a cartridge by the profile of its drive: a name such as `lto8`, or the path of a TOML file (with a slash, or
// ending in `.toml`). Until the caller says more, blocks are placed by the nominal geometry.
//
// `*cartridge` gets a handle also on failure, for the text of the error.
//
// # Safety
// `profile` is null or a C string; `cartridge` is null or points to memory for one pointer.
tapewise_status tapewise_cartridge_open(const char *profile, tapewise_cartridge **cartridge);

// Gives the drive's table of wrap ends, unaltered. It takes the place of whatever was known of the tape.
//
// # Safety
// `cartridge` is null or an open handle; `ends` is null or an array of `count`.
tapewise_status tapewise_cartridge_set_wrap_ends(tapewise_cartridge *cartridge,
                                                 const tapewise_wrap_end *ends,
                                                 size_t count);

// Gives places that the drive reported for a few blocks: they correct the nominal geometry, and take the place of
// whatever was known of the tape. `beside_bytes` is 0 for places asked of the drive after a locate; for places
// recorded while the tape was written it is how many bytes of tape a place may lie before its block.
//
// # Safety
// `cartridge` is null or an open handle; `places` is null or an array of `count`.
tapewise_status tapewise_cartridge_set_places(tapewise_cartridge *cartridge,
                                              const tapewise_place *places,
                                              size_t count,
                                              uint64_t beside_bytes);

// Says how the tape is partitioned where only its nominal geometry is known: one of `TAPEWISE_LAYOUT_...`.
//
// # Safety
// `cartridge` is null or an open handle.
tapewise_status tapewise_cartridge_set_layout(tapewise_cartridge *cartridge, uint32_t layout);

// The text of the newest error of a cartridge, "" if there was none. It stays until the handle is freed.
//
// # Safety
// `cartridge` is null or an open handle.
const char *tapewise_cartridge_error(const tapewise_cartridge *cartridge);

// Frees a cartridge. Null is allowed.
//
// # Safety
// `cartridge` is null or an open handle, which is of no use afterwards.
void tapewise_cartridge_free(tapewise_cartridge *cartridge);

// Opens an empty batch on a cartridge. `block_bytes` is how many bytes of tape a block takes, 0 if nobody knows;
// nominal geometry needs it. `flags` is 0 or `TAPEWISE_NO_READ_THROUGH`.
//
// `*batch` gets a handle also on failure, for the text of the error.
//
// # Safety
// `cartridge` is null or an open handle; `batch` is null or points to room for a pointer.
tapewise_status tapewise_batch_open(const tapewise_cartridge *cartridge,
                                    uint64_t block_bytes,
                                    uint32_t flags,
                                    tapewise_batch **batch);

// Adds requests, which are numbered from 0 in the order in which they come. `extent_size` is
// `sizeof(tapewise_extent)`. If one is wrong, none is added.
//
// # Safety
// `batch` is null or an open handle; `items` is null or an array of `count` of that size.
tapewise_status tapewise_batch_add(tapewise_batch *batch,
                                   const tapewise_extent *items,
                                   size_t count,
                                   size_t extent_size);

// Says where the head is before the first read (null: at the beginning of tape), and where to leave it after the last
// (null: anywhere).
//
// # Safety
// `batch` is null or an open handle; `head` and `end` are null or point to a location each.
tapewise_status tapewise_batch_set_head(tapewise_batch *batch,
                                        const tapewise_location *head,
                                        const tapewise_location *end);

// Takes out requests that were read or handed on, so that the next order is one of the rest. Say where the head is as
// well. If one does not wait, none is taken out.
//
// # Safety
// `batch` is null or an open handle; `requests` is null or an array of `count`.
tapewise_status tapewise_batch_set_read(tapewise_batch *batch, const uint64_t *requests, size_t count);

// Finds an order of the requests that wait, and writes their numbers into `order`, which has room for `capacity`. A
// `wanted` that is null asks for the usual; `estimate` may be null.
//
// # Safety
// `batch` is null or an open handle; `wanted` and `estimate` are null or as long as they say; `order` is null or has
// that room.
tapewise_status tapewise_batch_order(tapewise_batch *batch,
                                     const tapewise_wanted *wanted,
                                     uint64_t *order,
                                     size_t capacity,
                                     tapewise_estimate *estimate);

// Says what an order of the host's takes: `order` has the number of every request that waits, once.
//
// # Safety
// `batch` is null or an open handle; `order` is null or an array of `count`; `estimate` is null or as long as it says.
tapewise_status tapewise_batch_price(tapewise_batch *batch,
                                     const uint64_t *order,
                                     size_t count,
                                     tapewise_estimate *estimate);

// The text of the newest error of a batch, "" if there was none. It stays until the handle is freed.
//
// # Safety
// `batch` is null or an open handle.
const char *tapewise_batch_error(const tapewise_batch *batch);

// Frees a batch. Null is allowed.
//
// # Safety
// `batch` is null or an open handle, which is of no use afterwards.
void tapewise_batch_free(tapewise_batch *batch);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TAPEWISE_H */
