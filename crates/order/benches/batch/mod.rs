//! Batches of one-block requests, uniformly over a DLT4000 and over an LTO-8 cartridge.

use tapewise_model::{BlockMap, KeyPoints, NominalLayout, Random, profile};
use tapewise_order::{End, Options, Problem, Request, Segment, Tape};

/// A cartridge as the paper has it, by key points, from a random place.
pub fn dlt4000(requests: usize) -> Problem {
    let profile = profile::find("dlt4000").unwrap();
    let sections = profile.nominal_sections().unwrap();
    let spread = profile.key_point_spread().unwrap();
    let key_points = KeyPoints::generate(sections, spread, &mut Random::new(1, 0));
    let tape = Tape::new(&profile, Some(&key_points)).unwrap();
    problem(tape, &key_points.block_map(), requests)
}

/// A full cartridge of nominal geometry.
pub fn lto8(requests: usize) -> Problem {
    let profile = profile::find("lto8").unwrap();
    let map = profile.nominal_map(NominalLayout::Single, 1 << 18).unwrap();
    problem(Tape::new(&profile, None).unwrap(), &map, requests)
}

fn problem(tape: Tape, map: &BlockMap, requests: usize) -> Problem {
    let mut random = Random::new(1, 1);
    let mut place = || random.below(map.end_block(0));
    let options = Options {
        head: map.position(0, place()).unwrap(),
        end: End::Anywhere,
        read_through: true,
    };
    let requests: Vec<Request> = (0..requests)
        .map(|_| {
            let block = place();
            Request::single(Segment::on_map(map, 0, block, block, 1 << 18).unwrap())
        })
        .collect();
    Problem::new(tape, options, &requests)
}
