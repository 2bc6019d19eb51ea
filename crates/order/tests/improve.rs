//! Improvement: never longer, and its gains are real (asserted inside, in debug builds).

use crate::common;

use common::{Mix, describe, drive, for_random_cases, order};
use tapewise_model::Random;
use tapewise_order::{Algorithm, Alternatives, Inputs, Order, improve, is_permutation, loss, opt};

const ALL_MOVES: u64 = u64::MAX;

#[test]
#[cfg_attr(
    not(debug_assertions),
    ignore = "gains are recomputed in debug builds only"
)]
fn gains_equal_a_full_recomputation() {
    // `improve` asserts it at every move: an error here would be a panic there.
    let checked = std::panic::catch_unwind(|| debug_assert!(false, "expected: assertions are on"));
    assert!(checked.is_err());
    for_random_cases(340, 74, |drive, random, _| {
        let problem = drive.random_problem(60, Mix::Any, random);
        let mut sequence: Vec<u32> = (0..problem.len() as u32).collect();
        random.shuffle(&mut sequence);
        improve(&problem, &Order::new(sequence).unwrap(), ALL_MOVES);
    });
}

#[test]
fn an_improved_order_is_never_longer_from_whatever_it_began_with() {
    for_random_cases(3_400, 70, |drive, random, case| {
        let count = common::few(random);
        let problem = drive.random_problem(count, Mix::Any, random);
        let alternatives = Alternatives::none();
        let inputs = Inputs {
            seed: case,
            ..Inputs::new(&alternatives)
        };
        for algorithm in [Algorithm::Random, Algorithm::Loss, Algorithm::Sort] {
            let before = algorithm.order(&problem, &inputs).unwrap();
            for moves in [0, 1 + random.below(200), ALL_MOVES] {
                let after = improve(&problem, &before, moves);
                assert!(
                    is_permutation(after.visits())
                        && after.visits().len() == problem.len()
                        && after.total_time(&problem) <= before.total_time(&problem),
                    "{}",
                    describe(drive, &problem, case)
                );
            }
        }
    });
}

#[test]
fn no_moves_leave_an_order_as_it_was() {
    let dlt = drive("dlt4000");
    let requests = dlt.uniform_requests(30, &mut Random::new(71, 0));
    let problem = dlt.problem(dlt.plain_options(), &requests);
    let listed: Vec<u32> = (0..30).rev().collect();
    assert_eq!(improve(&problem, &order(&listed), 0), order(&listed));
}

#[test]
fn an_order_improved_until_nothing_gains_is_not_improved_again() {
    for_random_cases(340, 72, |drive, random, _| {
        let problem = drive.random_problem(40, Mix::Any, random);
        let once = improve(&problem, &loss(&problem), ALL_MOVES);
        assert_eq!(improve(&problem, &once, ALL_MOVES), once);
    });
}

#[test]
fn a_run_is_put_back_where_it_belongs() {
    // On helical tape from its beginning everything in logical order is best; 3 and 4 were torn
    // out to the end.
    let dst = drive("ampex-dst310");
    let requests: Vec<_> = (1..8).map(|n| dst.request(n * 5_000, n * 5_000)).collect();
    let problem = dst.problem(dst.plain_options(), &requests);
    let torn = order(&[0, 1, 2, 5, 6, 3, 4]);
    assert_eq!(
        improve(&problem, &torn, ALL_MOVES).visits(),
        [0, 1, 2, 3, 4, 5, 6]
    );
}

#[test]
fn of_the_loss_above_the_optimum_most_is_won_back() {
    let mut sums = [0.0; 3];
    for_random_cases(340, 73, |drive, random, _| {
        let requests = drive.uniform_requests(10, random);
        let problem = drive.problem(drive.plain_options(), &requests);
        let constructed = loss(&problem);
        let orders: [Order; 3] = [
            opt(&problem).unwrap(),
            improve(&problem, &constructed, ALL_MOVES),
            constructed,
        ];
        for (sum, order) in sums.iter_mut().zip(&orders) {
            *sum += order.locate_time(&problem).as_secs_f64();
        }
    });
    let [optimal, improved, constructed] = sums;
    assert!(optimal <= improved && improved <= constructed);
    assert!(
        improved - optimal < 0.5 * (constructed - optimal),
        "{sums:?}"
    );
}
