//! The description of the API, for programs that make clients.

use crate::{files, metrics, requests, status, tape};
use axum::Json;
use axum::response::{IntoResponse, Response};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
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
        tape::archiveinfo,
        files::get,
        status::status,
        status::queue,
        status::events,
        requests::list,
        requests::prioritise,
        requests::delete,
        requests::drives,
        requests::history,
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
    modifiers(&Token)
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

/// `GET /openapi.json`.
pub(crate) async fn openapi() -> Response {
    Json(Api::openapi()).into_response()
}
