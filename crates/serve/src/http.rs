//! Which address is answered by what, and who is let in.

use crate::access::Who;
use crate::audit::{self, Line};
use crate::connections::{PATIENCE, serve};
use crate::names::in_archive;
use crate::peer::origin;
use crate::problem::Problem;
use crate::rate::Rates;
use crate::service::{Service, Site};
use crate::tls::{Certificate, Secured};
use crate::trace::{Call, Tracer};
use crate::{dav, failed, metrics, openapi, page, requests, status, tape};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use http_body_util::{BodyExt as _, Collected, LengthLimitError, Limited};
use percent_encoding::percent_decode_str;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the end is looked for, and how long answers may take that are on their way then.
const LOOK: Duration = Duration::from_millis(50);
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// How long a request's body may take.
const BODY: Duration = Duration::from_secs(120);

/// How long the rest of a body is taken that is refused.
const REFUSED: Duration = Duration::from_secs(5);

/// Bytes of a body that anybody may send: the form to log in, with the longest token and escapes in it.
const BODY_OF_ANYBODY: usize = 64 << 10;

/// What anybody may ask for: where the API is, whether all is well, and the page to log in.
const OPEN: [&str; 9] = [
    "/.well-known/wlcg-tape-rest-api",
    "/health",
    "/health/live",
    "/health/ready",
    "/login",
    "/style.css",
    "/live.js",
    "/favicon.ico",
    "/openapi.json",
];

/// All addresses of a service.
pub fn router(service: Arc<Service>) -> Router {
    let contents = get(dav::get).fallback(dav::properties);
    let router = Router::new()
        .route("/", get(page::show).fallback(dav::properties))
        .route("/cartridge/{label}", get(page::cartridge))
        .route(
            "/request/{id}",
            get(page::request).post(page::act_on_request),
        )
        .route("/failed", get(page::failed).post(page::act_on_failed))
        .route("/plan", get(page::planner))
        .route("/style.css", get(page::style))
        .route("/live.js", get(page::script))
        // Browsers ask for it on their own: there is none, and that is no refusal.
        .route("/favicon.ico", get(|| async { StatusCode::NO_CONTENT }))
        .route("/login", get(page::login).post(page::log_in))
        .route("/health", get(metrics::ready))
        .route("/health/live", get(metrics::live))
        .route("/health/ready", get(metrics::ready))
        .route("/openapi.json", get(openapi::openapi))
        .route("/api/v1/status", get(status::status))
        .route("/api/v1/queue", get(status::queue))
        .route("/api/v1/events", get(status::events))
        .route("/api/v1/requests", get(requests::list))
        .route(
            "/api/v1/requests/{id}",
            get(requests::one).delete(requests::delete),
        )
        .route("/api/v1/requests/{id}/priority", post(requests::prioritise))
        .route("/api/v1/requests/{id}/hold", post(requests::hold))
        .route("/api/v1/requests/{id}/release", post(requests::release))
        .route("/api/v1/failed", get(failed::list))
        .route("/api/v1/failed/retry", post(failed::retry))
        .route("/api/v1/failed/dismiss", post(failed::dismiss))
        .route("/api/v1/drives", get(requests::drives))
        .route("/api/v1/history", get(requests::history))
        .route("/metrics", get(metrics::metrics))
        .route("/{*path}", contents)
        .route("/.well-known/wlcg-tape-rest-api", get(tape::discovery));
    let router = both(router, "/stage", post(tape::stage));
    let router = both(router, "/stage/{id}", get(tape::poll).delete(tape::delete));
    let router = both(router, "/stage/{id}/cancel", post(tape::cancel));
    let router = both(router, "/release/{id}", post(tape::release));
    let router = both(router, "/archiveinfo", post(tape::locality::archiveinfo));
    router
        .method_not_allowed_fallback(async || Problem::wrong_method())
        // Bodies are read, and bounded, by `admit`.
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(Arc::clone(&service), admit))
        .with_state(service)
}

/// An address of the tape API, with and without a slash at its end: gfal2 asks for the one with it.
fn both(
    router: Router<Arc<Service>>,
    path: &str,
    answer: MethodRouter<Arc<Service>>,
) -> Router<Arc<Service>> {
    let path = format!("{}{path}", tape::ROOT);
    router
        .route(&format!("{path}/"), answer.clone())
        .route(&path, answer)
}

/// Lets in whoever may come, with a body that is not too large, and keeps the audit trail; says to browsers what pages
/// may do.
async fn admit(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let mut line = Line {
        at: String::new(),
        from: origin(&request),
        user: None,
        method: request.method().to_string(),
        path: request.uri().path().to_owned(),
        status: 0,
        made: None,
        files: Vec::new(),
        body: String::new(),
    };
    let is_recorded = audit::is_recorded(request.method(), request.uri());
    let came = service
        .tracer
        .as_ref()
        .map(|_| Came::of(&request, &service));
    let wants_page = wants_page(&request);
    let is_look = [Method::GET, Method::HEAD].contains(request.method());
    let (head, mut body) = request.into_parts();
    let waits = head.headers.contains_key(header::EXPECT);
    let asked = (Request::from_parts(head, Body::empty()), &mut body);
    let answered = answer(&service, asked, next, &mut line, is_recorded).await;
    if answered.is_err() && !waits {
        pass_over(&mut body, service.limits.body_bytes).await;
    }
    let mut response = match answered {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    };
    if let Some(problem) = response.extensions_mut().remove::<Problem>()
        && wants_page
    {
        response = for_people(&service.site, &line.path, is_look, response, &problem);
    }
    if let (Some(tracer), Some(came)) = (&service.tracer, came) {
        came.told(tracer, &response, line.user.as_deref(), &service);
    }
    if is_recorded || audit::is_refusal(response.status()) {
        let made = response.headers().get(header::LOCATION);
        let made = made.filter(|_| response.status() == StatusCode::CREATED);
        line.made = made.and_then(|made| Some(made.to_str().ok()?.to_owned()));
        line.status = response.status().as_u16();
        record(&service, line).await;
    }
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        // The page that plans tapes has a policy of its own.
        if name != header::CONTENT_SECURITY_POLICY || !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    response
}

/// A request that came, for its trace.
struct Came {
    at_ns: i64,
    traceparent: Option<String>,
    asks_for_files: bool,
}

impl Came {
    fn of(request: &Request, service: &Service) -> Came {
        let traceparent = request.headers().get("traceparent");
        let path = request.uri().path().trim_end_matches('/');
        Came {
            at_ns: (service.now_ns)(),
            traceparent: traceparent.and_then(|text| Some(text.to_str().ok()?.to_owned())),
            asks_for_files: path.strip_prefix(tape::ROOT) == Some("/stage"),
        }
    }

    /// Begins the trace of a stage request that was entered.
    fn told(&self, tracer: &Tracer, response: &Response, user: Option<&str>, service: &Service) {
        let made = response.headers().get(header::LOCATION);
        let made = made.and_then(|made| made.to_str().ok()?.rsplit_once('/'));
        if let (Some((_, stage)), StatusCode::CREATED, true) =
            (made, response.status(), self.asks_for_files)
        {
            tracer.called(&Call {
                stage,
                user,
                start_ns: self.at_ns,
                end_ns: (service.now_ns)(),
                traceparent: self.traceparent.as_deref(),
            });
        }
    }
}

/// Whether somebody at a browser asks for a page.
fn wants_page(request: &Request) -> bool {
    let path = request.uri().path();
    let is_page = ["/", "/plan", "/failed"].contains(&path)
        || path.starts_with("/cartridge/")
        || path.starts_with("/request/");
    let accepts = request.headers().get(header::ACCEPT);
    let accepts = accepts.and_then(|accepts| accepts.to_str().ok());
    is_page && accepts.is_some_and(|accepts| accepts.contains("text/html"))
}

/// A refusal as a page; whom nobody knows is sent to log in.
fn for_people(
    site: &Site,
    path: &str,
    is_look: bool,
    mut refusal: Response,
    problem: &Problem,
) -> Response {
    if problem.status() == StatusCode::UNAUTHORIZED {
        let login = [(header::LOCATION, page::to_login(path))];
        return (StatusCode::SEE_OTHER, login).into_response();
    }
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    refusal.headers_mut().insert(header::CONTENT_TYPE, kind);
    *refusal.body_mut() = Body::from(page::refusal(site, path, is_look, problem));
    refusal
}

/// The answer to a request, after all that may stand in its way.
async fn answer(
    service: &Arc<Service>,
    (mut request, body): (Request, &mut Body),
    next: Next,
    line: &mut Line,
    is_recorded: bool,
) -> Result<Response, Problem> {
    let is_open = OPEN.contains(&request.uri().path());
    let secret = Secret::of(&request);
    let who = match &secret {
        _ if is_open => None,
        Some(secret) => Some(secret.owner(service).await),
        None => Some(Err(no_token())),
    };
    let is_look = [Method::GET, Method::HEAD].contains(request.method());
    match &who {
        Some(Ok(who)) => {
            line.user = Some(who.name.clone());
            paced(service, &service.users, &who.name)?;
        }
        None if is_look => {}
        None | Some(Err(_)) => {
            let from = line.from.map_or(String::new(), |from| from.to_string());
            paced(service, &service.strangers, &from)?;
        }
    }
    if let Some(who) = who.transpose()? {
        let is_cookie = secret.is_some_and(|secret| secret.is_cookie);
        if is_cookie && !is_look && !is_from_our_page(&request) {
            let detail = "A page of another site cannot send this. Send the token in the header Authorization.";
            return Err(Problem::new(StatusCode::FORBIDDEN, "Not allowed", detail));
        }
        request.extensions_mut().insert(who);
    }
    if is_recorded && let Some(path) = service.audit_file.clone() {
        let opened = move |_: &Service| audit::open(&path).map_err(|_| Problem::no_audit());
        Arc::clone(service).ask(opened).await?;
    }
    let path = request.uri().path();
    if in_archive(path).is_none() && percent_decode_str(path).decode_utf8().is_err() {
        let detail = "The escapes in this address are not UTF-8.";
        return Err(Problem::bad(detail));
    }
    let coding = request.headers().get(header::CONTENT_ENCODING);
    if coding.is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        let detail =
            "A body that is compressed is not read. Send it as it is, without Content-Encoding.";
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        let problem = Problem::new(status, "Unknown encoding", detail);
        return Err(problem.with(header::ACCEPT_ENCODING, "identity"));
    }
    let most = service.limits.body_bytes;
    let most = if is_open {
        most.min(BODY_OF_ANYBODY)
    } else {
        most
    };
    let body = bounded(body, most).await?;
    if is_recorded {
        line.files = audit::files(&body);
        line.body = audit::body(&line.path, &body);
    }
    Ok(next.run(request.map(|_| Body::from(body))).await)
}

/// Refuses who asks too often.
fn paced(service: &Service, rates: &Rates, name: &str) -> Result<(), Problem> {
    let a_minute = service.limits.requests_per_minute;
    let taken = rates.take(name, a_minute, (service.now_ns)());
    taken.map_err(|wait_s| {
        let detail = format!(
            "More than {a_minute} requests came in a minute. Send the next one after {wait_s} s."
        );
        let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "Too many requests", detail);
        problem.with(header::RETRY_AFTER, wait_s.to_string())
    })
}

/// Writes a line of the audit trail.
async fn record(service: &Arc<Service>, mut line: Line) {
    let write = move |service: &Service| {
        let at = jiff::Timestamp::from_nanosecond((service.now_ns)().into());
        line.at = at.unwrap_or_default().to_string();
        let Some(path) = &service.audit_file else {
            return Ok(());
        };
        let written = audit::open(path).and_then(|file| audit::write(&file, &line));
        if written.is_err() {
            service.audit_failures.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    };
    // What was done cannot be undone: the failure is counted, and the next request finds out by itself.
    let _ = Arc::clone(service).ask(write).await;
}

fn no_token() -> Problem {
    let detail = "Send the header \"Authorization: Bearer TOKEN\". `tapewise serve` prints which file has the token.";
    let problem = Problem::new(StatusCode::UNAUTHORIZED, "No valid token", detail);
    problem.with(header::WWW_AUTHENTICATE, "Bearer")
}

/// Nothing from elsewhere, no script but ours, no frame, and nothing that stays in a cache.
const HEADERS: [(HeaderName, &str); 4] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'self'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // Without its origin no form of ours is known.
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
];

/// What a client shows to be let in.
struct Secret {
    text: String,
    /// A browser sends it by itself, also when another site's page makes it send something.
    is_cookie: bool,
}

impl Secret {
    /// The token in the header, or else in the cookie that the page's form sets.
    fn of(request: &Request) -> Option<Secret> {
        let headers = request.headers();
        let bearer = headers.get(header::AUTHORIZATION);
        if let Some(bearer) = bearer {
            let (scheme, token) = bearer.to_str().ok()?.split_once(' ')?;
            return scheme.eq_ignore_ascii_case("bearer").then(|| Secret {
                text: token.trim().to_owned(),
                is_cookie: false,
            });
        }
        let cookies = headers.get_all(header::COOKIE).iter();
        let mut cookies = cookies
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='));
        let (_, token) = cookies.find(|(name, _)| *name == page::COOKIE)?;
        Some(Secret {
            text: token.to_owned(),
            is_cookie: true,
        })
    }

    /// Whose it is.
    async fn owner(&self, service: &Arc<Service>) -> Result<Arc<Who>, Problem> {
        let text = self.text.clone();
        let find = move |service: &Service| service.access().who(&text, (service.now_ns)());
        Arc::clone(service).ask(find).await
    }
}

/// Whether a browser sends something because a page of ours made it.
fn is_from_our_page(request: &Request) -> bool {
    let header = |name: &str| {
        let value = request.headers().get(name);
        value.and_then(|value| value.to_str().ok())
    };
    match header("sec-fetch-site") {
        Some(site) => site == "same-origin",
        None => header("origin").is_some_and(|origin| {
            let host = origin.split_once("://").map(|(_, host)| host);
            host.is_some() && host == header("host")
        }),
    }
}

/// A body in memory.
async fn bounded(body: &mut Body, most: usize) -> Result<Bytes, Problem> {
    let whole = tokio::time::timeout(BODY, Limited::new(body, most).collect()).await;
    let whole = whole.map_err(|_| {
        let detail = format!("The body did not arrive within {} s.", BODY.as_secs());
        Problem::new(StatusCode::REQUEST_TIMEOUT, "Body too slow", detail)
    })?;
    whole.map(Collected::to_bytes).map_err(|error| {
        if error.is::<LengthLimitError>() {
            let detail =
                format!("A body may have at most {most} bytes here. Send several requests.");
            return tape::too_large(detail);
        }
        // Whoever has hung up in the middle does not read this.
        Problem::bad("The body is not as HTTP wants it: a chunk is wrong, or it ends too early.")
    })
}

/// Takes what is left of a body that is refused, as far as it may be as long and comes soon: clients read the answer when
/// they have sent all, and hear nothing of it if the connection ends before.
async fn pass_over(body: &mut Body, most: usize) {
    let mut rest = Limited::new(body, most);
    let passed = async { while let Some(Ok(_)) = rest.frame().await {} };
    // Whoever sends slower finds the connection closed.
    let _ = tokio::time::timeout(REFUSED, passed).await;
}

/// Answers on a socket until `stop` is set, and then for as long as a few answers take that are on their way; `most`
/// connections at a time.
///
/// # Errors
/// What the system says of the socket.
pub fn listen(
    app: Router,
    socket: TcpListener,
    certificate: Option<Arc<Certificate>>,
    most: usize,
    stop: &AtomicBool,
) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let socket = tokio::net::TcpListener::from_std(socket)?;
        let (end, ended) = tokio::sync::watch::channel(false);
        let server = match certificate {
            Some(certificate) => {
                let secured = Secured::new(socket, certificate, most)?;
                tokio::spawn(serve(secured, app, PATIENCE, most, ended))
            }
            None => tokio::spawn(serve(socket, app, PATIENCE, most, ended)),
        };
        while !stop.load(Ordering::Relaxed) && !server.is_finished() {
            tokio::time::sleep(LOOK).await;
        }
        end.send_replace(true);
        match tokio::time::timeout(LAST_ANSWERS, server).await {
            Ok(ended) => ended.map_err(io::Error::other),
            Err(_) => Ok(()),
        }
    });
    runtime.shutdown_timeout(LAST_ANSWERS);
    served
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_does_not_come_is_not_waited_for() {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build();
        let never = futures_util::stream::pending::<io::Result<Bytes>>();
        let mut body = Body::from_stream(never);
        let body = bounded(&mut body, 1);
        let soon = async { tokio::time::timeout(BODY * 2, body).await };
        let bounded = runtime.expect("a runtime").block_on(soon);
        let problem = bounded.expect("an end").expect_err("no body");
        assert_eq!(problem.status(), StatusCode::REQUEST_TIMEOUT);
    }

    #[test]
    fn a_body_that_is_wrong_is_not_called_too_large() {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().build().expect("a runtime");
        let refused = |piece: io::Result<Bytes>| {
            let mut body = Body::from_stream(futures_util::stream::iter([piece]));
            let refused = runtime.block_on(bounded(&mut body, 3));
            let refused = refused.expect_err("refused");
            refused.status().as_u16()
        };
        assert_eq!(refused(Ok(Bytes::from_static(b"four"))), 413);
        assert_eq!(refused(Err(io::ErrorKind::InvalidData.into())), 400);
    }
}
