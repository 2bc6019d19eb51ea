//! What comes while a drive reads: it joins the mount, or the mount ends early for something that must not wait.

use crate::site;

use site::{Site, terms};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tapewise_archive::catalogue::{
    Catalogue, Files, Holder, NewRecall, RequestId, RequestState, Requests, SqliteCatalogue, Terms,
    VolumeId,
};
use tapewise_archive::mover::{Lessee, Mover, Recalled, random_uuid};
use tapewise_emulator::Faults;
use tapewise_formats::event::{Action, Event};
use tapewise_library::pool::Pace;
use tapewise_run::Log;
use tapewise_sim::mounts::MountPolicy;

const SECOND_NS: i64 = 1_000_000_000;

/// An archive of one drive, with files on two volumes.
struct Bench {
    site: Site,
    /// Files of each volume.
    paths: [Vec<String>; 2],
    to: PathBuf,
    now_ns: AtomicI64,
}

/// Whoever asks for files.
struct Asking<'a> {
    catalogue: &'a SqliteCatalogue,
    to: &'a Path,
    now_ns: &'a AtomicI64,
}

impl Asking<'_> {
    fn ask(&self, path: &str) -> RequestId {
        self.ask_as(&terms().user, path)
    }

    fn ask_as(&self, user: &str, path: &str) -> RequestId {
        let file = self.catalogue.live_file(path.as_bytes());
        let recall = NewRecall {
            file: file.expect("a catalogue").expect("a file"),
            terms: Terms {
                user: user.to_owned(),
                ..terms()
            },
            destination: Some(self.to.as_os_str().as_encoded_bytes().to_vec()),
        };
        let now_ns = self.now_ns.load(Ordering::Relaxed);
        let ids = self.catalogue.submit(&[recall], now_ns);
        ids.expect("a request")[0]
    }

    fn pass(&self, seconds: i64) {
        self.now_ns
            .fetch_add(seconds * SECOND_NS, Ordering::Relaxed);
    }
}

/// The request that something was read for.
fn request_of(event: &Event) -> Option<RequestId> {
    let purpose = event.purpose.as_deref()?.strip_prefix("request ")?;
    Some(RequestId(purpose.split([' ', ',']).next()?.parse().ok()?))
}

/// Does something when the drive has read for the first time.
struct FirstRead<'a> {
    events: Vec<Event>,
    then: Option<Box<dyn FnOnce() + Send + 'a>>,
}

impl Log for FirstRead<'_> {
    fn event(&mut self, event: &Event) -> std::io::Result<()> {
        if event.action == Action::Read
            && request_of(event).is_some()
            && let Some(then) = self.then.take()
        {
            then();
        }
        self.events.event(event)
    }
}

impl Bench {
    fn new() -> Bench {
        Bench::of(1)
    }

    fn of(drives: u16) -> Bench {
        let mut site = Site::new(drives, 4, Faults::none());
        site.settings.volume_bytes = Some(200_000);
        let files = site.store(80, 1, 5);
        site.mover(|mover| mover.migrate(i64::MAX))
            .expect("migrated");
        site.empty_cache();
        let mut paths: BTreeMap<VolumeId, Vec<String>> = BTreeMap::new();
        for (path, contents) in files {
            if !contents.is_empty() {
                let entry = site.catalogue.file(site.id(&path)).expect("a file");
                let (volume, _) = entry.copies[0].segments[0];
                paths.entry(volume).or_default().push(path);
            }
        }
        let mut paths = paths.into_values();
        let paths = [(); 2].map(|()| paths.next().expect("a volume"));
        assert!(site.pool.dismount_all(&mut site.events).is_empty());
        Bench {
            to: site.destination("back"),
            site,
            paths,
            now_ns: AtomicI64::new(1_000 * SECOND_NS),
        }
    }

    fn ask(&self, paths: &[&String]) -> Vec<RequestId> {
        let asking = Asking {
            catalogue: self.site.catalogue.as_ref(),
            to: &self.to,
            now_ns: &self.now_ns,
        };
        paths.iter().map(|path| asking.ask(path)).collect()
    }

    fn assert_delivered(&self, requests: &[RequestId]) {
        for &request in requests {
            let request = self.site.catalogue.request(request).expect("a request");
            assert_eq!(request.state, RequestState::Delivered, "{request:?}");
        }
        self.site.assert_integrity();
    }

    fn lessee(&self) -> Lessee {
        let holder = Holder {
            host: "ada".to_owned(),
            process: 1,
            run: "a run".to_owned(),
        };
        let clock = Arc::new(|| 1_000 * SECOND_NS);
        let catalogue = Arc::clone(&self.site.catalogue) as Arc<dyn Catalogue>;
        let lessee = Lessee::new(catalogue, holder, 60 * SECOND_NS, clock.clone(), clock);
        lessee.expect("a mover")
    }

    /// Recalls what waits, while `then` happens at the first read.
    fn recall(
        &mut self,
        lessee: Option<&Lessee>,
        then: impl FnOnce(&Asking<'_>) + Send,
    ) -> (Recalled, Vec<RequestId>) {
        let catalogue = Arc::clone(&self.site.catalogue);
        let asking = Asking {
            catalogue: catalogue.as_ref(),
            to: &self.to,
            now_ns: &self.now_ns,
        };
        let mut log = FirstRead {
            events: Vec::new(),
            then: Some(Box::new(|| then(&asking))),
        };
        let mut mover = Mover {
            catalogue: self.site.catalogue.as_ref(),
            cache: &self.site.cache,
            pool: &mut self.site.pool,
            settings: &self.site.settings,
            log: &mut log,
            lessee,
            stop: &AtomicBool::new(false),
            now_ns: &|| self.now_ns.load(Ordering::Relaxed),
            new_uuid: &random_uuid,
        };
        let done = mover.recall().expect("recalled");
        let reads = log
            .events
            .iter()
            .filter(|event| event.action == Action::Read);
        let mut read: Vec<RequestId> = reads.filter_map(request_of).collect();
        read.dedup();
        (done, read)
    }
}

#[test]
fn what_comes_for_the_cartridge_in_the_drive_joins_its_mount_as_far_as_one_mount_goes() {
    for (is_leased, most_per_mount, joined, reads) in [
        (false, 1000, 2, 1),
        (true, 1000, 2, 1),
        (false, 4, 1, 2),
        (false, 3, 0, 2),
    ] {
        let mut bench = Bench::new();
        bench.site.settings.mounts.most_per_mount = most_per_mount;
        let [a, _] = bench.paths.clone();
        let mut requests = bench.ask(&[&a[0], &a[8], &a[16]]);
        let lessee = is_leased.then(|| bench.lessee());
        let (done, read) = bench.recall(lessee.as_ref(), |asking| {
            requests.extend([&a[4], &a[12]].map(|path| asking.ask(path)));
        });
        let case = (is_leased, most_per_mount);
        assert_eq!((done.joined, done.reads), (joined, reads), "{case:?}");
        assert_eq!((done.delivered, done.failed.len()), (5, 0), "{case:?}");
        assert_eq!(read.len(), 5, "{case:?}: each is read once: {read:?}");
        bench.assert_delivered(&requests);
    }
}

#[test]
fn what_somebody_asks_for_when_the_drives_have_ended_fails_nobody_elses_recall() {
    let mut bench = Bench::new();
    let [ours, others] = bench.paths.clone();
    // Between two looks at the queue it is asked what time it is: so often by a recall during which nobody asks.
    let mut of_all = 0;
    for (number, (ours, other)) in ours.iter().zip(&others).enumerate() {
        let own = bench.ask(&[ours]);
        let catalogue = Arc::clone(&bench.site.catalogue);
        let asking = Asking {
            catalogue: catalogue.as_ref(),
            to: &bench.to,
            now_ns: &bench.now_ns,
        };
        let looks = AtomicUsize::new(0);
        // Every second recall is the one during which nobody asks.
        let late = (number % 2 == 1).then(|| of_all - number.div_ceil(2));
        let now_ns = || {
            if Some(looks.fetch_add(1, Ordering::Relaxed)) == late {
                asking.ask(other);
            }
            bench.now_ns.load(Ordering::Relaxed)
        };
        let mut mover = Mover {
            catalogue: catalogue.as_ref(),
            cache: &bench.site.cache,
            pool: &mut bench.site.pool,
            settings: &bench.site.settings,
            log: &mut bench.site.events,
            lessee: None,
            stop: &AtomicBool::new(false),
            now_ns: &now_ns,
            new_uuid: &random_uuid,
        };
        let recalled = mover.recall();
        recalled.unwrap_or_else(|error| panic!("look {late:?} of {of_all}: {error}"));
        bench.assert_delivered(&own);
        of_all = looks.into_inner();
    }
}

#[test]
fn a_mount_ends_early_for_what_is_overdue_elsewhere_and_what_it_left_is_read_after_that() {
    for (policy, cut) in [(MountPolicy::Ahead, 1), (MountPolicy::Index, 0)] {
        let mut bench = Bench::new();
        let mounts = &mut bench.site.settings.mounts;
        // Before it is overdue, the cartridge with more requests goes first.
        (mounts.policy, mounts.overdue_s, mounts.age) = (policy, 1_000.0, 0.0);
        let [a, b] = bench.paths.clone();
        let overdue = bench.ask(&[&b[0]])[0];
        bench.now_ns.fetch_add(900 * SECOND_NS, Ordering::Relaxed);
        let mut requests = bench.ask(&[&a[0], &a[4], &a[8], &a[12]]);
        let (done, read) = bench.recall(None, |asking| {
            asking.pass(200);
            // Nor does anything join now.
            requests.push(asking.ask(&a[16]));
        });
        assert_eq!((done.cut, done.joined), (cut, 0), "{policy:?}");
        assert_eq!((done.delivered, done.mounts), (6, 3), "{policy:?}");
        let at = read.iter().position(|request| *request == overdue);
        let before = if cut > 0 { 1 } else { 4 };
        assert_eq!((at, read.len()), (Some(before), 6), "{policy:?}: {read:?}");
        requests.push(overdue);
        bench.assert_delivered(&requests);
    }
}

/// Waits, when the drive reads for one request, until another one is begun with.
struct Together<'a> {
    catalogue: &'a SqliteCatalogue,
    reads_for: RequestId,
    then: Option<Box<dyn FnOnce() -> RequestId + Send + 'a>>,
    other: Option<RequestId>,
    is_begun: Option<bool>,
}

impl Log for Together<'_> {
    fn event(&mut self, event: &Event) -> std::io::Result<()> {
        let reads = (event.action == Action::Read).then(|| request_of(event));
        let reads = reads.flatten();
        if reads == Some(self.reads_for)
            && let Some(then) = self.then.take()
        {
            self.other = Some(then());
        } else if reads.is_some_and(|one| one != self.reads_for && Some(one) != self.other)
            && let (Some(other), None) = (self.other, self.is_begun)
        {
            let until = Instant::now() + Duration::from_secs(30);
            let queued = || {
                let request = self.catalogue.request(other).expect("a request");
                request.state == RequestState::Queued
            };
            while queued() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(20));
            }
            self.is_begun = Some(!queued());
        }
        Ok(())
    }
}

#[test]
fn a_drive_that_goes_on_for_somebody_else_does_not_work_for_its_first_user_any_more() {
    let mut bench = Bench::of(2);
    bench.site.settings.mounts.drives_per_user = Some(1);
    bench.site.at_pace(Pace::Threads);
    let [a, b] = bench.paths.clone();
    let catalogue = Arc::clone(&bench.site.catalogue);
    let asking = Asking {
        catalogue: catalogue.as_ref(),
        to: &bench.to,
        now_ns: &bench.now_ns,
    };
    let first = asking.ask_as("ada", &a[0]);
    let mut log = Together {
        catalogue: catalogue.as_ref(),
        reads_for: first,
        // What others want of the cartridge joins the mount. The other cartridge waits, as one drive works for ada.
        then: Some(Box::new(|| {
            asking.pass(1);
            for path in &a[1..4] {
                asking.ask_as("bob", path);
            }
            asking.ask_as("ada", &b[0])
        })),
        other: None,
        is_begun: None,
    };
    let mut mover = Mover {
        catalogue: bench.site.catalogue.as_ref(),
        cache: &bench.site.cache,
        pool: &mut bench.site.pool,
        settings: &bench.site.settings,
        log: &mut log,
        lessee: None,
        stop: &AtomicBool::new(false),
        now_ns: &|| bench.now_ns.load(Ordering::Relaxed),
        new_uuid: &random_uuid,
    };
    let done = mover.recall().expect("recalled");
    assert_eq!((done.delivered, done.joined), (5, 3));
    assert_eq!(log.is_begun, Some(true));
}

#[test]
fn two_who_ask_for_much_of_a_cartridge_let_a_third_have_it_between_two_mounts() {
    for is_leased in [false, true] {
        let mut bench = Bench::new();
        bench.site.settings.mounts.drives_per_user = Some(1);
        bench.site.settings.mounts.most_per_mount = 2;
        let [a, _] = bench.paths.clone();
        let catalogue = Arc::clone(&bench.site.catalogue);
        let asking = Asking {
            catalogue: catalogue.as_ref(),
            to: &bench.to,
            now_ns: &bench.now_ns,
        };
        // What lies side by side would be read at once.
        for (user, paths) in [("ada", &a[..8]), ("cat", &a[8..16])] {
            for path in paths.iter().step_by(2) {
                asking.ask_as(user, path);
            }
            asking.pass(1);
        }
        let mut of_bob = None;
        let lessee = is_leased.then(|| bench.lessee());
        let (done, read) = bench.recall(lessee.as_ref(), |asking| {
            of_bob = Some(asking.ask_as("bob", &a[17]));
        });
        assert_eq!((done.delivered, read.len()), (9, 9));
        // Two for ada, two for cat, and then it is bob's turn, though the others have asked before.
        let place = read.iter().position(|&one| Some(one) == of_bob);
        assert!(place.is_some_and(|place| place <= 5), "{place:?}");
    }
}
