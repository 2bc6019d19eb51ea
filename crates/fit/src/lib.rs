//! Fits locate-time models to measured moves, and says on held-out data how good they are.
//!
//! ```
//! use tapewise_fit::{Ground, least_squares};
//!
//! // Two columns, intercept and distance: t = 4 + 2 d, but for a second here and there.
//! let rows = [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]];
//! let times = [4.5, 5.5, 8.5, 9.5];
//! let fit = least_squares(&["(Intercept)", "distance"], &rows, &times)?;
//! assert!((fit.estimate(1) - 1.8).abs() < 1e-12);
//! # Ok::<(), tapewise_fit::FitError>(())
//! ```

pub mod blind;
mod candidate;
mod distributions;
mod held_out;
mod kind;
mod landing;
mod least_squares;
mod regression;
mod robust;
mod sample;

pub use candidate::{Candidate, Coefficients, Fitted};
pub use distributions::{f_tail, student_t_tails};
pub use held_out::{Comparison, Folding, Score, Scored, compare};
pub use kind::Kind;
pub use landing::{Landed, Structure};
pub use least_squares::{Table, Term, least_squares};
pub use sample::{FitError, Ground, LEAST_SAMPLES, Sample};
