//! `make web`'s page in one file, as it is published, in Chromium and in Firefox.

use crate::firefox::Firefox;
use crate::page::READY;
use serde_json::json;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use tapewise::batch::Source;
use tapewise_house::browser::Browser;
use tapewise_house::driven::{Driven, axe};

/// The page, if it was made.
fn made() -> Option<PathBuf> {
    let file = tapewise_house::root().join("target/web/tapewise.html");
    if !file.exists() {
        eprintln!("SKIPPED: {} was not made (`make web`)", file.display());
    }
    file.canonicalize().ok()
}

#[test]
fn it_works_in_chromium_and_asks_for_nothing() {
    let Some(file) = made() else { return };
    let Some(mut browser) = Browser::start() else {
        eprintln!("SKIPPED: no chromium that starts, so the page in one file was not tried in it");
        return;
    };
    try_it(&mut browser, &file);
    let events = browser.events();
    let asked = events
        .iter()
        .filter(|event| event["method"] == "Network.requestWillBeSent")
        .filter_map(|event| event["params"]["request"]["url"].as_str());
    let inside = |url: &str| {
        let mut ways = ["file:", "data:", "blob:"].into_iter();
        ways.any(|way| url.starts_with(way))
    };
    let outside: Vec<&str> = asked.filter(|url| !inside(url)).collect();
    assert!(outside.is_empty(), "{outside:?}");
}

#[test]
fn it_works_in_firefox() {
    let Some(file) = made() else { return };
    let Some(mut browser) = Firefox::start() else {
        eprintln!("SKIPPED: no firefox that starts, so the page in one file was not tried in it");
        return;
    };
    try_it(&mut browser, &file);
}

/// All three views by keyboard, what is hostile, and the policy.
fn try_it<B: Driven>(browser: &mut B, file: &Path) {
    let nothing = &mut |_: &mut B| ();
    let axe = axe();
    let accessible = |browser: &mut B, what: &str| {
        if let Some(axe) = &axe {
            browser.assert_accessible(axe, what);
        }
    };
    browser.open(file, "");
    browser.wait(READY, nothing);
    browser.tab_to("#example");
    browser.press("Enter");
    let planned = "document.querySelectorAll('canvas').length === 2 \
                   && document.querySelector('#status').textContent === ''";
    browser.wait(planned, nothing);
    let rows = browser.value("document.querySelectorAll('tbody tr').length");
    assert_eq!(rows, json!(4));
    accessible(browser, "plan a tape");
    let refused = "new Promise((done) => { \
                   addEventListener('securitypolicyviolation', (e) => done(e.effectiveDirective)); \
                   fetch('http://127.0.0.1:9/').catch(() => 0); })";
    if browser.value("navigator.userAgent.includes('Firefox')") == json!(true) {
        assert_eq!(browser.value(refused), json!("connect-src"));
    }

    let folder = tempfile::tempdir().expect("a folder");
    for hostile in hostile(folder.path()) {
        let words = refusal(&hostile);
        browser.choose("#files", &hostile);
        let said = format!(
            "document.querySelector('#status').textContent === {}",
            json!(words)
        );
        browser.wait(&said, nothing);
    }

    browser.go("about:blank");
    browser.open(file, "#drives");
    let simulated = "document.querySelector('img.timeline')?.complete === true";
    browser.wait(simulated, nothing);
    accessible(browser, "how many drives");
    browser.go("about:blank");
    browser.open(file, "#papers");
    let drawn = "document.querySelectorAll('#papers-view .chart').length === 5";
    browser.wait(drawn, nothing);
    accessible(browser, "see the papers");
}

/// Indexes that are to be refused: a bomb, one that is cut off, one of 2 GiB that is one name.
fn hostile(folder: &Path) -> Vec<PathBuf> {
    let head = "<?xml version=\"1.0\"?><ltfsindex version=\"2.4.0\"><directory><name>x";
    let bomb =
        "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><ltfsindex>&b;</ltfsindex>";
    [
        ("bomb.xml", bomb, 0),
        ("cut.xml", head, 0),
        ("huge.xml", head, 2 << 30),
    ]
    .map(|(name, text, bytes)| {
        let path = folder.join(name);
        let mut file = File::create(&path).expect("a file");
        file.write_all(text.as_bytes()).expect("written");
        // The rest takes no room on the disk.
        file.set_len(bytes.max(text.len() as u64))
            .expect("a length");
        path
    })
    .into()
}

/// How the command line refuses an index.
fn refusal(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let file = BufReader::new(File::open(path).expect("a file"));
    let source = Source::recognise(&name, file, None);
    match source.and_then(|source| source.ltfs_index().map(|_| ())) {
        Err(error) => error.to_string(),
        Ok(()) => panic!("{name} is refused"),
    }
}
