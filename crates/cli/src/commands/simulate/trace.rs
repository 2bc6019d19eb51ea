//! One replication in full: every response with its parts, and what drives and robots did.

use crate::error::CliError;
use crate::output;
use std::fmt::Write as _;
use std::path::Path;
use tapewise_formats::event::{Action as Done, Event, Spot};
use tapewise_formats::event_log::{EventWriter, Header};
use tapewise_model::{Micros, Position};
use tapewise_sim::Scenario;
use tapewise_sim::library::{Action, Part, Record, Run};

/// A replication with its log.
pub struct Logged {
    pub scenario: Scenario,
    pub run: Run,
    pub log: Vec<Record>,
}

/// Writes every response as a row of CSV. Times are in seconds.
///
/// # Errors
/// What the file system says.
pub fn write_responses(path: &Path, runs: &[Logged]) -> Result<(), CliError> {
    output::write(Some(path), |out| {
        out.write_all(responses(runs).as_bytes())
            .map_err(CliError::failed)
    })
}

fn responses(runs: &[Logged]) -> String {
    let mut text = "case,request,library,cartridge,drive,priority,arrived_s,response_s".to_owned();
    for part in Part::ALL {
        let _ = write!(text, ",{}_s", column(part));
    }
    text.push_str(",cause\n");
    for logged in runs {
        let case = quoted(&logged.scenario.name);
        for (number, answer) in logged.run.answers.iter().enumerate() {
            let library = &logged.scenario.libraries[usize::from(answer.library)];
            let library = quoted(&library.name);
            let drive = answer.drive.map(|drive| drive.to_string());
            let _ = write!(
                text,
                "{case},{},{library},{},{},{},{},{}",
                answer.number,
                answer.cartridge,
                drive.unwrap_or_default(),
                answer.priority,
                seconds(answer.arrived),
                seconds(answer.response)
            );
            for part in Part::ALL {
                let _ = write!(text, ",{}", seconds(answer.parts[part]));
            }
            let _ = writeln!(text, ",{}", logged.run.cause(number));
        }
    }
    text
}

/// A part as columns and keys name it.
pub fn column(part: Part) -> String {
    part.name().replace(' ', "_")
}

fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

fn seconds(time: Micros) -> String {
    format!("{}.{:06}", time.0 / 1_000_000, time.0 % 1_000_000)
}

/// Writes an event log, one session for each scenario; how many records an event log has no word
/// for, which are left out.
///
/// # Errors
/// What the file system says.
pub fn write_events(path: &Path, runs: &[Logged]) -> Result<usize, CliError> {
    let mut left_out = 0;
    output::write(Some(path), |out| {
        let mut text = Vec::new();
        for logged in runs {
            left_out += session(&mut text, logged).map_err(CliError::failed)?;
        }
        out.write_all(&text).map_err(CliError::failed)
    })?;
    Ok(left_out)
}

fn session(out: &mut Vec<u8>, logged: &Logged) -> std::io::Result<usize> {
    let scenario = &logged.scenario;
    let profiles = || {
        scenario
            .libraries
            .iter()
            .flat_map(|l| &l.drives)
            .map(|d| &d.profile)
    };
    let first = profiles().next().cloned().flatten();
    let header = Header {
        seed: Some(scenario.seed),
        // The log's own profile is that of all drives, or of none.
        profile: first.filter(|first| profiles().all(|other| other.as_ref() == Some(first))),
        emulated: true,
        ..Header::new(concat!(
            "tapewise ",
            env!("CARGO_PKG_VERSION"),
            ", simulated"
        ))
    };
    let mut records: Vec<&Record> = logged.log.iter().collect();
    records.sort_by_key(|record| record.at);
    let mut writer = EventWriter::new(out, &header)?;
    let mut left_out = 0;
    for record in records {
        match event(scenario, record) {
            Some(event) => writer.write(&event)?,
            None => left_out += 1,
        }
    }
    Ok(left_out)
}

fn event(scenario: &Scenario, record: &Record) -> Option<Event> {
    let action = match record.action {
        Action::Fetch => Done::Fetch,
        Action::Return => Done::Return,
        Action::Mount => Done::Mount,
        Action::Unmount => Done::Unmount,
        Action::Locate => Done::Locate,
        Action::Read => Done::Read,
        Action::Rewind => Done::Rewind,
        Action::Clean | Action::Repair => return None,
    };
    let library = &scenario.libraries[usize::from(record.library)].name;
    let device = match record.robot {
        Some(robot) => format!("{library} robot {robot}"),
        None => format!("{library} drive {}", record.drive),
    };
    let cartridge = record.cartridge;
    Some(Event {
        device: Some(device),
        cartridge: cartridge.map(|cartridge| format!("{library} cartridge {cartridge}")),
        from: record.from.as_ref().map(spot),
        to: record.to.as_ref().map(spot),
        bytes: record.bytes,
        ..Event::new(action, record.at, record.took)
    })
}

fn spot(position: &Position) -> Spot {
    Spot {
        partition: position.partition,
        block: None,
        wrap: Some(position.wrap),
        lpos: Some(position.lpos),
    }
}
