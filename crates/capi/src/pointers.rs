//! From pointers of a host to values, and back. What can be checked of a pointer is: null, alignment, length.

use crate::fault::Fault;
use crate::values::{Estimate, Extent, Wanted};
use std::ffi::{CStr, c_char};

/// An array of the host; null is an array of nothing.
///
/// # Safety
/// Unless null, `first` points to `count` values that stay as they are for `'a`.
pub unsafe fn array<'a, T>(what: &str, first: *const T, count: usize) -> Result<&'a [T], Fault> {
    check_array(what, first, count)?;
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: not null, aligned and not longer than memory can be; the rest is the caller's word.
    Ok(unsafe { std::slice::from_raw_parts(first, count) })
}

/// An array of the host to write into; null is an array of nothing.
///
/// # Safety
/// Unless null, `first` points to room for `count` values that nobody else uses for `'a`.
pub unsafe fn room<'a>(what: &str, first: *mut u64, count: usize) -> Result<&'a mut [u64], Fault> {
    check_array(what, first, count)?;
    if count == 0 {
        return Ok(&mut []);
    }
    // SAFETY: as in `array`. Every bit pattern is a number, so that what was there does not matter.
    Ok(unsafe { std::slice::from_raw_parts_mut(first, count) })
}

fn check_array<T>(what: &str, first: *const T, count: usize) -> Result<(), Fault> {
    if count == 0 {
        return Ok(());
    }
    check(what, first)?;
    match count.checked_mul(size_of::<T>()) {
        Some(bytes) if bytes <= isize::MAX as usize => Ok(()),
        _ => Err(Fault::usage(format!(
            "{what}: {count} elements are more than memory holds"
        ))),
    }
}

fn check<T>(what: &str, pointer: *const T) -> Result<(), Fault> {
    if pointer.is_null() {
        return Err(Fault::usage(format!("{what}: the pointer is null")));
    }
    if !pointer.is_aligned() {
        return Err(Fault::usage(format!("{what}: the pointer is not aligned")));
    }
    Ok(())
}

/// A text of the host.
///
/// # Safety
/// Unless null, `text` points to bytes that end with a zero and stay as they are for `'a`.
pub unsafe fn text<'a>(what: &str, text: *const c_char) -> Result<&'a str, Fault> {
    check(what, text)?;
    // SAFETY: not null; the rest is the caller's word.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str()
        .map_err(|_| Fault::usage(format!("{what}: the text is not UTF-8")))
}

/// A structure of the host; `None` for null.
///
/// # Safety
/// Unless null, `pointer` points to a value.
pub unsafe fn value<T: Copy>(what: &str, pointer: *const T) -> Result<Option<T>, Fault> {
    if pointer.is_null() {
        return Ok(None);
    }
    check(what, pointer)?;
    // SAFETY: not null and aligned; the rest is the caller's word.
    Ok(Some(unsafe { *pointer }))
}

/// Extents of the host, each of `size` bytes: a host may have been compiled with a longer structure.
///
/// # Safety
/// Unless null, `first` points to `count` elements of `size` bytes each.
pub unsafe fn extents(
    first: *const Extent,
    count: usize,
    size: usize,
) -> Result<Vec<Extent>, Fault> {
    let known = size_of::<Extent>();
    if count == 0 {
        return Ok(Vec::new());
    }
    if size < known || !size.is_multiple_of(align_of::<Extent>()) {
        let why = format!("extents: an extent has {known} bytes or more, not {size}");
        return Err(Fault::usage(why));
    }
    check("extents", first)?;
    let Some(bytes) = count
        .checked_mul(size)
        .filter(|&bytes| bytes <= isize::MAX as usize)
    else {
        return Err(Fault::usage(format!(
            "extents: {count} are more than memory holds"
        )));
    };
    // SAFETY: not null, and not longer than memory can be; the rest is the caller's word.
    let bytes = unsafe { std::slice::from_raw_parts(first.cast::<u8>(), bytes) };
    let one = |(at, bytes): (usize, &[u8])| {
        only_zeros(&format!("extent {at}"), &bytes[known..])?;
        // SAFETY: the bytes are as many as an extent has, and every bit pattern of its numbers is one.
        Ok(unsafe { bytes.as_ptr().cast::<Extent>().read_unaligned() })
    };
    bytes.chunks_exact(size).enumerate().map(one).collect()
}

/// What a newer host says and this library does not know must be nothing.
fn only_zeros(what: &str, rest: &[u8]) -> Result<(), Fault> {
    match rest.iter().all(|&byte| byte == 0) {
        true => Ok(()),
        false => Err(Fault::usage(format!(
            "{what}: sets a field that this library does not have"
        ))),
    }
}

/// What the host wants; the usual for null.
///
/// # Safety
/// Unless null, `pointer` points to a structure as long as its first field says.
pub unsafe fn wanted(pointer: *const Wanted) -> Result<Wanted, Fault> {
    if pointer.is_null() {
        return Ok(Wanted::default());
    }
    check("wanted", pointer)?;
    // SAFETY: not null and aligned, and the size comes first.
    let size = unsafe { pointer.cast::<u32>().read() } as usize;
    check_size("wanted", size)?;
    // SAFETY: the caller guarantees this many bytes.
    let given = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), size) };
    let mut wanted = Wanted::default();
    let known = size.min(size_of::<Wanted>());
    only_zeros("wanted", &given[known..])?;
    // SAFETY: both are at least `known` bytes long. What is left out keeps its usual value, and a pointer cut in two
    // cannot be, because sizes are whole multiples of 8.
    unsafe {
        let to = (&raw mut wanted).cast::<u8>();
        std::ptr::copy_nonoverlapping(given.as_ptr(), to, known);
    }
    match wanted.reserved {
        0 => Ok(wanted),
        _ => Err(Fault::usage("wanted: the reserved field is not 0")),
    }
}

/// Sees that a structure says its size.
fn check_size(what: &str, size: usize) -> Result<(), Fault> {
    const MOST: usize = 4096;
    if (8..=MOST).contains(&size) && size.is_multiple_of(8) {
        return Ok(());
    }
    Err(Fault::usage(format!(
        "{what}: the field size is {size}, not the size of the structure"
    )))
}

/// Room for an estimate that the host has, checked before anything is computed.
#[derive(Debug)]
pub struct EstimateRoom {
    pointer: *mut Estimate,
    size: usize,
}

impl EstimateRoom {
    /// The host's room; null is none.
    ///
    /// # Safety
    /// Unless null, `pointer` points to a structure as long as its first field says, for as long as this value lives.
    pub unsafe fn new(pointer: *mut Estimate) -> Result<EstimateRoom, Fault> {
        if pointer.is_null() {
            return Ok(EstimateRoom { pointer, size: 0 });
        }
        check("estimate", pointer)?;
        // SAFETY: not null and aligned, and the size comes first.
        let size = unsafe { pointer.cast::<u32>().read() } as usize;
        check_size("estimate", size)?;
        let size = size.min(size_of::<Estimate>());
        Ok(EstimateRoom { pointer, size })
    }

    /// Writes as much of an estimate as the host's structure has; its size stays as it is.
    pub fn write(self, estimate: &Estimate) {
        const SIZE_FIELD: usize = size_of::<u32>();
        if self.size <= SIZE_FIELD {
            return;
        }
        // SAFETY: both are at least `size` bytes long, and they are not one: the estimate is ours.
        unsafe {
            let from = std::ptr::from_ref(estimate).cast::<u8>().add(SIZE_FIELD);
            let to = self.pointer.cast::<u8>().add(SIZE_FIELD);
            std::ptr::copy_nonoverlapping(from, to, self.size - SIZE_FIELD);
        }
    }
}
