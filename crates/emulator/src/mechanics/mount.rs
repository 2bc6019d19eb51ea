//! How a drive takes a cartridge in and gives it out.

use serde::Deserialize;

/// Loading and unloading.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loading {
    /// Cartridge in the drive until ready, in seconds.
    pub mount_s: f64,
    /// Tape at its beginning until the cartridge can be taken, in seconds.
    pub unmount_s: f64,
    /// Standard deviation of both, as a share.
    pub sd: f64,
    /// Where a cartridge may be taken out away from the beginning of tape.
    pub zones: Option<Zones>,
}

/// The system zones of an Ampex: places without data at which a cartridge may be taken out.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zones {
    /// Zones along the tape, evenly spread, the first at its beginning.
    pub count: u16,
    /// Beyond the unmount itself: until the tape moves to the zone, in seconds.
    pub start_s: f64,
    /// A zone ahead is overrun and come back to, in seconds more.
    pub ahead_s: f64,
}
