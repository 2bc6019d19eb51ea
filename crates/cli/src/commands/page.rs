//! `tapewise page`: the page for the browser, in one file.

use crate::error::CliError;
use crate::output;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write the page that plans tapes and sizes libraries in a browser.
///
/// The page is one HTML file. It works from disk, without a network and without an installation, in
/// Chromium, Firefox and Safari of the last years. Drop an LTFS index and a list of names, and it shows
/// the order, the hours and the head's path. It gives the same plan as `tapewise order`, byte for byte,
/// and sends nothing anywhere.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tapewise page -o tapewise.html       then open the file in a browser")]
pub struct Page {
    /// Where the page goes [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The page, if the program was built with it: `make dist` does, after `make web`.
#[cfg(feature = "page")]
pub const PAGE: Option<&[u8]> = Some(include_bytes!(env!("TAPEWISE_PAGE")));
#[cfg(not(feature = "page"))]
pub const PAGE: Option<&[u8]> = None;

/// Runs the verb.
pub fn run(args: &Page) -> Result<ExitCode, CliError> {
    let Some(page) = PAGE else {
        return Err(CliError::failed("this program was built without the page").hint(
            "the tarball of a release has it as doc/tapewise.html; in the sources, `make web` makes target/web/tapewise.html",
        ));
    };
    if args.output.is_none() && std::io::stdout().is_terminal() {
        return Err(CliError::input(
            "the page is a megabyte of HTML, and standard output is a terminal",
        )
        .hint("-o tapewise.html writes it into a file"));
    }
    output::write(args.output.as_deref(), |out| {
        out.write_all(page).map_err(CliError::failed)
    })?;
    Ok(ExitCode::SUCCESS)
}
