//! Answers to the page. Times are whole microseconds, distances along the tape in LPOS unless a field says metres.

use serde::Serialize;
use tapewise_plot::players::HeadPath;

/// An answer, as the page reads it.
#[derive(Debug, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Answer {
    /// Nothing was asked but to be done.
    Done,
    /// Drives.
    Drives {
        /// All of them.
        drives: Vec<Drive>,
    },
    /// A file was read.
    Read {
        /// In words, as the command line says it.
        recognised: String,
        /// `index`, `names` or `requests`.
        kind: &'static str,
    },
    /// What is wanted lies on these tapes.
    Placed {
        /// Tapes with something to read.
        tapes: Vec<Tape>,
        /// What was guessed or odd.
        notices: Vec<String>,
    },
    /// An order.
    Order(Box<Order>),
    /// The head's path.
    Path(HeadPath),
    /// Turns of the tapes.
    Rota {
        /// By the time at which they begin.
        turns: Vec<Turn>,
        /// When everything is read.
        end_us: i64,
        /// Whether no division of the tapes ends sooner.
        optimal: bool,
    },
    /// Scenarios to begin with.
    Scenarios {
        /// All of them.
        scenarios: Vec<Starting>,
        /// Names of the policies that choose the next cartridge.
        policies: Vec<String>,
    },
    /// The cases of a scenario.
    Cases {
        /// In the order of the text.
        cases: Vec<Case>,
    },
    /// How a library responds.
    Response {
        /// A case of `tapewise simulate --json` (docs/reference/simulation-json.md).
        simulation: serde_json::Value,
        /// How it stands to the target, if there is one: `met`, `unsure` or `missed`.
        meets: Option<&'static str>,
    },
    /// A picture.
    Picture {
        /// Its SVG.
        svg: String,
    },
    /// Lines of a figure.
    Figure {
        /// In the order in which they are to be listed.
        lines: Vec<Line>,
    },
    /// A text to save.
    Text {
        /// The name that fits it.
        name: String,
        /// The text; bytes that are no UTF-8 are replaced.
        text: String,
    },
    /// It did not work.
    Error {
        /// What is wrong, where, and what to do.
        error: String,
    },
}

/// A drive.
#[derive(Debug, Serialize)]
pub struct Drive {
    /// Its profile's name.
    pub name: String,
    /// What people call it.
    pub title: String,
}

/// A scenario to begin with.
#[derive(Debug, Serialize)]
pub struct Starting {
    /// Its name.
    pub name: String,
    /// Its TOML.
    pub text: String,
}

/// A case of a scenario. What cannot be changed by a slider, because there are several, is not given.
#[derive(Debug, Serialize)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// What it is of.
    pub about: String,
    /// Drives.
    pub drives: Option<u32>,
    /// Robots.
    pub robots: Option<u32>,
    /// Requests an hour.
    pub per_hour: Option<f64>,
    /// Batch window in seconds.
    pub window_s: f64,
    /// Which cartridge a free drive gets.
    pub mount: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Requests of each replication.
    pub requests: u64,
    /// Replications that the scenario states.
    pub replications: u64,
}

/// A line of a figure, or dots.
#[derive(Debug, Serialize)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its places.
    pub places: Vec<(f64, f64)>,
    /// Whether these are single values and no line.
    pub dots: bool,
}

/// A tape with something to read.
#[derive(Debug, Serialize)]
pub struct Tape {
    /// Its name.
    pub title: String,
    /// Files to read.
    pub files: usize,
    /// Bytes to read.
    pub bytes: u64,
    /// Where positions come from.
    pub provenance: String,
    /// Whether they were measured on this cartridge.
    pub measured: bool,
}

/// What an order takes.
#[derive(Debug, Serialize)]
pub struct Order {
    /// Its name in tables.
    pub title: String,
    /// Everything, in the likely case.
    pub total_us: i64,
    /// Everything, if map and model are as far off as they may be.
    pub worst_us: i64,
    /// What no order falls below, if that is known.
    pub bound_us: Option<i64>,
    /// Whether no order is shorter, for these positions and times.
    pub optimal: bool,
    /// Between reads.
    pub locate_us: i64,
    /// Reading.
    pub read_us: i64,
    /// Metres of tape moved, if the cartridge's length is known.
    pub tape_m: Option<f64>,
    /// Changes of the wrap.
    pub wrap_changes: u64,
}

/// A tape's turn in a drive.
#[derive(Debug, Serialize)]
pub struct Turn {
    /// The tape.
    pub tape: usize,
    /// The drive, from 1.
    pub drive: usize,
    /// When it is put in.
    pub begin_us: i64,
    /// When its last file is read.
    pub read_us: i64,
}
