//! The cases of a scenario file as a table: `cargo run --release --example scenario -- FILE`.

use std::time::Instant;
use tapewise_model::profile;
use tapewise_sim::library::Site;
use tapewise_sim::{Results, Scenario, Shard, Steady};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("which scenario file?")?;
    for scenario in Scenario::cases(&std::fs::read_to_string(file)?)? {
        let site = Site::new(&scenario, profile::find)?;
        let begun = Instant::now();
        let study = site.study(Shard::WHOLE)?;
        let speed = (study.replications * scenario.requests) as f64 / begun.elapsed().as_secs_f64();
        let results = Results::new(&scenario, &study)?;
        let band = |of: fn(&tapewise_sim::Summary) -> f64| {
            let mut values: Vec<f64> = study.summaries.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
            format!("{:.1} ({:.1} to {:.1})", at(0.5), at(0.025), at(0.975))
        };
        println!(
            "{}: mean {:.1} s ± {:.1}; one replication: mean {}, variance {}; {speed:.0} requests/s",
            scenario.name,
            results.mean_s.estimate,
            results.mean_s.half_width,
            band(|summary| summary.mean_s()),
            band(|summary| summary.variance_s2()),
        );
        if let Steady::Growing { .. } = results.steady {
            println!("    unstable, or too short to tell: {:?}", results.steady);
        }
        let percentiles = results.percentiles.iter();
        let percentiles = percentiles.map(|p| format!("p{} {:.1}", p.percent, p.s.estimate));
        println!("    {}", percentiles.collect::<Vec<_>>().join(", "));
        let parts = results.parts.iter();
        let parts = parts.map(|p| format!("{} {:.2}", p.part.name(), p.s.estimate));
        println!("    {}", parts.collect::<Vec<_>>().join(", "));
        for library in &results.libraries {
            println!(
                "    {}: drives {:.2} (at work {:.2}), robots {:.2}, {:.1} mounts an hour, {:.2} reads a mount",
                library.name,
                library.drives.estimate,
                library.drives_at_work.estimate,
                library.robots.estimate,
                library.mounts_per_hour.estimate,
                library.reads_per_mount.estimate,
            );
        }
        for slow in results.slowest.iter().take(3) {
            println!(
                "    {} after {}: {}",
                slow.response, slow.arrived, slow.cause
            );
        }
    }
    Ok(())
}
