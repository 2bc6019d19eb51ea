//! What happens now, for programs: as JSON, and as an event whenever it changes.

use crate::access::Who;
use crate::problem::Problem;
use crate::requests::seconds;
use crate::service::{Load, Service};
use crate::work::Doing;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures_util::Stream;
use serde::Serialize;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tapewise_archive::catalogue::{OutOfUse, VolumeWait};
use tapewise_archive::forecast::BusyDrive;
use tapewise_archive::mover::OwnerShare;
use tapewise_archive::pull_list::Pull;
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
    /// Recalls in the queue that may be read.
    queued: u64,
    /// Recalls in the queue that an operator holds back.
    held: u64,
    /// Recalls that failed and that nobody has dealt with.
    listed_failures: u64,
    /// Recalls that a drive has claimed.
    started: u64,
    /// When the oldest recall without an answer was asked for, in seconds since 1970.
    oldest_at_s: Option<i64>,
    /// Files delivered since the service started. If it has drives, they count when a drive is done with a cartridge.
    delivered: u64,
    /// Files that failed since the service started, counted in the same way.
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
    /// What lies in the cache goes to tape.
    Writing,
    /// Something waits that cannot be read now.
    Waiting,
}

impl Status {
    fn of(service: &Service) -> Result<Status, Problem> {
        let Load {
            open,
            holds,
            failures,
        } = service.load()?;
        let counts = service.work.counts();
        let (doing, why) = match service.doing(&open)? {
            Doing::Idle => (Activity::Idle, None),
            Doing::Recalling => (Activity::Recalling, None),
            Doing::Writing => (Activity::Writing, None),
            Doing::Waiting(why) => (Activity::Waiting, Some(why)),
        };
        Ok(Status {
            format: "tapewise-serve-status",
            version: 1,
            doing,
            why,
            queued: open.queued,
            held: open.held,
            listed_failures: failures,
            started: open.started,
            oldest_at_s: open.oldest_ns.map(seconds),
            delivered: counts.delivered,
            failed: counts.failed,
            cache_bytes: holds.bytes,
            pinned_bytes: holds.pinned_bytes,
        })
    }
}

/// What happens now.
#[utoipa::path(get, path = "/api/v1/status", tag = "queue",
    responses((status = 200, body = Status), (status = 401, body = Problem)))]
pub(crate) async fn status(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
) -> Result<Response, Problem> {
    who.watches()?;
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
    /// When the mounts were planned, in seconds since 1970.
    planned_at_s: i64,
    /// Cartridges that drives read now.
    busy: Vec<BusyNow>,
    /// The mounts that are planned, in their order, if nothing joins the queue and each drive first reads all that it
    /// has begun.
    mounts: Vec<PlannedMount>,
    /// Users that recalls wait for or drives work for, each in an activity.
    shares: Vec<ShareNow>,
    /// Why no mounts are planned, or only the first ones.
    unknown: Option<String>,
}

/// What a user has of the drives, in an activity.
#[derive(Serialize, ToSchema)]
struct ShareNow {
    /// Who asked; empty where nobody said.
    user: String,
    /// What for; empty where nobody said.
    activity: String,
    /// Drives that work for this user and activity.
    drives: usize,
    /// Drives that are due to them, beside the others.
    due: f64,
    /// Recalls in the queue.
    recalls: usize,
    /// What holds some of them back.
    held: Vec<HeldNow>,
}

#[derive(Serialize, ToSchema)]
struct HeldNow {
    /// How many recalls.
    recalls: usize,
    /// The limit that is reached.
    why: String,
}

impl From<&OwnerShare> for ShareNow {
    fn from(share: &OwnerShare) -> ShareNow {
        let held = share.held.iter().map(|(why, recalls)| HeldNow {
            recalls: *recalls,
            why: why.to_string(),
        });
        ShareNow {
            user: share.owner.user.clone(),
            activity: share.owner.activity.clone(),
            drives: share.drives,
            due: share.due,
            recalls: share.waiting,
            held: held.collect(),
        }
    }
}

/// A cartridge that is being read.
#[derive(Serialize, ToSchema)]
struct BusyNow {
    /// The volume's label.
    label: String,
    /// The drive's serial number; absent: a process works alone, and does not tell its drives.
    drive: Option<String>,
    /// The host whose mover has the drive.
    host: Option<String>,
    /// Recalls that were begun and have no answer yet.
    recalls: usize,
    /// Bytes of these on the cartridge.
    bytes: u64,
    /// How long the cartridge stays in the drive, at most, in seconds: as if nothing had been read of it.
    most_s: f64,
    /// Whom it is read for; empty where nobody said.
    user: String,
    /// What for; empty where nobody said.
    activity: String,
}

impl From<&BusyDrive> for BusyNow {
    fn from(busy: &BusyDrive) -> BusyNow {
        let lease = busy.lease.as_ref();
        BusyNow {
            label: busy.label.clone(),
            drive: lease.map(|lease| lease.drive.clone()),
            host: lease.map(|lease| lease.holder.host.clone()),
            recalls: busy.recalls,
            bytes: busy.bytes,
            most_s: busy.most.as_secs_f64(),
            user: busy.owner.user.clone(),
            activity: busy.owner.activity.clone(),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct PlannedMount {
    /// The volume's label.
    label: String,
    /// When the robot goes for it, in seconds from `planned_at_s`.
    begins_s: f64,
    /// How many recalls this mount answers.
    recalls: usize,
    /// Bytes that are read.
    bytes: u64,
    /// How long the cartridge will probably be in the drive, in seconds.
    drive_s: f64,
    /// Whom it is mounted for; empty where nobody said.
    user: String,
    /// What for; empty where nobody said.
    activity: String,
    /// Why it is its turn.
    why: String,
}

impl From<&Pull> for PlannedMount {
    fn from(pull: &Pull) -> PlannedMount {
        PlannedMount {
            label: pull.label.clone(),
            begins_s: pull.begins.as_secs_f64(),
            recalls: pull.files,
            bytes: pull.bytes,
            drive_s: pull.drive_time.0 as f64 / 1e6,
            user: pull.owner.user.clone(),
            activity: pull.owner.activity.clone(),
            why: pull.why.to_string(),
        }
    }
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
    /// How and why it is out of use; absent: it is in use.
    out_of_use: Option<String>,
}

impl Cartridge {
    fn of(wait: &VolumeWait, out_of_use: &[OutOfUse]) -> Cartridge {
        let mut out_of_use = out_of_use.iter();
        let what = out_of_use.find(|what| what.is_volume(&wait.label));
        Cartridge {
            out_of_use: what.map(OutOfUse::to_string),
            label: wait.label.clone(),
            recalls: wait.recalls,
            bytes: wait.bytes,
            oldest_at_s: seconds(wait.oldest_ns),
        }
    }
}

/// Which cartridges are waited for, and in which order they are likely to be mounted.
#[utoipa::path(get, path = "/api/v1/queue", tag = "queue",
    responses((status = 200, body = Queue), (status = 401, body = Problem)))]
pub(crate) async fn queue(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
) -> Result<Response, Problem> {
    who.watches()?;
    let queue = service.ask(|service| {
        let waits = service.waits()?;
        let out_of_use = service.archive.catalogue.out_of_use()?;
        let cartridge = |wait| Cartridge::of(wait, &out_of_use);
        let outlook = service.outlook()?;
        Ok(Queue {
            format: "tapewise-serve-queue",
            version: 1,
            cartridges: waits.iter().map(cartridge).collect(),
            planned_at_s: seconds(outlook.at_ns),
            busy: outlook.busy.iter().map(BusyNow::from).collect(),
            mounts: outlook.pulls.iter().map(PlannedMount::from).collect(),
            shares: outlook.shares.iter().map(ShareNow::from).collect(),
            unknown: outlook.unknown.clone(),
        })
    });
    Ok(Json(queue.await?).into_response())
}

/// The status now, and again whenever it has changed, as server-sent events called `status`. Whoever sees only the own
/// requests is not told why something waits.
#[utoipa::path(get, path = "/api/v1/events", tag = "queue",
    responses((status = 200, body = Status, content_type = "text/event-stream"), (status = 401, body = Problem)))]
pub(crate) async fn events(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
) -> Response {
    let events = Sse::new(changes(service, who.watches().is_ok()));
    let events = events.keep_alive(KeepAlive::default());
    // nginx would gather events until a page of them is full.
    ([("x-accel-buffering", "no")], events).into_response()
}

/// Ends with the connection, or when the catalogue does not answer: clients ask anew by themselves.
fn changes(service: Arc<Service>, sees_all: bool) -> impl Stream<Item = Result<Event, Infallible>> {
    futures_util::stream::unfold((service, None), move |(service, last)| async move {
        loop {
            let mut now = Arc::clone(&service).ask(Status::of).await.ok()?;
            now.why = now.why.filter(|_| sees_all);
            if last.as_ref() != Some(&now) {
                let event = Event::default().event("status").json_data(&now).ok()?;
                return Some((Ok(event), (service, Some(now))));
            }
            tokio::time::sleep(LOOK).await;
        }
    })
}
