//! Emulated tape drives, cartridges and robots with mechanics of their own, behind the SCSI transport.

mod clock;
mod kind;
mod mechanics;
mod robot_times;
mod tape;

pub use clock::Clock;
pub use kind::{
    Compression, DriveKind, Family, Identity, Landings, Life, Shape, Spread, Transport,
};
pub use mechanics::{
    Helical, Loading, Mechanics, Motion, Near, Noise, ReadOn, Serpentine, Streaming, Stretch,
    Unloaded, Zones,
};
pub use robot_times::RobotTimes;
pub use tape::{Spot, Tape, TapeError};
