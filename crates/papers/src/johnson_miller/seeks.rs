//! Seeks from the beginning and from the middle of the tape (Figures 2 to 8), positioning hints,
//! and the Ampex's cycle with and without a rewind (section 5.3).

use super::{AMPEX, Bench, DAT_4MM, DLT4000, DLT7000, Drive, IBM3590, SONY};
use crate::PaperError;
use serde::Deserialize;
use tapewise_model::{LocateModel, Micros, Position};
use tapewise_plot::Table;

/// The Ampex's cycle as measured, in seconds.
#[derive(Deserialize)]
pub struct MeasuredCycle {
    pub rewind_first_mean_s: f64,
    pub rewind_first_sd_s: f64,
    pub no_rewind_mean_s: f64,
    pub no_rewind_sd_s: f64,
}

/// Rows of the figures: tenths of the tape or track.
const TENTHS: u32 = 10;

/// Places along the tape that means are taken over, evenly.
const PLACES: u32 = 10_000;

/// The last track read forward, and the first in reverse, that the figures show.
const FORWARD: u16 = 0;
const REVERSE: u16 = 1;

/// "Most rewinds take less than 25 seconds" (section 5.4.1), for this share of the Ampex's tape.
const SHORT_REWIND_S: f64 = 25.0;
const SHORT_REWINDS: f64 = 0.64;

fn seconds(time: f64) -> String {
    format!("{time:.1}")
}

fn tenths(first: u32) -> impl Iterator<Item = (String, f64)> {
    (first..=TENTHS).map(|tenth| {
        let share = f64::from(tenth) / f64::from(TENTHS);
        (format!("{share:.1}"), share)
    })
}

/// The figures as tables, in the order of the paper.
pub fn tables(bench: &Bench) -> Result<Vec<Table>, PaperError> {
    Ok(vec![
        ampex_cycle(bench)?,
        helical_from_bot(bench)?,
        serpentine_from_bot(bench),
        fast_seek(bench)?,
        helical_midtape(bench),
    ])
}

/// The Ampex when it goes where its positioning hints say.
fn hinted(ampex: &Drive) -> Result<LocateModel, PaperError> {
    let hinted = match &ampex.model {
        LocateModel::HelicalLinear(model) => model.hinted(),
        _ => None,
    };
    let missing = || PaperError::from("profile ampex-dst310 has no positioning hints");
    hinted.map(LocateModel::HelicalLinear).ok_or_else(missing)
}

fn helical_from_bot(bench: &Bench) -> Result<Table, PaperError> {
    let [dat, ampex, sony] = [DAT_4MM, AMPEX, SONY].map(|name| bench.drive(name));
    let hinted = hinted(ampex)?;
    let mut table = Table::new(
        "Figure 2: seek from the beginning of tape and rewind, helical scan, seconds",
        &[
            "place",
            "4mm seek",
            "rewind",
            "Ampex seek",
            "with hints",
            "rewind",
            "Sony seek",
            "rewind",
        ],
    );
    for (label, share) in tenths(0) {
        let bot = |drive: &Drive| drive.place(FORWARD, 0.0);
        let to = |drive: &Drive| drive.place(FORWARD, share);
        let seek = |drive: &Drive| drive.seek_s(&bot(drive), &to(drive));
        let rewind = |drive: &Drive| drive.rewind_s(&to(drive));
        let with_hints = hinted.locate(&bot(ampex), &to(ampex)).as_secs_f64();
        let times = [
            seek(dat),
            rewind(dat),
            seek(ampex),
            with_hints,
            rewind(ampex),
            seek(sony),
            rewind(sony),
        ];
        table.row([label].into_iter().chain(times.map(seconds)));
    }
    table.note("place: share of the tape. Startup + full seek x distance of Table 4; 4mm: the line for short seeks where it is lower.");
    table.note("Rewinding is taken to cost what seeking back does: the paper draws it and prints no numbers.");
    Ok(table)
}

fn serpentine_from_bot(bench: &Bench) -> Table {
    let drives = [
        ("DLT 4000", bench.drive(DLT4000)),
        ("1996", &bench.key_points),
        ("DLT 7000", bench.drive(DLT7000)),
        ("3590", bench.drive(IBM3590)),
    ];
    let mut columns = vec!["place".to_owned()];
    for (name, _) in &drives {
        columns.extend(["out", "back", "rewind"].map(|what| format!("{name} {what}")));
    }
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new(
        "Figures 3 to 5: seek from the beginning of tape and rewind, serpentine, seconds",
        &columns,
    );
    for (label, share) in tenths(1) {
        let times = drives.iter().flat_map(|(_, drive)| {
            let bot = drive.place(FORWARD, 0.0);
            let [out, back] = [FORWARD, REVERSE].map(|track| drive.place(track, share));
            [
                drive.seek_s(&bot, &out),
                drive.seek_s(&bot, &back),
                drive.rewind_s(&out),
            ]
        });
        let cells: Vec<String> = times.map(seconds).collect();
        table.row([label].into_iter().chain(cells));
    }
    table.note("place: share of the track from the beginning of tape; out: first track, away from it; back: second track, towards it.");
    table.note("DLT 4000: Table 3 (o = +0.04), which was fitted to seeks from the middle; 1996: the key-point model of the same drive.");
    table.note("DLT 7000 and 3590: estimates, startup and full seek of Table 4 in the shape of Table 3. Rewinds are ours.");
    table
}

fn helical_midtape(bench: &Bench) -> Table {
    let drives = [DAT_4MM, AMPEX, SONY].map(|name| bench.drive(name));
    let mut table = Table::new(
        "Figure 7: seek from the middle of the tape, helical scan, seconds",
        &["place", "4mm", "Ampex", "Sony"],
    );
    for (label, share) in tenths(0) {
        let seek =
            |drive: &Drive| drive.seek_s(&drive.place(FORWARD, 0.5), &drive.place(FORWARD, share));
        let times = drives.map(seek);
        table.row([label].into_iter().chain(times.map(seconds)));
    }
    table.note("The way back costs the same. \"The coefficients derived for the BOT seek times are sufficiently accurate\" (section 5.4.2).");
    table
}

/// Section 5.4.1: how much faster than reading the serpentine drives seek.
fn fast_seek(bench: &Bench) -> Result<Table, PaperError> {
    let mut table = Table::new(
        "Section 5.4.1: fast seek over read speed",
        &[
            "drive",
            "read track s",
            "seek track s",
            "ours",
            "paper",
            "off %",
        ],
    );
    for (name, drive) in [
        (DLT4000, bench.drive(DLT4000)),
        (DLT4000, &bench.key_points),
        (DLT7000, bench.drive(DLT7000)),
        (IBM3590, bench.drive(IBM3590)),
    ] {
        let missing = || PaperError::from(format!("claims.toml: no fast seek of {name}"));
        let theirs = *bench
            .facts
            .fast_seek_over_read_speed
            .get(name)
            .ok_or_else(missing)?;
        let read_s = drive.track_mb / drive.transfer.rate_mb_s;
        let [near, far] = [0.25, 1.0].map(|share| {
            // From the end of a track back, on another that is read the same way.
            drive.seek_s(&drive.place(FORWARD, 0.0), &drive.place(FORWARD + 2, share))
        });
        let seek_s = (far - near) / 0.75;
        table.row([
            drive.name.to_owned(),
            seconds(read_s),
            seconds(seek_s),
            format!("{:.2}", read_s / seek_s),
            theirs.to_string(),
            format!("{:+.0}", super::off_pct(read_s / seek_s, theirs)),
        ]);
    }
    table.note("seek track: slope of the seek time ahead, from a quarter of the track to its end. 3590: 60 s a track (Table 4) is not twice 8.9 MB/s.");
    Ok(table)
}

/// Mean and standard deviation of a time over places spread evenly along the tape.
fn over_the_tape(drive: &Drive, time: impl Fn(&Position) -> f64) -> (f64, f64) {
    let place = |at: u32| drive.place(FORWARD, (f64::from(at) + 0.5) / f64::from(PLACES));
    let times: Vec<f64> = (0..PLACES).map(|at| time(&place(at))).collect();
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
    (mean, (squares / times.len() as f64).sqrt())
}

/// The means of one cycle, in seconds.
struct Cycle {
    first_seek_s: f64,
    finish_s: f64,
    /// Fetch, mount, read and return, which do not depend on the place.
    fixed_s: f64,
    sd_s: f64,
}

impl Cycle {
    fn mean_s(&self) -> f64 {
        self.fixed_s + self.first_seek_s + self.finish_s
    }

    /// A cycle to a random place, with the tape rewound before it is unmounted or not.
    fn of(ampex: &Drive, fixed_s: f64, rewind_first: bool) -> Result<Cycle, PaperError> {
        let handling = ampex.profile.mounting();
        let (bot, end) = (ampex.place(FORWARD, 0.0), ampex.place(FORWARD, 1.0));
        let penalty_s = handling.first_seek_not_rewound.as_secs_f64();
        let late_s = if rewind_first { 0.0 } else { penalty_s };
        let seek = |place: &Position| ampex.seek_s(&bot, place) + late_s;
        let finish = |place: &Position| {
            let rewind = ampex.model.rewind(&ampex.model.point(place));
            let to_end = ampex.model.locate(place, &end);
            let finish = handling.finish(rewind, to_end, rewind_first);
            finish.unwrap_or(Micros::ZERO).as_secs_f64()
        };
        let (_, by_place_sd_s) = over_the_tape(ampex, |place| seek(place) + finish(place));
        // Unmounting at a zone spreads by the zone's distance, which our mean leaves out.
        let zones = &ampex.profile.handling.unmount_midtape_sd_s;
        let zones_sd_s = ampex.need(zones, "the spread of unmounts")?;
        Ok(Cycle {
            first_seek_s: over_the_tape(ampex, seek).0,
            finish_s: over_the_tape(ampex, finish).0,
            fixed_s,
            sd_s: by_place_sd_s.hypot(if rewind_first { 0.0 } else { zones_sd_s }),
        })
    }
}

/// Section 5.3: fetch, mount, seek to a random place, read one block, unmount, return.
fn ampex_cycle(bench: &Bench) -> Result<Table, PaperError> {
    let ampex = bench.drive(AMPEX);
    let robot = tapewise_model::profile::find("ampex-810")?.robot;
    let fetch_s = ampex.need(&robot.fetch_s, "the robot's fetch")?;
    let return_s = ampex.need(&robot.return_s, "the robot's return")?;
    let mount_s = ampex.need(&ampex.profile.handling.mount_s, "the mount time")?;
    let block_kb = ampex.need(&ampex.profile.transfer.transfer_kb, "the transfer size")?;
    let read_s = block_kb / 1e3 / ampex.transfer.rate_mb_s;
    let fixed_s = fetch_s + mount_s + read_s + return_s;
    let [rewound, not] = [true, false].map(|first| Cycle::of(ampex, fixed_s, first));
    let (rewound, not) = (rewound?, not?);
    let mut table = Table::new(
        "Section 5.3: a cycle on the Ampex DST 310 in its 810, means in seconds",
        &[
            "unmount",
            "fetch",
            "mount",
            "first seek",
            "read",
            "to unmounted",
            "return",
            "cycle",
            "sd",
            "paper",
            "sd",
        ],
    );
    let theirs = &bench.facts.ampex_cycle;
    let (with, without) = (theirs.rewind_first_mean_s, theirs.no_rewind_mean_s);
    for (name, cycle, mean_s, sd_s) in [
        ("rewound", &rewound, with, theirs.rewind_first_sd_s),
        ("where it stands", &not, without, theirs.no_rewind_sd_s),
    ] {
        let times = [
            fetch_s,
            mount_s,
            cycle.first_seek_s,
            read_s,
            cycle.finish_s,
            return_s,
            cycle.mean_s(),
            cycle.sd_s,
            mean_s,
            sd_s,
        ];
        table.row([name.to_owned()].into_iter().chain(times.map(seconds)));
    }
    let (short, _) = over_the_tape(ampex, |place| {
        f64::from(u8::from(ampex.rewind_s(place) < SHORT_REWIND_S))
    });
    table.note(format!(
        "Rewinding first gains {:.0} s, in the paper {:.0}. Ours is short both ways: Tables 2 and 4 leave out what lies between the steps.",
        not.mean_s() - rewound.mean_s(),
        without - with
    ));
    table.note("The parts do not explain their spread without a rewind. The first seek then goes as from the beginning, 25 s later (Figure 6).");
    table.note(format!(
        "Rewinds below {SHORT_REWIND_S:.0} s: {:.0} % of the tape, in the paper {:.0} %.",
        short * 100.0,
        SHORT_REWINDS * 100.0
    ));
    Ok(table)
}
