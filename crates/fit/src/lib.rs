//! Fits locate-time models to measured moves, and says on held-out data how good they are.
//!
//! [`log::Records`] reads logs of all kinds, [`fit_records`] fits them, and [`fitted_profile`] makes a profile of what
//! was found:
//!
//! ```
//! use tapewise_fit::{FitOptions, Places, fit_records, fitted_profile, log::Records};
//! use tapewise_model::{Position, PositionSource, Random, profile};
//!
//! // A log, here made up by the model of the profile itself.
//! let base = profile::find("lto8")?;
//! let (geometry, model) = (base.geometry()?, base.locate_model(None)?);
//! let mut random = Random::new(1, 0);
//! let mut place = || Position {
//!     partition: 0,
//!     wrap: random.below(geometry.wraps.into()) as u16,
//!     lpos: geometry.lpos_min + random.below(geometry.wrap_lpos().into()) as u32,
//!     source: PositionSource::Recorded,
//!     error_lpos: 0,
//! };
//! let mut log = "from_wrap,from_lpos,to_wrap,to_lpos,locate_us\n".to_owned();
//! for _ in 0..200 {
//!     let (from, to) = (place(), place());
//!     let time_us = (model.locate(&from, &to).as_secs_f64() * 1e6).round();
//!     log += &format!("{},{},{},{},{time_us}\n", from.wrap, from.lpos, to.wrap, to.lpos);
//! }
//!
//! let mut records = Records::default();
//! records.read("log.csv", log.as_bytes(), None).map_err(|(_, error)| error)?;
//! let found = fit_records(records, &base, FitOptions::default())?;
//! assert_eq!(found.places, Places::Recorded);
//! assert!(found.comparison.choice().overall.residual_s < 0.1);
//!
//! let mine = fitted_profile(&base, &found, "mine");
//! let text = mine.to_toml("")?;
//! assert!(text.contains("source = \"LOG\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What the models rest on is least squares:
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
mod curves;
mod document;
mod drift;
mod fitted;
mod held_out;
mod kind;
mod landing;
mod least_squares;
pub mod log;
mod maps;
mod normal;
mod outcome;
mod profile;
mod refusal;
mod regression;
mod robust;
mod sample;
mod undetermined;

pub use candidate::Candidate;
pub use document::document;
pub use drift::Drift;
pub use fitted::{Coefficients, Fitted, Landed, Structure};
pub use held_out::{Comparison, Folding, Score, Scored, Trust, compare};
pub use kind::Kind;
pub use least_squares::{Table, Term, least_squares};
pub use maps::Maps;
pub use outcome::{FitOptions, Outcome, Places, fit_records};
pub use profile::fitted_profile;
pub use refusal::FitRefusal;
pub use sample::{FitError, Ground, LEAST_SAMPLES, Sample};
pub use undetermined::{Lack, Undetermined};
