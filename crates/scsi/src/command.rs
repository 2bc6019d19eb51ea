//! What every command is: a CDB, a time-out, and an answer that can be decoded.

use crate::cdb::Cdb;
use crate::decode_error::DecodeError;
use crate::error::ScsiError;
use crate::sense::Sense;
use crate::transport::{Data, Transport};
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
        let data = match self.direction() {
            Direction::None => Data::None,
            Direction::In(_) => Data::In(&mut answer),
            Direction::Out(bytes) => Data::Out(bytes),
        };
        let done = transport
            .execute(&self.cdb(), data, self.timeout())
            .map_err(|error| ScsiError::transport(self.name(), error))?;
        done.check(self.name())?;
        answer.truncate(done.transferred);
        let decoded = self
            .decode(&answer)
            .map_err(|error| ScsiError::decode(self.name(), error))?;
        Ok((decoded, done.sense()))
    }
}
