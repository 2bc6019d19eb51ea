use tapewise_model::Random;
use tapewise_sim::queue::batch::Batches;
use tapewise_sim::queue::general::{Approximation, mean_wait_s};
use tapewise_sim::queue::{Load, QueueError};

use crate::queue::assert_close;
use crate::queue::recursion::{exponential_s, first_free};

const LIBRARY: Batches = Batches {
    arrivals_per_cartridge_per_s: 1.0 / 3600.0,
    cartridges: 200,
    window_s: 1800.0,
    drives: 11,
    mount_s: 60.0,
    read_s: 70.0,
    read_variance_s2: 0.0,
    unmount_s: 80.0,
};

#[test]
fn without_a_window_every_request_is_a_batch_of_its_own() {
    let batches = Batches {
        window_s: 0.0,
        ..LIBRARY
    };
    let batches = Batches {
        drives: 20,
        ..batches
    };
    let solved = batches.solve().unwrap();
    let load = Load::new(200.0 / 3600.0, 210.0, 20).unwrap();
    let wait_s = mean_wait_s(&load, 0.0, Approximation::Interpolation).unwrap();
    assert_eq!((solved.batch_size, solved.window_wait_s), (1.0, 0.0));
    assert_close(solved.response_s, wait_s + 130.0, 1e-12);
}

/// What one mount for each request cannot carry, batches can.
#[test]
fn a_window_carries_a_load_that_single_requests_do_not() {
    let alone = Batches {
        window_s: 0.0,
        ..LIBRARY
    };
    assert!(matches!(alone.solve(), Err(QueueError::Unstable { .. })));
    assert!(LIBRARY.solve().unwrap().drive_utilisation < 1.0);
}

#[test]
fn a_recursion_over_windows_finds_the_same_response() {
    let solved = LIBRARY.solve().unwrap();
    let mut random = Random::new(9, 0);
    // Every batch by the time at which its window closes.
    let mut batches: Vec<(f64, Vec<f64>)> = Vec::new();
    for _ in 0..LIBRARY.cartridges {
        let mut now_s = 0.0;
        for _ in 0..600 {
            now_s += exponential_s(&mut random, 3600.0);
            let closes_s = now_s + LIBRARY.window_s;
            let mut arrivals = vec![now_s];
            loop {
                now_s += exponential_s(&mut random, 3600.0);
                if now_s > closes_s {
                    break;
                }
                arrivals.push(now_s);
            }
            // Memoryless: the next window's first request is still an exponential time away.
            now_s = closes_s;
            batches.push((closes_s, arrivals));
        }
    }
    batches.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free_s = vec![0.0f64; LIBRARY.drives as usize];
    let (mut total_s, mut requests) = (0.0, 0);
    for (closes_s, arrivals) in &batches {
        let drive = first_free(&free_s);
        let mut now_s = closes_s.max(free_s[drive]) + LIBRARY.mount_s;
        for arrived_s in arrivals {
            now_s += LIBRARY.read_s;
            total_s += now_s - arrived_s;
            requests += 1;
        }
        free_s[drive] = now_s + LIBRARY.unmount_s;
    }
    assert_close(
        requests as f64 / batches.len() as f64,
        solved.batch_size,
        0.01,
    );
    assert_close(solved.response_s, total_s / f64::from(requests), 0.02);
}
