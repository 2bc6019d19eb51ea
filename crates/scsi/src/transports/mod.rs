//! The transports, one file each.
