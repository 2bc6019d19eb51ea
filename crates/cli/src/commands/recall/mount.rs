//! `recall --ltfs-mount`: a copy from a mounted LTFS, in our order.

use super::Recall;
use super::copy::{self, Item};
use super::report::{self, Report};
use crate::batch::{self, Batch, Input};
use crate::error::{CliError, Exit};
use crate::placement::{self, Placed};
use crate::search::{Row, compute};
use crate::{interrupt, output, units};
use std::io::BufReader;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use tapewise_archive::deliver::{
    Check, Destination, Expected, InnerPath, Metadata, Problem, shown,
};
use tapewise_archive::sums::{Kind, Ledger, ltfs_sum, read_sums};
use tapewise_order::{Action, Algorithm};

/// Runs the mode.
pub fn run(args: &Recall) -> Result<ExitCode, CliError> {
    let say = |text: &dyn std::fmt::Display| {
        if !args.quiet {
            output::say(format_args!("tapewise: {text}\n"));
        }
    };
    let (list, label) = (args.files_from.as_deref(), args.ltfs_label.as_deref());
    let mut batch = batch::load(&Input::of_mount(&args.ltfs_mount, list, args.null, label))?;
    say(&batch.recognised);
    batch.notices.iter().for_each(|notice| say(notice));
    super::super::order::refuse_several_volumes(&batch)?;
    let items = items(args, &batch, &say)?;
    let destination = destination(args)?;
    let check = match &destination {
        Some(destination) => checked(destination, &items)?,
        None => Check::default(),
    };
    for alike in &check.elsewhere {
        say(&format_args!("{alike}: two files here, but one elsewhere"));
    }
    if !check.there.is_empty() {
        say(&format_args!(
            "{} there already",
            units::count(check.there.len(), "file")
        ));
    }
    let items = without_those_there(&mut batch, items, &check);
    let placed = placement::place(&batch, &args.placement)?;
    let row = compute(&placed, Algorithm::Best, &args.search)
        .ok_or_else(|| CliError::failed("no order was found"))?;
    say(&format_args!("positions: {}", placed.provenance));
    say(&promise(&placed, &row, args));
    let order = reading_order(&batch, &placed, &row);
    if args.dry_run {
        output::print(&dry_run(&batch, &placed, &row, &order))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(destination) = destination else {
        return Err(CliError::failed("the destination was not opened"));
    };
    let stop = interrupt::stop_on_interrupt()?;
    let start_ns = report::now_ns();
    let ordered: Vec<&Item> = order.iter().map(|&at| &items[at]).collect();
    let mut report = Report::new(check.there.into_iter().map(|(_, delivered)| delivered));
    copy::copy(&ordered, &destination, &stop, &mut report, &say);
    if !args.no_mhl {
        report.write_mhl(&destination, &args.to, start_ns, &say)?;
    }
    say(&report);
    if stop.load(Ordering::Relaxed) && report.is_incomplete(ordered.len()) {
        let left = units::count(report.missing(ordered.len()), "file");
        let said = format!("interrupted, {left} left");
        return Err(CliError::with(Exit::Interrupted, said).hint("the same command goes on"));
    }
    report.exit(ordered.len())
}

/// What is known of each file of the list: its checksums, time, mode and attributes.
fn items(
    args: &Recall,
    batch: &Batch,
    say: &dyn Fn(&dyn std::fmt::Display),
) -> Result<Vec<Item>, CliError> {
    let mut ledger = ledger(args, say)?;
    let mut items = Vec::new();
    for request in &batch.requests {
        let path = InnerPath::new(&request.id).map_err(CliError::input)?;
        let source = args.ltfs_mount.join(&request.id);
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
        items.push(Item {
            path,
            source,
            expected,
        });
    }
    let known = items.iter().filter(|item| !item.expected.sums.is_empty());
    say(&format_args!(
        "checksums are known of {} of {}",
        known.count(),
        units::count(items.len(), "file")
    ));
    Ok(items)
}

/// The lists of sums that were given; a contradiction between them is an error.
fn ledger(args: &Recall, say: &dyn Fn(&dyn std::fmt::Display)) -> Result<Ledger, CliError> {
    let mut ledger = Ledger::default();
    for list in &args.sums {
        let name = list.display().to_string();
        let bad = |error: &dyn std::fmt::Display| CliError::input(format!("{name}: {error}"));
        let file = std::fs::File::open(list).map_err(|e| bad(&e))?;
        let read =
            read_sums(BufReader::with_capacity(1 << 20, file), &name).map_err(|e| bad(&e))?;
        for notice in &read.notices {
            say(&format_args!("{name}: {notice}"));
        }
        let directory = list.parent().and_then(|parent| {
            let parent = parent.strip_prefix(&args.ltfs_mount).ok()?;
            Some(parent.as_os_str().as_bytes())
        });
        let added = ledger.add_list(&name, directory.unwrap_or_default(), &read.sums);
        if let Some(conflict) = added.conflicts.first() {
            return Err(CliError::input(conflict)
                .hint("one of the two is wrong: leave out the list that is"));
        }
        say(&format_args!(
            "{name}: {}, {}",
            read.form,
            units::count(added.taken, "checksum")
        ));
        if let Some(first) = added.outside.first() {
            say(&format_args!(
                "{name}: {} that cannot be below the volume, the first is {}",
                units::count(added.outside.len(), "name"),
                shown(first)
            ));
        }
    }
    Ok(ledger)
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

/// The destination, made if it is not there; `None` where it is not and nothing is to be done.
fn destination(args: &Recall) -> Result<Option<Destination>, CliError> {
    if args.dry_run && !args.to.is_dir() {
        output::say(format_args!(
            "tapewise: {} is not there yet: nothing in it was checked\n",
            args.to.display()
        ));
        return Ok(None);
    }
    std::fs::create_dir_all(&args.to)
        .map_err(|error| CliError::input(format!("{}: {error}", args.to.display())))?;
    let destination = Destination::open(&args.to).map_err(CliError::input)?;
    Ok(Some(match args.replace {
        true => destination.replacing(),
        false => destination,
    }))
}

/// Looks for what would go wrong before the tape moves.
fn checked(destination: &Destination, items: &[Item]) -> Result<Check, CliError> {
    const SHOWN: usize = 10;
    let files: Vec<(InnerPath, Expected)> = items
        .iter()
        .map(|item| (item.path.clone(), item.expected.clone()))
        .collect();
    let check = destination.check(&files).map_err(CliError::failed)?;
    if check.problems.is_empty() {
        return Ok(check);
    }
    let mut said: Vec<String> = check
        .problems
        .iter()
        .take(SHOWN)
        .map(|p| p.to_string())
        .collect();
    if check.problems.len() > SHOWN {
        said.push(format!("and {} more", check.problems.len() - SHOWN));
    }
    let said = format!("nothing was read: {}", said.join("\n  "));
    let error = CliError::with(Exit::Refused, said);
    let is_there = |problem: &Problem| matches!(problem, Problem::Exists(..));
    Err(match check.problems.iter().any(is_there) {
        true => error.hint("--replace lets files that are others make way; or deliver elsewhere"),
        false => error,
    })
}

/// What is still to be read; the batch keeps the same requests.
fn without_those_there(batch: &mut Batch, items: Vec<Item>, check: &Check) -> Vec<Item> {
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

/// The requests as they are read; what has no blocks needs no tape and comes first.
fn reading_order(batch: &Batch, placed: &Placed, row: &Row) -> Vec<usize> {
    let empty = (0..batch.requests.len()).filter(|&at| batch.requests[at].extents.is_empty());
    let read = row.plan.order.requests(&placed.problem);
    let read = read
        .into_iter()
        .map(|request| placed.owners[request as usize].0);
    empty.chain(read).collect()
}

/// What it will take, and what it would take sorted by blocks, which is how others copy.
fn promise(placed: &Placed, row: &Row, args: &Recall) -> String {
    let sorted = compute(placed, Algorithm::Sort, &args.search);
    let beside = sorted.map(|sorted| format!(", sorted by blocks {}", sorted.total()));
    format!(
        "{} as predicted: {} positioning, {} reading{}",
        row.total(),
        row.plan.totals.locate,
        row.plan.totals.read,
        beside.unwrap_or_default()
    )
}

/// A line for each file in the order of reading: when its reading begins, how long it takes, its length.
fn dry_run(batch: &Batch, placed: &Placed, row: &Row, order: &[usize]) -> String {
    let mut times = vec![None; batch.requests.len()];
    for step in row
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
    let mut lines = format!("{:>8} {:>8} {:>8}  file\n", "begins", "reading", "bytes");
    for &at in order {
        let request = &batch.requests[at];
        let bytes: u64 = request
            .extents
            .iter()
            .filter_map(|extent| batch.bytes(extent))
            .sum();
        let (begins, reading) = match times[at] {
            Some((begin, took)) => (begin.to_string(), took.to_string()),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let name = shown(request.id.as_bytes());
        let bytes = units::bytes(bytes);
        lines.push_str(&format!("{begins:>8} {reading:>8} {bytes:>8}  {name}\n"));
    }
    lines
}
