//! Why a volume may hold more than its newest index says, or other things.

/// A reason why a volume may hold more than its newest index says, or other things.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    /// It was not unmounted in order.
    #[error(
        "the index partition has {}, the data partition generation {data}: the volume was not unmounted in order",
        of_generation(*.index)
    )]
    IndexPartitionBehind {
        /// Generation in the index partition.
        index: Option<u64>,
        /// Generation in the data partition.
        data: u64,
    },
    /// The data partition lacks the index to which that of the index partition points back.
    #[error(
        "the index partition has generation {index}, the data partition {}: it lacks an index that was written",
        of_generation(*.data)
    )]
    DataPartitionBehind {
        /// Generation in the index partition.
        index: u64,
        /// Generation in the data partition.
        data: Option<u64>,
    },
    /// Blocks that no index knows.
    #[error(
        "partition {partition}: {blocks} blocks from block {first_block} on lie after the last index; files in them are in no index"
    )]
    Unindexed {
        /// The partition.
        partition: u8,
        /// The first of them.
        first_block: u64,
        /// How many there are.
        blocks: u64,
    },
    /// What begins as an index and is none.
    #[error("partition {partition}, block {block}: an index that cannot be read ({why})")]
    BadIndex {
        /// The partition.
        partition: u8,
        /// Its first block.
        block: u64,
        /// The generation that it says it is, where that much of it could be read.
        generation: Option<u64>,
        /// Why.
        why: String,
    },
    /// A partition that could not be read to its end.
    #[error("partition {partition} could not be looked through: {why}")]
    Unread {
        /// The partition.
        partition: u8,
        /// Sense in words.
        why: String,
    },
    /// The cartridge's memory knows of a newer index.
    #[error(
        "the cartridge's memory says that generation {memory} was written, the newest on the tape is {tape}"
    )]
    MemoryNewer {
        /// Generation in the memory.
        memory: u64,
        /// Generation on the tape.
        tape: u64,
    },
    /// The cartridge's memory is of another volume.
    #[error("the cartridge's memory is of volume {memory}")]
    MemoryOfOther {
        /// UUID in the memory.
        memory: String,
    },
}

fn of_generation(generation: Option<u64>) -> String {
    generation.map_or("no index".to_owned(), |generation| {
        format!("generation {generation}")
    })
}
