//! `tapewise sense`: a sense code or sense data in words.

use crate::error::CliError;
use crate::{json, output};
use serde::Serialize;
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
    let decoded = match &args.inhex {
        Some(path) => data(&hex_file(path)?)?,
        None => match args.code.as_slice() {
            [code] if code.contains('/') => code_in_words(code)?,
            bytes => data(&hex_text(&bytes.join(" "))?)?,
        },
    };
    if args.json {
        json::print("sense", &decoded.document())?;
    } else {
        output::print(&decoded.report().to_string())?;
    }
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

fn data(bytes: &[u8]) -> Result<Decoded, CliError> {
    let sense = Sense::decode(bytes).map_err(CliError::input)?;
    Ok(Decoded::Data(Box::new(sense)))
}

/// What was given.
enum Decoded {
    /// ASC and ASCQ, without a key.
    Code(u8, u8),
    /// A key, ASC and ASCQ.
    Key(Box<Sense>),
    /// Sense data of a device.
    Data(Box<Sense>),
}

/// Sense for a program. What the data does not say is null.
#[derive(Default, Serialize)]
struct Document {
    meaning: String,
    asc: u8,
    ascq: u8,
    key: Option<String>,
    condition: Option<String>,
    retryable: Option<bool>,
    deferred: Option<bool>,
    filemark: Option<bool>,
    end_of_medium: Option<bool>,
    incorrect_length: Option<bool>,
    information: Option<i64>,
    command_specific: Option<u64>,
    field_replaceable_unit: Option<u8>,
    needs_cleaning: Option<bool>,
    needs_service: Option<bool>,
    dump_available: Option<bool>,
    wrap: Option<u16>,
    lpos: Option<u32>,
    partition: Option<u8>,
    volume_label: Option<String>,
    cartridge_serial: Option<String>,
}

impl Decoded {
    /// Lines for a person.
    fn report(&self) -> Report {
        let mut report = Report::default();
        match self {
            Decoded::Code(asc, ascq) => report.line("meaning", words(*asc, *ascq)),
            Decoded::Key(sense) => {
                report.line("meaning", sense);
                report.line("condition", sense.condition());
                report.line("retryable", sense.is_retryable());
            }
            Decoded::Data(sense) => report = Report::of(sense.as_ref()),
        }
        report
    }

    fn document(&self) -> Document {
        let (sense, is_data) = match self {
            Decoded::Code(asc, ascq) => {
                return Document {
                    meaning: words(*asc, *ascq).into_owned(),
                    asc: *asc,
                    ascq: *ascq,
                    ..Document::default()
                };
            }
            Decoded::Key(sense) => (sense, false),
            Decoded::Data(sense) => (sense, true),
        };
        let device = &sense.device;
        let flag = |flag: bool| is_data.then_some(flag);
        Document {
            meaning: sense.to_string(),
            asc: sense.asc,
            ascq: sense.ascq,
            key: Some(format!("{:?}", sense.key)),
            condition: Some(format!("{:?}", sense.condition())),
            retryable: Some(sense.is_retryable()),
            deferred: flag(sense.is_deferred),
            filemark: flag(sense.filemark),
            end_of_medium: flag(sense.end_of_medium),
            incorrect_length: flag(sense.incorrect_length),
            information: sense.information,
            command_specific: sense.command_specific,
            field_replaceable_unit: sense.field_replaceable_unit,
            needs_cleaning: device.needs_cleaning,
            needs_service: device.needs_service,
            dump_available: device.has_dump,
            wrap: device.wrap(),
            lpos: device.lpos,
            partition: device.partition,
            volume_label: device.volume_label.clone(),
            cartridge_serial: device.cartridge_serial.clone(),
        }
    }
}

/// `03/11/00` or `11/00`.
fn code_in_words(text: &str) -> Result<Decoded, CliError> {
    let wrong = || {
        CliError::input(format!("\"{text}\" is neither KEY/ASC/ASCQ nor ASC/ASCQ"))
            .hint("two hex digits each, as 03/11/00")
    };
    let parts: Option<Vec<u8>> = text
        .split('/')
        .map(|part| u8::from_str_radix(part, 16).ok())
        .collect();
    match parts.ok_or_else(wrong)?.as_slice() {
        [asc, ascq] => Ok(Decoded::Code(*asc, *ascq)),
        [key @ 0..=15, asc, ascq] => {
            let sense = Sense::new(SenseKey::from_bits(*key), *asc, *ascq);
            Ok(Decoded::Key(Box::new(sense)))
        }
        _ => Err(wrong()),
    }
}
