//! The page for people: what happens now, what waits for which cartridge, each request and why it waits.
//!
//! HTML from the server. A script shows it anew when something has changed; without scripts it loads itself again every
//! ten seconds. Both end when somebody stops it.

use crate::metrics::{Load, load};
use crate::problem::Problem;
use crate::service::{Service, Site};
use crate::work::Doing;
use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use percent_encoding::percent_decode_str;
use std::fmt::Write as _;
use std::sync::Arc;
use tapewise_archive::catalogue::{OpenRecalls, RequestState, Stage, VolumeWait};
use tapewise_model::Micros;
use tapewise_model::units::bytes;

/// The cookie with the token.
pub(crate) const COOKIE: &str = "tapewise";

/// Requests on the page, and files of one that failed.
const REQUESTS: usize = 30;
const FAILURES: usize = 5;

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

/// What the page shows.
struct Shown {
    load: Load,
    waits: Vec<VolumeWait>,
    stages: Vec<Stage>,
    doing: Doing,
    now_ns: i64,
}

/// `GET /`; `/?live=no` does not load itself again.
pub(crate) async fn show(
    State(service): State<Arc<Service>>,
    RawQuery(query): RawQuery,
) -> Result<Html<String>, Problem> {
    let live = match query.as_deref() {
        Some("live=no") => Live::Stopped,
        _ => Live::Yes,
    };
    let page = service.ask(move |service| {
        let catalogue = &service.archive.catalogue;
        let shown = Shown {
            load: load(service)?,
            waits: catalogue.waits()?,
            stages: catalogue.stages(REQUESTS)?,
            doing: service.work.doing(),
            now_ns: (service.now_ns)(),
        };
        Ok(document(&service.site, live, &shown.body()))
    });
    Ok(Html(page.await?))
}

/// Whether a page shows what has changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Live {
    Yes,
    /// Somebody stopped it.
    Stopped,
    /// It would take what is being typed.
    Never,
}

/// A whole page.
fn document(site: &Site, live: Live, body: &str) -> String {
    let refresh = match live {
        Live::Yes => {
            "<script src=\"/live.js\" defer></script>\
             <noscript><meta http-equiv=\"refresh\" content=\"10\"></noscript>"
        }
        Live::Stopped | Live::Never => "",
    };
    let pause = match live {
        Live::Yes => "<a href=\"/?live=no\">Stop the updates</a>",
        Live::Stopped => "<a href=\"/\">Show what changes</a>",
        Live::Never => "",
    };
    let plan = match (site.planner, live) {
        (Some(_), Live::Yes | Live::Stopped) => " <a href=\"/plan\">Plan a tape</a>",
        _ => "",
    };
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">{refresh}\
         <title>Recalls of {site}</title><link rel=\"stylesheet\" href=\"/style.css\"></head>\n\
         <body><header><h1>Recalls of {site}</h1>{pause}{plan}</header>\n<main>\n{body}</main></body></html>\n",
        site = escaped(&site.name)
    )
}

impl Shown {
    fn body(&self) -> String {
        let mut body = self.now();
        body += "<h2>Cartridges that are waited for</h2>\n";
        if self.waits.is_empty() {
            body += "<p class=\"quiet\">None.</p>\n";
        } else {
            let rows = self.waits.iter().map(|wait| self.cartridge(wait));
            let head = "<tr><th>Cartridge</th><th class=\"n\">Files</th><th class=\"n\">Data</th>\
                <th class=\"n\">Oldest waits</th></tr>";
            body += &table(head, rows);
        }
        body += "<h2>Requests</h2>\n";
        if self.stages.is_empty() {
            body += "<p class=\"quiet\">None yet. Clients find the tape API through \
                <code>/.well-known/wlcg-tape-rest-api</code>.</p>\n";
        } else {
            let rows = self.stages.iter().map(|stage| self.request(stage));
            let head = "<tr><th>Request</th><th class=\"n\">Age</th><th class=\"n\">Files</th><th>How far</th></tr>";
            body += &table(head, rows);
        }
        body
    }

    /// What happens now, in words.
    fn now(&self) -> String {
        let Load { open, holds } = &self.load;
        let OpenRecalls {
            queued,
            started,
            oldest_ns,
        } = open;
        let doing = match &self.doing {
            Doing::Idle if *queued == 0 => "Nothing waits.".to_owned(),
            Doing::Idle => "Recalls begin in a moment.".to_owned(),
            Doing::Recalling => "Drives are reading.".to_owned(),
            Doing::Waiting(why) => format!(
                "<span class=\"bad\">Something cannot be read now, and is tried again:</span> {}",
                escaped(why)
            ),
        };
        let oldest = oldest_ns.map_or(String::new(), |ns| {
            format!(" The oldest was asked for {} ago.", self.age(ns))
        });
        format!(
            "<div class=\"now\"><p role=\"status\">{doing}</p>\n<p>{queued} in the queue, {started} claimed by \
             drives.{oldest}</p>\n<p class=\"quiet\">The cache holds {}; {} are kept for requests.</p></div>\n",
            bytes(holds.bytes),
            bytes(holds.pinned_bytes)
        )
    }

    fn cartridge(&self, wait: &VolumeWait) -> String {
        format!(
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            escaped(&wait.label),
            wait.recalls,
            bytes(wait.bytes),
            self.age(wait.oldest_ns)
        )
    }

    fn request(&self, stage: &Stage) -> String {
        let of = |state| {
            let files = stage.files.iter();
            files.filter(|file| file.state == state).count()
        };
        let ended = stage.files.iter().filter(|file| file.done_ns.is_some());
        let (ended, all) = (ended.count(), stage.files.len());
        let states = RequestState::ALL.into_iter().filter(|&state| of(state) > 0);
        let parts: Vec<String> = states
            .map(|state| format!("{} {}", of(state), word(state)))
            .collect();
        let mut far = format!(
            "<progress value=\"{ended}\" max=\"{all}\" aria-label=\"{ended} of {all} files ended\"></progress>\
             <p>{}</p>",
            parts.join(", ")
        );
        let failed = stage.files.iter().filter_map(|file| {
            let why = file.reason.as_deref()?;
            Some(format!(
                "<p><code>{}</code>: <span class=\"bad\">{}</span></p>",
                escaped(&file.spelling),
                escaped(why)
            ))
        });
        far.extend(failed.take(FAILURES));
        format!(
            "<tr><td><code>{}</code></td><td class=\"n\">{}</td><td class=\"n\">{all}</td><td>{far}</td></tr>",
            escaped(&stage.id),
            self.age(stage.created_ns)
        )
    }

    /// How long ago a time is.
    fn age(&self, ns: i64) -> Micros {
        Micros(self.now_ns.saturating_sub(ns).max(0) / 1_000)
    }
}

fn table(head: &str, rows: impl Iterator<Item = String>) -> String {
    let rows: Vec<String> = rows.collect();
    format!(
        "<div class=\"wide\"><table><thead>{head}</thead><tbody>\n{}\n</tbody></table></div>\n",
        rows.join("\n")
    )
}

fn word(state: RequestState) -> &'static str {
    match state {
        RequestState::Queued => "waiting",
        RequestState::Started => "claimed by a drive",
        RequestState::Delivered => "in the cache",
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

/// `GET /login`.
pub(crate) async fn login(State(service): State<Arc<Service>>) -> Html<String> {
    Html(form(&service, ""))
}

fn form(service: &Service, said: &str) -> String {
    let body = format!(
        "<p>This page needs the token. <code>tapewise serve</code> prints which file has it.</p>\n\
         <form method=\"post\" action=\"/login\"><p><label for=\"token\">Token</label></p>\
         <p><input id=\"token\" name=\"token\" type=\"password\" autocomplete=\"current-password\" required></p>\
         <p class=\"bad\" role=\"alert\">{said}</p><p><button>Show the recalls</button></p></form>\n"
    );
    document(&service.site, Live::Never, &body)
}

/// `POST /login`: keeps the token in a cookie that no script reads and no other site sends.
pub(crate) async fn log_in(State(service): State<Arc<Service>>, body: Bytes) -> Response {
    let body = String::from_utf8_lossy(&body);
    let mut fields = body.split('&').filter_map(|field| field.split_once('='));
    let token = fields.find(|(name, _)| *name == "token");
    let token = token.map_or("", |(_, value)| value);
    let token = percent_decode_str(token).decode_utf8_lossy();
    if !service.token.is(token.trim()) {
        let page = form(&service, "That is not the token.");
        return (StatusCode::UNAUTHORIZED, Html(page)).into_response();
    }
    let token: String = token
        .trim()
        .chars()
        .filter(char::is_ascii_graphic)
        .collect();
    let cookie = format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/");
    let headers = [
        (header::LOCATION, "/".to_owned()),
        (header::SET_COOKIE, cookie),
    ];
    (StatusCode::SEE_OTHER, headers).into_response()
}
