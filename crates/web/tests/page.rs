//! The page in a browser, where there is one: its scripts with the engine compiled for this machine behind them, so
//! that nothing has to be built for WebAssembly first. `one_file` tries what `make web` made.
//!
//! Whether two programs find the same plan is not asked here: `same.mjs` compares the module with the command line.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Command;
use tapewise_house::browser::Browser;
use tapewise_house::driven::{Driven, axe};
use tapewise_web::desk::{Desk, Reader};

/// Gives the page workers whose questions come to this test. No setting of the page's own undoes it.
const NATIVE: &str = r#"(() => {
  const workers = [];
  class Native {
    constructor() { this.number = workers.push(this) - 1; this.files = []; }
    terminate() { workers[this.number] = undefined; }
    async postMessage({ module, files, id, question }) {
      if (module) return queueMicrotask(() => this.onmessage({ data: { ready: true } }));
      if (files) return void this.files.push(...files);
      const text = question.ask === "read" ? await this.files[question.file].text() : null;
      tellTest(JSON.stringify({ engine: this.number, id, question, text }));
    }
  }
  globalThis.answerPage = (engine, id, answer) => workers[engine]?.onmessage({ data: { id, answer } });
  const parts = { module: async () => new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]), worker: () => new Native() };
  Object.defineProperty(globalThis, "tapewiseParts", { get: () => parts, set() {} });
})()"#;

/// The engines behind a page, and what the page asked the network for.
#[derive(Default)]
struct Behind {
    desks: HashMap<u64, (Desk, HashMap<u64, String>)>,
    asked: Vec<String>,
}

impl Behind {
    /// Answers what the page has asked.
    fn serve(&mut self, browser: &mut Browser) {
        for event in browser.events() {
            let params = &event["params"];
            match event["method"].as_str() {
                Some("Network.requestWillBeSent") => {
                    let url = params["request"]["url"].as_str().unwrap_or_default();
                    self.asked.push(url.to_owned());
                }
                Some("Runtime.exceptionThrown") => panic!("the page threw: {params}"),
                Some("Runtime.bindingCalled") => {
                    let payload = params["payload"].as_str().unwrap_or_default();
                    let asked: Value = serde_json::from_str(payload).expect("JSON");
                    let answer = self.answer(&asked);
                    let call =
                        format!("answerPage({}, {}, {answer})", asked["engine"], asked["id"]);
                    browser.value(&format!("void {call}"));
                }
                _ => {}
            }
        }
    }

    fn answer(&mut self, asked: &Value) -> String {
        let engine = asked["engine"].as_u64().expect("a number");
        let (desk, files) = self.desks.entry(engine).or_default();
        if let Some(text) = asked["text"].as_str() {
            let number = asked["question"]["file"].as_u64().expect("a number");
            files.insert(number, text.to_owned());
        }
        let files = files.clone();
        let open = move |file: u32| {
            let text = files.get(&u64::from(file)).cloned().unwrap_or_default();
            Box::new(Cursor::new(text)) as Reader
        };
        let answer = desk.answer(asked["question"].to_string().as_bytes(), &open);
        String::from_utf8(answer).expect("UTF-8")
    }
}

/// A page in a browser.
struct Page {
    browser: Browser,
    behind: Behind,
    file: PathBuf,
    folder: tempfile::TempDir,
}

impl Page {
    fn wait(&mut self, expression: &str) {
        let behind = &mut self.behind;
        self.browser
            .wait(expression, &mut |browser| behind.serve(browser));
        behind.serve(&mut self.browser);
    }

    fn text(&mut self, selector: &str) -> String {
        let value = self.browser.value(&format!(
            "document.querySelector({}).textContent",
            json!(selector)
        ));
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Chooses a file of this name and text.
    fn give(&mut self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        self.browser.choose("#files", &path);
        path
    }
}

/// The crate's folder.
fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The page's parts with an empty module, in one file.
fn assembled(folder: &Path) -> PathBuf {
    let parts = folder.join("parts");
    std::fs::create_dir(&parts).expect("a folder");
    for from in ["page", "../plot/parts"] {
        for entry in std::fs::read_dir(here().join(from)).expect("the page's parts") {
            let entry = entry.expect("a file");
            std::fs::copy(entry.path(), parts.join(entry.file_name())).expect("copied");
        }
    }
    std::fs::write(parts.join("tapewise.wasm"), b"").expect("written");
    let made = Command::new("python3")
        .arg(here().join("one_file.py"))
        .arg(&parts)
        .output();
    let made = made.expect("python3");
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let file = folder.join("page.html");
    std::fs::write(&file, made.stdout).expect("written");
    file
}

/// The page with the native engine behind it; `None` where there is no browser.
fn native() -> Option<Page> {
    let Some(mut browser) = Browser::start() else {
        eprintln!("SKIPPED: no chromium that starts, so the page was not tried in a browser");
        return None;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let file = assembled(folder.path());
    browser.ask("Runtime.addBinding", json!({"name": "tellTest"}));
    browser.ask(
        "Page.addScriptToEvaluateOnNewDocument",
        json!({"source": NATIVE}),
    );
    Some(Page {
        browser,
        behind: Behind::default(),
        file,
        folder,
    })
}

pub const READY: &str = "document.querySelector('#drive')?.options.length > 5 \
                     && document.querySelector('#status').textContent === ''";

#[test]
fn a_tape_is_planned_by_keyboard_and_nothing_leaves_the_page() {
    let Some(mut page) = native() else { return };
    let axe = axe();
    page.browser.open(&page.file.clone(), "");
    page.wait(READY);
    page.browser.tab_to("#example");
    page.browser.press("Enter");
    page.wait("document.querySelectorAll('canvas').length === 2");
    page.wait("document.querySelector('#status').textContent === ''");
    assert!(
        page.text(".answer").contains("instead of"),
        "{}",
        page.text(".answer")
    );
    assert_eq!(
        page.browser
            .value("document.querySelectorAll('tbody tr').length"),
        json!(4)
    );
    let save = "#result .controls button";
    page.browser.tab_to(save);
    page.browser.value(
        "HTMLAnchorElement.prototype.click = function () { globalThis.saved = this.download; }; 0",
    );
    page.browser.press(" ");
    page.wait("globalThis.saved === 'SHOW_A.txt'");
    page.browser.tab_to(".players + .controls button");
    page.browser.press("Enter");
    page.wait("document.querySelector('.players + .controls button').textContent === 'Pause'");
    page.browser.press("Enter");
    page.wait("document.querySelector('.players + .controls button').textContent === 'Play'");
    page.browser.assert_looks(axe.as_deref());

    // The policy holds: no script of a text, no style of an attribute, no request.
    let refused = "new Promise((done) => { \
                   addEventListener('securitypolicyviolation', (e) => done(e.effectiveDirective)); \
                   fetch('http://127.0.0.1:9/').catch(() => 0); })";
    assert_eq!(page.browser.value(refused), json!("connect-src"));
    let evaluated = "(() => { try { return eval('1') } catch { return 'refused' } })()";
    assert_eq!(page.browser.value(evaluated), json!("refused"));
    page.wait("true");
    let inside = |url: &&String| {
        ["file:", "data:", "blob:"]
            .iter()
            .any(|way| url.starts_with(way))
    };
    let outside: Vec<&String> = page
        .behind
        .asked
        .iter()
        .filter(|url| !inside(url))
        .collect();
    assert!(
        outside.iter().all(|url| *url == "http://127.0.0.1:9/"),
        "{outside:?}"
    );
}

#[test]
fn sizes_are_those_of_the_command_line() {
    let Some(mut browser) = Browser::start() else {
        eprintln!("SKIPPED: no chromium that starts, so the sizes were not looked at");
        return;
    };
    let words = tapewise_house::root().join("crates/plot/parts/words.js");
    let words = std::fs::read_to_string(words);
    let words = words.expect("the words").replace("export ", "");
    for count in [999, 1_230, 20_500, 200_000_000, 150_000_000_000_u64] {
        let said = browser.value(&format!("(() => {{ {words} return bytes({count}); }})()"));
        let said = said.as_str().expect("words").to_owned();
        let ours = tapewise::model::units::bytes(count);
        let number = |said: &str| said.split(' ').next().map(str::parse::<f64>);
        assert_eq!(number(&said), number(&ours), "{said}, {ours}");
        assert_eq!(said.split(' ').nth(1), ours.split(' ').nth(1), "{said}");
    }
}

#[test]
fn what_is_hostile_is_refused_in_the_words_of_the_command_line() {
    let Some(mut page) = native() else { return };
    page.browser.open(&page.file.clone(), "");
    page.wait(READY);
    let bomb =
        "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><ltfsindex>&b;</ltfsindex>";
    let cut = "<?xml version=\"1.0\"?><ltfsindex version=\"2.4.0\"><directory><name>x</name>";
    for (name, text) in [("bomb.xml", bomb), ("cut.xml", cut)] {
        let source = tapewise::batch::Source::recognise(name, text.as_bytes(), None);
        let words = match source.and_then(|source| source.ltfs_index().map(|_| ())) {
            Err(error) => error.to_string(),
            Ok(()) => panic!("{name} is refused"),
        };
        page.give(name, text);
        page.wait(&format!(
            "document.querySelector('#status').textContent === {}",
            json!(words)
        ));
    }
    // A script in a name is a name.
    let script = "&lt;img src=x onerror='globalThis.hacked = true'&gt;.mov";
    let index = format!(
        "<ltfsindex version=\"2.4.0\"><volumeuuid>00000000-0000-4000-8000-000000000001</volumeuuid><directory>\
         <name>{script}</name><contents><file><name>{script}</name><length>5242880</length><extentinfo><extent>\
         <fileoffset>0</fileoffset><partition>b</partition><startblock>100</startblock><byteoffset>0</byteoffset>\
         <bytecount>5242880</bytecount></extent></extentinfo></file></contents></directory></ltfsindex>"
    );
    page.give("<b>.xml", &index);
    page.wait("document.querySelectorAll('#read li').length === 1 && !document.querySelector('#plan').disabled");
    page.browser.tab_to("#plan");
    page.browser.press("Enter");
    page.wait("document.querySelectorAll('canvas').length === 2");
    page.wait("document.querySelector('#status').textContent === ''");
    assert_eq!(
        page.browser.value("globalThis.hacked === undefined"),
        json!(true)
    );
    assert_eq!(
        page.browser
            .value("document.querySelectorAll('img, b').length"),
        json!(0)
    );
    assert!(
        page.text(".clock").contains("1 file read"),
        "{}",
        page.text(".clock")
    );
}

#[test]
fn a_library_is_sized_and_a_link_holds_it() {
    let Some(mut page) = native() else { return };
    let axe = axe();
    page.browser.open(&page.file.clone(), "#drives");
    let small = "name = 'small'\nrequests = 300\nreplications = 3\narrivals = { pattern = 'poisson', per_hour = 60 }\n\
                 [[library]]\nname = 'one'\nrobot = { get_s = 10, put_s = 10 }\n\
                 drive = [{ count = 2, load_s = 20, unload_s = 20, search_s = 40, rewind_s = 20, rate_mb_s = 300 }]\n\
                 cartridge = [{ count = 100 }]\n";
    page.wait("document.querySelector('#scenario-text')?.value.length > 100");
    let set = format!(
        "document.querySelector('#scenario-text').value = {}; 0",
        json!(small)
    );
    page.browser.value(&set);
    page.browser
        .value("document.querySelector('#drives-view details').open = true; 0");
    page.browser.tab_to("#use-text");
    page.browser.press("Enter");
    let three = "document.querySelector('#sizing-table caption')?.textContent.startsWith('With 3 drives, 3 r') === true";
    let done =
        "document.querySelector('#sizing-status').textContent.startsWith('3 replications of each')";
    page.wait(done);
    page.wait("document.querySelector('img.timeline')?.complete === true");
    assert!(
        page.text("#sizing-table caption")
            .starts_with("With 2 drives, 3 replications")
    );
    page.browser
        .value("document.querySelector('#drive-count').focus(); 0");
    page.browser.press("ArrowRight");
    page.wait(three);
    page.wait(done);
    page.browser.assert_looks(axe.as_deref());
    page.browser.tab_to("#copy-link");
    page.browser.press("Enter");
    page.wait("location.hash.startsWith('#drives=')");
    let link = page
        .browser
        .value("location.hash")
        .as_str()
        .unwrap_or_default()
        .to_owned();

    page.browser.open(Path::new("/dev/null"), "");
    page.browser.open(&page.file.clone(), &link);
    page.wait(three);
    assert_eq!(
        page.browser
            .value("document.querySelector('#scenario-text').value"),
        json!(small)
    );
    page.wait(done);

    page.browser.open(&page.file.clone(), "#papers");
    page.wait("document.querySelectorAll('#papers-view .chart').length === 5");
    page.browser.assert_looks(axe.as_deref());
    page.wait("true");
    let inside = |url: &String| {
        ["file:", "data:", "blob:"]
            .iter()
            .any(|way| url.starts_with(way))
    };
    assert!(
        page.behind.asked.iter().all(inside),
        "{:?}",
        page.behind.asked
    );
}
