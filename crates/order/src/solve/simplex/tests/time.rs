//! How long tour bounds take: printed, not asserted.
//!
//! `cargo test --release -p tapewise-order --lib simplex::tests::time -- --ignored --nocapture`

#[cfg(test)]
use super::{
    Outcome, Stop,
    tours::{Tour, dlt4000, lto8},
};

/// Processor time of this thread in milliseconds; 0 where the system does not tell.
fn processor_ms() -> f64 {
    // The system brings the count up to date when a thread yields.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
    nanoseconds.unwrap_or(0.0) / 1e6
}

#[test]
#[ignore = "prints times"]
fn tour_bounds() {
    for problem in [dlt4000(100, 1), dlt4000(300, 1), dlt4000(1_000, 1)] {
        report("dlt4000", &mut Tour::new(&problem));
    }
    for requests in [100, 300, 1_000] {
        for seed in 1..4 {
            report("lto8", &mut Tour::new(&lto8(requests, seed)));
        }
    }
}

fn report(name: &str, tour: &mut Tour) {
    let (mut pivots, mut spent, mut rounds) = ([0, 0], [0.0, 0.0], 0);
    let mut optimise = |tour: &mut Tour, kind: usize| {
        let start = processor_ms();
        assert_eq!(tour.programme.optimise(), Outcome::Optimal);
        spent[kind] += processor_ms() - start;
        pivots[kind] += tour.programme.simplex.pivots();
    };
    optimise(tour, 0);
    loop {
        let mut progress = 0;
        while let cuts @ 1.. = tour.cut() {
            progress += cuts;
            optimise(tour, 0);
            rounds += 1;
        }
        progress += tour.price();
        optimise(tour, 1);
        rounds += 1;
        if progress == 0 {
            break;
        }
    }
    let bound = tour.programme.simplex.objective();
    let raised = 100.0 * (bound / tour.assignment - 1.0);
    println!(
        "{name} n={}: {} columns, {} cuts, {rounds} rounds, +{raised:.3} %; after cuts {} pivots \
         {:.2} ms, after arcs {} pivots {:.2} ms",
        tour.cities() - 1,
        tour.programme.simplex.columns(),
        tour.cuts.len(),
        pivots[0],
        spent[0],
        pivots[1],
        spent[1],
    );
    branch(tour);
    for (name, start) in [("assigned arcs", tour.cities() as u32), ("nothing", 0)] {
        let simplex = &mut tour.programme.simplex;
        let begin = processor_ms();
        simplex.start_from(&(0..start).collect::<Vec<u32>>());
        assert_eq!(simplex.optimise(&Stop::AT_OPTIMUM), Outcome::Optimal);
        let (pivots, spent) = (simplex.pivots(), processor_ms() - begin);
        println!("    from {name}: {pivots} pivots, {spent:.1} ms");
    }
}

/// Re-optimises after forbidding each of some used arcs.
fn branch(tour: &mut Tour) {
    let simplex = &mut tour.programme.simplex;
    let root = simplex.basis();
    let used = |&column: &u32| simplex.value(column) > 1e-6;
    let columns: Vec<u32> = (0..simplex.columns() as u32)
        .filter(used)
        .take(100)
        .collect();
    let (mut pivots, start) = (0, processor_ms());
    for &column in &columns {
        simplex.restore(&root);
        simplex.forbid(column, true);
        simplex.optimise(&Stop::AT_OPTIMUM);
        simplex.forbid(column, false);
        pivots += simplex.pivots();
    }
    let each = (processor_ms() - start) / columns.len() as f64;
    let pivots = pivots as f64 / columns.len() as f64;
    println!("    a branch: {pivots:.1} pivots, {each:.3} ms");
}
