//! What positioning leaves of the streaming rate ("Impact").
//!
//! `rate = size / (position + size / stream)`, `efficiency = (size / stream) / (position + size /
//! stream)`.

use super::orders::{Case, Contender, Sample};
use super::workload::{Cartridge, FILE_MB, FILES, SIGMA, Sizes};
use super::{Bench, MeasuredDrive};
use crate::PaperError;
use crate::claims::Ours;
use crate::figures::column;
use tapewise_plot::{Drawn, Figure, Table};

/// Keys of the slides' table of drives, in its order.
const DRIVES: [&str; 3] = [ENTERPRISE, "Oracle T10KD", LTO];
const ENTERPRISE: &str = "IBM TS1155";
const LTO: &str = "LTO-8";

/// What the slides print for LTO in MB/s, from which their positioning time follows.
const PRINTED_LTO_MB_S: f64 = 42.0;

/// "From 5K files / tape to > 20K files / tape in ~6 years" (Impact).
const FILES_ON_TAPE: [usize; 4] = [5_000, 10_000, 15_000, 20_000];

/// File sizes of the table by size, in MB.
const SIZES_MB: [f64; 8] = [
    100.0, 500.0, 1_000.0, 2_000.0, 5_000.0, 10_000.0, 50_000.0, 100_000.0,
];

/// Orders that rates are given for.
const ORDERS: [Contender; 4] = [
    Contender::Linear,
    Contender::Scan,
    Contender::Sltf,
    Contender::Best,
];

/// Reading files of one size, each after one positioning.
#[derive(Clone, Copy)]
struct Reading {
    size_mb: f64,
    position_s: f64,
    stream_mb_s: f64,
}

impl Reading {
    fn read_s(&self) -> f64 {
        self.size_mb / self.stream_mb_s
    }

    fn rate_mb_s(&self) -> f64 {
        self.size_mb / (self.position_s + self.read_s())
    }

    fn efficiency(&self) -> f64 {
        self.read_s() / (self.position_s + self.read_s())
    }

    fn streaming_faster(&self, factor: f64) -> Reading {
        Reading {
            stream_mb_s: self.stream_mb_s * factor,
            ..*self
        }
    }
}

/// The drives of the slides and the models, density and file size; sets the claims of the impact.
pub fn tables(bench: &Bench, ours: &mut Ours) -> Result<(Vec<Table>, Vec<Drawn>), PaperError> {
    let (m8, rao_s) = impact(bench, &ORDERS, ours)?;
    let lto8 = recall(bench, &bench.lto8, Sizes::Equal(FILE_MB), &ORDERS)?;
    let lto = drive(bench, LTO)?;
    let tables = vec![
        drives(bench, [("LTO-7 M8", &m8), ("LTO-8 (transferred)", &lto8)])?,
        by_density(bench, lto.rate_mb_s, rao_s)?,
        by_size(&m8, lto.rate_mb_s, rao_s),
    ];
    let figures = vec![
        impact_picture(&tables[1], "impact-density", "files a tape", &DENSITY_RATES).draw()?,
        impact_picture(&tables[2], "impact-size", "size of a file, MB", &SIZE_RATES).draw()?,
    ];
    Ok((tables, figures))
}

/// Columns of the effective rates in both tables of the impact, and whose they are.
const DENSITY_RATES: [(usize, &str); 5] = [
    (3, "LINEAR"),
    (6, "SCAN"),
    (8, "SLTF"),
    (10, "best"),
    (11, "a TS1155 in its own order"),
];
const SIZE_RATES: [(usize, &str); 4] = [
    (1, "LINEAR"),
    (3, "SLTF"),
    (5, "best"),
    (7, "a TS1155 in its own order"),
];

/// The slides' impact curves, from a table of the impact.
fn impact_picture(
    table: &Table,
    name: &str,
    across: &'static str,
    rates: &[(usize, &str)],
) -> Figure {
    let figure = Figure::new(name, table.title.as_str(), across, "effective rate, MB/s").doubling();
    rates.iter().fold(figure, |figure, &(at, of)| {
        figure.line(of, column(table, at))
    })
}

/// What the gated claims rest on.
pub fn gated(bench: &Bench, ours: &mut Ours) -> Result<(), PaperError> {
    impact(bench, &ORDERS[..1], ours).map(|_| ())
}

/// The case of 150 files in these orders, LINEAR first, and the enterprise drive's time from file to file.
fn impact(
    bench: &Bench,
    orders: &[Contender],
    ours: &mut Ours,
) -> Result<(Vec<Sample>, f64), PaperError> {
    let m8 = recall(bench, &bench.m8, Sizes::Equal(FILE_MB), orders)?;
    let enterprise = drive(bench, ENTERPRISE)?;
    let missing = || PaperError::from(format!("claims.toml: {ENTERPRISE} without position_rao_s"));
    let rao_s = enterprise.position_rao_s.ok_or_else(missing)?;
    let atlas = |position_s, stream_mb_s| Reading {
        size_mb: FILE_MB,
        position_s,
        stream_mb_s,
    };
    let linear_s = a_file(&m8[0], FILES);
    claims(
        atlas(linear_s, drive(bench, LTO)?.rate_mb_s),
        atlas(rao_s, enterprise.rate_mb_s),
        ours,
    );
    Ok((m8, rao_s))
}

fn drive<'a>(bench: &'a Bench, name: &str) -> Result<&'a MeasuredDrive, PaperError> {
    let found = bench.facts.drive_table.get(name);
    found.ok_or_else(|| PaperError::from(format!("claims.toml has no drive {name}")))
}

fn recall(
    bench: &Bench,
    cartridge: &Cartridge,
    sizes: Sizes,
    orders: &[Contender],
) -> Result<Vec<Sample>, PaperError> {
    let case = Case {
        sizes,
        files: FILES,
        trials: bench.trials,
        seed: bench.seed,
    };
    case.run(cartridge, orders)
}

/// Mean positioning time for each file of a batch.
fn a_file(sample: &Sample, files: usize) -> f64 {
    sample.positioning_s.mean / files as f64
}

fn claims(lto: Reading, enterprise: Reading, ours: &mut Ours) {
    let doubled = lto.streaming_faster(2.0).rate_mb_s();
    let modelled = format!(
        "LINEAR on LTO-7 M8 by the regression: {:.1} s a file; 360 MB/s as in the slides",
        lto.position_s
    );
    ours.set("atlas-rate", lto.rate_mb_s(), modelled);
    ours.set("atlas-efficiency", lto.efficiency(), "the same");
    ours.set("atlas-doubled-stream", doubled, "the same, 720 MB/s");
    ours.set(
        "doubled-stream-gain",
        doubled / lto.rate_mb_s() - 1.0,
        "the same; their 42 and 44 give 5 %",
    );
    ours.set(
        "enterprise-rate",
        enterprise.rate_mb_s(),
        "the formula at their measured 7.7 s and 360 MB/s",
    );
}

/// "Avg file-to-file position time" of every drive, and of the models, as a rate.
fn drives(bench: &Bench, models: [(&str, &[Sample]); 2]) -> Result<Table, PaperError> {
    let lto = drive(bench, LTO)?;
    let mut table = Table::new(
        "Key points and impact: 150 files of 2 GB a tape, with and without recommended order",
        &[
            "drive",
            "order",
            "position s",
            "from",
            "stream MB/s",
            "MB/s",
            "efficiency",
            "at twice the stream MB/s",
            "gain %",
        ],
    );
    let mut row = |drive: &str, order: &str, position_s: f64, from: &str, stream_mb_s: f64| {
        let reading = Reading {
            size_mb: FILE_MB,
            position_s,
            stream_mb_s,
        };
        let doubled = reading.streaming_faster(2.0).rate_mb_s();
        table.row([
            drive.to_owned(),
            order.to_owned(),
            format!("{position_s:.1}"),
            from.to_owned(),
            format!("{stream_mb_s:.0}"),
            format!("{:.1}", reading.rate_mb_s()),
            format!("{:.3}", reading.efficiency()),
            format!("{doubled:.1}"),
            format!("{:.1}", (doubled / reading.rate_mb_s() - 1.0) * 100.0),
        ]);
    };
    for name in DRIVES {
        let drive = drive(bench, name)?;
        row(
            name,
            "LINEAR",
            drive.position_s,
            "measured",
            drive.rate_mb_s,
        );
        if let Some(rao_s) = drive.position_rao_s {
            row(name, "RAO", rao_s, "measured", drive.rate_mb_s);
        }
    }
    for (name, samples) in models {
        for sample in samples {
            let position_s = a_file(sample, FILES);
            row(
                name,
                sample.contender.name(),
                position_s,
                "model",
                lto.rate_mb_s,
            );
        }
    }
    let implied_s = FILE_MB / PRINTED_LTO_MB_S - FILE_MB / lto.rate_mb_s;
    table.note(format!(
        "The slides print {PRINTED_LTO_MB_S} MB/s for LTO: {implied_s:.1} s a file, where their own table of drives has {} s.",
        lto.position_s
    ));
    table.note("The slides stream M8 and LTO-8 media at 360 MB/s; IBM gives M8 media 300, as our profile lto7-m8 does.");
    Ok(table)
}

/// Larger tapes of smaller files: the share of positioning grows.
fn by_density(bench: &Bench, stream_mb_s: f64, rao_s: f64) -> Result<Table, PaperError> {
    let enterprise = format!("at {rao_s} s MB/s");
    let mut table = Table::new(
        "Impact: effective rate against files a tape, 150 files recalled from a full LTO-7 M8",
        &[
            "files a tape",
            "mean file MB",
            "LINEAR s",
            "MB/s",
            "efficiency",
            "SCAN s",
            "MB/s",
            "SLTF s",
            "MB/s",
            "best s",
            "MB/s",
            &enterprise,
        ],
    );
    for files in FILES_ON_TAPE {
        let samples = recall(
            bench,
            &bench.m8,
            Sizes::LogNormal {
                files,
                sigma: SIGMA,
            },
            &ORDERS,
        )?;
        let reading = |position_s| Reading {
            size_mb: bench.m8.capacity_mb() / files as f64,
            position_s,
            stream_mb_s,
        };
        let mut cells = vec![files.to_string(), format!("{:.0}", reading(0.0).size_mb)];
        for sample in &samples {
            let order = reading(a_file(sample, FILES));
            cells.push(format!("{:.1}", order.position_s));
            cells.push(format!("{:.1}", order.rate_mb_s()));
            if sample.contender == Contender::Linear {
                cells.push(format!("{:.3}", order.efficiency()));
            }
        }
        cells.push(format!("{:.1}", reading(rao_s).rate_mb_s()));
        table.row(cells);
    }
    table.note(format!(
        "s: positioning for each file. Sizes log-normal, sigma {SIGMA} (assumed). At {rao_s} s: a TS1155 in its own order."
    ));
    Ok(table)
}

/// Larger files, and faster streaming, with positioning as in the case of 150 files.
fn by_size(m8: &[Sample], stream_mb_s: f64, rao_s: f64) -> Table {
    let shown = |sample: &&Sample| sample.contender != Contender::Scan;
    let orders: Vec<(&str, f64)> = m8
        .iter()
        .filter(shown)
        .map(|sample| (sample.contender.name(), a_file(sample, FILES)))
        .chain([("RAO", rao_s)])
        .collect();
    let streams = [stream_mb_s, 2.0 * stream_mb_s];
    let mut headings = vec!["file MB".to_owned()];
    let mut positions = Vec::new();
    for (name, position_s) in &orders {
        headings.extend(streams.map(|stream| format!("{name}, {stream:.0}")));
        positions.push(format!("{name} {position_s:.1} s"));
    }
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let mut table = Table::new(
        "Impact: effective MB/s against file size, streaming at so many MB/s",
        &headings,
    );
    for size_mb in SIZES_MB {
        let cells = orders.iter().flat_map(|&(_, position_s)| {
            streams.map(|stream_mb_s| {
                let reading = Reading {
                    size_mb,
                    position_s,
                    stream_mb_s,
                };
                format!("{:.0}", reading.rate_mb_s())
            })
        });
        table.row([format!("{size_mb:.0}")].into_iter().chain(cells));
    }
    table.note(format!(
        "Positioning as for 150 files of 2 GB, kept at every size: {}.",
        positions.join(", ")
    ));
    table
}
