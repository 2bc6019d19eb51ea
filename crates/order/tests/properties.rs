//! What holds for every batch, whatever the drive: bounds, proofs, determinism, clocks, limits.

use crate::common;

use common::{Drive, Mix, describe, drive, drives, few, for_random_cases};
use std::cell::Cell;
use tapewise_model::locate::{FourRegion, LtoCoefficients, LtoRegression};
use tapewise_model::{LocateModel, Micros, Position, Random};
use tapewise_order::{
    Algorithm, Alternatives, Assignment, Effort, End, Inputs, Motion, Options, Order, PlacedExtent,
    Plan, Problem, Request, Solution, Tape, best, is_permutation, opt, patch, sort,
};

/// Work that leaves batches of some tens of visits now proven, now not.
const LITTLE_WORK: u64 = 300_000;

fn solve(problem: &Problem, work: u64, prove: bool) -> Solution {
    let effort = Effort {
        work,
        prove,
        out_of_time: &|| false,
    };
    best(problem, &Alternatives::none(), &effort, 1)
}

/// The order with a run of it put elsewhere: most near a good order are hardly longer.
fn with_a_run_moved(order: &Order, random: &mut Random) -> Order {
    let mut visits = order.visits().to_vec();
    if visits.len() > 1 {
        let begin = random.below(visits.len() as u64) as usize;
        let length = 1 + random.below((visits.len() - begin) as u64) as usize;
        let run: Vec<u32> = visits
            .drain(begin..begin + length.min(visits.len()))
            .collect();
        let place = random.below(visits.len() as u64 + 1) as usize;
        visits.splice(place..place, run);
    }
    Order::new(visits).unwrap()
}

/// Every bound that we compute against every order that we can make.
fn check_bounds(problem: &Problem, random: &mut Random, context: &dyn Fn() -> String) {
    let quick = solve(problem, LITTLE_WORK, false);
    let proof = solve(problem, LITTLE_WORK, true);
    let (read, inner_locate) = problem.fixed_time();
    let plain = Assignment::new(problem).bound() + read + inner_locate;
    let bounds = [quick.bound, proof.bound].map(|bound| bound.expect("a bound"));
    for bound in bounds {
        assert!(bound >= plain, "weaker than the assignment: {}", context());
    }
    let least = bounds[0].max(bounds[1]);
    let alternatives = Alternatives::none();
    let inputs = Inputs {
        seed: random.below(1 << 40),
        effort: Effort {
            work: LITTLE_WORK,
            ..Effort::usual()
        },
        ..Inputs::new(&alternatives)
    };
    let mut orders: Vec<Order> = Algorithm::ALL
        .into_iter()
        .filter_map(|algorithm| algorithm.order(problem, &inputs))
        .collect();
    orders.push(patch(problem, &Assignment::new(problem)));
    orders.extend([quick.order.clone(), proof.order.clone()]);
    orders.extend((0..20).map(|_| with_a_run_moved(&proof.order, random)));
    for order in &orders {
        assert!(is_permutation(order.visits()) && order.visits().len() == problem.len());
        let total = order.total_time(problem);
        assert!(total >= least, "{total:?} below {least:?}: {}", context());
    }
}

#[test]
fn no_order_is_below_any_bound() {
    for_random_cases(19 * 40, 1, |drive, random, case| {
        let requests = random.below(61) as usize;
        let problem = drive.random_problem(requests, Mix::Any, random);
        check_bounds(&problem, random, &|| describe(drive, &problem, case));
    });
}

/// Whether the proof and dynamic programming agree.
fn check_proof(problem: &Problem, context: &dyn Fn() -> String) {
    let optimal = opt(problem).expect("few visits").total_time(problem);
    let proof = solve(problem, u64::MAX, true);
    let found = (proof.bound, proof.order.total_time(problem));
    assert_eq!(found, (Some(optimal), optimal), "{}", context());
    assert!(proof.is_optimal(problem) && !proof.cut_short);
    let assignment = Assignment::new(problem);
    assert!(assignment.is_proof(problem), "{}", context());
    let (read, inner_locate) = problem.fixed_time();
    let patched = patch(problem, &assignment).total_time(problem);
    let bound = assignment.bound() + read + inner_locate;
    assert!(bound <= optimal && optimal <= patched, "{}", context());
}

#[test]
fn assignment_patching_and_the_default_order_enclose_the_optimum_of_up_to_eleven_visits() {
    for_random_cases(19 * 600, 2, |drive, random, case| {
        let requests = random.below(12) as usize;
        let problem = drive.random_problem(requests, Mix::Any, random);
        check_proof(&problem, &|| describe(drive, &problem, case));
    });
}

/// Up to twelve visits the default order is dynamic programming itself; above, it is not.
#[test]
fn the_proof_agrees_with_dynamic_programming_at_thirteen_and_fourteen_visits() {
    let mut proven = 0;
    for_random_cases(19 * 180, 3, |drive, random, case| {
        let requests = 13 + random.below(9) as usize;
        let problem = drive.random_problem(requests, Mix::Any, random);
        if (13..=14).contains(&problem.len()) {
            check_proof(&problem, &|| describe(drive, &problem, case));
            proven += 1;
        }
    });
    assert!(proven > 600, "{proven}");
}

/// A tape of the shape of LTO-8 with made-up times: some free, some absurdly dear.
fn strange_tape(random: &mut Random) -> Tape {
    let tape = drive("lto8").tape.clone();
    let mut pick = |choices: &[f64]| choices[random.below(choices.len() as u64) as usize];
    let geometry = tape.geometry.clone();
    let model = match pick(&[0.0, 1.0, 2.0]) as u8 {
        0 => LocateModel::FourRegion(FourRegion::new(
            [pick(&[0.0, 21.0, 1e5]), pick(&[0.0, 154.0, 1e4])],
            [pick(&[0.0, 31.0, 1e5]), pick(&[0.0, 132.0, 1e4])],
            pick(&[-0.3, 0.0, 0.04, 0.3]),
            geometry.lpos_min,
            geometry.lpos_max,
        )),
        _ => {
            let coefficients = LtoCoefficients {
                intercept_s: pick(&[0.0, 4.2, 1e5]),
                wrap_change_s: pick(&[-6.0, 0.0, 6.7, 1e5]),
                band_change_s: pick(&[0.0, 3.2, 1e5]),
                mid_cross_s: pick(&[-1e5, -6.0, 0.0, 1e4]),
                direction_change_s: pick(&[0.0, 5.2, 1e5]),
                step_back_s: pick(&[0.0, 11.3, 1e5]),
                per_lpos_s: pick(&[0.0, 0.0006192, 1.0]),
                residual_s: 0.0,
            };
            LocateModel::LtoRegression(LtoRegression::new(&coefficients, &geometry))
        }
    };
    Tape { model, ..tape }
}

#[test]
fn proofs_and_bounds_hold_where_times_are_free_or_absurd() {
    let lto8 = drive("lto8");
    for case in 0..1_800 {
        let random = &mut Random::new(4, case);
        let tape = strange_tape(random);
        let requests = match case % 6 {
            0 => 15 + random.below(30) as usize,
            1 => 13,
            _ => random.below(10) as usize,
        };
        let requests = lto8.random_requests(requests, Mix::Any, random);
        let options = lto8.random_options(random);
        let problem = Problem::new(tape.clone(), options, &requests);
        let context = || format!("{:?}\n{}", tape.model, describe(lto8, &problem, case));
        match problem.len() {
            0..=14 => check_proof(&problem, &context),
            _ => check_bounds(&problem, random, &context),
        }
    }
}

/// Requests of which many cannot be told apart by place: at the same one, or in a row without gaps.
fn alike(drive: &Drive, count: u64, random: &mut Random) -> Vec<Request> {
    let end = drive.map.end_block(0);
    let base = random.below(end - 10 * count);
    let in_a_row = random.below(2) == 0;
    (0..count)
        .map(|index| {
            // One block each; what shares a place is told apart by block number alone.
            let block = base + index;
            let mut extent = drive.extent(0, block, block);
            if !in_a_row {
                let place = drive
                    .map
                    .position(0, base + random.below(3) * end / 16 % count);
                extent.start = place.unwrap();
                extent.end = extent.start;
            }
            Request::single(extent)
        })
        .collect()
}

#[test]
fn ties_and_free_moves_are_proven_too() {
    for_random_cases(19 * 40, 5, |drive, random, case| {
        let count = [2, 5, 9, 13, 40][case as usize % 5];
        let requests = alike(drive, count, random);
        let problem = drive.problem(drive.random_options(random), &requests);
        let context = || describe(drive, &problem, case);
        match problem.len() {
            0..=14 => check_proof(&problem, &context),
            _ => check_bounds(&problem, random, &context),
        }
    });
}

#[test]
fn the_same_seed_gives_the_same_on_one_thread_and_on_two() {
    let batches: Vec<Problem> = (0..10)
        .map(|case| {
            let random = &mut Random::new(6, case);
            let drive = &drives()[(case as usize * 5 + 3) % drives().len()];
            drive.random_problem(20 + 25 * case as usize, Mix::Any, random)
        })
        .collect();
    let run = || -> Vec<(Solution, Solution)> {
        let one = |problem| {
            (
                solve(problem, 500_000, false),
                solve(problem, 500_000, true),
            )
        };
        batches.iter().map(one).collect()
    };
    let alone = run();
    let (one, other) = std::thread::scope(|scope| {
        let threads = [scope.spawn(run), scope.spawn(run)];
        let [one, other] = threads.map(|thread| thread.join().unwrap());
        (one, other)
    });
    assert_eq!(alone, one);
    assert_eq!(alone, other);
    let searched = alone.iter().zip(&batches);
    let searched = searched.filter(|((quick, _), problem)| !quick.is_optimal(problem));
    assert!(
        searched.count() > 0,
        "all proven: nothing was cut at the work"
    );
}

#[test]
fn a_clock_that_stops_it_anywhere_leaves_a_valid_bound_and_an_order_no_longer_than_sorting() {
    let mut stopped = 0;
    for_random_cases(19 * 60, 7, |drive, random, case| {
        let requests = few(random) + 10;
        let problem = drive.random_problem(requests, Mix::Any, random);
        let most = 10u64.pow(random.below(5) as u32);
        let looks = Cell::new(random.below(most));
        let out_of_time = || {
            let left = looks.get();
            looks.set(left.saturating_sub(1));
            left == 0
        };
        let effort = Effort {
            work: u64::MAX,
            prove: true,
            out_of_time: &out_of_time,
        };
        let stopped_one = best(&problem, &Alternatives::none(), &effort, 1);
        let reference = solve(&problem, 1_000_000, true);
        let context = || describe(drive, &problem, case);
        let order = &stopped_one.order;
        assert!(is_permutation(order.visits()) && order.visits().len() == problem.len());
        let total = order.total_time(&problem);
        assert!(
            total <= sort(&problem).total_time(&problem),
            "{}",
            context()
        );
        let bound = stopped_one.bound.expect("a bound");
        let known = reference.order.total_time(&problem).min(total);
        assert!(bound <= known, "{bound:?} above {known:?}: {}", context());
        if !stopped_one.is_optimal(&problem) {
            assert!(stopped_one.cut_short, "{}", context());
            stopped += 1;
        }
    });
    assert!(stopped > 100, "{stopped} stopped");
}

/// Requests of as many bytes as can be, with block numbers up to the last, at places of a real map.
fn at_the_limits(drive: &Drive, count: u64, random: &mut Random) -> Vec<Request> {
    let somewhere = |random: &mut Random| -> Position {
        let block = random.below(drive.map.end_block(0));
        drive.map.position(0, block).unwrap()
    };
    let extent = |most_bytes: u64, random: &mut Random| {
        let first_block = match random.below(4) {
            0 => 0,
            _ => u64::MAX - random.below(2 * count),
        };
        let longest = (u64::MAX - first_block).min([0, 1, 7, u64::MAX][random.below(4) as usize]);
        PlacedExtent {
            first_block,
            last_block: first_block + longest,
            bytes: most_bytes - random.below(3),
            start: somewhere(random),
            end: somewhere(random),
        }
    };
    let request = |_| {
        let extents = 1 + random.below(2);
        let most_bytes = u64::MAX / extents;
        let extents = (0..extents).map(|_| extent(most_bytes, random));
        Request {
            extents: extents.collect(),
        }
    };
    (0..count).map(request).collect()
}

#[test]
fn block_numbers_and_bytes_near_the_end_of_64_bits_are_ordered_like_any() {
    for_random_cases(19 * 12, 8, |drive, random, case| {
        let count = [1, 2, 6, 20][case as usize % 4];
        let requests = at_the_limits(drive, count, random);
        let options = Options {
            end: [End::Anywhere, End::Rewound][case as usize % 2],
            ..drive.random_options(random)
        };
        let problem = drive.problem(options, &requests);
        for visit in 0..problem.len() {
            let (_, motion) = problem.motion(None, visit);
            assert_eq!(motion, Motion::Locate, "nothing follows the head");
        }
        check_bounds(&problem, random, &|| describe(drive, &problem, case));
        let order = solve(&problem, LITTLE_WORK, false).order;
        assert_eq!(order.requests(&problem).len(), requests.len());
        let total = order.total_time(&problem);
        let plan = Plan::new(&problem, order);
        assert_eq!(plan.totals.total, total);
        assert!(total >= Micros::ZERO);
    });
}
