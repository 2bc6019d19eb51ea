//! What a test does with a browser, whichever it is.

use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// After this long without what is waited for, something hangs. It says nothing about how long anything takes.
pub const HANGS: Duration = Duration::from_secs(120);

/// A browser with one page.
pub trait Driven {
    /// Opens an address.
    fn go(&mut self, url: &str);

    /// What an expression of the page is worth; a promise's value if it is one.
    fn value(&mut self, expression: &str) -> Value;

    /// Chooses a file in an input.
    fn choose(&mut self, selector: &str, file: &Path);

    /// Presses a key, as a person at the keyboard does.
    fn press(&mut self, key: &str);

    /// Opens a file.
    fn open(&mut self, path: &Path, fragment: &str) {
        self.go(&format!("file://{}{fragment}", path.display()));
    }

    /// Waits until an expression of the page is true; `meanwhile` sees what happens.
    fn wait(&mut self, expression: &str, meanwhile: &mut dyn FnMut(&mut Self)) {
        let begun = Instant::now();
        while self.value(expression) != json!(true) {
            meanwhile(self);
            if begun.elapsed() > HANGS {
                let text = self.value("document.body.innerText");
                panic!("never: {expression}; the page says: {text}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Goes on with the Tab key until this element has the focus.
    fn tab_to(&mut self, selector: &str) {
        let there = format!("document.activeElement.matches({})", json!(selector));
        for _ in 0..200 {
            if self.value(&there) == json!(true) {
                return;
            }
            self.press("Tab");
        }
        panic!("the keyboard does not reach {selector}");
    }

    /// Whether the page has no findings of axe.
    fn assert_accessible(&mut self, axe: &str, what: &str) {
        self.value(&format!("{axe}; 0"));
        let found = "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => \
                     `${id}: ${nodes.map(({ html }) => html).join(' ').slice(0, 300)}`))";
        assert_eq!(self.value(found), json!([]), "axe, {what}");
    }
}

/// The text of axe-core, where `make web-test` has put it.
pub fn axe() -> Option<String> {
    let file = crate::root().join("target/web-tools/node_modules/axe-core/axe.min.js");
    let text = std::fs::read_to_string(&file).ok();
    if text.is_none() {
        eprintln!(
            "SKIPPED: axe is not at {} (`make web-test` gets it)",
            file.display()
        );
    }
    text
}
