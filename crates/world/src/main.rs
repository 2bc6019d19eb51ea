//! Lives archives' lives until a time or a number of drive-years is over, and shrinks every one that ends badly.
//!
//! `make simulate-faults SECONDS=60`, or `YEARS=10000`; `FROM=7` begins with another seed, `EVENTS=40` are in each life.
//! `SEED=13` lives one life again and shrinks it; `TWICE=1` lives each life twice and says where the two differ. `ONLY="Store Evict LoseCatalogue"` leaves all other events out, to look
//! closer at these.
//!
//! Each seed gives two lives: one of an archive on one host, and one of several hosts that share an archive. `LIVES=alone`
//! or `LIVES=together` lives only these. `WITHOUT="fence epochs"` leaves out what keeps the hosts apart, to see what it
//! is for.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tapewise_world::{
    Broken, Counts, Event, Guards, life, live, live_together, shrink, shrink_troubles, troubles,
};

/// Lives that end badly before no more is begun.
const MOST_BROKEN: usize = 3;

/// What was asked for.
struct Asked {
    seconds: u64,
    years: f64,
    from: u64,
    events: u64,
    one: Option<u64>,
    only: Option<String>,
    twice: bool,
    lives: Vec<Kind>,
    guards: Guards,
}

/// A kind of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// An archive on one host.
    Alone,
    /// Several hosts that share an archive.
    Together,
}

impl Asked {
    /// Lives the life of a seed.
    fn live(&self, kind: Kind, seed: u64) -> Lived {
        match kind {
            Kind::Alone => live(seed, &self.life(seed)),
            Kind::Together => live_together(seed, self.guards, &troubles(seed)),
        }
    }

    /// The life of a seed, with the events that were asked for.
    fn life(&self, seed: u64) -> Vec<Event> {
        let mut events = life(seed, self.events);
        if let Some(only) = &self.only {
            events.retain(|event| only.split(' ').any(|name| name == event.what.name()));
        }
        events
    }
}

fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    value.parse().ok()
}

fn main() -> ExitCode {
    let asked = Asked {
        seconds: number("SECONDS").unwrap_or(if number("YEARS").is_some() {
            u64::MAX
        } else {
            60
        }),
        years: number("YEARS").map_or(f64::INFINITY, |years| years as f64),
        from: number("FROM").unwrap_or(1),
        events: number("EVENTS").unwrap_or(40),
        one: number("SEED"),
        twice: number("TWICE").is_some(),
        only: words("ONLY"),
        lives: match words("LIVES").as_deref() {
            Some("alone") => vec![Kind::Alone],
            Some("together") => vec![Kind::Together],
            // Events of one kind are left out of lives that have events.
            _ if words("ONLY").is_some() => vec![Kind::Alone],
            _ => vec![Kind::Alone, Kind::Together],
        },
        guards: Guards {
            fence: !without("fence"),
            epochs: !without("epochs"),
        },
    };
    if let Some(seed) = asked.one {
        return one(&asked, seed);
    }
    let (all, broken, took) = many(&asked);
    report(&all, took);
    println!("{} of {} lives ended badly", broken.len(), all.1);
    for ((seed, kind), broken) in &broken {
        println!("seed {seed}, {kind:?}, event {}: {}", broken.at, broken.why);
    }
    match broken.into_iter().next() {
        None => ExitCode::SUCCESS,
        // The next time it may be the same again: there is nothing to shrink.
        Some(_) if asked.twice => ExitCode::FAILURE,
        Some(((seed, kind), broken)) => {
            print_shrunk(&asked, kind, seed, broken);
            ExitCode::FAILURE
        }
    }
}

fn words(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|words| !words.is_empty())
}

/// Whether something that keeps hosts apart is left out.
fn without(what: &str) -> bool {
    words("WITHOUT").is_some_and(|all| all.split(' ').any(|one| one == what))
}

/// The lives of one seed.
fn one(asked: &Asked, seed: u64) -> ExitCode {
    for &kind in &asked.lives {
        if let Err(broken) = asked.live(kind, seed).1 {
            print_shrunk(asked, kind, seed, broken);
            return ExitCode::FAILURE;
        }
    }
    println!("seed {seed}: nothing lost");
    ExitCode::SUCCESS
}

fn print_shrunk(asked: &Asked, kind: Kind, seed: u64, broken: Broken) {
    if kind == Kind::Together {
        let (troubles, broken) = shrink_troubles(seed, asked.guards, broken);
        println!(
            "seed {seed}, several hosts, shrunk to {} troubles: {}",
            troubles.len(),
            broken.why
        );
        for trouble in troubles {
            println!("  {trouble:?}");
        }
        return;
    }
    let (events, broken) = shrink(seed, &asked.life(seed), broken);
    println!(
        "seed {seed}, shrunk to {} events: {}",
        events.len(),
        broken.why
    );
    for event in events {
        let Event {
            what,
            plan,
            seed,
            hours,
        } = event;
        println!("  {what:?}, seed {seed:#x}, after {hours} h, {plan:?}");
    }
}

/// What came of a life.
type Lived = (Counts, Result<(), Broken>);

/// What all lives have counted, and how many they were.
type All = (Counts, u64);

/// The lives that ended badly, by seed and kind.
type AllBroken = BTreeMap<(u64, Kind), Broken>;

/// A life and the same one again.
fn is_same(one: &Lived, two: &Lived) -> Result<(), String> {
    if one == two {
        return Ok(());
    }
    let (one, two) = (format!("{one:#?}"), format!("{two:#?}"));
    let mut lines = one.lines().zip(two.lines());
    let differ = lines.find(|(one, two)| one != two).unwrap_or_default();
    Err(format!(
        "the same seed has given another life: {} and then {}",
        differ.0.trim(),
        differ.1.trim()
    ))
}

/// Lives on all processors until enough is lived.
fn many(asked: &Asked) -> (All, AllBroken, Duration) {
    let began = Instant::now();
    let next = AtomicU64::new(asked.from);
    let all: Mutex<(All, AllBroken)> = Mutex::default();
    let work = || {
        loop {
            // Enough to look at.
            let is_over = all
                .lock()
                .is_ok_and(|all| all.1.len() >= MOST_BROKEN || years(&all.0.0) >= asked.years);
            if is_over || began.elapsed().as_secs() >= asked.seconds {
                return;
            }
            let seed = next.fetch_add(1, Ordering::Relaxed);
            for &kind in &asked.lives {
                let (counts, mut result) = asked.live(kind, seed);
                if asked.twice
                    && let Err(why) =
                        is_same(&(counts.clone(), result.clone()), &asked.live(kind, seed))
                {
                    result = Err(Broken { at: 0, why });
                }
                if let Ok(mut all) = all.lock() {
                    all.0.0.add(&counts);
                    all.0.1 += 1;
                    if let Err(broken) = result {
                        all.1.insert((seed, kind), broken);
                    }
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
        work();
    });
    let (all, broken) = all.into_inner().unwrap_or_default();
    (all, broken, began.elapsed())
}

fn years(counts: &Counts) -> f64 {
    counts.drive_time.as_secs_f64() / (365.25 * 86_400.0)
}

/// The processor time of this process, where the system tells it: in hundredths of seconds, as Linux does.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name, which may hold spaces: the 12th and 13th field.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<f64> = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse().ok())
        .collect();
    Some(fields.iter().sum::<f64>() / 100.0).filter(|seconds| *seconds > 0.0)
}

fn report((counts, lives): &All, took: Duration) {
    let seconds = took.as_secs_f64().max(0.001);
    let events: u64 = counts.events.values().sum();
    let years = years(counts);
    println!(
        "{lives} lives, {years:.0} drive-years, {events} events, {} mounts in {seconds:.0} s: {:.1} events/s, {:.0} \
         drive-years an hour, {:.0} events and {:.0} mounts in a drive-year",
        counts.mounts,
        events as f64 / seconds,
        years / seconds * 3600.0,
        events as f64 / years,
        counts.mounts as f64 / years,
    );
    if let Some(processor) = processor_seconds() {
        println!(
            "{processor:.0} s of processor: {:.1} events and {:.2} drive-years in one, {:.0} drive-years an hour on two \
             idle processors",
            events as f64 / processor,
            years / processor,
            years / processor * 7200.0,
        );
    }
    println!(
        "{} files acknowledged, {} delivered and compared, {} destroyed by operators",
        counts.acknowledged, counts.delivered, counts.excused
    );
    println!("events:");
    for (name, count) in &counts.events {
        println!("  {count:>8}  {name}");
    }
    let times: u64 = counts.injected.values().sum();
    println!(
        "faults injected, {times} of {} kinds:",
        counts.injected.len()
    );
    for ((whereabouts, what), count) in &counts.injected {
        println!("  {count:>8}  {whereabouts:<26}  {what}");
    }
    println!("refused or failed:");
    for (name, count) in &counts.refused {
        println!("  {count:>8}  {name}");
    }
}
