//! Contents of files that are on disk, as clients read them.

use crate::desk::{LONG_BYTES, desk, paths};
use tapewise_serve::Limits;
use tower::ServiceExt as _;

#[test]
fn a_file_that_somebody_took_out_of_the_cache_is_staged_from_tape_again() {
    let desk = desk(Limits::default());
    desk.stage(&["/d/1"]);
    desk.deliver("d/1", &[7; 100]);
    let cache = desk.directory.path().join("A/cache");
    let away = desk.directory.path().join("away");
    std::fs::rename(&cache, &away).expect("not mounted");
    let read = || desk.ask("GET", "/files/d/1", "");
    assert_eq!(read().status, 500);
    std::fs::rename(&away, &cache).expect("mounted");
    assert_eq!(read().status, 200, "its record stayed");
    let take_away = || std::fs::remove_file(desk.in_cache(desk.file("d/1"))).expect("taken away");
    take_away();
    read().refused(409, "Stage it first");
    let id = desk.stage(&["/d/1"]);
    assert_eq!(desk.poll(&id), ["/d/1 SUBMITTED"]);
    // Nobody has tried to read it.
    desk.deliver("d/1", &[7; 100]);
    let locality = || desk.post("archiveinfo", paths(&["/d/1"])).json()[0]["locality"].take();
    assert_eq!(locality(), "DISK_AND_TAPE");
    take_away();
    assert_eq!(locality(), "TAPE");
    let id = desk.stage(&["/d/1"]);
    assert_eq!(desk.poll(&id), ["/d/1 SUBMITTED"]);
}

#[test]
fn a_file_that_was_cut_in_the_cache_is_not_served_and_is_staged_from_tape_again() {
    let desk = desk(Limits::default());
    desk.stage(&["/d/1"]);
    desk.deliver("d/1", &[7; 100]);
    let place = desk.in_cache(desk.file("d/1"));
    std::fs::write(&place, [7; 50]).expect("cut");
    let read = || desk.ask("GET", "/files/d/1", "");
    read().refused(409, "Stage it first");
    assert!(!place.exists(), "what was left of it takes room");
    let id = desk.stage(&["/d/1"]);
    assert_eq!(desk.poll(&id), ["/d/1 SUBMITTED"]);
    desk.deliver("d/1", &[7; 100]);
    assert_eq!(read().status, 200);
}

#[test]
fn nothing_is_read_from_the_cache_of_a_later_catalogue() {
    let desk = desk(Limits::default());
    desk.stage(&["/d/1"]);
    desk.deliver("d/1", &[7; 100]);
    let tie = desk.directory.path().join("A/cache/catalogue-id");
    let text = std::fs::read_to_string(&tie).expect("a tie");
    let mut words = text.split(' ');
    let (id, generation) = (words.next().expect("an id"), words.next());
    let later = generation
        .and_then(|word| word.parse::<u64>().ok())
        .expect("a number")
        + 1;
    let line = words.next().expect("a line");
    std::fs::write(&tie, format!("{id} {later} {line}")).expect("as after a restore");
    let read = || desk.ask("GET", "/files/d/1", "");
    read().refused(503, "does not belong to the catalogue");
    let said = desk.service.look_after(i64::MAX).expect_err("for the log");
    assert!(said.contains("older than the cache"), "{said}");
    assert_eq!(desk.send("GET", "/health/ready", &[], "").status, 503);
    std::fs::write(&tie, text).expect("the later catalogue is back");
    assert_eq!(read().status, 200);
    desk.service.look_after(i64::MAX).expect_err("what it was");
    assert_eq!(desk.send("GET", "/health/ready", &[], "").status, 200);
}

#[test]
fn a_part_of_a_file_comes_with_its_place_and_goes_on_only_in_the_same_file() {
    let desk = desk(Limits::default());
    desk.stage(&["/d/1"]);
    let contents: Vec<u8> = (0..100).collect();
    desk.deliver("d/1", &contents);
    let ask = |method: &str, more: &[(&str, &str)]| {
        let token = [("authorization", &*desk.token)];
        desk.send(method, "/files/d/1", &[&token, more].concat(), "")
    };
    let whole = ask("HEAD", &[]);
    let header = |name: &str| whole.headers[name].to_str().expect("text").to_owned();
    assert_eq!(header("content-length"), "100");
    assert_eq!(header("accept-ranges"), "bytes");
    // What the catalogue has: 3 ns after 1970, and an MD5 sum.
    assert_eq!(header("last-modified"), "Thu, 01 Jan 1970 00:00:00 GMT");
    assert_eq!(
        header("digest"),
        "adler32=0a0b0c0d,md5=AAECAwQFBgcICQoLDA0ODw=="
    );
    let tag = header("etag");
    for more in [&[][..], &[("if-range", &*tag)]] {
        let part = ask("GET", &[&[("range", "bytes=40-59")], more].concat());
        assert_eq!(
            (part.status, part.body.as_bytes()),
            (206, &contents[40..60])
        );
        assert_eq!(part.headers["content-range"], "bytes 40-59/100");
        assert_eq!(part.headers["content-length"], "20");
    }
    let other = ask("GET", &[("range", "bytes=40-59"), ("if-range", "\"x\"")]);
    assert_eq!((other.status, other.body.len()), (200, 100), "another file");
    for same in ["*", &format!("\"x\", {tag}")] {
        let part = ask("GET", &[("range", "bytes=40-59"), ("if-match", same)]);
        assert_eq!(part.status, 206, "{same}");
    }
    let other = ask("GET", &[("range", "bytes=40-59"), ("if-match", "\"x\"")]);
    other.refused(412, "another ETag");
    for known in ["*", &format!("\"x\", W/{tag}")] {
        let same = ask("GET", &[("range", "bytes=40-59"), ("if-none-match", known)]);
        assert_eq!((same.status, &*same.body), (304, ""), "{known}");
        assert_eq!(same.headers["etag"], tag);
    }
    let other = ask("GET", &[("if-none-match", "\"x\"")]);
    assert_eq!((other.status, other.body.len()), (200, 100));
    let beyond = ask("GET", &[("range", "bytes=100-")]);
    beyond.refused(416, "100 bytes");
    assert_eq!(beyond.headers["content-range"], "bytes */100");
}

#[test]
fn who_reads_slowly_keeps_nobody_waiting_and_gets_all_of_it() {
    let desk = desk(Limits::default());
    desk.stage(&["/d/long"]);
    let long: Vec<u8> = (0..LONG_BYTES).map(|at| (at % 251) as u8).collect();
    desk.deliver("d/long", &long);
    // One thread for all that waits for a disk or the catalogue.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .enable_time()
        .build();
    runtime.expect("a runtime").block_on(async {
        let router = || desk.router.clone();
        let slow = router().oneshot(desk.get("/files/d/long")).await;
        let slow = slow.expect("an answer");
        let other = router().oneshot(desk.get("/api/v1/queue")).await;
        assert_eq!(other.expect("an answer").status(), 200);
        let read = axum::body::to_bytes(slow.into_body(), 1 << 26).await;
        assert!(read.expect("a body") == long);
    });
}

#[test]
fn a_name_that_is_no_text_is_staged_and_read_by_its_escapes() {
    let desk = desk(Limits::default());
    let id = desk.stage(&["/d/caf%e9"]);
    desk.deliver(b"d/caf\xe9", &[7; 100]);
    assert_eq!(desk.poll(&id), ["/d/caf%e9 COMPLETED"]);
    let read = desk.ask("GET", "/files/d/caf%E9", "");
    assert_eq!((read.status, read.body.as_bytes()), (200, &[7; 100][..]));
    let nothing = desk.ask("GET", "/files/d/%FF", "");
    nothing.refused(404, r"d/\xff");
    let nobody = desk.ask("GET", "/api/v1/requests/%FF", "");
    nobody.refused(400, "not UTF-8");
}
