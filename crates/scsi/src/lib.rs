//! SCSI commands for tape drives and changers as (CDB, decoded answer), and the transports that carry them.
//!
//! A command is a value: it makes its [`Cdb`], says how long it may take, and decodes its answer.
//! A [`Transport`] carries it to a device: the kernel's SG_IO, Linux's own tape driver, iSCSI in
//! user space, a recording, or the emulator. Nothing here knows of models or orders.

mod cdb;
mod command;
pub mod commands;
pub mod device;
mod error;
mod sense;
mod transport;
pub mod transports;

pub use cdb::Cdb;
pub use command::{Command, Direction};
pub use error::{DecodeError, ScsiError};
pub use sense::{Sense, SenseKey};
pub use transport::{Completion, Data, SenseBytes, Status, Transport, TransportError};
