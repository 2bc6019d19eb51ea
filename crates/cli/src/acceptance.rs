//! Reports of acceptance: read, kept on disk while it runs, and shown at the end, beside the profile, the papers and a
//! former report.

mod papers;

use crate::error::CliError;
use crate::html::{self, MADE_BY};
use crate::{device, output, units};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use tapewise_formats::event_log::{EventLog, Session, read_events};
use tapewise_model::Micros;
use tapewise_plot::html::{Report as Page, Sheet};
use tapewise_plot::{Drawn, Table};
use tapewise_run::accept::{
    AcceptanceReport, Change, Comparison, Ended, Kind, RISK, Stage, VERSION, Verdict, half_width,
};
use tapewise_run::check::Way;
use tapewise_run::measure::summary::Measure;

/// The event log of an acceptance, beside its report.
pub fn log_of(report: &Path) -> PathBuf {
    report.with_extension("events.jsonl")
}

/// A report on disk; `None` where there is none.
pub fn read(path: &Path) -> Result<Option<AcceptanceReport>, CliError> {
    let bad =
        |error: &dyn std::fmt::Display| CliError::input(format!("{}: {error}", path.display()));
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(bad(&error)),
    };
    let report: AcceptanceReport = serde_json::from_str(&text).map_err(|error| bad(&error))?;
    if report.tapewise_acceptance_report != VERSION {
        return Err(bad(&format!(
            "a report of version {}; this program reads version {VERSION}",
            report.tapewise_acceptance_report
        )));
    }
    Ok(Some(report))
}

/// A former report to compare with: whole, and of the same kind.
pub fn former(path: &Path, kind: Kind) -> Result<AcceptanceReport, CliError> {
    let bad = |what: &str| CliError::input(format!("{}: {what}", path.display()));
    let report = read(path)?.ok_or_else(|| bad("there is no such file"))?;
    if report.kind != kind {
        return Err(bad(match report.kind {
            Kind::Drive => "a report of a drive, not of a library",
            Kind::Library => "a report of a library, not of a drive",
        }));
    }
    if report.stage != Stage::Done {
        return Err(bad("this acceptance has not ended")
            .hint("the command that began it goes on where it stopped"));
    }
    Ok(report)
}

/// Writes the report as it is now.
pub fn save(path: &Path, report: &AcceptanceReport) -> Result<(), CliError> {
    output::write(Some(path), |out| {
        serde_json::to_writer_pretty(&mut *out, report).map_err(CliError::failed)?;
        writeln!(out).map_err(CliError::failed)
    })
}

/// What will be measured, and what will not.
pub fn plan(report: &AcceptanceReport, left: Micros) -> Table {
    let mut table = Table::new("", &["part", "samples", "predicted"]);
    let mut total = Micros::ZERO;
    for part in &report.parts {
        let predicted = Micros(part.each_us.0.saturating_mul(i64::from(part.planned)));
        total += predicted;
        table.row([
            part.name.clone(),
            part.planned.to_string(),
            predicted.to_string(),
        ]);
    }
    table.note(format!(
        "predicted: {} of the {} that are left of {}",
        total, left, report.budget_us
    ));
    for part in &report.left_out {
        table.note(format!("{} is left out: {}", part.name, part.why));
    }
    table
}

/// A finished report, beside a former one if there is one.
pub struct Finished<'a> {
    pub report: &'a AcceptanceReport,
    pub former: Option<&'a AcceptanceReport>,
    pub figures: Vec<Drawn>,
    pub sheets: Vec<Sheet>,
}

impl Finished<'_> {
    /// Prints it, writes the page, and fails where something got worse.
    pub fn show(self, page: Option<&Path>) -> Result<(), CliError> {
        let report = self.report;
        let compared = self.former.map(|former| report.beside(former));
        let answer = answer(report, compared.as_ref());
        let remarks = remarks_of(report, self.former);
        let measured = measured(report);
        let changed = compared.as_ref().map(changes);
        let mut text = format!("{answer}\n");
        for remark in &remarks {
            text.push_str(&format!("{remark}\n"));
        }
        text.push_str(&format!("\n{}", output::table(&measured)));
        if let Some(changed) = &changed {
            text.push_str(&format!("\n{}", output::table(changed)));
        }
        output::print(&text)?;
        if let Some(path) = page {
            let mut sheets: Vec<Sheet> = Vec::new();
            sheets.extend(changed.map(|table| Sheet::new("changes", table)));
            sheets.push(Sheet::new("measured", measured));
            sheets.push(Sheet::new("papers", papers::beside(report)?));
            sheets.push(Sheet::new("parts", parts(report)));
            sheets.extend(self.sheets);
            html::write(
                path,
                &Page {
                    title: format!("tapewise acceptance: {}", report.device.product),
                    answer,
                    remarks,
                    figures: self.figures,
                    sheets,
                    tracks: Vec::new(),
                    made_by: MADE_BY.to_owned(),
                },
            )?;
            output::say(format_args!("{}\n", path.display()));
        }
        let worse: Vec<&str> = compared
            .iter()
            .flat_map(|compared| compared.with(Verdict::Worse))
            .map(|change| change.now.what.as_str())
            .collect();
        match worse.as_slice() {
            [] => Ok(()),
            worse => Err(CliError::failed(format!(
                "worse than in the former report: {}",
                worse.join("; ")
            ))),
        }
    }
}

/// Which device, and what came of it, in a sentence or two.
fn answer(report: &AcceptanceReport, compared: Option<&Comparison>) -> String {
    let device = &report.device;
    let emulated = match report.way {
        Way::Emulated => " (emulated: this says nothing of hardware)",
        _ => "",
    };
    let who = format!(
        "{} {}, firmware {}{emulated}",
        device.vendor, device.product, device.revision
    );
    let failed = match report.failures.len() {
        0 => String::new(),
        count => format!("; {} failed", units::count(count, "step")),
    };
    let Some(compared) = compared else {
        return format!("{who}: {}{failed}", gist(report));
    };
    let count = |verdict| compared.with(verdict).count();
    let (worse, better) = (count(Verdict::Worse), count(Verdict::Better));
    let alike = count(Verdict::Alike);
    let judged = worse + better + alike;
    if worse + better == 0 {
        return format!("{who}: as before in all {judged} quantities that can be judged{failed}");
    }
    let mut named: Vec<&Change> = compared.with(Verdict::Worse).collect();
    named.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
    let named: Vec<String> = named
        .iter()
        .take(3)
        .map(|change| format!("{} {}", change.now.what, difference(change)))
        .collect();
    let named = match named.as_slice() {
        [] => String::new(),
        named => format!("; worst: {}", named.join("; ")),
    };
    format!("{who}: {worse} worse, {better} better, {alike} as before{named}{failed}")
}

/// How many mounts a library manages, and how much was measured.
fn gist(report: &AcceptanceReport) -> String {
    let values = units::count(report.measures.len(), "value");
    let measured = format!("{values} in {}", report.took_us);
    let rates = report.measures.iter();
    let rates = rates.filter(|measure| measure.what.starts_with("mounts an hour"));
    match rates.map(|measure| measure.mean).reduce(f64::max) {
        Some(most) => format!("up to {} mounts an hour; {measured}", number(most)),
        None => measured,
    }
}

/// By how many of its intervals a quantity has changed.
fn strength(change: &Change) -> f64 {
    let half = change.half_width.unwrap_or(f64::INFINITY);
    change.difference().abs() / half.max(f64::MIN_POSITIVE)
}

fn difference(change: &Change) -> String {
    format!("{} {}", signed(change.difference()), change.now.unit)
}

/// A number with about three digits that count; less than half a thousandth is none.
fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        small if small >= 0.05 => format!("{value:.2}"),
        least if least >= 0.0005 => format!("{value:.3}"),
        _ => "0".to_owned(),
    }
}

fn signed(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "+" };
    format!("{sign}{}", number(value.abs()))
}

/// Half an interval, or that there is none.
fn width(half: Option<f64>) -> String {
    half.map_or_else(|| "-".to_owned(), number)
}

/// Every quantity, beside the profile.
fn measured(report: &AcceptanceReport) -> Table {
    let by = match &report.profile {
        Some(profile) => format!("Measured, beside profile {profile}"),
        None => "Measured".to_owned(),
    };
    let mut table = Table::new(
        by,
        &["quantity", "unit", "mean", "+-", "n", "profile", "sd"],
    );
    let risk = RISK / report.measures.len().max(1) as f64;
    for measure in &report.measures {
        table.row([
            measure.what.clone(),
            measure.unit.clone(),
            number(measure.mean),
            width(half_width(measure, risk)),
            measure.n.to_string(),
            measure.profile.map_or_else(|| "-".to_owned(), number),
            number(measure.sd),
        ]);
    }
    let percent = RISK * 100.0;
    table.note(format!(
        "+-: the means of the whole table lie within these widths, with a risk of {percent:.0} %; a quantity measured \
         once has none"
    ));
    table
}

/// Every quantity that both reports have, what changed first.
fn changes(compared: &Comparison) -> Table {
    let columns = ["quantity", "unit", "then", "now", "change", "+-", "verdict"];
    let mut table = Table::new("Beside the former report", &columns);
    let order = [
        Verdict::Worse,
        Verdict::Better,
        Verdict::Alike,
        Verdict::Unjudged,
    ];
    for verdict in order {
        for change in compared.with(verdict) {
            table.row([
                change.now.what.clone(),
                change.now.unit.clone(),
                number(change.former.mean),
                number(change.now.mean),
                signed(change.difference()),
                width(change.half_width),
                words(verdict).to_owned(),
            ]);
        }
    }
    let percent = RISK * 100.0;
    table.note(format!(
        "a quantity has changed if its change is larger than +-, what chance explains: the risk that any verdict of the \
         table is wrong by chance is {percent:.0} %"
    ));
    for (what, names) in [
        ("only in the former report", &compared.only_former),
        ("not in the former report", &compared.only_now),
    ] {
        if !names.is_empty() {
            table.note(format!("{what}: {}", names.join("; ")));
        }
    }
    table
}

fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "WORSE",
        Verdict::Better => "better",
        Verdict::Alike => "as before",
        Verdict::Unjudged => "measured once",
    }
}

/// The parts, planned and measured.
fn parts(report: &AcceptanceReport) -> Table {
    let columns = ["part", "planned", "measured", "ended"];
    let mut table = Table::new("Parts", &columns);
    for part in &report.parts {
        let ended = match part.ended {
            Ended::NotYet => "not yet",
            Ended::Done => "done",
            Ended::OutOfTime => "the budget was spent",
        };
        table.row([
            part.name.clone(),
            part.planned.to_string(),
            part.samples.to_string(),
            ended.to_owned(),
        ]);
    }
    for part in &report.left_out {
        table.note(format!("{} was left out: {}", part.name, part.why));
    }
    table
}

/// What a reader must know before he believes the numbers.
fn remarks_of(report: &AcceptanceReport, former: Option<&AcceptanceReport>) -> Vec<String> {
    let mut remarks = vec![format!(
        "Time: {} of the {} given, seed {}.",
        report.took_us, report.budget_us, report.seed
    )];
    let far = report.measures.iter().filter_map(|measure| {
        let profile = measure.profile.filter(|profile| *profile != 0.0)?;
        Some((measure, measure.mean / profile - 1.0))
    });
    let far = far.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    if let Some((measure, _)) = far {
        remarks.push(format!(
            "Farthest from the profile: {}, {} {} where the profile has {}.",
            measure.what,
            number(measure.mean),
            measure.unit,
            measure.profile.map_or_else(String::new, number)
        ));
    }
    let short: Vec<&str> = report
        .parts
        .iter()
        .filter(|part| part.ended == Ended::OutOfTime)
        .map(|part| part.name.as_str())
        .collect();
    if !short.is_empty() {
        remarks.push(format!("Cut short by the budget: {}.", short.join(", ")));
    }
    if !report.left_out.is_empty() {
        let left_out = report.left_out.iter();
        let left_out: Vec<String> = left_out
            .map(|part| format!("{} ({})", part.name, part.why))
            .collect();
        remarks.push(format!("Left out: {}.", left_out.join(", ")));
    }
    for failure in &report.failures {
        remarks.push(format!("Failed: {failure}."));
    }
    remarks.extend(former.into_iter().flat_map(|former| beside(report, former)));
    remarks
}

/// How the former report differs in what was measured.
fn beside(report: &AcceptanceReport, former: &AcceptanceReport) -> Vec<String> {
    let mut remarks = vec![format!(
        "Former report: firmware {}, {}, seed {}.",
        former.device.revision, former.program, former.seed
    )];
    if former.device.pseudonym != report.device.pseudonym
        || former.device.product != report.device.product
    {
        remarks.push(format!(
            "The former report is of another device, a {} {}.",
            former.device.vendor, former.device.product
        ));
    }
    if former.profile != report.profile {
        remarks.push(
            "The former report was made with another profile, so what is less predicted is not compared."
                .to_owned(),
        );
    }
    let blocks = |report: &AcceptanceReport| {
        let cartridge = report.cartridge.as_ref();
        cartridge.map(|cartridge| (cartridge.blocks, cartridge.block_bytes))
    };
    if let (Some((then, was)), Some((now, is))) = (blocks(former), blocks(report))
        && (then, was) != (now, is)
    {
        remarks.push(format!(
            "The cartridge held {then} blocks of {was} bytes then and {now} of {is} bytes now: means over the whole \
             tape differ by that alone, what is less predicted does not."
        ));
    }
    remarks
}

/// A measure by part and name.
fn find<'a>(report: &'a AcceptanceReport, part: &str, what: &str) -> Option<&'a Measure> {
    let mut measures = report.measures.iter();
    measures.find(|measure| measure.part == part && measure.what == what)
}

/// The report that was begun, if it is of the same device and on the same terms. The hours may differ until it is planned
/// what they are for.
pub fn same(
    begun: AcceptanceReport,
    asked: &AcceptanceReport,
    path: &Path,
) -> Result<AcceptanceReport, CliError> {
    let differs = [
        (
            "another device",
            begun.device != asked.device || begun.kind != asked.kind,
        ),
        ("another profile", begun.profile != asked.profile),
        ("another --seed", begun.seed != asked.seed),
        (
            "other --hours",
            begun.is_planned() && begun.budget_us != asked.budget_us,
        ),
        ("--write", begun.writes && !asked.writes),
        ("no --write", !begun.writes && asked.writes),
    ];
    match differs.into_iter().find(|(_, differs)| *differs) {
        Some((what, _)) => Err(CliError::input(format!(
            "{}: this acceptance was begun with {what}",
            path.display()
        ))
        .hint("repeat its command, or give another -o")),
        None => Ok(AcceptanceReport {
            budget_us: asked.budget_us,
            ..begun
        }),
    }
}

/// Time of the device in all sessions of a log.
pub fn spent(log: &EventLog) -> Micros {
    let session = |session: &Session| {
        let ends = session
            .events
            .iter()
            .map(|event| event.at_us + event.took_us);
        ends.fold(Micros::ZERO, Micros::max)
    };
    log.sessions.iter().map(session).sum()
}

/// A report has to be a file: it is what a stopped acceptance goes on from.
pub fn is_file(path: &Path) -> Result<(), CliError> {
    if path == Path::new("-") {
        let what = "-o -: an acceptance that was stopped goes on from its report, so the report needs a file";
        return Err(CliError::input(what));
    }
    Ok(())
}

/// The report that was begun; a log without its report is somebody else's.
pub fn begun(path: &Path) -> Result<Option<AcceptanceReport>, CliError> {
    let begun = read(path)?;
    let log = log_of(path);
    if begun.is_none() && log.exists() {
        let what = format!(
            "{} is there, but not its report {}",
            log.display(),
            path.display()
        );
        return Err(CliError::input(what).hint("give another -o, or remove the log"));
    }
    Ok(begun)
}

/// The event log of a report; empty where there is none.
pub fn read_log(report: &Path) -> Result<EventLog, CliError> {
    let path = log_of(report);
    if !path.exists() {
        return Ok(EventLog::default());
    }
    let bad =
        |error: &dyn std::fmt::Display| CliError::input(format!("{}: {error}", path.display()));
    let file = File::open(&path).map_err(|error| bad(&error))?;
    read_events(BufReader::new(file)).map_err(|error| bad(&error))
}

/// How a device was reached, as a report says it.
pub fn way_of(way: device::Way) -> Way {
    match way {
        device::Way::Sg | device::Way::St => Way::Sg,
        device::Way::Iscsi => Way::Iscsi,
        device::Way::Replay => Way::Replay,
        device::Way::Emulated => Way::Emulated,
    }
}
