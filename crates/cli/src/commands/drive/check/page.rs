//! The report of a drive as a page for a browser.

use crate::html::{MADE_BY, moves, sentence};
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_plot::html::{Report as Page, Sheet};
use tapewise_plot::{Drawn, Figure, Table};
use tapewise_run::check::{DriveReport, Move, Way};

/// The page; `summary` is what is printed.
pub fn page(report: &DriveReport, summary: &str) -> Page {
    let judged = judged(report).map(|table| Sheet::new("predicted", table));
    Page {
        title: format!("tapewise drive check: {}", report.drive.product),
        answer: answer(report),
        remarks: summary.lines().map(sentence).collect(),
        figures: locates(report).into_iter().collect(),
        sheets: judged
            .into_iter()
            .chain([moves(report.events.iter())])
            .collect(),
        tracks: Vec::new(),
        made_by: MADE_BY.to_owned(),
    }
}

/// Whether the drive does what its profile says.
fn answer(report: &DriveReport) -> String {
    let drive = &report.drive;
    let emulated = if report.way == Way::Emulated {
        " (emulated: this says nothing of any real drive)"
    } else {
        ""
    };
    let drive = format!("{} {}{emulated}", drive.vendor, drive.product);
    let all = report.judged.as_ref().and_then(|judged| {
        let all = judged.errors.iter().find(|errors| errors.kind == "all")?;
        Some((judged, all))
    });
    match all {
        None => format!("{drive}: nothing to compare its locates with"),
        Some((judged, all)) => format!(
            "{drive}: {} locates took {:.1} s {} on average than profile {} predicts; {:.0} % are off by more than 2 s",
            all.locates,
            all.mean_s.abs(),
            if all.mean_s < 0.0 { "less" } else { "more" },
            judged.profile,
            all.off_share * 100.0
        ),
    }
}

/// How far off the profile is, by kind of locate.
fn judged(report: &DriveReport) -> Option<Table> {
    let judged = report.judged.as_ref()?;
    let title = format!("Measured less predicted, profile {}", judged.profile);
    let columns = ["locates", "n", "mean, s", "rms, s", "off by more than 2 s"];
    let mut table = Table::new(title, &columns);
    for errors in &judged.errors {
        table.row([
            errors.kind.clone(),
            errors.locates.to_string(),
            format!("{:+.2}", errors.mean_s),
            format!("{:.2}", errors.rms_s),
            format!("{:.0} %", errors.off_share * 100.0),
        ]);
    }
    Some(table)
}

/// The time of every locate by how many blocks it passed; none if none was timed.
fn locates(report: &DriveReport) -> Option<Drawn> {
    let place = |event: &Event| {
        let (from, to) = (event.from?.block?, event.to?.block?);
        Some((from.abs_diff(to) as f64, event.took_us.as_secs_f64()))
    };
    let title = "Locates by distance";
    let mut figure = Figure::new("locates", title, "blocks between", "locate, s");
    for kind in Move::ALL {
        let of_kind = report.events.iter().filter(|event| {
            event.action == Action::Locate
                && event.outcome == Outcome::Done
                && event.purpose.as_deref() == Some(kind.name())
        });
        figure = figure.dots(kind.name(), of_kind.filter_map(place));
    }
    figure.draw().ok()
}
