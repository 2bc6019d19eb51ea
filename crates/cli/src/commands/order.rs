//! `tapewise order`: requests in, order out.

use crate::batch::{Batch, Input};
use crate::error::CliError;
use crate::explain::explain;
use crate::placement::{ExtentOrder, Placed, PlacementArgs};
use crate::search::{Row, SearchArgs, compute};
use crate::{batch, output, placement, plan_document, plot};
use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tapewise_formats::csv_out::write_csv;
use tapewise_formats::list::Separator;
use tapewise_formats::script_out::{ScriptError, ScriptOptions, write_script};
use tapewise_model::Micros;
use tapewise_order::Algorithm;

/// Order reads so that they finish soonest.
///
/// Requests in (CSV, JSON Lines, an LTFS index with a list of names, a CTA listing), their ids out,
/// one a line, in the order to read. Nothing is read from any drive.
#[derive(clap::Args, Debug)]
pub struct OrderArgs {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    placement: PlacementArgs,
    #[command(flatten)]
    search: SearchArgs,
    /// Which order.
    #[arg(long, value_name = "NAME", default_value = "best", value_parser = algorithm)]
    algorithm: Algorithm,
    /// Print on standard error what each order would take, and where the positions come from.
    #[arg(long)]
    explain: bool,
    /// Explain every order, not only the five that matter.
    #[arg(long, requires = "explain")]
    all: bool,
    /// Draw the head's path as listed, or sorted, and in the order given, as SVG.
    #[arg(long, value_name = "SVG")]
    plot: Option<PathBuf>,
    /// What to write.
    #[arg(long, value_name = "KIND", default_value = "list")]
    to: Kind,
    /// Write the plan as JSON: the same as --to json.
    #[arg(long, conflicts_with = "to")]
    json: bool,
    /// Where to write it: a file that appears whole or not at all.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// For --to script: copy from this directory [default: .]
    #[arg(long, value_name = "DIR")]
    script_from: Option<PathBuf>,
    /// For --to script: copy into this directory [default: recalled]
    #[arg(long, value_name = "DIR")]
    script_into: Option<PathBuf>,
    /// Say nothing on standard error but errors.
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// Ids, one a line.
    List,
    /// Ids, a zero byte behind each.
    List0,
    /// The plan with its steps and times.
    Json,
    /// A shell script that copies file by file.
    Script,
    /// The requests with all their columns.
    Csv,
}

fn algorithm(text: &str) -> Result<Algorithm, String> {
    Algorithm::from_name(text).ok_or_else(|| {
        let names = Algorithm::ALL.map(Algorithm::name);
        format!("no such order; there are: {}", names.join(", "))
    })
}

/// Runs the verb.
pub fn run(args: &OrderArgs) -> Result<ExitCode, CliError> {
    if let (Some(picture), Some(result)) = (&args.plot, &args.output)
        && picture == result
    {
        let both = picture.display();
        return Err(CliError::input(format!(
            "--plot and --output both name {both}"
        )));
    }
    refuse_directories_without_script(args)?;
    let batch = batch::load(&args.input)?;
    let say = |text: &str| {
        if !args.quiet {
            output::say(format_args!("tapewise: {text}\n"));
        }
    };
    say(&batch.recognised);
    batch.notices.iter().for_each(|notice| say(notice));
    if batch
        .requests
        .iter()
        .any(|request| request.priority != 0 || request.deadline.is_some())
    {
        say("priorities and deadlines are read, but no order uses them yet");
    }
    refuse_sort_keys(&batch)?;
    refuse_several_volumes(&batch)?;
    refuse_parts_in_a_list(args, &batch)?;
    let placed = placement::place(&batch, &args.placement)?;
    let row = compute(&placed, args.algorithm, &args.search)
        .ok_or_else(|| not_applicable(args, &placed))?;
    if args.explain {
        let apart = total_apart(args, &batch)?;
        output::say(explain(
            &batch,
            &placed,
            &row,
            apart,
            args.all,
            &args.search,
        ));
    } else {
        say(&format!("positions: {}", placed.provenance));
    }
    // Made before anything is written: a bad name must not leave a picture without its list.
    let mut result = Vec::new();
    write_order(args, &batch, &placed, &row, &mut result)?;
    if let Some(path) = &args.plot {
        let svg = plot::beside_sorted(&placed, &row, &args.search)?;
        output::write(Some(path), |out| {
            out.write_all(svg.as_bytes()).map_err(CliError::failed)
        })?;
        say(&format!("picture {}", path.display()));
    }
    // A person who asked for the table does not want it to scroll away under the list.
    let to_terminal = args.output.is_none() && std::io::stdout().is_terminal();
    if !(args.explain && to_terminal) {
        output::write(args.output.as_deref(), |out| {
            out.write_all(&result).map_err(CliError::failed)
        })?;
    }
    Ok(ExitCode::SUCCESS)
}

fn refuse_sort_keys(batch: &Batch) -> Result<(), CliError> {
    let keyed = batch
        .requests
        .iter()
        .filter(|r| r.extents.is_empty() && r.sort_key.is_some())
        .count();
    if keyed == 0 {
        return Ok(());
    }
    Err(CliError::input(format!(
        "{keyed} requests have a sort key but no block: no time can be predicted from it"
    ))
    .hint("tapewise convert --sort writes them in the order of their keys"))
}

fn refuse_several_volumes(batch: &Batch) -> Result<(), CliError> {
    let named = batch
        .requests
        .iter()
        .filter_map(|request| request.volume.as_deref());
    let volumes: BTreeSet<&str> = named.clone().collect();
    let unnamed = batch.requests.len() - named.count();
    let hint = "order one cartridge at a time: --volume NAME";
    if volumes.len() > 1 {
        let shown = volumes
            .iter()
            .take(5)
            .copied()
            .collect::<Vec<_>>()
            .join(", ");
        let count = volumes.len();
        return Err(
            CliError::input(format!("the requests are on {count} cartridges: {shown}")).hint(hint),
        );
    }
    match volumes.first() {
        Some(volume) if unnamed > 0 => Err(CliError::input(format!(
            "{unnamed} requests do not say on which cartridge they are; the others are on {volume}"
        ))
        .hint(hint)),
        _ => Ok(()),
    }
}

/// Directories of a script mean nothing for anything else.
fn refuse_directories_without_script(args: &OrderArgs) -> Result<(), CliError> {
    let given = args.script_from.is_some() || args.script_into.is_some();
    if given && (args.json || args.to != Kind::Script) {
        return Err(CliError::input(
            "--script-from and --script-into are for --to script",
        ));
    }
    Ok(())
}

/// A list names a file once, so it cannot say in which order its extents are read.
fn refuse_parts_in_a_list(args: &OrderArgs, batch: &Batch) -> Result<(), CliError> {
    let in_parts = batch
        .requests
        .iter()
        .filter(|request| request.extents.len() > 1)
        .count();
    let apart = args.placement.extents == ExtentOrder::Apart;
    if !apart || in_parts == 0 || args.json || args.to == Kind::Json {
        return Ok(());
    }
    Err(CliError::input(format!(
        "--extents apart: {in_parts} files have several extents, which only a plan can tell apart"
    ))
    .hint("write the plan with --to json, or leave --extents together"))
}

/// What the order would take if files of several extents were read extent by extent.
fn total_apart(args: &OrderArgs, batch: &Batch) -> Result<Option<Micros>, CliError> {
    let in_parts = batch
        .requests
        .iter()
        .any(|request| request.extents.len() > 1);
    if !in_parts || args.placement.extents == ExtentOrder::Apart {
        return Ok(None);
    }
    let placed = placement::place(batch, &args.placement.apart())?;
    Ok(compute(&placed, args.algorithm, &args.search).map(|row| row.plan.totals.total))
}

fn not_applicable(args: &OrderArgs, placed: &Placed) -> CliError {
    let why = match args.algorithm {
        Algorithm::Opt => format!(
            "it is exact for up to {} visits, these are {}",
            tapewise_order::OPT_MAX_VISITS,
            placed.problem.len()
        ),
        _ => format!("it is for LTO, {} is not", placed.profile.title),
    };
    CliError::input(format!(
        "--algorithm {} does not apply: {why}",
        args.algorithm.name()
    ))
}

fn write_order(
    args: &OrderArgs,
    batch: &Batch,
    placed: &Placed,
    row: &Row,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    let mut out = out;
    // What has no blocks needs no tape and comes first.
    let empty = (0..batch.requests.len()).filter(|&at| batch.requests[at].extents.is_empty());
    let read = row.plan.order.requests(&placed.problem);
    let read = read
        .into_iter()
        .map(|request| placed.owners[request as usize].0);
    let requests: Vec<_> = empty.chain(read).map(|at| &batch.requests[at]).collect();
    let ids = || requests.iter().map(|request| request.id.as_bytes());
    match if args.json { Kind::Json } else { args.to } {
        Kind::List => output::write_names(out, ids(), Separator::Newline),
        Kind::List0 => output::write_names(out, ids(), Separator::Nul),
        Kind::Csv => write_csv(&mut out, requests.iter().copied()).map_err(CliError::failed),
        Kind::Json => plan_document::document(batch, placed, &args.placement, row, &args.search)
            .to_writer(&mut out)
            .map_err(CliError::failed),
        Kind::Script => {
            let directory = |given: &Option<PathBuf>, usual: &str| {
                let given = given.as_deref().unwrap_or(Path::new(usual));
                given.as_os_str().as_encoded_bytes().to_vec()
            };
            let options = ScriptOptions {
                source: directory(&args.script_from, "."),
                destination: directory(&args.script_into, "recalled"),
                comments: vec![format!(
                    "order {}/{}",
                    row.algorithm.name(),
                    row.algorithm.version()
                )],
                ..ScriptOptions::default()
            };
            write_script(&mut out, ids(), &options).map_err(|error| match error {
                ScriptError::Io(_) => CliError::failed(error),
                _ => CliError::input(error),
            })
        }
    }
}
