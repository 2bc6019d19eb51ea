//! Five papers about tape, computed again: every table and figure with our numbers beside the published ones, and
//! every claim with how it came out. What the papers publish lies in `claims.toml`, as data.
//!
//! This crate belongs to the program `tapewise` (`tapewise reproduce`) and promises nothing to others.
//!
//! ```no_run
//! let report = tapewise_papers::Study::Nersc.report(&[1], false, &|done| eprintln!("{done}"))?;
//! println!("{}", report.claim_table());
//! # Ok::<(), tapewise_papers::PaperError>(())
//! ```

mod cern;
mod claims;
mod emulated;
mod error;
mod figures;
mod gniewek;
mod hillyer;
mod johnson_miller;
mod nersc;
pub mod page;
mod published;

pub use claims::{Bound, Compared, Kind, Report, Verdict};
use claims::{Computed, Ours, Paper};
pub use error::PaperError;
pub use hillyer::learned_key_points;
pub use published::{Published, Quantity, published};

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
    /// All of them, in the order in which they are shown.
    pub const ALL: [Study; 5] = [
        Study::Hillyer,
        Study::Cern,
        Study::JohnsonMiller,
        Study::Nersc,
        Study::Gniewek,
    ];

    /// Computes the paper's claims with each of these seeds, and its tables and figures with the first. `full` is with
    /// the paper's own number of trials.
    ///
    /// # Errors
    /// When there is no seed, or a part of the study cannot be carried out.
    pub fn report(
        self,
        seeds: &[u64],
        full: bool,
        progress: Progress,
    ) -> Result<Report, PaperError> {
        let paper = Paper::load(self.key())?;
        let (first, others) = seeds.split_first().ok_or("no seed")?;
        let computed = self.compute(&paper, *first, full, progress)?;
        let mut by_seed = vec![(*first, computed.ours)];
        for seed in others {
            by_seed.push((*seed, self.gated(&paper, *seed, full)?));
        }
        Ok(Report {
            claims: paper.compare(by_seed)?,
            name: self.name(),
            paper: paper.paper,
            seed: *first,
            seeds: seeds.to_vec(),
            tables: computed.tables,
            figures: computed.figures,
        })
    }

    fn compute(
        self,
        paper: &Paper,
        seed: u64,
        full: bool,
        progress: Progress,
    ) -> Result<Computed, PaperError> {
        match self {
            Study::Hillyer => hillyer::compute(paper, seed, full, progress),
            Study::Cern => cern::compute(paper, seed, full),
            Study::JohnsonMiller => johnson_miller::compute(paper, seed),
            Study::Nersc => nersc::compute(paper, seed, full),
            Study::Gniewek => gniewek::compute(paper, seed, full),
        }
    }

    /// Only what the claims rest on that are to hold: for all seeds but the first.
    fn gated(self, paper: &Paper, seed: u64, full: bool) -> Result<Ours, PaperError> {
        match self {
            Study::Hillyer => hillyer::gated(paper, seed, full),
            Study::Cern => cern::gated(paper, seed, full),
            Study::JohnsonMiller => johnson_miller::gated(paper, seed),
            Study::Nersc => nersc::gated(paper, seed),
            Study::Gniewek => gniewek::gated(paper, seed, full),
        }
    }

    /// What `reproduce` calls the study.
    pub fn name(self) -> &'static str {
        match self {
            Study::Hillyer => "hillyer",
            Study::Cern => "cern",
            Study::JohnsonMiller => "johnson-miller",
            Study::Nersc => "nersc",
            Study::Gniewek => "gniewek",
        }
    }

    /// What the study is called in `claims.toml`.
    fn key(self) -> &'static str {
        match self {
            Study::Hillyer => "hillyer_1996",
            Study::Cern => "cern_2018",
            Study::JohnsonMiller => "johnson_miller_1998",
            Study::Nersc => "nersc_2001",
            Study::Gniewek => "gniewek_1999",
        }
    }
}
