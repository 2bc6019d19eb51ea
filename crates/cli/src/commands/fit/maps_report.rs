//! What was found of maps, for a person and as JSON.

use crate::units;
use tapewise_fit::Maps;
use tapewise_fit::blind::{Comparison, Errors, FoundVolume, Support};
use tapewise_model::Micros;
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
            or_gap(format!("{:+.2} %", 100.0 * share(maps, volume))),
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

/// How much more than nominally a wrap holds.
fn share(maps: &Maps, volume: &FoundVolume) -> f64 {
    volume.wrap_blocks() / maps.wrap_blocks - 1.0
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
    if let Some((count, time)) = read_on(maps) {
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

/// Moves to where the head stood, and the median of the volumes' median times, counted by moves.
fn read_on(maps: &Maps) -> Option<(usize, Micros)> {
    let stands = maps.volumes.iter().flat_map(|volume| &volume.moves);
    let stands = stands.filter(|each| each.from_block == each.to_block);
    let mut times: Vec<Micros> = stands.map(|each| each.time).collect();
    times.sort_unstable();
    times.get(times.len() / 2).map(|&time| (times.len(), time))
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

/// The report as JSON.
pub fn json(maps: &Maps) -> serde_json::Value {
    let volumes: Vec<serde_json::Value> = maps
        .fit
        .volumes
        .iter()
        .map(|volume| volume_json(maps, volume))
        .collect();
    let coefficients: serde_json::Map<String, serde_json::Value> = maps
        .fit
        .coefficients
        .iter()
        .map(|each| {
            let value =
                serde_json::json!({ "value": each.value, "std_error": finite(each.std_error) });
            (each.name.to_owned(), value)
        })
        .collect();
    let read_on = read_on(maps);
    serde_json::json!({
        "block_bytes": maps.block_bytes,
        "wrap_blocks_nominal": maps.wrap_blocks,
        "wrap_share": maps.fit.wrap_share,
        "typical_error_s": maps.fit.typical_s,
        "read_on": read_on.map_or(0, |(count, _)| count),
        "read_on_median_s": read_on.map(|(_, time)| time.as_secs_f64()),
        "coefficients": coefficients,
        "volumes": volumes,
        "held_out_moves": maps.held_out.as_ref().ok().map(|found| compared(&found.by_moves)),
        "held_out_volumes": maps.held_out.as_ref().ok()
            .and_then(|found| found.by_volumes.as_ref()).map(compared),
    })
}

fn volume_json(maps: &Maps, volume: &FoundVolume) -> serde_json::Value {
    let (support, margin) = match volume.support {
        Support::Found { margin } => ("found", Some(margin)),
        Support::FewMoves => ("few-moves", None),
        Support::Ambiguous { margin } => ("ambiguous", Some(margin)),
    };
    let found = volume.support.is_found();
    serde_json::json!({
        "volume": volume.name,
        "moves": volume.moves,
        "read_on": volume.read_on,
        "map": support,
        "margin": margin.and_then(finite),
        "wrap_blocks": found.then(|| volume.wrap_blocks()),
        "of_nominal": found.then(|| share(maps, volume)),
        "last_block": volume.last_block(),
        "error_wraps": volume.along(volume.last_block()).1,
        "typical_error_s": found.then_some(volume.typical_s),
    })
}

fn compared(comparison: &Comparison) -> serde_json::Value {
    let errors = |errors: &Errors| {
        serde_json::json!({
            "moves": errors.moves,
            "typical_error_s": errors.typical_s,
            "residual_s": errors.residual_s,
            "off_by_2_s": errors.off_by_2_s,
        })
    };
    serde_json::json!({ "nominal": errors(&comparison.nominal), "found": errors(&comparison.found) })
}

/// JSON has no infinity: nothing stands for it.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
