//! The fitted profile: the base profile's text with its `[locate]` and what is said of it replaced.

use super::records::Records;
use crate::error::CliError;
use crate::profiles::Source;
use std::fmt::Write;
use std::path::Path;
use tapewise_fit::{Coefficients, Comparison, Folding};
use tapewise_model::Profile;

/// The key of the log in the profile's `[sources]`.
const LOG: &str = "LOG";

/// The text of the profile, which is read back before it is given out.
pub fn text(
    base: &Source,
    records: &Records,
    comparison: &Comparison,
    path: &Path,
) -> Result<String, CliError> {
    let name = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let name = name.unwrap_or_else(|| "fitted".to_owned());
    let choice = comparison.choice();
    let held_out = match comparison.folding {
        Folding::Cartridges => "cartridges held out",
        Folding::Blocks => "records held out",
    };
    let origin = if records.emulated {
        "emulated drives"
    } else {
        "the log"
    };
    let placed = match records.moves.is_empty() {
        true => "",
        false => " placed by their times",
    };
    let summary = format!(
        "{}, fitted to {} locates of {origin}{placed}: {:.2} s standard error on {held_out}, without {} outliers.",
        capital(choice.candidate.name()),
        records.samples.len(),
        choice.overall.bulk_s,
        comparison.outliers,
    );
    let status = if records.emulated {
        "emulated"
    } else {
        "estimate"
    };
    let head = [
        ("name", name.as_str()),
        ("status", status),
        ("summary", &summary),
    ];
    let mut text = String::new();
    let mut section = String::new();
    for line in base.text.lines() {
        if let Some(header) = line.trim().strip_prefix('[') {
            section = header.split(']').next().unwrap_or("").to_owned();
            if section == "locate" {
                continue;
            }
        }
        let key = line.split('=').next().map(str::trim).unwrap_or("");
        let replaced = head
            .iter()
            .find(|(name, _)| section.is_empty() && *name == key);
        match replaced {
            Some((key, value)) => writeln!(text, "{key} = {}", quoted(value)),
            None if section == "locate" => continue,
            // A profile fitted before has the source of its own log.
            None if section == "sources" && key == LOG => continue,
            None => writeln!(text, "{line}"),
        }
        .map_err(CliError::failed)?;
        if line.trim() == "[sources]" {
            let files = format!("locates measured: {}", records.files.join(", "));
            writeln!(text, "{LOG} = {}", quoted(&files)).map_err(CliError::failed)?;
        }
    }
    let end = text.trim_end().len();
    text.truncate(end);
    text.push_str("\n\n[locate]\n");
    text.push_str(&locate(&choice.fitted.coefficients, choice.overall.bulk_s));
    Profile::from_toml(&path.display().to_string(), &text)?.locate_model(None)?;
    Ok(text)
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// The fields of the `[locate]` section.
fn locate(coefficients: &Coefficients, held_out_s: f64) -> String {
    let mut fields: Vec<(&str, toml::Value)> = Vec::new();
    let one = toml::Value::Float;
    let list = |values: &[f64]| toml::Value::Array(values.iter().copied().map(one).collect());
    let places = |values: &[u32]| {
        let numbers = values
            .iter()
            .map(|&value| toml::Value::Integer(value.into()));
        toml::Value::Array(numbers.collect())
    };
    let model = match coefficients {
        Coefficients::HelicalLinear { startup_s, full_s } => {
            fields.extend([("startup_s", one(*startup_s)), ("full_s", one(*full_s))]);
            "helical-linear"
        }
        Coefficients::FourRegion {
            ahead_s,
            behind_s,
            offset_tracks,
        } => {
            fields.extend([
                ("ahead_s", one(ahead_s[0])),
                ("ahead_s_per_track", one(ahead_s[1])),
                ("behind_s", one(behind_s[0])),
                ("behind_s_per_track", one(behind_s[1])),
                ("offset_tracks", one(*offset_tracks)),
            ]);
            "four-region"
        }
        Coefficients::LtoRegression(c) => {
            fields.extend([
                ("intercept_s", one(c.intercept_s)),
                ("wrap_change_s", one(c.wrap_change_s)),
                ("band_change_s", one(c.band_change_s)),
                ("mid_cross_s", one(c.mid_cross_s)),
                ("direction_change_s", one(c.direction_change_s)),
                ("step_back_s", one(c.step_back_s)),
                ("per_lpos_s", one(c.per_lpos_s)),
                ("residual_s", one(held_out_s)),
            ]);
            "lto-regression"
        }
        Coefficients::LandingPoint(c) => {
            fields.extend([
                ("same_wrap_s", list(&c.same_wrap_s)),
                ("other_wrap_s", list(&c.other_wrap_s)),
                ("band_change_s", list(&c.band_change_s)),
                ("mid_cross_s", one(c.mid_cross_s)),
                ("outside_saves_per_lpos_s", one(c.outside_saves_per_lpos_s)),
                ("travel_s", list(&c.travel_s)),
                ("travel_per_lpos_s", list(&c.travel_per_lpos_s)),
                ("read_on_s", one(c.read_on_s)),
                ("read_per_lpos_s", one(c.read_per_lpos_s)),
                ("wrap_start_s", list(&c.wrap_start_s)),
                ("forward_lpos", places(&c.forward_lpos)),
                ("reverse_lpos", places(&c.reverse_lpos)),
                (
                    "landing_spread_lpos",
                    toml::Value::Integer(c.landing_spread_lpos.into()),
                ),
                ("residual_s", one(held_out_s)),
            ]);
            "landing-point"
        }
    };
    let mut text = format!("model = \"{model}\"\n");
    for (name, value) in fields {
        let note = match name {
            "residual_s" => ", note = \"on held-out records\"",
            _ => "",
        };
        text.push_str(&format!(
            "{name} = {{ value = {value}, source = \"{LOG}\"{note} }}\n"
        ));
    }
    text
}
