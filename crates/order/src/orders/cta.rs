//! CTA's SLTF as it really behaves: the peer to beat.
//!
//! Restated from the behaviour of the CERN Tape Archive's recall code: greedy nearest neighbour
//! under its own cost, always from the beginning of tape although the head is elsewhere, in
//! windows of 80 GB or 4,000 files, each planned anew over everything it holds (up to 4,000
//! files) but carried out only up to the window's end. Its cost has two peculiarities that are
//! kept: the line across the middle lies at `(max - min) / 2`, which is `min` too low, and a
//! short move across it can cost less than nothing. The order is then priced like any other.

use crate::order::Order;
use crate::orders::kind::OrderKind;
use crate::problem::Problem;
use tapewise_model::{Direction, Geometry, Position};

/// As the list of algorithms knows it.
pub(crate) const KIND: OrderKind = OrderKind {
    name: "cta",
    title: "SLTF (as in CTA)",
    version: 1,
    solve: |problem, _| {
        // Its cost is made of wraps and bands.
        let has_bands = problem.tape().geometry.bands > 1;
        has_bands.then(|| cta_sltf(problem, true).into())
    },
};

/// Files that CTA plans over at a time, and hands to the drive at most.
pub(crate) const WINDOW_FILES: usize = 4_000;

/// Bytes that it hands to the drive at most before it plans again.
pub(crate) const WINDOW_BYTES: u64 = 80_000_000_000;

/// The order in which CTA would read.
///
/// `windowed` is how it runs; without, one plan over everything, as its SLTF would by itself.
pub fn cta_sltf(problem: &Problem, windowed: bool) -> Order {
    let files: Vec<File> = (0..problem.len() as u32)
        .map(|v| File::new(problem, v))
        .collect();
    let geometry = &problem.tape().geometry;
    let mut waiting: std::collections::VecDeque<u32> = (0..problem.len() as u32).collect();
    let mut sequence = Vec::with_capacity(problem.len());
    while !waiting.is_empty() {
        let held = if windowed {
            WINDOW_FILES.min(waiting.len())
        } else {
            waiting.len()
        };
        let window: Vec<u32> = waiting.drain(..held).collect();
        let planned = greedy(&files, window, geometry);
        let mut bytes = 0;
        let mut taken = 0;
        for &visit in &planned {
            taken += 1;
            bytes = files[visit as usize].bytes.saturating_add(bytes);
            if windowed && bytes >= WINDOW_BYTES {
                break;
            }
        }
        sequence.extend(&planned[..taken]);
        // The rest goes back to the queue in its old order and is planned anew.
        let mut back = planned[taken..].to_vec();
        back.sort_unstable();
        back.into_iter()
            .rev()
            .for_each(|visit| waiting.push_front(visit));
    }
    Order::of(sequence)
}

struct FileEnd {
    wrap: u16,
    band: u16,
    lower_half: bool,
    lpos: f64,
}

impl FileEnd {
    fn new(position: &Position, geometry: &Geometry) -> FileEnd {
        FileEnd {
            wrap: position.wrap,
            band: geometry.band(position.wrap),
            lower_half: position.lpos < (geometry.lpos_max - geometry.lpos_min) / 2,
            lpos: f64::from(position.lpos),
        }
    }
}

struct File {
    start: FileEnd,
    end: FileEnd,
    bytes: u64,
}

impl File {
    fn new(problem: &Problem, visit: u32) -> File {
        let extents = &problem.visits()[visit as usize].extents;
        let geometry = &problem.tape().geometry;
        File {
            start: FileEnd::new(&extents[0].start, geometry),
            end: FileEnd::new(&extents[extents.len() - 1].end, geometry),
            bytes: extents
                .iter()
                .fold(0, |sum, extent| sum.saturating_add(extent.bytes)),
        }
    }
}

/// From the beginning of tape always on to the file of least cost, the first of those that tie.
fn greedy(files: &[File], mut left: Vec<u32>, geometry: &Geometry) -> Vec<u32> {
    let dummy = FileEnd::new(&Position::beginning_of_tape(geometry.lpos_min), geometry);
    let mut at = &dummy;
    let mut sequence = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let costs = left
            .iter()
            .map(|&visit| cost(at, &files[visit as usize].start, geometry));
        let nearest = costs
            .enumerate()
            .fold((0, f64::INFINITY), |best, (index, cost)| {
                if cost < best.1 { (index, cost) } else { best }
            })
            .0;
        let visit = left.remove(nearest);
        sequence.push(visit);
        at = &files[visit as usize].end;
    }
    sequence
}

/// CTA's cost of a move in seconds; its coefficients have not changed since 2020.
fn cost(from: &FileEnd, to: &FileEnd, geometry: &Geometry) -> f64 {
    let given = |applies: bool, seconds: f64| if applies { seconds } else { 0.0 };
    let same_wrap = from.wrap == to.wrap;
    let upstream = match geometry.direction(from.wrap) {
        Direction::Forward => to.lpos < from.lpos,
        Direction::Reverse => to.lpos > from.lpos,
    };
    4.29 + given(!same_wrap, 6.69)
        + given(from.band != to.band, 3.2)
        + given(from.lower_half != to.lower_half, -6.04)
        + given((from.wrap ^ to.wrap) & 1 == 1, 5.22)
        + given(same_wrap && upstream, 11.32)
        + 0.0006192 * (from.lpos - to.lpos).abs()
}
