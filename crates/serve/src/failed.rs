//! The list of recalls that failed: somebody asks again for a file, or dismisses its failure.

use crate::access::Who;
use crate::body::{Body, Object, parse};
use crate::problem::Problem;
use crate::requests::seconds;
use crate::service::Service;
use axum::body::Bytes;
use axum::extract::State;
use axum::{Extension, Json};
use serde::Serialize;
use std::sync::Arc;
use tapewise_archive::catalogue::{CatalogueError, Request, RequestId};
use tapewise_archive::deliver::shown;
use utoipa::ToSchema;

/// Failures in one answer.
pub(crate) const LISTED: usize = 1_000;

/// Recalls that failed, latest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct FailedList {
    /// `tapewise-serve-failed`.
    format: &'static str,
    /// 1. Fields may be added within a version.
    version: u32,
    /// How many are on the list.
    all: u64,
    /// At most 1,000.
    failed: Vec<FailedRecall>,
}

#[derive(Serialize, ToSchema)]
struct FailedRecall {
    /// The number of the last recall of this file to this place.
    recall: i64,
    /// How often that has failed since somebody dealt with it.
    attempts: u64,
    /// Who asked for it.
    user: String,
    /// The file, as the archive has it.
    path: String,
    /// The directory where it was to go; absent: the cache.
    to: Option<String>,
    /// `no-copy`, `unreadable`, `wrong-contents` or `destination`.
    cause: Option<&'static str>,
    error: String,
    /// When it was asked for, in seconds since 1970.
    asked_at_s: i64,
    /// When it failed.
    failed_at_s: i64,
}

/// A recall on the list.
pub(crate) struct Failed {
    pub request: Request,
    /// The file, as the archive has it.
    pub path: String,
    /// How often it has failed since somebody dealt with it.
    pub attempts: u64,
}

/// What is on the list, and how much.
pub(crate) fn failures(service: &Service) -> Result<(u64, Vec<Failed>), Problem> {
    let catalogue = &service.archive.catalogue;
    let requests = catalogue.failures(LISTED)?;
    let ids: Vec<RequestId> = requests.iter().map(|request| request.id).collect();
    let attempts = catalogue.attempts(&ids)?;
    let mut failures = Vec::new();
    for (request, attempts) in requests.into_iter().zip(attempts) {
        let path = shown(&catalogue.file(request.file)?.file.path);
        failures.push(Failed {
            request,
            path,
            attempts,
        });
    }
    Ok((catalogue.failure_count()?, failures))
}

fn failed_recall(failed: Failed) -> FailedRecall {
    let Failed {
        request,
        path,
        attempts,
    } = failed;
    FailedRecall {
        recall: request.id.0,
        attempts,
        user: request.terms.user,
        path,
        to: request.place.as_deref().map(shown),
        cause: request.cause.map(|cause| cause.name()),
        error: request.reason.unwrap_or_default(),
        asked_at_s: seconds(request.created_ns),
        failed_at_s: seconds(request.done_ns.unwrap_or(request.created_ns)),
    }
}

/// Recalls that failed and that nobody has dealt with.
#[utoipa::path(get, path = "/api/v1/failed", operation_id = "list_failed", tag = "queue",
    responses((status = 200, body = FailedList), (status = 401, body = Problem), (status = 403, body = Problem)))]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
) -> Result<Json<FailedList>, Problem> {
    who.watches()?;
    let (all, failures) = service.ask(failures).await?;
    Ok(Json(FailedList {
        format: "tapewise-serve-failed",
        version: 1,
        all,
        failed: failures.into_iter().map(failed_recall).collect(),
    }))
}

/// What to do with failures.
#[derive(Clone, Copy)]
pub(crate) enum Remedy {
    Retry,
    Dismiss,
}

impl Remedy {
    /// Takes failures off the list; how many were on it. Numbers that no recall has are passed over, unless all are such.
    pub fn apply(self, service: &Service, recalls: &[RequestId]) -> Result<usize, Problem> {
        let (catalogue, now_ns) = (&service.archive.catalogue, (service.now_ns)());
        let mut known = recalls.iter().map(|recall| catalogue.request(*recall));
        let is_unknown = |one: &_| matches!(one, Err(CatalogueError::NoRequest(_)));
        if !recalls.is_empty() && known.all(|one| is_unknown(&one)) {
            return Err(Problem::no_recalls(recalls));
        }
        let left = match self {
            Remedy::Retry => catalogue.retry(recalls, now_ns)?,
            Remedy::Dismiss => catalogue.dismiss(recalls, now_ns)?,
        };
        service.work.ring();
        Ok(left.len())
    }
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecallsBody {
    /// Numbers of recalls on the list; others are passed over, unless no recall has any of these numbers.
    recalls: Vec<i64>,
}

impl Body for RecallsBody {
    const EXAMPLE: &'static str = r#"{"recalls": [17, 18]}"#;

    fn of(object: Object) -> Result<RecallsBody, String> {
        let recalls = object.only(&["recalls"])?.numbers("recalls")?;
        Ok(RecallsBody { recalls })
    }
}

/// What came of it.
#[derive(Serialize, ToSchema)]
pub(crate) struct OffTheList {
    /// How many recalls left the list.
    left: usize,
}

async fn remedy(
    service: Arc<Service>,
    who: &Who,
    body: &Bytes,
    how: Remedy,
) -> Result<Json<OffTheList>, Problem> {
    who.operates()?;
    let RecallsBody { recalls } = parse(body)?;
    let recalls: Vec<RequestId> = recalls.into_iter().map(RequestId).collect();
    let left = service.ask(move |service| how.apply(service, &recalls));
    Ok(Json(OffTheList { left: left.await? }))
}

/// Asks again for files that could not be recalled, for whoever asked before, and takes the failures off the list.
/// Failures whose file is no longer in the archive stay there.
#[utoipa::path(post, path = "/api/v1/failed/retry", tag = "queue", request_body = RecallsBody,
    responses((status = 200, body = OffTheList), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn retry(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    body: Bytes,
) -> Result<Json<OffTheList>, Problem> {
    remedy(service, &who, &body, Remedy::Retry).await
}

/// Takes failures off the list.
#[utoipa::path(post, path = "/api/v1/failed/dismiss", tag = "queue", request_body = RecallsBody,
    responses((status = 200, body = OffTheList), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn dismiss(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    body: Bytes,
) -> Result<Json<OffTheList>, Problem> {
    remedy(service, &who, &body, Remedy::Dismiss).await
}
