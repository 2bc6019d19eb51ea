//! `tapewise sense`: a sense code or sense data in words.

use crate::error::CliError;
use crate::output;
use std::path::PathBuf;
use std::process::ExitCode;
use tapewise_scsi::{Report, Sense, SenseKey, hex, words};

/// Explain a sense code in words.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tapewise sense 03/11/00              key, code and qualifier, as logs print them
  tapewise sense 70 00 05 00 00 ...    sense data, byte by byte
  sg_requests -H /dev/sg1 | tapewise sense --inhex -")]
pub struct SenseArgs {
    /// KEY/ASC/ASCQ or ASC/ASCQ in hex, or the bytes of sense data in hex.
    #[arg(value_name = "CODE", required_unless_present = "inhex")]
    code: Vec<String>,
    /// Sense data in hex, as sg3_utils print it, from a file or `-`.
    #[arg(long, value_name = "FILE", conflicts_with = "code")]
    inhex: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub fn run(args: &SenseArgs) -> Result<ExitCode, CliError> {
    let report = match &args.inhex {
        Some(path) => data(&hex_file(path)?)?,
        None => match args.code.as_slice() {
            [code] if code.contains('/') => code_in_words(code)?,
            bytes => data(&hex_text(&bytes.join(" "))?)?,
        },
    };
    output::report(&report, args.json)?;
    Ok(ExitCode::SUCCESS)
}

/// Bytes in hex from a file or standard input.
pub fn hex_file(path: &std::path::Path) -> Result<Vec<u8>, CliError> {
    let bytes = if path == std::path::Path::new("-") {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes).map_err(CliError::input)?;
        bytes
    } else {
        crate::batch::read_bytes(path)?
    };
    let text =
        String::from_utf8(bytes).map_err(|_| CliError::input("not text").of(path.display()))?;
    hex_text(&text).map_err(|error| error.of(path.display()))
}

fn hex_text(text: &str) -> Result<Vec<u8>, CliError> {
    hex::parse(text).map_err(CliError::input)
}

fn data(bytes: &[u8]) -> Result<Report, CliError> {
    let sense = Sense::decode(bytes).map_err(CliError::input)?;
    Ok(Report::of(&sense))
}

/// `03/11/00` or `11/00`.
fn code_in_words(text: &str) -> Result<Report, CliError> {
    let wrong = || {
        CliError::input(format!("\"{text}\" is neither KEY/ASC/ASCQ nor ASC/ASCQ"))
            .hint("two hex digits each, as 03/11/00")
    };
    let parts: Option<Vec<u8>> = text
        .split('/')
        .map(|part| u8::from_str_radix(part, 16).ok())
        .collect();
    let mut report = Report::default();
    match parts.ok_or_else(wrong)?.as_slice() {
        [asc, ascq] => report.line("meaning", words(*asc, *ascq)),
        [key @ 0..=15, asc, ascq] => {
            let sense = Sense::new(SenseKey::from_bits(*key), *asc, *ascq);
            report.line("meaning", &sense);
            report.line("condition", format_args!("{:?}", sense.condition()));
            report.line("retryable", sense.is_retryable());
        }
        _ => return Err(wrong()),
    }
    Ok(report)
}
