//! `tapewise serve`: recall requests over HTTP, carried out by the archive's drives.
//!
//! One thread answers HTTP and enters requests into the catalogue. The other one has the drives, and recalls what the
//! catalogue says is wanted, whoever asked for it: the same work as that of `tapewise recall --archive`.

use crate::archive::Archive;
use crate::commands::page::PAGE;
use crate::error::{CliError, Exit};
use crate::gather::{LOOK, gather};
use crate::interrupt::{is_set, stop_on_interrupt};
use crate::now::now_ns;
use crate::output::{print, say};
use crate::{quantity, units};
use signal_hook::consts::SIGTERM;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tapewise_archive::deliver::shown;
use tapewise_archive::mover::Recalled;
use tapewise_formats::event::{Action, Event};
use tapewise_serve::{Doing, Limits, Service, Site, Token, TokenError, Work, listen};

/// Answer recall requests over HTTP (experimental).
///
/// Clients that speak the WLCG Tape REST API, such as gfal2, FTS and Rucio, stage files: tapewise recalls the files
/// from tape into the archive's cache, in the fastest order, and keeps them there for the lifetime that the client
/// asked for. Clients read staged files at /files/PATH. Requests survive a restart. Every client must send the token
/// in the token file, which tapewise makes at the first start. The page at / shows what happens now, the one at /plan
/// plans tapes as `tapewise page` does, and /metrics is for Prometheus. Traffic is not encrypted: other machines should reach the service through a proxy with TLS.
#[derive(clap::Args, Debug)]
pub struct Serve {
    /// The archive; `tapewise catalog init` makes one.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Listen at this address; port 0 takes any free port.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080")]
    listen: String,
    /// The file whose first line is the token [default: serve.token in the archive].
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
    #[arg(long, conflicts_with = "batch_window")]
    no_drives: bool,
    /// Print only errors on standard error.
    #[arg(short, long)]
    quiet: bool,
}

/// How long a stage request is remembered after all of its files ended.
const REMEMBERED_NS: i64 = 14 * 86_400_000_000_000;

/// How often the catalogue is looked at when nobody rings: others ask for files too.
const IDLE: Duration = Duration::from_secs(5);

/// Pauses before something that could not be read is tried again: doubled each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Runs the verb.
pub fn run(args: &Serve) -> Result<ExitCode, CliError> {
    let address = resolve(&args.listen)?;
    let url = args.url.as_deref().map(checked_url).transpose()?;
    let archive = Archive::open(&args.archive)?;
    if archive.is_loaded_by_hand() && !args.no_drives {
        let said = "the drives of this archive are loaded by hand, and nobody may be there when a request comes";
        return Err(CliError::with(Exit::Refused, said).hint(
            "name the robot as `changers` in archive.toml, or use `tapewise recall --archive`",
        ));
    }
    let token = token(args)?;
    let site = Site {
        name: args.site.clone().unwrap_or_else(|| name_of(&args.archive)),
        url,
        planner: PAGE,
    };
    let socket = TcpListener::bind(address)
        .and_then(|socket| Ok((socket.local_addr()?, socket)))
        .map_err(|error| {
            CliError::failed(format!("{address}: {error}"))
                .hint("--listen HOST:PORT takes another address")
        });
    let (address, socket) = socket?;
    if !address.ip().is_loopback() {
        say(format_args!(
            "tapewise: warning: other machines can reach {}, and nothing is encrypted: whoever listens on the network \
             sees the token and the files. Put a proxy with TLS in front\n",
            address.ip()
        ));
    }
    let stop = stop_on_interrupt()?;
    signal_hook::flag::register(SIGTERM, Arc::clone(&stop)).map_err(CliError::failed)?;
    let work = Arc::new(Work::default());
    let service = Service::new(
        // Of its own, so that a poll does not wait for the drives' side.
        tapewise_archive::open::Archive::open(&args.archive)?,
        token,
        site,
        Limits::default(),
        now_ns,
        Arc::clone(&work),
    );
    print(&format!("http://{address}/\n"))?;
    let served = std::thread::scope(|scope| {
        let server = scope.spawn(|| {
            let served = listen(Arc::new(service), socket, &stop);
            stop.store(true, Ordering::Relaxed);
            served
        });
        let drives = Drives {
            archive: &archive,
            window: args.batch_window.unwrap_or_else(|| {
                Duration::from_secs(archive.settings.batch_window_s.unwrap_or(0))
            }),
            stop: &stop,
            work: &work,
            quiet: args.quiet,
        };
        if args.no_drives {
            drives.leave_to_movers();
        } else {
            drives.work();
        }
        server.join()
    });
    match served {
        Ok(Ok(())) => Ok(ExitCode::SUCCESS),
        Ok(Err(error)) => Err(CliError::failed(format!("{address}: {error}"))),
        Err(_) => Err(CliError::failed("the HTTP side of the service ended")),
    }
}

fn resolve(address: &str) -> Result<SocketAddr, CliError> {
    let mut found = address.to_socket_addrs().ok().into_iter().flatten();
    found.next().ok_or_else(|| {
        CliError::input(format!("--listen {address}: not an address"))
            .hint("write HOST:PORT, such as 127.0.0.1:8080; port 0 takes any free port")
    })
}

fn checked_url(url: &str) -> Result<String, CliError> {
    let rest = url.strip_prefix("https://");
    let rest = rest.or_else(|| url.strip_prefix("http://"));
    let is_plain =
        |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic());
    if rest.is_some_and(is_plain) {
        return Ok(url.to_owned());
    }
    let said = format!("--url {url}: not an address of a web server");
    Err(CliError::input(said).hint("write https://HOST, with :PORT after it if needed"))
}

/// The name of an archive's directory.
fn name_of(directory: &Path) -> String {
    let whole = directory.canonicalize().unwrap_or_default();
    let name = whole.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn token(args: &Serve) -> Result<Token, CliError> {
    let usual = || args.archive.join("serve.token");
    let path = args.token_file.clone().unwrap_or_else(usual);
    let (token, is_new) = Token::of_file(&path).map_err(|error| match error {
        TokenError::Open { .. } => CliError::with(Exit::Refused, error).hint(format!(
            "`chmod 600 {}`, then put another token into it",
            path.display()
        )),
        TokenError::Short { .. } => CliError::input(error)
            .hint("remove the file: the next start makes one with a good token"),
        TokenError::Io { .. } => CliError::failed(error),
    })?;
    let what = if is_new {
        "a new token is"
    } else {
        "the token is"
    };
    say(format_args!("tapewise: {what} in {}\n", path.display()));
    Ok(token)
}

/// The drives' side.
struct Drives<'a> {
    archive: &'a Archive,
    window: Duration,
    stop: &'a Arc<AtomicBool>,
    work: &'a Work,
    quiet: bool,
}

impl Drives<'_> {
    /// Carries out what is asked for until somebody interrupts. It prints what goes wrong, and tries again: a service
    /// does not end because a drive is in use or a cartridge is not there.
    fn work(&self) {
        let mut pause = FIRST_PAUSE;
        let mut said = String::new();
        while !is_set(self.stop) {
            match self.round() {
                Ok(has_worked) => {
                    pause = FIRST_PAUSE;
                    said.clear();
                    if !has_worked {
                        self.work.say(Doing::Idle);
                        self.rest(IDLE);
                    }
                }
                Err(_) if is_set(self.stop) => return,
                Err(error) => {
                    let why = error.message().to_owned();
                    if said != why {
                        say(format_args!("tapewise: {why}; it is tried again\n"));
                        said.clone_from(&why);
                    }
                    self.work.count(|counts| counts.troubles += 1);
                    self.work.say(Doing::Waiting(why));
                    self.rest(pause);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// Keeps the books of what movers carry out, until somebody interrupts.
    fn leave_to_movers(&self) {
        while !is_set(self.stop) {
            let settled = self
                .archive
                .catalogue
                .settle_stages(REMEMBERED_NS, now_ns());
            if let Err(error) = settled {
                say(format_args!("tapewise: {error}; it is tried again\n"));
            }
            self.rest(IDLE);
        }
    }

    /// Waits until somebody asks for something, or interrupts.
    fn rest(&self, most: Duration) {
        let looks = most.as_millis().div_ceil(LOOK.as_millis());
        for _ in 0..looks {
            if self.work.wait(LOOK) || is_set(self.stop) {
                return;
            }
        }
    }

    /// Recalls what is asked for; whether there was something.
    fn round(&self) -> Result<bool, CliError> {
        let catalogue = &self.archive.catalogue;
        catalogue.settle_stages(REMEMBERED_NS, now_ns())?;
        let open = catalogue.open_recalls()?;
        if open.queued + open.started == 0 {
            return Ok(false);
        }
        gather(self.archive, self.window, self.stop)?;
        let cache = self.archive.cache()?;
        self.work.say(Doing::Recalling);
        let watch = |event: &Event| self.watch(event);
        let did =
            self.archive
                .with_watched_mover(&cache, self.stop, self.quiet, &watch, |mover| {
                    mover.recall()
                })?;
        self.tell(&did);
        catalogue.settle_stages(REMEMBERED_NS, now_ns())?;
        if let Some((label, why)) = did.unavailable.first() {
            return Err(CliError::failed(format!("volume {label}: {why}")));
        }
        match did.full.first() {
            Some((place, why)) => Err(CliError::failed(format!("{}: {why}", shown(place)))),
            None => Ok(true),
        }
    }

    fn tell(&self, did: &Recalled) {
        self.work.count(|counts| {
            counts.delivered += did.delivered;
            counts.bytes = counts.bytes.saturating_add(did.bytes);
            counts.failed += did.failed.len() as u64;
            counts.mounts += did.mounts;
        });
        if !self.quiet {
            say(format_args!(
                "tapewise: delivered {} ({}), {} failed, {}\n",
                units::count(did.delivered as usize, "file"),
                units::bytes(did.bytes),
                did.failed.len(),
                units::count(did.mounts as usize, "mount")
            ));
        }
    }

    /// Adds up what the drives did.
    fn watch(&self, event: &Event) {
        let took_us = u64::try_from(event.took_us.0).unwrap_or_default();
        self.work.count(|counts| match event.action {
            Action::Locate | Action::Rewind | Action::ReadThrough => {
                counts.positioning_us += took_us
            }
            Action::Read => counts.reading_us += took_us,
            Action::Mount | Action::Unmount | Action::Fetch | Action::Return => {
                counts.mounting_us += took_us;
            }
            _ => {}
        });
    }
}
