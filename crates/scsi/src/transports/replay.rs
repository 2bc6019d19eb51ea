//! A transport that gives the answers of a recording, and insists on its commands.

use super::exchange::{Bytes, Exchange, Head, VERSION};
use crate::cdb::Cdb;
use crate::transport::{Completion, Data, Transport, TransportError};
use std::path::Path;
use std::time::Duration;

/// A recording that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file cannot be opened or read.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A line is not what the format says.
    #[error("{file}:{line}: {what}")]
    Line {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
}

/// Answers as recorded, on a clock made of the recorded times.
pub struct Replay {
    name: String,
    exchanges: Vec<Exchange>,
    next: usize,
    now: Duration,
}

impl Replay {
    /// Reads a recording from a file.
    ///
    /// # Errors
    /// [`ReplayError`] naming the line that is not what the format says.
    pub fn open(path: &Path) -> Result<Replay, ReplayError> {
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Replay::parse(&file, &text),
            Err(source) => Err(ReplayError::Io { file, source }),
        }
    }

    /// Reads a recording from its text; `file` is its name for errors.
    ///
    /// # Errors
    /// [`ReplayError`] naming the line that is not what the format says.
    pub fn parse(file: &str, text: &str) -> Result<Replay, ReplayError> {
        let wrong = |at: usize, what: String| ReplayError::Line {
            file: file.to_owned(),
            line: at + 1,
            what,
        };
        let mut lines = text.lines().enumerate();
        let (_, first) = lines
            .next()
            .ok_or_else(|| wrong(0, "the file is empty".to_owned()))?;
        let head: Head = serde_json::from_str(first)
            .map_err(|error| wrong(0, format!("not the head of a recording: {error}")))?;
        if head.tapewise_exchanges != VERSION {
            let version = head.tapewise_exchanges;
            return Err(wrong(
                0,
                format!("version {version}, this program reads {VERSION}"),
            ));
        }
        let exchanges = lines
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(at, line)| {
                let exchange = serde_json::from_str(line).map_err(|error| error.to_string());
                exchange.and_then(checked).map_err(|what| wrong(at, what))
            })
            .collect::<Result<_, _>>()?;
        Ok(Replay {
            name: format!("replay:{file}"),
            exchanges,
            next: 0,
            now: Duration::ZERO,
        })
    }

    /// How many exchanges of the recording were not asked for.
    pub fn remaining(&self) -> usize {
        self.exchanges.len() - self.next
    }

    /// How this exchange differs from what the caller does.
    fn deviation(exchange: &Exchange, cdb: &Cdb, data: &Data<'_>) -> Option<String> {
        if exchange.cdb.0 != cdb.bytes() {
            return Some(format!(
                "is the command {}, asked was {cdb:?}",
                exchange.cdb
            ));
        }
        match data {
            Data::None => (exchange.room.is_some() || exchange.data_out.is_some())
                .then(|| "moves data, asked was a command without".to_owned()),
            Data::In(buffer) => (exchange.room != Some(buffer.len())).then(|| {
                let room = exchange.room.unwrap_or(0);
                format!(
                    "has room for {room} bytes, asked was one of {}",
                    buffer.len()
                )
            }),
            Data::Out(bytes) => match &exchange.data_out {
                Some(sent) if sent.is(bytes) => None,
                Some(_) => Some("sends other data than asked".to_owned()),
                None => Some("sends no data, asked was one that does".to_owned()),
            },
        }
    }
}

/// The exchange if its parts agree.
fn checked(exchange: Exchange) -> Result<Exchange, String> {
    let parts = [&exchange.data_in, &exchange.data_out];
    if !parts.into_iter().flatten().all(Bytes::is_sound) {
        return Err("data: not as long as it says, and without a checksum".to_owned());
    }
    let got = exchange.data_in.as_ref().map_or(0, |bytes| bytes.length);
    if got > exchange.room.unwrap_or(0) {
        return Err(format!(
            "{got} bytes of data are more than there was room for"
        ));
    }
    Ok(exchange)
}

impl Transport for Replay {
    fn name(&self) -> &str {
        &self.name
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        _: Duration,
    ) -> Result<Completion, TransportError> {
        let number = self.next + 1;
        let deviates = |what: String| TransportError::Deviation {
            device: self.name.clone(),
            exchange: number,
            what,
        };
        let Some(exchange) = self.exchanges.get(self.next) else {
            let what = format!("does not exist: it ended before {cdb:?}");
            return Err(deviates(what));
        };
        if let Some(what) = Replay::deviation(exchange, cdb, &data) {
            return Err(deviates(what));
        }
        if let (Data::In(buffer), Some(got)) = (data, &exchange.data_in) {
            let kept = &got.hex.0;
            if kept.len() < got.length {
                let (kept, length) = (kept.len(), got.length);
                return Err(deviates(format!(
                    "keeps {kept} of {length} bytes of data only"
                )));
            }
            buffer[..kept.len()].copy_from_slice(kept);
        }
        let end = Duration::from_micros(exchange.at_us.saturating_add(exchange.took_us));
        let result = exchange.end.result(&self.name);
        self.now = self.now.max(end);
        self.next += 1;
        result
    }

    fn now(&self) -> Duration {
        self.now
    }

    fn wait(&mut self, duration: Duration) {
        self.now += duration;
    }
}
