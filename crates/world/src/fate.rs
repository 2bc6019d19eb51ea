//! What goes wrong during one event: at which step, and how. Everything that the archive touches asks here first.
//!
//! Steps that leave something behind (writes, names, commits, commands to drives) are counted together, so that a
//! process can be killed before any of them. Each kind of step is counted for itself too, so that the third sync can
//! fail, or the tenth read of a tape come out wrong.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tapewise_torn::{Plug, Step, Verdict};

/// A kind of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Bytes are written to a file.
    Write,
    /// Bytes of a file are read.
    Read,
    /// A file, or the names in a directory, are synced.
    Sync,
    /// A file is made, renamed or removed.
    Name,
    /// A transaction of the catalogue begins.
    Begin,
    /// The catalogue writes.
    Database,
    /// The catalogue reads.
    Lookup,
    /// A command goes to a drive or a robot.
    Command,
    /// Blocks are read from a tape.
    TapeRead,
    /// Blocks are written to a tape.
    TapeWrite,
    /// A file that is stored is read.
    Source,
    /// Something is done in a destination: a file or directory made, written, synced, named or removed.
    Destination,
    /// Something is appended to the event log.
    Log,
}

impl Kind {
    /// What is done, in words.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Write => "cache, write",
            Kind::Read => "cache, read",
            Kind::Sync => "cache, sync",
            Kind::Name => "cache, make or rename",
            Kind::Begin => "catalogue, begin",
            Kind::Database => "catalogue, write",
            Kind::Lookup => "catalogue, read",
            Kind::Command => "drive or robot, command",
            Kind::TapeRead => "tape, read",
            Kind::TapeWrite => "tape, write",
            Kind::Source => "source, read",
            Kind::Destination => "destination, any step",
            Kind::Log => "event log, write",
        }
    }
}

/// How a step goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    /// The disk or the path to the drive says that it failed.
    Error,
    /// The disk is full, from this step on.
    Full,
    /// A signal came between.
    Interrupted,
    /// Less was done than was asked for.
    Short,
    /// A bit of what was read is wrong, this once.
    Bit,
    /// Another host rewinds the tape before the command.
    Rewound,
    /// Another host unloads the tape before the command.
    Unloaded,
    /// Another host reserves the drive before the command.
    Reserved,
    /// Somebody writes to the file meanwhile.
    Changed,
}

impl Wrong {
    /// What goes wrong, in words.
    fn words(self) -> &'static str {
        match self {
            Wrong::Error => "error",
            Wrong::Full => "disk full",
            Wrong::Interrupted => "interrupted",
            Wrong::Short => "done in part",
            Wrong::Bit => "a wrong bit",
            Wrong::Rewound => "another host rewinds",
            Wrong::Unloaded => "another host unloads",
            Wrong::Reserved => "another host reserves",
            Wrong::Changed => "somebody writes to it",
        }
    }
}

/// How a process ends before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It is killed: everything it did stays.
    Killed,
    /// The power is cut: what was not synced may be gone.
    PowerCut,
}

/// What goes wrong during one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// After so many steps the process ends.
    pub ends: Option<(u64, End)>,
    /// The step of a kind with this number goes wrong, counted from 0.
    pub wrong: Option<(Kind, u64, Wrong)>,
}

/// Whoever is asked before each step: the fates of a process that is alone, or a host among others.
pub trait Steps: Send + Sync {
    /// What becomes of a step: nothing wrong, how it goes wrong, or an error because nothing is done any more.
    fn step(&self, kind: Kind) -> Result<Option<Wrong>, Dead>;

    /// The cache's disk for one alone, as long as the answer is kept: see
    /// [`Disk::turn`](tapewise_archive::cache::Disk::turn).
    fn turn(&self) -> Result<Box<dyn Any>, Dead> {
        Ok(Box::new(()))
    }
}

impl Steps for Fates {
    fn step(&self, kind: Kind) -> Result<Option<Wrong>, Dead> {
        Fates::step(self, kind)
    }
}

/// Counts steps, and says what becomes of each.
#[derive(Default)]
pub struct Fates(Mutex<State>);

#[derive(Default)]
struct State {
    plan: Plan,
    steps: u64,
    counts: BTreeMap<Kind, u64>,
    is_dead: bool,
    /// What was injected since the run began, and how often.
    injected: Injected,
}

/// Where something went wrong, and what, and how often.
pub type Injected = BTreeMap<(&'static str, &'static str), u64>;

impl Fates {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An event begins, and this goes wrong in it.
    pub fn begin(&self, plan: Plan) {
        let mut state = self.state();
        state.plan = plan;
        state.steps = 0;
        state.counts.clear();
        state.is_dead = false;
    }

    /// The event has ended; how the process ended, if it did before.
    pub fn end(&self) -> Option<End> {
        let mut state = self.state();
        let ended = state.plan.ends.filter(|_| state.is_dead);
        state.plan = Plan::default();
        state.is_dead = false;
        ended.map(|(_, end)| end)
    }

    /// Whether the process has ended.
    pub fn is_dead(&self) -> bool {
        self.state().is_dead
    }

    /// What was injected, and how often.
    pub fn injected(&self) -> Injected {
        self.state().injected.clone()
    }

    /// Notes that something was injected.
    pub fn note(&self, whereabouts: &'static str, what: &'static str) {
        *self
            .state()
            .injected
            .entry((whereabouts, what))
            .or_insert(0) += 1;
    }

    /// What becomes of a step: nothing wrong, how it goes wrong, or an error because nothing is done any more.
    pub fn step(&self, kind: Kind) -> Result<Option<Wrong>, Dead> {
        let mut state = self.state();
        if state.is_dead {
            return Err(Dead);
        }
        // Reads may happen on another thread, and leave nothing behind. Nothing that counts comes between an event in the
        // log and the next step.
        if !matches!(
            kind,
            Kind::Read | Kind::Lookup | Kind::TapeRead | Kind::Source | Kind::Log
        ) {
            if let Some((steps, end)) = state.plan.ends
                && state.steps >= steps
            {
                state.is_dead = true;
                let what = match end {
                    End::Killed => "killed before it",
                    End::PowerCut => "power cut before it",
                };
                *state.injected.entry((kind.words(), what)).or_insert(0) += 1;
                return Err(Dead);
            }
            state.steps += 1;
        }
        let count = state.counts.entry(kind).or_insert(0);
        let number = *count;
        *count += 1;
        let Some((of, at, wrong)) = state.plan.wrong else {
            return Ok(None);
        };
        let on_one_disk =
            |kind| matches!(kind, Kind::Write | Kind::Database | Kind::Name | Kind::Log);
        let is_same_disk = of == kind || (on_one_disk(of) && on_one_disk(kind));
        let lasts = wrong == Wrong::Full && is_same_disk;
        let is_it = (of == kind && at == number) || (lasts && state.counts.get(&of) > Some(&at));
        if !is_it {
            return Ok(None);
        }
        *state
            .injected
            .entry((kind.words(), wrong.words()))
            .or_insert(0) += 1;
        Ok(Some(wrong))
    }
}

/// The process has ended: nothing is done any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dead;

impl From<Dead> for std::io::Error {
    fn from(_: Dead) -> std::io::Error {
        std::io::Error::other("the process has ended")
    }
}

impl Plug for Fates {
    fn step(&self, step: Step) -> Verdict {
        let kind = match step {
            Step::Write(_) | Step::Truncate | Step::Sync | Step::Remove => Kind::Database,
            Step::Read => Kind::Lookup,
            Step::Open | Step::Begin => {
                return if self.is_dead() {
                    Verdict::Fail
                } else {
                    Verdict::Go
                };
            }
        };
        match Fates::step(self, kind) {
            Ok(None) => Verdict::Go,
            Ok(Some(Wrong::Full)) if matches!(step, Step::Write(_)) => Verdict::Full,
            Ok(Some(Wrong::Full)) => Verdict::Go,
            Ok(Some(_)) | Err(Dead) => Verdict::Fail,
        }
    }
}
