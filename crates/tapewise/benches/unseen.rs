//! Fits of drives whose laws no model of ours has, and what their orders are worth: `make unseen`.
//!
//! For each transport a log of 3,000 moves on ten cartridges is fitted; the error is that on cartridges held out. Then
//! batches on another cartridge are ordered with the fitted model and as CTA does, and both orders are priced by the law
//! itself, without noise.

#[path = "unseen/transports.rs"]
mod transports;

use tapewise_fit::{Ground, Sample, Trust, compare};
use tapewise_model::{
    Geometry, Micros, NominalLayout, Position, PositionSource, Profile, Random, profile,
};
use tapewise_order::{
    Algorithm, Alternatives, End, Inputs, Options, Order, PlacedExtent, Problem, Request, Tape,
    cta_sltf,
};
use transports::{NOISE_S, Spot, TRANSPORTS, Transport, logged_s};

const MOVES: usize = 3_000;
const CARTRIDGES: u32 = 10;
const BATCHES: [usize; 3] = [50, 200, 1_000];
const SEEDS: std::ops::RangeInclusive<u64> = 1..=6;

fn main() {
    let drive = profile::find("lto8").expect("a profile");
    let ground = Ground::of(&drive).expect("its shape");
    println!(
        "{MOVES} moves, {CARTRIDGES} cartridges, noise {NOISE_S} s; seeds {} to {}: the worst of each",
        SEEDS.start(),
        SEEDS.end()
    );
    println!(
        "saved: of the locate time of CTA's order, by the order that the fitted model makes\n"
    );
    println!(
        "| transport | model taken | trust | held out, s | without outliers | floor | over floor | saved at 50 | 200 | 1,000 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for transport in &TRANSPORTS {
        let rows: Vec<Row> = SEEDS
            .map(|seed| row(transport, &drive, &ground, seed))
            .collect();
        let most = |of: fn(&Row) -> f64| rows.iter().map(of).fold(0.0, f64::max);
        let (all_s, bulk_s) = (most(|row| row.all_s), most(|row| row.bulk_s));
        print!(
            "| {} | {} | {:?} | {all_s:.2} | {bulk_s:.2} | {:.2} | {:.2} |",
            transport.name,
            rows[0].model,
            rows[0].trust,
            rows[0].floor_s,
            most(|row| row.bulk_s / row.floor_s)
        );
        for at in 0..BATCHES.len() {
            let least = rows.iter().map(|row| row.saved[at]).fold(1.0, f64::min);
            print!(" {:.0} % |", 100.0 * least);
        }
        println!();
    }
    println!();
    for transport in &TRANSPORTS {
        println!("- {}: {}", transport.name, transport.described);
    }
}

struct Row {
    model: &'static str,
    trust: Trust,
    all_s: f64,
    bulk_s: f64,
    floor_s: f64,
    saved: [f64; 3],
}

fn row(transport: &Transport, drive: &Profile, ground: &Ground, seed: u64) -> Row {
    let geometry = &ground.geometry;
    let log = log(transport, geometry, seed);
    let found = compare(&log, ground).expect("a fit");
    let choice = found.choice();
    let model = choice.fitted.coefficients.model(geometry);
    let tape = Tape {
        model,
        ..Tape::new(drive, None).expect("a tape")
    };
    let saved = BATCHES.map(|requests| {
        let problem = batch(drive, &tape, requests, seed);
        let ours = Algorithm::Best
            .order(&problem, &Inputs::new(&Alternatives::none()))
            .expect("an order");
        let theirs = cta_sltf(&problem, true);
        1.0 - priced_s(transport, geometry, &problem, &ours)
            / priced_s(transport, geometry, &problem, &theirs)
    });
    Row {
        model: choice.candidate.name(),
        trust: found.trust(),
        all_s: choice.overall.residual_s,
        bulk_s: choice.overall.bulk_s,
        floor_s: floor_s(transport, geometry, &log),
        saved,
    }
}

/// The least error on a cartridge that no log has: the noise, and how far cartridges differ in the same move.
fn floor_s(transport: &Transport, geometry: &Geometry, log: &[Sample]) -> f64 {
    const OTHERS: std::ops::Range<u32> = 1_000..1_050;
    let spread = |sample: &Sample| {
        let [from, to] =
            [&sample.from, &sample.to].map(|at| Spot::new(geometry, at.wrap, at.lpos as i32));
        let times = OTHERS.map(|cartridge| (transport.seconds)(from, to, cartridge));
        let count = f64::from(OTHERS.end - OTHERS.start);
        let mean = times.clone().sum::<f64>() / count;
        times.map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0)
    };
    let spread = log.iter().map(spread).sum::<f64>() / log.len() as f64;
    (NOISE_S * NOISE_S + spread).sqrt()
}

/// Recalls as a site has them: anywhere, near on the same wrap, and near on another; a file read after each move.
fn log(transport: &Transport, geometry: &Geometry, seed: u64) -> Vec<Sample> {
    let mut random = Random::new(seed, 1);
    let (low, length) = (geometry.lpos_min, geometry.wrap_lpos());
    let any_wrap = |random: &mut Random| random.below(geometry.wraps.into()) as u16;
    let any_lpos = |random: &mut Random| low + random.below(length.into()) as u32;
    let mut from = place(0, low);
    let each = MOVES.div_ceil(CARTRIDGES as usize);
    let mut samples = Vec::with_capacity(MOVES);
    for number in 0..MOVES {
        let cartridge = (number / each) as u32;
        let near = (0.15 * f64::from(length) * random.normal()) as i64;
        let near =
            (i64::from(from.lpos) + near).clamp(low.into(), i64::from(low + length) - 1) as u32;
        let to = match random.below(4) {
            0 => place(any_wrap(&mut random), any_lpos(&mut random)),
            1 => place(from.wrap, near),
            _ => place(any_wrap(&mut random), near),
        };
        let [head, target] = [&from, &to].map(|at| Spot::new(geometry, at.wrap, at.lpos as i32));
        let age = number as f64 / MOVES as f64;
        let seconds = logged_s(transport, head, target, cartridge, age, &mut random);
        samples.push(Sample {
            cartridge,
            from,
            to,
            time: Micros::from_secs_f64(seconds),
        });
        // A file moves the head on along its wrap.
        let on = random.below(900) as i64 * if to.wrap & 1 == 0 { 1 } else { -1 };
        let lpos = (i64::from(to.lpos) + on).clamp(low.into(), i64::from(low + length) - 1);
        from = place(to.wrap, lpos as u32);
    }
    samples
}

fn place(wrap: u16, lpos: u32) -> Position {
    Position {
        partition: 0,
        wrap,
        lpos,
        source: PositionSource::Recorded,
        error_lpos: 0,
    }
}

/// Files of 1 GB anywhere on a full cartridge, the head at the beginning of tape.
fn batch(drive: &Profile, tape: &Tape, requests: usize, seed: u64) -> Problem {
    const BLOCK_BYTES: u64 = 1 << 18;
    const BLOCKS: u64 = 4_000;
    let map = drive
        .nominal_map(NominalLayout::Single, BLOCK_BYTES)
        .expect("a map");
    let places = map.end_block(0) / BLOCKS;
    let mut random = Random::new(seed, 2);
    let mut file = || {
        let first = random.below(places) * BLOCKS;
        let extent = PlacedExtent::on_map(&map, 0, first, first + BLOCKS - 1, BLOCKS * BLOCK_BYTES);
        Request::single(extent.expect("on the map"))
    };
    let requests: Vec<Request> = (0..requests).map(|_| file()).collect();
    let options = Options {
        head: Position::beginning_of_tape(tape.geometry.lpos_min),
        end: End::Anywhere,
        read_through: true,
    };
    Problem::new(tape.clone(), options, &requests)
}

/// The locate time of an order by the law, on a cartridge that no log has.
fn priced_s(transport: &Transport, geometry: &Geometry, problem: &Problem, order: &Order) -> f64 {
    let spot = |point: &tapewise_model::locate::Point| Spot::new(geometry, point.wrap, point.lpos);
    let mut head = spot(problem.head());
    let mut seconds = 0.0;
    for &visit in order.visits() {
        let visit = visit as usize;
        seconds += (transport.seconds)(head, spot(&problem.starts()[visit]), 77);
        head = spot(&problem.ends()[visit]);
    }
    seconds
}
