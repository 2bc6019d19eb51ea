//! A browser that is spoken to through a pipe (the DevTools protocol), so that the tests need no port and no driver.

use crate::driven::{Driven, HANGS};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

/// A browser with one page.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    events: VecDeque<Value>,
    session: Option<String>,
    next: u64,
    _folder: tempfile::TempDir,
}

impl Browser {
    /// Starts one; `None` where there is none that starts.
    pub fn start() -> Option<Browser> {
        let folder = tempfile::tempdir().expect("a folder");
        let program = ["chromium", "chromium-browser", "google-chrome"]
            .into_iter()
            .find(|name| Command::new(name).arg("--version").output().is_ok())?;
        let mut child = Command::new("sh")
            .args([
                "-c",
                r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"#,
            ])
            .arg(program)
            .args([
                "--headless=new",
                "--remote-debugging-pipe",
                "--no-sandbox",
                "--disable-gpu",
            ])
            .args([
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-extensions",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .args(["--no-proxy-server", "--mute-audio", "--hide-scrollbars"])
            .arg(format!("--user-data-dir={}", folder.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let (to, out) = (child.stdin.take()?, child.stdout.take()?);
        let (sender, from) = channel();
        std::thread::spawn(move || {
            let mut out = BufReader::new(out);
            let mut message = Vec::new();
            while out.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                let parsed = serde_json::from_slice(&message);
                if parsed.is_ok_and(|value| sender.send(value).is_err()) {
                    return;
                }
                message.clear();
            }
        });
        let mut browser = Browser {
            child,
            to,
            from,
            events: VecDeque::new(),
            session: None,
            next: 0,
            _folder: folder,
        };
        let target = browser.try_ask("Target.createTarget", &json!({"url": "about:blank"}))?;
        let target = target["targetId"].clone();
        let flat = json!({"targetId": target, "flatten": true});
        let attached = browser.try_ask("Target.attachToTarget", &flat)?;
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Network", "DOM"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    fn try_ask(&mut self, method: &str, params: &Value) -> Option<Value> {
        self.next += 1;
        let mut question = json!({"id": self.next, "method": method, "params": params});
        if let Some(session) = &self.session {
            question["sessionId"] = json!(session);
        }
        self.to.write_all(question.to_string().as_bytes()).ok()?;
        self.to.write_all(&[0]).ok()?;
        loop {
            let answer = self.from.recv_timeout(HANGS).ok()?;
            if answer["id"] != json!(self.next) {
                self.events.push_back(answer);
            } else if answer.get("error").is_some() {
                panic!("{method}: {answer}");
            } else {
                return Some(answer["result"].clone());
            }
        }
    }

    /// Carries out a command of the protocol.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.try_ask(method, &params)
            .unwrap_or_else(|| panic!("the browser does not answer to {method}"))
    }

    /// What happened since the last call, as `{method, params}`.
    pub fn events(&mut self) -> Vec<Value> {
        self.events.extend(self.from.try_iter());
        self.events.drain(..).collect()
    }

    /// Makes the window this wide, in the light or the dark theme.
    pub fn look(&mut self, width: u32, theme: &str) {
        let size =
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600});
        self.ask("Emulation.setDeviceMetricsOverride", size);
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
        self.ask("Emulation.setEmulatedMedia", features);
    }

    /// Asserts that the page fits a desk's window and a phone's, in both themes, without a finding of axe.
    ///
    /// # Panics
    /// If it does not.
    pub fn assert_looks(&mut self, axe: Option<&str>) {
        for (width, theme) in [
            (1400, "light"),
            (390, "dark"),
            (390, "light"),
            (1400, "dark"),
        ] {
            self.look(width, theme);
            let wider = self.value(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth",
            );
            assert!(
                wider.as_f64() <= Some(0.0),
                "at {width} px the page is {wider} px too wide"
            );
            if let Some(axe) = axe {
                self.assert_accessible(axe, &format!("{width} px, {theme}"));
            }
        }
        self.look(1400, "light");
    }

    /// Points at a place of the window, in its pixels from the top left.
    pub fn point(&mut self, x: f64, y: f64) {
        let params = json!({"type": "mouseMoved", "x": x, "y": y});
        self.ask("Input.dispatchMouseEvent", params);
    }
}

impl Driven for Browser {
    fn go(&mut self, url: &str) {
        self.ask("Page.navigate", json!({ "url": url }));
    }

    fn value(&mut self, expression: &str) -> Value {
        let params = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true, "allowUnsafeEvalBlockedByCSP": false
        });
        let answer = self.ask("Runtime.evaluate", params);
        let thrown = &answer["exceptionDetails"];
        assert!(thrown.is_null(), "{expression}: {thrown}");
        answer["result"]["value"].clone()
    }

    fn choose(&mut self, selector: &str, file: &Path) {
        let root = self.ask("DOM.getDocument", json!({}))["root"]["nodeId"].clone();
        let query = json!({"nodeId": root, "selector": selector});
        let found = self.ask("DOM.querySelector", query);
        let files = json!([file.display().to_string()]);
        let params = json!({"nodeId": found["nodeId"], "files": files});
        self.ask("DOM.setFileInputFiles", params);
    }

    fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            " " => (32, " "),
            "ArrowRight" => (39, ""),
            other => panic!("no key {other}"),
        };
        for kind in ["keyDown", "keyUp"] {
            let mut params =
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            if kind == "keyDown" && !text.is_empty() {
                params["text"] = json!(text);
            }
            self.ask("Input.dispatchKeyEvent", params);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
