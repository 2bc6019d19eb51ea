//! How fast the event kernel is: M/M/4 at a load of 0.8, two events a customer.
//!
//! `cargo run --release --example kernel`. The same queue with SimPy and Ciw: bench/simulation.py.

use std::collections::VecDeque;
use std::time::Instant;
use tapewise_model::{Micros, Random};
use tapewise_sim::{Agenda, Distribution};

enum Event {
    Arrival,
    Departure,
}

fn main() {
    const CUSTOMERS: u64 = 20_000_000;
    let (gap, service) = (
        Distribution::with_variation(1.25, 1.0),
        Distribution::with_variation(4.0, 1.0),
    );
    let (mut gaps, mut services) = (Random::new(1, 0), Random::new(1, 1));
    let mut agenda = Agenda::new();
    let mut waiting: VecDeque<Micros> = VecDeque::new();
    let (mut free, mut arrived, mut waits) = (4, 0, Micros::ZERO);
    let begun = Instant::now();
    agenda.after(Micros::ZERO, Event::Arrival);
    while let Some(event) = agenda.next() {
        match event {
            Event::Arrival => {
                arrived += 1;
                waiting.push_back(agenda.now());
                if arrived < CUSTOMERS {
                    agenda.after(gap.time(&mut gaps), Event::Arrival);
                }
            }
            Event::Departure => free += 1,
        }
        while free > 0
            && let Some(since) = waiting.pop_front()
        {
            free -= 1;
            waits += agenda.now() - since;
            agenda.after(service.time(&mut services), Event::Departure);
        }
    }
    let took = begun.elapsed().as_secs_f64();
    let wait = waits.as_secs_f64() / CUSTOMERS as f64;
    println!(
        "{:.1} million customers/s; mean wait {wait:.4} s, 2.9858 by Erlang C",
        CUSTOMERS as f64 / took / 1e6
    );
}
