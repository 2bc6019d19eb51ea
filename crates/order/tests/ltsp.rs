//! The linear tape scheduling problem, solved exactly, as a judge of orders by mean completion.
//!
//! Files lie on a line and are read from left to right only. The head begins at the right end and
//! moves at unit speed either way; each turn costs `turn`. Least is to be the sum, over all
//! requests, of the times at which their files are read. Honoré, Simon and Suter (ICAPS 2022,
//! arXiv 2112.09384) showed that this takes polynomial time. The programme below is derived from
//! the statement, and checked against all permutations:
//!
//! * The sum of the times at which requests are served is the integral over time of the number of
//!   requests not yet served. So each stretch of the way costs its time for each request pending.
//! * The head comes from the right. To read file `b` at some time it must turn left of it, and come
//!   back. Take the way from the moment at which the head, moving left, first is at the right end
//!   of `b`, with all of `a..=b` unread, to the moment when it is back there with all of them read,
//!   never having been left of `a`. Either `b` is passed over, and read last, on the way back; or
//!   it is read in a detour of its own, that turns at some `c` and reads all of `c..=b` before the
//!   head goes left for the rest. Files right of `b` that were passed over stay pending meanwhile,
//!   and how many requests they have is all that the way here need know of them.
//!
//! A helical tape is such a line for `Problem`: reading over a gap takes the time of the gap, and
//! a locate takes the same, after a start-up of two turns. Only the first locate differs, by one
//! turn, since the head faces left already.

use crate::common;

use common::order;
use std::collections::HashMap;
use tapewise_model::locate::HelicalLinear;
use tapewise_model::{
    Geometry, Layout, LocateModel, Micros, Position, PositionSource, Random, profile,
};
use tapewise_order::{
    Algorithm, Alternatives, Effort, End, Inputs, Limits, Objective, Options, PlacedExtent,
    Problem, Request, Tape, Wishes, completions, order_for,
};

/// Time of one unit of length.
const UNIT_US: i64 = 1_000;

/// A file from `left` to `right`, asked for `requests` times.
#[derive(Clone, Copy, Debug)]
struct File {
    left: i64,
    right: i64,
    requests: i64,
}

/// Files from left to right.
#[derive(Clone, Debug)]
struct Line {
    files: Vec<File>,
    length: i64,
    turn: i64,
}

impl Line {
    fn random(count: usize, random: &mut Random) -> Line {
        let (mut files, mut at) = (Vec::new(), 0);
        // Short gaps or long ones, large files or small, so that every kind of detour pays.
        let (gap, size) = (1 + random.below(60), 1 + random.below(60));
        for _ in 0..count {
            let left = at + random.below(gap) as i64;
            let right = left + 1 + random.below(size) as i64;
            let many = random.below(4) == 0;
            files.push(File {
                left,
                right,
                requests: 1 + random.below(if many { 9 } else { 2 }) as i64,
            });
            at = right;
        }
        Line {
            files,
            length: at + random.below(30) as i64,
            turn: [0, 1, random.below(40) as i64][random.below(3) as usize],
        }
    }

    /// The requests of files `a..b`.
    fn requests(&self, a: usize, b: usize) -> i64 {
        self.files[a..b].iter().map(|file| file.requests).sum()
    }
}

/// The dynamic programme: least cost of an excursion, by `(a, b, pending on the right)`.
struct Excursions<'a> {
    line: &'a Line,
    least: HashMap<(usize, usize, i64), i64>,
}

impl Excursions<'_> {
    /// Least integral of the requests pending, from the head at the right end of `b`, moving left,
    /// until it is back there, with all of `a..=b` read.
    fn least(&mut self, a: usize, b: usize, right: i64) -> i64 {
        if let Some(&known) = self.least.get(&(a, b, right)) {
            return known;
        }
        let Line { files, turn, .. } = self.line;
        let left = self.line.requests(0, a);
        let least = if a == b {
            let pending = left + files[a].requests + right;
            (2 * (files[a].right - files[a].left) + turn) * pending
        } else {
            let back_and_forth = files[b].right - files[b - 1].right;
            let on_the_way = back_and_forth * (left + self.line.requests(a, b + 1) + right);
            let on_the_way_back = back_and_forth * (left + files[b].requests + right);
            let passed_over =
                on_the_way + self.least(a, b - 1, right + files[b].requests) + on_the_way_back;
            let detours = (a + 1..=b).map(|c| {
                let over = files[b].right - files[c - 1].right;
                self.least(c, b, right)
                    + (turn + over) * (left + self.line.requests(a, c) + right)
                    + self.least(a, c - 1, right)
                    + over * (left + right)
            });
            detours.fold(passed_over, i64::min)
        };
        self.least.insert((a, b, right), least);
        least
    }
}

/// The least sum of the times at which requests are served.
fn optimum(line: &Line) -> i64 {
    let Some(last) = line.files.len().checked_sub(1) else {
        return 0;
    };
    let mut excursions = Excursions {
        line,
        least: HashMap::new(),
    };
    let approach = line.length - line.files[last].right;
    approach * line.requests(0, last + 1) + excursions.least(0, last, 0)
}

/// The least sum over all orders in which files may be read, one file after the other.
fn least_of_all_permutations(line: &Line) -> i64 {
    fn go_on(line: &Line, at: i64, clock: i64, unread: &mut Vec<usize>) -> i64 {
        let mut least = if unread.is_empty() { 0 } else { i64::MAX };
        for index in 0..unread.len() {
            let next = unread.swap_remove(index);
            let file = line.files[next];
            // The head faces left at first, and right after each file.
            let turns = match (clock == 0 && at == line.length, file.left < at) {
                (true, _) => 1,
                (false, true) => 2,
                (false, false) => 0,
            };
            let time = clock + line.turn * turns + (file.left - at).abs() + file.right - file.left;
            let rest = go_on(line, file.right, time, unread);
            least = least.min(time * file.requests + rest);
            unread.push(next);
            let last = unread.len() - 1;
            unread.swap(index, last);
        }
        least
    }
    let mut unread = (0..line.files.len()).collect();
    go_on(line, line.length, 0, &mut unread)
}

#[test]
fn the_programme_agrees_with_all_permutations() {
    for case in 0..1_500 {
        let random = &mut Random::new(300, case);
        let count = if case < 20 { 8 } else { random.below(7) };
        let line = Line::random(count as usize, random);
        assert_eq!(optimum(&line), least_of_all_permutations(&line), "{line:?}");
    }
}

#[test]
fn a_popular_small_file_is_read_in_a_detour_and_a_large_one_on_the_way_back() {
    let file = |left, right, requests| File {
        left,
        right,
        requests,
    };
    let line = |popular| Line {
        files: vec![file(0, 10, 1), file(90, 100, popular)],
        length: 100,
        turn: 0,
    };
    // Straight to the left end: 100 + 10 for the first, 100 + 100 for the second.
    assert_eq!(optimum(&line(1)), 20 + (20 + 100 + 10));
    assert_eq!(least_of_all_permutations(&line(1)), 150);
    // With a file of 45 beside one of 10: 55 to the left end and 10 back, then 45 more.
    let large = Line {
        files: vec![file(0, 10, 9), file(10, 55, 1)],
        length: 55,
        turn: 0,
    };
    assert_eq!(optimum(&large), 9 * 65 + 110);
}

/// The line as a batch on a helical tape, with the weights of its files.
fn problem(line: &Line) -> (Problem, Wishes) {
    let dtf = profile::find("sony-dtf").unwrap();
    let nominal = Tape::new(&dtf, None).unwrap();
    let lpos_max = line.length as u32;
    let seconds = |units: i64| (units * UNIT_US) as f64 / 1e6;
    let full = seconds(line.length);
    let model = HelicalLinear::new(seconds(2 * line.turn), full, 0, lpos_max, None);
    let mut transfer = nominal.transfer;
    transfer.rate_mb_s = 1.0;
    let tape = Tape {
        geometry: Geometry {
            layout: Layout::Helical,
            wraps: 1,
            lpos_min: 0,
            lpos_max,
            ..nominal.geometry
        },
        model: LocateModel::HelicalLinear(model),
        transfer,
        wrap_bytes: (line.length * UNIT_US) as f64,
    };
    let place = |lpos: i64| Position {
        partition: 0,
        wrap: 0,
        lpos: lpos as u32,
        source: PositionSource::Exact,
        error_lpos: 0,
    };
    let requests: Vec<Request> = line
        .files
        .iter()
        .map(|file| {
            Request::single(PlacedExtent {
                first_block: file.left as u64,
                last_block: file.right as u64 - 1,
                bytes: ((file.right - file.left) * UNIT_US) as u64,
                start: place(file.left),
                end: place(file.right),
            })
        })
        .collect();
    let options = Options {
        head: place(line.length),
        end: End::Anywhere,
        read_through: true,
    };
    let weight = line.files.iter().map(|file| file.requests as u32).collect();
    let wishes = Wishes {
        weight,
        deadline: Vec::new(),
    };
    (Problem::new(tape, options, &requests), wishes)
}

/// The sum of the times at which requests are served, as the statement counts it.
fn served(line: &Line, problem: &Problem, wishes: &Wishes, sequence: &[u32]) -> i64 {
    let read = completions(problem, &order(sequence));
    let sum: i64 = read
        .iter()
        .map(|&(request, time)| i64::from(wishes.weight(request)) * time.0)
        .sum();
    // The first locate counts two turns, but the head faces left already.
    sum / UNIT_US - line.turn * line.requests(0, line.files.len())
}

fn by_mean(problem: &Problem, wishes: &Wishes, work: u64) -> Vec<u32> {
    let exact = Alternatives::none();
    let best = Algorithm::Best
        .order(problem, &Inputs::new(&exact))
        .unwrap();
    let wanted = (Objective::Mean, wishes);
    let effort = Effort {
        work,
        ..Effort::usual()
    };
    let found = order_for(problem, wanted, &Limits::default(), &[best], &effort, 1);
    found.order.visits().to_vec()
}

#[test]
fn a_helical_batch_is_such_a_line_to_the_microsecond() {
    for case in 0..600 {
        let random = &mut Random::new(301, case);
        let line = Line::random(1 + random.below(11) as usize, random);
        let (problem, wishes) = problem(&line);
        assert_eq!(problem.len(), line.files.len());
        for visit in 0..problem.len() {
            let first = line.length - line.files[visit].left + 2 * line.turn;
            assert_eq!(problem.first_arc(visit), Micros(first * UNIT_US));
        }
        // Up to fourteen visits the order is exact, so that it must reach the optimum.
        let sequence = by_mean(&problem, &wishes, 1_000);
        let found = served(&line, &problem, &wishes, &sequence);
        assert_eq!(found, optimum(&line), "case {case}: {line:?}");
    }
}

/// How near the search gets where it is not exact: `cargo test --test ltsp -- --nocapture`.
#[test]
fn the_search_comes_within_a_hundredth_of_the_optimum() {
    for count in [20, 40] {
        let (mut gaps, mut optimal) = (Vec::new(), 0);
        for case in 0..20 {
            let line = Line::random(count, &mut Random::new(302, case));
            let (problem, wishes) = problem(&line);
            let sequence = by_mean(&problem, &wishes, 3_000_000);
            let found = served(&line, &problem, &wishes, &sequence);
            let least = optimum(&line);
            assert!(found >= least, "better than optimal: {line:?}");
            optimal += usize::from(found == least);
            gaps.push((found - least) as f64 / least as f64);
        }
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let worst = gaps.iter().copied().fold(0.0, f64::max);
        println!("{count} files: {optimal} of 20 optimal, gap {mean:.5} mean, {worst:.5} worst");
        assert!(worst <= 0.01, "{count} files: {worst}");
    }
}
