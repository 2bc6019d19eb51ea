//! What tests of several crates share: the files of the repository that belong to no single crate, an LTFS tape made of
//! them, a SCSI target that is none of ours, a PostgreSQL server, an S3 server, and a browser.
//!
//! A published crate holds everything that its own source reads. Its tests may read more, but only through here, and
//! its manifest leaves them out of the package.

pub mod browser;
pub mod driven;
pub mod ltfs_tape;
pub mod postgres;
pub mod s3;
pub mod tgt;

use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map_or_else(PathBuf::new, Path::to_owned)
}

/// The path of a fixture, named relative to `fixtures/`.
pub fn fixture(name: &str) -> PathBuf {
    root().join("fixtures").join(name)
}

/// The script that makes the file system of a guest, a Linux whose drivers the tests use: see its first lines.
pub fn initramfs_script() -> PathBuf {
    root().join("house/guest/initramfs.sh")
}

/// The bytes of a fixture.
///
/// # Panics
/// If there is no such fixture.
pub fn bytes(name: &str) -> Vec<u8> {
    let path = fixture(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text of a fixture.
///
/// # Panics
/// If there is no such fixture, or it is not UTF-8.
pub fn text(name: &str) -> String {
    read(&fixture(name))
}

/// The text of a page of the documentation, named relative to `docs/`.
///
/// # Panics
/// If there is no such page.
pub fn page(name: &str) -> String {
    read(&root().join("docs").join(name))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
