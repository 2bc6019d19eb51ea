//! RANDOM, LINEAR, SCAN and SLTF over batches of 10 to 500 files ("Traversal algorithm", "Results
//! so far").
//!
//! The slides do not say how many files their tapes held, nor of what sizes. Ours hold 20,000, as
//! many as the slides expect of tapes to come, of log-normal sizes; other tapes are shown beside.

use super::Bench;
use super::orders::{BEST_EVERY, Case, Contender, Sample};
use super::workload::{Cartridge, FILE_MB, SIGMA, Sizes};
use crate::PaperError;
use crate::claims::Ours;
use tapewise_order::Plan;
use tapewise_plot::{Drawn, Figure, Panel, Table, head_paths};

/// Files of a batch (Traversal algorithm I).
pub const BATCHES: [usize; 5] = [10, 50, 100, 200, 500];

/// "From 5K files / tape to > 20K files / tape" (Impact).
pub const FILES_ON_TAPE: usize = 20_000;

/// The tapes that batches are drawn from.
pub const TAPES: Sizes = Sizes::LogNormal {
    files: FILES_ON_TAPE,
    sigma: SIGMA,
};

/// Files of the head paths (Traversal algorithm II), and how many lie between two rows.
const PATH_FILES: usize = 200;
const PATH_STEP: usize = 20;

/// Orders of the head paths: those of the slides, and ours.
const PATHS: [Contender; 5] = [
    Contender::Random,
    Contender::Linear,
    Contender::Scan,
    Contender::Sltf,
    Contender::Best,
];

/// Samples by batch, in the order of [`BATCHES`].
type Study = Vec<(usize, Vec<Sample>)>;

/// The comparison, the head paths, and the same for other tapes; sets the claims of the results.
pub fn tables(bench: &Bench, ours: &mut Ours) -> Result<(Vec<Table>, Vec<Drawn>), PaperError> {
    let study = run(bench, &bench.m8, TAPES, &Contender::ALL)?;
    claims(&study, ours);
    let mut figures = results(&study)?;
    let (paths, drawn) = paths(bench)?;
    figures.push(drawn);
    let mut tables = vec![comparison(bench, &study), paths];
    tables.extend(other_tapes(bench, study)?);
    Ok((tables, figures))
}

/// The slides' results as pictures: positioning time and tape moved by the number of files.
fn results(study: &Study) -> Result<Vec<Drawn>, PaperError> {
    type Value = fn(&Sample, f64) -> f64;
    let pictures: [(&str, &str, &str, Value); 2] = [
        (
            "results-time",
            "Results: mean positioning time for each file, LTO-7 M8",
            "positioning for each file, s",
            |sample, files| sample.positioning_s.mean / files,
        ),
        (
            "results-distance",
            "Results: tape moved, LTO-7 M8",
            "tape moved, km",
            |sample, _| sample.moved_km.mean,
        ),
    ];
    let mut drawn = Vec::new();
    for (name, title, up, value) in pictures {
        let mut figure = Figure::new(name, title, "files recalled", up).doubling();
        for contender in PATHS {
            let places = study.iter().map(|(files, samples)| {
                let files = *files as f64;
                (files, value(of(samples, contender), files))
            });
            figure = figure.line(contender.name(), places);
        }
        drawn.push(figure.draw()?);
    }
    Ok(drawn)
}

/// What the gated claims rest on.
pub fn gated(bench: &Bench, ours: &mut Ours) -> Result<(), PaperError> {
    let contenders = [Contender::Linear, Contender::Sltf, Contender::Scan];
    claims(&run(bench, &bench.m8, TAPES, &contenders)?, ours);
    Ok(())
}

fn run(
    bench: &Bench,
    cartridge: &Cartridge,
    sizes: Sizes,
    contenders: &[Contender],
) -> Result<Study, PaperError> {
    let batch = |files| {
        let case = Case {
            sizes,
            files,
            trials: bench.trials,
            seed: bench.seed,
        };
        Ok((files, case.run(cartridge, contenders)?))
    };
    BATCHES.into_iter().map(batch).collect()
}

fn of(samples: &[Sample], contender: Contender) -> &Sample {
    let found = samples.iter().find(|sample| sample.contender == contender);
    found.expect("every study runs the orders it is asked about")
}

/// Positioning time of one order over that of another.
fn time_ratio(samples: &[Sample], over: Contender, under: Contender) -> f64 {
    of(samples, over).positioning_s.mean / of(samples, under).positioning_s.mean
}

fn moved_ratio(samples: &[Sample], under: Contender) -> f64 {
    of(samples, Contender::Linear).moved_km.mean / of(samples, under).moved_km.mean
}

/// The claims of the speed-up, by the number of files.
const SPEEDUPS: [(usize, &str); 5] = [
    (10, "sltf-speedup-10"),
    (50, "sltf-speedup-50"),
    (100, "sltf-speedup-100"),
    (200, "sltf-speedup-200"),
    (500, "sltf-speedup-500"),
];

fn claims(study: &Study, ours: &mut Ours) {
    let mut least_moved = f64::INFINITY;
    let mut each = Vec::new();
    for ((files, samples), (_, id)) in study.iter().zip(SPEEDUPS) {
        let speedup = time_ratio(samples, Contender::Linear, Contender::Sltf);
        ours.set(
            id,
            speedup,
            "the slides' regression; tapes assumed, nothing fitted",
        );
        let [sltf, scan] =
            [Contender::Sltf, Contender::Scan].map(|under| moved_ratio(samples, under));
        least_moved = least_moved.min(sltf).min(scan);
        each.push(format!("{files}: SLTF {sltf:.1}, SCAN {scan:.1}"));
    }
    let how = format!("all motion; {}", each.join("; "));
    ours.set("traversal-reduction", least_moved, how);
}

fn comparison(bench: &Bench, study: &Study) -> Table {
    let mut table = Table::new(
        format!(
            "Results: positioning time and tape moved, LTO-7 M8, {} batches each",
            bench.trials
        ),
        &[
            "files",
            "order",
            "time s",
            "sd",
            "s a file",
            "LINEAR/",
            "moved km",
            "sd",
            "LINEAR/",
            "between reads km",
            "LINEAR/",
        ],
    );
    for (files, samples) in study {
        let linear = of(samples, Contender::Linear);
        for sample in samples {
            let km = [sample.moved_km.mean, sample.positioning_km.mean];
            table.row([
                files.to_string(),
                sample.contender.name().to_owned(),
                format!("{:.0}", sample.positioning_s.mean),
                format!("{:.0}", sample.positioning_s.sd),
                format!("{:.1}", sample.positioning_s.mean / *files as f64),
                format!(
                    "{:.2}",
                    linear.positioning_s.mean / sample.positioning_s.mean
                ),
                format!("{:.2}", km[0]),
                format!("{:.2}", sample.moved_km.sd),
                format!("{:.1}", linear.moved_km.mean / km[0]),
                format!("{:.2}", km[1]),
                format!("{:.1}", linear.positioning_km.mean / km[1]),
            ]);
        }
    }
    table.note("LINEAR/: LINEAR over this order. sd: of one batch. Whole files, from the beginning of tape, no rewind, no reading over gaps.");
    table.note(format!(
        "Assumed: full tapes of {FILES_ON_TAPE} log-normal files (sigma {SIGMA}), a new one for each batch, files drawn evenly."
    ));
    table.note("CTA's SLTF: its own cost and middle of the tape; in windows: as it runs, 80 GB at a time. Priced like the rest.");
    table.note(format!(
        "tapewise best: the mean of every {BEST_EVERY}th batch."
    ));
    table.note(scan_against_sltf(study));
    table
}

/// Where SCAN is ahead of SLTF, which the slides call the fastest.
fn scan_against_sltf(study: &Study) -> String {
    let ahead: Vec<String> = study
        .iter()
        .map(|(files, s)| (files, time_ratio(s, Contender::Scan, Contender::Sltf)))
        .filter(|(_, ratio)| *ratio < 1.0)
        .map(|(files, ratio)| format!("at {files} files by {:.1} %", (1.0 - ratio) * 100.0))
        .collect();
    match ahead.as_slice() {
        [] => "SLTF is the fastest of their four at every size, as the slides say.".to_owned(),
        ahead => format!(
            "The slides call SLTF the fastest of their four; here SCAN is ahead {}.",
            ahead.join(", ")
        ),
    }
}

/// Where the head stands after every so many files of one batch.
fn paths(bench: &Bench) -> Result<(Table, Drawn), PaperError> {
    let case = Case {
        sizes: TAPES,
        files: PATH_FILES,
        trials: 1,
        seed: bench.seed,
    };
    let problem = case.batch(&bench.m8, 0)?;
    let (length, lpos_min) = bench.m8.wrap();
    let mut columns = vec!["files read".to_owned()];
    let mut walks = Vec::new();
    let plans = PATHS.map(|contender| Plan::new(&problem, contender.order(&problem)));
    for (contender, plan) in PATHS.iter().zip(&plans) {
        columns.push(format!("{} at %", contender.name()));
        columns.push("km".to_owned());
        walks.push(walk(plan));
    }
    let panels = [0, 1, 2, 3, 4].map(|at: usize| Panel {
        title: PATHS[at].name().to_owned(),
        plan: &plans[at],
    });
    let title = "Traversal algorithm (II): 200 files of one LTO-7 M8 tape";
    let drawn = Drawn {
        name: "head-paths".to_owned(),
        svg: head_paths(&panels, &problem.tape().geometry, title),
    };
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new(
        "Traversal algorithm (II): the same 200 files of one tape, where the head is and how far the tape has moved",
        &columns,
    );
    for read in (PATH_STEP..=PATH_FILES).step_by(PATH_STEP) {
        let cells = walks.iter().flat_map(|walk| {
            let (lpos, moved) = walk[read - 1];
            let share = f64::from(lpos - lpos_min) / f64::from(length);
            let km = moved as f64 * bench.m8.metres_per_lpos / 1e3;
            [format!("{:.0}", share * 100.0), format!("{km:.2}")]
        });
        table.row([read.to_string()].into_iter().chain(cells));
    }
    table.note("at %: place along the tape from its beginning. `tapewise order --plot` draws the path of any batch.");
    Ok((table, drawn))
}

/// After each read: the place of the head, and all motion so far in LPOS units.
fn walk(plan: &Plan) -> Vec<(u32, u64)> {
    let mut moved = 0;
    let mut places = Vec::new();
    for step in &plan.steps {
        moved += u64::from(step.from.lpos.abs_diff(step.to.lpos));
        if step.action == tapewise_order::Action::Read {
            places.push((step.to.lpos, moved));
        }
    }
    places
}

/// How far the two findings depend on the tapes assumed, and on the drive.
fn other_tapes(bench: &Bench, base: Study) -> Result<[Table; 2], PaperError> {
    const ORDERS: [Contender; 3] = [Contender::Linear, Contender::Scan, Contender::Sltf];
    let wide = Sizes::LogNormal {
        files: FILES_ON_TAPE,
        sigma: 2.0 * SIGMA,
    };
    let equal = Sizes::Equal(bench.m8.capacity_mb() / FILES_ON_TAPE as f64);
    let large = Sizes::Equal(FILE_MB);
    let rows = [
        ("LTO-7 M8, as above", base),
        ("LTO-7 M8, sigma 2", run(bench, &bench.m8, wide, &ORDERS)?),
        (
            "LTO-7 M8, of one size",
            run(bench, &bench.m8, equal, &ORDERS)?,
        ),
        (
            "LTO-7 M8, files of 2 GB",
            run(bench, &bench.m8, large, &ORDERS)?,
        ),
        (
            "LTO-8 (transferred)",
            run(bench, &bench.lto8, TAPES, &ORDERS)?,
        ),
    ];
    let table = |title: &str, over, under| {
        let counts: Vec<String> = BATCHES.iter().map(usize::to_string).collect();
        let columns: Vec<&str> = ["tapes"]
            .into_iter()
            .chain(counts.iter().map(String::as_str))
            .collect();
        let mut table = Table::new(title, &columns);
        for (name, study) in &rows {
            let ratios = study
                .iter()
                .map(|(_, samples)| time_ratio(samples, over, under));
            let cells = ratios.map(|ratio| format!("{ratio:.2}"));
            table.row([(*name).to_owned()].into_iter().chain(cells));
        }
        table
    };
    let mut speedup = table(
        "Positioning time, LINEAR over SLTF, by files recalled",
        Contender::Linear,
        Contender::Sltf,
    );
    speedup.note("The slides say 2.5 to 3.");
    let mut scan = table(
        "Positioning time, SCAN over SLTF, by files recalled",
        Contender::Scan,
        Contender::Sltf,
    );
    scan.note("Below 1 SCAN is the faster.");
    Ok([speedup, scan])
}
