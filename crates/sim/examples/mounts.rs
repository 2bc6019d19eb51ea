//! Compares the mount policies on scenarios under common random numbers, as a table in Markdown.
//!
//! ```text
//! cargo run --release -p tapewise-sim --example mounts -- REPLICATIONS REQUESTS FACTORS SCENARIO ...
//! ```
//!
//! FACTORS are shares of the rate that the scenario states, with commas between them.

use std::error::Error;
use tapewise_model::{Micros, profile};
use tapewise_sim::library::{Part, Run, Site};
use tapewise_sim::mounts::MountPolicy;
use tapewise_sim::scenario::Arrivals;
use tapewise_sim::{Scenario, statistics};

/// A third of a replication is left out at its beginning, in which the library fills.
const WARM_UP: usize = 3;

/// What one policy did in one scenario, over all replications.
#[derive(Default)]
struct Figures {
    means_s: Vec<f64>,
    responses_s: Vec<f64>,
    mounts: f64,
    hours: f64,
    drive_hours: f64,
    robots: f64,
}

impl Figures {
    fn add(&mut self, run: &Run) {
        let after = run.answers.len() / WARM_UP;
        let responses = run.answers[after..].iter().map(|answer| answer.response);
        let responses: Vec<f64> = responses.map(Micros::as_secs_f64).collect();
        let mean = responses.iter().sum::<f64>() / responses.len() as f64;
        self.means_s.push(mean);
        self.responses_s.extend(responses);
        self.hours += run.duration.as_secs_f64() / 3600.0;
        for usage in &run.usage {
            let busy = usage.drive_time.total() - usage.drive_time[Part::RobotWait];
            self.drive_hours += busy.as_secs_f64() / 3600.0;
            self.mounts += usage.mounts as f64;
            self.robots += usage.robot_share(run.duration) / run.usage.len() as f64;
        }
    }

    fn quantile(&self, share: f64) -> f64 {
        self.responses_s[((self.responses_s.len() - 1) as f64 * share) as usize]
    }

    fn row(&mut self, name: &str, base: &[f64]) -> Result<String, Box<dyn Error>> {
        self.responses_s.sort_by(f64::total_cmp);
        let mean = statistics::Interval::of_mean(&self.means_s, 0.95)?;
        // Paired by replication, as every policy had the same requests.
        let ratios = self
            .means_s
            .iter()
            .zip(base)
            .map(|(mean, base)| mean / base);
        let ratios: Vec<f64> = ratios.collect();
        let ratio = statistics::Interval::of_mean(&ratios, 0.95)?;
        Ok(format!(
            "| {name} | {:.0} ± {:.0} | {:+.1} ± {:.1} % | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} % |",
            mean.estimate,
            mean.half_width,
            (ratio.estimate - 1.0) * 100.0,
            ratio.half_width * 100.0,
            self.quantile(0.5),
            self.quantile(0.95),
            self.quantile(0.99),
            self.quantile(1.0),
            self.mounts / self.hours,
            self.drive_hours,
            self.robots / self.means_s.len() as f64 * 100.0,
        ))
    }
}

fn scaled(scenario: &Scenario, factor: f64) -> Scenario {
    let mut scenario = scenario.clone();
    match &mut scenario.arrivals {
        Arrivals::Poisson { per_hour }
        | Arrivals::Renewal { per_hour, .. }
        | Arrivals::Daily { per_hour, .. } => *per_hour *= factor,
        Arrivals::Bursts {
            per_hour, a_day, ..
        } => {
            *per_hour *= factor;
            *a_day *= factor;
        }
        Arrivals::Closed { .. } | Arrivals::Trace { .. } => {}
    }
    scenario
}

fn table(scenario: &Scenario, factor: f64, replications: u64) -> Result<(), Box<dyn Error>> {
    let scenario = scaled(scenario, factor);
    let rate = Site::new(&scenario, profile::find).map(|site| site.per_hour());
    let rate = match rate {
        Ok(rate) => rate.unwrap_or(0.0),
        Err(error) => {
            println!("\n**{}**, {factor} of the rate: {error}", scenario.name);
            return Ok(());
        }
    };
    println!("\n**{}**, {rate:.0} requests an hour\n", scenario.name);
    println!(
        "| policy | mean s | against most-requests | median | p95 | p99 | longest | mounts/h | drive-hours | robots |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    );
    let mut found: Vec<(MountPolicy, Figures)> = Vec::new();
    for policy in MountPolicy::ALL {
        let mut scenario = scenario.clone();
        scenario.policy.mount = policy;
        let site = Site::new(&scenario, profile::find)?;
        let mut figures = Figures::default();
        for replication in 0..replications {
            figures.add(&site.run(replication)?);
        }
        found.push((policy, figures));
    }
    let most = found
        .iter()
        .find(|(policy, _)| *policy == MountPolicy::MostRequests);
    let base = most
        .map(|(_, figures)| figures.means_s.clone())
        .unwrap_or_default();
    for (policy, figures) in &mut found {
        println!("{}", figures.row(policy.name(), &base)?);
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let replications = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let requests: u64 = arguments.next().map_or(Ok(10_000), |text| text.parse())?;
    let factors = arguments.next().unwrap_or_else(|| "1".to_owned());
    let factors = factors.split(',').map(str::parse);
    let factors: Vec<f64> = factors.collect::<Result<_, _>>()?;
    for file in arguments {
        for mut scenario in Scenario::cases(&std::fs::read_to_string(file)?)? {
            scenario.requests = scenario.requests.min(requests);
            for &factor in &factors {
                table(&scenario, factor, replications)?;
            }
        }
    }
    Ok(())
}
