//! Random batches over every locate-time model, with everything that makes batches awkward.
#![allow(dead_code)] // each test file uses its own part

use std::sync::LazyLock;
use tapewise_model::locate::{CurvesCoefficients, CurvesModel, LandingCoefficients, LandingModel};
use tapewise_model::{
    BlockMap, EndOfWrap, KeyPoints, LocateModel, Micros, NominalLayout, Position, Random, profile,
};
use tapewise_order::{End, Options, Order, PlacedExtent, Problem, Request, Tape};

/// A drive with a cartridge and the map of it.
pub struct Drive {
    pub name: &'static str,
    pub tape: Tape,
    pub map: BlockMap,
    pub block_bytes: u64,
}

/// Every model, with single and LTFS layouts, key points as generated, and a drive's own table.
pub fn drives() -> &'static [Drive] {
    static DRIVES: LazyLock<Vec<Drive>> = LazyLock::new(|| {
        vec![
            nominal("dat-4mm", 16_384),
            nominal("ampex-dst310", 1 << 20),
            nominal("sony-dtf", 1 << 19),
            key_points("dlt4000", 1),
            key_points("dlt4000", 2),
            nominal("dlt4000-jm98", 32_768),
            nominal("dlt7000", 32_768),
            nominal("ibm3590", 1 << 18),
            nominal("lto6", 1 << 19),
            ltfs("lto6", 1 << 19),
            nominal("lto7-m8", 1 << 18),
            end_of_wrap("lto7-m8", 1 << 18, 168),
            nominal("lto8", 1 << 19),
            ltfs("lto8", 1 << 19),
            end_of_wrap("lto8", 1 << 16, 23),
            nominal("lto9", 1 << 20),
            ltfs("lto9", 1 << 20),
            landing("lto8 landing at few points", 9),
            landing("lto8 landing at many points", 150),
            curves("lto8 with sides and a rule for reading on", false),
            curves("lto8 with steps beside the tape", true),
        ]
    });
    &DRIVES
}

/// The first drive of that name in [`drives`].
pub fn drive(name: &str) -> &'static Drive {
    drives()
        .iter()
        .find(|drive| drive.name == name)
        .unwrap_or_else(|| panic!("no drive {name}"))
}

fn nominal(name: &'static str, block_bytes: u64) -> Drive {
    with_layout(name, block_bytes, NominalLayout::Single)
}

fn ltfs(name: &'static str, block_bytes: u64) -> Drive {
    let layout = profile::find(name).unwrap().ltfs_layout();
    with_layout(name, block_bytes, layout.expect("a partitioned medium"))
}

fn with_layout(name: &'static str, block_bytes: u64, layout: NominalLayout) -> Drive {
    let profile = profile::find(name).unwrap();
    Drive {
        name,
        tape: Tape::new(&profile, None).unwrap(),
        map: profile.nominal_map(layout, block_bytes).unwrap(),
        block_bytes,
    }
}

fn key_points(name: &'static str, seed: u64) -> Drive {
    let profile = profile::find(name).unwrap();
    let sections = profile.nominal_sections().unwrap();
    let spread = profile.key_point_spread().unwrap();
    let key_points = KeyPoints::generate(sections, spread, &mut Random::new(seed, 0));
    Drive {
        name,
        tape: Tape::new(&profile, Some(&key_points)).unwrap(),
        map: key_points.block_map(),
        block_bytes: 32_768,
    }
}

/// LTO-8 with a made-up landing-point model, its points at random places.
fn landing(name: &'static str, points: usize) -> Drive {
    let lto8 = nominal("lto8", 1 << 19);
    let mut random = Random::new(6, points as u64);
    let mut scattered = || (0..points).map(|_| random.below(171_097) as u32).collect();
    let coefficients = LandingCoefficients {
        same_wrap_s: [3.0, 8.5],
        other_wrap_s: [7.0, 11.0, 8.0, 9.5],
        band_change_s: vec![2.0, 3.0, 2.5, 3.0, 4.0, 2.0],
        mid_cross_s: -1.0,
        travel_s: vec![0.0, 2.0],
        travel_per_lpos_s: vec![0.001_5, 0.000_6],
        read_on_s: 0.4,
        read_per_lpos_s: 0.000_96,
        wrap_start_s: [0.5, 1.0],
        outside_saves_per_lpos_s: 0.000_2,
        forward_lpos: scattered(),
        reverse_lpos: scattered(),
        landing_spread_lpos: 150,
        residual_s: None,
    };
    let model = LandingModel::new(&coefficients, &lto8.tape.geometry);
    let tape = Tape {
        model: LocateModel::LandingPoint(model),
        ..lto8.tape
    };
    Drive { name, tape, ..lto8 }
}

/// LTO-8 with made-up curves: of straight pieces, or with steps that leave nothing but to ask all pairs.
fn curves(name: &'static str, steps_beside: bool) -> Drive {
    let lto8 = nominal("lto8", 1 << 19);
    let coefficients = CurvesCoefficients {
        same_wrap_s: [3.0, 8.5],
        other_wrap_s: [7.0, 11.0, 8.0, 9.5],
        band_change_s: vec![2.0, 3.0, 2.5, 3.0, 4.0, 2.0],
        pace: vec![1.8, 1.1, 1.0, 1.3],
        away_s: vec![0.0, 2.0],
        away_per_way_s: vec![0.001_5, 0.000_6],
        towards_s: vec![0.0, 1.0],
        towards_per_way_s: vec![0.001_5, 0.000_8],
        step_wraps: if steps_beside {
            vec![1, 207]
        } else {
            Vec::new()
        },
        step_s: if steps_beside {
            vec![1.0, 40.0]
        } else {
            Vec::new()
        },
        steps_beside,
        station_lpos: (!steps_beside).then_some(80_000),
        far_wraps: (0..if steps_beside { 0 } else { 208 })
            .filter(|wrap| wrap % 4 < 2)
            .collect(),
        read_on_s: 0.4,
        read_per_lpos_s: 0.000_96,
        read_on_lpos: (!steps_beside).then_some(6_000),
        residual_s: None,
    };
    let model = LocateModel::Curves(CurvesModel::new(&coefficients, &lto8.tape.geometry));
    let tape = Tape { model, ..lto8.tape };
    Drive { name, tape, ..lto8 }
}

/// A cartridge whose wraps differ by some per cent, the last of them half full.
fn end_of_wrap(name: &'static str, block_bytes: u64, wraps: u16) -> Drive {
    let profile = profile::find(name).unwrap();
    let tape = Tape::new(&profile, None).unwrap();
    let wrap_blocks = profile.wrap_blocks(block_bytes).unwrap();
    let mut random = Random::new(5, 0);
    let mut block = 0;
    let table: Vec<EndOfWrap> = (0..wraps)
        .map(|wrap| {
            let share = if wrap + 1 == wraps { 0.5 } else { 1.0 };
            let share = share * (1.0 + 0.03 * random.normal().clamp(-3.0, 3.0));
            block += (wrap_blocks * share) as u64;
            EndOfWrap {
                wrap,
                partition: 0,
                block,
            }
        })
        .collect();
    let map = BlockMap::from_end_of_wrap(&tape.geometry, &table, Some(wrap_blocks)).unwrap();
    Drive {
        name,
        tape,
        map,
        block_bytes,
    }
}

/// Blocks from `first` to `last` of a partition.
#[derive(Clone, Copy)]
struct Run {
    partition: u8,
    first: u64,
    last: u64,
}

/// Which requests a batch may hold.
#[derive(Clone, Copy, PartialEq)]
pub enum Mix {
    /// One extent each.
    SingleSegment,
    /// Some of several extents, some of none.
    Any,
}

impl Drive {
    /// A request for blocks `first` to `last` of partition 0.
    pub fn request(&self, first: u64, last: u64) -> Request {
        Request::single(self.extent(0, first, last))
    }

    pub fn extent(&self, partition: u8, first: u64, last: u64) -> PlacedExtent {
        let bytes = (last - first + 1) * self.block_bytes;
        PlacedExtent::on_map(&self.map, partition, first, last, bytes).unwrap()
    }

    pub fn beginning_of_tape(&self) -> Position {
        Position::beginning_of_tape(self.tape.geometry.lpos_min)
    }

    /// From the beginning of tape, left anywhere, gaps located past.
    pub fn plain_options(&self) -> Options {
        Options {
            head: self.beginning_of_tape(),
            end: End::Anywhere,
            read_through: false,
        }
    }

    pub fn problem(&self, options: Options, requests: &[Request]) -> Problem {
        Problem::new(self.tape.clone(), options, requests)
    }

    /// A batch of `requests` requests with duplicates, overlaps and neighbours, crossing wraps,
    /// from anywhere to anywhere.
    pub fn random_problem(&self, requests: usize, mix: Mix, random: &mut Random) -> Problem {
        let requests = self.random_requests(requests, mix, random);
        self.problem(self.random_options(random), &requests)
    }

    /// Requests of one block each, uniformly over partition 0, no duplicates.
    pub fn uniform_requests(&self, requests: usize, random: &mut Random) -> Vec<Request> {
        let blocks = self.map.end_block(0);
        let mut firsts = std::collections::BTreeSet::new();
        while firsts.len() < requests {
            firsts.insert(random.below(blocks));
        }
        let mut firsts: Vec<u64> = firsts.into_iter().collect();
        random.shuffle(&mut firsts);
        firsts.iter().map(|&b| self.request(b, b)).collect()
    }

    pub fn random_options(&self, random: &mut Random) -> Options {
        let somewhere = |random: &mut Random| {
            let partition = self.random_partition(random);
            let block = random.below(self.map.end_block(partition));
            if random.below(2) == 0 {
                self.map.position(partition, block).unwrap()
            } else {
                self.map.position_after(partition, block).unwrap()
            }
        };
        Options {
            head: match random.below(3) {
                0 => self.beginning_of_tape(),
                _ => somewhere(random),
            },
            end: match random.below(3) {
                0 => End::Anywhere,
                1 => End::Rewound,
                _ => End::At(somewhere(random)),
            },
            read_through: random.below(2) == 0,
        }
    }

    pub fn random_requests(&self, count: usize, mix: Mix, random: &mut Random) -> Vec<Request> {
        let partition = self.random_partition(random);
        let blocks = self.map.end_block(partition);
        // The whole tape, some wraps of it, or a stretch so short that most requests touch.
        let stretch = match random.below(4) {
            0 | 1 => blocks,
            2 => blocks / self.map.spans().len().max(20) as u64 * 4,
            _ => 40 * count as u64 + 10,
        };
        let stretch = stretch.clamp(1, blocks);
        let region = Run {
            partition,
            first: random.below(blocks - stretch + 1),
            last: 0,
        };
        let region = Run {
            last: region.first + stretch - 1,
            ..region
        };
        let mut runs = Vec::new();
        let mut requests: Vec<Request> = Vec::with_capacity(count);
        for _ in 0..count {
            if mix == Mix::SingleSegment {
                let extent = self.random_segment(region, &mut runs, random);
                requests.push(Request::single(extent));
                continue;
            }
            let extents = match random.below(24) {
                0 => 0,
                1..=3 => 2 + random.below(2),
                4 if !requests.is_empty() => {
                    let earlier = random.below(requests.len() as u64) as usize;
                    requests.push(requests[earlier].clone());
                    continue;
                }
                _ => 1,
            };
            requests.push(Request {
                extents: (0..extents)
                    .map(|_| self.random_segment(region, &mut runs, random))
                    .collect(),
            });
        }
        requests
    }

    fn random_partition(&self, random: &mut Random) -> u8 {
        let last = self.map.spans().last().expect("a tape").partition;
        if random.below(10) == 0 { 0 } else { last }
    }

    fn random_segment(
        &self,
        region: Run,
        runs: &mut Vec<Run>,
        random: &mut Random,
    ) -> PlacedExtent {
        let mut run = self.random_run(region, runs, random);
        let end = self.map.end_block(run.partition);
        run.first = run.first.min(end - 1);
        run.last = run.last.clamp(run.first, end - 1);
        runs.push(run);
        self.extent(run.partition, run.first, run.last)
    }

    fn random_run(&self, region: Run, runs: &[Run], random: &mut Random) -> Run {
        let length = |random: &mut Random| {
            let most = 10u64.pow(random.below(4) as u32);
            random.below(most)
        };
        let fresh = |random: &mut Random| {
            let first = region.first + random.below(region.last - region.first + 1);
            Run {
                first,
                last: first + length(random),
                ..region
            }
        };
        let Some(before) = runs.get(random.below(runs.len() as u64) as usize).copied() else {
            return fresh(random);
        };
        let first = match random.below(14) {
            0 => return before,
            // Overlapping, and inside.
            1 => before.first + random.below(before.last - before.first + 1),
            2 => {
                let first = before.first + random.below(before.last - before.first + 1);
                let last = first + random.below(before.last - first + 1);
                return Run {
                    first,
                    last,
                    ..before
                };
            }
            // Adjacent, and behind a short gap.
            3 => before.last + 1,
            4 => before.last + 2 + random.below(50),
            // At the end of a wrap (of a section, where there are key points), mostly across it.
            5 | 6 => self.random_span(before.partition, random).1 - random.below(3),
            // In the middle of a wrap.
            7 | 8 => {
                let (first, end) = self.random_span(before.partition, random);
                first + (end - first) / 2 + random.below(5) - 2
            }
            _ => return fresh(random),
        };
        Run {
            first,
            last: first + length(random),
            ..before
        }
    }

    fn random_span(&self, partition: u8, random: &mut Random) -> (u64, u64) {
        let spans = self.map.spans();
        let mut of_partition = spans.iter().filter(|span| span.partition == partition);
        let count = of_partition.clone().count() as u64;
        let span = of_partition.nth(random.below(count) as usize).unwrap();
        (span.first_block, span.end_block)
    }
}

/// Numbers of requests for many small cases: mostly few, seldom up to 60.
pub fn few(random: &mut Random) -> usize {
    (match random.below(20) {
        0..=9 => random.below(7),
        10..=15 => 5 + random.below(6),
        16..=18 => 17 + random.below(14),
        _ => 30 + random.below(31),
    }) as usize
}

/// Runs `check` on `cases` random cases, all drives in turn; every case has its own stream.
pub fn for_random_cases(cases: u64, seed: u64, mut check: impl FnMut(&Drive, &mut Random, u64)) {
    let drives = drives();
    for case in 0..cases {
        let drive = &drives[(case % drives.len() as u64) as usize];
        check(drive, &mut Random::new(seed, case), case);
    }
}

/// Arc by arc, as [`Order::locate_time`] defines it.
pub fn locate_time(problem: &Problem, sequence: &[u32]) -> Micros {
    let mut before = None;
    let mut time = Micros::ZERO;
    for &visit in sequence {
        time += problem.motion(before, visit as usize).0;
        before = Some(visit as usize);
    }
    time + before.map_or(Micros::ZERO, |last| problem.end_cost(last))
}

/// What a failing case needs to be understood.
pub fn describe(drive: &Drive, problem: &Problem, case: u64) -> String {
    let visits: Vec<_> = problem
        .visits()
        .iter()
        .map(|visit| {
            let runs: Vec<_> = visit
                .extents
                .iter()
                .map(|s| (s.first_block, s.last_block, s.start.wrap, s.start.lpos))
                .collect();
            runs
        })
        .collect();
    format!(
        "case {case} on {}: {:?}\nvisits (first, last, wrap, lpos): {visits:?}",
        drive.name,
        problem.options()
    )
}

/// An order by visit numbers.
pub fn order(sequence: &[u32]) -> Order {
    Order::new(sequence.to_vec()).unwrap()
}
