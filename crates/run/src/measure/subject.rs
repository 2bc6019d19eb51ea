//! What is measured: the drive, and the cartridge in it as far as it is known beforehand.

use crate::error::RunError;
use crate::facts::partitions;
use crate::recorder::{Item, Recorder};
use crate::wrap_ends::wrap_ends;
use tapewise_formats::event::Spot;
use tapewise_model::{BlockMap, EndOfWrap, Layout, Micros, NominalLayout, Profile};

/// A drive and the cartridge in it.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The profile that times are predicted with and places looked up in.
    pub profile: Profile,
    /// The partition that is measured: the one with the most blocks. An LTFS volume has its data in partition 1.
    pub partition: u8,
    /// Blocks and filemarks on it.
    pub blocks: u64,
    /// Length of a block, as the host sees it.
    pub block_bytes: u64,
    /// What a byte of the host stands for: 1 but on emulated cartridges.
    pub byte_scale: u64,
    /// Where its blocks lie: by the drive's own table of wrap ends where it has one, else
    /// by nominal geometry; `None` where the profile does not say.
    pub map: Option<BlockMap>,
    /// The drive's own table of wrap ends, all partitions of it.
    pub wrap_ends: Option<Vec<EndOfWrap>>,
    /// Whether the drive says where on the tape it is.
    pub tells_place: bool,
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
    /// Looking at the cartridge before anything is measured.
    pub explore: Micros,
}

impl Subject {
    /// Looks at the cartridge in the drive: where its data ends, how long its blocks are, whether
    /// the drive says where it is, and where its wraps end. A table of wrap ends is as of the last
    /// load: where it ends short of the data, the cartridge is unmounted and mounted first.
    ///
    /// # Errors
    /// [`RunError::Unsuitable`] where there are fewer blocks than can be measured with, or the
    /// drive's table contradicts itself.
    pub fn explore(
        recorder: &mut Recorder<'_>,
        profile: &Profile,
        byte_scale: u64,
    ) -> Result<Subject, RunError> {
        recorder.rewind()?;
        let (partition, blocks) = fullest_partition(recorder)?;
        recorder.rewind()?;
        let block_bytes = first_block_bytes(recorder, partition, blocks)?;
        let mut subject = Subject::new(profile, blocks, block_bytes, byte_scale);
        subject.tells_place = tells_place(recorder);
        subject.lies_in(partition);
        if let Some(table) = current_table(recorder, partition, blocks)? {
            subject.has_table(table)?;
        }
        Ok(subject)
    }

    /// Sets the partition that the blocks are in. Only the drive's table tells how the partitions share the wraps.
    pub(crate) fn lies_in(&mut self, partition: u8) {
        if partition > 0 {
            self.partition = partition;
            self.map = None;
        }
    }

    /// Says where the drive's wraps end.
    pub(crate) fn has_table(&mut self, table: Vec<EndOfWrap>) -> Result<(), RunError> {
        self.map = Some(self.map_of(&table)?);
        self.wrap_ends = Some(table);
        Ok(())
    }

    /// The cartridge in the drive as it will be: blocks of this length are yet to be written.
    ///
    /// # Errors
    /// [`RunError::Unsuitable`] for a cartridge that can be written only once;
    /// [`RunError`] of the rewind, after which the drive is asked whether it says where it is.
    pub fn blank(
        recorder: &mut Recorder<'_>,
        profile: &Profile,
        block_bytes: u64,
        byte_scale: u64,
    ) -> Result<Subject, RunError> {
        if recorder.drive().is_write_once()? == Some(true) {
            return Err(RunError::Unsuitable(
                "the cartridge is WORM: what is measured by writing is written over again and again. Nothing was written; \
                 put in a cartridge that can be written over"
                    .to_owned(),
            ));
        }
        recorder.rewind()?;
        let mut subject = Subject::new(profile, 0, block_bytes, byte_scale);
        subject.tells_place = tells_place(recorder);
        Ok(subject)
    }

    /// The map that the drive's table of wrap ends gives.
    fn map_of(&self, table: &[EndOfWrap]) -> Result<BlockMap, RunError> {
        let unsuitable = |error: &dyn std::fmt::Display| RunError::Unsuitable(error.to_string());
        let geometry = self
            .profile
            .geometry()
            .map_err(|error| unsuitable(&error))?;
        let own = table.iter().filter(|end| end.partition == self.partition);
        let own: Vec<EndOfWrap> = own.copied().collect();
        let nominal_blocks = self.profile.wrap_blocks(self.recorded_block_bytes()).ok();
        BlockMap::from_end_of_wrap(&geometry, &own, nominal_blocks)
            .map_err(|error| unsuitable(&error))
    }

    /// A cartridge with so many blocks of this length, placed by nominal geometry, in a drive that
    /// has what its profile says.
    pub fn new(profile: &Profile, blocks: u64, block_bytes: u64, byte_scale: u64) -> Subject {
        let recorded = block_bytes.saturating_mul(byte_scale);
        Subject {
            profile: profile.clone(),
            partition: 0,
            blocks,
            block_bytes,
            byte_scale,
            map: profile.nominal_map(NominalLayout::Single, recorded).ok(),
            wrap_ends: None,
            tells_place: profile.cartridge.position_areas.is_some()
                || profile.features.end_of_wrap_table.is_some(),
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

    /// The wrap of a spot, and its way along the tape from the beginning as a share of it: as the
    /// drive reported it, else by the map.
    pub fn place(&self, spot: Spot) -> Option<(u16, f64)> {
        let geometry = self.profile.geometry().ok()?;
        let (wrap, lpos) = match (spot.wrap, spot.lpos) {
            (Some(wrap), Some(lpos)) => (wrap, lpos),
            _ => {
                let map = self.map.as_ref()?;
                let position = map.position(spot.partition, spot.block?).ok()?;
                (position.wrap, position.lpos)
            }
        };
        let along = f64::from(lpos.saturating_sub(geometry.lpos_min));
        Some((wrap, along / f64::from(geometry.wrap_lpos().max(1))))
    }

    /// The blocks of a wrap that have data on them, by the map; the whole tape where there is no map
    /// or only one wrap.
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

    /// Number of wraps that have data from end to end, by the map.
    pub fn full_wraps(&self) -> u16 {
        let Some(map) = &self.map else { return 1 };
        let spans = map.spans().iter();
        // A drive's table ends with the data, and so does its last wrap.
        let full = spans.filter(|span| span.end_block < self.blocks);
        full.map(|span| span.wrap + 1).max().unwrap_or(0)
    }

    /// Blocks of this length that take so many seconds at the native rate, at least one.
    pub fn blocks_of_s(&self, seconds: f64, block_bytes: u64) -> u64 {
        let rate = self.profile.transfer.rate_mb_s.as_ref();
        let bytes = seconds * rate.map_or(1.0, |rate| rate.value) * 1e6;
        let recorded = block_bytes.saturating_mul(self.byte_scale).max(1);
        ((bytes / recorded as f64).round() as u64).max(1)
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
        let rewind = seconds(&handling.rewind_mean_s)
            .or(half_tape)
            .unwrap_or(75.0);
        Expected {
            mount: Micros::from_secs_f64(seconds(&handling.mount_s).unwrap_or(50.0)),
            unmount: Micros::from_secs_f64(seconds(&handling.unmount_s).unwrap_or(23.0)),
            locate: Micros::from_secs_f64(locate),
            rewind: Micros::from_secs_f64(rewind),
            // To the end of the data and back, and to a block near the beginning.
            explore: Micros::from_secs_f64(2.0 * locate + 2.0 * rewind),
        }
    }

    /// What reading so many blocks at a stretch is expected to take.
    pub fn reading(&self, blocks: u64) -> Micros {
        let bytes = blocks.saturating_mul(self.recorded_block_bytes()) as f64;
        let rate = self.profile.transfer.rate_mb_s.as_ref();
        Micros::from_secs_f64(bytes / 1e6 / rate.map_or(1.0, |rate| rate.value))
    }
}

/// Whether the last place that the head came to was told by the drive.
fn tells_place(recorder: &Recorder<'_>) -> bool {
    recorder.head().is_some_and(|head| head.lpos.is_some())
}

/// The drive's table of wrap ends, up to the end of the data; `None` for a drive without one.
fn current_table(
    recorder: &mut Recorder<'_>,
    partition: u8,
    blocks: u64,
) -> Result<Option<Vec<EndOfWrap>>, RunError> {
    let Some(table) = wrap_ends(recorder.drive())? else {
        return Ok(None);
    };
    let is_current = |end: &EndOfWrap| end.partition == partition && end.block == blocks;
    if table.iter().any(is_current) {
        return Ok(Some(table));
    }
    recorder.unmount()?;
    recorder.mount()?;
    wrap_ends(recorder.drive())
}

/// The fewest blocks a cartridge must hold for places to differ.
const FEWEST_BLOCKS: u64 = 1_000;

/// The partition with the most blocks, and how many those are.
fn fullest_partition(recorder: &mut Recorder<'_>) -> Result<(u8, u64), RunError> {
    let mut fullest = (0, 0);
    for partition in 0..partitions(recorder.drive())? {
        if partition > 0 {
            recorder.locate(partition, 0)?;
        }
        let blocks = recorder.end_of_data()?.block.ok_or(RunError::Lost)?;
        if blocks > fullest.1 {
            fullest = (partition, blocks);
        }
    }
    Ok(fullest)
}

/// The length of the first block that is no filemark. A label of another length stands in the
/// first few blocks, so the block at a thousandth of the tape is looked at.
fn first_block_bytes(
    recorder: &mut Recorder<'_>,
    partition: u8,
    blocks: u64,
) -> Result<u64, RunError> {
    if blocks < FEWEST_BLOCKS {
        return Err(RunError::Unsuitable(format!(
            "the cartridge holds {blocks} blocks; at least {FEWEST_BLOCKS} are needed. --write fills a blank one"
        )));
    }
    /// Places that are tried until one can be read, in thousandths of the tape.
    const PLACES: u64 = 4;
    let mut place = 1;
    loop {
        match block_bytes_at(recorder, partition, place * blocks / 1_000) {
            Err(error) if error.is_of_the_place() && place < PLACES => place += 1,
            told => return told,
        }
    }
}

/// The length of the first block from a place on that is no filemark.
fn block_bytes_at(recorder: &mut Recorder<'_>, partition: u8, block: u64) -> Result<u64, RunError> {
    recorder.locate(partition, block)?;
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
