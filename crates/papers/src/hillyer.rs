//! Hillyer & Silberschatz 1996: random I/O scheduling on the DLT4000.

mod constants;
mod drive;
mod learning;
mod locate;
mod optimum;
mod schedules;
mod sensitivity;

pub use learning::learned_key_points;

use crate::PaperError;
use crate::Progress;
use crate::claims::{Computed, Ours, Paper};
use crate::figures::{column, lines};
use tapewise_model::{BlockMap, KeyPoints, Position, Profile, Random, Spread, profile};
use tapewise_order::{End, Options, PlacedExtent, Problem, Request, Tape};
use tapewise_plot::{Drawn, Figure, Table};

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
        let next_track = || {
            if track + 1 == self.key_points.tracks() {
                self.key_points.segments()
            } else {
                self.key_points.track(track + 1)[0]
            }
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
    sensitivity::gated(&cartridge, seed, &mut ours)?;
    constants::gated(&cartridge, seed, &mut ours);
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
        constants::table(&cartridge, seed)?,
    ];
    tables.extend(schedules::tables(
        &cartridge, paper, seed, full, progress, &mut ours,
    )?);
    constants::gated(&cartridge, seed, &mut ours);
    tables.extend(optimum::tables(&cartridge, paper, seed, full, progress)?);
    tables.extend(sensitivity::tables(
        &cartridge, seed, full, progress, &mut ours,
    )?);
    let mut figures = drawn(&cartridge, &tables)?;
    let (measured, on_drive) = drive::report(seed, &mut ours)?;
    tables.extend(measured);
    figures.extend(on_drive);
    tables.extend(learning::tables(seed, full, progress)?);
    Ok(Computed {
        tables,
        figures,
        ours,
    })
}

/// Figures 1, 4 to 7, 9 and 10, of the tables with their numbers.
fn drawn(cartridge: &Cartridge, tables: &[Table]) -> Result<Vec<Drawn>, PaperError> {
    let table = |number: &str| {
        let title = format!("Figure {number}:");
        let found = tables.iter().find(|table| table.title.starts_with(&title));
        found.ok_or_else(|| PaperError::from(format!("there is no table of figure {number}")))
    };
    let figure = |number: &str, up| -> Result<(Figure, &Table), PaperError> {
        let table = table(number)?;
        let name = format!("figure-{number:0>2}");
        let figure = Figure::new(name, table.title.as_str(), "requests", up);
        Ok((figure.doubling(), table))
    };
    let mut figures = vec![locate::figure_1_drawn(cartridge)];
    for number in ["4", "5"] {
        let (figure, table) = figure(number, "time per locate, s")?;
        // Reading a whole tape for a few requests would press all else together.
        let read = column(table, READ)
            .into_iter()
            .filter(|place| place.1 < MOST_DRAWN_S);
        let figure = figure.guide("READ", read).dots("OPT", column(table, OPT));
        figures.push(lines(figure, table, [FIFO].into_iter().chain(OTHERS)));
    }
    figures.push(processor_time(table("6")?));
    for (number, up) in [
        ("7", "MB to transfer for each request"),
        ("9", "error of the estimate, %"),
        ("10", "longer by, %"),
    ] {
        let (figure, table) = figure(number, up)?;
        let first = if number == "7" { 2 } else { 1 };
        figures.push(lines(figure, table, first..table.columns.len()));
    }
    let drawn: Result<Vec<Drawn>, _> = figures.into_iter().map(Figure::draw).collect();
    Ok(drawn?)
}

/// Figure 6 as the paper draws it: what takes much longer than LOSS runs out of the picture.
fn processor_time(table: &Table) -> Figure {
    let most = column(table, LOSS_MS)
        .iter()
        .fold(0.0, |most, place| f64::max(most, place.1));
    let figure = Figure::new(
        "figure-06",
        table.title.as_str(),
        "requests",
        "milliseconds",
    )
    .doubling();
    (1..table.columns.len()).fold(figure, |figure, at| {
        let name = table.columns.get(at).map_or("", String::as_str);
        let places = column(table, at);
        figure.line(
            name,
            places.into_iter().take_while(move |place| place.1 <= most),
        )
    })
}

/// LOSS in the table of Figure 6.
const LOSS_MS: usize = 7;

/// Columns of the tables of Figures 4 and 5.
const READ: usize = 2;
const FIFO: usize = 3;
const OPT: usize = 4;
const OTHERS: std::ops::Range<usize> = 5..10;

/// READ is drawn where it takes less for a locate than this.
const MOST_DRAWN_S: f64 = 100.0;
