//! Objects are stored: whole, as their bucket states them, and only if nobody writes to them meanwhile.

use crate::bucket_faults::Faulty;
use crate::site::{Site, terms};
use object_store::path::Path as Key;
use object_store::{Attribute, Attributes, ObjectStore, PutOptions, PutPayload};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tapewise_archive::bucket::{BucketUrl, Buckets};
use tapewise_archive::catalogue::Files;
use tapewise_archive::store::{Source, StoreError, StoreTerms, store_from, to_store};
use tapewise_emulator::Faults;
use tokio::runtime::Builder;

/// More than is read at once, and no multiple of it.
const LONG: usize = (20 << 20) + 7;

fn put(store: &Faulty, key: &str, contents: &[u8], sums: &str) {
    let mut attributes = Attributes::new();
    let stated = [
        ("tapewise-sums", sums),
        ("mtime", "1700000000.25"),
        ("mode", "0100640"),
    ];
    for (name, text) in stated {
        attributes.insert(Attribute::Metadata(name.into()), text.to_owned().into());
    }
    let options = PutOptions {
        attributes,
        ..PutOptions::default()
    };
    let payload = PutPayload::from(contents.to_vec());
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let key = Key::parse(key).expect("a key");
    let put = runtime.block_on(store.inner.put_opts(&key, payload, options));
    put.expect("put");
}

fn buckets(store: &Faulty) -> Buckets {
    Buckets::default().with("films", Arc::new(store.clone()))
}

fn found(buckets: &Buckets, url: &str) -> Result<Vec<Source>, StoreError> {
    let url = BucketUrl::new(url.as_bytes()).expect("a place");
    let mut sources = Vec::new();
    let bucket = buckets.open(&url).expect("a bucket");
    bucket.find(Path::new(""), &mut sources, &mut |other| panic!("{other}"))?;
    Ok(sources)
}

fn once() -> StoreTerms {
    StoreTerms {
        terms: terms(),
        copies: 1,
        replace: false,
        also: Vec::new(),
    }
}

fn stored(site: &Site, buckets: &Buckets, sources: &[Source]) -> Result<(), StoreError> {
    store_from(buckets, &site.cache, sources, &once(), 5).map(drop)
}

#[test]
fn objects_below_a_prefix_come_in_whole_with_time_and_mode_and_are_known_the_next_time() {
    let site = Site::new(1, 1, Faults::none());
    let store = Faulty::default();
    let long: Vec<u8> = (0..LONG).map(|at| (at * 7 % 251) as u8).collect();
    put(&store, "raw/reel 7/long#1", &long, "");
    put(&store, "raw/reel 7/empty", b"", "");
    put(&store, "raw/reel 77/not this", b"x", "");
    let buckets = buckets(&store);
    let sources = found(&buckets, "s3://films/raw/reel 7").expect("listed");
    let mut paths: Vec<String> = sources.iter().map(|one| one.path.to_string()).collect();
    paths.sort();
    assert_eq!(paths, ["reel 7/empty", "reel 7/long#1"]);
    stored(&site, &buckets, &sources).expect("stored");
    let id = site.id("reel 7/long#1");
    let file = site.catalogue.file(id).expect("a file").file;
    assert_eq!(
        (file.bytes, file.modified_ns, file.mode),
        (LONG as u64, 1_700_000_000_250_000_000, 0o640)
    );
    let mut cached = site.cache.read(id, None).expect("read").expect("cached");
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut cached, &mut bytes).expect("read");
    assert!(bytes == long);

    let catalogue = site.catalogue.as_ref();
    let cache = &site.cache;
    let again = to_store(&buckets, catalogue, cache, sources, &once(), &mut |_, _| {});
    let again = again.expect("asked");
    assert_eq!((again.new, again.to_copy), (vec![], vec![]));
    let one = found(&buckets, "s3://films/raw/reel 7/empty").expect("listed");
    assert_eq!(one[0].path.to_string(), "empty");
    assert_eq!(one[0].from, PathBuf::from("s3://films/raw/reel 7/empty"));
    let all = found(&buckets, "s3://films").expect("listed");
    assert!(
        all.iter()
            .any(|one| one.path.to_string() == "films/raw/reel 77/not this")
    );
    let none = found(&buckets, "s3://films/rawr").expect_err("nothing");
    assert!(none.to_string().contains("no object"), "{none}");
}

#[test]
fn an_object_that_changes_differs_from_its_sum_or_cannot_be_read_is_not_stored() {
    let site = Site::new(1, 1, Faults::none());
    let is_stored = || match site.catalogue.live_file(b"long") {
        Ok(live) => live.is_some(),
        Err(error) => panic!("{error}"),
    };
    let long = vec![7; LONG];
    type Check = fn(&StoreError) -> bool;
    type Fault = fn(&Faulty);
    let cases: [(&str, Fault, Check); 3] = [
        (
            "",
            |store| store.faults.changed_before.store(3, Ordering::SeqCst),
            |error| matches!(error, StoreError::Changed { .. }),
        ),
        (
            "md5:900150983cd24fb0d6963f7d28e17f72",
            |_| (),
            |error| matches!(error, StoreError::Mismatch { .. }),
        ),
        (
            "",
            |store| store.faults.is_down.store(true, Ordering::SeqCst),
            |error| matches!(error, StoreError::Unavailable { .. }),
        ),
    ];
    for (sums, fault, is_right) in cases {
        let store = Faulty::default();
        put(&store, "long", &long, sums);
        let buckets = buckets(&store);
        let sources = found(&buckets, "s3://films/long").expect("listed");
        fault(&store);
        let error = stored(&site, &buckets, &sources).expect_err("refused");
        assert!(is_right(&error), "{error}");
        assert!(error.to_string().contains("s3://films/long"), "{error}");
        assert!(!is_stored());
    }
}
