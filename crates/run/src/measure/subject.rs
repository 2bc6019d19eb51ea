//! What is measured: the drive, and the cartridge in it as far as it is known beforehand.

use crate::error::RunError;
use crate::recorder::{Item, Recorder};
use tapewise_model::{BlockMap, Layout, Micros, NominalLayout, Profile};

/// A drive and the cartridge in it.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The profile that times are predicted with and places looked up in.
    pub profile: Profile,
    /// Blocks and filemarks on partition 0.
    pub blocks: u64,
    /// Length of a block, as the host sees it.
    pub block_bytes: u64,
    /// What a byte of the host stands for: 1 but on emulated cartridges.
    pub byte_scale: u64,
    /// Where blocks lie, by nominal geometry; `None` where the profile does not say.
    pub map: Option<BlockMap>,
}

/// What an action is expected to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// A mount.
    pub mount: Micros,
    /// An unmount at the beginning of tape.
    pub unmount: Micros,
    /// A locate between any two blocks, in the mean.
    pub locate: Micros,
    /// A rewind, in the mean.
    pub rewind: Micros,
}

impl Subject {
    /// Looks at the cartridge in the drive: where its data ends, and how long its blocks are.
    ///
    /// # Errors
    /// [`RunError::Unsuitable`] where there are fewer blocks than can be measured with.
    pub fn explore(
        recorder: &mut Recorder<'_>,
        profile: &Profile,
        byte_scale: u64,
    ) -> Result<Subject, RunError> {
        recorder.rewind()?;
        let blocks = match recorder.end_of_data()?.block {
            Some(blocks) => blocks,
            None => return Err(RunError::Lost),
        };
        recorder.rewind()?;
        let block_bytes = first_block_bytes(recorder, blocks)?;
        Ok(Subject::new(profile, blocks, block_bytes, byte_scale))
    }

    /// A cartridge with so many blocks of this length.
    pub fn new(profile: &Profile, blocks: u64, block_bytes: u64, byte_scale: u64) -> Subject {
        let recorded = block_bytes.saturating_mul(byte_scale);
        Subject {
            profile: profile.clone(),
            blocks,
            block_bytes,
            byte_scale,
            map: profile.nominal_map(NominalLayout::Single, recorded).ok(),
        }
    }

    /// Whether tracks run to and fro.
    pub fn is_serpentine(&self) -> bool {
        let layout = self.profile.cartridge.layout.as_ref();
        layout.is_some_and(|layout| layout.value == Layout::Serpentine)
    }

    /// Bytes on the tape that a block stands for.
    pub fn recorded_block_bytes(&self) -> u64 {
        self.block_bytes.saturating_mul(self.byte_scale).max(1)
    }

    /// Blocks that hold so many decimal megabytes, at least one.
    pub fn blocks_of_mb(&self, mb: f64) -> u64 {
        ((mb * 1e6 / self.recorded_block_bytes() as f64).round() as u64).max(1)
    }

    /// The blocks of a wrap that have data on them, by the nominal map; the whole tape where there
    /// is no map or only one wrap.
    pub fn wrap(&self, wrap: u16) -> Option<(u64, u64)> {
        let Some(map) = &self.map else {
            return (wrap == 0).then_some((0, self.blocks));
        };
        let spans = map.spans().iter().filter(|span| span.wrap == wrap);
        let (first, end) = spans.fold((u64::MAX, 0), |(first, end), span| {
            (first.min(span.first_block), end.max(span.end_block))
        });
        let end = end.min(self.blocks);
        (first < end).then_some((first, end))
    }

    /// Number of wraps that have data from end to end, by the nominal map.
    pub fn full_wraps(&self) -> u16 {
        let Some(map) = &self.map else { return 1 };
        let spans = map.spans().iter();
        let full = spans.filter(|span| span.end_block <= self.blocks);
        full.map(|span| span.wrap + 1).max().unwrap_or(0)
    }

    /// Blocks of this length that take so many seconds at the native rate, at least one.
    pub fn blocks_of_s(&self, seconds: f64, block_bytes: u64) -> u64 {
        let rate = self.profile.transfer.rate_mb_s.as_ref();
        let bytes = seconds * rate.map_or(1.0, |rate| rate.value) * 1e6;
        let recorded = block_bytes.saturating_mul(self.byte_scale).max(1);
        ((bytes / recorded as f64).round() as u64).max(1)
    }

    /// Whether the drive tells where on the tape it is.
    pub fn reports_positions(&self) -> bool {
        self.profile.cartridge.position_areas.is_some()
            || self.profile.features.end_of_wrap_table.is_some()
    }

    /// What an action is expected to take, by the profile; where it does not say, as slow as the
    /// drives of 1998 were.
    pub fn expected(&self) -> Expected {
        let (handling, seek) = (&self.profile.handling, &self.profile.seek);
        let seconds = |known: &tapewise_model::profile::Known<f64>| {
            known.as_ref().map(|sourced| sourced.value)
        };
        let half_tape = seconds(&seek.full_s).map(|full| full / 2.0);
        let search = seconds(&handling.search_mean_s).or(seconds(&handling.file_to_file_s));
        let seek = seconds(&seek.startup_s).zip(half_tape).map(|(a, b)| a + b);
        let locate = seek.or(search).unwrap_or(90.0);
        let rewind = seconds(&handling.rewind_mean_s).or(half_tape);
        Expected {
            mount: Micros::from_secs_f64(seconds(&handling.mount_s).unwrap_or(50.0)),
            unmount: Micros::from_secs_f64(seconds(&handling.unmount_s).unwrap_or(23.0)),
            locate: Micros::from_secs_f64(locate),
            rewind: Micros::from_secs_f64(rewind.unwrap_or(75.0)),
        }
    }

    /// What reading so many blocks at a stretch is expected to take.
    pub fn reading(&self, blocks: u64) -> Micros {
        let bytes = blocks.saturating_mul(self.recorded_block_bytes()) as f64;
        let rate = self.profile.transfer.rate_mb_s.as_ref();
        Micros::from_secs_f64(bytes / 1e6 / rate.map_or(1.0, |rate| rate.value))
    }
}

/// The fewest blocks a cartridge must hold for places to differ.
const FEWEST_BLOCKS: u64 = 1_000;

/// The length of the first block that is no filemark. A label of another length stands in the
/// first few blocks, so the block at a thousandth of the tape is looked at.
fn first_block_bytes(recorder: &mut Recorder<'_>, blocks: u64) -> Result<u64, RunError> {
    if blocks < FEWEST_BLOCKS {
        return Err(RunError::Unsuitable(format!(
            "the cartridge holds {blocks} blocks; at least {FEWEST_BLOCKS} are needed. --write fills a blank one"
        )));
    }
    recorder.locate(0, blocks / 1_000)?;
    let mut block_bytes = 0;
    for _ in 0..16 {
        recorder.read(tapewise_formats::event::Action::Read, 1, &mut |_, item| {
            if let Item::Block(bytes) = item {
                block_bytes = bytes.len() as u64;
            }
            Ok(())
        })?;
        if block_bytes > 0 {
            return Ok(block_bytes);
        }
    }
    Err(RunError::Unsuitable(
        "sixteen filemarks follow each other; data is needed".to_owned(),
    ))
}
