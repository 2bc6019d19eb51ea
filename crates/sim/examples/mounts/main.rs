//! The tables of docs/method/next-mount.md: every mount policy on ten scenarios at four loads, with the same requests,
//! beside a bound that no schedule beats.
//!
//! ```text
//! cargo run --release -p tapewise-sim --example mounts -- DIRECTORY [REPLICATIONS [PART_OF_A_NAME [LOAD [BOUNDED]]]]
//! ```
//!
//! With the one argument `owners`, and a part of a table's name, it prints what the rules for owners bring and cost.
//!
//! Writes `mounts.md` and `mounts.csv` into the directory. BOUNDED is for how many replications a bound is computed,
//! 2 by default, as it takes longer than the policies. `make mounts` makes the whole.

mod cases;
mod figures;
mod owners;

use cases::{Case, all};
use figures::{Bounds, Figures};
use rayon::prelude::*;
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use tapewise_model::profile;
use tapewise_sim::Scenario;
use tapewise_sim::library::{Run, Site};
use tapewise_sim::mounts::MountPolicy;
use tapewise_sim::scenario::Arrivals;

type Failure = Box<dyn Error + Send + Sync>;

const LOADS: [f64; 4] = [0.85, 0.95, 0.7, 0.5];

/// A load is met this closely, or after so many trials as closely as it was.
const CLOSE: f64 = 0.01;
const TRIALS: u32 = 9;

/// How much longer the replication is that loads are set with: neither its beginning nor its end counts.
const LONGER: u64 = 8;

/// The replication that loads are set with; the table has those from 0 on.
const PILOT: u64 = 1000;

fn with(scenario: &Scenario, policy: MountPolicy) -> Result<Site, Failure> {
    let mut scenario = scenario.clone();
    scenario.policy.mount = policy;
    if policy == MountPolicy::Ahead && scenario.libraries.iter().all(cases::is_modelled) {
        scenario.policy.objective = "mean".to_owned();
    }
    Ok(Site::new(&scenario, profile::find)?)
}

/// The rate, as a share of the case's own, at which drives are this busy under `oldest` in a long replication without
/// failures, or as nearly as can be; and how busy they are.
fn factor(case: &Case, load: f64) -> Result<(f64, f64), Failure> {
    let (mut low, mut high): (f64, Option<f64>) = (0.0, None);
    let mut factor = 0.5;
    let mut nearest = (f64::INFINITY, 0.0, 0.0);
    for _ in 0..TRIALS {
        let mut scenario = (case.at)(factor, PILOT);
        if !matches!(scenario.arrivals, Arrivals::Trace { .. }) {
            scenario.requests *= LONGER;
        }
        let groups = (scenario.libraries.iter_mut()).flat_map(|library| &mut library.drives);
        groups.for_each(|group| group.failures = None);
        // Refused: more than could be read in any order.
        let busy = match with(&scenario, MountPolicy::Oldest) {
            Ok(site) => Some(figures::busy_share(&site.run(PILOT)?)),
            Err(_) => None,
        };
        let off = busy.map_or(f64::INFINITY, |busy| (busy - load).abs());
        if off < nearest.0 {
            nearest = (off, factor, busy.unwrap_or(0.0));
        }
        if off < CLOSE {
            break;
        }
        if busy.is_some_and(|busy| busy < load) {
            low = factor;
        } else {
            high = Some(factor);
        }
        factor = high.map_or(2.0 * factor, |high| (low + high) / 2.0);
    }
    Ok((nearest.1, nearest.2))
}

/// The lines of one scenario at one load, for the tables and for the file.
fn table(case: &Case, load: f64, replications: u64, bounded: u64) -> Result<[String; 2], Failure> {
    let (factor, busy) = factor(case, load)?;
    let scenario = |replication| (case.at)(factor, replication);
    let classes = !scenario(0).what.priorities.is_empty() || case.has_classes;
    // Without classes of urgency it is `oldest`.
    let policies = MountPolicy::ALL.into_iter();
    let policies = policies.filter(|policy| *policy != MountPolicy::Priority || classes);
    let mut found: Vec<(MountPolicy, Figures)> = Vec::new();
    let mut per_hour = 0.0;
    for policy in policies {
        let runs = (0..replications).into_par_iter().map(|replication| {
            let site = with(&scenario(replication), policy)?;
            let alone = figures::alone(&site, replication);
            Ok((site.run(replication)?, alone))
        });
        let runs: Vec<(Run, _)> = runs.collect::<Result<_, Failure>>()?;
        let mut figures = Figures::default();
        runs.iter()
            .for_each(|(run, alone)| figures.add(run, alone.as_ref()));
        per_hour = runs
            .iter()
            .map(|(run, _)| figures::per_hour(run))
            .sum::<f64>()
            / replications as f64;
        found.push((policy, figures));
    }
    let of = |policy| {
        let figures = found.iter().find(|(of, _)| *of == policy);
        figures.map_or(Vec::new(), |(_, figures)| figures.means_s.clone())
    };
    let [most, cta, ours] = [
        MountPolicy::MostRequests,
        MountPolicy::Cta,
        MountPolicy::Ahead,
    ]
    .map(of);
    let bounds = (0..replications.min(bounded))
        .into_par_iter()
        .map(|replication| {
            let site = with(&scenario(replication), MountPolicy::Ahead)?;
            Ok(Bounds::new(&site, replication, ours[replication as usize]))
        });
    let bounds = bounds.collect::<Result<Vec<Bounds>, Failure>>()?;
    let name = &case.name;
    let mut text = format!(
        "\n**{name}**, load {busy:.2}: {per_hour:.0} requests an hour\n\n{}",
        figures::HEAD
    );
    let mut csv = String::new();
    let mut add = |[line, numbers]: [String; 2]| {
        text += &line;
        if !numbers.is_empty() {
            csv += &format!("{load},{name},{busy:.2},{per_hour:.0},{numbers}");
        }
    };
    for (policy, figures) in &mut found {
        add(figures.row(policy.name(), &most, &cta)?);
    }
    add(figures::bound_row(&bounds, &ours)?);
    Ok([text, csv])
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().ok_or("where to write?")?;
    if first == "owners" {
        return owners::tables(&arguments.next().unwrap_or_default(), 101..=108);
    }
    let directory = PathBuf::from(first);
    let replications = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let part = arguments.next().unwrap_or_default();
    let only: Option<f64> = arguments.next().map(|text| text.parse()).transpose()?;
    let bounded = arguments.next().map_or(Ok(2), |text| text.parse())?;
    let mut tables = File::create(directory.join("mounts.md"))?;
    let mut file = File::create(directory.join("mounts.csv"))?;
    file.write_all(figures::CSV_HEAD.as_bytes())?;
    let loads = || {
        LOADS
            .into_iter()
            .filter(|load| only.is_none_or(|only| only == *load))
    };
    for load in loads() {
        writeln!(tables, "\n## Load {load}")?;
        for case in all()?.iter().filter(|case| case.name.contains(&part)) {
            let [text, csv] = table(case, load, replications, bounded)?;
            tables.write_all(text.as_bytes())?;
            file.write_all(csv.as_bytes())?;
        }
    }
    Ok(())
}
