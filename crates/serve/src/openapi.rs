//! The description of the API, for programs that make clients.

use crate::problem::Problem;
use crate::{failed, files, metrics, requests, status, tape};
use axum::Json;
use axum::response::{IntoResponse, Response};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, Ref, RefOr, ResponseBuilder};
use utoipa::{Modify, OpenApi};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "tapewise serve",
        description = "Recalls from tape over HTTP: the WLCG Tape REST API, version 1, and what a site wants to see."
    ),
    paths(
        tape::discovery,
        tape::stage,
        tape::poll,
        tape::delete,
        tape::cancel,
        tape::release,
        tape::locality::archiveinfo,
        files::get,
        status::status,
        status::queue,
        status::events,
        requests::list,
        requests::one,
        requests::prioritise,
        requests::hold,
        requests::release,
        requests::delete,
        requests::drives,
        requests::history,
        failed::list,
        failed::retry,
        failed::dismiss,
        metrics::metrics,
        metrics::live,
        metrics::ready,
    ),
    tags(
        (name = "tape", description = "The WLCG Tape REST API, version 1"),
        (name = "files", description = "Contents of staged files"),
        (name = "queue", description = "What happens now"),
        (name = "watch", description = "For monitoring"),
    ),
    security(("token" = [])),
    components(schemas(Problem)),
    modifiers(&Token, &Refusals)
)]
struct Api;

/// The token of the token file, in the header `Authorization`.
struct Token;

impl Modify for Token {
    fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        let components = api.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

/// What may refuse every request, and how refusals are written.
struct Refusals;

/// Those that come before an operation is reached.
const COMMON: [(&str, &str); 8] = [
    (
        "400",
        "The escapes in the address are not UTF-8, or the body is not as HTTP wants it",
    ),
    ("415", "The body is compressed"),
    ("401", "No valid token"),
    ("403", "The token does not allow this"),
    ("408", "The body did not arrive in time"),
    ("413", "The body is too large"),
    ("429", "Too many requests: try again after `Retry-After`"),
    (
        "503",
        "The audit trail or the keys of an issuer cannot be had",
    ),
];

impl Modify for Refusals {
    fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
        let items = api.paths.paths.values_mut();
        let operations = items.flat_map(|item| [&mut item.get, &mut item.post, &mut item.delete]);
        for operation in operations.flatten() {
            let responses = &mut operation.responses.responses;
            let is_open = operation.security.is_some();
            for (status, what) in COMMON.into_iter().filter(|_| !is_open) {
                let problem = Content::new(Some(Ref::from_schema_name("Problem")));
                let refusal = ResponseBuilder::new().description(what);
                let refusal = refusal.content(JSON, problem).build();
                let usual = responses.entry(status.to_owned());
                usual.or_insert(RefOr::T(refusal));
            }
            for (status, response) in responses {
                // Health is told as health, and everything else as a problem.
                if let RefOr::T(response) = response
                    && !is_open
                    && status.starts_with(['4', '5'])
                    && let Some(content) = response.content.shift_remove(JSON)
                {
                    let kind = "application/problem+json".to_owned();
                    response.content.insert(kind, content);
                }
            }
        }
    }
}

/// What utoipa takes a body for that has no other kind.
const JSON: &str = "application/json";

/// `GET /openapi.json`.
pub(crate) async fn openapi() -> Response {
    Json(Api::openapi()).into_response()
}
