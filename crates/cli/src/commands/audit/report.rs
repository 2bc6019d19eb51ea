//! The audit as tables for a person, and as JSON for a program.

use super::input::Logs;
use crate::units;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tapewise::Origin;
use tapewise::audit::{Hours, Ledger, Mount, Moves, ORDERS, Prices, Spent, Trust, sorted};
use tapewise_model::Micros;
use tapewise_plot::Table;

/// Rows of a table, unless all are wanted.
const SHOWN: usize = 10;

/// Version of the JSON: raised when a field changes its meaning.
const VERSION: u32 = 1;

/// A mount beside its prices; its reads are forgotten.
#[derive(Debug)]
pub struct Priced {
    /// Drive, volume and times.
    pub mount: Mount,
    /// How many runs of blocks were read.
    pub reads: usize,
    /// What a model says, or why it cannot.
    pub prices: Result<Prices, String>,
}

impl Priced {
    /// Keeps what the report needs.
    pub fn new(mut mount: Mount, prices: Result<Prices, String>) -> Priced {
        let reads = std::mem::take(&mut mount.reads).len();
        Priced {
            mount,
            reads,
            prices,
        }
    }
}

/// Everything that was found.
#[derive(Debug)]
pub struct Report {
    /// What was left out or odd.
    pub notices: Vec<String>,
    logs: Logs,
    mounts: Vec<Priced>,
}

/// Sums over the mounts that could be priced.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// Mounts.
    pub mounts: usize,
    /// Reads.
    pub reads: usize,
    /// On the way, measured.
    pub locating: Micros,
    /// Reading, measured.
    pub reading: Micros,
    /// On the way in the order really read, by the model.
    pub as_read: Micros,
    /// On the way in each of [`ORDERS`]; `None` where one does not apply to every mount.
    pub orders: [Option<Micros>; ORDERS.len()],
    /// For each mount, by what factor the model is off, either way: 1 where it is exact.
    factors: Vec<f64>,
    repeated: usize,
    cut_short: usize,
    failed: u64,
    /// The moves of all these mounts.
    moves: Moves,
}

impl Report {
    /// A report of what was read and priced.
    pub fn new(mut logs: Logs, mut mounts: Vec<Priced>) -> Report {
        // Stable: equals stay in the order of the logs.
        mounts.sort_by_key(|priced| -priced.mount.moving());
        Report {
            notices: std::mem::take(&mut logs.notices),
            logs,
            mounts,
        }
    }

    /// Sums over the mounts that could be priced.
    pub fn sums(&self) -> Sums {
        let mut sums = Sums {
            orders: [Some(Micros::ZERO); ORDERS.len()],
            ..Sums::default()
        };
        for (priced, prices) in self.priced() {
            let moving = priced.mount.moving();
            sums.mounts += 1;
            sums.reads += priced.reads;
            sums.locating += moving;
            sums.reading += priced.mount.reading;
            sums.as_read += prices.as_read;
            for (sum, price) in sums.orders.iter_mut().zip(prices.orders) {
                *sum = sum.zip(price).map(|(sum, price)| sum + price);
            }
            sums.factors
                .extend(factor(prices.as_read, moving).map(|factor| factor.max(1.0 / factor)));
            sums.repeated += prices.repeated;
            sums.cut_short += usize::from(prices.cut_short);
            sums.failed += priced.mount.failed;
            sums.moves.extend(&prices.moves);
        }
        sums.factors.sort_by(f64::total_cmp);
        sums
    }

    /// Where the hours went.
    pub fn ledger(&self) -> &Ledger {
        &self.logs.mounts.ledger
    }

    fn priced(&self) -> impl Iterator<Item = (&Priced, &Prices)> {
        let priced = self.mounts.iter();
        priced.filter_map(|priced| Some((priced, priced.prices.as_ref().ok()?)))
    }

    /// How often each reason kept a mount from being priced.
    fn left_out(&self) -> BTreeMap<&str, usize> {
        let mut reasons = BTreeMap::new();
        for priced in &self.mounts {
            if let Err(reason) = &priced.prices {
                *reasons.entry(reason.as_str()).or_insert(0) += 1;
            }
        }
        reasons
    }

    fn positions(&self) -> BTreeMap<&str, usize> {
        let mut positions = BTreeMap::new();
        for (_, prices) in self.priced() {
            *positions.entry(prices.positions.as_str()).or_insert(0) += 1;
        }
        positions
    }

    /// Tables for a person.
    pub fn text(&self, all: bool) -> String {
        let ledger = &self.logs.mounts.ledger;
        let mut text = format!("{:<10} {} events", "log", ledger.events);
        if self.logs.emulated {
            text.push_str("; of an emulated drive: it proves nothing about hardware");
        }
        text.push('\n');
        let ways = [
            ("drive", &ledger.drives),
            ("volume", &ledger.volumes),
            ("user", &ledger.users),
        ];
        for (what, hours) in ways {
            text.push_str(&hours_table(what, hours, &ledger.all, all).to_string());
            text.push('\n');
        }
        text.push_str(&self.orders_text(all));
        text
    }

    fn orders_text(&self, all: bool) -> String {
        let mut text = String::new();
        let sums = self.sums();
        if sums.mounts > 0 {
            text.push_str(&format!(
                "The same reads in other orders: {} in {}. Reading counts as measured: no order changes it.\n",
                units::count(sums.reads, "read"),
                units::count(sums.mounts, "mount"),
            ));
            text.push_str(&sums.table().to_string());
        }
        let mut line = |head: &str, rest: String| text.push_str(&format!("{head:<10} {rest}\n"));
        if sums.mounts > 0 {
            line("trust", sums.trust());
        }
        for (positions, count) in self.positions() {
            line(
                "positions",
                format!("{}: {positions}", units::count(count, "mount")),
            );
        }
        for (reason, count) in self.left_out() {
            line(
                "left out",
                format!("{}: {reason}", units::count(count, "mount")),
            );
        }
        if self.mounts.is_empty() {
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
            text.push_str(&self.mounts_table(all).to_string());
        }
        text
    }

    fn mounts_table(&self, all: bool) -> Table {
        let mut columns = vec!["volume", "drive", "reads", "measured", "by the model"];
        columns.extend(ORDERS.map(Origin::title));
        let mut table = Table::new("Locating, by mount", &columns);
        let shown = if all { usize::MAX } else { SHOWN };
        for (priced, prices) in self.priced().take(shown) {
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
        let count = self.priced().count();
        if count > shown {
            table.note(format!("and {} more: --all", count - shown));
        }
        table
    }

    /// The same as JSON; docs/reference/audit.md is the contract.
    pub fn json(&self) -> Value {
        let ledger = &self.logs.mounts.ledger;
        let sums = self.sums();
        let by = |hours: &BTreeMap<String, Hours>| -> Vec<Value> {
            let rows = sorted(hours).into_iter();
            rows.map(|(name, hours)| json!({"name": name, "hours": hours_json(hours)}))
                .collect()
        };
        let mounts: Vec<Value> = self.mounts.iter().map(mount_json).collect();
        json!({
            "tapewise_audit": VERSION,
            "emulated": self.logs.emulated,
            "events": ledger.events,
            "hours": hours_json(&ledger.all),
            "drives": by(&ledger.drives),
            "volumes": by(&ledger.volumes),
            "users": by(&ledger.users),
            "priced": {
                "mounts": sums.mounts,
                "reads": sums.reads,
                "measured_locating_us": sums.locating.0,
                "measured_reading_us": sums.reading.0,
                "model_locating_us": sums.as_read.0,
                "orders_locating_us": orders_json(&sums.orders),
                "moves": sums.moves.len(),
                "moves_r_squared": sums.moves.r_squared(),
                "moves_median_error_s": sums.moves.median_error_s(),
                "trust": sums.moves.trust().map(|trust| match trust {
                    Trust::Good => "good",
                    Trust::Rough => "rough",
                    Trust::None => "none",
                }),
            },
            "mounts": mounts,
            "notices": self.notices,
        })
    }
}

impl Sums {
    fn table(&self) -> Table {
        let columns = ["order", "locating", "with reading", "saved"];
        let mut table = Table::new("", &columns);
        let mut row = |name: &str, locating: Option<Micros>, saved: Option<Micros>| {
            let whole = locating.map(|locating| locating + self.reading);
            let cells = [or_dash(locating), or_dash(whole), or_dash(saved)];
            table.row(std::iter::once(name.to_owned()).chain(cells));
        };
        row("as read, measured", Some(self.locating), None);
        row("as read, by the model", Some(self.as_read), None);
        for (origin, locating) in ORDERS.into_iter().zip(self.orders) {
            let saved = locating.map(|locating| self.as_read - locating);
            row(origin.title(), locating, saved);
        }
        table.note("saved: against the order as read, both by the model");
        let mut both = ORDERS.iter().zip(self.orders);
        let has_stand_in = both.any(|(&origin, time)| origin == Origin::StandIn && time.is_some());
        table.note(if has_stand_in {                 "RAO is a stand-in: no log tells what the drive would have recommended; `order --judge` asks it"
             } else {                 "- : the drive has no order of its own, or the order does not apply to its tape"
             });
        table
    }

    /// How far the model is off where it can be checked, and what follows for the other orders.
    fn trust(&self) -> String {
        let (model, measured) = (self.as_read, self.locating);
        let Some(factor) = factor(model, measured) else {
            return format!("unknown: the log has {measured} of locating, the model says {model}");
        };
        let mut text = format!(
            "for the order as read, the model says {model} of locating, {factor:.2} times the {measured} measured"
        );
        if let (Some(half), Some(worst)) = (
            self.factors.get(self.factors.len().saturating_sub(1) / 2),
            self.factors.last(),
        ) && self.factors.len() > 1
        {
            text.push_str(&format!(
                "; by mount, the median ratio is {half:.2} and the worst {worst:.2}"
            ));
        }
        text.push_str(&self.trust_in_moves());
        let off = factor.max(1.0 / factor);
        text.push_str(match self.moves.trust() {
            Some(Trust::None) => HOPELESS,
            _ if off > FAIR_FACTOR => HOPELESS,
            Some(Trust::Good) | None if off <= GOOD_FACTOR => {
                ". The model knows these moves. Other orders make shorter moves, for which it may be less accurate"
            }
            _ => {
                ". The model tells which order is shorter, but not by how much: fit a profile to these logs (`tapewise fit`)"
            }
        });
        text
    }

    /// How the model does move by move; a sum can be right by chance.
    fn trust_in_moves(&self) -> String {
        let (Some(explained), Some(median_s)) =
            (self.moves.r_squared(), self.moves.median_error_s())
        else {
            return String::new();
        };
        let moves = units::count(self.moves.len(), "move");
        format!(
            "; over {moves} half are off by at most {median_s:.1} s, and the model explains {:.0} % of their differences",
            100.0 * explained.max(0.0)
        )
    }
}

/// What follows from a model that does not know the moves.
const HOPELESS: &str = ". Do not trust what it says of other orders: this is another drive, or the blocks lie \
    elsewhere. Fit a profile to these logs (`tapewise fit`), or give the cartridge's --map";

/// Up to this factor the model is taken to know the moves of a log, and up to this one to know which of
/// two orders is shorter: what orders differ by.
const GOOD_FACTOR: f64 = 1.1;
const FAIR_FACTOR: f64 = 1.4;

/// How many times the measured time the model's is; none where either is nothing.
fn factor(model: Micros, measured: Micros) -> Option<f64> {
    let both = model > Micros::ZERO && measured > Micros::ZERO;
    both.then(|| model.as_secs_f64() / measured.as_secs_f64())
}

fn or_dash(time: Option<Micros>) -> String {
    time.map_or("-".to_owned(), |time| time.to_string())
}

/// A name in JSON for each of [`ORDERS`].
fn key(origin: Origin) -> &'static str {
    match origin {
        Origin::Algorithm(algorithm) => algorithm.name(),
        Origin::Objective(objective) => objective.name(),
        Origin::Drive => "drive",
        Origin::StandIn => "rao-stand-in",
    }
}

fn orders_json(orders: &[Option<Micros>; ORDERS.len()]) -> Value {
    let pairs = ORDERS.into_iter().zip(orders);
    pairs
        .map(|(origin, time)| (key(origin).to_owned(), json!(time.map(|time| time.0))))
        .collect()
}

fn hours_json(hours: &Hours) -> Value {
    let each = Spent::ALL.map(|what| {
        let key = format!("{}_us", what.name().replace(' ', "_"));
        (key, json!(hours.on(what).0))
    });
    let total = ("total_us".to_owned(), json!(hours.total().0));
    std::iter::once(total).chain(each).collect()
}

fn mount_json(priced: &Priced) -> Value {
    let mount = &priced.mount;
    let prices = priced.prices.as_ref().ok();
    json!({
        "drive": mount.drive,
        "volume": mount.volume,
        "reads": priced.reads,
        "repeated_reads": prices.map(|prices| prices.repeated),
        "measured_locating_us": mount.moving().0,
        "measured_reading_us": mount.reading.0,
        "model_locating_us": prices.map(|prices| prices.as_read.0),
        "orders_locating_us": prices.map(|prices| orders_json(&prices.orders)),
        "cut_short": prices.map(|prices| prices.cut_short),
        "positions": prices.map(|prices| &prices.positions),
        "left_out": priced.prices.as_ref().err(),
    })
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
