//! The profiles in `profiles/`: that they are listed, sourced, and right where arithmetic can tell.

use std::collections::BTreeSet;
use std::path::Path;
use tapewise_model::profile::{self, BUILTIN, Kind, Locate, Profile, ProfileValue, Status};
use tapewise_model::{Layout, NominalLayout, Position};

fn table(text: &str) -> toml::Table {
    toml::from_str(text).expect("a TOML table")
}

fn all() -> impl Iterator<Item = Profile> {
    profile::names().map(|name| profile::find(name).expect("a valid profile"))
}

fn values_of(name: &str) -> Vec<ProfileValue> {
    let (_, text) = BUILTIN
        .iter()
        .find(|(known, _)| *known == name)
        .expect("a profile");
    profile::values(&table(text))
}

/// The number in a field, `None` where the profile leaves it out.
fn number(name: &str, field: &str) -> Option<f64> {
    let value = values_of(name)
        .into_iter()
        .find(|value| value.field == field)?;
    Some(value.text.parse().expect("a number"))
}

/// The words of a note that could be keys of sources.
fn words(note: &str) -> impl Iterator<Item = &str> {
    note.split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
}

fn lto_names() -> Vec<String> {
    all()
        .filter(|p| matches!(p.locate, Some(Locate::LtoRegression { .. })))
        .map(|p| p.name)
        .collect()
}

#[test]
fn every_profile_parses_and_is_named_like_its_file() {
    for (name, text) in BUILTIN {
        let file = format!("{name}.toml");
        match Profile::from_toml(&file, text) {
            Ok(profile) => assert_eq!(&profile.name, name),
            Err(error) => panic!("{error}"),
        }
        assert!(text.is_ascii(), "{file}");
    }
}

#[test]
fn the_list_and_the_directory_agree() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles");
    let files: BTreeSet<String> = std::fs::read_dir(directory)
        .expect("the directory of profiles")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter_map(|file| file.strip_suffix(".toml").map(str::to_owned))
        .collect();
    let listed: Vec<String> = profile::names().map(str::to_owned).collect();
    assert_eq!(
        listed.iter().cloned().collect::<BTreeSet<_>>(),
        files,
        "builtin.rs against profiles/"
    );
    assert_eq!(listed.len(), files.len(), "a name is listed twice");
}

#[test]
fn every_source_is_used_and_every_source_used_is_listed() {
    let known: BTreeSet<String> = all().flat_map(|p| p.sources.into_keys()).collect();
    for profile in all() {
        let mut used = BTreeSet::new();
        for value in values_of(&profile.name) {
            used.insert(value.source);
            let note = value.note.unwrap_or_default();
            used.extend(
                words(&note)
                    .filter(|word| known.contains(*word))
                    .map(str::to_owned),
            );
        }
        let listed: BTreeSet<String> = profile.sources.into_keys().collect();
        assert_eq!(listed, used, "{}", profile.name);
    }
}

#[test]
fn a_key_means_the_same_source_everywhere() {
    for a in all() {
        for b in all() {
            for (key, text) in a.sources.iter().filter(|(key, _)| *key != "TAPEWISE") {
                let other = b.sources.get(key).unwrap_or(text);
                assert_eq!(text, other, "{key} in {} and {}", a.name, b.name);
            }
        }
    }
}

#[test]
fn whatever_we_derived_says_how() {
    for name in profile::names() {
        for value in values_of(name)
            .iter()
            .filter(|value| value.source == "TAPEWISE")
        {
            assert!(value.note.is_some(), "{name}: {}", value.field);
        }
    }
}

#[test]
fn a_half_height_figure_in_another_profile_says_so() {
    for name in profile::names().filter(|name| !name.ends_with("-hh")) {
        for value in values_of(name)
            .iter()
            .filter(|value| value.source == "IBM-HH")
        {
            let note = value.note.as_deref().unwrap_or_default();
            assert!(note.contains("half height"), "{name}: {}", value.field);
        }
    }
}

#[test]
fn status_and_model_go_together() {
    for profile in all() {
        let name = &profile.name;
        match (profile.kind, profile.status) {
            (Kind::Library, _) | (_, Status::FactsOnly) => {
                assert!(profile.locate.is_none(), "{name}");
            }
            _ => assert!(profile.locate.is_some(), "{name}"),
        }
        // Nothing here was confirmed on hardware, nor recovered from our emulator.
        assert!(
            !matches!(profile.status, Status::Verified | Status::Emulated),
            "{name}"
        );
        assert_eq!(
            profile.kind == Kind::Library,
            profile.robot != Default::default(),
            "{name}"
        );
    }
}

#[test]
fn the_reference_lists_every_profile_with_its_status_and_model() {
    let reference = tapewise_house::page("reference/profiles.md");
    for profile in all() {
        let status = match profile.status {
            Status::Verified => "verified",
            Status::PublishedModel => "published model",
            Status::Emulated => "emulated",
            Status::Estimate => "estimate",
            Status::FactsOnly => "facts only",
        };
        let model = match (profile.kind, &profile.locate) {
            (Kind::Library, _) => "(library)",
            (_, None) => "-",
            (_, Some(_)) => profile.locate_model(None).expect("a model").name(),
        };
        let row = format!(
            "| `{}` | {} | {status} | {model} |",
            profile.name, profile.title
        );
        assert!(reference.contains(&row), "no row {row}");
    }
}

#[test]
fn words_are_of_the_known_few() {
    for name in profile::names() {
        for value in values_of(name) {
            let allowed: &[&str] = match value.field.as_str() {
                "features.unmount_midtape" => &["no", "yes", "restricted"],
                "features.block" => &["fixed", "variable"],
                "features.package" => &["cassette", "cartridge"],
                _ => continue,
            };
            assert!(
                allowed.contains(&value.text.as_str()),
                "{name}: {}",
                value.field
            );
        }
    }
}

#[test]
fn matched_speeds_fall() {
    for profile in all() {
        if let Some(speeds) = &profile.transfer.speed_matching_mb_s {
            assert!(
                speeds.value.windows(2).all(|pair| pair[0] > pair[1]),
                "{}",
                profile.name
            );
        }
    }
}

#[test]
fn wraps_hold_their_data_sets_and_together_the_capacity() {
    for name in profile::names() {
        let (Some(wrap_gb), Some(wraps), Some(capacity_gb)) = (
            number(name, "cartridge.wrap_gb"),
            number(name, "cartridge.wraps"),
            number(name, "cartridge.capacity_gb"),
        ) else {
            continue;
        };
        let excess = wrap_gb * wraps / capacity_gb;
        assert!((0.9999..1.06).contains(&excess), "{name}: {excess}");
        let sets = number(name, "cartridge.data_sets_per_wrap");
        if let Some((sets, kb)) = sets.zip(number(name, "cartridge.data_set_kb")) {
            let expected = 0.9906 * sets * kb / 1e6;
            assert!(
                (wrap_gb - expected).abs() < 0.0006,
                "{name}: {wrap_gb} against {expected}"
            );
        }
    }
}

/// Metres for each LPOS unit on M8 media: 922 m over the published range.
const METRES_PER_LPOS: f64 = 922.0 / (171_097.0 - 2_696.0);

#[test]
fn the_range_of_lpos_is_the_usable_tape_in_the_unit_of_m8_media() {
    for name in lto_names() {
        let field = |field: &str| number(&name, field).unwrap_or_else(|| panic!("{name}: {field}"));
        let range = field("cartridge.lpos_max") - field("cartridge.lpos_min");
        let metres = range * METRES_PER_LPOS;
        assert!(
            (metres - field("cartridge.usable_m")).abs() < 0.005,
            "{name}: {metres} m"
        );
        assert!(
            field("cartridge.usable_m") < field("cartridge.length_m"),
            "{name}"
        );
    }
}

#[test]
fn no_lto_drive_searches_slower_than_it_reads() {
    for name in lto_names() {
        let field = |field: &str| number(&name, field);
        let (Some(sets), Some(kb)) = (
            field("cartridge.data_sets_per_wrap"),
            field("cartridge.data_set_kb"),
        ) else {
            continue;
        };
        let (Some(rate), Some(metres), Some(pace)) = (
            field("transfer.rate_mb_s"),
            field("cartridge.usable_m"),
            field("locate.per_lpos_s"),
        ) else {
            panic!("{name}: a rate, a length or a pace is missing");
        };
        let reads = rate * 1e3 * metres / (sets * kb);
        let searches = METRES_PER_LPOS / pace;
        assert!(
            searches > 0.999 * reads,
            "{name}: {searches:.2} against {reads:.2} m/s"
        );
        assert!(searches < 15.0, "{name}: {searches:.2} m/s");
    }
}

/// The mean of the regression's fixed terms from the beginning of tape to a random block.
fn fixed_mean_s(name: &str) -> f64 {
    let field = |field: &str| number(name, &format!("locate.{field}")).expect("a coefficient");
    let wraps = number(name, "cartridge.wraps").expect("wraps");
    field("intercept_s")
        + field("wrap_change_s") * (1.0 - 1.0 / wraps)
        + field("band_change_s") * 0.75
        + field("mid_cross_s") * 0.5
        + field("direction_change_s") * 0.5
}

/// Seconds of pure motion for each metre, if the mean time to a record is `mean_s`.
fn motion_s_per_m(name: &str, mean_s: f64) -> f64 {
    (mean_s - fixed_mean_s(name)) / number(name, "cartridge.usable_m").expect("metres")
}

#[test]
fn search_speeds_scale_from_m8_media_by_the_published_means() {
    let m8 = motion_s_per_m("lto7-m8", 59.0);
    for name in [
        "lto5-hh", "lto6-hh", "lto7-hh", "lto9", "lto9-hh", "lto10", "lto10p",
    ] {
        let mean = number(name, "handling.search_mean_s").expect("a mean");
        let expected = 0.000_619_2 * motion_s_per_m(name, mean) / m8;
        let stated = number(name, "locate.per_lpos_s").expect("a pace");
        assert!(
            (stated - expected).abs() < 0.6e-7,
            "{name}: {stated} against {expected}"
        );
    }
}

#[test]
fn search_speeds_follow_from_the_stated_metres_a_second() {
    let read_lto1 = 15e6 * 580.0 / (5_500.0 * 404e3);
    for (name, speed) in [
        ("lto1", read_lto1),
        ("ibm3580", read_lto1),
        ("lto2", 7.0),
        ("lto3", 7.0),
        ("lto4", 7.0),
        ("lto5", 846.0 / 99.0),
        ("lto6", 846.0 / 99.0),
        ("lto7", 8.842),
        ("lto7-m8", 8.842),
        ("lto8", 8.842),
        ("lto8-hh", 8.842),
    ] {
        let stated = number(name, "locate.per_lpos_s").expect("a pace");
        assert!(
            (stated - METRES_PER_LPOS / speed).abs() < 0.6e-7,
            "{name}: {stated}"
        );
    }
}

/// The model's mean from the beginning of tape to places spread evenly over the tape.
fn mean_from_bot_s(profile: &Profile) -> f64 {
    let geometry = profile.geometry().expect("a geometry");
    let model = profile.locate_model(None).expect("a model");
    let bot = model.point(&Position::beginning_of_tape(geometry.lpos_min));
    let places = 200;
    let mut sum = 0.0;
    for wrap in 0..geometry.wraps {
        for place in 0..places {
            let lpos = geometry.lpos_min + geometry.wrap_lpos() * (2 * place + 1) / (2 * places);
            let there = Position {
                wrap,
                lpos,
                ..Position::beginning_of_tape(lpos)
            };
            sum += model.time(&bot, &model.point(&there)).as_secs_f64();
        }
    }
    sum / (f64::from(geometry.wraps) * f64::from(places))
}

#[test]
fn the_lto_models_come_near_the_published_means() {
    for (name, published, tolerance) in [
        ("lto7-m8", 59.0, 0.11),
        ("lto8", 60.0, 0.11),
        ("lto8-hh", 59.0, 0.11),
        ("lto1", 95.0, 0.11),
        ("lto6", 50.0, 0.21),
        ("lto6-hh", 62.0, 0.11),
        ("lto7-hh", 56.0, 0.11),
        ("lto9", 45.0, 0.11),
        ("lto9-hh", 65.0, 0.11),
        ("lto10", 65.0, 0.11),
        ("lto10p", 73.0, 0.11),
    ] {
        let profile = profile::find(name).expect("a profile");
        assert_eq!(number(name, "handling.search_mean_s"), Some(published));
        let mean = mean_from_bot_s(&profile);
        assert!(
            (mean / published - 1.0).abs() < tolerance,
            "{name}: {mean:.1} against {published}"
        );
    }
}

#[test]
fn the_lines_of_the_4mm_drive_meet_where_stated() {
    let field = |field: &str| number("dat-4mm", field).expect("a number");
    let slope = field("locate.full_s") / field("cartridge.capacity_gb");
    let meet = (field("locate.startup_s") - field("locate.short_startup_s"))
        / (field("locate.short_s_per_gb") - slope);
    assert!((meet - 0.0228).abs() < 5e-5);
}

#[test]
fn the_estimated_four_regions_have_the_shape_of_the_dlt_4000() {
    let startup = |name: &str| number(name, "locate.ahead_s").expect("ahead");
    let behind = |name: &str| number(name, "locate.behind_s").expect("behind");
    for name in ["dlt7000", "ibm3590"] {
        let expected = startup(name) * behind("dlt4000-jm98") / startup("dlt4000-jm98");
        assert!((behind(name) - expected).abs() < 0.005, "{name}");
        for slope in ["locate.ahead_s_per_track", "locate.behind_s_per_track"] {
            assert_eq!(number(name, slope), number(name, "seek.full_s"), "{name}");
        }
    }
}

#[test]
fn profiles_of_one_drive_agree() {
    let find = |name: &str| profile::find(name).expect("a profile");
    assert_eq!(find("ibm3580").locate, find("lto1").locate);
    assert_eq!(find("ibm3580").cartridge, find("lto1").cartridge);
    assert_eq!(find("dlt4000").seek, find("dlt4000-jm98").seek);
    assert_eq!(
        number("dlt4000", "cartridge.wrap_gb"),
        number("dlt4000-jm98", "cartridge.wrap_gb")
    );
    for generation in ["lto5", "lto6", "lto7", "lto8", "lto9"] {
        let half_height = find(&format!("{generation}-hh"));
        assert_eq!(half_height.cartridge, find(generation).cartridge);
    }
}

#[test]
fn every_model_prices_the_corners_of_its_tape() {
    for profile in all().filter(|p| p.locate.is_some()) {
        let name = &profile.name;
        let geometry = profile.geometry().expect("a geometry");
        let model = profile.locate_model(None).expect("a model");
        profile.transfer().expect("a rate");
        let at = |wrap: u16, lpos: u32| {
            model.point(&Position {
                wrap,
                lpos,
                ..Position::beginning_of_tape(lpos)
            })
        };
        let last = geometry.wraps - 1;
        let (low, high) = (geometry.lpos_min, geometry.lpos_max);
        for from in [at(0, low), at(0, high), at(last, low), at(last, high)] {
            for to in [at(0, low), at(0, high), at(last, low), at(last, high)] {
                let seconds = model.time(&from, &to).as_secs_f64();
                assert!((0.0..250.0).contains(&seconds), "{name}: {seconds} s");
            }
        }
        assert_eq!(
            geometry.layout == Layout::Helical,
            geometry.wraps == 1,
            "{name}"
        );
        profile
            .nominal_map(NominalLayout::Single, 512 * 1024)
            .expect("a nominal map");
    }
}

#[test]
fn ltfs_is_laid_out_from_lto5_on() {
    for (name, expected) in [
        ("lto4", None),
        ("lto5", Some((2, 2))),
        ("lto8-hh", Some((2, 2))),
        ("lto9", Some((2, 4))),
        ("lto10", None), // not published
    ] {
        let layout = profile::find(name).expect("a profile").ltfs_layout();
        let expected = expected.map(|(index_wraps, guard_wraps)| NominalLayout::Ltfs {
            index_wraps,
            guard_wraps,
        });
        assert_eq!(layout, expected, "{name}");
    }
}

/// A sound profile, with one line for each hostile case to replace.
const SOUND: &str = r#"
name = "x"
title = "x"
kind = "drive"
status = "estimate"
summary = "x"

[sources]
A = "a"

[cartridge]
wraps = { value = 4, source = "A" }

[handling]
mount_s = { value = 10, source = "A" }

[transfer]
speed_matching_mb_s = { value = [2, 1], source = "A" }
"#;

#[test]
fn a_hostile_profile_is_refused_by_file_and_field() {
    Profile::from_toml("sound.toml", SOUND).expect("the profile that the cases spoil");
    for (what, from, to, field) in [
        ("unknown field", "mount_s", "mounting_s", "mounting_s"),
        ("unknown section", "[handling]", "[handing]", "handing"),
        (
            "unlisted source",
            "value = 10, source = \"A\"",
            "value = 10, source = \"B\"",
            "handling.mount_s",
        ),
        ("no source", "10, source = \"A\"", "10", "mount_s"),
        (
            "bare number",
            "{ value = 10, source = \"A\" }",
            "10",
            "mount_s",
        ),
        (
            "negative",
            "value = 10,",
            "value = -10,",
            "handling.mount_s",
        ),
        (
            "negative zero point",
            "value = 10,",
            "value = -0.5,",
            "handling.mount_s",
        ),
        (
            "not a number",
            "value = 10,",
            "value = nan,",
            "handling.mount_s",
        ),
        (
            "infinite",
            "value = 10,",
            "value = inf,",
            "handling.mount_s",
        ),
        ("text", "value = 10,", "value = \"ten\",", "mount_s"),
        (
            "a fraction of a wrap",
            "value = 4,",
            "value = 4.5,",
            "wraps",
        ),
        ("no wraps", "value = 4,", "value = 0,", "cartridge.wraps"),
        ("too many wraps", "value = 4,", "value = 70000,", "wraps"),
        (
            "negative in a list",
            "[2, 1]",
            "[2, -1]",
            "transfer.speed_matching_mb_s",
        ),
        ("unknown status", "\"estimate\"", "\"guess\"", "status"),
        ("twice", "[sources]\n", "[sources]\nA = \"b\"\n", "A"),
    ] {
        let hostile = SOUND.replacen(from, to, 1);
        assert_ne!(hostile, SOUND, "{what}");
        match Profile::from_toml("hostile.toml", &hostile) {
            Ok(_) => panic!("{what} was accepted"),
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains("hostile.toml"), "{what}: {message}");
                assert!(message.contains(field), "{what}: {message}");
            }
        }
    }
}

#[test]
fn a_model_is_called_as_its_profile_spells_it() {
    for (name, text) in profile::BUILTIN {
        let Some(locate) = profile::find(name).expect(name).locate else {
            continue;
        };
        let spelled = format!("model = \"{}\"", locate.name());
        assert!(text.contains(&spelled), "{name}: {spelled}");
    }
}
