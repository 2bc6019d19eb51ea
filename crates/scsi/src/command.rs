//! What every command is: a CDB, a time-out, and an answer that can be decoded.

use crate::cdb::Cdb;
use crate::decode_error::DecodeError;
use crate::error::ScsiError;
use crate::sense::Sense;
use crate::transport::{Data, Transport, TransportError};
use std::time::Duration;

/// Which way a command moves data, and how much at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction<'a> {
    /// No data.
    None,
    /// The device sends up to so many bytes.
    In(usize),
    /// We send these bytes.
    Out(&'a [u8]),
}

/// A page of memory: every path to a device carries this much.
const SMALLEST: usize = 4096;

/// A command with small data, as a value. READ and WRITE bring buffers of their own: see `commands::read`.
pub trait Command {
    /// What the device answers.
    type Answer;

    /// The name as the standards write it, for errors: "READ POSITION".
    fn name(&self) -> &'static str;

    /// The bytes of the command.
    fn cdb(&self) -> Cdb;

    /// What data goes with it: none, unless the command says otherwise.
    fn direction(&self) -> Direction<'_> {
        Direction::None
    }

    /// The bytes of the command when no more than this many bytes of the answer can be carried; none for a command
    /// whose answer is never long. Devices cut the answer there.
    fn cdb_within(&self, _bytes: usize) -> Option<Cdb> {
        None
    }

    /// How long the device may take before the command counts as lost.
    fn timeout(&self) -> Duration;

    /// Decodes what came back.
    ///
    /// # Errors
    /// [`DecodeError`] when the answer is shorter than it says or than its format allows.
    fn decode(&self, answer: &[u8]) -> Result<Self::Answer, DecodeError>;

    /// Sends the command and decodes its answer. Nothing is repeated here: what a unit attention or
    /// a busy device means is for the caller, who knows what state it relied on.
    ///
    /// # Errors
    /// [`ScsiError`] with the command's name and, for a CHECK CONDITION, the sense.
    fn send(&self, transport: &mut dyn Transport) -> Result<Self::Answer, ScsiError> {
        self.send_noting(transport).map(|(answer, _)| answer)
    }

    /// Like [`Command::send`], with the sense of a command that was carried out all the same: a
    /// recovered error, a cleaning request.
    ///
    /// # Errors
    /// As [`Command::send`].
    fn send_noting(
        &self,
        transport: &mut dyn Transport,
    ) -> Result<(Self::Answer, Option<Sense>), ScsiError> {
        let mut answer = match self.direction() {
            Direction::In(bytes) => vec![0; bytes],
            _ => Vec::new(),
        };
        let mut cdb = self.cdb();
        let done = loop {
            let data = match self.direction() {
                Direction::None => Data::None,
                Direction::In(_) => Data::In(&mut answer),
                Direction::Out(bytes) => Data::Out(bytes),
            };
            let error = match transport.execute(&cdb, data, self.timeout()) {
                Ok(done) => break done,
                Err(error) => error,
            };
            // Some adapters carry less than the longest answer, and do not say how much.
            let half = (answer.len() / 2).max(SMALLEST);
            let shorter = self.cdb_within(half).filter(|_| half < answer.len());
            match (&error, shorter) {
                (TransportError::TooLarge { .. }, Some(shorter)) => {
                    cdb = shorter;
                    answer.truncate(half);
                }
                _ => return Err(ScsiError::transport(self.name(), error)),
            }
        };
        done.check(self.name())?;
        answer.truncate(done.transferred);
        let decoded = self
            .decode(&answer)
            .map_err(|error| ScsiError::decode(self.name(), error))?;
        Ok((decoded, done.sense()))
    }
}
