//! Tape geometry, block-to-position maps, locate-time models and drive profiles.
//!
//! Everything here is a value or a function of values: no clock, no files, no printing.
//!
//! ```
//! use tapewise_model::{NominalLayout, profile};
//!
//! let lto8 = profile::find("lto8")?;
//! let map = lto8.nominal_map(NominalLayout::Single, 524_288)?;
//! let model = lto8.locate_model(None)?;
//! let here = map.position(0, 1_000_000)?;
//! let there = map.position(0, 9_000_000)?;
//! assert!(model.locate(&here, &there).as_secs_f64() < 130.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod distributions;
mod geometry;
mod handling;
mod key_points;
mod learned_key_points;
mod learned_map;
pub mod locate;
mod map;
mod micros;
mod position;
pub mod profile;
mod random;
mod sourced;
mod transfer;
pub mod units;
mod wear;

pub use distributions::{f_tail, student_t_quantile, student_t_tails};
pub use geometry::{Direction, Geometry, Layout, band_pairs};
pub use handling::{Handling, Unmount};
pub use key_points::{KeyPoints, NominalSections, Spread};
pub use learned_key_points::{KeyPointBelief, LearnedKeyPoints, TimedLocate};
pub use learned_map::{Doubt, LearnedMap};
pub use locate::{LocateModel, Point};
pub use map::{BlockMap, EndOfWrap, MapError, NominalLayout, WrapSpan};
pub use micros::{Micros, Pace};
pub use position::{Position, PositionSource};
pub use profile::Profile;
pub use random::{Random, normal_quantile};
pub use transfer::{Buffer, CompressedRate, DriveCompression, Transfer};
pub use wear::{Measure, RatedLife, Used, Wear};
