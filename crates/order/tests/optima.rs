//! Optima that another solver proved (`fixtures/optima.json`) against our orders and bounds.
//!
//! HiGHS reckons in floating point: no order may be below its optimum by more than a millionth.
//! The order it found is priced exactly: no bound may be above that at all.

#[path = "../benches/batch/mod.rs"]
mod batch;

use batch::{Kind, Start};
use tapewise_model::Micros;
use tapewise_order::{Alternatives, Assignment, Effort, Problem, best, sltf};

struct Optimum {
    problem: Problem,
    locate: Micros,
    line: String,
}

/// The entries of the file: an object on each line, whose values are words and numbers.
fn optima() -> Vec<Optimum> {
    tapewise_house::text("optima.json")
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| {
            let number = |name| value(line, name).parse().expect("a whole number");
            let kinds = [Kind::Dlt4000, Kind::Lto7M8, Kind::Lto8];
            let of_drive = |kind: &Kind| kind.profile() == value(line, "drive");
            let kind = kinds.into_iter().find(of_drive).expect("a drive");
            let start = match value(line, "start") {
                "bot" => Start::Bot,
                _ => Start::Random,
            };
            let (requests, seed) = (number("requests") as usize, number("seed") as u64);
            Optimum {
                problem: batch::blocks(kind, requests, seed, start),
                locate: Micros(number("locate_us")),
                line: line.to_owned(),
            }
        })
        .collect()
}

fn value<'a>(line: &'a str, name: &str) -> &'a str {
    let after = line.split(&format!("\"{name}\": ")).nth(1).expect(name);
    let end = after.find([',', '}']).expect("an end");
    after[..end].trim_matches('"')
}

#[test]
fn no_order_is_below_them_and_no_bound_above() {
    let optima = optima();
    assert!(optima.len() >= 20);
    for Optimum {
        problem,
        locate,
        line,
    } in optima
    {
        let (read, inner_locate) = problem.fixed_time();
        let optimum = locate + read + inner_locate;
        let least = Micros(optimum.0 - locate.0 / 1_000_000);
        let solution = best(&problem, &Alternatives::none(), &Effort::usual(), 1);
        let found = solution.order.total_time(&problem);
        assert!(found >= least, "{found:?}, below the optimum of {line}");
        assert!(sltf(&problem).total_time(&problem) >= found, "{line}");
        let assigned = Assignment::new(&problem).bound() + read + inner_locate;
        // Neither is ever so weak that the check says nothing.
        for (bound, per_mille) in [(solution.bound, 995), (Some(assigned), 930)] {
            let bound = bound.expect("a bound");
            assert!(bound <= optimum, "a bound of {bound:?}, above {line}");
            let weakest = Micros(optimum.0 / 1_000 * per_mille);
            assert!(bound >= weakest, "a bound of {bound:?}: {line}");
        }
    }
}
