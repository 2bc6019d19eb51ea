//! A host that talks to emulated devices in bytes, so that the tests see what goes over the wire.

#![allow(dead_code)] // each test file uses a part of it

use std::path::Path;
use std::time::Duration;
use tapewise_emulator::{Clock, EmulatedTransport, Library};
use tapewise_scsi::{Cdb, Completion, Data, Status, Transport};

/// Longer than any command.
const LONG: Duration = Duration::from_secs(100_000);

pub struct Host {
    pub transport: EmulatedTransport,
}

/// What is left of sense data: key, code, flags (bits 7-5 of byte 2), information if valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    pub key: u8,
    pub code: u16,
    pub flags: u8,
    pub information: Option<i32>,
}

pub const FILEMARK: u8 = 0x80;
pub const END: u8 = 0x40;
pub const LENGTH: u8 = 0x20;

impl Host {
    pub fn new(transport: EmulatedTransport) -> Host {
        Host { transport }
    }

    pub fn run<const N: usize>(&mut self, cdb: [u8; N], data: Data<'_>) -> Completion {
        self.transport.execute(&Cdb::new(cdb), data, LONG).unwrap()
    }

    pub fn none<const N: usize>(&mut self, cdb: [u8; N]) -> Result<(), Said> {
        said(self.run(cdb, Data::None))
    }

    pub fn input<const N: usize>(&mut self, cdb: [u8; N], room: usize) -> Result<Vec<u8>, Said> {
        let mut bytes = vec![0; room];
        let done = self.run(cdb, Data::In(&mut bytes));
        bytes.truncate(done.transferred);
        said(done).map(|()| bytes)
    }

    pub fn output<const N: usize>(&mut self, cdb: [u8; N], bytes: &[u8]) -> Result<(), Said> {
        said(self.run(cdb, Data::Out(bytes)))
    }

    /// Polls as a host does, until the drive is ready and has nothing more to tell.
    pub fn wait_until_ready(&mut self) {
        while self.none([0; 6]).is_err() {
            self.transport.wait(Duration::from_secs(1));
        }
    }

    pub fn write(&mut self, block: &[u8]) -> Result<(), Said> {
        let length = (block.len() as u32).to_be_bytes();
        self.output([0x0a, 0, length[1], length[2], length[3], 0], block)
    }

    pub fn filemarks(&mut self, count: u8) -> Result<(), Said> {
        self.none([0x10, 0, 0, 0, count, 0])
    }

    pub fn read(&mut self, room: usize) -> Result<Vec<u8>, Said> {
        let length = (room as u32).to_be_bytes();
        self.input([0x08, 0, length[1], length[2], length[3], 0], room)
    }

    pub fn locate(&mut self, partition: u8, object: u64) -> Result<(), Said> {
        let mut cdb = [0; 16];
        cdb[0] = 0x92;
        cdb[1] = 0x02;
        cdb[3] = partition;
        cdb[4..12].copy_from_slice(&object.to_be_bytes());
        self.none(cdb)
    }

    pub fn locate_10(&mut self, object: u32) -> Result<(), Said> {
        let b = object.to_be_bytes();
        self.none([0x2b, 0, 0, b[0], b[1], b[2], b[3], 0, 0, 0])
    }

    pub fn space(&mut self, code: u8, count: i32) -> Result<(), Said> {
        let b = count.to_be_bytes();
        self.none([0x11, code, b[1], b[2], b[3], 0])
    }

    pub fn rewind(&mut self) {
        self.none([0x01, 0, 0, 0, 0, 0]).unwrap();
    }

    /// Partition and logical object, by READ POSITION in its long form.
    pub fn position(&mut self) -> (u32, u64) {
        let answer = self
            .input([0x34, 0x06, 0, 0, 0, 0, 0, 0, 0, 0], 32)
            .unwrap();
        let partition = u32::from_be_bytes(answer[4..8].try_into().unwrap());
        (
            partition,
            u64::from_be_bytes(answer[8..16].try_into().unwrap()),
        )
    }

    /// Logical object, by READ POSITION in its short form.
    pub fn short_position(&mut self) -> u32 {
        let answer = self.input([0x34, 0, 0, 0, 0, 0, 0, 0, 0, 0], 20).unwrap();
        u32::from_be_bytes(answer[4..8].try_into().unwrap())
    }

    /// Physical wrap and LPOS, by REQUEST SENSE.
    pub fn physical(&mut self) -> (u8, u32) {
        let sense = self.input([0x03, 0, 0, 0, 96, 0], 96).unwrap();
        (
            sense[29],
            u32::from_be_bytes(sense[30..34].try_into().unwrap()),
        )
    }

    /// Block length by MODE SELECT(6).
    pub fn set_block_length(&mut self, length: u32) {
        let b = length.to_be_bytes();
        let list = [0, 0, 0x10, 8, 0, 0, 0, 0, 0, b[1], b[2], b[3]];
        self.output([0x15, 0x10, 0, 0, 12, 0], &list).unwrap();
    }

    pub fn unload(&mut self) -> Result<(), Said> {
        self.none([0x1b, 0, 0, 0, 0, 0])
    }
}

fn said(done: Completion) -> Result<(), Said> {
    match done.status {
        Status::Good => Ok(()),
        Status::CheckCondition => Err(decode(done.sense.bytes())),
        other => panic!("status {other:?}"),
    }
}

pub fn decode(sense: &[u8]) -> Said {
    let information = i32::from_be_bytes(sense[3..7].try_into().unwrap());
    Said {
        key: sense[2] & 0x0f,
        code: u16::from_be_bytes([sense[12], sense[13]]),
        flags: sense[2] & 0xe0,
        information: (sense[0] & 0x80 != 0).then_some(information),
    }
}

pub fn check(key: u8, code: u16) -> Said {
    Said {
        key,
        code,
        flags: 0,
        information: None,
    }
}

/// A new drive of this kind with a blank cartridge, ready.
pub fn drive(kind: &str, directory: &Path) -> (Library, Host) {
    let path = directory.join("library");
    let library = Library::fresh_drive(kind, 7, &path, Clock::virtual_time()).unwrap();
    let mut host = Host::new(library.transport_to_drive(0).unwrap());
    host.wait_until_ready();
    (library, host)
}
