//! Where cartridges are, and moving them (MOVE MEDIUM, EXCHANGE MEDIUM, POSITION TO ELEMENT).

use super::elements::Element;
use crate::check::Check;
use crate::exchange::{Exchange, Stop};
use crate::faults::RobotFault;
use crate::robot_times::RobotTimes;
use crate::world::World;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tapewise_model::{Micros, Random, profile};

/// A cartridge in an element.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Held {
    pub barcode: String,
    /// The slot or station it came from.
    pub source: Option<u16>,
}

/// Which element holds which cartridge. A cartridge that is nowhere lies outside of the library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shelf(BTreeMap<u16, Held>);

/// A line of the state file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    element: u16,
    barcode: String,
    source: Option<u16>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Places {
    #[serde(default)]
    place: Vec<Place>,
}

impl Shelf {
    /// What this element holds.
    pub fn at(&self, element: u16) -> Option<&Held> {
        self.0.get(&element)
    }

    /// Where this cartridge is.
    pub fn element_of(&self, barcode: &str) -> Option<u16> {
        let mut places = self.0.iter();
        places.find_map(|(&element, held)| (held.barcode == barcode).then_some(element))
    }

    /// Puts a cartridge into an element.
    pub fn put(&mut self, element: u16, held: Held) {
        self.0.insert(element, held);
    }

    /// Takes what an element holds.
    pub fn take(&mut self, element: u16) -> Option<Held> {
        self.0.remove(&element)
    }

    /// The text of the state file.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        let place = |(&element, held): (&u16, &Held)| Place {
            element,
            barcode: held.barcode.clone(),
            source: held.source,
        };
        toml::to_string(&Places {
            place: self.0.iter().map(place).collect(),
        })
    }

    /// Reads the text of the state file.
    pub fn from_toml(text: &str) -> Result<Shelf, toml::de::Error> {
        let places: Places = toml::from_str(text)?;
        let held = |place: Place| {
            let Place {
                element,
                barcode,
                source,
            } = place;
            (element, Held { barcode, source })
        };
        Ok(Shelf(places.place.into_iter().map(held).collect()))
    }
}

/// The robot's pace.
pub(crate) struct Robot {
    times: RobotTimes,
    inventory: Micros,
    random: Random,
}

/// An inventory of one frame, where the profile does not say; assumed.
const INVENTORY_S: f64 = 60.0;

impl Robot {
    /// The robot of a library's profile, if there is one.
    pub fn find(name: &str, seed: u64) -> Option<Robot> {
        let profile = profile::find(name).ok()?;
        let inventory_s = profile.robot.inventory_s.as_ref().map(|known| known.value);
        Some(Robot {
            times: RobotTimes::of(&profile)?,
            inventory: Micros::from_secs_f64(inventory_s.unwrap_or(INVENTORY_S)),
            random: Random::new(seed, 0),
        })
    }

    /// From one element to another. Published are the ways between shelf and drive; another way is
    /// taken to be half of one and half of the other.
    fn carry(&mut self, from: Element, to: Element) -> Micros {
        match (from, to) {
            (Element::Drive(_), Element::Drive(_)) => self.half_of_each(0),
            (from, Element::Drive(_)) => self.times.fetch(slot(from), &mut self.random),
            (Element::Drive(_), to) => self.times.put_back(slot(to), &mut self.random),
            (_, to) => self.half_of_each(slot(to)),
        }
    }

    fn half_of_each(&mut self, slot: u32) -> Micros {
        let fetch = self.times.fetch(slot, &mut self.random);
        let put_back = self.times.put_back(slot, &mut self.random);
        Micros((fetch.0 + put_back.0) / 2)
    }

    /// Without a cartridge: half of a fetch, assumed.
    fn travel(&mut self, to: Element) -> Micros {
        Micros(self.times.fetch(slot(to), &mut self.random).0 / 2)
    }
}

/// The slot whose place along the library stands for an element's: stations and drives are taken to
/// stand where the slots begin.
fn slot(element: Element) -> u32 {
    match element {
        Element::Slot(number) => u32::from(number),
        _ => 0,
    }
}

/// INITIALIZE ELEMENT STATUS: the robot looks at every label.
pub(super) fn initialize(world: &mut World, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    exchange.spend(world.robot()?.inventory);
    Ok(())
}

/// INITIALIZE ELEMENT STATUS WITH RANGE: of some elements only, when bit RANGE is set.
pub(super) fn initialize_range(world: &mut World, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let whole = world.robot()?.inventory;
    if !exchange.bit(1, 0) {
        exchange.spend(whole);
        return Ok(());
    }
    let count = exchange.number::<2>(6) as i64;
    place(world, exchange.number::<2>(2) as u16)?;
    let all = i64::from(world.elements().slots.max(1));
    exchange.spend(Micros(whole.0 * count.min(all) / all));
    Ok(())
}

/// POSITION TO ELEMENT (SMC-3, 6.9).
pub(super) fn position_to(world: &mut World, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    transport(world, exchange)?;
    let element = place(world, exchange.number::<2>(4) as u16)?;
    let time = world.robot()?.travel(element);
    exchange.spend(time);
    Ok(())
}

/// MOVE MEDIUM (SMC-3, 6.6).
pub(super) fn move_medium(world: &mut World, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    transport(world, exchange)?;
    let from = exchange.number::<2>(4) as u16;
    let to = exchange.number::<2>(6) as u16;
    if exchange.bit(10, 0) {
        return Err(Check::invalid_cdb_bits(10, 0).into());
    }
    movable(world, from, to, from)?;
    let held = take(world, exchange, from)?;
    put(world, exchange, from, to, held)
}

/// EXCHANGE MEDIUM (SMC-3, 6.3): from the source to the first destination, and what was there to
/// the second, which may be the source.
pub(super) fn exchange_medium(world: &mut World, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    transport(world, exchange)?;
    let source = exchange.number::<2>(4) as u16;
    let first = exchange.number::<2>(6) as u16;
    let second = exchange.number::<2>(8) as u16;
    if exchange.byte(10) & 3 != 0 {
        return Err(Check::invalid_cdb_bits(10, 1).into());
    }
    movable(world, first, second, source)?;
    movable(world, source, first, first)?;
    let displaced = take(world, exchange, first)?;
    let held = match take(world, exchange, source) {
        Ok(held) => held,
        Err(stop) => {
            put(world, exchange, first, first, displaced)?;
            return Err(stop);
        }
    };
    put(world, exchange, first, second, displaced)?;
    put(world, exchange, source, first, held)
}

/// Whether what is in `from` may go to `to`, which may be full when it is `vacated`.
fn movable(world: &World, from: u16, to: u16, vacated: u16) -> Result<(), Check> {
    place(world, from)?;
    place(world, to)?;
    if world.shelf.at(from).is_none() {
        return Err(Check::SOURCE_EMPTY);
    }
    if to != vacated && world.shelf.at(to).is_some() {
        return Err(Check::DESTINATION_FULL);
    }
    let is_export = matches!(world.elements().element(to), Some(Element::Station(_)));
    if is_export && !world.changer.prevented.is_empty() {
        return Err(Check::REMOVAL_PREVENTED);
    }
    match world.drive_at(from) {
        Some(drive) if drive.is_removal_prevented() => Err(Check::REMOVAL_PREVENTED),
        _ => Ok(()),
    }
}

/// The robot takes a cartridge; a drive that has it threaded unloads it first.
fn take(world: &mut World, exchange: &mut Exchange<'_>, from: u16) -> Result<Held, Stop> {
    let element = place(world, from)?;
    let fault = world.robot_faults.on_move();
    if fault == Some(RobotFault::Stays) {
        let time = world.robot()?.travel(element);
        exchange.spend(time);
        return Err(Check::MECHANICAL.into());
    }
    if let Element::Drive(number) = element {
        let time = world.drives[usize::from(number)].give_up(exchange.now())?;
        exchange.spend(time);
    }
    let mut held = world.shelf.take(from).ok_or(Check::SOURCE_EMPTY)?;
    if fault == Some(RobotFault::Dropped) {
        world.save_shelf()?;
        return Err(Check::MECHANICAL.into());
    }
    if !matches!(element, Element::Drive(_) | Element::Robot) {
        held.source = Some(from);
    }
    Ok(held)
}

/// The robot brings a cartridge to its destination; a drive begins to load it. A cartridge whose
/// files cannot be opened goes back to where it was.
fn put(
    world: &mut World,
    exchange: &mut Exchange<'_>,
    from: u16,
    to: u16,
    held: Held,
) -> Result<(), Stop> {
    let element = place(world, to)?;
    let time = place(world, from).and_then(|from| Ok(world.robot()?.carry(from, element)))?;
    exchange.spend(time);
    if let Element::Drive(number) = element {
        match world.cartridge(&held.barcode) {
            Ok(cartridge) => world.drives[usize::from(number)].insert(cartridge, exchange.now()),
            Err(stop) => {
                world.shelf.put(from, held);
                return Err(stop);
            }
        }
    }
    world.shelf.put(to, held);
    world.save_shelf()
}

/// Addresses 0 and 1 both mean the one robot there is.
fn transport(world: &World, exchange: &Exchange<'_>) -> Result<(), Check> {
    let address = exchange.number::<2>(2) as u16;
    match world.elements().element(address) {
        Some(Element::Robot) => Ok(()),
        None if address == 0 => Ok(()),
        _ => Err(Check::INVALID_ELEMENT),
    }
}

fn place(world: &World, address: u16) -> Result<Element, Check> {
    world
        .elements()
        .element(address)
        .ok_or(Check::INVALID_ELEMENT)
}
