//! Firefox, spoken to in its own protocol (Marionette), so that the tests need no driver.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tapewise_house::driven::{Driven, HANGS};

/// Nothing of the browser's own goes to the network, and it chooses a free port.
const SETTINGS: &str = r#"
user_pref("marionette.port", 0);
user_pref("app.update.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("toolkit.telemetry.enabled", false);
"#;

/// A Firefox with one page.
pub struct Firefox {
    child: Child,
    stream: BufReader<TcpStream>,
    next: u64,
    _folder: tempfile::TempDir,
}

impl Firefox {
    /// Starts one; `None` if there is none that starts.
    pub fn start() -> Option<Firefox> {
        let program = ["firefox-esr", "firefox"]
            .into_iter()
            .find(|name| Command::new(name).arg("--version").output().is_ok())?;
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("user.js"), SETTINGS).expect("written");
        let child = Command::new(program)
            .args(["--headless", "--marionette", "--no-remote", "--profile"])
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut child = Ended(Some(child));
        let begun = Instant::now();
        let port = folder.path().join("MarionetteActivePort");
        let port: u16 = loop {
            let text = std::fs::read_to_string(&port).unwrap_or_default();
            match text.trim().parse() {
                Ok(port) => break port,
                Err(_) if begun.elapsed() > HANGS || child.is_over() => return None,
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        };
        let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
        stream.set_read_timeout(Some(HANGS)).ok()?;
        let mut firefox = Firefox {
            child: child.0.take()?,
            stream: BufReader::new(stream),
            next: 0,
            _folder: folder,
        };
        firefox.message();
        firefox.ask("NewSession", json!({}));
        Some(firefox)
    }

    /// The next message: its length, a colon and JSON.
    fn message(&mut self) -> Value {
        let mut length = Vec::new();
        let read = self.stream.read_until(b':', &mut length);
        assert!(read.is_ok_and(|read| read > 1), "Firefox does not answer");
        let length = String::from_utf8_lossy(&length[..length.len() - 1]);
        let mut text = vec![0; length.parse().expect("a length")];
        self.stream.read_exact(&mut text).expect("a message");
        serde_json::from_slice(&text).expect("JSON")
    }

    /// Carries out a command of WebDriver.
    pub fn ask(&mut self, command: &str, params: Value) -> Value {
        self.next += 1;
        let question = json!([0, self.next, format!("WebDriver:{command}"), params]).to_string();
        let framed = format!("{}:{question}", question.len());
        self.stream
            .get_mut()
            .write_all(framed.as_bytes())
            .expect("written");
        let answer = self.message();
        assert!(answer[2].is_null(), "{command}: {answer}");
        answer[3].clone()
    }
}

impl Driven for Firefox {
    fn go(&mut self, url: &str) {
        self.ask("Navigate", json!({ "url": url }));
    }

    fn value(&mut self, expression: &str) -> Value {
        // A script is worth what it returns: `...; 0` is a script that is worth nothing.
        let (before, last) = expression
            .rsplit_once("; ")
            .filter(|(_, last)| *last == "0")
            .unwrap_or(("", expression));
        let script = format!("{before}; return {last}");
        let params = json!({"script": script, "args": [], "sandbox": null});
        self.ask("ExecuteScript", params)["value"].clone()
    }

    fn choose(&mut self, selector: &str, file: &Path) {
        let using = json!({"using": "css selector", "value": selector});
        let found = self.ask("FindElement", using)["value"].clone();
        let id = found.as_object().and_then(|id| id.values().next()).cloned();
        let params = json!({"id": id, "text": file.display().to_string()});
        self.ask("ElementSendKeys", params);
    }

    fn press(&mut self, key: &str) {
        // Keys without a character have one of Unicode's private ones: WebDriver, section 17.4.2.
        let value = match key {
            "Tab" => "\u{e004}",
            "Enter" => "\u{e007}",
            other => other,
        };
        let keys = ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": value}));
        let actions = json!([{"type": "key", "id": "keyboard", "actions": keys}]);
        self.ask("PerformActions", json!({ "actions": actions }));
    }
}

impl Drop for Firefox {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A browser that ends if nothing comes of it.
struct Ended(Option<Child>);

impl Ended {
    fn is_over(&mut self) -> bool {
        let child = self.0.as_mut();
        child.is_none_or(|child| !matches!(child.try_wait(), Ok(None)))
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
