//! What stops a study.

/// What stopped a study. All that a reader can do about it is to read it, because all inputs are this crate's own.
pub type PaperError = Box<dyn std::error::Error + Send + Sync>;
