//! From requests to visits, and what each move between them costs.

use crate::common;

use common::{Mix, describe, drive, drives, for_random_cases};
use tapewise_model::{Direction, Micros, Position, PositionSource};
use tapewise_order::{End, Motion, Options, PlacedExtent, Problem, Request, sltf};

/// LTO-8 with blocks of 512 KiB: wrap 0 holds blocks 0 to 110,858.
const LAST_OF_WRAP_0: u64 = 110_858;

fn lto8_problem(requests: &[Request]) -> Problem {
    let lto8 = drive("lto8");
    lto8.problem(lto8.plain_options(), requests)
}

fn close(time: Micros, seconds: f64) -> bool {
    // One unit of LPOS takes 0.6 ms to locate over and 1 ms to read.
    (time.as_secs_f64() - seconds).abs() < 0.003
}

#[test]
fn requests_that_share_blocks_are_one_visit_with_the_bytes_of_their_union() {
    let lto8 = drive("lto8");
    let problem = lto8_problem(&[
        lto8.request(150, 249),
        lto8.request(100, 199),
        lto8.request(120, 129),
        lto8.request(249, 249),
        lto8.request(100, 199),
    ]);
    let [visit] = problem.visits() else {
        panic!("{:?}", problem.visits())
    };
    assert_eq!(visit.requests, [1, 4, 2, 0, 3]);
    let whole = visit.extents[0];
    assert_eq!((whole.first_block, whole.last_block), (100, 249));
    assert_eq!(whole.bytes, 150 << 19);
    assert_eq!(whole.end, lto8.map.position_after(0, 249).unwrap());
    assert_eq!(visit.read, lto8.tape.transfer.time(150 << 19));
}

#[test]
fn a_request_inside_another_adds_nothing() {
    let lto8 = drive("lto8");
    let alone = lto8_problem(&[lto8.request(100, 199)]);
    let both = lto8_problem(&[lto8.request(100, 199), lto8.request(110, 120)]);
    assert_eq!(both.visits()[0].extents, alone.visits()[0].extents);
    assert_eq!(both.visits()[0].requests, [0, 1]);
}

#[test]
fn adjacent_requests_stay_apart_and_the_second_costs_nothing() {
    let lto8 = drive("lto8");
    let problem = lto8_problem(&[lto8.request(200, 299), lto8.request(100, 199)]);
    assert_eq!(problem.len(), 2);
    assert_eq!(
        problem.motion(Some(0), 1),
        (Micros::ZERO, Motion::Contiguous)
    );
    assert_eq!(problem.motion(Some(1), 0).1, Motion::Locate);
}

#[test]
fn files_of_several_segments_are_one_visit_only_where_exactly_alike() {
    let lto8 = drive("lto8");
    let file = |runs: &[(u64, u64)]| Request {
        extents: runs.iter().map(|&(a, b)| lto8.extent(0, a, b)).collect(),
    };
    let problem = lto8_problem(&[
        file(&[(100, 199), (5_000, 5_099)]),
        file(&[(100, 199), (5_000, 5_098)]),
        file(&[(100, 199), (5_000, 5_098)]),
        lto8.request(150, 160),
    ]);
    let served: Vec<_> = problem
        .visits()
        .iter()
        .map(|v| v.requests.clone())
        .collect();
    // In logical order: the last block of the second part decides.
    assert_eq!(served, [vec![1, 2], vec![0], vec![3]]);
}

#[test]
fn files_that_are_alike_are_one_visit_although_a_third_begins_at_the_same_block() {
    let lto8 = drive("lto8");
    let file = |second| Request {
        extents: vec![lto8.extent(0, 100, 199), lto8.extent(0, second, second)],
    };
    let problem = lto8_problem(&[file(5_000), file(6_000), file(5_000)]);
    assert_eq!(problem.len(), 2);
}

#[test]
fn requests_that_share_blocks_are_one_visit_although_a_file_of_two_parts_begins_between_them() {
    let lto8 = drive("lto8");
    let two_parts = Request {
        extents: vec![lto8.extent(0, 150, 160), lto8.extent(0, 9_000, 9_000)],
    };
    let problem = lto8_problem(&[lto8.request(100, 200), two_parts, lto8.request(180, 250)]);
    assert_eq!(problem.len(), 2);
}

#[test]
fn every_request_is_served_by_a_visit_that_reads_all_of_it() {
    for_random_cases(3_400, 50, |drive, random, case| {
        let count = common::few(random);
        let requests = drive.random_requests(count, Mix::Any, random);
        let problem = drive.problem(drive.plain_options(), &requests);
        let mut served = vec![0; requests.len()];
        for visit in problem.visits() {
            for &index in &visit.requests {
                served[index as usize] += 1;
                let request = &requests[index as usize];
                let covers = |part: &PlacedExtent| {
                    let whole = visit.extents[0];
                    visit.extents.contains(part)
                        || whole.partition() == part.partition()
                            && whole.first_block <= part.first_block
                            && part.last_block <= whole.last_block
                };
                assert!(request.extents.iter().all(covers), "case {case}");
            }
        }
        for (request, served) in requests.iter().zip(served) {
            assert_eq!(
                served,
                usize::from(!request.extents.is_empty()),
                "case {case}"
            );
        }
        let firsts = problem.visits().iter().map(|visit| visit.extents[0]);
        assert!(firsts.map(|s| (s.partition(), s.first_block)).is_sorted());
    });
}

#[test]
fn a_visit_of_one_segment_reads_as_many_bytes_as_it_has_blocks() {
    for_random_cases(3_400, 51, |drive, random, case| {
        let count = common::few(random);
        let problem = drive.random_problem(count, Mix::SingleSegment, random);
        for visit in problem.visits() {
            let extent = visit.extents[0];
            assert_eq!(
                extent.bytes,
                extent.blocks() * drive.block_bytes,
                "case {case}"
            );
        }
    });
}

#[test]
fn arcs_to_all_visits_are_the_arcs_to_each() {
    for_random_cases(5_100, 52, |drive, random, case| {
        let count = common::few(random);
        let problem = drive.random_problem(count, Mix::Any, random);
        let mut times = vec![Micros::ZERO; problem.len()];
        problem.arcs(None, &mut times);
        for (to, &time) in times.iter().enumerate() {
            assert_eq!(
                time,
                problem.first_arc(to),
                "{}",
                describe(drive, &problem, case)
            );
        }
        for from in 0..problem.len() {
            problem.arcs(Some(from), &mut times);
            for (to, &time) in times.iter().enumerate() {
                assert_eq!(
                    time,
                    problem.arc(from, to),
                    "{}",
                    describe(drive, &problem, case)
                );
                assert_eq!(time, problem.motion(Some(from), to).0);
            }
        }
    });
}

#[test]
fn a_request_over_the_end_of_a_wrap_ends_on_the_next() {
    let lto8 = drive("lto8");
    let problem = lto8_problem(&[lto8.request(LAST_OF_WRAP_0 - 5, LAST_OF_WRAP_0 + 5)]);
    assert_eq!((problem.starts()[0].wrap, problem.ends()[0].wrap), (0, 1));
    // To the end of wrap 0, and 5 blocks of 1.52 LPOS back.
    let lpos_max = lto8.tape.geometry.lpos_max as i32;
    assert!((lpos_max - 9..lpos_max - 6).contains(&problem.ends()[0].lpos));
}

#[test]
fn a_request_up_to_the_very_end_of_a_wrap_ends_on_it() {
    let lto8 = drive("lto8");
    let problem = lto8_problem(&[lto8.request(LAST_OF_WRAP_0, LAST_OF_WRAP_0)]);
    assert_eq!(problem.ends()[0].wrap, 0);
    assert_eq!(problem.ends()[0].lpos, lto8.tape.geometry.lpos_max as i32);
}

#[test]
fn reading_on_over_the_end_of_a_wrap_costs_the_turnaround_only() {
    reading_on_costs_the_turnaround(|drive| drive.map.source() != PositionSource::KeyPoints);
}

#[test]
fn reading_on_over_the_end_of_a_track_costs_the_turnaround_only_whatever_its_length() {
    reading_on_costs_the_turnaround(|drive| drive.map.source() == PositionSource::KeyPoints);
}

fn reading_on_costs_the_turnaround(which: impl Fn(&common::Drive) -> bool) {
    for drive in drives().iter().filter(|drive| which(drive)) {
        for spans in drive.map.spans().windows(2) {
            if spans[0].partition != spans[1].partition || spans[0].wrap == spans[1].wrap {
                continue;
            }
            let (partition, block) = (spans[1].partition, spans[1].first_block);
            let one = |block| Request::single(drive.extent(partition, block, block));
            for read_through in [false, true] {
                let options = Options {
                    read_through,
                    ..drive.plain_options()
                };
                let problem = drive.problem(options, &[one(block - 1), one(block)]);
                let turnaround = drive.tape.transfer.turnaround;
                assert_eq!(
                    problem.motion(Some(0), 1),
                    (turnaround, Motion::Contiguous),
                    "{} at block {block}",
                    drive.name
                );
            }
        }
    }
}

#[test]
fn a_short_gap_is_streamed_over_where_that_is_allowed() {
    let lto8 = drive("lto8");
    let requests = [lto8.request(1_000, 1_999), lto8.request(3_000, 3_000)];
    for read_through in [false, true] {
        let options = Options {
            read_through,
            ..lto8.plain_options()
        };
        let (time, motion) = lto8.problem(options, &requests).motion(Some(0), 1);
        if read_through {
            // 1,000 blocks of 524,288 bytes at 360 MB/s.
            assert_eq!(motion, Motion::ReadThrough);
            assert!(close(time, 1_000.0 * 0.524288 / 360.0), "{time:?}");
        } else {
            // 1,000 of 110,859 blocks are 1,519 of 168,401 LPOS: 4.239 + 0.941 s.
            assert_eq!(motion, Motion::Locate);
            assert!(close(time, 4.2389745 + 0.0006192 * 1_519.06), "{time:?}");
        }
    }
}

#[test]
fn a_long_gap_is_located_past_although_it_might_be_streamed_over() {
    let lto8 = drive("lto8");
    let requests = [lto8.request(1_000, 1_999), lto8.request(60_000, 60_000)];
    let options = Options {
        read_through: true,
        ..lto8.plain_options()
    };
    // 58,000 blocks take 84.5 s to read; 88,104 LPOS take 4.239 - 6.042 + 54.55 s to locate.
    let (time, motion) = lto8.problem(options, &requests).motion(Some(0), 1);
    assert_eq!(motion, Motion::Locate);
    assert!(
        close(time, 4.2389745 - 6.0424286 + 0.0006192 * 88_105.2),
        "{time:?}"
    );
}

#[test]
fn nothing_is_streamed_from_the_head_or_between_partitions() {
    for_random_cases(1_700, 53, |drive, random, case| {
        let count = common::few(random);
        let problem = drive.random_problem(count, Mix::Any, random);
        let partition = |visit: usize| problem.visits()[visit].extents[0].partition();
        for to in 0..problem.len() {
            assert_eq!(problem.motion(None, to).1, Motion::Locate, "case {case}");
            for from in (0..problem.len()).filter(|&from| partition(from) != partition(to)) {
                let last = problem.visits()[from].extents.last().unwrap();
                if last.partition() != partition(to) {
                    assert_eq!(
                        problem.motion(Some(from), to).1,
                        Motion::Locate,
                        "case {case}"
                    );
                }
            }
        }
    });
}

#[test]
fn streaming_over_gaps_never_makes_an_order_longer() {
    for_random_cases(1_700, 54, |drive, random, case| {
        let count = common::few(random);
        let requests = drive.random_requests(count, Mix::Any, random);
        let options = drive.random_options(random);
        let [with, without] = [true, false].map(|read_through| {
            drive.problem(
                Options {
                    read_through,
                    ..options
                },
                &requests,
            )
        });
        let order = sltf(&with);
        assert!(
            order.total_time(&with) <= order.total_time(&without),
            "case {case}"
        );
    });
}

#[test]
fn where_the_head_is_to_be_left_is_paid_for_from_the_last_visit() {
    let lto8 = drive("lto8");
    let requests = [lto8.request(50_000, 50_000)];
    let at = |end| {
        let options = Options {
            end,
            ..lto8.plain_options()
        };
        lto8.problem(options, &requests).end_cost(0)
    };
    let after = lto8.map.position_after(0, 50_000).unwrap();
    let away = f64::from(after.lpos - 2_696);
    assert_eq!(at(End::Anywhere), Micros::ZERO);
    assert!(close(at(End::Rewound), 4.2389745 + 0.0006192 * away));
    // Back on the same wrap, over 11.3 s more than forward.
    let stepping_back = 4.2389745 + 11.3157622 + 0.0006192 * away;
    assert!(close(at(End::At(lto8.beginning_of_tape())), stepping_back));
}

#[test]
fn the_way_between_the_parts_of_a_file_belongs_to_its_visit() {
    let lto8 = drive("lto8");
    let file = |runs: &[u64]| Request {
        extents: runs
            .iter()
            .map(|&block| lto8.extent(0, block, block))
            .collect(),
    };
    let problem = lto8_problem(&[file(&[100, 101, 1_100]), file(&[200])]);
    let visit = &problem.visits()[0];
    // 101 follows 100 for nothing; from behind it to 1,100 are 998 blocks, 1,516 LPOS.
    assert_eq!(
        problem.inner_motion(0, 1),
        (Micros::ZERO, Motion::Contiguous)
    );
    assert_eq!(problem.inner_motion(0, 2).1, Motion::Locate);
    assert!(close(visit.inner_locate, 4.2389745 + 0.0006192 * 1_516.0));
    assert_eq!(visit.read, Micros(3 * lto8.tape.transfer.time(1 << 19).0));
}

#[test]
fn a_helical_wrap_streams_at_the_rate_of_the_drive() {
    let dst = drive("ampex-dst310");
    let requests = [dst.request(100, 100), dst.request(111, 111)];
    let options = Options {
        read_through: true,
        ..dst.plain_options()
    };
    // 10 blocks of 1 MiB at 14.2 MB/s, to one unit of 1 KB each way; a seek would take 9.6 s.
    let (time, motion) = dst.problem(options, &requests).motion(Some(0), 1);
    assert_eq!(motion, Motion::ReadThrough);
    assert!(
        (time.as_secs_f64() - 10.0 * 1.048576 / 14.2).abs() < 0.0002,
        "{time:?}"
    );
}

#[test]
fn placing_a_batch_anew_keeps_its_blocks_and_its_bytes() {
    for_random_cases(510, 55, |drive, random, case| {
        let count = common::few(random);
        let problem = drive.random_problem(count, Mix::Any, random);
        let same = problem.replaced(|old, _, _| *old);
        for (old, new) in problem.visits().iter().zip(same.visits()) {
            assert_eq!(
                (&old.requests, old.read),
                (&new.requests, new.read),
                "case {case}"
            );
            assert_eq!(old.inner_locate, new.inner_locate, "case {case}");
        }
        let order = sltf(&problem);
        assert_eq!(order.total_time(&problem), order.total_time(&same));
    });
}

#[test]
fn a_recorded_wrap_that_the_cartridge_does_not_have_does_not_stop_the_order() {
    let lto8 = drive("lto8");
    let mut request = lto8.request(100, 100);
    // What a drive reports for wraps above 254.
    let wrong = Position {
        wrap: 255,
        source: PositionSource::Recorded,
        ..request.extents[0].start
    };
    request.extents[0].start = wrong;
    let problem = lto8_problem(&[request, lto8.request(5_000, 5_000)]);
    assert_eq!(sltf(&problem).visits().len(), 2);
    assert_eq!(lto8.tape.geometry.direction(wrong.wrap), Direction::Reverse);
}
