//! Orders by mean completion and by deadline, against all permutations and against their starts.

use crate::common;

use common::{Drive, Mix, describe, drive, for_random_cases};
use tapewise_model::{Micros, Random};
use tapewise_order::{Action, Plan};
use tapewise_order::{
    Algorithm, Alternatives, Effort, Figures, Inputs, Limits, Objective, Order, Problem, Wishes,
    completions, is_permutation, order_for, trade_off,
};

fn work(work: u64) -> Effort<'static> {
    Effort {
        work,
        ..Effort::usual()
    }
}

fn little() -> Effort<'static> {
    work(90_000)
}

fn of(algorithm: Algorithm, problem: &Problem) -> Order {
    let exact = Alternatives::none();
    algorithm.order(problem, &Inputs::new(&exact)).unwrap()
}

/// Weights and deadlines that bind: some passed, some never, most within the sorted order's total.
fn random_wishes(problem: &Problem, random: &mut Random) -> Wishes {
    let horizon = of(Algorithm::Sort, problem).total_time(problem).0 as u64 + 1;
    let mut wishes = Wishes::default();
    for _ in 0..problem.requests() {
        wishes.weight.push(random.below(4) as u32);
        wishes.deadline.push(match random.below(6) {
            0 => None,
            1 => Some(Micros(-1_000_000)),
            2 => Some(Micros(horizon as i64 / 3)),
            _ => Some(Micros(random.below(horizon) as i64)),
        });
    }
    wishes
}

/// What an order is compared by, summed up request by request.
fn score(
    problem: &Problem,
    objective: Objective,
    wishes: &Wishes,
    limits: &Limits,
    order: &[u32],
) -> (i64, i128, i64) {
    let (mut clock, mut before, mut cost) = (Micros::ZERO, None, 0i128);
    for &visit in order {
        let what = &problem.visits()[visit as usize];
        clock += problem.motion(before, visit as usize).0 + what.inner_locate + what.read;
        for &request in &what.requests {
            let due = match objective {
                Objective::Total => None,
                Objective::Mean => Some(Micros::ZERO),
                Objective::Deadline => wishes.deadline[request as usize],
            };
            let late = due.map_or(0, |due| (clock - due).0.max(0));
            cost += i128::from(late) * i128::from(wishes.weight[request as usize]);
        }
        before = Some(visit as usize);
    }
    let end = before.map_or(Micros::ZERO, |last| problem.end_cost(last));
    let total = (clock + end).0;
    let over = limits.total.map_or(0, |limit| (total - limit.0).max(0));
    (over, cost, total)
}

/// Every permutation of `order` from place `at` on.
fn for_all_permutations(order: &mut [u32], at: usize, look: &mut impl FnMut(&[u32])) {
    if at == order.len() {
        return look(order);
    }
    for other in at..order.len() {
        order.swap(at, other);
        for_all_permutations(order, at + 1, look);
        order.swap(at, other);
    }
}

#[test]
fn no_permutation_of_up_to_seven_visits_is_better() {
    for_random_cases(1_020, 200, |drive, random, case| {
        let requests = if case < 34 { 7 } else { random.below(7) };
        let problem = drive.random_problem(requests as usize, Mix::Any, random);
        let wishes = random_wishes(&problem, random);
        let least = of(Algorithm::Opt, &problem).total_time(&problem);
        for objective in Objective::ALL {
            let total = match random.below(3) {
                0 => Some(Micros(least.0 + least.0 / 50)),
                _ => None,
            };
            let limits = Limits {
                total,
                ..Limits::default()
            };
            let wanted = (objective, &wishes);
            let found = order_for(&problem, wanted, &limits, &[], &little(), 1);
            let of = |order: &[u32]| score(&problem, objective, &wishes, &limits, order);
            let mut best = of(found.order.visits());
            let mut order: Vec<u32> = (0..problem.len() as u32).collect();
            for_all_permutations(&mut order, 0, &mut |order| best = best.min(of(order)));
            assert!(found.exact && found.keeps_limits);
            let context = || describe(drive, &problem, case);
            assert_eq!(
                of(found.order.visits()),
                best,
                "{objective:?} {}",
                context()
            );
        }
    });
}

fn check(drive: &Drive, problem: &Problem, random: &mut Random, case: u64) {
    let wishes = random_wishes(problem, random);
    let starts = [of(Algorithm::Loss, problem), of(Algorithm::Random, problem)];
    let least = starts[0].total_time(problem);
    for objective in Objective::ALL {
        for limits in [Limits::default(), Limits::of(objective, least)] {
            let effort = work(random.below(90_000));
            let find = || {
                let wanted = (objective, &wishes);
                order_for(problem, wanted, &limits, &starts, &effort, case)
            };
            let found = find();
            let context = || format!("{objective:?} {}", describe(drive, problem, case));
            assert!(is_permutation(found.order.visits()), "{}", context());
            assert_eq!(found.order.visits().len(), problem.len(), "{}", context());
            assert_eq!(found.figures, Figures::of(problem, &wishes, &found.order));
            let of = |order: &Order| score(problem, objective, &wishes, &limits, order.visits());
            for start in &starts {
                assert!(of(&found.order) <= of(start), "{}", context());
            }
            assert_eq!(found, find(), "{}", context());
        }
    }
}

#[test]
fn an_order_is_never_worse_than_its_starts_and_the_same_again() {
    for_random_cases(510, 201, |drive, random, case| {
        let count = 5 + common::few(random);
        let problem = drive.random_problem(count, Mix::Any, random);
        check(drive, &problem, random, case);
    });
}

#[test]
fn a_search_that_is_out_of_time_gives_its_best_start() {
    for_random_cases(85, 202, |drive, random, case| {
        let problem = drive.random_problem(40, Mix::Any, random);
        let wishes = random_wishes(&problem, random);
        let starts = [of(Algorithm::Loss, &problem)];
        let limits = Limits::default();
        let wanted = (Objective::Mean, &wishes);
        let effort = Effort {
            out_of_time: &|| true,
            ..Effort::usual()
        };
        let found = order_for(&problem, wanted, &limits, &starts, &effort, 1);
        let of = |order: &Order| score(&problem, Objective::Mean, &wishes, &limits, order.visits());
        let best = starts.iter().map(of).min().unwrap();
        assert!(
            of(&found.order) <= best,
            "{}",
            describe(drive, &problem, case)
        );
    });
}

#[test]
fn completions_are_the_ends_of_reads_in_the_plan() {
    for_random_cases(340, 203, |drive, random, case| {
        let count = common::few(random);
        let problem = drive.random_problem(count, Mix::Any, random);
        let order = of(Algorithm::Sltf, &problem);
        let plan = Plan::new(&problem, order.clone());
        let mut ends = vec![Micros::ZERO; problem.len()];
        for step in plan.steps.iter().filter(|step| step.action == Action::Read) {
            ends[step.visit as usize] = step.begin + step.duration;
        }
        let read = completions(&problem, &order);
        let requests: Vec<u32> = read.iter().map(|&(request, _)| request).collect();
        assert_eq!(requests, order.requests(&problem));
        for (visit, end) in problem.visits().iter().zip(&ends) {
            for request in &visit.requests {
                let found = read.iter().find(|(other, _)| other == request).unwrap().1;
                assert_eq!(found, *end, "{}", describe(drive, &problem, case));
            }
        }
        let figures = Figures::of(&problem, &Wishes::default(), &order);
        let within = |time: Micros| read.iter().filter(|&&(_, read)| read <= time).count();
        if !read.is_empty() {
            assert!(within(figures.p95) * 100 >= read.len() * 95);
            assert!(within(figures.p95 - Micros(1)) * 100 < read.len() * 95);
            let sum: i64 = read.iter().map(|(_, time)| time.0).sum();
            assert!((figures.mean.0 * read.len() as i64 - sum).abs() <= read.len() as i64);
        }
        assert_eq!((figures.late, figures.lateness), (0, Micros::ZERO));
        assert_eq!(figures.total, order.total_time(&problem));
    });
}

#[test]
fn a_limit_on_distance_is_kept_where_any_start_keeps_it_and_else_said_to_be_broken() {
    let mut broken = 0;
    for_random_cases(340, 204, |drive, random, case| {
        let count = 2 + common::few(random);
        let problem = drive.random_problem(count, Mix::Any, random);
        let wishes = random_wishes(&problem, random);
        let starts = [Algorithm::Loss, Algorithm::Sort, Algorithm::TwoPass];
        let starts = starts.map(|algorithm| of(algorithm, &problem));
        let distance = |order: &Order| Plan::new(&problem, order.clone()).totals.distance_lpos;
        let least = starts.iter().map(distance).min().unwrap();
        for objective in Objective::ALL {
            let wanted = (objective, &wishes);
            let find = |most: u64| {
                let limits = Limits {
                    distance_lpos: Some(most),
                    ..Limits::default()
                };
                order_for(&problem, wanted, &limits, &starts, &little(), 1)
            };
            let kept = find(least);
            let context = || describe(drive, &problem, case);
            assert!(
                kept.keeps_limits && kept.figures.distance_lpos <= least,
                "{}",
                context()
            );
            let tight = find(0);
            assert_eq!(tight.keeps_limits, tight.figures.distance_lpos == 0);
            assert!(tight.figures.distance_lpos <= least, "{}", context());
            broken += usize::from(!tight.keeps_limits);
        }
    });
    assert!(broken > 500, "only {broken} limits were broken");
}

#[test]
fn sparing_tape_costs_at_most_a_ten_thousandth_and_moves_no_more_tape() {
    let mut spared = 0;
    for_random_cases(170, 205, |drive, random, case| {
        let problem = drive.random_problem(60, Mix::SingleSegment, random);
        let wishes = random_wishes(&problem, random);
        for objective in Objective::ALL {
            let find = |spare_tape| {
                let limits = Limits {
                    spare_tape,
                    ..Limits::default()
                };
                let starts = [of(Algorithm::Loss, &problem)];
                let wanted = (objective, &wishes);
                order_for(&problem, wanted, &limits, &starts, &little(), 1)
            };
            let (plain, sparing) = (find(false), find(true));
            let limits = Limits::default();
            let of = |order: &Order| score(&problem, objective, &wishes, &limits, order.visits());
            let (_, cost, total) = of(&plain.order);
            let (_, sparing_cost, sparing_total) = of(&sparing.order);
            let context = || describe(drive, &problem, case);
            assert!(sparing_cost <= cost + cost / 10_000, "{}", context());
            assert!(sparing_total <= total + total / 10_000, "{}", context());
            let (before, after) = (plain.figures.distance_lpos, sparing.figures.distance_lpos);
            assert!(after <= before, "{}", context());
            spared += usize::from(after < before);
        }
    });
    assert!(spared > 50, "tape was spared only {spared} times");
}

#[test]
fn priorities_become_weights_that_rise_with_them() {
    assert_eq!(Wishes::new(&[0, 0], &[]).weight, [1, 1]);
    assert_eq!(Wishes::new(&[0, 3, 1], &[]).weight, [1, 4, 2]);
    assert_eq!(Wishes::new(&[-2, 0, 1], &[]).weight, [1, 3, 4]);
    assert_eq!(Wishes::new(&[5, 5], &[]).weight, [6, 6]);
    assert_eq!(
        Wishes::new(&[i64::MIN, i64::MAX], &[]).weight,
        [1, 1_000_000]
    );
    let unlisted = Wishes::default();
    assert_eq!((unlisted.weight(7), unlisted.deadline(7)), (1, None));
}

#[test]
fn extreme_wishes_overflow_nothing() {
    let problem = drive("lto8").random_problem(30, Mix::SingleSegment, &mut Random::new(206, 0));
    let wishes = Wishes {
        weight: vec![u32::MAX; 30],
        deadline: (0..30)
            .map(|at| Some(Micros(if at % 2 == 0 { i64::MIN } else { i64::MAX })))
            .collect(),
    };
    for (objective, found) in trade_off(&problem, &wishes, &[], &little(), 1) {
        assert!(is_permutation(found.order.visits()), "{objective:?}");
        assert!(found.figures.mean <= found.figures.total, "{objective:?}");
    }
}

#[test]
fn what_is_urgent_is_read_first_and_what_is_never_due_last() {
    let lto = drive("lto7-m8");
    let requests = lto.uniform_requests(40, &mut Random::new(207, 0));
    let problem = lto.problem(lto.plain_options(), &requests);
    let mut wishes = Wishes::new(&[0; 40], &[]);
    wishes.weight[11] = 1_000_000;
    let limits = Limits::default();
    let first = |wishes: &Wishes, objective| {
        let found = order_for(&problem, (objective, wishes), &limits, &[], &little(), 1);
        completions(&problem, &found.order)[0].0
    };
    assert_eq!(first(&wishes, Objective::Mean), 11);
    wishes.deadline = vec![None; 40];
    wishes.deadline[23] = Some(Micros::ZERO);
    assert_eq!(first(&wishes, Objective::Deadline), 23);
}

/// As TapeOBS has it (FAST 2026): half due in 3 to 5 hours, half in 5 to 12, here scaled so that
/// the batch fills the longest deadline as a full drive would.
#[test]
fn two_classes_are_less_late_than_by_total_and_than_earliest_deadline_first() {
    let lto = drive("lto7-m8");
    for seed in 0..3 {
        let random = &mut Random::new(208, seed);
        let requests = lto.uniform_requests(200, random);
        let problem = lto.problem(lto.plain_options(), &requests);
        let shortest = of(Algorithm::Best, &problem);
        let hour = shortest.total_time(&problem).0 / 6;
        let deadline = (0..200).map(|_| {
            let (from, hours) = [(3, 2), (5, 7)][random.below(2) as usize];
            Some(Micros(
                from * hour + random.below((hours * hour) as u64) as i64,
            ))
        });
        let wishes = Wishes {
            deadline: deadline.collect(),
            ..Wishes::default()
        };
        let request = |&visit: &u32| problem.visits()[visit as usize].requests[0];
        let by = |key: &dyn Fn(u32) -> i64| {
            let mut sequence: Vec<u32> = (0..problem.len() as u32).collect();
            sequence.sort_by_key(|visit| (key(request(visit)), request(visit)));
            Figures::of(&problem, &wishes, &common::order(&sequence)).lateness
        };
        let due = |request: u32| wishes.deadline(request).unwrap().0;
        let earliest_first = by(&due);
        let class_by_class = by(&|request| i64::from(due(request) >= 5 * hour));
        let by_total = Figures::of(&problem, &wishes, &shortest).lateness;
        let wanted = (Objective::Deadline, &wishes);
        let effort = work(900_000);
        let starts = [shortest];
        let found = order_for(&problem, wanted, &Limits::default(), &starts, &effort, 1);
        let lateness = found.figures.lateness;
        assert!(by_total > Micros::ZERO, "no deadline binds");
        assert!(lateness < by_total, "{lateness} by total {by_total}");
        assert!(lateness < earliest_first && lateness < class_by_class);
    }
}
