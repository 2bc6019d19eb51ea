//! Which of several commands for the same thing a drive was found to have.

/// The form of READ POSITION that a drive has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PositionForm {
    Long,
    Extended,
    Short,
    None,
}

/// How a drive gets to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LocateBy {
    Locate16,
    Locate10,
    /// REWIND and SPACE, counted by ourselves.
    Spacing,
}
