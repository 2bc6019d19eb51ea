//! The table of what each order would take, and what would make it better.

use crate::batch::Batch;
use crate::placement::Placed;
use crate::search::{Row, SearchArgs, compute};
use crate::table::Table;
use crate::units;
use tapewise_model::{Layout, Micros, PositionSource};
use tapewise_order::{Algorithm, Scenarios, Totals, read_whole_tape};

/// The orders shown by default, beside the one asked for.
pub const SHORT: [Algorithm; 4] = [
    Algorithm::Fifo,
    Algorithm::Sort,
    Algorithm::Cta,
    Algorithm::Best,
];

/// The orders of the table; `None` where one does not apply.
type Rows<'a> = Vec<(Algorithm, Option<&'a Row>)>;

/// Everything `--explain` prints. `apart` is what the chosen order would take with files of several
/// extents read extent by extent, where that is not what it does.
pub fn explain(
    batch: &Batch,
    placed: &Placed,
    chosen: &Row,
    apart: Option<Micros>,
    all: bool,
    search: &SearchArgs,
) -> String {
    let mut algorithms: Vec<Algorithm> = if all {
        Algorithm::ALL.into()
    } else {
        SHORT.into()
    };
    if !algorithms.contains(&chosen.algorithm) {
        algorithms.push(chosen.algorithm);
    }
    let others: Vec<(Algorithm, Option<Row>)> = algorithms
        .into_iter()
        .map(|algorithm| {
            let is_chosen = algorithm == chosen.algorithm;
            (
                algorithm,
                if is_chosen {
                    None
                } else {
                    compute(placed, algorithm, search)
                },
            )
        })
        .collect();
    let rows: Rows = others
        .iter()
        .map(|(algorithm, row)| {
            let is_chosen = *algorithm == chosen.algorithm;
            (
                *algorithm,
                if is_chosen {
                    Some(chosen)
                } else {
                    row.as_ref()
                },
            )
        })
        .collect();
    let mut text = String::new();
    let mut line = |head: &str, rest: String| text.push_str(&format!("{head:<10} {rest}\n"));
    line("list", list_line(batch, placed));
    line("positions", placed.provenance.clone());
    line("times", times_line(placed));
    let in_parts = batch
        .requests
        .iter()
        .filter(|request| request.extents.len() > 1)
        .count();
    if in_parts > 0 {
        line("extents", extents_line(in_parts, apart));
    }
    text.push_str(&table(placed, &rows, chosen, all).to_string());
    let mut line = |head: &str, rest: String| text.push_str(&format!("{head:<10} {rest}\n"));
    line("bound", bound_line(&rows, chosen, search));
    if let Some(held_back) = held_back(placed, chosen, search) {
        line("held back", held_back);
    }
    if let Some(better) = better(placed) {
        line("better", better);
    }
    if let Some(worth) = worth(placed, &rows, chosen) {
        line("worth", worth);
    }
    let algorithm = chosen.algorithm;
    line(
        "repeat",
        format!(
            "{}/{}, seed {}: {}",
            algorithm.name(),
            algorithm.version(),
            search.seed,
            if chosen.cut_short {
                "cut short by --time-budget, so another run may give another order"
            } else {
                "same input, same bytes"
            }
        ),
    );
    text
}

fn list_line(batch: &Batch, placed: &Placed) -> String {
    let problem = &placed.problem;
    let segments = problem.visits().iter().flat_map(|visit| &visit.segments);
    let bytes: u64 = segments.map(|segment| segment.bytes).sum();
    let asked = placed
        .owners
        .iter()
        .filter(|(owner, _)| !batch.requests[*owner].extents.is_empty());
    let shared = asked.count() - problem.len();
    let shared = if shared > 0 {
        format!("; {shared} share blocks with others and are read with them")
    } else {
        String::new()
    };
    format!(
        "{}; {} extents, {} to read{shared}",
        batch.recognised,
        batch.extents(),
        units::bytes(bytes)
    )
}

/// How files in several parts are read, which the user may want otherwise.
fn extents_line(in_parts: usize, apart: Option<Micros>) -> String {
    match apart {
        None => format!(
            "{in_parts} files have several extents; read apart, put together by file offset"
        ),
        Some(total) => format!(
            "{in_parts} files have several extents; each is read whole, in file order. Extent by extent it would take {total}: --extents apart --to json"
        ),
    }
}

fn times_line(placed: &Placed) -> String {
    let error = match placed.problem.tape().model.residual() {
        Some(residual) => format!("one locate +-{:.0} s", residual.as_secs_f64().max(1.0)),
        None => "error of a locate not published".to_owned(),
    };
    let head = placed.problem.options().head;
    let head = match head.source {
        PositionSource::Exact => "head at beginning of tape".to_owned(),
        _ => format!("head at wrap {}, LPOS {}", head.wrap, head.lpos),
    };
    let verified = match placed.profile.status {
        tapewise_model::profile::Status::Verified => "",
        _ => ", no drive verified",
    };
    format!(
        "profile {}: {}{verified}; {error}; {head}",
        placed.profile.name, placed.profile.status
    )
}

fn table(placed: &Placed, rows: &Rows, chosen: &Row, all: bool) -> Table {
    let columns = [
        "order",
        "likely",
        "worst*",
        "locate",
        "read",
        "tape moved",
        "wraps changed",
        "computed",
        "",
    ];
    let mut table = Table::new("", &columns);
    for (algorithm, row) in rows {
        let title = algorithm.title().to_owned();
        let Some(row) = row else {
            let dash = std::iter::repeat_n("-".to_owned(), 7);
            table.row(
                std::iter::once(title)
                    .chain(dash)
                    .chain([not_applicable(*algorithm)]),
            );
            continue;
        };
        let totals = &row.plan.totals;
        let is_chosen = *algorithm == chosen.algorithm;
        table.row([
            title,
            totals.total.to_string(),
            row.worst.to_string(),
            totals.locate.to_string(),
            totals.read.to_string(),
            units::tape_moved(totals.distance_lpos, &placed.problem.tape().geometry),
            totals.wrap_changes.to_string(),
            units::seconds(row.computed_s),
            if is_chosen { "<- the order given" } else { "" }.to_owned(),
        ]);
    }
    add_rao_row(placed, &mut table);
    if all && let Some(map) = &placed.map {
        let whole = read_whole_tape(&placed.problem, map);
        let dash = || "-".to_owned();
        let cells = [
            whole.to_string(),
            dash(),
            dash(),
            whole.to_string(),
            dash(),
            dash(),
            dash(),
        ];
        let title = std::iter::once("READ, whole tape".to_owned());
        table.row(title.chain(cells).chain([dash()]));
    }
    table.note(worst_note(placed));
    table
}

fn not_applicable(algorithm: Algorithm) -> String {
    match algorithm {
        Algorithm::Opt => format!("up to {} visits", tapewise_order::OPT_MAX_VISITS),
        Algorithm::Cta => "for LTO only".to_owned(),
        _ => "does not apply".to_owned(),
    }
}

/// The drive's own order can only be asked of the drive.
fn add_rao_row(placed: &Placed, table: &mut Table) {
    let said = match placed.profile.features.rao.as_ref().map(|rao| rao.value) {
        Some(true) => "only the drive can tell".to_owned(),
        Some(false) => format!("{} has none", placed.profile.title),
        None => return,
    };
    let dash = std::iter::repeat_n("-".to_owned(), 7);
    table.row(
        std::iter::once("drive's own RAO".to_owned())
            .chain(dash)
            .chain([said]),
    );
}

fn worst_note(placed: &Placed) -> String {
    let model = match placed.problem.tape().model.residual() {
        Some(_) => "twice the standard error of the locates on top",
        None => "without the model's own error, which is not published",
    };
    match &placed.map {
        Some(map) if map.share_error() > 0.0 => format!(
            "* blocks up to {} % from where the map puts them ({} other maps tried); {model}",
            map.share_error() * 100.0,
            placed.scenarios.len()
        ),
        Some(map) if map.lpos_error() > 0 => format!(
            "* blocks about {} LPOS along the wrap from where the table puts them ({} other maps tried); {model}",
            map.lpos_error(),
            placed.scenarios.len()
        ),
        _ => format!("* {model}"),
    }
}

/// How much shorter any order could be, with these times.
fn bound_line(rows: &Rows, chosen: &Row, search: &SearchArgs) -> String {
    let total = chosen.plan.totals.total;
    let bounds = rows.iter().filter_map(|(_, row)| row.as_ref()?.bound);
    let Some(bound) = bounds.max() else {
        return "none is known for this kind of drive and so many requests".to_owned();
    };
    if bound >= total {
        return "proven: no order is shorter with these times".to_owned();
    }
    let gap = (total.as_secs_f64() / bound.as_secs_f64() - 1.0) * 100.0;
    let gap = match gap {
        gap if gap < 0.001 => "less than 0.001".to_owned(),
        gap if gap < 0.1 => format!("{gap:.3}"),
        gap => format!("{gap:.1}"),
    };
    let proof = if search.prove {
        format!("; no proof in {} s", search.budget_s())
    } else {
        String::new()
    };
    format!(
        "no order is under {bound} with these times; the one given is {gap} % above that{proof}"
    )
}

/// The order that would be taken if the map were sure, where it is not taken because it is not.
fn held_back(placed: &Placed, chosen: &Row, search: &SearchArgs) -> Option<String> {
    if chosen.algorithm != Algorithm::Best || placed.scenarios.is_empty() {
        return None;
    }
    let sure = Scenarios::new(&placed.problem, None);
    let order = search.solve(placed, &sure, Algorithm::Best)?.order;
    let likely = order.total_time(&placed.problem);
    let worst = placed.scenarios.worst_total(&placed.problem, &order);
    let total = chosen.plan.totals.total;
    // A difference that the table would not show is not worth a line.
    (likely.to_string() != total.to_string() && likely < total).then(|| {
        format!("an order that would likely take {likely}, but up to {worst} if the map is off: worse than sorting can be")
    })
}

/// What would make the positions better.
fn better(placed: &Placed) -> Option<String> {
    let helical = placed.problem.tape().geometry.layout == Layout::Helical;
    if placed.source != PositionSource::Nominal || helical {
        return None;
    }
    let profile = &placed.profile;
    let tells_wrap_ends = profile
        .features
        .end_of_wrap_table
        .as_ref()
        .map(|known| known.value);
    Some(if tells_wrap_ends == Some(true) {
        "this drive can tell where its wraps end (READ END OF WRAP POSITION): save that table as \
         CSV wrap,partition,block and give it with --map"
            .to_owned()
    } else if profile.nominal_sections().is_some() {
        "the key points of this cartridge, found by timing: CSV track,segment, given with --map"
            .to_owned()
    } else {
        "positions recorded when the files were written, or measured on this cartridge: columns \
         start_wrap, start_lpos, end_wrap, end_lpos of the CSV"
            .to_owned()
    })
}

fn worth(placed: &Placed, rows: &Rows, chosen: &Row) -> Option<String> {
    let totals = |wanted: Algorithm| {
        rows.iter()
            .find_map(|(algorithm, row)| (*algorithm == wanted).then_some(*row)?)
            .map(|r| r.plan.totals)
    };
    let (sorted, listed) = (totals(Algorithm::Sort)?, totals(Algorithm::Fifo)?);
    let against = |other: Totals| other.total - chosen.plan.totals.total;
    let length = f64::from(placed.problem.tape().geometry.wrap_lpos().max(1));
    let saved = sorted.distance_lpos as f64 - chosen.plan.totals.distance_lpos as f64;
    let passes = (saved / length).round();
    let many = |passes: f64| if passes == 1.0 { "pass" } else { "passes" };
    let passes = match passes {
        passes if passes >= 1.0 => {
            format!(
                "; {passes} end-to-end {} of tape fewer than sorted",
                many(passes)
            )
        }
        passes if passes <= -1.0 => {
            format!(
                "; {} end-to-end {} of tape more than sorted",
                -passes,
                many(-passes)
            )
        }
        _ => String::new(),
    };
    Some(format!(
        "{} against sorted, {} against your list{passes}",
        against(sorted),
        against(listed)
    ))
}
