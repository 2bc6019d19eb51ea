//! Moving cartridges (MOVE MEDIUM, EXCHANGE MEDIUM, POSITION TO ELEMENT).

use crate::check::Check;
use crate::elements::Element;
use crate::exchange::{Exchange, Stop};
use crate::faults::RobotFault;
use crate::shelf::Held;
use crate::world::World;
use tapewise_model::Micros;

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
