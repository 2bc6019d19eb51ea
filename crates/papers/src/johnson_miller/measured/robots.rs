//! Table 2 and the cycle of section 5.3, measured with emulated robots.

use super::super::summary::ROBOTS;
use super::super::{AMPEX, Bench, off_pct};
use super::{SCALE, block_kb};
use crate::PaperError;
use crate::claims::Ours;
use crate::emulated::{Emulated, Loaded, seek};
use tapewise_formats::event::Action;
use tapewise_model::{Random, profile};
use tapewise_plot::Table;
use tapewise_run::measure::summary::{Stat, Summary};
use tapewise_run::measure::{Robot, Step, Subject, Suite};
use tapewise_run::{Recorder, RunError};

/// Ways of each robot: the spreads of the Sony and the Ampex leave a mean uncertain by 1 % then.
const WAYS: u32 = 240;

/// The slot that the cartridge of the cycles lives in.
const HOME: usize = 0;

/// Cycles with and without a rewind: the paper's number.
const CYCLES: u64 = 60;

pub fn tables(bench: &Bench, ours: &mut Ours) -> Result<Vec<Table>, PaperError> {
    Ok(vec![table_2(bench, ours)?, cycles(bench)?])
}

/// The drive that stands in each library; the paper does not say which stood in which.
fn kind_in(robot: &str) -> &'static str {
    match robot {
        "ampex-810" => "ampex-dst310",
        "sony-dms-b9" => "sony-dtf",
        "stk-9710" => "dlt7000",
        _ => "ibm3590",
    }
}

/// Table 2: fetch and return of the robots.
pub fn table_2(bench: &Bench, ours: &mut Ours) -> Result<Table, PaperError> {
    let allowed = bench.paper.tolerance("measured-table-2")? * 100.0;
    let mut table = Table::new(
        "Table 2, measured on emulated robots: seconds, theirs and ours",
        &[
            "robot", "slots", "fetch", "ours", "off %", "sd", "ours", "return", "ours", "off %",
            "sd", "ours",
        ],
    );
    let mut within = 0;
    for (name, key) in ROBOTS {
        let missing = || PaperError::from(format!("claims.toml: no {name}"));
        let theirs = bench.facts.robots.get(name).ok_or_else(missing)?;
        let slots = theirs.tapes as u16;
        let (fetch, back) = ways(bench, key, slots)?;
        let off = [
            off_pct(fetch.mean, theirs.fetch_mean),
            off_pct(back.mean, theirs.return_mean),
        ];
        within += u32::from(off.iter().all(|off| off.abs() <= allowed));
        let sd = |sd: Option<f64>| sd.map_or("-".to_owned(), |sd| sd.to_string());
        let number = |value: f64| format!("{value:.2}");
        table.row([
            name.to_owned(),
            slots.to_string(),
            theirs.fetch_mean.to_string(),
            number(fetch.mean),
            format!("{:+.1}", off[0]),
            sd(theirs.fetch_sd),
            number(fetch.sd),
            theirs.return_mean.to_string(),
            number(back.mean),
            format!("{:+.1}", off[1]),
            sd(theirs.return_sd),
            number(back.sd),
        ]);
    }
    ours.set(
        "measured-table-2",
        f64::from(within),
        format!("fetch and return both within {allowed:.0} %, {WAYS} ways of each"),
    );
    Ok(table)
}

/// A robot's fetches and returns, between its drive and slots all over the library.
fn ways(bench: &Bench, robot: &str, slots: u16) -> Result<(Stat, Stat), PaperError> {
    let kind = kind_in(robot);
    let loaded = Loaded {
        kind,
        seed: bench.seed,
        scale: SCALE,
    };
    let profile = profile::find(kind)?;
    let mut emulated = Emulated::in_library(loaded, robot, slots)?;
    // A robot's way needs no data on the tape.
    let subject = Subject::new(&profile, 1, 1, SCALE);
    let (_, events) = emulated.record_with_robot(|recorder, robot| {
        let mut suite = Suite::plan(&subject, Some(&[Step::Robot]), true, None, bench.seed);
        for planned in &mut suite.steps {
            planned.samples = WAYS;
        }
        suite.run(recorder, &subject, Some(robot), &[], &mut |_| ())
    })?;
    let summary = Summary::of(&events, &subject);
    let missing = || PaperError::from(format!("{robot}: no way of the robot was measured"));
    summary.fetch_s.zip(summary.return_s).ok_or_else(missing)
}

/// Section 5.3: fetch, mount, seek to a random place, read a block, unmount with or without a
/// rewind before it, return.
fn cycles(bench: &Bench) -> Result<Table, PaperError> {
    let theirs = &bench.facts.ampex_cycle;
    let mut table = Table::new(
        "Section 5.3, measured: a cycle on the emulated Ampex DST 310 in its 810, seconds",
        &["unmount", "cycles", "paper", "ours", "off %", "sd", "ours"],
    );
    for (what, rewinds, mean_s, sd_s) in [
        (
            "rewound",
            true,
            theirs.rewind_first_mean_s,
            theirs.rewind_first_sd_s,
        ),
        (
            "where it stands",
            false,
            theirs.no_rewind_mean_s,
            theirs.no_rewind_sd_s,
        ),
    ] {
        let ours = ampex_cycles(bench, rewinds)?;
        table.row([
            what.to_owned(),
            ours.n.to_string(),
            format!("{mean_s:.0}"),
            format!("{:.1}", ours.mean),
            format!("{:+.0}", off_pct(ours.mean, mean_s)),
            format!("{sd_s:.0}"),
            format!("{:.1}", ours.sd),
        ]);
    }
    table.note("The parts of Tables 2 and 4 and Figures 1 and 6 do not add up to the paper's cycles: what lies between its steps is in none of them.");
    Ok(table)
}

fn ampex_cycles(bench: &Bench, rewinds: bool) -> Result<Stat, PaperError> {
    let drive = bench.drive(AMPEX);
    let loaded = Loaded {
        kind: &drive.profile.name,
        seed: bench.seed,
        scale: SCALE,
    };
    let mut emulated = Emulated::in_library(loaded, "ampex-810", 256)?;
    let blocks = emulated.fill(block_kb(drive)?, bench.seed)?;
    let mut random = Random::new(bench.seed, 1 << 44);
    let (cycles, _) = emulated.record_with_robot(|recorder, mut robot| {
        recorder.unmount()?;
        recorder.carry(
            robot.changer,
            Action::Return,
            robot.slots[HOME],
            robot.drive,
        )?;
        let cycle = |_| cycle(recorder, &mut robot, random.below(blocks - 1), rewinds);
        (0..CYCLES)
            .map(cycle)
            .collect::<Result<Vec<f64>, RunError>>()
    })?;
    // The first cycle begins with a rewound tape either way.
    Stat::of(&cycles[1..]).ok_or_else(|| PaperError::from("no cycle was measured"))
}

fn cycle(
    recorder: &mut Recorder<'_>,
    robot: &mut Robot<'_>,
    block: u64,
    rewinds: bool,
) -> Result<f64, RunError> {
    let began = recorder.clock();
    recorder.carry(robot.changer, Action::Fetch, robot.slots[HOME], robot.drive)?;
    recorder.mount_of_robot()?;
    seek(recorder, block)?;
    if rewinds {
        recorder.rewind()?;
    }
    recorder.unmount()?;
    recorder.carry(
        robot.changer,
        Action::Return,
        robot.slots[HOME],
        robot.drive,
    )?;
    Ok((recorder.clock() - began).as_secs_f64())
}
