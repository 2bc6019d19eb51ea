//! LOAD UNLOAD (1Bh): threads the tape, or rewinds and unthreads it (SSC-5, 7.4).

use super::timeouts;
use crate::cdb::Cdb;
use crate::command::Command;
use crate::decode_error::DecodeError;
use std::time::Duration;

/// Loads or unloads the cartridge that is in the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadUnload {
    /// Load; else unload.
    pub load: bool,
    /// Keep the cartridge in the drive, unthreaded, with its memory readable (HOLD).
    pub hold: bool,
    /// Answer as soon as the command is understood (IMMED).
    pub immediate: bool,
}

impl LoadUnload {
    /// Loads and waits for it.
    pub const LOAD: LoadUnload = LoadUnload {
        load: true,
        hold: false,
        immediate: false,
    };

    /// Unloads and waits for it.
    pub const UNLOAD: LoadUnload = LoadUnload {
        load: false,
        hold: false,
        immediate: false,
    };
}

impl Command for LoadUnload {
    type Answer = ();

    fn name(&self) -> &'static str {
        if self.load { "LOAD" } else { "UNLOAD" }
    }

    fn cdb(&self) -> Cdb {
        let how = u8::from(self.hold) << 3 | u8::from(self.load);
        Cdb::new([0x1b, u8::from(self.immediate), 0, 0, how, 0])
    }

    fn timeout(&self) -> Duration {
        timeouts::LOAD_UNLOAD
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}
