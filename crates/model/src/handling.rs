//! Mounting and unmounting: what a cartridge costs before and after the reads.

use crate::micros::Micros;
use crate::profile::{Profile, UnmountMidtape};

/// Where a cartridge may be taken out (Johnson & Miller 1998, sections 3.1 and 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmount {
    /// At the beginning of tape only: single-reel cartridges and most cassettes.
    Rewound,
    /// At the nearest of several system zones (Ampex DST 310).
    NearestZone,
    /// At the beginning of tape or at end of data, whichever is nearer (Sony DTF).
    NearerEnd,
}

/// Times around the reads of one mount.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handling {
    /// Cartridge in the drive until ready, where known.
    pub mount: Option<Micros>,
    /// Request until the cartridge can be taken, from the beginning of tape, where known.
    pub unmount: Option<Micros>,
    /// Where it may be taken out.
    pub unmount_at: Unmount,
    /// Mean time to unmount from the middle of the tape, where the drive can.
    pub unmount_midtape: Option<Micros>,
    /// What the first seek costs more after a mount of a tape that was not rewound.
    pub first_seek_not_rewound: Micros,
}

impl Handling {
    /// The time from the end of the last read until the cartridge can be taken, where known, if
    /// rewinding takes `rewind` and going to the end of data takes `to_end_of_data`.
    ///
    /// `rewind_first` asks for a rewind even where the drive could do without: on an Ampex that
    /// is faster on average, because the next first seek is 25 s shorter (section 5.3).
    pub fn finish(
        &self,
        rewind: Micros,
        to_end_of_data: Micros,
        rewind_first: bool,
    ) -> Option<Micros> {
        let unmount = self.unmount?;
        match (self.unmount_at, self.unmount_midtape) {
            (Unmount::NearestZone, Some(midtape)) if !rewind_first => Some(midtape),
            (Unmount::NearerEnd, _) if !rewind_first => Some(unmount + rewind.min(to_end_of_data)),
            _ => Some(unmount + rewind),
        }
    }
}

impl Profile {
    /// What the profile says of mounting and unmounting.
    pub fn mounting(&self) -> Handling {
        let seconds = |known: &crate::profile::Known<f64>| {
            known
                .as_ref()
                .map(|sourced| Micros::from_secs_f64(sourced.value))
        };
        let unmount_midtape = self.features.unmount_midtape.as_ref();
        let unmount_at = match unmount_midtape.map(|sourced| sourced.value) {
            Some(UnmountMidtape::Yes) => Unmount::NearestZone,
            Some(UnmountMidtape::Restricted) => Unmount::NearerEnd,
            Some(UnmountMidtape::No) | None => Unmount::Rewound,
        };
        let handling = &self.handling;
        Handling {
            mount: seconds(&handling.mount_s),
            unmount: seconds(&handling.unmount_s),
            unmount_at,
            unmount_midtape: seconds(&handling.unmount_midtape_s),
            first_seek_not_rewound: seconds(&handling.first_seek_not_rewound_s)
                .unwrap_or(Micros::ZERO),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ampex_unmounts_where_it_stands_and_a_sony_at_the_nearer_end() {
        let seconds = |s: i64| Micros(s * 1_000_000);
        let ampex = Handling {
            mount: None,
            unmount: Some(seconds(4)),
            unmount_at: Unmount::NearestZone,
            unmount_midtape: Some(seconds(12)),
            first_seek_not_rewound: seconds(25),
        };
        assert_eq!(
            ampex.finish(seconds(20), seconds(9), false),
            Some(seconds(12))
        );
        assert_eq!(
            ampex.finish(seconds(20), seconds(9), true),
            Some(seconds(24))
        );
        let sony = Handling {
            unmount_at: Unmount::NearerEnd,
            ..ampex
        };
        assert_eq!(
            sony.finish(seconds(20), seconds(9), false),
            Some(seconds(13))
        );
    }
}
