//! The data path with a drive that is infinitely fast: how much of the machine's memory bandwidth
//! and of a bare checksum is left when bytes go through drive, ring and consumer.
//!
//! `ceiling/*` is what the machine can do with as many bytes of the same buffers, `read/*` is our
//! path. The drive answers at once and moves nothing, so what is measured is all
//! ours: commands, events, hand-over between threads, checksums.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::io::Result;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tapewise_archive::stream::{Ring, read_ahead};
use tapewise_archive::sums::{Kind, Summer};
use tapewise_archive::volume::BLOCK_BYTES;
use tapewise_formats::event::Event;
use tapewise_run::{Buffer, Item, Log, Piece, Recorder, Sink, Step, carry_out};
use tapewise_scsi::{Cdb, Completion, Data, TapeDrive, Transport, TransportError};

const BLOCK: usize = BLOCK_BYTES as usize;
const BUFFERS: usize = 16;
/// Blocks that are read in each round: 1 GiB.
const BLOCKS: u64 = 4096;
const BYTES: u64 = BLOCKS * BLOCK as u64;

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

/// Forgets events.
struct NoLog;

impl Log for NoLog {
    fn event(&mut self, _: &Event) -> Result<()> {
        Ok(())
    }
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

/// Sums blocks.
struct Summed(Summer);

impl Sink for Summed {
    fn begin(&mut self, _: &Piece) -> Result<()> {
        Ok(())
    }

    fn item(&mut self, _: &Piece, _: u64, item: Item<'_>) -> Result<()> {
        if let Item::Block(block) = item {
            self.0.update(block);
        }
        Ok(())
    }

    fn end(&mut self, _: &Piece) -> Result<()> {
        Ok(())
    }
}

fn read(ring: &mut Ring, kinds: &[Kind]) {
    let mut drive = drive();
    let mut log = NoLog;
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    recorder.expect_blocks(BLOCK);
    let piece = Piece {
        visit: 0,
        segment: 0,
        partition: 0,
        first_block: 2,
        last_block: BLOCKS + 1,
    };
    let mut sink = Summed(Summer::new(kinds.iter().copied()));
    let report = read_ahead(ring, &mut sink, |ahead| {
        carry_out(
            &[Step::Read(piece)],
            &mut recorder,
            &|_| String::new(),
            ahead,
        )
    });
    assert!(report.is_complete(), "{report:?}");
    black_box(sink.0.finish());
}

fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("stream");
    group.throughput(Throughput::Bytes(BYTES)).sample_size(10);
    let mut buffers: Vec<Buffer> = (0..BUFFERS).map(|_| Buffer::new(BLOCK)).collect();
    for (at, buffer) in buffers.iter_mut().enumerate() {
        buffer.room().fill(at as u8);
        buffer.fill(BLOCK);
    }
    let mut copy = vec![0u8; BLOCK * BUFFERS];
    group.bench_function("ceiling/memcpy", |bencher| {
        bencher.iter(|| {
            for at in 0..BLOCKS as usize {
                let at = at % BUFFERS;
                copy[at * BLOCK..][..BLOCK].copy_from_slice(black_box(&buffers[at]));
            }
        });
    });
    for (name, kind) in [("crc32c", Kind::Crc32c), ("xxh3", Kind::Xxh3)] {
        group.bench_function(format!("ceiling/{name}"), |bencher| {
            bencher.iter(|| {
                let mut summer = Summer::new([kind]);
                for at in 0..BLOCKS as usize {
                    summer.update(black_box(&buffers[at % BUFFERS]));
                }
                summer.finish()
            });
        });
    }
    let mut ring = Ring::new(BUFFERS, BLOCK);
    for (name, kinds) in [
        ("no sum", &[][..]),
        ("crc32c", &[Kind::Crc32c]),
        ("xxh3", &[Kind::Xxh3]),
        ("crc32c+xxh3", &[Kind::Crc32c, Kind::Xxh3]),
        ("adler32", &[Kind::Adler32]),
        ("md5", &[Kind::Md5]),
    ] {
        group.bench_function(format!("read/{name}"), |bencher| {
            bencher.iter(|| read(&mut ring, kinds));
        });
    }
    group.finish();
}

criterion_group!(stream, benches);
criterion_main!(stream);
