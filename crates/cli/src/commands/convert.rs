//! `tapewise convert`: requests from one format to another.

use crate::batch::{Input, load};
use crate::error::CliError;
use crate::output;
use std::path::PathBuf;
use std::process::ExitCode;
use tapewise_formats::Request;
use tapewise_formats::csv_out::write_csv;
use tapewise_formats::list::Separator;

/// Convert requests of any format into CSV or a list.
///
/// `tapewise help formats` says what each format holds.
#[derive(clap::Args, Debug)]
pub struct Convert {
    #[command(flatten)]
    input: Input,
    /// What to write.
    #[arg(long, value_name = "KIND", default_value = "csv")]
    to: Kind,
    /// Sort by volume, then by block, or by sort key if there is no block.
    #[arg(long)]
    sort: bool,
    /// Write the result to this file. It appears complete or not at all.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print only errors on standard error.
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// Requests with all their columns.
    Csv,
    /// Ids, one a line.
    List,
    /// Ids, each followed by a zero byte.
    List0,
}

/// Runs the verb.
pub fn run(args: &Convert) -> Result<ExitCode, CliError> {
    let outputs = [("--output", args.output.as_deref())];
    output::refuse_clashes(outputs, args.input.paths())?;
    let mut batch = load(&args.input)?;
    if !args.quiet {
        for notice in std::iter::once(&batch.recognised).chain(&batch.notices) {
            output::say(format_args!("tapewise: {notice}\n"));
        }
    }
    if args.sort {
        batch
            .requests
            .sort_by(|a, b| tape_order(a).cmp(&tape_order(b)));
    }
    let ids = || batch.requests.iter().map(|request| request.id.as_bytes());
    output::write(args.output.as_deref(), |mut out| match args.to {
        Kind::Csv => write_csv(&mut out, &batch.requests).map_err(CliError::failed),
        Kind::List => output::write_names(out, ids(), Separator::Newline, output::AS_LIST0),
        Kind::List0 => output::write_names(out, ids(), Separator::Nul, output::AS_LIST0),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn tape_order(request: &Request) -> (Option<&str>, Option<u8>, Option<u64>) {
    let first = request.extents.first();
    let key = first.map(|extent| extent.start_block).or(request.sort_key);
    (
        request.volume.as_deref(),
        first.and_then(|extent| extent.partition),
        key,
    )
}
