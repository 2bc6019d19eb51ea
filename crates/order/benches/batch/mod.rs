//! Batches of equal files, uniformly over a cartridge.
#![allow(dead_code)] // each bench uses its own part

use tapewise_model::{BlockMap, KeyPoints, NominalLayout, Position, Random, profile};
use tapewise_order::{End, Options, PlacedExtent, Problem, Request, Tape};

/// The drives that the tables are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A cartridge with key points of its own, as the paper has it.
    Dlt4000,
    /// CERN's regression on the media it was fitted on.
    Lto7M8,
    /// The same on LTO-8 media.
    Lto8,
}

/// Where the head is before the first file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the beginning of tape.
    Bot,
    /// Somewhere.
    Random,
}

impl Kind {
    /// The name of the profile.
    pub fn profile(self) -> &'static str {
        match self {
            Kind::Dlt4000 => "dlt4000",
            Kind::Lto7M8 => "lto7-m8",
            Kind::Lto8 => "lto8",
        }
    }

    /// Bytes of a block.
    fn block_bytes(self) -> u64 {
        match self {
            Kind::Dlt4000 => 32_768,
            _ => 1 << 18,
        }
    }

    /// A drive of the kind with a full cartridge. On a DLT4000 the seed draws the key points.
    fn tape(self, seed: u64) -> (Tape, BlockMap) {
        let profile = profile::find(self.profile()).unwrap();
        let Some(sections) = profile.nominal_sections() else {
            let layout = NominalLayout::Single;
            let map = profile.nominal_map(layout, self.block_bytes()).unwrap();
            return (Tape::new(&profile, None).unwrap(), map);
        };
        let spread = profile.key_point_spread().unwrap();
        let key_points = KeyPoints::generate(sections, spread, &mut Random::new(seed, 0));
        let tape = Tape::new(&profile, Some(&key_points)).unwrap();
        (tape, key_points.block_map())
    }
}

/// A batch of files of one block.
pub fn blocks(kind: Kind, requests: usize, seed: u64, start: Start) -> Problem {
    files(kind, requests, 1, seed, start)
}

/// A batch of files of that many bytes, each in the place of one of the files that fill the tape.
pub fn files(kind: Kind, requests: usize, bytes: u64, seed: u64, start: Start) -> Problem {
    let (tape, map) = kind.tape(seed);
    let blocks = bytes.div_ceil(kind.block_bytes());
    let mut random = Random::new(seed, 1);
    let places = map.end_block(0) / blocks;
    let mut place = || random.below(places) * blocks;
    let head = match start {
        Start::Bot => Position::beginning_of_tape(tape.geometry.lpos_min),
        Start::Random => map.position(0, place()).unwrap(),
    };
    let requests: Vec<Request> = (0..requests)
        .map(|_| {
            let first = place();
            let bytes = blocks * kind.block_bytes();
            Request::single(
                PlacedExtent::on_map(&map, 0, first, first + blocks - 1, bytes).unwrap(),
            )
        })
        .collect();
    let options = Options {
        head,
        end: End::Anywhere,
        read_through: true,
    };
    Problem::new(tape, options, &requests)
}
