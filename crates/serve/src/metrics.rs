//! What Prometheus collects, and whether all is well.
//!
//! Written by hand: every value is asked of the catalogue or of [`Work`](crate::Work) when somebody collects, so
//! there is no registry that a library could keep.

use crate::problem::Problem;
use crate::service::Service;
use crate::work::Doing;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Arc;
use tapewise_archive::catalogue::{
    CacheRecords as _, Holds, Request, RequestKind, RequestState, Requests as _,
};

/// What waits, and what the cache holds.
pub(crate) struct Load {
    pub queued: usize,
    pub started: usize,
    /// When the oldest of them was asked for.
    pub oldest_ns: Option<i64>,
    pub holds: Holds,
}

pub(crate) fn load(service: &Service) -> Result<Load, Problem> {
    let catalogue = &service.archive.catalogue;
    let open = catalogue.unanswered()?;
    let recalls: Vec<&Request> = open
        .iter()
        .filter(|request| request.kind == RequestKind::Recall)
        .collect();
    let of = |state| recalls.iter().filter(|one| one.state == state).count();
    Ok(Load {
        queued: of(RequestState::Queued),
        started: of(RequestState::Started),
        oldest_ns: recalls.iter().map(|one| one.created_ns).min(),
        holds: catalogue.cache_holds((service.now_ns)())?,
    })
}

/// `GET /metrics`.
pub(crate) async fn metrics(State(service): State<Arc<Service>>) -> Result<Response, Problem> {
    let text = service.ask(|service| Ok(text(service, &load(service)?)));
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text.await?).into_response())
}

/// Metrics of one name: what they mean, and values with their labels.
type Metric<'a> = (&'a str, &'a str, &'a str, Vec<(&'a str, f64)>);

fn text(service: &Service, load: &Load) -> String {
    let counts = service.work.counts();
    let seconds = |us: u64| us as f64 / 1e6;
    let age_ns = load
        .oldest_ns
        .map_or(0, |ns| (service.now_ns)().saturating_sub(ns).max(0));
    let is_waiting = matches!(service.work.doing(), Doing::Waiting(_));
    let holds = &load.holds;
    let other_bytes = holds
        .bytes
        .saturating_sub(holds.dirty_bytes + holds.pinned_bytes);
    let metrics: [Metric<'_>; 9] = [
        (
            "tapewise_recalls_open",
            "gauge",
            "Recalls without an answer: waiting in the queue, or claimed by a drive.",
            vec![
                ("{state=\"queued\"}", load.queued as f64),
                ("{state=\"started\"}", load.started as f64),
            ],
        ),
        (
            "tapewise_queue_age_seconds",
            "gauge",
            "Time since the oldest recall without an answer was asked for.",
            vec![("", age_ns as f64 / 1e9)],
        ),
        (
            "tapewise_recalls_total",
            "counter",
            "Recalls answered since the program began.",
            vec![
                ("{outcome=\"delivered\"}", counts.delivered as f64),
                ("{outcome=\"failed\"}", counts.failed as f64),
            ],
        ),
        (
            "tapewise_recalled_bytes_total",
            "counter",
            "Bytes of the files delivered.",
            vec![("", counts.bytes as f64)],
        ),
        (
            "tapewise_volume_reads_total",
            "counter",
            "Times a volume was read.",
            vec![("", counts.mounts as f64)],
        ),
        (
            "tapewise_drive_seconds_total",
            "counter",
            "Time of the drives and robots, by what they did.",
            vec![
                ("{action=\"mount\"}", seconds(counts.mounting_us)),
                ("{action=\"position\"}", seconds(counts.positioning_us)),
                ("{action=\"read\"}", seconds(counts.reading_us)),
            ],
        ),
        (
            "tapewise_cache_bytes",
            "gauge",
            "Bytes in the disk cache: without all copies on tape, kept for somebody, and free to go.",
            vec![
                ("{kept=\"not_on_tape\"}", holds.dirty_bytes as f64),
                ("{kept=\"pinned\"}", holds.pinned_bytes as f64),
                ("{kept=\"no\"}", other_bytes as f64),
            ],
        ),
        (
            "tapewise_recall_troubles_total",
            "counter",
            "Times the recalls could not go on; they are tried again.",
            vec![("", counts.troubles as f64)],
        ),
        (
            "tapewise_recall_waiting",
            "gauge",
            "1 while something waits that cannot be read now.",
            vec![("", f64::from(u8::from(is_waiting)))],
        ),
    ];
    let mut text = String::new();
    for (name, kind, help, values) in metrics {
        // A string takes what is written to it.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    }
    text
}

/// `GET /health/live`: whether the program answers at all.
pub(crate) async fn live() -> Response {
    Json(json!({"status": "ok"})).into_response()
}

/// `GET /health` and `/health/ready`: whether requests can be taken, and whether they are being carried out. Nothing
/// is said here that only an operator should know.
pub(crate) async fn ready(State(service): State<Arc<Service>>) -> Response {
    let work = Arc::clone(&service.work);
    let catalogue = service
        .ask(|service| Ok(service.archive.catalogue.tie()?))
        .await;
    let (status, what) = match (catalogue, work.doing()) {
        (Err(_), _) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "the catalogue does not answer",
        ),
        (Ok(_), Doing::Waiting(_)) => (
            StatusCode::OK,
            "requests are taken, but something that waits cannot be read now",
        ),
        (Ok(_), _) => (StatusCode::OK, "ok"),
    };
    (status, Json(json!({ "status": what }))).into_response()
}
