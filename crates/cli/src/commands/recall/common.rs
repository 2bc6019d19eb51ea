//! What both ways of recalling do before anything is read.

use super::Recall;
use crate::error::{CliError, Exit};
use crate::{output, units};
use std::io::BufReader;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tapewise_archive::deliver::{Check, Destination, Expected, InnerPath, Problem, shown};
use tapewise_archive::sums::{Ledger, read_sums};

/// What is kept of a recall that did not come to its end, and how to go on.
pub const GO_ON: &str =
    "every file that has arrived is complete and stays; the same command recalls the rest";

/// The lists of sums that were given; a contradiction between them is an error.
pub fn ledger(
    lists: &[PathBuf],
    top: Option<&Path>,
    say: &dyn Fn(&dyn std::fmt::Display),
) -> Result<Ledger, CliError> {
    let mut ledger = Ledger::default();
    for list in lists {
        let name = list.display().to_string();
        let bad = |error: &dyn std::fmt::Display| CliError::input(format!("{name}: {error}"));
        let file = std::fs::File::open(list).map_err(|e| bad(&e))?;
        let read =
            read_sums(BufReader::with_capacity(1 << 20, file), &name).map_err(|e| bad(&e))?;
        for notice in &read.notices {
            say(&format_args!("{name}: {notice}"));
        }
        let directory = list.parent().and_then(|parent| {
            let parent = parent.strip_prefix(top?).ok()?;
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

/// Refuses a destination that cannot become a directory, because something else has its name or that of a directory
/// above it.
pub fn is_no_file(to: &Path) -> Result<(), CliError> {
    let there = to.ancestors().find(|path| path.exists());
    let Some(file) = there.filter(|path| !path.is_dir()) else {
        return Ok(());
    };
    let said = format!(
        "--to {}: {} is not a directory, and files are recalled into one",
        to.display(),
        file.display()
    );
    Err(CliError::input(said).hint(
        "name a directory; tapewise makes it if it is missing, and each file gets its path below it",
    ))
}

/// The destination, made if it is not there; `None` where it is not and nothing is to be done.
pub fn destination(args: &Recall) -> Result<Option<Destination>, CliError> {
    is_no_file(args.to())?;
    if args.dry_run && !args.to().is_dir() {
        output::say(format_args!(
            "tapewise: {} does not exist yet, so tapewise checked nothing in it\n",
            args.to().display()
        ));
        return Ok(None);
    }
    std::fs::create_dir_all(args.to())
        .map_err(|error| CliError::input(format!("{}: {error}", args.to().display())))?;
    let destination = Destination::open(args.to()).map_err(CliError::input)?;
    Ok(Some(if args.replace {
        destination.replacing()
    } else {
        destination
    }))
}

/// Looks for what would go wrong before the tape moves.
pub fn checked<'a>(
    destination: &Destination,
    files: impl Iterator<Item = (&'a InnerPath, &'a Expected)>,
) -> Result<Check, CliError> {
    const SHOWN: usize = 10;
    let files: Vec<(InnerPath, Expected)> = files
        .map(|(path, expected)| (path.clone(), expected.clone()))
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
    Err(if check.problems.iter().any(is_there) {
        error.hint("--replace overwrites these files; or give another directory with --to")
    } else {
        error
    })
}

/// Says what is there already, and which names would be one file elsewhere.
pub fn say_check(check: &Check, say: &dyn Fn(&dyn std::fmt::Display)) {
    for alike in &check.elsewhere {
        say(&format_args!("{alike}: two files here, but one elsewhere"));
    }
    if !check.there.is_empty() {
        say(&format_args!(
            "{} there already",
            units::count(check.there.len(), "file")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_no_destination_and_nothing_below_it_is() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("list.txt");
        std::fs::write(&file, "").expect("a file");
        for to in [&file, &file.join("out")] {
            let error = is_no_file(to).expect_err("a file");
            let said = error.message();
            assert_eq!(error.exit(), Exit::Input);
            let words = format!("{} is not a directory", file.display());
            assert!(said.contains(&words), "{said}");
        }
        is_no_file(directory.path()).expect("a directory");
        is_no_file(&directory.path().join("new/out")).expect("made when it is needed");
    }
}
