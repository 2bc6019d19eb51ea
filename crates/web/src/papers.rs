//! Figures of four of the papers, computed for what the page's sliders say. `tapewise reproduce` computes all of them,
//! with the papers' own numbers beside.

mod cern;

use crate::answer::Line;
use serde::Deserialize;
use std::error::Error;
use tapewise::model::{
    BlockMap, Geometry, KeyPoints, LocateModel, Position, PositionSource, Random, profile,
};
use tapewise::order::{
    End, Options, Order, PlacedExtent, Problem, Request, Tape, fifo, loss, opt, read_whole_tape,
    scan, sltf, sort, weave,
};
use tapewise_sim::queue::nested::RobotArrivals;
use tapewise_sim::queue::retrieval::{Times, predict};

type Fallible<T> = Result<T, Box<dyn Error>>;

/// A figure with what its sliders say.
#[derive(Debug, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case", deny_unknown_fields)]
pub enum Figure {
    /// Hillyer & Silberschatz 1996, Figure 1: locate times from one place to places all over a DLT4000 cartridge.
    HillyerLocate {
        /// Which cartridge is drawn around the nominal one.
        cartridge: u64,
        /// Where the head is, as a share of all segments.
        from: f64,
    },
    /// Hillyer & Silberschatz 1996, Figures 4 and 5: mean time per locate of each order, one dot for each batch.
    HillyerOrders {
        /// Which cartridge is drawn around the nominal one.
        cartridge: u64,
        /// Whether the head is at the beginning of tape, and not at a random place.
        from_bot: bool,
        /// Requests of a batch.
        requests: usize,
        /// First batch.
        first: u64,
        /// Batches.
        batches: u64,
    },
    /// CERN 2018, results: positioning time for each file, one dot for each batch.
    CernOrders {
        /// Whether the tape is an LTO-8 cartridge, and not LTO-7 of type M8, on which the slides measured.
        lto8: bool,
        /// Files on the tape.
        files: usize,
        /// Files of a batch.
        requests: usize,
        /// First batch.
        first: u64,
        /// Batches.
        batches: u64,
    },
    /// Johnson & Miller 1998, Figures 2 to 8: seeks from one place to places along the tape.
    JohnsonMillerSeek {
        /// Where the head is, as a share of the first track.
        from: f64,
        /// The track that is sought in: 0 is read forward, 1 in reverse.
        track: u16,
    },
    /// Gniewek et al. 1999, Table 3 as a figure: mean response by the rate of requests, by formula and as measured.
    GniewekResponse {
        /// Seconds of the robot for each put and each get.
        robot_s: f64,
        /// Seconds to load.
        load_s: f64,
        /// Seconds to search and read on average.
        search_s: f64,
        /// A number of drives beside the paper's 2, 4 and 6.
        drives: u32,
    },
}

/// Computes a figure.
///
/// # Errors
/// A value that cannot be, in words.
pub fn figure(figure: &Figure) -> Fallible<Vec<Line>> {
    match *figure {
        Figure::HillyerLocate { cartridge, from } => {
            locate_times(&Cartridge::draw(cartridge)?, from)
        }
        Figure::HillyerOrders {
            cartridge,
            from_bot,
            requests,
            first,
            batches,
        } => orders(
            &Cartridge::draw(cartridge)?,
            from_bot,
            requests,
            first..first.saturating_add(batches),
        ),
        Figure::CernOrders {
            lto8,
            files,
            requests,
            first,
            batches,
        } => cern::orders(lto8, files, requests, first..first.saturating_add(batches)),
        Figure::JohnsonMillerSeek { from, track } => seeks(from, track),
        Figure::GniewekResponse {
            robot_s,
            load_s,
            search_s,
            drives,
        } => {
            let times = Times {
                robot_put_s: robot_s,
                robot_get_s: robot_s,
                drive_load_s: load_s,
                search_read_s: search_s,
                ..Times::GNIEWEK_1999
            };
            Ok(responses(&times, drives))
        }
    }
}

/// Bytes of a segment: "fixed-sized chunks of size 32 KB" (Hillyer & Silberschatz, section 3).
const SEGMENT_BYTES: u64 = 32_768;

/// A DLT4000 cartridge drawn around the nominal one, with its drive.
struct Cartridge {
    key_points: KeyPoints,
    map: BlockMap,
    tape: Tape,
    number: u64,
}

impl Cartridge {
    fn draw(number: u64) -> Fallible<Cartridge> {
        let profile = profile::find("dlt4000")?;
        let missing = "the profile dlt4000 has no key points";
        let nominal = profile.nominal_sections().ok_or(missing)?;
        let spread = profile.key_point_spread().ok_or(missing)?;
        let key_points = KeyPoints::generate(nominal, spread, &mut Random::new(number, 0));
        Ok(Cartridge {
            map: key_points.block_map(),
            tape: Tape::new(&profile, Some(&key_points))?,
            key_points,
            number,
        })
    }

    fn segment(&self, number: u64) -> Fallible<PlacedExtent> {
        Ok(PlacedExtent::on_map(
            &self.map,
            0,
            number,
            number,
            SEGMENT_BYTES,
        )?)
    }
}

/// Places of a curve.
const PLACES: u64 = 4_000;

/// Locate times from a place to places all over the cartridge.
fn locate_times(cartridge: &Cartridge, from: f64) -> Fallible<Vec<Line>> {
    let segments = cartridge.key_points.segments();
    let from = ((segments - 1) as f64 * share(from)?) as u64;
    let head = cartridge.segment(from)?.start;
    let mut places = Vec::new();
    for place in 0..PLACES {
        let to = place * (segments - 1) / (PLACES - 1);
        let time = cartridge
            .tape
            .model
            .locate(&head, &cartridge.segment(to)?.start);
        places.push((to as f64 / 1000.0, time.as_secs_f64()));
    }
    Ok(vec![line("locate", places)])
}

/// An order of the figures.
type Algorithm = fn(&Problem) -> Option<Order>;

/// The orders of the figures, OPT for short batches only; READ costs the same for every batch.
const ORDERS: [(&str, Algorithm); 7] = [
    ("FIFO", |problem| Some(fifo(problem))),
    ("OPT", opt_of_few),
    ("SORT", |problem| Some(sort(problem))),
    ("SLTF", |problem| Some(sltf(problem))),
    ("SCAN", |problem| Some(scan(problem))),
    ("WEAVE", |problem| Some(weave(problem))),
    ("LOSS", |problem| Some(loss(problem))),
];

/// OPT takes too long here for more, and the paper stops at 12.
const LONGEST_OPT: usize = 10;

fn opt_of_few(problem: &Problem) -> Option<Order> {
    (problem.len() <= LONGEST_OPT).then(|| opt(problem))?
}

/// The paper's longest batch.
const LONGEST: usize = 2048;

/// Seconds per locate of each order: `(batch, seconds)`.
fn orders(
    cartridge: &Cartridge,
    from_bot: bool,
    requests: usize,
    batches: std::ops::Range<u64>,
) -> Fallible<Vec<Line>> {
    if !(1..=LONGEST).contains(&requests) {
        return Err(format!("a batch has 1 to {LONGEST} requests, not {requests}").into());
    }
    let segments = cartridge.key_points.segments();
    let mut lines = ORDERS.map(|(name, _)| line(name, Vec::new()));
    for batch in batches.take(1000) {
        let stream = (requests as u64) << 32 | batch | u64::from(!from_bot) << 60;
        let mut random = Random::new(cartridge.number, stream);
        let mut draw = || cartridge.segment(random.below(segments));
        let wanted: Vec<Request> = (0..requests)
            .map(|_| draw().map(Request::single))
            .collect::<Result<_, _>>()?;
        let head = if from_bot {
            Position::beginning_of_tape(0)
        } else {
            draw()?.start
        };
        let problem = Problem::new(cartridge.tape.clone(), locates_only(head), &wanted);
        for (line, (_, algorithm)) in lines.iter_mut().zip(ORDERS) {
            if let Some(order) = algorithm(&problem) {
                let s = order.locate_time(&problem).as_secs_f64() / requests as f64;
                line.places.push((batch as f64, s));
            }
        }
    }
    let options = locates_only(Position::beginning_of_tape(0));
    let nothing = Problem::new(cartridge.tape.clone(), options, &[]);
    let whole_s = read_whole_tape(&nothing, &cartridge.map).as_secs_f64();
    let mut lines = Vec::from(lines);
    lines.push(line("READ", vec![(0.0, whole_s / requests as f64)]));
    Ok(lines)
}

fn locates_only(head: Position) -> Options {
    Options {
        head,
        end: End::Anywhere,
        read_through: false,
    }
}

/// The drives of Table 4, each with its profile.
const DRIVES: [(&str, &str); 6] = [
    ("4mm DAT", "dat-4mm"),
    ("Ampex DST 310", "ampex-dst310"),
    ("Sony DTF", "sony-dtf"),
    ("DLT 4000", "dlt4000-jm98"),
    ("DLT 7000", "dlt7000"),
    ("IBM 3590", "ibm3590"),
];

/// Seeks of each drive from a place on the first track to places along another one. Helical tape has one track.
fn seeks(from: f64, track: u16) -> Fallible<Vec<Line>> {
    let from = share(from)?;
    let mut lines = Vec::new();
    for (name, drive) in DRIVES {
        let profile = profile::find(drive)?;
        let geometry = profile.geometry()?;
        let model: LocateModel = profile.locate_model(None)?;
        let track = track.min(geometry.wraps.saturating_sub(1));
        let head = place(&geometry, 0, from);
        let places = (0..=200).map(|step| {
            let to = f64::from(step) / 200.0;
            let time = model.locate(&head, &place(&geometry, track, to));
            (to, time.as_secs_f64())
        });
        lines.push(line(name, places.collect()));
    }
    Ok(lines)
}

/// A place on a track, as a share of the tape from its beginning.
fn place(geometry: &Geometry, track: u16, share: f64) -> Position {
    Position {
        partition: 0,
        wrap: track,
        lpos: geometry.lpos_min + (share * f64::from(geometry.wrap_lpos())).round() as u32,
        source: PositionSource::Exact,
        error_lpos: 0,
    }
}

/// Table 3: requests an hour, drives, mean response as measured (EM) and as modelled (QM), in seconds.
const TABLE_3: [(f64, u32, f64, f64); 9] = [
    (50.0, 2, 34.6, 36.0),
    (50.0, 4, 30.6, 30.0),
    (50.0, 6, 30.4, 30.0),
    (100.0, 4, 31.8, 32.0),
    (100.0, 6, 31.2, 31.0),
    (150.0, 4, 37.5, 39.0),
    (150.0, 6, 32.5, 33.0),
    (200.0, 6, 38.6, 37.0),
    (250.0, 6, 47.3, 51.0),
];

/// Responses beyond this are not drawn: the queue has no end soon after.
const FAR_S: f64 = 180.0;

/// Mean responses by rate, of libraries with 2, 4, 6 and another number of drives, and what the paper has.
fn responses(times: &Times, drives: u32) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut counts = vec![2, 4, 6];
    if !counts.contains(&drives) {
        counts.push(drives);
    }
    for drives in counts {
        let rates = (1..=200).map(|step| f64::from(step) * 2.0);
        let at = |rate: f64| {
            let predicted = predict(times, rate / 3600.0, drives, RobotArrivals::Poisson);
            let s = predicted.ok()?.response_s;
            (s < FAR_S).then_some((rate, s))
        };
        lines.push(line(
            &format!("formula, {drives} drives"),
            rates.map_while(at).collect(),
        ));
    }
    let dots = |name: &str, s: fn(&(f64, u32, f64, f64)) -> f64| Line {
        dots: true,
        ..line(name, TABLE_3.iter().map(|row| (row.0, s(row))).collect())
    };
    lines.push(dots("measured in the paper", |row| row.2));
    lines.push(dots("the paper's model", |row| row.3));
    lines
}

fn line(name: &str, places: Vec<(f64, f64)>) -> Line {
    Line {
        name: name.to_owned(),
        places,
        dots: false,
    }
}

fn share(of: f64) -> Fallible<f64> {
    if (0.0..=1.0).contains(&of) {
        Ok(of)
    } else {
        Err(format!("a place on the tape is from 0 to 1, not {of}").into())
    }
}
