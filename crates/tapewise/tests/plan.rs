//! From a list to a plan, as a library's user goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tapewise::batch::Source;
use tapewise::explain::Explanation;
use tapewise::formats::WrapLpos;
use tapewise::model::{Micros, PositionSource, Random, profile};
use tapewise::order::{Algorithm, Figures, Objective};
use tapewise::{
    Batch, Cartridge, Effort, EndLocation, ExtentOrder, Goal, GoalError, Location, Origin,
    PlaceError, Placed, Placement, PositionError, SearchError,
};

fn batch(list: &str) -> Batch {
    let source = Source::recognise("list", list.as_bytes(), None).expect("text");
    source.requests(Some(524_288)).expect("requests")
}

fn blocks(blocks: &[u64]) -> Batch {
    let rows = blocks
        .iter()
        .map(|block| format!("f{block},{block},2000\n"));
    batch(&format!(
        "id,start_block,block_count\n{}",
        rows.collect::<String>()
    ))
}

fn lto8() -> Cartridge {
    Cartridge::new(profile::find("lto8").expect("a profile")).expect("a drive")
}

fn placed(list: Batch) -> Placed {
    lto8().place(list, &Placement::default()).expect("places")
}

const SPREAD: [u64; 7] = [
    9_000_000, 40_000, 9_100_000, 2_000_000, 700_000, 15_000_000, 12_000_000,
];

#[test]
fn the_order_found_is_no_longer_than_sorting_and_never_under_its_bound() {
    let placed = placed(blocks(&SPREAD));
    let effort = Effort::usual();
    let found = placed.search(&Goal::default(), &effort).unwrap();
    let sorted = placed.order(Algorithm::Sort, &effort).unwrap();
    assert_eq!(found.origin, Origin::BEST);
    assert!(found.worst <= sorted.worst && found.bound.unwrap() <= found.total());
    let mut order = placed.reading_order(&found.plan);
    order.sort_unstable();
    assert_eq!(order, (0..SPREAD.len()).collect::<Vec<_>>());
}

#[test]
fn the_same_batch_gives_the_same_document() {
    let json = || {
        let placed = placed(blocks(&SPREAD));
        let found = placed.search(&Goal::default(), &Effort::usual()).unwrap();
        let mut bytes = Vec::new();
        let document = placed.document(&found, &Effort::usual());
        document.to_writer(&mut bytes).unwrap();
        bytes
    };
    assert_eq!(json(), json());
}

#[test]
fn a_recorded_position_comes_before_the_map_and_must_be_on_the_tape() {
    let row = |wrap: u32, lpos: u32| {
        let columns = "id,start_block,block_count,start_wrap,start_lpos,end_wrap,end_lpos";
        batch(&format!(
            "{columns}\na,40000,2000,{wrap},{lpos},{wrap},{lpos}\n"
        ))
    };
    let recorded = placed(row(3, 60_000));
    assert!(recorded.map.is_none());
    assert_eq!(recorded.source, PositionSource::Recorded);
    let fault = |list: Batch| match lto8().place(list, &Placement::default()) {
        Err(PlaceError::Request { id, source }) => (id, source),
        other => panic!("{other:?}"),
    };
    let (id, wrap) = fault(row(208, 60_000));
    assert!(
        id == "a"
            && matches!(
                wrap,
                PositionError::NoSuchWrap {
                    wrap: 208,
                    last: 207,
                    ..
                }
            )
    );
    let (_, lpos) = fault(row(3, 4_000_000_000));
    assert!(matches!(lpos, PositionError::BeyondTape { .. }), "{lpos}");
}

#[test]
fn requests_on_several_cartridges_or_without_blocks_are_not_placed() {
    let header = "id,volume,start_block,block_count,sort_key\n";
    for (rows, words) in [
        ("a,A,1,1,\nb,B,9,1,\n", "on 2 cartridges: A, B"),
        (
            "a,A,1,1,\nb,,9,1,\n",
            "1 request without a cartridge; the others are on A",
        ),
        (
            "a,A,1,1,\nb,A,,,5\n",
            "1 request with a sort key but no block",
        ),
    ] {
        let batch = batch(&format!("{header}{rows}"));
        let error = lto8().place(batch, &Placement::default()).unwrap_err();
        assert!(matches!(error, PlaceError::Batch(_)), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    placed(batch(&format!("{header}a,A,1,1,\nb,A,9,1,\n")));
}

#[test]
fn head_and_end_are_placed_as_the_requests_are() {
    let at = WrapLpos { wrap: 208, lpos: 1 };
    for placement in [
        Placement {
            head: Location::Physical(at),
            ..Placement::default()
        },
        Placement {
            end: EndLocation::At(Location::Physical(at)),
            ..Placement::default()
        },
    ] {
        let error = lto8().place(blocks(&[1]), &placement).unwrap_err();
        assert!(matches!(error, PlaceError::Head(_)), "{error}");
    }
    let block = Location::Block {
        partition: None,
        block: 40_000,
    };
    let there = Placement {
        head: block,
        end: EndLocation::At(block),
        ..Placement::default()
    };
    let empty = lto8().place(blocks(&[]), &there).unwrap();
    let order = empty.order(Algorithm::Best, &Effort::usual()).unwrap();
    assert_eq!(order.total(), Micros::ZERO);
    let unloaded = Placement {
        end: EndLocation::Unloaded,
        ..Placement::default()
    };
    let rewound = Placement {
        end: EndLocation::Rewound,
        ..Placement::default()
    };
    let total = |placement| {
        let placed = lto8().place(blocks(&[40_000]), &placement).unwrap();
        let order = placed.order(Algorithm::Sort, &Effort::usual());
        (order.unwrap().total(), placed.unload())
    };
    let ((unloaded, unload), (rewound, _)) = (total(unloaded), total(rewound));
    assert!(unload > Micros::ZERO);
    assert_eq!(unloaded, rewound + unload);
}

#[test]
fn extents_are_read_together_or_each_for_itself() {
    let mut list = blocks(&[9_000_000, 1_000]);
    let second = list.requests.remove(1);
    list.requests[0].extents.extend(second.extents);
    let list = Arc::new(list);
    let visits = |extents| {
        let placement = Placement {
            extents,
            ..Placement::default()
        };
        let placed = lto8().place(list.clone(), &placement).unwrap();
        (placed.problem.len(), placed.owners)
    };
    assert_eq!(visits(ExtentOrder::Together), (1, vec![(0, 0)]));
    assert_eq!(visits(ExtentOrder::Apart), (2, vec![(0, 0), (0, 1)]));
}

#[test]
fn a_goal_that_cannot_be_reached_says_by_how_much() {
    let placed = placed(blocks(&SPREAD));
    let goal = Goal {
        objective: Objective::Deadline,
        ..Goal::default()
    };
    let error = placed.search(&goal, &Effort::usual()).unwrap_err();
    assert!(
        matches!(error, SearchError::Goal(GoalError::NoDeadlines)),
        "{error}"
    );
    let goal = Goal {
        max_distance: Some(1.0),
        ..Goal::default()
    };
    match placed.search(&goal, &Effort::usual()) {
        Err(SearchError::Goal(GoalError::TooMuchTape { most, least, unit })) => {
            assert!(least > most && unit == "m");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_order_for_another_goal_comes_with_the_usual_one_that_it_began_from() {
    let placed = placed(blocks(&SPREAD));
    let goal = Goal {
        objective: Objective::Mean,
        ..Goal::default()
    };
    let found = placed.search(&goal, &Effort::usual()).unwrap();
    let usual = found.began_from.as_ref().expect("the usual order");
    assert_eq!(found.origin, Origin::Objective(Objective::Mean));
    assert_eq!(usual.origin, Origin::BEST);
    let wishes = placed.aim(&goal).unwrap().wishes;
    let mean = |order| Figures::of(&placed.problem, &wishes, order).mean;
    assert!(mean(&found.plan.order) <= mean(&usual.plan.order));
}

#[test]
fn a_clock_that_runs_out_cuts_the_search_short_and_the_order_says_so() {
    let many: Vec<u64> = (0..80).map(|n| n * 7_919 % 15_000 * 1_000).collect();
    let placed = placed(blocks(&many));
    let ticks = AtomicI64::new(0);
    let clock = || Micros(ticks.fetch_add(1_000, Ordering::Relaxed));
    let effort = Effort {
        budget: Some(Micros(5_000)),
        clock: &clock,
        ..Effort::usual()
    };
    let found = placed.search(&Goal::default(), &effort).unwrap();
    assert!(found.cut_short && found.computed >= Micros(5_000));
}

#[test]
fn a_search_that_is_stopped_gives_the_best_order_so_far() {
    let many: Vec<u64> = (0..300).map(|n| n * 7_919 % 15_000 * 1_000).collect();
    let placed = placed(blocks(&many));
    let asked = AtomicI64::new(0);
    let is_stopped = || asked.fetch_add(1, Ordering::Relaxed) > 20;
    let effort = Effort {
        prove: true,
        is_stopped: &is_stopped,
        ..Effort::usual()
    };
    let found = placed.search(&Goal::default(), &effort).unwrap();
    assert!(found.cut_short && !found.optimal);
    let sorted = placed.order(Algorithm::Sort, &Effort::usual()).unwrap();
    assert!(found.total() <= sorted.total());
}

#[test]
fn an_algorithm_that_does_not_apply_says_why() {
    let placed = placed(blocks(&(0..20).map(|n| n * 500_000).collect::<Vec<_>>()));
    let error = placed.order(Algorithm::Opt, &Effort::usual()).unwrap_err();
    assert!(
        matches!(
            error,
            SearchError::TooManyVisits {
                visits: 20,
                most: 16
            }
        ),
        "{error}"
    );
}

#[test]
fn an_order_that_is_held_back_takes_longer_than_sorted_order_in_what_is_said_of_it() {
    let effort = Effort::usual();
    let mut held = 0;
    for seed in 0..12 {
        let mut random = Random::new(seed, 0);
        let list: Vec<u64> = (0..4).map(|_| random.below(18_000_000)).collect();
        let placed = placed(blocks(&list));
        let found = placed.search(&Goal::default(), &effort).expect("an order");
        let explanation = Explanation::new(&placed, &found, &[], false, &effort);
        let Some(shortest) = explanation.held_back else {
            continue;
        };
        held += 1;
        let sorted = placed.order(Algorithm::Sort, &effort).expect("an order");
        assert_eq!(shortest.sorted_worst, sorted.worst);
        assert!(shortest.likely < found.total(), "{shortest:?}");
        let beside = shortest.beside_sorted;
        let is_longer = beside.is_some_and(|(total, sorted)| total > sorted);
        assert!(
            is_longer || shortest.worst > shortest.sorted_worst,
            "{shortest:?}"
        );
        // What both take on one map is none of the worst cases, which have the error of the locates on top.
        assert!(beside.is_none_or(
            |(total, sorted)| total <= shortest.worst && sorted <= shortest.sorted_worst
        ));
    }
    assert!(held > 0, "no list showed anything");
}
