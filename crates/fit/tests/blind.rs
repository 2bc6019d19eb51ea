//! Map and cost found together, on worlds whose maps and costs are known.

#[path = "blind/world.rs"]
mod world;

use tapewise_fit::blind::{BlindError, Fit, Options, Support, Volume, fit, held_out};
use tapewise_fit::{Candidate, Ground, compare};
use world::{Drive, NOMINAL_WRAP_BLOCKS, Recalls, Setting, TRUE_COST, World};

fn options() -> Options {
    Options::new(NOMINAL_WRAP_BLOCKS)
}

fn fitted(world: &World) -> Fit {
    let cost = world.expected_cost();
    fit(&cost, &world.geometry, &world.volumes, &options()).unwrap()
}

/// Every volume is found, its places to within `rms_wraps`.
fn assert_maps(world: &World, found: &Fit, rms_wraps: f64) {
    for (at, volume) in found.volumes.iter().enumerate() {
        assert!(volume.support.is_found(), "{:?}", volume.support);
        let (error, _) = world.map_error(at, volume);
        assert!(error < rms_wraps, "volume {at}: {error} wraps off");
        let true_blocks = world.wrap_blocks(at);
        let blocks_off = volume.wrap_blocks() / true_blocks - 1.0;
        assert!(blocks_off.abs() < 5e-4, "volume {at}: {blocks_off}");
    }
}

/// Coefficients within these distances of the truth, in the order of the terms.
fn assert_cost(found: &Fit, within: [f64; 7]) {
    for ((coefficient, truth), within) in found.coefficients.iter().zip(TRUE_COST).zip(within) {
        let off = coefficient.value - truth;
        assert!(off.abs() < within, "{}: off by {off}", coefficient.name);
    }
}

#[test]
fn random_recalls_of_300_files_place_every_block_within_a_hundredth_of_a_wrap() {
    let world = World::new(Setting::new(1, 208, 4, 300, Recalls::Random));
    let found = fitted(&world);
    assert_maps(&world, &found, 0.01);
    // Few moves stay on a wrap, so intercept and wrap change are known by their sum mostly.
    assert_cost(&found, [3.0, 3.0, 0.4, 0.4, 0.4, 3.0, 1e-5]);
    let (intercept, wrap_change) = (&found.coefficients[0], &found.coefficients[1]);
    let both = intercept.value + wrap_change.value - TRUE_COST[0] - TRUE_COST[1];
    assert!(both.abs() < 0.5, "{both}");
}

#[test]
fn sorted_recalls_on_168_wraps_do_as_well() {
    let world = World::new(Setting::new(2, 168, 4, 400, Recalls::Sorted { files: 100 }));
    let found = fitted(&world);
    assert_maps(&world, &found, 0.01);
    // Sorted recalls never step back: that coefficient is what was expected, and says so.
    let step_back = found.coefficients[5];
    assert!(step_back.std_error > 5.0);
    assert_cost(&found, [0.5, 0.5, 0.8, 0.5, 0.5, 2.0, 1e-5]);
}

#[test]
fn a_hundred_moves_on_each_of_a_few_volumes_are_enough() {
    let world = World::new(Setting::new(3, 208, 6, 100, Recalls::Random));
    assert_maps(&world, &fitted(&world), 0.015);
}

#[test]
fn held_out_moves_are_predicted_nearly_as_well_as_by_the_truth() {
    let world = World::new(Setting::new(4, 208, 4, 300, Recalls::Random));
    let cost = world.expected_cost();
    let judged = held_out(&cost, &world.geometry, &world.volumes, &options()).unwrap();
    let (_, truly_off) = world.true_errors();
    let by_volumes = judged.by_volumes.unwrap();
    for compared in [judged.by_moves, by_volumes] {
        assert!(compared.found.off_by_2_s < truly_off + 0.10, "{compared:?}");
        assert!(compared.nominal.off_by_2_s > 0.8, "{compared:?}");
        assert!(compared.found.typical_s < 2.1, "{compared:?}");
    }
    assert!(judged.by_moves.found.moves >= 1_190);
}

#[test]
fn the_same_moves_give_the_same_bits() {
    let world = World::new(Setting::new(5, 208, 2, 120, Recalls::Random));
    let (a, b) = (fitted(&world), fitted(&world));
    assert_eq!(a.coefficients, b.coefficients);
    for (a, b) in a.volumes.iter().zip(&b.volumes) {
        assert_eq!(a.along(9_999_999), b.along(9_999_999));
    }
}

#[test]
fn a_volume_with_few_moves_stays_nominal_and_says_so() {
    let mut world = World::new(Setting::new(6, 208, 3, 200, Recalls::Random));
    world.volumes[1].moves.truncate(30);
    let found = fitted(&world);
    assert_eq!(found.volumes[1].support, Support::FewMoves);
    assert_eq!(found.volumes[1].wrap_blocks(), NOMINAL_WRAP_BLOCKS);
    // Half way along the tape, 1 % is a wrap: the error says so.
    let (_, error) = found.volumes[1].along(104 * NOMINAL_WRAP_BLOCKS as u64);
    assert!(error > 1.0, "{error}");
    assert!(found.volumes[0].support.is_found() && found.volumes[2].support.is_found());
}

#[test]
fn times_that_have_nothing_to_do_with_places_give_no_map() {
    let mut world = World::new(Setting::new(7, 208, 2, 200, Recalls::Random));
    for volume in &mut world.volumes {
        let times: Vec<_> = volume.moves.iter().rev().map(|m| m.time).collect();
        for (m, time) in volume.moves.iter_mut().zip(times) {
            m.time = time;
        }
    }
    let cost = world.expected_cost();
    let error = fit(&cost, &world.geometry, &world.volumes, &options()).unwrap_err();
    assert!(
        matches!(error, BlindError::Ambiguous { searched: 2, .. }),
        "{error}"
    );
}

#[test]
fn too_little_is_an_error_with_numbers() {
    let world = World::new(Setting::new(8, 208, 1, 30, Recalls::Random));
    let cost = world.expected_cost();
    let error = fit(&cost, &world.geometry, &world.volumes, &options()).unwrap_err();
    let expected = BlindError::TooFewMoves {
        volumes: 1,
        least: 40,
        most: 30,
    };
    assert_eq!(error, expected);
    let none: [Volume; 0] = [];
    assert!(fit(&cost, &world.geometry, &none, &options()).is_err());
    let zero = Options::new(0.0);
    let error = fit(&cost, &world.geometry, &world.volumes, &zero).unwrap_err();
    assert!(matches!(error, BlindError::BadOption { .. }));
}

#[test]
fn reading_on_is_told_apart_from_moving() {
    let mut world = World::new(Setting::new(9, 208, 1, 150, Recalls::Random));
    let first = world.volumes[0].moves[0];
    let seconds = [0.2, 0.9, 0.3];
    world.volumes[0]
        .moves
        .extend(seconds.map(|s| tapewise_fit::blind::Move {
            from_block: first.to_block,
            time: tapewise_model::Micros::from_secs_f64(s),
            ..first
        }));
    let found = fitted(&world);
    let volume = &found.volumes[0];
    assert_eq!((volume.moves, volume.read_on), (153, 3));
    assert_eq!(volume.read_on_time.unwrap().as_secs_f64(), 0.3);
}

#[test]
fn the_ends_of_wraps_are_a_table_that_a_map_can_be_made_of() {
    let world = World::new(Setting::new(10, 208, 1, 1_000, Recalls::Random));
    let found = fitted(&world);
    let volume = &found.volumes[0];
    let table = volume.wrap_ends(&world.geometry);
    let map = tapewise_model::BlockMap::from_end_of_wrap(&world.geometry, &table, None).unwrap();
    for block in (0..volume.last_block()).step_by(1_234_567) {
        let (place, _) = volume.place(&world.geometry, block);
        let position = map.position(0, block).unwrap();
        assert_eq!(position.wrap, place.wrap);
        assert!((f64::from(position.lpos) - place.lpos).abs() < 400.0);
    }
}

#[test]
fn a_drive_with_landing_points_is_placed_by_the_cost_that_knows_approach() {
    let plain = Setting::new(11, 208, 4, 200, Recalls::Random);
    let world = World::new(Setting {
        drive: Drive::LandingPoints,
        noise_s: 1.0,
        ..plain
    });
    let cost = world.approach_cost();
    let found = fit(&cost, &world.geometry, &world.volumes, &options()).unwrap();
    assert_maps(&world, &found, 0.008);
    assert!(found.typical_s < 1.3, "{}", found.typical_s);
    // The regression has no such term: places shift, and they are a hundredth of a wrap off.
    assert_maps(&world, &fitted(&world), 0.02);
}

#[test]
fn errors_as_large_as_those_of_the_regression_still_leave_a_map() {
    for recalls in [Recalls::Random, Recalls::Sorted { files: 100 }] {
        let plain = Setting::new(12, 208, 4, 100, recalls);
        let world = World::new(Setting {
            noise_s: 8.0,
            ..plain
        });
        assert_maps(&world, &fitted(&world), 0.025);
    }
}

#[test]
fn tapes_that_differ_by_a_tenth_are_found_when_that_is_said() {
    let plain = Setting::new(13, 208, 3, 120, Recalls::Random);
    let world = World::new(Setting {
        tape_share: 0.1,
        ..plain
    });
    let wide = Options {
        tape_share: 0.1,
        ..options()
    };
    let cost = world.expected_cost();
    let found = fit(&cost, &world.geometry, &world.volumes, &wide).unwrap();
    assert_maps(&world, &found, 0.015);
    let furthest = (0..3).map(|at| (world.wrap_blocks(at) / NOMINAL_WRAP_BLOCKS - 1.0).abs());
    assert!(furthest.fold(0.0, f64::max) > 0.04);
}

#[test]
fn how_much_wraps_differ_is_learned_where_it_is_three_times_what_was_said() {
    let plain = Setting::new(14, 208, 4, 400, Recalls::Random);
    let world = World::new(Setting {
        wrap_share: 0.01,
        ..plain
    });
    let found = fitted(&world);
    assert_maps(&world, &found, 0.012);
    assert!(
        (0.007..0.013).contains(&found.wrap_share),
        "{}",
        found.wrap_share
    );
}

#[test]
fn stated_errors_are_those_made() {
    for (moves, recalls) in [
        (80, Recalls::Random),
        (500, Recalls::Random),
        (500, Recalls::Sorted { files: 250 }),
    ] {
        let world = World::new(Setting::new(15, 168, 4, moves, recalls));
        let found = fitted(&world);
        let (mut made, mut stated) = (0.0, 0.0);
        for (at, volume) in found.volumes.iter().enumerate() {
            let (error, claimed) = world.map_error(at, volume);
            made += error * error;
            stated += claimed * claimed;
        }
        let ratio = f64::sqrt(made / stated);
        assert!((0.7..1.4).contains(&ratio), "{moves} {recalls:?}: {ratio}");
    }
}

#[test]
fn a_name_that_stands_for_two_cartridges_stands_out() {
    let mut world = World::new(Setting::new(16, 208, 4, 200, Recalls::Random));
    let others = world.volumes.pop().unwrap().moves;
    world.volumes[1].moves.truncate(100);
    world.volumes[1].moves.extend(&others[..100]);
    let found = fitted(&world);
    let mixed = &found.volumes[1];
    let stands_out = mixed.typical_s > 3.0 * found.volumes[0].typical_s;
    assert!(
        stands_out || !mixed.support.is_found(),
        "{}",
        mixed.typical_s
    );
    assert!(found.volumes[0].support.is_found() && found.volumes[2].support.is_found());
}

#[test]
fn positions_carry_their_source_and_error() {
    let mut world = World::new(Setting::new(17, 208, 2, 150, Recalls::Random));
    world.volumes[1].moves.truncate(20);
    let found = fitted(&world);
    let block = 100 * NOMINAL_WRAP_BLOCKS as u64;
    let [timed, nominal] = [0, 1].map(|at| found.volumes[at].position(&world.geometry, block));
    assert_eq!(timed.source, tapewise_model::PositionSource::Timed);
    assert!(
        (1..3_000).contains(&timed.error_lpos),
        "{}",
        timed.error_lpos
    );
    assert_eq!(nominal.source, tapewise_model::PositionSource::Nominal);
    assert!(nominal.error_lpos > world.geometry.wrap_lpos() / 2);
}

#[test]
fn a_block_behind_the_end_of_the_tape_is_an_error_not_a_huge_map() {
    let mut world = World::new(Setting::new(18, 208, 1, 60, Recalls::Random));
    world.volumes[0].moves[7].to_block = u64::MAX;
    let cost = world.expected_cost();
    let error = fit(&cost, &world.geometry, &world.volumes, &options()).unwrap_err();
    let BlindError::BeyondTape { block, wraps, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((block, wraps), (u64::MAX, 208));
}

#[test]
fn moves_with_the_places_found_can_be_fitted_like_measured_ones() {
    let plain = Setting::new(19, 208, 3, 250, Recalls::Random);
    let mut world = World::new(Setting {
        drive: Drive::LandingPoints,
        noise_s: 1.0,
        ..plain
    });
    world.volumes[1].moves.truncate(10);
    let found = fit(
        &world.approach_cost(),
        &world.geometry,
        &world.volumes,
        &options(),
    )
    .unwrap();
    let samples = found.samples(&world.geometry, &world.volumes);
    let cartridges: Vec<u32> = samples.iter().map(|sample| sample.cartridge).collect();
    assert!(cartridges.contains(&0) && !cartridges.contains(&1) && cartridges.contains(&2));
    let ground = Ground::new(world.geometry.clone());
    let compared = compare(&samples, &ground).unwrap();
    let median_s = |candidate| compared.of(candidate).unwrap().overall.median_s;
    let landing_s = median_s(Candidate::LandingPoint);
    let regression_s = median_s(Candidate::LtoRegression);
    assert!(
        landing_s < 1.0 && landing_s < 0.6 * regression_s,
        "{landing_s} {regression_s}"
    );
}
