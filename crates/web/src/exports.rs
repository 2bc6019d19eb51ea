//! The functions that the page calls, and the one that it gives. Only here is `unsafe` code, because a browser knows
//! numbers and memory, and no more.
//!
//! A call: `take(len)` gives room for a question, the page writes it there and calls `answer(pointer, len)`, which
//! gives the answer as `pointer << 32 | len`; `give_back(pointer, len)` ends it. There is one page and one thread.
#![allow(unsafe_code)]

use crate::desk::{Desk, Reader};
use std::cell::RefCell;
use std::io::{self, Read};

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Reads from a file of the page into memory, at most `len` bytes from `offset` on; the number read, 0 at the end,
    /// below 0 if the file cannot be read.
    fn read_file(file: u32, offset: f64, pointer: *mut u8, len: u32) -> i32;
}

/// A file of the page, read as far as it is wanted: an index of any size needs no room here.
struct PageFile {
    file: u32,
    offset: u64,
}

impl Read for PageFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
        // SAFETY: the page writes at most `len` bytes, which is the buffer's length or less. A double holds every
        // offset below 2^53.
        let read = unsafe { read_file(self.file, self.offset as f64, buffer.as_mut_ptr(), len) };
        let read = usize::try_from(read)
            .map_err(|_| io::Error::other("the browser cannot read the file any more"))?;
        self.offset += read as u64;
        Ok(read)
    }
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

/// Room for a question.
#[unsafe(no_mangle)]
pub extern "C" fn take(len: usize) -> *mut u8 {
    let room = vec![0u8; len].into_boxed_slice();
    Box::into_raw(room).cast()
}

/// Ends the use of what [`take`] or [`answer`] gave.
///
/// # Safety
/// Pointer and length are those that were given, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn give_back(pointer: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(pointer, len)) });
}

/// Answers a question, which this takes back.
///
/// # Safety
/// Pointer and length are those of a [`take`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn answer(pointer: *mut u8, len: usize) -> u64 {
    // SAFETY: the caller's promise.
    let question = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(pointer, len)) };
    let open = |file| Box::new(PageFile { file, offset: 0 }) as Reader;
    let answer = DESK.with_borrow_mut(|desk| desk.answer(&question, &open));
    let len = answer.len();
    let pointer = Box::into_raw(answer.into_boxed_slice()).cast::<u8>();
    ((pointer as u64) << 32) | len as u64
}
