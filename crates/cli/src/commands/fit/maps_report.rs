//! What was found of maps, for a person.

use crate::units;
use tapewise_fit::Maps;
use tapewise_fit::blind::{Comparison, FoundVolume, Support};
use tapewise_plot::Table;

/// Above this, maps from sorted recalls may be a wrap off without a sign.
const WRAPS_TOO_UNEVEN: f64 = 0.02;
/// A volume this many times worse than all together is worth a look.
const STANDS_OUT: f64 = 3.0;

/// The report as text.
pub fn text(maps: &Maps) -> String {
    format!("{}\n{}\n", volumes(maps), held_out(maps))
}

fn volumes(maps: &Maps) -> Table {
    let title = "Maps found from times; +- is one standard deviation at the farthest block";
    let columns = [
        "volume",
        "moves",
        "read on",
        "blocks per wrap",
        "of nominal",
        "+- of a wrap",
        "typical error, s",
        "map",
    ];
    let mut table = Table::new(title, &columns);
    for volume in &maps.fit.volumes {
        let found = volume.support.is_found();
        let or_gap = |text: String| if found { text } else { "-".to_owned() };
        table.row([
            volume.name.clone(),
            volume.moves.to_string(),
            volume.read_on.to_string(),
            or_gap(format!("{:.0}", volume.wrap_blocks())),
            or_gap(format!("{:+.2} %", 100.0 * maps.share(volume))),
            format!("{:.2} %", 100.0 * volume.along(volume.last_block()).1),
            or_gap(format!("{:.2}", volume.typical_s)),
            support(volume),
        ]);
    }
    table.note(format!(
        "A wrap nominally holds {:.0} blocks of {:.0} bytes. Wraps of a tape differ by {:.2} %.",
        maps.wrap_blocks,
        maps.block_bytes,
        100.0 * maps.fit.wrap_share
    ));
    notes(maps).into_iter().for_each(|note| table.note(note));
    table
}

fn support(volume: &FoundVolume) -> String {
    match volume.support {
        Support::Found { .. } => "found".to_owned(),
        Support::FewMoves => "nominal: too few moves".to_owned(),
        Support::Ambiguous { margin } => {
            format!("nominal: others fit as well (margin {margin:.1})")
        }
    }
}

/// What is odd, or worth knowing before the times are used.
fn notes(maps: &Maps) -> Vec<String> {
    let mut notes = Vec::new();
    let left = maps.fit.volumes.len() - maps.found();
    if left > 0 {
        notes.push(format!(
            "The moves of {} without a map of their own are not fitted.",
            units::count(left, "volume")
        ));
    }
    if let Some((count, time)) = maps.read_on() {
        notes.push(format!(
            "{} went to where the head stood, and took {:.1} s in the median: what the log adds to a\n\
             locate, such as reading a header. All times below have it in them.",
            units::count(count, "move"),
            time.as_secs_f64()
        ));
    }
    if maps.fit.wrap_share > WRAPS_TOO_UNEVEN {
        notes.push(
            "Wraps differ by more than 2 %: maps from sorted recalls may be a whole wrap off."
                .to_owned(),
        );
    }
    let found = maps.fit.volumes.iter().filter(|v| v.support.is_found());
    for volume in found.filter(|v| v.typical_s > STANDS_OUT * maps.fit.typical_s) {
        notes.push(format!(
            "{} is off by far more than the others: does the name stand for two cartridges?",
            volume.name
        ));
    }
    notes
}

fn held_out(maps: &Maps) -> Table {
    let columns = [
        "held out",
        "map",
        "moves",
        "typical error, s",
        "standard error, s",
        "off by 2 s",
    ];
    let title = "Moves held out, predicted by the regression that maps were found with";
    let mut table = Table::new(title, &columns);
    let held_out = match &maps.held_out {
        Ok(held_out) => held_out,
        Err(error) => {
            table = Table::new(
                "No moves held out: the rest is too little to find maps from",
                &[],
            );
            table.note(error.to_string());
            return table;
        }
    };
    let mut rows = |name: &str, comparison: &Comparison| {
        let both = [("nominal", comparison.nominal), ("found", comparison.found)];
        for (map, errors) in both {
            table.row([
                name.to_owned(),
                map.to_owned(),
                errors.moves.to_string(),
                format!("{:.2}", errors.typical_s),
                format!("{:.2}", errors.residual_s),
                format!("{:.1} %", 100.0 * errors.off_by_2_s),
            ]);
        }
    };
    rows("a fifth of the moves", &held_out.by_moves);
    if let Some(by_volumes) = &held_out.by_volumes {
        rows("a fifth of the volumes", by_volumes);
    }
    table.note("Typical error: 1.4826 times the median, which retries of the drive hardly change.");
    table
}
