//! What every locate-time model answers about times; each model's file has its own.

use super::point::Point;
use crate::micros::Micros;
use crate::position::Position;

/// The times of a model.
pub(super) trait Times {
    /// Prepares a position for [`Times::time`].
    fn point(&self, position: &Position) -> Point {
        Point {
            lpos: position.lpos as i32,
            wrap: position.wrap,
            ..Point::default()
        }
    }

    /// The time to locate from one point to another, never negative.
    fn time(&self, from: &Point, to: &Point) -> Micros;

    /// The times from one point to many, written to `times` in their order.
    fn times(&self, from: &Point, to: &[Point], times: &mut [Micros]) {
        for (slot, to) in times.iter_mut().zip(to) {
            *slot = self.time(from, to);
        }
    }

    /// The time to rewind to the beginning of tape.
    fn rewind(&self, from: &Point) -> Micros;

    /// The section of a point, if the model knows the cartridge's own sections.
    fn own_section(&self, _point: &Point) -> Option<u16> {
        None
    }

    /// The standard error of one predicted time, if it was published.
    fn residual(&self) -> Option<Micros> {
        None
    }
}
