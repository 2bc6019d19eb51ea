//! A drive that two hosts reach, and the lease of one archive that says whose it is.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tapewise_emulator::Library;
use tapewise_scsi::commands::{ReadKeys, ReadReservation, ReservationType, WriteOutcome};
use tapewise_scsi::device::Host;
use tapewise_scsi::{Command, Exclusivity, LeaseKey, Owner, ScsiError, Status, TapeDrive};

use crate::host;

const SOON: Duration = Duration::from_secs(120);

fn lease(epoch: u32) -> LeaseKey {
    LeaseKey {
        archive: 0xc0ff,
        epoch,
    }
}

/// A drive as a host of its own reaches it.
fn drive(library: &Library) -> TapeDrive {
    let transport = library.transport_to_drive(0).expect("a way");
    TapeDrive::open(Box::new(transport)).expect("a drive")
}

/// The drive and its first holder, who has written a block.
fn written_by_the_first(directory: &Path) -> (Library, TapeDrive) {
    let (library, _) = host::drive("lto9", directory);
    let mut first = drive(&library);
    let fenced = first.fence(&Host::local(), lease(7), Arc::new(|| true));
    assert_eq!(fenced.expect("fenced").kind, Exclusivity::Persistent);
    first.wait_until_ready(SOON).expect("ready");
    first.write(&[1; 100]).expect("written");
    (library, first)
}

fn is_conflict<T: std::fmt::Debug>(result: Result<T, ScsiError>) -> bool {
    let status = Status::ReservationConflict;
    matches!(result, Err(ScsiError::Status { status: found, .. }) if found == status)
}

#[test]
fn the_holder_of_a_later_lease_takes_the_drive_and_the_earlier_one_never_writes_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let (library, mut first) = written_by_the_first(directory.path());
    let mut second = drive(&library);
    let host = Host::local();
    let fenced = second
        .fence(&host, lease(9), Arc::new(|| true))
        .expect("fenced");
    assert_eq!(fenced.taken_from, [lease(7)]);
    second.wait_until_ready(SOON).expect("ready");
    second.locate(0, 1).expect("there");
    assert_eq!(
        second.write(&[2; 100]).expect("written"),
        WriteOutcome::Written
    );

    // It is told once that it was preempted, and gets conflicts from then on.
    assert!(first.write(&[3; 100]).is_err());
    assert!(is_conflict(first.write(&[3; 100])));
    assert!(is_conflict(first.write_filemarks(1, false)));
    assert!(is_conflict(first.rewind()));
    // Nor does it come back by its own lease, which it still believes in.
    let refused = first
        .fence(&host, lease(7), Arc::new(|| true))
        .expect_err("refused");
    let ScsiError::Reserved { holder } = refused else {
        panic!("{refused}");
    };
    assert!(
        holder
            .to_string()
            .contains("a tapewise mover (archive c0ff, lease 9)"),
        "{holder}"
    );
    assert_eq!(
        second.write(&[2; 100]).expect("written"),
        WriteOutcome::Written
    );
    // What it lets go of on its way out is not the other's.
    drop(first);
    let held = ReadReservation
        .send(second.transport())
        .expect("an answer")
        .held;
    assert_eq!(
        held,
        Some((lease(9).key(), ReservationType::ExclusiveAccess))
    );
    assert_eq!(
        ReadKeys.send(second.transport()).expect("an answer").keys,
        [lease(9).key()]
    );
}

#[test]
fn whoever_takes_a_drive_over_can_unload_what_the_earlier_one_kept_in() {
    let directory = tempfile::tempdir().expect("a directory");
    let (library, mut first) = written_by_the_first(directory.path());
    first.prevent_removal(true).expect("prevented");
    let mut second = drive(&library);
    let fenced = second.fence(&Host::local(), lease(9), Arc::new(|| true));
    fenced.expect("fenced");
    second.wait_until_ready(SOON).expect("ready");
    second.unload().expect("unloaded");
}

#[test]
fn nobody_takes_the_drive_of_another_archive_or_of_another_program() {
    let directory = tempfile::tempdir().expect("a directory");
    let (library, _first) = written_by_the_first(directory.path());
    let mut second = drive(&library);
    let other = LeaseKey {
        archive: 0xc0fe,
        epoch: 900,
    };
    let refused = second.fence(&Host::local(), other, Arc::new(|| true));
    assert!(
        matches!(refused, Err(ScsiError::Reserved { .. })),
        "{refused:?}"
    );
    // Somebody without a lease is refused as ever, and told whose the drive is.
    let held = second
        .reserved_by_others(&Host::local())
        .expect("an answer");
    assert!(held.is_some_and(|holder| holder.to_string().contains("lease 7")));
    assert_eq!(
        Host::local().owner_of(lease(7).key()),
        Owner::Mover(lease(7))
    );
}

#[test]
fn a_holder_goes_on_under_its_next_lease_without_letting_anybody_in() {
    let directory = tempfile::tempdir().expect("a directory");
    let (library, mut first) = written_by_the_first(directory.path());
    let fenced = first.fence(&Host::local(), lease(8), Arc::new(|| true));
    assert_eq!(fenced.expect("fenced").taken_from, []);
    first.write(&[1; 100]).expect("written");
    let mut second = drive(&library);
    let found = second.registrations().expect("an answer");
    assert_eq!(found.expect("persistent ones").keys, [lease(8).key()]);
    assert!(is_conflict(second.rewind()));
}

#[test]
fn without_its_permit_a_holder_sends_no_write() {
    let directory = tempfile::tempdir().expect("a directory");
    let (library, _) = host::drive("lto9", directory.path());
    let mut first = drive(&library);
    let is_in_force = Arc::new(AtomicBool::new(true));
    let asked = Arc::clone(&is_in_force);
    let permit = Arc::new(move || asked.load(Ordering::Relaxed));
    first
        .fence(&Host::local(), lease(7), permit)
        .expect("fenced");
    first.wait_until_ready(SOON).expect("ready");
    first.write(&[1; 100]).expect("written");
    is_in_force.store(false, Ordering::Relaxed);
    assert!(matches!(first.write(&[1; 100]), Err(ScsiError::LeaseOver)));
    assert!(matches!(
        first.write_filemarks(1, false),
        Err(ScsiError::LeaseOver)
    ));
    assert_eq!(first.position().expect("a position").block, 1);
}
