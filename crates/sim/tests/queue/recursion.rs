//! The oracle: each request in turn, first come first served, by the times at which servers are
//! free.

use tapewise_model::Random;

/// Waits of requests in the order of their arrival, the first tenth left out as warm-up.
pub fn waits_s(
    arrivals_per_s: f64,
    servers: usize,
    requests: usize,
    seed: u64,
    mut service_s: impl FnMut(&mut Random) -> f64,
) -> Vec<f64> {
    let mut random = Random::new(seed, 0);
    let mut free_s = vec![0.0f64; servers];
    let mut now_s = 0.0;
    let mut waits = Vec::with_capacity(requests);
    for _ in 0..requests {
        now_s += exponential_s(&mut random, 1.0 / arrivals_per_s);
        let server = first_free(&free_s);
        let start_s = now_s.max(free_s[server]);
        free_s[server] = start_s + service_s(&mut random);
        waits.push(start_s - now_s);
    }
    waits.split_off(requests / 10)
}

/// An exponential time of this mean.
pub fn exponential_s(random: &mut Random, mean_s: f64) -> f64 {
    -mean_s * random.unit().ln()
}

/// Which server is free first.
pub fn first_free(free_s: &[f64]) -> usize {
    (0..free_s.len())
        .min_by(|&a, &b| free_s[a].total_cmp(&free_s[b]))
        .unwrap()
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The value that a share `p` of `values` does not exceed.
pub fn quantile(values: &[f64], p: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(p * sorted.len() as f64) as usize]
}
