//! Commands as bytes, and what they come to: the transports are tested below the commands.

use std::time::Duration;
use tapewise_scsi::{Cdb, Completion, Data, Status, Transport};

pub const LIMIT: Duration = Duration::from_secs(20);

pub fn ask(transport: &mut dyn Transport, cdb: Cdb) -> Completion {
    transport
        .execute(&cdb, Data::None, LIMIT)
        .expect("a status")
}

pub fn fetch(transport: &mut dyn Transport, cdb: Cdb, room: usize) -> (Completion, Vec<u8>) {
    let mut buffer = vec![0; room];
    let done = transport
        .execute(&cdb, Data::In(&mut buffer), LIMIT)
        .expect("a status");
    buffer.truncate(done.transferred);
    (done, buffer)
}

/// A completion in a word: "good", or key and code of its sense, with the flags.
pub fn outcome(done: &Completion) -> String {
    let sense = done.sense.bytes();
    match done.status {
        Status::Good => "good".to_owned(),
        Status::CheckCondition if sense.len() >= 14 => {
            let flag = |bit: u8, name| if sense[2] & bit != 0 { name } else { "" };
            let flags = [
                flag(0x80, " filemark"),
                flag(0x40, " end"),
                flag(0x20, " length"),
            ]
            .concat();
            format!(
                "{:x} {:02x}/{:02x}{flags}",
                sense[2] & 0x0f,
                sense[12],
                sense[13]
            )
        }
        other => format!("{other:?}"),
    }
}

pub fn move_medium(changer: &mut dyn Transport, from: u16, to: u16) -> Completion {
    let ([f0, f1], [t0, t1]) = (from.to_be_bytes(), to.to_be_bytes());
    ask(
        changer,
        Cdb::new([0xa5, 0, 0, 1, f0, f1, t0, t1, 0, 0, 0, 0]),
    )
}

/// The changer's load is asynchronous.
pub fn wait_until_ready(drive: &mut dyn Transport) {
    for _ in 0..100 {
        if ask(drive, Cdb::new([0; 6])).status == Status::Good {
            return;
        }
        drive.wait(Duration::from_millis(20));
    }
    panic!("the drive does not get ready");
}

pub fn block(seed: u8, length: usize) -> Vec<u8> {
    (0..length)
        .map(|at| (at as u8).wrapping_mul(31).wrapping_add(seed))
        .collect()
}

pub fn write(drive: &mut dyn Transport, data: &[u8]) -> Completion {
    let [_, a, b, c] = (data.len() as u32).to_be_bytes();
    let done = drive.execute(&Cdb::new([0x0a, 0, a, b, c, 0]), Data::Out(data), LIMIT);
    done.expect("a status")
}

pub fn read(drive: &mut dyn Transport, length: usize) -> (Completion, Vec<u8>) {
    let [_, a, b, c] = (length as u32).to_be_bytes();
    fetch(drive, Cdb::new([0x08, 0, a, b, c, 0]), length)
}

pub fn space(drive: &mut dyn Transport, code: u8, count: i32) -> Completion {
    let [_, a, b, c] = count.to_be_bytes();
    ask(drive, Cdb::new([0x11, code, a, b, c, 0]))
}

pub const REWIND: Cdb = Cdb::new([0x01, 0, 0, 0, 0, 0]);
pub const WRITE_FILEMARK: Cdb = Cdb::new([0x10, 0, 0, 0, 1, 0]);
