//! `recall --ltfs-mount`: a copy from a mounted LTFS, in our order.

use super::report::Report;
use super::{Recall, common};
use crate::batch::{self, Input, Wanted};
use crate::error::{CliError, Exit};
use crate::progress::{Meter, State};
use crate::units;
use crate::{interrupt, json, output};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use tapewise::{Batch, Found, Goal, Placed};
use tapewise_archive::deliver::{
    self, Check, Copied, CopyItem, Destination, Expected, InnerPath, Metadata, shown,
};
use tapewise_archive::sums::{Kind, ltfs_sum};
use tapewise_order::{Action, Algorithm};

/// Runs the mode.
pub fn run(args: &Recall, mount: &Path) -> Result<ExitCode, CliError> {
    let say = |text: &dyn std::fmt::Display| output::remark(args.quiet, text);
    let wanted = Wanted {
        names: args.names.clone(),
        files_from: args.files_from.clone(),
        all_files: args.all_files,
        null: args.null,
        ignore_missing: args.ignore_missing,
        matching: args.matching.clone(),
    };
    let label = args.ltfs_label.as_deref();
    let (mut batch, nameless) = batch::load_mount(&Input::of_mount(mount, label, wanted), mount)?;
    say(&batch.recognised);
    batch.notices.iter().for_each(|notice| say(notice));
    batch.check_orderable()?;
    let items = items(args, mount, &batch, &say)?;
    refuse_inside(args.to(), mount)?;
    let destination = common::destination(args)?;
    let check = match &destination {
        Some(destination) => common::checked(
            destination,
            items.iter().map(|item| (&item.path, &item.expected)),
        )?,
        None => Check::default(),
    };
    common::say_check(&check, &say);
    let items = without_those_there(&mut batch, items, &check);
    let cartridge = args.placement.cartridge()?;
    let placed = cartridge.place(batch, &args.placement.placement())?;
    let found = args
        .search
        .watched(|| placed.search(&Goal::default(), &args.search.effort()))?;
    say(&format_args!("positions: {}", placed.provenance));
    say(&promise(&placed, &found, args));
    let order = placed.reading_order(&found.plan);
    if args.dry_run {
        output::print(&dry_run(&placed, &found, &order, args.json)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(destination) = destination else {
        return Err(CliError::failed("the destination was not opened"));
    };
    let stop = interrupt::stop_on_interrupt()?;
    let start_ns = crate::now::now_ns();
    let ordered: Vec<&CopyItem> = order.iter().map(|&at| &items[at]).collect();
    let mut report = Report::new(check.there.into_iter().map(|(_, delivered)| delivered));
    nameless.iter().for_each(|_| report.left_out());
    let files = ordered.len() + nameless.len();
    copy(&ordered, &destination, &stop, &mut report, args.quiet);
    if !args.no_mhl {
        report.write_mhl(&destination, args.to(), start_ns, &say)?;
    }
    say(&report);
    if args.json {
        let document = serde_json::json!({
            "predicted_s": found.total().as_secs_f64(),
            "delivered": report.files_json(),
            "missing": report.missing(files),
        });
        json::print("recall", &document)?;
    }
    if stop.load(Ordering::Relaxed) && report.is_incomplete(files) {
        let left = units::count(report.missing(files), "file");
        let said = format!("interrupted, {left} left");
        return Err(CliError::with(Exit::Interrupted, said).hint(common::GO_ON));
    }
    report.exit(files).map_err(|error| match nameless.len() {
        0 => error,
        count => error.hint(format!(
            "{} with a name that is not UTF-8: copy with another program; the same command tries the others again",
            units::count(count, "file")
        )),
    })
}

/// Copies the files in this order, into the report.
fn copy(
    ordered: &[&CopyItem],
    destination: &Destination,
    stop: &AtomicBool,
    report: &mut Report,
    quiet: bool,
) {
    let meter = Meter::unless(quiet);
    let of_bytes = ordered.iter().map(|item| item.expected.bytes).sum();
    let (mut done, mut bytes) = (0, 0);
    deliver::copy(ordered, destination, stop, &mut |copied| {
        match copied {
            Copied::Delivered(delivered, took) => {
                bytes += delivered.bytes;
                report.delivered(delivered, took);
            }
            Copied::Failed(error) => {
                output::remark(quiet, &error);
                report.failed(&error);
            }
            Copied::Unreadable(source, error) => {
                output::remark(quiet, &format_args!("{}: {error}", source.display()));
                report.unreadable(&error);
            }
        }
        done += 1;
        meter.show(State {
            bytes: Some(bytes),
            of_bytes: Some(of_bytes),
            ..State::counted("file", done, Some(ordered.len() as u64))
        });
    });
}

/// What is known of each file of the list: its checksums, time, mode and attributes.
fn items(
    args: &Recall,
    mount: &Path,
    batch: &Batch,
    say: &dyn Fn(&dyn std::fmt::Display),
) -> Result<Vec<CopyItem>, CliError> {
    let mut ledger = common::ledger(&args.sums, Some(mount), say)?;
    let mut items = Vec::new();
    for request in &batch.requests {
        let path = InnerPath::new(&request.id).map_err(CliError::input)?;
        let source = mount.join(&request.id);
        let bad = |error: &dyn std::fmt::Display| {
            CliError::input(format!("{}: {error}", source.display()))
        };
        let there = std::fs::metadata(&source).map_err(|e| bad(&e))?;
        let attributes = attributes(&source).map_err(|e| bad(&e))?;
        for (name, value) in &attributes {
            let stored = name.strip_prefix(b"user.ltfs.hash.");
            let stored = stored.and_then(|name| ltfs_sum(std::str::from_utf8(name).ok()?, value));
            if let Some(sum) = stored {
                let added = ledger.add("its attributes", &path, None, &sum);
                added.map_err(CliError::input)?;
            }
        }
        let sums = ledger.of(&path, there.len());
        let expected = Expected {
            bytes: there.len(),
            sums: sums.map_err(CliError::input)?,
            also: vec![Kind::Xxh64],
            sparse: false,
            metadata: Metadata {
                modified_ns: Some(there.mtime() * 1_000_000_000 + there.mtime_nsec()),
                mode: Some(there.mode()),
                // Whoever mounted the volume owns all of it: that says nothing of the file.
                owner: None,
                attributes,
            },
        };
        items.push(CopyItem {
            path,
            source,
            expected,
        });
    }
    let known = items.iter().filter(|item| !item.expected.sums.is_empty());
    say(&format_args!(
        "{} of {} have a known checksum",
        known.count(),
        units::count(items.len(), "file")
    ));
    Ok(items)
}

/// The attributes of a file that are its own; those by which LTFS shows its place would be untrue anywhere else.
fn attributes(path: &Path) -> std::io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut attributes = Vec::new();
    for name in xattr::list(path)? {
        let bytes = name.as_bytes();
        let shows = bytes.starts_with(b"user.ltfs.") && !bytes.starts_with(b"user.ltfs.hash.");
        if shows || !bytes.starts_with(b"user.") {
            continue;
        }
        if let Some(value) = xattr::get(path, &name)? {
            attributes.push((bytes.to_vec(), value));
        }
    }
    Ok(attributes)
}

/// What is still to be read; the batch keeps the same requests.
fn without_those_there(batch: &mut Batch, items: Vec<CopyItem>, check: &Check) -> Vec<CopyItem> {
    let mut is_there = vec![false; items.len()];
    for (at, _) in &check.there {
        is_there[*at] = true;
    }
    let mut left = is_there.iter();
    batch.requests.retain(|_| left.next() == Some(&false));
    let items = items.into_iter().zip(&is_there);
    items
        .filter(|(_, there)| !**there)
        .map(|(item, _)| item)
        .collect()
}

/// What it will take, and what it would take sorted by blocks, which is how others copy.
fn promise(placed: &Placed, found: &Found, args: &Recall) -> String {
    let sorted = placed.order(Algorithm::Sort, &args.search.effort());
    let beside = sorted
        .ok()
        .map(|sorted| format!(", sorted by blocks {}", sorted.total()));
    format!(
        "{} as predicted: {} positioning, {} reading{}",
        found.total(),
        found.plan.totals.locate,
        found.plan.totals.read,
        beside.unwrap_or_default()
    )
}

/// A line for each file in the order of reading: when its reading begins, how long it takes, its length.
fn dry_run(
    placed: &Placed,
    found: &Found,
    order: &[usize],
    as_json: bool,
) -> Result<String, CliError> {
    let batch = &placed.batch;
    let mut times = vec![None; batch.requests.len()];
    for step in found
        .plan
        .steps
        .iter()
        .filter(|step| step.action == Action::Read)
    {
        for &request in &placed.problem.visits()[step.visit as usize].requests {
            let (owner, _) = placed.owners[request as usize];
            let (_, took) = times[owner].get_or_insert((step.begin, tapewise_model::Micros::ZERO));
            *took += step.duration;
        }
    }
    let bytes_of = |at: usize| -> u64 {
        let extents = batch.requests[at].extents.iter();
        let known = extents.filter_map(|extent| batch.bytes(extent));
        known.fold(0, u64::saturating_add)
    };
    if as_json {
        let files = order.iter().map(|&at| {
            serde_json::json!({
                "path": batch.requests[at].id,
                "bytes": bytes_of(at),
                "begins_s": times[at].map(|(begin, _)| begin.as_secs_f64()),
            })
        });
        let files: Vec<serde_json::Value> = files.collect();
        let predicted_s = found.total().as_secs_f64();
        let document = serde_json::json!({ "predicted_s": predicted_s, "files": files });
        return json::text("recall-plan", &document);
    }
    let mut lines = format!("{:>8} {:>8} {:>8}  file\n", "begins", "reading", "bytes");
    for &at in order {
        let request = &batch.requests[at];
        let bytes = bytes_of(at);
        let (begins, reading) = match times[at] {
            Some((begin, took)) => (begin.to_string(), took.to_string()),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let name = shown(request.id.as_bytes());
        let bytes = units::bytes(bytes);
        lines.push_str(&format!("{begins:>8} {reading:>8} {bytes:>8}  {name}\n"));
    }
    Ok(lines)
}

/// What is recalled must not go onto the tape that it comes from.
fn refuse_inside(to: &Path, mount: &Path) -> Result<(), CliError> {
    // The part of the destination that is there already.
    let there = to.ancestors().find_map(|part| match part.as_os_str() {
        part if part.is_empty() => Path::new(".").canonicalize().ok(),
        part => Path::new(part).canonicalize().ok(),
    });
    match (there, mount.canonicalize()) {
        (Some(there), Ok(mount)) if there.starts_with(&mount) => Err(CliError::input(format!(
            "--to {}: lies in the mounted volume, so the files would go onto its tape",
            to.display()
        ))),
        _ => Ok(()),
    }
}
