//! How fast we simulate, beside SimPy and Ciw in the same run: M/M/4 at a load of 0.8 on the bare kernel and in the
//! library model, a library of four drives and a robot step by step as SimPy has it, then the forty drives of
//! scenarios/lto9-site.toml. Times are those of the processor (Linux only), on both sides: what else the machine does
//! counts little.
//!
//! `make bench`, or `cargo bench -p tapewise-sim --bench speed -- --python PYTHON` with a Python that
//! has what bench/simulation.txt lists. Without it only ours are timed, and that is said. With `--decisions` only
//! the mount policies are timed.

use std::collections::VecDeque;
use std::process::Command;
use tapewise_model::{Micros, Random, profile};
use tapewise_sim::library::{Part, Site};
use tapewise_sim::mounts::{
    FreeDrive, KindId, MediumId, MountPolicy, MountRules, Shares, Situation, Waiting, next,
};
use tapewise_sim::queue::Load;
use tapewise_sim::queue::exponential::Exponential;
use tapewise_sim::{Agenda, Distribution, Scenario};

type Failure = Box<dyn std::error::Error>;

const CUSTOMERS: u64 = 5_000_000;
/// As many as [`MM4`] and [`LIBRARY`] have: what is timed is the same on both sides.
const OUTSIDE: u64 = 100_000;
/// Replications of ours, as a study has.
const REPLICATIONS: u64 = 10;

const MM4: &str = r#"
name = "M/M/4"
requests = 100000
warm_up = "keep"
arrivals = { pattern = "poisson", per_hour = 2880 }
policy = { dismount = "at-once" }

[[library]]
name = "servers"
robot = { count = 4, get_s = 0, put_s = 0 }

[[library.drive]]
count = 4
load_s = 0
search_s = { mean = 4, cv = 1 }
rewind_s = 0
unload_s = 0

[[library.cartridge]]
count = 100000
"#;

/// As `LIBRARY` in bench/simulation.py: tests/outside.rs holds the responses of both against each other.
const LIBRARY: &str = r#"
name = "as Gniewek 1999"
requests = 100000
warm_up = "keep"
arrivals = { pattern = "poisson", per_hour = 150 }
request = { cartridges = { pick = "in-turn" } }
policy = { most_per_mount = 1, affinity = false, dismount = "at-once" }

[[library]]
name = "library"
robot = { get_s = 5, put_s = 5 }
cartridge = [{ count = 5000 }]

[[library.drive]]
count = 4
load_s = 11
search_s = { near = 1, far = 25 }
rewind_s = { near = 0, far = 26 }
unload_s = 6
"#;

#[derive(Clone, Copy)]
enum Event {
    Arrival,
    Departure,
}

/// One line of a table.
struct Timed {
    /// `mm4` or `library`, as bench/simulation.py calls them.
    case: &'static str,
    name: String,
    per_s: f64,
    wait_s: f64,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "--decisions") {
        decisions();
        return Ok(());
    }
    let python = arguments.windows(2).find(|pair| pair[0] == "--python");
    let load = Load::new(0.8, 4.0, 4)?;
    println!(
        "M/M/4, load 0.8, one thread; mean wait by Erlang C {:.4} s",
        { Exponential::new(load).mean_wait_s() }
    );
    let mut rows = Vec::new();
    match python {
        Some(pair) => rows.extend(outside(&pair[1])?),
        None => println!("SimPy and Ciw are left out: no --python"),
    }
    rows.push(in_the_library("mm4", MM4)?);
    rows.push(kernel());
    rows.push(in_the_library("library", LIBRARY)?);
    table("M/M/4", rows.iter().filter(|row| row.case == "mm4"));
    table(
        "four drives, one robot",
        rows.iter().filter(|row| row.case == "library"),
    );
    println!();
    site()?;
    decisions();
    Ok(())
}

/// The time for which this thread has had a processor.
fn processor_s() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux says it");
    let nanoseconds = text
        .split(' ')
        .next()
        .and_then(|number| number.parse().ok());
    let nanoseconds: f64 = nanoseconds.expect("the first number is the time of the processor");
    nanoseconds / 1e9
}

fn table<'a>(title: &str, rows: impl Iterator<Item = &'a Timed> + Clone) {
    let simpy = rows.clone().find(|row| row.name.starts_with("simpy"));
    println!(
        "\n{title:<34} {:>12} {:>10} {:>12}",
        "requests/s", "x SimPy", "mean wait, s"
    );
    for row in rows {
        let ratio = simpy.map_or("-".to_owned(), |simpy| {
            format!("{:.1}", row.per_s / simpy.per_s)
        });
        println!(
            "{:<34} {:>12.0} {ratio:>10} {:>12.4}",
            row.name, row.per_s, row.wait_s
        );
    }
}

/// The queue on the kernel alone: two events a customer.
fn kernel() -> Timed {
    let gap = Distribution::with_variation(1.25, 1.0);
    let service = Distribution::with_variation(4.0, 1.0);
    let (mut gaps, mut services) = (Random::new(1, 0), Random::new(1, 1));
    let mut agenda = Agenda::new();
    let mut waiting: VecDeque<Micros> = VecDeque::new();
    let (mut free, mut arrived, mut waits) = (4, 0, Micros::ZERO);
    let begun_s = processor_s();
    agenda.after(Micros::ZERO, Event::Arrival);
    while let Some(event) = agenda.next() {
        match event {
            Event::Arrival => {
                arrived += 1;
                waiting.push_back(agenda.now());
                if arrived < CUSTOMERS {
                    agenda.after(gap.time(&mut gaps), Event::Arrival);
                }
            }
            Event::Departure => free += 1,
        }
        while free > 0
            && let Some(since) = waiting.pop_front()
        {
            free -= 1;
            waits += agenda.now() - since;
            agenda.after(service.time(&mut services), Event::Departure);
        }
    }
    Timed {
        case: "mm4",
        name: "ours, on the kernel".to_owned(),
        per_s: CUSTOMERS as f64 / (processor_s() - begun_s),
        wait_s: waits.as_secs_f64() / CUSTOMERS as f64,
    }
}

/// Replications of a scenario in the library model, every part of each response kept.
fn in_the_library(case: &'static str, text: &str) -> Result<Timed, Failure> {
    let scenario = Scenario::from_toml(text)?;
    let site = Site::new(&scenario, profile::find)?;
    let begun_s = processor_s();
    let (mut requests, mut waits) = (0.0, Micros::ZERO);
    for replication in 0..REPLICATIONS {
        let answers = site.run(replication)?.answers;
        requests += answers.len() as f64;
        waits += (answers.iter().map(|answer| answer.parts[Part::DriveWait])).sum();
    }
    Ok(Timed {
        case,
        name: "ours, as a library".to_owned(),
        per_s: requests / (processor_s() - begun_s),
        wait_s: waits.as_secs_f64() / requests,
    })
}

/// What bench/simulation.py says of SimPy and Ciw.
fn outside(python: &str) -> Result<Vec<Timed>, Failure> {
    let root = tapewise_house::root();
    let output = Command::new(root.join(python))
        .arg(root.join("bench/simulation.py"))
        .args(["--speed", "--requests", &OUTSIDE.to_string()])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let row = |line: &str| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [case, name, version, per_s, wait_s] => Ok(Timed {
            case: if case == "mm4" { "mm4" } else { "library" },
            name: format!("{name} {version}"),
            per_s: per_s.parse()?,
            wait_s: wait_s.parse()?,
        }),
        _ => Err(Failure::from(format!("simulation.py printed {line:?}"))),
    };
    text.lines().map(row).collect()
}

/// Forty drives with batching, every case of the file, on one thread.
fn site() -> Result<(), Failure> {
    let text = include_str!("../scenarios/lto9-site.toml");
    println!(
        "{:<34} {:>12} {:>12}",
        "scenarios/lto9-site.toml", "requests/s", "x real time"
    );
    for scenario in Scenario::cases(text)? {
        let site = Site::new(&scenario, profile::find)?;
        let begun_s = processor_s();
        let run = site.run(0)?;
        let took_s = processor_s() - begun_s;
        let (per_s, times) = (
            run.answers.len() as f64 / took_s,
            run.duration.as_secs_f64() / took_s,
        );
        println!("{:<34} {per_s:>12.0} {times:>12.0}", scenario.name);
    }
    Ok(())
}

/// How long a decision takes with ten thousand cartridges that wait and two hundred drives, some of them free.
fn decisions() {
    const WAITING: u32 = 10_000;
    const FREE: u32 = 20;
    const DECISIONS: u32 = 200;
    let mut random = Random::new(1, 2);
    let waiting: Vec<Waiting> = (0..WAITING)
        .map(|cartridge| {
            let mut one = Waiting::first(cartridge, u64::from(cartridge), Micros(cartridge.into()));
            for number in 0..random.below(20) {
                one.add(u64::from(WAITING) + number, Micros(1_000_000), 4000.0, 0);
            }
            one.medium = MediumId(random.below(2) as usize);
            one
        })
        .collect();
    let drives: Vec<FreeDrive> = (0..FREE)
        .map(|drive| FreeDrive {
            drive,
            kind: KindId(drive as usize % 2),
            loaded: drive % 3 == 0,
            since: Micros(drive.into()),
        })
        .collect();
    let situation = Situation {
        now: Micros(60_000_000),
        waiting: &waiting,
        drives: &drives,
        reads: &|kind, medium| kind == KindId(0) || medium == MediumId(1),
        cost: &|waiting, _| Micros(90_000_000 + 20_000_000 * i64::from(waiting.requests)),
        rules: &MountRules::default(),
        shares: &Shares::default(),
    };
    println!("\n{:<34} {:>12}", "one decision, 10,000 waiting", "ms");
    for policy in MountPolicy::ALL {
        let begun_s = processor_s();
        for _ in 0..DECISIONS {
            std::hint::black_box(next(policy, std::hint::black_box(&situation)));
        }
        let ms = (processor_s() - begun_s) * 1e3 / f64::from(DECISIONS);
        println!("{:<34} {ms:>12.3}", policy.name());
    }
    let bytes = waiting.len() * size_of::<Waiting>() + drives.len() * size_of::<FreeDrive>();
    println!("the situation takes {} kB", bytes / 1000);
}
