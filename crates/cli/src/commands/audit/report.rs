//! The audit as tables for a person.

use crate::html::MADE_BY;
use crate::units;
use std::collections::BTreeMap;
use tapewise::Origin;
use tapewise::audit::{Findings, Hours, Ledger, ORDERS, Spent, Sums, Verdict, sorted};
use tapewise_model::Micros;
use tapewise_plot::html::{Report as Page, Sheet};
use tapewise_plot::{Drawn, Table};

/// Rows of a table, unless all are wanted.
const SHOWN: usize = 10;

/// Tables for a person.
pub fn text(found: &Findings, all: bool) -> String {
    let ledger = &found.ledger;
    let mut text = format!(
        "{:<10} {}",
        "log",
        units::count(ledger.events as usize, "event")
    );
    if found.emulated {
        text.push_str("; of an emulated drive: it proves nothing about hardware");
    }
    text.push('\n');
    for (what, hours) in ways(ledger) {
        let table = hours_table(what, hours, &ledger.all, all, spent_or_dash);
        text.push_str(&crate::output::table(&table));
        text.push('\n');
    }
    if !ledger.days.is_empty() {
        let table = days_table(ledger, all, spent_or_dash);
        text.push_str(&crate::output::table(&table));
        text.push('\n');
    }
    text.push_str(&orders_text(found, all));
    text
}

/// What the hours are divided by.
fn ways(ledger: &Ledger) -> [(&'static str, &BTreeMap<String, Hours>); 3] {
    [
        ("drive", &ledger.drives),
        ("volume", &ledger.volumes),
        ("user", &ledger.users),
    ]
}

fn orders_text(found: &Findings, all: bool) -> String {
    let mut text = String::new();
    let sums = found.sums();
    if sums.mounts > 0 {
        text.push_str(&format!("{}\n", same_reads(&sums)));
        text.push_str(&crate::output::table(&table(&sums, or_dash)));
    }
    for (head, rest) in lines(found, &sums) {
        text.push_str(&format!("{head:<10} {rest}\n"));
    }
    if sums.mounts > 1 {
        text.push('\n');
        text.push_str(&crate::output::table(&mounts_table(found, all, or_dash)));
    }
    text
}

fn same_reads(sums: &Sums) -> String {
    format!(
        "The same reads in other orders: {} in {}. Reading counts as measured: no order changes it.",
        units::count(sums.reads, "read"),
        units::count(sums.mounts, "mount"),
    )
}

/// What is to be known of the prices.
fn lines(found: &Findings, sums: &Sums) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if sums.mounts > 0 {
        lines.push(("trust", trust(sums)));
    }
    let mounts = |(what, count): (&str, usize)| format!("{}: {what}", units::count(count, "mount"));
    let positions = found.positions().into_iter();
    lines.extend(positions.map(|one| ("positions", mounts(one))));
    let left_out = found.left_out().into_iter();
    lines.extend(left_out.map(|one| ("left out", mounts(one))));
    if found.mounts.is_empty() {
        lines.push(("left out", "no mount of the log read anything".to_owned()));
    }
    if sums.repeated > 0 {
        lines.push((
            "repeats",
            format!(
                "{} of blocks that their mount had read before: the other orders read them once",
                units::count(sums.repeated, "read")
            ),
        ));
    }
    if sums.cut_short > 0 {
        lines.push((
            "cut short",
            format!(
                "the search for our order in {}: another run may find another; --time-budget gives it longer",
                units::count(sums.cut_short, "mount")
            ),
        ));
    }
    if sums.failed > 0 {
        lines.push((
            "failed",
            format!(
                "{} failed or were given up; their time is in no order",
                sums.failed
            ),
        ));
    }
    lines
}

/// The same as a page for a browser, with this picture if there is one.
pub fn page(found: &Findings, all: bool, picture: Option<String>) -> Page {
    let sums = found.sums();
    let ledger = &found.ledger;
    let mut remarks = vec![format!(
        "log: {}",
        units::count(ledger.events as usize, "event")
    )];
    remarks.extend(found.notices.iter().cloned());
    let lines = lines(found, &sums).into_iter();
    remarks.extend(lines.map(|(head, rest)| format!("{head}: {rest}")));
    let mut sheets = Vec::new();
    if sums.mounts > 0 {
        let titled = Table {
            title: same_reads(&sums),
            ..table(&sums, or_dash)
        };
        sheets.push(Sheet::with_csv(
            "orders",
            titled,
            table(&sums, in_seconds).csv(),
        ));
    }
    for (what, hours) in ways(ledger) {
        let shown = Table {
            title: format!("Hours by {what}"),
            ..hours_table(what, hours, &ledger.all, all, spent_or_dash)
        };
        let csv = hours_table(what, hours, &ledger.all, true, |time| {
            in_seconds(Some(time))
        })
        .csv();
        sheets.push(Sheet::with_csv(format!("hours-by-{what}"), shown, csv));
    }
    if !ledger.days.is_empty() {
        let shown = Table {
            title: "Hours by day".to_owned(),
            ..days_table(ledger, all, spent_or_dash)
        };
        let csv = days_table(ledger, true, |time| in_seconds(Some(time))).csv();
        sheets.push(Sheet::with_csv("hours-by-day", shown, csv));
    }
    if sums.mounts > 1 {
        let csv = mounts_table(found, true, in_seconds).csv();
        sheets.push(Sheet::with_csv(
            "mounts",
            mounts_table(found, all, or_dash),
            csv,
        ));
    }
    let named = |svg| Drawn {
        name: "audit".to_owned(),
        svg,
    };
    Page {
        title: "tapewise audit".to_owned(),
        answer: answer(found, &sums),
        remarks,
        figures: picture.map(named).into_iter().collect(),
        sheets,
        tracks: Vec::new(),
        made_by: MADE_BY.to_owned(),
    }
}

/// Where the hours went, and what our order would have made of them as far as the model can be trusted.
fn answer(found: &Findings, sums: &Sums) -> String {
    let all = &found.ledger.all;
    let moving = all.on(Spent::Locate) + all.on(Spent::Rewind) + all.on(Spent::ReadThrough);
    let share = 100.0 * moving.as_secs_f64() / all.total().as_secs_f64().max(1e-6);
    let emulated = if found.emulated {
        " (of an emulated drive)"
    } else {
        ""
    };
    let hours = format!(
        "{} of drive time{emulated}, {} % of it locating and rewinding",
        all.total(),
        units::percent(share)
    );
    let mut orders = ORDERS.into_iter().zip(sums.orders);
    let ours = orders.find_map(|(origin, time)| time.filter(|_| origin == Origin::BEST));
    let verdict = sums.trust().map(|trust| trust.verdict);
    match (ours.filter(|ours| *ours < sums.as_read), verdict) {
        (Some(ours), Some(Verdict::Knows)) => format!(
            "{hours}; in our order the same reads take {ours} of locating instead of {}, by the model",
            sums.as_read
        ),
        (Some(_), Some(Verdict::Ranks)) => {
            format!("{hours}; our order is shorter, but the model cannot tell by how much")
        }
        (None, Some(Verdict::Knows | Verdict::Ranks)) => {
            format!("{hours}; our order is not shorter")
        }
        (_, Some(Verdict::Worthless) | None) => {
            format!("{hours}; what other orders would have cost is not known")
        }
    }
}

/// How a time is written, if there is one.
type Written = fn(Option<Micros>) -> String;

fn mounts_table(found: &Findings, all: bool, written: Written) -> Table {
    let mut columns = vec!["volume", "drive", "reads", "measured", "by the model"];
    columns.extend(ORDERS.map(Origin::title));
    let mut table = Table::new("Locating, by mount", &columns);
    let shown = if all { usize::MAX } else { SHOWN };
    for (priced, prices) in found.priced().take(shown) {
        let mount = &priced.mount;
        let name = |name: &Option<String>| name.clone().unwrap_or("(unknown)".to_owned());
        let cells = [
            name(&mount.volume),
            name(&mount.drive),
            priced.reads.to_string(),
            written(Some(mount.moving())),
            written(Some(prices.as_read)),
        ];
        table.row(cells.into_iter().chain(prices.orders.map(written)));
    }
    let count = found.priced().count();
    if count > shown {
        table.note(format!("and {} more: --all", count - shown));
    }
    table
}

fn table(sums: &Sums, written: Written) -> Table {
    let columns = ["order", "locating", "with reading", "saved"];
    let mut table = Table::new("", &columns);
    let mut row = |name: &str, locating: Option<Micros>, saved: Option<Micros>| {
        let whole = locating.map(|locating| locating + sums.reading);
        let cells = [written(locating), written(whole), written(saved)];
        table.row(std::iter::once(name.to_owned()).chain(cells));
    };
    row("as read, measured", Some(sums.locating), None);
    row("as read, by the model", Some(sums.as_read), None);
    for (origin, locating) in ORDERS.into_iter().zip(sums.orders) {
        let saved = locating.map(|locating| sums.as_read - locating);
        row(origin.title(), locating, saved);
    }
    table.note("saved: against the order as read, both by the model");
    let mut both = ORDERS.iter().zip(sums.orders);
    let has_stand_in = both.any(|(&origin, time)| origin == Origin::StandIn && time.is_some());
    table.note(if has_stand_in {
        "RAO is a stand-in: no log tells what the drive would have recommended; `order --judge` asks it"
    } else {
        "- : the drive has no order of its own, or the order does not apply to its tape"
    });
    table
}

/// How far the model is off where it can be checked, and what follows for the other orders.
fn trust(sums: &Sums) -> String {
    let (model, measured) = (sums.as_read, sums.locating);
    let Some(trust) = sums.trust() else {
        return format!("unknown: the log has {measured} of locating, the model says {model}");
    };
    let factor = trust.factor;
    let mut text = format!(
        "for the order as read, the model says {model} of locating, {factor:.2} times the {measured} measured"
    );
    if let Some([half, worst]) = trust.by_mount {
        text.push_str(&format!(
            "; of the mounts' ratios of model to measured, the median is {half:.2}, and {worst:.2} is furthest from 1"
        ));
    }
    text.push_str(&trust_in_moves(sums));
    text.push_str(match trust.verdict {
        Verdict::Knows => {
            ". The model knows these moves. Other orders make shorter moves, for which it may be less accurate"
        }
        Verdict::Ranks => {
            ". The model tells which order is shorter, but not by how much: fit a profile to these logs (`tapewise fit`)"
        }
        Verdict::Worthless => {
            ". Do not trust what it says of other orders: this is another drive, or the blocks lie elsewhere. \
             Fit a profile to these logs (`tapewise fit`), or give the cartridge's --map"
        }
    });
    text
}

/// How the model does move by move; a sum can be right by chance.
fn trust_in_moves(sums: &Sums) -> String {
    let (Some(explained), Some(median_s)) = (sums.moves.r_squared(), sums.moves.median_error_s())
    else {
        return String::new();
    };
    let moves = units::count(sums.moves.len(), "move");
    format!(
        "; over {moves} half are off by at most {median_s:.1} s, and the model explains {:.0} % of their differences",
        100.0 * explained.max(0.0)
    )
}

fn or_dash(time: Option<Micros>) -> String {
    time.map_or("-".to_owned(), |time| time.to_string())
}

/// Seconds for a program; nothing is empty.
fn in_seconds(time: Option<Micros>) -> String {
    time.map_or_else(String::new, |time| time.as_secs_f64().to_string())
}

/// No time at all is a dash.
fn spent_or_dash(time: Micros) -> String {
    or_dash(Some(time).filter(|time| *time > Micros::ZERO))
}

/// Where the hours went, the most first; what took no time at all has no column.
fn hours_table(
    what: &str,
    rows: &BTreeMap<String, Hours>,
    whole: &Hours,
    all: bool,
    time: fn(Micros) -> String,
) -> Table {
    let shown = if all { usize::MAX } else { SHOWN };
    let mut table = spent_table(what, whole, time, sorted(rows).into_iter().take(shown));
    if rows.len() > shown {
        table.note(format!("and {} more: --all", rows.len() - shown));
    }
    table
}

/// The last days, in their order.
fn days_table(ledger: &Ledger, all: bool, time: fn(Micros) -> String) -> Table {
    let days = &ledger.days;
    let before = if all {
        0
    } else {
        days.len().saturating_sub(SHOWN)
    };
    let rows = days.iter().skip(before);
    let rows = rows.map(|(day, hours)| (day.as_str(), hours));
    let whole = Hours::sum(days.values());
    let mut table = spent_table("day (UTC)", &whole, time, rows);
    if before > 0 {
        table.note(format!("and {} before: --all", units::count(before, "day")));
    }
    table
}

/// A row for each of these, and for all where there are several.
fn spent_table<'a>(
    what: &str,
    whole: &Hours,
    time: fn(Micros) -> String,
    rows: impl Iterator<Item = (&'a str, &'a Hours)>,
) -> Table {
    let spent = Spent::ALL.into_iter();
    let spent: Vec<Spent> = spent
        .filter(|&spent| whole.on(spent) > Micros::ZERO)
        .collect();
    let mut columns = vec![what, "total"];
    columns.extend(spent.iter().map(|spent| spent.name()));
    let mut table = Table::new("", &columns);
    let mut row = |name: &str, hours: &Hours| {
        let cells = spent.iter().map(|&spent| time(hours.on(spent)));
        let head = [name.to_owned(), time(hours.total())];
        table.row(head.into_iter().chain(cells));
    };
    let mut count = 0;
    for (name, hours) in rows {
        row(name, hours);
        count += 1;
    }
    if count > 1 {
        row("all", whole);
    }
    table
}
