//! What happens now, for programs: as JSON, and as an event whenever it changes.

use crate::metrics::{Load, load};
use crate::problem::Problem;
use crate::service::Service;
use crate::work::Doing;
use axum::Json;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use serde::Serialize;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tapewise_archive::catalogue::VolumeWait;
use utoipa::ToSchema;

/// How often events look for a change.
const LOOK: Duration = Duration::from_secs(1);

/// What happens now.
#[derive(Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Status {
    /// `tapewise-serve-status`.
    format: &'static str,
    /// 1. Fields may be added within a version.
    version: u32,
    doing: Activity,
    /// Why something waits that cannot be read now.
    why: Option<String>,
    /// Recalls in the queue.
    queued: u64,
    /// Recalls that a drive has claimed.
    started: u64,
    /// When the oldest recall without an answer was asked for, in seconds since 1970.
    oldest_at_s: Option<i64>,
    /// Files delivered since the service started.
    delivered: u64,
    /// Files that failed since the service started.
    failed: u64,
    /// Bytes in the cache.
    cache_bytes: u64,
    /// Bytes of them that are kept for requests.
    pinned_bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Activity {
    /// Nothing waits.
    Idle,
    /// Drives are at work.
    Recalling,
    /// Something waits that cannot be read now.
    Waiting,
}

impl Status {
    fn of(service: &Service) -> Result<Status, Problem> {
        let Load { open, holds } = load(service)?;
        let counts = service.work.counts();
        let (doing, why) = match service.work.doing() {
            Doing::Idle => (Activity::Idle, None),
            Doing::Recalling => (Activity::Recalling, None),
            Doing::Waiting(why) => (Activity::Waiting, Some(why)),
        };
        Ok(Status {
            format: "tapewise-serve-status",
            version: 1,
            doing,
            why,
            queued: open.queued,
            started: open.started,
            oldest_at_s: open.oldest_ns.map(seconds),
            delivered: counts.delivered,
            failed: counts.failed,
            cache_bytes: holds.bytes,
            pinned_bytes: holds.pinned_bytes,
        })
    }
}

fn seconds(ns: i64) -> i64 {
    ns.max(0) / 1_000_000_000
}

/// What happens now.
#[utoipa::path(get, path = "/api/v1/status", tag = "queue",
    responses((status = 200, body = Status), (status = 401, body = Problem)))]
pub(crate) async fn status(State(service): State<Arc<Service>>) -> Result<Response, Problem> {
    Ok(Json(service.ask(Status::of).await?).into_response())
}

/// What waits, by cartridge.
#[derive(Serialize, ToSchema)]
pub(crate) struct Queue {
    /// `tapewise-serve-queue`.
    format: &'static str,
    /// 1. Fields may be added within a version.
    version: u32,
    /// In order of labels. A file with copies on several cartridges counts for each.
    cartridges: Vec<Cartridge>,
}

#[derive(Serialize, ToSchema)]
struct Cartridge {
    /// The volume's label.
    label: String,
    /// Recalls in the queue.
    recalls: u64,
    /// Bytes of their copies on this cartridge.
    bytes: u64,
    /// When the oldest of them was asked for, in seconds since 1970.
    oldest_at_s: i64,
}

impl From<VolumeWait> for Cartridge {
    fn from(wait: VolumeWait) -> Cartridge {
        Cartridge {
            label: wait.label,
            recalls: wait.recalls,
            bytes: wait.bytes,
            oldest_at_s: seconds(wait.oldest_ns),
        }
    }
}

/// Which cartridges are waited for.
#[utoipa::path(get, path = "/api/v1/queue", tag = "queue",
    responses((status = 200, body = Queue), (status = 401, body = Problem)))]
pub(crate) async fn queue(State(service): State<Arc<Service>>) -> Result<Response, Problem> {
    let waits = service
        .ask(|service| Ok(service.archive.catalogue.waits()?))
        .await?;
    let queue = Queue {
        format: "tapewise-serve-queue",
        version: 1,
        cartridges: waits.into_iter().map(Cartridge::from).collect(),
    };
    Ok(Json(queue).into_response())
}

/// The status now, and again whenever it has changed, as server-sent events called `status`.
#[utoipa::path(get, path = "/api/v1/events", tag = "queue",
    responses((status = 200, body = Status, content_type = "text/event-stream"), (status = 401, body = Problem)))]
pub(crate) async fn events(State(service): State<Arc<Service>>) -> Response {
    Sse::new(changes(service))
        .keep_alive(KeepAlive::default())
        .into_response()
}

/// Ends with the connection, or when the catalogue does not answer: clients ask anew by themselves.
fn changes(service: Arc<Service>) -> impl Stream<Item = Result<Event, Infallible>> {
    futures_util::stream::unfold((service, None), |(service, last)| async move {
        loop {
            let now = Arc::clone(&service).ask(Status::of).await.ok()?;
            if last.as_ref() != Some(&now) {
                let event = Event::default().event("status").json_data(&now).ok()?;
                return Some((Ok(event), (service, Some(now))));
            }
            tokio::time::sleep(LOOK).await;
        }
    })
}
