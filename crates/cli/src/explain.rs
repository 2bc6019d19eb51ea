//! The table of what each order would take, and what would make it better, in words.

mod beside;
mod page;

pub use beside::Others;

use crate::search::SearchArgs;
use crate::{goal, interrupt, units, wear};
use tapewise::explain::{BetterMap, Explanation, HeldBack, NotThere, Row, Worth};
use tapewise::{Aim, Batch, Found, Origin, Placed};
use tapewise_model::{Micros, PositionSource};
use tapewise_order::Objective;
use tapewise_plot::Table;

/// What is explained.
pub struct Report<'a> {
    /// The order given, and what stands beside it.
    pub explanation: Explanation<'a>,
    /// What the order would take with files of several extents read extent by extent, where that is
    /// not what it does.
    pub apart: Option<Micros>,
    /// Every order, not only those that matter.
    pub all: bool,
    /// How hard to look.
    pub search: &'a SearchArgs,
    /// What the order is for, where that is more than the total.
    pub aim: Option<&'a Aim>,
    /// Whether deadlines depend on when the program runs.
    pub reads_clock: bool,
    /// Other drives to price the orders under.
    pub others: Option<&'a Others>,
    /// Whether to say what errors of map and model cost.
    pub sensitivity: bool,
}

impl Report<'_> {
    /// Everything `--explain` prints.
    pub fn text(&self) -> String {
        let lines = |lines: Vec<(&str, String)>| -> String {
            let lines = lines.into_iter();
            lines
                .map(|(head, rest)| format!("{head:<10} {rest}\n"))
                .collect()
        };
        let mut text = lines(self.lines_before());
        text.push_str(&crate::output::table_to_say(&self.table()));
        text.push_str(&lines(self.lines_after()));
        for table in self.tables() {
            text.push('\n');
            text.push_str(&crate::output::table_to_say(&table));
        }
        text
    }

    /// What the table rests on.
    fn lines_before(&self) -> Vec<(&'static str, String)> {
        let (placed, chosen) = (self.explanation.placed, self.explanation.chosen);
        let mut lines = vec![
            ("list", list_line(placed)),
            ("positions", placed.provenance.clone()),
            ("times", times_line(placed)),
        ];
        let is_for_a_goal = matches!(chosen.origin, Origin::Objective(_));
        if let Some(aim) = self.aim.filter(|_| is_for_a_goal) {
            lines.push(("objective", goal::line(aim, placed)));
        }
        lines.extend(extents_line(&placed.batch, self.apart).map(|line| ("extents", line)));
        lines
    }

    /// What follows from the table.
    fn lines_after(&self) -> Vec<(&'static str, String)> {
        let (placed, chosen) = (self.explanation.placed, self.explanation.chosen);
        let held_back = self.explanation.held_back.as_ref();
        let mut lines = vec![("bound", self.bound_line())];
        let line = |head, line: Option<String>| line.map(|line| (head, line));
        lines.extend(line(
            "held back",
            held_back.map(|shortest| held_back_line(chosen, shortest)),
        ));
        let sorted = self.explanation.sorted_is_safer();
        lines.extend(line(
            "unsafe",
            sorted.map(|worst| unsafe_line(chosen, worst)),
        ));
        lines.extend(line("READ", whole_tape_line(placed, chosen)));
        let better = placed.better_map().map(better_line);
        lines.extend(line("better", better.map(str::to_owned)));
        lines.extend(line("worth", self.explanation.worth().map(worth_line)));
        lines.push(("wear", wear::line(placed, &chosen.plan.totals)));
        lines.push(("repeat", self.repeat_line()));
        lines
    }

    fn table(&self) -> Table {
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
        let placed = self.explanation.placed;
        for Row { origin, found } in &self.explanation.rows {
            let title = std::iter::once(origin.title().to_owned());
            match found {
                Some(found) => table.row(title.chain(self.cells(found))),
                None => {
                    if let Some(why) = placed.why_not(*origin) {
                        let dashes = std::iter::repeat_n("-".to_owned(), 7);
                        table.row(title.chain(dashes).chain([not_there(why)]));
                    }
                }
            }
        }
        if self.all
            && let Some(whole) = placed.whole_tape()
        {
            let whole = whole.to_string();
            let title = "READ, whole tape";
            let cells = [title, &whole, "-", "-", &whole, "-", "-", "-", "-"];
            table.row(cells.map(str::to_owned));
        }
        table.note(worst_note(placed));
        table
    }

    fn cells(&self, found: &Found) -> [String; 8] {
        let totals = &found.plan.totals;
        let geometry = &self.explanation.placed.problem.tape().geometry;
        let is_chosen = found.origin == self.explanation.chosen.origin;
        [
            totals.total.to_string(),
            found.worst.to_string(),
            totals.locate.to_string(),
            totals.read.to_string(),
            units::tape_moved(totals.distance_lpos, geometry),
            totals.wrap_changes.to_string(),
            match found.origin {
                Origin::Drive => "-".to_owned(),
                _ => units::seconds(found.computed.as_secs_f64()),
            },
            if is_chosen { "<- the order given" } else { "" }.to_owned(),
        ]
    }

    /// How much shorter any order could be, with these times.
    fn bound_line(&self) -> String {
        let chosen = self.explanation.chosen;
        let held_back = &self.explanation.held_back;
        if let Some(shortest) = held_back
            && shortest.optimal
        {
            let least = shortest.likely;
            let above = percent_above(chosen.total(), least);
            return format!(
                "proven for these positions and times: no order is under {least}; the order given is {above} % above that, because the map is unsure"
            );
        }
        let why = match held_back {
            Some(_) => ", because the map is unsure",
            None => "",
        };
        verdict(chosen, self.explanation.bound(), self.search) + why
    }

    fn repeat_line(&self) -> String {
        let chosen = self.explanation.chosen;
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
    fn tables(&self) -> Vec<Table> {
        let mut tables = Vec::new();
        tables.extend(
            self.aim
                .and_then(|aim| beside::trade_off(&self.explanation, aim, self.search)),
        );
        tables.extend(self.others.map(|others| others.table(&self.explanation)));
        if self.sensitivity {
            tables.push(beside::sensitivity(&self.explanation));
        }
        tables
    }
}

/// What is proven of an order, and how far from the optimum it can be.
pub fn verdict(chosen: &Found, bound: Option<Micros>, search: &SearchArgs) -> String {
    let objective = chosen.origin.objective();
    if chosen.optimal && objective != Objective::Total {
        return format!(
            "proven for these positions and times: no order is better for the objective {}",
            objective.name()
        );
    }
    let total = chosen.total();
    let Some(bound) = bound else {
        return "no bound is known for this kind of drive and this many requests".to_owned();
    };
    if bound >= total {
        return "proven for these positions and times: no order is shorter".to_owned();
    }
    let proof = if search.prove && chosen.origin == Origin::BEST {
        if chosen.cut_short && interrupt::is_search_stopped() {
            "; not proven, because the search was interrupted".to_owned()
        } else if chosen.cut_short {
            format!("; not proven in {} s", search.budget_s())
        } else {
            "; not proven".to_owned()
        }
    } else {
        String::new()
    };
    let unknown = match objective {
        Objective::Total => String::new(),
        other => format!("no bound is known for the objective {}; ", other.name()),
    };
    format!(
        "{unknown}no order is under {bound} with these positions and times; the order given is {} % above that{proof}",
        percent_above(total, bound)
    )
}

/// That the search ended before its time.
pub fn cut_short(search: &SearchArgs) -> String {
    if interrupt::is_search_stopped() {
        return "the search was interrupted: this is the best order so far".to_owned();
    }
    format!(
        "the search was cut short after {} s (--time-budget)",
        search.budget_s()
    )
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

fn held_back_line(chosen: &Found, shortest: &HeldBack) -> String {
    let instead = if chosen.is_sorted() {
        "sorted order is given"
    } else {
        "the order given has the least regret"
    };
    let HeldBack {
        likely,
        worst,
        sorted_worst,
        beside_sorted,
        ..
    } = shortest;
    let (longer, sorted) = match beside_sorted {
        Some((longer, sorted)) if worst <= sorted_worst => (longer, sorted),
        _ => (worst, sorted_worst),
    };
    format!(
        "an order that would likely take {likely}, but {longer} if the map is off in one of the ways tried, where sorted \
         order takes {sorted}; {instead}"
    )
}

/// That an order can take longer than sorting, where nothing kept it from that.
pub fn unsafe_line(chosen: &Found, sorted_worst: Micros) -> String {
    format!(
        "if the map is off this order can take {}, sorted order {sorted_worst} at most",
        chosen.worst
    )
}

/// That reading the whole tape would be faster, where it would.
pub fn whole_tape_line(placed: &Placed, chosen: &Found) -> Option<String> {
    let whole = placed
        .whole_tape()
        .filter(|whole| *whole < chosen.total())?;
    Some(format!(
        "reading the whole tape from beginning to end would take {whole}, less than this order"
    ))
}

fn not_there(why: NotThere) -> String {
    match why {
        NotThere::AskTheDrive => "ask it: --to rao".to_owned(),
        NotThere::NoRao => "the drive has none".to_owned(),
        NotThere::TooManyVisits(most) => format!("up to {most} visits"),
        NotThere::LtoOnly => "for LTO only".to_owned(),
        NotThere::DoesNotApply => "does not apply".to_owned(),
    }
}

fn list_line(placed: &Placed) -> String {
    let shared = match placed.shared() {
        0 => String::new(),
        1 => "; 1 shares blocks with another and is read with it".to_owned(),
        many => format!("; {many} share blocks with others and are read with them"),
    };
    format!(
        "{}; {}, {} to read{shared}",
        placed.batch.recognised,
        units::count(placed.batch.extents(), "extent"),
        units::bytes(placed.bytes())
    )
}

/// How files in several parts are read, which the user may want otherwise.
fn extents_line(batch: &Batch, apart: Option<Micros>) -> Option<String> {
    let in_parts = match batch.in_parts() {
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
            placed.alternatives.len()
        ),
        Some(map) if map.lpos_error() > 0 => format!(
            "* blocks about {} LPOS along the wrap from where the table puts them ({} other maps tried); {model}",
            map.lpos_error(),
            placed.alternatives.len()
        ),
        _ => format!("* {model}"),
    }
}

/// What would make the positions better.
fn better_line(better: BetterMap) -> &'static str {
    match better {
        BetterMap::WrapEnds => {
            "this drive can tell where its wraps end: tapewise drive map DEVICE -o FILE, then --map FILE"
        }
        BetterMap::KeyPoints => {
            "key points by timing: tapewise measure DEVICE --only key-points --map FILE, then --map FILE"
        }
        BetterMap::Probes => {
            "tapewise drive map DEVICE -o FILE (a few locates, some minutes, reads only), then --map FILE"
        }
        BetterMap::Recorded => {
            "positions recorded when the files were written, or measured on this cartridge: columns \
             start_wrap, start_lpos, end_wrap, end_lpos of the CSV"
        }
    }
}

fn worth_line(worth: Worth) -> String {
    let against = |saved: Micros, what: &str| {
        if saved >= Micros::ZERO {
            format!("{saved} against {what}")
        } else {
            format!("{} longer than {what}", Micros(-saved.0))
        }
    };
    let passes = |many: f64, more: &str| {
        let noun = if many == 1.0 { "pass" } else { "passes" };
        format!("; {many} end-to-end {noun} of tape {more} than sorted")
    };
    let passes = match worth.passes_fewer {
        fewer if fewer >= 1.0 => passes(fewer, "fewer"),
        fewer if fewer <= -1.0 => passes(-fewer, "more"),
        _ => String::new(),
    };
    format!(
        "{}, {}{passes}",
        against(worth.against_sorted, "sorted"),
        against(worth.against_list, "your list")
    )
}
