//! Errors as RFC 7807 wants them: a title, a status, and what to do.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tapewise_archive::catalogue::{CatalogueError, RequestId};
use utoipa::ToSchema;

/// Why a request is refused.
#[derive(Clone, Debug, ToSchema)]
pub struct Problem {
    /// The status of the answer.
    #[schema(value_type = u16)]
    status: StatusCode,
    /// What is wrong, in a few words that stay the same.
    title: &'static str,
    /// What is wrong, and what to do about it.
    detail: String,
    #[schema(ignore)]
    header: Option<(HeaderName, String)>,
    /// What only the operator is told: why the database failed.
    #[schema(ignore)]
    cause: Option<Box<str>>,
}

impl Problem {
    /// A refusal with what is wrong and what to do about it.
    pub fn new(status: StatusCode, title: &'static str, detail: impl Into<String>) -> Problem {
        Problem {
            status,
            title,
            detail: detail.into(),
            header: None,
            cause: None,
        }
    }

    /// A request that makes no sense.
    pub fn bad(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "Bad request", detail)
    }

    /// An address at which nothing is.
    pub fn no_address() -> Problem {
        let detail = "Nothing is served here. GET /.well-known/wlcg-tape-rest-api names the address of the tape API.";
        Problem::new(StatusCode::NOT_FOUND, "No such address", detail)
    }

    /// An address that is asked in another way.
    pub fn wrong_method() -> Problem {
        let detail = "This address does not take this method.";
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, "Wrong method", detail)
    }

    /// A stage that does not exist.
    pub fn no_stage() -> Problem {
        let detail = "There is no stage request with this id. It was deleted, it ended too long ago, or somebody else asked for it.";
        Problem::new(StatusCode::NOT_FOUND, "No such request", detail)
    }

    /// Recalls that do not exist.
    pub fn no_recalls(recalls: &[RequestId]) -> Problem {
        let numbers: Vec<String> = recalls
            .iter()
            .take(10)
            .map(|one| one.0.to_string())
            .collect();
        let numbers = numbers.join(", ");
        let detail = format!(
            "No recall has one of these numbers: {numbers}. GET /api/v1/failed lists those that failed."
        );
        Problem::new(StatusCode::NOT_FOUND, "No such recall", detail)
    }

    /// A request whose trace cannot be kept.
    pub fn no_audit() -> Problem {
        let detail = "The audit trail cannot be written, so nothing was done. Tell the operator, and try again later.";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Problem::new(status, "No audit trail", detail).with(header::RETRY_AFTER, "60")
    }

    /// What may be over soon, and its cause, which is for the operator.
    pub fn passing(title: &'static str, said: &str, cause: String) -> Problem {
        let said = format!(
            "{said} If this goes on, tell the operator: the log of the service has the cause."
        );
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, title, said);
        Problem {
            cause: Some(cause.into()),
            ..problem.with(header::RETRY_AFTER, "5")
        }
    }

    /// Why the database failed, if it did.
    pub fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }

    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// What is wrong, in a few words.
    pub fn title(&self) -> &'static str {
        self.title
    }

    /// What is wrong, and what to do about it.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// The same with a header.
    pub fn with(self, name: HeaderName, value: impl Into<String>) -> Problem {
        Problem {
            header: Some((name, value.into())),
            ..self
        }
    }
}

impl From<CatalogueError> for Problem {
    /// Where the database failed, nothing was changed: it may be full, or be starting again, and the same request may
    /// be sent once more; so it may to a service that is started again where the catalogue has moved, was lost, or was
    /// upgraded by a newer program.
    fn from(error: CatalogueError) -> Problem {
        let title = "The catalogue failed";
        let detail = error.to_string();
        let said = match error {
            CatalogueError::Database(_)
            | CatalogueError::Moved { .. }
            | CatalogueError::Arriving { .. }
            | CatalogueError::Lost { .. }
            | CatalogueError::Newer { .. }
            | CatalogueError::OtherTables { .. }
            | CatalogueError::Certificate { .. }
            | CatalogueError::Io { .. } => {
                "The catalogue cannot be reached or takes no changes, and nothing was changed. Try again later."
            }
            CatalogueError::CommitUnknown { .. } => {
                "The connection to the catalogue was lost, and nobody knows whether the request was carried out. Send it \
                 again: what was done is not done twice, a stage request if it has the same Idempotency-Key."
            }
            CatalogueError::PathTooLong { .. } => return Problem::bad(detail),
            _ => return Problem::new(StatusCode::INTERNAL_SERVER_ERROR, title, detail),
        };
        Problem::passing(title, said, detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Problem {
            status,
            title,
            detail,
            header,
            ..
        } = &self;
        let body = json!({"title": title, "status": status.as_u16(), "detail": detail});
        let mut response = (*status, body.to_string()).into_response();
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, kind);
        let header = header.as_ref();
        let header = header.and_then(|(name, value)| Some((name.clone(), value.parse().ok()?)));
        headers.extend(header);
        // People are shown it as a page.
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_be_over_soon_is_to_be_asked_again() {
        let moved = CatalogueError::Moved {
            path: "catalogue.db".into(),
            to: "a host with a pg_hba.conf".to_owned(),
        };
        let newer = CatalogueError::Newer {
            path: "a host with a pg_hba.conf".into(),
            found: 99,
            known: 1,
        };
        let unknown = CatalogueError::CommitUnknown {
            source: "see pg_hba.conf".into(),
        };
        let cases = [
            (
                CatalogueError::Database("see pg_hba.conf".into()),
                503,
                true,
            ),
            (moved, 503, true),
            (newer, 503, true),
            (unknown, 503, true),
            (CatalogueError::Answer("see pg_hba.conf".into()), 500, false),
        ];
        for (error, status, is_asked_again) in cases {
            let problem = Problem::from(error);
            assert_eq!(problem.detail().contains("pg_hba"), !is_asked_again);
            assert_eq!(problem.cause().is_some(), is_asked_again);
            let answer = problem.into_response();
            assert_eq!(answer.status().as_u16(), status);
            let headers = answer.headers();
            assert_eq!(headers.contains_key(header::RETRY_AFTER), is_asked_again);
        }
        let too_long = CatalogueError::PathTooLong {
            path: b"film".to_vec(),
            most: 3,
        };
        let problem = Problem::from(too_long);
        assert_eq!(problem.status(), StatusCode::BAD_REQUEST);
        assert!(problem.detail().starts_with("film: its path has 4 bytes"));
    }
}
