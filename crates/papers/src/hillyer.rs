//! Hillyer & Silberschatz 1996: random I/O scheduling on the DLT4000.

mod drive;
mod locate;
mod schedules;
mod sensitivity;

use crate::PaperError;
use crate::Progress;
use crate::claims::{Computed, Ours, Paper};
use tapewise_model::{BlockMap, KeyPoints, Position, Profile, Random, Spread, profile};
use tapewise_order::{End, Options, PlacedExtent, Problem, Request, Tape};

/// Bytes of a segment: "fixed-sized chunks of size 32 KB" (section 3).
const SEGMENT_BYTES: u64 = 32_768;

/// A drive and one cartridge, drawn around the nominal one.
struct Cartridge {
    profile: Profile,
    key_points: KeyPoints,
    map: BlockMap,
    tape: Tape,
}

impl Cartridge {
    /// The cartridge numbered `number` of a seed, with the profile's spread or another.
    fn draw(seed: u64, number: u64, spread: Option<Spread>) -> Result<Cartridge, PaperError> {
        let profile = profile::find("dlt4000")?;
        let missing = || PaperError::from("the profile dlt4000 has no key points");
        let nominal = profile.nominal_sections().ok_or_else(missing)?;
        let spread = spread.or(profile.key_point_spread()).ok_or_else(missing)?;
        Cartridge::with(KeyPoints::generate(
            nominal,
            spread,
            &mut Random::new(seed, number),
        ))
    }

    /// The cartridge with these key points.
    fn with(key_points: KeyPoints) -> Result<Cartridge, PaperError> {
        let profile = profile::find("dlt4000")?;
        Ok(Cartridge {
            map: key_points.block_map(),
            tape: Tape::new(&profile, Some(&key_points))?,
            key_points,
            profile,
        })
    }

    /// A segment of the cartridge; `number` must be below the number of its segments.
    fn segment(&self, number: u64) -> PlacedExtent {
        PlacedExtent::on_map(&self.map, 0, number, number, SEGMENT_BYTES)
            .expect("the map holds every segment up to its last")
    }

    /// The segments of a track's section in reading order; `None` behind the last.
    fn section(&self, track: u16, section: usize) -> Option<std::ops::Range<u64>> {
        let starts = self.key_points.track(track);
        let start = *starts.get(section)?;
        let next_track = || match track + 1 == self.key_points.tracks() {
            true => self.key_points.segments(),
            false => self.key_points.track(track + 1)[0],
        };
        Some(start..starts.get(section + 1).copied().unwrap_or_else(next_track))
    }

    fn position(&self, number: u64) -> Position {
        self.segment(number).start
    }

    /// The batch of these segments, read from `head`, with locates only: no reading through.
    fn problem(&self, head: Position, segments: &[u64]) -> Problem {
        let requests: Vec<Request> = segments
            .iter()
            .map(|&number| Request::single(self.segment(number)))
            .collect();
        let options = Options {
            head,
            end: End::Anywhere,
            read_through: false,
        };
        Problem::new(self.tape.clone(), options, &requests)
    }
}

/// What the gated claims rest on.
pub fn gated(paper: &Paper, seed: u64, full: bool) -> Result<Ours, PaperError> {
    let cartridge = Cartridge::draw(seed, 0, None)?;
    let mut ours = Ours::default();
    locate::statistics(&cartridge, seed, &mut ours);
    schedules::gated(&cartridge, paper, seed, full, &mut ours)?;
    Ok(ours)
}

/// Everything the paper shows, computed again.
pub fn compute(
    paper: &Paper,
    seed: u64,
    full: bool,
    progress: Progress,
) -> Result<Computed, PaperError> {
    let cartridge = Cartridge::draw(seed, 0, None)?;
    let mut ours = Ours::default();
    let mut tables = vec![
        locate::statistics(&cartridge, seed, &mut ours),
        locate::figure_1(&cartridge),
        locate::cases(&cartridge, seed),
    ];
    tables.extend(schedules::tables(
        &cartridge, paper, seed, full, progress, &mut ours,
    )?);
    tables.extend(sensitivity::tables(
        &cartridge, seed, full, progress, &mut ours,
    )?);
    let (measured, figures) = drive::report(seed, &mut ours)?;
    tables.extend(measured);
    Ok(Computed {
        tables,
        figures,
        ours,
    })
}
