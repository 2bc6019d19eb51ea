//! Several hosts work for one archive, and lose sight of each other.
//!
//! # The fault model
//!
//! Two to four hosts share a catalogue, a cache and a library. On each runs `tapewise mover` with leases of ten minutes:
//! the loop, the claims and the renewals of the program, with its own [`Lessee`](tapewise_archive::mover::Lessee), its
//! own connection to the catalogue and its own way to every drive. Users store and ask on a host of their own.
//!
//! **At once, and the same each time.** One host at a time does something; at each of its steps the seed says who goes
//! on ([`turns`]). A step is a command to a device, a transaction of the catalogue, or something done to cache or
//! destination. So another host may come between any two of them.
//!
//! **A host** is stopped before any step and goes on as if no time had passed; dies, and starts again; is cut off from
//! the catalogue while it still reaches its drives; sends a command that is on its way for up to six leases, while its
//! leases are renewed or are not, or that arrives after the host has died. Half of what happens comes between the look
//! at the lease and the WRITE.
//!
//! **Clocks.** Each host's own clock runs up to 5 % fast or slow, which a lease allows for; in a third of the lives up to
//! twice as fast or slow, which it does not. In half of the lives the catalogue has a clock, as PostgreSQL does; in the
//! others it goes by what each host believes the time is, as SQLite does, and that differs by up to two leases.
//!
//! **The catalogue** is SQLite's file. What hosts see of a database is transactions that come one after the other, and
//! these it has. The statements are the same on PostgreSQL; that each of them holds there too is what
//! `archive/tests/leases.rs` and the other tests of the catalogue show, on both.
//!
//! **Not modelled.** A reply of the database that is lost after the commit: `make kill-movers` has it. Two processes at
//! one adapter. Commands that a robot gets late are not fenced; it moves no tape past a head.
//!
//! # The oracle
//!
//! 1. What was acknowledged is on tape or in the cache, and comes back right.
//! 2. A request is answered once. What was answered as delivered is there, and right.
//! 3. The [`judge`] sees every command that a drive carries out. Once a cartridge was touched under a lease, nothing is
//!    written on it under an earlier one, or under none.
//! 4. The catalogue has no copy on a tape that is not there.

mod host;
mod judge;
mod mover;
mod site;
mod turns;
mod users;
mod way;

use crate::oracle::{ByTape, Oracle, on_tape};
use crate::run::{Broken, Counts};
use crate::world::Trouble as Failure;
use host::Host;
pub use host::Trouble;
use judge::Judge;
pub use site::Guards;
use site::{LEASE, Site, lock};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use tapewise_archive::catalogue::{CatalogueError, CopyState, Files, SqliteCatalogue, Volumes};
use tapewise_emulator::Clock;
use tapewise_model::{Micros, Random};
use tapewise_torn::{Plug, Step, Verdict};
use turns::Turns;
use users::Users;
use xxhash_rust::xxh3::xxh3_64;

/// The stream of a seed that hosts and their troubles are drawn from.
const HOSTS: u64 = 5;

/// Tells whoever has the turn of what happens in the catalogue's file.
struct Wire {
    turns: Arc<Turns>,
    judge: Mutex<Option<Arc<Judge>>>,
    hosts: Mutex<Vec<Weak<Host>>>,
}

impl Plug for Wire {
    fn step(&self, step: Step) -> Verdict {
        if lock(&self.judge)
            .as_ref()
            .is_some_and(|judge| judge.looks())
        {
            return Verdict::Go;
        }
        let host = lock(&self.hosts)
            .get(self.turns.now())
            .and_then(Weak::upgrade);
        host.map_or(Verdict::Go, |host| host.in_catalogue(step))
    }
}

/// What befalls the hosts in the life of a seed.
pub fn troubles(seed: u64) -> Vec<Trouble> {
    let mut random = Random::new(seed, HOSTS + 1);
    let hosts = hosts(seed).len();
    (0..6 + random.below(20))
        .map(|_| Trouble::draw(random.below(hosts as u64) as usize, &mut random))
        .collect()
}

/// The clocks of the hosts in the life of a seed: how fast each one's own clock goes, and what its time of day is off by.
fn hosts(seed: u64) -> Vec<(f64, i64)> {
    let mut random = Random::new(seed, HOSTS);
    let most = [1.05f64, 1.05, 2.0][random.below(3) as usize];
    let most_shift_ns = [0.0, LEASE.0 as f64 * 2000.0][random.below(2) as usize];
    let mut signed = || 2.0 * random.unit() - 1.0;
    let mut clocks = || (most.powf(signed()), (most_shift_ns * signed()) as i64);
    let mut all: Vec<(f64, i64)> = (0..4).map(|_| clocks()).collect();
    all.truncate(2 + random.below(3) as usize);
    all
}

/// Lives through what befalls the hosts of a seed, and then asks for everything back. Without all guards, writes against
/// the leases are only counted: what comes of them is what counts.
///
/// # Errors
/// [`Broken`], with what was counted until then.
pub fn live_together(
    seed: u64,
    guards: Guards,
    troubles: &[Trouble],
) -> (Counts, Result<(), Broken>) {
    let broken = |why: String| Err(Broken { at: 0, why });
    let (site, wire) = match site(seed, guards) {
        Ok(made) => made,
        Err(failure) => return (Counts::default(), broken(format!("no site: {failure}"))),
    };
    let (users, lived) = all_at_once(seed, &site, &wire, troubles);
    let forbidden = site
        .judge
        .forbidden()
        .filter(|_| guards.fence && guards.epochs);
    let mut counts = Counts {
        drive_time: Micros(site.now().0 * i64::from(site.configuration.drives)),
        mounts: site.mounts(),
        injected: site.judge.counts(),
        refused: site.failures(),
        ..Counts::default()
    };
    counts.events.insert("Together".to_owned(), 1);
    let result = match users {
        None => lived,
        Some(mut users) => {
            counts.acknowledged = users.oracle.paths().len() as u64;
            counts.delivered = users.delivered;
            lived.and_then(|()| look_at_the_end(&site, &mut users.oracle))
        }
    };
    debug_assert_eq!(
        Arc::strong_count(&site),
        1,
        "a host keeps the site for ever"
    );
    match (forbidden, result) {
        (Some(why), _) | (None, Err(why)) => (counts, broken(why)),
        (None, Ok(())) => (counts, Ok(())),
    }
}

/// Lets hosts and users live, each on its thread.
fn all_at_once(
    seed: u64,
    site: &Arc<Site>,
    wire: &Wire,
    troubles: &[Trouble],
) -> (Option<Users>, Result<(), String>) {
    let clocks = hosts(seed).into_iter().chain([(1.0, 0)]);
    let hosts: Vec<Arc<Host>> = clocks
        .enumerate()
        .map(|(number, clocks)| Arc::new(Host::new(site, number, clocks, troubles)))
        .collect();
    *lock(&wire.hosts) = hosts.iter().map(Arc::downgrade).collect();
    let lived = std::thread::scope(|scope| {
        let (user, movers) = hosts.split_last().expect("users have a host");
        for host in movers {
            scope.spawn(move || {
                let _turn = Turn::of(site, host.number);
                mover::runs_movers(site, host);
            });
        }
        let users = scope.spawn(move || {
            let _turn = Turn::of(site, user.number);
            let users = Users::new(site, user, seed);
            let mut users = match users {
                Ok(users) => users,
                Err(failure) => return (None, Err(failure.to_string())),
            };
            let lived = users.live();
            site.is_over_now();
            (Some(users), lived)
        });
        users.join()
    });
    lock(&wire.hosts).clear();
    hosts.iter().for_each(|host| host.ends());
    // Who was the last to stop may have sent something.
    site.is_over_now();
    lived.unwrap_or_else(|_| (None, Err("users ended in a panic".to_owned())))
}

/// A thread's part in the turns: from its first one until it ends, however that is.
struct Turn<'s>(&'s Site, usize);

impl Turn<'_> {
    fn of(site: &Site, host: usize) -> Turn<'_> {
        site.turns.begin(host);
        Turn(site, host)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.turns.end(self.1);
    }
}

/// The site of a seed, and what tells its hosts of steps in the catalogue.
fn site(seed: u64, guards: Guards) -> Result<(Arc<Site>, Arc<Wire>), Failure> {
    let clock = Clock::virtual_time();
    let turns = Arc::new(Turns::new(clock.clone(), seed, hosts(seed).len() + 1));
    let wire = Arc::new(Wire {
        turns: Arc::clone(&turns),
        judge: Mutex::default(),
        hosts: Mutex::default(),
    });
    let site = Site::new(seed, guards, clock, turns, Arc::clone(&wire) as _)?;
    *lock(&wire.judge) = Some(Arc::clone(&site.judge));
    Ok((Arc::new(site), wire))
}

/// Whether all that was acknowledged is there, and all that the catalogue names.
fn look_at_the_end(site: &Site, oracle: &mut Oracle) -> Result<(), String> {
    let mut tapes = ByTape::default();
    let read = on_tape(&site.place("library/cartridges"), &mut tapes);
    read.map_err(|error| format!("the tapes: {error}"))?;
    let mut files: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for (name, bytes, _) in site.disk.tree().files() {
        let name = format!("cache/{}", name.display());
        files.entry(xxh3_64(bytes)).or_default().push(name);
    }
    if let Some(number) = oracle.look(&tapes, &files).first() {
        let path = &oracle.versions[*number].path;
        return Err(format!("{path} was acknowledged and is nowhere"));
    }
    let catalogue = SqliteCatalogue::open_to_read(&site.place("archive").join("catalogue.db"));
    let copies = catalogue.and_then(|catalogue| copies_that_are_not_there(&catalogue, oracle));
    match copies
        .map_err(|error| format!("the catalogue: {error}"))?
        .first()
    {
        None => Ok(()),
        Some(what) => Err(format!(
            "the catalogue has a copy that is not there: {what}"
        )),
    }
}

fn copies_that_are_not_there(
    catalogue: &SqliteCatalogue,
    oracle: &Oracle,
) -> Result<Vec<String>, CatalogueError> {
    let mut missing = Vec::new();
    for path in oracle.paths() {
        let (Some(file), Some(version)) =
            (catalogue.live_file(path.as_bytes())?, oracle.wanted(&path))
        else {
            missing.push(format!("{path}, which it does not know"));
            continue;
        };
        let copies = catalogue.file(file)?.copies.into_iter();
        for copy in copies.filter(|copy| copy.state == CopyState::Whole) {
            for (volume, _) in &copy.segments {
                let label = catalogue.volume(*volume)?.label;
                if !version.places.contains(&label) {
                    missing.push(format!("{path} on {label}"));
                }
            }
        }
    }
    Ok(missing)
}
