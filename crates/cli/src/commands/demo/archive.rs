//! The made-up archive of the demo: camera clips whose contents follow from a seed.

use tapewise_archive::sums::{Kind, Sum};
use tapewise_formats::ltfs_volume_out::LABEL_BLOCKS;
use tapewise_formats::{Extent, Request};
use tapewise_model::Random;

/// Bytes of a block as stored, the fewest that LTFS allows. On the tape each of them stands for [`SCALE`] bytes.
pub const BLOCK_BYTES: u64 = 4_096;

/// The data partition of an LTFS volume.
const DATA_PARTITION: u8 = 1;

/// How many bytes of tape a stored byte stands for: 12 TB must fit on any disk, and be compared byte
/// by byte three times within a minute.
pub const SCALE: u64 = 50_000;

/// Clips on the cartridge, and in a directory of it, which is one camera card.
const CLIPS: usize = 2_400;
const CARD: usize = 24;

/// Sizes of the clips on tape, in bytes.
const CLIP_BYTES: std::ops::Range<u64> = 500_000_000..9_000_000_000;

/// A clip.
#[derive(Clone, Debug)]
pub struct Clip {
    /// Its path.
    pub name: String,
    /// First block in the data partition, filemarks counted.
    pub first_block: u64,
    /// Bytes as stored.
    pub stored_bytes: usize,
    seed: u64,
    number: u64,
}

impl Clip {
    /// Its contents: the same whenever they are asked for.
    pub fn contents(&self) -> Vec<u8> {
        let mut random = Random::new(self.seed, 2 + self.number);
        let mut contents = Vec::with_capacity(self.stored_bytes + 8);
        while contents.len() < self.stored_bytes {
            contents.extend_from_slice(&random.below(u64::MAX).to_le_bytes());
        }
        contents.truncate(self.stored_bytes);
        contents
    }

    /// Blocks on the tape.
    pub fn blocks(&self) -> u64 {
        (self.stored_bytes as u64).div_ceil(BLOCK_BYTES)
    }

    /// Its line in a list of checksums, as `xxhsum` writes it.
    pub fn sum(&self) -> String {
        format!(
            "{}  {}\n",
            Sum::of(Kind::Xxh64, &self.contents()).hex(),
            self.name
        )
    }

    /// The request for it, with sizes as on the tape.
    pub fn request(&self, volume: &str) -> Request {
        Request {
            id: self.name.clone(),
            volume: Some(volume.to_owned()),
            path: Some(self.name.clone()),
            extents: vec![Extent {
                partition: Some(DATA_PARTITION),
                start_block: self.first_block,
                block_count: self.blocks(),
                byte_count: Some(self.stored_bytes as u64 * SCALE),
                ..Extent::default()
            }],
            ..Request::default()
        }
    }
}

/// Clips written one after the other, as a camera archive is.
pub fn clips(seed: u64) -> Vec<Clip> {
    let mut random = Random::new(seed, 0);
    let mut next_block = LABEL_BLOCKS;
    (0..CLIPS)
        .map(|number| {
            let bytes = CLIP_BYTES.start + random.below(CLIP_BYTES.end - CLIP_BYTES.start);
            let clip = Clip {
                name: format!("A{:03}/C{:04}.mov", number / CARD + 1, number % CARD + 1),
                first_block: next_block,
                stored_bytes: (bytes / SCALE) as usize,
                seed,
                number: number as u64,
            };
            next_block += clip.blocks();
            clip
        })
        .collect()
}

/// Two lists of clips in no order, with none in both.
pub fn two_lists(clips: &[Clip], count: usize, seed: u64) -> [Vec<&Clip>; 2] {
    let mut first: Vec<&Clip> = clips.iter().collect();
    Random::new(seed, 1).shuffle(&mut first);
    first.truncate(2 * count);
    let second = first.split_off(count);
    [first, second]
}
