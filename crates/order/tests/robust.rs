//! Orders that hold when the map or the model is wrong: chosen, priced and measured.

use crate::common;

use common::{Mix, describe, drive, few, for_random_cases};
use tapewise_model::{
    BlockMap, KeyPoints, LearnedMap, Micros, NominalLayout, Position, PositionSource, Random,
    profile,
};
use tapewise_order::replan::{Policy, ProbeChoice, probe_blocks};
use tapewise_order::robust::{
    Misfit, SORT_MARGIN, Sensitivity, Why, choose, price_under, tape_with_model_of,
};
use tapewise_order::{
    Alternatives, Effort, End, Options, Order, PlacedExtent, Plan, Problem, Request, Tape, best,
    loss, scan, sltf, sort, two_pass,
};

fn shuffled(problem: &Problem, random: &mut Random) -> Order {
    let mut sequence: Vec<u32> = (0..problem.len() as u32).collect();
    random.shuffle(&mut sequence);
    Order::new(sequence).unwrap()
}

/// The greatest of (total - least total of the candidates), alternative by alternative.
fn naive_regret(totals: &[Vec<Micros>], candidate: usize) -> Micros {
    let mut regret = Micros::ZERO;
    for alternative in 0..totals[0].len() {
        let mut least = totals[0][alternative];
        for other in totals {
            least = least.min(other[alternative]);
        }
        regret = regret.max(totals[candidate][alternative] - least);
    }
    regret
}

#[test]
fn the_order_chosen_is_safe_and_no_safe_one_has_less_regret() {
    let mut reasons = [0; 3];
    for_random_cases(1_020, 400, |drive, random, case| {
        let count = few(random) + 2;
        let problem = drive.random_problem(count, Mix::Any, random);
        let learned = LearnedMap::new(drive.map.clone(), &drive.tape.geometry);
        let alternatives =
            Alternatives::new(&problem, Some(&drive.map)).with_drawn(&problem, &learned, 3);
        let mut orders = vec![sort(&problem), sltf(&problem), loss(&problem)];
        orders.extend([
            scan(&problem),
            two_pass(&problem),
            shuffled(&problem, random),
        ]);
        let choice = choose(&problem, &alternatives, &orders[1..]);

        let totals: Vec<Vec<Micros>> = orders
            .iter()
            .map(|order| alternatives.totals(&problem, order))
            .collect();
        let worst = |order: &Order| alternatives.worst_total(&problem, order);
        let chosen = alternatives.totals(&problem, &choice.order);
        let what = describe(drive, &problem, case);
        assert_eq!(choice.worst_total, worst(&choice.order), "{what}");
        assert!(choice.worst_total <= worst(&orders[0]), "{what}");
        for (total, sorted) in chosen.iter().zip(&totals[0]) {
            assert!(total.as_secs_f64() <= sorted.as_secs_f64() * (1.0 + SORT_MARGIN) + 1e-6);
        }
        let at = orders
            .iter()
            .position(|order| *order == choice.order)
            .unwrap();
        assert_eq!(choice.regret, naive_regret(&totals, at), "{what}");
        let shortest = totals.iter().map(|totals| totals[0]).min().unwrap();
        reasons[choice.why as usize] += 1;
        match choice.why {
            Why::Shortest => assert_eq!(chosen[0], shortest, "{what}"),
            Why::OnlySortIsSafe => assert_eq!(choice.order, orders[0], "{what}"),
            Why::LeastRegret => assert_ne!(chosen[0], shortest, "{what}"),
        }
    });
    assert!(reasons.iter().all(|&count| count > 10), "{reasons:?}");
}

#[test]
fn with_exact_positions_the_shortest_is_chosen() {
    let lto8 = drive("lto8");
    let mut random = Random::new(401, 0);
    let problem = lto8.problem(
        lto8.plain_options(),
        &lto8.uniform_requests(60, &mut random),
    );
    let alternatives = Alternatives::none();
    let order = sltf(&problem);
    let choice = choose(
        &problem,
        &alternatives,
        &[shuffled(&problem, &mut random), order.clone()],
    );
    assert_eq!((choice.why, choice.regret), (Why::Shortest, Micros::ZERO));
    assert_eq!(choice.order, order);
}

#[test]
fn priced_under_its_own_tape_an_order_costs_what_it_costs() {
    for_random_cases(340, 402, |drive, random, case| {
        let count = few(random);
        let problem = drive.random_problem(count, Mix::Any, random);
        let order = shuffled(&problem, random);
        let priced = price_under(&problem, &order, &drive.tape).unwrap();
        let what = describe(drive, &problem, case);
        assert_eq!(priced, Plan::new(&problem, order.clone()).totals, "{what}");
        assert_eq!(priced.total, order.total_time(&problem), "{what}");
    });
}

#[test]
fn another_drive_s_coefficients_give_what_planning_with_them_would() {
    let lto8 = drive("lto8");
    let lto6 = profile::find("lto6").unwrap();
    let tape = tape_with_model_of(&lto8.tape, &lto6).unwrap();
    assert_eq!(tape.geometry, lto8.tape.geometry);
    let mut random = Random::new(403, 0);
    let requests = lto8.uniform_requests(80, &mut random);
    let ours = lto8.problem(lto8.plain_options(), &requests);
    let theirs = Problem::new(tape.clone(), lto8.plain_options(), &requests);
    let order = shuffled(&ours, &mut random);
    let priced = price_under(&ours, &order, &tape).unwrap();
    assert_eq!(priced.total, order.total_time(&theirs));
    assert_ne!(priced.total, order.total_time(&ours));
}

#[test]
fn cartridges_of_another_shape_are_refused() {
    let (lto8, m8) = (drive("lto8"), drive("lto7-m8"));
    let problem = lto8.problem(lto8.plain_options(), &[lto8.request(5, 9)]);
    let order = sort(&problem);
    let refused = |tape: &Tape| price_under(&problem, &order, tape).unwrap_err().to_string();
    assert_eq!(
        refused(&m8.tape),
        "the requests lie on a cartridge with wraps 208, the other drive's cartridge has 168"
    );
    assert!(matches!(
        price_under(&problem, &order, &drive("dat-4mm").tape),
        Err(Misfit::Layout)
    ));
    let four_regions = profile::find("dlt4000-jm98").unwrap();
    assert!(tape_with_model_of(&lto8.tape, &four_regions).is_err());
}

#[test]
fn an_alternative_of_another_model_counts_in_the_worst_case() {
    let lto8 = drive("lto8");
    let mut random = Random::new(404, 0);
    let problem = lto8.problem(
        lto8.plain_options(),
        &lto8.uniform_requests(30, &mut random),
    );
    let slow = tape_with_model_of(&lto8.tape, &profile::find("lto6").unwrap()).unwrap();
    let exact = Alternatives::none();
    let both = exact.clone().with_model(&problem, &slow).unwrap();
    let order = sltf(&problem);
    assert_eq!(both.len(), 1);
    let slower = price_under(&problem, &order, &slow).unwrap().total;
    assert!(
        slower > order.total_time(&problem),
        "LTO-6 moves its tape more slowly"
    );
    let difference = both.worst_total(&problem, &order) - exact.worst_total(&problem, &order);
    assert_eq!(difference, slower - order.total_time(&problem));
}

#[test]
fn a_second_on_each_locate_costs_as_many_seconds_as_there_are_locates() {
    for_random_cases(170, 405, |drive, random, case| {
        let count = few(random);
        let mut requests: Vec<Request> = drive.random_requests(count, Mix::Any, random);
        for extent in requests.iter_mut().flat_map(|request| &mut request.extents) {
            extent.start.source = PositionSource::Recorded;
            extent.end.source = PositionSource::Recorded;
        }
        let problem = drive.problem(drive.random_options(random), &requests);
        let order = shuffled(&problem, random);
        let report = Sensitivity::new(&problem, &order, Some(&drive.map));
        let what = describe(drive, &problem, case);
        let seconds = |count: usize| Micros::from_secs_f64(count as f64);
        let change = report.locates_longer_by_1_s;
        assert_eq!(change.order, seconds(order.locates(&problem)), "{what}");
        assert_eq!(
            change.sorted,
            seconds(sort(&problem).locates(&problem)),
            "{what}"
        );
        assert_eq!(
            report.map_off_by_a_thousandth,
            Default::default(),
            "recorded: {what}"
        );
        assert_eq!(
            report.wraps_scattered_by_a_thousandth,
            Default::default(),
            "{what}"
        );
    });
}

#[test]
fn a_tenth_of_a_per_cent_of_map_error_costs_the_advantage_some_of_itself() {
    let lto8 = drive("lto8");
    let mut random = Random::new(406, 0);
    let problem = lto8.problem(
        lto8.plain_options(),
        &lto8.uniform_requests(200, &mut random),
    );
    let order = loss(&problem);
    let report = Sensitivity::new(&problem, &order, Some(&lto8.map));
    let gain = report.sorted - report.order;
    for change in [
        report.map_off_by_a_thousandth,
        report.wraps_scattered_by_a_thousandth,
    ] {
        let lost = -change.advantage().as_secs_f64() / gain.as_secs_f64();
        assert!(
            (0.001..0.3).contains(&lost),
            "{lost} of the gain: {report:?}"
        );
    }
}

#[test]
fn probing_is_weighed_by_what_it_costs_and_what_it_saves() {
    let lto8 = drive("lto8");
    let mut random = Random::new(407, 0);
    let requests = lto8.uniform_requests(300, &mut random);
    let problem = lto8.problem(lto8.plain_options(), &requests);
    let map = LearnedMap::new(lto8.map.clone(), &lto8.tape.geometry);
    let blocks = probe_blocks(&problem, &map, 4);
    assert_eq!(blocks.len(), 4);
    let order = loss(&problem);
    let weigh = |map: &LearnedMap, policy| ProbeChoice::new(&problem, &order, map, &blocks, policy);
    let fixed = weigh(&map, Policy::Fixed);
    assert!(
        fixed.is_probing(),
        "a fixed plan is wrong to its end: {fixed:?}"
    );
    let learning = weigh(&map, Policy::Learn);
    assert!(
        !learning.is_probing() && learning.saved < fixed.saved,
        "{learning:?}"
    );

    // The probes' own price: from the head to each, in their order.
    let mut at: Position = problem.options().head;
    let mut expected = Micros::ZERO;
    for &(partition, block) in &blocks {
        let to = lto8.map.position(partition, block).unwrap();
        assert_eq!((to.wrap % 2, to.lpos), (0, lto8.tape.geometry.lpos_min));
        expected += lto8.tape.model.locate(&at, &to);
        at = to;
    }
    assert_eq!((fixed.probes, learning.probes), (expected, expected));

    // Of a map that is nearly right there is nothing to find out.
    let sure = lto8.map.clone().with_errors(lto8.map.source(), 1e-5, 0);
    let sure = LearnedMap::new(sure, &lto8.tape.geometry);
    assert!(!weigh(&sure, Policy::Fixed).is_probing());
}

#[test]
fn a_batch_on_one_wrap_or_of_nothing_is_not_probed() {
    let lto8 = drive("lto8");
    let map = LearnedMap::new(lto8.map.clone(), &lto8.tape.geometry);
    for requests in [vec![], vec![lto8.request(1_000, 1_001)]] {
        let problem = lto8.problem(lto8.plain_options(), &requests);
        assert!(probe_blocks(&problem, &map, 4).is_empty());
    }
}

#[test]
fn without_the_key_points_of_a_cartridge_the_order_given_beats_sorting_on_cartridges_as_believed() {
    let profile = profile::find("dlt4000").unwrap();
    let belief = profile.key_point_belief().unwrap();
    let map = profile.nominal_map(NominalLayout::Single, 32_768).unwrap();
    let options = Options {
        head: Position::beginning_of_tape(0),
        end: End::Anywhere,
        read_through: false,
    };
    for n in [768, 1_024] {
        let mut random = Random::new(7, n);
        let wanted: Vec<u64> = (0..n).map(|_| random.below(600_000)).collect();
        let placed = |map: &BlockMap, tape: Tape| {
            let place = |&block: &u64| PlacedExtent::on_map(map, 0, block, block, 32_768).unwrap();
            let requests: Vec<Request> = wanted.iter().map(place).map(Request::single).collect();
            Problem::new(tape, options, &requests)
        };
        let problem = placed(&map, Tape::new(&profile, None).unwrap());
        let alternatives = Alternatives::new(&problem, Some(&map));
        let given = best(&problem, &alternatives, &Effort::usual(), 1).order;
        let sorted = sort(&problem);
        let worst = |order: &Order| alternatives.worst_total(&problem, order).as_secs_f64();
        assert!(worst(&given) < 0.97 * worst(&sorted));
        for seed in 1..=5 {
            let mut random = Random::new(seed, 8);
            let truth = KeyPoints::generate(belief.sections, belief.spread, &mut random);
            let tape = Tape::new(&profile, Some(&truth)).unwrap();
            let problem = placed(&truth.block_map(), tape);
            let took = |order: &Order| order.total_time(&problem).as_secs_f64();
            let share = took(&given) / took(&sorted);
            assert!(share < 0.98, "{n} requests, cartridge {seed}: {share}");
        }
    }
}
