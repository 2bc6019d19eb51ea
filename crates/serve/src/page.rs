//! Pages for people: what happens now, one cartridge, one request.
//!
//! HTML from the server. A script shows a page anew when something has changed; without scripts it loads itself again
//! every ten seconds. Both end when somebody stops it.

mod cartridge;
mod failed;
mod overview;
mod plant;
mod request;
mod table;

pub(crate) use cartridge::show as cartridge;
pub(crate) use failed::{act as act_on_failed, show as failed};
pub(crate) use overview::show;
pub(crate) use request::{act as act_on_request, show as request};

use crate::forecast::Turn;
use crate::problem::Problem;
use crate::service::{Service, Site};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::fmt::Write as _;
use std::sync::Arc;
use tapewise_archive::catalogue::{OutOfUse, RequestState};
use tapewise_model::Micros;

/// The cookie with the token.
pub(crate) const COOKIE: &str = "tapewise";

/// `GET /style.css`.
pub(crate) async fn style() -> Response {
    let kind = [(header::CONTENT_TYPE, "text/css; charset=utf-8")];
    (kind, include_str!("page.css")).into_response()
}

/// `GET /live.js`.
pub(crate) async fn script() -> Response {
    let kind = [(header::CONTENT_TYPE, "text/javascript; charset=utf-8")];
    (kind, include_str!("live.js")).into_response()
}

/// `GET /plan`: the page that plans tapes, whose own policy in its text lets no request out.
pub(crate) async fn planner(State(service): State<Arc<Service>>) -> Result<Response, Problem> {
    let Some(page) = service.site.planner else {
        let detail = "This program was built without the page that plans tapes.";
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "No page to plan tapes",
            detail,
        ));
    };
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
    ];
    Ok((headers, page).into_response())
}

/// Where a page stands. All of its addresses are relative to the first page, so that a proxy may serve them below a path.
#[derive(Clone, Copy)]
enum Address<'a> {
    First,
    /// Beside the first page, with a title.
    Beside(&'a str),
    /// In a directory beside the first page, with a title.
    Below(&'a str),
}

impl<'a> Address<'a> {
    /// Where the page at an address stands.
    fn of(address: &str, title: &'a str) -> Address<'a> {
        match address.rfind('/') {
            Some(0) => Address::Beside(title),
            _ => Address::Below(title),
        }
    }

    /// The way to the first page.
    fn to_first(self) -> &'static str {
        match self {
            Address::First | Address::Beside(_) => "./",
            Address::Below(_) => "../",
        }
    }
}

/// Whether a page shows what has changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Live {
    Yes,
    /// Somebody stopped it.
    Stopped,
    /// It would take what is being typed, or nothing will change.
    Never,
}

/// A whole page.
fn document(site: &Site, address: Address, live: Live, body: &str) -> String {
    let refresh = match live {
        Live::Yes => {
            "<script src=\"live.js\" defer></script>\
             <noscript><meta http-equiv=\"refresh\" content=\"10\"></noscript>"
        }
        Live::Stopped | Live::Never => "",
    };
    let (title, way) = match (address, live) {
        (Address::Beside(title) | Address::Below(title), _) => {
            (title.to_owned(), "<a href=\"./\">All recalls</a>")
        }
        (Address::First, live) => {
            let way = match live {
                Live::Yes => "<a href=\"./?live=no\">Stop the updates</a>",
                Live::Stopped => "<a href=\"./\">Show what changes</a>",
                Live::Never => "",
            };
            (format!("Recalls of {}", site.name), way)
        }
    };
    let plan = match (site.planner, live) {
        (Some(_), Live::Yes | Live::Stopped) => " <a href=\"plan\">Plan a tape</a>",
        _ => "",
    };
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><base href=\"{base}\">{refresh}\
         <title>{title}</title><link rel=\"stylesheet\" href=\"style.css\"></head>\n\
         <body><header><h1>{title}</h1>{way}{plan}</header>\n<main>\n{body}</main></body></html>\n",
        base = address.to_first(),
        title = escaped(&title)
    )
}

/// How long ago a time is.
fn age(now_ns: i64, ns: i64) -> Micros {
    Micros(now_ns.saturating_sub(ns).max(0) / 1_000)
}

/// When something is likely to be there, from now on.
fn in_time(now_ns: i64, turn: Turn) -> String {
    let until = |ns: i64| Micros(ns.saturating_sub(now_ns).max(0) / 1_000);
    format!("{} to {}", until(turn.soonest_ns), until(turn.latest_ns))
}

/// A link to the page of something that has a name.
fn link(kind: &str, name: &str, words: &str) -> String {
    let address = utf8_percent_encode(name, NON_ALPHANUMERIC);
    format!("<a href=\"{kind}/{address}\">{}</a>", escaped(words))
}

/// How many files are in each state.
fn by_state(of: impl Fn(RequestState) -> usize) -> String {
    let states = RequestState::ALL
        .into_iter()
        .map(|state| (state, of(state)));
    let some = states.filter(|(_, count)| *count > 0);
    let parts: Vec<String> = some
        .map(|(state, count)| format!("{count} {}", word(state)))
        .collect();
    parts.join(", ")
}

/// How and why a cartridge is out of use, if it is.
fn out_of_use(all: &[OutOfUse], label: &str) -> Option<String> {
    let what = all.iter().find(|what| what.is_volume(label))?;
    Some(format!("{}: {}", what.outage.name(), escaped(&what.why)))
}

fn word(state: RequestState) -> &'static str {
    match state {
        RequestState::Queued => "waiting",
        RequestState::Started => "claimed by a drive",
        RequestState::Delivered => "delivered",
        RequestState::Failed => "failed",
        RequestState::Cancelled => "cancelled",
    }
}

/// Text that no browser takes for markup.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' | '<' | '>' | '"' | '\'' => {
                // A string takes what is written to it.
                let _ = write!(safe, "&#{};", u32::from(character));
            }
            character if tapewise_formats::misleading::misleads(character) => {
                safe.extend(character.escape_default());
            }
            character => safe.push(character),
        }
    }
    safe
}

/// The way from a page to the one to log in at.
pub(crate) fn to_login(address: &str) -> String {
    format!("{}login", Address::of(address, "").to_first())
}

/// `GET /login`.
pub(crate) async fn login(State(service): State<Arc<Service>>) -> Html<String> {
    Html(form(&service, ""))
}

fn form(service: &Service, said: &str) -> String {
    let body = format!(
        "<p>This page needs the token. <code>tapewise serve</code> prints which file has it.</p>\n\
         <form method=\"post\" action=\"login\"><p><label for=\"token\">Token</label></p>\
         <p><input id=\"token\" name=\"token\" type=\"password\" autocomplete=\"current-password\" required></p>\
         <p class=\"bad\" role=\"alert\">{}</p><p><button>Show the recalls</button></p></form>\n",
        escaped(said)
    );
    document(&service.site, Address::First, Live::Never, &body)
}

/// Why there is no such page, for people, and what to do.
pub(crate) fn refusal(site: &Site, address: &str, is_look: bool, problem: &Problem) -> String {
    let body = format!("<p role=\"alert\">{}</p>\n", escaped(problem.detail()));
    let live = if is_look { Live::Yes } else { Live::Never };
    document(site, Address::of(address, problem.title()), live, &body)
}

/// `POST /login`: keeps the token in a cookie that no script reads and no other site sends.
pub(crate) async fn log_in(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = String::from_utf8_lossy(&body);
    let mut fields = body.split('&').filter_map(|field| field.split_once('='));
    let token = fields.find(|(name, _)| *name == "token");
    let token = token.map_or("", |(_, value)| value);
    let token = percent_decode_str(token).decode_utf8_lossy();
    let token: String = token.chars().filter(char::is_ascii_graphic).collect();
    let asked = token.clone();
    let find = move |service: &Service| service.access().who(&asked, (service.now_ns)());
    let who = Arc::clone(&service).ask(find).await;
    if let Err(problem) = who {
        let page = form(&service, problem.detail());
        return (problem.status(), Html(page)).into_response();
    }
    // If a proxy does the encryption, only the browser knows of it.
    let page = headers
        .get(header::ORIGIN)
        .map_or(&b""[..], |page| page.as_bytes());
    let secure = if service.site.is_encrypted || page.starts_with(b"https:") {
        "; Secure"
    } else {
        ""
    };
    // Without a path it is for the directory of the address that the browser knows.
    let cookie = format!("{COOKIE}={token}; HttpOnly; SameSite=Strict{secure}");
    let headers = [
        (header::LOCATION, "./".to_owned()),
        (header::SET_COOKIE, cookie),
    ];
    (StatusCode::SEE_OTHER, headers).into_response()
}
