//! Five papers about tape, computed again: every table and figure with our numbers beside the published ones, and
//! every claim with how it came out. What the papers publish lies in `claims.toml`, as data.
//!
//! This crate belongs to the program `tapewise` (`tapewise reproduce`) and promises nothing to others.
//!
//! ```no_run
//! let report = tapewise_papers::Study::Nersc.report(1, false, &|done| eprintln!("{done}"))?;
//! println!("{}", report.claim_table());
//! # Ok::<(), tapewise_papers::PaperError>(())
//! ```

mod cern;
mod claims;
mod emulated;
mod gniewek;
mod hillyer;
mod johnson_miller;
mod nersc;

pub use claims::{Bound, Compared, Report, Verdict};

/// What stopped a study. All that a reader can do about it is to read it, because all inputs are this crate's own.
pub type PaperError = Box<dyn std::error::Error + Send + Sync>;

/// A paper that can be computed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Study {
    /// Hillyer & Silberschatz 1996.
    Hillyer,
    /// CERN 2018.
    Cern,
    /// Johnson & Miller 1998.
    JohnsonMiller,
    /// NERSC 2001.
    Nersc,
    /// Gniewek, Davidson & Caldwell 1999.
    Gniewek,
}

/// Hears how far a long study has come.
pub type Progress<'a> = &'a dyn Fn(&dyn std::fmt::Display);

impl Study {
    /// Computes the paper's tables, claims and figures. `full` is with the paper's own number of trials.
    ///
    /// # Errors
    /// When a part of the study cannot be carried out.
    pub fn report(self, seed: u64, full: bool, progress: Progress) -> Result<Report, PaperError> {
        match self {
            Study::Hillyer => hillyer::report(seed, full, progress),
            Study::Cern => cern::report(seed, full),
            Study::JohnsonMiller => johnson_miller::report(seed),
            Study::Nersc => nersc::report(seed, full),
            Study::Gniewek => gniewek::report(seed, full),
        }
    }
}
