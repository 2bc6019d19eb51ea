//! The ten scenarios of the table.
//!
//! Windows are left out, as they lengthen every response, and arrivals over a day are Poisson at the
//! day's rate, except where the day is what a scenario is about. Nothing is cut off as warm-up, so that policies and the
//! bound see the same requests.

use super::Failure;
use tapewise_model::Random;
use tapewise_sim::Scenario;
use tapewise_sim::scenario::{Arrivals, Library, Listed};

/// A scenario of the table.
pub struct Case {
    pub name: String,
    /// At a rate, as a share of its own, for a replication.
    pub at: Box<dyn Fn(f64, u64) -> Scenario + Sync>,
    /// Whether some requests are more urgent than others.
    pub has_classes: bool,
}

/// Whether a library's drives have locate-time models.
pub fn is_modelled(library: &Library) -> bool {
    let mut drives = library.drives.iter();
    drives.all(|group| group.profile.is_some() && group.search_s.is_none())
}

/// All of them.
pub fn all() -> Result<Vec<Case>, Failure> {
    let file = |name: &str, text: &str, case: usize, requests: u64| -> Result<Case, Failure> {
        let mut scenario = Scenario::cases(text)?.swap_remove(case);
        scenario.requests = requests;
        scenario.policy.window_s = 0.0;
        if let Arrivals::Daily { per_hour, .. } = scenario.arrivals
            && !text.contains("# The day matters.")
        {
            scenario.arrivals = Arrivals::Poisson { per_hour };
        }
        Ok(Case {
            name: name.to_owned(),
            at: Box::new(move |factor, _| scaled(&scenario, factor)),
            has_classes: false,
        })
    };
    let mixed = include_str!("../../scenarios/mixed-site.toml");
    Ok(vec![
        file(
            "gniewek-1999",
            include_str!("../../scenarios/gniewek-1999.toml"),
            5,
            1000,
        )?,
        file(
            "nersc-2001",
            include_str!("../../scenarios/nersc-2001.toml"),
            0,
            1000,
        )?,
        file(
            "bank-1999",
            include_str!("../../scenarios/bank-1999.toml"),
            0,
            4000,
        )?,
        file(
            "data-carousel",
            include_str!("../../scenarios/data-carousel.toml"),
            2,
            4000,
        )?,
        file(
            "lto9-site",
            include_str!("../../scenarios/lto9-site.toml"),
            1,
            4000,
        )?,
        file(
            "dataset-carousel",
            include_str!("../../scenarios/dataset-carousel.toml"),
            0,
            4500,
        )?,
        file(
            "greedy-user",
            include_str!("../../scenarios/greedy-user.toml"),
            0,
            2500,
        )?,
        night(&Scenario::from_toml(mixed)?),
        file(
            "overload",
            include_str!("../../scenarios/overload.toml"),
            0,
            4000,
        )?,
        file(
            "failure-at-noon",
            include_str!("../../scenarios/failure-at-noon.toml"),
            0,
            12_000,
        )?,
    ])
}

/// The same with `factor` times as many requests an hour.
pub fn scaled(scenario: &Scenario, factor: f64) -> Scenario {
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

/// A night's batch of large files, asked for at once and not urgent, while people ask for small
/// ones: the library of `mixed-site`, from the evening on.
fn night(base: &Scenario) -> Case {
    const HOURS: f64 = 12.0;
    let base = base.clone();
    let at = move |factor: f64, replication: u64| {
        let mut random = Random::new(base.seed, 1_000_000 + replication);
        let mut scenario = base.clone();
        let cartridges: u32 = base.libraries[0]
            .cartridges
            .iter()
            .map(|group| group.count)
            .sum();
        let mut list = Vec::new();
        let mut ask =
            |at_s: f64, cartridge: u32, size_mb: f64, priority: u8, random: &mut Random| {
                list.push(Listed {
                    at_s,
                    library: 0,
                    cartridge,
                    place: random.unit(),
                    size_mb,
                    priority,
                    // The batch is one user's, and each person is another.
                    owner: if priority == 0 {
                        0
                    } else {
                        1 + random.below(30) as u32
                    },
                });
            };
        // One batch of eight files from each cartridge, an hour after the beginning.
        for _ in 0..(150.0 * factor) as u32 {
            let cartridge = random.below(cartridges.into()) as u32;
            for _ in 0..8 {
                ask(
                    3600.0 + 60.0 * random.unit(),
                    cartridge,
                    20_000.0,
                    0,
                    &mut random,
                );
            }
        }
        let mut at_s = 0.0;
        while at_s < HOURS * 3600.0 {
            at_s -= random.unit().ln() * 3600.0 / (120.0 * factor);
            let cartridge = random.below(cartridges.into()) as u32;
            ask(at_s, cartridge, 500.0, 1, &mut random);
        }
        list.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        scenario.requests = list.len() as u64;
        scenario.arrivals = Arrivals::Trace { list };
        scenario
    };
    Case {
        name: "night's batch and people".to_owned(),
        at: Box::new(at),
        has_classes: true,
    }
}
