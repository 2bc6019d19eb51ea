//! A profile as TOML: written over the text of another one, whose comments and order stay.

use super::{Profile, ProfileError};
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

impl Profile {
    /// The profile as TOML, one line for each value.
    ///
    /// It is written over `base`, the text of another profile or an empty one: what both say the same stays as it
    /// stands there, with its comments and in its order; what differs is replaced, and what this profile does not have
    /// is taken out.
    ///
    /// # Errors
    /// [`ProfileError::Toml`] where `base` is not TOML.
    pub fn to_toml(&self, base: &str) -> Result<String, ProfileError> {
        let error = |error: &dyn std::fmt::Display| ProfileError::Toml {
            file: self.name.clone(),
            message: error.to_string().trim().to_owned(),
        };
        let mut document: DocumentMut =
            base.parse().map_err(|e: toml_edit::TomlError| error(&e))?;
        let wanted = toml_edit::ser::to_document(self).map_err(|e| error(&e))?;
        for (key, item) in wanted.iter() {
            match item {
                Item::Table(fields) => write_section(&mut document, key, fields),
                Item::Value(Value::InlineTable(fields)) => {
                    write_section(&mut document, key, &fields.clone().into_table());
                }
                Item::Value(value) => write_value(document.as_table_mut(), key, value),
                Item::None | Item::ArrayOfTables(_) => {}
            }
        }
        let is_wanted = |key: &str| wanted.get(key).is_some_and(|item| !is_empty(item));
        document.as_table_mut().retain(|key, _| is_wanted(key));
        Ok(document.to_string())
    }
}

fn is_empty(item: &Item) -> bool {
    item.as_table_like().is_some_and(|table| table.is_empty())
}

/// Writes one section, field by field.
fn write_section(document: &mut DocumentMut, name: &str, fields: &Table) {
    if fields.is_empty() {
        return;
    }
    let section = document.entry(name).or_insert_with(|| {
        let mut section = Table::new();
        section.decor_mut().set_prefix("\n");
        Item::Table(section)
    });
    let Some(section) = section.as_table_mut() else {
        return;
    };
    section.retain(|key, _| fields.contains_key(key));
    for (key, item) in fields.iter() {
        if let Ok(value) = item.clone().into_value() {
            write_value(section, key, &value);
        }
    }
}

/// Writes one value, unless the one that stands there means the same.
fn write_value(table: &mut Table, key: &str, value: &Value) {
    let is_there = table.get(key).and_then(Item::as_value);
    if is_there.is_some_and(|there| is_same(there, value)) {
        return;
    }
    let mut value = value.clone();
    tidy(&mut value);
    match table.get_mut(key) {
        Some(item) => {
            // The comment behind a value speaks of the value before: it goes with it.
            *item = Item::Value(value);
        }
        None => {
            table.insert(key, Item::Value(value));
        }
    }
}

/// One line, written as the profiles that come with tapewise are.
fn tidy(value: &mut Value) {
    if let Value::InlineTable(fields) = value {
        *fields = fields
            .iter()
            .map(|(key, value)| (key, value.clone()))
            .collect::<InlineTable>();
        fields.fmt();
    }
    value.decor_mut().clear();
}

/// Whether two values mean the same; 5 is 5.0, and 0x1a is 26.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(a, b)| is_same(a, b))
        }
        (Value::InlineTable(left), Value::InlineTable(right)) => {
            let same = |(key, value): (&str, &Value)| {
                right.get(key).is_some_and(|other| is_same(value, other))
            };
            left.len() == right.len() && left.iter().all(same)
        }
        _ => match (number(left), number(right)) {
            (Some(left), Some(right)) => left == right,
            _ => {
                left.as_str().is_some() && left.as_str() == right.as_str()
                    || left.as_bool().is_some() && left.as_bool() == right.as_bool()
            }
        },
    }
}

fn number(value: &Value) -> Option<f64> {
    value
        .as_float()
        .or_else(|| value.as_integer().map(|whole| whole as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{BUILTIN, Sourced};

    #[test]
    fn every_profile_written_over_itself_stays_as_it_is_to_the_letter() {
        for (name, text) in BUILTIN {
            let profile = Profile::from_toml(name, text).unwrap();
            assert_eq!(profile.to_toml(text).unwrap(), *text, "{name}");
        }
    }

    #[test]
    fn every_profile_written_from_nothing_reads_back_as_it_was() {
        for (name, text) in BUILTIN {
            let profile = Profile::from_toml(name, text).unwrap();
            let written = profile.to_toml("").unwrap();
            let again = Profile::from_toml(name, &written);
            assert_eq!(
                again.unwrap_or_else(|error| panic!("{error}\n{written}")),
                profile
            );
        }
    }

    #[test]
    fn what_differs_is_replaced_and_comments_of_the_rest_stay() {
        let text = "# Ours.\nname = \"a\"\ntitle = \"A\" # of the shelf\nkind = \"drive\"\nstatus = \"estimate\"\n\
            summary = \"None.\"\n\n[sources]\nX = \"x\"\n\n# Its shape.\n[cartridge]\n\
            # counted by hand\nwraps = { value = 0x10, source = \"X\" } # sixteen\n\
            bands = { value = 4, source = \"X\" }\n\n[handling]\nmount_s = { value = 12, source = \"X\" }\n";
        let mut profile = Profile::from_toml("a.toml", text).unwrap();
        profile.name = "b".to_owned();
        profile.cartridge.bands = None;
        profile.handling.mount_s = None;
        profile.handling.unmount_s = Some(Sourced {
            value: 1.5,
            source: "X".to_owned(),
            note: None,
        });
        profile.life.loads = profile.handling.unmount_s.clone();
        let written = profile.to_toml(text).unwrap();
        assert_eq!(
            written,
            "# Ours.\nname = \"b\"\ntitle = \"A\" # of the shelf\nkind = \"drive\"\nstatus = \"estimate\"\n\
            summary = \"None.\"\n\n[sources]\nX = \"x\"\n\n# Its shape.\n[cartridge]\n\
            # counted by hand\nwraps = { value = 0x10, source = \"X\" } # sixteen\n\n\
            [handling]\nunmount_s = { value = 1.5, source = \"X\" }\n\n\
            [life]\nloads = { value = 1.5, source = \"X\" }\n"
        );
        assert!(profile.to_toml("no = [").is_err());
    }
}
