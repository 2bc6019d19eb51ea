//! iSCSI in user space through libiscsi, loaded when it is first needed, so that the program itself needs nothing installed.
//!
//! Facts about the library, found by running Debian's: a CHECK CONDITION comes with its sense in
//! the task's own data (two bytes of length before it), so a read brings a buffer of its own; the
//! "full connect" of the library swallows unit attentions, so we connect and log in by hand.
#![allow(unsafe_code)] // Calls into a C library and reads its task structure.

use super::IscsiUrl;
use crate::cdb::Cdb;
use crate::transport::{Completion, Data, SenseBytes, Status, Transport, TransportError};
use libloading::Library;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::ffi::{CStr, CString, c_char, c_int, c_uchar, c_void};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// libiscsi 1.17 to 1.20, by the names that distributions give it: Debian calls all of them 7, EL9 calls 1.19 9.
const LIBRARIES: [&str; 5] = [
    "libiscsi.so.7",
    "libiscsi.so.8",
    "libiscsi.so.9",
    "libiscsi.so.10",
    "libiscsi.so.11",
];
/// A function that came with 1.20. Since then a task's sense has one field more, and the name of the library does not
/// tell.
const SINCE_1_20: &[u8] = b"iscsi_force_reconnect";
/// How this program calls itself to a target.
const INITIATOR: &CStr = c"iqn.2026-11.net.tapewise:initiator";
const SESSION_NORMAL: c_int = 2;
/// `enum scsi_status`: what libiscsi adds to the statuses of SCSI.
const STATUS_CANCELLED: c_int = 0x0f00_0000;
const STATUS_ERROR: c_int = 0x0f00_0001;
const STATUS_TIMEOUT: c_int = 0x0f00_0002;
const RESIDUAL_UNDERFLOW: c_int = 1;
const RESIDUAL_OVERFLOW: c_int = 2;
/// `enum scsi_xfer_dir`.
const NO_DATA: c_int = 0;
const FROM_DEVICE: c_int = 1;
const TO_DEVICE: c_int = 2;

/// `struct scsi_task` of libiscsi as far as we read it. Which `Sense` it has depends on the library.
#[repr(C)]
struct Task<Sense = ShortSense> {
    status: c_int,
    cdb_size: c_int,
    transfer_direction: c_int,
    expected_length: c_int,
    cdb: [c_uchar; 16],
    residual_status: c_int,
    residual: usize,
    sense: Sense,
    data_in: TaskData,
}

/// The sense in a task up to 1.19.
#[repr(C)]
struct ShortSense {
    error_type: c_uchar,
    key: c_int,
    code: c_int,
    /// Three bit fields, in one byte.
    flags: c_uchar,
    bit_pointer: c_uchar,
    field_pointer: u16,
}

/// The sense in a task since 1.20.
#[repr(C)]
struct LongSense {
    short: ShortSense,
    information: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct TaskData {
    size: c_int,
    data: *const c_uchar,
}

/// `struct iscsi_data`: data to send.
#[repr(C)]
struct DataOut {
    size: usize,
    data: *mut c_uchar,
}

type Context = *mut c_void;

/// What the library calls when a command has ended, with its status.
type Callback = unsafe extern "C" fn(Context, c_int, *mut c_void, *mut Answer);

/// Where that call leaves the status.
type Answer = Option<c_int>;

unsafe extern "C" fn ended(_: Context, status: c_int, _: *mut c_void, answer: *mut Answer) {
    // SAFETY: `Iscsi::carry` passes the address of an answer that outlives the command.
    unsafe { *answer = Some(status) };
}

/// The functions of the library that we call.
struct Api {
    create_context: unsafe extern "C" fn(*const c_char) -> Context,
    destroy_context: unsafe extern "C" fn(Context) -> c_int,
    get_error: unsafe extern "C" fn(Context) -> *const c_char,
    set_session_type: unsafe extern "C" fn(Context, c_int) -> c_int,
    set_target_name: unsafe extern "C" fn(Context, *const c_char) -> c_int,
    set_user: unsafe extern "C" fn(Context, *const c_char, *const c_char) -> c_int,
    set_no_reconnect: unsafe extern "C" fn(Context, c_int),
    set_timeout: unsafe extern "C" fn(Context, c_int) -> c_int,
    connect: unsafe extern "C" fn(Context, *const c_char) -> c_int,
    login: unsafe extern "C" fn(Context) -> c_int,
    logout: unsafe extern "C" fn(Context) -> c_int,
    command: unsafe extern "C" fn(
        Context,
        c_int,
        *mut Task,
        Callback,
        *mut DataOut,
        *mut Answer,
    ) -> c_int,
    get_fd: unsafe extern "C" fn(Context) -> c_int,
    which_events: unsafe extern "C" fn(Context) -> c_int,
    service: unsafe extern "C" fn(Context, c_int) -> c_int,
    create_task: unsafe extern "C" fn(c_int, *mut c_uchar, c_int, c_int) -> *mut Task,
    free_task: unsafe extern "C" fn(*mut Task),
    add_data_in: unsafe extern "C" fn(*mut Task, c_int, *mut c_uchar) -> c_int,
    /// Tasks have a [`LongSense`].
    has_long_sense: bool,
    /// Keeps the functions where they are.
    _library: Library,
}

impl Api {
    fn load() -> Result<Api, libloading::Error> {
        let [first, others @ ..] = LIBRARIES;
        // The first name's error is the one that is told: Debian's package has that name.
        let loaded = Api::load_from(first);
        others.into_iter().fold(loaded, |found, name| {
            found.or_else(|error| Api::load_from(name).map_err(|_| error))
        })
    }

    fn load_from(name: &str) -> Result<Api, libloading::Error> {
        // SAFETY: libiscsi runs nothing when it is loaded or unloaded, and each type above is the
        // function's declaration in `iscsi.h` and `scsi-lowlevel.h` of these versions.
        unsafe {
            let library = Library::new(name)?;
            Ok(Api {
                create_context: *library.get(b"iscsi_create_context")?,
                destroy_context: *library.get(b"iscsi_destroy_context")?,
                get_error: *library.get(b"iscsi_get_error")?,
                set_session_type: *library.get(b"iscsi_set_session_type")?,
                set_target_name: *library.get(b"iscsi_set_targetname")?,
                set_user: *library.get(b"iscsi_set_initiator_username_pwd")?,
                set_no_reconnect: *library.get(b"iscsi_set_noautoreconnect")?,
                set_timeout: *library.get(b"iscsi_set_timeout")?,
                connect: *library.get(b"iscsi_connect_sync")?,
                login: *library.get(b"iscsi_login_sync")?,
                logout: *library.get(b"iscsi_logout_sync")?,
                command: *library.get(b"iscsi_scsi_command_async")?,
                get_fd: *library.get(b"iscsi_get_fd")?,
                which_events: *library.get(b"iscsi_which_events")?,
                service: *library.get(b"iscsi_service")?,
                create_task: *library.get(b"scsi_create_task")?,
                free_task: *library.get(b"scsi_free_scsi_task")?,
                add_data_in: *library.get(b"scsi_task_add_data_in_buffer")?,
                has_long_sense: library.get::<*const c_void>(SINCE_1_20).is_ok(),
                _library: library,
            })
        }
    }
}

/// A logical unit of an iSCSI target, with a session of its own.
pub struct Iscsi {
    name: String,
    api: Api,
    context: Context,
    /// Commands can be sent: logged in, and nothing has failed since.
    is_alive: bool,
    lun: c_int,
    opened: Instant,
}

// SAFETY: the context is used by one thread at a time, behind `&mut self`; libiscsi keeps no
// state of threads.
unsafe impl Send for Iscsi {}

/// The library, or what to install.
fn load(device: &str) -> Result<Api, TransportError> {
    Api::load().map_err(|error| TransportError::Path {
        device: device.to_owned(),
        what: format!(
            "iSCSI needs libiscsi 1.17 to 1.20 (`tapewise doctor` prints the command that installs it): {error}"
        ),
    })
}

impl Iscsi {
    /// Says whether iSCSI can be used on this machine.
    ///
    /// # Errors
    /// [`TransportError`] when the library is missing.
    pub fn check_library() -> Result<(), TransportError> {
        load("iscsi://").map(drop)
    }

    /// How long connecting and logging in may take.
    const LOGIN_TIMEOUT: Duration = Duration::from_secs(30);

    /// Connects and logs in. A unit attention that waits for a new initiator is left to the first command.
    ///
    /// # Errors
    /// [`TransportError`] when the library is missing, or with the library's words when the target refuses.
    pub fn open(url: &IscsiUrl) -> Result<Iscsi, TransportError> {
        let name = url.to_string();
        let api = load(&name)?;
        // SAFETY: the name is a string that ends in a zero.
        let context = unsafe { (api.create_context)(INITIATOR.as_ptr()) };
        if context.is_null() {
            return Err(TransportError::Path {
                device: name,
                what: "libiscsi has no memory for a session".to_owned(),
            });
        }
        let mut session = Iscsi {
            name,
            api,
            context,
            is_alive: false,
            lun: c_int::from(url.lun),
            opened: Instant::now(),
        };
        session.log_in(url)?;
        Ok(session)
    }

    fn log_in(&mut self, url: &IscsiUrl) -> Result<(), TransportError> {
        let text =
            |part: &str| CString::new(part).map_err(|_| self.failure("a zero byte in the address"));
        let (target, portal) = (text(&url.target)?, text(&url.portal)?);
        let user = match &url.user {
            Some((user, password)) => Some((text(user)?, text(password)?)),
            None => None,
        };
        let (api, context) = (&self.api, self.context);
        // SAFETY: the context is live until `drop`, the strings until the end of this function;
        // the library copies what it keeps.
        let is_in = unsafe {
            (api.set_no_reconnect)(context, 1);
            (api.set_timeout)(context, Iscsi::LOGIN_TIMEOUT.as_secs() as c_int);
            let is_named = (api.set_session_type)(context, SESSION_NORMAL) == 0
                && (api.set_target_name)(context, target.as_ptr()) == 0
                && user.as_ref().is_none_or(|(user, password)| {
                    (api.set_user)(context, user.as_ptr(), password.as_ptr()) == 0
                });
            is_named && (api.connect)(context, portal.as_ptr()) == 0 && (api.login)(context) == 0
        };
        if !is_in {
            return Err(self.failure("cannot log in"));
        }
        self.is_alive = true;
        Ok(())
    }

    /// What failed, with the library's own words.
    fn failure(&self, what: &str) -> TransportError {
        // SAFETY: the text belongs to the context and is copied before anything else is called.
        let words = unsafe {
            let text = (self.api.get_error)(self.context);
            if text.is_null() {
                String::new()
            } else {
                CStr::from_ptr(text).to_string_lossy().into_owned()
            }
        };
        TransportError::Path {
            device: self.name.clone(),
            what: format!("{what}: {}", words.trim()),
        }
    }

    /// Lets the library work until the command has ended; the result is its status. The library's
    /// own loop is not used, for it gives the session up when a signal interrupts its wait.
    ///
    /// # Safety
    /// `answer` must be what the one command in flight was sent with, and its task must be alive.
    unsafe fn carry(&mut self, answer: *const Answer) -> Result<c_int, TransportError> {
        /// Between two looks of the library at its time-outs.
        const TICK: Timespec = Timespec {
            tv_sec: 1,
            tv_nsec: 0,
        };
        loop {
            // SAFETY: only `service` and `give_up` write the answer, on this thread.
            if let Some(status) = unsafe { *answer } {
                return Ok(status);
            }
            // SAFETY: the context is live.
            let (socket, events) = unsafe {
                let events = (self.api.which_events)(self.context);
                ((self.api.get_fd)(self.context), events as u16)
            };
            if socket < 0 {
                return Err(self.give_up("the connection is closed"));
            }
            // SAFETY: the library keeps the socket open until it is served again.
            let socket = unsafe { BorrowedFd::borrow_raw(socket) };
            let mut polled = [PollFd::from_borrowed_fd(
                socket,
                PollFlags::from_bits_retain(events),
            )];
            match poll(&mut polled, Some(&TICK)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(self.give_up(&errno.to_string())),
            }
            let ready = c_int::from(polled[0].revents().bits());
            // SAFETY: the context is live. A command that it cancels has its answer afterwards.
            let is_served =
                unsafe { (self.api.service)(self.context, ready) == 0 || (*answer).is_some() };
            if !is_served {
                return Err(self.give_up("the connection failed"));
            }
        }
    }

    /// Ends a session that failed with a command in flight. The library tells the command so while
    /// its answer and its task still exist, and never again.
    fn give_up(&mut self, what: &str) -> TransportError {
        let failure = self.failure(what);
        // SAFETY: the context is live, and not used any more.
        unsafe { (self.api.destroy_context)(self.context) };
        self.context = std::ptr::null_mut();
        self.is_alive = false;
        failure
    }

    /// What a finished task says.
    fn completion(
        &self,
        status: c_int,
        task: &Task,
        data_in: TaskData,
        length: usize,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        let device = || self.name.clone();
        match status {
            STATUS_TIMEOUT => {
                return Err(TransportError::TimedOut {
                    device: device(),
                    timeout,
                });
            }
            STATUS_CANCELLED | STATUS_ERROR => return Err(self.failure("the session failed")),
            _ => {}
        }
        let status = u8::try_from(status).map_err(|_| TransportError::Path {
            device: device(),
            what: format!("libiscsi gives status {status:#x}"),
        })?;
        let transferred = transferred(task, length).map_err(|what| TransportError::Path {
            device: device(),
            what,
        })?;
        let sense = match Status::from(status) {
            Status::CheckCondition => sense_of(data_in),
            _ => SenseBytes::none(),
        };
        Ok(Completion {
            status: Status::from(status),
            transferred,
            sense,
        })
    }
}

/// Bytes that a task moved. A device that wants more than it was sent has written something else than we meant; one
/// that has more than we asked for keeps it, as every command allows.
fn transferred(task: &Task, length: usize) -> Result<usize, String> {
    match (task.residual_status, task.transfer_direction) {
        (RESIDUAL_UNDERFLOW, _) => Ok(length.saturating_sub(task.residual)),
        (RESIDUAL_OVERFLOW, TO_DEVICE) => Err(format!(
            "the device wanted {} bytes more than it was sent",
            task.residual
        )),
        _ => Ok(length),
    }
}

/// The sense of a task that ended with CHECK CONDITION: its own data, after two bytes of length.
fn sense_of(data_in: TaskData) -> SenseBytes {
    let size = usize::try_from(data_in.size).unwrap_or(0);
    if data_in.data.is_null() || size < 2 {
        return SenseBytes::none();
    }
    // SAFETY: libiscsi guarantees this many bytes; the task that owns them is still alive.
    let bytes = unsafe { std::slice::from_raw_parts(data_in.data, size) };
    let length = usize::from(u16::from_be_bytes([bytes[0], bytes[1]]));
    SenseBytes::new(&bytes[2..size.min(2 + length)])
}

impl Transport for Iscsi {
    fn name(&self) -> &str {
        &self.name
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        let (direction, address, length) = match data {
            Data::In(bytes) if !bytes.is_empty() => (FROM_DEVICE, bytes.as_mut_ptr(), bytes.len()),
            // The library only reads memory of a transfer to the device.
            Data::Out(bytes) if !bytes.is_empty() => {
                (TO_DEVICE, bytes.as_ptr().cast_mut(), bytes.len())
            }
            _ => (NO_DATA, std::ptr::null_mut(), 0),
        };
        let wire_length = c_int::try_from(length).map_err(|_| TransportError::TooLarge {
            device: self.name.clone(),
            bytes: length,
            limit_bytes: c_int::MAX as usize,
        })?;
        // Whole seconds, and at least one: zero means for ever.
        let seconds = timeout.as_millis().div_ceil(1000).clamp(1, 1_000_000) as c_int;
        let mut bytes = [0; 16];
        bytes[..cdb.bytes().len()].copy_from_slice(cdb.bytes());
        if !self.is_alive {
            return Err(TransportError::Path {
                device: self.name.clone(),
                what: "the session has ended".to_owned(),
            });
        }
        let api = &self.api;
        // SAFETY: the context is live, the task is ours from its creation until it is freed, and
        // buffers outlive the call, which returns only after the task has ended.
        unsafe {
            (api.set_timeout)(self.context, seconds);
            let task = (api.create_task)(
                cdb.bytes().len() as c_int,
                bytes.as_mut_ptr(),
                direction,
                wire_length,
            );
            if task.is_null() {
                return Err(self.failure("no memory for a command"));
            }
            if direction == FROM_DEVICE && (api.add_data_in)(task, wire_length, address) != 0 {
                (api.free_task)(task);
                return Err(self.failure("no memory for a buffer"));
            }
            let mut out = DataOut {
                size: length,
                data: address,
            };
            let out = if direction == TO_DEVICE {
                &raw mut out
            } else {
                std::ptr::null_mut()
            };
            let mut slot: Answer = None;
            let answer = &raw mut slot;
            let carried = match (api.command)(self.context, self.lun, task, ended, out, answer) {
                0 => self.carry(answer),
                _ => Err(self.failure("the command was not sent")),
            };
            if let Ok(STATUS_CANCELLED | STATUS_ERROR) = carried {
                self.is_alive = false;
            }
            let data_in = if self.api.has_long_sense {
                (*task.cast::<Task<LongSense>>()).data_in
            } else {
                (*task).data_in
            };
            let completion = carried
                .and_then(|status| self.completion(status, &*task, data_in, length, timeout));
            (self.api.free_task)(task);
            completion
        }
    }

    fn now(&self) -> Duration {
        self.opened.elapsed()
    }

    fn wait(&mut self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

impl Drop for Iscsi {
    fn drop(&mut self) {
        if self.context.is_null() {
            return;
        }
        // SAFETY: the context is live and not used again. A logout that fails leaves nothing to do.
        unsafe {
            if self.is_alive {
                (self.api.set_timeout)(self.context, 5);
                (self.api.logout)(self.context);
            }
            (self.api.destroy_context)(self.context);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn the_task_is_laid_out_as_in_the_library() {
        assert_eq!(std::mem::offset_of!(Task, residual), 40);
        assert_eq!(std::mem::offset_of!(Task, sense), 48);
        assert_eq!(std::mem::offset_of!(Task, data_in), 64);
        assert_eq!(std::mem::offset_of!(Task<LongSense>, sense), 48);
        assert_eq!(std::mem::offset_of!(Task<LongSense>, data_in), 72);
    }

    #[test]
    fn bytes_that_were_left_did_not_move_and_a_device_that_wants_more_fails() {
        // SAFETY: numbers and an address that nobody follows.
        let mut task: Task = unsafe { std::mem::zeroed() };
        task.transfer_direction = TO_DEVICE;
        assert_eq!(transferred(&task, 512), Ok(512));
        (task.residual_status, task.residual) = (RESIDUAL_UNDERFLOW, 12);
        assert_eq!(transferred(&task, 512), Ok(500));
        task.residual_status = RESIDUAL_OVERFLOW;
        assert!(transferred(&task, 512).is_err());
        task.transfer_direction = FROM_DEVICE;
        assert_eq!(transferred(&task, 512), Ok(512));
    }
}
