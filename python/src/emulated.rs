//! An emulated drive with a written cartridge in it, for experiments: its mechanics are not the models that predict.

use crate::arguments::input_error;
use crate::attention::guarded;
use crate::errors::TapewiseError;
use pyo3::prelude::*;
use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tapewise::formats::event::{Action, Event, Spot};
use tapewise::formats::event_log::{Device, EventWriter, Header};
use tapewise::model::Micros;
use tapewise_emulator::{CartridgeSpec, Clock, DriveKind, Library, LibrarySpec, Variation};
use tapewise_scsi::TapeDrive;

/// Longer than any drive takes to load.
const READY: Duration = Duration::from_secs(3 * 3600);
/// Bytes of a block as stored; each stands for many on the tape.
const STORED: u64 = 64;
/// How much of the smallest cartridge of a kind is written.
const FULL: (u64, u64) = (97, 100);

/// The drive, and what it did.
#[pyclass(module = "tapewise", frozen)]
pub struct Drive {
    state: Mutex<State>,
    block_bytes: u64,
    blocks: u64,
}

struct State {
    drive: TapeDrive,
    head: Spot,
    events: Vec<Event>,
    header: Header,
}

#[pymethods]
impl Drive {
    /// A drive of a kind, with a full cartridge of that many blocks, on a clock that moves by what is done alone.
    #[new]
    fn new(
        py: Python<'_>,
        kind: &str,
        seed: u64,
        blocks: u64,
        mechanics: Option<u64>,
    ) -> PyResult<Drive> {
        let known = DriveKind::find(kind)
            .ok_or_else(|| input_error(format!("there is no emulated drive \"{kind}\"")))?;
        let scale = known.capacity_bytes() * FULL.0 / FULL.1 / (blocks.max(1) * STORED);
        if blocks == 0 || scale == 0 {
            return Err(input_error(format!(
                "a cartridge of {blocks} blocks cannot be made"
            )));
        }
        let made = guarded(py, || loaded(kind, seed, blocks, scale, mechanics));
        Ok(Drive {
            state: Mutex::new(made?.map_err(|error| TapewiseError::new_err(error.to_string()))?),
            block_bytes: scale * STORED,
            blocks,
        })
    }

    /// How many bytes of tape a block takes.
    #[getter]
    fn block_bytes(&self) -> u64 {
        self.block_bytes
    }

    /// Blocks on the cartridge.
    #[getter]
    fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Seconds since the drive was made.
    #[getter]
    fn now_s(&self) -> f64 {
        self.state().drive.now().as_secs_f64()
    }

    /// The drive's table of wrap ends, if it has one: wrap, partition, block.
    fn wrap_ends(&self, py: Python<'_>) -> PyResult<Option<Vec<(u16, u16, u64)>>> {
        let table = self.does(py, |state| state.drive.end_of_wrap_table().map_err(words))?;
        let entry = |end: tapewise_scsi::commands::EndOfWrap| (end.wrap, end.partition, end.block);
        Ok(table.map(|table| table.into_iter().map(entry).collect()))
    }

    /// Goes to a block; the seconds it took.
    fn locate(&self, py: Python<'_>, block: u64) -> PyResult<f64> {
        self.does(py, |state| {
            state.timed(Action::Locate, 0, |drive| {
                drive.locate(0, block).map_err(words)
            })
        })
    }

    /// Goes to the beginning of tape; the seconds it took.
    fn rewind(&self, py: Python<'_>) -> PyResult<f64> {
        self.does(py, |state| {
            state.timed(Action::Rewind, 0, |drive| drive.rewind().map_err(words))
        })
    }

    /// Reads blocks; the seconds it took.
    fn read(&self, py: Python<'_>, blocks: u64) -> PyResult<f64> {
        self.does(py, |state| {
            state.timed(Action::Read, blocks, |drive| {
                let mut block = [0; STORED as usize];
                (0..blocks).try_for_each(|_| drive.read(&mut block).map(|_| ()).map_err(words))
            })
        })
    }

    /// Where the head is: block, wrap, LPOS.
    fn position(&self) -> (u64, Option<u16>, Option<u32>) {
        let head = self.state().head;
        (head.block.unwrap_or_default(), head.wrap, head.lpos)
    }

    /// What the drive did, as an event log.
    fn log(&self) -> PyResult<Vec<u8>> {
        let state = self.state();
        let mut log = Vec::new();
        let mut writer = EventWriter::new(&mut log, &state.header)?;
        state
            .events
            .iter()
            .try_for_each(|event| writer.write(event))?;
        Ok(log)
    }
}

impl Drive {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn does<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut State) -> Result<T, String> + Send,
    ) -> PyResult<T> {
        guarded(py, || work(&mut self.state()))?.map_err(TapewiseError::new_err)
    }
}

fn words(error: impl Display) -> String {
    error.to_string()
}

impl State {
    /// Does something, and writes it down with the places before and after.
    fn timed(
        &mut self,
        action: Action,
        blocks: u64,
        work: impl FnOnce(&mut TapeDrive) -> Result<(), String>,
    ) -> Result<f64, String> {
        let at = micros(self.drive.now());
        work(&mut self.drive)?;
        let took = micros(self.drive.now()) - at;
        let from = std::mem::replace(&mut self.head, place(&mut self.drive)?);
        self.events.push(Event {
            from: Some(from),
            to: Some(self.head),
            blocks,
            bytes: blocks * STORED,
            ..Event::new(action, at, took)
        });
        Ok(took.as_secs_f64())
    }
}

fn micros(time: Duration) -> Micros {
    Micros(time.as_micros() as i64)
}

fn place(drive: &mut TapeDrive) -> Result<Spot, String> {
    let logical = drive.position().map_err(words)?;
    let told = drive.physical_position().map_err(words)?;
    Ok(Spot {
        partition: logical.partition,
        block: Some(logical.block),
        wrap: told.as_ref().and_then(|told| told.wrap),
        lpos: told.as_ref().map(|told| told.lpos),
    })
}

fn loaded(
    kind: &str,
    seed: u64,
    blocks: u64,
    scale: u64,
    mechanics: Option<u64>,
) -> Result<State, Box<dyn std::error::Error + Send + Sync>> {
    let directory = tempfile::Builder::new()
        .prefix("tapewise-emulated-")
        .tempdir()?;
    let mut spec = LibrarySpec::one_drive(kind, seed);
    spec.variation = Variation {
        perturbed: mechanics,
        ..Variation::default()
    };
    spec.cartridges = vec![CartridgeSpec {
        scale,
        ..CartridgeSpec::numbered(kind, seed, 1)
    }];
    let barcode = spec.cartridges[0].barcode.clone();
    let library = Library::create(directory.path(), &spec, Clock::virtual_time())?;
    let mut recorder = library.recorder(&barcode)?;
    for _ in 0..blocks {
        recorder.made_up(0, STORED)?;
    }
    recorder.finish()?;
    library.load_cartridge(&barcode)?;
    let library = library.owning(directory);
    let mut drive = TapeDrive::open(Box::new(library.transport_to_drive(0)?))?;
    drive.wait_until_ready(READY)?;
    let identity = drive.identity();
    let header = Header {
        seed: Some(seed),
        device: Some(Device {
            vendor: identity.vendor.clone(),
            product: identity.product.clone(),
            revision: identity.revision.clone(),
            serial: identity.serial.clone(),
        }),
        cartridge: Some(barcode),
        profile: Some(kind.to_owned()),
        emulated: true,
        byte_scale: Some(scale),
        ..Header::new(concat!("tapewise ", env!("CARGO_PKG_VERSION"), ", python"))
    };
    let head = place(&mut drive)?;
    Ok(State {
        drive,
        head,
        events: Vec::new(),
        header,
    })
}

/// What the emulator can be asked for by name.
#[pyfunction]
pub fn emulated_kinds() -> Vec<String> {
    DriveKind::names().map(str::to_owned).collect()
}
