//! LOG SENSE: counters of drive and cartridge, TapeAlert (SSC-4, 8.3).

use super::{Drive, Threading};
use crate::check::Check;
use crate::exchange::{Exchange, Stop};

const MIB: u64 = 1 << 20;

/// One parameter of a log page.
struct Parameter {
    code: u16,
    /// Format and linking: [`BINARY`] or [`ASCII`].
    format: u8,
    value: Vec<u8>,
}

/// A binary list parameter (11b).
const BINARY: u8 = 0x03;
/// An ASCII list parameter (01b).
const ASCII: u8 = 0x01;

impl Parameter {
    /// A counter of `bytes` bytes, cut to its largest value.
    fn counter(code: u16, bytes: usize, value: u64) -> Parameter {
        let most = u64::MAX >> (64 - 8 * bytes.min(8));
        let value = value.min(most).to_be_bytes();
        Parameter {
            code,
            format: BINARY,
            value: value[8 - bytes.min(8)..].to_vec(),
        }
    }

    fn text(code: u16, text: &str) -> Parameter {
        Parameter {
            code,
            format: ASCII,
            value: text.as_bytes().to_vec(),
        }
    }
}

type Page = fn(&Drive) -> Vec<Parameter>;

/// The pages there are, ascending; page 00h lists them.
const PAGES: &[(u8, Page)] = &[
    (0x0c, sequential_access),
    (0x11, device_status),
    (0x14, device_statistics),
    (0x17, volume_statistics),
    (0x1b, data_compression),
    (0x2e, tape_alert),
    (0x31, tape_capacity),
];

/// LOG SENSE (SPC-5, 6.8). Cumulative values are the only ones kept.
pub(super) fn sense(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let page = exchange.byte(2) & 0x3f;
    if exchange.byte(3) != 0 {
        return Err(Check::invalid_cdb(3).into());
    }
    let first = exchange.number::<2>(5);
    let allocation = exchange.number::<2>(7);
    let body = match PAGES.iter().find(|(code, _)| *code == page) {
        _ if page == 0 => std::iter::once(0)
            .chain(PAGES.iter().map(|(code, _)| *code))
            .collect(),
        Some((_, parameters)) => encode(parameters(drive), first),
        None => return Err(Check::invalid_cdb_bits(2, 5).into()),
    };
    let mut answer = vec![page, 0];
    answer.extend((body.len() as u16).to_be_bytes());
    answer.extend(body);
    exchange.answer(&answer, allocation);
    Ok(())
}

fn encode(parameters: Vec<Parameter>, first: u64) -> Vec<u8> {
    let mut body = Vec::new();
    for parameter in parameters {
        if u64::from(parameter.code) >= first {
            body.extend(parameter.code.to_be_bytes());
            body.extend([parameter.format, parameter.value.len() as u8]);
            body.extend(parameter.value);
        }
    }
    body
}

/// Native capacity of partition `number` in bytes; 0 without such a partition.
fn capacity(drive: &Drive, number: u8) -> u64 {
    let loaded = drive.loaded.as_ref();
    loaded.map_or(0, |loaded| {
        loaded
            .tape
            .capacity(number)
            .saturating_mul(loaded.tape.scale())
    })
}

/// What is recorded in partition `number` in bytes on tape.
fn used(drive: &Drive, number: u8) -> u64 {
    let loaded = drive.loaded.as_ref();
    loaded.map_or(0, |loaded| {
        let partition = loaded.medium.partition(number);
        let bytes = partition.map_or(0, |one| one.offset(one.end_of_data()));
        bytes.saturating_mul(loaded.tape.scale())
    })
}

fn partitions(drive: &Drive) -> u8 {
    let loaded = drive.loaded.as_ref();
    loaded.map_or(0, |loaded| loaded.medium.partition_count())
}

/// Bytes that hosts have written and read, with the cartridge in the drive.
fn transferred(drive: &Drive) -> (u64, u64) {
    drive.loaded.as_ref().map_or((0, 0), |loaded| {
        let memory = &loaded.medium.memory;
        (memory.bytes_written, memory.bytes_read)
    })
}

fn sequential_access(drive: &Drive) -> Vec<Parameter> {
    let (written, read) = transferred(drive);
    let all: u64 = (0..partitions(drive))
        .map(|number| capacity(drive, number))
        .sum();
    let mut parameters = vec![
        Parameter::counter(0, 8, written),
        Parameter::counter(3, 8, read),
        Parameter::counter(4, 4, all / MIB),
    ];
    if drive.wants_cleaning() {
        parameters.push(Parameter::counter(0x0100, 1, 1));
    }
    parameters
}

/// DT Device Status (SSC-4, clause 8; the bits are those of ADC-3): very high frequency data, and how often to ask.
fn device_status(drive: &Drive) -> Vec<Parameter> {
    const POLL_MS: u64 = 100;
    const HAS_DATA: u8 = 1;
    let bit = |is_set: bool, bit: u8| u8::from(is_set) << bit;
    let state = drive.loaded.as_ref().map(|loaded| loaded.state);
    let is_ready = state == Some(Threading::Ready);
    let flags = bit(drive.is_removal_prevented(), 7)
        | bit(drive.mode.compresses, 4)
        | bit(drive.is_write_protected(), 3)
        | bit(drive.wants_cleaning(), 2)
        | HAS_DATA;
    // Medium present, seated, threaded, mounted.
    let medium =
        bit(state.is_some(), 4) | bit(state.is_some(), 2) | bit(is_ready, 1) | bit(is_ready, 0);
    let activity = match state {
        Some(Threading::Cleaning(_)) => 0x01,
        Some(Threading::Loading(_)) => 0x02,
        _ => 0,
    };
    let now = u32::from_be_bytes([flags, medium, activity, 0]);
    vec![
        Parameter::counter(0x00, 4, u64::from(now)),
        Parameter::counter(0x01, 2, POLL_MS),
    ]
}

/// Data Compression (SSC-4, clause 8): what hosts wrote and read over the life of the cartridge, and what it takes on
/// tape.
fn data_compression(drive: &Drive) -> Vec<Parameter> {
    const MEGABYTE: u64 = 1_000_000;
    let (written, read) = transferred(drive);
    let (host, recorded) = drive.loaded.as_ref().map_or((0, 0), |loaded| {
        let all = (0..loaded.medium.partition_count())
            .filter_map(|number| loaded.medium.partition(number));
        all.fold((0, 0), |(host, recorded), one| {
            let end = one.end_of_data();
            (host + one.data_bytes(), recorded + one.offset(end))
        })
    });
    let percent = (host * 100).checked_div(recorded).unwrap_or(0);
    let milli = (recorded * 1000).checked_div(host).unwrap_or(0);
    let on_tape = |bytes: u64| bytes / 1000 * milli;
    let mut parameters = vec![
        Parameter::counter(0x00, 2, percent),
        Parameter::counter(0x01, 2, percent),
    ];
    let pairs = [read, on_tape(read), written, on_tape(written)];
    for (at, bytes) in (2u16..).step_by(2).zip(pairs) {
        parameters.push(Parameter::counter(at, 4, bytes / MEGABYTE));
        parameters.push(Parameter::counter(at + 1, 4, bytes % MEGABYTE));
    }
    parameters.push(Parameter::counter(
        0x100,
        1,
        u64::from(drive.mode.compresses),
    ));
    parameters
}

fn device_statistics(drive: &Drive) -> Vec<Parameter> {
    let life = &drive.life;
    vec![
        Parameter::counter(0x00, 4, life.loads),
        Parameter::counter(0x01, 4, life.cleanings),
        Parameter::counter(0x03, 4, (life.motion_s / 3600.0) as u64),
        Parameter::counter(0x04, 8, life.metres as u64),
        Parameter::counter(0x0c, 4, life.power_ons),
        Parameter::counter(0x0f, 4, life.hard_read_errors),
        Parameter::text(0x40, &drive.serial),
        Parameter::counter(0x80, 1, u64::from(drive.is_removal_prevented())),
    ]
}

fn volume_statistics(drive: &Drive) -> Vec<Parameter> {
    let Some(loaded) = &drive.loaded else {
        return vec![Parameter::counter(0x00, 1, 0)];
    };
    let memory = &loaded.medium.memory;
    let all: u64 = (0..partitions(drive))
        .map(|number| capacity(drive, number))
        .sum();
    let full: u64 = (0..partitions(drive))
        .map(|number| used(drive, number))
        .sum();
    // Passes over the middle, were every metre a part of a full pass.
    let shape = &drive.kind.shape;
    let length_m = (shape.lpos_max - shape.lpos_min) * shape.metres_per_lpos;
    let passes = (memory.metres / length_m.max(1.0)) as u64;
    let mut parameters = vec![
        Parameter::counter(0x00, 1, 1),
        Parameter::counter(0x01, 4, memory.loads),
        Parameter::counter(0x10, 8, memory.bytes_written / 1_000_000),
        Parameter::counter(0x11, 8, memory.bytes_read / 1_000_000),
        Parameter::counter(0x16, 8, all / 1_000_000),
        Parameter::counter(0x17, 8, full / 1_000_000),
        Parameter::text(0x40, &memory.serial),
        Parameter::text(0x42, &loaded.barcode),
        Parameter::counter(0x80, 1, u64::from(drive.is_write_protected())),
        Parameter::counter(0x81, 1, u64::from(drive.is_worm())),
        Parameter::counter(0x101, 4, passes),
        Parameter::counter(0x102, 4, passes),
    ];
    let by_partition = |code, bytes: fn(&Drive, u8) -> u64| Parameter {
        code,
        format: BINARY,
        value: (0..partitions(drive))
            .flat_map(|number| {
                // Length of the record without its length byte, partition, megabytes.
                let mut record = vec![7, 0, 0, number];
                record.extend(((bytes(drive, number) / 1_000_000) as u32).to_be_bytes());
                record
            })
            .collect(),
    };
    parameters.push(by_partition(0x202, capacity));
    parameters.push(by_partition(0x203, used));
    parameters.push(by_partition(0x204, |drive, number| {
        capacity(drive, number).saturating_sub(used(drive, number))
    }));
    parameters
}

/// The 64 flags of TapeAlert: 19 (nearing media life) beyond the rated life, 20 (clean now).
fn tape_alert(drive: &Drive) -> Vec<Parameter> {
    let rated = drive.kind.life;
    let is_worn = drive.loaded.as_ref().is_some_and(|loaded| {
        let memory = &loaded.medium.memory;
        let loads = rated.loads.is_some_and(|most| memory.loads as f64 > most);
        loads || rated.motion_m.is_some_and(|most| memory.metres > most)
    });
    (1..=64)
        .map(|flag| {
            let is_on = match flag {
                19 => is_worn,
                20 => drive.wants_cleaning(),
                _ => false,
            };
            Parameter::counter(flag, 1, u64::from(is_on))
        })
        .collect()
}

/// Remaining and most of the first two partitions in MiB, as LTO drives have it.
fn tape_capacity(drive: &Drive) -> Vec<Parameter> {
    let free = |number| capacity(drive, number).saturating_sub(used(drive, number)) / MIB;
    vec![
        Parameter::counter(1, 4, free(0)),
        Parameter::counter(2, 4, free(1)),
        Parameter::counter(3, 4, capacity(drive, 0) / MIB),
        Parameter::counter(4, 4, capacity(drive, 1) / MIB),
    ]
}
