//! Requests as they come: when, and what each asks for.

use super::site::Site;
use super::weights::weighted;
use crate::distribution::Distribution;
use crate::scenario::{Arrivals, Cache, CartridgePick, PlacePick};
use crate::stream::{Purpose, stream};
use tapewise_model::{Micros, Random};

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wanted {
    pub library: u16,
    /// Within its library.
    pub cartridge: u32,
    /// As a share of what is written.
    pub place: f64,
    pub size_mb: f64,
    pub priority: u8,
    pub owner: u32,
    /// Whether a cache of a stated share of hits has it.
    pub on_disk: bool,
}

/// The requests of one replication, in order of arrival.
pub(super) struct Demand<'a> {
    site: &'a Site,
    clock: Clock<'a>,
    gaps: Random,
    libraries: Random,
    cartridges: Random,
    places: Random,
    sizes: Random,
    priorities: Random,
    cache: Random,
    owners: Random,
    /// Whether the request that comes next belongs to a burst.
    of_burst: bool,
    /// The cartridge that each library was last asked for, for runs and turns.
    last: Vec<Option<u32>>,
    taken: usize,
}

/// When the next request comes.
enum Clock<'a> {
    Gaps(Distribution),
    Daily {
        peak_gap: Distribution,
        acceptance: Vec<f64>,
    },
    Bursts {
        /// Next of the stream below, next beginning of a burst, in seconds.
        next: [f64; 2],
        gaps: [Distribution; 3],
        /// Next request and requests left of each burst that is on.
        running: Vec<(f64, u64)>,
        size: u64,
    },
    Closed,
    Trace(&'a [crate::scenario::Listed]),
}

const HOUR_S: f64 = 3600.0;
const DAY_S: f64 = 24.0 * HOUR_S;

impl<'a> Demand<'a> {
    pub(super) fn new(site: &'a Site, replication: u64) -> Demand<'a> {
        let random = |purpose| stream(site.seed(), replication, purpose);
        let mut gaps = random(Purpose::Arrivals);
        let poisson = |per_hour: f64| Distribution::with_variation(HOUR_S / per_hour, 1.0);
        let clock = match &site.scenario.arrivals {
            Arrivals::Poisson { per_hour } => Clock::Gaps(poisson(*per_hour)),
            Arrivals::Renewal { per_hour, cv } => {
                Clock::Gaps(Distribution::with_variation(HOUR_S / per_hour, *cv))
            }
            Arrivals::Daily { per_hour, shape } => {
                let peak = shape.iter().copied().fold(0.0, f64::max);
                let mean = shape.iter().sum::<f64>() / shape.len() as f64;
                Clock::Daily {
                    peak_gap: poisson(per_hour * peak / mean),
                    acceptance: shape.iter().map(|weight| weight / peak).collect(),
                }
            }
            Arrivals::Bursts {
                per_hour,
                a_day,
                size,
                burst_per_hour,
            } => {
                let gap = [*per_hour, a_day / 24.0, *burst_per_hour].map(poisson);
                let next = [gap[0].sample(&mut gaps), gap[1].sample(&mut gaps)];
                Clock::Bursts {
                    next,
                    gaps: gap,
                    running: Vec::new(),
                    size: *size,
                }
            }
            Arrivals::Closed { .. } => Clock::Closed,
            Arrivals::Trace { list } => Clock::Trace(list),
        };
        Demand {
            site,
            clock,
            gaps,
            libraries: random(Purpose::Libraries),
            cartridges: random(Purpose::Cartridges),
            places: random(Purpose::Places),
            sizes: random(Purpose::Sizes),
            priorities: random(Purpose::Priorities),
            cache: random(Purpose::Cache),
            owners: random(Purpose::Owners),
            of_burst: false,
            last: vec![None; site.scenario.libraries.len()],
            taken: 0,
        }
    }

    /// When the next request comes, if requests come by themselves.
    pub(super) fn next_arrival(&mut self, now: Micros) -> Option<Micros> {
        let random = &mut self.gaps;
        match &mut self.clock {
            Clock::Gaps(gap) => Some(now + gap.time(random)),
            Clock::Daily {
                peak_gap,
                acceptance,
            } => {
                let mut at = now.as_secs_f64();
                loop {
                    at += peak_gap.sample(random);
                    let part = (at % DAY_S / DAY_S * acceptance.len() as f64) as usize;
                    if random.unit() < acceptance[part.min(acceptance.len() - 1)] {
                        return Some(Micros::from_secs_f64(at));
                    }
                }
            }
            Clock::Bursts {
                next,
                gaps,
                running,
                size,
            } => loop {
                let soonest = (0..running.len())
                    .min_by(|&a, &b| running[a].0.total_cmp(&running[b].0))
                    .filter(|&burst| running[burst].0 <= next[0].min(next[1]));
                if let Some(burst) = soonest {
                    let (at, left) = running[burst];
                    match left {
                        1 => drop(running.swap_remove(burst)),
                        _ => running[burst] = (at + gaps[2].sample(random), left - 1),
                    }
                    self.of_burst = true;
                    return Some(Micros::from_secs_f64(at));
                }
                if next[0] <= next[1] {
                    let at = next[0];
                    next[0] += gaps[0].sample(random);
                    self.of_burst = false;
                    return Some(Micros::from_secs_f64(at));
                }
                running.push((next[1], *size));
                next[1] += gaps[1].sample(random);
            },
            Clock::Closed => None,
            Clock::Trace(list) => list
                .get(self.taken)
                .map(|listed| Micros::from_secs_f64(listed.at_s)),
        }
    }

    /// How long a user thinks before the next request, where users wait for answers.
    pub(super) fn think(&mut self) -> Option<Micros> {
        match &self.site.scenario.arrivals {
            Arrivals::Closed { think_s, .. } => Some(think_s.time(&mut self.gaps)),
            _ => None,
        }
    }

    /// What the request that comes now asks for.
    pub(super) fn take(&mut self) -> Wanted {
        let number = self.taken;
        self.taken += 1;
        let hit_share = match &self.site.scenario.cache {
            Some(Cache {
                hit_share: Some(share),
                ..
            }) => *share,
            _ => 0.0,
        };
        let on_disk = hit_share > 0.0 && self.cache.unit() < hit_share;
        if let Clock::Trace(list) = &self.clock
            && let Some(listed) = list.get(number)
        {
            return Wanted {
                library: listed.library as u16,
                cartridge: listed.cartridge,
                place: listed.place,
                size_mb: listed.size_mb,
                priority: listed.priority,
                owner: listed.owner,
                on_disk,
            };
        }
        let library = weighted(&self.site.library_weights, &mut self.libraries);
        let what = &self.site.scenario.what;
        let cartridge = self.cartridge(library);
        Wanted {
            library: library as u16,
            cartridge,
            place: self.place(),
            size_mb: what.size_mb.sample(&mut self.sizes),
            priority: if what.priorities.is_empty() {
                0
            } else {
                let class = weighted(&self.site.priority_weights, &mut self.priorities);
                what.priorities[class].priority
            },
            owner: match what.owners {
                0 | 1 => 0,
                _ if self.of_burst => 0,
                owners => 1 + self.owners.below(owners.into()) as u32,
            },
            on_disk,
        }
    }

    fn cartridge(&mut self, library: usize) -> u32 {
        let count = self.site.halls[library].cartridges.len() as u32;
        let random = &mut self.cartridges;
        let last = self.last[library];
        let next = match self.site.scenario.what.cartridges {
            CartridgePick::Uniform => random.below(count.into()) as u32,
            CartridgePick::Zipf { .. } => {
                weighted(&self.site.halls[library].popularity, random) as u32
            }
            CartridgePick::Clustered { run } => {
                let stay = random.unit() >= 1.0 / run;
                let other = random.below(count.into()) as u32;
                last.filter(|_| stay).unwrap_or(other)
            }
            CartridgePick::InTurn => last.map_or(0, |last| (last + 1) % count),
        };
        self.last[library] = Some(next);
        next
    }

    fn place(&mut self) -> f64 {
        let random = &mut self.places;
        let middle = |part: u64, parts: u32| (part as f64 + 0.5) / f64::from(parts);
        match self.site.scenario.what.places {
            PlacePick::Uniform => random.unit(),
            PlacePick::Steps { count } => middle(random.below(count.into()), count),
            PlacePick::Zipf { parts, .. } => {
                middle(weighted(&self.site.place_weights, random) as u64, parts)
            }
        }
    }
}
