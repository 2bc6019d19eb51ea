//! `tapewise profile show`.

use crate::error::CliError;
use crate::json;
use crate::profiles;
use std::collections::BTreeMap;
use tapewise_model::profile::text::{line_of_field, unit};
use tapewise_model::profile::{Locate, Profile, ProfileValue, values};
use tapewise_plot::Table;

/// Show every value of a profile with its unit, its source and its note.
#[derive(clap::Args, Debug)]
pub struct Show {
    /// Name of a profile, or a file.
    #[arg(value_name = "NAME|FILE")]
    profile: String,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// A value in JSON.
#[derive(Debug, serde::Serialize)]
struct Value {
    field: String,
    value: serde_json::Value,
    unit: Option<&'static str>,
    source: String,
    note: Option<String>,
}

/// A profile in JSON.
#[derive(Debug, serde::Serialize)]
struct Shown<'a> {
    name: &'a str,
    title: &'a str,
    kind: &'static str,
    status: &'static str,
    summary: &'a str,
    model: Option<&'static str>,
    values: Vec<Value>,
    sources: &'a BTreeMap<String, String>,
}

/// What the verb prints.
pub fn text(args: &Show) -> Result<String, CliError> {
    let source = profiles::source(&args.profile)?;
    let profile = Profile::from_toml(&source.file, &source.text)?;
    let table: toml::Table = toml::from_str(&source.text).map_err(CliError::failed)?;
    let mut found = values(&table);
    // As the author wrote them: TOML tables come back in alphabetical order.
    found.sort_by_cached_key(|value| {
        line_of_field(&source.text, &value.field).unwrap_or(usize::MAX)
    });
    if args.json {
        let values = found.into_iter().map(|value| in_json(value, &table));
        let shown = Shown {
            name: &profile.name,
            title: &profile.title,
            kind: profile.kind.name(),
            status: profile.status.name(),
            summary: &profile.summary,
            model: profile.locate.as_ref().map(Locate::name),
            values: values.collect(),
            sources: &profile.sources,
        };
        return json::text("profile-show", &shown);
    }
    Ok(in_words(&profile, &found))
}

fn in_json(value: ProfileValue, table: &toml::Table) -> Value {
    let unit = unit(&value.field);
    let parsed = value
        .field
        .split_once('.')
        .and_then(|(section, name)| table.get(section)?.get(name)?.get("value"))
        .and_then(|number| serde_json::to_value(number).ok());
    Value {
        value: parsed.unwrap_or(serde_json::Value::Null),
        unit: Some(unit).filter(|unit| !unit.is_empty()),
        field: value.field,
        source: value.source,
        note: value.note,
    }
}

fn in_words(profile: &Profile, found: &[ProfileValue]) -> String {
    let mut words = format!(
        "{}: {}\n{}, {}. {}\n",
        profile.name,
        profile.title,
        profile.kind.name(),
        profile.status,
        profile.summary
    );
    let section = |value: &ProfileValue| value.field.split('.').next().map(str::to_owned);
    for values in found.chunk_by(|a, b| section(a) == section(b)) {
        let name = section(&values[0]).unwrap_or_default();
        let model = profile.locate.as_ref().map(Locate::name);
        let title = match model.filter(|_| name == "locate") {
            Some(model) => format!("\n[{name}] {model}"),
            None => format!("\n[{name}]"),
        };
        let mut table = Table::new(title, &["field", "value", "unit", "source", "note"]);
        values.iter().for_each(|value| table.row(row(value)));
        words.push_str(&crate::output::table(&table));
    }
    words.push_str("\n[sources]\n");
    for (key, reference) in &profile.sources {
        words.push_str(&format!("{key:9}  {reference}\n"));
    }
    words
}

fn row(value: &ProfileValue) -> [String; 5] {
    let name = value.field.split('.').next_back().unwrap_or(&value.field);
    let number = match value.text.parse::<u64>() {
        // Density codes are known by their hexadecimal form.
        Ok(code) if name == "density_code" => format!("{code} (0x{code:02x})"),
        _ => value.text.clone(),
    };
    [
        name.to_owned(),
        number,
        unit(&value.field).to_owned(),
        value.source.clone(),
        value.note.clone().unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(profile: &str, json: bool) -> String {
        let profile = profile.to_owned();
        text(&Show { profile, json }).unwrap()
    }

    #[test]
    fn every_value_stands_in_the_order_of_the_file_with_its_unit_and_source() {
        let shown = show("lto8", false);
        let line = |start: &str| {
            let found = shown.lines().position(|line| line.starts_with(start));
            found.unwrap_or_else(|| panic!("{start}"))
        };
        assert!(line("[cartridge]") < line("[transfer]"));
        assert!(line("[locate] lto-regression") < line("[life]"));
        assert!(line("layout") < line("capacity_gb"));
        assert!(shown.contains("94 (0x5e)"));
        assert!(shown.contains("s/LPOS"));
        assert!(shown.contains("CERN18     G. Cancio, LTO performance"));
    }

    #[test]
    fn json_holds_numbers_as_numbers_and_lists_as_lists() {
        let shown: serde_json::Value = serde_json::from_str(&show("dlt4000", true)).unwrap();
        let values = shown["values"].as_array().unwrap();
        let value = |field: &str| values.iter().find(|value| value["field"] == field).unwrap();
        assert_eq!(value("locate.case_s")["value"].as_array().unwrap().len(), 7);
        assert_eq!(value("transfer.rate_mb_s")["value"], 1.488);
        assert_eq!(value("transfer.rate_mb_s")["unit"], "MB/s");
        assert_eq!(shown["status"], "published-model");
    }
}
