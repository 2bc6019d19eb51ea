//! Linux SCSI generic: any command to `/dev/sgN` (the SG_IO version 3 header, `include/scsi/sg.h`).
//!
//! A command is submitted by `write` and its answer fetched by `read`, not by the SG_IO ioctl that
//! joins the two: that ioctl is restarted when a signal interrupts its wait (Ctrl-Z is enough), and
//! a restarted ioctl sends the command again. A block written twice is worse than a second call.
#![allow(unsafe_code)] // The header holds addresses that the kernel follows.

use crate::cdb::Cdb;
use crate::transport::{Completion, Data, SenseBytes, Status, Transport, TransportError};
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{Getter, Setter, ioctl};
use std::ffi::c_void;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Major number of SCSI generic devices (Documentation/admin-guide/devices.txt).
const MAJOR: u32 = 21;
const SET_RESERVED_SIZE: u32 = 0x2275;
const GET_RESERVED_SIZE: u32 = 0x2272;
/// SG_GET_SG_TABLESIZE: pieces of memory that the adapter takes with one command.
const GET_PIECES: u32 = 0x227f;
/// BLKSECTGET, which sg answers in bytes: the most that the request queue takes.
const GET_MOST_BYTES: u32 = 0x1267;

/// Linux has no smaller pages, and a piece of memory is at least a page.
const PAGE_BYTES: usize = 4096;

/// Bytes that C leaves out between fields where addresses have 64 bits; named here, because all
/// bytes of the header are written.
const GAP: usize = size_of::<usize>() - 4;

/// `sg_io_hdr` of `scsi/sg.h`.
#[repr(C)]
struct Header {
    interface_id: i32,
    dxfer_direction: i32,
    cmd_len: u8,
    mx_sb_len: u8,
    iovec_count: u16,
    dxfer_len: u32,
    dxferp: *mut c_void,
    cmdp: *const u8,
    sbp: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack_id: i32,
    gap: [u8; GAP],
    usr_ptr: *mut c_void,
    status: u8,
    masked_status: u8,
    msg_status: u8,
    sb_len_wr: u8,
    host_status: u16,
    driver_status: u16,
    resid: i32,
    duration_ms: u32,
    info: u32,
    end_gap: [u8; GAP],
}

/// A device behind `/dev/sgN`.
#[derive(Debug)]
pub struct Sg {
    name: String,
    file: File,
    reserved_bytes: usize,
    /// What the adapter carries with one command for sure, where the kernel tells.
    sure_bytes: Option<usize>,
    opened: Instant,
}

impl Sg {
    /// Opens `/dev/sgN` for reading and writing: the kernel lets a read-only opener send few tape commands.
    ///
    /// # Errors
    /// [`TransportError`] when the path cannot be opened or is another kind of device.
    pub fn open(path: &Path) -> Result<Sg, TransportError> {
        let name = path.display().to_string();
        let file = File::options()
            .read(true)
            .write(true)
            // Without it, open waits for as long as another program has the device exclusively.
            .custom_flags(OFlags::NONBLOCK.bits() as i32)
            .open(path)
            .map_err(|source| TransportError::open(&name, source))?;
        let fail = |errno: Errno| TransportError::io(&name, errno.into());
        let stat = rustix::fs::fstat(&file).map_err(fail)?;
        let is_character = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice;
        // Checked, because on any other device our `write` would write the header as data.
        if !is_character || rustix::fs::major(stat.st_rdev) != MAJOR {
            return Err(TransportError::Unsupported {
                device: name,
                what: "a device that is not SCSI generic (/dev/sgN)".to_owned(),
            });
        }
        // From here on a read waits for the answer.
        rustix::fs::fcntl_setfl(&file, OFlags::RDWR).map_err(fail)?;
        let reserved_bytes = reserved(&file).map_err(fail)?;
        Ok(Sg {
            name,
            sure_bytes: sure(&file),
            file,
            reserved_bytes,
            opened: Instant::now(),
        })
    }

    /// Asks for a buffer in the kernel that holds `bytes`, once for all transfers of that size.
    fn reserve(&mut self, bytes: usize) -> Result<(), TransportError> {
        if bytes <= self.reserved_bytes {
            return Ok(());
        }
        let wanted = i32::try_from(bytes).map_err(|_| self.too_large(bytes))?;
        // SAFETY: SG_SET_RESERVED_SIZE reads one int.
        let set = unsafe { ioctl(&self.file, Setter::<SET_RESERVED_SIZE, i32>::new(wanted)) };
        // Refused while another command uses the buffer or when memory is short; the kernel then
        // looks for memory at each command, and says there when it finds none.
        if set.is_ok() {
            self.reserved_bytes = reserved(&self.file)
                .map_err(|errno| TransportError::io(&self.name, errno.into()))?;
        }
        Ok(())
    }

    fn too_large(&self, bytes: usize) -> TransportError {
        TransportError::TooLarge {
            device: self.name.clone(),
            bytes,
            limit_bytes: self.sure_bytes.unwrap_or(self.reserved_bytes),
        }
    }

    /// Submits what the header describes and waits for its answer.
    ///
    /// # Safety
    /// The header's addresses must be valid for their lengths until this returns, `dxferp` and
    /// `sbp` for writing.
    unsafe fn exchange(&self, header: &mut Header) -> Result<(), TransportError> {
        let length = header.dxfer_len as usize;
        // SAFETY: the header is plain numbers and addresses without padding, so all its bytes may
        // be read, and any bytes make a header.
        let bytes = unsafe {
            std::slice::from_raw_parts_mut(
                std::ptr::from_mut(header).cast::<u8>(),
                size_of::<Header>(),
            )
        };
        rustix::io::write(&self.file, bytes).map_err(|errno| match errno {
            // The limits of the request queue or of the adapter, or no memory for a buffer of that
            // size. The size of the kernel's own buffer says nothing of the adapter's pieces.
            Errno::INVAL | Errno::NOMEM if length > PAGE_BYTES => self.too_large(length),
            _ => TransportError::io(&self.name, errno.into()),
        })?;
        rustix::io::retry_on_intr(|| rustix::io::read(&self.file, &mut *bytes))
            .map_err(|errno| TransportError::io(&self.name, errno.into()))?;
        Ok(())
    }

    /// What an answered header says.
    fn completion(
        &self,
        header: &Header,
        sense: &[u8],
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        let has_answer = header.status != 0 || !sense.is_empty();
        match path_failure(header.host_status, header.driver_status) {
            Some(HOST_TIMED_OUT) if !has_answer => {
                return Err(TransportError::TimedOut {
                    device: self.name.clone(),
                    timeout,
                });
            }
            Some(what) if !has_answer => {
                return Err(TransportError::Path {
                    device: self.name.clone(),
                    what: what.to_owned(),
                });
            }
            _ => {}
        }
        let left = u32::try_from(header.resid).unwrap_or(0);
        Ok(Completion {
            // Sense that came without its status is a check condition all the same.
            status: match Status::from(header.status) {
                Status::Good if !sense.is_empty() => Status::CheckCondition,
                status => status,
            },
            transferred: header.dxfer_len.saturating_sub(left) as usize,
            sense: SenseBytes::new(sense),
        })
    }
}

/// The size of the kernel's buffer for this opener, in bytes; it is never above what the host adapter takes at once.
fn reserved(file: &File) -> Result<usize, Errno> {
    // SAFETY: SG_GET_RESERVED_SIZE writes one int.
    let bytes = unsafe { ioctl(file, Getter::<GET_RESERVED_SIZE, i32>::new()) }?;
    Ok(usize::try_from(bytes).unwrap_or(0))
}

/// What the adapter carries with one command for sure: as many pages as it takes pieces of memory,
/// and no more than the request queue takes.
fn sure(file: &File) -> Option<usize> {
    // SAFETY: SG_GET_SG_TABLESIZE writes one int.
    let pieces = unsafe { ioctl(file, Getter::<GET_PIECES, i32>::new()) };
    // SAFETY: BLKSECTGET of an sg node writes one int.
    let bytes = unsafe { ioctl(file, Getter::<GET_MOST_BYTES, i32>::new()) };
    let positive = |number: Result<i32, Errno>| {
        usize::try_from(number.ok()?)
            .ok()
            .filter(|&number| number > 0)
    };
    sure_bytes(positive(pieces), positive(bytes))
}

fn sure_bytes(pieces: Option<usize>, queue_bytes: Option<usize>) -> Option<usize> {
    let pieces_bytes = pieces.map(|pieces| pieces.saturating_mul(PAGE_BYTES));
    pieces_bytes.into_iter().chain(queue_bytes).min()
}

impl Transport for Sg {
    fn name(&self) -> &str {
        &self.name
    }

    fn most_bytes(&self) -> Option<usize> {
        self.sure_bytes
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        const NONE: i32 = -1;
        const TO_DEVICE: i32 = -2;
        const FROM_DEVICE: i32 = -3;
        let (direction, address, length) = match data {
            Data::None => (NONE, std::ptr::null_mut(), 0),
            // The kernel only reads memory of a transfer to the device.
            Data::Out(bytes) => (TO_DEVICE, bytes.as_ptr().cast_mut(), bytes.len()),
            Data::In(bytes) => (FROM_DEVICE, bytes.as_mut_ptr(), bytes.len()),
        };
        self.reserve(length)?;
        let mut sense = [0; SenseBytes::MOST];
        let mut header = Header {
            interface_id: i32::from(b'S'),
            dxfer_direction: if length == 0 { NONE } else { direction },
            cmd_len: cdb.bytes().len() as u8,
            mx_sb_len: sense.len() as u8,
            iovec_count: 0,
            dxfer_len: u32::try_from(length).map_err(|_| self.too_large(length))?,
            dxferp: address.cast(),
            cmdp: cdb.bytes().as_ptr(),
            sbp: sense.as_mut_ptr(),
            timeout_ms: u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX),
            flags: 0,
            pack_id: 0,
            gap: [0; GAP],
            usr_ptr: std::ptr::null_mut(),
            status: 0,
            masked_status: 0,
            msg_status: 0,
            sb_len_wr: 0,
            host_status: 0,
            driver_status: 0,
            resid: 0,
            duration_ms: 0,
            info: 0,
            end_gap: [0; GAP],
        };
        // SAFETY: `cdb`, `sense` and the caller's data outlive the call, and for data from the
        // device the borrow is mutable. The kernel copies to them only within `read`.
        unsafe { self.exchange(&mut header) }?;
        let sense = &sense[..usize::from(header.sb_len_wr).min(SenseBytes::MOST)];
        self.completion(&header, sense, timeout)
    }

    fn now(&self) -> Duration {
        self.opened.elapsed()
    }

    fn wait(&mut self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

const HOST_TIMED_OUT: &str = "the command timed out";

/// What the kernel's mid-level says of a command that got no status, in words (`scsi_status.h`:
/// DID_ codes of the host, DRIVER_ codes in the low four bits of the other).
fn path_failure(host_status: u16, driver_status: u16) -> Option<&'static str> {
    let host = match host_status {
        0x00 => None,
        0x01 => Some("the device does not answer: no connection"),
        0x02 => Some("the bus stayed busy"),
        0x03 => Some(HOST_TIMED_OUT),
        0x04 => Some("no such target"),
        0x05 => Some("the command was aborted"),
        0x06 => Some("parity error on the bus"),
        0x07 => Some("the host adapter reports an internal error"),
        0x08 => Some("the bus or the device was reset"),
        0x09 => Some("an interrupt nobody waited for"),
        0x0a => Some("the host adapter was bypassed"),
        0x0b => Some("the host adapter asks for a retry"),
        0x0c => Some("the host adapter asks to retry at once"),
        0x0d => Some("the host adapter asks to queue the command again"),
        0x0e => Some("the transport is disrupted, and may come back"),
        0x0f => Some("the transport failed"),
        0x10 => Some("the target failed for good"),
        0x11 => Some("the nexus failed for good"),
        0x12 => Some("the target has no space to allocate"),
        0x13 => Some("the target reports a medium error"),
        0x14 => Some("the path is marginal"),
        _ => Some("the host adapter reports a failure unknown to us"),
    };
    host.or(match driver_status & 0x0f {
        // 8 is "there is sense".
        0 | 8 => None,
        1 => Some("the driver is busy"),
        2 => Some("the driver gives up"),
        3 => Some("the medium cannot be reached"),
        4 => Some("the driver reports an error"),
        5 => Some("the driver refuses the command"),
        6 => Some(HOST_TIMED_OUT),
        7 => Some("the driver reports a hardware failure"),
        _ => Some("the driver reports a failure unknown to us"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn the_header_has_the_size_of_the_kernels() {
        assert_eq!(size_of::<Header>(), 88);
        assert_eq!(std::mem::offset_of!(Header, timeout_ms), 40);
        assert_eq!(std::mem::offset_of!(Header, status), 64);
    }

    #[test]
    fn an_adapter_carries_a_page_for_each_piece_and_no_more_than_its_queue() {
        assert_eq!(sure_bytes(Some(128), Some(4 << 20)), Some(512 << 10));
        assert_eq!(sure_bytes(Some(2048), Some(1 << 20)), Some(1 << 20));
        assert_eq!(sure_bytes(None, Some(1 << 20)), Some(1 << 20));
        assert_eq!(sure_bytes(None, None), None);
    }

    #[test]
    fn a_path_that_failed_is_named_in_words() {
        assert_eq!(path_failure(0, 0), None);
        assert_eq!(path_failure(0, 8), None);
        assert_eq!(path_failure(3, 0), Some(HOST_TIMED_OUT));
        assert_eq!(path_failure(0, 6), Some(HOST_TIMED_OUT));
        assert_eq!(
            path_failure(0x0e, 0),
            Some("the transport is disrupted, and may come back")
        );
    }

    #[test]
    fn a_file_that_is_no_generic_device_is_refused() {
        let error = Sg::open(Path::new("/dev/null")).expect_err("not SCSI generic");
        assert!(error.to_string().contains("/dev/null"), "{error}");
        assert!(error.to_string().contains("not SCSI generic"), "{error}");
    }
}
