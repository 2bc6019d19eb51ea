//! The plan: what the drive does step by step, and what it adds up to.

use crate::common;

use common::{Mix, drive, for_random_cases, order};
use tapewise_model::{Micros, Position, Random};
use tapewise_order::{Action, End, Options, Order, Plan, Problem, Request};

fn lto8_problem(end: End, read_through: bool, requests: &[Request]) -> Problem {
    let lto8 = drive("lto8");
    let options = Options {
        end,
        read_through,
        ..lto8.plain_options()
    };
    lto8.problem(options, requests)
}

fn actions(plan: &Plan) -> Vec<(Action, u32, u32)> {
    plan.steps
        .iter()
        .map(|step| (step.action, step.visit, step.extent))
        .collect()
}

#[test]
fn each_visit_is_located_and_read_and_the_head_brought_home() {
    let lto8 = drive("lto8");
    let requests = [lto8.request(1_000, 1_999), lto8.request(500_000, 500_000)];
    let problem = lto8_problem(End::Rewound, false, &requests);
    let plan = Plan::new(&problem, order(&[1, 0]));
    use Action::{Finish, Locate, Read};
    let expected = [
        (Locate, 1, 0),
        (Read, 1, 0),
        (Locate, 0, 0),
        (Read, 0, 0),
        (Finish, 0, 0),
    ];
    assert_eq!(actions(&plan), expected);
    assert_eq!(plan.steps[0].from, lto8.beginning_of_tape());
    assert_eq!(plan.steps[4].to, lto8.beginning_of_tape());
    assert_eq!(plan.steps[3].duration, lto8.tape.transfer.time(1_000 << 19));
    assert_eq!(plan.totals.locates, 2);
    // Block 500,000 lies on wrap 4: there, back to wrap 0, and no change to rewind.
    assert_eq!(plan.totals.wrap_changes, 2);
}

#[test]
fn what_follows_is_read_without_a_command_in_between() {
    let lto8 = drive("lto8");
    let requests = [lto8.request(100, 199), lto8.request(200, 299)];
    let plan = Plan::new(
        &lto8_problem(End::Anywhere, true, &requests),
        order(&[0, 1]),
    );
    use Action::{Locate, Read};
    assert_eq!(actions(&plan), [(Locate, 0, 0), (Read, 0, 0), (Read, 1, 0)]);
    assert_eq!(plan.steps[2].from, lto8.map.position(0, 200).unwrap());
}

#[test]
fn a_turn_at_the_end_of_a_wrap_is_time_but_no_locate() {
    let lto8 = drive("lto8");
    let requests = [
        lto8.request(110_000, 110_858),
        lto8.request(110_859, 110_900),
    ];
    let plan = Plan::new(
        &lto8_problem(End::Anywhere, false, &requests),
        order(&[0, 1]),
    );
    use Action::{Locate, Read, ReadThrough};
    let expected = [
        (Locate, 0, 0),
        (Read, 0, 0),
        (ReadThrough, 1, 0),
        (Read, 1, 0),
    ];
    assert_eq!(actions(&plan), expected);
    assert_eq!(plan.steps[2].duration, Micros(1_500_000));
    assert_eq!((plan.totals.locates, plan.totals.wrap_changes), (1, 1));
}

#[test]
fn a_file_of_several_parts_has_its_moves_and_reads_by_part() {
    let lto8 = drive("lto8");
    let parts = [(9_000, 9_009), (100, 109), (130, 139)];
    let file = Request {
        extents: parts.iter().map(|&(a, b)| lto8.extent(0, a, b)).collect(),
    };
    let plan = Plan::new(&lto8_problem(End::Anywhere, true, &[file]), order(&[0]));
    use Action::{Locate, Read, ReadThrough};
    let expected = [
        (Locate, 0, 0),
        (Read, 0, 0),
        (Locate, 0, 1),
        (Read, 0, 1),
        (ReadThrough, 0, 2),
        (Read, 0, 2),
    ];
    assert_eq!(actions(&plan), expected);
    assert_eq!(
        plan.totals.read,
        Micros(3 * lto8.tape.transfer.time(10 << 19).0)
    );
}

#[test]
fn steps_follow_one_another_in_time_and_place() {
    for_random_cases(3_400, 110, |drive, random, case| {
        let count = common::few(random);
        let problem = drive.random_problem(count, Mix::Any, random);
        let mut sequence: Vec<u32> = (0..problem.len() as u32).collect();
        random.shuffle(&mut sequence);
        let order = Order::new(sequence).unwrap();
        let plan = Plan::new(&problem, order.clone());
        let (mut clock, mut read) = (Micros::ZERO, 0);
        for step in &plan.steps {
            assert_eq!(step.begin, clock, "case {case}");
            assert!(step.duration >= Micros::ZERO, "case {case}");
            clock += step.duration;
            if step.action == Action::Read {
                let extent = problem.visits()[step.visit as usize].extents[step.extent as usize];
                let place = |p: Position| (p.partition, p.wrap, p.lpos);
                assert_eq!(place(step.from), place(extent.start), "case {case}");
                assert_eq!(place(step.to), place(extent.end), "case {case}");
                read += 1;
            }
        }
        let extents: usize = problem
            .visits()
            .iter()
            .map(|visit| visit.extents.len())
            .sum();
        assert_eq!(read, extents, "case {case}");
        assert_eq!(plan.totals.total, clock);
        assert_eq!(plan.totals.total, plan.totals.locate + plan.totals.read);
        assert_eq!(plan.totals.total, order.total_time(&problem), "case {case}");
    });
}

#[test]
fn nothing_to_read_takes_no_step() {
    let problem = lto8_problem(End::Rewound, false, &[]);
    let plan = Plan::new(&problem, order(&[]));
    assert!(plan.steps.is_empty());
    assert_eq!(plan.totals.total, Micros::ZERO);
}

#[test]
fn a_read_on_one_wrap_moves_as_far_as_it_is_long() {
    let lto8 = drive("lto8");
    let problem = lto8_problem(End::Anywhere, false, &[lto8.request(0, 9_999)]);
    let plan = Plan::new(&problem, order(&[0]));
    // 10,000 of 110,859 blocks of 168,401 LPOS.
    assert_eq!(plan.totals.distance_lpos, 15_190);
}

#[test]
fn a_read_over_the_end_of_a_wrap_moves_to_the_end_and_back() {
    let lto8 = drive("lto8");
    // 10,000 blocks on each side of the end: it ends where it began.
    let requests = [lto8.request(100_859, 120_858)];
    let plan = Plan::new(&lto8_problem(End::Anywhere, false, &requests), order(&[0]));
    let read = plan
        .steps
        .iter()
        .find(|step| step.action == Action::Read)
        .unwrap();
    let mut alone = plan.totals;
    alone.distance_lpos -= u64::from(plan.steps[0].from.lpos.abs_diff(plan.steps[0].to.lpos));
    assert!(read.from.lpos.abs_diff(read.to.lpos) < 3);
    assert!((30_375..30_385).contains(&alone.distance_lpos), "{alone:?}");
}

#[test]
fn a_read_of_three_wraps_changes_the_wrap_twice() {
    let lto8 = drive("lto8");
    let plan = Plan::new(
        &lto8_problem(End::Anywhere, false, &[lto8.request(0, 300_000)]),
        order(&[0]),
    );
    assert_eq!(plan.totals.wrap_changes, 2);
}

#[test]
fn a_read_over_the_end_of_a_wrap_takes_the_turnaround_too() {
    // Read as one request or as two that meet at the wrap's end: the drive does the same.
    let lto8 = drive("lto8");
    let one = [lto8.request(100_859, 120_858)];
    let two = [
        lto8.request(100_859, 110_858),
        lto8.request(110_859, 120_858),
    ];
    let one = Plan::new(&lto8_problem(End::Anywhere, false, &one), order(&[0]));
    let two = Plan::new(&lto8_problem(End::Anywhere, false, &two), order(&[0, 1]));
    let difference = one.totals.total - two.totals.total;
    assert!(difference.0.abs() <= 2, "{difference:?}");
}

#[test]
fn the_plan_of_an_order_is_the_same_again() {
    let lto8 = drive("lto8");
    let problem = lto8.random_problem(200, Mix::Any, &mut Random::new(111, 0));
    let sorted: Vec<u32> = (0..problem.len() as u32).collect();
    assert_eq!(
        Plan::new(&problem, order(&sorted)),
        Plan::new(&problem, order(&sorted))
    );
}
