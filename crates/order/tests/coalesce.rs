//! Coalescing: chains by the paper's threshold, and what reading them in one go adds up to.

use crate::common;

use common::{Mix, describe, drive, for_random_cases};
use tapewise_order::{
    Order, Problem, Request, TWO_SECTIONS_SEGMENTS, coalesce, coalesced, expand, loss, sltf,
};

fn chains_of(firsts: &[u64], threshold: u64) -> Vec<Vec<u32>> {
    let dlt = drive("dlt4000");
    let requests: Vec<Request> = firsts.iter().map(|&b| dlt.request(b, b)).collect();
    coalesce(&dlt.problem(dlt.plain_options(), &requests), threshold)
}

#[test]
fn a_request_joins_when_it_begins_less_than_the_threshold_behind_the_one_before() {
    assert_eq!(chains_of(&[0, 1_409], 1_410), [vec![0, 1]]);
    assert_eq!(chains_of(&[0, 1_410], 1_410), [vec![0], vec![1]]);
}

#[test]
fn a_chain_may_grow_longer_than_the_threshold() {
    assert_eq!(TWO_SECTIONS_SEGMENTS, 1_410);
    let firsts = [0, 1_000, 2_000, 3_000, 5_000, 6_409, 7_819];
    let chains = chains_of(&firsts, TWO_SECTIONS_SEGMENTS);
    assert_eq!(chains, [vec![0, 1, 2, 3], vec![4, 5], vec![6]]);
}

#[test]
fn a_long_request_counts_from_where_it_begins() {
    let dlt = drive("dlt4000");
    let requests = [dlt.request(0, 1_999), dlt.request(2_000, 2_000)];
    let problem = dlt.problem(dlt.plain_options(), &requests);
    assert_eq!(coalesce(&problem, 1_410), [vec![0], vec![1]]);
    assert_eq!(coalesce(&problem, 2_001), [vec![0, 1]]);
}

#[test]
fn partitions_are_not_joined() {
    let ltfs = &common::drives()[9];
    assert_eq!(ltfs.map.spans().last().unwrap().partition, 1);
    let in_partition = |partition| Request::single(ltfs.extent(partition, 10, 10));
    let problem = ltfs.problem(ltfs.plain_options(), &[in_partition(0), in_partition(1)]);
    assert_eq!(coalesce(&problem, u64::MAX), [vec![0], vec![1]]);
}

#[test]
fn an_order_of_chains_takes_exactly_as_long_as_the_order_it_stands_for() {
    for_random_cases(5_100, 60, |drive, random, case| {
        let count = common::few(random);
        let problem = drive.random_problem(count, Mix::Any, random);
        let threshold = random.below(10u64.pow(1 + case as u32 % 5));
        let chains = coalesce(&problem, threshold);
        let contracted = problem.contracted(&chains);
        let mut shuffled: Vec<u32> = (0..contracted.len() as u32).collect();
        random.shuffle(&mut shuffled);
        for order in [
            loss(&contracted),
            sltf(&contracted),
            Order::new(shuffled).unwrap(),
        ] {
            let expanded = expand(&order, &chains);
            assert_eq!(
                order.total_time(&contracted),
                expanded.total_time(&problem),
                "{}",
                describe(drive, &problem, case)
            );
            assert_eq!(order.requests(&contracted), expanded.requests(&problem));
        }
    });
}

#[test]
fn a_threshold_of_zero_changes_nothing() {
    for_random_cases(510, 61, |drive, random, _| {
        let count = common::few(random);
        let problem = drive.random_problem(count, Mix::SingleSegment, random);
        assert_eq!(coalesced(&problem, 0, loss), loss(&problem));
    });
}

#[test]
fn an_endless_threshold_sorts() {
    let sorted = |problem: &Problem| coalesced(problem, u64::MAX, loss);
    assert_eq!(sorted(&some_problem()).visits(), [0, 1, 2, 3]);
}

fn some_problem() -> Problem {
    let dlt = drive("dlt4000");
    let requests = [400_000, 7, 90_000, 12_345].map(|block| dlt.request(block, block));
    dlt.problem(dlt.plain_options(), &requests)
}
