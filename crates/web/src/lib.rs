//! What the page asks of the engine: questions and answers as JSON, files through a reader of the page's.
//!
//! The page is the third face of the crate [`tapewise`], beside the command line and the C interface, and adds nothing
//! of its own: it reads LTFS indexes or a CSV, finds the names of a list, orders each tape, and writes the order in the
//! formats that the command line writes. The same files, drive and seed give the same bytes as `tapewise order`, and
//! the same scenario the same numbers as `tapewise simulate`.
//!
//! - [`desk`]: what was dropped on the page, and every question about it
//! - [`sizing`]: a library under load, replication by replication
//! - [`papers`]: figures of the papers, computed for what their sliders say
//! - [`ask`]: questions as values; [`answer`]: what comes back
//! - `exports` (in the module only): the three functions that the page calls, and the one that it gives

pub mod answer;
pub mod ask;
pub mod desk;
#[cfg(target_arch = "wasm32")]
pub mod exports;
pub mod papers;
pub mod sizing;
