//! Volumes: what is known of cartridges and of what lies on them.

use super::Result;
use super::ids::{FileId, VolumeId};
use crate::record::{File, Owner, Segment, Volume};

/// A file that was found on a volume that others wrote, or that we wrote and lost the catalogue of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The file, under the path that it gets in the archive.
    pub file: File,
    /// Whose it is.
    pub owner: Owner,
    /// Length of the zstd frame that it is there; none where it is the contents as they are.
    pub zstd_bytes: Option<u64>,
    /// Where its bytes are, in file order; none for an empty file of LTFS.
    pub segments: Vec<Segment>,
}

/// A whole copy that was found on volumes of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rediscovered {
    /// The file, with the sum that the tape says.
    pub file: File,
    /// When it was stored.
    pub stored_ns: i64,
    /// On how many volumes it is to lie.
    pub copies_wanted: u32,
    /// Length of the zstd frame that it is there; none where it is the contents as they are.
    pub zstd_bytes: Option<u64>,
    /// Where its bytes are, in file order: the place of the volume among those that are joined, and the segment.
    pub segments: Vec<(usize, Segment)>,
}

/// The fact that says how often a cartridge was loaded.
pub const LOAD_COUNT: &str = "load_count";

/// The fact that somebody has retired a volume, which is full since then.
pub const RETIRED: &str = "retired";

/// The fact that all of a volume was verified, and the fact that this was begun and not done: when it was, last.
pub const VERIFIED: &str = "verified";
/// See [`VERIFIED`].
pub const NOT_VERIFIED: &str = "not_verified";

/// The name of the [`Fact`] of a volume that says what its cartridge holds and the catalogue lacks, as reading it in found
/// it: empty if that is nothing. Such a volume is not forgotten, unless the loss is accepted.
pub const HOLDS_MORE: &str = "holds_more";

/// The fact that a volume is full only because the catalogue was a backup: it takes more once its tape was read.
pub(super) const FULL_IN_BACKUP: &str = "full_in_backup";

/// What came of joining what was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rejoined {
    /// Files that are new and live.
    pub files: u64,
    /// Versions of a path that a later one replaces.
    pub versions: u64,
    /// Copies of known files that were not known.
    pub copies: u64,
    /// Copies that were known.
    pub known: u64,
    /// Copies that are lost: something else lies where the catalogue had them, or nothing.
    pub displaced: u64,
}

/// A segment on a volume, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnVolume {
    /// The file.
    pub file: FileId,
    /// Its path.
    pub path: Vec<u8>,
    /// The number of the copy.
    pub number: u32,
    /// When the file was stored.
    pub stored_ns: i64,
    /// Length of the zstd frame that the copy is; none where it is the contents as they are.
    pub zstd_bytes: Option<u64>,
    /// Whether the file is still wanted; what is not, a repack leaves behind.
    pub live: bool,
    /// Whether the copy could not be read, or was not right.
    pub lost: bool,
    /// When the copy was last read and found right, or written.
    pub read_ns: Option<i64>,
    /// Whether the copy was ever read and found right.
    pub is_read: bool,
    /// The segment.
    pub segment: Segment,
}

/// Something that a cartridge said of itself, or somebody of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it is, for instance `serial_number`, `load_count` or `pool`.
    pub name: String,
    /// What it was.
    pub value: String,
    /// When it was seen.
    pub seen_ns: i64,
}

/// Whether a volume may be forgotten that holds the only copy of live files, or [what the catalogue lacks](HOLDS_MORE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// No: an error says how many, or what.
    Refused,
    /// Yes: such files are retired.
    Accepted,
}

/// What a list consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListItem {
    /// A volume; the files up to the next one are on it.
    Volume(Volume),
    /// A file.
    File(Recorded),
}

/// What went with a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Copies that had a segment on it.
    pub copies: u64,
    /// Files that lost their only copy and were retired.
    pub retired: u64,
    /// Files that have fewer copies now than they are to have.
    pub lacking: u64,
}

/// What is known of volumes.
pub trait Volumes: Send + Sync {
    /// Adds a volume with nothing of ours on it.
    ///
    /// Fails where its label or UUID is known.
    fn add_volume(&self, volume: &Volume, at_ns: i64) -> Result<VolumeId>;

    /// Adds a volume and the files that were found on it, all or none.
    ///
    /// A path that is in the archive already is a further copy of that file if lengths agree and at
    /// least one sum of the same kind does and none differs; otherwise it is an error.
    fn add_recorded(&self, volume: &Volume, files: &[Recorded], at_ns: i64) -> Result<VolumeId>;

    /// The same for a list of any length, each volume before its files, in memory that does not grow with it: all or
    /// none. Returns how many files there were.
    fn add_list(
        &self,
        items: &mut dyn Iterator<Item = Result<ListItem>>,
        at_ns: i64,
    ) -> Result<u64>;

    /// A volume of ours was read to its end without trouble, and `found` is where contents begin on it: what the
    /// catalogue has elsewhere on this volume is lost, for something else lies there. Returns how many copies.
    ///
    /// To be asked before [`Volumes::rejoin`], which would take such a copy for the one that was found.
    fn give_up_missing(&self, uuid: &str, found: &[Segment], at_ns: i64) -> Result<u64>;

    /// Joins volumes of ours that were read, and the whole copies that were found on them, to what is known:
    /// all or none. A volume that is known by its UUID then ends where its tape does.
    ///
    /// A copy of a file that is known is a further copy of it, or the one that is known to be there. Of two
    /// versions of a path the one that was stored later is live, the other is a retired version. Copies whose
    /// place holds something else are lost.
    fn rejoin(&self, volumes: &[Volume], copies: &[Rediscovered], at_ns: i64) -> Result<Rejoined>;

    /// The volume with a label.
    fn find_volume(&self, label: &str) -> Result<Option<(VolumeId, Volume)>>;

    /// A volume.
    fn volume(&self, id: VolumeId) -> Result<Volume>;

    /// All volumes, by label.
    fn volumes(&self) -> Result<Vec<(VolumeId, Volume)>>;

    /// Gives a volume that nothing was written on yet the identity that its label will have.
    fn set_volume_uuid(&self, id: VolumeId, uuid: &str) -> Result<()>;

    /// Says what may still be done with a volume.
    fn set_volume_state(&self, id: VolumeId, state: crate::record::VolumeState) -> Result<()>;

    /// What lies on a volume, in tape order: partition, block, offset. Lost copies are left out.
    fn contents(&self, id: VolumeId) -> Result<Vec<OnVolume>>;

    /// As [`Volumes::contents`], lost copies among them.
    fn all_contents(&self, id: VolumeId) -> Result<Vec<OnVolume>>;

    /// Takes a volume and the copies on it out of the catalogue, after a repack or a loss.
    ///
    /// A file that lies in the cache is not lost with it, and is migrated again.
    fn forget_volume(&self, id: VolumeId, loss: Loss, at_ns: i64) -> Result<Forgotten>;

    /// Notes facts of a cartridge, over what was noted under the same names.
    fn note_facts(&self, id: VolumeId, facts: &[(&str, &str)], at_ns: i64) -> Result<()>;

    /// What was noted of a cartridge, by name.
    fn facts(&self, id: VolumeId) -> Result<Vec<Fact>>;

    /// How often the cartridge was loaded that was loaded most, of those whose memory told it.
    fn most_loads(&self) -> Result<Option<u64>>;

    /// The volumes of which a fact was noted.
    fn with_fact(&self, name: &str) -> Result<Vec<VolumeId>>;
}
