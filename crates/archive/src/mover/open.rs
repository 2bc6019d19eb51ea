//! A volume that is to be written: labelled where it has nothing on it, else at its end.

use super::MoveError;
use super::session::DriveContext;
use crate::catalogue::{Copy, CopyState, FileState, VolumeId};
use crate::record::{Volume, VolumeState};
use crate::sums::{Kind, Sum};
use crate::volume::{Blank, Label, Member, VolumeError, VolumeWriter};

use tapewise_run::Recorder;

/// The block after the label and its filemark.
pub(super) const LABEL_END: u64 = 2;

impl DriveContext<'_> {
    /// Labels a volume that has nothing on it yet, or goes to the end of one that has.
    ///
    /// No two cartridges get one identity: one that was labelled for this volume before, and came back under another
    /// barcode, still has the old one. So every label has a new one, and the catalogue knows it first.
    pub fn open_volume(
        &self,
        id: VolumeId,
        new_uuid: &dyn Fn() -> String,
        recorder: &mut Recorder<'_>,
    ) -> Result<VolumeWriter, MoveError> {
        let volume = self.catalogue.volume(id)?;
        let label = volume.label.clone();
        let end = Some((id, volume.next_block));
        let is_safe = |member: &Member| self.is_safe(member, end).unwrap_or(false);
        let resumed = VolumeWriter::resume(recorder, &volume, &is_safe);
        let writer = match (resumed, volume.state) {
            // Killed between the catalogue's word and the label, or right after the label.
            (Err(VolumeError::NoLabel { .. }), VolumeState::Empty) => {
                let uuid = new_uuid();
                self.catalogue.set_volume_uuid(id, &uuid)?;
                let volume = Volume { uuid, ..volume };
                VolumeWriter::label(recorder, &self.label_of(&volume), Blank::Required)
            }
            // Chosen because it seemed blank.
            (
                Err(VolumeError::OtherVolume {
                    found,
                    found_barcode,
                    ..
                }),
                VolumeState::Empty,
            ) => Err(VolumeError::NotBlank {
                what: format!("it is volume {found} ({found_barcode})"),
            }),
            (resumed, _) => resumed,
        };
        let writer = writer.map_err(|source| MoveError::Volume { label, source })?;
        let writer = writer.with_segments_of(self.settings.segment_bytes);
        Ok(writer.in_turns(!self.settings.overlap))
    }

    /// What a new volume says of itself.
    pub fn label_of(&self, volume: &Volume) -> Label {
        Label {
            uuid: volume.uuid.clone(),
            barcode: volume.label.clone(),
            block_bytes: volume.block_bytes,
            created: date(self.now()),
        }
    }

    /// Whether the cache has the contents of a member, or the catalogue knows this very version and has another copy of it
    /// than those after this end of a volume, or does not want it any more: the member was written and never committed. A
    /// version with the same contents that was stored at another time says nothing: if the catalogue is older than the
    /// tape, its copies may be gone since.
    pub(super) fn is_safe(
        &self,
        member: &Member,
        end: Option<(VolumeId, u64)>,
    ) -> Result<bool, MoveError> {
        let Some(xxh3) = member.sum_of_file() else {
            return Ok(false);
        };
        let sum = Sum {
            kind: Kind::Xxh3,
            value: xxh3.to_be_bytes().to_vec(),
        };
        for file in self.catalogue.versions(&member.path)? {
            let entry = self.catalogue.file(file)?;
            if !entry.file.sums.contains(&sum) {
                continue;
            }
            // What stands where is to be written is no other copy, whatever the catalogue says.
            let is_after = |copy: &Copy| {
                let mut segments = copy.segments.iter();
                segments.any(|(on, segment)| {
                    end.is_some_and(|(id, next_block)| {
                        *on == id && segment.last_block >= next_block
                    })
                })
            };
            let mut copies = entry.copies.iter();
            let is_known = member.stored_ns == Some(entry.created_ns)
                && (entry.state == FileState::Retired
                    || copies.any(|copy| copy.state == CopyState::Whole && !is_after(copy)));
            if is_known || self.cache.is_whole(file)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A time as RFC 3339 has it, to the second.
fn date(at_ns: i64) -> String {
    // Whatever a clock that counts nanoseconds in 64 bits can say is in range.
    jiff::Timestamp::from_second(at_ns.max(0) / 1_000_000_000)
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
        .to_string()
}
