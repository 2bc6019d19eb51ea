//! The report of a drive as a page for a browser.

use crate::html::{MADE_BY, moves, sentence};
use crate::units;
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_model::Profile;
use tapewise_plot::html::{Report as Page, Sheet};
use tapewise_plot::{Drawn, Figure, Table};
use tapewise_run::check::{DriveReport, Move, Way};

/// The page; `summary` is what is printed, and `profile` what the times stand beside.
pub fn page(report: &DriveReport, summary: &str, profile: Option<&Profile>) -> Page {
    let judged = judged(report).map(|table| Sheet::new("predicted", table));
    Page {
        title: format!("tapewise drive check: {}", report.drive.product),
        answer: answer(report),
        remarks: summary.lines().map(sentence).collect(),
        figures: locates(report, profile).into_iter().collect(),
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
            "{drive}: {} took {:.1} s {} on average than profile {} predicts; {:.0} % are off by more than 2 s",
            units::count(all.locates, "locate"),
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

/// The time of every locate by its way along the tape; none if none was timed.
///
/// A drive that does not tell where its head is, or tape whose length is not known, leaves blocks to count.
fn locates(report: &DriveReport, profile: Option<&Profile>) -> Option<Drawn> {
    let geometry = profile.and_then(|profile| profile.geometry().ok());
    let metres_per_lpos = geometry.and_then(|geometry| geometry.metres_per_lpos);
    let metres = |event: &Event| {
        let (from, to) = (event.from?.lpos?, event.to?.lpos?);
        Some(f64::from(from.abs_diff(to)) * metres_per_lpos?)
    };
    let blocks = |event: &Event| {
        let (from, to) = (event.from?.block?, event.to?.block?);
        Some(from.abs_diff(to) as f64)
    };
    let timed = |event: &&Event| event.action == Action::Locate && event.outcome == Outcome::Done;
    let timed: Vec<&Event> = report.events.iter().filter(timed).collect();
    let is_in_metres = timed.iter().any(|event| metres(event).is_some());
    let along = if is_in_metres {
        "metres along the tape"
    } else {
        "blocks between"
    };
    let place = |event: &&Event| {
        let way = if is_in_metres {
            metres(event)
        } else {
            blocks(event)
        };
        Some((way?, event.took_us.as_secs_f64()))
    };
    let mut figure = Figure::new("locates", "Locates by distance", along, "locate, s");
    for kind in Move::ALL {
        let of_kind = timed
            .iter()
            .filter(|event| event.purpose.as_deref() == Some(kind.name()));
        figure = figure.dots(kind.name(), of_kind.filter_map(place));
    }
    figure.draw().ok()
}
