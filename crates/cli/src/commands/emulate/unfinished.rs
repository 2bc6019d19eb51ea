//! A library that is being made: what was made of it goes away again if something goes wrong.

use crate::error::CliError;
use std::fs;
use std::path::{Path, PathBuf};

/// The directory of such a library. When this is dropped, what is in it is removed, unless it was kept.
pub(super) struct Unfinished {
    directory: PathBuf,
    /// The highest directory that was not there before.
    topmost: Option<PathBuf>,
    is_kept: bool,
}

impl Unfinished {
    /// Begins in a directory that does not exist or is empty: whatever is in it later was made.
    pub fn begin(directory: &Path) -> Result<Unfinished, CliError> {
        let name = directory.display();
        if directory.exists() {
            let mut entries = fs::read_dir(directory)
                .map_err(|error| CliError::input(format!("{name}: {error}")))?;
            if entries.next().is_some() {
                let what = format!("{name}: the directory is not empty");
                return Err(CliError::input(what).hint("name one that is empty or does not exist"));
            }
        }
        let missing = directory.ancestors().take_while(|path| !path.exists());
        Ok(Unfinished {
            directory: directory.to_owned(),
            // The empty path before a relative one is the directory that we are in.
            topmost: (missing.filter(|path| !path.as_os_str().is_empty()))
                .last()
                .map(Path::to_owned),
            is_kept: false,
        })
    }

    /// The library is whole.
    pub fn keep(mut self) {
        self.is_kept = true;
    }

    fn remove(&self) -> std::io::Result<()> {
        match &self.topmost {
            Some(topmost) if topmost.exists() => return fs::remove_dir_all(topmost),
            Some(_) => return Ok(()),
            None => {}
        }
        for entry in fs::read_dir(&self.directory)? {
            let path = entry?.path();
            if path.is_dir() {
                fs::remove_dir_all(path)?;
            } else {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_kept
            && let Err(error) = self.remove()
        {
            let name = self.directory.display();
            crate::output::say(format_args!(
                "tapewise: {name}: {error}; the unfinished library is left there\n"
            ));
        }
    }
}
