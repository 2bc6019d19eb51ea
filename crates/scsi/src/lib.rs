//! SCSI commands for tape drives and changers as (CDB, decoded answer), and the transports that carry them.
//!
//! A command is a value: it makes its [`Cdb`], says how long it may take, and decodes its answer.
//! A [`Transport`] carries it to a device: the kernel's SG_IO, Linux's own tape driver, iSCSI in
//! user space, a recording, or the emulator. Nothing here knows of models or orders.
//!
//! ```no_run
//! use tapewise_scsi::TapeDrive;
//! use tapewise_scsi::device::Host;
//!
//! let device = Host::local().open("/dev/sg3")?;
//! let mut drive = TapeDrive::open(device.transport)?;
//! println!("{} {}", drive.identity().vendor, drive.identity().product);
//! let place = drive.position()?;
//! println!("the head is at block {} of partition {}", place.block, place.partition);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(target_os = "linux")]
pub mod access;
mod bytes;
mod cdb;
mod changer;
mod command;
pub mod commands;
mod decode_error;
pub mod device;
mod device_kind;
mod drive;
mod error;
pub mod hex;
mod holder;
pub mod holders;
mod identity;
mod lease_key;
pub mod question;
mod ready;
mod report;
mod reservation_key;
mod reservation_type;
mod sense;
mod transport;
pub mod transports;

pub use cdb::Cdb;
pub use changer::{Changer, Inventory};
pub use command::{Command, Direction};
pub use decode_error::DecodeError;
pub use drive::{
    Exclusivity, Fenced, LogicalPosition, Permit, PhysicalPosition, PositionSource, Registrations,
    Reserved, SpaceOutcome, TapeDrive,
};
pub use error::ScsiError;
pub use holder::Owner;
pub use identity::Identity;
pub use lease_key::LeaseKey;
pub use report::{Describe, Line, Report};
pub use sense::{Attention, Condition, DeviceSense, NotReady, Sense, SenseKey, Specific, words};
pub use transport::{Completion, Data, SenseBytes, Status, Transport, TransportError};
