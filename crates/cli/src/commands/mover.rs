//! `tapewise mover`: carries out what waits in an archive with the drives that this host reaches, beside other movers.

mod known;
mod outage;
mod status;

use crate::archive::Archive;
use crate::crew::{LEASE, lessee};
use crate::error::{CliError, Exit};
use crate::gather::LOOK;
use crate::interrupt::stop_on_interrupt;
use crate::log::{self, About};
use crate::moving::{Moving, SetAtEnd, window};
use crate::output::say;
use crate::quantity;
use crate::socket::{bind, host_name, most_connections, resolve};
use crate::systemd::{self, Pulse};
use crate::telemetry::tracer;
use crate::watch::Watch;
use clap::builder::NonEmptyStringValueParser;
use signal_hook::consts::SIGTERM;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tapewise_serve::{Work, listen, router_of_mover};

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
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    host: Option<String>,
    /// How long a claim lasts that is not renewed: after this time another mover takes over [default: 60s].
    #[arg(long, value_name = "TIME", value_parser = lease_time)]
    lease: Option<Duration>,
    /// Wait until the oldest request is this old before a cartridge is mounted, so that later requests
    /// are read with it [default: batch_window_s of archive.toml].
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    batch_window: Option<Duration>,
    /// Leave what lies in the cache to other movers: only recall.
    #[arg(long)]
    only_recall: bool,
    /// End when nothing waits, or when nothing that waits can be read or written now: a destination or the cache is
    /// full, or a cartridge is missing or out of use.
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

/// Tells systemd that the mover is ready, and then that it is alive, until the mover ends.
fn tell_systemd(work: &Work, is_over: &AtomicBool) {
    systemd::notify("READY=1");
    let mut pulse = Pulse::begin();
    while !is_over.load(Ordering::Relaxed) {
        pulse.beat(work);
        std::thread::sleep(LOOK);
    }
}

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
    let host = args.host.clone().unwrap_or_else(host_name);
    let lease = args.lease.unwrap_or(LEASE);
    let tracer = tracer("tapewise-mover", &host)?;
    let moving = Moving {
        archive: &archive,
        lessee: &lessee(&archive, host, lease)?,
        lease,
        drives,
        changers,
        most_drives: args.most_drives.unwrap_or(usize::MAX),
        window: args.batch_window.unwrap_or_else(|| window(&archive)),
        only_recall: args.only_recall,
        until_idle: args.until_idle,
        stop: &stop,
        watch: Watch {
            archive: &archive,
            work: &work,
            tracer: tracer.as_deref(),
            quiet: args.quiet,
        },
    };
    let is_over = AtomicBool::new(false);
    let done = std::thread::scope(|scope| {
        let _ends = SetAtEnd(&is_over);
        if let Some((address, socket)) = metrics {
            say(format_args!(
                "tapewise: metrics are at http://{address}/metrics\n"
            ));
            let app = router_of_mover(Arc::clone(&work));
            scope.spawn(
                || match listen(app, socket, None, most_connections(), &is_over) {
                    Ok(()) => {}
                    Err(error) => log::warn(About::default(), format_args!("metrics: {error}")),
                },
            );
        }
        scope.spawn(|| tell_systemd(&work, &is_over));
        moving.work()
    });
    done.map(|()| ExitCode::SUCCESS)
}
