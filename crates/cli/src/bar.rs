//! A line with how far a long work has come, on a terminal only.

use crate::output;
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Display;

/// The line. It goes when this is dropped.
pub struct Bar(ProgressBar);

impl Bar {
    pub fn new() -> Bar {
        Bar(ProgressBar::new_spinner().with_style(
            ProgressStyle::with_template("{msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner()),
        ))
    }

    /// One that shows nothing if nothing is to be shown.
    pub fn unless(quiet: bool) -> Bar {
        if quiet {
            Bar(ProgressBar::hidden())
        } else {
            Bar::new()
        }
    }

    pub fn show(&self, line: impl Display) {
        self.0.set_message(output::for_terminal(&line.to_string()));
        self.0.tick();
    }

    /// Clears the progress line, prints, and draws the line again.
    pub fn aside(&self, work: impl FnOnce()) {
        self.0.suspend(work);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
