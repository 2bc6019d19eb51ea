//! Figures 1 to 8 and 10 to 17, from what was measured.

use super::super::{AMPEX, Bench, DAT_4MM, DLT4000, DLT7000, IBM3590, SONY};
use super::midtape::{first_seeks, unmounts};
use super::{Lab, MIDDLE_TRACK, Measured, Points, Seeks, Timed, gb, rewinds, seeks};
use crate::PaperError;
use std::fmt::Display;
use tapewise_plot::{Drawn, Figure};

const ALONG_GB: &str = "place in the order of the data, GB";
const ALONG_MB: &str = "place in the order of the data, MB";
const TIME: &str = "time, s";
const RATE: &str = "rate, MB/s";

/// Every figure. Figure 9 is a drawing of the topology and has no numbers.
pub fn all(bench: &Bench, lab: &Lab) -> Result<Vec<Drawn>, PaperError> {
    let drive = |name| lab.drive(name);
    let figures = [
        unmount("figure-01", drive(AMPEX)),
        unmount("figure-01-sony", drive(SONY)),
        helical_from_bot(lab),
        serpentine_from_bot(3, drive(DLT4000), &[]),
        serpentine_from_bot(4, drive(DLT7000), &[]),
        serpentine_from_bot(5, drive(IBM3590), &lab.slow_reverse),
        first_seek(drive(AMPEX)),
        middle_4mm(drive(DAT_4MM)),
        middle_dlt(bench, drive(DLT4000)),
        short_seeks(10, drive(DLT4000)),
        short_seeks(11, drive(IBM3590)),
        short_seeks(12, drive(AMPEX)),
        short_seeks(13, drive(SONY)),
        delays(14, drive(DLT4000)),
        delays(15, drive(SONY)),
        responses(14, drive(DLT4000)),
        responses(15, drive(SONY)),
        compressed(16, drive(DLT4000)),
        compressed(17, drive(SONY)),
    ];
    let drawn: Result<Vec<Drawn>, _> = figures.into_iter().map(Figure::draw).collect();
    Ok(drawn?)
}

/// The figure of that number.
fn figure(number: u32, what: impl Display, across: &'static str, up: &'static str) -> Figure {
    let title = format!("Figure {number} (emulated): {what}");
    Figure::new(format!("figure-{number:02}"), title, across, up)
}

/// The paper has the Ampex only; of the Sony it says where it goes.
fn unmount(name: &str, drive: &Measured) -> Figure {
    let title = format!(
        "Figure 1 (emulated): time to unmount where the tape stands, {}",
        drive.name
    );
    Figure::new(name, title, ALONG_GB, TIME).dots("unmount", unmounts(drive).into_iter().map(gb))
}

fn helical_from_bot(lab: &Lab) -> Figure {
    let [dat, ampex, sony] = [DAT_4MM, AMPEX, SONY].map(|name| &lab.drive(name).seeks);
    let all = |seeks: &Seeks| seeks.from_bot.concat();
    let what = "seek from the beginning of tape and rewind, helical";
    figure(2, what, ALONG_GB, TIME)
        .guide("rewinds", rewinds(&all(dat)))
        .guide("", rewinds(&all(sony)))
        .guide("", rewinds(&all(ampex)))
        .dots("4mm seek", seeks(&all(dat)))
        .dots("Ampex seek", seeks(&all(ampex)))
        .line("with hints", seeks(&ampex.hinted))
        .dots("Sony seek", seeks(&all(sony)))
}

fn serpentine_from_bot(number: u32, drive: &Measured, slow_reverse: &[Vec<Timed>]) -> Figure {
    let what = format!("seek from the beginning of tape and rewind, {}", drive.name);
    let all = drive.seeks.from_bot.concat();
    let times = |timed: &[Timed], of: fn(&Timed) -> f64| -> Points {
        timed.iter().map(|timed| (timed.mb, of(timed))).collect()
    };
    figure(number, what, ALONG_MB, TIME)
        .dots("seek", times(&all, |timed| timed.seek_s))
        .dots("rewind", times(&all, |timed| timed.rewind_s))
        .guide(
            "seek on a drive with the slow start of reverse tracks",
            times(&slow_reverse.concat(), |timed| timed.seek_s),
        )
}

fn first_seek(ampex: &Measured) -> Figure {
    let first = first_seeks(ampex).into_iter();
    let what = "first seek after a mount by target, Ampex DST 310";
    figure(6, what, ALONG_GB, TIME)
        .dots(
            "unmounted where it stood",
            first.map(|(_, to, seconds)| gb((to, seconds))),
        )
        .dots("unmounted rewound", seeks(&ampex.seeks.from_bot.concat()))
}

fn middle_4mm(dat: &Measured) -> Figure {
    let at_gb = dat.seeks.middle_mb / 1e3;
    let what = format!("seeks from and to a place at {at_gb:.2} GB, 4mm DAT");
    figure(7, what, ALONG_GB, TIME)
        .dots("from there", seeks(&dat.seeks.from_middle))
        .dots("to there", seeks(&dat.seeks.to_middle))
}

/// Measured seeks, and what Table 3 predicts for them by the nominal place of each block.
fn middle_dlt(bench: &Bench, dlt: &Measured) -> Figure {
    let model = &bench.drive(DLT4000).model;
    let block_mb = dlt.subject.recorded_block_bytes() as f64 / 1e6;
    let place = |mb: f64| {
        let map = dlt.subject.map.as_ref()?;
        map.position(0, (mb / block_mb).round() as u64).ok()
    };
    let from = place(dlt.seeks.middle_mb);
    let measured = &dlt.seeks.from_middle;
    let predicted = measured.iter().filter_map(|timed| {
        let time = model.locate(&from?, &place(timed.mb)?);
        Some((timed.mb - dlt.seeks.middle_mb, time.as_secs_f64()))
    });
    let what = format!("seeks from the middle of track {MIDDLE_TRACK} (reverse), DLT 4000");
    figure(8, what, "from there in the order of the data, MB", TIME)
        .dots(
            "measured",
            measured
                .iter()
                .map(|timed| (timed.mb - dlt.seeks.middle_mb, timed.seek_s)),
        )
        .guide("Table 3 of the paper", predicted)
}

fn short_seeks(number: u32, drive: &Measured) -> Figure {
    let what = format!("short seeks against reading on, {}", drive.name);
    let figure = figure(number, what, "distance, MB", TIME);
    match &drive.summary.crossover {
        Some(found) => figure
            .dots("seek and read a block", found.seeks())
            .line("read on", found.reads()),
        None => figure,
    }
}

fn delays(number: u32, drive: &Measured) -> Figure {
    let block_mb = drive.subject.recorded_block_bytes() as f64 / 1e6;
    let what = format!("read rate against the delay between reads, {}", drive.name);
    let figure = figure(number, what, "delay, ms", RATE);
    match &drive.summary.delay {
        Some(found) => {
            let rates = found.rates(block_mb);
            figure.guide("", rates.clone()).dots("measured", rates)
        }
        None => figure,
    }
}

/// "The response time for a read request actually decreases with an increasing delay": the drive reads ahead meanwhile.
fn responses(number: u32, drive: &Measured) -> Figure {
    let block_mb = drive.subject.recorded_block_bytes() as f64 / 1e6;
    let title = format!(
        "Figure {number} (emulated): response of a read against the delay before it, {}",
        drive.name
    );
    let name = format!("figure-{number:02}-response");
    let figure = Figure::new(name, title, "delay, ms", "response, ms");
    match &drive.summary.delay {
        Some(found) => {
            let responses: Points = found
                .rates(block_mb)
                .into_iter()
                .map(|(delay_ms, rate)| (delay_ms, block_mb / rate * 1e3 - delay_ms))
                .collect();
            figure
                .guide("", responses.clone())
                .dots("measured", responses)
        }
        None => figure,
    }
}

/// Nothing where the drive does not compress, and then there is no figure.
fn compressed(number: u32, drive: &Measured) -> Figure {
    let what = format!("rates of data that compresses, {}", drive.name);
    let figure = figure(number, what, "ratio of gzip", RATE);
    match &drive.summary.compression {
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
