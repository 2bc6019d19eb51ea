//! Leases on drives and cartridges: who has what, what a lost one keeps from being written, what is out of use.

use crate::{catalogue_help, on_each_database};

use catalogue_help::{assert_sound, store, volume, write_whole, written};
use std::slice::from_ref;
use std::sync::Arc;
use tapewise_archive::catalogue::{
    Answer, CacheKey, Catalogue, CatalogueError, Claim, FileId, Holder, Lease, NewRecall, OutOfUse,
    Outage, RequestId, RequestState, Resource, Terms, VolumeId, Wanted,
};
use tapewise_archive::movers::why_nobody_begins;

on_each_database!(
    a_drive_and_a_cartridge_have_one_holder_until_the_lease_ends,
    renewing_keeps_a_lease_and_says_which_ones_are_lost,
    a_mover_that_only_renews_ends_what_a_dead_one_has_left,
    a_lease_made_after_the_clock_was_set_back_is_seen_and_ends,
    a_request_is_begun_for_one_lease_and_waits_again_when_that_ends,
    whoever_lost_a_lease_writes_nothing_more_and_its_write_is_given_up,
    what_is_out_of_use_is_given_to_nobody_and_what_is_broken_is_read_from_elsewhere,
    what_waits_is_begun_by_nobody_if_no_mover_works_or_none_may,
);

const FOR_NS: i64 = 100;

fn mover(host: &str, run: &str) -> Holder {
    Holder {
        host: host.to_owned(),
        process: 7,
        run: run.to_owned(),
    }
}

fn claim(
    catalogue: &dyn Catalogue,
    holder: &Holder,
    drive: &str,
    volume: Option<VolumeId>,
    at_ns: i64,
) -> Claim {
    let wanted = Wanted {
        drive,
        volume,
        holder,
        for_ns: FOR_NS,
    };
    catalogue.claim(&wanted, at_ns).expect("an answer")
}

fn got(claim: Claim) -> Lease {
    match claim {
        Claim::Got(lease) => lease,
        other => panic!("{other:?}"),
    }
}

fn is_lost<T: std::fmt::Debug>(result: tapewise_archive::catalogue::Result<T>) -> bool {
    matches!(result, Err(CatalogueError::LeaseLost { .. }))
}

/// Two volumes; a file on the first, one on both, and recalls of them.
struct Queue {
    catalogue: Arc<dyn Catalogue>,
    volumes: [VolumeId; 2],
    files: [FileId; 2],
    requests: Vec<RequestId>,
}

fn queue(catalogue: Arc<dyn Catalogue>) -> Queue {
    let volumes = ["T00001L8", "T00002L8"];
    let volumes = volumes.map(|label| catalogue.add_volume(&volume(label), 1).expect("added"));
    let stores = [
        (CacheKey(1), store("one", 1000, 1)),
        (CacheKey(2), store("both", 1000, 2)),
    ];
    let stored = catalogue.store_cached(&stores, 2).expect("stored");
    let files = [stored[0].0, stored[1].0];
    write_whole(&*catalogue, volumes[0], &[(files[0], 1), (files[1], 1)], 3).expect("written");
    write_whole(&*catalogue, volumes[1], &[(files[1], 2)], 3).expect("written");
    catalogue.evict(u64::MAX, &[], 4).expect("evicted");
    let recalls = files.map(|file| NewRecall {
        file,
        terms: Terms::default(),
        destination: Some(b"/to".to_vec()),
    });
    let requests = catalogue.submit(&recalls, 5).expect("submitted");
    Queue {
        catalogue,
        volumes,
        files,
        requests,
    }
}

impl Queue {
    /// What waits for each volume.
    fn waiting(&self) -> Vec<(String, usize)> {
        let queue = self.catalogue.recall_queue().expect("the queue");
        let volumes = queue.volumes.into_iter();
        volumes
            .map(|queue| (queue.label, queue.waiting.len()))
            .collect()
    }

    fn state(&self, at: usize) -> RequestState {
        let request = self.catalogue.request(self.requests[at]);
        request.expect("the request").state
    }
}

fn a_drive_and_a_cartridge_have_one_holder_until_the_lease_ends(catalogue: Arc<dyn Catalogue>) {
    let queue = queue(catalogue);
    let catalogue = &*queue.catalogue;
    let [one, two] = queue.volumes;
    let (ada, bob) = (mover("ada", "a"), mover("bob", "b"));
    let first = got(claim(catalogue, &ada, "D1", Some(one), 10));
    assert_eq!(first.until_ns, 110);
    // Neither the cartridge in another drive, nor the drive for another cartridge, also for the holder itself.
    for (holder, drive, volume) in [
        (&bob, "D2", Some(one)),
        (&bob, "D1", Some(two)),
        (&bob, "D1", None),
        (&ada, "D2", Some(one)),
    ] {
        let answer = claim(catalogue, holder, drive, volume, 109);
        assert_eq!(answer, Claim::Taken(first.clone()), "{drive}");
    }
    let second = got(claim(catalogue, &bob, "D2", Some(two), 109));
    assert!(second.epoch > first.epoch);
    // The holder goes on to the next cartridge in the same drive, and its first lease is over.
    assert!(catalogue.give_back(&second).expect("an answer"));
    // What works without a lease has an epoch that no lease has.
    let [without, another] = [(); 2].map(|()| catalogue.new_epoch().expect("an epoch"));
    assert!(second.epoch < without && without < another);
    let third = got(claim(catalogue, &ada, "D1", Some(two), 109));
    assert!(third.epoch > another);
    assert!(!catalogue.give_back(&first).expect("an answer"));
    assert_eq!(catalogue.leases().expect("leases"), from_ref(&third));
    // At its end to the nanosecond anybody may have both.
    let taken_over = got(claim(catalogue, &bob, "D1", Some(two), 209));
    assert!(taken_over.epoch > third.epoch);
    assert_eq!(catalogue.leases().expect("leases"), [taken_over]);
}

fn renewing_keeps_a_lease_and_says_which_ones_are_lost(catalogue: Arc<dyn Catalogue>) {
    let queue = queue(catalogue);
    let catalogue = &*queue.catalogue;
    let [one, two] = queue.volumes;
    let (ada, bob) = (mover("ada", "a"), mover("bob", "b"));
    let first = got(claim(catalogue, &ada, "D1", Some(one), 10));
    let second = got(claim(catalogue, &ada, "D2", Some(two), 50));
    let renewed = catalogue.renew(&ada, FOR_NS, 100).expect("renewed");
    assert_eq!(
        renewed
            .iter()
            .map(|lease| (lease.epoch, lease.until_ns))
            .collect::<Vec<_>>(),
        [(first.epoch, 200), (second.epoch, 200)]
    );
    // A clock that goes backwards shortens nothing.
    let renewed = catalogue.renew(&ada, FOR_NS, 20).expect("renewed");
    assert!(renewed.iter().all(|lease| lease.until_ns == 200));
    // Late, but before anybody else has come: it is as if it had been in time.
    let renewed = catalogue.renew(&ada, FOR_NS, 250).expect("renewed");
    assert_eq!(renewed.len(), 2);
    // Somebody else claims something, and what is over ends for good.
    got(claim(catalogue, &bob, "D3", None, 350));
    assert_eq!(catalogue.renew(&ada, FOR_NS, 351).expect("an answer"), []);
    assert_eq!(catalogue.leases().expect("leases").len(), 1);
}

fn a_mover_that_only_renews_ends_what_a_dead_one_has_left(catalogue: Arc<dyn Catalogue>) {
    let queue = queue(catalogue);
    let catalogue = &*queue.catalogue;
    let (ada, bob) = (mover("ada", "a"), mover("bob", "b"));
    let dead = got(claim(
        catalogue,
        &ada,
        "drive 1",
        Some(queue.volumes[0]),
        1_000,
    ));
    let begun = catalogue.take(&dead, &queue.requests[..1], 1_001);
    assert_eq!(begun.expect("begun").len(), 1);
    let idle = got(claim(catalogue, &bob, &bob.desk(), None, 1_050));
    let state = || catalogue.request(queue.requests[0]).expect("there").state;
    catalogue.renew(&bob, FOR_NS, 1_099).expect("renewed");
    assert_eq!(state(), RequestState::Started);
    let renewed = catalogue.renew(&bob, FOR_NS, 1_101).expect("renewed");
    assert_eq!(renewed.len(), 1);
    assert_eq!(state(), RequestState::Queued);
    assert_eq!(catalogue.leases().expect("leases")[0].epoch, idle.epoch);
}

fn a_lease_made_after_the_clock_was_set_back_is_seen_and_ends(catalogue: Arc<dyn Catalogue>) {
    let queue = queue(catalogue);
    let catalogue = &*queue.catalogue;
    let [one, two] = queue.volumes;
    let (ada, bob) = (mover("ada", "a"), mover("bob", "b"));
    // Whoever claims has looked at all leases up to its time; later ones are not looked for there.
    got(claim(catalogue, &ada, "D1", Some(one), 1_000));
    let second = got(claim(catalogue, &bob, "D2", Some(two), 500));
    let answer = claim(catalogue, &ada, "D2", None, 700);
    assert_eq!(answer, Claim::Taken(second.clone()));
    let answer = claim(catalogue, &ada, "D3", Some(two), 1_050);
    assert_eq!(answer, Claim::Taken(second));
    assert_eq!(catalogue.end_expired(1_200).expect("ended"), 2);
    assert_eq!(catalogue.leases().expect("leases"), []);
}

fn a_request_is_begun_for_one_lease_and_waits_again_when_that_ends(catalogue: Arc<dyn Catalogue>) {
    let queue = queue(catalogue);
    let catalogue = &*queue.catalogue;
    let [one, two] = queue.volumes;
    let (ada, bob) = (mover("ada", "a"), mover("bob", "b"));
    let lease = got(claim(catalogue, &ada, "D1", Some(one), 10));
    let other = got(claim(catalogue, &bob, "D2", Some(two), 10));
    assert_eq!(
        catalogue.take(&lease, &queue.requests, 11).expect("taken"),
        queue.requests
    );
    let mounts = catalogue.begun().expect("an answer").mounts;
    let epochs: Vec<Option<u64>> = mounts.iter().map(|mount| mount.epoch).collect();
    assert_eq!(epochs, [Some(lease.epoch)]);
    assert_eq!(catalogue.leased_drives().expect("leases"), 2);
    // The file on both cartridges is read from one of them.
    assert_eq!(
        catalogue
            .take(&other, &queue.requests[1..], 11)
            .expect("an answer"),
        []
    );
    assert_eq!(queue.waiting(), []);
    // Whoever has the whole archive to itself leaves alone what a mover has begun.
    assert_eq!(catalogue.requeue_started().expect("an answer"), 0);
    let under = catalogue.under(&lease);
    under
        .answer(queue.requests[0], &Answer::Delivered, 12)
        .expect("answered");
    assert!(catalogue.give_back(&lease).expect("an answer"));
    assert_eq!(queue.state(0), RequestState::Delivered);
    assert_eq!(queue.state(1), RequestState::Queued);
    let both = [("T00001L8".to_owned(), 1), ("T00002L8".to_owned(), 1)];
    assert_eq!(queue.waiting(), both);
    // One that nobody renewed: the next claim of anybody brings its requests back.
    catalogue
        .take(&other, &queue.requests[1..], 13)
        .expect("taken");
    assert_eq!(queue.waiting(), []);
    assert_eq!(catalogue.end_expired(109).expect("an answer"), 0);
    assert_eq!(catalogue.end_expired(110).expect("an answer"), 1);
    assert_eq!(queue.waiting(), both);
    assert!(is_lost(catalogue.take(&other, &queue.requests, 111)));
    assert_sound(catalogue);
}

fn whoever_lost_a_lease_writes_nothing_more_and_its_write_is_given_up(
    catalogue: Arc<dyn Catalogue>,
) {
    let queue = queue(catalogue);
    let catalogue = &*queue.catalogue;
    let [one, _] = queue.volumes;
    let stores = [(CacheKey(3), store("new", 500, 1))];
    let file = catalogue.store_cached(&stores, 6).expect("stored")[0].0;
    let (ada, bob) = (mover("ada", "a"), mover("bob", "b"));
    let lease = got(claim(catalogue, &ada, "D1", Some(one), 10));
    let under = catalogue.under(&lease);
    let write = under.begin_write(one, &[(file, 1)], 11).expect("begun");
    under.take(&lease, &queue.requests, 11).expect("taken");

    let next = got(claim(catalogue, &bob, "D1", Some(one), 110));
    assert_eq!(
        catalogue.open_writes().expect("writes"),
        [],
        "given up by the claim"
    );
    let record = written(write.first_block, &[(file, 1, 0, 500)]);
    assert!(is_lost(under.commit_write(write.id, &record, 111)));
    assert!(is_lost(under.abandon_write(write.id)));
    assert!(is_lost(
        under.begin_write(one, &[(file, 1)], 111).map(|_| ())
    ));
    assert!(is_lost(under.answer(
        queue.requests[0],
        &Answer::Delivered,
        111
    )));
    assert!(is_lost(under.requeue(&queue.requests)));
    assert!(is_lost(under.mark_lost(queue.files[0], 1, 111)));
    assert!(is_lost(under.stage_cached(
        CacheKey(4),
        queue.files[0],
        1000,
        111
    )));
    assert_eq!(queue.state(0), RequestState::Queued);
    // Looking is allowed to everybody.
    assert_eq!(under.volumes().expect("volumes").len(), 2);

    let under = catalogue.under(&next);
    let write = under.begin_write(one, &[(file, 1)], 112).expect("begun");
    under
        .commit_write(write.id, &record, 113)
        .expect("committed");
    assert_sound(catalogue);
}

fn what_is_out_of_use_is_given_to_nobody_and_what_is_broken_is_read_from_elsewhere(
    catalogue: Arc<dyn Catalogue>,
) {
    let queue = queue(catalogue);
    let catalogue = &*queue.catalogue;
    let [one, two] = queue.volumes;
    let ada = mover("ada", "a");
    let out = |resource, name: &str, outage| OutOfUse {
        resource,
        name: name.to_owned(),
        outage,
        why: "it squeaks".to_owned(),
        since_ns: 6,
    };
    for what in [
        out(Resource::Host, "ada", Outage::Disabled),
        out(Resource::Drive, "D1", Outage::Broken),
        out(Resource::Volume, "T00001L8", Outage::Disabled),
    ] {
        catalogue.take_out_of_use(&what).expect("noted");
        let answer = claim(catalogue, &ada, "D1", Some(one), 10);
        assert_eq!(answer, Claim::OutOfUse(what.clone()));
        assert_eq!(catalogue.out_of_use().expect("a list"), from_ref(&what));
        assert!(
            catalogue
                .put_into_use(what.resource, &what.name)
                .expect("an answer")
        );
        assert!(
            !catalogue
                .put_into_use(what.resource, &what.name)
                .expect("an answer")
        );
    }
    got(claim(catalogue, &ada, "D1", Some(one), 10));

    // Disabled: the file that is nowhere else waits. Broken: it fails, and the other comes from its other copy.
    let second = [("T00002L8".to_owned(), 1)];
    let disabled = out(Resource::Volume, "T00001L8", Outage::Disabled);
    catalogue.take_out_of_use(&disabled).expect("noted");
    assert_eq!(queue.waiting(), second);
    let open = catalogue.recall_queue().expect("the queue");
    assert_eq!(open.stranded, []);
    assert_eq!(open.disabled, [(queue.requests[0], "T00001L8".to_owned())]);
    let broken = out(Resource::Volume, "T00001L8", Outage::Broken);
    catalogue.take_out_of_use(&broken).expect("noted");
    assert_eq!(catalogue.out_of_use().expect("a list"), [broken]);
    assert_eq!(queue.waiting(), second);
    let open = catalogue.recall_queue().expect("the queue");
    assert_eq!(open.stranded, [(queue.requests[0], queue.files[0])]);
    assert_eq!(open.disabled, []);
    assert!(matches!(
        claim(catalogue, &ada, "D2", Some(two), 10),
        Claim::Got(_)
    ));
}

fn what_waits_is_begun_by_nobody_if_no_mover_works_or_none_may(catalogue: Arc<dyn Catalogue>) {
    let queue = queue(Arc::clone(&catalogue));
    let catalogue = catalogue.as_ref();
    let why = |at_ns| why_nobody_begins(catalogue, at_ns).expect("an answer");
    let none =
        "no mover works for this archive: start `tapewise mover` on a host that reaches the drives";
    assert_eq!(why(1).as_deref(), Some(none));
    // A process that has the archive to itself has begun something.
    catalogue.start(&queue.requests, 2).expect("begun");
    assert_eq!(why(3), None);
    catalogue.requeue_started().expect("put back");
    // An idle mover has a lease on itself.
    let ada = mover("ada", "a");
    let desk = got(claim(catalogue, &ada, &ada.desk(), None, 4));
    assert_eq!(why(5), None);
    let out = OutOfUse {
        resource: Resource::Host,
        name: "ada".to_owned(),
        outage: Outage::Disabled,
        why: "a new kernel".to_owned(),
        since_ns: 6,
    };
    catalogue.take_out_of_use(&out).expect("noted");
    assert_eq!(
        why(7).as_deref(),
        Some("no mover may begin anything: host ada is disabled: a new kernel")
    );
    catalogue
        .put_into_use(Resource::Host, "ada")
        .expect("an answer");
    // It dies with a drive: what it had begun waits again when its leases are over.
    let lease = got(claim(catalogue, &ada, "D1", None, 8));
    catalogue.take(&lease, &queue.requests, 9).expect("begun");
    assert_eq!(why(10), None);
    for lease in [desk, lease] {
        catalogue.give_back(&lease).expect("given back");
    }
    assert_eq!(queue.state(0), RequestState::Queued);
    assert_eq!(why(11).as_deref(), Some(none));
}
