//! Pictures and tables from values: the head's path, timelines, charts and stacked bars as SVG text, and tables as
//! plain text. Nothing here reads, writes or measures anything, and the same values give the same bytes.
//!
//! ```
//! use tapewise_plot::{Figure, Table};
//!
//! let seeks = [(0.0, 21.0), (10.0, 94.5), (20.0, 168.0)];
//! let figure = Figure::new("seeks", "Seeks from the beginning of tape", "GB", "seek, s").line("measured", seeks);
//! let svg = figure.draw()?.svg;
//! assert!(svg.starts_with("<svg "));
//!
//! let mut table = Table::new("Seeks", &["GB", "seek"]);
//! for (gb, seconds) in seeks {
//!     table.row([format!("{gb:.0}"), format!("{seconds:.1} s")]);
//! }
//! assert_eq!(table.to_string().lines().nth(2), Some(" 0   21.0 s"));
//! # Ok::<(), tapewise_plot::NothingToDraw>(())
//! ```
//!
//! # Why the SVG is our own
//!
//! A plotting library was here before. It served as a pen only: axes, ticks, legends and all that makes these
//! pictures are ours, because no library knows what a wrap is. Its SVG had whole pixels only, so pages were drawn eight
//! times too large and their sizes patched in the text, and every line of drawing could fail. [`page`] writes the five
//! elements that we need, cannot fail, and makes smaller files.

mod audit;
pub mod axis;
pub mod bars;
mod capacity;
pub mod chart;
pub mod colours;
mod figure;
mod fit;
pub mod html;
mod legs;
pub mod page;
mod panel;
mod path;
pub mod players;
mod simulation;
mod table;
pub mod timeline;

pub use audit::audit_picture;
pub use axis::{metres, tape_moved};
pub use capacity::capacity_pictures;
pub use figure::{Drawn, Figure, NothingToDraw, TOLD_APART};
pub use fit::{Picture, fit_pictures};
pub use path::{Panel, head_paths};
pub use simulation::{SimulationPictureError, simulation_pictures};
pub use table::Table;
