//! Emulated drives to measure, each with a cartridge of its own, in a temporary directory and on a
//! virtual clock: what a real drive would take days for is done in seconds.

use crate::PaperError;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tapewise_emulator::{CartridgeSpec, Clock, Element, Library, LibrarySpec, Variation};
use tapewise_formats::event::Event;
use tapewise_model::Micros;
use tapewise_run::measure::{Robot, fill};
use tapewise_run::{NoLog, READY_LIMIT, Recorder, RunError};
use tapewise_scsi::{Changer, TapeDrive};
use tempfile::TempDir;

/// A drive with a cartridge in it, and the robot that put it there if there is one.
pub struct Emulated {
    drive: TapeDrive,
    changer: Option<Changer>,
    library: Library,
    _directory: TempDir,
}

/// What is in the drive: its kind, and what makes the cartridge differ from others.
#[derive(Clone, Copy, Debug)]
pub struct Loaded<'a> {
    /// Name of the kind of drive.
    pub kind: &'a str,
    /// Seed of the cartridge and of the drive's irregularities.
    pub seed: u64,
    /// Bytes on tape that a stored byte stands for.
    pub scale: u64,
}

/// Nobody interrupts a reproduction but by its process.
static NEVER: AtomicBool = AtomicBool::new(false);

impl Emulated {
    /// A drive of this kind, or one that varies from it, loaded by hand with a blank cartridge.
    pub fn alone(loaded: Loaded<'_>, variation: Variation) -> Result<Emulated, PaperError> {
        let spec = LibrarySpec {
            variation,
            ..LibrarySpec::one_drive(loaded.kind, loaded.seed)
        };
        Emulated::new(spec, loaded)
    }

    /// The same in a library with this robot and so many slots: the cartridge is fetched from the
    /// first.
    pub fn in_library(loaded: Loaded<'_>, robot: &str, slots: u16) -> Result<Emulated, PaperError> {
        let spec = LibrarySpec::with_robot(robot, loaded.kind, 1, slots, 1, loaded.seed);
        Emulated::new(spec, loaded)
    }

    fn new(mut spec: LibrarySpec, loaded: Loaded<'_>) -> Result<Emulated, PaperError> {
        spec.cartridges = vec![CartridgeSpec {
            scale: loaded.scale,
            ..CartridgeSpec::numbered(loaded.kind, loaded.seed, 1)
        }];
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("library");
        let library = Library::create(&path, &spec, Clock::virtual_time())?;
        let transport = library.transport_to_drive(0)?;
        let mut drive = TapeDrive::open(Box::new(transport))?;
        let mut changer = None;
        if spec.robot.is_some() {
            let transport = library.transport_to_changer()?;
            let mut robot = Changer::open(Box::new(transport))?;
            robot.wait_until_ready(Duration::from_secs(600))?;
            let elements = library.elements();
            let [slot, into] = [Element::Slot(0), Element::Drive(0)].map(|at| elements.address(at));
            robot.move_medium(slot, into)?;
            changer = Some(robot);
        } else {
            let barcode = &spec.cartridges[0].barcode;
            library.load_cartridge(barcode)?;
        }
        drive.wait_until_loaded(READY_LIMIT)?;
        Ok(Emulated {
            drive,
            changer,
            library,
            _directory: directory,
        })
    }

    /// Writes blocks of this many stored bytes until the cartridge is full: how many there are.
    pub fn fill(&mut self, block_bytes: usize, seed: u64) -> Result<u64, PaperError> {
        let filled =
            self.unrecorded(|recorder| fill(recorder, block_bytes, u64::MAX, seed, &mut |_| ()))?;
        Ok(filled.blocks)
    }

    /// Does something with the drive, and gives what was recorded of it.
    pub fn record<T>(
        &mut self,
        work: impl FnOnce(&mut Recorder<'_>) -> Result<T, RunError>,
    ) -> Result<(T, Vec<Event>), PaperError> {
        let mut events = Vec::new();
        let done = work(&mut Recorder::new(&mut self.drive, &mut events, &NEVER));
        Ok((done?, events))
    }

    /// Does something with the drive that is timed by whoever does it.
    pub fn unrecorded<T>(
        &mut self,
        work: impl FnOnce(&mut Recorder<'_>) -> Result<T, RunError>,
    ) -> Result<T, PaperError> {
        work(&mut Recorder::new(&mut self.drive, &mut NoLog, &NEVER)).map_err(PaperError::from)
    }

    /// Does something with drive and robot, and gives what was recorded of it.
    pub fn record_with_robot<T>(
        &mut self,
        work: impl FnOnce(&mut Recorder<'_>, Robot<'_>) -> Result<T, RunError>,
    ) -> Result<(T, Vec<Event>), PaperError> {
        let elements = self.library.elements();
        let none = || PaperError::from("the emulated library has no robot");
        let changer = self.changer.as_mut().ok_or_else(none)?;
        let robot = Robot {
            changer,
            drive: elements.address(Element::Drive(0)),
            slots: (0..elements.slots)
                .map(|slot| elements.address(Element::Slot(slot)))
                .collect(),
        };
        let mut events = Vec::new();
        let done = work(
            &mut Recorder::new(&mut self.drive, &mut events, &NEVER),
            robot,
        );
        Ok((done?, events))
    }
}

/// Goes to a block and reads it: what a seek is for, and what it takes.
pub fn seek(recorder: &mut Recorder<'_>, block: u64) -> Result<Micros, RunError> {
    let located = recorder.locate(0, block)?;
    let read = recorder.read(tapewise_formats::event::Action::Read, 1, &mut |_, _| Ok(()))?;
    Ok(located + read.took)
}
