//! Lines, bars and words on an SVG page, in pixels with fractions.

use crate::error::CliError;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// plotters rounds to whole units, so the page is drawn this much larger and shown smaller.
const UNITS_PER_PX: f64 = 8.0;

/// Fonts that are there on every system, or stand for one that is.
const FONT: &str = "Helvetica, Arial, sans-serif";

/// plotters divides the size of a font by this on its way into SVG.
const FONT_FACTOR: f64 = 1.24;

/// A place on the page, in pixels from the top left.
pub type Px = (f64, f64);

/// How words stand to the place they are put at.
#[derive(Clone, Copy, Debug)]
pub enum Anchor {
    /// They begin there.
    Start,
    /// They are centred there.
    Middle,
    /// They end there.
    End,
}

/// How words look.
#[derive(Clone, Copy, Debug)]
pub struct Font {
    /// Size in pixels.
    pub px: f64,
    /// Whether in bold type.
    pub bold: bool,
    /// Colour.
    pub colour: RGBColor,
}

/// A page being drawn.
pub struct Canvas<'a>(DrawingArea<SVGBackend<'a>, Shift>);

/// Draws a page of this size, and gives its SVG text.
pub fn page(
    width_px: u32,
    height_px: u32,
    draw: impl FnOnce(&Canvas) -> Result<(), CliError>,
) -> Result<String, CliError> {
    let units = |px: u32| (f64::from(px) * UNITS_PER_PX) as u32;
    let (width, height) = (units(width_px), units(height_px));
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
        root.fill(&WHITE).map_err(CliError::failed)?;
        let canvas = Canvas(root);
        draw(&canvas)?;
        canvas.0.present().map_err(CliError::failed)?;
    }
    let large = format!("<svg width=\"{width}\" height=\"{height}\"");
    let shown = format!("<svg width=\"{width_px}\" height=\"{height_px}\"");
    Ok(svg.replacen(&large, &shown, 1))
}

fn units((x, y): Px) -> (i32, i32) {
    let unit = |px: f64| (px * UNITS_PER_PX).round() as i32;
    (unit(x), unit(y))
}

impl Canvas<'_> {
    fn put<'b, E>(&self, element: &'b E) -> Result<(), CliError>
    where
        &'b E: plotters::element::PointCollection<'b, (i32, i32)>,
        for<'c> E: plotters::element::Drawable<SVGBackend<'c>>,
    {
        self.0.draw(element).map_err(CliError::failed)
    }

    /// A line through some places.
    pub fn line(&self, places: &[Px], colour: RGBAColor, width_px: f64) -> Result<(), CliError> {
        let width = ((width_px * UNITS_PER_PX) as u32).max(1);
        let places: Vec<(i32, i32)> = places.iter().map(|&place| units(place)).collect();
        self.put(&PathElement::new(places, colour.stroke_width(width)))
    }

    /// A filled rectangle between two corners.
    pub fn bar(&self, corners: [Px; 2], colour: RGBAColor) -> Result<(), CliError> {
        self.put(&Rectangle::new(corners.map(units), colour.filled()))
    }

    /// A filled shape.
    pub fn shape(&self, corners: &[Px], colour: RGBAColor) -> Result<(), CliError> {
        let corners: Vec<(i32, i32)> = corners.iter().map(|&corner| units(corner)).collect();
        self.put(&Polygon::new(corners, colour.filled()))
    }

    /// A filled disc with a white rim, which stands out from lines below it.
    pub fn dot(&self, centre: Px, radius_px: f64, colour: RGBColor) -> Result<(), CliError> {
        for (radius, colour) in [(radius_px + 1.5, WHITE), (radius_px, colour)] {
            let radius = (radius * UNITS_PER_PX) as i32;
            self.put(&Circle::new(units(centre), radius, colour.filled()))?;
        }
        Ok(())
    }

    /// Words, vertically centred on a place.
    pub fn words(&self, words: &str, at: Px, anchor: Anchor, font: Font) -> Result<(), CliError> {
        // XML has no way to write a control character.
        let words: String = words
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let h_pos = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let weight = if font.bold {
            FontStyle::Bold
        } else {
            FontStyle::Normal
        };
        let size = (font.px * UNITS_PER_PX * FONT_FACTOR).round();
        let style = TextStyle::from((FONT, size, weight).into_font())
            .color(&font.colour)
            .pos(Pos::new(h_pos, VPos::Center));
        self.put(&Text::new(words, units(at), style))
    }
}
