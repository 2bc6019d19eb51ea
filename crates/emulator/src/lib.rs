//! Emulated tape drives, cartridges and robots with mechanics of their own, behind the SCSI transport.
//!
//! A [`Library`] lives in a directory: drives, cartridges whose data survives the process, a robot
//! or none. Its devices are reached through [`EmulatedTransport`]s and answer SCSI commands; what
//! they do takes time on a [`Clock`], virtual as a rule, by [`Mechanics`] that know nothing of the
//! models this project fits. [`Faults`] say what goes wrong.
//!
//! ```
//! use std::time::Duration;
//! use tapewise_emulator::{Clock, Library};
//! use tapewise_scsi::{Cdb, Data, Status, Transport};
//!
//! let directory = tempfile::tempdir()?;
//! let path = directory.path().join("lto8");
//! let library = Library::fresh_drive("lto8", 1, &path, Clock::virtual_time())?;
//! let mut drive = library.transport_to_drive(0)?;
//! let test_unit_ready = Cdb::new([0; 6]);
//! let mut ready = false;
//! while !ready {
//!     let done = drive.execute(&test_unit_ready, Data::None, Duration::from_secs(60))?;
//!     ready = done.status == Status::Good;
//!     drive.wait(Duration::from_secs(1));
//! }
//! assert!(drive.now() > Duration::from_secs(10));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attention;
mod changer;
mod check;
mod clock;
mod common_time;
mod drive;
mod elements;
mod error;
mod exchange;
mod faults;
mod files;
mod gzip;
mod inquiry;
pub mod iscsi;
mod kind;
mod library;
mod lock;
mod mechanics;
mod medium;
mod recorder;
mod robot;
mod robot_times;
mod shape;
mod shelf;
mod snapshot;
mod spec;
mod tape;
mod transport;
mod world;

pub use clock::Clock;
pub use elements::{Element, Elements};
pub use error::LibraryError;
pub use faults::{BadBlock, BrokenDrive, Faults};
pub use kind::{Compression, DriveKind, Family, Features, Identity, KindError, Life};
pub use library::Library;
pub use mechanics::{
    Helical, Loading, Mechanics, Mechanism, Motion, Near, Noise, ReadOn, Serpentine, Streaming,
    Stretch, Transport, Unloaded, Zones,
};
pub use medium::{CartridgeMemory, HostAttribute, Medium, MediumError, Object, Partition, made_up};
pub use recorder::Recorder;
pub use robot_times::RobotTimes;
pub use shape::{Landings, Shape, Spread};
pub use snapshot::{CommandDone, DriveSnapshot, Head, Snapshot};
pub use spec::{CartridgeSpec, DriveSpec, LibrarySpec, Variation};
pub use tape::{Spot, Tape, TapeError};
pub use transport::{EmulatedTransport, LibraryUnit};
