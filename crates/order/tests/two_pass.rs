//! CERN's two passes: out over the forward wraps, back over the reverse ones.

use crate::common;

use common::{drive, for_random_cases};
use tapewise_order::two_pass;

/// A block of LTO-8 by wrap and share of the wrap in reading order.
fn block(wrap: u64, share: f64) -> u64 {
    wrap * 110_859 + (share * 110_859.0) as u64
}

#[test]
fn forward_wraps_are_read_outwards_and_reverse_wraps_homewards() {
    let lto8 = drive("lto8");
    let requests = [
        block(0, 0.9),
        block(1, 0.2), // at 0.8 of the tape
        block(1, 0.9), // at 0.1
        block(2, 0.5),
        block(3, 0.1), // at 0.9
        block(4, 0.1),
    ]
    .map(|block| lto8.request(block, block));
    let problem = lto8.problem(lto8.plain_options(), &requests);
    assert_eq!(two_pass(&problem).requests(&problem), [5, 3, 0, 4, 1, 2]);
}

#[test]
fn at_the_same_place_the_lower_block_comes_first() {
    let m8 = drive("lto7-m8");
    let wrap = 2 * m8.map.spans()[0].end_block;
    let requests = [wrap + 500, 500].map(|block| m8.request(block, block));
    let problem = m8.problem(m8.plain_options(), &requests);
    assert_eq!(two_pass(&problem).visits(), [0, 1]);
}

#[test]
fn on_helical_tape_it_sorts() {
    for_random_cases(51, 90, |drive, random, _| {
        if drive.tape.model.name() == "helical-linear" {
            let requests = drive.uniform_requests(20, random);
            let problem = drive.problem(drive.plain_options(), &requests);
            assert!(two_pass(&problem).visits().is_sorted());
        }
    });
}
