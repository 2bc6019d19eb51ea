//! `tapewise profile compare`: Johnson & Miller's summary (1998, section 5.7) of every drive.

use crate::error::CliError;
use crate::json;
use crate::profiles;
use tapewise_model::profile::comparison::{Comparison, FETCH_S, SeekSource};
use tapewise_model::profile::{self, Kind, Profile, means};
use tapewise_plot::Table;

/// Compare drives by the summary and the file fetches of Johnson & Miller (1998).
///
/// Startup and full seek (section 5.7), mean locate times by the model, and how much data a mount
/// should bring so that transferring it takes as long as getting to it (Table 5).
#[derive(clap::Args, Debug)]
pub struct Compare {
    /// Names of profiles, or files; every drive where none is given.
    #[arg(value_name = "NAME|FILE")]
    profiles: Vec<String>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

fn cells(row: &Comparison) -> [String; 14] {
    let mark = |from: Option<SeekSource>| {
        if from == Some(SeekSource::Profile) {
            ""
        } else {
            "~"
        }
    };
    let seconds = |value: Option<f64>| number(value, 1);
    let seek = |value: Option<f64>| match value {
        Some(_) => mark(row.seek_from).to_owned() + &seconds(value),
        None => "-".to_owned(),
    };
    [
        row.name.clone(),
        row.status.name().replace('-', " "),
        seek(row.startup_s),
        seek(row.full_s),
        number(row.startup_over_full, 2),
        seconds(row.locate_mean_from_start_s),
        seconds(row.locate_mean_random_s),
        mark(Some(row.fetch_from)).to_owned() + &seconds(Some(row.fetch_s)),
        seconds(row.mount_s),
        seconds(row.fetch.location_overhead_s),
        row.rate_mb_s
            .map_or("-".to_owned(), |rate| rate.to_string()),
        number(row.fetch.min_file_mb, 0),
        number(row.fetch.min_file_percent, 2),
        number(row.model_file_mb, 0),
    ]
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
}

/// What the verb prints.
pub fn text(args: &Compare) -> Result<String, CliError> {
    let compared: Vec<Profile> = if args.profiles.is_empty() {
        let all: Vec<Profile> = profile::names()
            .map(profile::find)
            .collect::<Result<_, _>>()?;
        all.into_iter().filter(|p| p.kind == Kind::Drive).collect()
    } else {
        let named = args.profiles.iter();
        named
            .map(|name| profiles::load_drive(name))
            .collect::<Result<_, _>>()?
    };
    let rows: Vec<Comparison> = compared.iter().map(Comparison::new).collect();
    if args.json {
        return json::text("profile-compare", &serde_json::json!({ "profiles": rows }));
    }
    let columns = [
        "profile",
        "status",
        "startup s",
        "full s",
        "ratio",
        "BOT mean s",
        "random s",
        "fetch s",
        "mount s",
        "overhead s",
        "MB/s",
        "file MB",
        "% tape",
        "model MB",
    ];
    let mut table = Table::new("", &columns);
    rows.iter().for_each(|row| table.row(cells(row)));
    table.note(format!("\n{}", notes()));
    Ok(crate::output::table(&table))
}

/// How each column was come by.
fn notes() -> String {
    format!(
        "After Johnson & Miller (VLDB 1998), section 5.7 and Table 5. - is not known.\n\
         startup, full  fixed time of a seek, and additional time across the whole tape; from \
         [seek], or where that is missing (~)\n               \
         from the locate-time model. LTO: intercept + wrap change, and per_lpos_s x length. Four \
         regions: the line ahead.\n               \
         Key points: least constant of cases 2 to 7, and a track at scanning speed\n\
         ratio          startup over full: the smaller, the more it matters where a file lies\n\
         BOT mean       locate from the beginning of tape to a random block of a full tape of \
         nominal geometry, by the model:\n               \
         midpoint rule over every wrap\n\
         random         from one random block to another: {pairs} pairs, seed {seed}, standard \
         error below 0.1 s\n\
         fetch          robot, shelf to drive; {fetch} s assumed (~) where the profile has none\n\
         overhead       fetch + mount + startup + full / 2, as the paper counts it\n\
         file           overhead x rate: the least a mount should bring for transfer to take as \
         long as getting there\n\
         model          the same with the model's BOT mean in place of startup + full / 2\n",
        pairs = means::PAIRS,
        seed = means::SEED,
        fetch = FETCH_S,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str) -> Comparison {
        Comparison::new(&profile::find(name).unwrap())
    }

    #[test]
    fn what_comes_from_the_model_is_marked() {
        assert_eq!(&cells(&row("lto8"))[2..4], ["~10.9", "~104.3"]);
    }

    #[test]
    fn what_is_not_known_is_a_dash_and_a_library_is_refused() {
        assert_eq!(cells(&row("ts1170"))[2], "-");
        let compare = |name: &str| {
            text(&Compare {
                profiles: vec![name.to_owned()],
                json: true,
            })
        };
        assert!(compare("grau-abba2").is_err());
        let rows: serde_json::Value = serde_json::from_str(&compare("ts1170").unwrap()).unwrap();
        assert!(rows["profiles"][0]["min_file_mb"].is_null());
    }
}
