//! A volume in a drive, with its map and its event log.

use super::{Leased, Lessee, MoveError, Mover, Settings};
use crate::cache::Cache;
use crate::catalogue::{Answer, Catalogue, LOAD_COUNT, RequestId, VolumeId};
use crate::ltfs::volume::{LtfsError, label_in_drive};
use crate::read::{
    Change, Known, Lost, MapSource, MappedTape, NoMap, Outcome, Receiver, TapeRead, position,
};
use crate::record::{Segment, Volume, VolumeFormat};
use crate::volume::{VolumeError, read_label};
use std::sync::atomic::AtomicBool;
use tapewise_formats::ltfs_extent::LtfsLayout;
use tapewise_library::pool::Blame;
use tapewise_model::Position;
use tapewise_run::{Log, Recorder, RunError};
use tapewise_scsi::commands::{AttributeValue, ReadAttributes};
use tapewise_scsi::{Command, TapeDrive};

/// How often a cartridge was loaded, in its memory (SPC-5, table 344).
const LOAD_COUNT_ATTRIBUTE: u16 = 0x0003;

/// How a volume was read.
pub(super) struct VolumeRead {
    /// What came of it.
    pub outcome: Outcome,
    /// Where the positions of its blocks came from.
    pub map_source: MapSource,
}

/// What all drives of a mover work with.
#[derive(Clone, Copy)]
pub(super) struct DriveContext<'a> {
    pub catalogue: &'a dyn Catalogue,
    pub cache: &'a Cache,
    pub settings: &'a Settings,
    pub lessee: Option<&'a Lessee>,
    pub stop: &'a AtomicBool,
    pub now_ns: &'a (dyn Fn() -> i64 + Sync),
}

impl<'a> Mover<'a> {
    /// What its drives work with.
    pub(super) fn with(&self) -> DriveContext<'a> {
        DriveContext {
            catalogue: self.catalogue,
            cache: self.cache,
            settings: self.settings,
            lessee: self.lessee,
            stop: self.stop,
            now_ns: self.now_ns,
        }
    }
}

impl<'a> DriveContext<'a> {
    /// The same for the holder of a lease: all that it writes carries the lease.
    pub fn under<'b>(self, leased: &'b Leased) -> DriveContext<'b>
    where
        'a: 'b,
    {
        DriveContext {
            catalogue: leased.catalogue.as_ref(),
            ..self
        }
    }
}

impl DriveContext<'_> {
    /// The time, nanoseconds since 1970.
    pub fn now(&self) -> i64 {
        (self.now_ns)()
    }

    /// Answers a request; false if somebody cancelled it meanwhile.
    pub fn answer(&self, request: RequestId, answer: &Answer) -> Result<bool, MoveError> {
        match self.catalogue.answer(request, answer, self.now()) {
            Err(error) if error.is_withdrawn() => Ok(false),
            answered => Ok(answered.map(|()| true)?),
        }
    }

    /// Notes how often the cartridge in a drive was loaded, where its memory says it.
    pub fn note_loads(&self, volume: VolumeId, drive: &mut TapeDrive) -> Result<(), MoveError> {
        let command = ReadAttributes {
            partition: 0,
            first: LOAD_COUNT_ATTRIBUTE,
        };
        // What cannot be asked for is not known.
        let attributes = command.send(drive.transport()).unwrap_or_default();
        let count = attributes.into_iter().find_map(|one| match one.value {
            AttributeValue::Binary(value) if one.id == LOAD_COUNT_ATTRIBUTE => {
                value.iter().try_fold(0u64, |count, byte| {
                    Some(count.checked_mul(256)? + u64::from(*byte))
                })
            }
            _ => None,
        });
        if let Some(count) = count {
            let fact = [(LOAD_COUNT, count.to_string())];
            let fact = fact.each_ref().map(|(name, value)| (*name, value.as_str()));
            self.catalogue.note_facts(volume, &fact, self.now())?;
        }
        Ok(())
    }

    /// Sees by the label on tape that a mounted volume is the one, and reads what is wanted of it.
    pub fn read_mounted(
        &self,
        record: &Volume,
        drive: &mut TapeDrive,
        log: &mut dyn Log,
        (wants, at_once): (&[Vec<Segment>], usize),
        name: &dyn Fn(usize) -> String,
        receiver: &mut dyn Receiver,
    ) -> Result<VolumeRead, MoveError> {
        let label = &record.label;
        let run = |source: RunError| MoveError::Run {
            label: label.clone(),
            source,
        };
        let mut recorder = Recorder::new(drive, log, self.stop);
        check_label(record, &mut recorder).map_err(|source| MoveError::Volume {
            label: label.clone(),
            source: match source {
                VolumeError::Run(source) if Blame::of_run(&source) == Blame::Cartridge => {
                    VolumeError::UnreadableLabel(source)
                }
                source => source,
            },
        })?;
        let drive = recorder.drive();
        let (cartridge, map_source) = self.settings.in_drive(record, wants, drive)?;
        let (mut head, learns) = cartridge.head(drive).map_err(|error| run(error.into()))?;
        recorder.forget_head();
        let mut outcome = Outcome::default();
        for (nth, batch) in wants.chunks(at_once).enumerate() {
            let first = nth * at_once;
            let read = TapeRead::new(&cartridge, head, batch, learns);
            let read = read.map_err(|error| MoveError::NoMap {
                label: label.clone(),
                what: error.to_string(),
            })?;
            let read = if self.settings.overlap {
                read
            } else {
                read.on_one_thread()
            };
            let mut receiver = Behind {
                first,
                receiver: &mut *receiver,
            };
            let name = |want: usize| name(first + want);
            let done = read
                .run(&mut recorder, &name, &mut receiver, &mut |_| {})
                .map_err(run)?;
            outcome.replans += done.replans;
            outcome.learned += done.learned;
            let lost = done.lost.into_iter();
            outcome
                .lost
                .extend(lost.map(|(want, why)| (first + want, why)));
            let left = done.left.into_iter();
            outcome.left.extend(left.map(|want| first + want));
            head = head_now(&recorder, &cartridge).unwrap_or(head);
        }
        Ok(VolumeRead {
            outcome,
            map_source,
        })
    }
}

impl Settings {
    /// A volume in a drive, and where its map comes from.
    fn in_drive(
        &self,
        record: &Volume,
        wants: &[Vec<Segment>],
        drive: &mut TapeDrive,
    ) -> Result<(MappedTape, MapSource), MoveError> {
        let known = Known {
            profile: &self.profile,
            format: record.format,
            block_bytes: u64::from(record.block_bytes),
            byte_scale: self.byte_scale,
            written: wants,
        };
        let label = record.label.clone();
        let (cartridge, map_source) =
            MappedTape::in_drive(drive, &known).map_err(|error| match error {
                NoMap::Drive(source) => MoveError::Run { label, source },
                error => MoveError::NoMap {
                    label,
                    what: error.to_string(),
                },
            })?;
        let algorithm = self.algorithm;
        Ok((
            MappedTape {
                algorithm,
                ..cartridge
            },
            map_source,
        ))
    }
}

/// Where the head is: as the drive told, else by the map.
fn head_now(recorder: &Recorder<'_>, cartridge: &MappedTape) -> Option<Position> {
    let spot = recorder.head()?;
    let by_map = || {
        let map = &cartridge.map;
        map.nearest_position(spot.partition, spot.block?, false)
    };
    position(&spot).or_else(by_map)
}

/// A receiver whose wants are numbered from another one on.
struct Behind<'r> {
    first: usize,
    receiver: &'r mut dyn Receiver,
}

impl Receiver for Behind<'_> {
    fn is_wanted(&mut self, want: usize) -> std::io::Result<bool> {
        self.receiver.is_wanted(self.first + want)
    }

    fn change(&mut self, left: &dyn Fn() -> Vec<usize>) -> std::io::Result<Change> {
        let left = || left().iter().map(|want| self.first + want).collect();
        self.receiver.change(&left)
    }

    fn begin(&mut self, want: usize) -> std::io::Result<()> {
        self.receiver.begin(self.first + want)
    }

    fn bytes(&mut self, want: usize, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.receiver.bytes(self.first + want, offset, bytes)
    }

    fn end(&mut self, want: usize) -> std::io::Result<()> {
        self.receiver.end(self.first + want)
    }

    fn lost(&mut self, want: usize, why: &Lost) -> std::io::Result<()> {
        self.receiver.lost(self.first + want, why)
    }
}

/// Another cartridge than the catalogue's, whatever its barcode says, is not read. A tape of others
/// without a label of its own is known by its barcode alone; the headers in it are compared.
fn check_label(record: &Volume, recorder: &mut Recorder<'_>) -> Result<(), VolumeError> {
    let (found, found_barcode) = match record.format {
        VolumeFormat::Tapewise => {
            let label = read_label(recorder)?;
            (label.uuid, label.barcode)
        }
        VolumeFormat::Ltfs => {
            recorder.forget_head();
            let uuid = ltfs_uuid(record, recorder.drive())?;
            // Its label says no barcode.
            (uuid.clone(), format!("LTFS volume {uuid}"))
        }
        VolumeFormat::Tar | VolumeFormat::Blocks => return Ok(()),
    };
    if found.eq_ignore_ascii_case(&record.uuid) {
        Ok(())
    } else {
        Err(VolumeError::OtherVolume {
            expected: record.uuid.clone(),
            found,
            found_barcode,
        })
    }
}

/// The UUID in the label of an LTFS volume, whose layout must be the one that the catalogue's places
/// were computed with.
fn ltfs_uuid(record: &Volume, drive: &mut TapeDrive) -> Result<String, VolumeError> {
    let label = label_in_drive(drive).map_err(|error| match error {
        LtfsError::Scsi(error) => VolumeError::Run(error.into()),
        error => VolumeError::NotLtfs {
            why: error.to_string(),
        },
    })?;
    let is_it = label.volume_uuid.eq_ignore_ascii_case(&record.uuid);
    let assumed = LtfsLayout::assumed().with_block_size(u64::from(record.block_bytes));
    if is_it && label.block_size != assumed.block_size {
        let (on_tape, known) = (label.block_size, assumed.block_size);
        return Err(VolumeError::OtherLayout {
            why: format!(
                "its blocks have {on_tape} bytes, and the places in the catalogue were computed for {known}: its \
                 index must be added with --block-size {on_tape}"
            ),
        });
    }
    if is_it && label.partition != assumed.index_partition {
        return Err(VolumeError::OtherLayout {
            why: format!(
                "its partition 0 is \"{}\", and the places in the catalogue were computed for \"{}\"",
                label.partition, assumed.index_partition
            ),
        });
    }
    Ok(label.volume_uuid)
}
