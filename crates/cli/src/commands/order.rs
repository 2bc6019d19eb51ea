//! `tapewise order`: requests in, order out.

mod tapes;

use crate::batch::Input;
use crate::error::CliError;
use crate::explain::{Others, Report, unsafe_line, verdict, whole_tape_line};
use crate::goal::GoalArgs;
use crate::placement::{Extents, PlacementArgs};
use crate::search::SearchArgs;
use crate::{batch, explain, goal, html, interrupt, judge, output, plot, rao};
use crate::{quantity, units};
use std::collections::{HashMap, HashSet};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tapewise::explain::Explanation;
use tapewise::rao::lists;
use tapewise::{Aim, Batch, Cartridge, ExtentOrder, Found, Origin, Placed, Placement};
use tapewise_formats::csv_out::write_csv;
use tapewise_formats::list::Separator;
use tapewise_formats::misleading::shown;
use tapewise_formats::powershell_out::write_powershell;
use tapewise_formats::script_out::{ScriptError, ScriptOptions, write_script};
use tapewise_model::Micros;
use tapewise_order::{Algorithm, Objective};

/// Find the fastest order for a list of reads.
///
/// Give requests as CSV, JSON Lines, a CTA listing, or an LTFS index with a list of names. tapewise
/// prints their ids, one a line, in the order to read. It uses no drive, except with --judge.
///
/// With several LTFS indexes, or a directory of them, tapewise prints a pull list: which tapes to
/// insert, when, and how long each keeps a drive busy.
#[derive(clap::Args, Debug)]
pub struct OrderArgs {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    placement: PlacementArgs,
    #[command(flatten)]
    goal: GoalArgs,
    #[command(flatten)]
    pub search: SearchArgs,
    /// Which order to give. `drive` is the drive's own order, from --rao-order.
    #[arg(long, value_name = "NAME", default_value = "best", value_parser = origin)]
    algorithm: Origin,
    /// With --algorithm sltf-coalesced or loss-coalesced: requests that begin less than this many blocks
    /// apart are read as one [default: 46 MB, two sections of a DLT4000].
    #[arg(long, value_name = "BLOCKS", value_parser = quantity::count::<u64>)]
    coalesce: Option<u64>,
    /// The drive's own order: its answer to a list from --to rao, as bytes or hex. Give one file for
    /// each list.
    #[arg(long, value_name = "FILE")]
    rao_order: Vec<PathBuf>,
    /// Ask a drive with its own ordering (RAO) for its estimate of this order, and print it on standard
    /// error beside our prediction. The cartridge must be in the drive. Nothing moves.
    #[arg(long, value_name = "DEVICE", conflicts_with = "quiet")]
    judge: Option<String>,
    /// Print on standard error what each order would take, and where the positions come from.
    #[arg(long)]
    explain: bool,
    /// Explain every order, not only those that matter, and every objective.
    #[arg(long, requires = "explain")]
    all: bool,
    /// Also predict the orders with the times of another profile, whose cartridge has the same layout.
    /// May be given several times.
    #[arg(long, value_name = "NAME|FILE", requires = "explain")]
    price_under: Vec<String>,
    /// Show what errors in the map and in the locate times would cost.
    #[arg(long, requires = "explain")]
    sensitivity: bool,
    /// Draw the head's path as listed, or sorted, and in the order given, as SVG.
    #[arg(long, value_name = "SVG")]
    plot: Option<PathBuf>,
    /// Write what --explain prints, the head's path and the order as one page for a browser.
    #[arg(long, value_name = "FILE", requires = "explain")]
    html: Option<PathBuf>,
    /// What to write.
    #[arg(long, value_name = "KIND", default_value = "list")]
    to: Kind,
    /// Write the plan as JSON: the same as --to json.
    #[arg(long, conflicts_with = "to")]
    json: bool,
    /// Write the result to this file. It appears complete or not at all. For several tapes, DIR/ gets a
    /// file for each.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// For --to script and powershell: copy from this directory [default: .]
    #[arg(long, value_name = "DIR")]
    script_from: Option<PathBuf>,
    /// For --to script and powershell: copy into this directory [default: recalled]
    #[arg(long, value_name = "DIR")]
    script_into: Option<PathBuf>,
    /// Drives that read at once, for several tapes.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = quantity::count_in::<usize>(1..=10_000))]
    drives: usize,
    /// Print only errors on standard error.
    #[arg(short, long)]
    quiet: bool,
}

impl OrderArgs {
    /// What is written: `--json` is short for one kind.
    fn kind(&self) -> Kind {
        if self.json { Kind::Json } else { self.to }
    }

    /// Where the head is and where it is left, and how files are read.
    fn placement(&self) -> Placement {
        Placement {
            coalesce_blocks: self.coalesce,
            ..self.placement.placement()
        }
    }

    /// The files that are written, each with its option.
    fn outputs(&self) -> [(&'static str, Option<&Path>); 3] {
        [
            ("--plot", self.plot.as_deref()),
            ("--html", self.html.as_deref()),
            ("--output", self.output.as_deref()),
        ]
    }

    /// The files that are read; `indexes` are those of directories.
    fn inputs<'a>(&'a self, indexes: &'a [PathBuf]) -> impl Iterator<Item = &'a Path> {
        let others = indexes.iter().chain(&self.rao_order).map(PathBuf::as_path);
        let profiles = self.price_under.iter().map(Path::new);
        let placement = self.placement.paths();
        self.input
            .paths()
            .into_iter()
            .chain(placement)
            .chain(others)
            .chain(profiles)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// Ids, one a line.
    List,
    /// Ids, each followed by a zero byte.
    List0,
    /// The plan with its steps and times.
    Json,
    /// A shell script that copies file by file.
    Script,
    /// The same for Windows, as a PowerShell script.
    Powershell,
    /// The requests with all their columns.
    Csv,
    /// Lists to ask a drive for its own order (GENERATE RECOMMENDED ACCESS ORDER), as bytes.
    Rao,
}

fn origin(text: &str) -> Result<Origin, String> {
    const DRIVE: &str = "drive";
    let named = || Algorithm::from_name(text).map(Origin::Algorithm);
    let drive = (text == DRIVE).then_some(Origin::Drive);
    drive.or_else(named).ok_or_else(|| {
        let names = Algorithm::ALL.map(Algorithm::name);
        format!("no such order; there are: {}, {DRIVE}", names.join(", "))
    })
}

/// Whether an order joins requests that lie close together.
fn coalesces(origin: Origin) -> bool {
    matches!(
        origin,
        Origin::Algorithm(Algorithm::SltfCoalesced | Algorithm::LossCoalesced)
    )
}

/// Runs the verb.
pub fn run(args: &OrderArgs) -> Result<ExitCode, CliError> {
    refuse_contradictions(args)?;
    let indexes = args.input.several_indexes()?;
    let outputs = args.outputs();
    output::refuse_clashes(outputs, args.inputs(&indexes))?;
    if !indexes.is_empty() {
        return tapes::run(args, &indexes);
    }
    if args.drives > 1 {
        return Err(
            CliError::input("--drives is for several tapes, and the requests are on one")
                .hint("give several indexes, or a directory of them, with --ltfs-index"),
        );
    }
    let batch = Arc::new(batch::load(&args.input)?);
    let say = |text: &str| output::remark(args.quiet, &text);
    say(&batch.recognised);
    batch.notices.iter().for_each(|notice| say(notice));
    if let Some(unused) = args.goal.unused(&batch) {
        say(unused);
    }
    batch.check_orderable()?;
    refuse_parts_in_a_list(args, &batch)?;
    refuse_same_ids(args, &batch)?;
    let (cartridge, placed) = match place(args, &batch) {
        Ok(placed) => placed,
        Err(error) => return Err(judge_unplaced(args, &batch).map_or_else(|e| e, |()| error)),
    };
    if args.to == Kind::Rao {
        return ask_the_drive(args, &placed, &say);
    }
    let others = Others::load(&placed, &args.price_under)?;
    if args.search.may_be_long() {
        interrupt::stop_search_on_interrupt()?;
        say(&format!(
            "searching for up to {}; Ctrl-C gives the best order so far",
            units::seconds(args.search.budget_s())
        ));
    }
    let order = Ordered::new(args, &placed)?;
    order.notices.iter().for_each(|notice| say(notice));
    let found = &order.found;
    let mut page = None;
    if args.explain {
        let effort = args.search.effort();
        let report = Report {
            explanation: Explanation::new(&placed, found, &order.known, args.all, &effort),
            apart: total_apart(args, &cartridge, &batch)?,
            all: args.all,
            search: &args.search,
            aim: order.aim.as_ref(),
            reads_clock: args.goal.reads_clock(&batch),
            others: (!args.price_under.is_empty()).then_some(&others),
            sensitivity: args.sensitivity,
        };
        output::say(report.text());
        if args.html.is_some() {
            page = Some(report.page(&plot::other(&placed, found, &args.search)?));
        }
    } else {
        say(&format!("positions: {}", placed.provenance));
        remarks(args, &placed, found)
            .iter()
            .for_each(|text| say(text));
    }
    if let Some(device) = &args.judge {
        let asked = judge::ordered(&placed, found);
        output::say(judge::judge(device, args.placement.head, &asked)?);
    }
    // Made before anything is written: a bad name must not leave a picture without its list.
    let mut result = Vec::new();
    write_order(args, &placed, found, &mut result)?;
    if let Some(path) = &args.plot {
        let other = plot::other(&placed, found, &args.search)?;
        let svg = plot::side_by_side(&placed, [&other, found]);
        output::write(Some(path), |out| {
            out.write_all(svg.as_bytes()).map_err(CliError::failed)
        })?;
        say(&format!("picture {}", path.display()));
    }
    if let (Some(path), Some(page)) = (&args.html, &page) {
        html::write(path, page)?;
        say(&format!("page {}", path.display()));
    }
    // A person who asked for the table does not want it to scroll away under the list.
    let to_terminal = args.output.is_none() && std::io::stdout().is_terminal();
    if !(args.explain && to_terminal) {
        output::write(args.output.as_deref(), |out| {
            out.write_all(&result).map_err(CliError::failed)
        })?;
    }
    Ok(interrupt::exit_of_search())
}

/// What a drive thinks of requests that no profile of ours places on the tape: no order comes of it,
/// but its estimate is worth having.
fn judge_unplaced(args: &OrderArgs, batch: &Batch) -> Result<(), CliError> {
    let Some(device) = &args.judge else {
        return Ok(());
    };
    let asked = judge::sorted(batch);
    output::say(judge::judge(device, args.placement.head, &asked)?);
    output::say("tapewise: sorted by block, and without a prediction, because:\n");
    Ok(())
}

/// The cartridge, and the batch placed on it.
fn place(args: &OrderArgs, batch: &Arc<Batch>) -> Result<(Cartridge, Placed), CliError> {
    let cartridge = args.placement.cartridge()?;
    let placed = cartridge.place(batch.clone(), &args.placement())?;
    Ok((cartridge, placed))
}

/// The order asked for, and what was found on the way.
struct Ordered {
    found: Found,
    /// Orders that are known besides.
    known: Vec<Found>,
    /// What the requests want, where it is asked for or explained.
    aim: Option<Aim>,
    notices: Vec<String>,
}

impl Ordered {
    fn new(args: &OrderArgs, placed: &Placed) -> Result<Ordered, CliError> {
        let (goal, effort) = (args.goal.goal(), args.search.effort());
        let drive = match args.rao_order.as_slice() {
            [] => None,
            files => Some(rao::order(placed, files)?),
        };
        let has_goal = !goal.is_least_total();
        let aim = (has_goal || args.all)
            .then(|| placed.aim(&goal))
            .transpose()?;
        let mut known: Vec<Found> = Vec::new();
        let found = match args.algorithm {
            Origin::Drive => drive.ok_or_else(no_answer)?,
            Origin::BEST => {
                known.extend(drive);
                args.search.watched(|| placed.search(&goal, &effort))?
            }
            Origin::Algorithm(algorithm) => {
                known.extend(drive);
                let found = placed.order(algorithm, &effort);
                found.map_err(|error| {
                    let name = algorithm.name();
                    CliError::input(format!("--algorithm {name} does not apply: {error}"))
                })?
            }
            Origin::Objective(_) | Origin::StandIn => {
                return Err(CliError::failed("no algorithm has that name"));
            }
        };
        let notices = match &aim {
            Some(aim) if has_goal => goal::notices(aim, &found),
            _ => Vec::new(),
        };
        known.extend(found.began_from.as_deref().cloned());
        Ok(Ordered {
            found,
            known,
            aim,
            notices,
        })
    }
}

fn no_answer() -> CliError {
    CliError::input("--algorithm drive: the drive's own order is not known")
        .hint("ask it: --to rao writes the lists, --rao-order FILE takes its answers")
}

/// What should be known of an order also where it is not explained.
fn remarks(args: &OrderArgs, placed: &Placed, found: &Found) -> Vec<String> {
    let mut remarks = Vec::new();
    if args.search.prove || found.cut_short {
        let cut_short = if found.cut_short {
            format!(
                "{}, another run may give another order; ",
                explain::cut_short(&args.search)
            )
        } else {
            String::new()
        };
        // Most orders come without a bound; that of our search holds for all of them.
        let is_other = args.search.prove && found.origin != Origin::BEST;
        let bound = found.bound.or_else(|| {
            let best = || placed.order(Algorithm::Best, &args.search.effort());
            is_other.then(|| args.search.watched(best).ok()?.bound)?
        });
        remarks.push(format!(
            "{cut_short}{}",
            verdict(found, bound, &args.search)
        ));
    }
    if found.origin == Origin::BEST && found.is_sorted() && !found.optimal {
        remarks.push(
            "sorted order: the map is too unsure for a shorter one, --explain says more".to_owned(),
        );
    }
    let sorted = placed.order(Algorithm::Sort, &args.search.effort());
    if let Ok(sorted) = sorted
        && found.is_less_safe_than(&sorted)
    {
        remarks.push(unsafe_line(found, sorted.worst));
    }
    remarks.extend(whole_tape_line(placed, found));
    remarks
}

/// Writes the lists that ask a drive for its own order; each of several in a file of its own.
fn ask_the_drive(
    args: &OrderArgs,
    placed: &Placed,
    say: &dyn Fn(&str),
) -> Result<ExitCode, CliError> {
    let lists = lists(&placed.batch, &placed.placement)
        .map_err(|error| CliError::of_drive_order("--to rao", error))?;
    if placed.profile.features.rao.as_ref().map(|rao| rao.value) == Some(false) {
        say(&format!("{} has no order of its own", placed.profile.title));
    }
    let bytes = |list: &Vec<u8>, path: Option<&Path>| {
        output::write(path, |out| out.write_all(list).map_err(CliError::failed))
    };
    if args.output.is_none() && std::io::stdout().is_terminal() {
        return Err(CliError::input("--to rao: bytes are not for a terminal").hint("-o list.bin"));
    }
    match (lists.as_slice(), &args.output) {
        ([], path) => bytes(&Vec::new(), path.as_deref())?,
        ([list], path) => bytes(list, path.as_deref())?,
        (several, None) => {
            let count = several.len();
            return Err(CliError::input(format!(
                "--to rao: {count} lists, and a drive takes one at a time"
            ))
            .hint("-o list writes them as list.1, list.2, ..."));
        }
        (several, Some(path)) => {
            for (number, list) in (1..).zip(several) {
                let mut name = path.as_os_str().to_owned();
                name.push(format!(".{number}"));
                bytes(list, Some(Path::new(&name)))?;
            }
            let path = path.display();
            say(&format!(
                "{} in {path}.1 to {path}.{}: where the drive begins a list after the first is taken from the blocks",
                units::count(several.len(), "list"),
                several.len()
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Options that do not go together.
fn refuse_contradictions(args: &OrderArgs) -> Result<(), CliError> {
    refuse_directories_without_script(args)?;
    if !args.goal.goal().is_least_total() && args.algorithm != Origin::BEST {
        return Err(CliError::input(
            "--objective, --max-distance and --spare-tape look for an order themselves",
        )
        .hint("leave out --algorithm"));
    }
    // --explain --all shows every order and what every objective would give.
    if args.coalesce.is_some() && !coalesces(args.algorithm) && !args.all {
        return Err(CliError::input(
            "--coalesce is for --algorithm sltf-coalesced and loss-coalesced",
        )
        .hint("give one of them, or leave out --coalesce"));
    }
    if args.goal.has_idle_now() && !args.all {
        return Err(CliError::input("--now is for --objective deadline"));
    }
    if args.goal.objective != Objective::Total && args.placement.extents == Extents::Apart {
        return Err(CliError::input(format!(
            "--objective {}: a file is read when it is whole, so its extents stay together",
            args.goal.objective.name()
        ))
        .hint("leave out --extents apart"));
    }
    if args.to == Kind::Rao && (args.explain || args.plot.is_some() || args.judge.is_some()) {
        return Err(CliError::input(
            "--to rao only asks the drive: there is no order to explain, draw or judge yet",
        ));
    }
    Ok(())
}

/// Directories of a script mean nothing for anything else.
fn refuse_directories_without_script(args: &OrderArgs) -> Result<(), CliError> {
    let given = args.script_from.is_some() || args.script_into.is_some();
    let is_script = matches!(args.to, Kind::Script | Kind::Powershell);
    if given && (args.json || !is_script) {
        return Err(CliError::input(
            "--script-from and --script-into are for --to script and --to powershell",
        ));
    }
    Ok(())
}

/// A list names a file once, so it cannot say in which order its extents are read.
fn refuse_parts_in_a_list(args: &OrderArgs, batch: &Batch) -> Result<(), CliError> {
    let in_parts = batch.in_parts();
    let apart = args.placement.extents == Extents::Apart;
    if !apart || in_parts == 0 || args.kind() == Kind::Json {
        return Ok(());
    }
    Err(CliError::input(format!(
        "--extents apart: {} in several extents, which only a plan can tell apart",
        units::count(in_parts, "file")
    ))
    .hint("write the plan with --to json, or leave --extents together"))
}

/// A script copies a file once: under the name of the first of two requests, the second is already there.
fn refuse_same_ids(args: &OrderArgs, batch: &Batch) -> Result<(), CliError> {
    if !matches!(args.to, Kind::Script | Kind::Powershell) {
        return Ok(());
    }
    let mut first = HashMap::new();
    for (request, number) in batch.requests.iter().zip(1..) {
        if let Some(before) = first.insert(request.id.as_str(), number) {
            let id = shown(request.id.as_bytes());
            if batch.is_ltfs {
                let twice = format!("the index has {id} twice: a script copies each file once");
                return Err(CliError::input(twice).hint("take another index of this volume"));
            }
            return Err(CliError::input(format!(
                "requests {before} and {number} have the same id, {id}: a script copies each file once"
            ))
            .hint("give a file in several pieces as one request, in JSON Lines; or leave out all but one"));
        }
    }
    Ok(())
}

/// What the order would take if files of several extents were read extent by extent.
fn total_apart(
    args: &OrderArgs,
    cartridge: &Cartridge,
    batch: &Arc<Batch>,
) -> Result<Option<Micros>, CliError> {
    let Origin::Algorithm(algorithm) = args.algorithm else {
        return Ok(None);
    };
    let placement = args.placement();
    if batch.in_parts() == 0 || placement.extents == ExtentOrder::Apart {
        return Ok(None);
    }
    let apart = Placement {
        extents: ExtentOrder::Apart,
        ..placement
    };
    let placed = cartridge.place(batch.clone(), &apart)?;
    let found = placed.order(algorithm, &args.search.effort().without_proof());
    Ok(found.ok().map(|found| found.total()))
}

/// Writes an order as it was asked for.
fn write_order(
    args: &OrderArgs,
    placed: &Placed,
    found: &Found,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    let mut out = out;
    let order = placed.reading_order(&found.plan).into_iter();
    let requests: Vec<_> = order.map(|at| &placed.batch.requests[at]).collect();
    let ids = || requests.iter().map(|request| request.id.as_bytes());
    match args.kind() {
        Kind::List => output::write_names(out, ids(), Separator::Newline, output::AS_LIST0),
        Kind::List0 => output::write_names(out, ids(), Separator::Nul, output::AS_LIST0),
        // Written before any order is looked for.
        Kind::Rao => Ok(()),
        Kind::Csv => write_csv(&mut out, requests.iter().copied()).map_err(CliError::failed),
        Kind::Json => placed
            .document(found, &args.search.effort())
            .to_writer(&mut out)
            .map_err(CliError::failed),
        kind @ (Kind::Script | Kind::Powershell) => {
            let directory = |given: &Option<PathBuf>, usual: &str| {
                let given = given.as_deref().unwrap_or(Path::new(usual));
                given.as_os_str().as_encoded_bytes().to_vec()
            };
            let options = ScriptOptions {
                source: directory(&args.script_from, "."),
                destination: directory(&args.script_into, "recalled"),
                comments: vec![format!("order {}", found.origin.versioned())],
            };
            // Several requests may be parts of one file, which is copied once.
            let mut seen = HashSet::new();
            let files = requests.iter().map(|request| request.copied_as());
            let files = files.filter(|file| seen.insert(*file)).map(str::as_bytes);
            let written = if matches!(kind, Kind::Script) {
                write_script(&mut out, files, &options)
            } else {
                write_powershell(&mut out, files, &options)
            };
            written.map_err(|error| match error {
                ScriptError::Io(_) => CliError::failed(error),
                _ => CliError::input(error),
            })
        }
    }
}
