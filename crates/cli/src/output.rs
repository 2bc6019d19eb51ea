//! Where results go: standard output, or a file that appears whole or not at all.

use crate::error::CliError;
use std::fmt::Display;
use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes to a file by way of a temporary one beside it, or to standard output.
///
/// A link is followed. What is no regular file, such as a pipe or a device, is written to and not
/// replaced. A file that was there keeps its mode, a new one gets what the umask leaves.
pub fn write(
    path: Option<&Path>,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let Some(path) = path.filter(|path| *path != Path::new("-")) else {
        return filled(StandardOutput, fill, &CliError::failed);
    };
    let bad = |error: &dyn Display| CliError::failed(format!("{}: {error}", path.display()));
    let resolved = path.canonicalize();
    let target = resolved.as_deref().unwrap_or(path);
    let there = std::fs::metadata(target).ok();
    if there.as_ref().is_some_and(|there| !there.is_file()) {
        let file = File::options()
            .write(true)
            .open(target)
            .map_err(|e| bad(&e))?;
        return filled(file, fill, &|e| bad(&e));
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
    let mode = there.map_or(Permissions::from_mode(0o666), |there| there.permissions());
    let mut file = tempfile::Builder::new()
        .prefix(".tapewise-")
        .permissions(mode.clone())
        .tempfile_in(directory)
        .map_err(|e| bad(&e))?;
    filled(file.as_file_mut(), fill, &|e| bad(&e))?;
    if resolved.is_ok() {
        file.as_file().set_permissions(mode).map_err(|e| bad(&e))?;
    }
    file.as_file().sync_all().map_err(|e| bad(&e))?;
    file.persist(target).map_err(|e| bad(&e.error))?;
    Ok(())
}

fn filled(
    out: impl Write,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), CliError>,
    bad: &dyn Fn(std::io::Error) -> CliError,
) -> Result<(), CliError> {
    let mut out = std::io::BufWriter::new(out);
    fill(&mut out)?;
    out.flush().map_err(bad)
}

/// Says something on standard error; that nobody listens is no error.
pub fn say(text: impl Display) {
    let _ = write!(std::io::stderr(), "{text}");
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
