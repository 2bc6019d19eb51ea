//! A figure of a paper, drawn from what was computed here.

use crate::error::CliError;
use crate::plot::chart::{Mark, Series, Words, chart};
use crate::plot::{BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION};
use plotters::style::RGBColor;

/// A figure: the name of its file, and the picture as SVG text.
#[derive(Debug)]
pub struct Drawn {
    /// Without its ending.
    pub name: String,
    /// The picture.
    pub svg: String,
}

/// A figure being put together.
pub struct Figure {
    name: String,
    title: String,
    across: &'static str,
    up: &'static str,
    series: Vec<Series>,
}

/// One after the other; grey is for what the others are to be held against.
const COLOURS: [RGBColor; 6] = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY];

impl Figure {
    /// A figure with these axes, each with its unit, and nothing on it yet.
    pub fn new(
        name: impl Into<String>,
        title: impl Into<String>,
        across: &'static str,
        up: &'static str,
    ) -> Figure {
        Figure {
            name: name.into(),
            title: title.into(),
            across,
            up,
            series: Vec::new(),
        }
    }

    /// With dots at these places.
    pub fn dots(self, name: &str, places: impl IntoIterator<Item = (f64, f64)>) -> Figure {
        let colour = self.next_colour();
        self.with(name, Mark::Dots, colour, places)
    }

    /// With a line through these places.
    pub fn line(self, name: &str, places: impl IntoIterator<Item = (f64, f64)>) -> Figure {
        let colour = self.next_colour();
        self.with(name, Mark::Line, colour, places)
    }

    /// With a grey line through these places.
    pub fn guide(self, name: &str, places: impl IntoIterator<Item = (f64, f64)>) -> Figure {
        self.with(name, Mark::Line, GREY, places)
    }

    fn next_colour(&self) -> RGBColor {
        let coloured = self.series.iter().filter(|series| series.colour != GREY);
        COLOURS[coloured.count() % COLOURS.len()]
    }

    /// A series without places is left out.
    fn with(
        mut self,
        name: &str,
        mark: Mark,
        colour: RGBColor,
        places: impl IntoIterator<Item = (f64, f64)>,
    ) -> Figure {
        let places: Vec<[f64; 2]> = places.into_iter().map(|(x, y)| [x, y]).collect();
        if !places.is_empty() {
            self.series.push(Series {
                name: name.to_owned(),
                mark,
                colour,
                places,
            });
        }
        self
    }

    /// The picture.
    ///
    /// # Errors
    /// When there is nothing on the figure: it would pass for a measurement.
    pub fn draw(self) -> Result<Drawn, CliError> {
        if self.series.is_empty() {
            let what = format!("{}: nothing was measured for this figure", self.title);
            return Err(CliError::failed(what));
        }
        let words = Words {
            title: &self.title,
            across: self.across,
            up: self.up,
        };
        Ok(Drawn {
            svg: chart(words, &self.series)?,
            name: self.name,
        })
    }
}
