//! Who is told what the drives and robots of a pool do.

/// What happens, for whoever listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said<'a> {
    /// In words.
    pub words: &'a str,
    /// The label of the volume that is meant; none where a drive alone is.
    pub volume: Option<&'a str>,
}

/// Whoever is told what happens, before a robot moves too.
pub type Listener = Box<dyn FnMut(Said<'_>) + Send>;
