//! How far fitted models are off on made-up drives, as a table in Markdown.
//!
//! `cargo run --release -p tapewise-fit --example made_up_drives [RECORDS] [NOISE]` prints the table
//! of `docs/method/fitting.md`: 500 records and noise as it stands there unless told otherwise.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Drive, Landing, ground, scattered};
use std::time::Instant;
use tapewise_fit::{Candidate, compare};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let records = arguments
        .next()
        .map_or(500, |text| text.parse().expect("a number of records"));
    let noise_share = arguments
        .next()
        .map_or(0.0, |text| text.parse().expect("a share"));
    let even = |cells: f64| Drive::new(Landing::Even(cells, [0.3, 0.0]));
    let places = |points| Drive::new(scattered(points, 3));
    let middle = Landing::At(vec![0.5], vec![0.5]);
    let drives = [
        ("anywhere", Drive::new(Landing::Anywhere)),
        ("160, regular", even(160.0)),
        ("60, regular", even(60.0)),
        ("14, regular", even(14.0)),
        ("the middle only", Drive::new(middle)),
        ("6, scattered", places(6)),
        ("20, scattered", places(20)),
        ("40, scattered", places(40)),
        ("120, scattered", places(120)),
        (
            "60, shifted on each cartridge",
            Drive {
                jitter: 0.25 / 60.0,
                noise_share: 0.05,
                ..even(60.0)
            },
        ),
        (
            "60, retries",
            Drive {
                retries: 0.03,
                ..even(60.0)
            },
        ),
    ];
    println!(
        "| landing points of the drive | CERN's regression | ours | bulk | ours | floor | found | outliers | seconds |"
    );
    println!("|---|--:|--:|--:|--:|--:|---|--:|--:|");
    for (name, drive) in drives {
        let drive = Drive {
            noise_share: drive.noise_share.max(noise_share),
            ..drive
        };
        let log = drive.log(records, 10, 5);
        let started = Instant::now();
        let found = compare(&log, &ground()).expect("a fit");
        let [cern, ours] = [Candidate::LtoRegression, Candidate::LandingPoint]
            .map(|candidate| found.of(candidate).expect("a serpentine drive"));
        let noise = log.iter().map(|sample| {
            let exact = drive.time_s(&sample.from, &sample.to, sample.cartridge);
            (sample.time.as_secs_f64() - exact).powi(2)
        });
        let floor = (noise.sum::<f64>() / log.len() as f64).sqrt();
        let landed = ours.fitted.landed.as_ref().expect("landing points");
        println!(
            "| {name} | {:.2} | {:.2} | {:.2} | {:.2} | {floor:.2} | {}, {:?} | {} | {:.1} |",
            cern.overall.residual_s,
            ours.overall.residual_s,
            cern.overall.bulk_s,
            ours.overall.bulk_s,
            landed.structure.name(),
            landed.points,
            found.outliers,
            started.elapsed().as_secs_f64(),
        );
    }
}
