//! `tapewise library bench pattern`: who asks for what when.

use crate::error::CliError;
use crate::output;
use crate::quantity;
use std::path::PathBuf;
use tapewise_formats::bench_csv::write_pattern;
use tapewise_library::bench::pattern::{Terms, pattern};

/// Draw the requests of a benchmark: exponential gaps, cartridges in turn, random places.
///
/// Nothing moves. The same seed gives the same pattern on every machine. At another rate, the places
/// and the relative gaps stay the same, so that libraries can be compared.
#[derive(clap::Args, Debug)]
pub struct Pattern {
    /// Requests an hour, on average.
    #[arg(long, value_name = "PER_HOUR", value_parser = quantity::positive)]
    rate: f64,
    /// Number of requests. With fewer than 1000, chance affects the result.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = quantity::count_in::<u64>(1..=10_000_000))]
    requests: u64,
    /// Cartridges that are requested in turn. Use more than there are drives, or requests wait for each
    /// other.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = quantity::count_in::<u32>(1..=65_535))]
    cartridges: u32,
    /// Seed that chooses gaps and places.
    #[arg(long, default_value_t = 1, value_parser = quantity::count::<u64>)]
    seed: u64,
    /// Write the pattern, as CSV, to this file; `-` is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

/// Runs the verb.
pub fn run(args: &Pattern) -> Result<(), CliError> {
    // Chance may stretch a pattern; it ends within the year that one may last.
    let hours = args.requests as f64 / args.rate;
    if !args.rate.is_finite() || args.rate <= 0.0 || hours > 1000.0 {
        let what = format!(
            "--rate {:?}: {} requests would take {}",
            args.rate,
            args.requests,
            crate::units::time(hours * 3600.0)
        );
        return Err(
            CliError::input(what).hint("give a rate above 0, and requests for 1000 hours at most")
        );
    }
    let pattern = pattern(Terms {
        per_hour: args.rate,
        requests: args.requests,
        cartridges: args.cartridges,
        seed: args.seed,
    });
    let path = (args.output.as_os_str() != "-").then_some(args.output.as_path());
    output::write(path, |out| {
        let mut out = out;
        write_pattern(&mut out, &pattern).map_err(CliError::failed)
    })
}
