//! The table of docs/method/next-mount-table.md: every mount policy on ten scenarios at four loads, with the same
//! requests, beside a bound that no schedule beats.
//!
//! ```text
//! cargo run --release -p tapewise-sim --example mounts -- [REPLICATIONS [PART_OF_A_NAME [LOAD [BOUNDED]]]]
//! ```
//!
//! BOUNDED is for how many replications a bound is computed, which takes longer than the policies: 2 by default.
//!
//! `make mounts` makes the whole table.

mod cases;
mod figures;

use cases::{Case, all};
use figures::{Bounds, Figures};
use rayon::prelude::*;
use std::error::Error;
use std::io::Write;
use tapewise_model::profile;
use tapewise_sim::Scenario;
use tapewise_sim::library::{Run, Site};
use tapewise_sim::mounts::MountPolicy;

type Failure = Box<dyn Error + Send + Sync>;

const LOADS: [f64; 4] = [0.5, 0.7, 0.85, 0.95];

/// A load is met this closely, or after so many trials as closely as it was.
const CLOSE: f64 = 0.01;
const TRIALS: u32 = 9;

/// The replication that loads are set with; the table has those from 0 on.
const PILOT: u64 = 1000;

fn with(scenario: &Scenario, policy: MountPolicy) -> Result<Site, Failure> {
    with_age(scenario, policy, 1.0)
}

/// The same where the weight of long waits is another.
fn with_age(scenario: &Scenario, policy: MountPolicy, age: f64) -> Result<Site, Failure> {
    let mut scenario = scenario.clone();
    scenario.policy.mount = policy;
    scenario.policy.rules.age = age;
    if policy == MountPolicy::Ahead && scenario.libraries.iter().all(cases::is_modelled) {
        scenario.policy.objective = "mean".to_owned();
    }
    Ok(Site::new(&scenario, profile::find)?)
}

/// The rate, as a share of the case's own, at which drives are this busy under `oldest`, or as nearly as can
/// be; and how busy they are.
fn factor(case: &Case, load: f64) -> Result<(f64, f64), Failure> {
    let (mut low, mut high): (f64, Option<f64>) = (0.0, None);
    let mut factor = 0.5;
    let mut nearest = (f64::INFINITY, 0.0, 0.0);
    for _ in 0..TRIALS {
        // Refused: more than could be read in any order.
        let busy = match with(&(case.at)(factor, PILOT), MountPolicy::Oldest) {
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

fn table(case: &Case, load: f64, replications: u64, bounded: u64) -> Result<String, Failure> {
    let (factor, busy) = factor(case, load)?;
    let scenario = |replication| (case.at)(factor, replication);
    let mut found: Vec<(MountPolicy, String, Figures)> = Vec::new();
    let classes = !scenario(0).what.priorities.is_empty() || case.has_classes;
    let patient = (MountPolicy::Ahead, 2.0);
    for (policy, age) in MountPolicy::ALL
        .map(|policy| (policy, 1.0))
        .into_iter()
        .chain([patient])
    {
        // Without classes of urgency it is `oldest`.
        if policy == MountPolicy::Priority && !classes {
            continue;
        }
        let runs = (0..replications).into_par_iter().map(|replication| {
            let site = with_age(&scenario(replication), policy, age)?;
            let alone = figures::alone(&site, replication);
            Ok((site.run(replication)?, alone))
        });
        let runs: Vec<(Run, _)> = runs.collect::<Result<_, Failure>>()?;
        let mut figures = Figures::default();
        runs.iter()
            .for_each(|(run, alone)| figures.add(run, alone.as_ref()));
        let name = policy.name();
        let name = if age == 1.0 {
            name.to_owned()
        } else {
            format!("{name}, age {age}")
        };
        found.push((policy, name, figures));
    }
    let of = |policy| {
        let mut rows = found.iter().filter(move |(of, ..)| *of == policy);
        rows.next()
            .map(|(.., figures)| figures.means_s.clone())
            .unwrap_or_default()
    };
    let (most, cta, ours) = (
        of(MountPolicy::MostRequests),
        of(MountPolicy::Cta),
        of(MountPolicy::Ahead),
    );
    let bounds = (0..replications.min(bounded))
        .into_par_iter()
        .map(|replication| {
            let site = with(&scenario(replication), MountPolicy::Ahead)?;
            Ok(Bounds::new(&site, replication, ours[replication as usize]))
        });
    let bounds = bounds.collect::<Result<Vec<Bounds>, Failure>>()?;
    let mut text = format!(
        "\n**{}**, load {busy:.2}: {:.0} requests an hour\n\n",
        case.name,
        found[0].2.per_hour()
    );
    text += figures::HEAD;
    for (_, name, figures) in &mut found {
        text += &figures.row(name, &most, &cta)?;
    }
    if !bounds.is_empty() {
        text += &figures::bound_row(&bounds, &ours)?;
    }
    Ok(text)
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let replications = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let part = arguments.next().unwrap_or_default();
    let only: Option<f64> = arguments.next().map(|text| text.parse()).transpose()?;
    let bounded = arguments.next().map_or(Ok(2), |text| text.parse())?;
    let mut out = std::io::stdout();
    for case in all()?.iter().filter(|case| case.name.contains(&part)) {
        for load in LOADS
            .into_iter()
            .filter(|load| only.is_none_or(|only| only == *load))
        {
            write!(out, "{}", table(case, load, replications, bounded)?)?;
            out.flush()?;
        }
    }
    Ok(())
}
