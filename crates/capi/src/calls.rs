//! The functions of `tapewise.h`.
//!
//! A handle is made by an `open` function, also if that fails: the handle then has the error's text, and nothing else can
//! be done with it but to free it. Every function catches panics.

use crate::batch::{Batch, Wish};
use crate::cartridge;
use crate::fault::{Fault, Status};
use crate::pointers::{EstimateRoom, array, extents, room, text, value, wanted};
use crate::values::{ABI_VERSION, AT_ANYWHERE, Estimate, Extent, Location, Place, Wanted, WrapEnd};
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tapewise::Cartridge;

/// A cartridge: the profile of its drive, and what is known of this very tape.
#[derive(Debug)]
pub struct CartridgeHandle(Kept<Cartridge>);

/// Requests on a cartridge. It keeps what it needs of the cartridge, which may be freed before.
#[derive(Debug)]
pub struct BatchHandle(Kept<Batch>);

/// What a handle holds, or why it holds nothing; and every text that it has handed out.
#[derive(Debug)]
struct Kept<T> {
    held: Result<T, Fault>,
    /// The last is the newest. Texts stay until the handle goes.
    texts: Vec<CString>,
}

impl<T> Kept<T> {
    /// Makes what a handle holds; a panic is a fault as well.
    fn make(make: impl FnOnce() -> Result<T, Fault>) -> Kept<T> {
        let held = catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|_| Err(panicked()));
        let mut kept = Kept {
            held,
            texts: Vec::new(),
        };
        if let Err(fault) = &kept.held {
            let fault = fault.clone();
            kept.note(&fault);
        }
        kept
    }

    fn status(&self) -> Status {
        self.held
            .as_ref()
            .err()
            .map_or(Status::Ok, |fault| fault.status)
    }

    fn held(&self) -> Result<&T, Fault> {
        self.held.as_ref().map_err(Clone::clone)
    }

    /// Does something with what is held. After a panic the handle holds nothing.
    fn with(&mut self, work: impl FnOnce(&mut T) -> Result<(), Fault>) -> Status {
        let done = catch_unwind(AssertUnwindSafe(|| {
            work(self.held.as_mut().map_err(|fault| fault.clone())?)
        }));
        let fault = match done {
            Ok(Ok(())) => return Status::Ok,
            Ok(Err(fault)) => fault,
            Err(_) => {
                self.held = Err(panicked());
                panicked()
            }
        };
        self.note(&fault)
    }

    fn note(&mut self, fault: &Fault) -> Status {
        // A text of a host can have no zero inside, but a text that quotes a file can.
        let text = CString::new(fault.text.replace('\0', "?")).unwrap_or_default();
        let known = self.texts.iter().position(|one| *one == text);
        let newest = known.map_or(text, |at| self.texts.remove(at));
        self.texts.push(newest);
        fault.status
    }

    fn error(&self) -> *const c_char {
        self.texts.last().map_or(c"".as_ptr(), |text| text.as_ptr())
    }
}

fn panicked() -> Fault {
    Fault::new(
        Status::Internal,
        "a defect of tapewise: the call was given up, and the handle is of no further use",
    )
}

const NULL_HANDLE: &CStr = c"the handle is null";

/// Hands a new handle to the host.
///
/// # Safety
/// `out` is null or points to room for a pointer.
unsafe fn hand_out<H>(out: *mut *mut H, make: impl FnOnce() -> (H, Status)) -> Status {
    if out.is_null() || !out.is_aligned() {
        return Status::Usage;
    }
    let (handle, status) = make();
    // SAFETY: not null and aligned; the caller guarantees the room.
    unsafe { out.write(Box::into_raw(Box::new(handle))) };
    status
}

/// The version of the interface: 0. It is raised when older hosts no longer work.
#[unsafe(no_mangle)]
pub extern "C" fn tapewise_abi_version() -> u32 {
    ABI_VERSION
}

/// Opens a cartridge by the profile of its drive: a name such as `lto8`, or the path of a TOML file (with a slash, or
/// ending in `.toml`). Until the caller says more, blocks are placed by the nominal geometry.
///
/// `*cartridge` gets a handle also on failure, for the text of the error.
///
/// # Safety
/// `profile` is null or a C string; `cartridge` is null or points to memory for one pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tapewise_cartridge_open(
    profile: *const c_char,
    cartridge: *mut *mut CartridgeHandle,
) -> Status {
    let make = || {
        // SAFETY: the caller guarantees null or a C string.
        let kept = Kept::make(|| cartridge::open(unsafe { text("profile", profile) }?));
        let status = kept.status();
        (CartridgeHandle(kept), status)
    };
    // SAFETY: the caller guarantees null or memory for one value.
    unsafe { hand_out(cartridge, make) }
}

/// Gives the drive's table of wrap ends, unaltered. It takes the place of whatever was known of the tape.
///
/// # Safety
/// `cartridge` is null or an open handle; `ends` is null or an array of `count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tapewise_cartridge_set_wrap_ends(
    cartridge: *mut CartridgeHandle,
    ends: *const WrapEnd,
    count: usize,
) -> Status {
    // SAFETY: the caller guarantees null or an open handle, and an array of this length.
    unsafe {
        change(cartridge, |held| {
            cartridge::with_wrap_ends(held, array("ends", ends, count)?)
        })
    }
}

/// Gives places that the drive reported for a few blocks: they correct the nominal geometry, and take the place of
/// whatever was known of the tape. `beside_bytes` is 0 for places asked of the drive after a locate; for places
/// recorded while the tape was written it is how many bytes of tape a place may lie before its block.
///
/// # Safety
/// `cartridge` is null or an open handle; `places` is null or an array of `count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tapewise_cartridge_set_places(
    cartridge: *mut CartridgeHandle,
    places: *const Place,
    count: usize,
    beside_bytes: u64,
) -> Status {
    // SAFETY: the caller guarantees null or an open handle, and an array of this length.
    unsafe {
        change(cartridge, |held| {
            cartridge::with_places(held, array("places", places, count)?, beside_bytes)
        })
    }
}

/// Says how the tape is partitioned where only its nominal geometry is known: one of `TAPEWISE_LAYOUT_...`.
///
/// # Safety
/// `cartridge` is null or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tapewise_cartridge_set_layout(
    cartridge: *mut CartridgeHandle,
    layout: u32,
) -> Status {
    // SAFETY: the caller guarantees null or an open handle.
    unsafe { change(cartridge, |held| cartridge::with_layout(held, layout)) }
}

/// Puts another cartridge in the place of the one held.
///
/// # Safety
/// `handle` is null or an open handle.
unsafe fn change(
    handle: *mut CartridgeHandle,
    changed: impl FnOnce(&Cartridge) -> Result<Cartridge, Fault>,
) -> Status {
    // SAFETY: as above.
    let Some(handle) = (unsafe { handle.as_mut() }) else {
        return Status::Usage;
    };
    handle.0.with(|held| {
        *held = changed(held)?;
        Ok(())
    })
}

/// The text of the newest error of a cartridge, "" if there was none. It stays until the handle is freed.
///
/// # Safety
/// `cartridge` is null or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tapewise_cartridge_error(
    cartridge: *const CartridgeHandle,
) -> *const c_char {
    // SAFETY: the caller guarantees null or an open handle.
    unsafe { cartridge.as_ref() }.map_or(NULL_HANDLE.as_ptr(), |handle| handle.0.error())
}

/// Frees a cartridge. Null is allowed.
///
/// # Safety
/// `cartridge` is null or an open handle, which is of no use afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tapewise_cartridge_free(cartridge: *mut CartridgeHandle) {
    // SAFETY: the caller guarantees null or an open handle.
    unsafe { free(cartridge) }
}

/// Opens an empty batch on a cartridge. `block_bytes` is how many bytes of tape a block takes, 0 if nobody knows;
/// nominal geometry needs it. `flags` is 0 or `TAPEWISE_NO_READ_THROUGH`.
///
/// `*batch` gets a handle also on failure, for the text of the error.
///
/// # Safety
/// `cartridge` is null or an open handle; `batch` is null or points to room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tapewise_batch_open(
    cartridge: *const CartridgeHandle,
    block_bytes: u64,
    flags: u32,
    batch: *mut *mut BatchHandle,
) -> Status {
    let make = || {
        let kept = Kept::make(|| {
            // SAFETY: the caller guarantees null or an open handle.
            let handle = unsafe { cartridge.as_ref() };
            let handle = handle.ok_or_else(|| Fault::usage("the cartridge is null"))?;
            Batch::new(handle.0.held()?, block_bytes, flags)
        });
        let status = kept.status();
        (BatchHandle(kept), status)
    };
    // SAFETY: the caller guarantees null or memory for one value.
    unsafe { hand_out(batch, make) }
}

/// Adds requests, which are numbered from 0 in the order in which they come. `extent_size` is
/// `sizeof(tapewise_extent)`. If one is wrong, none is added.
///
/// # Safety
/// `batch` is null or an open handle; `items` is null or an array of `count` of that size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tapewise_batch_add(
    batch: *mut BatchHandle,
    items: *const Extent,
    count: usize,
    extent_size: usize,
) -> Status {
    // SAFETY: the caller guarantees null or an open handle, and an array of this length.
    unsafe { on_batch(batch, |held| held.add(&extents(items, count, extent_size)?)) }
}

/// Says where the head is before the first read (null: at the beginning of tape), and where to leave it after the last
/// (null: anywhere).
///
/// # Safety
/// `batch` is null or an open handle; `head` and `end` are null or point to a location each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tapewise_batch_set_head(
    batch: *mut BatchHandle,
    head: *const Location,
    end: *const Location,
) -> Status {
    let anywhere = Location {
        at: AT_ANYWHERE,
        ..Location::default()
    };
    let work = |held: &mut Batch| {
        // SAFETY: the caller guarantees null or a location for both.
        let (head, end) = unsafe { (value("head", head)?, value("end", end)?) };
        held.set_head(&head.unwrap_or_default(), &end.unwrap_or(anywhere))
    };
    // SAFETY: the caller guarantees null or an open handle.
    unsafe { on_batch(batch, work) }
}

/// Takes out requests that were read or handed on, so that the next order is one of the rest. Say where the head is as
/// well. If one does not wait, none is taken out.
///
/// # Safety
/// `batch` is null or an open handle; `requests` is null or an array of `count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tapewise_batch_set_read(
    batch: *mut BatchHandle,
    requests: *const u64,
    count: usize,
) -> Status {
    // SAFETY: the caller guarantees null or an open handle, and an array of this length.
    unsafe {
        on_batch(batch, |held| {
            held.mark_read(array("requests", requests, count)?)
        })
    }
}

/// Finds an order of the requests that wait, and writes their numbers into `order`, which has room for `capacity`. A
/// `wanted` that is null asks for the usual; `estimate` may be null.
///
/// # Safety
/// `batch` is null or an open handle; `wanted` and `estimate` are null or as long as they say; `order` is null or has
/// that room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tapewise_batch_order(
    batch: *mut BatchHandle,
    wanted: *const Wanted,
    order: *mut u64,
    capacity: usize,
    estimate: *mut Estimate,
) -> Status {
    let work = |held: &mut Batch| {
        // SAFETY: the caller guarantees null or the length it states for each.
        let (wanted, estimate) = unsafe { (self::wanted(wanted)?, EstimateRoom::new(estimate)?) };
        // SAFETY: the caller guarantees the room.
        let room = unsafe { room("order", order, capacity) }?;
        let waiting = held.count_waiting();
        let Some(room) = room.get_mut(..waiting) else {
            let why = format!("order: {waiting} requests wait, and there is room for {capacity}");
            return Err(Fault::usage(why));
        };
        let algorithm = match wanted.algorithm.is_null() {
            true => None,
            // SAFETY: not null, so the caller guarantees a C string.
            false => Some(unsafe { text("algorithm", wanted.algorithm) }?),
        };
        let wish = Wish {
            flags: wanted.flags,
            objective: wanted.objective,
            seed: wanted.seed,
            work: wanted.work,
            budget_us: wanted.budget_us,
            algorithm,
        };
        let (found, figures) = held.order(&wish)?;
        if found.len() != room.len() {
            return Err(Fault::new(
                Status::Internal,
                "the order has not every request once",
            ));
        }
        room.copy_from_slice(&found);
        estimate.write(&figures);
        Ok(())
    };
    // SAFETY: the caller guarantees null or an open handle.
    unsafe { on_batch(batch, work) }
}

/// Says what an order of the host's takes: `order` has the number of every request that waits, once.
///
/// # Safety
/// `batch` is null or an open handle; `order` is null or an array of `count`; `estimate` is null or as long as it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tapewise_batch_price(
    batch: *mut BatchHandle,
    order: *const u64,
    count: usize,
    estimate: *mut Estimate,
) -> Status {
    let work = |held: &mut Batch| {
        // SAFETY: the caller guarantees null or the length it states for each.
        let (order, estimate) =
            unsafe { (array("order", order, count)?, EstimateRoom::new(estimate)?) };
        estimate.write(&held.price(order)?);
        Ok(())
    };
    // SAFETY: the caller guarantees null or an open handle.
    unsafe { on_batch(batch, work) }
}

/// The text of the newest error of a batch, "" if there was none. It stays until the handle is freed.
///
/// # Safety
/// `batch` is null or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tapewise_batch_error(batch: *const BatchHandle) -> *const c_char {
    // SAFETY: the caller guarantees null or an open handle.
    unsafe { batch.as_ref() }.map_or(NULL_HANDLE.as_ptr(), |handle| handle.0.error())
}

/// Frees a batch. Null is allowed.
///
/// # Safety
/// `batch` is null or an open handle, which is of no use afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tapewise_batch_free(batch: *mut BatchHandle) {
    // SAFETY: the caller guarantees null or an open handle.
    unsafe { free(batch) }
}

/// # Safety
/// `handle` is null or an open handle.
unsafe fn on_batch(
    handle: *mut BatchHandle,
    work: impl FnOnce(&mut Batch) -> Result<(), Fault>,
) -> Status {
    // SAFETY: as above.
    let Some(handle) = (unsafe { handle.as_mut() }) else {
        return Status::Usage;
    };
    handle.0.with(work)
}

/// # Safety
/// `handle` is null or an open handle.
unsafe fn free<H>(handle: *mut H) {
    if handle.is_null() {
        return;
    }
    // SAFETY: made by `hand_out`, and not freed before.
    let handle = unsafe { Box::from_raw(handle) };
    // A panic while freeing must not reach the host.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(handle)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn newest<T>(kept: &Kept<T>) -> String {
        // SAFETY: the text of a handle that lives.
        let text = unsafe { CStr::from_ptr(kept.error()) };
        text.to_string_lossy().into_owned()
    }

    #[test]
    fn a_panic_is_a_status_and_ends_the_use_of_its_handle() {
        let mut kept = Kept::make(|| Ok(7));
        assert_eq!(kept.status(), Status::Ok);
        assert_eq!(kept.with(|_| panic!("on purpose")), Status::Internal);
        assert!(newest(&kept).starts_with("a defect of tapewise"));
        assert_eq!(kept.with(|_| Ok(())), Status::Internal);
        let never_made: Kept<u8> = Kept::make(|| panic!("on purpose"));
        assert_eq!(never_made.status(), Status::Internal);
    }

    #[test]
    fn a_text_stays_where_it_is_and_is_kept_once() {
        let mut kept = Kept::make(|| Ok(7));
        let fail = |text: &'static str| move |_: &mut i32| Err(Fault::usage(text));
        kept.with(fail("one"));
        let first = kept.error();
        kept.with(fail("other"));
        assert_eq!(newest(&kept), "other");
        kept.with(fail("one"));
        assert_eq!((newest(&kept).as_str(), kept.error()), ("one", first));
        assert_eq!(kept.texts.len(), 2);
    }
}
