//! What becomes of the queue: the emulated library, which knows nothing of the models, keeps to the forecast.

use crate::pull_list;
use crate::site::Site;
use std::collections::HashMap;
use tapewise_archive::catalogue::{
    Claim, FileId, Holder, Leases, OutOfUse, Outage, RequestId, RequestState, Requests, Resource,
    Wanted,
};
use tapewise_archive::forecast::{Awaited, Forecast};
use tapewise_archive::pull_list::Asking;
use tapewise_formats::event::Action;
use tapewise_model::Micros;

fn forecast(site: &Site) -> Forecast {
    forecast_with(site, 1)
}

fn forecast_with(site: &Site, drives: usize) -> Forecast {
    forecast_of(site, drives, 1)
}

fn forecast_of(site: &Site, drives: usize, robots: usize) -> Forecast {
    let asking = Asking {
        files: &[],
        now_ns: site.now_ns(),
        drives,
        robots,
    };
    let made = Forecast::of(site.catalogue.as_ref(), asking, u64::MAX, &site.settings);
    made.expect("a forecast")
}

fn holder() -> Holder {
    Holder {
        host: "tape1".to_owned(),
        process: 1,
        run: "a".to_owned(),
    }
}

/// The soonest and the latest time of each file.
fn by_file(site: &Site, forecast: &Forecast) -> HashMap<FileId, (Micros, Micros)> {
    let of = |one: &Awaited| {
        let request = site.catalogue.request(one.request).expect("a request");
        (request.file, (one.soonest, one.latest))
    };
    forecast.recalls.iter().map(of).collect()
}

#[test]
fn recalls_are_answered_between_the_times_of_the_forecast() {
    let (mut site, files) = pull_list::site();
    let wanted: Vec<_> = files.iter().step_by(3).collect();
    let to = site.destination("back");
    let requests = site.request(&wanted, &to);
    let forecast = forecast(&site);
    assert_eq!(forecast.recalls.len(), wanted.len());
    assert!(forecast.recalls.is_sorted_by_key(|one| one.latest));
    let expected = by_file(&site, &forecast);
    pull_list::assert_as_expected(
        &expected,
        &pull_list::recalled(&mut site, &wanted, requests),
    );
}

#[test]
fn what_drives_have_begun_is_likely_from_now_on_and_makes_the_rest_later() {
    let (mut site, files) = pull_list::site();
    let to = site.destination("back");
    let wanted: Vec<_> = files.iter().step_by(5).collect();
    let requests = site.request(&wanted, &to);
    let before = forecast(&site);
    let (begun, waiting) = requests.split_at(requests.len() / 2);
    site.catalogue.start(begun, site.now_ns()).expect("started");
    let after = forecast(&site);
    assert_eq!(after.recalls.len(), before.recalls.len());
    let sum = |forecast: &Forecast, of: fn(&Awaited) -> Micros| {
        let waiting = forecast
            .recalls
            .iter()
            .filter(|one| waiting.contains(&one.request));
        waiting.map(of).sum::<Micros>()
    };
    for one in &after.recalls {
        let state = site
            .catalogue
            .request(one.request)
            .expect("a request")
            .state;
        assert_eq!(state == RequestState::Started, one.soonest == Micros::ZERO);
    }
    assert!(sum(&after, |one| one.soonest) < sum(&before, |one| one.soonest));
    // What a drive has begun of a cartridge is read without what waits for the cartridge: one mount more.
    assert!(sum(&after, |one| one.latest) >= sum(&before, |one| one.latest));
}

#[test]
fn a_busy_drive_is_free_later_and_its_cartridge_is_in_no_other_one() {
    let (mut site, files) = pull_list::site();
    let to = site.destination("back");
    let wanted: Vec<_> = files.iter().step_by(5).collect();
    site.request(&wanted, &to);
    assert_eq!(forecast(&site).busy, []);
    let volumes = site.catalogue.recall_queue().expect("a queue").volumes;
    let queue = volumes.iter().max_by_key(|queue| queue.waiting.len());
    let queue = queue.expect("a volume");
    let holder = holder();
    let claim = Wanted {
        drive: "TWD0000001",
        volume: Some(queue.volume),
        holder: &holder,
        for_ns: 1_000_000_000,
    };
    let claimed = site.catalogue.claim(&claim, site.now_ns());
    let Claim::Got(lease) = claimed.expect("an answer") else {
        panic!("somebody has it");
    };
    let waiting = &queue.waiting[1..];
    let requests: Vec<RequestId> = waiting.iter().map(|one| one.request).collect();
    let taken = site.catalogue.take(&lease, &requests, site.now_ns());
    assert_eq!(taken.expect("begun"), requests);

    let one = forecast_with(&site, 1);
    let [busy] = &one.busy[..] else {
        panic!("{:?}", one.busy);
    };
    assert_eq!((&busy.lease, &busy.label), (&Some(lease), &queue.label));
    assert_eq!(busy.recalls, requests.len());
    assert!(one.pulls.iter().all(|pull| pull.begins >= busy.most));
    let files = one.pulls.iter().map(|pull| pull.files);
    assert_eq!(files.sum::<usize>(), wanted.len() - requests.len());

    let other = Wanted {
        drive: "TWD0000002",
        volume: None,
        ..claim
    };
    let claimed = site.catalogue.claim(&other, site.now_ns());
    claimed.expect("an answer");
    let two = forecast_with(&site, 2);
    assert!(two.pulls[0].begins < busy.most, "the other drive is free");
    let again = two.pulls.iter().find(|pull| pull.label == queue.label);
    assert!(again.expect("one is left").begins >= busy.most);
}

#[test]
fn drives_that_nobody_uses_read_nothing() {
    let (mut site, files) = pull_list::site();
    let wanted: Vec<_> = files.iter().step_by(5).collect();
    let to = site.destination("back");
    site.request(&wanted, &to);
    let last = |forecast: &Forecast| forecast.recalls.last().map(|one| one.latest);
    let [one, three] = [1, 3].map(|drives| forecast_with(&site, drives));
    assert!(last(&three) < last(&one));
    let out_of_use = |name: &str| OutOfUse {
        resource: Resource::Drive,
        name: name.to_owned(),
        outage: Outage::Disabled,
        why: String::new(),
        since_ns: 1,
    };
    for drive in ["TWD0000002", "TWD0000003"] {
        let taken = site.catalogue.take_out_of_use(&out_of_use(drive));
        taken.expect("out of use");
        let left = forecast_with(&site, 3);
        assert!(last(&left) > last(&three), "{drive}");
    }
    assert_eq!(forecast_with(&site, 3), one);
    for drive in ["TWD0000002", "TWD0000003"] {
        let used = site.catalogue.put_into_use(Resource::Drive, drive);
        assert!(used.expect("in use"));
    }
    // The only mover there is has one of the three.
    let holder = holder();
    let claim = Wanted {
        drive: "TWD0000001",
        volume: None,
        holder: &holder,
        for_ns: 1_000_000_000,
    };
    let claimed = site.catalogue.claim(&claim, site.now_ns());
    claimed.expect("an answer");
    let leased = forecast_with(&site, 3);
    assert_eq!((&leased.pulls, last(&leased)), (&one.pulls, last(&one)));
    let soonest = |forecast: &Forecast| forecast.recalls.last().map(|one| one.soonest);
    assert!(soonest(&leased) < soonest(&one), "others may join");
}

#[test]
fn cartridges_come_one_after_the_other_if_there_is_one_robot() {
    let (mut site, files) = pull_list::site();
    let wanted: Vec<_> = files.iter().collect();
    let to = site.destination("back");
    let requests = site.request(&wanted, &to);
    let begins = |forecast: &Forecast| -> Vec<Micros> {
        let pulls = forecast.pulls.iter().take(3);
        pulls.map(|pull| pull.begins).collect()
    };
    let ten = Micros(10_000_000);
    let waiting = forecast_with(&site, 3);
    assert_eq!(begins(&waiting), [Micros::ZERO, ten, ten + ten]);
    // What three drives have begun at the same moment.
    site.catalogue
        .start(&requests, site.now_ns())
        .expect("started");
    let busy = |robots| forecast_of(&site, 3, robots).busy;
    let pairs = busy(1).into_iter().zip(busy(3));
    let later: Vec<Micros> = pairs.map(|(one, other)| one.most - other.most).collect();
    // A robot takes another cartridge away before it brings one.
    let change = ten + ten;
    assert_eq!(later, [Micros::ZERO, change, change + change]);
}

#[test]
fn the_queue_is_explained_in_the_order_in_which_its_cartridges_are_mounted() {
    let (mut site, files) = pull_list::site();
    let wanted: Vec<_> = files.iter().step_by(5).collect();
    let to = site.destination("back");
    assert_eq!(forecast(&site), Forecast::default());
    site.request(&wanted, &to);
    let explained = forecast(&site).pulls;
    let said: Vec<&str> = explained.iter().map(|pull| pull.label.as_str()).collect();
    assert_eq!(
        explained.iter().map(|pull| pull.files).sum::<usize>(),
        wanted.len()
    );
    site.mover(|mover| mover.recall()).expect("recalled");
    let mounts = site.events.iter();
    let mounts = mounts.filter(|event| event.action == Action::Mount);
    let mounted: Vec<&str> = mounts
        .filter_map(|event| event.cartridge.as_deref())
        .collect();
    assert_eq!(mounted, said);
}
