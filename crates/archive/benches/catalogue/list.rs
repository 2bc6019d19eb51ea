//! The list that is loaded: files of one copy each, as a site might have them.

use tapewise_archive::catalogue::{ListItem, Recorded, Result};
use tapewise_archive::record::{File, Owner, Segment, Volume, VolumeFormat, VolumeState};
use tapewise_archive::sums::{Kind, Sum};

/// Files of a volume.
pub const ON_VOLUME: u64 = 10_000;

/// The path of a file.
pub fn path(number: u64) -> String {
    // A site's layout: years, campaigns, runs.
    let (year, campaign, run) = (2000 + number % 26, number / 26 % 400, number / 10_400);
    format!("data/{year}/campaign-{campaign:03}/run-{run:06}/detector-{number:010}.h5")
}

fn item(number: u64) -> Recorded {
    let path = path(number).into_bytes();
    let first_block = number % ON_VOLUME * 100;
    Recorded {
        file: File {
            bytes: 40_000_000 + number % 1000,
            modified_ns: 1_700_000_000_000_000_000 + number as i64,
            mode: 0o640,
            sums: vec![Sum {
                kind: Kind::Adler32,
                value: (number as u32).to_be_bytes().to_vec(),
            }],
            path,
        },
        owner: Owner {
            user: "ops".to_owned(),
            group: "site".to_owned(),
            account: String::new(),
        },
        zstd_bytes: None,
        segments: vec![Segment {
            partition: 0,
            first_block,
            last_block: first_block + 80,
            byte_offset: 0,
            bytes: 40_000_000 + number % 1000,
            file_offset: 0,
            start: None,
            end: None,
        }],
    }
}

fn volume(number: u64) -> Volume {
    Volume {
        label: format!("V{number:05}L9"),
        uuid: format!("uuid-{number}"),
        format: VolumeFormat::Blocks,
        state: VolumeState::Full,
        block_bytes: 524_288,
        next_block: 0,
        written_bytes: 0,
    }
}

/// A list of files, each volume before its own.
pub fn list(files: u64) -> impl Iterator<Item = Result<ListItem>> {
    (0..files).flat_map(|number| {
        let first = number.is_multiple_of(ON_VOLUME);
        let on = first.then(|| ListItem::Volume(volume(number / ON_VOLUME)));
        on.into_iter().chain([ListItem::File(item(number))]).map(Ok)
    })
}
