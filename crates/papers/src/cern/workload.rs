//! The batches that are priced: files recalled at random from a full tape.

use crate::PaperError;
use tapewise_model::{BlockMap, NominalLayout, Position, Profile, Random};
use tapewise_order::{End, Options, PlacedExtent, Problem, Request, Tape};

/// CERN writes blocks of 256 KiB.
const BLOCK_BYTES: u64 = 262_144;

/// "ATLAS tape recalls reading ~150 files/tape avg, ~2GB/file" (Impact).
pub const FILES: usize = 150;

/// The size of those files, in MB.
pub const FILE_MB: f64 = 2_000.0;

/// Standard deviation of the logarithm of a file's size: assumed, 68 % within a factor of 2.7.
pub const SIGMA: f64 = 1.0;

/// How large the files of a full tape are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sizes {
    /// This many files, log-normal, with this standard deviation of the logarithm.
    LogNormal {
        /// Files on the tape.
        files: usize,
        /// Standard deviation of the natural logarithm of the size.
        sigma: f64,
    },
    /// As many files of one size, in MB, as the tape holds.
    Equal(f64),
}

/// The blocks of a file: the first, and one past the last.
type Extent = (u64, u64);

/// A drive with a full cartridge of nominal geometry.
pub struct Cartridge {
    tape: Tape,
    map: BlockMap,
    /// Metres of tape for each LPOS unit.
    pub metres_per_lpos: f64,
}

impl Cartridge {
    /// The cartridge of a profile.
    pub fn new(profile: &Profile) -> Result<Cartridge, PaperError> {
        let tape = Tape::new(profile, None)?;
        let metres_per_lpos = tape.geometry.metres_per_lpos.ok_or_else(|| {
            PaperError::from(format!("profile {}: usable_m is not known", profile.name))
        })?;
        Ok(Cartridge {
            map: profile.nominal_map(NominalLayout::Single, BLOCK_BYTES)?,
            tape,
            metres_per_lpos,
        })
    }

    /// What the cartridge holds, in MB.
    pub fn capacity_mb(&self) -> f64 {
        (self.map.end_block(0) * BLOCK_BYTES) as f64 / 1e6
    }

    /// The length of a wrap in LPOS units, and where it begins.
    pub fn wrap(&self) -> (u32, u32) {
        (self.tape.geometry.wrap_lpos(), self.tape.geometry.lpos_min)
    }

    /// Files end to end from the beginning of tape to its end, in whole blocks.
    fn extents(&self, sizes: Sizes, random: &mut Random) -> Vec<Extent> {
        let weights: Vec<f64> = match sizes {
            Sizes::LogNormal { files, sigma } => (0..files)
                .map(|_| (sigma * random.normal()).exp())
                .collect(),
            Sizes::Equal(mb) => vec![1.0; (self.capacity_mb() / mb) as usize],
        };
        let blocks = self.map.end_block(0) as f64;
        let scale = blocks / weights.iter().sum::<f64>();
        let mut behind = 0.0;
        let mut extents = Vec::with_capacity(weights.len());
        let mut first = 0;
        for weight in weights {
            behind += weight;
            let end = ((behind * scale).round() as u64).min(self.map.end_block(0));
            if end > first {
                extents.push((first, end));
            }
            first = end;
        }
        extents
    }

    /// A batch of different files of a tape, every one equally likely, in random order, with the
    /// head at the beginning of tape and left wherever the last read ends.
    pub fn recall(
        &self,
        sizes: Sizes,
        files: usize,
        random: &mut Random,
    ) -> Result<Problem, PaperError> {
        let mut extents = self.extents(sizes, random);
        random.shuffle(&mut extents);
        let requests: Vec<Request> = extents
            .iter()
            .take(files)
            .map(|&(first, end)| {
                let bytes = (end - first) * BLOCK_BYTES;
                PlacedExtent::on_map(&self.map, 0, first, end - 1, bytes).map(Request::single)
            })
            .collect::<Result<_, _>>()?;
        let options = Options {
            head: Position::beginning_of_tape(self.tape.geometry.lpos_min),
            end: End::Anywhere,
            read_through: false,
        };
        Ok(Problem::new(self.tape.clone(), options, &requests))
    }
}
