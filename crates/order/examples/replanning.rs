//! What a new plan costs, and what planning on from where the head is gains over CTA's windows.
//!
//! `cargo run --release -p tapewise-order --example replanning` prints two tables. The time is that
//! of the thread on its core, mean of 25; on another machine it is another, but hardly the
//! ratios. Results: docs/method/robustness.md.

use tapewise_model::{BlockMap, LearnedMap, Micros, NominalLayout, Position, Random, profile};
use tapewise_order::replan::{
    Arrival, Policy, Recall, Replanner, Running, TrueTape, rehearse, rehearse_cta,
};
use tapewise_order::{
    Alternatives, Effort, End, Options, Order, PlacedExtent, Problem, Request, Tape, best,
};

const BLOCK_BYTES: u64 = 1 << 18;

fn main() {
    println!(
        "| waiting | arrive | inserted and improved, ms | ordered anew, ms | longer than anew, % |"
    );
    println!("|---|---|---|---|---|");
    for (waiting, arriving) in [
        (100, 1),
        (100, 10),
        (1_000, 1),
        (1_000, 10),
        (10_000, 1),
        (10_000, 100),
    ] {
        times(waiting, arriving);
    }
    println!();
    println!(
        "| files | known at the start | SORT of all | CTA, windows | planned on | less than CTA, % |"
    );
    println!("|---|---|---|---|---|---|");
    for (files, bytes) in [
        (300, 200_000_000),
        (1_000, 200_000_000),
        (1_000, 2_000_000_000),
        (4_000, 2_000_000_000),
    ] {
        for known in [1.0, 0.5] {
            against_cta(files, bytes, known);
        }
    }
}

/// A full M8 cartridge.
fn tape() -> (Tape, BlockMap) {
    let profile = profile::find("lto7-m8").expect("a profile");
    let map = profile
        .nominal_map(NominalLayout::Single, BLOCK_BYTES)
        .expect("a map");
    (Tape::new(&profile, None).expect("a model"), map)
}

fn files(map: &BlockMap, count: usize, bytes: u64, seed: u64) -> Vec<(u64, Request)> {
    let blocks = bytes / BLOCK_BYTES;
    let slots = map.end_block(0) / blocks;
    let mut random = Random::new(seed, 0);
    let mut taken = std::collections::BTreeSet::new();
    while taken.len() < count {
        taken.insert(random.below(slots));
    }
    let mut taken: Vec<u64> = taken.into_iter().collect();
    random.shuffle(&mut taken);
    let file = |slot: u64| {
        let first = slot * blocks;
        let extent = PlacedExtent::on_map(map, 0, first, first + blocks - 1, bytes);
        Request::single(extent.expect("blocks of the tape"))
    };
    (0..).zip(taken.into_iter().map(file)).collect()
}

fn options(tape: &Tape) -> Options {
    Options {
        head: Position::beginning_of_tape(tape.geometry.lpos_min),
        end: End::Anywhere,
        read_through: true,
    }
}

fn usual(problem: &Problem) -> Order {
    best(problem, &Alternatives::none(), &Effort::usual(), 1).order
}

/// A tenth of what is usual: what is worth spending when the next plan comes soon.
fn quick(problem: &Problem) -> Order {
    let effort = Effort {
        work: 6_000_000,
        ..Effort::usual()
    };
    best(problem, &Alternatives::none(), &effort, 1).order
}

/// The time this thread has been on a core, in milliseconds.
fn thread_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok());
    first.unwrap_or(f64::NAN) / 1e6
}

fn times(waiting: usize, arriving: usize) {
    let (tape, map) = tape();
    let all = files(&map, waiting + arriving, 200_000_000, 1);
    let mut running = Running::new(tape.clone(), options(&tape));
    let arrive = |running: &mut Running, files: &[(u64, Request)]| {
        for (id, request) in files {
            running
                .arrive(*id, request.clone())
                .expect("numbers differ");
        }
    };
    arrive(&mut running, &all[..waiting]);
    running.replan(&Replanner::new(&usual));
    arrive(&mut running, &all[waiting..]);
    let measure = |replanner: &Replanner| {
        let mut total = Micros::ZERO;
        // The core's clock ticks every few milliseconds: many new plans are timed together.
        let mut copies = vec![running.clone(); 25];
        let begin = thread_ms();
        for running in &mut copies {
            total = running.replan(replanner).total;
        }
        ((thread_ms() - begin) / copies.len() as f64, total)
    };
    let insert_only = Replanner {
        whole_visits: 0,
        whole_share: 2.0,
        ..Replanner::new(&quick)
    };
    let (inserted_ms, inserted) = measure(&insert_only);
    let (anew_ms, anew) = measure(&Replanner::new(&quick).whole());
    let longer = 100.0 * (inserted.as_secs_f64() / anew.as_secs_f64() - 1.0);
    println!("| {waiting} | {arriving} | {inserted_ms:.1} | {anew_ms:.1} | {longer:.2} |");
}

fn against_cta(count: usize, bytes: u64, known: f64) {
    let (tape, map) = tape();
    let all = files(&map, count, bytes, 2);
    let (first, later) = all.split_at((count as f64 * known) as usize);
    // One every twelve seconds: about as fast as they are read.
    let arrivals: Vec<Arrival> = (1..)
        .zip(later)
        .map(|(nth, (id, request))| Arrival {
            time: Micros(nth * 12_000_000),
            id: *id,
            request: request.clone(),
        })
        .collect();
    let truth = TrueTape::new(tape.clone(), options(&tape), &all);
    let learned = LearnedMap::new(map, &tape.geometry);
    let mut recall = Recall::new(tape.clone(), options(&tape), learned, Policy::Fixed);
    for (id, request) in first {
        recall.arrive(*id, request.clone()).expect("numbers differ");
    }
    let no_probes = |_, _| options(&tape).head;
    let ours = rehearse(
        &truth,
        recall,
        &arrivals,
        &Replanner::new(&quick),
        &no_probes,
    );
    let theirs = rehearse_cta(&truth, first, &arrivals);
    let sorted = tapewise_order::sort(truth.problem()).total_time(truth.problem());
    let less = 100.0 * (1.0 - ours.total.as_secs_f64() / theirs.total.as_secs_f64());
    println!(
        "| {count} of {} MB | {} | {:.0} | {:.0} | {:.0} | {less:.0} |",
        bytes / 1_000_000,
        first.len(),
        sorted.as_secs_f64(),
        theirs.total.as_secs_f64(),
        ours.total.as_secs_f64()
    );
}
