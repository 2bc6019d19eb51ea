//! The commands of a drive: one line each. A drive of 1998 has those of SCSI-2 only.
//!
//! READ(16), WRITE(16) and WRITE FILEMARKS(16) are missing: they belong to drives with explicit addresses (SSC-4,
//! clause 5), and none of those emulated here is one.

use super::{
    Drive, access_order, attributes, end_of_wrap, erase, loading, log, mode, partitioning,
};
use super::{position, reservation, status, transfer};
use crate::exchange::{Entry, Exchange, Needs, Stop, report_supported};

type Run = fn(&mut Drive, &mut Exchange<'_>) -> Result<(), Stop>;

const fn line(opcode: u8, cdb_length: u8, nominal_s: u32, needs: Needs, run: Run) -> Entry<Drive> {
    Entry {
        opcode,
        service_actions: &[],
        cdb_length,
        nominal_s,
        needs,
        supported: |_| true,
        run,
    }
}

/// A line for drives of this century only.
const fn modern(entry: Entry<Drive>) -> Entry<Drive> {
    Entry {
        supported: Drive::is_modern,
        ..entry
    }
}

/// The line of service actions, for the same drives.
const fn actions(
    opcode: u8,
    service_actions: &'static [u8],
    cdb_length: u8,
    needs: Needs,
    run: Run,
) -> Entry<Drive> {
    modern(Entry {
        service_actions,
        ..line(opcode, cdb_length, 60, needs, run)
    })
}

/// Most seconds that positioning may take: LTO drives say 2040 to 2940.
const POSITIONING_S: u32 = 1400;
const TRANSFER_S: u32 = 700;
/// A long erase of a whole cartridge takes as long as writing it.
const ERASE_S: u32 = 60_000;

pub(super) const TABLE: &[Entry<Drive>] = &[
    line(0x00, 6, 5, Needs::Medium, status::test_unit_ready),
    line(0x01, 6, 600, Needs::Medium, position::rewind),
    line(0x03, 6, 5, Needs::Nothing, status::request_sense),
    modern(line(
        0x04,
        6,
        1600,
        Needs::Medium,
        partitioning::format_medium,
    )),
    line(0x05, 6, 5, Needs::Device, status::read_block_limits),
    line(0x08, 6, TRANSFER_S, Needs::Position, transfer::read),
    line(0x0a, 6, TRANSFER_S, Needs::Position, transfer::write),
    line(
        0x10,
        6,
        TRANSFER_S,
        Needs::Position,
        transfer::write_filemarks,
    ),
    line(0x11, 6, POSITIONING_S, Needs::Position, position::space),
    line(0x12, 6, 5, Needs::Nothing, status::inquire),
    line(0x15, 6, 60, Needs::Device, mode::select),
    line(0x16, 6, 5, Needs::Device, reservation::reserve_unit),
    line(0x17, 6, 5, Needs::Device, reservation::release_unit),
    line(0x19, 6, ERASE_S, Needs::Position, erase::erase),
    line(0x1a, 6, 5, Needs::Device, mode::sense),
    line(0x1b, 6, 900, Needs::Device, loading::load_unload),
    line(0x1e, 6, 5, Needs::Device, loading::prevent),
    line(0x2b, 10, POSITIONING_S, Needs::Medium, position::locate_10),
    line(0x34, 10, 5, Needs::Medium, position::read_position),
    modern(line(0x44, 10, 5, Needs::Device, status::report_density)),
    modern(line(0x4d, 10, 5, Needs::Device, log::sense)),
    modern(line(0x55, 10, 60, Needs::Device, mode::select)),
    modern(line(0x5a, 10, 5, Needs::Device, mode::sense)),
    actions(0x5e, &[0, 1, 2], 10, Needs::Device, reservation::report),
    actions(
        0x5f,
        &[0, 1, 2, 3, 4, 5, 6],
        10,
        Needs::Device,
        reservation::change,
    ),
    actions(0x8c, &[0, 1], 16, Needs::Device, attributes::read),
    modern(line(0x8d, 16, 60, Needs::Medium, attributes::write)),
    modern(line(
        0x91,
        16,
        POSITIONING_S,
        Needs::Position,
        position::space,
    )),
    modern(line(
        0x92,
        16,
        POSITIONING_S,
        Needs::Medium,
        position::locate_16,
    )),
    line(0xa0, 12, 5, Needs::Nothing, status::report_luns),
    actions(0xa3, &[0x0c], 12, Needs::Device, |drive, exchange| {
        let hidden = drive.faults.faults.missing_commands.clone();
        report_supported(TABLE, drive, &hidden, exchange)
    }),
    Entry {
        supported: has_rao,
        ..actions(0xa3, &[0x1d], 12, Needs::Medium, access_order::receive)
    },
    Entry {
        supported: has_wrap_ends,
        ..actions(0xa3, &[0x1f], 12, Needs::Medium, end_of_wrap::read)
    },
    Entry {
        supported: has_rao,
        ..actions(0xa4, &[0x1d], 12, Needs::Medium, access_order::generate)
    },
];

fn has_rao(drive: &Drive) -> bool {
    drive.kind.features.access_order
}

fn has_wrap_ends(drive: &Drive) -> bool {
    drive.kind.features.end_of_wrap_table
}
