//! What is found of map and cost on synthetic cartridges, as a table in Markdown.
//!
//! `cargo run --release -p tapewise-fit --example blind_worlds` prints the tables of
//! `docs/method/fitting-without-positions.md`.

#[path = "../tests/blind/world.rs"]
#[allow(dead_code)] // the tests use more of it
mod world;

use tapewise_fit::blind::{Errors, LinearCost, Options, fit, held_out};
use world::{Drive, NOMINAL_WRAP_BLOCKS, Recalls, Setting, World};

const VOLUMES: usize = 6;

fn main() {
    let random = |moves| Setting::new(1, 208, VOLUMES, moves, Recalls::Random);
    let sorted = |moves| Setting::new(1, 208, VOLUMES, moves, Recalls::Sorted { files: 100 });
    let options = Options::new(NOMINAL_WRAP_BLOCKS);
    println!(
        "| world | moves | found | off | stated | nominal s | found s | truth s | nominal | found | truth |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for moves in [50, 100, 300, 1_000, 5_000] {
        regression("random", random(moves), &options);
    }
    for moves in [50, 100, 300, 1_000, 5_000] {
        regression("sorted", sorted(moves), &options);
    }
    let noisy = |setting| Setting {
        noise_s: 8.0,
        ..setting
    };
    regression("random, 8 s of noise", noisy(random(300)), &options);
    regression("sorted, 8 s of noise", noisy(sorted(300)), &options);
    let uneven = Setting {
        wrap_share: 0.01,
        ..random(300)
    };
    regression("random, wraps 1 %", uneven, &options);
    let wide = Options {
        tape_share: 0.1,
        ..options
    };
    let apart = Setting {
        tape_share: 0.1,
        ..random(300)
    };
    regression("random, tapes 10 %", apart, &wide);
    let landing = World::new(Setting {
        drive: Drive::LandingPoints,
        noise_s: 1.0,
        ..random(300)
    });
    row(
        "landing points, regression",
        &landing,
        &landing.expected_cost(),
        &options,
    );
    row(
        "landing points, with approach",
        &landing,
        &landing.approach_cost(),
        &options,
    );
}

fn regression(name: &str, setting: Setting, options: &Options) {
    let world = World::new(setting);
    row(name, &world, &world.expected_cost(), options);
}

fn row<C: LinearCost>(name: &str, world: &World, cost: &C, options: &Options) {
    let moves = world.volumes[0].moves.len();
    let found = fit(cost, &world.geometry, &world.volumes, options);
    let judged = held_out(cost, &world.geometry, &world.volumes, options);
    let (found, judged) = match (found, judged) {
        (Ok(found), Ok(judged)) => (found, judged),
        (Err(error), _) | (_, Err(error)) => return println!("| {name} | {moves} | {error} |"),
    };
    let (mut made, mut stated, mut count) = (0.0, 0.0, 0);
    for (at, volume) in found.volumes.iter().enumerate() {
        if volume.support.is_found() {
            let (error, claimed) = world.map_error(at, volume);
            made += error * error;
            stated += claimed * claimed;
            count += 1;
        }
    }
    let percent = |squares: f64| 100.0 * f64::sqrt(squares / f64::from(count));
    let Errors {
        typical_s,
        off_by_2_s,
        ..
    } = judged.by_moves.nominal;
    let (truth_s, truth_off) = world.true_errors();
    println!(
        "| {name} | {moves} | {count} of {} | {:.2} | {:.2} | {typical_s:.1} | {:.2} | {truth_s:.2} | {:.0} % | {:.1} % | {:.1} % |",
        world.volumes.len(),
        percent(made),
        percent(stated),
        judged.by_moves.found.typical_s,
        100.0 * off_by_2_s,
        100.0 * judged.by_moves.found.off_by_2_s,
        100.0 * truth_off,
    );
}
