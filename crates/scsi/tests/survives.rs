//! Every decoder meets a million inputs that no device would send, and answers or refuses.

use crate::recorded;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use tapewise_scsi::commands::DECODERS;

/// Inputs for each decoder.
const INPUTS: usize = 1_000_000;
const SEED: u64 = 1998;

/// Answers of real targets, to be spoilt.
fn seeds() -> Vec<Vec<u8>> {
    let files = [
        "mhvtl-LTO8-matrix.txt",
        "mhvtl-LTO8-pymatrix.txt",
        "tgt-1.0.85-matrix.txt",
    ];
    let exchanges = files.into_iter().flat_map(recorded::exchanges);
    let mut seeds: Vec<_> = exchanges.filter_map(|(_, answer)| answer).collect();
    seeds.retain(|seed| seed.len() < 256);
    seeds.push(vec![0; 96]);
    seeds
}

fn below(random: &mut ChaCha8Rng, end: usize) -> usize {
    ((u64::from(random.next_u32()) * end as u64) >> 32) as usize
}

/// Half of the inputs are noise, half are true answers with some bytes changed, cut or continued.
fn fill(input: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut ChaCha8Rng) {
    input.clear();
    if random.next_u32() & 1 == 0 {
        input.resize(below(random, 64), 0);
        random.fill_bytes(input);
        return;
    }
    input.extend(&seeds[below(random, seeds.len())]);
    for _ in 0..below(random, 4) {
        if !input.is_empty() {
            let at = below(random, input.len());
            input[at] = random.next_u32() as u8;
        }
    }
    match random.next_u32() % 4 {
        0 => input.truncate(below(random, input.len() + 1)),
        1 => input.resize(input.len() + below(random, 40), 0xff),
        _ => {}
    }
}

#[test]
fn every_decoder_survives_a_million_random_and_spoilt_inputs() {
    let seeds = seeds();
    for (stream, decoder) in DECODERS.iter().enumerate() {
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        random.set_stream(stream as u64);
        let mut input = Vec::new();
        let mut decoded = 0;
        for _ in 0..INPUTS {
            fill(&mut input, &seeds, &mut random);
            decoded += usize::from((decoder.decode)(&input).is_ok());
        }
        // A decoder that refuses everything would survive as well.
        assert!(decoded > 0, "{}: {decoded}", decoder.name);
    }
}
