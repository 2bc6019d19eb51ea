//! The default order: never longer than sorting, as predicted or at worst.

use crate::common;

use common::{Drive, Mix, describe, drives, for_random_cases};
use tapewise_model::Random;
use tapewise_order::{Algorithm, Alternatives, Inputs, Order, Problem};

fn of(algorithm: Algorithm, problem: &Problem, alternatives: &Alternatives) -> Order {
    algorithm
        .order(problem, &Inputs::new(alternatives))
        .unwrap()
}

fn check(drive: &Drive, problem: &Problem, case: u64) {
    let alternatives = Alternatives::new(problem, Some(&drive.map));
    let best = of(Algorithm::Best, problem, &alternatives);
    let sorted = of(Algorithm::Sort, problem, &alternatives);
    let context = || describe(drive, problem, case);
    assert!(
        best.total_time(problem) <= sorted.total_time(problem),
        "{}",
        context()
    );
    assert!(
        alternatives.worst_total(problem, &best) <= alternatives.worst_total(problem, &sorted),
        "{}",
        context()
    );
    assert_eq!(
        best,
        of(Algorithm::Best, problem, &alternatives),
        "{}",
        context()
    );
}

#[test]
fn it_is_never_longer_than_sorting_as_predicted_nor_at_worst() {
    for_random_cases(1_700, 80, |drive, random, case| {
        let count = match random.below(10) {
            0 => 20 + random.below(40),
            _ => random.below(11),
        };
        check(
            drive,
            &drive.random_problem(count as usize, Mix::Any, random),
            case,
        );
    });
}

#[test]
fn it_is_never_longer_than_sorting_in_large_batches() {
    for (case, drive) in drives().iter().enumerate() {
        let random = &mut Random::new(81, case as u64);
        let problem = drive.random_problem(400, Mix::Any, random);
        check(drive, &problem, case as u64);
    }
}

#[test]
fn it_is_never_longer_than_loss_and_sltf_where_the_map_is_exact() {
    for_random_cases(340, 82, |drive, random, case| {
        let problem = drive.random_problem(60, Mix::Any, random);
        let exact = Alternatives::none();
        let best = of(Algorithm::Best, &problem, &exact).total_time(&problem);
        for other in [Algorithm::Loss, Algorithm::Sltf, Algorithm::TwoPass] {
            let other = of(other, &problem, &exact).total_time(&problem);
            assert!(best <= other, "{}", describe(drive, &problem, case));
        }
    });
}
