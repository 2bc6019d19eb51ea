//! Movers that share an archive: each file once, no cartridge written by two, whatever becomes of a mover.

use crate::site;

use site::{Site, Stopping, pool, pool_through};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tapewise_archive::cache::Cache;
use tapewise_archive::catalogue::{
    Catalogue, CatalogueError, Holder, Leases, OutOfUse, Outage, Requests, Resource,
    SqliteCatalogue, Volumes,
};
use tapewise_archive::mover::{Lessee, MoveError, Mover, Recalled, Settings, random_uuid};
use tapewise_emulator::{BadBlock, EmulatedTransport, Faults, Library};
use tapewise_formats::event::{Action, Event};
use tapewise_library::pool::{Pace, Pool};
use tapewise_order::Algorithm;
use tapewise_scsi::device::Host;
use tapewise_scsi::{Cdb, Completion, Data, LeaseKey, TapeDrive, Transport, TransportError};

const SECOND_NS: i64 = 1_000_000_000;
/// How long leases last.
const FOR_NS: i64 = 60 * SECOND_NS;

/// What movers share.
#[derive(Clone)]
struct Common {
    library: Library,
    catalogue: Arc<SqliteCatalogue>,
    cache: Cache,
    settings: Settings,
    /// The time, for all of them.
    now_ns: Arc<AtomicI64>,
    fences: bool,
}

impl Common {
    fn of(site: &Site) -> Common {
        Common {
            library: site.library.clone(),
            catalogue: Arc::clone(&site.catalogue),
            cache: site.cache.clone(),
            settings: site.settings.clone(),
            now_ns: Arc::new(AtomicI64::new(1_000 * SECOND_NS)),
            fences: true,
        }
    }

    fn lessee(&self, host: &str) -> Lessee {
        let clock = Arc::clone(&self.now_ns);
        let clock = Arc::new(move || clock.load(Ordering::Relaxed));
        let holder = Holder {
            host: host.to_owned(),
            process: 1,
            run: format!("run of {host}"),
        };
        let catalogue = Arc::clone(&self.catalogue) as Arc<dyn Catalogue>;
        let lessee = Lessee::new(catalogue, holder, FOR_NS, clock.clone(), clock);
        let lessee = lessee.expect("a mover");
        if self.fences {
            lessee
        } else {
            lessee.without_fence()
        }
    }

    /// Lets a mover work, and gives back what it had.
    fn work<T>(
        &self,
        host: &str,
        pool: &mut Pool,
        work: impl FnOnce(&mut Mover<'_>) -> Result<T, MoveError>,
    ) -> (Result<T, MoveError>, Vec<Event>) {
        let lessee = self.lessee(host);
        let mut events = Vec::new();
        let clock = Arc::clone(&self.now_ns);
        let mut mover = Mover {
            catalogue: self.catalogue.as_ref(),
            cache: &self.cache,
            pool,
            settings: &self.settings,
            lessee: Some(&lessee),
            log: &mut events,
            stop: &AtomicBool::new(false),
            now_ns: &|| clock.load(Ordering::Relaxed),
            new_uuid: &random_uuid,
        };
        let done = work(&mut mover);
        for drive in 0..pool.drives() {
            // What another mover has now is not this one's to bring back.
            let _ = pool.dismount(drive, &mut events);
        }
        lessee.give_back_all().expect("given back");
        (done, events)
    }

    fn pass(&self, ns: i64) {
        self.now_ns.fetch_add(ns, Ordering::Relaxed);
    }
}

/// A site with files on some volumes, and nothing in its cache.
fn stored(drives: u16) -> (Site, Vec<(String, Vec<u8>)>) {
    let mut site = Site::new(drives, 12, Faults::none());
    site.settings.volume_bytes = Some(200_000);
    let files = site.store(80, 1, 5);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    site.empty_cache();
    for drive in 0..usize::from(drives) {
        site.pool
            .dismount(drive, &mut site.events)
            .expect("dismounted");
    }
    (site, files)
}

#[test]
fn two_movers_share_the_queue_and_each_file_comes_once() {
    let (site, files) = stored(2);
    let to = site.destination("back");
    let mut site = site;
    site.request(&files.iter().collect::<Vec<_>>(), &to);
    let common = Common::of(&site);
    let recall = |host: &str, drive: usize| -> (Recalled, Vec<Event>) {
        let mut own = one_drive(&common.library, drive);
        let (done, events) = common.work(host, &mut own, |mover| mover.recall());
        (done.expect("recalled"), events)
    };
    let done = std::thread::scope(|scope| {
        let other = scope.spawn(|| recall("ada", 0));
        [recall("bob", 1), other.join().expect("a mover")]
    });
    let delivered: u64 = done.iter().map(|(done, _)| done.delivered).sum();
    assert_eq!(delivered, files.len() as u64);
    let volumes = |(_, events): &(Recalled, Vec<Event>)| -> BTreeSet<Option<String>> {
        let mounts = events.iter().filter(|event| event.action == Action::Mount);
        mounts.map(|event| event.cartridge.clone()).collect()
    };
    let [ada, bob] = [volumes(&done[0]), volumes(&done[1])];
    assert_eq!(ada.intersection(&bob).count(), 0, "{ada:?} {bob:?}");
    assert!(ada.len() + bob.len() >= 3, "{ada:?} {bob:?}");
    for (path, contents) in &files {
        assert!(
            &std::fs::read(to.join(path)).expect("delivered") == contents,
            "{path}"
        );
    }
    assert_eq!(site.catalogue.leases().expect("leases"), []);
    assert!(site.catalogue.unanswered().expect("a catalogue").is_empty());
    site.assert_integrity();
}

#[test]
fn a_cartridge_that_went_home_is_everybodys_while_its_drive_is_still_leased() {
    let (mut site, files) = stored(1);
    let to = site.destination("back");
    site.request(&files.iter().collect::<Vec<_>>(), &to);
    let common = Common::of(&site);
    let mut own = one_drive(&common.library, 0);
    own.set_pace(Pace::Threads);
    let (leases, _) = common.work("ada", &mut own, |mover| {
        mover.recall_and_empty(&|_| (), &|| false)?;
        Ok(common.catalogue.leases()?)
    });
    let drives = leases.expect("leases").into_iter();
    let volumes: Vec<_> = drives
        .filter(|lease| !lease.is_desk())
        .map(|lease| lease.volume)
        .collect();
    assert_eq!(volumes, [None]);
}

#[test]
fn a_catalogue_that_was_restored_gives_later_epochs_than_those_that_a_drive_has_seen() {
    let site = Site::new(1, 2, Faults::none());
    let common = Common::of(&site);
    let drive = || {
        let way = site.library.transport_to_drive(0).expect("a way");
        TapeDrive::open(Box::new(way)).expect("a drive")
    };
    let claimed = |host: &str, drive: &mut TapeDrive| {
        let lessee = common.lessee(host);
        let leased = lessee.claim(drive, None).expect("an answer");
        leased.expect("the drive").lease
    };
    let mut first = drive();
    let known = claimed("ada", &mut first);
    let keys = first
        .registrations()
        .expect("an answer")
        .expect("keys")
        .keys;
    let archive = LeaseKey::of_key(keys[0]).expect("a lease").archive;
    common.catalogue.give_back(&known).expect("given back");
    // What the catalogue does not know: a lease from after the copy.
    let mut forgotten = drive();
    let key = LeaseKey {
        archive,
        epoch: 900,
    };
    let fenced = forgotten.fence(&Host::local(), key, Arc::new(|| true));
    fenced.expect("fenced");
    let mut second = drive();
    assert_eq!(claimed("bob", &mut second).epoch, 901);
    let found = second.registrations().expect("an answer").expect("keys");
    assert_eq!(
        found.keys,
        [LeaseKey {
            archive,
            epoch: 901
        }
        .key()]
    );
    assert_eq!(common.catalogue.leases().expect("leases").len(), 1);
    // An epoch that is lost skips nothing.
    let skipped = common.catalogue.skip_epochs(&known, 5_000);
    assert!(matches!(skipped, Err(CatalogueError::LeaseLost { .. })));
}

/// A pool of one drive of the library.
fn one_drive(library: &Library, number: usize) -> Pool {
    site::pool_of(library, &[number], |_, transport| Box::new(transport))
}

/// A command that is on its way for longer than a lease lasts: sends it.
type Packet = Box<dyn FnOnce() + Send>;

/// The host's way to a drive, whose `write`th WRITE comes late; meanwhile something else happens.
struct Late {
    real: Arc<Mutex<EmulatedTransport>>,
    write: u64,
    meanwhile: Meanwhile,
}

/// What happens while a command is on its way; it is given the command.
type Meanwhile = Arc<Mutex<Option<Box<dyn FnOnce(Packet) + Send>>>>;

impl Transport for Late {
    fn name(&self) -> &str {
        "a drive far away"
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        const WRITE: u8 = 0x0a;
        self.write -= u64::from(cdb.opcode() == WRITE && self.write > 0);
        let (real, cdb) = (Arc::clone(&self.real), *cdb);
        let meanwhile = || self.meanwhile.lock().expect("nobody fails").take();
        match (data, self.write) {
            (Data::Out(bytes), 0)
                if cdb.opcode() == WRITE
                    && let Some(meanwhile) = meanwhile() =>
            {
                let (bytes, answer) = (bytes.to_vec(), Arc::new(Mutex::new(None)));
                let arrived = Arc::clone(&answer);
                meanwhile(Box::new(move || {
                    let done =
                        real.lock()
                            .expect("a drive")
                            .execute(&cdb, Data::Out(&bytes), timeout);
                    *arrived.lock().expect("nobody fails") = Some(done);
                }));
                let answer = answer.lock().expect("nobody fails").take();
                answer.expect("it has arrived at last")
            }
            (data, _) => real.lock().expect("a drive").execute(&cdb, data, timeout),
        }
    }

    fn now(&self) -> Duration {
        self.real.lock().expect("a drive").now()
    }

    fn wait(&mut self, duration: Duration) {
        self.real.lock().expect("a drive").wait(duration);
    }
}

/// The other host's way to the drive; before its `nth` command to it somebody else's arrives.
struct Crossed {
    real: EmulatedTransport,
    nth: u64,
    packet: Option<Packet>,
}

impl Transport for Crossed {
    fn name(&self) -> &str {
        self.real.name()
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        // From where it could do harm on: what it asks and reserves comes first.
        let moves = !matches!(cdb.opcode(), 0x00 | 0x03 | 0x12 | 0x5e | 0x5f | 0xa3);
        match self.nth.checked_sub(u64::from(moves)) {
            Some(left) => self.nth = left,
            None => {
                if let Some(packet) = self.packet.take() {
                    packet();
                }
            }
        }
        self.real.execute(cdb, data, timeout)
    }

    fn now(&self) -> Duration {
        self.real.now()
    }

    fn wait(&mut self, duration: Duration) {
        self.real.wait(duration);
    }
}

impl Drop for Crossed {
    fn drop(&mut self) {
        if let Some(packet) = self.packet.take() {
            packet();
        }
    }
}

#[test]
fn a_copy_with_which_another_mover_went_on_is_listed_again() {
    let mut site = Site::new(2, 4, Faults::none());
    site.settings.part_bytes = 16 << 10;
    let film = [("film".to_owned(), site::noise(5, 120 << 10))];
    site.store_these(&film, 1);
    let common = Common::of(&site);
    let (second, asked) = (common.clone(), AtomicI64::new(0));
    // When the first one labels the cartridge that it has chosen, the other one writes a part, after its own label.
    let meanwhile = move || {
        if asked.fetch_add(1, Ordering::Relaxed) == 1 {
            let mut pool = one_drive(&second.library, 1);
            let (done, _) = second.work("bob", &mut pool, |mover| {
                (mover.stop, mover.log) = Stopping::at(Action::WriteFilemarks, 2);
                mover.migrate(i64::MAX)
            });
            assert_eq!(done.expect("stopped").segments, 1);
        }
        random_uuid()
    };
    let meanwhile: &(dyn Fn() -> String + Sync) = Box::leak(Box::new(meanwhile));
    let (done, _) = common.work("ada", &mut one_drive(&common.library, 0), |mover| {
        mover.new_uuid = meanwhile;
        mover.migrate(i64::MAX)
    });
    assert_eq!(done.expect("migrated").files, 1);
    site.assert_integrity();
    site.empty_cache();
    site.assert_comes_back(&film, "back");
}

/// A mover checks its lease and sends a WRITE, which is on its way for longer than the lease lasts. Another mover takes
/// drive and cartridge over and writes all that waits; the WRITE arrives before its `nth` command. Gives how many files
/// came back wrong afterwards.
fn late_write(nth: u64, fences: bool) -> usize {
    let mut site = Site::new(1, 4, Faults::none());
    site.settings.overlap = false;
    site.settings.algorithm = Algorithm::Sort;
    let mut files = site.store(30, 1, 9);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    site.pool.dismount(0, &mut site.events).expect("dismounted");
    files.extend(site.store(30, 1, 10));
    let mut common = Common::of(&site);
    common.fences = fences;
    let second = common.clone();
    let takes_over = move |packet: Packet| {
        second.pass(2 * FOR_NS);
        let packet = Mutex::new(Some(packet));
        let through = |_, real| -> Box<dyn Transport> {
            let packet = packet.lock().expect("nobody fails").take();
            Box::new(Crossed { real, nth, packet })
        };
        let mut pool = pool_through(&second.library, 1, through);
        // Where nothing keeps the other one out it may well fail: what it has acknowledged counts.
        let _ = second.work("bob", &mut pool, |mover| mover.migrate(i64::MAX));
    };
    let meanwhile: Meanwhile = Arc::new(Mutex::new(Some(Box::new(takes_over))));
    let through = |_, real| -> Box<dyn Transport> {
        Box::new(Late {
            real: Arc::new(Mutex::new(real)),
            write: 10,
            meanwhile: Arc::clone(&meanwhile),
        })
    };
    let mut first = pool_through(&common.library, 1, through);
    let _ = common.work("ada", &mut first, |mover| mover.migrate(i64::MAX));
    drop(first);
    assert!(
        meanwhile.lock().expect("nobody fails").is_none(),
        "no command was late"
    );

    // Whoever comes next writes the rest; then all that the catalogue has on tape is read back.
    common.pass(2 * FOR_NS);
    site.pool = pool(&site.library, 1);
    let _ = site.mover(|mover| mover.migrate(i64::MAX));
    site.empty_cache();
    let to = site.destination("back");
    site.request(&files.iter().collect::<Vec<_>>(), &to);
    let _ = site.mover(|mover| mover.recall());
    let is_wrong = |(path, contents): &&(String, Vec<u8>)| {
        !std::fs::read(to.join(path)).is_ok_and(|read| &read == contents)
    };
    let wrong = files.iter().filter(is_wrong).count();
    if fences {
        site.assert_integrity();
    }
    wrong
}

#[test]
fn a_write_that_arrives_when_the_lease_is_over_destroys_nothing_because_of_the_fence() {
    let lost = |moments: &[u64], fences| -> Vec<usize> {
        moments.iter().map(|&nth| late_write(nth, fences)).collect()
    };
    let moments = [0, 3, 4];
    assert_eq!(lost(&moments, true), vec![0; moments.len()]);
    // Before the command that reads the label the head stands in front of it.
    let without = lost(&[3], false);
    assert!(without[0] > 0, "the fence would be for nothing");
}

#[test]
fn a_mover_begins_nothing_on_a_drive_or_cartridge_that_is_out_of_use() {
    let (mut site, files) = stored(1);
    let to = site.destination("back");
    site.request(&files.iter().collect::<Vec<_>>(), &to);
    let common = Common::of(&site);
    let labels: Vec<String> = site
        .catalogue
        .volumes()
        .expect("volumes")
        .into_iter()
        .map(|(_, volume)| volume.label)
        .collect();
    let out = |resource, name: &str, outage| OutOfUse {
        resource,
        name: name.to_owned(),
        outage,
        why: "it squeaks".to_owned(),
        since_ns: 6,
    };
    let recall = |common: &Common| {
        let (done, events) =
            common.work("ada", &mut pool(&common.library, 1), |mover| mover.recall());
        let mounts = events.iter().filter(|event| event.action == Action::Mount);
        let mut by_volume: BTreeMap<String, u64> = BTreeMap::new();
        for event in mounts {
            *by_volume
                .entry(event.cartridge.clone().expect("a cartridge"))
                .or_default() += 1;
        }
        (done.expect("recalled"), by_volume)
    };
    for what in [
        out(Resource::Host, "ada", Outage::Disabled),
        out(Resource::Drive, "TWD0000001", Outage::Disabled),
    ] {
        site.catalogue.take_out_of_use(&what).expect("noted");
        let (_, mounts) = recall(&common);
        assert_eq!(mounts, BTreeMap::new(), "{what:?}");
        site.catalogue
            .put_into_use(what.resource, &what.name)
            .expect("noted");
    }
    let unanswered = || site.catalogue.unanswered().expect("a catalogue").len() as u64;
    let before = unanswered();
    let one = out(Resource::Volume, &labels[0], Outage::Disabled);
    site.catalogue.take_out_of_use(&one).expect("noted");
    let (done, mounts) = recall(&common);
    assert!(!mounts.contains_key(&labels[0]), "{mounts:?}");
    assert_eq!(mounts.len(), labels.len() - 1);
    let left = unanswered();
    assert!(left > 0 && done.delivered + left == before, "{done:?}");
    let one = out(Resource::Volume, &labels[0], Outage::Broken);
    site.catalogue.take_out_of_use(&one).expect("noted");
    let (done, mounts) = recall(&common);
    assert_eq!((done.failed.len() as u64, mounts.len()), (left, 0));
    let why = done.failed[0].1.to_string();
    let said = format!("no copy of the file can be read: {one}");
    assert!(why.contains(&said), "{why}");
}

#[test]
fn a_cartridge_whose_label_cannot_be_read_is_tried_once_in_two_drives_at_most_and_then_left_alone()
{
    for (drives, tries) in [(1, 1), (2, 2), (3, 2)] {
        let bad = BadBlock {
            barcode: "TW0001".to_owned(),
            partition: 0,
            block: 0,
        };
        let faults = Faults {
            bad_blocks: vec![bad],
            ..Faults::none()
        };
        let (site, files) = stored(drives);
        let mut site = site.with_faults(faults);
        let to = site.destination("back");
        site.request(&files.iter().collect::<Vec<_>>(), &to);
        let common = Common::of(&site);
        let recall = || {
            let mut pool = pool(&common.library, drives);
            let (done, events) = common.work("ada", &mut pool, |mover| mover.recall());
            let mounts = events.into_iter().filter(|event| {
                event.action == Action::Mount && event.cartridge.as_deref() == Some("TW0001")
            });
            (done.expect("recalled"), mounts.count())
        };
        let waiting = || site.catalogue.unanswered().expect("a catalogue").len() as u64;
        let all = waiting();
        let (done, mounts) = recall();
        assert_eq!((mounts, done.failed.len()), (tries, 0));
        let left = waiting();
        assert!(left > 0 && done.delivered + left == all, "{done:?}");
        let [(label, why)] = &done.unavailable[..] else {
            panic!("{:?}", done.unavailable);
        };
        assert_eq!(label, "TW0001");
        assert!(why.starts_with("the label cannot be read: "), "{why}");
        assert!(why.contains("mover resume --volume TW0001"), "{why}");
        let out = site.catalogue.out_of_use().expect("a list");
        assert_eq!(
            out[0].to_string(),
            format!("volume TW0001 is disabled: {why}")
        );
        // Neither in the next round nor by another mover, until somebody says so.
        common.pass(3_600 * SECOND_NS);
        assert_eq!((recall().1, waiting()), (0, left));
        site.catalogue
            .put_into_use(Resource::Volume, "TW0001")
            .expect("noted");
        assert_eq!(recall().1, tries);
    }
}

#[test]
fn a_cartridge_that_is_another_one_or_that_no_drive_takes_is_tried_and_left_alone() {
    for (drives, is_other, said) in [
        (
            3,
            true,
            "TW0001 by its barcode; the label on tape says TW0002",
        ),
        (1, false, "cannot use TW0001"),
    ] {
        let (mut site, files) = stored(drives);
        let cartridges = site.directory.path().join("library/cartridges");
        let [mine, other] = ["TW0001", "TW0002"].map(|label| cartridges.join(label));
        if is_other {
            for file in ["0.data", "0.index"] {
                std::fs::copy(other.join(file), mine.join(file)).expect("another recording");
            }
        } else {
            std::fs::remove_dir_all(mine).expect("nothing that a drive takes");
        }
        let to = site.destination("back");
        site.request(&files.iter().collect::<Vec<_>>(), &to);
        let common = Common::of(&site);
        let recall = || {
            let mut pool = pool(&common.library, drives);
            let (done, events) = common.work("ada", &mut pool, |mover| mover.recall());
            let of = |event: &Event| event.cartridge.as_deref() == Some("TW0001");
            let tries: Vec<Event> = events.into_iter().filter(of).collect();
            (done.expect("recalled"), tries)
        };
        let (done, tries) = recall();
        assert!(!tries.is_empty() && done.failed.is_empty(), "{done:?}");
        let mounts = tries.iter().filter(|event| event.action == Action::Mount);
        assert_eq!(mounts.count(), usize::from(is_other));
        let [(label, why)] = &done.unavailable[..] else {
            panic!("{:?}", done.unavailable);
        };
        assert_eq!(label, "TW0001");
        for words in [said, "mover resume --volume TW0001"] {
            assert!(why.contains(words), "{words:?} not in {why}");
        }
        let out = site.catalogue.out_of_use().expect("a list");
        assert!(out[0].is_volume("TW0001"), "{out:?}");
        common.pass(3_600 * SECOND_NS);
        assert_eq!(recall().1, []);
        let resumed = site.catalogue.put_into_use(Resource::Volume, "TW0001");
        resumed.expect("noted");
        assert_eq!(recall().1.len(), tries.len());
    }
}
