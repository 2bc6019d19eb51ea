//! The key under which a mover reserves a drive: which archive, and which lease of it.
//!
//! Several hosts work for one archive, each with a lease on the drive that it uses. The lease's epoch stands in the key,
//! and epochs only grow: whoever finds the key of an older lease of its own archive knows that it is over, and takes the
//! drive from a host that may not know it yet.

/// First bytes of these keys.
const LEASE: u64 = 0x544c; // TL

/// A lease, as far as a key of eight bytes tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseKey {
    /// Tells archives apart that share drives.
    pub archive: u16,
    /// The lease's epoch; its low 32 bits where it has more.
    pub epoch: u32,
}

impl LeaseKey {
    /// What stands for an archive with this identity.
    pub fn archive(id: &str) -> u16 {
        crc32fast::hash(id.as_bytes()) as u16
    }

    /// The key.
    pub fn key(self) -> u64 {
        LEASE << 48 | u64::from(self.archive) << 32 | u64::from(self.epoch)
    }

    /// The lease of a key, if it is that of one.
    pub fn of_key(key: u64) -> Option<LeaseKey> {
        (key >> 48 == LEASE).then_some(LeaseKey {
            archive: (key >> 32) as u16,
            epoch: key as u32,
        })
    }

    /// Whether it is a later lease of the same archive.
    pub fn is_after(self, other: LeaseKey) -> bool {
        self.archive == other.archive && self.epoch > other.epoch
    }
}
