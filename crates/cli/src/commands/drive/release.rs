//! `tapewise drive release`: who has reserved a drive, and how that ends.

use crate::error::{CliError, Exit};
use crate::{device, json, output};
use serde_json::{Value, json};
use tapewise_scsi::device::Host;
use tapewise_scsi::{Owner, Registrations, Report, TapeDrive};

/// Show who has reserved a drive, and end a reservation that its owner did not end.
///
/// Without --key, tapewise lists the keys registered with the drive and their owners, and changes
/// nothing. With --key, tapewise prints what it will do, and then removes the registration with that
/// key and its reservation. If a program still uses the drive with that key, its next command fails, so
/// make sure that it has ended.
#[derive(clap::Args, Debug)]
pub struct Release {
    /// The drive.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// End the registration with this key, in hexadecimal digits.
    #[arg(long, value_name = "KEY", value_parser = parse_key)]
    key: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn parse_key(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u64::from_str_radix(digits, 16)
        .ok()
        .filter(|&key| key != 0)
        .ok_or_else(|| "a key has 1 to 16 hexadecimal digits and is not 0".to_owned())
}

/// Runs the verb.
pub fn run(args: &Release) -> Result<(), CliError> {
    let name = &args.device;
    let mut drive = device::tape_unless_held(name)?;
    let host = Host::local();
    let at = |error: tapewise_scsi::ScsiError| CliError::from(error).of(name);
    let Some(found) = drive.registrations().map_err(at)? else {
        return Err(CliError::with(
            Exit::Refused,
            format!("{name} has no persistent reservations"),
        )
        .hint("a reservation of RESERVE(6) ends when its holder releases it, or when the drive is reset"));
    };
    match args.key {
        None => show(&host, &found, args.json),
        Some(key) => end(&host, name, &mut drive, &found, key, args.json),
    }
}

fn show(host: &Host, found: &Registrations, as_json: bool) -> Result<(), CliError> {
    if as_json {
        let keys = found.keys.iter().map(|&key| {
            json!({
                "key": format!("{key:016x}"),
                "owner": host.owner_of(key).to_string(),
                "holds": found.held.is_some_and(|(holder, _)| holder == key),
            })
        });
        let keys: Vec<Value> = keys.collect();
        return json::print("drive-release", &json!({ "keys": keys, "ended": null }));
    }
    let mut report = Report::default();
    if found.keys.is_empty() {
        report.line("registered", "nobody");
    }
    for &key in &found.keys {
        report.line(format_args!("key {key:016x}"), words(host, found, key));
    }
    output::print(&report.to_string())
}

/// Whose a key is, and what it holds.
fn words(host: &Host, found: &Registrations, key: u64) -> String {
    let owner = host.owner_of(key);
    match found.held {
        Some((holder, kind)) if holder == key => format!("{owner}; has reserved the drive: {kind}"),
        _ => format!("{owner}; registered, without a reservation"),
    }
}

fn end(
    host: &Host,
    name: &str,
    drive: &mut TapeDrive,
    found: &Registrations,
    key: u64,
    as_json: bool,
) -> Result<(), CliError> {
    if !found.keys.contains(&key) {
        return Err(
            CliError::input(format!("{name}: no key {key:016x} is registered"))
                .hint(format!("`tapewise drive release {name}` lists the keys")),
        );
    }
    if let Owner::Process { pid, runs: true } = host.owner_of(key) {
        let text = format!("{name}: the key belongs to tapewise, process {pid}, which still runs");
        return Err(CliError::with(Exit::Refused, text).hint("end that process first"));
    }
    output::say(format_args!(
        "{name}: ending the registration with key {key:016x}: {}\n",
        words(host, found, key)
    ));
    let done = drive.clear_registration(host, key);
    done.map_err(|error| CliError::from(error).of(name))?;
    output::say(format_args!("{name}: released\n"));
    if as_json {
        let ended = format!("{key:016x}");
        json::print("drive-release", &json!({ "keys": [], "ended": ended }))?;
    }
    Ok(())
}
