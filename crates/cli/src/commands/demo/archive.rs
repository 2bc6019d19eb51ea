//! The made-up archive of the demo: camera clips whose contents follow from a seed.

use tapewise_archive::deliver::{BadPath, Expected, InnerPath};
use tapewise_archive::ltfs::deliver::Wanted;
use tapewise_archive::record::Segment;
use tapewise_archive::sums::{Kind, Sum};
use tapewise_formats::{Extent, Request};
use tapewise_model::Random;

/// Bytes of a block as stored. On the tape each of them stands for [`SCALE`] bytes.
pub const BLOCK_BYTES: usize = 2_048;

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
    /// First block on the tape, filemarks counted.
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
        self.stored_bytes.div_ceil(BLOCK_BYTES) as u64
    }

    /// Whether a filemark follows: each card ends with one.
    pub fn ends_card(&self) -> bool {
        (self.number + 1).is_multiple_of(CARD as u64)
    }

    /// What a recall must deliver: its name, what is known of its contents, and where it lies.
    pub fn wanted(&self) -> Result<Wanted, BadPath> {
        let contents = self.contents();
        let expected = Expected {
            sums: vec![Sum::of(Kind::Xxh64, &contents)],
            ..Expected::of(contents.len() as u64)
        };
        let segment = Segment {
            partition: 0,
            first_block: self.first_block,
            last_block: self.first_block + self.blocks() - 1,
            byte_offset: 0,
            bytes: contents.len() as u64,
            file_offset: 0,
            start: None,
            end: None,
        };
        Ok(Wanted {
            path: InnerPath::new(self.name.clone())?,
            expected,
            segments: vec![segment],
        })
    }

    /// The request for it, with sizes as on the tape.
    pub fn request(&self, volume: &str) -> Request {
        Request {
            id: self.name.clone(),
            volume: Some(volume.to_owned()),
            path: Some(self.name.clone()),
            extents: vec![Extent {
                partition: Some(0),
                start_block: self.first_block,
                block_count: self.blocks(),
                byte_count: Some(self.stored_bytes as u64 * SCALE),
                ..Extent::default()
            }],
            ..Request::default()
        }
    }
}

/// Clips written one behind the other, as a camera archive is.
pub fn clips(seed: u64) -> Vec<Clip> {
    let mut random = Random::new(seed, 0);
    let mut next_block = 0;
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
            next_block += clip.blocks() + u64::from(clip.ends_card());
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
