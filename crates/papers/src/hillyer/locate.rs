//! Section 3: what the locate time looks like.

use super::Cartridge;
use crate::claims::Ours;
use tapewise_model::{LocateModel, Micros, Position, Random};
use tapewise_plot::{Figure, Table};

/// Random moves that means are taken over: their standard error is below 0.1 s.
const MOVES: u64 = 200_000;

/// How claims say what a number rests on.
const FITTED: &str = "one of four facts behind the seven constants";
const SPEEDS: &str = "geometry and speeds only";
const WOVEN: &str = "the constant of case 2 is chosen by it";

fn mean(times: impl Iterator<Item = Micros>) -> f64 {
    let (sum, count) = times.fold((Micros::ZERO, 0u64), |(sum, n), time| (sum + time, n + 1));
    sum.as_secs_f64() / count.max(1) as f64
}

/// Means, maximum and dips of the locate time.
pub(super) fn statistics(cartridge: &Cartridge, seed: u64, ours: &mut Ours) -> Table {
    let model = &cartridge.tape.model;
    let bot = Position::beginning_of_tape(0);
    let segments = cartridge.key_points.segments();
    let mut random = Random::new(seed, 1 << 40);
    let pairs: Vec<(Position, Position)> = (0..MOVES)
        .map(|_| {
            let mut place = || cartridge.position(random.below(segments));
            (place(), place())
        })
        .collect();
    let from_bot = mean(pairs.iter().map(|(_, to)| model.locate(&bot, to)));
    let between = mean(pairs.iter().map(|(from, to)| model.locate(from, to)));
    let longest = pairs
        .iter()
        .map(|(from, to)| model.locate(from, to))
        .max()
        .unwrap_or_default();
    let dips = Dips::of(cartridge, &pairs);
    ours.set("locate-mean-from-bot", from_bot, FITTED);
    ours.set("locate-mean-random", between, FITTED);
    ours.set("locate-max", longest.as_secs_f64(), FITTED);
    ours.set("dip-drop", dips.reverse_s, SPEEDS);
    ours.set("dip-drop-forward", dips.forward_s, SPEEDS);
    ours.set(
        "dips-25s-per-source",
        dips.deep_per_source,
        "drops of 20-30 s, mean over sources",
    );
    weave_claims(cartridge, seed, ours);

    let mut table = Table::new(
        "Section 3: locate times, seconds",
        &["what", "theirs", "ours"],
    );
    let mut row = |what: &str, theirs: &str, ours: f64| {
        table.row([what.to_owned(), theirs.to_owned(), format!("{ours:.1}")]);
    };
    row(
        "mean, beginning of tape to random segment",
        "96.5",
        from_bot,
    );
    row("mean, between random segments", "72.4", between);
    row("longest", "about 180", longest.as_secs_f64());
    row("drop at a dip, forward tracks", "about 5", dips.forward_s);
    row("drop at a dip, reverse tracks", "about 25", dips.reverse_s);
    row(
        "drops of about 25 s for each source (count)",
        "about 300",
        dips.deep_per_source,
    );
    table.note(format!(
        "One cartridge of {segments} segments, {} tracks of {} sections; {MOVES} random moves.",
        cartridge.key_points.tracks(),
        cartridge.key_points.sections()
    ));
    table.note("Most of the 64 x 13 dips are deep drops, whatever the constants: a disagreement inside the paper.");
    table
}

/// How far the locate time drops from one segment to the next where a section begins.
struct Dips {
    forward_s: f64,
    reverse_s: f64,
    deep_per_source: f64,
}

impl Dips {
    /// Deep drops counted from a hundred sources; their size as in Figure 1, from the beginning of
    /// tape, from the third section of each track on (before, the drive goes to the track's start).
    fn of(cartridge: &Cartridge, pairs: &[(Position, Position)]) -> Dips {
        let model = &cartridge.tape.model;
        let (mut forward, mut reverse, mut deep) = (Vec::new(), Vec::new(), 0u64);
        let sources = &pairs[..pairs.len().min(100)];
        for (source, _) in sources {
            for track in 0..cartridge.key_points.tracks() {
                for &dip in &cartridge.key_points.track(track)[1..] {
                    let before = model.locate(source, &cartridge.position(dip - 1));
                    let drop =
                        (before - model.locate(source, &cartridge.position(dip))).as_secs_f64();
                    deep += u64::from((20.0..30.0).contains(&drop));
                }
            }
        }
        let bot = Position::beginning_of_tape(0);
        for track in 0..cartridge.key_points.tracks() {
            for &dip in &cartridge.key_points.track(track)[2..] {
                let before = model.locate(&bot, &cartridge.position(dip - 1));
                let drop = (before - model.locate(&bot, &cartridge.position(dip))).as_secs_f64();
                if track.is_multiple_of(2) {
                    forward.push(drop)
                } else {
                    reverse.push(drop)
                }
            }
        }
        let average = |drops: &[f64]| drops.iter().sum::<f64>() / drops.len().max(1) as f64;
        Dips {
            forward_s: average(&forward),
            reverse_s: average(&reverse),
            deep_per_source: deep as f64 / sources.len() as f64,
        }
    }
}

/// Expected locates to the sections that WEAVE considers first (section 4).
fn weave_claims(cartridge: &Cartridge, seed: u64, ours: &mut Ours) {
    for (id, ahead, same_track, how) in [
        ("weave-next-section", 1, true, SPEEDS),
        ("weave-two-ahead", 2, true, SPEEDS),
        ("weave-two-ahead-codirectional", 2, false, WOVEN),
    ] {
        ours.set(id, expected(cartridge, seed, ahead, same_track), how);
    }
}

/// The mean locate from a random segment to a random one this many sections ahead, on the same track or on any of the
/// same direction, in seconds.
pub(super) fn expected(cartridge: &Cartridge, seed: u64, ahead: usize, same_track: bool) -> f64 {
    let model = &cartridge.tape.model;
    let key_points = &cartridge.key_points;
    let mut random = Random::new(seed, (3 + ahead as u64 + u64::from(same_track)) << 40);
    let moves = (0..MOVES_AHEAD).filter_map(|_| {
        let from = random.below(key_points.segments());
        let track = cartridge.position(from).wrap;
        let starts = key_points.track(track);
        let section = starts.partition_point(|&start| start <= from) - 1;
        let other = track % 2 + 2 * random.below(u64::from(key_points.tracks() / 2)) as u16;
        let to_track = if same_track { track } else { other };
        let within = cartridge.section(to_track, section + ahead)?;
        let to = within.start + random.below(within.end - within.start);
        Some(model.locate(&cartridge.position(from), &cartridge.position(to)))
    });
    mean(moves)
}

/// Random moves of a mean of few sections ahead, which hardly vary.
const MOVES_AHEAD: u64 = 20_000;

/// Figure 1: locate from the beginning of tape and rewind, at the key points of four tracks.
pub(super) fn figure_1(cartridge: &Cartridge) -> Table {
    let mut table = Table::new(
        "Figure 1: from the beginning of tape to the key points of tracks 0-3, seconds",
        &[
            "track",
            "section",
            "dip at segment",
            "locate, peak before",
            "locate, dip",
            "rewind from it",
        ],
    );
    let model = &cartridge.tape.model;
    let bot = Position::beginning_of_tape(0);
    let locate = |segment: u64| seconds(model.locate(&bot, &cartridge.position(segment)));
    for track in 0..4 {
        for (index, &dip) in cartridge.key_points.track(track).iter().enumerate() {
            let section = if track.is_multiple_of(2) {
                index
            } else {
                13 - index
            };
            let rewind = model.rewind(&model.point(&cartridge.position(dip)));
            let peak = if dip == 0 {
                "-".to_owned()
            } else {
                locate(dip - 1)
            };
            table.row([
                track.to_string(),
                section.to_string(),
                dip.to_string(),
                peak,
                locate(dip),
                seconds(rewind),
            ]);
        }
    }
    table.note("The peak is the last segment of the section before; between dip and peak the time rises by 15.5 s a section.");
    table
}

/// How far up the limits of tracks are drawn.
const LONGEST_S: f64 = 180.0;

/// Figure 1 drawn: from the beginning of tape to the segments of the first three tracks.
pub(super) fn figure_1_drawn(cartridge: &Cartridge) -> Figure {
    let bot = Position::beginning_of_tape(0);
    let ends = [0, 1, 2, 3].map(|track| cartridge.key_points.track(track)[0]);
    let places = |from: u64, to: u64| {
        (from..to).step_by(FIGURE_1_STEP).map(|segment| {
            let time = cartridge
                .tape
                .model
                .locate(&bot, &cartridge.position(segment));
            (segment as f64, time.as_secs_f64())
        })
    };
    let rewinds = (0..=ends[3]).step_by(FIGURE_1_STEP * 8).map(|segment| {
        let model = &cartridge.tape.model;
        let rewind = model.rewind(&model.point(&cartridge.position(segment)));
        (segment as f64, rewind.as_secs_f64())
    });
    let title = "Figure 1: locate from the beginning of tape to the first three tracks, and rewind";
    Figure::new("figure-01", title, "segment", "time, s")
        .guide("rewind", rewinds)
        .upright("", ends[1] as f64, LONGEST_S)
        .upright("", ends[2] as f64, LONGEST_S)
        .line("track 0, forward", places(ends[0], ends[1]))
        .line("track 1, reverse", places(ends[1], ends[2]))
        .line("track 2, forward", places(ends[2], ends[3]))
}

/// Segments from one drawn place to the next.
const FIGURE_1_STEP: usize = 16;

/// How often each case of the model is met, and what it takes.
pub(super) fn cases(cartridge: &Cartridge, seed: u64) -> Table {
    let LocateModel::KeyPoint(model) = &cartridge.tape.model else {
        return Table::default();
    };
    let mut random = Random::new(seed, 2 << 40);
    let segments = cartridge.key_points.segments();
    let mut seen = [(0u32, 0.0, f64::INFINITY, 0.0f64); 7];
    const DRAWN: u32 = 20_000;
    for _ in 0..DRAWN {
        let mut place = || cartridge.position(random.below(segments));
        let (from, to) = (place(), place());
        let time = cartridge.tape.model.locate(&from, &to).as_secs_f64();
        let (count, sum, least, most) = &mut seen[model.case(&from, &to) - 1];
        *count += 1;
        *sum += time;
        (*least, *most) = (least.min(time), most.max(time));
    }
    let constants = cartridge
        .profile
        .key_point_coefficients()
        .map_or([0.0; 7], |c| c.case_s);
    let mut table = Table::new(
        "Section 3: the seven cases between random segments, seconds",
        &[
            "case",
            "constant (ours)",
            "share of moves",
            "mean",
            "least",
            "most",
        ],
    );
    for (index, (count, sum, least, most)) in seen.into_iter().enumerate() {
        if count > 0 {
            table.row([
                (index + 1).to_string(),
                format!("{:.2}", constants[index]),
                format!("{:.1} %", f64::from(count) / f64::from(DRAWN) * 100.0),
                format!("{:.1}", sum / f64::from(count)),
                format!("{least:.1}"),
                format!("{most:.1}"),
            ]);
        }
    }
    table.note("The paper prints no constants. Ours were fitted to four of its facts: docs/method.md, The key-point model.");
    table
}

fn seconds(time: Micros) -> String {
    format!("{:.1}", time.as_secs_f64())
}
