//! `tapewise profile compare`: Johnson & Miller's summary (1998, section 5.7) of every drive.

use super::{json, locate, text};
use crate::error::CliError;
use crate::profiles;
use tapewise_model::profile::{self, Kind, Known, Profile};
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

/// What the paper assumes where a robot is not named, in seconds.
const FETCH_S: f64 = 10.0;

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
enum From {
    /// The profile states it.
    Profile,
    /// It follows from the locate-time model.
    Model,
    /// It is the paper's assumption.
    Assumed,
}

/// A drive in the comparison; `None` is not known.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
struct Row {
    name: String,
    status: &'static str,
    startup_s: Option<f64>,
    full_s: Option<f64>,
    seek_from: Option<From>,
    startup_over_full: Option<f64>,
    locate_mean_from_start_s: Option<f64>,
    locate_mean_random_s: Option<f64>,
    fetch_s: f64,
    fetch_from: From,
    mount_s: Option<f64>,
    rate_mb_s: Option<f64>,
    #[serde(flatten)]
    fetch: Fetch,
    model_file_mb: Option<f64>,
}

/// Table 5 of the paper for one drive.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
struct Fetch {
    /// Robot fetch, mount, startup and half a full seek.
    location_overhead_s: Option<f64>,
    /// What streams in that time.
    min_file_mb: Option<f64>,
    /// The same as a share of the tape.
    min_file_percent: Option<f64>,
}

/// What a file fetch costs before its first byte, and the file that takes as long to transfer.
fn fetch(
    before_s: Option<f64>,
    seek_s: Option<(f64, f64)>,
    rate_mb_s: Option<f64>,
    capacity_gb: Option<f64>,
) -> Fetch {
    let overhead_s = before_s
        .zip(seek_s)
        .map(|(before, (startup, full))| before + startup + full / 2.0);
    let min_file_mb = overhead_s.zip(rate_mb_s).map(|(time, rate)| time * rate);
    Fetch {
        location_overhead_s: overhead_s,
        min_file_mb,
        min_file_percent: min_file_mb
            .zip(capacity_gb)
            .map(|(size, capacity)| size / (capacity * 1e3) * 100.0),
    }
}

impl Row {
    fn new(profile: &Profile) -> Row {
        let known = |value: &Known<f64>| value.as_ref().map(|sourced| sourced.value);
        let stated = known(&profile.seek.startup_s).zip(known(&profile.seek.full_s));
        let seek = stated
            .map(|seek| (seek, From::Profile))
            .or_else(|| locate::startup_and_full_s(profile).map(|seek| (seek, From::Model)));
        let seek_s = seek.map(|(seek_s, _)| seek_s);
        let means = locate::means(profile);
        let stated_fetch_s = known(&profile.seek.fetch_s);
        let fetch_s = stated_fetch_s.unwrap_or(FETCH_S);
        let mount_s = known(&profile.handling.mount_s);
        let before_s = mount_s.map(|mount| mount + fetch_s);
        let rate_mb_s = known(&profile.transfer.rate_mb_s);
        let by_model = before_s.zip(means).zip(rate_mb_s);
        Row {
            name: profile.name.clone(),
            status: text::status(profile.status),
            startup_s: seek_s.map(|(startup, _)| startup),
            full_s: seek_s.map(|(_, full)| full),
            seek_from: seek.map(|(_, from)| from),
            startup_over_full: seek_s
                .map(|(startup, full)| startup / full)
                .filter(|ratio| ratio.is_finite()),
            locate_mean_from_start_s: means.map(|means| means.from_start_s),
            locate_mean_random_s: means.map(|means| means.random_s),
            fetch_s,
            fetch_from: stated_fetch_s.map_or(From::Assumed, |_| From::Profile),
            mount_s,
            rate_mb_s,
            fetch: fetch(
                before_s,
                seek_s,
                rate_mb_s,
                known(&profile.cartridge.capacity_gb),
            ),
            model_file_mb: by_model
                .map(|((before, means), rate)| (before + means.from_start_s) * rate),
        }
    }

    fn cells(&self) -> [String; 14] {
        let mark = |from: Option<From>| if from == Some(From::Profile) { "" } else { "~" };
        let seconds = |value: Option<f64>| number(value, 1);
        let seek = |value: Option<f64>| match value {
            Some(_) => mark(self.seek_from).to_owned() + &seconds(value),
            None => "-".to_owned(),
        };
        [
            self.name.clone(),
            self.status.replace('-', " "),
            seek(self.startup_s),
            seek(self.full_s),
            number(self.startup_over_full, 2),
            seconds(self.locate_mean_from_start_s),
            seconds(self.locate_mean_random_s),
            mark(Some(self.fetch_from)).to_owned() + &seconds(Some(self.fetch_s)),
            seconds(self.mount_s),
            seconds(self.fetch.location_overhead_s),
            self.rate_mb_s
                .map_or("-".to_owned(), |rate| rate.to_string()),
            number(self.fetch.min_file_mb, 0),
            number(self.fetch.min_file_percent, 2),
            number(self.model_file_mb, 0),
        ]
    }
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
    let rows: Vec<Row> = compared.iter().map(Row::new).collect();
    if args.json {
        return json(&rows);
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
    rows.iter().for_each(|row| table.row(row.cells()));
    table.note(format!("\n{}", notes()));
    Ok(table.to_string())
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
        pairs = locate::PAIRS,
        seed = locate::SEED,
        fetch = FETCH_S,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str) -> Row {
        Row::new(&profile::find(name).unwrap())
    }

    /// Name, overhead s, minimum file MB, share of the tape in %, as Table 5 prints them.
    const TABLE_5: [(&str, f64, f64, f64); 6] = [
        ("dat-4mm", 128.0, 42.0, 2.6),
        ("ampex-dst310", 35.7, 507.0, 1.2),
        ("sony-dtf", 143.0, 1_720.0, 4.2),
        ("dlt4000-jm98", 145.0, 184.0, 1.0),
        ("dlt7000", 121.0, 520.0, 1.5),
        ("ibm3590", 61.0, 543.0, 5.3),
    ];

    #[test]
    fn table_5_comes_out_within_3_percent_from_the_profiles_of_all_six_drives() {
        for (name, overhead_s, file_mb, percent) in TABLE_5 {
            let fetch = row(name).fetch;
            let close = |ours: Option<f64>, theirs: f64, allowed: f64| {
                let off = ours.unwrap() - theirs;
                assert!(off.abs() <= allowed, "{name}: {ours:?} against {theirs}");
            };
            close(fetch.location_overhead_s, overhead_s, 0.03 * overhead_s);
            close(fetch.min_file_mb, file_mb, 0.03 * file_mb);
            // The share is printed with one digit after the point.
            close(fetch.min_file_percent, percent, 0.03 * percent + 0.05);
        }
    }

    #[test]
    fn table_5_is_met_to_its_last_digit_where_the_paper_agrees_with_itself() {
        // Within half of the last digit printed, or just on it (DLT 7000: 121.5). The IBM 3590
        // is not among them: its own Table 4 gives 62.5 s where Table 5 prints 61.
        let digits = [
            ("dat-4mm", 0.5, 0.5),
            ("ampex-dst310", 0.05, 0.5),
            ("sony-dtf", 0.5, 5.0),
            ("dlt7000", 0.5, 5.0),
        ];
        for (name, half_second, half_mb) in digits {
            let (_, overhead_s, file_mb, _) = *TABLE_5.iter().find(|(of, ..)| *of == name).unwrap();
            let fetch = row(name).fetch;
            let off_s = fetch.location_overhead_s.unwrap() - overhead_s;
            let off_mb = fetch.min_file_mb.unwrap() - file_mb;
            assert!(off_s.abs() <= half_second + 1e-9, "{name}: {off_s} s off");
            assert!(off_mb.abs() <= half_mb + 1e-9, "{name}: {off_mb} MB off");
        }
        // The DLT 4000 with the 1.27 MB/s that Table 5 uses; Table 4 and the profile have 1.3.
        let dlt = fetch(Some(50.0), Some((21.0, 147.0)), Some(1.27), Some(18.4));
        assert_eq!(dlt.location_overhead_s, Some(144.5));
        assert!((dlt.min_file_mb.unwrap() - 184.0).abs() < 0.5);
        assert!((dlt.min_file_percent.unwrap() - 1.0).abs() < 0.05);
    }

    #[test]
    fn startup_shares_are_those_of_section_5_7() {
        assert!((row("ampex-dst310").startup_over_full.unwrap() - 0.37).abs() < 0.005);
        assert!((row("sony-dtf").startup_over_full.unwrap() - 0.07).abs() < 0.005);
    }

    #[test]
    fn an_lto_takes_startup_and_full_seek_from_its_model_and_the_robot_is_assumed() {
        let lto8 = row("lto8");
        assert_eq!(lto8.seek_from, Some(From::Model));
        assert_eq!((lto8.fetch_s, lto8.fetch_from), (10.0, From::Assumed));
        // 10 + 15 + 10.94 + 104.27 / 2 s at 360 MB/s.
        assert!((lto8.fetch.min_file_mb.unwrap() - 31_707.0).abs() < 1.0);
        assert_eq!(&lto8.cells()[2..4], ["~10.9", "~104.3"]);
    }

    #[test]
    fn what_is_not_known_is_a_dash_and_a_library_is_refused() {
        assert_eq!(row("ts1170").cells()[2], "-");
        let compare = |name: &str| {
            text(&Compare {
                profiles: vec![name.to_owned()],
                json: true,
            })
        };
        assert!(compare("grau-abba2").is_err());
        let rows: serde_json::Value = serde_json::from_str(&compare("ts1170").unwrap()).unwrap();
        assert!(rows[0]["min_file_mb"].is_null());
    }
}
