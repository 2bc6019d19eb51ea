//! Emulated drives with a cartridge in them.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tapewise_emulator::{BadBlock, CartridgeSpec, Clock, Library, LibrarySpec};
use tapewise_scsi::TapeDrive;

/// What nobody sets.
pub static NEVER: AtomicBool = AtomicBool::new(false);

/// A drive of this kind with a blank cartridge whose bytes stand for `scale` each.
pub fn drive(kind: &str, seed: u64, scale: u64, directory: &Path) -> (Library, TapeDrive) {
    let mut spec = LibrarySpec::one_drive(kind, seed);
    spec.cartridges = vec![CartridgeSpec {
        scale,
        ..CartridgeSpec::numbered(kind, seed, 1)
    }];
    of(spec, directory)
}

/// A drive with a blank cartridge on which these blocks cannot be read.
#[allow(dead_code)] // not every test has faults
pub fn faulty_drive(
    kind: &str,
    bad_blocks: Vec<BadBlock>,
    directory: &Path,
) -> (Library, TapeDrive) {
    let mut spec = LibrarySpec::one_drive(kind, 1);
    spec.faults.bad_blocks = bad_blocks;
    of(spec, directory)
}

/// A drive with a blank cartridge that can be written only once.
#[allow(dead_code)] // not every test needs one
pub fn drive_with_worm(kind: &str, directory: &Path) -> (Library, TapeDrive) {
    let mut spec = LibrarySpec::one_drive(kind, 1);
    spec.faults.worm = vec!["TW0001".to_owned()];
    of(spec, directory)
}

fn of(spec: LibrarySpec, directory: &Path) -> (Library, TapeDrive) {
    let path = directory.join("library");
    let library = Library::create(&path, &spec, Clock::virtual_time()).expect("a library");
    library.load_cartridge("TW0001").expect("a free drive");
    let transport = library.transport_to_drive(0).expect("a drive");
    let mut drive = TapeDrive::open(Box::new(transport)).expect("a tape drive");
    drive
        .wait_until_ready(Duration::from_secs(600))
        .expect("a drive that gets ready");
    (library, drive)
}
