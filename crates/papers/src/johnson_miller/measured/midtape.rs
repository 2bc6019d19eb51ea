//! Unmounts away from the beginning of tape, the first seek after them, and what else the paper
//! says in its text only.

use super::super::{AMPEX, DLT4000, SONY};
use super::{Lab, Measured, Points, mb, seeks};
use tapewise_formats::event::Spot;
use tapewise_plot::Table;
use tapewise_run::measure::summary::{Line, Stat};

/// The unmounts of the mid-tape samples: MB where the tape stood, and the seconds.
pub fn unmounts(drive: &Measured) -> Points {
    let unmounts = drive.summary.moves.unmounts.iter();
    let points =
        unmounts.filter_map(|unmount| Some((place_mb(drive, unmount.from)?, unmount.seconds)));
    points.collect()
}

/// The first seek after each such unmount: MB where the tape stood, MB of the target, seconds.
pub fn first_seeks(drive: &Measured) -> Vec<(f64, f64, f64)> {
    let seeks = drive.summary.moves.first.iter().filter_map(|seek| {
        let (from, to) = (place_mb(drive, seek.from)?, place_mb(drive, seek.to)?);
        Some((from, to, seek.seconds))
    });
    seeks.collect()
}

fn place_mb(drive: &Measured, spot: Option<Spot>) -> Option<f64> {
    Some(mb(&drive.subject, spot?.block?))
}

/// What the text says of Figures 1, 5, 6, 14 and 15 in numbers, beside what was measured.
pub fn table(lab: &Lab) -> Table {
    let mut table = Table::new(
        "Sections 5.3 to 5.5: what the text says, measured",
        &["what", "paper", "ours"],
    );
    let (ampex, sony) = (lab.drive(AMPEX), lab.drive(SONY));
    unmount_rows(&mut table, ampex);
    first_seek_rows(&mut table, ampex);
    row(
        &mut table,
        "Sony, unmount: R2 by the way to the nearer of the two ends",
        "1",
        nearer_end(sony),
    );
    for (drive, paper) in [
        (ampex, "7 from 70 MB and 32 s on"),
        (lab.drive(DLT4000), "0 at 100 MB and 100 s"),
    ] {
        let what = format!("{}, restart after a pause, s", drive.name);
        row(&mut table, &what, paper, restart(drive));
    }
    table
}

fn row(table: &mut Table, what: &str, paper: &str, ours: Option<String>) {
    let ours = ours.unwrap_or_else(|| "-".to_owned());
    table.row([what.to_owned(), paper.to_owned(), ours]);
}

fn tenths(seconds: f64) -> String {
    format!("{seconds:.1}")
}

fn explained(line: Line) -> String {
    format!("{:.2}", line.r_squared)
}

fn unmount_rows(table: &mut Table, ampex: &Measured) {
    let unmounts = unmounts(ampex);
    let stat = Stat::of(&unmounts.iter().map(|point| point.1).collect::<Vec<_>>());
    let what = "Ampex, unmount where it stands: mean, s";
    row(table, what, "12.24", stat.map(|stat| tenths(stat.mean)));
    let what = "the same: standard deviation, s";
    row(table, what, "3.1", stat.map(|stat| tenths(stat.sd)));
    let what = "the same: from one line to the other, s";
    row(table, what, "about 6", lines_apart(&unmounts).map(tenths));
}

fn first_seek_rows(table: &mut Table, ampex: &Measured) {
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
    let later = by_target.zip(rewound);
    let later = later.map(|(late, usual)| tenths(late.at(20.0) - usual.at(20.0)));
    let what = "Ampex, first seek not rewound: seconds more at 20 GB";
    row(table, what, "25", later);
    row(
        table,
        "the same: R2 by target",
        "-",
        by_target.map(explained),
    );
    let by_distance = by(|seek| (seek.1 - seek.0).abs()).map(explained);
    row(table, "the same: R2 by distance", "none found", by_distance);
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
fn nearer_end(sony: &Measured) -> Option<String> {
    let full_mb = mb(&sony.subject, sony.subject.blocks);
    let unmounts = unmounts(sony);
    let ways = unmounts
        .iter()
        .map(|&(mb, seconds)| (mb.min(full_mb - mb), seconds));
    Line::through(&ways.collect::<Vec<_>>()).map(explained)
}

fn restart(drive: &Measured) -> Option<String> {
    let restart = drive.summary.restart.as_ref()?;
    Some(match (restart.smallest_mb, restart.shortest_pause_s) {
        (Some(mb), Some(pause)) => format!(
            "{:.1} from {mb:.0} MB and {pause:.0} s on",
            restart.penalty_s
        ),
        _ => {
            let most = restart.measured.iter().map(|at| at.0).fold(0.0, f64::max);
            format!("none up to {most:.0} MB and 100 s")
        }
    })
}
