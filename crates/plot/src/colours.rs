//! Okabe and Ito's colours, which colour-blind people can tell apart, and two greys.

use crate::page::Colour;

/// The first of a chart's series, and moves.
pub const BLUE: Colour = Colour::rgb(0, 114, 178);
/// For reading.
pub const VERMILLION: Colour = Colour::rgb(213, 94, 0);
/// For reading through.
pub const GREEN: Colour = Colour::rgb(0, 158, 115);
/// For charts of many series.
pub const ORANGE: Colour = Colour::rgb(230, 159, 0);
/// For charts of many series.
pub const PURPLE: Colour = Colour::rgb(204, 121, 167);
/// For charts of many series.
pub const SKY: Colour = Colour::rgb(86, 180, 233);
/// For words, and for the start.
pub const INK: Colour = Colour::rgb(34, 34, 34);
/// For what stands back.
pub const GREY: Colour = Colour::rgb(110, 110, 110);
