//! SCAN by section: the paper's example, and what it leaves open.

use crate::common;

use common::{Drive, drive};
use tapewise_order::{Algorithm, Alternatives, Inputs, Problem, Request, scan};

/// An extent in a section of a track, both counted from 0, sections from the beginning of tape.
fn in_section(dlt: &Drive, track: u16, section: u16) -> Request {
    let nth = if track.is_multiple_of(2) {
        section
    } else {
        13 - section
    };
    let mut spans = dlt.map.spans().iter().filter(|span| span.wrap == track);
    let span = spans.nth(usize::from(nth)).expect("a section");
    dlt.request(span.first_block + 100, span.first_block + 100)
}

fn problem(sections: &[(u16, u16)]) -> Problem {
    let dlt = drive("dlt4000");
    let requests: Vec<Request> = sections
        .iter()
        .map(|&(track, section)| in_section(dlt, track, section))
        .collect();
    dlt.problem(dlt.plain_options(), &requests)
}

#[test]
fn the_example_of_1996_goes_out_once_where_sorting_goes_twice() {
    let problem = problem(&[(16, 2), (17, 12), (18, 3)]);
    let alternatives = Alternatives::none();
    let sorted = Algorithm::Sort
        .order(&problem, &Inputs::new(&alternatives))
        .unwrap();
    assert_eq!(sorted.requests(&problem), [0, 1, 2]);
    assert_eq!(scan(&problem).requests(&problem), [0, 2, 1]);
    assert!(scan(&problem).locate_time(&problem) < sorted.locate_time(&problem));
}

#[test]
fn each_pass_reads_one_track_of_a_section_the_lowest_first() {
    // Up: (2,5), then (2,9) of another section; down: (3,9), (1,4); up again: (4,5), (6,9); and
    // once more for (8,5).
    let problem = problem(&[(8, 5), (4, 5), (2, 5), (6, 9), (2, 9), (3, 9), (1, 4)]);
    assert_eq!(scan(&problem).requests(&problem), [2, 4, 5, 6, 1, 3, 0]);
}

#[test]
fn all_of_a_section_is_read_in_logical_order_also_on_reverse_tracks() {
    let dlt = drive("dlt4000");
    let span = dlt.map.spans().iter().find(|span| span.wrap == 1).unwrap();
    let requests = [30, 10, 20].map(|into| {
        let block = span.first_block + into;
        dlt.request(block, block)
    });
    let problem = dlt.problem(dlt.plain_options(), &requests);
    assert_eq!(scan(&problem).requests(&problem), [1, 2, 0]);
}

#[test]
fn drives_without_sections_of_their_own_have_fourteen_equal_ones() {
    // On LTO-8 wrap 0 and 2, in the first and the second fourteenth (12,029 LPOS, 7,919 blocks).
    let lto8 = drive("lto8");
    let of_wrap = |wrap: u64, block| lto8.request(wrap * 110_859 + block, wrap * 110_859 + block);
    let requests = [
        of_wrap(0, 100),
        of_wrap(0, 8_000),
        of_wrap(2, 200),
        of_wrap(2, 7_000),
    ];
    let problem = lto8.problem(lto8.plain_options(), &requests);
    assert_eq!(scan(&problem).requests(&problem), [0, 1, 2, 3]);
    let requests = [
        of_wrap(0, 100),
        of_wrap(2, 200),
        of_wrap(2, 8_000),
        of_wrap(4, 8_000),
    ];
    let problem = lto8.problem(lto8.plain_options(), &requests);
    assert_eq!(scan(&problem).requests(&problem), [0, 2, 1, 3]);
}
