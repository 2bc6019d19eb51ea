//! Scenario files: read, changed from the command line, and joined with the profiles they name.

use crate::error::CliError;
use crate::profiles;
use crate::threads;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use tapewise_model::Profile;
use tapewise_model::profile::find;
use tapewise_sim::library::Site;
use tapewise_sim::scenario::Precision;
use tapewise_sim::{Scenario, ScenarioError};
use toml::{Table, Value};

/// Which scenario, and how much of it.
#[derive(clap::Args, Clone, Debug)]
pub struct ScenarioArgs {
    /// Scenario file (docs/reference/scenario.md); `-` is standard input.
    #[arg(value_name = "SCENARIO")]
    pub file: PathBuf,
    /// Set a value of the scenario, in all its cases: `--set drives=6`, `--set policy.window_s=60`.
    /// `drives`, `robots`, `rate` and `window` stand for library.drive.count, library.robot.count,
    /// arrivals.per_hour and policy.window_s. Where there are several, `library.0.drive.1.count`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    pub set: Vec<Setting>,
    /// Only the case of this name; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub case: Vec<String>,
    /// Seed of everything that is drawn [default: the scenario's].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Make so many replications [default: what the scenario says].
    #[arg(long, value_name = "N", conflicts_with = "width")]
    pub replications: Option<u64>,
    /// Make replications until the mean is known to within this, as `5%`.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub width: Option<f64>,
    /// Use so many threads [default: as many as the machine has]. The results are the same.
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}

/// A value for a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    key: String,
    value: Value,
}

/// Longer keys that are asked for often.
const SHORT: [(&str, &str); 4] = [
    ("drives", "library.drive.count"),
    ("robots", "library.robot.count"),
    ("rate", "arrivals.per_hour"),
    ("window", "policy.window_s"),
];

/// A trace of a million requests takes 80 MB; more than this is a mistake, or never ends.
const MAX_BYTES: u64 = 1 << 30;

/// Replications at most, when as many are made as it takes.
const MOST_REPLICATIONS: u64 = 10_000;

fn setting(text: &str) -> Result<Setting, String> {
    let (key, value) = text
        .split_once('=')
        .filter(|(key, _)| !key.trim().is_empty())
        .ok_or("expected KEY=VALUE")?;
    let key = key.trim();
    let long = SHORT.iter().find(|(short, _)| *short == key);
    // What is no TOML value is a word.
    let value = match format!("v = {value}").parse::<Table>() {
        Ok(mut table) => table.remove("v").ok_or("expected KEY=VALUE")?,
        Err(_) => Value::String(value.trim().to_owned()),
    };
    Ok(Setting {
        key: long.map_or(key, |(_, long)| long).to_owned(),
        value,
    })
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let percent: f64 = number.parse().map_err(|_| "expected a percentage, as 5%")?;
    if percent > 0.0 && percent <= 100.0 {
        Ok(percent / 100.0)
    } else {
        Err(format!("{text} is not between 0 and 100 %"))
    }
}

impl ScenarioArgs {
    /// The scenario's cases as the options leave them.
    ///
    /// # Errors
    /// Bad input, with key and reason.
    pub fn cases(&self) -> Result<Vec<Scenario>, CliError> {
        let name = self.file.display();
        let text = read(&self.file)?;
        // First as it stands: what is wrong in it has a line there.
        let mut cases = Scenario::cases(&text).map_err(|error| refused(error).of(&name))?;
        if !self.set.is_empty() {
            let changed = changed(&text, &self.set)?;
            cases = Scenario::cases(&changed).map_err(|error| refused(error).of("--set"))?;
        }
        for wanted in &self.case {
            if !cases.iter().any(|scenario| scenario.name == *wanted) {
                let there: Vec<&str> = cases.iter().map(|s| s.name.as_str()).collect();
                let hint = format!("there are: {}", there.join(", "));
                return Err(CliError::input(format!("{name}: no case `{wanted}`")).hint(hint));
            }
        }
        cases.retain(|scenario| self.case.is_empty() || self.case.contains(&scenario.name));
        for scenario in &mut cases {
            scenario.seed = self.seed.unwrap_or(scenario.seed);
            if let Some(replications) = self.replications {
                scenario.replications = replications;
                scenario.precision = None;
            }
            if let Some(share) = self.width {
                let most = MOST_REPLICATIONS.max(scenario.replications);
                scenario.precision = Some(Precision { share, most });
            }
            scenario.check().map_err(|error| refused(error).of(&name))?;
        }
        Ok(cases)
    }

    /// Does work on as many threads as were asked for.
    ///
    /// # Errors
    /// What the work says; or no threads can be had.
    pub fn on_threads<T: Send>(
        &self,
        work: impl FnOnce() -> Result<T, CliError> + Send,
    ) -> Result<T, CliError> {
        threads::on(self.threads, work)
    }
}

/// A scenario's mistake is bad input.
pub fn refused(error: ScenarioError) -> CliError {
    let hint = match &error {
        ScenarioError::Toml { .. } | ScenarioError::Value { .. } => {
            "docs/reference/scenario.md lists every key with its unit"
        }
        ScenarioError::Profile { .. } => "`tapewise profile list` shows what there is",
        ScenarioError::Cases { .. } | ScenarioError::Unstable { .. } => {
            return CliError::input(error);
        }
    };
    CliError::input(error).hint(hint)
}

/// A scenario made ready, or why it cannot be stable.
///
/// # Errors
/// Bad input, but for [`ScenarioError::Unstable`], which is an answer.
pub fn ready(scenario: &Scenario) -> Result<Result<Site, ScenarioError>, CliError> {
    let mut profiles: BTreeMap<String, Profile> = BTreeMap::new();
    for library in &scenario.libraries {
        let drives = library.drives.iter().map(|group| &group.profile);
        for name in drives.chain([&library.robot.profile]).flatten() {
            if !profiles.contains_key(name) {
                let place = format!("scenario {}, library {}", scenario.name, library.name);
                let profile = profiles::load(name).map_err(|error| error.of(place))?;
                profiles.insert(name.clone(), profile);
            }
        }
    }
    let by_name = |name: &str| profiles.get(name).cloned().map_or_else(|| find(name), Ok);
    match Site::new(scenario, by_name) {
        Err(error @ ScenarioError::Unstable { .. }) => Ok(Err(error)),
        Err(error) => Err(refused(error)),
        Ok(site) => Ok(Ok(site)),
    }
}

fn read(path: &Path) -> Result<String, CliError> {
    let name = path.display();
    let bad = |why: &dyn std::fmt::Display| CliError::input(format!("{name}: {why}"));
    let mut bytes = Vec::new();
    let input: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(File::open(path).map_err(|error| bad(&error))?)
    };
    let taken = input.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    taken.map_err(|error| bad(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(bad(&"longer than 1 GiB, so not a scenario"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        bad(&format_args!("not text: byte {at} is not UTF-8"))
    })?;
    if text.trim().is_empty() {
        return Err(bad(&"empty")
            .hint("scenarios/gniewek-1999.toml is one to begin with; docs/reference/scenario.md"));
    }
    Ok(text)
}

/// The text with values set, in what its cases have in common and in each of them.
fn changed(text: &str, settings: &[Setting]) -> Result<String, CliError> {
    let mut whole: Table = text.parse().map_err(CliError::input)?;
    let mut cases = match whole.remove("case") {
        Some(Value::Array(cases)) => cases,
        _ => Vec::new(),
    };
    for setting in settings {
        let refuse = |why: String| CliError::input(format!("--set {}: {why}", setting.key));
        let path = resolved(&Value::Table(whole.clone()), &setting.key).map_err(refuse)?;
        let mut common = Value::Table(whole);
        lay(&mut common, &path, &setting.value).map_err(refuse)?;
        for case in &mut cases {
            lay(case, &path, &setting.value).map_err(refuse)?;
        }
        let Value::Table(table) = common else {
            return Err(refuse("is not a key".to_owned()));
        };
        whole = table;
    }
    if !cases.is_empty() {
        whole.insert("case".to_owned(), Value::Array(cases));
    }
    toml::to_string(&whole).map_err(CliError::failed)
}

/// A step of a key's path.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Item(usize),
}

/// The path of a key, with the numbers of lists that have one item only put in.
fn resolved(whole: &Value, key: &str) -> Result<Vec<Step>, String> {
    let mut path = Vec::new();
    let mut here = Some(whole);
    for word in key.split('.') {
        if let Some(Value::Array(list)) = here {
            let item = match (word.parse::<usize>(), list.len()) {
                (Ok(item), there) if item < there => Ok(item),
                (Err(_), 1) => Ok(0),
                (_, there) => Err(format!(
                    "which of the {there} before `{word}`? Put its number there, from 0"
                )),
            }?;
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

/// Sets a value at a path, making tables and items of lists on the way.
fn lay(here: &mut Value, path: &[Step], value: &Value) -> Result<(), String> {
    let Some((step, rest)) = path.split_first() else {
        *here = value.clone();
        return Ok(());
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
        (Step::Key(key), _) => return Err(format!("`{key}` stands below what is no table")),
        (Step::Item(item), _) => return Err(format!("`{item}` stands below what is no list")),
    };
    lay(next, rest, value)
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
        let settings: Vec<Setting> = settings.iter().map(|s| setting(s).expect("one")).collect();
        let text = changed(TEXT, &settings).map_err(|error| error.message().to_owned())?;
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
        assert_eq!(
            table["library"][0]["drive"][0]["count"].as_integer(),
            Some(7)
        );
        let refused = set(&["library.3.share=7"]).expect_err("there is one");
        assert_eq!(
            refused,
            "--set library.3.share: which of the 1 before `3`? Put its number there, from 0"
        );
        assert!(set(&["arrivals.per_hour.x=1"]).is_err());
    }

    #[test]
    fn a_width_is_a_percentage() {
        assert_eq!(percent("5%"), Ok(0.05));
        assert_eq!(percent("2.5"), Ok(0.025));
        assert!(percent("0%").is_err() && percent("110%").is_err() && percent("x").is_err());
    }
}
