//! Our own count of where a drive is, for drives that do not say.

use std::collections::BTreeSet;

/// Blocks and filemarks counted from a place that is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Count {
    /// The active partition, where the drive told it or LOCATE named it.
    partition: Option<u8>,
    block: Option<u64>,
    /// Filemarks that were met or written, as (partition, object).
    filemarks: BTreeSet<(u8, u64)>,
}

impl Count {
    /// Partition and block, where the block is known. A drive for which we must count has no
    /// partitions: where nothing told the active one, it is 0.
    pub fn at(&self) -> Option<(u8, u64)> {
        Some((self.partition.unwrap_or(0), self.block?))
    }

    /// The active partition, where it is certain.
    pub fn active_partition(&self) -> Option<u8> {
        self.partition
    }

    /// This is the active partition; where in it is another question.
    pub fn in_partition(&mut self, partition: u8) {
        self.partition = Some(partition);
    }

    /// We are here.
    pub fn set(&mut self, partition: u8, block: u64) {
        self.partition = Some(partition);
        self.block = Some(block);
    }

    /// We are at this block of the active partition.
    pub fn set_block(&mut self, block: u64) {
        self.block = Some(block);
    }

    /// We are at the beginning of a partition: of 0 on LTO (the beginning of the medium), of the active one on DLT and
    /// SDLT, as their manuals say. So which one is certain in partition 0 only.
    pub fn rewound(&mut self) {
        self.partition = self.partition.filter(|&partition| partition == 0);
        self.block = Some(0);
    }

    /// Something moved the tape within the partition and did not say where to.
    pub fn lose(&mut self) {
        self.block = None;
    }

    /// A LOCATE that failed: it may have changed the partition.
    pub fn lose_partition(&mut self) {
        self.partition = None;
        self.block = None;
    }

    /// Another cartridge, or one that others may have written.
    pub fn forget(&mut self) {
        *self = Count::default();
    }

    /// So many objects on, or back. Before the beginning nothing is known.
    pub fn step(&mut self, objects: i64) {
        self.block = self
            .block
            .and_then(|block| block.checked_add_signed(objects));
    }

    /// The object before us is a filemark.
    pub fn passed_filemark(&mut self) {
        if let Some((partition, block)) = self.at()
            && let Some(before) = block.checked_sub(1)
        {
            self.filemarks.insert((partition, before));
        }
    }

    /// The object after us is a filemark: it was met going back.
    pub fn faces_filemark(&mut self) {
        self.filemarks.extend(self.at());
    }

    /// So many blocks or filemarks are written here, which ends the recorded data behind them.
    pub fn wrote(&mut self, objects: u64, are_filemarks: bool) {
        let Some((partition, block)) = self.at() else {
            self.filemarks.clear();
            return;
        };
        let behind = (partition, block)..=(partition, u64::MAX);
        let gone: Vec<_> = self.filemarks.range(behind).copied().collect();
        gone.iter().for_each(|mark| {
            self.filemarks.remove(mark);
        });
        if are_filemarks {
            let marks = (block..block.saturating_add(objects)).map(|mark| (partition, mark));
            self.filemarks.extend(marks);
        }
        self.set_block(block.saturating_add(objects));
    }

    /// The first known filemark at or after this block of a partition.
    pub fn next_filemark(&self, partition: u8, block: u64) -> Option<u64> {
        let behind = (partition, block)..=(partition, u64::MAX);
        self.filemarks.range(behind).next().map(|(_, mark)| *mark)
    }
}
