//! Locates from logs of all kinds, with where each came from.

use super::log_kind::{HEAD_BYTES, LogFormat, LogKind, recognise};
use crate::error::CliError;
use crate::units;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use tapewise_fit::Sample;
use tapewise_fit::blind::{Move, Volume};
use tapewise_formats::block_moves_csv::{BlockMove, read_block_moves};
use tapewise_formats::cta_log::read_cta_log;
use tapewise_formats::event::{Action, Event, Outcome, Spot};
use tapewise_formats::event_log::read_events;
use tapewise_formats::locate_csv::read_locates;
use tapewise_model::{Micros, Position, PositionSource};

/// What was read.
#[derive(Debug, Default)]
pub struct Records {
    /// The locates whose ends the drive told, or, once maps were found, those with found ends.
    pub samples: Vec<Sample>,
    /// File and line, or number of the event, of each whose ends the drive told.
    pub origins: Vec<String>,
    /// Moves that are known by block numbers only, volume by volume.
    pub moves: BTreeMap<String, Vec<Move>>,
    /// What the files on CTA's tapes take: bytes of data, and blocks with their labels.
    pub cta_files: Option<[u64; 2]>,
    /// The files, as given.
    pub files: Vec<String>,
    /// Whether a log says that its times come from an emulated drive.
    pub emulated: bool,
    /// What was left out.
    pub notices: Vec<String>,
    cartridges: BTreeMap<String, u32>,
}

/// Reads all logs.
pub fn read(paths: &[PathBuf], format: LogFormat) -> Result<Records, CliError> {
    let mut records = Records::default();
    for path in paths {
        let name = path.display().to_string();
        if records.files.contains(&name) {
            return Err(CliError::input("given twice; each locate counts once").of(&name));
        }
        let input: Box<dyn BufRead> = match path == Path::new("-") {
            true => Box::new(std::io::stdin().lock()),
            false => {
                let file = File::open(path);
                let file = file.map_err(|error| CliError::input(error).of(&name))?;
                Box::new(BufReader::new(file))
            }
        };
        let read = records.read(&name, input, format);
        read.map_err(|error| error.of(&name))?;
        records.files.push(name);
    }
    if !records.moves.is_empty() && !records.samples.is_empty() {
        return Err(CliError::input(
            "some logs have positions, others block numbers only, and their times may not mean the same",
        )
        .hint("fit each kind by itself, and take the profile that was fitted to positions"));
    }
    Ok(records)
}

impl Records {
    fn read(
        &mut self,
        name: &str,
        mut input: Box<dyn BufRead>,
        format: LogFormat,
    ) -> Result<(), CliError> {
        let mut head = Vec::new();
        let read = input.by_ref().take(HEAD_BYTES).read_to_end(&mut head);
        read.map_err(CliError::input)?;
        let kind = recognise(&head, format)?;
        let input = Cursor::new(head).chain(input);
        let said = match kind {
            LogKind::Events => self.read_events(name, input),
            LogKind::Locates => self.read_locates(name, input),
            LogKind::BlockMoves => self.read_block_moves(input),
            LogKind::Cta => self.read_cta(name, input),
        };
        let said = said.map_err(|error| match format {
            LogFormat::Auto => error.hint(format!(
                "it was taken for: {}; --log-format says otherwise. docs/how-to/fit-a-profile.md shows what is read",
                kind.name()
            )),
            _ => error,
        })?;
        self.notices
            .push(format!("{name}: read as {}: {said}", kind.name()));
        Ok(())
    }

    fn read_block_moves(&mut self, input: impl BufRead) -> Result<String, CliError> {
        let moves = read_block_moves(input).map_err(CliError::input)?;
        let said = units::count(moves.len(), "move");
        self.add_moves(moves);
        Ok(said)
    }

    fn read_cta(&mut self, name: &str, input: impl BufRead) -> Result<String, CliError> {
        let log = read_cta_log(input).map_err(CliError::input)?;
        let said = log.notices.iter().map(|notice| format!("{name}: {notice}"));
        self.notices.extend(said);
        let found = log.moves();
        let [bytes, blocks] = self.cta_files.get_or_insert_default();
        for read in &log.reads {
            *bytes += read.data_bytes;
            *blocks += read.end_block() - read.first_block();
        }
        let said = format!(
            "{}, {} passed over; {}, {} first of their mount, {} behind an error",
            units::count(log.reads.len(), "file") + " read",
            units::count(log.passed_over as usize, "other line"),
            units::count(found.moves.len(), "move"),
            found.first_of_mount,
            found.behind_error,
        );
        self.add_moves(found.moves);
        Ok(said)
    }

    fn add_moves(&mut self, moves: Vec<BlockMove>) {
        for each in moves {
            self.moves.entry(each.volume).or_default().push(Move {
                from_block: each.from_block,
                to_block: each.to_block,
                time: each.took,
            });
        }
    }

    /// The volumes that are known by block numbers only, by name.
    pub fn volumes(&self) -> Vec<Volume> {
        let volumes = self.moves.iter().map(|(name, moves)| Volume {
            name: name.clone(),
            moves: moves.clone(),
        });
        volumes.collect()
    }

    fn read_locates(&mut self, name: &str, input: impl BufRead) -> Result<String, CliError> {
        let locates = read_locates(input).map_err(CliError::input)?;
        let said = units::count(locates.len(), "locate");
        for locate in locates {
            let cartridge = self.cartridge(locate.volume.as_deref().unwrap_or(name));
            let from = recorded(locate.from_wrap, locate.from_lpos);
            let to = recorded(locate.to_wrap, locate.to_lpos);
            let origin = format!("{name}, line {}", locate.line);
            self.add(cartridge, [from, to], locate.took, origin);
        }
        Ok(said)
    }

    fn read_events(&mut self, name: &str, input: impl BufRead) -> Result<String, CliError> {
        let log = read_events(input).map_err(CliError::input)?;
        let before = self.samples.len();
        let headers = log
            .sessions
            .iter()
            .filter_map(|session| session.header.as_ref());
        self.emulated |= headers.into_iter().any(|header| header.emulated);
        let said = log.notices.iter().map(|notice| format!("{name}: {notice}"));
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
                let locates = units::count(count, "locate");
                self.notices
                    .push(format!("{name}: left out {locates} {why}"));
            }
        }
        Ok(units::count(self.samples.len() - before, "locate"))
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
