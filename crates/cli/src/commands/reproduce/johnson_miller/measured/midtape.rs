//! Unmounts away from the beginning of tape, the first seek after them, and what else the paper
//! says in its text only.

use super::super::{AMPEX, DLT4000, SONY};
use super::{Lab, Measured, Points, mb, seeks};
use crate::table::Table;
use tapewise_formats::event::{Action, Event};
use tapewise_run::measure::summary::{Line, Stat};
use tapewise_run::measure::{Purpose, Step};

/// The unmounts of the mid-tape samples: MB where the tape stood, and the seconds.
pub fn unmounts(drive: &Measured) -> Points {
    let unmounts = midtape(drive).filter(|event| event.action == Action::Unmount);
    unmounts
        .filter_map(|event| {
            let block = event.from?.block?;
            Some((mb(&drive.subject, block), event.took_us.as_secs_f64()))
        })
        .collect()
}

/// The first seek after each such unmount: MB where the tape stood, MB of the target, seconds.
pub fn first_seeks(drive: &Measured) -> Vec<(f64, f64, f64)> {
    let events: Vec<&Event> = midtape(drive).collect();
    let mut seeks = Vec::new();
    let mut left_at = None;
    for pair in events.windows(2) {
        match (pair[0].action, pair[1].action) {
            (Action::Unmount, _) => left_at = pair[0].from.and_then(|from| from.block),
            (Action::Locate, Action::Read) => {
                let to = pair[0].to.and_then(|to| to.block);
                let seconds = (pair[0].took_us + pair[1].took_us).as_secs_f64();
                if let Some((from, to)) = left_at.take().zip(to) {
                    seeks.push((mb(&drive.subject, from), mb(&drive.subject, to), seconds));
                }
            }
            _ => {}
        }
    }
    seeks
}

fn midtape(drive: &Measured) -> impl Iterator<Item = &Event> {
    drive.events.iter().filter(|event| {
        let purpose = event.purpose.as_deref().and_then(Purpose::parse);
        purpose.is_some_and(|purpose| purpose.step == Step::Midtape && !purpose.prepares)
    })
}

/// What the text says of Figures 1, 5, 6, 14 and 15 in numbers, beside what was measured.
pub fn table(lab: &Lab) -> Table {
    let mut table = Table::new(
        "Sections 5.3 to 5.5: what the text says, measured",
        &["what", "paper", "ours"],
    );
    let mut row = |what: &str, paper: &str, ours: String| {
        table.row([what.to_owned(), paper.to_owned(), ours]);
    };
    let (ampex, sony) = (lab.drive(AMPEX), lab.drive(SONY));
    let seconds = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.1}"));
    let unmounts = unmounts(ampex);
    let stat = Stat::of(&unmounts.iter().map(|point| point.1).collect::<Vec<_>>());
    row(
        "Ampex, unmount where it stands: mean, s",
        "12.24",
        seconds(stat.map(|stat| stat.mean)),
    );
    row(
        "the same: standard deviation, s",
        "3.1",
        seconds(stat.map(|stat| stat.sd)),
    );
    row(
        "the same: from one line to the other, s",
        "about 6",
        seconds(lines_apart(&unmounts)),
    );
    let first = first_seeks(ampex);
    let by = |x: fn(&(f64, f64, f64)) -> f64| {
        Line::through(
            &first
                .iter()
                .map(|seek| (x(seek), seek.2))
                .collect::<Vec<_>>(),
        )
    };
    let rewound = Line::through(&seeks(&ampex.seeks.from_bot.concat()));
    let by_target = by(|seek| seek.1 / 1e3);
    let later = by_target
        .zip(rewound)
        .map(|(late, usual)| late.at(20.0) - usual.at(20.0));
    row(
        "Ampex, first seek not rewound: seconds more at 20 GB",
        "25",
        seconds(later),
    );
    let share =
        |line: Option<Line>| line.map_or("-".to_owned(), |line| format!("{:.2}", line.r_squared));
    row("the same: R2 by target", "-", share(by_target));
    row(
        "the same: R2 by distance",
        "none found",
        share(by(|seek| (seek.1 - seek.0).abs())),
    );
    row(
        "Sony, unmount: R2 by the way to the nearer of the two ends",
        "1",
        nearer_end(sony),
    );
    for (drive, paper) in [
        (ampex, "7 from 70 MB and 32 s on"),
        (lab.drive(DLT4000), "0 at 100 MB and 100 s"),
    ] {
        row(
            &format!("{}, restart after a pause, s", drive.name),
            paper,
            restart(drive),
        );
    }
    table
}

/// How far the two lines of Figure 1 are apart: the unmounts sorted, the gap in their middle,
/// after the part that grows with the way is taken off.
fn lines_apart(unmounts: &Points) -> Option<f64> {
    let mut seconds: Vec<f64> = unmounts.iter().map(|point| point.1).collect();
    seconds.sort_by(f64::total_cmp);
    let gap = seconds
        .windows(2)
        .map(|pair| (pair[1] - pair[0], (pair[0] + pair[1]) / 2.0));
    let (_, between) = gap.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let mean = |upper: bool| {
        let chosen: Vec<f64> = seconds
            .iter()
            .copied()
            .filter(|time| (*time > between) == upper)
            .collect();
        Stat::of(&chosen).map(|stat| stat.mean)
    };
    Some(mean(true)? - mean(false)?)
}

/// Whether an unmount took as long as the way to the nearer end says: from the first half of the
/// data longer the farther in, from the second half longer the farther out.
fn nearer_end(sony: &Measured) -> String {
    let full_mb = mb(&sony.subject, sony.subject.blocks);
    let unmounts = unmounts(sony);
    let ways = unmounts
        .iter()
        .map(|&(mb, seconds)| (mb.min(full_mb - mb), seconds));
    match Line::through(&ways.collect::<Vec<_>>()) {
        Some(line) => format!("{:.2}", line.r_squared),
        None => "-".to_owned(),
    }
}

fn restart(drive: &Measured) -> String {
    let Some(restart) = &drive.summary.restart else {
        return "-".to_owned();
    };
    match (restart.smallest_mb, restart.shortest_pause_s) {
        (Some(mb), Some(pause)) => format!(
            "{:.1} from {mb:.0} MB and {pause:.0} s on",
            restart.penalty_s
        ),
        _ => {
            let most = restart.measured.iter().map(|at| at.0).fold(0.0, f64::max);
            format!("none up to {most:.0} MB and 100 s")
        }
    }
}
