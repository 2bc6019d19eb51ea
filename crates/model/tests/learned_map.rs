//! A map that learns: exact where it saw, sure near there, unsure far away.

use tapewise_model::{
    BlockMap, EndOfWrap, Geometry, LearnedMap, NominalLayout, Position, PositionSource, Random,
    profile,
};

const WRAP_BLOCKS: f64 = 110_000.0;

fn geometry() -> Geometry {
    profile::find("lto8").unwrap().geometry().unwrap()
}

fn nominal(share_error: f64) -> BlockMap {
    BlockMap::nominal(&geometry(), NominalLayout::Single, WRAP_BLOCKS, share_error)
}

fn ltfs() -> BlockMap {
    let layout = NominalLayout::Ltfs {
        index_wraps: 2,
        guard_wraps: 2,
    };
    BlockMap::nominal(&geometry(), layout, WRAP_BLOCKS, 0.01)
}

/// Wraps of uneven length, the last half full.
fn table() -> BlockMap {
    let mut random = Random::new(7, 0);
    let mut block = 0;
    let table: Vec<EndOfWrap> = (0..30)
        .map(|wrap| {
            block += 100_000 + random.below(20_000) - 50_000 * u64::from(wrap == 29);
            EndOfWrap {
                wrap,
                partition: 0,
                block,
            }
        })
        .collect();
    BlockMap::from_end_of_wrap(&geometry(), &table, None).unwrap()
}

/// Place along the track in LPOS units.
fn along(position: &Position) -> i64 {
    let geometry = geometry();
    let wrap = i64::from(position.wrap) * i64::from(geometry.wrap_lpos());
    wrap + i64::from(match position.wrap % 2 {
        0 => position.lpos - geometry.lpos_min,
        _ => geometry.lpos_max - position.lpos,
    })
}

#[test]
fn with_nothing_seen_it_is_the_map_it_began_as() {
    let mut random = Random::new(1, 0);
    for map in [nominal(0.01), ltfs(), table()] {
        let learned = LearnedMap::new(map.clone(), &geometry());
        for _ in 0..2_000 {
            let partition = map.spans().last().unwrap().partition;
            let block = random.below(map.end_block(partition));
            for after in [false, true] {
                let before = map.nearest_position(partition, block, after).unwrap();
                let now = learned.position(partition, block, after).unwrap();
                assert_eq!((now.partition, now.wrap), (partition, before.wrap));
                assert!(now.lpos.abs_diff(before.lpos) <= 1, "{now:?} {before:?}");
                assert_eq!(now.source, before.source);
            }
        }
    }
}

#[test]
fn what_was_seen_is_known() {
    let mut random = Random::new(2, 0);
    for map in [nominal(0.01), ltfs(), table()] {
        let partition = map.spans().last().unwrap().partition;
        let truth = map.scaled(0.99);
        let mut learned = LearnedMap::new(map, &geometry());
        let mut seen = Vec::new();
        for _ in 0..50 {
            let block = random.below(truth.end_block(partition));
            let after = random.below(2) == 0;
            let at = truth.nearest_position(partition, block, after).unwrap();
            learned.observe(block, after, &at);
            seen.push((block, after, at));
        }
        assert_eq!(learned.seen(), 50);
        for (block, after, at) in seen {
            let now = learned.position(partition, block, after).unwrap();
            assert!(along(&now).abs_diff(along(&at)) <= 1, "{now:?} {at:?}");
            assert_eq!(now.error_lpos, 0);
        }
    }
}

#[test]
fn one_look_far_away_puts_an_error_of_the_whole_tape_right() {
    // Wraps hold 4 % less than believed: at the end of the tape that is eight wraps.
    let truth = nominal(0.0).scaled(0.96);
    let mut learned = LearnedMap::new(nominal(0.01), &geometry());
    let last = truth.end_block(0) - 1;
    let before = learned.position(0, last, false).unwrap();
    assert!(before.wrap < 201);
    let looked_at = truth.end_block(0) / 2;
    learned.observe(looked_at, false, &truth.position(0, looked_at).unwrap());
    for share in [0.1, 0.3, 0.7, 0.999] {
        let block = (last as f64 * share) as u64;
        let error = along(&learned.position(0, block, false).unwrap())
            - along(&truth.position(0, block).unwrap());
        let wraps = error as f64 / f64::from(geometry().wrap_lpos());
        assert!(wraps.abs() < 0.05, "{share}: {wraps} wraps off");
    }
}

#[test]
fn between_two_knots_it_is_linear_along_the_track() {
    let map = nominal(0.01);
    let mut learned = LearnedMap::new(map.clone(), &geometry());
    let lies = |block: u64, farther: i64| {
        let mut at = map.position(0, block).unwrap();
        assert_eq!(at.wrap % 2, 0, "an even wrap runs away from the beginning");
        at.lpos = (i64::from(at.lpos) + farther) as u32;
        at
    };
    // In the middle of wraps 20 and 40: 1,000 LPOS farther, then 5,000.
    let (first, last) = (20 * 110_000 + 55_000, 40 * 110_000 + 55_000);
    learned.observe(first, false, &lies(first, 1_000));
    learned.observe(last, false, &lies(last, 5_000));
    for step in 0..=20 {
        let block = first + step * 110_000;
        let believed = along(&map.position(0, block).unwrap());
        let now = along(&learned.position(0, block, false).unwrap());
        let expected = 1_000 + 200 * step as i64;
        assert!((now - believed - expected).abs() <= 1, "step {step}");
    }
}

#[test]
fn the_error_grows_with_the_distance_from_what_was_seen() {
    let map = nominal(0.01);
    let mut learned = LearnedMap::new(map.clone(), &geometry());
    for wrap in [50, 100] {
        let block = wrap * 110_000;
        learned.observe(block, false, &map.position(0, block).unwrap());
    }
    let error = |wrap: u64| {
        let block = wrap * 110_000;
        learned.position(0, block, false).unwrap().error_lpos
    };
    let errors: Vec<u32> = [50, 55, 65, 75].into_iter().map(error).collect();
    assert!(
        errors.is_sorted() && errors[0] == 0 && errors[1] > 0,
        "{errors:?}"
    );
    assert_eq!(
        error(65),
        error(85),
        "as far from one knot as from the other"
    );
    let behind: Vec<u32> = [100, 101, 120, 200].into_iter().map(error).collect();
    assert!(behind.is_sorted() && behind[3] > errors[3], "{behind:?}");
}

#[test]
fn wraps_that_differ_more_than_stated_are_noticed() {
    let map = nominal(0.01);
    let mut learned = LearnedMap::new(map.clone(), &geometry());
    let mut random = Random::new(3, 0);
    let wrap_lpos = f64::from(geometry().wrap_lpos());
    let mut offset = 0.0;
    for wrap in 1..=100u64 {
        offset += 0.05 * random.normal();
        let block = wrap * 2 * 110_000 + 55_000;
        let Ok(mut at) = map.position(0, block) else {
            break;
        };
        at.lpos = (f64::from(at.lpos) + offset * wrap_lpos).max(0.0) as u32;
        learned.observe(block, false, &at);
    }
    // A step of two wraps with a deviation of 0.05 is 0.035 for one.
    let wander = learned.wander();
    assert!((0.025..0.045).contains(&wander), "{wander}");
}

#[test]
fn drawn_tapes_agree_with_what_was_seen_and_differ_as_much_as_stated() {
    let map = nominal(0.02);
    let mut learned = LearnedMap::new(map.clone(), &geometry());
    let seen = 60 * 110_000 + 1;
    learned.observe(seen, false, &map.position(0, seen).unwrap());
    let mut random = Random::new(4, 0);
    let drawn: Vec<LearnedMap> = (0..400).map(|_| learned.drawn(&mut random)).collect();
    for wrap in [60, 30, 90, 150u64] {
        let block = wrap * 110_000 + 1;
        let stated = learned.position(0, block, false).unwrap();
        let squares = drawn.iter().map(|map| {
            let at = map.position(0, block, false).unwrap();
            ((along(&at) - along(&stated)) as f64).powi(2)
        });
        let sd = (squares.sum::<f64>() / 400.0).sqrt();
        let stated = f64::from(stated.error_lpos);
        assert!(
            (sd - stated).abs() <= 0.12 * stated + 2.0,
            "wrap {wrap}: {sd} {stated}"
        );
    }
}

#[test]
fn a_tape_may_hold_more_than_was_believed_but_not_more_than_its_wraps() {
    let map = nominal(0.01);
    let learned = LearnedMap::new(map.clone(), &geometry());
    let beyond = map.end_block(0) + 1_000_000;
    let at = learned.position(0, beyond, true).unwrap();
    assert_eq!(at.wrap, geometry().wraps - 1);
    assert_eq!(learned.position(3, 0, false), None);
    let elsewhere = Position {
        partition: 3,
        ..Position::beginning_of_tape(0)
    };
    let mut taught = learned.clone();
    taught.observe(5, false, &elsewhere);
    assert_eq!(taught.seen(), 0);
    assert_eq!(learned.believed().source(), PositionSource::Nominal);
}

#[test]
fn a_table_of_wrap_ends_stays_true_at_the_ends() {
    let map = table();
    let mut learned = LearnedMap::new(map.clone(), &geometry());
    let span = map.spans()[11];
    let middle = (span.first_block + span.end_block) / 2;
    let mut at = map.position(0, middle).unwrap();
    at.lpos += 900;
    learned.observe(middle, false, &at);
    for other in map.spans() {
        let begins = learned.position(0, other.first_block, false).unwrap();
        assert_eq!((begins.wrap, begins.lpos), (other.wrap, other.lpos_first));
    }
    let quarter = (span.first_block + middle) / 2;
    let moved = learned.position(0, quarter, false).unwrap();
    let before = map.position(0, quarter).unwrap();
    assert!(
        moved.lpos.abs_diff(before.lpos + 450) <= 2,
        "{moved:?} {before:?}"
    );
}

#[test]
fn places_between_the_same_knots_err_together_as_drawn_tapes_do() {
    let map = nominal(0.02);
    let mut learned = LearnedMap::new(map.clone(), &geometry());
    let seen = 60 * 110_000 + 1;
    learned.observe(seen, false, &map.position(0, seen).unwrap());
    let mut random = Random::new(5, 0);
    let drawn: Vec<LearnedMap> = (0..600).map(|_| learned.drawn(&mut random)).collect();
    let block = |wrap: u64| wrap * 110_000;
    let wrap_lpos = f64::from(geometry().wrap_lpos());
    let off = |drawn: &LearnedMap, wrap: u64| {
        let at = |map: &LearnedMap| along(&map.position(0, block(wrap), false).unwrap());
        (at(drawn) - at(&learned)) as f64 / wrap_lpos
    };
    for (one, other) in [(20, 40), (30, 30), (80, 120), (20, 90)] {
        let products = drawn.iter().map(|map| off(map, one) * off(map, other));
        let measured = products.sum::<f64>() / 600.0;
        let doubt = |wrap| learned.doubt(0, block(wrap), false).unwrap();
        let stated = doubt(one).covariance(&doubt(other));
        let scale = (doubt(one).variance() * doubt(other).variance()).sqrt();
        assert!(
            (measured - stated).abs() < 0.15 * scale,
            "{one} {other}: {measured} {stated}"
        );
    }
    assert_eq!(learned.doubt(0, seen, false).unwrap().variance(), 0.0);
    assert_eq!(learned.doubt(3, 0, false), None);
}

#[test]
fn a_map_made_of_what_was_learned_has_every_block_where_it_was_learned() {
    let mut learned = LearnedMap::new(ltfs(), &geometry());
    for (block, wrap, lpos) in [(2_000_000, 22, 40_000), (9_000_000, 86, 90_000)] {
        let at = Position {
            partition: 1,
            wrap,
            lpos,
            source: PositionSource::Recorded,
            error_lpos: 0,
        };
        learned.observe(block, false, &at);
    }
    let map = learned.block_map();
    assert_eq!(map.source(), PositionSource::Probed);
    // Within a wrap the map interpolates between its ends, the learned one bends at what was seen.
    let bend = i64::from(geometry().wrap_lpos()) / 100;
    for block in (0..9_500_000).step_by(98_765) {
        let expected = learned.position(1, block, false).unwrap();
        let found = map.position(1, block).unwrap();
        let off = along(&found) - along(&expected);
        assert!(off.abs() <= bend, "block {block}: {off} LPOS off");
    }
}

#[test]
fn a_map_in_which_nothing_was_seen_is_the_believed_one_and_no_surer() {
    let map = LearnedMap::new(ltfs(), &geometry()).block_map();
    for (believed, made) in ltfs().spans().iter().zip(map.spans()) {
        assert_eq!(believed.wrap, made.wrap);
        assert!(believed.first_block.abs_diff(made.first_block) <= 1);
    }
    let end = map.position(1, map.end_block(1) - 1).unwrap();
    let stated = learned_error(&ltfs());
    assert!(
        end.error_lpos.abs_diff(stated) <= stated / 50,
        "{end:?}, {stated}"
    );
}

/// The error stated at the end of a map in which nothing was seen.
fn learned_error(believed: &BlockMap) -> u32 {
    let learned = LearnedMap::new(believed.clone(), &geometry());
    let last = believed.end_block(1) - 1;
    learned.position(1, last, false).unwrap().error_lpos
}
