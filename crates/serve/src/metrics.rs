//! What Prometheus collects, and whether all is well.
//!
//! Written by hand: every value is asked of the catalogue or of [`Work`](crate::Work) when somebody collects, so
//! there is no registry that a library could keep.

use crate::access::Who;
use crate::drives::{CLASSES_S, Device, Drives, KINDS, PLANNED};
use crate::problem::Problem;
use crate::service::{Load, Service};
use crate::work::{Doing, Work};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Json, Router};
use serde::Serialize;
use std::fmt::{Display, Write as _};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tapewise_archive::catalogue::ServerState;
use utoipa::ToSchema;

/// What Prometheus collects.
#[utoipa::path(get, path = "/metrics", tag = "watch", responses((status = 200, body = String)))]
pub(crate) async fn metrics(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
) -> Result<Response, Problem> {
    who.watches()?;
    let text = service.ask(|service| {
        let catalogue = &service.archive.catalogue;
        let mut page = Metrics::default();
        let load = service.load()?;
        page.of_load(&load, (service.now_ns)());
        page.of_catalogue(catalogue.most_loads()?, catalogue.server_state()?);
        page.of_work(&service.work, service.is_held_up(&load.open));
        let failures = service.audit_failures.load(Ordering::Relaxed) as f64;
        let help = "Lines of the audit trail that could not be written.";
        page.counter("tapewise_audit_failures_total", help, failures);
        Ok(page.0)
    });
    Ok(exposed(text.await?))
}

/// What Prometheus collects of a mover, and whether it answers at all. Nothing there names a file or a person, so nobody
/// has to say who asks.
pub fn router_of_mover(work: Arc<Work>) -> Router {
    let metrics = |State(work): State<Arc<Work>>| async move {
        let mut page = Metrics::default();
        page.of_work(&work, matches!(work.doing(), Doing::Waiting(_)));
        exposed(page.0)
    };
    Router::new()
        .route("/metrics", get(metrics))
        .route("/health/live", get(live))
        .with_state(work)
}

fn exposed(text: String) -> Response {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// Metrics in the text format of Prometheus.
#[derive(Default)]
struct Metrics(String);

impl Metrics {
    /// A metric, and its values by label.
    fn add<L: Display>(&mut self, kind: &str, name: &str, help: &str, values: &[(L, f64)]) {
        // A string takes what is written to it.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (label, value) in values {
            let _ = writeln!(self.0, "{name}{label} {value}");
        }
    }

    fn counter(&mut self, name: &str, help: &str, value: f64) {
        self.add("counter", name, help, &[("", value)]);
    }

    /// A gauge without a value where nothing is known.
    fn gauge(&mut self, name: &str, help: &str, value: Option<f64>) {
        let value = value.map(|value| ("", value));
        self.add("gauge", name, help, value.as_slice());
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
        let failures = Some(load.failures as f64);
        let help = "Recalls that failed and that nobody has dealt with.";
        self.gauge("tapewise_recalls_failed", help, failures);
        let age_ns = open
            .oldest_ns
            .map_or(0, |ns| now_ns.saturating_sub(ns).max(0));
        let help = "Time since the oldest recall without an answer was asked for.";
        let age_s = Some(age_ns as f64 / 1e9);
        self.gauge("tapewise_queue_age_seconds", help, age_s);
        let kept_bytes = holds.dirty_bytes.saturating_add(holds.pinned_bytes);
        let free_bytes = holds.bytes.saturating_sub(kept_bytes);
        let kept = [
            ("{kept=\"not_on_tape\"}", holds.dirty_bytes as f64),
            ("{kept=\"pinned\"}", holds.pinned_bytes as f64),
            ("{kept=\"no\"}", free_bytes as f64),
        ];
        let help = "Bytes in the disk cache: without all copies on tape, kept for somebody, and free to go.";
        self.add("gauge", "tapewise_cache_bytes", help, &kept);
    }

    /// What the catalogue knows of cartridges, and how its server is.
    fn of_catalogue(&mut self, most_loads: Option<u64>, server: Option<ServerState>) {
        let help = "Loads of the cartridge that was loaded most, as the memories of cartridges told when they were \
            written or verified.";
        let most_loads = most_loads.map(|loads| loads as f64);
        self.gauge("tapewise_cartridge_loads_max", help, most_loads);
        let oldest = server.as_ref();
        let oldest = oldest.map(|server| server.oldest_view_transactions as f64);
        let help = "Transactions since the oldest one whose view PostgreSQL keeps for somebody: it cleans up nothing newer.";
        self.gauge("tapewise_database_oldest_view_transactions", help, oldest);
        let dead_rows = server.iter().flat_map(|server| &server.dead_rows);
        let dead_rows = dead_rows.map(|(table, rows)| (labels(&[("table", table)]), *rows as f64));
        let help = "Rows of the queue's tables that nobody sees any more and PostgreSQL has not cleaned up.";
        let dead_rows: Vec<_> = dead_rows.collect();
        self.add("gauge", "tapewise_database_dead_rows", help, &dead_rows);
    }

    /// What was done since the program began, and whether something is in the way.
    fn of_work(&mut self, work: &Work, is_held_up: bool) {
        let counts = work.counts();
        let outcomes = [
            ("{outcome=\"delivered\"}", counts.delivered as f64),
            ("{outcome=\"failed\"}", counts.failed as f64),
        ];
        let help = "Recalls answered since the program began.";
        self.add("counter", "tapewise_recalls_total", help, &outcomes);
        let (name, help) = (
            "tapewise_recalled_bytes_total",
            "Bytes of the files delivered.",
        );
        self.counter(name, help, counts.bytes as f64);
        let (name, help) = ("tapewise_volume_reads_total", "Times a volume was read.");
        self.counter(name, help, counts.mounts as f64);
        let help = "Times the recalls could not go on; they are tried again.";
        self.counter(
            "tapewise_recall_troubles_total",
            help,
            counts.troubles as f64,
        );
        let help = "1 while something waits that cannot be read now.";
        let is_held_up = Some(f64::from(u8::from(is_held_up)));
        self.gauge("tapewise_recall_waiting", help, is_held_up);
        let drives = work.drives();
        self.of_drives(&drives);
        self.of_plans(&drives);
        self.of_wear(&drives);
    }

    /// What drives did since the program began.
    fn of_drives(&mut self, drives: &Drives) {
        let help = "Time of the drives, by what they did: mount has the robot's part.";
        let times = by_action(drives, 0..KINDS.len(), |device| device.took_us);
        self.add("counter", "tapewise_drive_seconds_total", help, &times);
        let help = "Actions of drives that failed.";
        let errors = by_drive(drives, |device| Some(device.errors as f64));
        self.add("counter", "tapewise_drive_errors_total", help, &errors);
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
        self.add("histogram", name, help, &classes);
    }

    /// How well times were predicted, and how good plans were.
    fn of_plans(&mut self, drives: &Drives) {
        let help = "What plans predicted for what drives did by them.";
        let times = by_action(drives, PLANNED, |device| device.predicted_us);
        self.add("counter", "tapewise_predicted_seconds_total", help, &times);
        let help = "What drives took for what plans had predicted.";
        let times = by_action(drives, PLANNED, |device| device.by_plan_us);
        self.add(
            "counter",
            "tapewise_predicted_actual_seconds_total",
            help,
            &times,
        );
        let help = "Plans that have a lower bound.";
        let plans = by_drive(drives, |device| Some(device.bounded_plans as f64));
        self.add("counter", "tapewise_plans_total", help, &plans);
        let help = "What these plans take, as predicted when the drive began with them.";
        let planned = by_drive(drives, |device| Some(device.planned_us as f64 / 1e6));
        self.add("counter", "tapewise_plan_seconds_total", help, &planned);
        let help =
            "What they take at least, in whatever order: the gap of a plan is what it is above.";
        let bound = by_drive(drives, |device| Some(device.bound_us as f64 / 1e6));
        self.add("counter", "tapewise_plan_bound_seconds_total", help, &bound);
    }

    /// What tape and cartridges went through.
    fn of_wear(&mut self, drives: &Drives) {
        let help = "Tape that passed the head, searching included.";
        let metres = by_drive(drives, |device| drives.metres(device));
        self.add("counter", "tapewise_drive_tape_meters_total", help, &metres);
        let help = "Cartridges loaded.";
        let loads = by_drive(drives, |device| Some(device.wear.loads as f64));
        self.add("counter", "tapewise_drive_loads_total", help, &loads);
        let help = "End-to-end passes since the program began, of the cartridge that made most.";
        self.gauge("tapewise_cartridge_passes_max", help, drives.most_passes());
    }
}

/// Labels, without what would end them.
fn labels(labels: &[(&str, &str)]) -> String {
    let label = |(name, value): &(&str, &str)| {
        let value = value.replace(['\\', '"', '\n'], "_");
        format!("{name}=\"{value}\"")
    };
    let labels: Vec<String> = labels.iter().map(label).collect();
    format!("{{{}}}", labels.join(","))
}

fn by_drive(drives: &Drives, value: impl Fn(&Device) -> Option<f64>) -> Vec<(String, f64)> {
    let devices = drives.devices.iter();
    let values = devices.filter_map(|(name, device)| {
        let labels = labels(&[("drive", name)]);
        Some((labels, value(device)?))
    });
    values.collect()
}

/// Seconds of some of the things that drives do: see [`KINDS`].
fn by_action(
    drives: &Drives,
    kinds: Range<usize>,
    us: impl Fn(&Device) -> [u64; KINDS.len()],
) -> Vec<(String, f64)> {
    let mut times = Vec::new();
    for (name, device) in &drives.devices {
        for kind in kinds.clone() {
            let labels = labels(&[("drive", name), ("action", KINDS[kind])]);
            times.push((labels, us(device)[kind] as f64 / 1e6));
        }
    }
    times
}

/// How it is.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`, or what is wrong.
    status: &'static str,
}

/// Whether the program answers at all.
#[utoipa::path(get, path = "/health/live", tag = "watch", security(()), responses((status = 200, body = Health)))]
pub(crate) async fn live() -> Response {
    Json(Health { status: "ok" }).into_response()
}

/// Whether requests can be taken, and whether they are being carried out. It tells nothing that only an operator should
/// know. `/health` is the same.
#[utoipa::path(get, path = "/health/ready", tag = "watch", security(()),
    responses((status = 200, body = Health), (status = 503, body = Health, description = "Requests are refused: the catalogue does not answer or cannot be written, or the audit trail cannot be written")))]
pub(crate) async fn ready(State(service): State<Arc<Service>>) -> Response {
    let is_held_up = service.ask(|service| {
        service.archive.catalogue.tie()?;
        let unfit = service.unfit();
        Ok((unfit, service.is_held_up(&service.load()?.open)))
    });
    let (code, status) = match is_held_up.await {
        Err(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "the catalogue does not answer",
        ),
        Ok((Some(why), _)) => (StatusCode::SERVICE_UNAVAILABLE, why),
        Ok((None, true)) => (
            StatusCode::OK,
            "requests are taken, but something that waits cannot be read now",
        ),
        Ok((None, false)) => (StatusCode::OK, "ok"),
    };
    (code, Json(Health { status })).into_response()
}
