//! What Prometheus collects, and whether all is well.
//!
//! Written by hand: every value is asked of the catalogue or of [`Work`](crate::Work) when somebody collects, so
//! there is no registry that a library could keep.

use crate::access::Who;
use crate::drives::{CLASSES_S, Drives, KINDS};
use crate::problem::Problem;
use crate::service::Service;
use crate::work::{Counts, Doing};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tapewise_archive::catalogue::{Holds, OpenRecalls};

/// What waits, and what the cache holds.
pub(crate) struct Load {
    pub open: OpenRecalls,
    pub holds: Holds,
    /// Recalls that failed and that nobody has dealt with.
    pub failures: u64,
}

pub(crate) fn load(service: &Service) -> Result<Load, Problem> {
    let catalogue = &service.archive.catalogue;
    Ok(Load {
        open: catalogue.open_recalls()?,
        holds: catalogue.cache_holds((service.now_ns)())?,
        failures: catalogue.failure_count()?,
    })
}

/// What Prometheus collects.
#[utoipa::path(get, path = "/metrics", tag = "watch", responses((status = 200, body = String)))]
pub(crate) async fn metrics(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
) -> Result<Response, Problem> {
    who.watches()?;
    let text = service.ask(|service| Ok(text(service, &load(service)?)));
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text.await?).into_response())
}

/// Everything as Prometheus reads it.
fn text(service: &Service, load: &Load) -> String {
    let mut page = Metrics::default();
    page.of_load(load, (service.now_ns)());
    page.of_work(&service.work.counts(), &service.work.doing());
    page.of_drives(&service.work.drives());
    let failures = service.audit_failures.load(Ordering::Relaxed) as f64;
    let help = "Lines of the audit trail that could not be written.";
    page.add(
        "counter",
        "tapewise_audit_failures_total",
        help,
        &[("", failures)],
    );
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
    fn of_load(&mut self, load: &Load, now_ns: i64) {
        let Load { open, holds, .. } = load;
        let states = [
            ("{state=\"queued\"}", open.queued as f64),
            ("{state=\"held\"}", open.held as f64),
            ("{state=\"started\"}", open.started as f64),
        ];
        let help = "Recalls without an answer: waiting in the queue, held back there, or claimed by a drive.";
        self.add("gauge", "tapewise_recalls_open", help, &states);
        let failures = [("", load.failures as f64)];
        let help = "Recalls that failed and that nobody has dealt with.";
        self.add("gauge", "tapewise_recalls_failed", help, &failures);
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

    /// What drives did since the program began.
    fn of_drives(&mut self, drives: &Drives) {
        let label = |name: &str| name.replace(['\\', '"', '\n'], "_");
        let devices = || {
            drives
                .devices
                .iter()
                .map(|(name, device)| (label(name), device))
        };
        let times = devices().flat_map(|(name, device)| {
            let kinds = KINDS.iter().zip(device.took_us);
            kinds.map(move |(kind, us)| {
                let labels = format!("{{drive=\"{name}\",action=\"{kind}\"}}");
                (labels, us as f64 / 1e6)
            })
        });
        let times: Vec<(String, f64)> = times.collect();
        let help = "Time of the drives, by what they did: mount has the robot's part.";
        self.add_all("counter", "tapewise_drive_seconds_total", help, &times);
        let errors = devices().map(|(name, device)| {
            let labels = format!("{{drive=\"{name}\"}}");
            (labels, device.errors as f64)
        });
        let errors: Vec<(String, f64)> = errors.collect();
        let help = "Actions of drives that failed.";
        self.add_all("counter", "tapewise_drive_errors_total", help, &errors);
        let name = "tapewise_positioning_seconds";
        let mut count = 0;
        let mut classes: Vec<(String, f64)> = Vec::new();
        let ends = CLASSES_S.iter().map(f64::to_string);
        for (end, found) in ends.chain(["+Inf".to_owned()]).zip(drives.positionings) {
            count += found;
            classes.push((format!("_bucket{{le=\"{end}\"}}"), count as f64));
        }
        classes.push(("_sum".to_owned(), drives.positioning_us as f64 / 1e6));
        classes.push(("_count".to_owned(), count as f64));
        let help = "How long locates, rewinds and reading over took.";
        self.add_all("histogram", name, help, &classes);
    }

    fn add_all(&mut self, kind: &str, name: &str, help: &str, values: &[(String, f64)]) {
        let values: Vec<(&str, f64)> = values
            .iter()
            .map(|(label, value)| (label.as_str(), *value))
            .collect();
        self.add(kind, name, help, &values);
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
