//! `--html`: one page for a browser that needs nothing else, of each verb that writes one.

use crate::audit::log;
use crate::program::{Desk, ORDER};
use crate::simulate::LIBRARY;
use serde_json::json;
use tapewise_house::browser::Browser;
use tapewise_house::driven::{Driven, axe};

/// The page `page.html`: whole, with the answer first, pictures, and tables to save; and nothing from outside.
fn page(desk: &Desk, answer: &str, sheets: &[&str]) -> String {
    let page = desk.read("page.html");
    let body = page.split("<main>\n").nth(1).expect("a body");
    let first = body.lines().next().expect("a line");
    assert!(
        first.starts_with("<h1>") && first.contains(answer),
        "{first}"
    );
    assert!(page.ends_with("</html>\n"));
    for outside in ["http", "src=", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(
        page.contains("<figure class=\"zoom\" tabindex=\"0\"><svg"),
        "no picture"
    );
    assert!(page.contains("<title>"), "nothing to point at");
    for sheet in sheets {
        let link = format!("download=\"{sheet}.csv\" href=\"data:text/csv;charset=utf-8,");
        assert!(page.contains(&link), "{sheet}: {page}");
    }
    assert!(
        desk.names()
            .iter()
            .all(|name| !name.starts_with(".tapewise-"))
    );
    in_a_browser(desk, sheets);
    page
}

/// A place of the first mark that says something, in the middle of the window.
const MARK: &str = "(() => {
  const mark = document.querySelector('figure.zoom g > title').parentNode;
  mark.scrollIntoView({ block: 'center', inline: 'center' });
  const box = mark.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
})()";

/// The page `page.html` as a reader has it: it fits, zooms, says what a mark is, gives its tables, and asks for nothing.
fn in_a_browser(desk: &Desk, sheets: &[&str]) {
    let Some(mut browser) = Browser::start() else {
        eprintln!("SKIPPED: no chromium that starts, so page.html was not tried in it");
        return;
    };
    browser.open(&desk.path().join("page.html"), "");
    browser.wait("document.readyState === 'complete'", &mut |_| {});
    browser.assert_looks(axe().as_deref());
    let place = browser.value(MARK);
    let [x, y] = [0, 1].map(|at| place[at].as_f64().expect("a place"));
    browser.point(x, y);
    browser.wait("!document.querySelector('.tip').hidden", &mut |_| {});
    assert_ne!(
        browser.value("document.querySelector('.tip').textContent"),
        json!("")
    );
    let width = "document.querySelector('figure.zoom svg').viewBox.baseVal.width";
    let whole = browser.value(width).as_f64();
    let press = |name| format!("document.querySelector('button[aria-label=\"{name}\"]').click()");
    browser.value(&press("zoom in"));
    assert_eq!(
        browser.value(width).as_f64(),
        whole.map(|whole| whole / 2.0)
    );
    browser.value(&press("show all"));
    assert_eq!(browser.value(width).as_f64(), whole);
    for sheet in sheets {
        let link = format!("document.querySelector('a[download=\"{sheet}.csv\"]').href");
        let saved = browser.value(&format!("fetch({link}).then(answer => answer.text())"));
        let saved = saved.as_str().expect("a text");
        assert!(
            saved.lines().count() > 1 && saved.contains(','),
            "{sheet}: {saved}"
        );
    }
    for event in browser.events() {
        assert_ne!(event["method"], "Runtime.exceptionThrown", "{event}");
        let url = &event["params"]["request"]["url"];
        let url = url.as_str().unwrap_or("file:");
        assert!(
            url.starts_with("file:") || url.starts_with("data:"),
            "{url}"
        );
    }
}

#[test]
fn an_order_is_explained_on_a_page() {
    let desk = Desk::with_clips();
    desk.done(&format!("{ORDER} clips.csv --explain --html page.html"));
    let page = page(&desk, "8 reads in ", &["orders", "order"]);
    for words in [
        "than sorted by block",
        "positions: ",
        "bound: ",
        "number,request,begins_s",
        "<section id=\"players\">",
    ] {
        assert!(page.contains(words), "{words}");
    }
    desk.refused(
        &format!("{ORDER} clips.csv --html other.html"),
        &["--explain"],
    );
    desk.refused(
        &format!("{ORDER} clips.csv --explain --html one --plot one"),
        &["--plot and --html both name one"],
    );
}

#[test]
fn an_audit_is_a_page_with_its_hours_in_seconds() {
    let desk = Desk::new();
    desk.put("log.csv", log(50.0, 10.0));
    desk.done("audit --profile lto8 log.csv --html page.html");
    let sheets = ["orders", "hours-by-drive", "hours-by-volume"];
    let page = page(&desk, "of drive time", &sheets);
    assert!(page.contains("A,620,600,20%0A"), "{page}");
}

#[test]
fn a_simulation_and_a_capacity_are_pages() {
    let desk = Desk::new();
    desk.put("small.toml", LIBRARY);
    desk.done("simulate small.toml --html page.html");
    page(
        &desk,
        "small: mean response ",
        &["responses", "parts", "in-use", "slowest"],
    );
    let cases =
        "[[case]]\nname = \"calm\"\n[[case]]\nname = \"busy\"\narrivals = { per_hour = 900 }\n";
    desk.put("cases.toml", LIBRARY.to_owned() + cases);
    desk.done("simulate cases.toml --html page.html");
    let cases = page(&desk, "1 case unstable", &["cases"]);
    assert!(cases.contains("mean_low_s"));
    let args = "capacity small.toml --drives 2..5 --html page.html --target";
    let mut args: Vec<&str> = args.split(' ').collect();
    args.push("p95 < 60 s");
    assert_eq!(desk.run_args(b"", &args).code, 0);
    let page = page(&desk, "drives", &["capacity"]);
    assert!(page.contains("drives,robots,window_s"));
}

#[test]
fn a_measurement_and_a_check_are_pages_with_every_move() {
    let desk = Desk::new();
    let measure = "measure emulated:lto8 -o log.jsonl --only seek-bot,seek-mid";
    desk.done(&format!("{measure} --html page.html"));
    let measured = page(&desk, "a locate takes ", &["measured", "moves"]);
    assert!(measured.contains("emulated: it says nothing of hardware"));
    desk.refused(
        &format!("{measure} --html page.html --dry-run"),
        &["--dry-run"],
    );
    let index = tapewise_house::fixture("ltfs/lto8-36files.xml");
    desk.put("index.xml", std::fs::read(index).expect("the fixture"));
    desk.done("emulate lib --ltfs index.xml");
    desk.done("drive check emulated:lib --quick -o report.json --html page.html");
    page(&desk, "than profile lto8 predicts", &["predicted", "moves"]);
}
