//! How long each command may take before it counts as lost.
//!
//! The longest that IBM's drivers allow any LTO-5 to LTO-10 (full and half height) or 3592 drive:
//! a time-out that is too short aborts a locate that was about to succeed.

use std::time::Duration;

/// Commands that the device answers from memory.
pub(super) const QUICK: Duration = Duration::from_secs(60);
/// LOCATE and SPACE: half-height LTO-6 and later.
pub(super) const LOCATE: Duration = Duration::from_secs(2_940);
/// REWIND: half-height LTO.
pub(super) const REWIND: Duration = Duration::from_secs(780);
/// LOAD and UNLOAD: LTO-7 to LTO-9. (The first load of an LTO-9 cartridge takes up to two hours and
/// is waited for by TEST UNIT READY.)
pub(super) const LOAD_UNLOAD: Duration = Duration::from_secs(960);
/// READ: 3592 with its retries.
pub(super) const READ: Duration = Duration::from_secs(2_400);
/// WRITE.
pub(super) const WRITE: Duration = Duration::from_secs(1_500);
/// WRITE FILEMARKS: it may empty the buffer first.
pub(super) const WRITE_FILEMARKS: Duration = Duration::from_secs(1_620);
/// One robot move. Ours: libraries give minutes at most, and queue moves behind each other.
pub(super) const MOVE: Duration = Duration::from_secs(900);
/// An inventory, which may look at every slot. Ours: IBM's 3584 needs a minute for each frame.
pub(super) const INVENTORY: Duration = Duration::from_secs(3_600);
