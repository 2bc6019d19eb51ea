//! Elements of a library and their numbers.

use std::ops::Range;

/// What an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// The robot's hand.
    Robot,
    /// A storage slot, counted from 0.
    Slot(u16),
    /// A place of the import/export station, counted from 0.
    Station(u16),
    /// A drive, counted from 0.
    Drive(u16),
}

/// How the elements of a library are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    /// Storage slots.
    pub slots: u16,
    /// Places of the import/export station.
    pub stations: u16,
    /// Drives.
    pub drives: u16,
}

const ROBOT: u16 = 0x0001;
const FIRST_DRIVE: u16 = 0x0101;
const FIRST_STATION: u16 = 0x0301;
const FIRST_SLOT: u16 = 0x0401;

/// Element type codes, in the order in which the changer reports them.
pub(crate) const TYPES: [u8; 4] = [1, 4, 3, 2];

impl Elements {
    /// Most slots, stations and drives there are numbers for.
    pub const MOST: Elements = Elements {
        slots: 0xfbfe,
        stations: 0x0100,
        drives: 0x0200,
    };

    /// The address of an element.
    pub fn address(&self, element: Element) -> u16 {
        match element {
            Element::Robot => ROBOT,
            Element::Drive(number) => FIRST_DRIVE + number,
            Element::Station(number) => FIRST_STATION + number,
            Element::Slot(number) => FIRST_SLOT + number,
        }
    }

    /// The element at this address, if there is one.
    pub fn element(&self, address: u16) -> Option<Element> {
        TYPES.into_iter().find_map(|code| {
            let range = self.range(code);
            let number = address.wrapping_sub(range.start);
            range.contains(&address).then_some(match code {
                1 => Element::Robot,
                2 => Element::Slot(number),
                3 => Element::Station(number),
                _ => Element::Drive(number),
            })
        })
    }

    /// The addresses of an element type: 1 robot, 2 slots, 3 stations, 4 drives.
    pub(crate) fn range(&self, code: u8) -> Range<u16> {
        let (first, count) = match code {
            1 => (ROBOT, 1),
            2 => (FIRST_SLOT, self.slots),
            3 => (FIRST_STATION, self.stations),
            _ => (FIRST_DRIVE, self.drives),
        };
        first..first + count
    }
}
