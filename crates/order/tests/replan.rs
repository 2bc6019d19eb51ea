//! Requests come, go, fail and are read: none is lost, none is read twice, and no new plan is
//! longer than the old one with what is new inserted.

use crate::common;

use common::{Mix, describe, drive, few, for_random_cases};
use std::collections::{BTreeMap, BTreeSet};
use tapewise_model::{Micros, Position, Random};
use tapewise_order::replan::{Again, EventError, How, Outcome, Replanner, Running, State};
use tapewise_order::{Order, Problem, Request, sltf, sort};

fn replanner() -> Replanner<'static> {
    Replanner::new(&sltf)
}

/// What the test knows of every request, kept apart from the batch.
#[derive(Default)]
struct Ledger {
    waiting: BTreeSet<u64>,
    in_flight: Vec<u64>,
    failed_once: BTreeSet<u64>,
    ended: BTreeMap<u64, Outcome>,
}

impl Ledger {
    fn end(&mut self, id: u64, outcome: Outcome) {
        let twice = self.ended.insert(id, outcome);
        assert_eq!(twice, None, "request {id} ended twice");
    }

    fn start(&mut self, ids: &[u64]) {
        assert!(!ids.is_empty());
        for id in ids {
            assert!(self.waiting.remove(id), "request {id} did not wait");
            self.in_flight.push(*id);
        }
    }

    fn fail(&mut self, running: &mut Running, id: u64, again: Again, head: Position) {
        self.in_flight.retain(|&other| other != id);
        let expected = again == Again::Later && self.failed_once.insert(id);
        assert_eq!(running.fail(id, again, head), Ok(expected));
        if expected {
            self.waiting.insert(id);
        } else {
            self.end(id, Outcome::Failed);
        }
    }
}

fn one_of(ids: impl Iterator<Item = u64>, random: &mut Random) -> Option<u64> {
    let ids: Vec<u64> = ids.collect();
    ids.get(random.below(ids.len() as u64) as usize).copied()
}

fn random_event(
    running: &mut Running,
    ledger: &mut Ledger,
    request: &Request,
    random: &mut Random,
) {
    let head = running.tape().geometry.lpos_min;
    let head = Position::beginning_of_tape(head);
    let known = ledger.waiting.len() + ledger.in_flight.len() + ledger.ended.len();
    match random.below(12) {
        0..=3 => {
            let id = known as u64 * 7 % 1_000_003;
            assert_eq!(running.arrive(id, request.clone()), Ok(()));
            if request.extents.is_empty() {
                ledger.end(id, Outcome::Done)
            } else {
                assert!(ledger.waiting.insert(id))
            }
        }
        4 => {
            if let Some(id) = one_of(ledger.waiting.iter().copied(), random) {
                assert_eq!(running.cancel(id), Ok(()));
                ledger.waiting.remove(&id);
                ledger.end(id, Outcome::Cancelled);
            }
        }
        5..=6 => {
            let replanned = running.replan(&replanner());
            assert!(replanned.total <= replanned.inserted_total);
        }
        7..=8 => match running.start() {
            Some(ids) => ledger.start(&ids),
            None => assert!(ledger.waiting.is_empty()),
        },
        9..=10 => {
            if let Some(id) = one_of(ledger.in_flight.iter().copied(), random) {
                assert_eq!(running.complete(id, head), Ok(()));
                ledger.in_flight.retain(|&other| other != id);
                ledger.end(id, Outcome::Done);
            }
        }
        _ => {
            if let Some(id) = one_of(ledger.in_flight.iter().copied(), random) {
                let again = [Again::Never, Again::Later][random.below(2) as usize];
                ledger.fail(running, id, again, head);
            }
        }
    }
}

fn states_agree(running: &Running, ledger: &Ledger) {
    assert_eq!(running.waiting(), ledger.waiting.len());
    for &id in &ledger.waiting {
        let expected = if ledger.failed_once.contains(&id) {
            State::HeldBack
        } else {
            State::Waiting
        };
        assert_eq!(running.state(id), Some(expected));
    }
    for &id in &ledger.in_flight {
        assert_eq!(running.state(id), Some(State::InFlight));
    }
    assert!(
        running
            .ended()
            .eq(ledger.ended.iter().map(|(&id, &end)| (id, end)))
    );
    let planned: Vec<u64> = running.planned().flatten().copied().collect();
    let distinct: BTreeSet<u64> = planned.iter().copied().collect();
    assert_eq!(planned.len(), distinct.len(), "planned twice");
    assert!(distinct.is_subset(&ledger.waiting));
}

#[test]
fn every_request_ends_once_whatever_happens() {
    for_random_cases(680, 300, |drive, random, _| {
        let count = few(random) + 5;
        let requests = drive.random_requests(count, Mix::Any, random);
        let mut running = Running::new(drive.tape.clone(), drive.random_options(random));
        let mut ledger = Ledger::default();
        for step in 0..6 * count {
            random_event(&mut running, &mut ledger, &requests[step % count], random);
            states_agree(&running, &ledger);
        }
        // The end: everything that waits is read or fails.
        let head = Position::beginning_of_tape(0);
        while let Some(ids) = running.start() {
            ledger.start(&ids);
            if random.below(3) == 0 {
                ledger.fail(&mut running, ids[0], Again::Later, head);
            }
        }
        for id in std::mem::take(&mut ledger.in_flight) {
            assert_eq!(running.complete(id, head), Ok(()));
            ledger.end(id, Outcome::Done);
        }
        assert!(ledger.waiting.is_empty());
        states_agree(&running, &ledger);
    });
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let lto8 = drive("lto8");
    let head = lto8.beginning_of_tape();
    let mut running = Running::new(lto8.tape.clone(), lto8.plain_options());
    running.arrive(1, lto8.request(5, 9)).unwrap();
    running.arrive(2, lto8.request(900_000, 900_009)).unwrap();
    assert_eq!(running.start(), Some(vec![1]));
    let unfit = |id, state| Err(EventError::Unfit { id, state });
    assert_eq!(running.cancel(1), unfit(1, State::InFlight));
    assert_eq!(running.cancel(3), Err(EventError::Unknown { id: 3 }));
    assert_eq!(running.complete(2, head), unfit(2, State::Waiting));
    assert_eq!(
        running.arrive(1, lto8.request(0, 0)),
        Err(EventError::Repeated {
            id: 1,
            state: State::InFlight
        })
    );
    assert_eq!(running.complete(1, head), Ok(()));
    let over = State::Ended(Outcome::Done);
    assert_eq!(running.complete(1, head), unfit(1, over));
    assert_eq!(
        running.fail(1, Again::Later, head).err(),
        unfit(1, over).err()
    );
    assert_eq!(running.cancel(1), unfit(1, over));
    assert_eq!(running.waiting(), 1);
}

#[test]
fn what_failed_once_is_tried_again_after_all_others_and_not_a_third_time() {
    let lto8 = drive("lto8");
    let head = lto8.beginning_of_tape();
    let mut running = Running::new(lto8.tape.clone(), lto8.plain_options());
    for id in 0..3 {
        running
            .arrive(id, lto8.request(id * 1_000, id * 1_000 + 9))
            .unwrap();
    }
    running.replan(&replanner());
    assert_eq!(running.start(), Some(vec![0]));
    assert_eq!(running.fail(0, Again::Later, head), Ok(true));
    running.replan(&replanner());
    assert_eq!(running.start(), Some(vec![1]));
    running.arrive(3, lto8.request(50_000, 50_009)).unwrap();
    assert_eq!(running.start(), Some(vec![2]));
    assert_eq!(
        running.start(),
        Some(vec![3]),
        "arrived later, yet before the second try"
    );
    running.replan(&replanner());
    assert_eq!(running.start(), Some(vec![0]));
    assert_eq!(running.fail(0, Again::Later, head), Ok(false));
    assert_eq!(running.state(0), Some(State::Ended(Outcome::Failed)));
}

#[test]
fn what_shares_blocks_is_read_together() {
    let lto8 = drive("lto8");
    let mut running = Running::new(lto8.tape.clone(), lto8.plain_options());
    running.arrive(10, lto8.request(100, 199)).unwrap();
    running.arrive(11, lto8.request(150, 249)).unwrap();
    running.arrive(12, lto8.request(900, 999)).unwrap();
    running.replan(&replanner());
    assert_eq!(running.start(), Some(vec![10, 11]));
    assert_eq!(running.start(), Some(vec![12]));
    assert_eq!(running.start(), None);
}

#[test]
fn a_new_plan_begins_where_what_is_in_flight_ends() {
    // The first file lies on wrap 1 near the beginning of tape; of the others one lies a little on.
    let lto8 = drive("lto8");
    let mut running = Running::new(lto8.tape.clone(), lto8.plain_options());
    running.arrive(1, lto8.request(215_000, 216_000)).unwrap();
    assert_eq!(running.start(), Some(vec![1]));
    running.arrive(2, lto8.request(60_000, 60_010)).unwrap();
    running.arrive(3, lto8.request(217_000, 217_010)).unwrap();
    let replanned = running.replan(&replanner());
    assert_eq!(replanned.new_visits, 2);
    assert_eq!(running.state(1), Some(State::InFlight));
    assert_eq!(running.start(), Some(vec![3]));
    let (problem, ids) = running.open();
    assert_eq!(ids, [2]);
    let end_of_3 = lto8.map.position_after(0, 217_010).unwrap();
    assert_eq!(problem.options().head, end_of_3);
}

/// Every visit that is new put where it costs least, by pricing every place in full.
fn inserted_naively(problem: &Problem, planned: &[u32]) -> Micros {
    let mut sequence = planned.to_vec();
    let missing: Vec<u32> = (0..problem.len() as u32)
        .filter(|v| !planned.contains(v))
        .collect();
    for visit in missing {
        let with = |at: usize| {
            let mut longer = sequence.clone();
            longer.insert(at, visit);
            longer
        };
        let best = (0..=sequence.len()).min_by_key(|&at| common::locate_time(problem, &with(at)));
        sequence = with(best.unwrap());
    }
    Order::new(sequence).unwrap().total_time(problem)
}

#[test]
fn an_arrival_is_inserted_where_it_costs_least() {
    for_random_cases(680, 301, |drive, random, case| {
        let count = few(random);
        let problem = drive.random_problem(count, Mix::Any, random);
        let mut planned: Vec<u32> = (0..problem.len() as u32).collect();
        random.shuffle(&mut planned);
        planned.truncate(random.below(planned.len() as u64 + 1) as usize);
        let expected = inserted_naively(&problem, &planned);
        let only_insert = Replanner {
            moves: 0,
            whole_visits: 0,
            whole_share: 2.0,
            ..replanner()
        };
        let replanned = only_insert.replan(&problem, planned.clone());
        assert_eq!(
            replanned.total,
            expected,
            "{}",
            describe(drive, &problem, case)
        );
        assert_eq!(replanned.inserted_total, expected);
        assert_eq!(replanned.how, How::Inserted);
        let improved = replanner().replan(&problem, planned);
        assert!(improved.total <= expected);
        assert_eq!(improved.order.total_time(&problem), improved.total);
    });
}

#[test]
fn the_whole_is_ordered_anew_when_much_is_new() {
    let mut random = Random::new(302, 0);
    let lto8 = drive("lto8");
    let requests = lto8.uniform_requests(300, &mut random);
    let problem = lto8.problem(lto8.plain_options(), &requests);
    let nothing_known = replanner().replan(&problem, Vec::new());
    let solved = sltf(&problem).total_time(&problem);
    assert!(nothing_known.total <= solved);
    assert_eq!(nothing_known.new_visits, 300);
    let known = replanner().replan(&problem, sort(&problem).visits().to_vec());
    assert_eq!((known.how, known.new_visits), (How::Inserted, 0));
}
