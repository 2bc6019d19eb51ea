//! The wear that a log says a cartridge has had.

use tapewise_formats::event::{Action, Event, Spot};
use tapewise_model::{BlockMap, Geometry, Wear};

/// Adds up the wear of events, all of one cartridge.
#[derive(Debug)]
pub struct Odometer<'a> {
    geometry: &'a Geometry,
    map: Option<&'a BlockMap>,
    /// What has been added up.
    pub wear: Wear,
    /// Moves whose way is not known: neither does the log say where they led nor does the map.
    pub unknown: u64,
}

impl<'a> Odometer<'a> {
    /// Begins at nothing. The map places blocks where the drive did not say where they are.
    pub fn new(geometry: &'a Geometry, map: Option<&'a BlockMap>) -> Odometer<'a> {
        Odometer {
            geometry,
            map,
            wear: Wear::default(),
            unknown: 0,
        }
    }

    /// Counts an event.
    pub fn add(&mut self, event: &Event) {
        let streaming = match event.action {
            Action::Fetch | Action::Return | Action::Pause => return,
            Action::Mount => {
                self.wear.loads += 1;
                return;
            }
            Action::Locate | Action::Rewind | Action::Unmount => false,
            Action::Read | Action::ReadThrough | Action::Write | Action::WriteFilemarks => true,
        };
        let beginning = (0, self.geometry.lpos_min);
        let from = event.from.and_then(|spot| self.place(&spot));
        // An unmount rewinds: where a drive can do without, the log says where it went.
        let to = match (event.action, event.to) {
            (Action::Unmount | Action::Rewind, None) => Some(beginning),
            (_, to) => to.and_then(|spot| self.place(&spot)),
        };
        match (from, to) {
            (Some(from), Some(to)) => self.wear.distance_lpos += self.way(from, to, streaming),
            _ => self.unknown += 1,
        }
    }

    fn place(&self, spot: &Spot) -> Option<(u16, u32)> {
        if let (Some(wrap), Some(lpos)) = (spot.wrap, spot.lpos) {
            return Some((wrap, lpos));
        }
        let block = spot.block?;
        if spot.partition == 0 && block == 0 {
            return Some((0, self.geometry.lpos_min));
        }
        let position = self.map?.position(spot.partition, block).ok()?;
        Some((position.wrap, position.lpos))
    }

    fn way(&self, from: (u16, u32), to: (u16, u32), streaming: bool) -> u64 {
        if streaming {
            self.geometry.streamed_lpos(from, to)
        } else {
            u64::from(from.1.abs_diff(to.1))
        }
    }
}
