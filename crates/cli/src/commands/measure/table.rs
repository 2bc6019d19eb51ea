//! What will be measured, and what was.

use crate::units;
use tapewise_formats::event::Event;
use tapewise_model::{KeyPoints, Micros};
use tapewise_plot::Table;
use tapewise_run::measure::summary::{BlockRate, Line, Stat, Summary};
use tapewise_run::measure::{Step, Subject, Suite};

/// The plan.
pub fn plan(suite: &Suite) -> Table {
    let mut table = Table::new("", &["step", "samples", "drive time"]);
    for planned in &suite.steps {
        table.row([
            planned.step.to_string(),
            planned.samples.to_string(),
            planned.total().to_string(),
        ]);
    }
    table.note(format!("predicted: {} of drive time", suite.total()));
    for (step, why) in &suite.left_out {
        table.note(format!("{step} is left out: {why}"));
    }
    table
}

/// Steps that have fewer samples than planned.
pub fn cut_short(table: &mut Table, steps: &[Step]) {
    for step in steps {
        table.note(format!(
            "{step} has fewer samples than planned: the time was up"
        ));
    }
}

/// Samples without times, and why: the first few.
pub fn failed(table: &mut Table, failed: &[&Event]) {
    const SHOWN: usize = 5;
    for event in failed.iter().take(SHOWN) {
        let purpose = event.purpose.as_deref().unwrap_or_default();
        let block = event.to.and_then(|to| to.block);
        let block = block.map_or(String::new(), |block| format!(" at block {block}"));
        let why = event.sense.as_deref().unwrap_or("no reason is known");
        table.note(format!("{purpose} was not measured{block}: {why}"));
    }
    if failed.len() > SHOWN {
        let more = failed.len() - SHOWN;
        table.note(format!(
            "{more} more samples were not measured; the log has them"
        ));
    }
}

/// The numbers that people ask for first, in a sentence.
pub fn answer(summary: &Summary, subject: &Subject, emulated: bool) -> String {
    let mean = |stat: &Option<Stat>, words: &str, unit: &str| {
        let mean = stat.as_ref()?.mean;
        Some(format!("{words} {mean:.1} {unit}"))
    };
    let parts = [
        mean(&summary.seek_mid_s, "a locate takes", "s on average"),
        mean(&summary.seek_bot_s, "one from the beginning of tape", "s"),
        mean(&summary.rewind_s, "a rewind", "s"),
        mean(&summary.mount_s, "a mount", "s"),
        mean(&summary.rate_mb_s, "reading runs at", "MB/s"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let emulated = if emulated {
        " (emulated: it says nothing of hardware)"
    } else {
        ""
    };
    let title = &subject.profile.title;
    match parts.as_slice() {
        [] => format!("{title}{emulated}"),
        parts => format!("{title}{emulated}: {}", parts.join(", ")),
    }
}

/// The numbers.
pub fn summary(summary: &Summary, subject: &Subject, took: Micros, emulated: bool) -> Table {
    let title = format!(
        "{}, {} of {} bytes",
        subject.profile.title,
        units::count(subject.blocks as usize, "block"),
        subject.recorded_block_bytes()
    );
    let mut table = Table::new(
        title,
        &["measured", "unit", "mean", "sd", "n", "min", "max"],
    );
    let rows: [(&str, &str, &Option<Stat>); 11] = [
        ("mount", "s", &summary.mount_s),
        ("unmount, rewound", "s", &summary.unmount_s),
        ("unmount from mid-tape", "s", &summary.unmount_midtape_s),
        ("first seek after it", "s", &summary.first_seek_s),
        ("robot, slot to drive", "s", &summary.fetch_s),
        ("robot, drive to slot", "s", &summary.return_s),
        ("seek from beginning of tape", "s", &summary.seek_bot_s),
        ("seek to an opposite track", "s", &summary.seek_opposite_s),
        ("seek between any places", "s", &summary.seek_mid_s),
        ("rewind", "s", &summary.rewind_s),
        ("rate", "MB/s", &summary.rate_mb_s),
    ];
    for (name, unit, stat) in rows {
        if let Some(stat) = stat {
            let number = |value: f64| format!("{value:.2}");
            table.row([
                name.to_owned(),
                unit.to_owned(),
                number(stat.mean),
                number(stat.sd),
                stat.n.to_string(),
                number(stat.min),
                number(stat.max),
            ]);
        }
    }
    notes(summary, subject, &mut table);
    table.note(format!(
        "{took} of drive time{}",
        if emulated {
            ", emulated: it says nothing of hardware"
        } else {
            ""
        }
    ));
    table
}

fn notes(summary: &Summary, subject: &Subject, table: &mut Table) {
    let line = |name: &str, line: &Option<Line>| {
        line.map(|line| {
            format!(
                "{name}: {:.2} s + {:.2} s x share of the tape (residual sd {:.2} s, R2 {:.3}, n {})",
                line.intercept, line.slope, line.residual_sd, line.r_squared, line.n
            )
        })
    };
    let notes = [
        line("seek from beginning of tape", &summary.seek_bot_line),
        line("rewind", &summary.rewind_line),
        line("first seek after mid-tape mount", &summary.first_seek_line),
        summary.long_seek.map(|seek| {
            format!("seek startup {:.2} s, full tape {:.1} s (as Johnson & Miller, Table 4)", seek.startup_s, seek.full_s)
        }),
        summary.crossover.as_ref().map(|crossover| {
            format!("a locate is faster than reading on from {:.1} MB on ({} comparisons)", crossover.mb, crossover.compared.len())
        }),
        summary.delay.as_ref().map(|delay| format!("delay between reads without loss: {:.1} ms", delay.ms)),
        summary.restart.as_ref().map(|restart| match restart.smallest_mb {
            Some(mb) => format!(
                "a pause of {:.0} s or more after reads of {mb:.0} MB or more costs {:.1} s",
                restart.shortest_pause_s.unwrap_or(0.0), restart.penalty_s
            ),
            None => "no pause after a large read costs a restart".to_owned(),
        }),
        summary.landing.as_ref().and_then(|falls| {
            let (spacing, fall) = (falls.spacing_lpos?, falls.fall_s?);
            Some(format!(
                "landing points every {:.0} LPOS (sd {:.0}, {} seen); there the time falls by {:.1} s",
                spacing.mean, spacing.sd, falls.lpos.len(), fall.mean
            ))
        }),
        BlockRate::smallest_full(&summary.block_rates).map(|bytes| {
            format!("smallest block that is read at the full rate: {:.0} KiB", bytes as f64 / 1024.0)
        }),
        summary.compression.as_ref().map(|found| {
            format!(
                "compression: {:.2} + {:.3} x gzip's ratio (R2 {:.3}); at most {:.1} MB/s read, {:.1} MB/s written",
                found.ratio.intercept, found.ratio.slope, found.ratio.r_squared,
                found.max_read_mb_s(), found.max_write_mb_s()
            )
        }),
        Some(places(summary, subject)),
    ];
    notes
        .into_iter()
        .flatten()
        .for_each(|note| table.note(note));
}

/// What the key points rest on, and how far they may be off.
pub fn key_points(table: &mut Table, summary: &Summary, found: Option<&KeyPoints>) {
    let (searched, chosen) = (summary.key_point_probes, summary.chosen_probes);
    if searched > 0 {
        table.note(format!("key points: {searched} timed locates"));
    } else if let Some(found) = found {
        let error = found.error();
        table.note(format!(
            "key points: learned from {chosen} locates, +-{error} segments (one standard deviation)"
        ));
    }
}

/// How it is known where blocks lie.
fn places(summary: &Summary, subject: &Subject) -> String {
    let told = match (summary.positions.len(), subject.tells_place) {
        (0, false) => "the drive does not say where it is".to_owned(),
        (count, _) => format!("{} reported by the drive", units::count(count, "place")),
    };
    match &subject.wrap_ends {
        Some(table) => {
            let wraps = units::count(table.len(), "wrap");
            format!("where blocks lie: table of {wraps} from the drive; {told}")
        }
        None => format!("where blocks lie: nominal geometry; {told}"),
    }
}
