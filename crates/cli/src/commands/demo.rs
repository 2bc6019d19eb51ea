//! `tapewise demo`: the main job, without hardware.

mod archive;
mod program;

use self::archive::{BLOCK_BYTES, Clip, SCALE, clips, two_lists};
use self::program::{Word, line_of, tapewise, tapewise_killed};
use crate::commands::emulate::ltfs::{self, Entry, EntryKind, Files};
use crate::commands::fit;
use crate::error::{CliError, Exit};
use crate::placement::{cartridge, load_map};
use crate::search::SearchArgs;
use crate::{explain, output, plot, quantity, units};
use serde_json::Value;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tapewise::{Batch, Found, Placed, Placement};
use tapewise_emulator::{CartridgeSpec, Clock, Library, LibrarySpec};
use tapewise_formats::csv_out::write_csv;
use tapewise_formats::event::{Action, Event};
use tapewise_formats::event_log::read_events;
use tapewise_formats::map_file::MapFile;
use tapewise_model::{Micros, Wear};
use tapewise_order::Algorithm;
use tapewise_plot::Table;
use tapewise_run::Odometer;

/// Show the main job without hardware: write, recall three ways, recover from a crash.
///
/// The demo makes an LTFS volume with a made-up camera archive on an emulated LTO-8 cartridge. It runs
/// `tapewise recall` on 200 random clips in the order of the list, sorted by block and in tapewise's
/// order, compares every byte, kills a recall and continues it, and draws the head's path. Tape times
/// are those of the emulated drive, not of your machine.
#[derive(clap::Args, Debug)]
pub struct Demo {
    /// Another seed makes up another archive, another cartridge and another list.
    #[arg(long, default_value_t = 1, value_parser = quantity::count::<u64>)]
    seed: u64,
    /// Where cartridge, files, log and picture go; what an earlier demo left there is replaced.
    #[arg(long, value_name = "DIR", default_value = "demo")]
    into: PathBuf,
}

const VOLUME: &str = "DEMO01L8";
const DRIVE: &str = "lto8";
const WANTED: usize = 200;

/// Clips after which the power fails in the fifth step.
const POWER_CUT_AFTER: usize = 117;

/// When the volume was made: 2026-01-01, whatever the day, so that the same seed gives the same tape.
const MADE_NS: i64 = 1_767_225_600_000_000_000;

// What a demo leaves in its directory.
const TAPE: &str = "tape";
const MAP: &str = "DEMO01L8.map";
const REQUESTS: &str = "requests.csv";
const LIST: &str = "clips.txt";
const OTHER_LIST: &str = "other-clips.txt";
const SUMS: &str = "clips.xxh64";
const RECALLED: &str = "recalled";
const AFTER_CRASH: &str = "after-crash";
const LOG: &str = "events.jsonl";
const FITTED: &str = "lto8-fitted.toml";
const PICTURE: &str = "head-path.svg";
const OURS: [&str; 11] = [
    TAPE,
    MAP,
    REQUESTS,
    LIST,
    OTHER_LIST,
    SUMS,
    RECALLED,
    AFTER_CRASH,
    LOG,
    FITTED,
    PICTURE,
];

/// Runs the verb.
pub fn run(args: &Demo) -> Result<ExitCode, CliError> {
    let demo = World::new(args);
    let begin = Instant::now();
    line(format_args!(
        "tapewise {} demo, seed {}. No hardware is touched: an emulated LTO-8 drive and one cartridge in {}/\n\
         Reads from tape take as long as the tape has to move, and its track runs to and fro, so the order decides.\n\
         Tape times are the emulated drive's, not your machine's. No real drive has confirmed them yet.",
        env!("CARGO_PKG_VERSION"),
        args.seed,
        args.into.display()
    ))?;
    demo.write()?;
    demo.look()?;
    let [list, other] = two_lists(&demo.clips, WANTED, args.seed);
    demo.write_lists(&list, &other)?;
    let batch = demo.wanted(&list, DRIVE)?;
    let recalls = demo.recall_three_ways(&list, &batch)?;
    demo.learn(&other)?;
    demo.crash(&list)?;
    demo.finish(&batch, &recalls, begin.elapsed())?;
    Ok(ExitCode::SUCCESS)
}

/// The archive, and the directory that everything is in.
struct World<'a> {
    args: &'a Demo,
    clips: Vec<Clip>,
}

/// What a recall came to.
struct Recalled {
    row: Found,
    clock: Micros,
    locating: Micros,
    reading: Micros,
    wear: Wear,
    verified: usize,
}

impl<'a> World<'a> {
    fn new(args: &'a Demo) -> World<'a> {
        World {
            args,
            clips: clips(args.seed),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.args.into.join(name)
    }

    /// The emulated drive, as commands call it.
    fn device(&self) -> OsString {
        let mut device = OsString::from("emulated:");
        device.push(self.file(TAPE));
        device
    }

    /// [1/5]: makes the volume.
    fn write(&self) -> Result<(), CliError> {
        clear(&self.args.into)?;
        let mut spec = LibrarySpec::one_drive(DRIVE, self.args.seed);
        spec.cartridges = vec![CartridgeSpec {
            barcode: VOLUME.to_owned(),
            kind: DRIVE.to_owned(),
            seed: self.args.seed,
            scale: SCALE,
        }];
        let library = Library::create(&self.file(TAPE), &spec, Clock::virtual_time())?;
        ltfs::write(&self.source(), VOLUME, library.recorder(VOLUME)?)?;
        library.load_cartridge(VOLUME)?;
        let stored: usize = self.clips.iter().map(|clip| clip.stored_bytes).sum();
        line(format_args!(
            "[1/5] write   {} made-up camera clips, 0.5-9 GB each, {}, on an LTFS volume\n\
             {:14}(contents from a seed; each byte on your disk, {} in all, stands for {SCALE} on the tape)",
            self.clips.len(),
            units::bytes(stored as u64 * SCALE),
            "",
            units::bytes(stored as u64),
        ))
    }

    /// The clips as files of a volume.
    fn source(&self) -> ltfs::Source {
        let entries = self.clips.iter().map(|clip| Entry {
            path: clip.name.clone(),
            kind: EntryKind::File,
            modified_ns: Some(MADE_NS),
            readonly: false,
        });
        let entries = entries.collect();
        let by_name = self
            .clips
            .iter()
            .map(|clip| (clip.name.clone(), clip.clone()));
        let by_name: HashMap<String, Clip> = by_name.collect();
        ltfs::Source::Files(Files {
            entries,
            open: Box::new(move |path| {
                let clip = by_name.get(path).ok_or(io::ErrorKind::NotFound)?;
                Ok(Box::new(Cursor::new(clip.contents())))
            }),
            root: PathBuf::new(),
            block_bytes: BLOCK_BYTES,
            time_ns: MADE_NS,
        })
    }

    /// [2/5]: maps the cartridge.
    fn look(&self) -> Result<(), CliError> {
        let (device, map) = (self.device(), self.file(MAP));
        tapewise(&[&"drive", &"map", &device, &"-o", &map])?;
        let MapFile::EndOfWrap(table) = load_map(&map)? else {
            return Err(CliError::failed(
                "the emulated LTO-8 has no table of wrap ends",
            ));
        };
        line(format_args!(
            "[2/5] look    end-of-wrap table read from the drive: {}, exact; profile {DRIVE} (estimate)",
            units::count(table.len(), "wrap")
        ))
    }

    /// Puts the names of the clips and their checksums into files, and the first list as requests, too.
    fn write_lists(&self, list: &[&Clip], other: &[&Clip]) -> Result<(), CliError> {
        let names = |list: &[&Clip]| list.iter().map(|clip| format!("{}\n", clip.name)).collect();
        self.put(LIST, names(list))?;
        self.put(OTHER_LIST, names(other))?;
        let both = list.iter().chain(other);
        self.put(SUMS, both.map(|clip| clip.sum()).collect())?;
        let requests: Vec<_> = list.iter().map(|clip| clip.request(VOLUME)).collect();
        output::write(Some(&self.file(REQUESTS)), |mut out| {
            write_csv(&mut out, &requests).map_err(CliError::failed)
        })
    }

    fn put(&self, name: &str, text: String) -> Result<(), CliError> {
        output::write(Some(&self.file(name)), |out| {
            out.write_all(text.as_bytes()).map_err(CliError::failed)
        })
    }

    /// Clips placed by the map of the cartridge, with the times of a profile.
    fn wanted(&self, list: &[&Clip], profile: &str) -> Result<Placed, CliError> {
        let batch = Batch {
            requests: list.iter().map(|clip| clip.request(VOLUME)).collect(),
            block_size: Some(BLOCK_BYTES * SCALE),
            is_ltfs: true,
            recognised: format!("{WANTED} clips, listed in no order"),
            notices: Vec::new(),
        };
        let cartridge = cartridge(profile, Some(&self.file(MAP)))?;
        Ok(cartridge.place(batch, &Placement::default())?)
    }

    /// [3/5]: recalls the list three times.
    fn recall_three_ways(&self, list: &[&Clip], batch: &Placed) -> Result<Vec<Recalled>, CliError> {
        let bytes = list.iter().map(|clip| clip.stored_bytes as u64 * SCALE);
        line(format_args!(
            "[3/5] recall  the same {WANTED} random clips ({}) three times, every byte compared (xxh64)",
            units::bytes(bytes.sum())
        ))?;
        let orders = [Algorithm::Fifo, Algorithm::Sort, Algorithm::Best];
        let recalls = orders.map(|algorithm| self.recall(LIST, DRIVE, batch, algorithm));
        let recalls = recalls
            .into_iter()
            .collect::<Result<Vec<Recalled>, CliError>>()?;
        let table = table_of(batch, &recalls).to_string();
        line(format_args!("{}", table.trim_end()))?;
        Ok(recalls)
    }

    /// [4/5]: fits the drive's times to what it just did, and recalls other clips with them.
    fn learn(&self, other: &[&Clip]) -> Result<(), CliError> {
        let profile = self.file(FITTED);
        let fitted = fit::fit(&[self.file(LOG)], DRIVE, Some(&profile))?;
        let chosen = fitted.comparison.choice();
        line(format_args!(
            "[4/5] learn   profile fitted to the {} locates of these recalls: {}, half of the predictions within {:.1} s",
            fitted.records.samples.len(),
            chosen.candidate.name(),
            chosen.overall.median_s
        ))?;
        let mut table = Table::new(
            "",
            &[
                "      200 other clips",
                "predicted",
                "tape clock",
                "verified",
            ],
        );
        let path = profile.display().to_string();
        for (name, profile) in [("times as published", DRIVE), ("times as fitted", &path)] {
            let batch = self.wanted(other, profile)?;
            let recall = self.recall(OTHER_LIST, profile, &batch, Algorithm::Best)?;
            table.row([
                format!("      {name}"),
                recall.row.total().to_string(),
                recall.clock.to_string(),
                format!("{}/{WANTED}", recall.verified),
            ]);
        }
        line(format_args!("{}", table.to_string().trim_end()))
    }

    /// Recalls a list with the verb, and reads in the log what the drive did.
    fn recall(
        &self,
        list: &str,
        profile: &str,
        batch: &Placed,
        algorithm: Algorithm,
    ) -> Result<Recalled, CliError> {
        let effort = SearchArgs::with_seed(self.args.seed).effort();
        let row = batch.order(algorithm, &effort)?;
        let (to, log) = (self.file(RECALLED), self.file(LOG));
        if to.exists() {
            fs::remove_dir_all(&to).map_err(CliError::failed)?;
        }
        let name = algorithm.name();
        let order: [Word<'_>; 4] = [&"--algorithm", &name, &"--events", &log];
        let report = self.recall_verb(list, profile, &to, &order)?;
        let events = self.last_events()?;
        let mut odometer = Odometer::new(&batch.problem.tape().geometry, batch.map.as_ref());
        events.iter().for_each(|event| odometer.add(event));
        let sum = |actions: &[Action]| {
            let events = events
                .iter()
                .filter(|event| actions.contains(&event.action));
            events.map(|event| event.took_us).sum::<Micros>()
        };
        Ok(Recalled {
            row,
            clock: Micros::from_secs_f64(report["took_s"].as_f64().unwrap_or_default()),
            locating: sum(&[Action::Locate, Action::ReadThrough]),
            reading: sum(&[Action::Read]),
            wear: odometer.wear,
            verified: delivered(&report, |file| file["verified"] == true),
        })
    }

    /// Runs `tapewise recall`; its JSON report.
    fn recall_verb(
        &self,
        list: &str,
        profile: &str,
        to: &Path,
        more: &[Word<'_>],
    ) -> Result<Value, CliError> {
        let (device, list, sums) = (self.device(), self.file(list), self.file(SUMS));
        let mut words: Vec<Word<'_>> = vec![&"recall", &"--ltfs", &device, &"--profile", &profile];
        words.extend([
            &"--files-from" as Word<'_>,
            &list,
            &"--sums",
            &sums,
            &"--to",
            &to,
        ]);
        words.extend([&"--no-mhl" as Word<'_>, &"--quiet", &"--json"]);
        words.extend(more);
        let report = tapewise(&words)?;
        serde_json::from_str(&report).map_err(CliError::failed)
    }

    /// What the drive did in the last recall.
    fn last_events(&self) -> Result<Vec<Event>, CliError> {
        let log = File::open(self.file(LOG)).map_err(CliError::failed)?;
        let log = read_events(BufReader::new(log)).map_err(CliError::failed)?;
        let last = log.sessions.into_iter().next_back();
        Ok(last.map(|session| session.events).unwrap_or_default())
    }

    /// [5/5]: kills a recall, and takes it up.
    fn crash(&self, list: &[&Clip]) -> Result<(), CliError> {
        let (device, to) = (self.device(), self.file(AFTER_CRASH));
        let (names, count) = (self.file(LIST), POWER_CUT_AFTER.to_string());
        tapewise_killed(&[
            &"recall",
            &"--ltfs",
            &device,
            &"--files-from",
            &names,
            &"--to",
            &to,
            &"--power-cut-after",
            &count,
        ])?;
        let report = self.recall_verb(LIST, DRIVE, &to, &[])?;
        let before = delivered(&report, |file| file["there_before"] == true);
        let read = delivered(&report, |file| file["there_before"] == false);
        let whole = list.iter().filter(|clip| is_whole(&to, clip)).count();
        if whole != WANTED {
            let text = format!("{whole} of {WANTED} clips are there after the crash");
            return Err(CliError::with(Exit::Checksum, text));
        }
        line(format_args!(
            "[5/5] crash   killed in the middle of clip {}, taken up again: {before} were there, {read} more read,\n\
             {:14}{whole} delivered, none twice, none missing",
            POWER_CUT_AFTER + 1,
            ""
        ))
    }

    fn finish(&self, batch: &Placed, recalls: &[Recalled], took: Duration) -> Result<(), CliError> {
        let search = SearchArgs::with_seed(self.args.seed);
        let [_, sorted, ours] = recalls else {
            return Err(CliError::failed("three recalls"));
        };
        let saved = sorted.clock - ours.clock;
        let share = 100.0 * saved.as_secs_f64() / sorted.clock.as_secs_f64();
        line(format_args!(
            "Saved {saved} of {} against sorted order ({share:.0} %), on the tape's clock.\n\
             Under this profile: {}.",
            sorted.clock,
            explain::verdict(&ours.row, ours.row.bound, &search)
        ))?;
        let other = plot::other(batch, &ours.row, &search)?;
        self.put(PICTURE, plot::side_by_side(batch, [&other, &ours.row]))?;
        let (device, list, sums) = (self.device(), self.file(LIST), self.file(SUMS));
        line(format_args!(
            "picture of both plans, as predicted: {}\nevery move {}   again: tapewise demo --seed {}   ({:.0} s of your time)\n\
             The plan by hand: tapewise order --profile {DRIVE} --map {} --block-size {} --explain {}\n\
             The recall by hand: {}\n\
             Your own tape, no drive needed: tapewise order --ltfs-index TAPE.xml --profile lto6 --files-from clips.txt --explain",
            self.file(PICTURE).display(),
            self.file(LOG).display(),
            self.args.seed + 1,
            took.as_secs_f64(),
            self.file(MAP).display(),
            BLOCK_BYTES * SCALE,
            self.file(REQUESTS).display(),
            line_of(&[
                &"recall",
                &"--ltfs",
                &device,
                &"--files-from",
                &list,
                &"--sums",
                &sums,
                &"--to",
                &"back"
            ])
        ))
    }
}

fn table_of(placed: &Placed, recalls: &[Recalled]) -> Table {
    let columns = [
        "      order",
        "predicted",
        "tape clock",
        "locating",
        "reading",
        "moved",
        "verified",
    ];
    let mut table = Table::new("", &columns);
    let geometry = &placed.problem.tape().geometry;
    for recall in recalls {
        table.row([
            format!("      {}", recall.row.origin.title()),
            recall.row.total().to_string(),
            recall.clock.to_string(),
            recall.locating.to_string(),
            recall.reading.to_string(),
            units::tape_moved(recall.wear.distance_lpos, geometry),
            format!("{}/{WANTED}", recall.verified),
        ]);
    }
    table
}

/// Files of a recall's report that are so.
fn delivered(report: &Value, is_so: impl Fn(&Value) -> bool) -> usize {
    let files = report["delivered"].as_array().into_iter().flatten();
    files.filter(|file| is_so(file)).count()
}

fn is_whole(directory: &Path, clip: &Clip) -> bool {
    fs::read(directory.join(&clip.name)).is_ok_and(|content| content == clip.contents())
}

/// Removes what an earlier demo left, and nothing else: a directory with other things is refused.
fn clear(directory: &Path) -> Result<(), CliError> {
    let bad = |e: std::io::Error| CliError::failed(format!("{}: {e}", directory.display()));
    std::fs::create_dir_all(directory).map_err(bad)?;
    for entry in std::fs::read_dir(directory).map_err(bad)? {
        let entry = entry.map_err(bad)?;
        let name = entry.file_name();
        if !OURS.iter().any(|ours| name == *ours) {
            return Err(CliError::with(
                Exit::Refused,
                format!(
                    "{}: {} is not of a demo",
                    directory.display(),
                    name.display()
                ),
            )
            .hint("give another directory with --into"));
        }
        let path = entry.path();
        if path.is_dir() {
            std::fs::remove_dir_all(&path).map_err(bad)?
        } else {
            std::fs::remove_file(&path).map_err(bad)?
        }
    }
    Ok(())
}

fn line(text: std::fmt::Arguments) -> Result<(), CliError> {
    output::print(&format!("{text}\n"))
}
