//! Volumes, files and writes for the tests of catalogue and cache.
#![allow(dead_code, reason = "each test file uses some of it")]

use crate::postgres_server;
use std::sync::Arc;
use tapewise_archive::catalogue::{
    Catalogue, FileId, NewFile, NewStore, Part, PostgresCatalogue, Recorded, SqliteCatalogue,
    Terms, VolumeId, Written,
};
use tapewise_archive::record::{File, Owner, Segment, Volume, VolumeFormat, VolumeState};
use tapewise_archive::sums::{Kind, Sum};

pub const BLOCK_BYTES: u32 = 1000;

/// Tests of the contract: functions that take an empty catalogue, each run on SQLite and on PostgreSQL.
#[macro_export]
macro_rules! on_each_database {
    ($($test:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[test] fn $test() { super::$test($crate::catalogue_help::new_on_sqlite()) })*
        }
        mod on_postgres {
            $(#[test] fn $test() {
                if let Some(catalogue) = $crate::catalogue_help::new_on_postgres() {
                    super::$test(catalogue);
                }
            })*
        }
    };
}

pub fn new_on_sqlite() -> Arc<dyn Catalogue> {
    Arc::new(SqliteCatalogue::in_memory().expect("a catalogue"))
}

/// None where there is no server.
pub fn new_on_postgres() -> Option<Arc<dyn Catalogue>> {
    let url = postgres_server::parsed(&postgres_server::new_url()?);
    let catalogue = PostgresCatalogue::open(&url, std::path::Path::new(".")).expect("a catalogue");
    Some(Arc::new(catalogue))
}

pub fn volume(label: &str) -> Volume {
    Volume {
        label: label.to_owned(),
        uuid: format!("uuid of {label}"),
        format: VolumeFormat::Tapewise,
        state: VolumeState::Empty,
        block_bytes: BLOCK_BYTES,
        next_block: 2,
        written_bytes: 0,
    }
}

/// A volume that others wrote.
pub fn foreign(label: &str) -> Volume {
    Volume {
        format: VolumeFormat::Tar,
        state: VolumeState::Full,
        ..volume(label)
    }
}

pub fn file(path: &str, bytes: u64) -> File {
    File {
        path: path.as_bytes().to_vec(),
        bytes,
        modified_ns: 3,
        mode: 0o644,
        sums: vec![Sum::of(Kind::Xxh3, path.as_bytes())],
    }
}

pub fn store(path: &str, bytes: u64, copies: u32) -> NewStore {
    NewStore {
        new: NewFile {
            file: file(path, bytes),
            owner: Owner {
                user: "ada".to_owned(),
                group: "film".to_owned(),
                account: "restoration".to_owned(),
            },
            copies,
            replace: false,
        },
        terms: Terms {
            user: "ada".to_owned(),
            ..Terms::default()
        },
        source: None,
    }
}

/// A segment that begins at the start of a block.
pub fn segment(first_block: u64, bytes: u64, file_offset: u64) -> Segment {
    Segment {
        partition: 0,
        first_block,
        last_block: first_block + bytes.max(1).div_ceil(u64::from(BLOCK_BYTES)) - 1,
        byte_offset: 0,
        bytes,
        file_offset,
        start: None,
        end: None,
    }
}

pub fn recorded(path: &str, first_block: u64, bytes: u64) -> Recorded {
    Recorded {
        file: file(path, bytes),
        owner: Owner::default(),
        zstd_bytes: None,
        segments: vec![segment(first_block, bytes, 0)],
    }
}

/// What is written of copies, one behind the other from a block on: file, copy, where in the file, bytes.
pub fn written(first_block: u64, copies: &[(FileId, u32, u64, u64)]) -> Written {
    let mut next_block = first_block;
    let parts = copies.iter().map(|&(file, number, file_offset, bytes)| {
        let segment = segment(next_block, bytes, file_offset);
        next_block = segment.last_block + 1;
        Part {
            file,
            number,
            segment,
            zstd_bytes: None,
        }
    });
    let parts = parts.collect();
    Written {
        parts,
        next_block: next_block + 1,
        bytes: copies.iter().map(|copy| copy.3).sum(),
        state: VolumeState::Filling,
    }
}

/// Writes whole copies of files, one number each; returns the files that are complete.
pub fn write_whole(
    catalogue: &dyn Catalogue,
    volume: VolumeId,
    copies: &[(FileId, u32)],
    at_ns: i64,
) -> tapewise_archive::catalogue::Result<Vec<FileId>> {
    let write = catalogue.begin_write(volume, copies, at_ns)?;
    let mut all = Vec::new();
    for &(file, number) in copies {
        all.push((file, number, 0, catalogue.file(file)?.file.bytes));
    }
    catalogue.commit_write(write.id, &written(write.first_block, &all), at_ns)
}

/// Nothing contradicts itself.
pub fn assert_sound(catalogue: &dyn Catalogue) {
    assert_eq!(
        catalogue.integrity().expect("an answer"),
        Vec::<String>::new()
    );
}
