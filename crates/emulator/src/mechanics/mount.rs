//! How a drive takes a cartridge in and gives it out.

use crate::kind::catalogue::Entry;
use crate::kind::number;
use tapewise_model::Profile;

/// Loading and unloading.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zones {
    /// Zones along the tape, evenly spread, the first at its beginning.
    pub count: u16,
    /// Beyond the unmount itself: until the tape moves to the zone, in seconds.
    pub start_s: f64,
    /// A zone ahead is overrun and come back to, in seconds more.
    pub ahead_s: f64,
}

/// Mount time of LTO-2 to LTO-4, which is not published: that of an LTO-7.
const MOUNT_S: f64 = 15.0;
/// The same for unmounting.
const UNMOUNT_S: f64 = 20.0;

/// "The coefficient of variation was .1 or less" (Johnson & Miller 1998, section 5.3); assumed well
/// below, since they call the times nearly deterministic.
const SD: f64 = 0.02;

impl Loading {
    pub(crate) fn of(profile: &Profile, entry: &Entry) -> Loading {
        let handling = &profile.handling;
        let unmount_s = number(&handling.unmount_s).unwrap_or(UNMOUNT_S);
        let zones = number(&handling.unmount_midtape_s)
            .map(|mean_s| Zones::of(mean_s - unmount_s, profile));
        Loading {
            mount_s: entry
                .mount_s
                .or(number(&handling.mount_s))
                .unwrap_or(MOUNT_S),
            unmount_s,
            sd: SD,
            zones,
        }
    }
}

impl Zones {
    /// Zones that make the mean of unmounting `beyond_s` longer than at the beginning of tape.
    ///
    /// Published are the mean, the spread and the two lines 6 s apart (section 5.3, Figure 1). Half
    /// of all places have their nearest zone ahead, which makes the lines; eight zones, so that the
    /// distance itself adds little spread, are assumed.
    fn of(beyond_s: f64, profile: &Profile) -> Zones {
        let (count, ahead_s) = (8, 6.0);
        let full_s = number(&profile.seek.full_s).unwrap_or(0.0);
        let mean_way_s = full_s / f64::from(count) / 4.0;
        Zones {
            count,
            start_s: beyond_s - ahead_s / 2.0 - mean_way_s,
            ahead_s,
        }
    }
}
