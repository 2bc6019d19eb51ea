//! Refuses what parses but cannot be.

use super::{
    Arrivals, CartridgePick, Dismount, Library, Listed, PlacePick, Policy, Requests, Scenario,
    ScenarioError,
};
use tapewise_order::Algorithm;

/// A key and what is wrong with its value.
type Fault = (String, String);

/// More would not fit in memory with everything that is known of each.
const MOST_REQUESTS: u64 = 5_000_000;

/// Drives of a library are counted in 16 bits.
const MOST_DRIVES: u64 = 10_000;

/// The drives of each are counted at every decision.
const MOST_OWNERS: u64 = 100_000;

/// Libraries are counted in 16 bits.
const MOST_LIBRARIES: u64 = 10_000;

/// Cartridges of all libraries are counted in 32 bits, and kept in memory.
const MOST_CARTRIDGES: u64 = 10_000_000;

pub(super) fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    scale(scenario)
        .and_then(|()| arrivals(scenario))
        .and_then(|()| requests(&scenario.what))
        .and_then(|()| policy(&scenario.policy))
        .and_then(|()| libraries(scenario))
        .map_err(|(key, reason)| ScenarioError::Value {
            scenario: scenario.name.clone(),
            key,
            reason,
        })
}

fn fault<T>(key: impl Into<String>, reason: impl Into<String>) -> Result<T, Fault> {
    Err((key.into(), reason.into()))
}

/// Refuses what is not above zero.
fn positive(key: &str, value: f64) -> Result<(), Fault> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        fault(key, format!("is {value:?}; it must be above 0"))
    }
}

/// A request every few microseconds, which is how exact the clock is.
pub(crate) const MOST_PER_HOUR: f64 = 1e9;

/// A thousand years: the clock counts microseconds, and ends after some 300,000 years.
const LONGEST_H: f64 = 1e7;

/// Refuses what is no rate of requests.
fn per_hour(key: &str, value: f64) -> Result<(), Fault> {
    positive(key, value)?;
    if value > MOST_PER_HOUR {
        return fault(key, format!("is {value:?}; at most {MOST_PER_HOUR}"));
    }
    Ok(())
}

/// Refuses what is no rate, and a rate at which the scenario's requests take more than a thousand years to arrive.
fn per_hour_of(scenario: &Scenario, value: f64) -> Result<(), Fault> {
    let key = "arrivals.per_hour";
    per_hour(key, value)?;
    let least = scenario.requests as f64 / LONGEST_H;
    if value < least {
        return fault(
            key,
            format!(
                "is {value:?}; at least {least}, or {} requests take more than a thousand years",
                scenario.requests
            ),
        );
    }
    Ok(())
}

/// A longer window is a mistake, and formulas would draw every request that falls into it.
const LONGEST_WINDOW_S: f64 = 365.0 * 86_400.0;

/// The first drives read faster, and at less the clock of a long wrap would overflow; no drive reads a terabyte a second.
const RATES_MB_S: std::ops::RangeInclusive<f64> = 0.05..=1e6;

/// Refuses what is below zero.
fn not_negative(key: &str, value: f64) -> Result<(), Fault> {
    if value.is_finite() && value >= 0.0 {
        Ok(())
    } else {
        fault(key, format!("is {value:?}; it must be 0 or more"))
    }
}

/// Refuses what is no share of a whole.
fn share(key: &str, value: f64) -> Result<(), Fault> {
    if (0.0..=1.0).contains(&value) {
        Ok(())
    } else {
        fault(key, format!("is {value:?}; a share is between 0 and 1"))
    }
}

fn counted(key: &str, value: u64, most: u64) -> Result<(), Fault> {
    if (1..=most).contains(&value) {
        Ok(())
    } else {
        fault(key, format!("is {value}; between 1 and {most}"))
    }
}

fn scale(scenario: &Scenario) -> Result<(), Fault> {
    counted("requests", scenario.requests, MOST_REQUESTS)?;
    counted("replications", scenario.replications, 1_000_000)?;
    if scenario.replications < 2 {
        return fault("replications", "is 1; an interval needs at least 2");
    }
    if let Some(precision) = scenario.precision {
        positive("precision.share", precision.share)?;
        share("precision.share", precision.share)?;
        if precision.most < scenario.replications.max(2) || precision.most > 1_000_000 {
            let least = scenario.replications.max(2);
            let most = precision.most;
            return fault(
                "precision.most",
                format!("is {most}; between {least} and 1000000"),
            );
        }
    }
    if let Some(cache) = &scenario.cache {
        match (cache.hit_share, cache.size_gb) {
            (Some(hits), None) => share("cache.hit_share", hits)?,
            (None, Some(_)) if scenario.reads_nothing() => {
                return fault(
                    "cache.size_gb",
                    "is never filled by requests of no size: state their `size_mb`, or `hit_share`",
                );
            }
            (None, Some(size)) => positive("cache.size_gb", size)?,
            _ => return fault("cache", "needs either `hit_share` or `size_gb`"),
        }
    }
    Ok(())
}

fn arrivals(scenario: &Scenario) -> Result<(), Fault> {
    match &scenario.arrivals {
        Arrivals::Poisson { per_hour } => per_hour_of(scenario, *per_hour),
        Arrivals::Renewal { per_hour, cv } => {
            per_hour_of(scenario, *per_hour)?;
            if *cv <= 100.0 {
                not_negative("arrivals.cv", *cv)
            } else {
                fault("arrivals.cv", format!("is {cv}; at most 100"))
            }
        }
        Arrivals::Daily { per_hour, shape } => {
            per_hour_of(scenario, *per_hour)?;
            for weight in shape {
                not_negative("arrivals.shape", *weight)?;
            }
            positive("arrivals.shape (its sum)", shape.iter().sum())
        }
        Arrivals::Bursts {
            per_hour,
            a_day,
            size,
            burst_per_hour,
        } => {
            per_hour_of(scenario, *per_hour)?;
            positive("arrivals.a_day", *a_day)?;
            self::per_hour("arrivals.burst_per_hour", *burst_per_hour)?;
            counted("arrivals.size", *size, MOST_REQUESTS)
        }
        Arrivals::Closed { users, think_s: _ } => counted("arrivals.users", *users, 1_000_000),
        Arrivals::Trace { list } => trace(scenario, list),
    }
}

/// Arrivals one by one: sorted by time, and of cartridges that are there.
fn trace(scenario: &Scenario, list: &[Listed]) -> Result<(), Fault> {
    if scenario.libraries.iter().any(|library| library.count > 1) {
        return fault(
            "library.count",
            "a trace names libraries by their place; list each on its own",
        );
    }
    if (list.len() as u64) < scenario.requests {
        let (asked, listed) = (scenario.requests, list.len());
        return fault(
            "requests",
            format!("is {asked}, but the trace lists {listed}"),
        );
    }
    let mut before = 0.0;
    for (number, listed) in list.iter().enumerate() {
        let key = |name: &str| format!("arrivals.list[{number}].{name}");
        not_negative(&key("at_s"), listed.at_s)?;
        if listed.at_s > LONGEST_H * 3600.0 {
            return fault(
                key("at_s"),
                format!("is {:?} s; at most a thousand years", listed.at_s),
            );
        }
        not_negative(&key("size_mb"), listed.size_mb)?;
        share(&key("place"), listed.place)?;
        if u64::from(listed.owner) > MOST_OWNERS {
            return fault(
                key("owner"),
                format!("is {}; at most {MOST_OWNERS}", listed.owner),
            );
        }
        if listed.at_s < before {
            return fault(
                key("at_s"),
                "is before the one above; sort the list by time",
            );
        }
        before = listed.at_s;
        let Some(library) = scenario.libraries.get(listed.library as usize) else {
            let there = scenario.libraries.len();
            return fault(key("library"), format!("there are {there}, counted from 0"));
        };
        let there = cartridges(library);
        if u64::from(listed.cartridge) >= there {
            return fault(
                key("cartridge"),
                format!("there are {there}, counted from 0"),
            );
        }
    }
    Ok(())
}

fn requests(what: &Requests) -> Result<(), Fault> {
    match what.cartridges {
        CartridgePick::Uniform | CartridgePick::InTurn => {}
        CartridgePick::Zipf { exponent } => not_negative("request.cartridges.exponent", exponent)?,
        CartridgePick::Clustered { run } if run.is_finite() && run >= 1.0 => {}
        CartridgePick::Clustered { run } => {
            return fault("request.cartridges.run", format!("is {run}; at least 1"));
        }
    }
    match what.places {
        PlacePick::Uniform => {}
        PlacePick::Steps { count } => {
            counted("request.places.count", count.into(), u32::MAX.into())?
        }
        PlacePick::Zipf { parts, exponent } => {
            counted("request.places.parts", parts.into(), 1_000_000)?;
            not_negative("request.places.exponent", exponent)?;
        }
    }
    for class in &what.priorities {
        positive("request.priorities.share", class.share)?;
    }
    counted("request.owners", what.owners.into(), MOST_OWNERS)
}

fn policy(policy: &Policy) -> Result<(), Fault> {
    if policy.most_per_mount == Some(0) {
        return fault("policy.most_per_mount", "is 0; nothing would ever be read");
    }
    if !(0.0..=LONGEST_WINDOW_S).contains(&policy.window_s) {
        let most = format!("is {:?}; 0 to {LONGEST_WINDOW_S}, a year", policy.window_s);
        return fault("policy.window_s", most);
    }
    let rules = &policy.rules;
    not_negative("policy.rules.least_age_s", rules.least_age_s)?;
    not_negative("policy.rules.enough_gb", rules.enough_gb)?;
    not_negative("policy.rules.overdue_s", rules.overdue_s)?;
    if !(0.0..=10.0).contains(&rules.age) {
        return fault(
            "policy.rules.age",
            format!("is {:?}; between 0 and 10", rules.age),
        );
    }
    if rules.drives_per_user == Some(0) {
        return fault("policy.rules.drives_per_user", "is 0; at least 1");
    }
    for share in &rules.shares {
        positive("policy.rules.shares", *share)?;
    }
    match policy.window_requests {
        Some(0) => return fault("policy.window_requests", "is 0; at least 1"),
        Some(_) if policy.window_s == 0.0 => {
            return fault(
                "policy.window_requests",
                "ends a window: give `window_s` too",
            );
        }
        _ => {}
    }
    match (policy.dismount, policy.idle_s) {
        (Dismount::AfterIdle, Some(idle)) => not_negative("policy.idle_s", idle)?,
        (Dismount::AfterIdle, None) => {
            return fault("policy.idle_s", "is needed for `dismount = \"after-idle\"`");
        }
        (_, Some(_)) => return fault("policy.idle_s", "needs `dismount = \"after-idle\"`"),
        _ => {}
    }
    // The exact order takes so few requests that a simulation would stop at the first large batch.
    match Algorithm::from_name(&policy.order) {
        Some(Algorithm::Opt | Algorithm::Cta) => fault(
            "policy.order",
            format!(
                "`{}` does not apply to every batch; choose another",
                policy.order
            ),
        ),
        Some(_) => Ok(()),
        None => {
            let names: Vec<&str> = Algorithm::ALL.iter().map(|order| order.name()).collect();
            let (asked, names) = (&policy.order, names.join(", "));
            fault(
                "policy.order",
                format!("no order `{asked}`; there are: {names}"),
            )
        }
    }
}

fn libraries(scenario: &Scenario) -> Result<(), Fault> {
    if scenario.libraries.is_empty() {
        return fault("library", "there is none");
    }
    positive(
        "library.share (their sum)",
        scenario.libraries.iter().map(|library| library.share).sum(),
    )?;
    for (number, library) in scenario.libraries.iter().enumerate() {
        let earlier = &scenario.libraries[..number];
        if earlier.iter().any(|other| other.name == library.name) {
            return fault("library.name", format!("`{}` is there twice", library.name));
        }
        one_library(library)
            .map_err(|(key, reason)| (format!("library {}: {key}", library.name), reason))?;
    }
    let of_all = |each: fn(&Library) -> u64| {
        let counts = scenario.libraries.iter();
        counts.map(|l| u64::from(l.count) * each(l)).sum()
    };
    counted("library.count (of all)", of_all(|_| 1), MOST_LIBRARIES)?;
    counted(
        "cartridge.count (of all libraries)",
        of_all(cartridges),
        MOST_CARTRIDGES,
    )
}

fn cartridges(library: &Library) -> u64 {
    let groups = library.cartridges.iter();
    groups.map(|group| u64::from(group.count)).sum()
}

fn one_library(library: &Library) -> Result<(), Fault> {
    not_negative("share", library.share)?;
    counted("count", library.count.into(), 1000)?;
    counted("robot.count", library.robot.count.into(), 10_000)?;
    not_negative("software.poll_s", library.software.poll_s)?;
    let drives = library
        .drives
        .iter()
        .map(|group| u64::from(group.count))
        .sum();
    counted("drive.count (of all groups)", drives, MOST_DRIVES)?;
    counted(
        "cartridge.count (of all groups)",
        cartridges(library),
        MOST_CARTRIDGES,
    )?;
    for drive in &library.drives {
        if let Some(rate) = drive.rate_mb_s
            && !RATES_MB_S.contains(&rate)
        {
            let (least, most) = (RATES_MB_S.start(), RATES_MB_S.end());
            let what = format!("is {rate:?}; between {least} and {most}");
            return fault("drive.rate_mb_s", what);
        }
        if drive.cleaning.as_ref().is_some_and(|c| c.every_mounts == 0) {
            return fault("drive.cleaning.every_mounts", "is 0; at least 1");
        }
        if let Some(failures) = &drive.failures {
            positive("drive.failures.after_hours", failures.after_hours.mean())?;
        }
    }
    for group in &library.cartridges {
        positive("cartridge.filled", group.filled)?;
        share("cartridge.filled", group.filled)?;
        let Some(media) = &group.media else { continue };
        let read = |drive: &super::DriveGroup| {
            drive.count > 0 && (drive.reads.is_empty() || drive.reads.contains(media))
        };
        if group.count > 0 && !library.drives.iter().any(read) {
            return fault(
                "cartridge.media",
                format!("no drive reads `{media}`; add it to some drive's `reads`"),
            );
        }
    }
    Ok(())
}
