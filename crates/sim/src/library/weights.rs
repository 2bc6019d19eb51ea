//! Indices drawn in proportion to weights, which are kept as running sums.

use tapewise_model::Random;

/// An index in proportion to its weight, from running sums of weights.
pub(super) fn weighted(sums: &[f64], random: &mut Random) -> usize {
    let [_, .., total] = sums else { return 0 };
    let drawn = random.unit() * total;
    sums.partition_point(|&sum| sum <= drawn)
        .min(sums.len() - 1)
}

/// The mean of a value over indices drawn by running sums of weights, or all alike where there are
/// none.
pub(super) fn mean_drawn(sums: &[f64], count: usize, value: impl Fn(usize) -> f64) -> f64 {
    let below = |index: usize| match (sums.is_empty(), index) {
        (true, _) => index as f64,
        (false, 0) => 0.0,
        (false, _) => sums[index - 1],
    };
    let weighted = |index| (below(index + 1) - below(index)) * value(index);
    (0..count).map(weighted).sum::<f64>() / below(count)
}

/// Running sums of weights.
pub(super) fn running_sums(weights: impl Iterator<Item = f64>) -> Vec<f64> {
    weights
        .scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        })
        .collect()
}

/// Running sums of Zipf's weights: k to the power of minus the exponent, k from 1.
pub(super) fn zipf(count: u32, exponent: f64) -> Vec<f64> {
    running_sums((1..=count).map(|k| f64::from(k).powf(-exponent)))
}
