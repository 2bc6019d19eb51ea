//! CTA's order as it really comes out, peculiarities included.

use crate::common;

use common::{Drive, drive};
use tapewise_model::{Position, PositionSource, Random};
use tapewise_order::{
    Algorithm, Alternatives, Inputs, Options, PlacedExtent, Problem, Request, cta_sltf,
};

fn place(wrap: u16, lpos: u32) -> Position {
    Position {
        partition: 0,
        wrap,
        lpos,
        source: PositionSource::Recorded,
        error_lpos: 0,
    }
}

/// A file that begins and ends at one place; files are numbered by their blocks.
fn file((wrap, lpos): (u16, u32), number: u64, bytes: u64) -> Request {
    Request::single(PlacedExtent {
        first_block: number,
        last_block: number,
        bytes,
        start: place(wrap, lpos),
        end: place(wrap, lpos),
    })
}

fn lto8() -> &'static Drive {
    drive("lto8")
}

fn problem(head: Position, bytes: u64, places: &[(u16, u32)]) -> Problem {
    let requests: Vec<Request> = places
        .iter()
        .zip(0..)
        .map(|(&place, number)| file(place, number, bytes))
        .collect();
    let options = Options {
        head,
        ..lto8().plain_options()
    };
    lto8().problem(options, &requests)
}

const FOUR_FILES: [(u16, u32); 4] = [(0, 60_000), (0, 100_000), (1, 12_000), (2, 10_000)];

#[test]
fn four_files_come_in_the_order_of_its_own_cost() {
    // From the beginning, wrap 0 at 2,696:
    //   0: 4.29 + 35.48 = 39.77            1: 4.29 - 6.04 + 60.25 = 58.50
    //   2: 4.29 + 6.69 + 5.22 + 5.76 = 21.96      3: 4.29 + 6.69 + 4.52 = 15.50
    // From 3: 0: 41.94, 1: 60.67, 2: 17.44. From 2: 0: 45.92, 1: 64.65.
    let problem = problem(lto8().beginning_of_tape(), 1_000_000, &FOUR_FILES);
    assert_eq!(cta_sltf(&problem, true).visits(), [3, 2, 0, 1]);
    assert_eq!(cta_sltf(&problem, false).visits(), [3, 2, 0, 1]);
}

#[test]
fn it_starts_from_the_beginning_of_tape_wherever_the_head_is() {
    let problem = problem(place(0, 99_990), 1_000_000, &FOUR_FILES);
    assert_eq!(cta_sltf(&problem, true).visits(), [3, 2, 0, 1]);
    assert_eq!(tapewise_order::sltf(&problem).visits()[0], 1);
}

#[test]
fn after_every_80_gb_it_plans_anew_from_the_beginning_of_tape() {
    // From the beginning file 0 (15.0 s), then 1 (5.5). From there 3 is nearer (9.2) than 2 (17.2),
    // but from the beginning 2 (16.7) is nearer than 3 (21.2).
    let places = [(0, 20_000), (0, 22_000), (2, 12_000), (0, 30_000)];
    let head = lto8().beginning_of_tape();
    let small = problem(head, 1_000_000, &places);
    assert_eq!(cta_sltf(&small, true).visits(), [0, 1, 3, 2]);
    let large = problem(head, 41_000_000_000, &places);
    assert_eq!(cta_sltf(&large, true).visits(), [0, 1, 2, 3]);
    assert_eq!(cta_sltf(&large, false).visits(), [0, 1, 3, 2]);
}

#[test]
fn its_middle_lies_too_low_by_where_the_tape_begins() {
    // (171,097 - 2,696) / 2 = 84,200, where the middle of the data is at 86,896. The second file
    // is taken to lie beyond it, 6.04 s nearer, and the first is gone back for.
    let places = [(0, 84_190), (0, 84_210)];
    let problem = problem(lto8().beginning_of_tape(), 1_000_000, &places);
    assert_eq!(cta_sltf(&problem, true).visits(), [1, 0]);
    assert_eq!(tapewise_order::sltf(&problem).visits(), [0, 1]);
}

#[test]
fn of_files_that_tie_the_first_in_its_list_is_read() {
    let places = [(4, 9_000), (2, 9_000), (6, 9_000)];
    let problem = problem(lto8().beginning_of_tape(), 1_000_000, &places);
    assert_eq!(cta_sltf(&problem, true).visits(), [0, 1, 2]);
}

#[test]
fn it_plans_over_4_000_files_at_most() {
    // 4,001 files of one byte: the last one is nearest of all, but is not seen at first.
    let mut places = vec![(0, 100_000); 4_000];
    places.push((0, 2_700));
    let problem = problem(lto8().beginning_of_tape(), 1, &places);
    assert_eq!(cta_sltf(&problem, true).visits()[4_000], 4_000);
    assert_eq!(cta_sltf(&problem, false).visits()[0], 4_000);
}

#[test]
fn the_default_order_is_shorter_on_2_000_files() {
    let requests = lto8().uniform_requests(2_000, &mut Random::new(95, 0));
    let problem = lto8().problem(lto8().plain_options(), &requests);
    let alternatives = Alternatives::none();
    let best = Algorithm::Best
        .order(&problem, &Inputs::new(&alternatives))
        .unwrap();
    let cta = cta_sltf(&problem, true);
    assert!(best.total_time(&problem) < cta.total_time(&problem));
}
