//! The audit as tables for a person.

use crate::units;
use std::collections::BTreeMap;
use tapewise::Origin;
use tapewise::audit::{Findings, Hours, ORDERS, Spent, Sums, Verdict, sorted};
use tapewise_model::Micros;
use tapewise_plot::Table;

/// Rows of a table, unless all are wanted.
const SHOWN: usize = 10;

/// Tables for a person.
pub fn text(found: &Findings, all: bool) -> String {
    let ledger = &found.ledger;
    let mut text = format!("{:<10} {} events", "log", ledger.events);
    if found.emulated {
        text.push_str("; of an emulated drive: it proves nothing about hardware");
    }
    text.push('\n');
    let ways = [
        ("drive", &ledger.drives),
        ("volume", &ledger.volumes),
        ("user", &ledger.users),
    ];
    for (what, hours) in ways {
        text.push_str(&crate::output::table(&hours_table(
            what,
            hours,
            &ledger.all,
            all,
        )));
        text.push('\n');
    }
    text.push_str(&orders_text(found, all));
    text
}

fn orders_text(found: &Findings, all: bool) -> String {
    let mut text = String::new();
    let sums = found.sums();
    if sums.mounts > 0 {
        text.push_str(&format!(
            "The same reads in other orders: {} in {}. Reading counts as measured: no order changes it.\n",
            units::count(sums.reads, "read"),
            units::count(sums.mounts, "mount"),
        ));
        text.push_str(&crate::output::table(&table(&sums)));
    }
    let mut line = |head: &str, rest: String| text.push_str(&format!("{head:<10} {rest}\n"));
    if sums.mounts > 0 {
        line("trust", trust(&sums));
    }
    for (positions, count) in found.positions() {
        line(
            "positions",
            format!("{}: {positions}", units::count(count, "mount")),
        );
    }
    for (reason, count) in found.left_out() {
        line(
            "left out",
            format!("{}: {reason}", units::count(count, "mount")),
        );
    }
    if found.mounts.is_empty() {
        line("left out", "no mount of the log read anything".to_owned());
    }
    if sums.repeated > 0 {
        line(
            "repeats",
            format!(
                "{} of blocks that their mount had read before: the other orders read them once",
                units::count(sums.repeated, "read")
            ),
        );
    }
    if sums.cut_short > 0 {
        line(
            "cut short",
            format!(
                "the search for our order in {}: another run may find another; --time-budget gives it longer",
                units::count(sums.cut_short, "mount")
            ),
        );
    }
    if sums.failed > 0 {
        line(
            "failed",
            format!(
                "{} failed or were given up; their time is in no order",
                sums.failed
            ),
        );
    }
    if sums.mounts > 1 {
        text.push('\n');
        text.push_str(&crate::output::table(&mounts_table(found, all)));
    }
    text
}

fn mounts_table(found: &Findings, all: bool) -> Table {
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
            mount.moving().to_string(),
            prices.as_read.to_string(),
        ];
        table.row(cells.into_iter().chain(prices.orders.map(or_dash)));
    }
    let count = found.priced().count();
    if count > shown {
        table.note(format!("and {} more: --all", count - shown));
    }
    table
}

fn table(sums: &Sums) -> Table {
    let columns = ["order", "locating", "with reading", "saved"];
    let mut table = Table::new("", &columns);
    let mut row = |name: &str, locating: Option<Micros>, saved: Option<Micros>| {
        let whole = locating.map(|locating| locating + sums.reading);
        let cells = [or_dash(locating), or_dash(whole), or_dash(saved)];
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
    table.note(if has_stand_in {                 "RAO is a stand-in: no log tells what the drive would have recommended; `order --judge` asks it"
         } else {                 "- : the drive has no order of its own, or the order does not apply to its tape"
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
            "; by mount, the median ratio is {half:.2} and the worst {worst:.2}"
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

/// Where the hours went, the most first; what took no time at all has no column.
fn hours_table(what: &str, rows: &BTreeMap<String, Hours>, whole: &Hours, all: bool) -> Table {
    let spent = Spent::ALL.into_iter();
    let spent: Vec<Spent> = spent
        .filter(|&spent| whole.on(spent) > Micros::ZERO)
        .collect();
    let mut columns = vec![what, "total"];
    columns.extend(spent.iter().map(|spent| spent.name()));
    let mut table = Table::new("", &columns);
    let time = |time: Micros| match time {
        Micros::ZERO => "-".to_owned(),
        time => time.to_string(),
    };
    let mut row = |name: &str, hours: &Hours| {
        let cells = spent.iter().map(|&spent| time(hours.on(spent)));
        let head = [name.to_owned(), time(hours.total())];
        table.row(head.into_iter().chain(cells));
    };
    let shown = if all { usize::MAX } else { SHOWN };
    for (name, hours) in sorted(rows).into_iter().take(shown) {
        row(name, hours);
    }
    if rows.len() > 1 {
        row("all", whole);
    }
    if rows.len() > shown {
        table.note(format!("and {} more: --all", rows.len() - shown));
    }
    table
}
