//! Ordering times with their spread: `cargo bench --bench orders`.

mod batch;

use batch::{Kind, Start};
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use tapewise_order::{Plan, improve, loss, opt, sltf};

type Drive = (&'static str, Kind);
const DRIVES: [Drive; 2] = [("dlt4000", Kind::Dlt4000), ("lto8", Kind::Lto8)];

fn exact(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("OPT");
    group.sample_size(20);
    for (name, kind) in DRIVES {
        let make = |requests| batch::blocks(kind, requests, 1, Start::Random);
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
    for (name, kind) in DRIVES {
        let make = |requests| batch::blocks(kind, requests, 1, Start::Random);
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
    for (name, kind) in DRIVES {
        let make = |requests| batch::blocks(kind, requests, 1, Start::Random);
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
