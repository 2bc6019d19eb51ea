//! tapewise: order reads from tape so that they finish soonest.
//!
//! Everything that plans works on any system; the archive, and drives that are no emulations, are Linux's.
#![cfg_attr(
    not(target_os = "linux"),
    allow(
        dead_code,
        unused_imports,
        unused_variables,
        reason = "verbs that are Linux's share parts with the others"
    )
)]

mod acceptance;
#[cfg(target_os = "linux")]
mod archive;
mod batch;
#[cfg(target_os = "linux")]
mod buckets;
mod commands;
#[cfg(target_os = "linux")]
mod crew;
mod device;
mod error;
mod explain;
#[cfg(target_os = "linux")]
mod gather;
mod goal;
mod html;
mod interrupt;
mod json;
mod judge;
mod log;
mod log_file;
#[cfg(target_os = "linux")]
mod moving;
mod names;
mod now;
mod output;
mod person;
mod placement;
mod plot;
mod profiles;
mod progress;
mod quantity;
mod rao;
mod scenario;
mod search;
mod settings;
#[cfg(target_os = "linux")]
mod socket;
#[cfg(target_os = "linux")]
mod systemd;
#[cfg(target_os = "linux")]
mod telemetry;
mod terminal;
mod threads;
mod twin;
mod units;
#[cfg(target_os = "linux")]
mod watch;
mod wear;

use clap::error::ContextKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use error::CliError;
use progress::Form;
use settings::Settings;
use std::process::ExitCode;
use std::sync::LazyLock;
use tapewise_formats::event_log::VERSION as EVENT_LOG;
use tapewise_formats::plan_json::{PLAN_FORMAT, PLAN_VERSION};

/// Read tapes in the fastest order.
#[derive(Parser, Debug)]
#[command(
    name = "tapewise",
    version = VERSION,
    long_version = LONG_VERSION.as_str(),
    max_term_width = 100,
    help_template = help(),
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
    /// Show progress as line, json or none [default: line]; see `tapewise help progress`.
    #[arg(long, global = true, value_name = "FORM", hide_possible_values = true)]
    progress: Option<Form>,
}

/// The version, with the commit where `make build` or `make dist` has set `TAPEWISE_VERSION`.
const VERSION: &str = match option_env!("TAPEWISE_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// The version, the versions of what the program reads and writes, and what was built in.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let features = if cfg!(feature = "page") {
        "page"
    } else {
        "none"
    };
    format!(
        "{VERSION}\n{}plan {PLAN_FORMAT}/{PLAN_VERSION}, event log {EVENT_LOG}\nfeatures: {features}",
        archive_versions()
    )
});

#[cfg(target_os = "linux")]
fn archive_versions() -> String {
    use tapewise_archive::{catalogue::KNOWN_SCHEMA, volume::FORMAT};
    format!("catalogue schema {KNOWN_SCHEMA}, tape format {FORMAT}, ")
}

/// The archive is Linux's.
#[cfg(not(target_os = "linux"))]
fn archive_versions() -> String {
    String::new()
}

/// The verbs in groups, which clap cannot do by itself; a test keeps it true.
const HELP: &str = "\
{about}

{usage-heading} tapewise <VERB> [OPTIONS]

Read
  order      Find the fastest order for a list of reads
  convert    Convert requests of any format into CSV or a list
  recall     Recall files from tape in the fastest order

Drive
  drive      Show, load, unload, map and check a tape drive, and decode its answers
  library    Show a library, move its cartridges, clean drives, and test how fast it is
  fit        Fit a profile to the log of a drive
  measure    Measure how long a drive takes for everything it does
  profile    List, show, compare and validate profiles of drives and libraries

Plan
  simulate   Simulate a library under load: response times and their causes
  capacity   Find how many drives and robots, and which batch window, meet a target
  page       Write the page that plans tapes and sizes libraries in a browser

Archive
  store      Put files into an archive and onto tape (experimental)
  catalog    Make an archive, find files in it, verify, repack and back up
  serve      Answer recall requests over HTTP (experimental)
  mover      Move an archive's files with the drives of this host, beside other movers (experimental)

Evidence
  audit      Show where the drive-hours of a log went, and what other orders would have cost
  demo       Show the main job without hardware: write, recall three ways, recover from a crash
  reproduce  Compute the tables and figures of five papers again, ours beside theirs
  emulate    Make an emulated drive or library in a directory
  doctor     Report what this machine lacks to use its drives, and who uses them
  sense      Explain a sense code in words

Help
  config     Show the defaults that are set
  help       Print the help of a verb, or a page of the manual

Options
{options}

`tapewise <VERB> --help` explains a verb. Lists come from standard input, results go to standard
output, and everything else goes to standard error. Tables are as wide as the terminal, and 80
characters wide in a pipe or a file; set COLUMNS=120 for another width.
";

/// The verbs that are there on Linux only.
const LINUX_ONLY: [&str; 7] = [
    "recall", "store", "catalog", "serve", "mover", "demo", "doctor",
];

/// The help of what this system has, and what was built in.
fn help() -> String {
    let is_linux = cfg!(target_os = "linux");
    let is_here = |line: &&str| {
        let word = line.split_whitespace().next().unwrap_or_default();
        let is_built_in = word != "page" || cfg!(feature = "page");
        is_built_in && (is_linux || word != "Archive" && !LINUX_ONLY.contains(&word))
    };
    let here: Vec<&str> = HELP.lines().filter(is_here).collect();
    if is_linux {
        return here.join("\n") + "\n";
    }
    let rest = LINUX_ONLY.join(", ");
    format!("{}\n\nOn Linux there are also {rest}.\n", here.join("\n"))
}

#[derive(Subcommand, Debug)]
enum Verb {
    Order(Box<commands::order::OrderArgs>),
    Convert(commands::convert::Convert),
    #[cfg(target_os = "linux")]
    Recall(Box<commands::recall::Recall>),
    #[cfg(target_os = "linux")]
    Store(commands::store::Store),
    #[cfg(target_os = "linux")]
    Catalog(commands::catalog::Catalog),
    #[cfg(target_os = "linux")]
    Serve(commands::serve::Serve),
    #[cfg(target_os = "linux")]
    Mover(commands::mover::Mover),
    Drive(commands::drive::Drive),
    Library(commands::library::Library),
    Fit(commands::fit::Fit),
    Measure(Box<commands::measure::Measure>),
    Profile(commands::profile::Profile),
    Simulate(Box<commands::simulate::Simulate>),
    Capacity(Box<commands::capacity::Capacity>),
    // It is there in every program, and says where to get one that has it.
    #[cfg_attr(not(feature = "page"), command(hide = true))]
    Page(commands::page::Page),
    Reproduce(commands::reproduce::Reproduce),
    Audit(commands::audit::Audit),
    #[cfg(target_os = "linux")]
    Demo(commands::demo::Demo),
    Emulate(commands::emulate::Emulate),
    #[cfg(target_os = "linux")]
    Doctor(commands::doctor::Doctor),
    Sense(commands::sense::SenseArgs),
    Config(commands::config::Config),
    Help(commands::help::Help),
    #[command(hide = true)]
    Manual(commands::manual::Manual),
}

fn main() -> ExitCode {
    let result = parsed().and_then(|cli| match cli {
        Parsed::Cli(cli) => run(&cli),
        Parsed::Answered(code) => Ok(code),
    });
    progress::end(&result);
    result.unwrap_or_else(|error| {
        output::say_error(&error);
        ExitCode::from(error.exit() as u8)
    })
}

/// What became of the command line.
enum Parsed {
    Cli(Box<Cli>),
    /// It asked for help or was wrong, and was answered.
    Answered(ExitCode),
}

/// Reads the command line, with the defaults that are set.
fn parsed() -> Result<Parsed, CliError> {
    let settings = Settings::read()?;
    let parsed = settings.apply(Cli::command()).try_get_matches();
    let parsed = parsed.and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches)?;
        progress::begin(cli.progress.unwrap_or_default(), verb_of(&matches));
        Ok(cli)
    });
    Ok(match parsed {
        Ok(cli) => Parsed::Cli(Box::new(cli)),
        Err(error) => Parsed::Answered(usage(&error)),
    })
}

/// The verb in words, as `library stress`.
fn verb_of(matches: &clap::ArgMatches) -> String {
    let mut words = Vec::new();
    let mut matches = matches;
    while let Some((word, below)) = matches.subcommand() {
        words.push(word);
        matches = below;
    }
    words.join(" ")
}

/// What to tell a person who interrupts a verb that keeps nothing of unfinished work.
fn begins_again(verb: &Verb) -> Option<&'static str> {
    match verb {
        Verb::Simulate(_) => Some(
            "nothing is kept of this run. --shard I/N makes the replications in parts, which --merge puts together",
        ),
        Verb::Order(args) if args.search.may_be_long() => None,
        Verb::Audit(args) if args.search.may_be_long() => None,
        Verb::Order(_)
        | Verb::Audit(_)
        | Verb::Convert(_)
        | Verb::Fit(_)
        | Verb::Capacity(_)
        | Verb::Reproduce(_) => Some("nothing is kept of this run; the same command begins again"),
        _ => None,
    }
}

fn run(cli: &Cli) -> Result<ExitCode, CliError> {
    if let Some(hint) = begins_again(&cli.verb) {
        interrupt::end_on_interrupt(hint)?;
    }
    match &cli.verb {
        Verb::Order(args) => commands::order::run(args),
        Verb::Convert(args) => commands::convert::run(args),
        #[cfg(target_os = "linux")]
        Verb::Recall(args) => commands::recall::run(args),
        #[cfg(target_os = "linux")]
        Verb::Store(args) => commands::store::run(args),
        #[cfg(target_os = "linux")]
        Verb::Catalog(args) => commands::catalog::run(args),
        #[cfg(target_os = "linux")]
        Verb::Serve(args) => commands::serve::run(args),
        #[cfg(target_os = "linux")]
        Verb::Mover(args) => commands::mover::run(args),
        Verb::Drive(args) => commands::drive::run(args),
        Verb::Library(args) => commands::library::run(args),
        Verb::Fit(args) => commands::fit::run(args),
        Verb::Measure(args) => commands::measure::run(args),
        Verb::Profile(args) => commands::profile::run(args),
        Verb::Simulate(args) => commands::simulate::run(args),
        Verb::Capacity(args) => commands::capacity::run(args),
        Verb::Page(args) => commands::page::run(args),
        Verb::Reproduce(args) => commands::reproduce::run(args),
        Verb::Audit(args) => commands::audit::run(args),
        #[cfg(target_os = "linux")]
        Verb::Demo(args) => commands::demo::run(args),
        Verb::Emulate(args) => commands::emulate::run(args),
        #[cfg(target_os = "linux")]
        Verb::Doctor(args) => commands::doctor::run(args),
        Verb::Sense(args) => commands::sense::run(args),
        Verb::Config(args) => commands::config::run(args),
        Verb::Help(args) => commands::help::run(args),
        Verb::Manual(args) => commands::manual::run(args),
    }
}

/// Prints what is wrong with the command line; a missing profile with the ones that are likely.
fn usage(error: &clap::Error) -> ExitCode {
    let missing = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    let _ = error.print();
    if missing.is_some_and(|missing| missing.contains("--profile <")) {
        output::say(format_args!("hint: {}\n", profiles::likely()));
    }
    let verb = error.get(ContextKind::InvalidSubcommand);
    if verb.is_some_and(|verb| LINUX_ONLY.contains(&verb.to_string().as_str())) {
        output::say(format_args!(
            "hint: this verb works with drives and files as Linux has them, and is there on Linux only\n"
        ));
    }
    ExitCode::from(error.exit_code() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_verb_with_its_own_words() {
        for verb in Cli::command()
            .get_subcommands()
            .filter(|verb| !verb.is_hide_set())
        {
            let about = verb
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            let line = format!("  {:<10} {about}\n", verb.get_name());
            assert!(HELP.contains(&line), "{line:?}");
        }
        let has_page = help().contains("\n  page  ");
        assert_eq!(has_page, commands::page::PAGE.is_some());
        Cli::command().debug_assert();
    }

    /// Every option and argument that takes a value, with the verbs before it.
    fn values(command: &clap::Command, verbs: &str, found: &mut Vec<(String, clap::Arg)>) {
        for arg in command.get_arguments() {
            if arg.get_action().takes_values() {
                found.push((format!("{verbs} {arg}"), arg.clone()));
            }
        }
        for verb in command.get_subcommands() {
            values(verb, &format!("{verbs} {}", verb.get_name()), found);
        }
    }

    /// What an argument makes of a text.
    fn tried(arg: &clap::Arg, text: &str) -> Result<(), String> {
        let alone = clap::Arg::new("it").value_parser(arg.get_value_parser().clone());
        let command = clap::Command::new("tapewise").arg(alone.allow_hyphen_values(true));
        let parsed = command.try_get_matches_from(["tapewise", text]);
        parsed.map(drop).map_err(|error| error.to_string())
    }

    /// Verbs without --json: what they print is a file, a page or a demonstration, and no result; a service answers.
    const NO_JSON: [&str; 14] = [
        "convert",
        "demo",
        "drive check",
        "drive map",
        "emulate",
        "help",
        "library accept",
        "library bench pattern",
        "library bench prepare",
        "manual",
        "measure",
        "mover",
        "page",
        "serve",
    ];

    #[test]
    fn every_verb_that_has_a_result_prints_it_as_json() {
        fn without(command: &clap::Command, path: &str, found: &mut Vec<String>) {
            let is_json = |arg: &clap::Arg| arg.get_long() == Some("json");
            let is_verb = !command.is_subcommand_required_set() && !path.is_empty();
            if is_verb && !command.get_arguments().any(is_json) {
                found.push(path.to_owned());
            }
            for verb in command.get_subcommands() {
                without(verb, format!("{path} {}", verb.get_name()).trim(), found);
            }
        }
        let mut found = Vec::new();
        without(&Cli::command(), "", &mut found);
        found.sort();
        assert_eq!(found, NO_JSON);
    }

    #[test]
    fn every_number_takes_units_and_a_bad_one_is_answered_with_an_example() {
        use std::any::TypeId;
        let mut all = Vec::new();
        let mut command = Cli::command();
        command.build();
        values(&command, "tapewise", &mut all);
        let whole = [
            TypeId::of::<u16>(),
            TypeId::of::<u32>(),
            TypeId::of::<u64>(),
            TypeId::of::<usize>(),
            TypeId::of::<i32>(),
            TypeId::of::<i64>(),
        ];
        let numbers = |arg: &clap::Arg| {
            let kind = arg.get_value_parser().type_id();
            let others = [TypeId::of::<f64>(), TypeId::of::<std::time::Duration>()];
            whole.iter().chain(&others).any(|known| kind == *known)
        };
        let mut seen = 0;
        for (name, arg) in all.iter().filter(|(_, arg)| numbers(arg)) {
            seen += 1;
            let said = tried(arg, "12 parsecs").expect_err(name);
            for raw in ["invalid digit", "invalid float", "out of range", "not in "] {
                assert!(!said.contains(raw), "{name}: {said}");
            }
            assert!(
                said.contains("give ") || said.contains("hexadecimal"),
                "{name}: {said}"
            );
            let unit = arg.get_value_names().unwrap_or_default();
            let examples: &[&str] = match unit.first().map_or("", |unit| unit.as_str()) {
                "BYTES" => &["64", "64K", "64KiB", "64kB"],
                "SIZE" => &["64", "512GB", "2TB"],
                "TIME" => &["5s", "90s", "10m", "1h30m"],
                "TIMES" => &["5s", "10m", "1.5h"],
                "HOURS" | "MINUTES" => &["5", "90m", "1h30m"],
                "KEY" | "LEVEL" | "PERCENT" => &["5"],
                _ => &["5", "1e0"],
            };
            for text in examples {
                if let Err(said) = tried(arg, text) {
                    panic!("{name} {text}: {said}");
                }
            }
        }
        assert!(seen > 40, "{seen} numbers");
    }
}
