//! Carries out plans on a drive: measurements and recalls, with the event log written as they go.
//!
//! A [`Recorder`] is a drive whose every action is timed and written to the event log.
//! [`carry_on`] takes the steps of a plan and hands every block on; [`measure`] makes steps that
//! tell how fast the drive is.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use tapewise_emulator::{Clock, Library};
//! use tapewise_formats::event::Event;
//! use tapewise_run::{READY_LIMIT, Recorder};
//! use tapewise_scsi::TapeDrive;
//!
//! let directory = tempfile::tempdir()?;
//! let library = Library::fresh_drive("lto8", 1, &directory.path().join("d"), Clock::virtual_time())?;
//! let mut drive = TapeDrive::open(Box::new(library.transport_to_drive(0)?))?;
//! drive.wait_until_ready(READY_LIMIT)?;
//! let (mut log, stop): (Vec<Event>, _) = (Vec::new(), AtomicBool::new(false));
//! let mut recorder = Recorder::new(&mut drive, &mut log, &stop);
//! let took = recorder.rewind()?;
//! println!("rewound in {took}");
//! assert_eq!(log.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod accept;
mod buffer;
mod carry_out;
pub mod check;
mod error;
mod facts;
pub mod measure;
mod probe_map;
mod recorder;
mod step;
mod wear;
mod wrap_ends;

pub use buffer::Buffer;
pub use carry_out::{Report, Sink, Unread, carry_on};
pub use error::RunError;
pub use facts::{
    CartridgeFacts, DriveLife, Heed, Notice, Rated, alerts, barcode, optional, partitions,
    profile_of_density,
};
pub use probe_map::probe_map;
pub use recorder::{Item, Log, Met, NoLog, READY_LIMIT, ReadRun, Recorder, Source};
pub use step::{Piece, Step, steps};
pub use wear::Odometer;
pub use wrap_ends::wrap_ends;
