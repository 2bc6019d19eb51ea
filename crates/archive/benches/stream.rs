//! The data path with a drive that is infinitely fast: how much of the machine's memory bandwidth
//! and of a bare checksum is left when bytes go through drive, ring and files, in both directions.
//!
//! `ceiling` is what the machine can do with as many bytes of the same buffers on one thread, `read`
//! is a recall of one long file up to its receiver, `write` a segment of 64 MiB files from its reader
//! on. The drive answers at once and moves nothing, so what is measured is all ours: commands,
//! events, hand-over between threads, tar, checksums. One row alone, for a profiler:
//! `cargo bench -p tapewise-archive --bench stream -- "read xxh3"`.

use std::hint::black_box;
use std::io::{Read, Result};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tapewise_archive::read::{Known, Lost, MappedTape, Receiver, TapeRead};
use tapewise_archive::record::{File, Segment, VolumeFormat};
use tapewise_archive::sums::{Kind, Summer};
use tapewise_archive::volume::{BLOCK_BYTES, Blank, Entry, Label, Member, VolumeWriter};
use tapewise_model::profile;
use tapewise_run::{Buffer, NoLog, Recorder};
use tapewise_scsi::{Cdb, Completion, Data, TapeDrive, Transport, TransportError};

const BLOCK: usize = BLOCK_BYTES as usize;
/// 4 MiB, as much as a recall has in flight a few times over.
const BUFFERS: usize = 16;
/// Blocks that go through in each round: 1 GiB.
const BLOCKS: u64 = 4096;
const BYTES: u64 = BLOCKS * BLOCK as u64;
/// Rounds of each row; the first one is not counted.
const ROUNDS: usize = 9;

fn main() {
    let only = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    println!(
        "{:22} {:>10} {:>8} {:>8}",
        "1 GiB", "ms, median", "GB/s", "memcpy"
    );
    let mut buffers: Vec<Buffer> = (0..BUFFERS).map(|_| Buffer::new(BLOCK)).collect();
    for (at, buffer) in buffers.iter_mut().enumerate() {
        buffer.room().fill(at as u8);
        buffer.fill(BLOCK);
    }
    let mut table = Table { only, memcpy: None };
    let mut copy = vec![0u8; BLOCK * BUFFERS];
    table.row("ceiling memcpy", || {
        for at in 0..BLOCKS as usize {
            let at = at % BUFFERS;
            copy[at * BLOCK..][..BLOCK].copy_from_slice(black_box(&buffers[at]));
        }
    });
    let sums = [
        ("no sum", &[][..]),
        ("crc32c", &[Kind::Crc32c]),
        ("xxh3", &[Kind::Xxh3]),
        ("crc32c+xxh3", &[Kind::Crc32c, Kind::Xxh3]),
        ("adler32", &[Kind::Adler32]),
        ("md5", &[Kind::Md5]),
    ];
    for (name, kinds) in &sums[1..] {
        table.row(&format!("ceiling {name}"), || {
            let mut summer = Summer::new(kinds.iter().copied());
            for at in 0..BLOCKS as usize {
                summer.update(black_box(&buffers[at % BUFFERS]));
            }
            black_box(summer.finish());
        });
    }
    for (name, kinds) in sums {
        table.row(&format!("read {name}"), || read(kinds));
    }
    // Every file of ours gets its XXH3 on the way to tape.
    table.row("write xxh3", || write(&buffers));
}

/// Rows, the first of which is what the others are compared with.
struct Table {
    only: Option<String>,
    memcpy: Option<Duration>,
}

impl Table {
    fn row(&mut self, name: &str, mut work: impl FnMut()) {
        let is_first = self.memcpy.is_none();
        let is_wanted = self.only.as_ref().is_none_or(|only| name == only);
        if !is_first && !is_wanted {
            return;
        }
        let mut took: Vec<Duration> = (0..ROUNDS)
            .map(|_| {
                let begin = Instant::now();
                work();
                begin.elapsed()
            })
            .skip(1)
            .collect();
        took.sort_unstable();
        let median = took[took.len() / 2];
        let memcpy = *self.memcpy.get_or_insert(median);
        println!(
            "{name:22} {:>10.0} {:>8.1} {:>7.0} %",
            median.as_secs_f64() * 1e3,
            BYTES as f64 / median.as_secs_f64() / 1e9,
            100.0 * memcpy.as_secs_f64() / median.as_secs_f64()
        );
    }
}

/// A drive that is infinitely fast: says yes to everything. At the beginning of tape it has the
/// block that was written there, elsewhere whatever was in the buffer.
struct Nothing {
    began: Instant,
    first_block: Vec<u8>,
    block: u64,
}

const LOCATE_10: u8 = 0x2b;
const LOCATE_16: u8 = 0x92;
const REQUEST_SENSE: u8 = 0x03;
const INQUIRY: u8 = 0x12;
const READ: u8 = 0x08;
const WRITE: u8 = 0x0a;
const WRITE_FILEMARKS: u8 = 0x10;
const REWIND: u8 = 0x01;
/// NO SENSE; for READ the end of data.
const BLANK_CHECK: [u8; 18] = [0x70, 0, 8, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0];
const INVALID_COMMAND: [u8; 18] = [0x70, 0, 5, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0];

impl Transport for Nothing {
    fn name(&self) -> &str {
        "nothing"
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        _: Duration,
    ) -> std::result::Result<Completion, TransportError> {
        let done = match (cdb.bytes()[0], data) {
            (REWIND, _) => {
                self.block = 0;
                0
            }
            (WRITE_FILEMARKS, _) => {
                self.block += 1;
                0
            }
            (READ, Data::In(room)) => {
                self.block += 1;
                if self.block == 1 {
                    if self.first_block.is_empty() {
                        return Ok(Completion::check_condition(0, &BLANK_CHECK));
                    }
                    let count = room.len().min(self.first_block.len());
                    room[..count].copy_from_slice(&self.first_block[..count]);
                    return Ok(Completion::good(count));
                }
                room.len()
            }
            (WRITE, Data::Out(block)) => {
                if self.block == 0 {
                    self.first_block = block.to_vec();
                }
                self.block += 1;
                block.len()
            }
            (INQUIRY, Data::In(room)) if cdb.bytes()[1] & 1 == 0 => {
                room.fill(0);
                room[0] = 1;
                room.len()
            }
            (REQUEST_SENSE, Data::In(room)) => {
                room.fill(0);
                room[0] = 0x70;
                room.len()
            }
            (LOCATE_10 | LOCATE_16, _) => {
                // Behind the label: all that is ever read from here.
                self.block = 2;
                0
            }
            (_, Data::None) => 0,
            _ => return Ok(Completion::check_condition(0, &INVALID_COMMAND)),
        };
        Ok(Completion::good(done))
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn wait(&mut self, _: Duration) {}
}

static NEVER: AtomicBool = AtomicBool::new(false);

fn drive() -> TapeDrive {
    let nothing = Nothing {
        began: Instant::now(),
        first_block: Vec::new(),
        block: 0,
    };
    TapeDrive::open(Box::new(nothing)).expect("a drive")
}

/// Sums what it is given.
struct Summed(Summer);

impl Receiver for Summed {
    fn begin(&mut self, _: usize) -> Result<()> {
        Ok(())
    }

    fn bytes(&mut self, _: usize, _: u64, bytes: &[u8]) -> Result<()> {
        self.0.update(bytes);
        Ok(())
    }

    fn end(&mut self, _: usize) -> Result<()> {
        Ok(())
    }

    fn lost(&mut self, _: usize, why: &Lost) -> Result<()> {
        panic!("{why}");
    }
}

fn read(kinds: &[Kind]) {
    let mut drive = drive();
    let wants = [vec![Segment {
        partition: 0,
        first_block: 2,
        last_block: BLOCKS + 1,
        byte_offset: 0,
        bytes: BYTES,
        file_offset: 0,
        start: None,
        end: None,
    }]];
    let known = Known {
        profile: &profile::find("lto8").expect("a profile"),
        format: VolumeFormat::Blocks,
        block_bytes: BLOCK as u64,
        byte_scale: 1,
        written: &wants,
    };
    let (cartridge, _) = MappedTape::in_drive(&mut drive, &known).expect("a map");
    let (head, learns) = cartridge.head(&mut drive).expect("a head");
    let mut log = NoLog;
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let read = TapeRead::new(&cartridge, head, &wants, learns).expect("one partition");
    let mut summed = Summed(Summer::new(kinds.iter().copied()));
    let outcome = read.run(&mut recorder, &|_| String::new(), &mut summed, &mut |_| {});
    assert_eq!(outcome.expect("a run").lost, []);
    black_box(summed.0.finish());
}

/// Bytes of a file that is written.
const FILE_BYTES: u64 = 64 << 20;

/// The same few buffers over and over.
struct Cycle<'b> {
    buffers: &'b [Buffer],
    at: usize,
}

impl Read for Cycle<'_> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let from = self.at % BLOCK;
        let buffer = &self.buffers[self.at / BLOCK % self.buffers.len()][from..];
        let count = buffer.len().min(into.len());
        into[..count].copy_from_slice(&buffer[..count]);
        self.at += count;
        Ok(count)
    }
}

fn write(buffers: &[Buffer]) {
    let mut drive = drive();
    let mut log = NoLog;
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let label = Label {
        uuid: "6f1d3a52-0f6e-4c55-9d0e-1f6f3c2b7a10".to_owned(),
        barcode: "NULL01".to_owned(),
        block_bytes: BLOCK_BYTES,
        created: "2026-01-31T12:00:00Z".to_owned(),
    };
    let writer = VolumeWriter::label(&mut recorder, &label, Blank::Required);
    let mut entries = (0..BYTES / FILE_BYTES).map(|number| {
        let file = File {
            path: format!("{number}").into_bytes(),
            bytes: FILE_BYTES,
            modified_ns: 0,
            mode: 0o644,
            sums: Vec::new(),
        };
        Ok(Entry {
            member: Member::of(&file),
            contents: Box::new(Cycle { buffers, at: 0 }.take(FILE_BYTES)),
        })
    });
    let written = writer
        .expect("labelled")
        .write_segment(&mut recorder, &mut entries);
    let files = written.expect("written").files;
    assert_eq!(files.len() as u64, BYTES / FILE_BYTES);
}
