//! LTFS volumes, read from the tape without a mount.
