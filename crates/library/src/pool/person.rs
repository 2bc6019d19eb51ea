//! The person who loads drives without a robot.

/// A person who is the changer of drives without a robot.
pub trait Person: Send {
    /// Asks for a cartridge to be put into a drive. Whether it has come, the drive is asked too.
    fn ask(&mut self, volume: &str, drive: &str);

    /// What the person has said since; to be waited for a moment, so that whoever asks again and
    /// again does nothing in vain.
    fn answer(&mut self) -> Answer;

    /// Says that a cartridge has come out of a drive and is to be taken.
    fn take(&mut self, volume: &str, drive: &str);
}

/// What a person says who was asked for a cartridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing so far.
    Nothing,
    /// It is in the drive.
    Inserted,
    /// It is not to be had; work may go on with others.
    Skipped,
    /// Nobody is there who could put in anything.
    Gone,
    /// Stop here.
    Stop,
}
