//! Johnson & Miller's summary (1998, section 5.7) of a drive, and their cost of a file fetch (Table 5).

use super::means::means;
use super::{Known, Profile, Status};
use serde::Serialize;

/// What the paper assumes where a robot is not named, in seconds.
pub const FETCH_S: f64 = 10.0;

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SeekSource {
    /// The profile states it.
    Profile,
    /// It follows from the locate-time model.
    Model,
    /// It is the paper's assumption.
    Assumed,
}

/// A drive in the comparison of Johnson & Miller (1998); `None` is not known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Its name.
    pub name: String,
    /// How far its profile can be trusted.
    pub status: Status,
    /// Fixed time of a seek.
    pub startup_s: Option<f64>,
    /// Additional time across the whole tape.
    pub full_s: Option<f64>,
    /// Where these two come from.
    pub seek_from: Option<SeekSource>,
    /// One over the other.
    pub startup_over_full: Option<f64>,
    /// Mean locate from the beginning of tape, by the model.
    pub locate_mean_from_start_s: Option<f64>,
    /// Mean locate between two places, by the model.
    pub locate_mean_random_s: Option<f64>,
    /// The robot's way, shelf to drive.
    pub fetch_s: f64,
    /// Where it comes from.
    pub fetch_from: SeekSource,
    /// Mount.
    pub mount_s: Option<f64>,
    /// Rate.
    pub rate_mb_s: Option<f64>,
    /// What a file fetch costs.
    #[serde(flatten)]
    pub fetch: Fetch,
    /// What a mount should bring, with the model's mean in place of startup and half a full seek.
    pub model_file_mb: Option<f64>,
}

/// Table 5 of the paper for one drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fetch {
    /// Robot fetch, mount, startup and half a full seek.
    pub location_overhead_s: Option<f64>,
    /// What streams in that time.
    pub min_file_mb: Option<f64>,
    /// The same as a share of the tape.
    pub min_file_percent: Option<f64>,
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

impl Comparison {
    /// A drive's row.
    pub fn new(profile: &Profile) -> Comparison {
        let known = |value: &Known<f64>| value.as_ref().map(|sourced| sourced.value);
        let stated = known(&profile.seek.startup_s).zip(known(&profile.seek.full_s));
        let seek = stated.map(|seek| (seek, SeekSource::Profile)).or_else(|| {
            profile
                .startup_and_full_s()
                .map(|seek| (seek, SeekSource::Model))
        });
        let seek_s = seek.map(|(seek_s, _)| seek_s);
        let means = means(profile);
        let stated_fetch_s = known(&profile.seek.fetch_s);
        let fetch_s = stated_fetch_s.unwrap_or(FETCH_S);
        let mount_s = known(&profile.handling.mount_s);
        let before_s = mount_s.map(|mount| mount + fetch_s);
        let rate_mb_s = known(&profile.transfer.rate_mb_s);
        let by_model = before_s.zip(means).zip(rate_mb_s);
        Comparison {
            name: profile.name.clone(),
            status: profile.status,
            startup_s: seek_s.map(|(startup, _)| startup),
            full_s: seek_s.map(|(_, full)| full),
            seek_from: seek.map(|(_, from)| from),
            startup_over_full: seek_s
                .map(|(startup, full)| startup / full)
                .filter(|ratio| ratio.is_finite()),
            locate_mean_from_start_s: means.map(|means| means.from_start_s),
            locate_mean_random_s: means.map(|means| means.random_s),
            fetch_s,
            fetch_from: stated_fetch_s.map_or(SeekSource::Assumed, |_| SeekSource::Profile),
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::find;

    fn row(name: &str) -> Comparison {
        Comparison::new(&find(name).unwrap())
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
        assert_eq!(lto8.seek_from, Some(SeekSource::Model));
        assert_eq!((lto8.fetch_s, lto8.fetch_from), (10.0, SeekSource::Assumed));
        // 10 + 15 + 10.94 + 104.27 / 2 s at 360 MB/s.
        assert!((lto8.fetch.min_file_mb.unwrap() - 31_707.0).abs() < 1.0);
    }
}
