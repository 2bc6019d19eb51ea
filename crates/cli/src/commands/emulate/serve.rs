//! `tapewise emulate --iscsi`: the library as a target, until Ctrl-C.

use super::status::Live;
use crate::error::CliError;
use crate::{interrupt, output};
use signal_hook::consts::SIGTERM;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;
use tapewise_emulator::Library;
use tapewise_emulator::iscsi::{Chap, IscsiTarget, TargetOptions};
use tapewise_model::Micros;

/// Serving a library to others.
#[derive(clap::Args, Debug)]
pub(super) struct Serve {
    /// Serve the library as an iSCSI target at this address, such as 127.0.0.1:3260; port 0 takes any
    /// free port. Print the address of each drive and robot, and serve until Ctrl-C.
    #[arg(long, value_name = "HOST:PORT")]
    pub iscsi: Option<String>,
    /// Accept only initiators that know this user's secret (CHAP).
    #[arg(long, value_name = "USER", requires_all = ["iscsi", "chap_secret_file"])]
    chap_user: Option<String>,
    /// The file whose first line is the secret.
    #[arg(long, value_name = "FILE", requires = "chap_user")]
    chap_secret_file: Option<PathBuf>,
    /// The user name with which the library proves who it is, if an initiator asks (mutual CHAP).
    #[arg(long, value_name = "USER", requires_all = ["chap_user", "chap_own_secret_file"])]
    chap_own_user: Option<String>,
    /// The file whose first line is the library's own secret. It must differ from the initiators' secret.
    #[arg(long, value_name = "FILE", requires = "chap_own_user")]
    chap_own_secret_file: Option<PathBuf>,
    /// Append a line of JSON to this file for every command that a drive or the robot carries out: when,
    /// how long it took, its bytes, its status, and where the head is afterwards.
    #[arg(long, value_name = "FILE", requires = "iscsi")]
    commands: Option<PathBuf>,
}

/// Longer than any drive takes to load the cartridge in it: users find the library switched on for a while.
const SWITCHED_ON: Micros = Micros(600_000_000);

/// How often the state of the library is written down for `tapewise emulate status`.
const LIVE: Duration = Duration::from_millis(250);

/// How a library is to be served, checked before there is one.
pub(super) struct Plan<'a> {
    address: SocketAddr,
    chap: Option<Chap>,
    commands: Option<&'a Path>,
}

/// What the options ask for; nothing without `--iscsi`.
pub(super) fn plan(args: &Serve) -> Result<Option<Plan<'_>>, CliError> {
    let Some(address) = &args.iscsi else {
        return Ok(None);
    };
    let plan = Plan {
        address: resolve(address)?,
        chap: chap(args)?,
        commands: args.commands.as_deref(),
    };
    let ip = plan.address.ip();
    if !ip.is_loopback() {
        let who = if plan.chap.is_some() {
            "the user's secret"
        } else {
            "this address"
        };
        output::say(format_args!(
            "tapewise: warning: other machines can reach {ip}: whoever knows {who} can read and overwrite every \
             cartridge\n"
        ));
    }
    Ok(Some(plan))
}

/// A target that listens.
pub(super) struct Serving {
    target: IscsiTarget,
    stop: Arc<AtomicBool>,
}

/// Begins to listen. What can go wrong goes wrong here.
pub(super) fn begin(plan: Plan<'_>, library: &Library) -> Result<Serving, CliError> {
    library.skip(SWITCHED_ON);
    let stop = interrupt::stop_on_interrupt()?;
    signal_hook::flag::register(SIGTERM, Arc::clone(&stop)).map_err(CliError::failed)?;
    let address = plan.address;
    let options = TargetOptions {
        chap: plan.chap,
        log: Arc::new(|line| {
            let now = jiff::Timestamp::now()
                .round(jiff::Unit::Second)
                .unwrap_or_default();
            output::say(format_args!("{now} {line}\n"));
        }),
    };
    let target = IscsiTarget::serve(library, address, options)
        .map_err(|error| CliError::failed(format!("{address}: {error}")))?;
    if let Some(path) = plan.commands {
        log_commands(library, path)?;
    }
    Ok(Serving { target, stop })
}

impl Serving {
    /// Serves until the first Ctrl-C or a SIGTERM.
    pub fn go_on(mut self, library: &Library, directory: &Path) -> Result<ExitCode, CliError> {
        let target = &mut self.target;
        let mut text = String::new();
        for (number, what) in target.units().iter().enumerate() {
            let (portal, name) = (target.address(), target.name());
            // A string takes what is written to it.
            let _ = writeln!(text, "iscsi://{portal}/{name}/{number}  {what}");
        }
        output::print(&text)?;
        let mut live = Live::new(directory);
        while !interrupt::is_set(&self.stop) {
            live.update(library);
            thread::sleep(LIVE);
        }
        target.stop();
        live.end();
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes down what the devices do. A line that cannot be written is named once, and the library goes on.
fn log_commands(library: &Library, path: &Path) -> Result<(), CliError> {
    let bad = |error: std::io::Error| CliError::failed(format!("{}: {error}", path.display()));
    let mut file = File::options()
        .create(true)
        .append(true)
        .open(path)
        .map_err(bad)?;
    let place = path.display().to_string();
    let mut has_failed = false;
    library.watch(move |done| {
        let line = serde_json::to_string(done).unwrap_or_default() + "\n";
        if let Err(error) = file.write_all(line.as_bytes())
            && !std::mem::replace(&mut has_failed, true)
        {
            output::say(format_args!(
                "tapewise: {place}: {error}; its lines are missing from here on\n"
            ));
        }
    });
    Ok(())
}

fn resolve(address: &str) -> Result<SocketAddr, CliError> {
    let found = address
        .to_socket_addrs()
        .ok()
        .and_then(|mut found| found.next());
    found.ok_or_else(|| {
        CliError::input(format!("--iscsi {address}: not an address"))
            .hint("write HOST:PORT, such as 127.0.0.1:3260; port 0 takes any free port")
    })
}

fn chap(args: &Serve) -> Result<Option<Chap>, CliError> {
    let (Some(user), Some(path)) = (&args.chap_user, &args.chap_secret_file) else {
        return Ok(None);
    };
    let secret = secret(path)?;
    let own = match (&args.chap_own_user, &args.chap_own_secret_file) {
        (Some(user), Some(path)) => Some((user.clone(), self::secret(path)?)),
        _ => None,
    };
    if own.as_ref().is_some_and(|(_, own)| *own == secret) {
        // RFC 7143, 9.2.1: whoever knows one of them must not be able to play the other side.
        return Err(
            CliError::input("the library's own secret is the same as its user's")
                .hint("put another secret into the file of --chap-own-secret-file"),
        );
    }
    Ok(Some(Chap {
        user: user.clone(),
        secret,
        own,
    }))
}

/// The secret in the first line of a file.
fn secret(path: &Path) -> Result<String, CliError> {
    let bad = |what: &str| CliError::input(format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| bad(&error.to_string()))?;
    let secret = text.lines().next().unwrap_or_default();
    // RFC 7143, 12.1.3: shorter ones can be found by trying.
    if secret.len() < 12 {
        return Err(bad("the secret in the first line is shorter than 12 bytes"));
    }
    Ok(secret.to_owned())
}
