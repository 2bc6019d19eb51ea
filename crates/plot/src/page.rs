//! Lines, bars and words on a page, written as SVG text.

use std::fmt::Write;

/// Fonts that every system has, or has a stand-in for.
const FONT: &str = "Helvetica, Arial, sans-serif";

/// From the middle of a line of words to the line they stand on, in sizes of the font.
const BASELINE: f64 = 0.35;

/// A place on the page, in pixels from the top left.
pub type Px = (f64, f64);

/// A colour, and how much of what is below it shows through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour {
    rgb: [u8; 3],
    opacity: f64,
}

/// The colour of the page.
const WHITE: Colour = Colour::rgb(255, 255, 255);

impl Colour {
    /// An opaque colour from red, green and blue.
    pub const fn rgb(red: u8, green: u8, blue: u8) -> Colour {
        Colour {
            rgb: [red, green, blue],
            opacity: 1.0,
        }
    }

    /// The same colour with this opacity, from 0 to 1.
    pub const fn faded(self, opacity: f64) -> Colour {
        Colour { opacity, ..self }
    }

    /// ` fill="#rrggbb"`, with the opacity unless it is 1; `of` is `fill` or `stroke`.
    fn attribute(self, of: &str) -> String {
        let [red, green, blue] = self.rgb;
        let opacity = if self.opacity < 1.0 {
            format!(" {of}-opacity=\"{}\"", self.opacity)
        } else {
            String::new()
        };
        format!(" {of}=\"#{red:02x}{green:02x}{blue:02x}\"{opacity}")
    }
}

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
    pub colour: Colour,
}

/// A page being drawn.
pub struct Page {
    svg: String,
}

impl Page {
    /// Draws on an empty white page of this size, in pixels, and gives its SVG text.
    pub fn drawn(width_px: f64, height_px: f64, draw: impl FnOnce(&mut Page)) -> String {
        let (width, height) = (width_px.round(), height_px.round());
        let mut page = Page {
            svg: format!(
                "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
                 xmlns=\"http://www.w3.org/2000/svg\" font-family=\"{FONT}\" \
                 style=\"max-width:100%;height:auto\">\n"
            ),
        };
        page.bar([(0.0, 0.0), (width, height)], WHITE);
        draw(&mut page);
        page.svg + "</svg>\n"
    }

    /// A line through some places.
    pub fn line(&mut self, places: &[Px], colour: Colour, width_px: f64) {
        self.element(format_args!(
            "<polyline points=\"{}\" fill=\"none\"{} stroke-width=\"{}\"/>",
            points(places),
            colour.attribute("stroke"),
            number(width_px)
        ));
    }

    /// A filled rectangle between two corners.
    pub fn bar(&mut self, corners: [Px; 2], colour: Colour) {
        let [(x0, y0), (x1, y1)] = corners;
        self.element(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}/>",
            number(x0.min(x1)),
            number(y0.min(y1)),
            number((x1 - x0).abs()),
            number((y1 - y0).abs()),
            colour.attribute("fill")
        ));
    }

    /// A filled shape.
    pub fn shape(&mut self, corners: &[Px], colour: Colour) {
        self.element(format_args!(
            "<polygon points=\"{}\"{}/>",
            points(corners),
            colour.attribute("fill")
        ));
    }

    /// A filled disc with a white rim, which stands out from lines below it.
    pub fn dot(&mut self, centre: Px, radius_px: f64, colour: Colour) {
        self.element(format_args!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}{} stroke-width=\"1.5\"/>",
            number(centre.0),
            number(centre.1),
            number(radius_px + 0.75),
            colour.attribute("fill"),
            WHITE.attribute("stroke")
        ));
    }

    /// What `draw` draws says these words when somebody points at it.
    pub fn tip(&mut self, words: &str, draw: impl FnOnce(&mut Page)) {
        self.element(format_args!("<g><title>{}</title>", escaped(words)));
        draw(self);
        self.element(format_args!("</g>"));
    }

    /// A place that can be pointed at, without anything to be seen.
    pub fn target(&mut self, centre: Px, half_px: f64) {
        let corners = [
            (centre.0 - half_px, centre.1 - half_px),
            (centre.0 + half_px, centre.1 + half_px),
        ];
        self.bar(corners, WHITE.faded(0.0));
    }

    /// Words, vertically centred on a place.
    pub fn words(&mut self, words: &str, at: Px, anchor: Anchor, font: Font) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if font.bold {
            " font-weight=\"bold\""
        } else {
            ""
        };
        self.element(format_args!(
            "<text x=\"{}\" y=\"{}\"{anchor} font-size=\"{}\"{weight}{}>{}</text>",
            number(at.0),
            number(at.1 + BASELINE * font.px),
            number(font.px),
            font.colour.attribute("fill"),
            escaped(words)
        ));
    }

    fn element(&mut self, element: std::fmt::Arguments) {
        // Writing to a string does not fail.
        let _ = writeln!(self.svg, "{element}");
    }
}

fn points(places: &[Px]) -> String {
    let mut text = String::with_capacity(places.len() * 14);
    for (at, &(x, y)) in places.iter().enumerate() {
        let blank = if at == 0 { "" } else { " " };
        let _ = write!(text, "{blank}{},{}", number(x), number(y));
    }
    text
}

/// Hundredths of a pixel, without zeros at the end.
fn number(px: f64) -> f64 {
    // Adding zero makes zero of minus zero.
    (px * 100.0).round() / 100.0 + 0.0
}

/// Words cut to a width, by a guess at how wide the font's letters are.
pub(crate) fn fitted(words: &str, font_px: f64, width_px: f64) -> String {
    let room = (width_px / (font_px * 0.56)) as usize;
    if words.chars().count() <= room {
        return words.to_owned();
    }
    let kept: String = words.chars().take(room.saturating_sub(1)).collect();
    kept.trim_end().to_owned() + "\u{2026}"
}

/// Words as text or as the value of an attribute of XML or HTML.
pub fn escaped(words: &str) -> String {
    let mut text = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '&' => text.push_str("&amp;"),
            '"' => text.push_str("&quot;"),
            // XML has no way to write a control character.
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_written_in_pixels_with_colour_and_opacity() {
        let font = Font {
            px: 10.0,
            bold: true,
            colour: WHITE,
        };
        let svg = Page::drawn(100.0, 50.0, |page| {
            page.line(
                &[(1.0, 2.004), (3.25, -0.001)],
                Colour::rgb(0, 114, 178),
                1.2,
            );
            page.bar([(30.0, 20.0), (10.0, 5.5)], Colour::rgb(1, 2, 3).faded(0.5));
            page.words("a < b", (7.0, 9.0), Anchor::End, font);
        });
        let lines: Vec<&str> = svg.lines().collect();
        assert_eq!(
            lines[2],
            "<polyline points=\"1,2 3.25,0\" fill=\"none\" stroke=\"#0072b2\" stroke-width=\"1.2\"/>"
        );
        assert_eq!(
            lines[3],
            "<rect x=\"10\" y=\"5.5\" width=\"20\" height=\"14.5\" fill=\"#010203\" fill-opacity=\"0.5\"/>"
        );
        assert_eq!(
            lines[4],
            "<text x=\"7\" y=\"12.5\" text-anchor=\"end\" font-size=\"10\" font-weight=\"bold\" \
             fill=\"#ffffff\">a &lt; b</text>"
        );
        assert_eq!(lines[5], "</svg>");
    }

    #[test]
    fn what_is_pointed_at_says_its_words_escaped_and_a_picture_fits_a_narrow_page() {
        let svg = Page::drawn(100.0, 50.0, |page| {
            page.tip("a < b", |page| page.target((10.0, 20.0), 6.0));
        });
        let lines: Vec<&str> = svg.lines().collect();
        assert!(
            lines[0].ends_with(" style=\"max-width:100%;height:auto\">"),
            "{}",
            lines[0]
        );
        assert_eq!(
            lines[2..5],
            [
                "<g><title>a &lt; b</title>",
                "<rect x=\"4\" y=\"14\" width=\"12\" height=\"12\" fill=\"#ffffff\" fill-opacity=\"0\"/>",
                "</g>",
            ]
        );
    }

    #[test]
    fn long_words_are_cut_to_the_room_there_is() {
        assert_eq!(fitted("short", 15.0, 600.0), "short");
        let cut = fitted(&"long ".repeat(40), 15.0, 300.0);
        assert_eq!(cut.chars().count(), 35);
        assert!(cut.ends_with('\u{2026}'));
    }
}
