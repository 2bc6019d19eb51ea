//! What was measured, drawn: one picture for each thing that the log has.

use super::Subject;
use super::summary::{BlockRate, Move, RESTART_S, Summary};
use std::collections::BTreeMap;
use tapewise_formats::event::Spot;
use tapewise_model::{Direction, KeyPoints, Layout};
use tapewise_plot::{Drawn, Figure, NothingToDraw};

const TIME: &str = "time, s";
const RATE: &str = "rate, MB/s";

/// A picture of everything that was measured, in the order of the suite.
///
/// # Errors
/// Where a picture cannot be made.
pub fn pictures(
    summary: &Summary,
    subject: &Subject,
    key_points: Option<&KeyPoints>,
    emulated: bool,
) -> Result<Vec<Drawn>, NothingToDraw> {
    let desk = Desk {
        summary,
        subject,
        emulated,
        along: Along::of(subject),
    };
    let figures = [
        desk.block_size(),
        desk.compression_ratio(),
        desk.compressed_rates(),
        desk.robot(),
        desk.beginning(),
        desk.rewinds(),
        desk.between(),
        desk.short_seeks(),
        desk.delays(),
        desk.large_reads(),
        desk.unmounts(),
        desk.first_seeks(),
        desk.wraps(),
        desk.places(),
        desk.landing(),
        desk.key_points(key_points),
    ];
    let measured = figures.into_iter().filter(|figure| !figure.is_empty());
    measured.map(Figure::draw).collect()
}

/// The scale of places along the tape.
struct Along {
    /// Units of the scale from one end of the tape to the other.
    length: f64,
    place: &'static str,
    distance: &'static str,
}

impl Along {
    fn of(subject: &Subject) -> Along {
        let geometry = subject.profile.geometry().ok();
        let lpos = |geometry: &tapewise_model::Geometry| f64::from(geometry.wrap_lpos());
        match geometry {
            // Profiles of helical drives count KB of data: docs/reference/profiles.md.
            Some(geometry) if geometry.layout == Layout::Helical => Along {
                length: lpos(&geometry) / 1e6,
                place: "along the tape, GB of data",
                distance: "distance along the tape, GB of data",
            },
            Some(geometry) if geometry.metres_per_lpos.is_some() => Along {
                length: lpos(&geometry) * geometry.metres_per_lpos.unwrap_or(1.0),
                place: "along the tape from its beginning, m",
                distance: "distance along the tape, m",
            },
            _ => Along {
                length: 100.0,
                place: "along the tape from its beginning, % of its length",
                distance: "distance along the tape, % of its length",
            },
        }
    }
}

/// What the pictures are drawn from.
struct Desk<'a> {
    summary: &'a Summary,
    subject: &'a Subject,
    emulated: bool,
    along: Along,
}

/// A move with its ends as wrap and place along the tape.
struct Placed {
    from: Option<(u16, f64)>,
    to: (u16, f64),
    seconds: f64,
}

impl Desk<'_> {
    fn figure(&self, name: &str, what: &str, across: &'static str, up: &'static str) -> Figure {
        let emulated = if self.emulated { " (emulated)" } else { "" };
        let title = format!("{what}, {}{emulated}", self.subject.profile.title);
        Figure::new(name, title, across, up)
    }

    fn place(&self, spot: Option<Spot>) -> Option<(u16, f64)> {
        let (wrap, share) = self.subject.place(spot?)?;
        Some((wrap, share * self.along.length))
    }

    fn placed(&self, moves: &[Move]) -> Vec<Placed> {
        let placed = moves.iter().filter_map(|one| {
            Some(Placed {
                from: self.place(one.from),
                to: self.place(one.to)?,
                seconds: one.seconds,
            })
        });
        placed.collect()
    }

    /// Moves that are told apart by where they began.
    fn left(&self, moves: &[Move]) -> Vec<(f64, f64)> {
        let placed = moves.iter();
        let placed = placed.filter_map(|one| Some((self.place(one.from)?.1, one.seconds)));
        placed.collect()
    }

    fn is_forward(&self, wrap: u16) -> bool {
        let geometry = self.subject.profile.geometry();
        geometry.is_ok_and(|geometry| geometry.direction(wrap) == Direction::Forward)
    }

    /// Seeks by target, each direction of wraps on its own where there are two.
    fn by_target(&self, figure: Figure, moves: &[Move]) -> Figure {
        let placed = self.placed(moves);
        let of = |forward: bool| {
            let chosen = placed.iter();
            let chosen = chosen.filter(move |one| self.is_forward(one.to.0) == forward);
            chosen.map(|one| (one.to.1, one.seconds))
        };
        if self.subject.is_serpentine() {
            figure
                .dots("to wraps read away from the beginning", of(true))
                .dots("to wraps read towards it", of(false))
        } else {
            figure.dots("seek", of(true))
        }
    }

    fn beginning(&self) -> Figure {
        let what = "Seek from the beginning of tape";
        let figure = self.figure("seek-from-beginning", what, self.along.place, TIME);
        self.by_target(figure, &self.summary.moves.from_beginning)
    }

    fn rewinds(&self) -> Figure {
        let places = self.left(&self.summary.moves.rewinds);
        let moved = places.into_iter().filter(|&(along, _)| along > 0.0);
        let moved: Vec<(f64, f64)> = moved.collect();
        let far = moved.iter().map(|place| place.0).fold(0.0, f64::max);
        let line = self.summary.rewind_line.iter();
        let ends = line
            .flat_map(|line| [0.0, far].map(|along| (along, line.at(along / self.along.length))));
        self.figure("rewind", "Rewind", self.along.place, TIME)
            .guide("least squares", ends.collect::<Vec<_>>())
            .dots("rewind", moved)
    }

    fn between(&self) -> Figure {
        let placed = self.placed(&self.summary.moves.between);
        let moves = || placed.iter().filter_map(|one| Some((one.from?, one)));
        let of = |ahead: bool| {
            let chosen = moves().filter(move |(from, one)| {
                let is_up = one.to.1 >= from.1;
                (is_up == self.is_forward(one.to.0)) == ahead
            });
            chosen.map(|(from, one)| ((one.to.1 - from.1).abs(), one.seconds))
        };
        let what = "Seek between any two places";
        self.figure("seek-between", what, self.along.distance, TIME)
            .dots("target ahead as it is read", of(true))
            .dots("target backwards: the tape turns", of(false))
    }

    fn short_seeks(&self) -> Figure {
        let what = "Short seeks against reading on";
        let figure = self.figure("short-seek", what, "distance, MB", TIME);
        match &self.summary.crossover {
            Some(found) => {
                let top = found.compared.iter().map(|at| at.1.max(at.2));
                let name = format!("seeking pays from {:.0} MB on", found.mb);
                figure
                    .dots("seek and read a block", found.seeks())
                    .line("read on", found.reads())
                    .upright(&name, found.mb, top.fold(0.0, f64::max))
            }
            None => figure,
        }
    }

    fn delays(&self) -> Figure {
        let block_mb = self.subject.recorded_block_bytes() as f64 / 1e6;
        let what = "Read rate against the delay between reads";
        let figure = self.figure("delay", what, "delay after each block, ms", RATE);
        match &self.summary.delay {
            Some(found) => {
                let rates = found.rates(block_mb);
                let top = rates.iter().map(|at| at.1).fold(0.0, f64::max);
                let name = format!("no loss up to {:.2} ms", found.ms);
                figure
                    .guide("", rates.clone())
                    .dots("measured", rates)
                    .upright(&name, found.ms, top)
            }
            None => figure,
        }
    }

    /// One series for each pause. What came out of the drive's buffer sooner lost nothing.
    fn large_reads(&self) -> Figure {
        let measured = || {
            self.summary
                .restart
                .iter()
                .flat_map(|found| &found.measured)
        };
        let most_mb = measured().map(|at| at.0).fold(0.0, f64::max);
        let mut pauses: BTreeMap<i64, Vec<(f64, f64)>> = BTreeMap::new();
        for &(mb, pause_s, lost_s) in measured() {
            let lost = pauses.entry(pause_s as i64).or_default();
            lost.push((mb, lost_s.max(0.0)));
        }
        let what = "Time lost to a pause after a large read";
        let figure = self.figure("large-read", what, "MB read before the pause", "lost, s");
        if pauses.is_empty() {
            return figure;
        }
        let figure = figure.guide(
            "more is a restart",
            [(0.0, RESTART_S), (most_mb, RESTART_S)],
        );
        pauses.into_iter().fold(figure, |figure, (pause_s, lost)| {
            figure.dots(&format!("pause of {pause_s} s"), lost)
        })
    }

    fn unmounts(&self) -> Figure {
        let what = "Unmount where the tape stands";
        self.figure("unmount", what, self.along.place, TIME)
            .dots("unmount", self.left(&self.summary.moves.unmounts))
    }

    fn first_seeks(&self) -> Figure {
        let what = "First seek after a mount, unmounted mid-tape";
        let figure = self.figure("first-seek", what, self.along.place, TIME);
        self.by_target(figure, &self.summary.moves.first)
    }

    fn block_size(&self) -> Figure {
        let of = |rate: fn(&BlockRate) -> f64| {
            let rates = self.summary.block_rates.iter();
            rates.map(move |at| (at.block_bytes as f64 / 1024.0, rate(at)))
        };
        self.figure("block-size", "Rate by size of block", "block, KiB", RATE)
            .doubling()
            .guide("", of(|at| at.read_mb_s))
            .guide("", of(|at| at.write_mb_s))
            .dots("read", of(|at| at.read_mb_s))
            .dots("written", of(|at| at.write_mb_s))
    }

    fn compression_ratio(&self) -> Figure {
        let what = "The drive's compression against gzip's";
        let figure = self.figure(
            "compression-ratio",
            what,
            "ratio of gzip",
            "ratio of the drive",
        );
        let Some(found) = &self.summary.compression else {
            return figure;
        };
        let data = || found.data.iter();
        let (a, b) = (found.ratio.intercept, found.ratio.slope);
        let name = format!("{a:.2} + {b:.3} C, least squares");
        figure
            .guide(
                &name,
                data().map(|data| (data.gzip_ratio, found.ratio.at(data.gzip_ratio))),
            )
            .dots(
                "measured",
                data().map(|data| (data.gzip_ratio, data.drive_ratio)),
            )
    }

    fn compressed_rates(&self) -> Figure {
        let what = "Rates of data that compresses";
        let figure = self.figure("compressed-rates", what, "ratio of gzip", RATE);
        match &self.summary.compression {
            Some(compression) => {
                let [read, written] = compression.rates();
                let [read_fitted, written_fitted] = compression.fitted_rates();
                figure
                    .guide("1 / (a + b / C), fitted", read_fitted)
                    .guide("", written_fitted)
                    .dots("read", read)
                    .dots("written", written)
            }
            None => figure,
        }
    }

    fn robot(&self) -> Figure {
        let ways = || self.summary.moves.ways.iter();
        let fetched = ways().map(|way| (f64::from(way.slot), way.fetch_s));
        let returned = ways().map(|way| (f64::from(way.slot), way.return_s));
        let what = "The robot's ways, drive of this kind";
        self.figure("robot", what, "element address of the slot", TIME)
            .dots("slot to drive", fetched)
            .dots("drive to slot", returned)
    }

    /// What each wrap holds, by the drive's own table. The last one is not full.
    fn wraps(&self) -> Figure {
        let what = "What each wrap holds, by the drive's table";
        let figure = self.figure("wraps", what, "wrap", "GB");
        let (Some(_), Some(map)) = (&self.subject.wrap_ends, &self.subject.map) else {
            return figure;
        };
        let spans = map.spans().iter();
        let held = spans.map(|span| {
            let blocks = span.end_block - span.first_block;
            (f64::from(span.wrap), self.gb(blocks))
        });
        figure.dots("wrap", held)
    }

    /// Where blocks lie as the drive said, where it has no table that says so of all.
    fn places(&self) -> Figure {
        let what = "Where blocks lie, as the drive said";
        let across = "in the order of the data, GB";
        let figure = self.figure("places", what, across, self.along.place);
        if self.subject.wrap_ends.is_some() {
            return figure;
        }
        let told = self
            .summary
            .positions
            .iter()
            .filter_map(|&(block, wrap, lpos)| {
                let spot = Spot {
                    block: Some(block),
                    wrap: Some(wrap),
                    lpos: Some(lpos),
                    ..Spot::default()
                };
                Some((self.gb(block), self.place(Some(spot))?.1))
            });
        figure.dots("place", told.collect::<Vec<_>>())
    }

    fn gb(&self, blocks: u64) -> f64 {
        (blocks * self.subject.recorded_block_bytes()) as f64 / 1e9
    }

    fn landing(&self) -> Figure {
        let what = "Seeks to targets close by, and where times fall";
        let figure = self.figure("landing", what, "LPOS of the target", TIME);
        let Some(falls) = &self.summary.landing else {
            return figure;
        };
        let top = falls.measured.iter().map(|at| at.1).fold(0.0, f64::max);
        let figure = falls
            .lpos
            .iter()
            .enumerate()
            .fold(figure, |figure, (at, &lpos)| {
                figure.upright(if at == 0 { "landing points" } else { "" }, lpos, top)
            });
        figure.dots("seek", falls.measured.iter().copied())
    }

    fn key_points(&self, key_points: Option<&KeyPoints>) -> Figure {
        let what = "Key points found by timing";
        let up = "blocks from the beginning of the track";
        let figure = self.figure("key-points", what, "track", up);
        let Some(points) = key_points else {
            return figure;
        };
        let places = (0..points.tracks()).flat_map(|track| {
            let segments = points.track(track);
            let first = segments.first().copied().unwrap_or(0);
            let from_first = segments.iter().map(move |segment| segment - first);
            from_first.map(move |blocks| (f64::from(track), blocks as f64))
        });
        figure.dots("beginning of a section", places)
    }
}
