//! Where results go: standard output, or a file that appears whole or not at all.

use crate::error::CliError;
use std::io::Write;
use std::path::Path;

/// Writes to a file by way of a temporary one beside it, or to standard output.
pub fn write(
    path: Option<&Path>,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let Some(path) = path.filter(|path| *path != Path::new("-")) else {
        let mut out = std::io::BufWriter::new(StandardOutput);
        fill(&mut out)?;
        return out.flush().map_err(CliError::failed);
    };
    let bad =
        |error: &dyn std::fmt::Display| CliError::failed(format!("{}: {error}", path.display()));
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .prefix(".tapewise-")
        .tempfile_in(directory.unwrap_or(Path::new(".")))
        .map_err(|e| bad(&e))?;
    let mut out = std::io::BufWriter::new(file.as_file_mut());
    fill(&mut out)?;
    out.flush().map_err(|e| bad(&e))?;
    drop(out);
    file.as_file().sync_all().map_err(|e| bad(&e))?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(mode).map_err(|e| bad(&e))?;
    file.persist(path).map_err(|e| bad(&e.error))?;
    Ok(())
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
