//! What a fit found, as JSON.

use crate::blind::{Comparison as Compared, Errors, FoundVolume, Support};
use crate::held_out::{Folding, Score, Trust};
use crate::kind::Kind;
use crate::least_squares::Term;
use crate::maps::Maps;
use crate::outcome::{Outcome, Places};
use crate::undetermined::{Lack, Undetermined};
use serde_json::{Map, Value, json};

/// What a fit found, with every model on records held out.
pub fn document(found: &Outcome) -> Value {
    let (records, comparison) = (&found.records, &found.comparison);
    let score = |score: &Score| {
        json!({
            "records": score.count,
            "residual_s": score.residual_s,
            "bulk_residual_s": score.bulk_s,
            "mean_error_s": score.mean_s,
            "median_error_s": score.median_s,
            "off_by_2_s": score.off,
            "r_squared": score.r_squared,
            "bulk_r_squared": score.bulk_r_squared,
        })
    };
    let term = |term: &Term| {
        json!({
            "name": term.name, "estimate": term.estimate, "std_error": finite(term.std_error),
            "t": finite(term.t), "p": finite(term.p),
        })
    };
    let models: Vec<Value> = comparison.scored.iter().map(|scored| {
        let kinds: Map<String, Value> = Kind::ALL.iter().zip(&scored.kinds)
            .map(|(kind, found)| (kind.name().to_owned(), score(found))).collect();
        json!({
            "model": scored.candidate.name(),
            "held_out": score(&scored.overall),
            "held_out_by_kind": kinds,
            "coefficients": scored.fitted.table.as_ref().map(|table| table.terms.iter().map(term).collect::<Vec<_>>()),
            "landing_points": scored.fitted.landed.as_ref().map(|landed| json!({
                "structure": landed.structure.name(), "forward": landed.points[0],
                "reverse": landed.points[1],
            })),
            "undetermined": scored.fitted.undetermined.iter().map(undetermined).collect::<Vec<_>>(),
            "outliers": scored.fitted.outliers,
        })
    }).collect();
    json!({
        "records": records.samples.len(),
        "cartridges": comparison.cartridges,
        "held_out": match comparison.folding {
            Folding::Cartridges => "cartridges",
            Folding::Blocks => "blocks of records",
        },
        "emulated": records.emulated,
        "drift": comparison.drift.map(|drift| json!({
            "share": drift.share, "std_error": drift.std_error, "from_record": drift.from_record.map(|from| from + 1),
        })),
        "outliers": comparison.outliers,
        "maps": found.maps.as_ref().map(maps),
        "places": match found.places {
            Places::Recorded => "recorded",
            Places::Nominal => "nominal",
            Places::NominalKeyPoints => "nominal-key-points",
            Places::Map => "map",
            Places::Found => "found",
        },
        "trust": match comparison.trust() {
            Trust::Good => "good",
            Trust::Rough => "rough",
            Trust::None => "none",
        },
        "chosen": comparison.choice().candidate.name(),
        "models": models,
    })
}

/// A term, and what is missing to determine it.
fn undetermined(each: &Undetermined) -> Value {
    match each.lack {
        Lack::Records(records) => json!({ "term": each.term, "records": records }),
        Lack::Certainty {
            estimate,
            std_error,
        } => {
            json!({ "term": each.term, "estimate": estimate, "std_error": finite(std_error) })
        }
    }
}

/// What was found of maps.
fn maps(maps: &Maps) -> Value {
    let volumes: Vec<Value> = maps
        .fit
        .volumes
        .iter()
        .map(|volume| volume_json(maps, volume))
        .collect();
    let coefficients: Map<String, Value> = maps
        .fit
        .coefficients
        .iter()
        .map(|each| {
            let value = json!({ "value": each.value, "std_error": finite(each.std_error) });
            (each.name.to_owned(), value)
        })
        .collect();
    let read_on = maps.read_on();
    json!({
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

fn volume_json(maps: &Maps, volume: &FoundVolume) -> Value {
    let (support, margin) = match volume.support {
        Support::Found { margin } => ("found", Some(margin)),
        Support::FewMoves => ("few-moves", None),
        Support::Ambiguous { margin } => ("ambiguous", Some(margin)),
    };
    let found = volume.support.is_found();
    json!({
        "volume": volume.name,
        "moves": volume.moves,
        "read_on": volume.read_on,
        "map": support,
        "margin": margin.and_then(finite),
        "wrap_blocks": found.then(|| volume.wrap_blocks()),
        "of_nominal": found.then(|| maps.share(volume)),
        "last_block": volume.last_block(),
        "error_wraps": volume.along(volume.last_block()).1,
        "typical_error_s": found.then_some(volume.typical_s),
    })
}

fn compared(comparison: &Compared) -> Value {
    let errors = |errors: &Errors| {
        json!({
            "moves": errors.moves,
            "typical_error_s": errors.typical_s,
            "residual_s": errors.residual_s,
            "off_by_2_s": errors.off_by_2_s,
        })
    };
    json!({ "nominal": errors(&comparison.nominal), "found": errors(&comparison.found) })
}

/// JSON has no infinity: nothing stands for it.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
