//! Somebody who holds a device, and whose the key of a reservation is, as values.

use crate::lease_key::LeaseKey;
use crate::reservation_type::ReservationType;
use std::fmt;
use std::path::PathBuf;

/// Somebody who holds a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A process that has one of its nodes open, or names it as the LTFS of its arguments.
    Process {
        /// Process number.
        pid: u32,
        /// The command's name, as the kernel keeps it.
        command: String,
        /// The node.
        node: String,
    },
    /// A mounted LTFS volume.
    Ltfs {
        /// Where it is mounted.
        mount_point: PathBuf,
        /// What the mount calls the device: a node, or a serial number.
        device: String,
    },
    /// A reservation that is not ours.
    Reservation {
        /// The holder's key and what it allows others; `None` when the drive told us only that there is one.
        held: Option<(u64, ReservationType)>,
        /// Whose key it is.
        owner: Owner,
    },
}

impl Holder {
    /// A reservation of which the drive told only that there is one.
    pub fn unknown() -> Holder {
        Holder::Reservation {
            held: None,
            owner: Owner::Unknown,
        }
    }

    /// The lease under which a mover holds it.
    pub fn lease(&self) -> Option<LeaseKey> {
        match self {
            Holder::Reservation {
                owner: Owner::Mover(lease),
                ..
            } => Some(*lease),
            _ => None,
        }
    }

    /// Whether it is a reservation whose holder has ended.
    pub fn is_gone(&self) -> bool {
        matches!(self, Holder::Reservation { owner, .. } if owner.is_gone())
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Holder::Process { pid, command, node } => {
                write!(f, "{command} (process {pid}) has {node} open")
            }
            Holder::Ltfs {
                mount_point,
                device,
            } => write!(
                f,
                "LTFS is mounted on {} from {device}",
                mount_point.display()
            ),
            Holder::Reservation {
                held: Some((key, kind)),
                owner,
            } => write!(f, "{owner} has reserved the drive: {kind}, key {key:#018x}"),
            Holder::Reservation { held: None, owner } => {
                write!(f, "{owner} has reserved the drive")
            }
        }
    }
}

/// Who holds a reservation with a given key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A tapewise process of this host, this one included.
    Process {
        /// Its number.
        pid: u32,
        /// Whether it still runs.
        runs: bool,
    },
    /// A tapewise process of another host.
    OtherHost,
    /// A mover of an archive, on any host.
    Mover(LeaseKey),
    /// LTFS.
    Ltfs {
        /// The address or the name that it put into the key.
        on: String,
        /// Whether that is this host.
        is_this_host: bool,
    },
    /// A key of any other form.
    Unknown,
}

impl Owner {
    /// Whether the holder is gone for sure, so that its reservation protects nobody.
    pub fn is_gone(&self) -> bool {
        matches!(self, Owner::Process { runs: false, .. })
    }

    /// Whether the holder is a program of this host, where the key tells.
    pub fn is_this_host(&self) -> Option<bool> {
        match self {
            Owner::Process { .. } => Some(true),
            Owner::OtherHost => Some(false),
            Owner::Ltfs { is_this_host, .. } => Some(*is_this_host),
            Owner::Mover(_) | Owner::Unknown => None,
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Owner::Process { pid, runs: true } => {
                write!(f, "tapewise on this host (process {pid})")
            }
            Owner::Process { pid, runs: false } => {
                write!(f, "tapewise on this host (process {pid}, which has ended)")
            }
            Owner::OtherHost => f.write_str("tapewise on another host"),
            Owner::Mover(lease) => write!(
                f,
                "a tapewise mover (archive {:04x}, lease {})",
                lease.archive, lease.epoch
            ),
            Owner::Ltfs {
                on,
                is_this_host: true,
            } => write!(f, "LTFS on this host ({on})"),
            Owner::Ltfs { on, .. } => write!(f, "LTFS on {on}"),
            Owner::Unknown => f.write_str("another initiator"),
        }
    }
}
