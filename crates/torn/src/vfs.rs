//! The layer as SQLite sees it: a table of C functions around those of its own layer for Unix.
//!
//! Every function here is called by SQLite with pointers that it made itself: a file is memory of `szOsFile` bytes, in
//! which `xOpen` has put an [`Opened`] followed by the real file; it is used by one thread at a time, between `xOpen`
//! and `xClose`. That is the contract of `sqlite3_vfs`, and the reason why every block below is sound.
#![allow(unsafe_code)]

use crate::{Step, Under, Verdict, lock, under};
use rusqlite::ffi;
use std::cell::Cell;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The real layer. It lives as long as the process.
struct Real(*mut ffi::sqlite3_vfs);

// Safety: SQLite's layers are used by all threads; the pointer is never written through.
unsafe impl Send for Real {}
// Safety: as above.
unsafe impl Sync for Real {}

static REAL: OnceLock<Real> = OnceLock::new();

fn real() -> *mut ffi::sqlite3_vfs {
    REAL.get().map_or(std::ptr::null_mut(), |real| real.0)
}

/// What stands at the beginning of a file's memory; the real file follows.
#[repr(C)]
struct Opened {
    base: ffi::sqlite3_file,
    of: *mut Of,
}

/// Whose file it is.
struct Of {
    path: PathBuf,
    under: Under,
    /// How many locks on the shared memory it has.
    locks: Cell<c_int>,
}

/// Makes this layer the one that databases are opened with. Files that are not watched go to the real one as they are.
pub fn register() {
    REAL.get_or_init(|| {
        // Safety: asks for the default layer, which is there for as long as the process.
        let real = unsafe { ffi::sqlite3_vfs_find(std::ptr::null()) };
        assert!(!real.is_null(), "SQLite has a layer for this system");
        // Safety: `real` points to a table that nobody changes. Ours is leaked, because SQLite keeps the pointer.
        unsafe {
            let mut ours = *real;
            ours.iVersion = ours.iVersion.min(2);
            ours.szOsFile = size_of::<Opened>() as c_int + (*real).szOsFile;
            ours.pNext = std::ptr::null_mut();
            ours.zName = c"tapewise-torn".as_ptr();
            ours.xOpen = Some(open);
            ours.xDelete = Some(delete);
            ours.xAccess = Some(access);
            ours.xFullPathname = Some(full_pathname);
            let done = ffi::sqlite3_vfs_register(Box::leak(Box::new(ours)), 1);
            assert_eq!(done, ffi::SQLITE_OK);
        }
        Real(real)
    });
}

/// Safety: `name` is null or a string that ends with a zero.
unsafe fn path<'a>(name: *const c_char) -> Option<&'a Path> {
    if name.is_null() {
        return None;
    }
    // Safety: the caller says so.
    let name = unsafe { CStr::from_ptr(name) };
    Some(Path::new(OsStr::from_bytes(name.to_bytes())))
}

/// Safety: `file` is one that `open` has made ours.
unsafe fn parts<'a>(file: *mut ffi::sqlite3_file) -> (&'a Of, *mut ffi::sqlite3_file) {
    let ours = file.cast::<Opened>();
    // Safety: the memory begins with an `Opened`, whose `of` lives until `close`; the real file follows.
    unsafe { (&*(*ours).of, ours.add(1).cast()) }
}

/// Calls a function of the real file.
macro_rules! forward {
    ($file:expr, $name:ident $(, $argument:expr)*) => {{
        // Safety: SQLite's contract, see above: the real file was opened, and has the methods of its version.
        unsafe {
            let (_, real) = parts($file);
            match (*(*real).pMethods).$name {
                Some(call) => call(real $(, $argument)*),
                None => ffi::SQLITE_IOERR,
            }
        }
    }};
}

unsafe extern "C" fn open(
    _vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // Safety: SQLite gives a name or null; see the head of the file for its memory.
    unsafe {
        let Some(call) = (*real()).xOpen else {
            return ffi::SQLITE_CANTOPEN;
        };
        let watched = path(name).and_then(|path| Some((path.to_owned(), under(path)?)));
        let Some((path, under)) = watched else {
            return call(real(), name, file, flags, out);
        };
        let ours = file.cast::<Opened>();
        (*ours).base.pMethods = std::ptr::null();
        if under.plug.step(Step::Open) != Verdict::Go {
            return ffi::SQLITE_CANTOPEN;
        }
        let is_new = !path.exists();
        let done = call(real(), name, ours.add(1).cast(), flags, out);
        if done != ffi::SQLITE_OK {
            return done;
        }
        if is_new {
            lock(&under.files).made(&path);
        }
        (*ours).of = Box::into_raw(Box::new(Of {
            path,
            under,
            locks: Cell::new(0),
        }));
        (*ours).base.pMethods = &METHODS;
        ffi::SQLITE_OK
    }
}

unsafe extern "C" fn delete(
    _vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    sync: c_int,
) -> c_int {
    // Safety: SQLite gives a name.
    unsafe {
        if let Some((path, under)) = path(name).and_then(|path| Some((path, under(path)?))) {
            if under.plug.step(Step::Remove) != Verdict::Go {
                return ffi::SQLITE_IOERR_DELETE;
            }
            if lock(&under.files).removes(path).is_err() {
                return ffi::SQLITE_IOERR_DELETE;
            }
            if sync != 0 {
                lock(&under.files).names_synced();
            }
        }
        match (*real()).xDelete {
            // Nobody waits for the real medium: nobody cuts its power.
            Some(call) => call(real(), name, 0),
            None => ffi::SQLITE_IOERR,
        }
    }
}

unsafe extern "C" fn access(
    _vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // Safety: SQLite's own arguments, for its own layer.
    unsafe {
        match (*real()).xAccess {
            Some(call) => call(real(), name, flags, out),
            None => ffi::SQLITE_IOERR,
        }
    }
}

unsafe extern "C" fn full_pathname(
    _vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    bytes: c_int,
    out: *mut c_char,
) -> c_int {
    // Safety: SQLite's own arguments, for its own layer.
    unsafe {
        match (*real()).xFullPathname {
            Some(call) => call(real(), name, bytes, out),
            None => ffi::SQLITE_IOERR,
        }
    }
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    // The second version has shared memory. The third one maps files into memory, past this layer.
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock_file),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    let done = forward!(file, xClose);
    // Safety: `open` made the box, and nobody uses the file any more.
    unsafe { drop(Box::from_raw((*file.cast::<Opened>()).of)) };
    done
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    into: *mut c_void,
    bytes: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    // Safety: the file is ours.
    let (of, _) = unsafe { parts(file) };
    match of.under.plug.step(Step::Read) {
        Verdict::Go => forward!(file, xRead, into, bytes, offset),
        Verdict::Fail | Verdict::Full => ffi::SQLITE_IOERR_READ,
    }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    from: *const c_void,
    bytes: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    // Safety: the file is ours, and `from` has so many bytes.
    let (of, new) = unsafe {
        let new = std::slice::from_raw_parts(from.cast::<u8>(), bytes.max(0) as usize);
        (parts(file).0, new)
    };
    match of.under.plug.step(Step::Write(new.len() as u64)) {
        Verdict::Go => {}
        Verdict::Fail => return ffi::SQLITE_IOERR_WRITE,
        Verdict::Full => return ffi::SQLITE_FULL,
    }
    match lock(&of.under.files).writes(&of.path, offset.max(0) as u64, new) {
        Ok(()) => forward!(file, xWrite, from, bytes, offset),
        Err(_) => ffi::SQLITE_IOERR_WRITE,
    }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: ffi::sqlite3_int64) -> c_int {
    // Safety: the file is ours.
    let (of, _) = unsafe { parts(file) };
    if of.under.plug.step(Step::Truncate) != Verdict::Go {
        return ffi::SQLITE_IOERR_TRUNCATE;
    }
    match lock(&of.under.files).truncates(&of.path, size.max(0) as u64) {
        Ok(()) => forward!(file, xTruncate, size),
        Err(_) => ffi::SQLITE_IOERR_TRUNCATE,
    }
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _flags: c_int) -> c_int {
    // Safety: the file is ours.
    let (of, _) = unsafe { parts(file) };
    if of.under.plug.step(Step::Sync) != Verdict::Go {
        return ffi::SQLITE_IOERR_FSYNC;
    }
    // The real one syncs the directory with the first sync of a file that it has made. It is not called: nobody cuts
    // the power of the machine that the tests run on.
    lock(&of.under.files).synced(&of.path);
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_size(
    file: *mut ffi::sqlite3_file,
    size: *mut ffi::sqlite3_int64,
) -> c_int {
    forward!(file, xFileSize, size)
}

unsafe extern "C" fn lock_file(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    forward!(file, xLock, level)
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    forward!(file, xUnlock, level)
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, out: *mut c_int) -> c_int {
    forward!(file, xCheckReservedLock, out)
}

unsafe extern "C" fn file_control(
    file: *mut ffi::sqlite3_file,
    operation: c_int,
    argument: *mut c_void,
) -> c_int {
    forward!(file, xFileControl, operation, argument)
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    forward!(file, xSectorSize)
}

/// A disk that promises nothing: no writes that are whole, no order, no appends that come after their contents.
unsafe extern "C" fn device_characteristics(_file: *mut ffi::sqlite3_file) -> c_int {
    0
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    page: c_int,
    bytes: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    forward!(file, xShmMap, page, bytes, extend, out)
}

unsafe extern "C" fn shm_lock(
    file: *mut ffi::sqlite3_file,
    offset: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    // Safety: the file is ours.
    let (of, _) = unsafe { parts(file) };
    let is_locking = flags & ffi::SQLITE_SHM_LOCK != 0;
    let is_first = is_locking && of.locks.get() == 0;
    if is_first && of.under.plug.step(Step::Begin) != Verdict::Go {
        return ffi::SQLITE_IOERR_SHMLOCK;
    }
    let done = forward!(file, xShmLock, offset, count, flags);
    if done == ffi::SQLITE_OK {
        let change = if is_locking { count } else { -count };
        of.locks.set((of.locks.get() + change).max(0));
    }
    done
}

unsafe extern "C" fn shm_barrier(file: *mut ffi::sqlite3_file) {
    // Safety: as in `forward!`.
    unsafe {
        let (_, real) = parts(file);
        if let Some(call) = (*(*real).pMethods).xShmBarrier {
            call(real);
        }
    }
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, delete: c_int) -> c_int {
    forward!(file, xShmUnmap, delete)
}
