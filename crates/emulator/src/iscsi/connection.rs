//! Whole PDUs in and out of a TCP connection, with their digests and numbers.

use super::login::{Agreed, RECEIVE_MOST};
use super::pdu::{HEADER, Lengths, Numbers, Response};
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A session that is silent for so long is pinged, and ended if it stays silent for as long again.
const SILENCE: Duration = Duration::from_secs(60);

/// Commands that an initiator may have under way at once.
pub(super) const QUEUE: u32 = 32;

/// Why a connection has ended.
#[derive(Debug, thiserror::Error)]
pub(super) enum Ended {
    #[error("the initiator logged out")]
    LoggedOut,
    #[error("the connection was closed")]
    Closed,
    #[error("the connection was closed in the middle of a PDU")]
    Cut,
    #[error("nothing was heard for too long")]
    Silent,
    #[error("{0}")]
    Protocol(String),
    #[error("{0}")]
    Refused(String),
    #[error("{0}")]
    Io(io::Error),
}

/// A PDU as it came: its header and its data without padding.
pub(super) struct Received {
    pub header: [u8; HEADER],
    pub data: Vec<u8>,
}

/// The two ways of a connection. What is sent is shared by the threads that answer.
pub(super) struct Connection {
    incoming: TcpStream,
    outgoing: Arc<Mutex<Outgoing>>,
    /// Room for the data of the next PDU: fresh memory for each costs more than what is copied into it.
    room: Vec<u8>,
    header_digest: bool,
    data_digest: bool,
}

impl Connection {
    pub fn new(stream: TcpStream) -> io::Result<Connection> {
        let outgoing = Outgoing {
            stream: stream.try_clone()?,
            numbers: Numbers::default(),
            under_way: 0,
            header_digest: false,
            data_digest: false,
        };
        Ok(Connection {
            incoming: stream,
            outgoing: Arc::new(Mutex::new(outgoing)),
            room: Vec::new(),
            header_digest: false,
            data_digest: false,
        })
    }

    /// What was agreed holds from here on.
    pub fn agree(&mut self, agreed: &Agreed) -> io::Result<()> {
        (self.header_digest, self.data_digest) = (agreed.header_digest, agreed.data_digest);
        let mut outgoing = self.outgoing();
        (outgoing.header_digest, outgoing.data_digest) = (agreed.header_digest, agreed.data_digest);
        drop(outgoing);
        self.incoming.set_read_timeout(Some(SILENCE))
    }

    /// Where the initiator has reached us.
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.incoming.local_addr().ok()
    }

    /// The way out, for a thread that answers.
    pub fn way_out(&self) -> Arc<Mutex<Outgoing>> {
        Arc::clone(&self.outgoing)
    }

    pub fn outgoing(&self) -> MutexGuard<'_, Outgoing> {
        lock(&self.outgoing)
    }

    pub fn send(&self, response: &Response, data: &[u8]) -> Result<(), Ended> {
        self.outgoing().send(response, data).map_err(Ended::Io)
    }

    /// The next PDU.
    ///
    /// # Errors
    /// [`Ended::Silent`] when none has begun for too long; the connection can still be used.
    pub fn receive(&mut self) -> Result<Received, Ended> {
        let header = self.receive_header()?;
        self.receive_rest(header)
    }

    /// The header of the next PDU; what follows it comes with [`Connection::receive_rest`] or
    /// [`Connection::receive_data`].
    ///
    /// # Errors
    /// Those of [`Connection::receive`].
    pub fn receive_header(&mut self) -> Result<[u8; HEADER], Ended> {
        let mut header = [0; HEADER];
        self.fill(&mut header, true)?;
        let lengths = Lengths::of(&header);
        if lengths.data > RECEIVE_MOST {
            return Err(Ended::Protocol(format!(
                "a PDU with {} bytes of data, and at most {RECEIVE_MOST} were agreed",
                lengths.data
            )));
        }
        let mut additional = [0; 4 * 255];
        let additional = &mut additional[..lengths.additional];
        self.fill(additional, false)?;
        if self.header_digest {
            let mut digest = [0; 4];
            self.fill(&mut digest, false)?;
            let found = crc32c::crc32c_append(crc32c::crc32c(&header), additional);
            if found.to_le_bytes() != digest {
                return Err(Ended::Protocol("a header whose digest is wrong".to_owned()));
            }
        }
        Ok(header)
    }

    /// What follows a header, in room of the connection: see [`Connection::reuse`].
    pub fn receive_rest(&mut self, header: [u8; HEADER]) -> Result<Received, Ended> {
        let mut data = std::mem::take(&mut self.room);
        data.resize(Lengths::of(&header).data, 0);
        self.receive_data(&mut data)?;
        Ok(Received { header, data })
    }

    /// The data that a header has announced, into room of just that length.
    pub fn receive_data(&mut self, data: &mut [u8]) -> Result<(), Ended> {
        self.fill(data, false)?;
        let mut padding = [0; 3];
        let padding = &mut padding[..data.len().next_multiple_of(4) - data.len()];
        self.fill(padding, false)?;
        if self.data_digest && !data.is_empty() {
            let mut digest = [0; 4];
            self.fill(&mut digest, false)?;
            if crc32c_of(&[data, padding], true).bytes() != digest {
                return Err(Ended::Protocol("data whose digest is wrong".to_owned()));
            }
        }
        Ok(())
    }

    /// Takes back what a PDU came in, for the next one.
    pub fn reuse(&mut self, pdu: Received) {
        self.room = pdu.data;
    }

    fn fill(&mut self, room: &mut [u8], is_beginning: bool) -> Result<(), Ended> {
        let mut filled = 0;
        while filled < room.len() {
            match self.incoming.read(&mut room[filled..]) {
                Ok(0) if is_beginning && filled == 0 => return Err(Ended::Closed),
                Ok(0) => return Err(Ended::Cut),
                Ok(bytes) => filled += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    return Err(if is_beginning && filled == 0 {
                        Ended::Silent
                    } else {
                        Ended::Protocol("a PDU that was not finished in time".to_owned())
                    });
                }
                Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                    return Err(Ended::Closed);
                }
                Err(error) => return Err(Ended::Io(error)),
            }
        }
        Ok(())
    }
}

/// What goes out, one PDU after the other.
pub(super) struct Outgoing {
    stream: TcpStream,
    numbers: Numbers,
    under_way: u32,
    header_digest: bool,
    data_digest: bool,
}

impl Outgoing {
    /// The first command's number, as the login tells it.
    pub fn start(&mut self, command: u32) {
        self.numbers.expected_command = command;
        self.numbers.most_command = command.wrapping_add(QUEUE - 1);
    }

    /// The number that the next command must have.
    pub fn expected_command(&self) -> u32 {
        self.numbers.expected_command
    }

    /// A command came in its turn.
    pub fn advance_command(&mut self) {
        self.numbers.expected_command = self.numbers.expected_command.wrapping_add(1);
        self.open_window();
    }

    /// A command is under way.
    pub fn begin(&mut self) {
        self.under_way += 1;
    }

    /// A command is over.
    pub fn end(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
        self.open_window();
    }

    /// Whether as many commands are under way as may be.
    pub fn is_full(&self) -> bool {
        self.under_way >= 2 * QUEUE
    }

    /// The window never moves back (RFC 7143, 4.2.2.1).
    fn open_window(&mut self) {
        let free = QUEUE.saturating_sub(self.under_way);
        let most = self
            .numbers
            .expected_command
            .wrapping_add(free)
            .wrapping_sub(1);
        if (most.wrapping_sub(self.numbers.most_command) as i32) > 0 {
            self.numbers.most_command = most;
        }
    }

    pub fn send(&mut self, response: &Response, data: &[u8]) -> io::Result<()> {
        let header = response.encode(self.numbers, data.len());
        if response.has_status() {
            self.numbers.status = self.numbers.status.wrapping_add(1);
        }
        let header_digest = crc32c_of(&[&header], self.header_digest);
        let padding = &[0; 3][..data.len().next_multiple_of(4) - data.len()];
        let data_digest = crc32c_of(&[data, padding], self.data_digest && !data.is_empty());
        let mut parts = [
            IoSlice::new(&header),
            IoSlice::new(header_digest.bytes()),
            IoSlice::new(data),
            IoSlice::new(padding),
            IoSlice::new(data_digest.bytes()),
        ];
        let mut left = &mut parts[..];
        while !left.is_empty() {
            match self.stream.write_vectored(left) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(bytes) => IoSlice::advance_slices(&mut left, bytes),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            // Parts without bytes are no reason to write.
            while left.first().is_some_and(|part| part.is_empty()) {
                left = &mut left[1..];
            }
        }
        Ok(())
    }
}

/// A digest, or none.
struct Digest([u8; 4], usize);

impl Digest {
    fn bytes(&self) -> &[u8] {
        &self.0[..self.1]
    }
}

fn crc32c_of(parts: &[&[u8]], is_wanted: bool) -> Digest {
    if !is_wanted {
        return Digest([0; 4], 0);
    }
    let sum = parts
        .iter()
        .fold(0, |sum, part| crc32c::crc32c_append(sum, part));
    Digest(sum.to_le_bytes(), 4)
}

pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_the_standard() {
        // RFC 7143, appendix A.4: 32 bytes of zeros, of ones, and counting up.
        assert_eq!(
            crc32c_of(&[&[0; 32]], true).bytes(),
            [0xaa, 0x36, 0x91, 0x8a]
        );
        assert_eq!(
            crc32c_of(&[&[0xff; 30], &[0xff; 2]], true).bytes(),
            [0x43, 0xab, 0xa8, 0x62]
        );
        let counting: Vec<u8> = (0..32).collect();
        assert_eq!(
            crc32c_of(&[&counting], true).bytes(),
            [0x4e, 0x79, 0xdd, 0x46]
        );
        assert_eq!(crc32c_of(&[&counting], false).bytes(), [0; 0]);
    }
}
