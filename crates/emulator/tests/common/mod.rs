//! What the tests of the mechanics share: drives, statistics, least squares.
#![allow(dead_code)] // each test file uses its part

use tapewise_emulator::{DriveKind, Mechanics, Motion, Stretch, Tape};
use tapewise_model::{Micros, Random};

/// The kind of that name.
pub fn kind(name: &str) -> DriveKind {
    DriveKind::find(name).expect(name)
}

/// A drive with a rewound cartridge of that seed.
pub fn drive(kind: &DriveKind, seed: u64) -> Mechanics {
    Mechanics::load(
        &kind.mechanism,
        Tape::new(&kind.shape, seed),
        None,
        Random::new(seed, 1),
    )
    .0
}

/// A motion's time in seconds.
pub fn seconds(motion: Motion) -> f64 {
    motion.time.as_secs_f64()
}

/// Uncompressed data from one offset to another in partition 0.
pub fn stretch(from: u64, bytes: u64) -> Stretch {
    Stretch {
        partition: 0,
        from,
        to: from + bytes,
        host_bytes: bytes,
        gzip_ratio: None,
    }
}

/// The clock's reading that many seconds from its start.
pub fn at(seconds: f64) -> Micros {
    Micros::from_secs_f64(seconds)
}

/// Mean and standard deviation.
pub fn mean_sd(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|value| (value - mean).powi(2));
    (mean, (squares.sum::<f64>() / values.len() as f64).sqrt())
}

/// Fails unless `value` is within `share` of `published`.
pub fn assert_near(what: &str, value: f64, published: f64, share: f64) {
    let off = value / published - 1.0;
    assert!(
        off.abs() <= share,
        "{what}: {value:.3}, published {published}"
    );
}

/// Intercept and slope of the least-squares line.
pub fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let rows: Vec<Vec<f64>> = points.iter().map(|point| vec![1.0, point.0]).collect();
    let values: Vec<f64> = points.iter().map(|point| point.1).collect();
    let solved = least_squares(&rows, &values);
    (solved[0], solved[1])
}

/// The coefficients that fit `values` best, by the normal equations.
pub fn least_squares(rows: &[Vec<f64>], values: &[f64]) -> Vec<f64> {
    let size = rows[0].len();
    let mut system = vec![vec![0.0; size + 1]; size];
    for (row, value) in rows.iter().zip(values) {
        for i in 0..size {
            for j in 0..size {
                system[i][j] += row[i] * row[j];
            }
            system[i][size] += row[i] * value;
        }
    }
    for pivot in 0..size {
        let scale = system[pivot][pivot];
        system[pivot].iter_mut().for_each(|cell| *cell /= scale);
        let solved = system[pivot].clone();
        for (_, other) in system
            .iter_mut()
            .enumerate()
            .filter(|(row, _)| *row != pivot)
        {
            let factor = other[pivot];
            other
                .iter_mut()
                .zip(&solved)
                .for_each(|(cell, own)| *cell -= factor * own);
        }
    }
    system.iter().map(|row| row[size]).collect()
}

/// Root mean square of what the coefficients leave unexplained.
pub fn residual(rows: &[Vec<f64>], values: &[f64], coefficients: &[f64]) -> f64 {
    let squares = rows.iter().zip(values).map(|(row, value)| {
        let fitted: f64 = row.iter().zip(coefficients).map(|(x, b)| x * b).sum();
        (value - fitted).powi(2)
    });
    (squares.sum::<f64>() / values.len() as f64).sqrt()
}

/// Times of `count` locates between random places of a cartridge.
pub fn random_locates(drive: &mut Mechanics, count: usize, random: &mut Random) -> Vec<f64> {
    let capacity = drive.tape().capacity(0);
    (0..count)
        .map(|_| seconds(drive.locate(0, random.below(capacity))))
        .collect()
}

/// Times of `count` locates from the beginning of tape to random places.
pub fn locates_from_bot(drive: &mut Mechanics, count: usize, random: &mut Random) -> Vec<f64> {
    let capacity = drive.tape().capacity(0);
    (0..count)
        .map(|_| {
            drive.rewind();
            seconds(drive.locate(0, random.below(capacity)))
        })
        .collect()
}
