//! Which address is answered by what, and who is let in.

use crate::problem::Problem;
use crate::service::Service;
use crate::{files, metrics, openapi, page, status, tape};
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the end is looked for, and how long answers may take that are on their way then.
const LOOK: Duration = Duration::from_millis(50);
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// What anybody may ask for: where the API is, whether all is well, and the page to log in.
const OPEN: [&str; 8] = [
    "/.well-known/wlcg-tape-rest-api",
    "/health",
    "/health/live",
    "/health/ready",
    "/login",
    "/style.css",
    "/live.js",
    "/openapi.json",
];

/// All addresses of a service.
pub fn router(service: Arc<Service>) -> Router {
    let router = Router::new()
        .route("/", get(page::show))
        .route("/plan", get(page::planner))
        .route("/style.css", get(page::style))
        .route("/live.js", get(page::script))
        .route("/login", get(page::login).post(page::log_in))
        .route("/health", get(metrics::ready))
        .route("/health/live", get(metrics::live))
        .route("/health/ready", get(metrics::ready))
        .route("/openapi.json", get(openapi::openapi))
        .route("/api/v1/status", get(status::status))
        .route("/api/v1/queue", get(status::queue))
        .route("/api/v1/events", get(status::events))
        .route("/metrics", get(metrics::metrics))
        .route("/files/{*path}", get(files::get))
        .route("/.well-known/wlcg-tape-rest-api", get(tape::discovery));
    let router = both(router, "/stage", post(tape::stage));
    let router = both(router, "/stage/{id}", get(tape::poll).delete(tape::delete));
    let router = both(router, "/stage/{id}/cancel", post(tape::cancel));
    let router = both(router, "/release/{id}", post(tape::release));
    let router = both(router, "/archiveinfo", post(tape::archiveinfo));
    router
        .fallback(nothing)
        .method_not_allowed_fallback(wrong_method)
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

async fn nothing() -> Problem {
    let detail = "Nothing is served here. GET /.well-known/wlcg-tape-rest-api names the address of the tape API.";
    Problem::new(StatusCode::NOT_FOUND, "No such address", detail)
}

async fn wrong_method() -> Problem {
    let detail = "This address does not take this method.";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "Wrong method", detail)
}

/// Lets in who has the token, with a body that is not too large; says to browsers what pages may do.
async fn admit(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let is_open = OPEN.contains(&request.uri().path());
    let wants_page = ["/", "/plan"].contains(&request.uri().path());
    let mut response = if is_open || has_token(&service, &request) {
        match bounded(request, service.limits.body_bytes).await {
            Ok(request) => next.run(request).await,
            Err(problem) => problem.into_response(),
        }
    } else if wants_page {
        (StatusCode::SEE_OTHER, [(header::LOCATION, "/login")]).into_response()
    } else {
        let detail = "Send the header \"Authorization: Bearer TOKEN\". `tapewise serve` prints which file has the token.";
        let problem = Problem::new(StatusCode::UNAUTHORIZED, "No valid token", detail);
        problem
            .with(header::WWW_AUTHENTICATE, "Bearer")
            .into_response()
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        // The page that plans tapes has a policy of its own.
        if name != header::CONTENT_SECURITY_POLICY || !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    response
}

/// Nothing from elsewhere, no script but ours, no frame, and nothing that stays in a cache.
const HEADERS: [(HeaderName, &str); 4] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
];

/// Whether a request has the token, in its header or as the cookie that the page's form sets.
fn has_token(service: &Service, request: &Request) -> bool {
    let headers = request.headers();
    let bearer = headers.get(header::AUTHORIZATION);
    let bearer = bearer.and_then(|value| value.to_str().ok());
    let bearer = bearer.and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme
            .eq_ignore_ascii_case("bearer")
            .then_some(token.trim())
    });
    if let Some(token) = bearer {
        return service.token.is(token);
    }
    let cookies = headers.get_all(header::COOKIE).iter();
    let mut cookies = cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='));
    cookies.any(|(name, value)| name == page::COOKIE && service.token.is(value))
}

/// The request with its body in memory.
async fn bounded(request: Request, most: usize) -> Result<Request, Problem> {
    let (head, body) = request.into_parts();
    match axum::body::to_bytes(body, most).await {
        Ok(body) => Ok(Request::from_parts(head, Body::from(body))),
        // Whoever has hung up in the middle does not read this.
        Err(_) => Err(tape::too_large(format!(
            "A body may have at most {most} bytes. Send several requests."
        ))),
    }
}

/// Answers on a socket until `stop` is set, and then for as long as a few answers take that are on their way.
///
/// # Errors
/// What the system says of the socket.
pub fn listen(service: Arc<Service>, socket: TcpListener, stop: &AtomicBool) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let socket = tokio::net::TcpListener::from_std(socket)?;
        let (end, mut ended) = tokio::sync::watch::channel(false);
        let graceful = axum::serve(socket, router(service)).with_graceful_shutdown(async move {
            // The other end is dropped only when all is over.
            let _ = ended.wait_for(|ended| *ended).await;
        });
        let server = tokio::spawn(async move { graceful.await });
        while !stop.load(Ordering::Relaxed) && !server.is_finished() {
            tokio::time::sleep(LOOK).await;
        }
        end.send_replace(true);
        match tokio::time::timeout(LAST_ANSWERS, server).await {
            Ok(Ok(served)) => served,
            Ok(Err(error)) => Err(io::Error::other(error)),
            Err(_) => Ok(()),
        }
    });
    runtime.shutdown_timeout(LAST_ANSWERS);
    served
}
