//! What moves files between cache and tape: migrate, recall, verify, repack.
//!
//! A [`Mover`] works off what the catalogue says has to be done, one volume after the other, and
//! writes down every step so that it can be killed at any instant: a write is begun before the tape
//! moves and committed when the drive has flushed, a request is answered when its file has its name.
//! Whoever starts next calls [`Mover::take_up`] and goes on.
//!
//! | module | what it does |
//! |---|---|
//! | `migrate` | files that lack copies go from the cache onto volumes |
//! | `migrated` | what came of it, as a value |
//! | `job` | a copy that is to be written, and how it is read |
//! | `open` | a volume that is to be written: labelled, or at its end |
//! | `segment` | one segment of a volume, written and committed |
//! | `frames` | copies that are compressed before they are written |
//! | `hand_over` | what needs no tape is delivered from the cache |
//! | `full` | what takes no file for now: destinations, and the cache |
//! | `recall` | what waits for a volume is read together, in our order, and delivered |
//! | `verify` | volumes are read whole, in the order of the tape, and summed |
//! | `scrub` | which volumes are read again first |
//! | `tiers` | what is due goes from the cache onto tape, and from quick volumes onto others |
//! | `repack` | what is still wanted of a volume goes onto others |
//! | `add` | cartridges are read whole and added to the catalogue: of others, and ours again |
//! | `join` | what was read of ours becomes files, those in parts too |
//! | `arriving` | a file that comes from tape, into a directory or into the cache |
//! | `choice` | which volume is read next |
//! | `owners` | what each owner has of the drives, and what holds recalls back |
//! | `drives` | recalls on all drives at once, and what joins a mount or ends it early |
//! | `doubts` | what was read wrongly is read again before it is given up |
//! | `session` | a volume in a drive, with its map and its event log |
//! | `lessee` | a mover among others: leases on drives and volumes, and drives that know of them |

mod add;
mod arriving;
mod busy;
mod choice;
mod doubts;
mod drives;
mod frames;
mod full;
mod hand_over;
mod job;
mod join;
mod lessee;
mod migrate;
mod migrated;
mod open;
mod owners;
mod place;
mod recall;
mod repack;
mod scrub;
mod segment;
mod session;
mod tiers;
mod turns;
mod verify;
mod wanted;

pub use add::{Added, Others, ReadIn, Rebuilt};
pub(crate) use busy::Floor;
pub(crate) use choice::{Chooser, Next, ROBOT_S};
pub use frames::Precompress;
pub use full::FullPlace;
pub use hand_over::Recalled;
pub use lessee::{Clock, Denied, Leased, Lessee};
pub use migrated::{Compressed, Migrated};
pub(crate) use owners::owner_shares;
pub use owners::{Hold, OwnerShare};
pub use place::Place;
pub use repack::Repacked;
pub use scrub::{Scrub, scrub_order, within};
pub use tiers::{Due, Moved, Tier, due};
pub use verify::{Verified, VolumeVerified};
pub(crate) use wanted::{WantedVolume, WantedVolumes};

use crate::bucket::Buckets;
use crate::cache::{Cache, CacheError, is_no_room};
use crate::catalogue::{Catalogue, CatalogueError, Migration};
use crate::deliver::{DeliverError, Watch};
use crate::placement::GroupBy;
use crate::volume::{BLOCK_BYTES, SEGMENT_BYTES, VolumeError};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tapewise_library::pool::{Blame, Pool, PoolError};
use tapewise_model::Profile;
use tapewise_model::units::count;
use tapewise_order::Algorithm;
use tapewise_run::{Log, RunError};
use tapewise_scsi::{Attention, Condition};
use tapewise_sim::mounts::MountSettings;

/// How volumes are written and what their drives are.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The drives' profile, for orders.
    pub profile: Profile,
    /// Bytes of a block of a new volume.
    pub block_bytes: u32,
    /// Bytes after which a segment is closed.
    pub segment_bytes: u64,
    /// A file longer than this is written in parts of it, which may lie on several volumes.
    pub part_bytes: u64,
    /// Bytes after which a volume takes no more; none where only its end ends it.
    pub volume_bytes: Option<u64>,
    /// Which files that wait are put together onto a volume.
    pub group_by: GroupBy,
    /// Volumes that are filled side by side, so that files that come later join their group's.
    pub open_volumes: u32,
    /// Bytes of tape that a byte stands for: more than 1 on emulated cartridges only.
    pub byte_scale: u64,
    /// Whether files are compressed before they are written, and how.
    pub precompress: Option<Precompress>,
    /// The pools of volumes that files go through as they age, the first one first; none where every volume
    /// takes every file.
    pub tiers: Vec<Tier>,
    /// How the next volume is chosen.
    pub mounts: MountSettings,
    /// How what waits for a volume is ordered: ours, unless another order is to stand beside it.
    pub algorithm: Algorithm,
    /// Whether disk and drive work at the same time, on threads of their own; false where a seed is to give the same
    /// steps in the same order again.
    pub overlap: bool,
    /// The buckets to which files are recalled.
    pub buckets: Buckets,
    /// Who is asked before a destination of recalls is touched: nobody, except in tests.
    pub watch: Option<Arc<dyn Watch>>,
}

impl Settings {
    /// The usual ones for drives of a profile. A part is 1 TiB: a file is cut only where it might not
    /// fit an LTO-5 cartridge.
    pub fn of(profile: Profile) -> Settings {
        Settings {
            profile,
            block_bytes: BLOCK_BYTES,
            segment_bytes: SEGMENT_BYTES,
            part_bytes: 128 * SEGMENT_BYTES,
            volume_bytes: None,
            group_by: GroupBy::None,
            open_volumes: 1,
            byte_scale: 1,
            precompress: None,
            tiers: Vec::new(),
            mounts: MountSettings::default(),
            algorithm: Algorithm::Best,
            overlap: true,
            buckets: Buckets::default(),
            watch: None,
        }
    }

    /// What a volume takes, about; none where nothing says it.
    pub fn cartridge_bytes(&self) -> Option<u64> {
        self.volume_bytes.or_else(|| self.native_bytes())
    }

    /// What a cartridge takes without compression; none where the profile does not say it.
    fn native_bytes(&self) -> Option<u64> {
        let capacity_gb = self.profile.cartridge.capacity_gb.as_ref()?.value;
        Some((capacity_gb * 1e9) as u64 / self.byte_scale.max(1))
    }

    /// What a cartridge takes, if what is written next of a file is longer: the file or its next part, as it is.
    fn longer_than_a_cartridge(&self, migration: &Migration) -> Option<u64> {
        let from = migration.missing.first().map_or(0, |missing| missing.from);
        let next = migration.bytes.saturating_sub(from).min(self.part_bytes);
        let may_shrink = self.precompress.is_some() && migration.bytes <= self.part_bytes;
        self.native_bytes()
            .filter(|native| next > *native && !may_shrink)
    }
}

/// Why a mover cannot go on. What was done until then is kept, and stands in the catalogue.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// The catalogue.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// The disk cache.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Drives and robots.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// A volume.
    #[error("volume {label}: {source}")]
    Volume {
        /// Its label.
        label: String,
        /// Why.
        source: VolumeError,
    },
    /// A drive, its log, or whoever takes what is read.
    #[error("volume {label}: {source}")]
    Run {
        /// The volume in the drive.
        label: String,
        /// Why.
        source: RunError,
    },
    /// A destination of a recall.
    #[error(transparent)]
    Deliver(#[from] DeliverError),
    /// Files wait for tape, and there is none.
    #[error(
        "files in the cache that lack copies: {files}. No volume takes them: those that there are ({}) are full, suspect, \
         of another tier or hold a copy already, and no blank cartridge is within reach of a robot.{} Add cartridges, then start \
         again: nothing is lost",
        count(*volumes, "volume"),
        passed_over(lost)
    )]
    NoVolume {
        /// Files that wait.
        files: usize,
        /// Volumes that there are.
        volumes: usize,
        /// Cartridges that this run tried, with what was wrong with them.
        lost: Vec<(String, String)>,
        /// What was moved, and written.
        done: Box<Moved>,
    },
    /// A file of the cache cannot be copied.
    #[error("{}: {source}", crate::deliver::shown(path))]
    Copy {
        /// The file.
        path: Vec<u8>,
        /// Why.
        source: std::io::Error,
    },
    /// Where blocks of a volume lie cannot be told.
    #[error("volume {label}: {what}")]
    NoMap {
        /// The volume.
        label: String,
        /// Why.
        what: String,
    },
}

impl MoveError {
    /// What was written before no volume was left, if that is the error.
    pub fn take_done(&mut self) -> Option<Migrated> {
        match self {
            MoveError::NoVolume { done, .. } => Some(std::mem::take(&mut done.migrated)),
            _ => None,
        }
    }

    /// What was moved and written before no volume was left, if that is the error.
    pub fn take_moved(&mut self) -> Option<Moved> {
        match self {
            MoveError::NoVolume { done, .. } => Some(std::mem::take(&mut **done)),
            _ => None,
        }
    }

    /// The same error, with what was moved before it if it says what was done.
    fn after(mut self, mut before: Moved) -> MoveError {
        if let MoveError::NoVolume { done, .. } = &mut self {
            before.migrated.add(std::mem::take(&mut done.migrated));
            **done = before;
        }
        self
    }

    /// The error of a drive that it is.
    fn run_error(&self) -> Option<&RunError> {
        match self {
            MoveError::Run { source, .. }
            | MoveError::Volume {
                source: VolumeError::Run(source) | VolumeError::Abandoned { source, .. },
                ..
            } => Some(source),
            _ => None,
        }
    }

    /// Whether the drive is to blame, so that another one may do the work.
    fn is_of_the_drive(&self) -> bool {
        self.run_error()
            .is_some_and(|run| Blame::of_run(run) == Blame::Drive)
    }

    /// What changed, where the drive has told of that instead of carrying a command out.
    fn attention(&self) -> Option<Attention> {
        match self.run_error()? {
            RunError::Scsi(error) => match error.condition()? {
                Condition::UnitAttention(attention) => Some(attention),
                _ => None,
            },
            _ => None,
        }
    }

    /// The error of the drive, where that is to blame; otherwise the same again.
    fn of_drive(self) -> Result<RunError, MoveError> {
        match self {
            MoveError::Run { source, .. }
            | MoveError::Volume {
                source: VolumeError::Run(source) | VolumeError::Abandoned { source, .. },
                ..
            } if Blame::of_run(&source) == Blame::Drive => Ok(source),
            other => Err(other),
        }
    }

    /// Whether the drive cannot read the label of the cartridge.
    fn is_unreadable_label(&self) -> bool {
        matches!(
            self,
            MoveError::Volume {
                source: VolumeError::UnreadableLabel(_),
                ..
            }
        )
    }

    /// Whether the cartridge with the barcode of a volume is another one, by its label on tape: it is so in every drive.
    fn is_wrong_label(&self) -> bool {
        let is_by_pool = matches!(self, MoveError::Pool(PoolError::WrongLabel { .. }));
        is_by_pool || self.other_cartridge().is_some()
    }

    /// Whether the cartridge would not be read the next time either.
    fn is_for_good(&self) -> bool {
        let is_unusable = matches!(
            self,
            MoveError::NoMap { .. } | MoveError::Pool(PoolError::Unusable { .. })
        );
        is_unusable || self.is_unreadable_label() || self.is_wrong_label()
    }

    /// What went wrong with a volume, for whoever names the volume anyway.
    fn of_volume(&self) -> String {
        match self {
            MoveError::Volume { source, .. } => source.to_string(),
            MoveError::Run { source, .. } => source.to_string(),
            MoveError::NoMap { what, .. } => what.clone(),
            other => other.to_string(),
        }
    }

    /// Whether the lease that the work was done for is over.
    fn is_lease_lost(&self) -> bool {
        match self {
            MoveError::Catalogue(CatalogueError::LeaseLost { .. }) => true,
            MoveError::Run {
                source: RunError::Sink(error),
                ..
            } => {
                let inner = error.get_ref();
                let inner = inner.and_then(|inner| inner.downcast_ref::<MoveError>());
                inner.is_some_and(MoveError::is_lease_lost)
            }
            other => {
                let run = other.run_error();
                run.is_some_and(|run| Blame::of_run(run) == Blame::Reserved)
            }
        }
    }

    /// Whether somebody asked to stop.
    fn is_interrupted(&self) -> bool {
        matches!(
            self,
            MoveError::Run {
                source: RunError::Interrupted,
                ..
            }
        )
    }

    /// Whether it says of one file that it cannot be handed on: others can.
    fn is_of_a_file(&self) -> bool {
        match self {
            MoveError::Deliver(_) | MoveError::Copy { .. } => true,
            MoveError::Cache(error) => error.is_of_the_file(),
            _ => false,
        }
    }

    /// Whether it says that the destination of what was read takes no file for now: a place, or the cache.
    fn is_of_destination(&self) -> bool {
        let MoveError::Run {
            source: RunError::Sink(error),
            ..
        } = self
        else {
            return false;
        };
        let inner = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<MoveError>());
        inner.is_some_and(MoveError::is_full)
    }

    /// Whether it says that where a file is to go takes none for now.
    fn is_full(&self) -> bool {
        match self {
            MoveError::Deliver(error) => error.is_of_destination(),
            MoveError::Cache(error) => error.is_full(),
            MoveError::Copy { source, .. } => is_no_room(source),
            _ => false,
        }
    }

    /// What the label of the cartridge in the drive says, where it is another than was asked for.
    fn other_cartridge(&self) -> Option<String> {
        match self {
            MoveError::Volume {
                label,
                source:
                    VolumeError::OtherVolume {
                        found,
                        found_barcode,
                        ..
                    },
            } if found_barcode == label => {
                Some(format!("{found_barcode}, but of another volume, {found}"))
            }
            MoveError::Volume {
                source: VolumeError::OtherVolume { found_barcode, .. },
                ..
            } => Some(found_barcode.clone()),
            MoveError::Volume {
                source: VolumeError::NoLabel { why },
                ..
            } => Some(format!("nothing of ours: {why}")),
            MoveError::Volume {
                source: VolumeError::NotLtfs { why },
                ..
            } => Some(format!("no LTFS volume: {why}")),
            _ => None,
        }
    }

    /// Whether this volume cannot be had, while others can.
    fn is_of_the_volume(&self) -> bool {
        match self {
            MoveError::NoMap { .. } => true,
            MoveError::Volume { .. } => !self.is_of_the_drive(),
            MoveError::Pool(error) => matches!(
                error,
                PoolError::NoSuchVolume { .. }
                    | PoolError::Missing { .. }
                    | PoolError::HeldByFailedDrive { .. }
                    | PoolError::Elsewhere { .. }
                    | PoolError::TakenOut { .. }
                    | PoolError::InUse { .. }
                    | PoolError::Unusable { .. }
                    | PoolError::WrongCartridge { .. }
                    | PoolError::WrongLabel { .. }
                    | PoolError::DriveFailed { .. }
                    | PoolError::Reserved { .. }
                    | PoolError::NotGiven { .. }
            ),
            _ => false,
        }
    }
}

/// Moves files between cache and tape.
pub struct Mover<'a> {
    /// What lies where.
    pub catalogue: &'a dyn Catalogue,
    /// The disk in front.
    pub cache: &'a Cache,
    /// Drives and robots.
    pub pool: &'a mut Pool,
    /// How volumes are written.
    pub settings: &'a Settings,
    /// Where events go.
    pub log: &'a mut (dyn Log + Send),
    /// What it may use, where others move files of the same archive; none where it is alone.
    pub lessee: Option<&'a Lessee>,
    /// Set by whoever wants it to stop.
    pub stop: &'a AtomicBool,
    /// The time, nanoseconds since 1970.
    pub now_ns: &'a (dyn Fn() -> i64 + Sync),
    /// A UUID for a new volume: [`random_uuid`], except where the same seed is to give the same bits.
    pub new_uuid: &'a (dyn Fn() -> String + Sync),
}

/// A UUID that nobody else has.
pub fn random_uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// What a process that was killed had left open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TakenUp {
    /// Writes that were given up: none of it was acknowledged.
    pub writes: usize,
    /// Recalls that are queued again.
    pub recalls: u64,
}

impl Mover<'_> {
    /// Gives up the writes of a process that was killed, and what it fetched for itself, and queues its
    /// recalls again. What movers have leases for is left to them. Without leases only one mover may work on a
    /// catalogue: see that no other one lives.
    ///
    /// # Errors
    /// [`MoveError::Catalogue`].
    pub fn take_up(&mut self) -> Result<TakenUp, MoveError> {
        self.catalogue.end_expired((self.now_ns)())?;
        if self.lessee.is_some() {
            return Ok(TakenUp::default());
        }
        let leases = self.catalogue.leases()?;
        let is_leased = |volume| leases.iter().any(|lease| lease.volume == Some(volume));
        let mut open = self.catalogue.open_writes()?;
        open.retain(|write| !is_leased(write.volume));
        for write in &open {
            self.catalogue.abandon_write(write.id)?;
        }
        self.drop_stagings()?;
        Ok(TakenUp {
            writes: open.len(),
            recalls: self.catalogue.requeue_started()?,
        })
    }
}

/// A sentence for each cartridge that was tried.
fn passed_over(lost: &[(String, String)]) -> String {
    let sentences = lost.iter().map(|(label, why)| format!(" {label}: {why}."));
    sentences.collect()
}
