//! A page for a browser that needs nothing else: the answer first, then pictures, and the tables behind them.

use crate::figure::Drawn;
use crate::page::escaped;
use crate::players::{self, Track};
use crate::table::Table;
use std::fmt::Write;

/// A report that people read, keep and send.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What was asked, for the title of the window.
    pub title: String,
    /// The answer in a sentence or two: the first line of the page.
    pub answer: String,
    /// What there is to know of it: a paragraph each.
    pub remarks: Vec<String>,
    /// Pictures, which can be zoomed.
    pub figures: Vec<Drawn>,
    /// Orders that can be played, side by side in time.
    pub tracks: Vec<Track>,
    /// The tables behind them.
    pub sheets: Vec<Sheet>,
    /// The program and its version.
    pub made_by: String,
}

/// A table that can be saved as CSV.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// The name of its file without its ending.
    pub name: String,
    /// What is shown.
    pub table: Table,
    /// What is saved.
    pub csv: String,
}

impl Sheet {
    /// A table that is saved as it is shown.
    pub fn new(name: impl Into<String>, table: Table) -> Sheet {
        Sheet {
            name: name.into(),
            csv: table.csv(),
            table,
        }
    }

    /// A table that is saved with more: all rows, or numbers in their units.
    pub fn with_csv(name: impl Into<String>, table: Table, csv: String) -> Sheet {
        Sheet {
            name: name.into(),
            table,
            csv,
        }
    }
}

impl Report {
    /// The page. Nothing in it is fetched from anywhere.
    pub fn html(&self) -> String {
        let mut body = String::new();
        add(
            &mut body,
            format_args!("<h1>{}</h1>\n", escaped(&self.answer)),
        );
        for remark in &self.remarks {
            add(&mut body, format_args!("<p>{}</p>\n", escaped(remark)));
        }
        for figure in &self.figures {
            add(
                &mut body,
                format_args!(
                    "<figure class=\"zoom\" tabindex=\"0\">{}</figure>\n",
                    inline(&figure.svg)
                ),
            );
        }
        let mut style = String::new();
        if !self.tracks.is_empty() {
            style = format!("{PLAYERS}{}", players::STYLE);
            body.push_str(&players::section(&self.tracks, "Played side by side"));
        }
        if !self.sheets.is_empty() {
            body.push_str("<h2>Tables</h2>\n");
        }
        for sheet in &self.sheets {
            body.push_str(&sheet.table.html());
            add(
                &mut body,
                format_args!(
                    "<p class=\"note\"><a download=\"{0}.csv\" href=\"data:text/csv;charset=utf-8,{1}\">{0}.csv</a></p>\n",
                    escaped(&sheet.name),
                    percent_encoded(&sheet.csv)
                ),
            );
        }
        add(
            &mut body,
            format_args!(
                "<p class=\"note made\">{}. Made by {}.</p>\n<script>\n{ZOOM}</script>\n",
                escaped(&self.title),
                escaped(&self.made_by)
            ),
        );
        document(&self.title, &style, &body)
    }
}

/// A whole page in the style that all our pages share; `style` is what only this one has.
pub fn document(title: &str, style: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escaped(title)
    )
}

/// A picture as a part of a page, which names no namespace.
fn inline(svg: &str) -> String {
    svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1)
}

fn add(page: &mut String, text: std::fmt::Arguments) {
    // Writing to a string does not fail.
    let _ = page.write_fmt(text);
}

/// A text as part of an address: RFC 3986, section 2.1.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'-'
            | b'.'
            | b'_'
            | b'~'
            | b','
            | b'/'
            | b':' => {
                encoded.push(char::from(byte));
            }
            _ => add(&mut encoded, format_args!("%{byte:02X}")),
        }
    }
    encoded
}

/// Light and dark by the reader's setting, except on paper. A picture in the dark is its own negative with the hues
/// turned back, so that its white is the page. On a
/// phone it keeps its own size, in which its words can be read, and scrolls.
const STYLE: &str = "\
:root { color-scheme: light dark; --page: #fff; --ink: #222; --soft: #555; --edge: #999; --line: #e4e4e4; --key: #f6f6f6; --link: #0b5cad; }
@media screen and (prefers-color-scheme: dark) {
  :root { --page: #171717; --ink: #ddd; --soft: #a8a8a8; --edge: #777; --line: #383838; --key: #2a2a2a; --link: #6cb6ff; }
  figure svg { filter: invert(.91) hue-rotate(180deg); }
}
body { font: 16px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 1200px; margin: 0 auto; padding: 16px; }
h1 { line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin-top: 2.2em; border-top: 2px solid var(--ink); padding-top: .6em; line-height: 1.25; }
h3 { margin: 1.6em 0 .3em; font-size: 1em; }
a { color: var(--link); }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 3px 14px 3px 0; vertical-align: top; }
th, tr:has(th) td { border-bottom: 1px solid var(--edge); }
th { font-weight: 600; }
tr + tr td { border-top: 1px solid var(--line); }
.n { text-align: right; white-space: nowrap; }
.wide, figure { overflow-x: auto; margin: .4em 0; }
.wide td, .wide th { white-space: nowrap; }
.wide td:first-child:not(.n) { white-space: normal; min-width: min(15em, 34vw); }
p { margin: .4em 0; overflow-wrap: anywhere; }
.note, small { color: var(--soft); font-size: 13px; }
.made { margin-top: 2.5em; }
figure svg { max-width: 100%; height: auto; }
figure.zoom { margin: .2em 0 1.2em; }
figure.zoom svg { display: block; }
@media print, (min-width: 761px) { figure.zoom svg { width: 100%; } }
@media screen and (max-width: 760px) { figure svg { max-width: none !important; } }
.keys { text-align: right; margin-top: 1.2em; }
.keys button { font: inherit; min-width: 2.4em; min-height: 2.2em; color: inherit; border: 1px solid var(--edge); border-radius: 4px; background: var(--key); }
.tip { position: fixed; z-index: 1; max-width: 22em; padding: 3px 8px; background: var(--ink); color: var(--page); font-size: 13px; border-radius: 4px; pointer-events: none; }
@media (max-width: 760px) {
  h1 { font-size: 1.35em; }
  h2 { font-size: 1.2em; }
}
@media print {
  :root { color-scheme: light; }
  body { font-size: 10pt; max-width: none; padding: 0; }
  table { font-size: 8pt; }
  figure { break-inside: avoid; }
  .wide, figure { overflow: visible; }
  .keys { display: none; }
}
";

/// The colours of the part that plays orders, as the pictures have them.
const PLAYERS: &str = "\
:root { --read: #b35900; --through: #00735a; --move: #5b7fa6; }
@media screen and (prefers-color-scheme: dark) { :root { --read: #f0a04b; --through: #3fc7a3; --move: #7f9fc4; } }
#players h2 { border: 0; margin-top: 1em; padding: 0; }
";

/// Keys that zoom, dragging while zoomed, and what a mark says while it is pointed at or touched.
const ZOOM: &str = r#"
const tip = document.querySelector("main").appendChild(document.createElement("div"));
tip.className = "tip";
tip.hidden = true;
for (const figure of document.querySelectorAll("figure.zoom")) {
  const svg = figure.querySelector("svg");
  const whole = svg.getAttribute("viewBox").split(" ").map(Number);
  let view = whole, drag = null;
  const show = next => {
    const width = Math.min(whole[2], Math.max(whole[2] / 64, next[2]));
    const height = width * whole[3] / whole[2];
    const within = (at, room) => Math.min(Math.max(at, 0), room);
    view = [within(next[0], whole[2] - width), within(next[1], whole[3] - height), width, height];
    svg.setAttribute("viewBox", view.join(" "));
    svg.style.touchAction = width < whole[2] ? "none" : "";
    svg.style.cursor = width < whole[2] ? "grab" : "";
  };
  const zoom = (by, x, y) => show([view[0] + view[2] * x * (1 - by), view[1] + view[3] * y * (1 - by), view[2] * by]);
  const at = event => {
    const box = svg.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  const keys = document.createElement("div");
  figure.before(keys);
  keys.className = "keys";
  for (const [sign, name, press] of [
    ["+", "zoom in", () => zoom(0.5, 0.5, 0.5)],
    ["\u2212", "zoom out", () => zoom(2, 0.5, 0.5)],
    ["all", "show all", () => show(whole)],
  ]) {
    const key = keys.appendChild(document.createElement("button"));
    key.textContent = sign;
    key.title = name;
    key.setAttribute("aria-label", name);
    key.onclick = press;
    keys.append(" ");
  }
  svg.ondblclick = event => zoom(0.5, ...at(event));
  svg.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.8 : 1.25, ...at(event));
  }, { passive: false });
  svg.onpointerdown = event => {
    point(event);
    if (view[2] < whole[2]) {
      drag = [at(event), view];
      svg.setPointerCapture(event.pointerId);
    }
  };
  svg.onpointermove = event => {
    if (drag) {
      const [x, y] = at(event), [[x0, y0], from] = drag;
      show([from[0] + (x0 - x) * from[2], from[1] + (y0 - y) * from[3], from[2]]);
    }
    point(event);
  };
  svg.onpointerup = svg.onpointercancel = () => { drag = null; };
  svg.onpointerleave = () => { tip.hidden = true; };
  const point = event => {
    const mark = event.target.closest("g");
    const says = mark && mark.querySelector("title");
    tip.hidden = !says;
    if (says) {
      tip.textContent = says.textContent;
      const left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8);
      tip.style.left = Math.max(8, left) + "px";
      tip.style.top = event.clientY + 18 + "px";
    }
  };
}
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Figure;

    fn report() -> Report {
        let mut table = Table::new("Orders & more", &["order", "time", ""]);
        table.row(["a \"b\", <c>", "1.5", "<- given"].map(str::to_owned));
        let figure = Figure::new("f", "drawn </svg><script>", "x", "y");
        let figure = figure.line("l & m", [(0.0, 0.0), (1.0, 1.0)]);
        Report {
            title: "tapewise order </title>".to_owned(),
            answer: "1h24 <b>instead</b> of 2h52".to_owned(),
            remarks: vec!["positions: A&B".to_owned()],
            figures: vec![figure.draw().expect("a figure")],
            tracks: Vec::new(),
            sheets: vec![Sheet::new("orders", table)],
            made_by: "tapewise 0.1.0".to_owned(),
        }
    }

    #[test]
    fn the_answer_comes_first_and_every_text_is_escaped() {
        let page = report().html();
        let body = page.split("<main>\n").nth(1).expect("a body");
        assert!(body.starts_with("<h1>1h24 &lt;b&gt;instead&lt;/b&gt; of 2h52</h1>\n"));
        for part in [
            "<title>tapewise order &lt;/title&gt;</title>",
            "positions: A&amp;B",
            "drawn &lt;/svg&gt;&lt;script&gt;",
            "a &quot;b&quot;, &lt;c&gt;",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert_eq!(page.matches("<script").count(), 1);
    }

    #[test]
    fn nothing_is_fetched_and_pictures_are_as_wide_as_the_page() {
        let page = report().html();
        for outside in ["http", "src=", "url(", "@import", "<link"] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("max-width: 100%; height: auto;"));
    }

    #[test]
    fn what_scrolls_takes_the_keyboard_and_the_dark_theme_is_for_screens_only() {
        let page = report().html();
        for part in [
            "<figure class=\"zoom\" tabindex=\"0\"><svg",
            "<h2>Tables</h2>\n<h3>Orders &amp; more</h3>\n<div class=\"wide\" tabindex=\"0\">",
            "</th><td class=\"n\"></td></tr>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let dark = page.matches("prefers-color-scheme: dark").count();
        assert!(dark > 0);
        assert_eq!(
            page.matches("@media screen and (prefers-color-scheme: dark)")
                .count(),
            dark
        );
    }

    #[test]
    fn a_table_is_saved_as_csv_by_a_link_that_holds_it() {
        let page = report().html();
        let link = "download=\"orders.csv\" href=\"data:text/csv;charset=utf-8,order,time,remarks%0A%22a%20%22%22b\
                    %22%22,%20%3Cc%3E%22,1.5,%3C-%20given%0A\"";
        assert!(page.contains(link), "{page}");
    }
}
