//! Event logs of drives that tell no positions: placed, fitted, made into a profile.

use tapewise_fit::log::{LogError, Records};
use tapewise_fit::{
    Candidate, FitOptions, FitRefusal, Outcome, Places, Trust, fit_records, fitted_profile,
};
use tapewise_formats::map_file::MapFile;
use tapewise_model::profile::{self, Locate};
use tapewise_model::{NominalLayout, Profile, Random};

const BLOCK_BYTES: u64 = 32_768;

/// A log of moves between blocks in the times of the profile's own model, times `noise` of something else.
fn log(drive: &Profile, moves: usize, noise: f64) -> String {
    let map = drive
        .nominal_map(NominalLayout::Single, BLOCK_BYTES)
        .unwrap();
    let model = drive.locate_model(None).unwrap();
    let mut random = Random::new(5, 0);
    let mut text = "{\"tapewise_events\":1,\"tool\":\"test\",\"byte_scale\":512}\n".to_owned();
    text += "{\"action\":\"read\",\"at_us\":0,\"took_us\":1,\"blocks\":10,\"bytes\":640}\n";
    for _ in 0..moves {
        let [from, to, other] = [0; 3].map(|_| random.below(map.end_block(0)));
        let place = |block| map.position(0, block).unwrap();
        let seconds = |to| model.locate(&place(from), &place(to)).as_secs_f64();
        let took_us = 1e6 * ((1.0 - noise) * seconds(to) + noise * seconds(other));
        text += &format!(
            "{{\"action\":\"locate\",\"at_us\":0,\"took_us\":{took_us:.0},\"from\":{{\"block\":{from}}},\
             \"to\":{{\"block\":{to}}}}}\n"
        );
    }
    text
}

fn fit(drive: &Profile, text: &str, options: FitOptions<'_>) -> Result<Outcome, FitRefusal> {
    let mut records = Records::default();
    records.read("log", text.as_bytes(), None).unwrap();
    fit_records(records, drive, options)
}

#[test]
fn blocks_are_placed_by_what_the_profile_knows_and_give_its_model_back() {
    for (name, places, candidate) in [
        ("dat-4mm", Places::Nominal, Candidate::HelicalLinear),
        ("dlt7000", Places::Nominal, Candidate::FourRegion),
        ("dlt4000", Places::NominalKeyPoints, Candidate::KeyPoint),
    ] {
        let drive = profile::find(name).unwrap();
        let found = fit(&drive, &log(&drive, 300, 0.0), FitOptions::default()).unwrap();
        let choice = found.comparison.choice();
        assert_eq!(
            (found.places, choice.candidate),
            (places, candidate),
            "{name}"
        );
        assert!(
            choice.overall.residual_s < 0.5,
            "{name}: {}",
            choice.overall.residual_s
        );
        assert_eq!(found.comparison.trust(), Trust::Good);

        let mine = fitted_profile(&drive, &found, "mine");
        let text = mine.to_toml("").unwrap();
        assert_eq!(Profile::from_toml("mine.toml", &text).unwrap(), mine);
        match (mine.locate.unwrap(), drive.locate.unwrap()) {
            (Locate::HelicalLinear(mine), Locate::HelicalLinear(was)) => {
                let (startup_s, was_s) = (mine.startup_s, was.startup_s);
                assert!((startup_s.value - was_s.value).abs() < 0.1, "{startup_s:?}");
                let (mine, was) = (mine.short_s_per_gb, was.short_s_per_gb);
                assert_eq!(mine, was, "the line for short seeks stays");
            }
            (Locate::FourRegion(mine), Locate::FourRegion(was)) => {
                let (behind_s, was_s) = (mine.behind_s, was.behind_s);
                assert!((behind_s.value - was_s.value).abs() < 1.0, "{behind_s:?}");
            }
            (Locate::KeyPoint(mine), Locate::KeyPoint(was)) => {
                let read_s = mine.read_s_per_section;
                assert!((read_s.value - 15.5).abs() < 0.1, "{read_s:?}");
                for (found, was) in mine.case_s.value.iter().zip(was.case_s.value) {
                    assert!((found - was).abs() < 0.2, "{:?}", mine.case_s);
                }
                assert_eq!(mine.segment_kb, was.segment_kb);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_map_that_is_given_counts_and_one_that_does_not_fit_is_refused() {
    let drive = profile::find("dlt4000").unwrap();
    let text = log(&drive, 200, 0.0);
    let map = MapFile::KeyPoints(drive.nominal_key_points().unwrap());
    let given = |map| FitOptions {
        map: Some(map),
        ..FitOptions::default()
    };
    let found = fit(&drive, &text, given(&map)).unwrap();
    assert_eq!(found.places, Places::Map);
    let other = profile::find("dlt7000").unwrap();
    let refused = fit(&other, &text, given(&map)).unwrap_err();
    assert!(matches!(refused, FitRefusal::MapUnused { .. }), "{refused}");
}

#[test]
fn a_log_whose_times_are_of_other_moves_is_not_trusted() {
    let drive = profile::find("dlt7000").unwrap();
    let found = fit(&drive, &log(&drive, 300, 1.0), FitOptions::default()).unwrap();
    assert_eq!(found.comparison.trust(), Trust::None);
    let drive = profile::find("dat-4mm").unwrap();
    let found = fit(&drive, &log(&drive, 300, 0.4), FitOptions::default()).unwrap();
    assert_eq!(found.comparison.trust(), Trust::Rough);
}

#[test]
fn what_is_not_a_move_is_left_out_and_counted() {
    let drive = profile::find("dat-4mm").unwrap();
    let mut text = log(&drive, 120, 0.0);
    text += "{\"action\":\"mount\",\"at_us\":0,\"took_us\":9}\n\
        {\"action\":\"locate\",\"at_us\":0,\"took_us\":9,\"from\":{\"block\":5},\"to\":{\"block\":9}}\n\
        {\"action\":\"locate\",\"at_us\":0,\"took_us\":9,\"from\":{\"block\":9},\"to\":{\"block\":9}}\n\
        {\"action\":\"locate\",\"at_us\":0,\"took_us\":9,\"from\":{\"block\":1},\"to\":{\"block\":2},\"outcome\":\"failed\"}\n\
        {\"action\":\"locate\",\"at_us\":0,\"took_us\":9,\"from\":{\"block\":1},\"to\":{\"block\":99999999}}\n";
    let mut records = Records::default();
    let read = records.read("log", text.as_bytes(), None).unwrap();
    assert_eq!((read.moves, read.unplaced, read.failed), (121, 2, 1));
    let (_, twice) = records.read("log", text.as_bytes(), None).unwrap_err();
    assert!(matches!(twice, LogError::Twice));
    let found = fit_records(records, &drive, FitOptions::default()).unwrap();
    assert_eq!((found.beyond, found.records.samples.len()), (1, 120));
    let few = fit(&drive, &log(&drive, 90, 0.0), FitOptions::default()).unwrap_err();
    assert!(
        few.to_string().starts_with("90 locates are too few"),
        "{few}"
    );
}

#[test]
fn times_that_say_nothing_of_places_are_not_trusted_however_small_the_errors_are() {
    let drive = profile::find("dlt7000").unwrap();
    let mut random = Random::new(3, 0);
    for spread_us in [0, 1, 500_000] {
        let header = log(&drive, 0, 0.0);
        let moves = log(&drive, 300, 0.0)
            .lines()
            .skip(2)
            .fold(header, |text, line| {
                let (before, after) = line.split_once("\"took_us\":").unwrap();
                let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
                let took_us = 30_000_000 + random.below(spread_us + 1);
                format!("{text}{before}\"took_us\":{took_us}{after}\n")
            });
        let found = fit(&drive, &moves, FitOptions::default()).unwrap();
        assert_eq!(found.comparison.trust(), Trust::None, "{spread_us}");
    }
}

#[test]
fn a_locate_that_several_logs_have_counts_once() {
    let drive = profile::find("dat-4mm").unwrap();
    let events = log(&drive, 120, 0.0);
    let later = events.replace(
        "\"action\":\"locate\",\"at_us\":0",
        "\"action\":\"locate\",\"at_us\":9",
    );
    let row = |from: u32| format!("V1,{from},7,41500\n");
    let places = |from: u32| format!("V1,0,{from},2,7000,41500\n");
    let rows = |row: &dyn Fn(u32) -> String| (0..9).map(row).collect::<String>();
    let blocks = format!("volume,from_block,to_block,locate_ms\n{}", rows(&row));
    let places = format!(
        "volume,from_wrap,from_lpos,to_wrap,to_lpos,locate_us\n{}",
        rows(&places)
    );
    for (first, other, repeated) in [
        (&events, &events, 120),
        (&events, &later, 0),
        (&blocks, &blocks, 9),
        (&places, &places, 9),
        (&places, &places.replace("V1", "V2"), 0),
    ] {
        let mut records = Records::default();
        let read = records.read("log", first.as_bytes(), None).unwrap();
        assert_eq!(read.repeated, 0);
        let again = records.read("copy", other.as_bytes(), None).unwrap();
        assert_eq!(
            (again.moves, again.repeated),
            (read.moves - repeated, repeated)
        );
    }
}

#[test]
fn times_in_another_unit_than_their_column_says_are_noticed() {
    let notices = |column: &str, took: &str| {
        let rows = |ends: &str| format!("{ends},{took}\n").repeat(9);
        let blocks = format!("volume,from_block,to_block,{column}\n{}", rows("V1,5,7"));
        let head = "from_wrap,from_lpos,to_wrap,to_lpos";
        let places = format!("{head},{column}\n{}", rows("0,5,2,7000"));
        [blocks, places].map(|log| {
            let read = Records::default().read("log", log.as_bytes(), None);
            read.unwrap().notices.len()
        })
    };
    assert_eq!(notices("locate_us", "41500000"), [0, 0]);
    assert_eq!(notices("locate_s", "41.5"), [0, 0]);
    assert_eq!(notices("locate_us", "41500"), [1, 1]);
    assert_eq!(notices("locate_ms", "41500000"), [1, 1]);
}
