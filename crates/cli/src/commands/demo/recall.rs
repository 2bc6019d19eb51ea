//! Recalling clips as `tapewise recall` does: read in an order that follows the tape, delivered whole
//! and verified. What is there already is not read again.

use super::archive::Clip;
use crate::error::{CliError, Exit};
use std::path::Path;
use tapewise_archive::deliver::{Delivered, Destination};
use tapewise_archive::ltfs::deliver::{Deliveries, Missing, Wanted};
use tapewise_archive::read::{Lost, MappedTape, Receiver, TapeRead};
use tapewise_archive::record::Segment;
use tapewise_order::Algorithm;
use tapewise_run::Recorder;

/// Whether files that are there give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    Yes,
    No,
}

/// When the process ends as in a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerCut {
    Never,
    /// When so many files have been delivered and some of the next has come.
    After(usize),
}

/// A recall into a directory.
pub struct Recall {
    destination: Destination,
    wanted: Vec<Wanted>,
    /// Files that were there before, whole.
    pub there: usize,
}

impl Recall {
    /// Looks what is there; everything else is to be read.
    pub fn begin(directory: &Path, clips: &[&Clip], replace: Replace) -> Result<Recall, CliError> {
        std::fs::create_dir_all(directory).map_err(CliError::failed)?;
        let destination = Destination::open(directory).map_err(CliError::failed)?;
        let wanted = clips.iter().map(|clip| clip.wanted());
        let mut wanted = wanted
            .collect::<Result<Vec<Wanted>, _>>()
            .map_err(CliError::failed)?;
        if replace == Replace::Yes {
            return Ok(Recall {
                destination: destination.replacing(),
                wanted,
                there: 0,
            });
        }
        let files = wanted
            .iter()
            .map(|one| (one.path.clone(), one.expected.clone()));
        let check = destination
            .check(&files.collect::<Vec<_>>())
            .map_err(CliError::failed)?;
        if let Some(problem) = check.problems.first() {
            return Err(CliError::with(Exit::Refused, problem));
        }
        let there: std::collections::HashSet<usize> =
            check.there.iter().map(|(at, _)| *at).collect();
        let mut at = 0..;
        wanted.retain(|_| at.next().is_some_and(|at| !there.contains(&at)));
        Ok(Recall {
            destination,
            wanted,
            there: there.len(),
        })
    }

    /// Reads all of it from the cartridge in the drive; how many files were delivered. In the order of
    /// the list each file is a recall of its own.
    pub fn read(
        &self,
        cartridge: &MappedTape,
        recorder: &mut Recorder<'_>,
        power_cut: PowerCut,
    ) -> Result<usize, CliError> {
        let (mut delivered, mut missing) = (0, None);
        let mut said = |one: Result<Delivered, Missing>| match one {
            Ok(_) => delivered += 1,
            Err(error) => missing = missing.take().or(Some(error)),
        };
        let together = match cartridge.algorithm {
            Algorithm::Fifo => 1,
            _ => self.wanted.len().max(1),
        };
        for wanted in self.wanted.chunks(together) {
            let segments: Vec<Vec<Segment>> =
                wanted.iter().map(|one| one.segments.clone()).collect();
            let (head, learns) = cartridge.head(recorder.drive())?;
            let read =
                TapeRead::new(cartridge, head, &segments, learns).map_err(CliError::failed)?;
            let mut receiver = Supplied {
                deliveries: Deliveries::new(&self.destination, wanted, &mut said),
                power_cut,
                ended: 0,
            };
            let name = |want: usize| wanted[want].path.to_string();
            read.run(recorder, &name, &mut receiver, &mut |_| {})?;
        }
        match missing {
            Some(error @ Missing::Lost { .. }) => Err(CliError::with(Exit::Medium, error)),
            Some(error) => Err(CliError::with(Exit::Checksum, error)),
            None => Ok(delivered),
        }
    }
}

/// Deliveries for as long as there is power.
struct Supplied<'a> {
    deliveries: Deliveries<'a>,
    power_cut: PowerCut,
    ended: usize,
}

impl Receiver for Supplied<'_> {
    fn begin(&mut self, want: usize) -> std::io::Result<()> {
        self.deliveries.begin(want)
    }

    fn bytes(&mut self, want: usize, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.deliveries.bytes(want, offset, bytes)?;
        if self.power_cut == PowerCut::After(self.ended) {
            self.deliveries.settle()?;
            std::process::abort();
        }
        Ok(())
    }

    fn end(&mut self, want: usize) -> std::io::Result<()> {
        self.ended += 1;
        self.deliveries.end(want)
    }

    fn lost(&mut self, want: usize, why: &Lost) -> std::io::Result<()> {
        self.deliveries.lost(want, why)
    }
}
