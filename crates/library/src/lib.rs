//! What a library of drives and robots does without a catalogue: mount, clean, stress, bench.
//!
//! | module | what it knows |
//! |---|---|
//! | [`pool`] | which drive mounts which volume, and what happens when a drive, cartridge or robot fails |
//! | [`stress`] | mounts and dismounts without a pause |
//! | [`mod@bench`] | random retrievals, and how soon they are answered |
//!
//! ```
//! use tapewise_emulator::{Clock, Library, LibrarySpec};
//! use tapewise_formats::event::Event;
//! use tapewise_library::pool::Pool;
//! use tapewise_scsi::{Changer, TapeDrive};
//!
//! // An emulated library of two drives, twenty slots and three cartridges.
//! let directory = tempfile::tempdir()?;
//! let spec = LibrarySpec::with_robot("ibm3584", "lto8", 2, 20, 3, 1);
//! let library = Library::create(&directory.path().join("lib"), &spec, Clock::virtual_time())?;
//! let robot = Changer::open(Box::new(library.transport_to_changer()?))?;
//! let drives = (0..2)
//!     .map(|number| Ok(TapeDrive::open(Box::new(library.transport_to_drive(number)?))?))
//!     .collect::<Result<Vec<_>, Box<dyn std::error::Error>>>()?;
//!
//! let mut log: Vec<Event> = Vec::new();
//! let mut pool = Pool::new(drives, vec![robot], None, Box::new(|_| {}))?;
//! let drive = pool.mount("TW0002", &mut log)?;
//! println!("TW0002 is in drive {drive}: {:?}", pool.drive(drive).position()?);
//! pool.dismount(drive, &mut log)?;
//! assert!(!log.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod acceptance;
pub mod bench;
pub mod errand;
pub mod pool;
pub mod stress;
#[cfg(test)]
mod testing;
mod turns;
