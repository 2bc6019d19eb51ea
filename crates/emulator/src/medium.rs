//! What is recorded on a cartridge, in files that outlive the process.
//!
//! A cartridge is a directory: `N.data` and `N.index` for each partition N, and `memory.toml`, the
//! chip in the cartridge (attributes and counters). A block's bytes are appended to the data file
//! first and described in the index afterwards, so whatever happens in between leaves a readable
//! prefix: see [`partition`].

mod at;
mod memory;
mod partition;

pub use memory::{CartridgeMemory, HostAttribute};
pub use partition::{Object, Partition, made_up};

use std::fs;
use std::path::{Path, PathBuf};

/// What can go wrong with the files of a cartridge.
#[derive(Debug, thiserror::Error)]
pub enum MediumError {
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that is not ours, or of another version.
    #[error("{path}: {what}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The bytes of a block are not those that were written.
    #[error("{path}: block {block} has checksum {found:08x}, its index says {expected:08x}")]
    Checksum {
        /// The data file.
        path: PathBuf,
        /// Logical object in the partition.
        block: u64,
        /// Of the bytes there are.
        found: u32,
        /// Of the bytes that were written.
        expected: u32,
    },
}

impl MediumError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> MediumError + '_ {
        move |source| MediumError::Io {
            path: path.to_owned(),
            source,
        }
    }
}

/// The recording on one cartridge.
#[derive(Debug)]
pub struct Medium {
    directory: PathBuf,
    partitions: Vec<Partition>,
    /// The chip in the cartridge.
    pub memory: CartridgeMemory,
}

impl Medium {
    /// A blank cartridge with one partition, in a new directory.
    ///
    /// # Errors
    /// [`MediumError::Io`] when the directory exists or cannot be made.
    pub fn create(directory: &Path, serial: &str) -> Result<Medium, MediumError> {
        fs::create_dir(directory).map_err(MediumError::io(directory))?;
        let medium = Medium {
            directory: directory.to_owned(),
            partitions: vec![Partition::create(directory, 0)?],
            memory: CartridgeMemory::new(serial),
        };
        medium.save_memory()?;
        Ok(medium)
    }

    /// The cartridge in this directory, with as much of every partition as is whole.
    ///
    /// # Errors
    /// [`MediumError`] when there is none, or its files are not ours.
    pub fn open(directory: &Path) -> Result<Medium, MediumError> {
        let memory = CartridgeMemory::read(&directory.join(MEMORY))?;
        let partitions = (0..memory.partitions())
            .map(|number| Partition::open(directory, number))
            .collect::<Result<_, _>>()?;
        Ok(Medium {
            directory: directory.to_owned(),
            partitions,
            memory,
        })
    }

    /// How many partitions there are.
    pub fn partition_count(&self) -> u8 {
        self.partitions.len() as u8
    }

    /// Partition `number`, if there is one.
    pub fn partition(&self, number: u8) -> Option<&Partition> {
        self.partitions.get(usize::from(number))
    }

    /// Partition `number` to write on.
    pub fn partition_mut(&mut self, number: u8) -> Option<&mut Partition> {
        self.partitions.get_mut(usize::from(number))
    }

    /// Makes the cartridge blank, with one partition for each entry: its wraps.
    ///
    /// # Errors
    /// [`MediumError::Io`].
    pub fn format(&mut self, wraps: &[u16]) -> Result<(), MediumError> {
        for number in 0..self.partition_count() {
            Partition::remove(&self.directory, number)?;
        }
        self.partitions.clear();
        for number in 0..wraps.len().max(1) {
            let partition = Partition::create(&self.directory, number as u8)?;
            self.partitions.push(partition);
        }
        self.memory.partition_wraps = wraps.to_vec();
        self.save_memory()
    }

    /// Puts everything that was written into the files, and the chip's contents too.
    ///
    /// # Errors
    /// [`MediumError::Io`].
    pub fn sync(&mut self) -> Result<(), MediumError> {
        for partition in &mut self.partitions {
            partition.sync()?;
        }
        self.save_memory()
    }

    fn save_memory(&self) -> Result<(), MediumError> {
        self.memory.write(&self.directory.join(MEMORY))
    }
}

const MEMORY: &str = "memory.toml";
