//! What can be wrong with an answer.

/// An answer that its decoder refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Fewer bytes than the format needs.
    #[error("the answer has {have} bytes, {what} needs {need}")]
    Short {
        /// What was to be read.
        what: &'static str,
        /// Bytes there are.
        have: usize,
        /// Bytes it needs.
        need: usize,
    },
    /// A field holds what its format does not allow.
    #[error("byte {at}: {what} is {value:#x}, {expected}")]
    Field {
        /// Offset of the field's first byte.
        at: usize,
        /// The field's name.
        what: &'static str,
        /// Its value.
        value: u64,
        /// What the format allows.
        expected: &'static str,
    },
}
