//! `tapewise mover`: carries out what waits in an archive with the drives that this host reaches, beside other movers.

mod known;
mod outage;
mod status;

use crate::archive::{Archive, Crew};
use crate::error::{CliError, Exit};
use crate::gather::{LOOK, gather};
use crate::interrupt::{is_set, stop_on_interrupt};
use crate::log::{self, About};
use crate::now::now_ns;
use crate::output::say;
use crate::socket::{bind, host_name, resolve};
use crate::telemetry::tracer;
use crate::watch::Watch;
use crate::{quantity, units};
use signal_hook::consts::SIGTERM;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tapewise_archive::catalogue::Holder;
use tapewise_archive::mover::{
    self, Denied, Leased, Lessee, Migrated, MoveError, Recalled, random_uuid,
};
use tapewise_formats::event::Event;
use tapewise_serve::{Doing, Work, listen, router_of_mover};

/// Move an archive's files with the drives of this host, beside other movers (experimental).
///
/// A mover runs until it is stopped. It recalls what waits in the archive's queue and writes to tape what lies in the
/// cache, on the drives that this host reaches. Several movers share one archive: each claims a drive and a cartridge
/// before anything moves, and renews its claim while it works. If a mover dies or its host is cut off, another one takes
/// over when the claim has run out, and the drive keeps the first one out. `tapewise mover status` shows who has what;
/// `mover drain` lets a host, a drive or a cartridge finish and begins nothing more there. `tapewise help metrics` lists
/// the metrics, and how traces are sent to a collector of OpenTelemetry.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Mover {
    #[command(subcommand)]
    what: Option<What>,
    /// The archive; `tapewise catalog init` makes one.
    #[arg(long, value_name = "DIR", required = true)]
    archive: Option<PathBuf>,
    /// A drive that this host reaches; may be given several times [default: `drives` of archive.toml].
    #[arg(long = "drive", value_name = "DEVICE")]
    drives: Vec<String>,
    /// Use at most this many drives at a time, and leave the others to other movers [default: all that are free].
    #[arg(long, value_name = "N", value_parser = quantity::count_in::<usize>(1..=1000))]
    most_drives: Option<usize>,
    /// A robot that this host reaches; may be given several times [default: `changers` of archive.toml].
    #[arg(long = "changer", value_name = "DEVICE")]
    changers: Vec<String>,
    /// The name of this host, for other movers and for `mover drain` [default: as the system calls it].
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// How long a claim lasts that is not renewed: after this time another mover takes over.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = lease_time)]
    lease: Duration,
    /// Wait until the oldest request is this old before a cartridge is mounted, so that later requests
    /// are read with it [default: batch_window_s of archive.toml].
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    batch_window: Option<Duration>,
    /// Leave what lies in the cache to other movers: only recall.
    #[arg(long)]
    only_recall: bool,
    /// End when nothing waits, or when nothing that waits can be read or written now: a destination or the cache is
    /// full, or a cartridge is missing.
    #[arg(long)]
    until_idle: bool,
    /// Serve metrics for Prometheus at http://HOST:PORT/metrics, without a token: they name drives, and neither
    /// files nor people. Port 0 takes any free port.
    #[arg(long, value_name = "HOST:PORT")]
    metrics: Option<String>,
    /// Print only errors on standard error.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    log: log::Args,
}

/// What can be asked of all movers of an archive.
#[derive(clap::Subcommand, Debug)]
enum What {
    Status(status::Status),
    Drain(outage::Drain),
    Resume(outage::Resume),
}

/// How long recalls go on, at most, while files wait to be written.
const LONGEST: Duration = Duration::from_secs(3600);

/// How often the catalogue is looked at while nothing waits.
const IDLE: Duration = Duration::from_secs(2);

/// Pauses before something that went wrong is tried again: doubled each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// In how many parts of its time a lease is renewed: two that fail do no harm.
const RENEWALS: u32 = 4;

fn lease_time(text: &str) -> Result<Duration, String> {
    /// Shorter than this and a host under load would lose it.
    const LEAST: Duration = Duration::from_secs(2);
    let time = quantity::duration(text)?;
    if time < LEAST || time > Duration::from_secs(86_400) {
        return Err("give from 2s to 24h".to_owned());
    }
    Ok(time)
}

/// Runs the verb.
pub fn run(args: &Mover) -> Result<ExitCode, CliError> {
    match &args.what {
        Some(What::Status(what)) => return status::run(what),
        Some(What::Drain(what)) => return outage::drain(what),
        Some(What::Resume(what)) => return outage::resume(what),
        None => {}
    }
    log::begin(args.log.log_format);
    let directory = args.archive.clone().unwrap_or_default();
    let archive = Archive::open(&directory)?;
    if archive.is_loaded_by_hand() && args.changers.is_empty() {
        let said =
            "the drives of this archive are loaded by hand, and a mover runs without anybody";
        return Err(CliError::with(Exit::Refused, said).hint(
            "name the robot as `changers` in archive.toml, or use `tapewise recall --archive`",
        ));
    }
    let given = |given: &[String], usual: &[String]| match given {
        [] => usual.to_vec(),
        given => given.to_vec(),
    };
    let drives = given(&args.drives, &archive.settings.drives);
    let changers = given(&args.changers, &archive.settings.changers);
    // A device that is in use is tried again; a name that nothing has is a mistake.
    for name in drives.iter().chain(&changers) {
        crate::device::find(name)?;
    }
    let stop = stop_on_interrupt()?;
    signal_hook::flag::register(SIGTERM, Arc::clone(&stop)).map_err(CliError::failed)?;
    let metrics = match &args.metrics {
        Some(address) => Some(bind(resolve(address)?, "--metrics")?),
        None => None,
    };
    let work = Arc::new(Work::of(&archive.settings_on_paper()?.profile));
    let lessee = lessee(&archive, args)?;
    let tracer = tracer("tapewise-mover", &lessee.holder().host)?;
    let mover = Moving {
        drives,
        changers,
        window: args
            .batch_window
            .unwrap_or_else(|| Duration::from_secs(archive.settings.batch_window_s.unwrap_or(0))),
        archive: &archive,
        lessee: &lessee,
        args,
        stop: &stop,
        watch: Watch {
            archive: &archive,
            work: &work,
            tracer: tracer.as_deref(),
            is_leased: true,
            quiet: args.quiet,
        },
    };
    let is_over = AtomicBool::new(false);
    let done = std::thread::scope(|scope| {
        scope.spawn(|| mover.keep_leases(&is_over));
        if let Some((address, socket)) = metrics {
            say(format_args!(
                "tapewise: metrics are at http://{address}/metrics\n"
            ));
            let app = router_of_mover(Arc::clone(&work));
            scope.spawn(|| match listen(app, socket, None, &is_over) {
                Ok(()) => {}
                Err(error) => log::warn(About::default(), format_args!("metrics: {error}")),
            });
        }
        let done = mover.work();
        is_over.store(true, Ordering::Relaxed);
        done
    });
    lessee.give_back_all()?;
    done.map(|()| ExitCode::SUCCESS)
}

/// This process among the movers of the archive.
fn lessee(archive: &Archive, args: &Mover) -> Result<Lessee, CliError> {
    let holder = Holder {
        host: args.host.clone().unwrap_or_else(host_name),
        process: std::process::id(),
        run: random_uuid(),
    };
    let began = Instant::now();
    let nanoseconds = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
    let catalogue = Arc::clone(&archive.catalogue);
    Ok(Lessee::new(
        catalogue,
        holder,
        nanoseconds(args.lease),
        Arc::new(now_ns),
        Arc::new(move || nanoseconds(began.elapsed())),
    )?)
}

/// The desk, or why this mover may not work now.
fn sit_down(desk: Result<Leased, Denied>) -> Result<Leased, CliError> {
    desk.map_err(|(Denied::Drive(why) | Denied::Volume(why))| CliError::with(Exit::Refused, why))
}

/// What came of a look at what waits.
struct Round {
    /// Whether a recall was answered or something was written.
    has_worked: bool,
    /// Why something waits that cannot be read or written now.
    held_up: Option<CliError>,
}

impl Round {
    const IDLE: Round = Round {
        has_worked: false,
        held_up: None,
    };
}

/// A mover at work.
struct Moving<'a> {
    archive: &'a Archive,
    lessee: &'a Lessee,
    drives: Vec<String>,
    changers: Vec<String>,
    window: Duration,
    args: &'a Mover,
    stop: &'a Arc<AtomicBool>,
    watch: Watch<'a>,
}

impl Moving<'_> {
    /// Works until it is stopped. It prints what goes wrong, and tries again: a mover does not end because a drive is in
    /// use or a cartridge is not there.
    fn work(&self) -> Result<(), CliError> {
        let mut pause = FIRST_PAUSE;
        let mut said = String::new();
        let mut has_ever_worked = false;
        // Another drive comes first each time: what a dead mover has left in one is found in the end.
        let mut drives = self.drives.clone();
        while !is_set(self.stop) {
            drives.rotate_left(1);
            let round = self.round(&drives);
            let has_worked = round.as_ref().is_ok_and(|round| round.has_worked);
            has_ever_worked |= has_worked;
            let held_up = match round {
                Ok(round) => round.held_up,
                Err(_) if is_set(self.stop) => return Ok(()),
                // Somebody has to decide something first, such as to put this host into use again.
                Err(error) if self.args.until_idle && error.exit() == Exit::Refused => {
                    return Err(error);
                }
                Err(error) => {
                    self.retry(&error, &mut pause, &mut said);
                    continue;
                }
            };
            match held_up {
                None if has_worked => {
                    pause = FIRST_PAUSE;
                    said.clear();
                }
                None if self.args.until_idle => return Ok(()),
                None => {
                    self.watch.work.say(Doing::Idle);
                    self.rest(IDLE);
                }
                Some(_) if is_set(self.stop) => return Ok(()),
                Some(why) if self.args.until_idle && !has_worked => {
                    return Err(self.left_behind(&why, has_ever_worked)?);
                }
                Some(why) => self.retry(&why, &mut pause, &mut said),
            }
        }
        Ok(())
    }

    /// Says what went wrong, and waits until it is tried again.
    fn retry(&self, error: &CliError, pause: &mut Duration, said: &mut String) {
        self.watch.is_stuck(error.message(), said);
        // Others may be able to use them. Where the catalogue is not reached, the next round begins with it.
        let _ = self.lessee.give_back_drives();
        self.rest(*pause);
        *pause = (*pause * 2).min(LONGEST_PAUSE);
    }

    /// The error of a mover that ends because nothing that waits can be read or written.
    fn left_behind(&self, why: &CliError, has_worked: bool) -> Result<CliError, CliError> {
        let open = self.archive.catalogue.open_recalls()?;
        let exit = if has_worked {
            Exit::Partial
        } else {
            why.exit()
        };
        let said = format!(
            "ended with {} in the queue, because nothing of what waits can be read or written now: {}",
            units::count(open.queued as usize, "recall"),
            why.message()
        );
        Ok(CliError::with(exit, said)
            .hint("put this right: what waits stays in the queue, and the same command goes on"))
    }

    fn rest(&self, most: Duration) {
        let until = Instant::now() + most;
        while Instant::now() < until && !is_set(self.stop) {
            std::thread::sleep(LOOK);
        }
    }

    /// Renews what this mover has, until it is over.
    fn keep_leases(&self, is_over: &AtomicBool) {
        let every = self.args.lease / RENEWALS;
        let mut renewed = Instant::now();
        while !is_over.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK);
            if renewed.elapsed() < every {
                continue;
            }
            renewed = Instant::now();
            if let Err(error) = self.lessee.renew() {
                let said = format_args!("a claim could not be renewed: {error}");
                log::warn(About::default(), said);
            }
        }
    }

    /// Carries out what waits, as far as this mover gets drives and cartridges.
    fn round(&self, drives: &[String]) -> Result<Round, CliError> {
        self.lessee.give_back_drives()?;
        sit_down(self.lessee.desk()?)?;
        let catalogue = &self.archive.catalogue;
        let writes = || -> Result<bool, MoveError> {
            Ok(!self.args.only_recall && !catalogue.next_migrations(i64::MAX, 1)?.is_empty())
        };
        if catalogue.open_recalls()?.queued == 0 && !writes()? {
            return Ok(Round::IDLE);
        }
        gather(self.archive, self.window, self.stop)?;
        let desk = sit_down(self.lessee.desk_anew()?)?;
        let cache = self.archive.shared_cache(desk.lease.epoch)?;
        let crew = Crew {
            drives,
            changers: &self.changers,
            lessee: Some(self.lessee),
            most_drives: self.args.most_drives.unwrap_or(usize::MAX),
        };
        let quiet = self.args.quiet;
        let tell = |recalled: &Recalled| self.watch.did(recalled);
        let began = Instant::now();
        // There may be no moment in days in which no recall waits.
        let ends = || began.elapsed() > LONGEST && writes().is_ok_and(|writes| writes);
        let work = |mover: &mut mover::Mover<'_>| {
            let recalled = mover.recall_and_empty(&tell, &ends)?;
            let migrated = if writes()? {
                mover.migrate(i64::MAX)
            } else {
                Ok(Migrated::default())
            };
            Ok((recalled, migrated))
        };
        let watch = |event: &Event| self.watch.saw(event);
        self.watch.work.say(Doing::Recalling);
        let (recalled, migrated) = self
            .archive
            .with_crew(&cache, &crew, self.stop, quiet, &watch, work)?;
        let answered = recalled.delivered + recalled.failed.len() as u64;
        let full = recalled.full.first().map(CliError::failed);
        let unavailable = recalled.unavailable.first();
        let unavailable =
            unavailable.map(|(label, why)| CliError::failed(format_args!("volume {label}: {why}")));
        let (migrated, unwritten) = match migrated {
            Ok(migrated) => (migrated, None),
            Err(error @ MoveError::NoVolume { .. }) => (Migrated::default(), Some(error.into())),
            Err(error) => return Err(error.into()),
        };
        self.tell(&migrated);
        Ok(Round {
            has_worked: answered + migrated.segments > 0,
            held_up: full.or(unavailable).or(unwritten),
        })
    }

    fn tell(&self, migrated: &Migrated) {
        if !self.args.quiet && migrated.segments > 0 {
            say(format_args!(
                "tapewise: wrote {} ({}) to tape, {}\n",
                units::count(migrated.files as usize, "file"),
                units::bytes(migrated.bytes),
                units::count(migrated.mounts as usize, "mount")
            ));
        }
    }
}
