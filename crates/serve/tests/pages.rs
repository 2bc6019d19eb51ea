//! The pages in a browser: in both themes and on a phone, by keyboard alone, and live.

use crate::desk::{Desk, NOW_S, NS, archive};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tapewise_archive::catalogue::{Answer, Cause, Failure, RequestId};
use tapewise_formats::event::{Action, Event, Outcome, Spot};
use tapewise_house::browser::Browser;
use tapewise_house::driven::{Driven, axe};
use tapewise_model::Micros;
use tapewise_serve::{ServeSettings, listen, router};

/// Sets a flag when it goes, so that a test that fails does not wait for its server.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What drives did: one has the cartridge and has read, another one failed.
fn work(desk: &Desk) {
    let event = |device: &str, label: &str, action, took_s: i64| Event {
        device: Some(device.to_owned()),
        cartridge: Some(label.to_owned()),
        ..Event::new(action, Micros::ZERO, Micros(took_s * 1_000_000))
    };
    let there = Spot {
        wrap: Some(3),
        lpos: Some(70_000),
        ..Spot::default()
    };
    let located = Event {
        to: Some(there),
        ..event("1013000A01", "T00001L8", Action::Locate, 50)
    };
    let failed = Event {
        outcome: Outcome::Failed,
        sense: Some("medium error".to_owned()),
        ..event("1013000A02", "T00009L8", Action::Read, 3)
    };
    for (ago_s, event) in [
        (900, event("1013000A01", "T00001L8", Action::Mount, 20)),
        (800, located),
        (7_200, event("1013000A02", "T00009L8", Action::Mount, 20)),
        (7_100, failed),
    ] {
        desk.work.saw(&event, (NOW_S - ago_s) * NS);
    }
}

/// The recall of a file fails.
fn fail(desk: &Desk, path: &str) -> RequestId {
    let file = desk.file(path);
    let open = desk.catalogue.unanswered().expect("requests");
    let request = open.iter().find(|open| open.file == file).expect("asked");
    let failure = Failure::new(Cause::Unreadable, "block 11 cannot be read: medium error");
    let answer = Answer::Failed(failure);
    let answered = desk.catalogue.answer(request.id, &answer, NOW_S * NS);
    answered.expect("answered");
    request.id
}

#[test]
fn every_page_can_be_read_and_used_by_keyboard_and_shows_what_changes() {
    let Some(mut browser) = Browser::start() else {
        eprintln!("SKIPPED: no chromium that starts, so the pages were not tried in it");
        return;
    };
    let desk = Desk::with(archive(), &ServeSettings::default());
    work(&desk);
    let id = desk.stage(&["/d/1", "/d/2", "/d/3", "/nobody"]);
    let failed = fail(&desk, "d/2");
    let socket = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let address = socket.local_addr().expect("an address");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let service = Arc::clone(&desk.service);
        let server = scope.spawn(|| listen(router(service), socket, None, 99, &stop));
        let end = AtEnd(&stop);
        let mut site = Tour {
            browser: &mut browser,
            root: format!("http://{address}"),
            axe: axe(),
        };
        site.take(&desk, &id, failed);
        site.open("/", "in the queue");
        drop(end);
        site.wait("The service does not answer. This page is from");
        server.join().expect("a server").expect("served");
    });
}

/// Somebody at the keyboard.
struct Tour<'a> {
    browser: &'a mut Browser,
    root: String,
    axe: Option<String>,
}

impl Tour<'_> {
    fn take(&mut self, desk: &Desk, id: &str, failed: RequestId) {
        self.log_in(desk);
        self.look_at("/", "likely there in");
        self.sees_changes(desk);
        self.look_at("/cartridge/T00001L8", "In drive 1013000A01");
        self.look_at("/cartridge/T00077L8", "The archive has no cartridge");
        self.open(&format!("/request/{id}"), "4 files: ");
        self.holds(desk, &format!("/request/{id}"));
        self.retries(desk, failed);
    }

    /// Opens a page and waits until it says something.
    fn open(&mut self, path: &str, words: &str) {
        self.browser.go(&format!("{}{path}", self.root));
        self.wait(words);
    }

    fn wait(&mut self, words: &str) {
        let said = format!(
            "document.readyState === 'complete' && document.body.innerText.includes({})",
            serde_json::json!(words)
        );
        self.browser.wait(&said, &mut |_| {});
    }

    fn look_at(&mut self, path: &str, words: &str) {
        self.open(path, words);
        self.browser.assert_looks(self.axe.as_deref());
    }

    fn press_button(&mut self, selector: &str) {
        self.browser.tab_to(selector);
        self.browser.press("Enter");
    }

    fn log_in(&mut self, desk: &Desk) {
        self.look_at("/", "Token");
        let token = desk.token.trim_start_matches("Bearer ");
        let typed = format!("document.querySelector('#token').value = '{token}'");
        self.browser.value(&typed);
        self.press_button("form button");
        self.wait("in the queue");
    }

    /// A page that shows a new request without being loaded again, and one that was stopped does not.
    fn sees_changes(&mut self, desk: &Desk) {
        self.browser.value("window.isSame = true");
        self.wait("2 in the queue");
        desk.stage(&["/d/5"]);
        self.wait("3 in the queue");
        assert_eq!(self.browser.value("window.isSame"), true);
        self.press_button("header a[href='./?live=no']");
        self.wait("Show what changes");
        assert_eq!(self.browser.value("document.scripts.length"), 0);
    }

    fn holds(&mut self, desk: &Desk, page: &str) {
        self.look_at(page, "All of it is likely to be there in");
        self.press_button("button[value=hold]");
        self.wait("It is held back");
        assert_eq!(desk.catalogue.open_recalls().expect("open").held, 2);
        self.press_button("button[value=release]");
        self.wait("Hold it back");
        assert_eq!(desk.catalogue.open_recalls().expect("open").held, 0);
    }

    fn retries(&mut self, desk: &Desk, failed: RequestId) {
        self.look_at("/failed", "block 11 cannot be read");
        let choice = format!("input[value='{}']", failed.0);
        self.browser.tab_to(&choice);
        self.browser.press(" ");
        self.press_button("button[value=retry]");
        self.wait("None.");
        assert_eq!(desk.catalogue.open_recalls().expect("open").queued, 4);
    }
}
