//! Ordering times with their spread: `cargo bench --bench orders`.

mod batch;

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use tapewise_order::{Plan, Problem, improve, loss, opt, sltf};

type Drive = (&'static str, fn(usize) -> Problem);
const DRIVES: [Drive; 2] = [("dlt4000", batch::dlt4000), ("lto8", batch::lto8)];

fn exact(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("OPT");
    group.sample_size(20);
    for (name, make) in DRIVES {
        for requests in [12, 15] {
            let problem = make(requests);
            group.bench_function(format!("{name}/{requests}"), |bencher| {
                bencher.iter(|| opt(black_box(&problem)));
            });
        }
    }
}

fn greedy(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("greedy");
    group.sample_size(20);
    for (name, make) in DRIVES {
        let problem = make(2_048);
        group.bench_function(format!("LOSS/{name}/2048"), |bencher| {
            bencher.iter(|| loss(black_box(&problem)));
        });
        let problem = make(10_000);
        group.bench_function(format!("SLTF/{name}/10000"), |bencher| {
            bencher.iter(|| sltf(black_box(&problem)));
        });
    }
}

fn after(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("after");
    group.sample_size(10);
    for (name, make) in DRIVES {
        let problem = make(2_048);
        let order = loss(&problem);
        group.bench_function(format!("improve/{name}/2048"), |bencher| {
            bencher.iter(|| improve(black_box(&problem), &order, u64::MAX));
        });
        group.bench_function(format!("plan/{name}/2048"), |bencher| {
            bencher.iter(|| Plan::new(black_box(&problem), order.clone()));
        });
    }
}

criterion_group!(benches, exact, greedy, after);
criterion_main!(benches);
