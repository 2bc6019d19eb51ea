//! Reservations: a drive for one initiator, what a dead process left behind, and what is respected.

use crate::fake;

use fake::{Fake, check, inquiry, send};
use std::fs;
use std::sync::{Arc, Mutex};
use tapewise_scsi::commands::{RequestSense, TestUnitReady};
use tapewise_scsi::device::Host;
use tapewise_scsi::holders::Holder;
use tapewise_scsi::{
    Cdb, Command, Completion, Data, Exclusivity, Owner, ScsiError, Status, TapeDrive,
};
use tempfile::TempDir;

/// A process number that no process has: above the kernel's limit.
const GONE: u32 = 9_000_001;

/// A host on which only this process runs.
fn host() -> (TempDir, Host) {
    let tree = TempDir::new().expect("a directory");
    let path = |name: &str| tree.path().join(name);
    fs::create_dir_all(path("etc")).expect("a directory");
    fs::write(path("etc/machine-id"), "0123456789abcdef\n").expect("a number");
    fs::create_dir_all(path("proc/sys/kernel")).expect("a directory");
    fs::write(path("proc/sys/kernel/hostname"), "tapehost01\n").expect("a name");
    fs::create_dir_all(path("proc/net")).expect("a directory");
    let table = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 10.1.2.3\n        /32 host LOCAL\n     |-- 10.1.2.255\n        \
                 /32 link BROADCAST\n";
    fs::write(path("proc/net/fib_trie"), table).expect("a table");
    fs::create_dir_all(path(&format!("proc/{}", std::process::id()))).expect("a process");
    let host = Host::at(tree.path());
    (tree, host)
}

/// What a drive knows of its initiators, ours first.
#[derive(Default)]
struct Table {
    ours: Option<u64>,
    others: Vec<u64>,
    /// Key of the holder, and type.
    holder: Option<(u64, u8)>,
    unit: bool,
    unit_of_other: bool,
    knows_persistent: bool,
    knows_unit: bool,
    attentions: usize,
}

fn drive(table: Table) -> (TapeDrive, Arc<Mutex<Table>>) {
    let table = Arc::new(Mutex::new(table));
    let own = Arc::clone(&table);
    let (fake, _) = Fake::new(move |cdb, data| {
        let mut table = own.lock().unwrap();
        match cdb.opcode() {
            0x12 => inquiry(cdb, 1, "FAKE000001", data),
            0x03 if table.attentions > 0 => {
                table.attentions -= 1;
                send(check(6, 0, 0x2900, 0).sense.bytes(), data)
            }
            _ if table.attentions > 0 => {
                table.attentions -= 1;
                check(6, 0, 0x2900, 0)
            }
            0x00 | 0x01 | 0x10 => Completion::good(0),
            0x5e if table.knows_persistent => told(&table, cdb, data),
            0x5f if table.knows_persistent => change(&mut table, cdb, data),
            0x16 if table.knows_unit && table.unit_of_other => conflict(),
            0x16 | 0x17 if table.knows_unit => {
                table.unit = cdb.opcode() == 0x16;
                Completion::good(0)
            }
            _ => check(5, 0, 0x2000, 0),
        }
    });
    (TapeDrive::open(fake).unwrap(), table)
}

fn conflict() -> Completion {
    let mut done = Completion::good(0);
    done.status = Status::ReservationConflict;
    done
}

fn told(table: &Table, cdb: &Cdb, data: Data<'_>) -> Completion {
    let mut answer = vec![0; 4];
    match (cdb.bytes()[1], table.holder) {
        (0, _) => {
            let keys: Vec<u64> = table.ours.iter().chain(&table.others).copied().collect();
            answer.extend((8 * keys.len() as u32).to_be_bytes());
            answer.extend(keys.iter().flat_map(|key| key.to_be_bytes()));
        }
        (_, None) => answer.extend([0; 4]),
        (_, Some((key, kind))) => {
            answer.extend(16u32.to_be_bytes());
            answer.extend(key.to_be_bytes());
            answer.extend([0, 0, 0, 0, 0, kind, 0, 0]);
        }
    }
    send(&answer, data)
}

fn change(table: &mut Table, cdb: &Cdb, data: Data<'_>) -> Completion {
    let Data::Out(list) = data else {
        panic!("no parameters");
    };
    let number = |at: usize| u64::from_be_bytes(list[at..at + 8].try_into().unwrap());
    let (key, other, kind) = (number(0), number(8), cdb.bytes()[2]);
    match cdb.bytes()[1] {
        6 => {
            let before = table.ours.replace(other).filter(|_| other != 0);
            if let (Some(before), Some((holder, kind))) = (before, table.holder)
                && before == holder
            {
                table.holder = Some((other, kind));
            }
            if other == 0 {
                table.ours = None;
            }
        }
        _ if table.ours != Some(key) => return conflict(),
        1 if table.holder.is_some_and(|held| held != (key, kind)) => return conflict(),
        1 => table.holder = Some((key, kind)),
        2 => table.holder = table.holder.filter(|&(holder, _)| holder != key),
        4 => {
            table.others.retain(|&one| one != other);
            if table.holder.is_some_and(|(holder, _)| holder == other) {
                table.holder = Some((key, kind));
            }
        }
        action => panic!("action {action}"),
    }
    Completion::good(0)
}

fn persistent() -> Table {
    Table {
        knows_persistent: true,
        knows_unit: true,
        ..Table::default()
    }
}

#[test]
fn a_drive_is_reserved_until_it_is_closed() {
    let (_tree, host) = host();
    let (mut drive, table) = drive(Table {
        attentions: 2,
        ..persistent()
    });
    let reserved = drive.reserve(&host).unwrap();
    assert_eq!(reserved.kind, Exclusivity::Persistent);
    assert!(reserved.cleared.is_empty());
    let key = host.reservation_key();
    assert_eq!(table.lock().unwrap().holder, Some((key, 3)));
    assert_eq!(drive.reserved_by_others(&host).unwrap(), None);
    // Nobody cares to release it, and attentions come between.
    table.lock().unwrap().attentions = 2;
    drop(drive);
    let table = table.lock().unwrap();
    assert_eq!((table.holder, table.ours), (None, None));
}

#[test]
fn a_drive_without_persistent_reservations_gets_the_older_one() {
    let (_tree, host) = host();
    let (mut drive, table) = drive(Table {
        knows_unit: true,
        ..Table::default()
    });
    assert_eq!(drive.reserve(&host).unwrap().kind, Exclusivity::Unit);
    assert!(table.lock().unwrap().unit);
    drop(drive);
    assert!(!table.lock().unwrap().unit);
}

#[test]
fn a_drive_that_knows_no_reservations_says_so() {
    let (_tree, host) = host();
    let (mut drive, _) = drive(Table::default());
    assert_eq!(drive.reserve(&host).unwrap().kind, Exclusivity::Nothing);
}

#[test]
fn what_somebody_else_holds_is_left_alone_and_named() {
    let (_tree, host) = host();
    let other = |key: u64, words: &str| {
        let (mut drive, table) = drive(Table {
            others: vec![key],
            holder: Some((key, 6)),
            ..persistent()
        });
        let error = drive.reserve(&host).unwrap_err();
        assert!(matches!(error, ScsiError::Reserved { .. }), "{error}");
        assert!(error.to_string().starts_with(words), "{error}");
        drop(drive);
        let table = table.lock().unwrap();
        assert_eq!((table.holder, table.ours), (Some((key, 6)), None));
    };
    other(
        0xabcd,
        "another initiator has reserved the drive: exclusive access, registrants only",
    );
    other(
        0x4000_0000_0a01_0203,
        "LTFS on this host (10.1.2.3) has reserved",
    );
    other(0x4000_0000_0a01_02ff, "LTFS on 10.1.2.255 has reserved");
    other(
        host.reservation_key() ^ 1 << 30,
        "tapewise on another host has reserved",
    );

    let (mut held, _) = drive(Table {
        knows_unit: true,
        unit_of_other: true,
        ..Table::default()
    });
    let error = held.reserve(&host).unwrap_err();
    assert_eq!(
        error.to_string(),
        "another initiator has reserved the drive"
    );
}

#[test]
fn what_an_ended_process_of_this_host_left_behind_is_cleared() {
    let (_tree, host) = host();
    let gone = host.key_of_process(GONE & 0x00ff_ffff);
    assert!(host.owner_of(gone).is_gone());
    // As another path to the drive, as the same one, and without a reservation.
    let other_path = Table {
        others: vec![gone, 0xabcd],
        holder: Some((gone, 3)),
        ..persistent()
    };
    let same_path = Table {
        ours: Some(gone),
        others: vec![0xabcd],
        holder: Some((gone, 6)),
        ..persistent()
    };
    let registered = Table {
        others: vec![gone, 0xabcd],
        ..persistent()
    };
    for table in [other_path, same_path, registered] {
        let (mut drive, table) = drive(table);
        assert_eq!(drive.reserve(&host).unwrap().cleared, [gone]);
        let table = table.lock().unwrap();
        assert_eq!(table.others, [0xabcd]);
        assert_eq!(table.holder, Some((host.reservation_key(), 3)));
    }
}

#[test]
fn what_a_clone_of_this_host_holds_is_left_alone() {
    let (_tree, host_here) = host();
    let (clone, other) = host();
    fs::write(
        clone.path().join("proc/sys/kernel/hostname"),
        "tapehost02\n",
    )
    .expect("a name");
    // Its process is none of ours, and that none of ours has this number shows nothing.
    let key = other.key_of_process(GONE);
    assert_eq!(host_here.owner_of(key), Owner::OtherHost);
    let (mut drive, _) = drive(Table {
        others: vec![key],
        holder: Some((key, 3)),
        ..persistent()
    });
    assert!(matches!(
        drive.reserve(&host_here),
        Err(ScsiError::Reserved { .. })
    ));
}

#[test]
fn a_process_that_has_ended_and_that_nobody_asks_for_is_gone() {
    let (tree, host) = host();
    let state = |pid: u32, state: char| {
        let process = tree.path().join(format!("proc/{pid}"));
        fs::create_dir_all(&process).expect("a process");
        let stat = format!("{pid} (tape (wise) 1) {state} 1 {pid} {pid} 0 -1 4194560");
        fs::write(process.join("stat"), stat).expect("its state");
        host.owner_of(host.key_of_process(pid)).is_gone()
    };
    assert!(!state(4711, 'S'));
    assert!(!state(4712, 'R'));
    assert!(state(4713, 'Z'));
}

#[test]
fn a_registration_is_ended_by_its_key_and_ours_does_not_stay() {
    let (_tree, host) = host();
    let (mut drive, table) = drive(Table {
        others: vec![0xabcd, 0xef],
        holder: Some((0xabcd, 3)),
        ..persistent()
    });
    let holder = drive.reserved_by_others(&host).unwrap();
    assert!(matches!(
        holder,
        Some(Holder::Reservation {
            owner: Owner::Unknown,
            ..
        })
    ));
    drive.clear_registration(&host, 0xabcd).unwrap();
    let table = table.lock().unwrap();
    assert_eq!((table.holder, table.ours), (None, None));
    assert_eq!(table.others, [0xef]);
}

#[test]
fn a_reservation_that_a_reset_ended_is_made_again() {
    let (_tree, host) = host();
    let (mut drive, table) = drive(persistent());
    drive.reserve(&host).unwrap();
    {
        let mut table = table.lock().unwrap();
        (table.ours, table.holder, table.attentions) = (None, None, 1);
    }
    drive
        .wait_until_ready(std::time::Duration::from_secs(1))
        .unwrap();
    let held = table.lock().unwrap().holder;
    assert_eq!(held, Some((host.reservation_key(), 3)));
}

#[test]
fn after_a_reset_nothing_is_written_before_the_head_is_placed_and_the_reservation_made_again() {
    let (_tree, host) = host();
    let (mut drive, table) = drive(persistent());
    drive.reserve(&host).unwrap();
    let reset = || {
        let mut table = table.lock().unwrap();
        (table.ours, table.holder, table.attentions) = (None, None, 1);
    };
    let held = || table.lock().unwrap().holder;
    for asks_for_sense in [true, false] {
        // The answer, and with it the attention, is of no interest to whoever asks.
        reset();
        if asks_for_sense {
            RequestSense.send(drive.transport()).unwrap();
        } else {
            TestUnitReady.send(drive.transport()).unwrap_err();
        }
        // A reset may have wound the tape back.
        let refused = drive.write_filemarks(1, false);
        assert!(matches!(refused, Err(ScsiError::WasReset)), "{refused:?}");
        drive.rewind().unwrap();
        drive.write_filemarks(1, false).unwrap();
        assert_eq!(held(), Some((host.reservation_key(), 3)));
    }
}

#[test]
fn what_was_counted_before_a_reset_is_forgotten_whoever_took_its_attention() {
    let (mut drive, table) = drive(Table::default());
    drive.rewind().unwrap();
    assert_eq!(drive.position().unwrap().block, 0);
    table.lock().unwrap().attentions = 1;
    TestUnitReady.send(drive.transport()).unwrap_err();
    assert!(matches!(drive.position(), Err(ScsiError::PositionUnknown)));
}
