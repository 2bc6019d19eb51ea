//! `tapewise serve`: recall requests over HTTP, carried out by the archive's drives.
//!
//! One thread answers HTTP and enters requests into the catalogue. Another one has the drives, and does what a mover
//! does, whoever asked for it. A third one keeps order: pins, settings that are read again, certificates.

mod configured;
mod explain;
mod keeper;
mod movers;

use crate::archive::Archive;
use crate::commands::page::PAGE;
use crate::crew::{LEASE, lessee};
use crate::error::{CliError, Exit};
use crate::interrupt::stop_on_interrupt;
use crate::log::{self, About};
use crate::moving::{Moving, SetAtEnd, window};
use crate::now::now_ns;
use crate::output::{print, say};
use crate::quantity;
use crate::socket::{bind, host_name, most_connections, resolve};
use crate::telemetry::tracer;
use crate::watch::Watch;
use configured::Configured;
use keeper::Keeper;
use movers::Books;
use signal_hook::consts::SIGTERM;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tapewise_archive::mover::Lessee;
use tapewise_archive::open::read_settings;
use tapewise_serve::{
    A_DIRECTORY, Certificate, Parts, ServeSettings, Service, Work, listen, new_secret, router,
    user_lines,
};

/// Answer recall requests over HTTP (experimental).
///
/// Clients that speak the WLCG Tape REST API, such as gfal2, FTS and Rucio, stage files: tapewise recalls the files
/// from tape into the archive's cache, in the fastest order, and keeps them there for the lifetime that the client
/// asked for. Clients read staged files at /files/PATH. Requests survive a restart. What `tapewise store --later` leaves
/// in the cache goes to tape when no recall waits, and after an hour of recalls at the latest. The page at / shows what
/// happens now, the one at /plan plans tapes as `tapewise page` does, and /metrics is for Prometheus.
///
/// Every client must send a token. Whoever has the one in the token file, which tapewise makes at the first start, may
/// do everything. serve.toml names users with tokens of their own, issuers of WLCG tokens, the certificate that
/// traffic is encrypted with, limits, and the audit trail; the how-to explains it. `tapewise help metrics` lists the
/// metrics, and how traces are sent to a collector of OpenTelemetry.
#[derive(clap::Args, Debug)]
pub struct Serve {
    /// The archive; `tapewise catalog init` makes one.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// The file with users, certificate and limits [default: serve.toml in the archive, if it is there].
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Make a token for a user, print it with the lines that serve.toml needs, and end. If serve.toml has the user,
    /// the lines leave what the user may do as it is.
    #[arg(long, value_name = "NAME", conflicts_with_all = OF_A_SERVICE)]
    new_token: Option<String>,
    /// Print how many drives work for each user and activity, how many are due, and what limits hold back; then what
    /// drives read now, and in which order the cartridges of the queue are mounted after that, and why; and end.
    #[arg(long, conflicts_with_all = ["new_token", "settings"], conflicts_with_all = OF_A_SERVICE)]
    explain_next: bool,
    /// Listen at this address; port 0 takes any free port [default: 127.0.0.1:8080].
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// The file whose first line is the operator's token [default: serve.token in the archive].
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The address under which clients know the service, such as https://tape.example.org [default: as
    /// each client wrote it].
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The name of the site, for clients and for the page [default: the name of the archive's directory].
    #[arg(long, value_name = "NAME")]
    site: Option<String>,
    /// Wait until the oldest request is this old before a cartridge is mounted, so that later requests
    /// are read with it [default: batch_window_s of archive.toml].
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    batch_window: Option<Duration>,
    /// Leave the drives to `tapewise mover`: only answer requests.
    #[arg(long, conflicts_with_all = ["batch_window", "only_recall"])]
    no_drives: bool,
    /// Leave what lies in the cache to `tapewise store` and to movers: only recall.
    #[arg(long)]
    only_recall: bool,
    /// Print only errors on standard error.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    log: log::Args,
}

/// Options of a service, which mean nothing where none is started.
const OF_A_SERVICE: [&str; 8] = [
    "listen",
    "token_file",
    "url",
    "site",
    "batch_window",
    "no_drives",
    "only_recall",
    "quiet",
];

/// How often the catalogue is looked at when nobody rings: others ask for files too.
const IDLE: Duration = Duration::from_secs(5);

/// Who has the drives.
enum Drives<'a> {
    /// This process, as a mover among others.
    Ours(Lessee),
    /// Movers, whose books are kept here.
    OfMovers(Books<'a>),
}

/// The drives' side of a service that has them.
fn moving<'a>(
    args: &Serve,
    lessee: &'a Lessee,
    watch: Watch<'a>,
    stop: &'a Arc<AtomicBool>,
) -> Moving<'a> {
    let settings = &watch.archive.settings;
    Moving {
        archive: watch.archive,
        lessee,
        lease: LEASE,
        drives: settings.drives.clone(),
        changers: settings.changers.clone(),
        most_drives: usize::MAX,
        window: args.batch_window.unwrap_or_else(|| window(watch.archive)),
        only_recall: args.only_recall,
        until_idle: false,
        stop,
        watch,
    }
}

/// Runs the verb.
pub fn run(args: &Serve) -> Result<ExitCode, CliError> {
    log::begin(args.log.log_format);
    if let Some(name) = &args.new_token {
        return new_token(args, name);
    }
    if args.explain_next {
        return explain::run(&args.archive);
    }
    let configured = Configured::of(args)?;
    let address = resolve(configured.listen(args))?;
    let site = configured.site(args, PAGE)?;
    let archive = Archive::open(&args.archive)?;
    if !args.no_drives {
        needs_a_robot(&archive)?;
    }
    let certificate = configured.tls().map(Certificate::of).transpose();
    let certificate = certificate.map_err(CliError::input)?.map(Arc::new);
    let (token, token_file, is_new) = configured.token(args)?;
    let access = configured.access(&token)?;
    let (address, socket) = bind(address, "--listen")?;
    let (what, path) = (if is_new { "a new" } else { "the" }, token_file.display());
    say(format_args!("tapewise: {what} token is in {path}\n"));
    if certificate.is_none() {
        warn_of_clear_text(address);
    }
    let stop = stop_on_interrupt()?;
    signal_hook::flag::register(SIGTERM, Arc::clone(&stop)).map_err(CliError::failed)?;
    let audit_file = configured.audit_file()?;
    let tracer = tracer("tapewise-serve", &host_name())?;
    let on_paper = archive.settings_on_paper()?;
    let work = Arc::new(Work::of(&on_paper.profile));
    let service = Arc::new(Service::new(Parts {
        // Of its own, so that a poll does not wait for the drives' side.
        archive: tapewise_archive::open::Archive::open(&args.archive)?,
        on_paper,
        access,
        site,
        limits: configured.settings.limits,
        audit_file,
        now_ns,
        work: Arc::clone(&work),
        tracer: tracer.clone(),
    }));
    let drives = if args.no_drives {
        Drives::OfMovers(Books::open(&archive, &work)?)
    } else {
        Drives::Ours(lessee(&archive, host_name(), LEASE)?)
    };
    let encrypted = if certificate.is_some() { "s" } else { "" };
    print(&format!("http{encrypted}://{address}/\n"))?;
    let watch = Watch {
        archive: &archive,
        work: &work,
        tracer: tracer.as_deref(),
        quiet: args.quiet,
    };
    let keeper = Keeper {
        args,
        service: &service,
        certificate: certificate.as_deref(),
        work: &work,
        stop: &stop,
    };
    let answer = || {
        let _ends = SetAtEnd(&stop);
        let app = router(Arc::clone(&service));
        let answered = listen(app, socket, certificate.clone(), most_connections(), &stop);
        answered.map_err(|error| CliError::failed(format!("{address}: {error}")))
    };
    let carry_out = || {
        let _ends = SetAtEnd(&stop);
        match drives {
            Drives::OfMovers(books) => {
                books.keep(&stop);
                Ok(())
            }
            Drives::Ours(lessee) => moving(args, &lessee, watch, &stop).work(),
        }
    };
    let keep = || {
        let _ends = SetAtEnd(&stop);
        keeper.work()
    };
    side_by_side(answer, keep, carry_out)?;
    Ok(ExitCode::SUCCESS)
}

/// Does the three parts of a service, each on a thread, until all of them end.
fn side_by_side(
    answer: impl FnOnce() -> Result<(), CliError> + Send,
    keep: impl FnOnce() -> Result<(), CliError> + Send,
    carry_out: impl FnOnce() -> Result<(), CliError>,
) -> Result<(), CliError> {
    let (answered, kept, carried_out) = std::thread::scope(|scope| {
        let (answering, keeping) = (scope.spawn(answer), scope.spawn(keep));
        let carried_out = carry_out();
        (answering.join(), keeping.join(), carried_out)
    });
    let ended = |_| CliError::failed("a part of the service ended");
    answered.map_err(ended)??;
    kept.map_err(ended)??;
    carried_out
}

fn needs_a_robot(archive: &Archive) -> Result<(), CliError> {
    if !archive.is_loaded_by_hand() {
        return Ok(());
    }
    let said = "the drives of this archive are loaded by hand, and nobody may be there when a request comes";
    let hint = "name the robot as `changers` in archive.toml, or use `tapewise recall --archive`";
    Err(CliError::with(Exit::Refused, said).hint(hint))
}

/// Warns if other machines can reach an address where nothing is encrypted.
fn warn_of_clear_text(address: SocketAddr) {
    if !address.ip().is_loopback() {
        let said = format_args!(
            "warning: other machines can reach {}, and nothing is encrypted: whoever listens on the network sees tokens \
             and files. Name a certificate in serve.toml, or put a proxy with TLS in front",
            address.ip()
        );
        log::warn(About::default(), said);
    }
}

/// Makes a token for a user, and tells what the settings need.
fn new_token(args: &Serve, name: &str) -> Result<ExitCode, CliError> {
    read_settings(&args.archive)?;
    let (secret, hash) = new_secret();
    let users = Configured::of(args)?.settings.users;
    let known = users.iter().find(|user| user.name == name);
    let user = user_lines(name, &hash, known);
    // The name must be a good one.
    let anywhere = user.replace(&format!("[\"{A_DIRECTORY}\"]"), "[\"/\"]");
    ServeSettings::of(&anywhere).map_err(|error| CliError::input(error).of("--new-token"))?;
    print(&format!("{secret}\n"))?;
    let what = match known {
        Some(_) => "replace the lines of this user with these",
        None => {
            "add these lines, with `may` as the user needs it and directories such as /cms in `paths`"
        }
    };
    say(format_args!(
        "tapewise: only the user should have this token. In {} {what}, then send SIGHUP to a service that runs:\n\n{user}",
        configured::file(args).display()
    ));
    Ok(ExitCode::SUCCESS)
}
