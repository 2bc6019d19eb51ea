//! `tapewise config show`: which defaults are set, and where they come from.

use crate::error::CliError;
use crate::settings::{Settings, Source};
use crate::{json, output};
use std::process::ExitCode;
use tapewise_plot::Table;

/// Show the defaults that are set.
///
/// The file ~/.config/tapewise/config.toml may set `profile` and `archive`, for example
/// `profile = "lto8"`. The variables TAPEWISE_PROFILE and TAPEWISE_ARCHIVE come before the file, and
/// an option on the command line comes before both. TAPEWISE_CONFIG names another file.
#[derive(clap::Args, Debug)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Config {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand, Debug)]
enum What {
    Show(Show),
}

/// Show each setting, its value, and where the value comes from.
#[derive(clap::Args, Debug)]
struct Show {
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub fn run(args: &Config) -> Result<ExitCode, CliError> {
    let What::Show(show) = &args.what;
    let settings = Settings::read()?;
    let from = |source: &Source| match source {
        Source::Environment(variable) => format!("environment, {variable}"),
        Source::File(path) => path.display().to_string(),
    };
    if show.json {
        let all = settings.all().map(|(key, _, _, value)| {
            let value = value.map(
                |value| serde_json::json!({ "value": value.text, "from": from(&value.source) }),
            );
            (key.to_owned(), serde_json::json!(value))
        });
        let values: serde_json::Map<_, _> = all.collect();
        let file = settings
            .file
            .as_ref()
            .map(|file| file.display().to_string());
        json::print(
            "config",
            &serde_json::json!({ "file": file, "settings": values }),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new("", &["setting", "option", "value", "from"]);
    for (key, option, variable, value) in settings.all() {
        let (text, source) = match value {
            Some(value) => (value.text.clone(), from(&value.source)),
            None => ("not set".to_owned(), format!("set {variable}, or the file")),
        };
        table.row([key.to_owned(), option.to_owned(), text, source]);
    }
    if let Some(file) = &settings.file {
        let there = if file.exists() {
            ""
        } else {
            " (does not exist yet)"
        };
        table.note(format!("file: {}{there}", file.display()));
    }
    output::print(&output::table(&table))?;
    Ok(ExitCode::SUCCESS)
}
