//! A figure, put together series by series: what was measured, and what it is to be held against.

use crate::chart::{Across, Mark, Series, Words, chart_over};
use crate::colours::{BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SKY, VERMILLION};
use crate::page::Colour;

/// A figure: the name of its file, and the picture as SVG text.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Without its ending.
    pub name: String,
    /// The picture.
    pub svg: String,
}

/// A figure without a single place on it, which would pass for a measurement of nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{title}: nothing was measured for this figure")]
pub struct NothingToDraw {
    /// The figure's title.
    pub title: String,
}

/// A figure being put together.
pub struct Figure {
    name: String,
    title: String,
    across: &'static str,
    up: &'static str,
    scale: Across,
    series: Vec<Series>,
}

/// Series of one figure that colours tell apart well.
pub const TOLD_APART: usize = 6;

/// One after the other; grey is for what the others are to be held against.
const COLOURS: [Colour; TOLD_APART + 1] = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, INK];

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
            scale: Across::Even,
            series: Vec::new(),
        }
    }

    /// With as much room from 4 to 8 as from 8 to 16 across.
    pub fn doubling(mut self) -> Figure {
        self.scale = Across::Doubling;
        self
    }

    /// Whether there is nothing on it.
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
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

    /// With a pale shape of these corners, in the colour of what comes next.
    pub fn area(self, places: impl IntoIterator<Item = (f64, f64)>) -> Figure {
        let colour = self.next_colour();
        self.with("", Mark::Area, colour, places)
    }

    /// With dots on the line that comes next.
    pub fn on_line(self, places: impl IntoIterator<Item = (f64, f64)>) -> Figure {
        let colour = self.next_colour();
        self.with("", Mark::Dots, colour, places)
    }

    /// With a thin line in the colour of what comes next.
    pub fn thin(self, places: impl IntoIterator<Item = (f64, f64)>) -> Figure {
        let colour = self.next_colour();
        self.with("", Mark::Guide, colour, places)
    }

    /// With a grey line at this place across, from the bottom to `top`.
    pub fn upright(self, name: &str, across: f64, top: f64) -> Figure {
        self.guide(name, [(across, 0.0), (across, top)])
    }

    /// With a thin grey line through these places.
    pub fn guide(self, name: &str, places: impl IntoIterator<Item = (f64, f64)>) -> Figure {
        self.with(name, Mark::Guide, GREY, places)
    }

    fn next_colour(&self) -> Colour {
        // What has no name goes with what has.
        let stands_alone = |series: &&Series| {
            !series.name.is_empty() && matches!(series.mark, Mark::Dots | Mark::Line)
        };
        let coloured = self.series.iter().filter(stands_alone);
        COLOURS[coloured.count() % COLOURS.len()]
    }

    /// A series without places is left out.
    fn with(
        mut self,
        name: &str,
        mark: Mark,
        colour: Colour,
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

    /// With the scale across from the least to the largest: for whole numbers.
    pub fn counts(mut self) -> Figure {
        self.scale = Across::Counts;
        self
    }

    /// The picture.
    ///
    /// # Errors
    /// When there is nothing on the figure.
    pub fn draw(self) -> Result<Drawn, NothingToDraw> {
        if self.series.is_empty() {
            return Err(NothingToDraw { title: self.title });
        }
        let words = Words {
            title: &self.title,
            across: self.across,
            up: self.up,
        };
        Ok(Drawn {
            svg: chart_over(words, &self.series, self.scale),
            name: self.name,
        })
    }
}
