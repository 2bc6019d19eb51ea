//! Re-planning: what to read next while requests come and go and the map turns out to be wrong.
//!
//! [`Running`] is a batch being read: requests arrive, are cancelled, fail or complete, and none is
//! lost or read twice. [`Running::replan`] orders what is left from where the head will be, in
//! milliseconds. [`Recall`] is a running batch that takes the drive's own positions into its map;
//! [`rehearse`] carries one out on paper, on a tape that lies otherwise than believed.

mod expected;
mod insert;
mod probe;
mod recall;
mod rehearse;
mod running;

pub use insert::{How, Replanned, Replanner};
pub use probe::{ProbeChoice, probe_blocks};
pub use recall::{Policy, Recall};
pub use rehearse::{Arrival, Rehearsal, TrueTape, rehearse, rehearse_cta};
pub use running::{Again, EventError, Outcome, Running, State};
