//! What the drives of a migration know of each other: what each claims, and why nothing more is begun.

use super::super::lessee::Leased;
use super::super::migrated::Migrated;
use super::super::segment::too_long;
use super::super::{MoveError, Settings};
use crate::catalogue::{FileId, Migration, VolumeId};
use std::collections::{HashMap, HashSet};
use tapewise_scsi::Attention;

/// Unit attentions without a closed segment between them after which a migration ends.
const MOST_ATTENTIONS: u32 = 8;

/// What all of them have done, and are doing.
#[derive(Default)]
pub(super) struct State {
    pub(super) done: Migrated,
    /// Files whose contents cannot be written.
    pub(super) refused: HashSet<FileId>,
    /// Files that no volume takes.
    pub(super) homeless: HashSet<FileId>,
    /// Bytes that a blank cartridge took until it was full, where a file did not fit it.
    pub(super) whole_cartridge: Option<u64>,
    /// Volumes that others have.
    pub(super) denied: HashSet<String>,
    /// The groups on volumes that are filled side by side.
    pub(super) stems: HashMap<VolumeId, Stems>,
    /// What is being written, by label.
    pub(super) claimed: HashMap<String, Claim>,
    /// Nothing is left for any drive until one of those that write has ended: the catalogue need not be
    /// asked again and again.
    pub(super) is_all_claimed: bool,
    /// Unit attentions since the last segment was closed.
    pub(super) attentions: u32,
    /// Why nothing more is begun.
    pub(super) ended: Option<MoveError>,
}

/// The groups on a volume, when its contents were looked at last.
#[derive(Default)]
pub(super) struct Stems {
    /// Where the volume ended then.
    pub(super) next_block: u64,
    /// By what their paths have in common.
    pub(super) on: HashSet<Vec<u8>>,
}

#[derive(Clone)]
pub(super) struct Claim {
    pub(super) volume: VolumeId,
    pub(super) waiting: Vec<Migration>,
    /// It was in the drive already.
    pub(super) is_here: bool,
    /// The lease, where others write volumes of the same archive.
    pub(super) leased: Option<Leased>,
}

impl State {
    pub(super) fn is_known(&self, file: FileId) -> bool {
        self.refused.contains(&file) || self.homeless.contains(&file)
    }

    /// What is about to be written onto a volume, or was just written.
    pub(super) fn claimed_bytes(&self, label: &str) -> u64 {
        let claim = self.claimed.get(label).into_iter();
        let files = claim.flat_map(|claim| &claim.waiting);
        files.map(|file| file.bytes).fold(0, u64::saturating_add)
    }

    /// The volumes onto which copies are being written, with their numbers, by file.
    pub(super) fn claims(&self) -> HashMap<FileId, Vec<(u32, VolumeId)>> {
        let mut claims: HashMap<FileId, Vec<(u32, VolumeId)>> = HashMap::new();
        for claim in self.claimed.values() {
            for one in &claim.waiting {
                let number = one.missing.first().map(|missing| missing.number);
                let of_file = claims.entry(one.file).or_default();
                of_file.extend(number.map(|number| (number, claim.volume)));
            }
        }
        claims
    }

    /// Whether what is written of a file next is as long as what a whole cartridge took: it may still fit
    /// one, because its contents shrink better, but it would only fill up one that was begun.
    pub(super) fn is_too_long(&self, migration: &Migration, part_bytes: u64) -> bool {
        let from = migration.missing.first().map_or(0, |missing| missing.from);
        let next = (migration.bytes.saturating_sub(from)).min(part_bytes);
        self.whole_cartridge.is_some_and(|bytes| next >= bytes)
    }

    /// Refuses files that no cartridge takes by their lengths, before anything of them is written; whether there are any.
    pub(super) fn refuse_too_long(&mut self, settings: &Settings, batch: &[Migration]) -> bool {
        let known = self.refused.len();
        for migration in batch {
            if let Some(bytes) = settings.longer_than_a_cartridge(migration)
                && self.refused.insert(migration.file)
            {
                let refused = (migration.file, too_long(bytes));
                self.done.refused.push(refused);
            }
        }
        self.refused.len() > known
    }

    /// What was claimed and not written waits again.
    pub(super) fn unclaim(&mut self, label: &str) {
        self.claimed.remove(label);
        self.is_all_claimed = false;
    }

    /// Whether a volume may be written on after the drive told of something that changed. What was under way does not
    /// count, and the label is read again first.
    pub(super) fn may_go_on_after(&mut self, error: &MoveError, is_labelled: bool) -> bool {
        let may = match error.attention() {
            // Another cartridge that is blank would get the label of this one.
            Some(Attention::MediumChanged) => is_labelled,
            Some(
                Attention::Reset
                | Attention::ParametersChanged
                | Attention::EncryptionChanged
                | Attention::FirmwareChanged,
            ) => true,
            _ => false,
        };
        self.attentions += u32::from(may);
        may && self.attentions <= MOST_ATTENTIONS
    }

    pub(super) fn end(&mut self, error: MoveError) {
        self.ended.get_or_insert(error);
    }
}
