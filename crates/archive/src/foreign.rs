//! Volumes that others wrote, as the catalogue takes them: from an LTFS index, or from a list of files and blocks.

mod list;
mod sorted;

pub use list::{BlockList, Listed};
pub use sorted::ListError;

use crate::catalogue::Recorded;
use crate::deliver::{BadPath, InnerPath};
use crate::ltfs::deliver::{NotWanted, Wanted};
use crate::record::{self, Owner, Segment, Volume, VolumeFormat, VolumeState};
use crate::sums::ltfs_index_sum;
use tapewise_formats::ltfs_extent::LtfsLayout;
use tapewise_formats::ltfs_index::{LtfsFile, LtfsIndex};
use tapewise_formats::request::Extent;

/// A volume that is to be added.
#[derive(Debug)]
pub struct ForeignVolume {
    /// The volume.
    pub volume: Volume,
    /// What is on it.
    pub recorded: Vec<Recorded>,
    /// Paths that are left out, and why.
    pub left_out: Vec<(Vec<u8>, LeftOut)>,
}

/// Why a file is not added.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeftOut {
    /// Its path could leave a destination.
    #[error(transparent)]
    Path(#[from] BadPath),
    /// The index contradicts itself, or it is a link.
    #[error(transparent)]
    NotWanted(#[from] NotWanted),
    /// It has no blocks.
    #[error("the row has no block numbers")]
    NoBlocks,
    /// There is a gap between its pieces, or they overlap.
    #[error("a piece begins at byte {begins} of the file where byte {next} is next")]
    Gap {
        /// Where a piece begins.
        begins: u64,
        /// Where it would have to.
        next: u64,
    },
    /// It is too long.
    #[error("its length does not fit in 64 bits")]
    TooLong,
    /// It has holes.
    #[error("it has holes: `recall --ltfs` brings it back")]
    Holes,
}

impl ForeignVolume {
    /// The volume of an LTFS index.
    pub fn of_index(
        label: &str,
        index: &LtfsIndex,
        files: &[LtfsFile],
        layout: &LtfsLayout,
    ) -> ForeignVolume {
        let volume = Volume {
            label: label.to_owned(),
            uuid: index.volume_uuid.clone(),
            format: VolumeFormat::Ltfs,
            state: VolumeState::Full,
            block_bytes: layout.block_size as u32,
            next_block: 0,
            written_bytes: index.extent_bytes,
        };
        let mut left_out = Vec::new();
        let mut recorded = Vec::new();
        for file in files {
            match of_entry(label, file, layout) {
                Ok(file) => recorded.push(file),
                Err(why) => left_out.push((file.path.to_string().into_bytes(), why)),
            }
        }
        ForeignVolume {
            volume,
            recorded,
            left_out,
        }
    }
}

/// The file of these pieces, in any order. Without a length in bytes a piece is all of its blocks.
fn of_pieces(
    label: &str,
    inner: &str,
    mut pieces: Vec<Extent>,
    block_bytes: u64,
) -> Result<Recorded, LeftOut> {
    let path = InnerPath::new(format!("{label}/{inner}"))?;
    if pieces.is_empty() {
        return Err(LeftOut::NoBlocks);
    }
    pieces.sort_by_key(|piece| piece.file_offset);
    let mut bytes = 0u64;
    let mut segments = Vec::with_capacity(pieces.len());
    for extent in pieces {
        if extent.file_offset != bytes {
            return Err(LeftOut::Gap {
                begins: extent.file_offset,
                next: bytes,
            });
        }
        let all = extent.block_count.checked_mul(block_bytes);
        let length = extent
            .byte_count
            .or_else(|| all?.checked_sub(extent.byte_offset))
            .ok_or(LeftOut::TooLong)?;
        segments.push(Segment {
            partition: extent.partition.unwrap_or(0),
            first_block: extent.start_block,
            last_block: extent.end_block(),
            byte_offset: extent.byte_offset,
            bytes: length,
            file_offset: bytes,
            start: extent.start,
            end: extent.end,
        });
        bytes = bytes.checked_add(length).ok_or(LeftOut::TooLong)?;
    }
    Ok(Recorded {
        file: record::File {
            path: path.as_bytes().to_vec(),
            bytes,
            modified_ns: 0,
            mode: 0o644,
            sums: Vec::new(),
        },
        owner: Owner::default(),
        zstd_bytes: None,
        segments,
    })
}

fn of_entry(label: &str, file: &LtfsFile, layout: &LtfsLayout) -> Result<Recorded, LeftOut> {
    let sums = file.hashes.iter().filter_map(ltfs_index_sum).collect();
    let wanted = Wanted::new(file, layout, None, sums, Vec::new())?;
    let bytes: u64 = wanted
        .segments
        .iter()
        .map(|segment| segment.bytes)
        .fold(0, u64::saturating_add);
    if bytes < file.length {
        return Err(LeftOut::Holes);
    }
    let path = InnerPath::new(format!("{label}/{}", file.path))?;
    Ok(Recorded {
        file: record::File {
            path: path.as_bytes().to_vec(),
            bytes: file.length,
            modified_ns: wanted.expected.metadata.modified_ns.unwrap_or(0),
            mode: wanted.expected.metadata.mode.unwrap_or(0o644),
            sums: wanted.expected.sums,
        },
        owner: Owner::default(),
        zstd_bytes: None,
        segments: wanted.segments,
    })
}

/// Characters of an LTFS volume's name, and of the kind of cartridge that a library's label adds (`L8`).
const NAME: usize = 6;
const KIND: usize = 2;

/// Whether two labels are of one cartridge. LTFS calls a volume by the six characters of its barcode, and so are
/// indexes named; a library reports eight, the kind of cartridge last: A00012 and A00012L6 are one cartridge.
pub fn is_same_label(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    one == other || short.len() == NAME && long.len() == NAME + KIND && long.starts_with(short)
}

/// What a library has for the cartridge that somebody calls by a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InLibrary {
    /// A cartridge of this very label.
    Itself,
    /// One cartridge that must be it, by this label.
    Is(String),
    /// More than one that may be it; two of them.
    MayBe(String, String),
    /// None.
    NotThere,
}

impl InLibrary {
    /// Looks for a label among those of a library.
    pub fn find(given: &str, library: &[String]) -> InLibrary {
        if library.iter().any(|label| label == given) {
            return InLibrary::Itself;
        }
        let mut found = library.iter().filter(|label| is_same_label(label, given));
        match (found.next(), found.next()) {
            (Some(label), None) => InLibrary::Is(label.clone()),
            (Some(one), Some(other)) => InLibrary::MayBe(one.clone(), other.clone()),
            _ => InLibrary::NotThere,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_gives_names_as_they_are_and_not_as_messages_show_them() {
        let long = "n".repeat(500);
        let names = [
            "new\nline",
            "new\\nline",
            "a\tb",
            "e\u{1b}[1m",
            "r\r",
            &long,
        ];
        let files = names.map(|name| LtfsFile {
            path: name.into(),
            ..LtfsFile::default()
        });
        let (index, layout) = (LtfsIndex::default(), LtfsLayout::assumed());
        let volume = ForeignVolume::of_index("A00012L6", &index, &files, &layout);
        let paths = volume.recorded.into_iter().map(|one| one.file.path);
        let expected = names.map(|name| format!("A00012L6/{name}").into_bytes());
        assert_eq!(paths.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn six_characters_and_eight_are_one_cartridge() {
        assert!(is_same_label("A00012", "A00012L6"));
        assert!(is_same_label("A00012L6", "A00012"));
        assert!(is_same_label("A00012L6", "A00012L6"));
        assert!(!is_same_label("A00012L6", "A00012L7"));
        assert!(!is_same_label("A0001", "A0001L6"));
        assert!(!is_same_label("A00012", "A00012L66"));
    }

    #[test]
    fn the_library_s_label_counts_where_there_is_one() {
        let library = ["A00012L6", "A00013L6", "A00013L7"].map(str::to_owned);
        let find = |given| InLibrary::find(given, &library);
        assert_eq!(find("A00012"), InLibrary::Is("A00012L6".to_owned()));
        assert_eq!(find("A00012L6"), InLibrary::Itself);
        assert!(matches!(find("A00013"), InLibrary::MayBe(..)));
        assert_eq!(find("A00014"), InLibrary::NotThere);
    }
}
