//! A transport that writes down every exchange of another: for captures that people send in, and for tests made of them.

use super::exchange::{Bytes, End, Exchange, Head, Hex, VERSION, micros};
use crate::cdb::Cdb;
use crate::transport::{Completion, Data, Transport, TransportError};
use serde::Serialize;
use std::io::Write;
use std::time::Duration;

/// How much of the data is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Every byte, so that everything can be replayed.
    All,
    /// So many bytes of each transfer, and a checksum of the rest: enough for every answer of a
    /// drive, but not for what is on the tape.
    First(usize),
}

impl Keep {
    fn bytes(self) -> usize {
        match self {
            Keep::All => usize::MAX,
            Keep::First(bytes) => bytes,
        }
    }
}

/// Carries commands as `inner` does, and writes each exchange to a file as one line of JSON.
pub struct Record<W> {
    inner: Box<dyn Transport>,
    file: W,
    keep: Keep,
}

impl<W: Write + Send> Record<W> {
    /// Starts a recording with the line that names the device.
    ///
    /// # Errors
    /// [`TransportError`] when the file cannot be written.
    pub fn new(
        inner: Box<dyn Transport>,
        file: W,
        keep: Keep,
    ) -> Result<Record<W>, TransportError> {
        let head = Head {
            tapewise_exchanges: VERSION,
            device: inner.name().to_owned(),
        };
        let mut record = Record { inner, file, keep };
        record.write(&head)?;
        Ok(record)
    }

    /// Each line goes out at once: what led to a crash is what one wants to read.
    fn write(&mut self, line: &impl Serialize) -> Result<(), TransportError> {
        serde_json::to_string(line)
            .map_err(std::io::Error::from)
            .and_then(|text| writeln!(self.file, "{text}"))
            .and_then(|()| self.file.flush())
            .map_err(|source| TransportError::Io {
                device: format!("the recording of {}", self.inner.name()),
                source,
            })
    }
}

impl<W: Write + Send> Transport for Record<W> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        mut data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        let most = self.keep.bytes();
        let start = self.inner.now();
        let passed_on = match &mut data {
            Data::None => Data::None,
            Data::In(buffer) => Data::In(buffer),
            Data::Out(bytes) => Data::Out(bytes),
        };
        let result = self.inner.execute(cdb, passed_on, timeout);
        let took = self.inner.now().saturating_sub(start);
        let mut exchange = Exchange {
            at_us: micros(start),
            took_us: micros(took),
            cdb: Hex(cdb.bytes().to_vec()),
            data_out: None,
            room: None,
            data_in: None,
            end: End::of(&result),
        };
        match (&data, &result) {
            (Data::Out(bytes), _) => exchange.data_out = Some(Bytes::of(bytes, most)),
            (Data::In(buffer), Ok(done)) => {
                let got = &buffer[..done.transferred.min(buffer.len())];
                exchange.room = Some(buffer.len());
                exchange.data_in = Some(Bytes::of(got, most));
            }
            (Data::In(buffer), Err(_)) => exchange.room = Some(buffer.len()),
            (Data::None, _) => {}
        }
        self.write(&exchange)?;
        result
    }

    fn most_bytes(&self) -> Option<usize> {
        self.inner.most_bytes()
    }

    fn closes_with_filemark(&self) -> bool {
        self.inner.closes_with_filemark()
    }

    fn now(&self) -> Duration {
        self.inner.now()
    }

    fn wait(&mut self, duration: Duration) {
        self.inner.wait(duration);
    }
}
