//! The files of mechanics, and how one is read: what it shares with its family first, then its own, then the
//! sources taken off.

use serde::de::DeserializeOwned;
use toml::{Table, Value};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../mechanics/", $name, ".toml")))),*]
    };
}

/// The drives, in order of listing: the profiles of the same names say what is published of them.
pub(super) const KINDS: &[(&str, &str)] = tapewise_model::emulated_drives!(files);

/// What drives of one family share.
const FAMILIES: &[(&str, &str)] = files![
    "family-helical",
    "family-dlt",
    "family-lto",
    "family-ibm3592",
    "family-t10000"
];

/// Why a file of mechanics cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("mechanics of {name}: {what}")]
#[non_exhaustive]
pub struct KindError {
    /// The drive.
    pub name: String,
    /// The key, and what is wrong with it.
    pub what: String,
}

/// Reads the text of a file.
pub(super) fn read<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, KindError> {
    let wrong = |what: String| KindError {
        name: name.to_owned(),
        what,
    };
    let mut table: Table = text.parse().map_err(|error| wrong(format!("{error}")))?;
    if let Some(like) = table.remove("like") {
        let family = FAMILIES
            .iter()
            .find(|(name, _)| like.as_str() == Some(name));
        let Some((_, family)) = family else {
            return Err(wrong(format!("like = {like}: there is no such file")));
        };
        let mut whole: Table = family.parse().map_err(|error| wrong(format!("{error}")))?;
        merge(&mut whole, table);
        table = whole;
    }
    let mut plain = Table::new();
    for (key, value) in table {
        let value = match value {
            Value::Table(section) => Value::Table(without_sources(&key, section).map_err(wrong)?),
            word => word,
        };
        plain.insert(key, value);
    }
    plain.try_into().map_err(|error| wrong(format!("{error}")))
}

/// Puts what a file says over what its family says.
fn merge(under: &mut Table, over: Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) if !is_sourced(&above) => {
                merge(below, above)
            }
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

fn is_sourced(table: &Table) -> bool {
    table.contains_key("value")
}

/// `key = { value, source }` becomes `key = value`.
fn without_sources(path: &str, section: Table) -> Result<Table, String> {
    let mut plain = Table::new();
    for (key, value) in section {
        let path = format!("{path}.{key}");
        let Value::Table(mut table) = value else {
            return Err(format!(
                "{path}: a value needs a source: {{ value = …, source = \"…\" }}"
            ));
        };
        let value = match table.remove("value") {
            None => Value::Table(without_sources(&path, table)?),
            Some(value) => {
                let source = table.remove("source");
                let has_source = source
                    .is_some_and(|source| source.as_str().is_some_and(|text| !text.is_empty()));
                if !has_source {
                    return Err(format!("{path}: no source"));
                }
                if let Some((unknown, _)) = table.iter().next() {
                    return Err(format!("{path}: unknown key {unknown}"));
                }
                value
            }
        };
        plain.insert(key, value);
    }
    Ok(plain)
}
