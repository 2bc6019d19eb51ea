//! The iSCSI target, by an initiator that keeps to the protocol and by some that do not.

use crate::initiator;

use initiator::{Initiator, NAME};
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use tapewise_emulator::iscsi::{Chap, IscsiTarget, TargetOptions};
use tapewise_emulator::{Clock, Library, LibrarySpec};
use tapewise_model::Micros;
use tempfile::TempDir;

struct Site {
    target: IscsiTarget,
    lines: Arc<Mutex<Vec<String>>>,
    _directory: TempDir,
}

/// A robot and one drive with a cartridge in it.
fn site() -> Site {
    let directory = tempfile::tempdir().unwrap();
    let mut spec = LibrarySpec::with_robot("ibm3584", "lto8", 1, 4, 2, 1);
    spec.serial = "TWTEST".to_owned();
    let library =
        Library::create(&directory.path().join("lib"), &spec, Clock::virtual_time()).unwrap();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&lines);
    let options = TargetOptions {
        chap: None,
        log: Arc::new(move |line| log.lock().unwrap().push(line.to_owned())),
    };
    let target = IscsiTarget::serve(&library, "127.0.0.1:0", options).unwrap();
    let site = Site {
        target,
        lines,
        _directory: directory,
    };
    let mut robot = site.session(200);
    robot.settle(0);
    // From the first slot into the drive, which loads.
    let moved = robot.run(0, &[0xa5, 0, 0, 0, 4, 1, 1, 1, 0, 0, 0, 0], 0, &[]);
    assert_eq!(moved.status, 0, "{moved:?}");
    library.skip(Micros(600_000_000));
    robot.settle(1);
    site
}

impl Site {
    fn session(&self, isid: u8) -> Initiator {
        Initiator::log_in(self.target.address(), self.target.name(), NAME, isid, false)
    }

    fn says(&self, what: &str) -> bool {
        self.lines
            .lock()
            .unwrap()
            .iter()
            .any(|line| line.contains(what))
    }

    /// Waits until the log says it: whoever hangs up does not wait for the target to notice.
    fn wait_for(&self, what: &str) {
        for _ in 0..3000 {
            if self.says(what) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!(
            "the log does not say {what:?}: {:#?}",
            self.lines.lock().unwrap()
        );
    }

    fn wait_until_quiet(&self) {
        for _ in 0..3000 {
            if self.target.connections() == 0 {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("{} connections are left", self.target.connections());
    }
}

const DRIVE: u8 = 1;
const REWIND: [u8; 6] = [1, 0, 0, 0, 0, 0];

fn write_cdb(bytes: usize) -> [u8; 6] {
    let [_, high, middle, low] = (bytes as u32).to_be_bytes();
    [0x0a, 0, high, middle, low, 0]
}

fn read_cdb(bytes: usize) -> [u8; 6] {
    let [_, high, middle, low] = (bytes as u32).to_be_bytes();
    [0x08, 0, high, middle, low, 0]
}

#[test]
fn blocks_come_back_as_they_were_with_and_without_digests() {
    let site = site();
    for (isid, digests) in [(1, false), (2, true)] {
        let mut host = Initiator::log_in(
            site.target.address(),
            site.target.name(),
            NAME,
            isid,
            digests,
        );
        let first = host.run(DRIVE, &[0; 6], 0, &[]);
        assert_eq!(
            (first.status, first.code()),
            (2, 0x2900),
            "power on, for each initiator"
        );
        host.settle(DRIVE);
        assert_eq!(host.run(DRIVE, &REWIND, 0, &[]).status, 0);
        // Several bursts, and a length that needs padding.
        let block: Vec<u8> = (0..300_001u32)
            .map(|byte| ((byte * 7) >> 3) as u8)
            .collect();
        assert_eq!(
            host.run(DRIVE, &write_cdb(block.len()), 0, &block).status,
            0
        );
        assert_eq!(host.run(DRIVE, &[0x10, 0, 0, 0, 1, 0], 0, &[]).status, 0);
        assert_eq!(host.run(DRIVE, &REWIND, 0, &[]).status, 0);
        let read = host.run(DRIVE, &read_cdb(block.len()), block.len(), &[]);
        assert!(
            read.status == 0 && read.data == block,
            "status {}",
            read.status
        );
        let mark = host.run(DRIVE, &read_cdb(4096), 4096, &[]);
        assert_eq!(
            (mark.status, mark.code(), mark.residual),
            (2, 0x0001, 4096),
            "a filemark"
        );
    }
}

#[test]
fn units_are_listed_and_one_that_is_not_there_says_so() {
    let site = site();
    let mut host = site.session(1);
    let list = host.run(0, &[0xa0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0], 256, &[]);
    assert_eq!(list.data[..4], [0, 0, 0, 16]);
    assert_eq!(
        list.data[8..],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    );
    assert_eq!(list.residual, 256 - 24);
    let inquiry = [0x12, 0, 0, 0, 96, 0];
    assert_eq!(host.run(0, &inquiry, 96, &[]).data[0], 8, "the robot");
    assert_eq!(host.run(DRIVE, &inquiry, 96, &[]).data[0], 1, "the drive");
    assert_eq!(host.run(9, &inquiry, 96, &[]).data[0], 0x7f, "nothing");
    assert_eq!(host.run(9, &[0; 6], 0, &[]).code(), 0x2500);
}

#[test]
fn a_persistent_reservation_holds_against_others_and_outlives_the_session() {
    let site = site();
    let (mut one, mut other) = (site.session(1), site.session(2));
    one.settle(DRIVE);
    other.settle(DRIVE);
    let register = |key: u64, new: u64| {
        let mut list = key.to_be_bytes().to_vec();
        list.extend(new.to_be_bytes());
        list.resize(24, 0);
        list
    };
    assert_eq!(
        one.run(
            DRIVE,
            &[0x5f, 0, 0, 0, 0, 0, 0, 0, 24, 0],
            0,
            &register(0, 7)
        )
        .status,
        0
    );
    assert_eq!(
        one.run(
            DRIVE,
            &[0x5f, 1, 3, 0, 0, 0, 0, 0, 24, 0],
            0,
            &register(7, 0)
        )
        .status,
        0
    );
    assert_eq!(
        other.run(DRIVE, &REWIND, 0, &[]).status,
        0x18,
        "another initiator"
    );
    assert_eq!(one.run(DRIVE, &REWIND, 0, &[]).status, 0);
    drop(one);
    site.wait_for("ends: the connection was closed");
    assert_eq!(
        other.run(DRIVE, &REWIND, 0, &[]).status,
        0x18,
        "its holder is gone, the reservation is not"
    );
    let mut again = site.session(1);
    assert_eq!(
        again.run(DRIVE, &[0; 6], 0, &[]).code(),
        0x2907,
        "its connection was lost"
    );
    assert_eq!(
        again.run(DRIVE, &REWIND, 0, &[]).status,
        0,
        "the same port holds it again"
    );
}

#[test]
fn reserve_ends_with_its_session_and_a_reset_is_told_to_everybody() {
    let site = site();
    let (mut one, mut other) = (site.session(1), site.session(2));
    one.settle(DRIVE);
    other.settle(DRIVE);
    assert_eq!(one.run(DRIVE, &[0x16, 0, 0, 0, 0, 0], 0, &[]).status, 0);
    assert_eq!(other.run(DRIVE, &REWIND, 0, &[]).status, 0x18);
    drop(one);
    site.wait_for("ends: the connection was closed");
    while other.run(DRIVE, &REWIND, 0, &[]).status == 0x18 {}
    // LOGICAL UNIT RESET.
    let mut reset = [0; 48];
    (reset[0], reset[1], reset[9]) = (0x42, 0x85, DRIVE);
    other.send(reset, &[]);
    let answer = other.receive().unwrap();
    assert_eq!((answer.header[0], answer.header[2]), (0x22, 0));
    assert_eq!(other.run(DRIVE, &[0; 6], 0, &[]).code(), 0x2903);
}

#[test]
fn an_initiator_that_dies_while_it_writes_leaves_nothing_half_written() {
    let site = site();
    let mut host = site.session(1);
    host.settle(DRIVE);
    let block = vec![5; 200_000];
    assert_eq!(
        host.run(DRIVE, &write_cdb(block.len()), 0, &block).status,
        0
    );
    host.begin(DRIVE, &write_cdb(block.len()), 0, &block);
    let asked = host.receive().unwrap();
    assert_eq!(asked.header[0], 0x31, "ready to transfer");
    let transfer = u32::from_be_bytes(asked.header[20..24].try_into().unwrap());
    host.data_out(transfer, 8192, &block[..8192], false);
    host.stream.write_all(&[0x05, 0x80, 0, 0]).unwrap();
    drop(host);
    site.wait_for("in the middle of a PDU");
    let mut host = site.session(2);
    host.settle(DRIVE);
    host.run(DRIVE, &REWIND, 0, &[]);
    let read = host.run(DRIVE, &read_cdb(block.len()), block.len(), &[]);
    assert!(read.status == 0 && read.data == block);
    assert_eq!(
        host.run(DRIVE, &read_cdb(block.len()), block.len(), &[])
            .code(),
        0x0005,
        "end of data"
    );
}

#[test]
fn what_breaks_the_protocol_ends_its_own_connection_and_says_why() {
    let site = site();
    let in_session = |why: &str, wrong: fn(&mut Initiator)| {
        let mut host = site.session(1);
        wrong(&mut host);
        while host.receive().is_some() {}
        site.wait_for(why);
    };
    in_session("and at most 1048576 were agreed", |host| {
        let mut header = [0; 48];
        header[5..8].fill(0xff);
        let _ = host.stream.write_all(&header);
    });
    in_session("and those from 8192 to 131072 were due", |host| {
        host.begin(DRIVE, &write_cdb(131_072), 0, &vec![0; 131_072]);
        let asked = host.receive().unwrap();
        let transfer = u32::from_be_bytes(asked.header[20..24].try_into().unwrap());
        host.data_out(transfer, 0, &[0; 512], false);
    });
    in_session("data that nobody asked for", |host| {
        host.begin(DRIVE, &write_cdb(131_072), 0, &vec![0; 131_072]);
        host.data_out(0x7777, 8192, &[0; 512], false);
    });
    in_session("text without an equals sign", |host| {
        let mut header = [0; 48];
        (header[0], header[1]) = (0x44, 0x80);
        host.send(header, b"SendTargets\0");
    });
    let mut host = Initiator::log_in(site.target.address(), site.target.name(), NAME, 1, true);
    host.digests = false;
    host.begin(DRIVE, &REWIND, 0, &[]);
    host.begin(DRIVE, &REWIND, 0, &[]);
    while host.receive().is_some() {}
    site.wait_for("a header whose digest is wrong");
    let mut noise = Initiator::connect(site.target.address());
    noise.stream.write_all(&[0xaa; 4096]).unwrap();
    while noise.receive().is_some() {}
    site.wait_for("login failed");
    let mut early = Initiator::connect(site.target.address());
    early.begin(DRIVE, &REWIND, 0, &[]);
    while early.receive().is_some() {}
    site.wait_for("a PDU of kind 01h before the login was over");
    site.wait_until_quiet();
    site.session(3).settle(DRIVE);
}

#[test]
fn what_is_only_strange_is_rejected_and_the_session_goes_on() {
    let site = site();
    let mut host = site.session(1);
    host.settle(DRIVE);
    for code in [0x1c, 0x43] {
        let mut header = [0; 48];
        header[0] = code;
        host.send(header, &[]);
        let rejected = host.receive().unwrap();
        assert_eq!(
            (rejected.header[0], rejected.data.len()),
            (0x3f, 48),
            "with the header that was wrong"
        );
    }
    let mut ping = [0; 48];
    (ping[0], ping[1], ping[19]) = (0x40, 0x80, 9);
    ping[20..24].fill(0xff);
    host.send(ping, b"are you there?");
    assert_eq!(host.receive().unwrap().data, b"are you there?");
    // Task management for a task that is not there; a number that was used already.
    let mut abort = [0; 48];
    (abort[0], abort[1], abort[9], abort[23]) = (0x42, 0x81, DRIVE, 99);
    host.send(abort, &[]);
    assert_eq!(host.receive().unwrap().header[2], 1);
    host.command -= 1;
    host.begin(DRIVE, &REWIND, 0, &[]);
    assert_eq!(
        host.run(DRIVE, &REWIND, 0, &[]).status,
        0,
        "the repetition was left alone"
    );
    assert!(site.says("left alone"));
}

#[test]
fn a_flood_of_logins_and_half_open_ones_keep_nobody_out_for_good() {
    let site = site();
    let half_open: Vec<Initiator> = (0..100)
        .map(|_| {
            let mut host = Initiator::connect(site.target.address());
            let _ = host.stream.write_all(&[0x43, 0x87, 0, 0, 0]);
            host
        })
        .collect();
    site.wait_for("refused, 64 connections are open");
    drop(half_open);
    site.wait_until_quiet();
    for isid in 0..=255 {
        site.session(isid).settle(DRIVE);
    }
    site.wait_until_quiet();
}

#[test]
fn a_wrong_secret_is_refused_and_logged() {
    let chap = Chap {
        user: "reader".to_owned(),
        secret: "a long enough secret".to_owned(),
        own: None,
    };
    let directory = tempfile::tempdir().unwrap();
    let spec = LibrarySpec::one_drive("lto8", 1);
    let library =
        Library::create(&directory.path().join("lib"), &spec, Clock::virtual_time()).unwrap();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&lines);
    let options = TargetOptions {
        chap: Some(chap),
        log: Arc::new(move |line| log.lock().unwrap().push(line.to_owned())),
    };
    let target = IscsiTarget::serve(&library, "127.0.0.1:0", options).unwrap();
    let mut host = Initiator::connect(target.address());
    let hello = format!(
        "InitiatorName={NAME}\0TargetName={}\0AuthMethod=CHAP\0",
        target.name()
    );
    host.login(0, 1, true, 1, hello.as_bytes());
    host.login(0, 1, true, 1, b"CHAP_A=5\0");
    let refused = host.login(
        0,
        1,
        true,
        1,
        b"CHAP_N=reader\0CHAP_R=0x00112233445566778899aabbccddeeff\0",
    );
    assert_eq!(refused.header[36..38], [2, 1]);
    assert!(host.receive().is_none(), "and the connection is over");
    let found = lines
        .lock()
        .unwrap()
        .iter()
        .any(|line| line.contains("gave a wrong name or secret"));
    assert!(found, "{lines:?}");
}

#[test]
fn a_target_that_is_stopped_lets_go_of_the_library() {
    let mut site = site();
    let mut host = site.session(1);
    host.settle(DRIVE);
    site.target.stop();
    assert!(host.receive().is_none());
    site.wait_until_quiet();
}
