//! Event logs: files of [`Event`]s, one JSON object a line, each session under a header line.
//!
//! A program that writes begins with a [`Header`] and then writes one line for each event, flushed,
//! so that a log is whole up to the last event whatever happens. A session that is taken up again
//! writes another header below: its clock starts anew. So two logs put one behind the other are a
//! log. docs/reference/event-log.md is the contract.

use std::collections::BTreeMap;
use std::io::{BufRead, Read, Seek, SeekFrom, Write};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bounded::{LineError, Lines};
use crate::event::Event;
use crate::notice::{Notice, Notices};
use crate::number::excerpt;

/// The version of the format that is written, and the newest that is read.
pub const VERSION: u32 = 1;

/// Bytes of a log that are looked at once, from its end on.
const STEP_BYTES: u64 = 64 << 10;

/// The key of a header line, whose value is the version.
const MARK: &str = "tapewise_events";

/// A drive as it names itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Vendor, from INQUIRY.
    pub vendor: String,
    /// Product, from INQUIRY.
    pub product: String,
    /// Revision of its firmware, from INQUIRY.
    pub revision: String,
    /// Serial number, from VPD page 80h.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
}

/// What holds for all events of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format: [`VERSION`].
    #[serde(rename = "tapewise_events")]
    pub version: u32,
    /// What wrote it, with its version.
    pub tool: String,
    /// The seed that chose what was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The drive, or the robot where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// The cartridge's barcode, or its serial number; an event may name another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cartridge: Option<String>,
    /// The profile that the times were predicted with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Whether the device is an emulated one, whose times prove nothing about hardware.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub emulated: bool,
    /// What one byte of the host stands for on an emulated cartridge, where that is not one byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byte_scale: Option<u64>,
}

impl Header {
    /// A header of this version that says who writes.
    pub fn new(tool: impl Into<String>) -> Header {
        Header {
            version: VERSION,
            tool: tool.into(),
            seed: None,
            device: None,
            cartridge: None,
            profile: None,
            emulated: false,
            byte_scale: None,
        }
    }
}

/// A header with the events below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The header; `None` for events that stand before any.
    pub header: Option<Header>,
    /// The events, in the order of the log.
    pub events: Vec<Event>,
}

/// What was read of one or several logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventLog {
    /// The sessions, in the order of the logs.
    pub sessions: Vec<Session>,
    /// What was left out or odd.
    pub notices: Vec<Notice>,
}

impl EventLog {
    /// All events, in the order of the log.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.sessions.iter().flat_map(|session| &session.events)
    }

    /// The same log with lengths as they are on tape: on an emulated cartridge a byte of the host may stand for many.
    pub fn on_tape(mut self) -> EventLog {
        for session in &mut self.sessions {
            let scale = session
                .header
                .as_mut()
                .and_then(|header| header.byte_scale.take());
            let scale = scale.unwrap_or(1);
            for event in &mut session.events {
                event.bytes = event.bytes.saturating_mul(scale);
            }
        }
        self
    }

    /// Puts another log behind this one. A session that stands in both is kept once, and it is said:
    /// events that count twice would make a fit surer than it is. Of a session that one log has only
    /// the beginning of, the longer is kept.
    pub fn merge(&mut self, other: EventLog) {
        self.notices.extend(other.notices);
        for session in other.sessions {
            let same = |mine: &&mut Session| {
                let both = mine.events.len().min(session.events.len());
                both > 0
                    && mine.header == session.header
                    && mine.events[..both] == session.events[..both]
            };
            let Some(mine) = self.sessions.iter_mut().find(same) else {
                self.sessions.push(session);
                continue;
            };
            self.notices.push(Notice {
                code: "session-twice".to_owned(),
                line: None,
                text: format!(
                    "a session of {} is in more than one log: counted once",
                    tapewise_model::units::count(
                        mine.events.len().min(session.events.len()),
                        "event"
                    )
                ),
            });
            if session.events.len() > mine.events.len() {
                *mine = session;
            }
        }
    }
}

/// Why a log could not be read.
#[derive(Debug, thiserror::Error)]
pub enum EventLogError {
    /// No lines.
    #[error(transparent)]
    Line(#[from] LineError),
    /// A line that is no JSON object.
    #[error("line {line}: no JSON object: {reason}: {text}")]
    Json {
        /// The line, from 1.
        line: u64,
        /// What the parser said.
        reason: String,
        /// The beginning of the line.
        text: String,
    },
    /// An object that is no event and no header.
    #[error("line {line}: {reason}")]
    Record {
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// A log of a later version than this program knows.
    #[error("line {line}: a log of version {found}; this program reads up to version {VERSION}")]
    Version {
        /// The line, from 1.
        line: u64,
        /// Its version.
        found: u64,
    },
}

/// One line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A new session begins.
    Header(Box<Header>),
    /// Something was done.
    Event(Box<Event>),
}

/// Reads a log record by record, in constant memory.
#[derive(Debug)]
pub struct EventReader<R> {
    lines: Lines<R>,
    header: Option<Header>,
    unknown: BTreeMap<String, (u64, u64)>,
    notices: Notices,
}

impl<R: BufRead> EventReader<R> {
    /// Begins to read.
    pub fn new(input: R) -> EventReader<R> {
        EventReader {
            lines: Lines::new(input, b'\n'),
            header: None,
            unknown: BTreeMap::new(),
            notices: Notices::new(),
        }
    }

    /// The next record; `None` at the end. An event that does not name its device or cartridge gets
    /// that of the session. A last line that was cut off is left out, and said: the writer was
    /// stopped while it wrote.
    ///
    /// # Errors
    /// [`EventLogError`] with the line.
    pub fn next_record(&mut self) -> Result<Option<Record>, EventLogError> {
        loop {
            let Some((line, bytes)) = self.lines.next()? else {
                return Ok(None);
            };
            if bytes.trim_ascii().is_empty() {
                continue;
            }
            let mut object: Map<String, Value> = match serde_json::from_slice(bytes) {
                Ok(object) => object,
                Err(error) if error.is_eof() => {
                    let error = json_error(line, bytes, &error);
                    if self.lines.next()?.is_some() {
                        return Err(error);
                    }
                    let text = || "the last line is cut off: left out".to_owned();
                    self.notices.push("cut-off", Some(line), text);
                    return Ok(None);
                }
                Err(error) => return Err(json_error(line, bytes, &error)),
            };
            let record = match object.get(MARK) {
                Some(version) => self.header(line, version.as_u64(), &object)?,
                None => {
                    whole_micros(line, &mut object)?;
                    self.event(line, object)?
                }
            };
            return Ok(Some(record));
        }
    }

    /// What was left out so far.
    pub fn finish(mut self) -> Vec<Notice> {
        for (name, (line, count)) in self.unknown {
            self.notices.push("unknown-field", Some(line), || {
                format!(
                    "the field \"{name}\" is not known: left out ({})",
                    tapewise_model::units::count(count as usize, "time")
                )
            });
        }
        self.notices.finish()
    }

    fn header(
        &mut self,
        line: u64,
        version: Option<u64>,
        object: &Map<String, Value>,
    ) -> Result<Record, EventLogError> {
        if let Some(found) = version.filter(|&found| found > u64::from(VERSION)) {
            return Err(EventLogError::Version { line, found });
        }
        let header: Header = serde_json::from_value(Value::Object(object.clone()))
            .map_err(|error| record_error(line, &error))?;
        self.say_unknown(line, object, &to_object(&header), &HEADER_OPTIONAL);
        self.header = Some(header.clone());
        Ok(Record::Header(Box::new(header)))
    }

    fn event(&mut self, line: u64, object: Map<String, Value>) -> Result<Record, EventLogError> {
        let mut event: Event = serde_json::from_value(Value::Object(object.clone()))
            .map_err(|error| record_error(line, &error))?;
        if !(0..=MOST_US).contains(&event.took_us.0) {
            let reason = format!("it took {} µs, which no clock shows", event.took_us.0);
            return Err(EventLogError::Record { line, reason });
        }
        if !(-MOST_US..=MOST_US).contains(&event.at_us.0) {
            let reason = format!("it began at {} µs, which no clock shows", event.at_us.0);
            return Err(EventLogError::Record { line, reason });
        }
        self.say_unknown(line, &object, &to_object(&event), &EVENT_OPTIONAL);
        if let Some(header) = &self.header {
            let serial = || header.device.as_ref()?.serial.clone();
            event.device = event.device.or_else(serial);
            event.cartridge = event.cartridge.or_else(|| header.cartridge.clone());
        }
        Ok(Record::Event(Box::new(event)))
    }

    /// Counts the fields of a line that are not among those written back, nor known to be left out
    /// where they say nothing.
    fn say_unknown(
        &mut self,
        line: u64,
        object: &Map<String, Value>,
        known: &Map<String, Value>,
        optional: &[&str],
    ) {
        for name in object.keys() {
            if !known.contains_key(name) && !optional.contains(&name.as_str()) {
                self.unknown.entry(name.clone()).or_insert((line, 0)).1 += 1;
            }
        }
    }
}

/// Fields that are not written back when they say nothing, and may be read all the same.
const HEADER_OPTIONAL: [&str; 6] = [
    "seed",
    "device",
    "cartridge",
    "profile",
    "emulated",
    "byte_scale",
];
const EVENT_OPTIONAL: [&str; 14] = [
    "predicted_us",
    "plan",
    "device",
    "cartridge",
    "from",
    "to",
    "slot",
    "blocks",
    "bytes",
    "outcome",
    "sense",
    "purpose",
    "user",
    "parameter",
];

fn to_object(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

fn json_error(line: u64, bytes: &[u8], error: &serde_json::Error) -> EventLogError {
    EventLogError::Json {
        line,
        reason: error.to_string(),
        text: excerpt(&String::from_utf8_lossy(bytes)),
    }
}

fn record_error(line: u64, error: &serde_json::Error) -> EventLogError {
    EventLogError::Record {
        line,
        reason: error.to_string(),
    }
}

/// 285 years, in microseconds: longer times are mistakes, and sums of them would not fit.
const MOST_US: i64 = 9_000_000_000_000_000;

/// Turns `at` and `took` in seconds or milliseconds into whole microseconds, the nearest.
fn whole_micros(line: u64, object: &mut Map<String, Value>) -> Result<(), EventLogError> {
    for (name, micros, factor) in [
        ("at_s", "at_us", 1e6),
        ("at_ms", "at_us", 1e3),
        ("took_s", "took_us", 1e6),
        ("took_ms", "took_us", 1e3),
    ] {
        let Some(value) = object.remove(name) else {
            continue;
        };
        let number = value.as_f64().map(|number| (number * factor).round());
        let Some(number) = number.filter(|number| number.abs() <= MOST_US as f64) else {
            let reason = format!("{name} is {value}, not a number of this size");
            return Err(EventLogError::Record { line, reason });
        };
        if object
            .insert(micros.to_owned(), (number as i64).into())
            .is_some()
        {
            let reason = format!("{micros} is given twice, once as {name}");
            return Err(EventLogError::Record { line, reason });
        }
    }
    Ok(())
}

/// Reads a whole log.
///
/// # Errors
/// [`EventLogError`] with the line of the first that is wrong.
pub fn read_events(input: impl BufRead) -> Result<EventLog, EventLogError> {
    let mut reader = EventReader::new(input);
    let mut sessions: Vec<Session> = Vec::new();
    while let Some(record) = reader.next_record()? {
        match (record, sessions.last_mut()) {
            (Record::Header(header), _) => sessions.push(Session {
                header: Some(*header),
                events: Vec::new(),
            }),
            (Record::Event(event), Some(session)) => session.events.push(*event),
            (Record::Event(event), None) => sessions.push(Session {
                header: None,
                events: vec![*event],
            }),
        }
    }
    Ok(EventLog {
        sessions,
        notices: reader.finish(),
    })
}

/// The length of a log up to the end of its last whole line: half of one is what a killed program leaves, and whoever
/// goes on with the log cuts it off.
///
/// # Errors
/// What the log says.
pub fn whole_lines_bytes(log: &mut (impl Read + Seek)) -> std::io::Result<u64> {
    let mut end = log.seek(SeekFrom::End(0))?;
    let mut bytes = Vec::new();
    while end > 0 {
        let from = end.saturating_sub(STEP_BYTES);
        bytes.resize((end - from) as usize, 0);
        log.seek(SeekFrom::Start(from))?;
        log.read_exact(&mut bytes)?;
        if let Some(at) = bytes.iter().rposition(|&byte| byte == b'\n') {
            return Ok(from + at as u64 + 1);
        }
        end = from;
    }
    Ok(0)
}

/// Writes a session: its header, then event by event, each line flushed.
#[derive(Debug)]
pub struct EventWriter<W> {
    output: W,
}

impl<W: Write> EventWriter<W> {
    /// Writes the header of a session; to take a log up again, give the end of it.
    ///
    /// # Errors
    /// What the output says.
    pub fn new(output: W, header: &Header) -> std::io::Result<EventWriter<W>> {
        let mut writer = EventWriter { output };
        writer.line(header)?;
        Ok(writer)
    }

    /// Writes an event.
    ///
    /// # Errors
    /// What the output says.
    pub fn write(&mut self, event: &Event) -> std::io::Result<()> {
        self.line(event)
    }

    fn line(&mut self, value: &impl Serialize) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.output.write_all(&line)?;
        self.output.flush()
    }
}
