//! `tapewise doctor`: what this machine lacks to use its drives.

mod report;

use crate::error::CliError;
use crate::{json, output, units};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tapewise_scsi::access::{Access, User, sure_bytes};
use tapewise_scsi::commands::DeviceKind;
use tapewise_scsi::device::{Found, Host};
use tapewise_scsi::holders::Holder;
use tapewise_scsi::transports::Iscsi;

/// Report what this machine lacks to use its drives, and who uses them.
///
/// tapewise only looks at files of the kernel and opens no device. The exit code is 1 if something is
/// missing that a drive or a robot of this machine needs.
///
/// `--report FILE` writes what a bug report needs into one file: versions, system, settings, and these findings.
/// tapewise leaves out names, your paths and serial numbers.
#[derive(clap::Args, Debug)]
pub struct Doctor {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Write the report for a bug report into this file, `-` for standard output.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    report: Option<PathBuf>,
    /// Describe this archive in the report as well: its schema, and how many cartridges are in which
    /// state.
    #[arg(long, value_name = "DIR", requires = "report")]
    archive: Option<PathBuf>,
}

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Fine,
    /// Worth to know; a device that is there works all the same.
    Note,
    /// A device that is there does not work without it.
    Missing,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Finding {
    about: String,
    state: State,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_do: Option<String>,
    /// What a bug report has instead of `found` and `to_do`, if those hold names of this site.
    #[serde(skip)]
    nameless: Option<String>,
}

impl Finding {
    fn new(about: &str, state: State, found: impl Into<String>) -> Finding {
        Finding {
            about: about.to_owned(),
            state,
            found: found.into(),
            to_do: None,
            nameless: None,
        }
    }

    fn hint(self, to_do: impl Into<String>) -> Finding {
        Finding {
            to_do: Some(to_do.into()),
            ..self
        }
    }

    fn nameless(self, found: impl Into<String>) -> Finding {
        Finding {
            nameless: Some(found.into()),
            ..self
        }
    }

    /// The finding as a bug report has it.
    fn without_names(self) -> Finding {
        match self.nameless {
            Some(found) => Finding {
                found,
                to_do: None,
                nameless: None,
                ..self
            },
            None => self,
        }
    }
}

#[derive(Serialize)]
struct Document<'a> {
    missing: usize,
    findings: &'a [Finding],
}

/// Runs the verb.
pub fn run(args: &Doctor) -> Result<ExitCode, CliError> {
    let mut findings = diagnose(Path::new("/")).map_err(CliError::failed)?;
    findings.push(iscsi(Path::new("/")));
    let is_missing = |finding: &&Finding| finding.state == State::Missing;
    let missing = findings.iter().filter(is_missing).count();
    if let Some(file) = &args.report {
        let findings: Vec<Finding> = findings.into_iter().map(Finding::without_names).collect();
        let text = report::report(Path::new("/"), &findings, missing, args.archive.as_deref())?;
        output::write(Some(file), |out| {
            out.write_all(text.as_bytes()).map_err(CliError::failed)
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.json {
        let findings = &findings;
        let document = Document { missing, findings };
        json::print("doctor", &document)?;
    } else {
        output::print(&text(&findings, missing))?
    }
    Ok(ExitCode::from(u8::from(missing > 0)))
}

fn text(findings: &[Finding], missing: usize) -> String {
    let mut text = String::new();
    for finding in findings {
        let state = match finding.state {
            State::Fine => "ok     ",
            State::Note => "note   ",
            State::Missing => "MISSING",
        };
        text.push_str(&format!("{state}  {}: {}\n", finding.about, finding.found));
        if let Some(to_do) = &finding.to_do {
            text.push_str(&format!("         {to_do}\n"));
        }
    }
    text.push_str(&match missing {
        0 => "nothing is missing\n".to_owned(),
        some => format!("{} missing\n", units::count(some, "thing")),
    });
    text
}

/// Looks at everything below `root`, the `/` of a host.
fn diagnose(root: &Path) -> std::io::Result<Vec<Finding>> {
    let host = Host::at(root);
    let user = User::of(root)?;
    let devices = host.list()?;
    let mut findings = Vec::new();
    if devices.is_empty() {
        findings.push(
            Finding::new(
                "drives and robots",
                State::Note,
                "the kernel knows of none on this machine",
            )
            .hint(
                "switched on and cabled? `cat /proc/scsi/scsi` lists what the kernel sees; \
                 without hardware: tapewise emulate",
            ),
        );
    }
    for device in &devices {
        let about = device_name(root, device);
        findings.push(generic(root, device, &about));
        findings.push(kernel_driver(root, device, &about));
        findings.push(permission(root, device, &user, &about));
        findings.extend(transfer(root, device, &about));
        findings.push(used_by(&host, device, &about)?);
    }
    Ok(findings)
}

/// "drive IBM ULT3580-TD8 (/dev/sg3)".
fn device_name(root: &Path, device: &Found) -> String {
    let kind = match device.kind {
        DeviceKind::Tape => "drive",
        _ => "robot",
    };
    let node = shown(root, &device.path);
    format!("{kind} {} {} ({node})", device.vendor, device.model)
}

/// A path as it is on the host.
fn shown(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    Path::new("/").join(below).display().to_string()
}

fn generic(root: &Path, device: &Found, about: &str) -> Finding {
    match &device.generic {
        Some(node) => Finding::new(
            about,
            State::Fine,
            format!("has {} (sg)", shown(root, node)),
        ),
        None => Finding::new(
            about,
            State::Missing,
            "has no /dev/sgN: no positions, no logs, no table of wrap ends",
        )
        .hint("modprobe sg; at every boot: echo sg > /etc/modules-load.d/sg.conf"),
    }
}

fn kernel_driver(root: &Path, device: &Found, about: &str) -> Finding {
    let (module, others) = match device.kind {
        DeviceKind::Tape => ("st", "mt, tar and LTFS of some makers"),
        _ => ("ch", "some programs"),
    };
    match &device.driver {
        Some(node) => {
            let node = shown(root, node);
            Finding::new(about, State::Fine, format!("has {node} ({module})"))
        }
        None => Finding::new(
            about,
            State::Note,
            format!("no node of the kernel's {module} driver; tapewise needs none, {others} do"),
        )
        .hint(format!("modprobe {module}")),
    }
}

/// Whether the node that would be opened may be.
fn permission(root: &Path, device: &Found, user: &User, about: &str) -> Finding {
    let node = shown(root, &device.path);
    let access = match Access::of(root, device, user) {
        Ok(access) => access,
        Err(error) => {
            return Finding::new(about, State::Missing, format!("{node}: {error}"))
                .hint("the kernel knows the device: is udev running?");
        }
    };
    if access.is_allowed {
        return Finding::new(
            about,
            State::Fine,
            format!("{node} can be read and written by this user"),
        );
    }
    let kind = if access.is_character_device { "c" } else { "-" };
    let Access { group, mode, .. } = access;
    let found = format!(
        "{node} cannot be read and written by this user: it is of group {group}, mode {kind}{mode:03o}"
    );
    Finding::new(about, State::Missing, found)
        .hint(format!(
            "be a member of the group: sudo usermod -aG {group} $USER, and log in again"
        ))
        .nameless(format!(
            "{node} cannot be read and written by this user: mode {kind}{mode:03o}"
        ))
}

/// What one command carries for sure.
fn transfer(root: &Path, device: &Found, about: &str) -> Option<Finding> {
    /// The blocks that LTFS writes.
    const USUAL_BLOCK_BYTES: u64 = 512 * 1024;
    let sure = sure_bytes(root, device)?;
    let found = format!(
        "blocks of up to {} KiB go in one command for sure",
        sure / 1024
    );
    Some(if sure < USUAL_BLOCK_BYTES {
        Finding::new(about, State::Note, found).hint(
            "longer ones need memory in one piece; if they fail, tapewise prints an error: use another \
             adapter, or smaller blocks",
        )
    } else {
        Finding::new(about, State::Fine, found)
    })
}

fn used_by(host: &Host, device: &Found, about: &str) -> std::io::Result<Finding> {
    let holders = host.holders(device)?;
    let names: Vec<String> = holders.found.iter().map(ToString::to_string).collect();
    Ok(match (names.is_empty(), holders.unseen) {
        (false, _) => Finding::new(about, State::Note, format!("in use: {}", names.join("; ")))
            .hint("tapewise does not use it until the other program has released it")
            .nameless(format!(
                "in use: {}",
                holders
                    .found
                    .iter()
                    .map(holder_kind)
                    .collect::<Vec<_>>()
                    .join("; ")
            )),
        (true, 0) => Finding::new(about, State::Fine, "nobody on this machine uses it"),
        (true, unseen) => Finding::new(
            about,
            State::Note,
            format!(
                "no program of yours uses it; tapewise cannot look into {} of other users",
                units::count(unseen, "process")
            ),
        )
        .hint("sudo tapewise doctor looks into all"),
    })
}

/// What kind of holder it is, without names and paths.
fn holder_kind(holder: &Holder) -> &'static str {
    match holder {
        Holder::Process { .. } => "a program has it open",
        Holder::Ltfs { .. } => "LTFS is mounted from it",
        Holder::Reservation { .. } => "it is reserved",
    }
}

/// Only iscsi:// needs it.
fn iscsi(root: &Path) -> Finding {
    const ABOUT: &str = "iSCSI";
    match Iscsi::check_library() {
        Ok(()) => Finding::new(ABOUT, State::Fine, "libiscsi is there: iscsi:// works"),
        Err(_) => Finding::new(
            ABOUT,
            State::Note,
            "libiscsi is not there: iscsi:// does not work",
        )
        .hint(format!(
            "only iscsi:// needs it: {}",
            command_for_libiscsi(root)
        )),
    }
}

/// The command that installs libiscsi on the distribution that lies in `root`.
fn command_for_libiscsi(root: &Path) -> &'static str {
    let families = report::os_release(root, "ID") + " " + &report::os_release(root, "ID_LIKE");
    let is_of = |family: &str| families.split_whitespace().any(|name| name == family);
    if is_of("debian") {
        "sudo apt-get install libiscsi7"
    } else if is_of("rhel") || is_of("fedora") {
        "sudo dnf install libiscsi"
    } else {
        "install libiscsi 1.17 to 1.20 (libiscsi.so.7 to libiscsi.so.11)"
    }
}

#[cfg(test)]
mod tests;
