//! A scenario made from a site's logs (`--from-log`, `audit --policy`), checked against the responses that they show.

use crate::error::CliError;
use crate::output::{refuse_copies, refuse_twice, say};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use tapewise_formats::asked_csv::{is_asked, read_asked};
use tapewise_formats::cta_log::{CtaLogError, read_cta_log_of};
use tapewise_formats::event_log::read_events;
use tapewise_model::units;
use tapewise_sim::Scenario;
use tapewise_sim::library::Site;
use tapewise_sim::scenario::Overload;
use tapewise_sim::twin::{Assumed, CheckedUser, Log, Twin, TwinError};

/// Runs of the twin that its logs are compared with.
pub const CHECKED: u64 = 5;

/// Users that are shown.
const USERS: usize = 20;

/// The key of the mount policy, which has options of its own.
pub const POLICY_MOUNT: &str = "policy.mount";

/// Why a year is of no use.
pub const NO_CTA: &str = "--year is for the log of CTA, and none was given";

/// The twin that these logs make. What is odd in them goes to standard error, and what they do not tell, except values of
/// keys that are set.
pub fn made(
    paths: &[PathBuf],
    year: Option<i16>,
    is_set: impl Fn(&str) -> bool,
) -> Result<Twin, CliError> {
    let of_option = |error: CliError| error.of("--from-log");
    let logs = logs(paths.iter(), year).map_err(of_option)?;
    if year.is_some() && !logs.iter().any(|log| matches!(log, Log::Cta(_))) {
        return Err(CliError::input(NO_CTA));
    }
    for (path, log) in paths.iter().zip(&logs) {
        for notice in log.notices() {
            say(format_args!("tapewise: {}: {notice}\n", path.display()));
        }
    }
    let twin = of(&logs).map_err(of_option)?;
    let assumed = assumed(&twin, is_set);
    if !assumed.is_empty() {
        say("tapewise: the logs do not tell, so this was taken (--set changes what has a key):\n");
    }
    for assumed in assumed {
        say(format_args!("  {assumed}\n"));
    }
    Ok(twin)
}

/// What logs do not tell of a twin, in words, except values of keys that are set.
pub fn assumed(twin: &Twin, is_set: impl Fn(&str) -> bool) -> Vec<String> {
    let counts = |one: &&Assumed| !one.key.is_some_and(&is_set);
    let assumed = twin.assumed.iter().filter(counts);
    assumed.map(Assumed::to_string).collect()
}

/// Logs of any kind; `year` is that of the first line of CTA's log.
pub fn logs<'a>(
    paths: impl Iterator<Item = &'a PathBuf>,
    year: Option<i16>,
) -> Result<Vec<Log>, CliError> {
    let paths: Vec<&PathBuf> = paths.collect();
    refuse_twice(&paths, "each request counts once")?;
    refuse_copies(&paths, "each request counts once")?;
    paths.into_iter().map(|path| read(path, year)).collect()
}

/// The twin of the site that wrote these logs.
pub fn of(logs: &[Log]) -> Result<Twin, CliError> {
    Twin::new(logs).map_err(|error| match error {
        TwinError::Undated => {
            CliError::input(error).hint("--year gives the year of its first line")
        }
        error => CliError::input(error),
    })
}

/// Compares the twin as the options left it with the responses in the logs: `--set` may have mended it.
pub fn check(
    twin: &Twin,
    scenario: &Scenario,
    site: Result<Site, Overload>,
) -> Result<(), CliError> {
    if twin.responses_s.is_empty() {
        say("tapewise: the logs show no responses, so nobody knows how far off the twin is\n");
        return Ok(());
    }
    let made = Scenario::from_toml(&twin.text);
    let made = made.map_err(|error| CliError::input(error).of("--from-log"))?;
    // The answers to other requests are no answers to those of the logs.
    if scenario.arrivals != made.arrivals
        || scenario.what.names != made.what.names
        || scenario.requests != made.requests
    {
        say("tapewise: --set changes the requests, so the twin is not compared with the logs\n");
        return Ok(());
    }
    let site = match site {
        Ok(site) => site,
        Err(overload) => {
            say(format_args!(
                "tapewise: not compared with the logs: {overload}\n"
            ));
            return Ok(());
        }
    };
    let check = twin.check(&site, CHECKED).map_err(CliError::failed)?;
    for one in check.all {
        let (low, high) = (one.twin_s.low().max(0.0), one.twin_s.high());
        let verdict = if one.twin_s.contains(one.log_s) {
            "within"
        } else {
            "OUTSIDE"
        };
        say(format_args!(
            "tapewise: {}: {:.1} s in the logs, {:.1} s in the twin ({:+.1} %), {verdict} the {low:.1} to {high:.1} s of one run\n",
            one.name,
            one.log_s,
            one.twin_s.estimate,
            one.off() * 100.0,
        ));
    }
    say_of_users(check.users);
    Ok(())
}

/// The same for each user, those with most requests first.
fn say_of_users(mut users: Vec<CheckedUser>) {
    users.sort_by_key(|user| std::cmp::Reverse(user.requests));
    for user in users.iter().take(USERS) {
        let (low, high) = (user.twin_s.low().max(0.0), user.twin_s.high());
        say(format_args!(
            "tapewise: {}, {}: mean {:.1} s in the logs, {:.1} s in the twin ({low:.1} to {high:.1} s in one run)\n",
            user.owner,
            units::count(user.requests, "request"),
            user.log_s,
            user.twin_s.estimate,
        ));
    }
    if users.len() > USERS {
        let others = units::count(users.len() - USERS, "other user");
        say(format_args!(
            "tapewise: {others} with fewer requests not shown\n"
        ));
    }
}

/// A log of any kind, recognised by its first line.
fn read(path: &Path, year: Option<i16>) -> Result<Log, CliError> {
    let bad = |why: &dyn std::fmt::Display| CliError::input(format!("{}: {why}", path.display()));
    let file = File::open(path).map_err(|error| bad(&error))?;
    let mut input = BufReader::new(file);
    let mut first = Vec::new();
    input
        .by_ref()
        .take(FIRST_BYTES)
        .read_until(b'\n', &mut first)
        .map_err(|error| bad(&error))?;
    if first.is_empty() {
        return Err(bad(&"the file is empty"));
    }
    input.rewind().map_err(|error| bad(&error))?;
    let first = String::from_utf8_lossy(&first);
    if first.contains("\"tapewise_events\"") {
        return read_events(input)
            .map(|log| Log::Events(log.on_tape()))
            .map_err(|error| bad(&error));
    }
    if is_asked(&first) {
        return read_asked(input)
            .map(Log::Asked)
            .map_err(|error| bad(&error));
    }
    read_cta_log_of(input, year).map(Log::Cta).map_err(|error| {
        let error = match error {
            CtaLogError::NothingRead { .. } => bad(&"nothing in it says what was asked for"),
            error => bad(&error),
        };
        error.hint(
            "give a table with arrived_s and cartridge, an event log of tapewise, or the log of CTA's tape daemon at level INFO",
        )
    })
}

/// A first line is looked at as far as this.
const FIRST_BYTES: u64 = 64 << 10;
