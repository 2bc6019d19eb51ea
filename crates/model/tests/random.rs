//! Random numbers and what is drawn with them never change: published results depend on them.

use tapewise_model::{KeyPoints, NominalSections, Random, Spread};

const NOMINAL: NominalSections = NominalSections {
    tracks: 64,
    sections: 14,
    section_segments: 704,
    last_section_segments: 568,
};

/// FNV-1a over numbers.
fn hash(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers
        .into_iter()
        .flat_map(u64::to_le_bytes)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

fn cartridge(seed: u64) -> KeyPoints {
    let spread = Spread {
        track_sd_segments: 6.0,
        dip_sd_segments: 3.0,
    };
    KeyPoints::generate(NOMINAL, spread, &mut Random::new(seed, 0))
}

#[test]
fn ten_thousand_numbers_of_seed_one_never_change() {
    let mut random = Random::new(1, 0);
    let numbers = hash((0..10_000).map(|_| random.below(u64::MAX)));
    let mut random = Random::new(1, 1);
    let units = hash((0..10_000).map(|_| random.unit().to_bits()));
    let mut random = Random::new(1, 2);
    // To a billionth: the logarithm in the tails may differ by a bit between machines.
    let normals = hash((0..10_000).map(|_| (random.normal() * 1e9).round() as i64 as u64));
    assert_eq!(numbers, 7_946_948_697_064_793_062);
    assert_eq!(units, 13_250_385_927_981_228_256);
    assert_eq!(normals, 5_649_091_571_607_708_971);
}

#[test]
fn a_shuffle_of_seed_one_never_changes() {
    let mut items: Vec<u32> = (0..10).collect();
    Random::new(1, 0).shuffle(&mut items);
    assert_eq!(items, [1, 4, 9, 8, 0, 5, 7, 6, 2, 3]);
}

#[test]
fn streams_and_seeds_are_independent() {
    let first = |seed, stream| Random::new(seed, stream).below(u64::MAX);
    assert_ne!(first(1, 0), first(1, 1));
    assert_ne!(first(1, 0), first(2, 0));
    assert_eq!(first(1, 0), first(1, 0));
}

#[test]
fn normal_deviates_have_mean_zero_and_standard_deviation_one() {
    let mut random = Random::new(3, 0);
    let deviates: Vec<f64> = (0..100_000).map(|_| random.normal()).collect();
    let mean = deviates.iter().sum::<f64>() / 1e5;
    let variance = deviates.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / 1e5;
    assert!(
        mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02,
        "{mean} {variance}"
    );
}

#[test]
fn the_cartridge_of_seed_one_never_changes() {
    let cartridge = cartridge(1);
    assert_eq!(cartridge.segments(), 622_005);
    assert_eq!(cartridge.track(1)[..3], [9_724, 10_289, 10_998]);
    let all = (0..64).flat_map(|track| cartridge.track(track).to_vec());
    assert_eq!(hash(all), 17415130592916021727);
}

#[test]
fn another_seed_is_another_cartridge() {
    assert_ne!(cartridge(1), cartridge(2));
    assert_eq!(cartridge(2), cartridge(2));
}
