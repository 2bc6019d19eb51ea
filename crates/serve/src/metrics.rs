//! What Prometheus collects, and whether all is well.
//!
//! Written by hand: every value is asked of the catalogue or of [`Work`](crate::Work) when somebody collects, so
//! there is no registry that a library could keep.

use crate::problem::Problem;
use crate::service::Service;
use crate::work::{Counts, Doing};
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Arc;
use tapewise_archive::catalogue::{Holds, OpenRecalls};

/// What waits, and what the cache holds.
pub(crate) struct Load {
    pub open: OpenRecalls,
    pub holds: Holds,
}

pub(crate) fn load(service: &Service) -> Result<Load, Problem> {
    let catalogue = &service.archive.catalogue;
    Ok(Load {
        open: catalogue.open_recalls()?,
        holds: catalogue.cache_holds((service.now_ns)())?,
    })
}

/// What Prometheus collects.
#[utoipa::path(get, path = "/metrics", tag = "watch", responses((status = 200, body = String)))]
pub(crate) async fn metrics(State(service): State<Arc<Service>>) -> Result<Response, Problem> {
    let text = service.ask(|service| Ok(text(service, &load(service)?)));
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text.await?).into_response())
}

/// Everything as Prometheus reads it.
fn text(service: &Service, load: &Load) -> String {
    let mut page = Metrics::default();
    page.of_load(load, (service.now_ns)());
    page.of_work(&service.work.counts(), &service.work.doing());
    page.0
}

/// Metrics in the text format of Prometheus.
#[derive(Default)]
struct Metrics(String);

impl Metrics {
    /// A metric, and its values by label.
    fn add(&mut self, kind: &str, name: &str, help: &str, values: &[(&str, f64)]) {
        // A string takes what is written to it.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (label, value) in values {
            let _ = writeln!(self.0, "{name}{label} {value}");
        }
    }

    /// What waits, and what the cache holds.
    fn of_load(&mut self, Load { open, holds }: &Load, now_ns: i64) {
        let states = [
            ("{state=\"queued\"}", open.queued as f64),
            ("{state=\"started\"}", open.started as f64),
        ];
        let help = "Recalls without an answer: waiting in the queue, or claimed by a drive.";
        self.add("gauge", "tapewise_recalls_open", help, &states);
        let age_ns = open
            .oldest_ns
            .map_or(0, |ns| now_ns.saturating_sub(ns).max(0));
        let help = "Time since the oldest recall without an answer was asked for.";
        self.add(
            "gauge",
            "tapewise_queue_age_seconds",
            help,
            &[("", age_ns as f64 / 1e9)],
        );
        let kept_bytes = holds.dirty_bytes.saturating_add(holds.pinned_bytes);
        let kept = [
            ("{kept=\"not_on_tape\"}", holds.dirty_bytes as f64),
            ("{kept=\"pinned\"}", holds.pinned_bytes as f64),
            (
                "{kept=\"no\"}",
                holds.bytes.saturating_sub(kept_bytes) as f64,
            ),
        ];
        let help = "Bytes in the disk cache: without all copies on tape, kept for somebody, and free to go.";
        self.add("gauge", "tapewise_cache_bytes", help, &kept);
    }

    /// What was done since the program began, and whether something is in the way.
    fn of_work(&mut self, counts: &Counts, doing: &Doing) {
        let outcomes = [
            ("{outcome=\"delivered\"}", counts.delivered as f64),
            ("{outcome=\"failed\"}", counts.failed as f64),
        ];
        let help = "Recalls answered since the program began.";
        self.add("counter", "tapewise_recalls_total", help, &outcomes);
        let help = "Bytes of the files delivered.";
        self.add(
            "counter",
            "tapewise_recalled_bytes_total",
            help,
            &[("", counts.bytes as f64)],
        );
        let help = "Times a volume was read.";
        self.add(
            "counter",
            "tapewise_volume_reads_total",
            help,
            &[("", counts.mounts as f64)],
        );
        let seconds = |us: u64| us as f64 / 1e6;
        let actions = [
            ("{action=\"mount\"}", seconds(counts.mounting_us)),
            ("{action=\"position\"}", seconds(counts.positioning_us)),
            ("{action=\"read\"}", seconds(counts.reading_us)),
        ];
        let help = "Time of the drives and robots, by what they did.";
        self.add("counter", "tapewise_drive_seconds_total", help, &actions);
        let help = "Times the recalls could not go on; they are tried again.";
        self.add(
            "counter",
            "tapewise_recall_troubles_total",
            help,
            &[("", counts.troubles as f64)],
        );
        let is_waiting = matches!(doing, Doing::Waiting(_));
        let help = "1 while something waits that cannot be read now.";
        let value = f64::from(u8::from(is_waiting));
        self.add("gauge", "tapewise_recall_waiting", help, &[("", value)]);
    }
}

/// Whether the program answers at all.
#[utoipa::path(get, path = "/health/live", tag = "watch", security(()), responses((status = 200)))]
pub(crate) async fn live() -> Response {
    Json(json!({"status": "ok"})).into_response()
}

/// Whether requests can be taken, and whether they are being carried out. It tells nothing that only an operator should
/// know. `/health` is the same.
#[utoipa::path(get, path = "/health/ready", tag = "watch", security(()),
    responses((status = 200), (status = 503, description = "The catalogue does not answer")))]
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
