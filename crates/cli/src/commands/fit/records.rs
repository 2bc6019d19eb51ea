//! Locates from logs of either kind, with where each came from.

use crate::error::CliError;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use tapewise_fit::Sample;
use tapewise_formats::event::{Action, Event, Outcome, Spot};
use tapewise_formats::event_log::read_events;
use tapewise_formats::locate_csv::read_locates;
use tapewise_model::{Micros, Position, PositionSource};

/// What was read.
#[derive(Debug, Default)]
pub struct Records {
    /// The locates.
    pub samples: Vec<Sample>,
    /// File and line, or number of the event, of each.
    pub origins: Vec<String>,
    /// The files, as given.
    pub files: Vec<String>,
    /// Whether a log says that its times come from an emulated drive.
    pub emulated: bool,
    /// What was left out.
    pub notices: Vec<String>,
    cartridges: BTreeMap<String, u32>,
}

/// Reads all logs.
pub fn read(paths: &[PathBuf]) -> Result<Records, CliError> {
    let mut records = Records::default();
    for path in paths {
        let name = path.display().to_string();
        let input: Box<dyn BufRead> = match path == Path::new("-") {
            true => Box::new(std::io::stdin().lock()),
            false => {
                let file = File::open(path);
                let file = file.map_err(|error| CliError::input(error).of(&name))?;
                Box::new(BufReader::new(file))
            }
        };
        records.read(&name, input)?;
        records.files.push(name);
    }
    Ok(records)
}

impl Records {
    fn read(&mut self, name: &str, mut input: Box<dyn BufRead>) -> Result<(), CliError> {
        let head = input.fill_buf();
        let head = head.map_err(|error| CliError::input(error).of(name))?;
        let first = head.iter().find(|byte| !byte.is_ascii_whitespace());
        match first {
            Some(b'{') => self.read_events(name, input),
            _ => self.read_csv(name, input),
        }
    }

    fn read_csv(&mut self, name: &str, input: Box<dyn BufRead>) -> Result<(), CliError> {
        let locates = read_locates(input).map_err(|error| CliError::input(error).of(name))?;
        for locate in locates {
            let cartridge = self.cartridge(locate.volume.as_deref().unwrap_or(name));
            let from = recorded(locate.from_wrap, locate.from_lpos);
            let to = recorded(locate.to_wrap, locate.to_lpos);
            let origin = format!("{name}, line {}", locate.line);
            self.add(cartridge, [from, to], locate.took, origin);
        }
        Ok(())
    }

    fn read_events(&mut self, name: &str, input: Box<dyn BufRead>) -> Result<(), CliError> {
        let log = read_events(input).map_err(|error| CliError::input(error).of(name))?;
        let headers = log
            .sessions
            .iter()
            .filter_map(|session| session.header.as_ref());
        self.emulated |= headers.into_iter().any(|header| header.emulated);
        let said = log
            .notices
            .iter()
            .map(|notice| format!("{name}: {}", notice.text));
        self.notices.extend(said);
        let (mut unplaced, mut failed) = (0, 0);
        for (at, event) in log.events().enumerate() {
            if event.action != Action::Locate {
                continue;
            }
            let Some([from, to]) = places(event) else {
                unplaced += 1;
                continue;
            };
            if event.outcome != Outcome::Done {
                failed += 1;
                continue;
            }
            let cartridge = self.cartridge(event.cartridge.as_deref().unwrap_or(name));
            let origin = format!("{name}, event {}", at + 1);
            self.add(cartridge, [from, to], event.took_us, origin);
        }
        for (count, why) in [
            (unplaced, "without wrap and LPOS of both ends"),
            (failed, "that did not get there"),
        ] {
            if count > 0 {
                self.notices
                    .push(format!("{name}: left out {count} locates {why}"));
            }
        }
        Ok(())
    }

    fn cartridge(&mut self, name: &str) -> u32 {
        let next = self.cartridges.len() as u32;
        *self.cartridges.entry(name.to_owned()).or_insert(next)
    }

    fn add(&mut self, cartridge: u32, [from, to]: [Position; 2], time: Micros, origin: String) {
        self.samples.push(Sample {
            cartridge,
            from,
            to,
            time,
        });
        self.origins.push(origin);
    }
}

fn places(event: &Event) -> Option<[Position; 2]> {
    let place = |spot: &Option<Spot>| {
        let spot = spot.as_ref()?;
        Some(recorded(spot.wrap?, spot.lpos?))
    };
    Some([place(&event.from)?, place(&event.to)?])
}

fn recorded(wrap: u16, lpos: u32) -> Position {
    Position {
        partition: 0,
        wrap,
        lpos,
        source: PositionSource::Recorded,
        error_lpos: 0,
    }
}
