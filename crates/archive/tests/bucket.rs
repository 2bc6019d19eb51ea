//! Buckets as destinations: an object is there whole and verified, or it is not there.

use crate::bucket_faults::Faulty;
use crate::site::{Site, terms};
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tapewise_archive::bucket::{Bucket, BucketUrl, Buckets, Upload};
use tapewise_archive::catalogue::{FileId, NewRecall, RequestId, RequestState, Requests};
use tapewise_archive::deliver::{DeliverError, Delivered, Expected, InnerPath, Metadata, Presence};
use tapewise_archive::mover::FullPlace;
use tapewise_archive::sums::{Kind, Sum};
use tapewise_emulator::Faults;
use tokio::runtime::Builder;

/// In one part, and in several of which the last is shorter.
const LENGTHS: [usize; 3] = [0, 4_000, (20 << 20) + 7];

fn place(store: &Faulty) -> Bucket {
    let buckets = Buckets::default().with("films", Arc::new(store.clone()));
    buckets.open(&url()).expect("a bucket")
}

fn url() -> BucketUrl {
    BucketUrl::new(b"s3://films/out").expect("a place")
}

fn contents(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 % 251) as u8).collect()
}

fn clip() -> InnerPath {
    InnerPath::new("reel 7/clip#1").expect("a path")
}

const CLIP: &str = "out/reel 7/clip#1";

fn expected(contents: &[u8]) -> Expected {
    Expected {
        sums: vec![Sum::of(Kind::Xxh3, contents)],
        metadata: Metadata {
            modified_ns: Some(1_700_000_000_123_456_789),
            ..Metadata::default()
        },
        ..Expected::of(contents.len() as u64)
    }
}

fn begin(place: &Bucket, contents: &[u8]) -> Upload {
    let upload = place.begin(&clip(), expected(contents)).expect("begun");
    upload.expect("not there yet")
}

/// Writes as a tape does: in blocks, of which none ends where a part does.
fn write(mut upload: Upload, contents: &[u8]) -> Result<Delivered, DeliverError> {
    for block in contents.chunks(300_000) {
        upload.write(block)?;
    }
    upload.finish()
}

/// What an object holds; `None` where there is none.
fn there(store: &dyn ObjectStore, key: &str) -> Option<Vec<u8>> {
    let key = Key::parse(key).expect("a key");
    run(async { Some(store.get(&key).await.ok()?.bytes().await.ok()?.to_vec()) })
}

fn put(store: &dyn ObjectStore, key: &str, contents: &[u8]) {
    let payload = PutPayload::from(contents.to_vec());
    run(store.put(&Key::parse(key).expect("a key"), payload)).expect("put");
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(future)
}

#[test]
fn a_file_is_an_object_when_its_sums_have_matched_and_is_sent_once() {
    for length in LENGTHS {
        let (store, contents) = (Faulty::default(), contents(length));
        let place = place(&store);
        let mut upload = begin(&place, &contents);
        upload.write(&contents).expect("written");
        assert_eq!(there(&store, CLIP), None, "{length}");
        let delivered = upload.finish().expect("delivered");
        assert_eq!(delivered.sums, expected(&contents).sums);
        assert_eq!(there(&store, CLIP), Some(contents.clone()), "{length}");
        assert_eq!(store.open_uploads(), 0);

        let again = place.begin(&clip(), expected(&contents)).expect("asked");
        assert!(again.is_none(), "{length}: it is there already");
    }
}

#[test]
fn of_a_file_that_is_not_what_it_should_be_nothing_is_left() {
    for length in &LENGTHS[1..] {
        let (store, contents) = (Faulty::default(), contents(*length));
        let place = place(&store);
        let mut other = contents.clone();
        other[length - 1] ^= 1;
        let wrong = write(begin(&place, &contents), &other);
        assert!(
            matches!(wrong, Err(DeliverError::Mismatch { .. })),
            "{wrong:?}"
        );
        let short = write(begin(&place, &contents), &contents[1..]);
        assert!(
            matches!(short, Err(DeliverError::Short { .. })),
            "{short:?}"
        );
        let beyond = write(begin(&place, &contents[1..]), &contents);
        assert!(
            matches!(beyond, Err(DeliverError::Beyond { .. })),
            "{beyond:?}"
        );
        let mut dropped = begin(&place, &contents);
        dropped.write(&contents).expect("written");
        drop(dropped);
        assert_eq!(there(&store, CLIP), None);
        assert_eq!(store.open_uploads(), 0);
    }
}

#[test]
fn a_connection_that_is_cut_leaves_nothing_and_the_same_can_be_tried_again() {
    let (store, contents) = (Faulty::default(), contents(LENGTHS[2]));
    let place = place(&store);
    store.faults.refused_part.store(2, Ordering::SeqCst);
    let error = write(begin(&place, &contents), &contents).expect_err("cut");
    assert!(error.is_of_destination(), "{error}");
    assert_eq!(error.to_string(), "s3://films/out: connection reset");
    assert_eq!((there(&store, CLIP), store.open_uploads()), (None, 0));
    write(begin(&place, &contents), &contents).expect("delivered");
    assert_eq!(there(&store, CLIP), Some(contents));
}

#[test]
fn an_object_that_was_made_counts_though_its_answer_was_lost() {
    for length in LENGTHS {
        let (store, contents) = (Faulty::default(), contents(length));
        let upload = begin(&place(&store), &contents);
        store.faults.loses_answer.store(true, Ordering::SeqCst);
        write(upload, &contents).expect("delivered");
        assert_eq!(there(&store, CLIP), Some(contents));
    }
}

#[test]
fn what_is_there_is_never_replaced() {
    let (store, contents) = (Faulty::default(), contents(LENGTHS[1]));
    let place = place(&store);
    let late = begin(&place, &contents);
    put(&store, CLIP, b"another");
    let refused = write(late, &contents);
    assert!(
        matches!(refused, Err(DeliverError::Exists { .. })),
        "{refused:?}"
    );
    let refused = place.begin(&clip(), expected(&contents));
    let said = refused.expect_err("taken").to_string();
    assert!(said.contains("it has 7 bytes, not 4000"), "{said}");
    assert_eq!(there(&store, CLIP), Some(b"another".to_vec()));
}

#[test]
fn an_object_that_states_no_sum_is_read_and_compared() {
    for length in &LENGTHS[1..] {
        let (store, contents) = (Faulty::default(), contents(*length));
        let place = place(&store);
        put(&store, CLIP, &contents);
        let presence = place.presence(&clip(), &expected(&contents));
        assert!(
            matches!(presence, Ok(Presence::Delivered(..))),
            "{presence:?}"
        );
        let mut other = contents.clone();
        other[length - 1] ^= 1;
        put(&store, CLIP, &other);
        let presence = place.presence(&clip(), &expected(&contents));
        assert!(matches!(presence, Ok(Presence::Other(_))), "{presence:?}");
    }
}

fn recall(site: &Site, file: FileId, to: &[u8]) -> RequestId {
    let recall = NewRecall {
        file,
        terms: terms(),
        destination: Some(to.to_vec()),
    };
    site.catalogue.submit(&[recall], 1).expect("a request")[0]
}

#[test]
fn recalls_go_to_buckets_and_one_that_is_down_holds_up_only_its_own() {
    let mut site = Site::new(2, 3, Faults::none());
    let store = Faulty::default();
    site.settings.buckets = Buckets::default().with("films", Arc::new(store.clone()));
    let mut files = site.store(6, 1, 7);
    files.push(("long".to_owned(), contents(LENGTHS[2])));
    site.store_these(&files[6..], 1);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("on tape");
    site.reopen_cache(1 << 30, 0);
    let open = site.destination("open");
    store.faults.is_down.store(true, Ordering::SeqCst);
    let elsewhere = recall(
        &site,
        site.id(&files[0].0),
        open.as_os_str().as_encoded_bytes(),
    );
    let files = &files[1..];
    let requests: Vec<RequestId> = files
        .iter()
        .map(|(path, _)| recall(&site, site.id(path), b"s3://films/out"))
        .collect();
    let state = |site: &Site, request| site.catalogue.request(request).expect("one").state;

    let done = site.mover(|mover| mover.recall()).expect("recalled");
    assert_eq!((done.delivered, done.failed), (1, vec![]));
    assert_eq!(state(&site, elsewhere), RequestState::Delivered);
    let full = FullPlace {
        place: Some("s3://films/out".into()),
        why: "s3://films/out: connection refused".to_owned(),
    };
    assert_eq!(done.full, [full]);
    for &request in &requests {
        assert_eq!(state(&site, request), RequestState::Queued);
    }

    store.faults.is_down.store(false, Ordering::SeqCst);
    let done = site.mover(|mover| mover.recall()).expect("recalled");
    assert_eq!(done.delivered, files.len() as u64);
    for (path, contents) in files {
        assert_eq!(
            there(&store, &format!("out/{path}")).as_ref(),
            Some(contents),
            "{path}"
        );
    }
    assert_eq!(store.open_uploads(), 0);
    assert!(site.catalogue.unanswered().expect("read").is_empty());
}
