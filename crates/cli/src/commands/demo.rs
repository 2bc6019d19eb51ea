//! `tapewise demo`: the main job, without hardware.

mod archive;
mod recall;

use self::archive::{BLOCK_BYTES, Clip, SCALE, clips, two_lists};
use self::recall::{PowerCut, Recall, Replace};
use crate::commands::fit;
use crate::error::{CliError, Exit};
use crate::placement::cartridge;
use crate::search::SearchArgs;
use crate::{explain, output, plot, units};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tapewise::{Batch, Found, Placed, Placement};
use tapewise_archive::read::MappedTape;
use tapewise_archive::record::VolumeFormat;
use tapewise_emulator::{CartridgeSpec, Clock, Library, LibraryError, LibrarySpec};
use tapewise_formats::csv_out::write_csv;
use tapewise_formats::event::{Action, Event};
use tapewise_formats::event_log::{Device, EventWriter, Header};
use tapewise_formats::map_file::{MapFile, write_map};
use tapewise_model::{Micros, Wear};
use tapewise_order::Algorithm;
use tapewise_plot::Table;
use tapewise_run::{Log, Odometer, Recorder};
use tapewise_scsi::TapeDrive;

/// Show the main job without hardware: write, recall three ways, compare, carry on after a crash.
///
/// Writes a made-up camera archive to an emulated LTO-8 cartridge, recalls 200 random clips in the
/// order of the list, sorted by block and in tapewise's order, compares every byte, and draws the
/// head's path. Times of the tape are the emulator's own clock.
#[derive(clap::Args, Debug)]
pub struct Demo {
    /// Another seed makes up another archive, another cartridge and another list.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where cartridge, files, log and picture go; what an earlier demo left there is replaced.
    #[arg(long, value_name = "DIR", default_value = "demo")]
    into: PathBuf,
    /// For the fourth step, by the program itself: recall, and end as if power failed.
    #[arg(long, hide = true, value_name = "CLIPS")]
    power_cut_after: Option<usize>,
}

const VOLUME: &str = "DEMO01L8";
const DRIVE: &str = "lto8";
const WANTED: usize = 200;

/// Clips after which the power fails in the fourth step.
const POWER_CUT_AFTER: usize = 117;

/// How long an emulated drive may take to load.
const LOAD_LIMIT: Duration = Duration::from_secs(600);

/// Runs the verb.
pub fn run(args: &Demo) -> Result<ExitCode, CliError> {
    let demo = World::new(args);
    if let Some(count) = args.power_cut_after {
        demo.recall_until_power_fails(count)?;
        return Ok(ExitCode::SUCCESS);
    }
    let begin = Instant::now();
    line(format_args!(
        "tapewise {} demo, seed {}. No hardware is touched: an emulated LTO-8 drive and one cartridge in {}/\n\
         Reads from tape take as long as the tape has to move, and its track runs to and fro, so the order decides.\n\
         Tape times are the emulator's own clock, not yours. No real drive has confirmed them yet.",
        env!("CARGO_PKG_VERSION"),
        args.seed,
        args.into.display()
    ))?;
    demo.write()?;
    demo.look()?;
    let batch = demo.batch()?;
    let recalls = demo.recall_three_ways(&batch)?;
    demo.learn()?;
    demo.crash(&batch)?;
    demo.finish(&batch, &recalls, begin.elapsed())?;
    Ok(ExitCode::SUCCESS)
}

/// The archive, and the directory that everything is in.
struct World<'a> {
    args: &'a Demo,
    clips: Vec<Clip>,
}

/// Clips that are wanted, placed on the tape.
struct Wanted<'a> {
    placed: Placed,
    /// In the order of the list.
    clips: Vec<&'a Clip>,
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

    /// The clips of the list, in its order.
    fn list(&self) -> Vec<&Clip> {
        let [list, _] = two_lists(&self.clips, WANTED, self.args.seed);
        list
    }

    /// [1/5]: writes the archive.
    fn write(&self) -> Result<(), CliError> {
        let tape = self.file("tape");
        clear(&self.args.into)?;
        let mut spec = LibrarySpec::one_drive(DRIVE, self.args.seed);
        spec.cartridges = vec![CartridgeSpec {
            barcode: VOLUME.to_owned(),
            kind: DRIVE.to_owned(),
            seed: self.args.seed,
            scale: SCALE,
        }];
        let library = Library::create(&tape, &spec, Clock::virtual_time())?;
        library.load_cartridge(VOLUME)?;
        let mut drive = TapeDrive::open(Box::new(library.transport_to_drive(0)?))?;
        drive.wait_until_ready(LOAD_LIMIT)?;
        let began = drive.now();
        for clip in &self.clips {
            for block in clip.contents().chunks(BLOCK_BYTES) {
                drive.write(block)?;
            }
            if clip.ends_card() {
                drive.write_filemarks(1, true)?;
            }
        }
        drive.write_filemarks(1, false)?;
        let took = Micros::from_secs_f64((drive.now() - began).as_secs_f64());
        let stored: usize = self.clips.iter().map(|clip| clip.stored_bytes).sum();
        drive.unload()?;
        line(format_args!(
            "[1/5] write   {} made-up camera clips, 0.5-9 GB each, {}, in {took} of tape time\n\
             {:14}(contents from a seed; each byte on your disk, {} in all, stands for {SCALE} on the tape)",
            self.clips.len(),
            units::bytes(stored as u64 * SCALE),
            "",
            units::bytes(stored as u64),
        ))
    }

    /// A drive with the cartridge loaded and rewound.
    fn drive(&self) -> Result<TapeDrive, CliError> {
        let library = Library::open(&self.file("tape"), Clock::virtual_time())?;
        match library.load_cartridge(VOLUME) {
            // After a power cut the cartridge still is in the drive.
            Ok(()) | Err(LibraryError::Refused { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let mut drive = TapeDrive::open(Box::new(library.transport_to_drive(0)?))?;
        drive.wait_until_loaded(LOAD_LIMIT)?;
        drive.rewind()?;
        Ok(drive)
    }

    fn header(&self, drive: &TapeDrive) -> Header {
        let identity = drive.identity();
        Header {
            seed: Some(self.args.seed),
            device: Some(Device {
                vendor: identity.vendor.clone(),
                product: identity.product.clone(),
                revision: identity.revision.clone(),
                serial: identity.serial.clone(),
            }),
            cartridge: Some(VOLUME.to_owned()),
            profile: Some(DRIVE.to_owned()),
            emulated: true,
            byte_scale: Some(SCALE),
            ..Header::new(concat!("tapewise ", env!("CARGO_PKG_VERSION")))
        }
    }

    /// [2/5]: maps the cartridge.
    fn look(&self) -> Result<(), CliError> {
        let mut drive = self.drive()?;
        let table = tapewise_run::wrap_ends(&mut drive)?
            .ok_or_else(|| CliError::failed("the emulated LTO-8 has no table of wrap ends"))?;
        line(format_args!(
            "[2/5] look    end-of-wrap table read from the drive: {}, exact; profile {DRIVE} (estimate)",
            units::count(table.len(), "wrap")
        ))?;
        drive.unload()?;
        let map = MapFile::EndOfWrap(table);
        output::write(Some(&self.map()), |mut out| {
            write_map(&mut out, &map).map_err(CliError::failed)
        })?;
        let requests: Vec<_> = self
            .list()
            .iter()
            .map(|clip| clip.request(VOLUME))
            .collect();
        output::write(Some(&self.file("requests.csv")), |mut out| {
            write_csv(&mut out, &requests).map_err(CliError::failed)
        })
    }

    fn map(&self) -> PathBuf {
        self.file("DEMO01L8.map")
    }

    /// The list, placed by the map of the cartridge with the times of the published profile.
    fn batch(&self) -> Result<Wanted<'_>, CliError> {
        self.wanted(self.list(), DRIVE)
    }

    fn wanted<'b>(&'b self, list: Vec<&'b Clip>, profile: &str) -> Result<Wanted<'b>, CliError> {
        let batch = Batch {
            requests: list.iter().map(|clip| clip.request(VOLUME)).collect(),
            block_size: Some(BLOCK_BYTES as u64 * SCALE),
            is_ltfs: false,
            recognised: format!("{WANTED} clips, listed in no order"),
            notices: Vec::new(),
        };
        let cartridge = cartridge(profile, Some(&self.map()))?;
        let placed = cartridge.place(batch, &Placement::default())?;
        Ok(Wanted {
            clips: list,
            placed,
        })
    }

    fn order(&self, batch: &Wanted, algorithm: Algorithm) -> Result<Found, CliError> {
        let effort = SearchArgs::with_seed(self.args.seed).effort();
        Ok(batch.placed.order(algorithm, &effort)?)
    }

    /// [3/5]: recalls the list three times.
    fn recall_three_ways(&self, batch: &Wanted) -> Result<Vec<Recalled>, CliError> {
        let bytes = batch
            .clips
            .iter()
            .map(|clip| clip.stored_bytes as u64 * SCALE);
        line(format_args!(
            "[3/5] recall  the same {WANTED} random clips ({}) three times, every byte compared (xxh64)",
            units::bytes(bytes.sum())
        ))?;
        let log = File::create(self.log()).map_err(CliError::failed)?;
        let mut log = BufWriter::new(log);
        let orders = [Algorithm::Fifo, Algorithm::Sort, Algorithm::Best];
        let recalls = orders.map(|algorithm| self.recall(batch, algorithm, &mut log));
        let recalls = recalls
            .into_iter()
            .collect::<Result<Vec<Recalled>, CliError>>()?;
        let table = self.table(&batch.placed, &recalls).to_string();
        line(format_args!("{}", table.trim_end()))?;
        Ok(recalls)
    }

    /// [4/5]: fits the drive's times to what it just did, and recalls other clips with them.
    fn learn(&self) -> Result<(), CliError> {
        let profile = self.file("lto8-fitted.toml");
        let fitted = fit::fit(&[self.log()], DRIVE, Some(&profile))?;
        let chosen = fitted.comparison.choice();
        line(format_args!(
            "[4/5] learn   profile fitted to the {} locates of these recalls: {}, half of the predictions within {:.1} s",
            fitted.records.samples.len(),
            chosen.candidate.name(),
            chosen.overall.median_s
        ))?;
        let [_, other] = two_lists(&self.clips, WANTED, self.args.seed);
        let log = std::fs::OpenOptions::new().append(true).open(self.log());
        let mut log = BufWriter::new(log.map_err(CliError::failed)?);
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
            let batch = self.wanted(other.clone(), profile)?;
            let recall = self.recall(&batch, Algorithm::Best, &mut log)?;
            table.row([
                format!("      {name}"),
                recall.row.total().to_string(),
                recall.clock.to_string(),
                format!("{}/{WANTED}", recall.verified),
            ]);
        }
        line(format_args!("{}", table.to_string().trim_end()))
    }

    fn log(&self) -> PathBuf {
        self.file("events.jsonl")
    }

    fn table(&self, placed: &Placed, recalls: &[Recalled]) -> Table {
        let columns = [
            "      order",
            "predicted",
            "tape clock",
            "locating",
            "reading",
            "tape moved",
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

    fn recall(
        &self,
        batch: &Wanted,
        algorithm: Algorithm,
        log: &mut dyn Write,
    ) -> Result<Recalled, CliError> {
        let Wanted { placed, clips } = batch;
        let row = self.order(batch, algorithm)?;
        let mut drive = self.drive()?;
        let writer = EventWriter::new(log, &self.header(&drive)).map_err(CliError::failed)?;
        let mut log = Kept {
            writer,
            events: Vec::new(),
        };
        let recall = Recall::begin(&self.file("recalled"), clips, Replace::Yes)?;
        let stop = AtomicBool::new(false);
        let mut recorder = Recorder::new(&mut drive, &mut log, &stop);
        recorder.rewind().map_err(CliError::failed)?;
        let began = recorder.clock();
        let cartridge = to_read(placed, algorithm)?;
        let verified = recall.read(&cartridge, &mut recorder, PowerCut::Never)?;
        let clock = recorder.clock() - began;
        drive.unload()?;
        let mut odometer = Odometer::new(&placed.problem.tape().geometry, placed.map.as_ref());
        log.events.iter().for_each(|event| odometer.add(event));
        let sum = |actions: &[Action]| {
            let events = log
                .events
                .iter()
                .filter(|event| actions.contains(&event.action));
            events.map(|event| event.took_us).sum::<Micros>()
        };
        Ok(Recalled {
            row,
            clock,
            locating: sum(&[Action::Locate, Action::ReadThrough]),
            reading: sum(&[Action::Read]),
            wear: odometer.wear,
            verified,
        })
    }

    /// [5/5]: kills a recall, and takes it up.
    fn crash(&self, batch: &Wanted) -> Result<(), CliError> {
        let clips = &batch.clips;
        let program = std::env::current_exe().map_err(CliError::failed)?;
        let killed = Command::new(program)
            .args(["demo", "--seed", &self.args.seed.to_string()])
            .arg("--into")
            .arg(&self.args.into)
            .args(["--power-cut-after", &POWER_CUT_AFTER.to_string()])
            .stderr(Stdio::null())
            .status()
            .map_err(CliError::failed)?;
        if killed.success() {
            return Err(CliError::failed(
                "the recall that was to be killed came to its end",
            ));
        }
        let (before, read) = self.recall_after_crash(batch, PowerCut::Never)?;
        let directory = self.file("after-crash");
        let whole = clips
            .iter()
            .filter(|clip| is_whole(&directory, clip))
            .count();
        if whole != WANTED {
            let text = format!("{whole} of {WANTED} clips are there after the crash");
            return Err(CliError::with(Exit::Checksum, text));
        }
        line(format_args!(
            "[5/5] crash   killed in the middle of clip {}, taken up again: {before} were there, {read} more read,\n\
             {:14}{whole} delivered, none twice, none missing",
            before + 1,
            ""
        ))
    }

    /// Recalls what of the list is not there yet. The number of clips that were there, and of those read.
    fn recall_after_crash(
        &self,
        batch: &Wanted,
        power_cut: PowerCut,
    ) -> Result<(usize, usize), CliError> {
        let recall = Recall::begin(&self.file("after-crash"), &batch.clips, Replace::No)?;
        let cartridge = to_read(&batch.placed, Algorithm::Best)?;
        let mut drive = self.drive()?;
        let mut events: Vec<Event> = Vec::new();
        let stop = AtomicBool::new(false);
        let mut recorder = Recorder::new(&mut drive, &mut events, &stop);
        let read = recall.read(&cartridge, &mut recorder, power_cut)?;
        drive.unload()?;
        Ok((recall.there, read))
    }

    /// The child of [`World::crash`].
    fn recall_until_power_fails(&self, count: usize) -> Result<(), CliError> {
        let batch = self.batch()?;
        self.recall_after_crash(&batch, PowerCut::After(count))
            .map(|_| ())
    }

    fn finish(&self, batch: &Wanted, recalls: &[Recalled], took: Duration) -> Result<(), CliError> {
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
        let svg = plot::beside_sorted(&batch.placed, &ours.row, &search)?;
        let picture = self.file("head-path.svg");
        output::write(Some(&picture), |out| {
            out.write_all(svg.as_bytes()).map_err(CliError::failed)
        })?;
        line(format_args!(
            "picture {}   every move {}   again: tapewise demo --seed {}   ({:.0} s of your time)\n\
             The plan by hand: tapewise order --profile {DRIVE} --map {} --block-size {} --explain {}\n\
             Your own tape, no drive needed: tapewise order --ltfs-index TAPE.xml --profile lto6 --files-from clips.txt --explain",
            picture.display(),
            self.file("events.jsonl").display(),
            self.args.seed + 1,
            took.as_secs_f64(),
            self.map().display(),
            BLOCK_BYTES as u64 * SCALE,
            self.file("requests.csv").display(),
        ))
    }
}

/// The log on disk, with the events of one recall kept.
struct Kept<W: Write> {
    writer: EventWriter<W>,
    events: Vec<Event>,
}

impl<W: Write> Log for Kept<W> {
    fn event(&mut self, event: &Event) -> std::io::Result<()> {
        self.events.push(event.clone());
        self.writer.event(event)
    }
}

/// The cartridge as the reader needs it.
fn to_read(placed: &Placed, algorithm: Algorithm) -> Result<MappedTape, CliError> {
    let map = placed.map.clone();
    Ok(MappedTape {
        tape: placed.problem.tape().clone(),
        map: map.ok_or_else(|| CliError::failed("the clips were placed without a map"))?,
        format: VolumeFormat::Blocks,
        block_bytes: BLOCK_BYTES as u64,
        byte_scale: SCALE,
        algorithm,
    })
}

fn is_whole(directory: &Path, clip: &Clip) -> bool {
    std::fs::read(directory.join(&clip.name)).is_ok_and(|content| content == clip.contents())
}

/// Removes what an earlier demo left, and nothing else: a directory with other things is refused.
fn clear(directory: &Path) -> Result<(), CliError> {
    const OURS: [&str; 8] = [
        "lto8-fitted.toml",
        "tape",
        "recalled",
        "after-crash",
        "events.jsonl",
        "DEMO01L8.map",
        "requests.csv",
        "head-path.svg",
    ];
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
