//! OPT against all permutations.

use crate::common;

use common::{Mix, describe, drive, for_random_cases, locate_time};
use tapewise_model::{Micros, Random};
use tapewise_order::{Algorithm, Alternatives, Inputs, OPT_MAX_VISITS, Problem, opt};

/// The least locate time of all permutations, tried one by one.
fn least_of_all(problem: &Problem) -> Micros {
    fn go_on(problem: &Problem, from: Option<usize>, unread: &[usize], so_far: Micros) -> Micros {
        let Some(last) = from.filter(|_| unread.is_empty()) else {
            let ways = unread.iter().map(|&to| {
                let rest: Vec<usize> = unread
                    .iter()
                    .copied()
                    .filter(|&other| other != to)
                    .collect();
                let arc = match from {
                    Some(from) => problem.arc(from, to),
                    None => problem.first_arc(to),
                };
                go_on(problem, Some(to), &rest, so_far + arc)
            });
            return ways.min().unwrap_or(so_far);
        };
        so_far + problem.end_cost(last)
    }
    let all: Vec<usize> = (0..problem.len()).collect();
    go_on(problem, None, &all, Micros::ZERO)
}

#[test]
fn no_permutation_of_up_to_seven_visits_is_shorter() {
    for_random_cases(10_200, 10, |drive, random, case| {
        let requests = random.below(8) as usize;
        let problem = drive.random_problem(requests, Mix::Any, random);
        let order = opt(&problem).expect("at most seven visits");
        assert_eq!(
            locate_time(&problem, order.visits()),
            least_of_all(&problem),
            "{}",
            describe(drive, &problem, case)
        );
    });
}

#[test]
fn the_default_order_is_optimal_up_to_sixteen_visits_where_the_map_is_exact() {
    let check = |drive: &common::Drive, problem: &Problem, case| {
        let Some(optimal) = opt(problem) else { return };
        let exact = Alternatives::none();
        let best = Algorithm::Best
            .order(problem, &Inputs::new(&exact))
            .unwrap();
        assert_eq!(
            best.total_time(problem),
            optimal.total_time(problem),
            "{}",
            describe(drive, problem, case)
        );
    };
    for_random_cases(3_400, 11, |drive, random, case| {
        let requests = random.below(11) as usize;
        check(
            drive,
            &drive.random_problem(requests, Mix::Any, random),
            case,
        );
    });
    for_random_cases(102, 12, |drive, random, case| {
        let requests = 12 + random.below(6) as usize;
        check(
            drive,
            &drive.random_problem(requests, Mix::Any, random),
            case,
        );
    });
}

#[test]
fn it_is_left_to_others_above_sixteen_visits() {
    let lto8 = drive("lto8");
    for (requests, solved) in [(OPT_MAX_VISITS, true), (OPT_MAX_VISITS + 1, false)] {
        let requests = lto8.uniform_requests(requests, &mut Random::new(13, 0));
        let problem = lto8.problem(lto8.plain_options(), &requests);
        assert_eq!(opt(&problem).is_some(), solved);
    }
}

#[test]
fn of_two_requests_the_one_on_the_way_is_read_first() {
    let dst = drive("ampex-dst310");
    let requests = [dst.request(30_000, 30_000), dst.request(10_000, 10_000)];
    let problem = dst.problem(dst.plain_options(), &requests);
    assert_eq!(opt(&problem).unwrap().requests(&problem), [1, 0]);
}

#[test]
fn where_the_head_is_to_be_left_decides_the_last_visit() {
    // Out and back costs the same either way round on helical tape but for where it ends: from
    // block 20,000 read 10,000 and 30,000 and be left at 0, or at the far end.
    let dst = drive("ampex-dst310");
    let place = |block| dst.map.position(0, block).unwrap();
    let requests = [dst.request(10_000, 10_000), dst.request(30_000, 30_000)];
    for (left_at, expected) in [(0, [1, 0]), (39_000, [0, 1])] {
        let options = tapewise_order::Options {
            head: place(20_000),
            end: tapewise_order::End::At(place(left_at)),
            read_through: false,
        };
        let problem = dst.problem(options, &requests);
        assert_eq!(opt(&problem).unwrap().visits(), expected);
    }
}
