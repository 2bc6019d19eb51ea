//! The table of what each order would take, and what would make it better.

mod beside;

pub use beside::Others;

use crate::batch::Batch;
use crate::goal::Goal;
use crate::placement::Placed;
use crate::search::{Origin, Row, SearchArgs, compute};
use crate::{units, wear};
use tapewise_model::{Layout, Micros, PositionSource};
use tapewise_order::{Algorithm, Objective, Scenarios, Solution, Totals, emulated_rao};
use tapewise_plot::Table;

/// The orders shown by default, beside the one asked for.
pub const SHORT: [Algorithm; 4] = [
    Algorithm::Fifo,
    Algorithm::Sort,
    Algorithm::Cta,
    Algorithm::Best,
];

/// What is explained.
pub struct Report<'a> {
    /// The requests.
    pub batch: &'a Batch,
    /// Where they lie.
    pub placed: &'a Placed,
    /// The order given.
    pub chosen: &'a Row,
    /// Orders that are known already: the best for the total, the drive's own.
    pub known: &'a [Row],
    /// What the order would take with files of several extents read extent by extent, where that is
    /// not what it does.
    pub apart: Option<Micros>,
    /// Every order, not only those that matter.
    pub all: bool,
    /// How hard to look.
    pub search: &'a SearchArgs,
    /// What the order is for, where that is more than the total.
    pub goal: Option<&'a Goal>,
    /// Whether deadlines depend on when the program runs.
    pub reads_clock: bool,
    /// Other drives to price the orders under.
    pub others: Option<&'a Others>,
    /// Whether to say what errors of map and model cost.
    pub sensitivity: bool,
}

/// The orders of the table; `None` where one does not apply.
type Rows<'a> = Vec<(Origin, Option<&'a Row>)>;

impl<'a> Report<'a> {
    /// The usual report.
    pub fn plain(
        batch: &'a Batch,
        placed: &'a Placed,
        chosen: &'a Row,
        search: &'a SearchArgs,
    ) -> Report<'a> {
        Report {
            batch,
            placed,
            chosen,
            known: &[],
            apart: None,
            all: false,
            search,
            goal: None,
            reads_clock: false,
            others: None,
            sensitivity: false,
        }
    }

    /// Everything `--explain` prints.
    pub fn text(&self) -> String {
        let computed = self.computed();
        let rows: Rows = computed
            .iter()
            .map(|(origin, row)| (*origin, row.as_ref().or_else(|| self.row(*origin))))
            .collect();
        let placed = self.placed;
        let mut text = String::new();
        let mut line = |head: &str, rest: String| text.push_str(&format!("{head:<10} {rest}\n"));
        line("list", list_line(self.batch, placed));
        line("positions", placed.provenance.clone());
        line("times", times_line(placed));
        if let Some(goal) = self.goal.filter(|_| self.is_for_a_goal()) {
            line("objective", goal.line(placed));
        }
        if let Some(extents) = extents_line(self.batch, self.apart) {
            line("extents", extents);
        }
        text.push_str(&self.table(&rows).to_string());
        let mut line = |head: &str, rest: String| text.push_str(&format!("{head:<10} {rest}\n"));
        let held_back = self.held_back();
        line("bound", self.bound_line(&rows, held_back.as_ref()));
        if let Some(shortest) = &held_back {
            line("held back", held_back_line(placed, self.chosen, shortest));
        }
        if let Some(unsafe_order) = unsafe_line(&rows, self.chosen) {
            line("unsafe", unsafe_order);
        }
        if let Some(whole) = whole_tape_line(placed, self.chosen) {
            line("READ", whole);
        }
        if let Some(better) = better(placed) {
            line("better", better);
        }
        if let Some(worth) = worth(placed, &rows, self.chosen) {
            line("worth", worth);
        }
        line("wear", wear::line(placed, &self.chosen.plan.totals));
        line("repeat", self.repeat_line());
        for table in self.tables(&rows) {
            text.push_str(&format!("\n{table}"));
        }
        text
    }

    /// The rows of the table that are not known yet, in their order.
    fn computed(&self) -> Vec<(Origin, Option<Row>)> {
        let algorithms: &[Algorithm] = if self.all { &Algorithm::ALL } else { &SHORT };
        let mut origins: Vec<Origin> = algorithms.iter().copied().map(Origin::Algorithm).collect();
        let given = std::iter::once(self.chosen).chain(self.known);
        for row in given.filter(|row| row.origin != Origin::Drive) {
            if !origins.contains(&row.origin) {
                origins.push(row.origin);
            }
        }
        let mut rows: Vec<(Origin, Option<Row>)> = origins
            .into_iter()
            .map(|origin| match origin {
                Origin::Algorithm(algorithm) if self.row(origin).is_none() => {
                    (origin, compute(self.placed, algorithm, self.search))
                }
                _ => (origin, None),
            })
            .collect();
        rows.push((Origin::Drive, None));
        if self.all && has_rao(self.placed) == Some(true) {
            let begin = std::time::Instant::now();
            let order = emulated_rao(&self.placed.problem);
            let computed_s = begin.elapsed().as_secs_f64();
            let row = Row::new(self.placed, Origin::StandIn, order, computed_s);
            rows.push((Origin::StandIn, Some(row)));
        }
        rows
    }

    /// A row that is known already.
    fn row(&self, origin: Origin) -> Option<&'a Row> {
        let mut given = std::iter::once(self.chosen).chain(self.known);
        given.find(|row| row.origin == origin)
    }

    /// Whether the order is for more than the total.
    fn is_for_a_goal(&self) -> bool {
        matches!(self.chosen.origin, Origin::Objective(_))
    }

    fn table(&self, rows: &Rows) -> Table {
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
        for (origin, row) in rows {
            let title = std::iter::once(origin.title().to_owned());
            match row {
                Some(row) => table.row(title.chain(self.cells(row))),
                None => {
                    if let Some(why) = not_there(self.placed, *origin) {
                        let dashes = std::iter::repeat_n("-".to_owned(), 7);
                        table.row(title.chain(dashes).chain([why]));
                    }
                }
            }
        }
        if self.all
            && let Some(whole) = self.placed.whole_tape()
        {
            let whole = whole.to_string();
            let cells = [
                "READ, whole tape",
                &whole,
                "-",
                "-",
                &whole,
                "-",
                "-",
                "-",
                "-",
            ];
            table.row(cells.map(str::to_owned));
        }
        table.note(worst_note(self.placed));
        table
    }

    fn cells(&self, row: &Row) -> [String; 8] {
        let totals = &row.plan.totals;
        let is_chosen = row.origin == self.chosen.origin;
        [
            totals.total.to_string(),
            row.worst.to_string(),
            totals.locate.to_string(),
            totals.read.to_string(),
            units::tape_moved(totals.distance_lpos, &self.placed.problem.tape().geometry),
            totals.wrap_changes.to_string(),
            match row.origin {
                Origin::Drive => "-".to_owned(),
                _ => units::seconds(row.computed_s),
            },
            if is_chosen { "<- the order given" } else { "" }.to_owned(),
        ]
    }

    /// How much shorter any order could be, with these times.
    fn bound_line(&self, rows: &Rows, held_back: Option<&Solution>) -> String {
        let bounds = rows.iter().filter_map(|(_, row)| row.as_ref()?.bound);
        let bound = bounds.max();
        if let Some(shortest) = held_back
            && shortest.is_optimal(&self.placed.problem)
        {
            let least = shortest.order.total_time(&self.placed.problem) + self.placed.unload();
            let above = percent_above(self.chosen.total(), least);
            return format!(
                "no order is under {least} with these times (proven); the one given is {above} % above that, because the map is unsure"
            );
        }
        let why = match held_back {
            Some(_) => ", because the map is unsure",
            None => "",
        };
        verdict(self.chosen, bound, self.search) + why
    }

    /// The order that would be taken if the map were sure, where it is not taken because it is not.
    fn held_back(&self) -> Option<Solution> {
        let (placed, chosen) = (self.placed, self.chosen);
        if chosen.origin != Origin::BEST || chosen.optimal || placed.scenarios.is_empty() {
            return None;
        }
        let sure = Scenarios::none();
        let shortest = self.search.solve(placed, &sure, Algorithm::Best)?;
        let likely = shortest.order.total_time(&placed.problem) + placed.unload();
        // A difference that the table would not show is not worth a line.
        (likely.to_string() != chosen.total().to_string() && likely < chosen.total())
            .then_some(shortest)
    }

    fn repeat_line(&self) -> String {
        let chosen = self.chosen;
        let objective = match chosen.origin {
            Origin::Objective(objective) => format!(", objective {}", objective.name()),
            _ => String::new(),
        };
        let same = if chosen.cut_short {
            format!(
                "{}, so another run may give another order",
                cut_short(self.search)
            )
        } else if self.reads_clock {
            "same input and same --now, same bytes".to_owned()
        } else {
            "same input, same bytes".to_owned()
        };
        let (origin, seed) = (chosen.origin.versioned(), self.search.seed);
        format!("{origin}{objective}, seed {seed}: {same}")
    }

    /// The smaller tables that were asked for.
    fn tables(&self, rows: &Rows) -> Vec<Table> {
        let mut tables = Vec::new();
        let best = rows.iter().find(|(origin, _)| *origin == Origin::BEST);
        if let (Some(goal), Some((_, Some(best)))) = (self.goal, best) {
            tables.push(beside::trade_off(self, goal, best));
        }
        tables.extend(
            self.others
                .map(|others| others.table(self.placed, rows, self.chosen)),
        );
        if self.sensitivity {
            tables.push(beside::sensitivity(self.placed, self.chosen));
        }
        tables
    }
}

/// What is proven of an order, and how far from the optimum it can be.
pub fn verdict(chosen: &Row, bound: Option<Micros>, search: &SearchArgs) -> String {
    let objective = chosen.origin.objective();
    if chosen.optimal && objective != Objective::Total {
        return format!(
            "proven: no order is better for the objective {} with these times",
            objective.name()
        );
    }
    let total = chosen.total();
    let Some(bound) = bound else {
        return "none is known for this kind of drive and so many requests".to_owned();
    };
    if bound >= total {
        return "proven: no order is shorter with these times".to_owned();
    }
    let proof = if search.prove && chosen.origin == Origin::BEST {
        match chosen.cut_short {
            true => format!("; not proven in {} s", search.budget_s()),
            false => "; not proven".to_owned(),
        }
    } else {
        String::new()
    };
    let unknown = match objective {
        Objective::Total => String::new(),
        other => format!("none is known for the objective {}; ", other.name()),
    };
    format!(
        "{unknown}no order is under {bound} with these times; the one given is {} % above that{proof}",
        percent_above(total, bound)
    )
}

/// That the search ended before its time.
pub fn cut_short(search: &SearchArgs) -> String {
    format!("cut short after {} s (--time-budget)", search.budget_s())
}

/// By how many per cent a total is above a bound.
fn percent_above(total: Micros, bound: Micros) -> String {
    let gap = (total.as_secs_f64() / bound.as_secs_f64() - 1.0) * 100.0;
    match gap {
        gap if gap < 0.001 => "less than 0.001".to_owned(),
        gap if gap < 0.1 => format!("{gap:.3}"),
        gap => format!("{gap:.1}"),
    }
}

fn held_back_line(placed: &Placed, chosen: &Row, shortest: &Solution) -> String {
    let likely = shortest.order.total_time(&placed.problem) + placed.unload();
    let worst = placed
        .scenarios
        .worst_total(&placed.problem, &shortest.order)
        + placed.unload();
    let instead = match chosen.is_sorted() {
        true => "sorted order is given",
        false => "the order given is the one of least regret",
    };
    format!(
        "an order that would likely take {likely}, but up to {worst} if the map is off, and then longer than sorting; {instead}"
    )
}

/// An order for an objective is not held back; that it can be longer than sorting is said.
fn unsafe_line(rows: &Rows, chosen: &Row) -> Option<String> {
    let sorted = rows
        .iter()
        .find_map(|(origin, row)| row.filter(|_| *origin == Origin::Algorithm(Algorithm::Sort)))?;
    unsafe_worst(chosen, sorted.worst)
}

/// That an order can take longer than sorting, where nothing kept it from that.
pub fn unsafe_worst(chosen: &Row, sorted_worst: Micros) -> Option<String> {
    let free = matches!(chosen.origin, Origin::Objective(_));
    (free && chosen.worst > sorted_worst).then(|| {
        format!(
            "if the map is off this order can take {}, sorted order {sorted_worst} at most",
            chosen.worst
        )
    })
}

/// That reading the whole tape would be faster, where it would.
pub fn whole_tape_line(placed: &Placed, chosen: &Row) -> Option<String> {
    let whole = placed
        .whole_tape()
        .filter(|whole| *whole < chosen.total())?;
    Some(format!(
        "reading the whole tape from beginning to end would take {whole}, less than this order"
    ))
}

fn has_rao(placed: &Placed) -> Option<bool> {
    placed.profile.features.rao.as_ref().map(|rao| rao.value)
}

/// Why there is no row for an order; `None` where nobody would expect one.
fn not_there(placed: &Placed, origin: Origin) -> Option<String> {
    match origin {
        Origin::Drive => Some(match has_rao(placed)? {
            true => "only the drive can tell: --to rao, then --rao-order".to_owned(),
            false => format!("{} has none", placed.profile.title),
        }),
        Origin::Algorithm(Algorithm::Opt) => {
            Some(format!("up to {} visits", tapewise_order::OPT_MAX_VISITS))
        }
        Origin::Algorithm(Algorithm::Cta) => Some("for LTO only".to_owned()),
        _ => Some("does not apply".to_owned()),
    }
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
    let shared = match shared {
        0 => String::new(),
        1 => "; 1 shares blocks with another and is read with it".to_owned(),
        many => format!("; {many} share blocks with others and are read with them"),
    };
    format!(
        "{}; {}, {} to read{shared}",
        batch.recognised,
        units::count(batch.extents(), "extent"),
        units::bytes(bytes)
    )
}

/// How files in several parts are read, which the user may want otherwise.
fn extents_line(batch: &Batch, apart: Option<Micros>) -> Option<String> {
    let several = batch.requests.iter().filter(|r| r.extents.len() > 1);
    let in_parts = match several.count() {
        0 => return None,
        1 => "1 file has several extents".to_owned(),
        many => format!("{many} files have several extents"),
    };
    Some(match apart {
        None => format!("{in_parts}; read apart, put together by file offset"),
        Some(total) => format!(
            "{in_parts}; each is read whole, in file order. Extent by extent it would take {total}: --extents apart --to json"
        ),
    })
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

fn worst_note(placed: &Placed) -> String {
    let model = match placed.problem.tape().model.residual() {
        Some(_) => "twice the standard error of the locates on top",
        None => "without the model's own error, which is not published",
    };
    match &placed.map {
        Some(map) if map.share_error() > 0.0 => format!(
            "* blocks up to {} % from where the map puts them ({} other maps tried); {model}",
            (map.share_error() * 1e4).round() / 1e2,
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
        "this drive can tell where its wraps end: tapewise drive map DEVICE -o FILE, then --map FILE"
            .to_owned()
    } else if profile.nominal_sections().is_some() {
        "key points by timing: tapewise measure DEVICE --only key-points --map FILE, then --map FILE"
            .to_owned()
    } else if tells_wrap_ends == Some(false) {
        "tapewise drive map DEVICE -o FILE (a few locates, some minutes, reads only), then --map FILE"
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
            .find_map(|(origin, row)| (*origin == Origin::Algorithm(wanted)).then_some(*row)?)
            .map(|r| r.plan.totals)
    };
    let (sorted, listed) = (totals(Algorithm::Sort)?, totals(Algorithm::Fifo)?);
    let against = |other: Totals, what: &str| {
        let saved = other.total - chosen.total();
        match saved >= Micros::ZERO {
            true => format!("{saved} against {what}"),
            false => format!("{} longer than {what}", Micros(-saved.0)),
        }
    };
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
        "{}, {}{passes}",
        against(sorted, "sorted"),
        against(listed, "your list")
    ))
}
