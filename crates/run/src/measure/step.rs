//! The steps of the suite: what each measures, how often, and what it needs.

use std::fmt;
use std::str::FromStr;

/// A step of the measurement suite. Its number chooses its random places: new ones come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Taking in and giving out a cartridge that is rewound.
    Mount,
    /// A robot's way from a slot to the drive and back.
    Robot,
    /// From the beginning of tape to a block, and back by a rewind.
    SeekBot,
    /// Across to a track of the other direction, at the same place along the tape.
    SeekOpposite,
    /// From a block to another, both anywhere.
    SeekMid,
    /// A little ahead, by a locate and by reading on.
    ShortSeek,
    /// Reading at a stretch.
    Stream,
    /// Reading with a delay after each block.
    Delay,
    /// Reading much, and then a long pause.
    LargeRead,
    /// Giving out a cartridge away from the beginning of tape, and the first seek after it.
    Midtape,
    /// Where blocks lie, as the drive reports it.
    Positions,
    /// Seeks to targets close to each other, which show where a drive lands before it reads.
    Landing,
    /// The key points of a DLT cartridge, by timing.
    KeyPoints,
    /// Writing and reading blocks of one size after the other.
    BlockSize,
    /// Writing and reading data that compresses more and more.
    Compression,
    /// A walk of moves of every kind, for a fit.
    Walk,
    /// Writing and reading data that compresses well, somewhat and not at all, over and over.
    DataPath,
    /// Writing and reading files of one size, each with its filemark.
    FileSize,
    /// The key points of a DLT cartridge, as far as locates chosen for it tell in the time that is given.
    Probe,
}

impl Step {
    /// All steps in the order in which they are done: what writes first, for the others need a
    /// full cartridge; then what begins at the beginning of tape; what takes longest last.
    pub const ALL: [Step; 19] = [
        Step::DataPath,
        Step::FileSize,
        Step::BlockSize,
        Step::Compression,
        Step::Mount,
        Step::Robot,
        Step::SeekBot,
        Step::SeekOpposite,
        Step::SeekMid,
        Step::ShortSeek,
        Step::Stream,
        Step::Delay,
        Step::LargeRead,
        Step::Midtape,
        Step::Positions,
        Step::Landing,
        Step::KeyPoints,
        Step::Probe,
        Step::Walk,
    ];

    /// Whether it writes, from the beginning of tape: what was there is gone.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Step::DataPath | Step::FileSize | Step::BlockSize | Step::Compression
        )
    }

    /// The name on the command line and in the event log.
    pub fn name(self) -> &'static str {
        match self {
            Step::Mount => "mount",
            Step::Robot => "robot",
            Step::SeekBot => "seek-bot",
            Step::SeekOpposite => "seek-opposite",
            Step::SeekMid => "seek-mid",
            Step::ShortSeek => "short-seek",
            Step::Stream => "stream",
            Step::Delay => "delay",
            Step::LargeRead => "large-read",
            Step::Midtape => "midtape",
            Step::Positions => "positions",
            Step::Landing => "landing",
            Step::KeyPoints => "key-points",
            Step::BlockSize => "block-size",
            Step::Compression => "compression",
            Step::Walk => "walk",
            Step::DataPath => "data-path",
            Step::FileSize => "file-size",
            Step::Probe => "probe",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(name: &str) -> Result<Step, String> {
        let found = Step::ALL.into_iter().find(|step| step.name() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Step::ALL.iter().map(|step| step.name()).collect();
            format!("no step is called {name}; there are {}", names.join(", "))
        })
    }
}

/// What an event of a measurement was for: the step, the number of its sample, and whether it only
/// brought the tape to where the sample begins.
///
/// In the log it reads `seek-bot 12`, or `seek-bot 12 prepare`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Purpose {
    /// The step.
    pub step: Step,
    /// The sample, counted from 0 within its step.
    pub sample: u32,
    /// Whether it is preparation.
    pub prepares: bool,
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prepare = if self.prepares { " prepare" } else { "" };
        write!(f, "{} {}{prepare}", self.step, self.sample)
    }
}

impl Purpose {
    /// The purpose that this text states; `None` for an event that is of no measurement.
    pub fn parse(text: &str) -> Option<Purpose> {
        let mut words = text.split(' ');
        let purpose = Purpose {
            step: words.next()?.parse().ok()?,
            sample: words.next()?.parse().ok()?,
            prepares: match words.next() {
                None => false,
                Some("prepare") => true,
                Some(_) => return None,
            },
        };
        words.next().is_none().then_some(purpose)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purpose_reads_back_as_it_was_written() {
        for step in Step::ALL {
            for prepares in [false, true] {
                let purpose = Purpose {
                    step,
                    sample: 12,
                    prepares,
                };
                assert_eq!(Purpose::parse(&purpose.to_string()), Some(purpose));
            }
        }
        for other in ["request a", "seek-bot", "seek-bot x", "seek-bot 1 twice"] {
            assert_eq!(Purpose::parse(other), None, "{other}");
        }
    }
}
