//! An initiator written byte by byte, apart from the target's own PDUs: it can also do what none should.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// The header and the data of a PDU that the target sent.
pub struct Pdu {
    pub header: [u8; 48],
    pub data: Vec<u8>,
}

/// How a command ended.
#[derive(Debug)]
pub struct Outcome {
    pub status: u8,
    pub data: Vec<u8>,
    /// The sense bytes, without the two of their length.
    pub sense: Vec<u8>,
    pub residual: u32,
}

impl Outcome {
    /// Additional sense code and qualifier.
    pub fn code(&self) -> u16 {
        self.sense
            .get(12..14)
            .map_or(0, |code| u16::from_be_bytes([code[0], code[1]]))
    }
}

/// A session.
pub struct Initiator {
    pub stream: TcpStream,
    pub digests: bool,
    pub command: u32,
    pub task: u32,
    pub send_most: usize,
}

pub const NAME: &str = "iqn.2026-11.example:test";

impl Initiator {
    /// A TCP connection, and no more.
    pub fn connect(address: SocketAddr) -> Initiator {
        Initiator {
            stream: TcpStream::connect(address).expect("a connection"),
            digests: false,
            command: 1,
            task: 1,
            send_most: 8192,
        }
    }

    /// A session of this initiator name and session identifier.
    pub fn log_in(
        address: SocketAddr,
        target: &str,
        name: &str,
        isid: u8,
        digests: bool,
    ) -> Initiator {
        let mut initiator = Initiator::connect(address);
        let digest = if digests { "CRC32C" } else { "None" };
        let text = format!(
            "InitiatorName={name}\0TargetName={target}\0SessionType=Normal\0AuthMethod=None\0HeaderDigest={digest}\0\
             DataDigest={digest}\0InitialR2T=Yes\0ImmediateData=Yes\0MaxRecvDataSegmentLength=65536\0\
             MaxBurstLength=131072\0FirstBurstLength=8192\0"
        );
        let answer = initiator.login(1, 3, true, isid, text.as_bytes());
        assert_eq!(
            answer.header[36..38],
            [0, 0],
            "{}",
            String::from_utf8_lossy(&answer.data)
        );
        assert_eq!(answer.header[1], 0x87);
        initiator.digests = digests;
        initiator
    }

    /// One login request and its answer.
    pub fn login(&mut self, stage: u8, next: u8, transits: bool, isid: u8, text: &[u8]) -> Pdu {
        let mut header = [0; 48];
        header[0] = 0x43;
        header[1] = u8::from(transits) << 7 | stage << 2 | if transits { next } else { 0 };
        header[8] = 0x80;
        header[13] = isid;
        header[24..28].copy_from_slice(&self.command.to_be_bytes());
        self.send(header, text);
        self.receive().expect("an answer to a login")
    }

    pub fn send(&mut self, mut header: [u8; 48], data: &[u8]) {
        header[5..8].copy_from_slice(&(data.len() as u32).to_be_bytes()[1..]);
        let mut bytes = header.to_vec();
        if self.digests {
            bytes.extend(crc32c::crc32c(&header).to_le_bytes());
        }
        let mut padded = data.to_vec();
        padded.resize(data.len().next_multiple_of(4), 0);
        bytes.extend(&padded);
        if self.digests && !data.is_empty() {
            bytes.extend(crc32c::crc32c(&padded).to_le_bytes());
        }
        // A target that has hung up is seen when its answer is missing.
        let _ = self.stream.write_all(&bytes);
    }

    /// The next PDU, or nothing when the target has hung up.
    pub fn receive(&mut self) -> Option<Pdu> {
        let mut header = [0; 48];
        self.stream.read_exact(&mut header).ok()?;
        let mut digest = [0; 4];
        if self.digests {
            self.stream.read_exact(&mut digest).ok()?;
            assert_eq!(
                digest,
                crc32c::crc32c(&header).to_le_bytes(),
                "header digest"
            );
        }
        let length = u32::from_be_bytes([0, header[5], header[6], header[7]]) as usize;
        let mut data = vec![0; length.next_multiple_of(4)];
        self.stream.read_exact(&mut data).ok()?;
        if self.digests && length > 0 {
            self.stream.read_exact(&mut digest).ok()?;
            assert_eq!(digest, crc32c::crc32c(&data).to_le_bytes(), "data digest");
        }
        data.truncate(length);
        Some(Pdu { header, data })
    }

    /// Sends a command with as much immediate data as fits; returns its tag.
    pub fn begin(&mut self, lun: u8, cdb: &[u8], reads: usize, writes: &[u8]) -> u32 {
        let mut header = [0; 48];
        header[0] = 0x01;
        header[1] = 0x80 | u8::from(reads > 0) << 6 | u8::from(!writes.is_empty()) << 5;
        header[9] = lun;
        self.task += 1;
        header[16..20].copy_from_slice(&self.task.to_be_bytes());
        header[20..24].copy_from_slice(&((reads + writes.len()) as u32).to_be_bytes());
        header[24..28].copy_from_slice(&self.command.to_be_bytes());
        header[32..32 + cdb.len()].copy_from_slice(cdb);
        self.command += 1;
        self.send(header, &writes[..writes.len().min(self.send_most)]);
        self.task
    }

    /// One Data-Out for a tag.
    pub fn data_out(&mut self, transfer: u32, offset: usize, data: &[u8], is_final: bool) {
        let mut header = [0; 48];
        header[0] = 0x05;
        header[1] = u8::from(is_final) << 7;
        header[16..20].copy_from_slice(&self.task.to_be_bytes());
        header[20..24].copy_from_slice(&transfer.to_be_bytes());
        header[40..44].copy_from_slice(&(offset as u32).to_be_bytes());
        self.send(header, data);
    }

    /// A command from its beginning to its end.
    pub fn run(&mut self, lun: u8, cdb: &[u8], reads: usize, writes: &[u8]) -> Outcome {
        self.begin(lun, cdb, reads, writes);
        let mut data = Vec::new();
        loop {
            let pdu = self.receive().expect("the target goes on");
            let word = |at: usize| u32::from_be_bytes(pdu.header[at..at + 4].try_into().unwrap());
            match pdu.header[0] {
                0x31 => {
                    let (transfer, offset, length) =
                        (word(20), word(40) as usize, word(44) as usize);
                    let burst = writes[offset..offset + length].to_vec();
                    for (number, part) in burst.chunks(self.send_most).enumerate() {
                        let at = offset + number * self.send_most;
                        self.data_out(transfer, at, part, at + part.len() == offset + length);
                    }
                }
                0x25 => {
                    assert_eq!(word(40) as usize, data.len(), "data in order");
                    data.extend(&pdu.data);
                    if pdu.header[1] & 1 == 1 {
                        return Outcome {
                            status: 0,
                            data,
                            sense: Vec::new(),
                            residual: word(44),
                        };
                    }
                }
                0x21 => {
                    return Outcome {
                        status: pdu.header[3],
                        data,
                        sense: pdu.data.get(2..).unwrap_or_default().to_vec(),
                        residual: word(44),
                    };
                }
                other => panic!("a PDU of kind {other:02x}h"),
            }
        }
    }

    /// The same for a unit whose unit attentions are of no interest.
    pub fn settle(&mut self, lun: u8) {
        while self.run(lun, &[0; 6], 0, &[]).status != 0 {}
    }
}
