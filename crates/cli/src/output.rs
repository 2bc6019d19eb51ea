//! Where results go: standard output, or a file that appears whole or not at all.

use crate::error::CliError;
use crate::log::{self, About, Level};
use crate::progress;
use crate::terminal::{for_terminal, harmless, without_secrets, write_error};
use std::fmt::Display;
use std::fs::File;
#[cfg(unix)]
use std::fs::Permissions;
use std::io::{BufReader, IsTerminal, Read, Write};
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tapewise_formats::list::Separator;
use tapewise_formats::list_out::{ListOutError, write_list};
use tapewise_plot::Table;
use terminal_size::{Height, Width, terminal_size_of};

/// Writes to a file by way of a temporary one beside it, or to standard output.
///
/// What is to be written is made in full first: an error on the way leaves nothing half written.
/// A link is followed. What is no regular file, such as a pipe or a device, is written to and not
/// replaced. A file that was there keeps its mode, a new one gets what the umask leaves.
pub fn write(
    path: Option<&Path>,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut text = Vec::new();
    fill(&mut text)?;
    let Some(path) = path.filter(|path| *path != Path::new("-")) else {
        let mut out = StandardOutput;
        let written = progress::aside(|| out.write_all(&text).and_then(|()| out.flush()));
        return written.map_err(CliError::failed);
    };
    let bad = |error: &dyn Display| CliError::failed(format!("{}: {error}", path.display()));
    let resolved = path.canonicalize();
    let target = resolved.as_deref().unwrap_or(path);
    let there = std::fs::metadata(target).ok();
    if there.as_ref().is_some_and(|there| !there.is_file()) {
        let file = File::options().write(true).open(target);
        return file
            .and_then(|mut file| file.write_all(&text))
            .map_err(|e| bad(&e));
    }
    let parent = target
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let directory = parent.unwrap_or(Path::new("."));
    if !directory.is_dir() {
        return Err(bad(&format!(
            "there is no directory {}",
            directory.display()
        )));
    }
    let mode = there.map(|there| there.permissions());
    let mut new = tempfile::Builder::new();
    new.prefix(".tapewise-");
    #[cfg(unix)]
    new.permissions(mode.clone().unwrap_or(Permissions::from_mode(0o666)));
    let _whole = no_file_half_written();
    let mut file = new.tempfile_in(directory).map_err(|e| bad(&e))?;
    file.write_all(&text).map_err(|e| bad(&e))?;
    if let Some(mode) = mode {
        file.as_file().set_permissions(mode).map_err(|e| bad(&e))?;
    }
    file.as_file().sync_all().map_err(|e| bad(&e))?;
    file.persist(target).map_err(|e| bad(&e.error))?;
    // The name lasts too. Not every file system syncs directories, and the file is there.
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
    Ok(())
}

/// Refuses outputs, each with the option that names it, that would be written over one of the inputs or over each other. A
/// file is the same whatever it is called, and through links; one that is not there yet by its name. Call it before
/// anything is written.
pub fn refuse_clashes<'a>(
    outputs: impl IntoIterator<Item = (&'a str, Option<&'a Path>)>,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), CliError> {
    let inputs: Vec<_> = inputs
        .into_iter()
        .map(|path| (path, identity(path)))
        .collect();
    let mut before: Vec<(&str, &Path, Option<_>)> = Vec::new();
    for (option, path) in outputs {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            continue;
        };
        let own = identity(path);
        let over = inputs
            .iter()
            .find(|(_, input)| own.is_some() && *input == own);
        if let Some((input, _)) = over {
            let (output, input) = (path.display(), input.display());
            return Err(CliError::input(format!(
                "{option} {output} would write over {input}, which is read"
            ))
            .hint("give the output another name"));
        }
        let same = before
            .iter()
            .find(|(_, other, its)| *other == path || (own.is_some() && *its == own));
        if let Some((other, ..)) = same {
            let both = path.display();
            return Err(CliError::input(format!(
                "{other} and {option} both name {both}"
            )));
        }
        before.push((option, path, own));
    }
    Ok(())
}

/// Which regular file a path leads to, if any.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    let there = std::fs::metadata(path).ok()?;
    there.is_file().then(|| (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<std::path::PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_file())
}

/// Held while a file is written that is to appear whole.
static WRITING: Mutex<()> = Mutex::new(());

/// Waits until no file is half written, and keeps it so.
pub fn no_file_half_written() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The hint of `order` and `convert` about a name with a line break.
pub const AS_LIST0: &str = "--to list0 ends names with a zero byte";

/// Writes names as a list; a name that a list cannot hold is bad input, and `hint` says what can.
pub fn write_names<'a>(
    out: &mut dyn Write,
    names: impl Iterator<Item = &'a [u8]>,
    separator: Separator,
    hint: &str,
) -> Result<(), CliError> {
    let mut out = out;
    write_list(&mut out, names, separator).map_err(|error| match error {
        ListOutError::Io(_) => CliError::failed(error),
        _ => CliError::input(error).hint(hint),
    })
}

/// Prints a text on standard output. A terminal is shown what would mislead it in escapes; a pipe or a file gets
/// names as they are.
pub fn print(text: &str) -> Result<(), CliError> {
    let text = without_secrets(text);
    let text = if std::io::stdout().is_terminal() {
        harmless(&text)
    } else {
        text
    };
    write(None, |out| {
        out.write_all(text.as_bytes()).map_err(CliError::failed)
    })
}

/// A table for standard output.
pub fn table(table: &Table) -> String {
    fitted(table, terminal_size_of(std::io::stdout()))
}

/// The same for standard error, which may be a terminal while the result goes into a file.
pub fn table_to_say(table: &Table) -> String {
    fitted(table, terminal_size_of(std::io::stderr()))
}

/// A table as wide as `COLUMNS` has it, else the terminal. Without either it is fit for a mail or a page of notes.
fn fitted(table: &Table, terminal: Option<(Width, Height)>) -> String {
    let wanted = std::env::var("COLUMNS").ok();
    let wanted = wanted.and_then(|columns| columns.trim().parse::<u16>().ok());
    let width = wanted.or(terminal.map(|(Width(columns), _)| columns));
    format!("{table:width$}", width = usize::from(width.unwrap_or(80)))
}

/// Says something on standard error, to a person, or to a program that asked for JSON.
pub fn say(text: impl Display) {
    say_about(About::default(), text);
}

/// Says what `--quiet` leaves out.
pub fn remark(quiet: bool, text: &dyn std::fmt::Display) {
    if !quiet {
        say(format_args!("tapewise: {text}\n"));
    }
}

/// The same, and a log for programs has what it is about.
pub fn say_about(about: About<'_>, text: impl Display) {
    let text = text.to_string();
    if log::is_json() {
        let text = text.trim_end();
        let message = text.strip_prefix("tapewise: ").unwrap_or(text);
        log::write(Level::Info, about, message);
    } else if progress::is_json() {
        progress::message(&text);
    } else {
        progress::aside(|| write_error(&for_terminal(&text)));
    }
}

/// Says on standard error what went wrong. A program that asked for JSON has it in the last object.
pub fn say_error(error: &CliError) {
    if log::is_json() {
        let about = About {
            hint: error.to_do(),
            ..About::default()
        };
        return log::write(Level::Error, about, error.message());
    }
    if progress::is_json() {
        return;
    }
    say(format_args!("tapewise: {}\n", error.message()));
    if let Some(hint) = error.to_do() {
        say(format_args!("hint: {hint}\n"));
    }
}

/// Standard output, where a reader that has seen enough (`head`, `less`) is no error.
struct StandardOutput;

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match std::io::stdout().write(bytes) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match std::io::stdout().flush() {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

/// Refuses a list that has one file twice, by one name or by two. Each counts once, in these words.
pub fn refuse_twice(paths: &[impl AsRef<Path>], once: &str) -> Result<(), CliError> {
    let mut seen: Vec<(&Path, Option<_>)> = Vec::new();
    for path in paths.iter().map(AsRef::as_ref) {
        let id = identity(path);
        let is_it =
            |(other, its): &&(&Path, Option<_>)| *other == path || (id.is_some() && *its == id);
        if let Some((other, _)) = seen.iter().find(is_it) {
            let also = if *other == path {
                String::new()
            } else {
                format!(", also as {}", other.display())
            };
            let twice = format!("given twice{also}; {once}");
            return Err(CliError::input(twice).of(path.display()));
        }
        seen.push((path, id));
    }
    Ok(())
}

/// Refuses a list that has a file and a copy of it. Each counts once, in these words. One line may well be the same in two
/// files: a log in which nothing happened has its header alone.
pub fn refuse_copies(paths: &[impl AsRef<Path>], once: &str) -> Result<(), CliError> {
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    for (at, path) in paths.iter().enumerate() {
        let mut before = paths[..at].iter();
        if let Some(other) = before.find(|other| is_copy(path, other).unwrap_or(false)) {
            let copy = format!("has the same contents as {}; {once}", other.display());
            return Err(CliError::input(copy).of(path.display()));
        }
    }
    Ok(())
}

/// Whether two files have the same contents, of several lines.
fn is_copy(one: &Path, other: &Path) -> std::io::Result<bool> {
    // What is no file, such as a pipe, is not opened twice.
    let there = [std::fs::metadata(one)?, std::fs::metadata(other)?];
    if there[0].len() != there[1].len() || !there.iter().all(std::fs::Metadata::is_file) {
        return Ok(false);
    }
    let bytes = |path: &Path| Ok::<_, std::io::Error>(BufReader::new(File::open(path)?).bytes());
    let mut lines = 0;
    for (one, other) in bytes(one)?.zip(bytes(other)?) {
        let byte = one?;
        if byte != other? {
            return Ok(false);
        }
        lines += u32::from(byte == b'\n');
    }
    Ok(lines > 1)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_copy_of_a_file_is_refused_unless_it_has_a_header_alone() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for (name, contents) in [("a", "h\n1\n"), ("b", "h\n1\n"), ("c", "h\n2\n")] {
            std::fs::write(at(name), contents).unwrap();
            std::fs::write(at(&format!("{name}-none")), "h\n").unwrap();
        }
        let refused = refuse_copies(&[at("a"), at("c"), at("b")], "each hour counts once");
        let said = refused.unwrap_err();
        assert!(
            said.message().contains("the same contents as"),
            "{}",
            said.message()
        );
        refuse_copies(&["a", "c", "a-none", "b-none", "gone"].map(at), "").unwrap();
    }

    #[test]
    fn an_output_is_refused_over_an_input_under_any_name() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for name in ["in", "other"] {
            std::fs::write(at(name), name).unwrap();
        }
        symlink("in", at("link")).unwrap();
        std::fs::hard_link(at("in"), at("hard")).unwrap();
        let refuse = |output: &Path| {
            let inputs = [at("in"), at("absent")];
            let inputs = inputs.iter().map(|path| path.as_path());
            refuse_clashes([("--plot", None), ("--output", Some(output))], inputs)
        };
        for same in ["in", "link", "hard", "./in"] {
            let error = refuse(&at(same)).unwrap_err();
            assert!(
                error.message().starts_with("--output "),
                "{}",
                error.message()
            );
        }
        for free in ["other", "absent", "new"] {
            refuse(&at(free)).unwrap();
        }
        let both = |one: &Path, other: &Path| {
            let outputs = [("--plot", Some(one)), ("--html", Some(other))];
            refuse_clashes(outputs, [])
        };
        for (one, other) in [("new", "new"), ("in", "hard")] {
            let error = both(&at(one), &at(other)).unwrap_err();
            let words = "--plot and --html both name";
            assert!(error.message().starts_with(words), "{}", error.message());
        }
        both(&at("new"), &at("newer")).unwrap();
        let null = Path::new("/dev/null");
        refuse_clashes([("--output", Some(null))], [null]).unwrap();
    }
}
