//! Values of a scenario that are set from outside, in all its cases: `drives=6`, `policy.window_s=60`.

use super::Scenario;
use std::str::FromStr;
use toml::{Table, Value};

/// A value for a key of a scenario: `library.drive.count=6`, or one of [`SHORT_KEYS`].
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    key: String,
    value: Value,
}

/// Short keys, and the keys that they stand for.
pub const SHORT_KEYS: [(&str, &str); 4] = [
    ("drives", "library.drive.count"),
    ("robots", "library.robot.count"),
    ("rate", "arrivals.per_hour"),
    ("window", "policy.window_s"),
];

/// Why a value cannot be set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// The text has no `=`, or nothing before it.
    #[error("expected KEY=VALUE")]
    NoKey,
    /// The scenario is not TOML.
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    /// A list has several items, or no item of that number.
    #[error("{key}: which of the {items} before `{word}`? Put its number there, from 0")]
    WhichItem {
        /// The key.
        key: String,
        /// Items of the list.
        items: usize,
        /// The word of the key that follows.
        word: String,
    },
    /// A word of the key stands below a value that has no such words below it.
    #[error("{key}: `{word}` is below something that is not a {what}")]
    Below {
        /// The key.
        key: String,
        /// The word of the key.
        word: String,
        /// What the value would have to be: a table or a list.
        what: &'static str,
    },
    /// The scenario with its values set cannot be written.
    #[error(transparent)]
    Write(#[from] toml::ser::Error),
}

impl FromStr for Setting {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Setting, SettingError> {
        let (key, value) = text
            .split_once('=')
            .filter(|(key, _)| !key.trim().is_empty())
            .ok_or(SettingError::NoKey)?;
        let key = key.trim();
        let long = SHORT_KEYS.iter().find(|(short, _)| *short == key);
        // What is no TOML value is a word.
        let value = match format!("v = {value}").parse::<Table>() {
            Ok(mut table) => table.remove("v").ok_or(SettingError::NoKey)?,
            Err(_) => Value::String(value.trim().to_owned()),
        };
        Ok(Setting {
            key: long.map_or(key, |(_, long)| long).to_owned(),
            value,
        })
    }
}

impl Scenario {
    /// The text of a scenario with values set, in what its cases have in common and in each of those that are wanted; all
    /// are if none is named. The others, which may not have such a key, are left out.
    ///
    /// # Errors
    /// [`SettingError`]: a key that does not lead to one place.
    pub fn text_with(
        text: &str,
        settings: &[Setting],
        wanted: &[String],
    ) -> Result<String, SettingError> {
        let mut table: Table = text.parse()?;
        let mut cases = match table.remove("case") {
            Some(Value::Array(cases)) => cases,
            _ => Vec::new(),
        };
        let is_wanted = |case: &Value| {
            let name = case.get("name").and_then(Value::as_str);
            wanted.is_empty() || wanted.iter().any(|wanted| Some(wanted.as_str()) == name)
        };
        cases.retain(is_wanted);
        let mut common = Value::Table(table);
        for setting in settings {
            let path = setting.path(&common)?;
            setting.lay(&mut common, &path)?;
            for case in &mut cases {
                setting.lay(case, &path)?;
            }
        }
        if let (false, Value::Table(table)) = (cases.is_empty(), &mut common) {
            table.insert("case".to_owned(), Value::Array(cases));
        }
        Ok(toml::to_string(&common)?)
    }
}

impl Setting {
    /// The key, written out.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Whether this key gets its value from here, or one below it. The numbers of lists are left out of it.
    pub fn sets(&self, key: &str) -> bool {
        let mut words = key.split('.');
        for own in self.key.split('.') {
            if own.parse::<usize>().is_ok() {
                continue;
            }
            match words.next() {
                None => return true,
                Some(word) if word != own => return false,
                Some(_) => {}
            }
        }
        let held = words.try_fold(&self.value, |value, word| value.get(word));
        held.is_some()
    }
}

/// A step of a key's path.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Item(usize),
}

impl Setting {
    /// The path of the key, with the numbers of lists that have one item only put in.
    fn path(&self, common: &Value) -> Result<Vec<Step>, SettingError> {
        let mut path = Vec::new();
        let mut here = Some(common);
        for word in self.key.split('.') {
            if let Some(Value::Array(list)) = here {
                let item = match (word.parse::<usize>(), list.len()) {
                    (Ok(item), items) if item < items => item,
                    (Err(_), 1) => 0,
                    (_, items) => {
                        return Err(SettingError::WhichItem {
                            key: self.key.clone(),
                            items,
                            word: word.to_owned(),
                        });
                    }
                };
                path.push(Step::Item(item));
                here = list.get(item);
                if word.parse::<usize>().is_ok() {
                    continue;
                }
            }
            path.push(Step::Key(word.to_owned()));
            here = here.and_then(|table| table.get(word));
        }
        Ok(path)
    }

    /// Sets the value at a path, making tables and items of lists on the way.
    fn lay(&self, here: &mut Value, path: &[Step]) -> Result<(), SettingError> {
        let Some((step, rest)) = path.split_first() else {
            *here = self.value.clone();
            return Ok(());
        };
        let below = |word: String, what| SettingError::Below {
            key: self.key.clone(),
            word,
            what,
        };
        let next = match (step, here) {
            (Step::Key(key), Value::Table(table)) => {
                let empty = match rest.first() {
                    Some(Step::Item(_)) => Value::Array(Vec::new()),
                    _ => Value::Table(Table::new()),
                };
                table.entry(key.clone()).or_insert(empty)
            }
            (Step::Item(item), Value::Array(list)) => {
                while list.len() <= *item {
                    list.push(Value::Table(Table::new()));
                }
                &mut list[*item]
            }
            (Step::Key(key), _) => return Err(below(key.clone(), "table")),
            (Step::Item(item), _) => return Err(below(item.to_string(), "list")),
        };
        self.lay(next, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
        arrivals = { per_hour = 50 }
        library = [{ drive = [{ count = 2 }], robot = {} }]
        [[case]]
        name = \"a\"
        [[case]]
        name = \"b\"
        library = [{ drive = [{ count = 9 }] }]
    ";

    fn set(settings: &[&str]) -> Result<Table, String> {
        let settings: Vec<Setting> = settings.iter().map(|s| s.parse().expect("one")).collect();
        let text = Scenario::text_with(TEXT, &settings, &[]).map_err(|error| error.to_string())?;
        Ok(text.parse().expect("TOML"))
    }

    #[test]
    fn a_value_is_set_in_what_cases_have_in_common_and_in_each() {
        let table = set(&["drives=6", "policy.order=best", "rate=1.5"]).expect("set");
        let count = |from: &Value| from["library"][0]["drive"][0]["count"].as_integer();
        assert_eq!(count(&Value::Table(table.clone())), Some(6));
        for case in table["case"].as_array().expect("cases") {
            assert_eq!(count(case), Some(6));
            assert_eq!(case["policy"]["order"].as_str(), Some("best"));
        }
        assert_eq!(table["arrivals"]["per_hour"].as_float(), Some(1.5));
    }

    #[test]
    fn a_number_chooses_among_several() {
        let table = set(&["library.0.drive.0.count=7"]).expect("set");
        let drives = &table["library"][0]["drive"][0];
        assert_eq!(drives["count"].as_integer(), Some(7));
        let refused = set(&["library.3.share=7"]).expect_err("there is one");
        assert_eq!(
            refused,
            "library.3.share: which of the 1 before `3`? Put its number there, from 0"
        );
        assert!(set(&["arrivals.per_hour.x=1"]).is_err());
    }

    #[test]
    fn what_a_setting_sets_is_told_by_its_key_and_its_value() {
        let sets = |setting: &str, key| setting.parse::<Setting>().expect("one").sets(key);
        for setting in [
            "policy.rules=1",
            "policy.rules.age=1",
            "policy={ rules = { age = 1 } }",
        ] {
            assert!(sets(setting, "policy.rules"), "{setting}");
        }
        assert!(sets("library.0.drive.1.count=7", "library.drive.count"));
        assert!(sets("drives=7", "library.drive.count"));
        for setting in ["policy.order=sort", "policy={ order = 1 }", "policies=1"] {
            assert!(!sets(setting, "policy.rules"), "{setting}");
        }
    }

    #[test]
    fn a_value_without_a_key_is_refused() {
        assert!("=6".parse::<Setting>().is_err() && "drives".parse::<Setting>().is_err());
    }
}
