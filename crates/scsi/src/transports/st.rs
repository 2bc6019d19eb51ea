//! Linux's tape driver, `/dev/nstN`: for hosts without SCSI generic. It has no commands, so those it
//! has a word for are translated (MTIOCTOP, MTIOCGET, MTIOCPOS, read and write; `linux/mtio.h`,
//! Documentation/scsi/st.rst), and every other is answered as a command
//! that the device does not have, with words of our own that name the missing sg module.
//!
//! What the driver does its own way, and no translation hides:
//! - its time-outs hold, not ours;
//! - opening it clears pending unit attentions;
//! - leaving the end of what was just written (rewind, locate, space back, close) writes a filemark, also when the program
//!   is killed, so that no archive is written this way;
//! - it keeps sense to itself. A condition it lets us see (filemark, end of data, beginning and end of
//!   the medium, another block length) comes back as the sense of that condition, anything else as an error.
#![allow(unsafe_code)] // The driver's ioctls take structures.

use super::st_sense::{Sense, bit, illegal_request, not_by_driver};
use crate::cdb::Cdb;
use crate::transport::{Completion, Data, Transport, TransportError};
use rustix::fs::{FileType, OFlags};
use rustix::io::{Errno, retry_on_intr};
use rustix::ioctl::{Getter, Opcode, Setter, ioctl, opcode};
use std::ffi::{c_int, c_long, c_short};
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Major number of SCSI tapes, and the bit of the minor that says "do not rewind on close".
const MAJOR: u32 = 9;
const NO_REWIND: u32 = 0x80;

/// `struct mtop`.
#[repr(C)]
struct Operation {
    operation: c_short,
    count: c_int,
}

/// `struct mtget`.
#[repr(C)]
struct State {
    kind: c_long,
    residual: c_long,
    block_and_density: c_long,
    general: c_long,
    errors: c_long,
    file: c_int,
    block: c_int,
}

/// `struct mtpos`.
#[repr(C)]
struct Position {
    block: c_long,
}

const MTIOCTOP: Opcode = opcode::write::<Operation>(b'm', 1);
const MTIOCGET: Opcode = opcode::read::<State>(b'm', 2);
const MTIOCPOS: Opcode = opcode::read::<Position>(b'm', 3);

/// `mt_op` values of `linux/mtio.h`.
mod op {
    pub const FORWARD_FILEMARKS: i16 = 1;
    pub const BACK_FILEMARKS: i16 = 2;
    pub const FORWARD_BLOCKS: i16 = 3;
    pub const BACK_BLOCKS: i16 = 4;
    pub const WRITE_FILEMARKS: i16 = 5;
    pub const REWIND: i16 = 6;
    pub const END_OF_DATA: i16 = 12;
    pub const SET_BLOCK_LENGTH: i16 = 20;
    pub const SEEK: i16 = 22;
    pub const LOCK: i16 = 28;
    pub const UNLOCK: i16 = 29;
    pub const LOAD: i16 = 30;
    pub const UNLOAD: i16 = 31;
    pub const SET_PARTITION: i16 = 33;
    pub const WRITE_FILEMARKS_LATER: i16 = 35;
}

/// `GMT_` bits of the general status.
mod general {
    pub const END_OF_FILE: i64 = 0x8000_0000;
    pub const BEGIN_OF_TAPE: i64 = 0x4000_0000;
    pub const END_OF_TAPE: i64 = 0x2000_0000;
    pub const END_OF_DATA: i64 = 0x0800_0000;
    pub const ONLINE: i64 = 0x0100_0000;
    pub const NO_CARTRIDGE: i64 = 0x0004_0000;
}

/// A drive behind `/dev/nstN`.
#[derive(Debug)]
pub struct St {
    name: String,
    path: PathBuf,
    /// What the kernel knows of the device: `/sys/class/scsi_tape/nstN/device`.
    attributes: PathBuf,
    /// Closed only while it is opened anew.
    file: Option<File>,
    /// The block length of the drive's mode, zero for variable.
    mode_length: u32,
    /// The block length the driver works with.
    driver_length: u32,
    opened: Instant,
}

/// What a translated command comes to: a completion, or why there is none.
type Outcome = Result<Completion, TransportError>;

impl St {
    /// Opens `/dev/nstN`, with or without a cartridge in the drive.
    ///
    /// # Errors
    /// [`TransportError`] when it cannot be opened, or is the node that rewinds on close, or no tape at all.
    pub fn open(path: &Path) -> Result<St, TransportError> {
        let name = path.display().to_string();
        let node = path.file_name().unwrap_or_default().to_string_lossy();
        let attributes = Path::new("/sys/class/scsi_tape")
            .join(&*node)
            .join("device");
        let mut st = St {
            attributes,
            name,
            path: path.to_owned(),
            file: None,
            mode_length: 0,
            driver_length: 0,
            opened: Instant::now(),
        };
        st.reopen()?;
        let state = st.state()?;
        st.driver_length = (state.block_and_density & 0x00ff_ffff) as u32;
        st.mode_length = st.driver_length;
        Ok(st)
    }

    fn reopen(&mut self) -> Result<(), TransportError> {
        // The driver lets one program in at a time, this one included.
        self.file = None;
        let fail = |errno: Errno| TransportError::io(&self.name, errno.into());
        // Looked at before it is opened: closing the rewinding node would already move the tape.
        let stat = rustix::fs::stat(&self.path)
            .map_err(|errno| TransportError::open(&self.name, errno.into()))?;
        let is_tape = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice
            && rustix::fs::major(stat.st_rdev) == MAJOR;
        let what = match (is_tape, rustix::fs::minor(stat.st_rdev) & NO_REWIND) {
            (false, _) => Some("a device that is not a SCSI tape (/dev/nstN)"),
            (true, 0) => Some("a node that rewinds when it is closed (take /dev/nstN)"),
            (true, _) => None,
        };
        if let Some(what) = what {
            return Err(TransportError::Unsupported {
                device: self.name.clone(),
                what: what.to_owned(),
            });
        }
        let open = |write: bool| {
            let mut options = File::options();
            // Without it, open fails when there is no cartridge.
            let flags = OFlags::NONBLOCK.bits() as i32;
            options
                .read(true)
                .write(write)
                .custom_flags(flags)
                .open(&self.path)
        };
        let file = match open(true) {
            // A cartridge that is write-protected opens for reading only.
            Err(error) if error.raw_os_error() == Some(Errno::ROFS.raw_os_error()) => open(false),
            other => other,
        };
        let file = file.map_err(|source| TransportError::open(&self.name, source))?;
        rustix::fs::fcntl_setfl(&file, OFlags::empty()).map_err(fail)?;
        self.file = Some(file);
        Ok(())
    }

    fn file(&self) -> Result<&File, TransportError> {
        self.file.as_ref().ok_or_else(|| TransportError::Path {
            device: self.name.clone(),
            what: "the node could not be opened again".to_owned(),
        })
    }

    fn state(&self) -> Result<State, TransportError> {
        // SAFETY: MTIOCGET writes one `struct mtget`, which `State` is.
        unsafe { ioctl(self.file()?, Getter::<MTIOCGET, State>::new()) }
            .map_err(|errno| TransportError::io(&self.name, errno.into()))
    }

    /// One MTIOCTOP; `Err` is its error number.
    fn operate(&self, operation: i16, count: i32) -> Result<Result<(), Errno>, TransportError> {
        let argument = Operation { operation, count };
        // SAFETY: MTIOCTOP reads one `struct mtop`, which `Operation` is.
        Ok(unsafe { ioctl(self.file()?, Setter::<MTIOCTOP, Operation>::new(argument)) })
    }

    /// One MTIOCTOP as a whole command; `stops` are the bits of the general status that explain its failing.
    fn command(&self, operation: i16, count: i32, stops: i64) -> Outcome {
        match self.operate(operation, count)? {
            Ok(()) => Ok(Completion::good(0)),
            Err(errno) => self.explain(errno, 0, stops),
        }
    }

    /// The sense of a condition that the driver lets us see; else its error. An input/output error
    /// can be anything: the place where the tape stands explains it only where the command can stop there.
    fn explain(&self, errno: Errno, transferred: usize, stops: i64) -> Outcome {
        let general = self.state()?.general;
        let stopped_at = |bit: i64| general & stops & bit != 0;
        let sense = match errno {
            Errno::NOMEDIUM => Sense::NO_MEDIUM,
            _ if general & general::NO_CARTRIDGE != 0 => Sense::NO_MEDIUM,
            Errno::ROFS | Errno::ACCESS => Sense::WRITE_PROTECTED,
            Errno::NOSPC => Sense::VOLUME_OVERFLOW,
            Errno::IO if stopped_at(general::END_OF_DATA) => Sense::END_OF_DATA,
            Errno::IO if stopped_at(general::END_OF_FILE) => Sense::FILEMARK,
            Errno::IO if stopped_at(general::BEGIN_OF_TAPE) => Sense::BEGIN_OF_PARTITION,
            Errno::IO => {
                return Err(TransportError::Path {
                    device: self.name.clone(),
                    what: "the tape driver reports an input/output error; the drive's sense is in the kernel's log".to_owned(),
                });
            }
            _ => return Err(TransportError::io(&self.name, errno.into())),
        };
        Ok(sense.completion(transferred))
    }

    /// TEST UNIT READY. The driver looks at the drive when it is opened, so that is what is done,
    /// unless a cartridge is known to be in: closing after a write would leave a filemark.
    fn test_unit_ready(&mut self) -> Outcome {
        if self.state()?.general & general::ONLINE == 0 {
            self.reopen()?;
            self.driver_length = (self.state()?.block_and_density & 0x00ff_ffff) as u32;
        }
        let general = self.state()?.general;
        Ok(if general & general::ONLINE != 0 {
            Completion::good(0)
        } else if general & general::NO_CARTRIDGE != 0 {
            Sense::NO_MEDIUM.completion(0)
        } else {
            Sense::BECOMING_READY.completion(0)
        })
    }

    /// INQUIRY, from what the kernel asked when it found the device.
    fn inquiry(&self, cdb: &[u8], buffer: &mut [u8]) -> Outcome {
        let page = match (bit(cdb[1], 0), cdb[2]) {
            (false, 0) => "inquiry".to_owned(),
            (false, _) => return Ok(illegal_request(0x24)),
            (true, page) => format!("vpd_pg{page:x}"),
        };
        match std::fs::read(self.attributes.join(page)) {
            Ok(answer) => Ok(fill(buffer, &answer)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(illegal_request(0x24)),
            Err(source) => Err(TransportError::io(&self.name, source)),
        }
    }

    /// READ POSITION, short form.
    fn read_position(&self, cdb: &[u8], buffer: &mut [u8]) -> Outcome {
        if cdb[1] & 0x1f > 1 {
            return Ok(illegal_request(0x24));
        }
        // SAFETY: MTIOCPOS writes one `struct mtpos`, which `Position` is.
        let position = unsafe { ioctl(self.file()?, Getter::<MTIOCPOS, Position>::new()) };
        let position = match position {
            Ok(position) => position,
            Err(errno) => return self.explain(errno, 0, 0),
        };
        let state = self.state()?;
        let block = (position.block as u32).to_be_bytes();
        let mut answer = [0; 20];
        // Neither what is in the drive's buffer nor the bytes of it are known (BCU, BYCU).
        answer[0] = 0x30 | u8::from(state.general & general::BEGIN_OF_TAPE != 0) << 7;
        answer[1] = state.residual as u8; // MTIOCGET puts the partition there
        answer[4..8].copy_from_slice(&block);
        answer[8..12].copy_from_slice(&block);
        Ok(fill(buffer, &answer))
    }

    /// LOCATE(10) and LOCATE(16) of logical objects.
    fn locate(&self, change: bool, partition: u8, block: u64) -> Outcome {
        let Ok(block) = i32::try_from(block) else {
            return Ok(illegal_request(0x24));
        };
        if change {
            match self.operate(op::SET_PARTITION, i32::from(partition))? {
                Ok(()) => {}
                // The driver knows one partition only, unless it was told otherwise.
                Err(Errno::INVAL) if partition == 0 => {}
                Err(Errno::INVAL) => {
                    return Err(TransportError::Unsupported {
                        device: self.name.clone(),
                        what: format!(
                            "going to partition {partition}, before the tape driver is told of partitions (as root: mt -f {} \
                             stsetoptions can-partitions) or the sg module is loaded (modprobe sg),",
                            self.name
                        ),
                    });
                }
                Err(errno) => return self.explain(errno, 0, 0),
            }
        }
        self.command(op::SEEK, block, general::END_OF_DATA)
    }

    fn space(&self, code: u8, count: i64) -> Outcome {
        let (forward, back, stops) = match code {
            0 => (op::FORWARD_BLOCKS, op::BACK_BLOCKS, general::END_OF_FILE),
            1 => (op::FORWARD_FILEMARKS, op::BACK_FILEMARKS, 0),
            3 => return self.command(op::END_OF_DATA, 1, general::END_OF_DATA),
            _ => return Ok(illegal_request(0x24)),
        };
        let Ok(distance) = i32::try_from(count.unsigned_abs()) else {
            return Ok(illegal_request(0x24));
        };
        match count {
            0 => Ok(Completion::good(0)),
            1.. => self.command(forward, distance, stops | general::END_OF_DATA),
            _ => self.command(back, distance, general::BEGIN_OF_TAPE),
        }
    }

    /// MODE SELECT(6) of a block descriptor: the block length is all the driver lets us set.
    fn mode_select(&mut self, parameters: &[u8]) -> Outcome {
        let Some(descriptor) = parameters.get(4..12) else {
            return Ok(illegal_request(0x1a));
        };
        if parameters.len() > 12 || parameters[3] != 8 {
            return Ok(illegal_request(0x26));
        }
        self.mode_length = u32::from_be_bytes([0, descriptor[5], descriptor[6], descriptor[7]]);
        Ok(match self.set_driver_length(self.mode_length)? {
            Some(refused) => refused,
            None => Completion::good(parameters.len()),
        })
    }

    /// Makes the driver work with blocks of this length; `Some` is its refusal.
    fn set_driver_length(&mut self, length: u32) -> Result<Option<Completion>, TransportError> {
        if length == self.driver_length {
            return Ok(None);
        }
        match self.operate(op::SET_BLOCK_LENGTH, length as i32)? {
            Ok(()) => {
                self.driver_length = length;
                Ok(None)
            }
            Err(Errno::INVAL) => Ok(Some(illegal_request(0x26))),
            Err(errno) => self.explain(errno, 0, 0).map(Some),
        }
    }

    /// Prepares the driver for READ(6) or WRITE(6); `Ok(Err)` is a refusal.
    fn prepare(
        &mut self,
        cdb: &[u8],
        room: usize,
    ) -> Result<Result<Transfer, Completion>, TransportError> {
        let fixed = bit(cdb[1], 0);
        let count = u32::from_be_bytes([0, cdb[2], cdb[3], cdb[4]]) as usize;
        let length = if fixed { self.mode_length } else { 0 };
        if fixed && length == 0 {
            return Ok(Err(illegal_request(0x24)));
        }
        if let Some(refused) = self.set_driver_length(length)? {
            return Ok(Err(refused));
        }
        let bytes = count * length.max(1) as usize;
        if bytes > room {
            return Err(TransportError::Unsupported {
                device: self.name.clone(),
                what: format!("a transfer of {bytes} bytes with a buffer of {room}"),
            });
        }
        Ok(Ok(Transfer {
            block: length.max(1) as usize,
            is_fixed: fixed,
            silent_length: !fixed && bit(cdb[1], 1),
            bytes,
        }))
    }

    fn read(&mut self, cdb: &[u8], buffer: &mut [u8]) -> Outcome {
        let transfer = match self.prepare(cdb, buffer.len())? {
            Ok(transfer) => transfer,
            Err(refused) => return Ok(refused),
        };
        let wanted = &mut buffer[..transfer.bytes];
        let mut got = 0;
        while got < wanted.len() {
            let file = self.file()?;
            // A signal interrupts the driver before it moves the tape only.
            match retry_on_intr(|| rustix::io::read(file, &mut wanted[got..])) {
                Ok(0) => {
                    let at_end = self.state()?.general & general::END_OF_DATA != 0;
                    let sense = if at_end {
                        Sense::END_OF_DATA
                    } else {
                        Sense::FILEMARK
                    };
                    return Ok(sense.completion_with(got, transfer.left(got)));
                }
                Ok(bytes) => got += bytes,
                // The block is longer than the buffer; the driver has passed it and tells no length.
                Err(Errno::NOMEM) => return Ok(Sense::INCORRECT_LENGTH.completion(0)),
                Err(errno) => return self.explain(errno, got, general::END_OF_DATA),
            }
            if !transfer.is_fixed {
                break;
            }
        }
        if got < wanted.len() && !transfer.silent_length {
            return Ok(Sense::INCORRECT_LENGTH.completion_with(got, transfer.left(got)));
        }
        Ok(Completion::good(got))
    }

    fn write(&mut self, cdb: &[u8], data: &[u8]) -> Outcome {
        let transfer = match self.prepare(cdb, data.len())? {
            Ok(transfer) => transfer,
            Err(refused) => return Ok(refused),
        };
        if transfer.bytes == 0 {
            return Ok(Completion::good(0));
        }
        let data = &data[..transfer.bytes];
        let write = |file: &File| retry_on_intr(|| rustix::io::write(file, data));
        let written = match write(self.file()?) {
            // Behind early warning every second write is refused, as a reminder, and may be repeated.
            Err(Errno::NOSPC) => write(self.file()?),
            other => other,
        };
        match written {
            Ok(bytes) if bytes < data.len() => {
                Ok(Sense::VOLUME_OVERFLOW.completion_with(bytes, transfer.left(bytes)))
            }
            Ok(bytes) if self.state()?.general & general::END_OF_TAPE != 0 => {
                Ok(Sense::END_OF_MEDIUM.completion_with(bytes, 0))
            }
            Ok(bytes) => Ok(Completion::good(bytes)),
            Err(errno) => self.explain(errno, 0, 0),
        }
    }
}

/// What READ(6) or WRITE(6) asks for.
struct Transfer {
    /// Bytes of a block in fixed mode, 1 in variable.
    block: usize,
    is_fixed: bool,
    /// A block of another length is no news (SILI).
    silent_length: bool,
    bytes: usize,
}

impl Transfer {
    /// What INFORMATION says when only `done` bytes were moved: blocks in fixed mode, else bytes.
    fn left(&self, done: usize) -> i32 {
        ((self.bytes - done) / self.block) as i32
    }
}

/// A GOOD answer, as much of it as there is room for.
fn fill(buffer: &mut [u8], answer: &[u8]) -> Completion {
    let length = answer.len().min(buffer.len());
    buffer[..length].copy_from_slice(&answer[..length]);
    Completion::good(length)
}

impl Transport for St {
    fn name(&self) -> &str {
        &self.name
    }

    fn execute(&mut self, cdb: &Cdb, data: Data<'_>, _: Duration) -> Outcome {
        let bytes = cdb.bytes();
        let number = |range: std::ops::Range<usize>| {
            bytes[range]
                .iter()
                .fold(0u64, |number, byte| number << 8 | u64::from(*byte))
        };
        match (cdb.opcode(), data) {
            (0x00, Data::None) => self.test_unit_ready(),
            (0x01, Data::None) => self.command(op::REWIND, 1, 0),
            (0x08, Data::In(buffer)) => self.read(bytes, buffer),
            (0x0a, Data::Out(data)) => self.write(bytes, data),
            // Setmarks (WSMK) are none of LTO's.
            (0x10, Data::None) if bit(bytes[1], 1) => Ok(illegal_request(0x24)),
            (0x10, Data::None) if bit(bytes[1], 0) => {
                self.command(op::WRITE_FILEMARKS_LATER, number(2..5) as i32, 0)
            }
            (0x10, Data::None) => self.command(op::WRITE_FILEMARKS, number(2..5) as i32, 0),
            (0x11, Data::None) => {
                // 24 bits in two's complement.
                let count = i32::from_be_bytes([bytes[2], bytes[3], bytes[4], 0]) >> 8;
                self.space(bytes[1] & 0x07, i64::from(count))
            }
            (0x12, Data::In(buffer)) => self.inquiry(bytes, buffer),
            (0x15, Data::Out(parameters)) => self.mode_select(parameters),
            (0x1b, Data::None) if bit(bytes[4], 0) => self.command(op::LOAD, 1, 0),
            (0x1b, Data::None) => self.command(op::UNLOAD, 1, 0),
            (0x1e, Data::None) if bit(bytes[4], 0) => self.command(op::LOCK, 1, 0),
            (0x1e, Data::None) => self.command(op::UNLOCK, 1, 0),
            (0x2b, Data::None) => self.locate(bit(bytes[1], 1), bytes[8], number(3..7)),
            (0x34, Data::In(buffer)) => self.read_position(bytes, buffer),
            // Of LOCATE(16) only the logical object (DEST_TYPE 0).
            (0x92, Data::None) if bytes[1] & 0x38 == 0 => {
                self.locate(bit(bytes[1], 1), bytes[3], number(4..12))
            }
            (0x92, Data::None) => Ok(illegal_request(0x24)),
            _ => Ok(not_by_driver()),
        }
    }

    fn closes_with_filemark(&self) -> bool {
        true
    }

    fn now(&self) -> Duration {
        self.opened.elapsed()
    }

    fn wait(&mut self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn the_structures_have_the_sizes_of_the_kernels() {
        assert_eq!(size_of::<Operation>(), 8);
        assert_eq!(size_of::<State>(), 48);
        assert_eq!(size_of::<Position>(), 8);
    }

    #[test]
    fn a_file_that_is_no_tape_is_refused() {
        let error = St::open(Path::new("/dev/null")).expect_err("no tape");
        assert!(error.to_string().contains("not a SCSI tape"), "{error}");
    }
}
