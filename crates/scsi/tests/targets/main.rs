//! The transports against real SCSI targets, none of them ours: tgtd over iSCSI, and Linux's own
//! `st`, `sg` and `ch` drivers on that same target in a guest.

mod drive_and_changer;
mod linux_drivers;
mod over_iscsi;
mod raw;
