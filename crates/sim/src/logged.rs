//! One replication in full: every response with its parts as CSV, and what drives and robots did as an event log.

use crate::library::{Action, Part, Record, Run, Site, Stalled};
use crate::scenario::Scenario;
use std::fmt::Write as _;
use std::io::{self, Write};
use tapewise_formats::event::{Action as Done, Event, Spot};
use tapewise_formats::event_log::{EventWriter, Header};
use tapewise_model::{Micros, Position};

/// A replication with its log.
#[derive(Clone, Debug)]
pub struct Logged {
    /// What was simulated.
    pub scenario: Scenario,
    /// Every response.
    pub run: Run,
    /// What every drive and robot did.
    pub log: Vec<Record>,
}

impl Logged {
    /// Makes one replication.
    ///
    /// # Errors
    /// As [`Site::run`].
    pub fn new(site: &Site, replication: u64) -> Result<Logged, Stalled> {
        let (run, log) = site.run_logged(replication)?;
        Ok(Logged {
            scenario: site.scenario().clone(),
            run,
            log,
        })
    }

    /// Writes a session of an event log. Returns how many records an event log has no word for, which are left out.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_events(&self, out: impl Write) -> io::Result<usize> {
        let mut records: Vec<&Record> = self.log.iter().collect();
        records.sort_by_key(|record| record.at);
        let mut writer = EventWriter::new(out, &self.header())?;
        let mut left_out = 0;
        for record in records {
            match event(&self.scenario, record) {
                Some(event) => writer.write(&event)?,
                None => left_out += 1,
            }
        }
        Ok(left_out)
    }

    fn header(&self) -> Header {
        let scenario = &self.scenario;
        let drives = || {
            scenario
                .libraries
                .iter()
                .flat_map(|library| &library.drives)
        };
        let first = drives().next().and_then(|drive| drive.profile.clone());
        Header {
            seed: Some(scenario.seed),
            // The log's own profile is that of all drives, or of none.
            profile: first
                .filter(|first| drives().all(|drive| drive.profile.as_ref() == Some(first))),
            emulated: true,
            ..Header::new(concat!(
                "tapewise ",
                env!("CARGO_PKG_VERSION"),
                ", simulated"
            ))
        }
    }
}

/// Every response of these replications as a row of CSV. Times are in seconds.
pub fn responses_csv(runs: &[Logged]) -> String {
    let mut text =
        "case,request,library,cartridge,place,size_mb,drive,owner,priority,arrived_s,response_s"
            .to_owned();
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
                "{case},{},{library},{},{},{},{},{},{},{},{}",
                answer.number,
                answer.cartridge,
                answer.place,
                answer.size_mb,
                drive.unwrap_or_default(),
                answer.owner,
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
pub(crate) fn column(part: Part) -> String {
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
