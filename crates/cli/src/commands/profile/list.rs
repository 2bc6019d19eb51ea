//! `tapewise profile list`.

use crate::error::CliError;
use crate::json;
use tapewise_model::Layout;
use tapewise_model::profile::{self, Kind, Locate, Profile, Status};
use tapewise_plot::Table;

/// List the profiles that come with tapewise, and how far to trust each.
#[derive(clap::Args, Debug)]
pub struct List {
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// A profile in the list.
#[derive(Debug, serde::Serialize)]
struct Entry {
    name: String,
    title: String,
    kind: &'static str,
    group: &'static str,
    status: &'static str,
    model: Option<&'static str>,
    capacity_gb: Option<f64>,
    rate_mb_s: Option<f64>,
    summary: String,
}

/// The groups in the order in which they are listed.
const GROUPS: [&str; 4] = ["LTO", "other serpentine", "helical scan", "libraries"];

fn group(profile: &Profile) -> &'static str {
    let layout = profile.cartridge.layout.as_ref().map(|known| known.value);
    match (profile.kind, &profile.locate, layout) {
        (Kind::Library, ..) => GROUPS[3],
        (_, Some(Locate::LtoRegression { .. }), _) => GROUPS[0],
        (_, _, Some(Layout::Helical)) => GROUPS[2],
        _ => GROUPS[1],
    }
}

impl Entry {
    fn new(profile: Profile) -> Entry {
        Entry {
            kind: profile.kind.name(),
            group: group(&profile),
            status: profile.status.name(),
            model: profile.locate.as_ref().map(Locate::name),
            capacity_gb: profile.cartridge.capacity_gb.map(|known| known.value),
            rate_mb_s: profile.transfer.rate_mb_s.map(|known| known.value),
            name: profile.name,
            title: profile.title,
            summary: profile.summary,
        }
    }

    fn row(&self) -> [String; 6] {
        let number = |known: Option<f64>| known.map_or("-".to_owned(), |value| value.to_string());
        [
            self.name.clone(),
            number(self.capacity_gb),
            number(self.rate_mb_s),
            self.status.replace('-', " "),
            self.title.clone(),
            self.model.unwrap_or("-").to_owned(),
        ]
    }
}

/// What the verb prints.
pub fn text(args: &List) -> Result<String, CliError> {
    let profiles: Vec<Profile> = profile::names()
        .map(profile::find)
        .collect::<Result<_, _>>()?;
    let drives = profiles.iter().filter(|p| p.kind == Kind::Drive);
    let verified = drives
        .clone()
        .filter(|p| p.status == Status::Verified)
        .count();
    let drives = drives.count();
    let entries: Vec<Entry> = profiles.into_iter().map(Entry::new).collect();
    if args.json {
        return json::text("profile-list", &serde_json::json!({ "profiles": entries }));
    }
    let columns = ["profile", "GB", "MB/s", "status", "device", "model"];
    let mut table = Table::new("", &columns);
    for group in GROUPS {
        table.row([String::new()]);
        table.row([group.to_uppercase()]);
        let members = entries.iter().filter(|entry| entry.group == group);
        members.for_each(|entry| table.row(entry.row()));
    }
    table.note(format!(
        "\n{verified} of {drives} drives verified on hardware. Status says how far to trust the \
         times: a published model was\nfitted to this device by somebody, an estimate was derived \
         or transferred, facts only predicts nothing.\n\
         GB and MB/s are native; - is not known. `tapewise profile show NAME` gives every value \
         with its source."
    ));
    Ok(crate::output::table(&table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_listed_once_in_some_group() {
        let listed = text(&List { json: false }).unwrap();
        for name in profile::names() {
            let rows = listed
                .lines()
                .filter(|line| line.split_whitespace().next() == Some(name));
            assert_eq!(rows.count(), 1, "{name}");
        }
        assert!(listed.contains("0 of 33 drives verified on hardware."));
        let json: serde_json::Value =
            serde_json::from_str(&text(&List { json: true }).unwrap()).unwrap();
        assert_eq!(
            json["profiles"].as_array().unwrap().len(),
            profile::BUILTIN.len()
        );
    }
}
