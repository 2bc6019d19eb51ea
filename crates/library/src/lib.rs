//! What a library of drives and robots does without a catalogue: mount, clean, stress, bench.
//!
//! | module | what it knows |
//! |---|---|
//! | [`pool`] | which drive mounts which volume, and what happens when a drive, cartridge or robot fails |
//! | [`stress`] | mounts and dismounts without a pause |
//! | [`bench`] | random retrievals, and how soon they are answered |

pub mod bench;
pub mod pool;
pub mod stress;
#[cfg(test)]
mod testing;
