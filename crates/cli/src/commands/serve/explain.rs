//! `tapewise serve --explain-next`: what drives do with the queue, and why.

use crate::archive::Archive;
use crate::error::CliError;
use crate::now::now_ns;
use crate::output::{print, say};
use crate::units;
use std::path::Path;
use std::process::ExitCode;
use tapewise_archive::catalogue::{OutOfUse, RequestId};
use tapewise_archive::forecast::{BusyDrive, Forecast};
use tapewise_archive::mover::OwnerShare;
use tapewise_archive::movers::why_nobody_begins;
use tapewise_archive::pull_list::{Asking, Pull};
use tapewise_model::Micros;

/// Prints who has how many drives, what drives read, and which cartridge comes next.
pub fn run(directory: &Path) -> Result<ExitCode, CliError> {
    let archive = Archive::open(directory)?;
    let asking = Asking {
        files: &[],
        now_ns: now_ns(),
        drives: archive.settings.drives.len(),
        robots: archive.settings.changers.len().max(1),
    };
    // First, because it ends leases that are over.
    let nobody = why_nobody_begins(archive.catalogue.as_ref(), asking.now_ns)?;
    let settings = archive.settings_on_paper()?;
    let forecast = Forecast::of(
        archive.catalogue.as_ref(),
        asking,
        archive.settings.cache_high_bytes,
        &settings,
    )?;
    let is_empty = forecast.disabled.is_empty() && forecast.without_room.is_empty();
    if forecast.pulls.is_empty() && is_empty {
        say("tapewise: no recall waits for a cartridge\n");
    }
    if let Some(why) = nobody.as_ref().filter(|_| !forecast.pulls.is_empty()) {
        print(&format!("nothing is read now: {why}\n"))?;
    }
    print(&in_words(&forecast, nobody.is_none()))?;
    if let Some(why) = &forecast.no_room {
        let recalls = units::count(forecast.without_room.len(), "recall");
        say(format_args!("tapewise: {recalls} not planned: {why}\n"));
    }
    if forecast.beyond > 0 {
        let beyond = units::count(forecast.beyond, "recall");
        say(format_args!(
            "tapewise: {beyond} come after these; so long a queue is not planned to its end\n"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// The forecast, with times if somebody `works`.
fn in_words(forecast: &Forecast, works: bool) -> String {
    let shares = forecast.shares.iter().map(share);
    let busy = forecast.busy.iter().map(busy);
    shares
        .chain(busy)
        .chain(forecast.pulls.iter().map(|pull| next(pull, works)))
        .chain(forecast.disabled.iter().map(disabled))
        .collect()
}

/// What a user has of the drives, and what holds some of the recalls back.
fn share(share: &OwnerShare) -> String {
    let mut words = format!(
        "{}: {} at work, {:.1} due, {} in the queue\n",
        share.owner,
        units::count(share.drives, "drive"),
        share.due,
        units::count(share.waiting, "recall")
    );
    for (why, recalls) in &share.held {
        let recalls = units::count(*recalls, "recall");
        words += &format!("  {recalls} held back: {why}\n");
    }
    words
}

/// What a drive reads now.
fn busy(busy: &BusyDrive) -> String {
    let who = match &busy.lease {
        Some(lease) => format!("drive {} on {}", lease.drive, lease.holder.host),
        None => "a drive".to_owned(),
    };
    format!(
        "{who}: reads {} for {}, {} left, {}, about {} more at most\n",
        busy.label,
        busy.owner,
        units::count(busy.recalls, "recall"),
        units::bytes(busy.bytes),
        busy.most
    )
}

/// A cartridge that is not mounted until somebody puts it into use again.
fn disabled((what, recalls): &(OutOfUse, Vec<RequestId>)) -> String {
    let recalls = units::count(recalls.len(), "recall");
    format!("{}: not mounted, {recalls}; {what}\n", what.name)
}

/// A cartridge that is mounted next, and why. If nobody `works`, nobody knows when.
fn next(pull: &Pull, works: bool) -> String {
    let (has, due) = pull.has_and_due;
    let begins = match pull.begins {
        _ if !works => "when somebody reads it".to_owned(),
        Micros::ZERO => "now".to_owned(),
        begins => format!("in about {begins}"),
    };
    format!(
        "{}: {begins}, {}, {}, about {}, for {}, who has {} of {due:.1} due, because {}\n",
        pull.label,
        units::count(pull.files, "file"),
        units::bytes(pull.bytes),
        pull.drive_time,
        pull.owner,
        units::count(has, "drive"),
        pull.why
    )
}
