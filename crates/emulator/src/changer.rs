//! The robot of a library as SCSI sees it: a medium changer (SMC-3).
//!
//! Elements are numbered as IBM's libraries do: the robot 1, stations from 301h, drives from 101h,
//! slots from 401h. A drive's element descriptor carries the drive's serial number, so that a host
//! can tell which of its devices sits there.

mod moves;
mod status;

use crate::check::Check;
use crate::exchange::{Entry, Exchange, Needs, Stop, find, report_supported};
use crate::inquiry;
use crate::world::World;

/// Carries out one command.
pub(crate) fn execute(world: &mut World, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let entry = find(COMMANDS, world, exchange)?;
    if entry.needs != Needs::Nothing
        && let Some(attention) = world.changer.attentions.take(exchange.nexus)
    {
        return Err(attention.into());
    }
    (entry.run)(world, exchange)
}

const COMMANDS: &[Entry<World>] = &[
    command(0x00, 6, 5, test_unit_ready),
    anytime(0x03, 6, request_sense),
    command(0x07, 6, 600, moves::initialize),
    anytime(0x12, 6, inquire),
    command(0x1a, 6, 5, status::mode_sense),
    command(0x1e, 6, 5, prevent),
    command(0x2b, 10, 60, moves::position_to),
    command(0x37, 10, 600, moves::initialize_range),
    command(0x5a, 10, 5, status::mode_sense),
    anytime(0xa0, 12, report_luns),
    Entry {
        service_actions: &[0x0c],
        ..command(0xa3, 12, 5, |world, exchange| {
            report_supported(COMMANDS, world, &[], exchange)
        })
    },
    command(0xa5, 12, 300, moves::move_medium),
    command(0xa6, 12, 600, moves::exchange_medium),
    command(0xb8, 12, 60, status::read_status),
];

type Run = fn(&mut World, &mut Exchange<'_>) -> Result<(), Stop>;

const fn command(opcode: u8, cdb_length: u8, nominal_s: u32, run: Run) -> Entry<World> {
    Entry {
        opcode,
        service_actions: &[],
        cdb_length,
        nominal_s,
        needs: Needs::Device,
        supported: |_| true,
        run,
    }
}

const fn anytime(opcode: u8, cdb_length: u8, run: Run) -> Entry<World> {
    let mut entry = command(opcode, cdb_length, 5, run);
    entry.needs = Needs::Nothing;
    entry
}

fn test_unit_ready(_: &mut World, _: &mut Exchange<'_>) -> Result<(), Stop> {
    Ok(())
}

fn request_sense(world: &mut World, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let check = world
        .changer
        .attentions
        .take(exchange.nexus)
        .unwrap_or(Check::NONE);
    let allocation = exchange.number::<1>(4);
    exchange.answer(&check.fixed(), allocation);
    Ok(())
}

fn inquire(world: &mut World, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let identity = inquiry::Identity {
        device_type: inquiry::CHANGER,
        vendor: "TAPEWISE",
        product: world.spec.robot.as_deref().unwrap_or("none"),
        revision: "0001",
        serial: &world.spec.serial,
    };
    inquiry::answer(&identity, &[], exchange)
}

fn report_luns(_: &mut World, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    inquiry::report_luns(exchange)
}

fn prevent(world: &mut World, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let nexus = exchange.nexus;
    world.changer.prevented.retain(|&one| one != nexus);
    if exchange.bit(4, 0) {
        world.changer.prevented.push(nexus);
    }
    Ok(())
}
