//! What holds for every algorithm, over every model.

use crate::common;

use common::{Drive, Mix, describe, drive, drives, for_random_cases, locate_time};
use tapewise_model::Random;
use tapewise_order::{Algorithm, Alternatives, Inputs, Plan, Problem, Request, is_permutation};

/// Orders with every algorithm: the visits once each, every request with extents once, the time
/// the sum of its arcs, and the plan's totals to the microsecond.
fn check(drive: &Drive, requests: &[Request], problem: &Problem, seed: u64, case: u64) {
    let alternatives = Alternatives::none();
    let inputs = Inputs {
        seed,
        coalesce_blocks: 1 + seed % 3_000,
        ..Inputs::new(&alternatives)
    };
    let filled: Vec<u32> = (0..requests.len() as u32)
        .filter(|&index| !requests[index as usize].extents.is_empty())
        .collect();
    let (read, inner_locate) = problem.fixed_time();
    for algorithm in Algorithm::ALL {
        // Exact orders of the largest batches take longer than all the rest: a few will do.
        let exact = matches!(algorithm, Algorithm::Opt | Algorithm::Best);
        if exact && (13..=16).contains(&problem.len()) && !case.is_multiple_of(32) {
            continue;
        }
        let context = || format!("{} in {}", algorithm.name(), describe(drive, problem, case));
        let Some(order) = algorithm.order(problem, &inputs) else {
            let too_many = algorithm == Algorithm::Opt && problem.len() > 16;
            let no_bands = algorithm == Algorithm::Cta && problem.tape().geometry.bands == 1;
            assert!(too_many || no_bands, "{}", context());
            continue;
        };
        assert_eq!(order.visits().len(), problem.len(), "{}", context());
        assert!(is_permutation(order.visits()), "{}", context());
        let mut delivered = order.requests(problem);
        delivered.sort_unstable();
        assert_eq!(delivered, filled, "{}", context());
        let locate = order.locate_time(problem);
        assert_eq!(
            locate,
            locate_time(problem, order.visits()),
            "{}",
            context()
        );
        let plan = Plan::new(problem, order.clone());
        assert_eq!(
            plan.totals.total,
            order.total_time(problem),
            "{}",
            context()
        );
        assert_eq!(plan.totals.locate, locate + inner_locate, "{}", context());
        assert_eq!(plan.totals.read, read, "{}", context());
    }
}

#[test]
fn all_give_permutations_whose_times_add_up_in_small_batches() {
    for_random_cases(10_200, 1, |drive, random, case| {
        let count = common::few(random);
        let requests = drive.random_requests(count, Mix::Any, random);
        let problem = drive.problem(drive.random_options(random), &requests);
        check(drive, &requests, &problem, random.below(10_000), case);
    });
}

#[test]
fn all_give_permutations_whose_times_add_up_in_larger_batches() {
    for_random_cases(102, 2, |drive, random, case| {
        let count = 60 + random.below(340) as usize;
        let requests = drive.random_requests(count, Mix::Any, random);
        let problem = drive.problem(drive.random_options(random), &requests);
        check(drive, &requests, &problem, random.below(10_000), case);
    });
}

#[test]
fn nothing_to_read_is_ordered_in_no_time() {
    for drive in drives() {
        for requests in [vec![], vec![Request { extents: vec![] }]] {
            let options = drive.random_options(&mut Random::new(3, 0));
            let problem = drive.problem(options, &requests);
            assert!(problem.is_empty());
            check(drive, &requests, &problem, 1, 0);
        }
    }
}

#[test]
fn the_same_batch_gives_the_same_order_again() {
    for_random_cases(170, 4, |drive, random, case| {
        let count = 100 + random.below(100) as usize;
        let problem = drive.random_problem(count, Mix::Any, random);
        let alternatives = Alternatives::new(&problem, Some(&drive.map));
        let inputs = Inputs::new(&alternatives);
        for algorithm in Algorithm::ALL {
            let orders = [(); 2].map(|()| algorithm.order(&problem, &inputs));
            assert_eq!(orders[0], orders[1], "{} in case {case}", algorithm.name());
        }
    });
}

#[test]
fn each_is_found_by_its_name_and_titled() {
    let names: std::collections::BTreeSet<&str> =
        Algorithm::ALL.into_iter().map(Algorithm::name).collect();
    assert_eq!(names.len(), Algorithm::ALL.len());
    for algorithm in Algorithm::ALL {
        assert_eq!(Algorithm::from_name(algorithm.name()), Some(algorithm));
        assert!(!algorithm.title().is_empty() && algorithm.version() >= 1);
    }
    assert_eq!(Algorithm::from_name("Best"), None);
}

#[test]
fn as_listed_means_by_the_first_of_the_requests_that_share_blocks() {
    let lto8 = drive("lto8");
    let requests = [
        lto8.request(5_000, 5_009),
        lto8.request(90_000, 90_001),
        lto8.request(100, 100),
        lto8.request(90_001, 90_002),
        lto8.request(5_005, 5_019),
    ];
    let problem = lto8.problem(lto8.plain_options(), &requests);
    let alternatives = Alternatives::none();
    let fifo = Algorithm::Fifo
        .order(&problem, &Inputs::new(&alternatives))
        .unwrap();
    assert_eq!(fifo.requests(&problem), [0, 4, 1, 3, 2]);
}

#[test]
fn a_random_order_depends_on_the_seed_alone() {
    let lto8 = drive("lto8");
    let requests = lto8.uniform_requests(10, &mut Random::new(5, 0));
    let problem = lto8.problem(lto8.plain_options(), &requests);
    let alternatives = Alternatives::none();
    let shuffled = |seed| {
        let inputs = Inputs {
            seed,
            ..Inputs::new(&alternatives)
        };
        Algorithm::Random.order(&problem, &inputs).unwrap()
    };
    assert_eq!(shuffled(1).visits(), [1, 4, 9, 8, 0, 5, 7, 6, 2, 3]);
    assert_ne!(shuffled(1), shuffled(2));
}
