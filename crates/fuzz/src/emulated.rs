//! What emulated devices are sent.

use std::time::Duration;
use tapewise_emulator::iscsi;
use tapewise_emulator::{Clock, EmulatedTransport, Library, LibrarySpec};
use tapewise_scsi::{Cdb, Data, Transport};

/// PDUs of an initiator. Nobody gets in without the secret.
pub(crate) fn iscsi_pdus(bytes: &[u8]) {
    let (_, is_in) = iscsi::hear(bytes);
    assert!(!is_in, "somebody got in without the secret");
}

/// Commands for a drive with a cartridge in it and the robot beside it: the bytes of each are flags (1: for the robot,
/// 2: an answer is wanted), the CDB, the number of bytes of its data, and these.
pub(crate) fn commands(mut bytes: &[u8]) {
    /// More commands find nothing new.
    const MOST: usize = 64;
    let Some((_directory, mut drive, mut robot)) = devices() else {
        return;
    };
    for _ in 0..MOST {
        let Some((&flags, rest)) = bytes.split_first() else {
            return;
        };
        let Some((cdb, rest)) = cdb(rest) else {
            return;
        };
        let Some((&length, rest)) = rest.split_first() else {
            return;
        };
        let (data, rest) = rest.split_at(rest.len().min(usize::from(length)));
        bytes = rest;
        let mut room = [0; 1024];
        let data = if flags & 2 != 0 {
            Data::In(&mut room)
        } else {
            Data::Out(data)
        };
        let device = if flags & 1 != 0 {
            &mut robot
        } else {
            &mut drive
        };
        let before = device.now();
        let done = device.execute(&cdb, data, Duration::from_secs(1 << 32));
        let done = done.expect("an answer to any command");
        assert!(done.transferred <= room.len());
        assert!(device.now() >= before, "the clock went back");
    }
}

/// A CDB, as long as its operation code says.
fn cdb(bytes: &[u8]) -> Option<(Cdb, &[u8])> {
    fn of<const N: usize>(bytes: &[u8]) -> Option<([u8; N], &[u8])> {
        let (cdb, rest) = bytes.split_first_chunk::<N>()?;
        Some((*cdb, rest))
    }
    match bytes.first()? >> 5 {
        0 => of::<6>(bytes).map(|(cdb, rest)| (Cdb::new(cdb), rest)),
        1 | 2 => of::<10>(bytes).map(|(cdb, rest)| (Cdb::new(cdb), rest)),
        4 => of::<16>(bytes).map(|(cdb, rest)| (Cdb::new(cdb), rest)),
        _ => of::<12>(bytes).map(|(cdb, rest)| (Cdb::new(cdb), rest)),
    }
}

/// A small library whose first drive is ready, on a tape that is soon full.
fn devices() -> Option<(tempfile::TempDir, EmulatedTransport, EmulatedTransport)> {
    let directory = tempfile::tempdir().ok()?;
    let mut spec = LibrarySpec::with_robot("ibm3584", "lto9", 1, 4, 2, 1);
    for cartridge in &mut spec.cartridges {
        cartridge.scale = 1_000_000_000;
    }
    let path = directory.path().join("library");
    let library = Library::create(&path, &spec, Clock::virtual_time()).ok()?;
    let mut drive = library.transport_to_drive(0).ok()?;
    let mut robot = library.transport_to_changer().ok()?;
    let load = Cdb::new([0xa5, 0, 0, 1, 4, 1, 1, 1, 0, 0, 0, 0]);
    for _ in 0..3 {
        robot
            .execute(&load, Data::None, Duration::from_secs(1000))
            .ok()?;
    }
    drive.wait(Duration::from_secs(100));
    for _ in 0..3 {
        let ready = Cdb::new([0; 6]);
        drive
            .execute(&ready, Data::None, Duration::from_secs(1000))
            .ok()?;
    }
    Some((directory, drive, robot))
}
