//! SLTF: every step goes to a nearest unread visit.

use crate::common;

use common::{Drive, Mix, describe, drive, drives, for_random_cases};
use tapewise_model::{Micros, Position, PositionSource, Random};
use tapewise_order::{Options, PlacedExtent, Problem, Request, coalesce, sltf, sltf_by_sections};

/// Follows an order and looks at all unread visits at each step; `None` where every step was to
/// one of the nearest.
fn first_wrong_step(problem: &Problem, sequence: &[u32]) -> Option<String> {
    let mut unread: Vec<usize> = (0..problem.len()).collect();
    let mut from = None;
    let mut times = vec![Micros::ZERO; problem.len()];
    for (step, &to) in sequence.iter().enumerate() {
        problem.arcs(from, &mut times);
        let &nearest = unread.iter().min_by_key(|&&visit| times[visit])?;
        if times[to as usize] != times[nearest] {
            return Some(format!(
                "step {step}: from {from:?} to {to} in {:?}, but {nearest} is {:?} away",
                times[to as usize], times[nearest]
            ));
        }
        unread.retain(|&visit| visit != to as usize);
        from = Some(to as usize);
    }
    None
}

fn check(drive: &Drive, problem: &Problem, case: u64) {
    for order in [sltf(problem), sltf_by_sections(problem)] {
        if let Some(wrong) = first_wrong_step(problem, order.visits()) {
            panic!("{wrong}\n{}", describe(drive, problem, case));
        }
    }
}

#[test]
fn every_step_is_to_a_nearest_visit_in_small_batches() {
    for_random_cases(12_000, 30, |drive, random, case| {
        let requests = common::few(random);
        let problem = drive.random_problem(requests, Mix::SingleSegment, random);
        check(drive, &problem, case);
    });
}

#[test]
fn every_step_is_to_a_nearest_visit_in_large_batches() {
    for_random_cases(170, 31, |drive, random, case| {
        let requests = 200 + random.below(400) as usize;
        let problem = drive.random_problem(requests, Mix::SingleSegment, random);
        check(drive, &problem, case);
    });
    for (case, drive) in drives().iter().enumerate() {
        let random = &mut Random::new(32, case as u64);
        check(
            drive,
            &drive.random_problem(2_000, Mix::SingleSegment, random),
            case as u64,
        );
    }
}

#[test]
fn every_step_is_to_a_nearest_visit_where_requests_have_several_segments() {
    for_random_cases(12_000, 33, |drive, random, case| {
        let requests = common::few(random);
        let problem = drive.random_problem(requests, Mix::Any, random);
        check(drive, &problem, case);
    });
}

#[test]
fn every_step_is_to_a_nearest_chain_in_coalesced_batches() {
    for_random_cases(4_000, 34, |drive, random, case| {
        let requests = common::few(random);
        let problem = drive.random_problem(requests, Mix::SingleSegment, random);
        let chains = coalesce(&problem, 1 + random.below(2_000));
        check(drive, &problem.contracted(&chains), case);
    });
}

/// A one-block request at a recorded place.
fn recorded(wrap: u16, lpos: u32, block: u64) -> Request {
    let place = |lpos| Position {
        partition: 0,
        wrap,
        lpos,
        source: PositionSource::Recorded,
        error_lpos: 0,
    };
    Request::single(PlacedExtent {
        first_block: block,
        last_block: block,
        bytes: 1 << 19,
        start: place(lpos),
        end: place(lpos),
    })
}

#[test]
fn going_back_over_the_middle_of_an_lto_wrap_is_found_next_to_a_visit_right_at_the_middle() {
    let lto8 = drive("lto8");
    let middle = lto8.tape.geometry.lpos_middle();
    let requests = [recorded(0, middle - 1, 1_000), recorded(0, middle, 1_001)];
    let options = Options {
        head: recorded(0, middle + 1_000, 0).extents[0].start,
        ..lto8.plain_options()
    };
    // Back on the wrap: 4.24 + 11.32 + 0.62 = 16.17 s to the middle, but from one half of the tape
    // to the other, one unit farther, 6.04 s less.
    let problem = lto8.problem(options, &requests);
    assert!(problem.first_arc(0) < problem.first_arc(1));
    assert_eq!(sltf_by_sections(&problem).visits()[0], 0);
}

#[test]
fn what_follows_the_last_part_of_a_file_comes_next_although_another_visit_begins_between_its_parts()
{
    // 0: blocks 100 and 5,000; 1: block 4,000; 2: block 5,001, right behind the last part of 0;
    // 3: two tracks farther at 52.5 % of the track, nearer to the least time, at 51.5 + 4 %, than 2.
    let dlt = drive("dlt4000-jm98");
    let two_parts = Request {
        extents: vec![dlt.extent(0, 100, 100), dlt.extent(0, 5_000, 5_000)],
    };
    let single = |block| dlt.request(block, block);
    let requests = [two_parts, single(4_000), single(5_001), single(24_539)];
    let problem = dlt.problem(dlt.plain_options(), &requests);
    assert_eq!(problem.arc(0, 2), Micros::ZERO);
    assert_eq!(sltf_by_sections(&problem).visits()[..2], [0, 2]);
}
