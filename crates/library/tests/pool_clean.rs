//! Drives that ask to be cleaned.

use crate::pool_bench;

use pool_bench::{Bench, home, spec};
use std::collections::BTreeMap;
use tapewise_emulator::{CartridgeSpec, LibrarySpec};

fn with_cleaner(mut spec: LibrarySpec) -> LibrarySpec {
    spec.faults.cleaning_after_m = Some(0.0);
    spec.cartridges.push(CartridgeSpec {
        barcode: "CLN001".to_owned(),
        ..CartridgeSpec::numbered("lto8", 99, 99)
    });
    spec
}

/// Moves more tape than the drive goes without cleaning.
fn move_tape(bench: &mut Bench, index: usize) {
    let drive = bench.pool.drive(index);
    drive.set_block_length(0).unwrap();
    drive.write(&[1; 65536]).unwrap();
    drive.write_filemarks(1, false).unwrap();
    drive.rewind().unwrap();
}

#[test]
fn a_drive_that_asks_for_it_is_cleaned_and_the_cleaning_cartridge_returned() {
    let mut bench = Bench::new(&with_cleaner(spec(1, 2)));
    let index = bench.mount("TW0001").unwrap();
    move_tape(&mut bench, index);
    bench.dismount(index);
    assert!(bench.has_said("is to be cleaned"));
    let once = BTreeMap::from([("CLN001".to_owned(), 1)]);
    assert_eq!(bench.pool.cleanings(), once);
    assert_eq!(bench.shelves()["CLN001"], [home(3)]);
    assert_eq!(bench.mount("TW0002").unwrap(), index);
}

#[test]
fn that_there_is_no_cleaning_cartridge_is_said_and_work_goes_on() {
    let mut without = with_cleaner(spec(1, 2));
    without.cartridges.pop();
    let mut bench = Bench::new(&without);
    let index = bench.mount("TW0001").unwrap();
    move_tape(&mut bench, index);
    bench.pool.release(index);
    assert_eq!(bench.mount("TW0002").unwrap(), index);
    assert!(bench.has_said("no cleaning cartridge"));
}

#[test]
fn a_drive_is_cleaned_when_a_person_wants_it_and_its_volume_goes_home_first() {
    let mut bench = Bench::new(&with_cleaner(spec(1, 2)));
    let index = bench.mount("TW0001").unwrap();
    bench.pool.release(index);
    let cleaner = bench.pool.clean(index, &mut bench.log).unwrap();
    assert_eq!(cleaner, "CLN001");
    let shelves = bench.shelves();
    assert_eq!(
        (&shelves["TW0001"], &shelves["CLN001"]),
        (&vec![home(1)], &vec![home(3)])
    );
    // One that asks for it is not cleaned twice.
    let index = bench.mount("TW0001").unwrap();
    move_tape(&mut bench, index);
    bench.pool.release(index);
    bench.pool.clean(index, &mut bench.log).unwrap();
    let twice = BTreeMap::from([("CLN001".to_owned(), 2)]);
    assert_eq!(bench.pool.cleanings(), twice);
    let mut without = Bench::new(&spec(1, 1));
    let error = without.pool.clean(0, &mut without.log).unwrap_err();
    assert!(
        matches!(error, tapewise_library::pool::PoolError::NoCleaner { .. }),
        "{error}"
    );
}
