//! Reports as one page for a browser: everything inside it, readable on a phone and on paper.

use crate::claims::{Compared, Kind, Report, Verdict, number};
use std::fmt::Write;
use tapewise_plot::html::document;
use tapewise_plot::page::escaped;

const TITLE: &str = "Papers about tape, computed again";

/// All reports as one HTML page that needs nothing else: text, tables, and figures as SVG.
pub fn html(reports: &[Report]) -> String {
    let mut page = Html(String::new());
    page.add(format_args!(
        "<h1>{TITLE}</h1>\n<p>Made by <code>tapewise reproduce</code> {}. Every table and figure, our numbers beside \
         the published ones. No real drive has confirmed them yet.</p>\n",
        env!("CARGO_PKG_VERSION")
    ));
    page.summary(reports);
    for report in reports {
        page.report(report);
    }
    document(TITLE, STYLE, &page.0)
}

/// A page being written.
struct Html(String);

impl Html {
    fn add(&mut self, text: std::fmt::Arguments) {
        // Writing to a string does not fail.
        let _ = self.0.write_fmt(text);
    }

    /// Papers, and how many of their claims of each kind hold.
    fn summary(&mut self, reports: &[Report]) {
        self.add(format_args!(
            "<div class=\"wide\"><table class=\"counts\">\n<tr><th>paper</th>"
        ));
        for kind in Kind::ALL {
            self.add(format_args!("<th class=\"n\">{}</th>", kind.name()));
        }
        self.add(format_args!("<th class=\"n\">fail</th></tr>\n"));
        for report in reports {
            let name = format!("<a href=\"#{0}\">{0}</a>", report.name);
            self.counts(&name, &report.claims.iter().collect::<Vec<_>>());
        }
        if reports.len() > 1 {
            let all: Vec<&Compared> = reports.iter().flat_map(|report| &report.claims).collect();
            self.counts("all", &all);
        }
        self.add(format_args!("</table></div>\n<dl>\n"));
        for (kind, words) in [
            (
                Kind::Evidence,
                "independent of what went in; it could have failed",
            ),
            (
                Kind::Fitted,
                "constants were chosen for it, as many as the number in brackets",
            ),
            (
                Kind::Arithmetic,
                "recomputed from numbers that the paper prints; it checks that we read the paper rightly",
            ),
            (Kind::Report, "shown beside ours, without a bound"),
        ] {
            let name = kind.name();
            self.add(format_args!(
                "<dt><b class=\"{name}\">{name}</b></dt><dd>{words}</dd>\n"
            ));
        }
        self.add(format_args!("</dl>\n"));
    }

    /// How many of these claims there are of each kind, and how many fail.
    fn counts(&mut self, name: &str, claims: &[&Compared]) {
        self.add(format_args!("<tr><td>{name}</td>"));
        for kind in Kind::ALL {
            let of_kind = claims.iter().filter(|claim| claim.kind == kind);
            self.add(format_args!("<td class=\"n\">{}</td>", of_kind.count()));
        }
        let failing = claims
            .iter()
            .filter(|claim| claim.verdict == Verdict::Fails);
        self.add(format_args!(
            "<td class=\"n\">{}</td></tr>\n",
            failing.count()
        ));
    }

    fn report(&mut self, report: &Report) {
        self.add(format_args!(
            "<section id=\"{}\">\n<h2>{}</h2>\n<p>{}, {}. Tables and figures are of seed {}.</p>\n",
            report.name,
            escaped(&report.paper),
            report.counts(),
            report.seeds_words(),
            report.seed
        ));
        self.add(format_args!(
            "<h3>Claims</h3>\n<table class=\"claims\">\n<thead><tr><th>claim</th><th>kind</th>\
             <th class=\"n\">theirs</th><th class=\"n\">ours</th>\
             <th class=\"n\">off</th><th class=\"n\">allowed</th><th>verdict</th></tr></thead>\n"
        ));
        for claim in &report.claims {
            self.claim(claim, report.seeds.len());
        }
        self.add(format_args!("</table>\n<h3>Figures</h3>\n"));
        for figure in &report.figures {
            self.add(format_args!(
                "<figure tabindex=\"0\">{}</figure>\n",
                figure.svg
            ));
        }
        if report.figures.is_empty() {
            self.add(format_args!("<p>None is drawn of this paper.</p>\n"));
        }
        self.add(format_args!("<h3>Tables</h3>\n"));
        for table in &report.tables {
            self.add(format_args!("{}", table.html()));
        }
        self.add(format_args!("</section>\n"));
    }

    fn claim(&mut self, claim: &Compared, seeds: usize) {
        let kind = claim.kind.name();
        let ours = if seeds > 1 && claim.spread[0] != claim.spread[1] {
            format!(
                "{} <small>({})</small>",
                number(claim.ours),
                claim.spread_words()
            )
        } else {
            number(claim.ours)
        };
        let short = if claim.short.is_empty() {
            String::new()
        } else {
            format!("<p class=\"short\">{}</p>", escaped(&claim.short))
        };
        let verdict = match claim.verdict {
            Verdict::Fails => "<b class=\"fails\">",
            _ => "<b>",
        };
        self.add(format_args!(
            "<tr><td data-of=\"claim\"><code>{}</code> <small>{}</small><p>{}</p>{short}<p class=\"how\">{}</p></td>\
             <td data-of=\"kind\"><b class=\"{kind}\">{}</b></td>\
             <td data-of=\"theirs\" class=\"n\">{} {}</td><td data-of=\"ours\" class=\"n\"><span>{ours}</span></td>\
             <td data-of=\"off\" class=\"n\">{}</td><td data-of=\"allowed\" class=\"n\">{}</td>\
             <td data-of=\"verdict\">{verdict}{}</b></td></tr>\n",
            escaped(&claim.id),
            escaped(&claim.place),
            escaped(&claim.what),
            escaped(&claim.how),
            claim.kind_words(),
            number(claim.theirs),
            escaped(&claim.unit),
            claim.off_words(),
            claim.allowed_words(),
            claim.verdict_words(seeds),
        ));
    }
}

/// What this page has beside the style of all pages: claims, one below the other on a phone.
const STYLE: &str = "\
.how { color: var(--soft); font-size: 13px; }
.short { font-style: italic; font-size: 14px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 12px; font-size: 14px; }
dd { margin: 0; }
b.evidence { color: #00684a; }
b.fitted { color: #8a4b00; }
b.arithmetic { color: #00527f; }
b.report { color: var(--soft); }
b.fails { color: #b00020; }
@media screen and (prefers-color-scheme: dark) {
  b.evidence { color: #4fd1ae; }
  b.fitted { color: #f0a04b; }
  b.arithmetic { color: #6cb6ff; }
  b.fails { color: #ff8f8f; }
}
.claims { width: 100%; }
@media (max-width: 760px) {
  .counts { font-size: 13px; }
  .counts td, .counts th { padding-right: 8px; }
  .counts td:first-child { min-width: 0; }
  .claims thead { display: none; }
  .claims tr { display: block; border-top: 1px solid var(--edge); padding: 8px 0; }
  .claims tr + tr td { border-top: 0; }
  .claims td { display: flex; justify-content: space-between; gap: 12px; padding: 1px 0; }
  .claims td { text-align: left; white-space: normal; }
  .claims td::before { content: attr(data-of); color: var(--soft); }
  .claims td[data-of=claim] { display: block; overflow-wrap: anywhere; }
  .claims td[data-of=claim]::before { content: none; }
}
@media print {
  .claims tr { break-inside: avoid; }
}
";

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_plot::{Figure, Table};

    #[test]
    fn a_page_holds_claims_tables_and_figures_and_escapes_words() {
        let mut table = Table::new("a < b", &["name", "s"]);
        table.row(["x & y".to_owned(), "1.5".to_owned()]);
        let figure = Figure::new("f", "drawn", "x", "y").line("l", [(0.0, 0.0), (1.0, 1.0)]);
        let report = Report {
            name: "nobody",
            paper: "Nobody & Co 1900".to_owned(),
            seed: 1,
            seeds: vec![1, 2, 3],
            tables: vec![table],
            claims: vec![Compared {
                id: "length".to_owned(),
                place: "sec. 1".to_owned(),
                what: "length of the tape".to_owned(),
                kind: Kind::Evidence,
                constants: 0,
                theirs: 100.0,
                ours: 106.0,
                spread: [99.0, 106.0],
                unit: "m".to_owned(),
                tolerance: 0.05,
                bound: crate::Bound::Near,
                verdict: Verdict::Fails,
                failing_seeds: vec![2],
                how: "measured".to_owned(),
                short: "too long on one seed".to_owned(),
            }],
            figures: vec![figure.draw().expect("a figure")],
        };
        let page = html(&[report]);
        for part in [
            "Nobody &amp; Co 1900",
            "<h3>a &lt; b</h3>",
            "x &amp; y</td><td class=\"n\">1.5</td>",
            "<svg width",
            "FAILS on seed 2",
            "106.0 <small>(99.00 to 106.0)</small>",
            "too long on one seed",
            "seeds 1 to 3",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("http://") || !page.contains("src="));
    }
}
