//! Where the hours went as a picture: stacked by drive, volume or user, above what the same reads cost in
//! other orders.

use crate::bars::{Bar, Part, Rows, stacked};
use crate::colours::{BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION};
use crate::page::Colour;
use std::collections::BTreeMap;
use tapewise::Origin;
use tapewise::audit::{Findings, Hours, ORDERS, Spent, Sums, sorted};
use tapewise_model::Micros;
use tapewise_model::units::count;

/// Rows before all others are put together.
const ROWS: usize = 10;

/// What the bars are made of: a colour can be told from six others, not from eleven.
const GROUPS: [(&str, Colour, &[Spent]); 7] = [
    (
        "robot, mount, unmount",
        ORANGE,
        &[Spent::Robot, Spent::Mount, Spent::Unmount],
    ),
    (
        "locate, rewind",
        VERMILLION,
        &[Spent::Locate, Spent::Rewind],
    ),
    ("read through", GREEN, &[Spent::ReadThrough]),
    ("read", BLUE, &[Spent::Read]),
    ("write, filemarks", SKY, &[Spent::Write, Spent::Filemarks]),
    ("idle, pause", PALE, &[Spent::Idle, Spent::Pause]),
    ("failed", PURPLE, &[Spent::Failed]),
];
const PALE: Colour = Colour::rgb(200, 200, 200);

/// The hours by drive, volume or user (`what`, with its rows of the ledger), and what the same reads cost in other
/// orders, as SVG text; none where nothing took any time.
pub fn audit_picture(
    found: &Findings,
    what: &str,
    rows: &BTreeMap<String, Hours>,
) -> Option<String> {
    if found.ledger.all.total() == Micros::ZERO {
        return None;
    }
    let mut groups = vec![hours(what, rows)];
    let sums = found.sums();
    if sums.mounts > 0 {
        groups.push(orders(&sums));
    }
    Some(stacked("Where the drive-hours went", &groups))
}

/// A unit in which the longest of these is a number that people like, and its name.
fn unit(longest: Micros) -> (f64, &'static str) {
    match longest.as_secs_f64() {
        seconds if seconds >= 7200.0 => (3600.0, "hours"),
        seconds if seconds >= 120.0 => (60.0, "minutes"),
        _ => (1.0, "seconds"),
    }
}

fn hours(what: &str, rows: &BTreeMap<String, Hours>) -> Rows {
    let sorted = sorted(rows);
    let (unit_s, unit) = unit(
        sorted
            .first()
            .map_or(Micros::ZERO, |(_, first)| first.total()),
    );
    let amounts = |of: &[(&str, &Hours)]| -> Vec<f64> {
        let spent = |spent: &Spent| of.iter().map(|(_, hours)| hours.on(*spent)).sum::<Micros>();
        let group =
            |group: &[Spent]| group.iter().map(spent).sum::<Micros>().as_secs_f64() / unit_s;
        GROUPS.iter().map(|(_, _, spent)| group(spent)).collect()
    };
    let (first, rest) = sorted.split_at(sorted.len().min(ROWS));
    let mut bars: Vec<Bar> = first
        .iter()
        .map(|row| Bar {
            name: row.0.to_owned(),
            amounts: amounts(&[*row]),
        })
        .collect();
    if !rest.is_empty() {
        // In the mean: together they might be longer than everything else.
        let each = rest.len() as f64;
        bars.push(Bar {
            name: format!("each of {} others", rest.len()),
            amounts: amounts(rest).iter().map(|sum| sum / each).collect(),
        });
    }
    let parts = GROUPS.map(|(name, colour, _)| Part { name, colour });
    Rows {
        title: format!("by {what}"),
        unit,
        parts: used(parts.to_vec(), &mut bars),
        bars,
    }
}

/// Parts of which any bar has something; the bars lose the others too.
fn used(parts: Vec<Part>, bars: &mut [Bar]) -> Vec<Part> {
    let is_used: Vec<bool> = (0..parts.len())
        .map(|part| bars.iter().any(|bar| bar.amounts[part] > 0.0))
        .collect();
    for bar in bars {
        let mut used = is_used.iter();
        bar.amounts.retain(|_| used.next() == Some(&true));
    }
    let used = parts.into_iter().zip(is_used);
    used.filter_map(|(part, is_used)| is_used.then_some(part))
        .collect()
}

fn orders(sums: &Sums) -> Rows {
    let as_read = [
        ("as read, measured", sums.locating),
        ("as read, by the model", sums.as_read),
    ];
    let others = ORDERS.into_iter().zip(sums.orders);
    let others =
        others.filter_map(|(origin, locating): (Origin, _)| Some((origin.title(), locating?)));
    let rows: Vec<(&str, Micros)> = as_read.into_iter().chain(others).collect();
    let longest = rows.iter().map(|(_, locating)| *locating).max();
    let (unit_s, unit) = unit(longest.unwrap_or(Micros::ZERO) + sums.reading);
    let bar = |(name, locating): &(&str, Micros)| Bar {
        name: (*name).to_owned(),
        amounts: [*locating, sums.reading]
            .map(|time| time.as_secs_f64() / unit_s)
            .to_vec(),
    };
    Rows {
        title: format!("the same {} in other orders", count(sums.reads, "read")),
        unit,
        parts: vec![
            Part {
                name: "locate, rewind",
                colour: VERMILLION,
            },
            Part {
                name: "read",
                colour: BLUE,
            },
        ],
        bars: rows.iter().map(bar).collect(),
    }
}
