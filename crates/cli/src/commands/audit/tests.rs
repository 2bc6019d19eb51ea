//! The audit against the emulator, and against its own sums.

use super::{Audit, By, Findings, audit, picture, report};
use crate::commands::fit::fit;
use crate::commands::fit::log_kind::LogFormat;
use crate::output;
use crate::placement::cartridge;
use crate::search::SearchArgs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tapewise::audit::{Ledger, Spent};
use tapewise::{Batch, Placement};
use tapewise_emulator::{CartridgeSpec, Clock, Library, LibrarySpec};
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_formats::event_log::{EventWriter, Header};
use tapewise_formats::map_file::{MapFile, write_map};
use tapewise_formats::{Extent, Request};
use tapewise_model::{Micros, Random};
use tapewise_order::Algorithm;
use tapewise_run::{Item, Piece, Recorder, Report, Sink, carry_on, steps};
use tapewise_scsi::TapeDrive;

const VOLUME: &str = "AUDIT1L8";
const BLOCK_BYTES: usize = 2_048;
/// Each stored byte stands for so many: a block is 512 MB of tape.
const SCALE: u64 = 250_000;
const FILES: u64 = 2_000;
const FILE_BLOCKS: u64 = 8;
const WANTED: usize = 80;
const LOAD_LIMIT: Duration = Duration::from_secs(600);

fn options(logs: &[PathBuf]) -> Audit {
    Audit {
        policy: Vec::new(),
        requests: Vec::new(),
        logs: logs.to_vec(),
        log_format: LogFormat::Auto,
        profile: None,
        map: Vec::new(),
        maps: None,
        search: SearchArgs::with_seed(1),
        all: false,
        json: false,
        plot: None,
        html: None,
        since: None,
        year: None,
        plot_by: By::default(),
    }
}

/// Reads and forgets.
struct Nowhere;

impl Sink for Nowhere {
    fn begin(&mut self, _: &Piece) -> std::io::Result<()> {
        Ok(())
    }

    fn item(&mut self, _: &Piece, _: u64, _: Item<'_>) -> std::io::Result<()> {
        Ok(())
    }

    fn end(&mut self, _: &Piece) -> std::io::Result<()> {
        Ok(())
    }
}

/// An emulated LTO-8 cartridge with files, two thirds of a tape.
fn library(directory: &Path) -> Library {
    let mut spec = LibrarySpec::one_drive("lto8", 5);
    spec.cartridges = vec![CartridgeSpec {
        barcode: VOLUME.to_owned(),
        kind: "lto8".to_owned(),
        seed: 5,
        scale: SCALE,
    }];
    let library = Library::create(directory, &spec, Clock::virtual_time()).unwrap();
    library.load_cartridge(VOLUME).unwrap();
    let mut drive = TapeDrive::open(Box::new(library.transport_to_drive(0).unwrap())).unwrap();
    drive.wait_until_ready(LOAD_LIMIT).unwrap();
    // Nothing that a drive could compress: else the files would lie on a few wraps.
    let mut random = Random::new(7, 0);
    let mut block = vec![0; BLOCK_BYTES];
    for _ in 0..FILES * FILE_BLOCKS {
        for bytes in block.chunks_exact_mut(8) {
            bytes.copy_from_slice(&random.below(u64::MAX).to_le_bytes());
        }
        drive.write(&block).unwrap();
    }
    drive.write_filemarks(1, false).unwrap();
    drive.unload().unwrap();
    // The table is that of the load: what was written since is not in it.
    drive.load().unwrap();
    drive.wait_until_loaded(LOAD_LIMIT).unwrap();
    let map = MapFile::EndOfWrap(tapewise_run::wrap_ends(&mut drive).unwrap().unwrap());
    output::write(Some(&directory.join("map.csv")), |mut out| {
        write_map(&mut out, &map).unwrap();
        Ok(())
    })
    .unwrap();
    drive.unload().unwrap();
    library
}

/// Some of the files, in no order; another seed gives others.
fn batch(wanted: usize, seed: u64) -> Batch {
    let mut files: Vec<u64> = (0..FILES).collect();
    Random::new(seed, 0).shuffle(&mut files);
    let request = |file: &u64| Request {
        id: format!("file {file}"),
        extents: vec![Extent {
            partition: Some(0),
            start_block: file * FILE_BLOCKS,
            block_count: FILE_BLOCKS,
            byte_count: Some(FILE_BLOCKS * BLOCK_BYTES as u64 * SCALE),
            ..Extent::default()
        }],
        ..Request::default()
    };
    Batch {
        requests: files[..wanted].iter().map(request).collect(),
        block_size: Some(BLOCK_BYTES as u64 * SCALE),
        is_ltfs: false,
        recognised: String::new(),
        notices: Vec::new(),
    }
}

/// Carries the batch out in an order that this profile gives, and gives the log of it.
fn recall(directory: &Path, batch: &Batch, algorithm: Algorithm, profile: &str) -> Vec<Event> {
    let cartridge = cartridge(profile, Some(&directory.join("map.csv"))).unwrap();
    let placed = cartridge
        .place(batch.clone(), &Placement::default())
        .unwrap();
    let effort = SearchArgs::with_seed(1).effort();
    let row = placed.order(algorithm, &effort).unwrap();
    // The cartridge stands in the drive, unloaded.
    let library = Library::open(directory, Clock::virtual_time()).unwrap();
    let mut drive = TapeDrive::open(Box::new(library.transport_to_drive(0).unwrap())).unwrap();
    drive.wait_until_loaded(LOAD_LIMIT).unwrap();
    let mut events: Vec<Event> = Vec::new();
    let stop = AtomicBool::new(false);
    let mut recorder = Recorder::new(&mut drive, &mut events, &stop);
    recorder.rewind().unwrap();
    let name = |visit: u32| visit.to_string();
    let plan = steps(&row.plan, &placed.problem);
    let mut report = Report::default();
    carry_on(&plan, &mut recorder, &name, &mut Nowhere, &mut report).unwrap();
    assert!(report.unread.is_empty());
    recorder.unmount().unwrap();
    events
}

fn locating(events: &[Event]) -> Micros {
    let is_way = |event: &&Event| matches!(event.action, Action::Locate | Action::ReadThrough);
    let way = events.iter().filter(is_way);
    way.map(|event| event.took_us).sum()
}

fn write_log(path: &Path, events: &[Event]) {
    let header = Header {
        cartridge: Some(VOLUME.to_owned()),
        profile: Some("lto8".to_owned()),
        emulated: true,
        byte_scale: Some(SCALE),
        ..Header::new("test")
    };
    let file = std::fs::File::create(path).unwrap();
    let mut writer = EventWriter::new(file, &header).unwrap();
    for event in events {
        writer.write(event).unwrap();
    }
}

#[test]
fn what_the_log_of_one_order_says_of_others_is_what_the_emulator_takes_for_them() {
    let directory = tempfile::tempdir().unwrap();
    drop(library(directory.path()));
    let wanted = batch(WANTED, 9);
    let real = [Algorithm::Sort, Algorithm::Cta, Algorithm::Best]
        .map(|algorithm| recall(directory.path(), &wanted, algorithm, "lto8"));
    let measured = real.each_ref().map(|events| locating(events));
    assert!(
        measured.is_sorted_by(|one, next| one > next),
        "a batch in which every order is shorter than the one before: {measured:?}"
    );
    let log = directory.path().join("linear.jsonl");
    write_log(&log, &real[0]);

    // The published regression is not the emulator's mechanics: it ranks the orders as they are.
    let report = audit(&options(std::slice::from_ref(&log))).unwrap();
    let sums = report.sums();
    assert_eq!((sums.mounts, sums.reads), (1, WANTED));
    assert_eq!(sums.locating, measured[0]);
    let [sorted, cta, rao, best] = sums.orders;
    assert_eq!(sorted, Some(sums.as_read), "the log is of the sorted order");
    assert_eq!(rao, None, "LTO-8 has no order of its own");
    assert!(sorted > cta && cta > best, "{sums:?}");

    // A profile fitted to other reads of the drive, far and near ones, prices what others save, too.
    let mut logs = Vec::new();
    for (seed, algorithm) in [(10, Algorithm::Fifo), (11, Algorithm::Best)] {
        let log = directory.path().join(format!("{}.jsonl", algorithm.name()));
        let events = recall(directory.path(), &batch(400, seed), algorithm, "lto8");
        write_log(&log, &events);
        logs.push(log);
    }
    let fitted = directory.path().join("fitted.toml");
    fit(&logs, "lto8", Some(&fitted)).unwrap();
    let fitted = fitted.display().to_string();
    let args = Audit {
        profile: Some(fitted.clone()),
        ..options(&[log])
    };
    let sums = audit(&args).unwrap().sums();
    let [_, cta, _, best] = sums.orders;
    // Ours is another order by another profile: the one that is priced is carried out.
    let ours = recall(directory.path(), &wanted, Algorithm::Best, &fitted);
    for (name, predicted, real) in [("CTA", cta, measured[1]), ("best", best, locating(&ours))] {
        let predicted = (sums.as_read - predicted.unwrap()).as_secs_f64();
        let real = (measured[0] - real).as_secs_f64();
        let off = (predicted - real).abs() / real;
        assert!(
            off < 0.1,
            "{name}: saving {predicted} s predicted, {real} s real"
        );
    }
    assert_eq!(
        report.to_json()["hours"]["total_us"].as_i64(),
        Some(span(&real[0]).0),
        "hours with idle ones are the clock's"
    );
    let text = report::text(&report, false);
    assert!(text.contains("it proves nothing about hardware"), "{text}");
}

#[test]
fn how_far_to_trust_the_prices_is_said_as_a_factor_and_in_a_sentence() {
    let trust = |seconds: f64| {
        let found = audit_csv(
            &format!(
                "volume,action,from_block,to_block,bytes,duration_s\n\
                 A,locate,0,400000,,{seconds}\nA,read,400000,400100,30000000,1\n"
            ),
            Some("lto8"),
        );
        let text = report::text(&found, false);
        let line = text.lines().find(|line| line.starts_with("trust"));
        line.unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let measured = audit_csv(
        "volume,action,from_block,to_block,bytes,duration_s\nA,locate,0,400000,,9\nA,read,400000,400100,30000000,1\n",
        Some("lto8"),
    );
    let model_s = measured.sums().as_read.as_secs_f64();
    for (times, said) in [
        (1.0, "The model knows these moves"),
        (1.25, "which order is shorter"),
        (9.9, "Do not trust"),
    ] {
        for times in [times, 1.0 / times] {
            let line = trust(model_s / times);
            assert!(line.contains(said), "{line}");
            assert!(line.contains(&format!("{times:.2} times the ")), "{line}");
        }
    }
    assert!(trust(0.0).contains("unknown: "));
}

#[test]
fn the_ratios_of_mounts_say_in_which_direction_the_model_is_off() {
    let mounts = |[first, second]: [f64; 2]| {
        let mut log = "volume,action,from_block,to_block,bytes,duration_s\n".to_owned();
        for (volume, seconds) in [("A", first), ("B", second), ("C", first)] {
            log += &format!(
                "{volume},locate,0,400000,,{seconds}\n{volume},read,400000,400100,30000000,1\n"
            );
        }
        audit_csv(&log, Some("lto8"))
    };
    let model_s = mounts([9.0, 9.0]).sums().as_read.as_secs_f64() / 3.0;
    let found = mounts([model_s / 0.8, 4.0 * model_s]);
    let text = report::text(&found, false);
    let said = "the median is 0.80, and 0.25 is furthest from 1";
    assert!(text.replace('\n', " ").contains(said), "{text}");
    let priced = &found.to_json()["priced"];
    let near = |key: &str, ratio: f64| (priced[key].as_f64().unwrap() - ratio).abs() < 1e-4;
    assert!(near("model_to_measured_median_mount", 0.8), "{priced}");
    assert!(near("model_to_measured_worst_mount", 0.25), "{priced}");
    assert!(near("model_to_measured", 3.0 / 6.5), "{priced}");
}

#[test]
fn the_picture_has_a_bar_for_every_volume_and_every_order() {
    let log = "volume,user,action,from_block,to_block,bytes,duration_s\n\
               A00001,ann,locate,0,400000,,50\nA00001,ann,read,400000,400100,30000000,1\n\
               A00002,bob,mount,,,,20\nA00002,bob,write,,,,900\n";
    let report = audit_csv(log, Some("lto8"));
    let svg = picture(&report, By::Volume).unwrap();
    for words in [
        "A00001",
        "A00002",
        "by volume",
        "minutes",
        "write, filemarks",
        "as read, measured",
        "sorted by block",
    ] {
        assert!(svg.contains(words), "{words}");
    }
    assert!(
        !svg.contains("failed"),
        "what there is none of has no colour"
    );
    assert!(picture(&report, By::User).unwrap().contains("bob"));
    let nothing = audit_csv("action,duration_s\nlocate,0\n", None);
    assert!(picture(&nothing, By::Volume).is_err());
}

/// From the beginning of the first event to the end of the last.
fn span(events: &[Event]) -> Micros {
    let end = events.last().map(|last| last.at_us + last.took_us);
    end.unwrap_or(Micros::ZERO) - events[0].at_us
}

#[test]
fn hours_add_up_to_the_events_whichever_way_they_are_divided() {
    const ACTIONS: [Action; 11] = [
        Action::Fetch,
        Action::Return,
        Action::Mount,
        Action::Unmount,
        Action::Locate,
        Action::ReadThrough,
        Action::Read,
        Action::Write,
        Action::WriteFilemarks,
        Action::Rewind,
        Action::Pause,
    ];
    for seed in 0..50 {
        let mut random = Random::new(seed, 0);
        let mut ledger = Ledger::default();
        let mut whole = Micros::ZERO;
        for _ in 0..random.below(300) {
            let took = Micros(random.below(90_000_000) as i64);
            let idle = Micros(random.below(9_000_000) as i64);
            let mut name = |kind: &str| match random.below(4) {
                0 => None,
                number => Some(format!("{kind}{number}")),
            };
            let mut event = Event {
                device: name("D"),
                cartridge: name("V"),
                user: name("U"),
                ..Event::new(Action::Read, Micros::ZERO, took)
            };
            event.action = ACTIONS[random.below(ACTIONS.len() as u64) as usize];
            if random.below(10) == 0 {
                event.outcome = Outcome::Failed;
            }
            ledger.add(&event, idle);
            whole += took + idle;
        }
        assert_eq!(ledger.all.total(), whole);
        for way in [&ledger.drives, &ledger.volumes, &ledger.users] {
            for spent in Spent::ALL {
                let sum: Micros = way.values().map(|hours| hours.on(spent)).sum();
                assert_eq!(sum, ledger.all.on(spent), "seed {seed}, {}", spent.name());
            }
        }
    }
}

fn audit_csv(text: &str, profile: Option<&str>) -> Findings {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.csv");
    std::fs::write(&path, text).unwrap();
    let args = Audit {
        profile: profile.map(str::to_owned),
        ..options(&[path])
    };
    audit(&args).unwrap()
}

#[test]
fn drives_whose_rows_alternate_are_told_apart_and_idle_time_is_found() {
    let report = audit_csv(
        "time_s,drive,volume,user,action,from_block,to_block,bytes,duration_s\n\
         0,D1,A,ann,mount,,,,20\n\
         0,D2,B,bob,mount,,,,30\n\
         25,D1,A,ann,locate,0,400000,,50\n\
         30,D2,B,bob,read,0,100,30000000,2\n\
         75,D1,A,ann,read,400000,400100,30000000,1\n\
         80,D1,A,cat,locate,400100,100,,60\n\
         140,D1,A,cat,read,100,200,30000000,1\n\
         141,D1,A,,unmount,,,,40\n",
        Some("lto8"),
    );
    let json = report.to_json();
    let micros = |at: &str| json.pointer(at).and_then(|value| value.as_i64());
    assert_eq!(micros("/hours/total_us"), Some(213_000_000));
    // 5 s before the first locate, 4 s before the second.
    assert_eq!(micros("/hours/idle_us"), Some(9_000_000));
    assert_eq!(micros("/drives/0/hours/total_us"), Some(181_000_000));
    assert_eq!(json["drives"][0]["name"], "D1");
    let users: BTreeMap<_, _> = json["users"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["name"].as_str().unwrap(),
                row["hours"]["total_us"].as_i64(),
            )
        })
        .collect();
    assert_eq!(users["cat"], Some(65_000_000));
    assert_eq!(users["(unknown)"], Some(40_000_000));
    // Two mounts that read: 400000 and back is longer than on the way.
    let sums = report.sums();
    assert_eq!((sums.mounts, sums.reads), (2, 3));
    assert_eq!(sums.locating, Micros(110_000_000));
    assert_eq!(sums.reading, Micros(4_000_000));
    assert!(sums.orders[3].unwrap() < sums.as_read, "{sums:?}");
}

/// Times that are rounded overlap by very little, and rows in another order than the clock's by much.
#[test]
fn overlaps_are_told_with_how_much_they_are() {
    let report = audit_csv(
        "time_s,drive,volume,action,from_block,to_block,bytes,duration_s\n\
         0,D1,A,mount,,,,20\n\
         19.98,D1,A,read,0,100,30000000,2\n\
         20,D1,A,read,100,200,30000000,1\n",
        None,
    );
    let notices = report.to_json()["notices"].to_string();
    // 0.02 s, and the whole second of the last read.
    assert!(
        notices.contains("same drive: 2, by 1.0 s in all"),
        "{notices}"
    );
}

#[test]
fn a_block_read_twice_is_priced_twice_as_it_was_read() {
    let head = "volume,action,from_block,to_block,bytes,duration_s\n";
    let far = "A,locate,100,4000000,,50\nA,read,4000000,4000100,30000000,1\n";
    let back = "A,locate,4000100,0,,50\nA,read,0,100,30000000,1\n";
    let once = audit_csv(
        &format!("{head}A,read,0,100,30000000,1\n{far}"),
        Some("lto8"),
    );
    let twice = audit_csv(
        &format!("{head}A,read,0,100,30000000,1\n{far}{back}"),
        Some("lto8"),
    );
    let (once, twice) = (once.sums(), twice.sums());
    assert_eq!((once.reads, twice.reads), (2, 3));
    assert!(twice.as_read > once.as_read, "{twice:?}");
    assert_eq!(twice.orders[0], once.orders[0], "sorted, it is read once");
}

#[test]
fn what_cannot_be_priced_is_said() {
    let head = "volume,action,from_block,to_block,bytes,duration_s\n";
    let read = "A,read,0,100,30000000,1\n";
    let said = |text: &str, profile, reason: &str| {
        let report = audit_csv(&format!("{head}{text}"), profile);
        let text = report::text(&report, false);
        assert!(text.contains("left out"), "{text}");
        assert!(text.contains(reason), "{text}");
        assert_eq!(report.sums().mounts, 0);
    };
    said(read, None, "give --profile");
    said("A,read,,,30000000,1\n", Some("lto8"), "which blocks");
    said(&format!("A,write,,,1,1\n{read}"), Some("lto8"), "wrote too");
    said("A,rewind,,,,5\n", Some("lto8"), "no mount of the log read");
    said(
        "A,read,90000000000,90000000100,30000000,1\n",
        Some("lto8"),
        "1 mount: request 1 of the mount",
    );
}

#[test]
fn the_log_of_cta_is_divided_by_drive_and_volume_and_priced() {
    let mut text = String::new();
    for (number, (volume, seq, block, position)) in [
        ("V1", 500, 2_000_000, 40.0),
        ("V1", 1, 0, 35.5),
        ("V1", 501, 2_100_000, 41.5),
        ("V2", 9, 90_000, 20.0),
    ]
    .into_iter()
    .enumerate()
    {
        let mount = if volume == "V1" { 7 } else { 8 };
        text.push_str(&format!(
            "Aug 24 15:14:1{number} srv cta-taped: LVL=\"INFO\" MSG=\"File successfully read from tape\" \
             tapeVid=\"{volume}\" BlockId=\"{block}\" fSeq=\"{seq}\" dataVolume=\"2000000000\" \
             positionTime=\"{position}\" readWriteTime=\"6\" tapeDrive=\"D1\" mountId=\"{mount}\"\n"
        ));
    }
    let report = audit_csv(&text, Some("lto8"));
    let json = report.to_json();
    let micros = |at: &str| json.pointer(at).and_then(|value| value.as_i64());
    assert_eq!(micros("/hours/locate_us"), Some(137_000_000));
    assert_eq!(micros("/hours/read_us"), Some(24_000_000));
    assert_eq!(micros("/hours/idle_us"), Some(0));
    assert_eq!(json["drives"][0]["name"], "D1");
    assert_eq!(json["volumes"][0]["name"], "V1");
    let sums = report.sums();
    assert_eq!((sums.mounts, sums.reads), (2, 4));
    assert!(sums.orders[3].unwrap() < sums.as_read, "{sums:?}");
    assert!(
        report
            .notices
            .iter()
            .any(|said| said.contains("tapewise cannot tell"))
    );
}

#[test]
fn a_rewind_counts_behind_the_last_read_and_between_reads_but_not_before() {
    let head = "volume,action,from_block,to_block,bytes,duration_s\n";
    let read = "A,locate,0,400000,,50\nA,read,400000,400100,30000000,1\n";
    let rewind = "A,rewind,,0,,7\n";
    let moving = |text: String| audit_csv(&(head.to_owned() + &text), Some("lto8")).sums();
    let plain = moving(read.to_owned());
    let before = moving(format!("{rewind}{read}"));
    let behind = moving(format!("{read}{rewind}"));
    let between = moving(format!("{read}{rewind}{read}"));
    assert_eq!(plain.locating, Micros(50_000_000));
    assert_eq!(before.locating, plain.locating);
    assert_eq!(behind.locating, Micros(57_000_000));
    assert_eq!(between.locating, Micros(107_000_000));
    assert!(behind.as_read > plain.as_read);
}
