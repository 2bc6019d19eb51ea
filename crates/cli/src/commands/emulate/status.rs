//! `tapewise emulate status`: what a library that is being served is doing.

use crate::error::{CliError, Exit};
use crate::{json, output};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;
use tapewise_emulator::{Library, Snapshot};
use tapewise_plot::Table;

/// Show what the drives of a served library are doing: cartridge, head and last commands.
#[derive(clap::Args, Debug)]
pub(super) struct Status {
    /// The directory that `tapewise emulate DIR --iscsi` serves.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Show it again whenever it has changed, until Ctrl-C.
    #[arg(long)]
    follow: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The file in which a served library says what it is doing.
const LIVE: &str = "live.json";

/// Whoever serves a library writes its state down.
pub(super) struct Live {
    path: PathBuf,
    last: String,
}

impl Live {
    pub(super) fn new(directory: &Path) -> Live {
        Live {
            path: directory.join(LIVE),
            last: String::new(),
        }
    }

    /// Writes what has changed. Only a view is lost when that fails.
    pub(super) fn update(&mut self, library: &Library) {
        let Ok(text) = serde_json::to_string(&library.snapshot()) else {
            return;
        };
        if text == self.last {
            return;
        }
        let beside = self.path.with_extension("new");
        let written = fs::write(&beside, &text).and_then(|()| fs::rename(&beside, &self.path));
        if written.is_ok() {
            self.last = text;
        }
    }

    /// The library is served no more.
    pub(super) fn end(self) {
        // A view that stays is refused by `run`, because nobody holds the lock.
        let _ = fs::remove_file(self.path);
    }
}

/// Runs the verb.
pub(super) fn run(args: &Status) -> Result<ExitCode, CliError> {
    let mut last = String::new();
    loop {
        let text = read(&args.directory)?;
        if text != last {
            let snapshot: Snapshot = serde_json::from_str(&text).map_err(CliError::failed)?;
            if args.json {
                output::print(&json::line("emulate-status", &snapshot)?)?
            } else {
                output::print(&show(&snapshot))?
            }
            last = text;
        }
        if !args.follow {
            return Ok(ExitCode::SUCCESS);
        }
        thread::sleep(Duration::from_millis(250));
    }
}

fn read(directory: &Path) -> Result<String, CliError> {
    if !directory.join("library.toml").is_file() {
        let message = format!("{}: not an emulated library", directory.display());
        return Err(CliError::input(message).hint("`tapewise emulate DIR` makes one"));
    }
    let path = directory.join(LIVE);
    let is_served = Library::is_in_use(directory)?;
    match fs::read_to_string(&path) {
        Ok(text) if is_served => Ok(text),
        _ => {
            let message = format!("{}: nobody serves this library", directory.display());
            let hint = format!(
                "start it with `tapewise emulate {} --iscsi 127.0.0.1:0`",
                directory.display()
            );
            Err(CliError::with(Exit::NotReady, message).hint(hint))
        }
    }
}

fn show(snapshot: &Snapshot) -> String {
    const COLUMNS: [&str; 10] = [
        "drive",
        "serial",
        "cartridge",
        "state",
        "partition",
        "block",
        "wrap",
        "LPOS",
        "metres",
        "last command",
    ];
    let seconds = snapshot.clock_us / 1_000_000;
    let mut table = Table::new(format!("emulated time {seconds} s"), &COLUMNS);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    for drive in &snapshot.drives {
        let head = drive.head.as_ref();
        table.row([
            drive.number.to_string(),
            drive.serial.clone(),
            or_dash(drive.cartridge.clone()),
            drive.state.clone(),
            or_dash(head.map(|head| head.partition.to_string())),
            or_dash(head.map(|head| head.block.to_string())),
            or_dash(head.map(|head| head.wrap.to_string())),
            or_dash(head.map(|head| format!("{:.0}", head.lpos))),
            format!("{:.0}", drive.metres),
            or_dash(drive.last.last().cloned()),
        ]);
    }
    output::table(&table)
}
