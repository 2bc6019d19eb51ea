//! A disk that does not take what hosts write on emulated cartridges.
#![cfg(target_os = "linux")]

use std::time::Duration;
use tapewise_emulator::{Clock, Library, LibrarySpec};
use tapewise_scsi::{ScsiError, TapeDrive, TransportError};

#[test]
fn a_full_disk_is_named_with_its_file_and_is_no_error_of_the_tape() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("library");
    let spec = LibrarySpec::one_drive("lto8", 1);
    let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    let data = path.join("cartridges/TW0001/0.data");
    std::fs::remove_file(&data).unwrap();
    std::os::unix::fs::symlink("/dev/full", &data).unwrap();
    library.load_cartridge("TW0001").unwrap();
    let transport = library.transport_to_drive(0).unwrap();
    let mut drive = TapeDrive::open(Box::new(transport)).unwrap();
    drive.wait_until_ready(Duration::from_secs(600)).unwrap();
    let error = drive.write(&[7; 100]).unwrap_err();
    let words = error.to_string();
    for part in ["WRITE(6)", "is full", data.to_str().unwrap()] {
        assert!(words.contains(part), "{part:?} not in {words}");
    }
    let is_of_the_host = matches!(
        error,
        ScsiError::Transport {
            source: TransportError::Io { .. },
            ..
        }
    );
    assert!(is_of_the_host, "{error:?}");
    // A filemark takes no room there.
    drive.write_filemarks(1, false).unwrap();
}
