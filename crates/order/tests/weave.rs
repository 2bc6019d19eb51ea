//! WEAVE: the pattern of 1996, worked through by hand.

use crate::common;

use common::{Drive, drive};
use tapewise_model::Position;
use tapewise_order::{Options, Problem, Request, weave};

type TrackSection = (u16, u16);

/// A block in a section of a track, sections counted from the beginning of tape.
fn block_in(dlt: &Drive, (track, section): TrackSection) -> u64 {
    let nth = if track.is_multiple_of(2) {
        section
    } else {
        13 - section
    };
    let mut spans = dlt.map.spans().iter().filter(|span| span.wrap == track);
    spans.nth(usize::from(nth)).expect("a section").first_block + 100
}

fn problem(head: TrackSection, places: &[TrackSection]) -> Problem {
    let dlt = drive("dlt4000");
    let requests: Vec<Request> = places
        .iter()
        .map(|&place| dlt.request(block_in(dlt, place), block_in(dlt, place)))
        .collect();
    let head: Position = dlt.map.position(0, block_in(dlt, head)).unwrap();
    let options = Options {
        head,
        ..dlt.plain_options()
    };
    dlt.problem(options, &requests)
}

/// The order in which places are read, from a head in the given one.
fn woven(head: TrackSection, places: &[TrackSection]) -> Vec<TrackSection> {
    let problem = problem(head, places);
    let order = weave(&problem).requests(&problem);
    order.iter().map(|&index| places[index as usize]).collect()
}

#[test]
fn the_own_track_comes_first_up_to_two_sections_ahead() {
    let places = [(0, 2), (0, 1), (0, 0)];
    assert_eq!(woven((0, 0), &places), [(0, 0), (0, 1), (0, 2)]);
}

#[test]
fn two_sections_ahead_on_another_track_come_before_one() {
    // (CT, fwd 2), (AT, rev 1), (CT, fwd 1), (AT, rev 2), in this order.
    let head = (20, 6);
    for (sooner, later) in [
        ((22, 8), (21, 5)),
        ((21, 5), (22, 7)),
        ((22, 7), (21, 4)),
        // i = 0: (AT, same), (T, fwd 3), (CT, fwd 3), (T, same: read already), (CT, same),
        // (AT, rev 3).
        ((21, 4), (21, 6)),
        ((21, 6), (20, 9)),
        ((20, 9), (22, 9)),
        ((22, 9), (22, 6)),
        ((22, 6), (21, 3)),
        // i = 1: (AT, fwd 1), (T, fwd 4), (CT, fwd 4), (T, rev 1), (CT, rev 1), (AT, rev 4).
        ((21, 3), (21, 7)),
        ((21, 7), (20, 10)),
        ((20, 10), (22, 10)),
        ((22, 10), (20, 5)),
        ((20, 5), (22, 5)),
        ((22, 5), (21, 2)),
    ] {
        assert_eq!(woven(head, &[later, sooner])[0], sooner, "before {later:?}");
    }
}

#[test]
fn forward_is_towards_the_beginning_on_a_reverse_track() {
    // From (1,5): (T,4). From there (AT, rev 2) is (0,6), before (T, rev 2), which is (1,6).
    assert_eq!(
        woven((1, 5), &[(1, 6), (0, 6), (1, 4)]),
        [(1, 4), (0, 6), (1, 6)]
    );
}

#[test]
fn at_the_ends_of_the_tape_two_sections_change_places() {
    // From (0,0): i = 0 has (AT, flip 0), which is section 1; section 0 follows with i = 1.
    assert_eq!(woven((0, 0), &[(1, 0), (1, 1)]), [(1, 1), (1, 0)]);
    // From (0,13): (AT, flip 13) is 12. From (1,12), reverse: (T,12), (T,11), (T,10), (CT,10),
    // (AT,13), ... and (T, flip(rev 0)) is 13.
    assert_eq!(woven((0, 13), &[(1, 13), (1, 12)]), [(1, 12), (1, 13)]);
}

#[test]
fn it_goes_on_from_the_section_it_has_read() {
    // From (0,0): (T,2) before (CT,1). From (0,2): section 1 of track 2 is co-directional and
    // behind; track 0 has (T,5) before it.
    assert_eq!(
        woven((0, 0), &[(2, 1), (0, 5), (0, 2)]),
        [(0, 2), (0, 5), (2, 1)]
    );
}

#[test]
fn every_section_is_found_from_every_other_also_where_the_print_misses_it() {
    for head_track in 0..2 {
        for head_section in 0..14 {
            for track in 0..4 {
                for section in 0..14 {
                    let place = (track, section);
                    assert_eq!(woven((head_track, head_section), &[place]), [place]);
                }
            }
        }
    }
}
