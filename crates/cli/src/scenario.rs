//! Scenario files: read, changed from the command line, and joined with the profiles they name.

use crate::error::CliError;
use crate::output::{self, say};
use crate::profiles;
use crate::quantity;
use crate::threads;
use crate::twin::{self, POLICY_MOUNT};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use tapewise_model::Profile;
use tapewise_model::profile::{ProfileError, find};
use tapewise_sim::library::Site;
use tapewise_sim::mounts::MountSettings;
use tapewise_sim::scenario::{Overload, Precision, Setting, SettingError};
use tapewise_sim::statistics::StatisticsError;
use tapewise_sim::{Scenario, ScenarioError, SimulationError, StudyError};

/// Which scenario, and how much of it.
#[derive(clap::Args, Clone, Debug)]
pub struct ScenarioArgs {
    /// Scenario file (`tapewise help scenario`); `-` is standard input.
    #[arg(value_name = "SCENARIO", required_unless_present = "from_log")]
    pub file: Option<PathBuf>,
    /// Make the scenario from a site's logs instead: a table of requests (`arrived_s`, `cartridge`, ...), event logs of
    /// tapewise, logs of CTA's tape daemon. May be given several times. tapewise lists what the logs do not tell, and
    /// says how far the scenario is off the responses that they show.
    #[arg(long, value_name = "LOG", conflicts_with_all = ["file", "case"])]
    pub from_log: Vec<PathBuf>,
    /// Year of the first line of CTA's log: its lines have none, unless they are JSON.
    #[arg(long, value_name = "YEAR", conflicts_with = "file", value_parser = quantity::count_in::<i16>(1970..=2200))]
    pub year: Option<i16>,
    /// Write the scenario that --from-log made into this file, with what --set changes.
    #[arg(long, value_name = "FILE")]
    pub write_scenario: Option<PathBuf>,
    /// Set a value of the scenario, in all cases or in those that --case chooses: `--set drives=6`, `--set
    /// policy.window_s=60`. `drives`, `robots`, `rate` and `window` stand for library.drive.count,
    /// library.robot.count, arrivals.per_hour and policy.window_s. If there are several, use
    /// `library.0.drive.1.count`.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Setting>,
    /// Simulate under this policy, the `[mounts]` of an archive or the file that its `policy_file` names, instead of
    /// the scenario's own. The scenario's `request.names` says which of its users the policy means.
    #[arg(long, value_name = "FILE")]
    pub policy_file: Option<PathBuf>,
    /// Use only the case with this name. May be given several times.
    #[arg(long, value_name = "NAME")]
    pub case: Vec<String>,
    /// Seed of the random numbers [default: the scenario's].
    #[arg(long, value_parser = quantity::count::<u64>)]
    pub seed: Option<u64>,
    /// Number of replications [default: from the scenario].
    #[arg(long, value_name = "N", conflicts_with = "width", value_parser = quantity::count::<u64>)]
    pub replications: Option<u64>,
    /// Add replications until the mean is known to within this, such as `5%`.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub width: Option<f64>,
    /// Number of threads [default: all of the machine]. The results do not depend on it.
    #[arg(long, value_name = "N", value_parser = quantity::count::<usize>)]
    pub threads: Option<usize>,
}

impl ScenarioArgs {
    /// Refuses outputs, each with its option, that would be written over what is read or over each other.
    pub fn refuse_clashes<'a>(
        &'a self,
        outputs: impl IntoIterator<Item = (&'static str, &'a Option<PathBuf>)>,
    ) -> Result<(), CliError> {
        let own = [("--write-scenario", &self.write_scenario)];
        let outputs = own.into_iter().chain(outputs);
        let inputs = self.file.iter().chain(&self.from_log);
        output::refuse_clashes(
            outputs.map(|(option, path)| (option, path.as_deref())),
            inputs.chain(&self.policy_file).map(PathBuf::as_path),
        )
    }

    /// Refuses a value of `--set` that would not count, as one of these options, each with its key, sets it after that.
    pub fn refuse_set_twice(
        &self,
        others: impl IntoIterator<Item = (&'static str, bool, &'static str)>,
    ) -> Result<(), CliError> {
        for (option, is_given, key) in others {
            let mut set = self.set.iter();
            if let Some(setting) = set.find(|setting| is_given && setting.sets(key)) {
                let set = setting.key();
                let what = format!("--set {set} would change nothing: {option} sets {key}");
                return Err(CliError::input(what).hint("leave one of them out"));
            }
        }
        Ok(())
    }

    /// The same for the options of [`ScenarioArgs`], `--set` itself among them.
    fn refuse_own_set_twice(&self) -> Result<(), CliError> {
        for (number, setting) in self.set.iter().enumerate() {
            let key = setting.key();
            if self.set[..number].iter().any(|before| before.key() == key) {
                return Err(CliError::input(format!("--set {key} is given twice"))
                    .hint("leave one of them out"));
            }
        }
        let has_policy = self.policy_file.is_some();
        self.refuse_set_twice([
            (POLICY_FILE, has_policy, POLICY_MOUNT),
            (POLICY_FILE, has_policy, "policy.rules"),
            (POLICY_FILE, has_policy, "policy.most_per_mount"),
            ("--seed", self.seed.is_some(), "seed"),
            (
                "--replications",
                self.replications.is_some(),
                "replications",
            ),
            ("--replications", self.replications.is_some(), "precision"),
            ("--width", self.width.is_some(), "precision"),
        ])
    }
}

const POLICY_FILE: &str = "--policy-file";

/// A trace of a million requests takes 80 MB; more than this is a mistake, or never ends.
const MAX_BYTES: u64 = 1 << 30;

/// Replications at most, when as many are made as it takes.
const MOST_REPLICATIONS: u64 = 10_000;

fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let percent: f64 = number
        .parse()
        .map_err(|_| "give a percentage, such as 5%")?;
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
        if self.write_scenario.is_some() && self.from_log.is_empty() {
            let what = "--write-scenario writes what --from-log makes, and a scenario was given";
            return Err(CliError::input(what));
        }
        self.refuse_own_set_twice()?;
        let name = self.name();
        let (mut text, made) = match &self.file {
            Some(file) => (read(file)?, None),
            None => {
                let made = twin::made(&self.from_log, self.year, |key| self.is_set(key))?;
                (made.text.clone(), Some(made))
            }
        };
        // First as it stands: what is wrong in it has a line there.
        let mut cases = Scenario::cases(&text).map_err(|error| refused(error).of(&name))?;
        for wanted in &self.case {
            if !cases.iter().any(|scenario| scenario.name == *wanted) {
                let there: Vec<&str> = cases.iter().map(|s| s.name.as_str()).collect();
                let hint = format!("there are: {}", there.join(", "));
                return Err(CliError::input(format!("{name}: no case `{wanted}`")).hint(hint));
            }
        }
        if !self.set.is_empty() {
            let set = Scenario::text_with(&text, &self.set, &self.case).map_err(not_set)?;
            cases = Scenario::cases(&set).map_err(|error| self.refused_set(error, &text))?;
            text = set;
        }
        if let Some(path) = &self.write_scenario {
            output::write(Some(path), |out| {
                out.write_all(text.as_bytes()).map_err(CliError::failed)
            })?;
        }
        cases.retain(|scenario| self.case.is_empty() || self.case.contains(&scenario.name));
        if let Some(file) = &self.policy_file {
            lay_policy(file, &mut cases)?;
        }
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
        if let (Some(made), [scenario]) = (&made, &cases[..]) {
            twin::check(made, scenario, ready(scenario)?)?;
        }
        Ok(cases)
    }

    /// Why the scenario in this text is none with its values set: the line that the parser shows stands in no file.
    fn refused_set(&self, error: ScenarioError, text: &str) -> CliError {
        let ScenarioError::Toml { place, message } = error else {
            return refused(error).of("--set");
        };
        let is_refused = |count: &usize| {
            let set = Scenario::text_with(text, &self.set[..*count], &self.case);
            set.is_ok_and(|set| Scenario::cases(&set).is_err())
        };
        let first = (1..=self.set.len()).find(is_refused);
        let key = first.map_or("", |count| self.set[count - 1].key());
        let shown = message.rsplit_once("^\n");
        let message = shown.map_or(&*message, |(_, why)| why).trim().to_owned();
        refused(ScenarioError::Toml { place, message }).of(format!("--set {key}"))
    }

    /// Whether an option gives this key of the scenario its value.
    fn is_set(&self, key: &str) -> bool {
        let of_policy = key == POLICY_MOUNT && self.policy_file.is_some();
        of_policy || self.set.iter().any(|setting| setting.sets(key))
    }

    /// What the scenario is read from, for messages.
    pub fn name(&self) -> String {
        let file = self.file.as_ref();
        file.map_or("--from-log".to_owned(), |file| file.display().to_string())
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
            "`tapewise help scenario` lists every key with its unit"
        }
        ScenarioError::Profile { .. } => "`tapewise profile list` shows what there is",
        ScenarioError::Cases { .. } | ScenarioError::Unstable(_) => {
            return CliError::input(error);
        }
    };
    CliError::input(error).hint(hint)
}

/// Why values of a scenario cannot be set.
fn not_set(error: SettingError) -> CliError {
    match error {
        SettingError::WhichItem { .. } | SettingError::Below { .. } => {
            CliError::input(format!("--set {error}"))
        }
        SettingError::Write(_) => CliError::failed(error),
        _ => CliError::input(error),
    }
}

/// Why a scenario was not simulated.
pub fn not_simulated(error: SimulationError) -> CliError {
    match error {
        SimulationError::Scenario(error) => refused(error),
        SimulationError::Study(error) => not_made(error),
        _ => CliError::input(error),
    }
}

/// Why a study was not made: what was asked for, or what came of it.
pub fn not_made(error: StudyError) -> CliError {
    match &error {
        StudyError::NoSuchShard { .. }
        | StudyError::Undivided { .. }
        | StudyError::Apart { .. } => CliError::input(error),
        StudyError::Statistics(
            StatisticsError::TooFew { .. } | StatisticsError::TimeOutOfRange { .. },
        ) => CliError::input(error).hint("`tapewise help scenario` lists every key with its unit"),
        StudyError::Stalled(_) | StudyError::Statistics(_) => CliError::failed(error),
    }
}

/// The profiles that a scenario names, in files among them.
pub struct Profiles(BTreeMap<String, Profile>);

impl Profiles {
    /// # Errors
    /// Bad input: a profile that is not there.
    pub fn of(scenario: &Scenario) -> Result<Profiles, CliError> {
        let mut profiles = BTreeMap::new();
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
        Ok(Profiles(profiles))
    }

    pub fn find(&self, name: &str) -> Result<Profile, ProfileError> {
        self.0.get(name).cloned().map_or_else(|| find(name), Ok)
    }
}

/// A scenario made ready, or why it cannot be stable.
///
/// # Errors
/// Bad input. [`ScenarioError::Unstable`] is an answer instead.
pub fn ready(scenario: &Scenario) -> Result<Result<Site, Overload>, CliError> {
    let profiles = Profiles::of(scenario)?;
    match Site::new(scenario, |name| profiles.find(name)) {
        Err(ScenarioError::Unstable(overload)) => Ok(Err(overload)),
        Err(error) => Err(refused(error)),
        Ok(site) => Ok(Ok(site)),
    }
}

/// Lays a policy over scenarios, and says what of it means nothing there.
fn lay_policy(file: &Path, cases: &mut [Scenario]) -> Result<(), CliError> {
    let failed = |error: &dyn std::fmt::Display| CliError::input(error).of(file.display());
    let text = std::fs::read_to_string(file).map_err(|error| failed(&error))?;
    let mounts = MountSettings::from_toml(&text).map_err(|error| failed(&error))?;
    let mut without_effect = BTreeSet::new();
    for scenario in cases {
        without_effect.extend(scenario.set_mounts(&mounts));
    }
    for why in without_effect {
        say(format_args!(
            "tapewise: warning: {}: {why}\n",
            file.display()
        ));
    }
    Ok(())
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
            .hint("scenarios/gniewek-1999.toml is one to begin with; `tapewise help scenario` explains it"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_set_twice_is_refused_with_both_names() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            scenario: ScenarioArgs,
        }
        let refused = |line: &str| {
            let line = ["simulate", "site.toml"].into_iter().chain(line.split(' '));
            let line = <Line as clap::Parser>::try_parse_from(line).expect("options");
            let error = line.scenario.refuse_own_set_twice().err()?;
            Some(error.message().to_owned())
        };
        for (line, words) in [
            (
                "--policy-file p.toml --set policy.mount=ahead",
                "--set policy.mount would change nothing: --policy-file sets policy.mount",
            ),
            (
                "--policy-file p.toml --set policy.rules.age=2",
                "--set policy.rules.age would change nothing: --policy-file sets policy.rules",
            ),
            (
                "--seed 2 --set seed=3",
                "--set seed would change nothing: --seed sets seed",
            ),
            (
                "--set drives=2 --set library.drive.count=3",
                "--set library.drive.count is given twice",
            ),
        ] {
            assert_eq!(refused(line).as_deref(), Some(words), "{line}");
        }
        assert_eq!(
            refused("--policy-file p.toml --set policy.order=best"),
            None
        );
    }

    #[test]
    fn a_width_is_a_percentage() {
        assert_eq!(percent("5%"), Ok(0.05));
        assert_eq!(percent("2.5"), Ok(0.025));
        assert!(percent("0%").is_err() && percent("110%").is_err() && percent("x").is_err());
    }
}
