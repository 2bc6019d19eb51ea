//! What a call answers, and why it failed.

use tapewise::{CartridgeError, PlaceError, SearchError};

/// What a call answers.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The call did what it was asked for.
    Ok = 0,
    /// The arguments are wrong: a null pointer, a number out of range, an array that is too small.
    Usage = 1,
    /// There is no such profile, or the profile knows too little of the drive.
    Profile = 2,
    /// The table of wrap ends, or a reported place, contradicts the cartridge.
    Map = 3,
    /// A request, the head or the end has no position on this cartridge.
    Position = 4,
    /// The objective or the order does not apply to this batch.
    Goal = 5,
    /// A defect of the library. The handle can only be freed.
    Internal = 6,
}

/// Why a call failed: the status, and a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Fault {
    /// What the call answers.
    pub status: Status,
    /// What went wrong, and where.
    pub text: String,
}

impl Fault {
    pub(crate) fn new(status: Status, text: impl Into<String>) -> Fault {
        let text = text.into();
        Fault { status, text }
    }

    pub(crate) fn usage(text: impl Into<String>) -> Fault {
        Fault::new(Status::Usage, text)
    }
}

impl From<CartridgeError> for Fault {
    fn from(error: CartridgeError) -> Fault {
        let status = match &error {
            CartridgeError::Table { .. }
            | CartridgeError::NoSuchWrap { .. }
            | CartridgeError::KeyPointsUnused { .. } => Status::Map,
            CartridgeError::BlockSizeUnknown => Status::Position,
            _ => Status::Profile,
        };
        Fault::new(status, error.to_string())
    }
}

impl From<PlaceError> for Fault {
    fn from(error: PlaceError) -> Fault {
        match error {
            PlaceError::Cartridge(error) => error.into(),
            PlaceError::UnloadUnknown { .. } => Fault::new(Status::Profile, error.to_string()),
            error => Fault::new(Status::Position, error.to_string()),
        }
    }
}

impl From<SearchError> for Fault {
    fn from(error: SearchError) -> Fault {
        Fault::new(Status::Goal, error.to_string())
    }
}
