//! `tapewise drive show`: what a drive answers to one command, decoded or byte by byte.

use super::heed;
use crate::commands::sense::hex_file;
use crate::error::CliError;
use crate::{device, json, output};
use serde::Serialize;
use std::path::PathBuf;
use tapewise_plot::Table;
use tapewise_run::Notice;
use tapewise_scsi::commands::{DECODERS, decode_any};
use tapewise_scsi::question::{PAGED, Page, Question, QuestionError};
use tapewise_scsi::{Line, ScsiError, hex};

/// Show a drive's answer to one command, or decode an answer that somebody sent.
///
/// These commands only ask: nothing moves and nothing changes. However, a message that waits in the
/// drive ("another cartridge") is consumed. tapewise first probes commands that not every drive has, and
/// does not send a command that the drive does not report. --hex prints the answer byte by byte, and
/// --inhex reads it again. In this way people can send us answers of drives that we have never seen.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tapewise drive show --list
  tapewise drive show log /dev/sg3 --page 17
  tapewise drive show opcode /dev/sg3 --page a3/1f
  tapewise drive show wrap-ends /dev/sg3 --hex > wrap-ends.hex
  tapewise drive show wrap-ends --inhex wrap-ends.hex")]
pub struct Show {
    /// The command, by the name of its decoder.
    #[arg(value_name = "COMMAND", required_unless_present = "list")]
    command: Option<String>,
    /// The drive; for `elements` the library's robot.
    #[arg(value_name = "DEVICE", required_unless_present_any = ["list", "inhex"])]
    device: Option<String>,
    /// Page with or without subpage, operation code with or without service action, wrap, or type of
    /// element, in hex.
    #[arg(long, value_name = "HEX[/HEX]", conflicts_with = "inhex")]
    page: Option<Page>,
    /// Print the answer byte by byte.
    #[arg(long, conflicts_with_all = ["json", "inhex"])]
    hex: bool,
    /// Decode an answer in hex, as --hex and sg3_utils print it, from a file or `-`.
    #[arg(long, value_name = "FILE", conflicts_with = "device")]
    inhex: Option<PathBuf>,
    /// List the commands.
    #[arg(long, conflicts_with_all = ["command", "hex", "inhex", "page"])]
    list: bool,
    /// As JSON, with the bytes.
    #[arg(long)]
    json: bool,
}

/// The JSON form: lines keep their order, and two may have one label.
#[derive(Serialize)]
struct Document<'a> {
    command: &'a str,
    hex: String,
    lines: &'a [Line],
}

#[derive(Serialize)]
struct Listed {
    command: &'static str,
    about: &'static str,
    has_pages: bool,
}

/// Runs the verb.
pub fn run(args: &Show) -> Result<(), CliError> {
    let (Some(command), false) = (&args.command, args.list) else {
        return list(args.json);
    };
    let answer = match (&args.inhex, &args.device) {
        (Some(path), _) => hex_file(path)?,
        (None, Some(device)) => ask(command, args.page, device)?,
        (None, None) => return Err(CliError::input("neither DEVICE nor --inhex")),
    };
    if args.hex {
        return output::print(&hex::dump(&answer));
    }
    let report = decode_any(command, &answer).map_err(|error| {
        let hint = "the bytes: `tapewise drive show --hex`";
        match args.inhex {
            Some(_) => CliError::input(error),
            None => CliError::failed(error).hint(hint),
        }
    })?;
    if args.json {
        let document = Document {
            command,
            hex: hex::plain(&answer),
            lines: report.lines(),
        };
        json::print("drive-show", &document)
    } else {
        output::print(&report.to_string())
    }
}

fn ask(command: &str, page: Option<Page>, name: &str) -> Result<Vec<u8>, CliError> {
    let question = Question::named(command, page).map_err(no_question)?;
    let heed = &mut |error: &ScsiError| heed(Notice::Message(error));
    let answer = match command {
        "elements" => {
            let mut changer = device::changer(name)?;
            question
                .send(changer.transport(), heed)
                .map_err(CliError::from)
        }
        // These disturb nobody: INQUIRY takes no message from a drive that somebody else uses.
        "inquiry" | "vpd" => question
            .ask(&mut device::tape(name)?, heed)
            .map_err(CliError::from),
        _ => {
            let mut drive = device::tape_for_use(name)?;
            question.ask(&mut drive, heed).map_err(CliError::from)
        }
    };
    answer.map_err(|error| error.of(name))
}

fn no_question(error: QuestionError) -> CliError {
    match error {
        QuestionError::NoPages { .. } => {
            CliError::input(error).hint(format!("--page is for {}", PAGED.join(", ")))
        }
        QuestionError::Unknown { .. } => {
            CliError::input(error).hint("`tapewise drive show --list` names them")
        }
        _ => CliError::input(error),
    }
}

fn list(as_json: bool) -> Result<(), CliError> {
    let listed = DECODERS.iter().map(|decoder| Listed {
        command: decoder.name,
        about: decoder.about,
        has_pages: PAGED.contains(&decoder.name),
    });
    if as_json {
        let commands: Vec<Listed> = listed.collect();
        return json::print(
            "drive-show-list",
            &serde_json::json!({ "commands": commands }),
        );
    }
    let mut table = Table::new("", &["command", "", ""]);
    for line in listed {
        let pages = if line.has_pages { "--page" } else { "" };
        table.row([line.command.into(), line.about.into(), pages.into()]);
    }
    output::print(&output::table(&table))
}
