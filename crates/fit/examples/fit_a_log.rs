//! Fits one log of a drive and prints what came of it: `fit_a_log LOG PROFILE [MAP]`.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use tapewise_fit::log::Records;
use tapewise_fit::{FitOptions, fit_records, fitted_profile};
use tapewise_formats::map_file::read_map;
use tapewise_model::profile;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let log = arguments.next().ok_or("which log?")?;
    let base = profile::find(&arguments.next().ok_or("which profile?")?)?;
    let map = arguments.next().map(File::open).transpose()?;
    let map = map.map(read_map).transpose()?;

    let mut records = Records::default();
    let read = records.read(&log, BufReader::new(File::open(&log)?), None);
    let read = read.map_err(|(_, error)| error)?;
    println!("{log}: {}, {} locates", read.kind.name(), read.moves);

    let options = FitOptions {
        map: map.as_ref(),
        ..FitOptions::default()
    };
    let found = fit_records(records, &base, options)?;
    let choice = found.comparison.choice();
    println!(
        "placed: {:?}; {}: {:.2} s on records held out, {:.1} % explained: {:?}",
        found.places,
        choice.candidate.name(),
        choice.overall.bulk_s,
        100.0 * choice.overall.bulk_r_squared,
        found.comparison.trust(),
    );
    println!("{}", fitted_profile(&base, &found, "fitted").summary);
    Ok(())
}
