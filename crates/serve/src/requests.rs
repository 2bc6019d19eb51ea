//! Our own API: who asked for what, how far it is and when it is likely to be there; priorities, hold and cancel for
//! operators; drives, and the last day.

use crate::access::Who;
use crate::body::{Body, Object, parse};
use crate::drives::{Device, Mounted};
use crate::forecast::{Outlook, Turn};
use crate::problem::Problem;
use crate::service::Service;
use crate::tape::state_name;
use crate::visible::visible;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::{Extension, Json};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tapewise_archive::catalogue::{RequestId, RequestState, StageInBrief, StagedFile};
use tapewise_archive::mover::Hold;
use utoipa::ToSchema;

/// Requests in one answer, and failed files of each.
const REQUESTS: usize = 1_000;
const FAILURES: usize = 20;

/// Stage requests, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct Asked {
    /// `tapewise-serve-requests`.
    format: &'static str,
    /// 1. Fields may be added within a version.
    version: u32,
    /// At most 1,000.
    requests: Vec<AskedFor>,
}

#[derive(Serialize, ToSchema)]
struct AskedFor {
    id: String,
    /// Who asked.
    user: String,
    /// When, in seconds since 1970.
    created_at_s: i64,
    /// Whether an operator holds it back.
    held: bool,
    /// When all of its files that wait for a cartridge are likely to be there; absent: none waits for one, or it is
    /// not known.
    expected: Option<Expected>,
    /// What holds some of its files back: a limit, a cartridge out of use or a full cache; absent: nothing does.
    held_by: Option<String>,
    /// How many files have each state of the tape API.
    files: BTreeMap<&'static str, usize>,
    /// Files that failed, at most 20.
    failed: Vec<FailedFile>,
}

#[derive(Serialize, ToSchema)]
struct FailedFile {
    /// As the client spelled it.
    path: String,
    error: String,
}

/// When something is likely to be there, as the queue stands now.
#[derive(Serialize, ToSchema)]
struct Expected {
    /// How many recalls that need a cartridge are likely to be answered until then.
    position: usize,
    /// Not before, in seconds since 1970.
    soonest_at_s: i64,
    /// Not after.
    latest_at_s: i64,
}

impl From<Turn> for Expected {
    fn from(turn: Turn) -> Expected {
        Expected {
            position: turn.position,
            soonest_at_s: seconds(turn.soonest_ns),
            latest_at_s: seconds(turn.latest_ns),
        }
    }
}

/// The recalls that a stage waits for, and how far they are.
pub(crate) type Open = [(RequestId, RequestState)];

/// When all that a stage waits for is likely to be there.
pub(crate) fn expected(open: &Open, outlook: &Outlook) -> Option<Turn> {
    outlook.last_turn(open.iter().map(|&(request, _)| Some(request)))
}

/// What holds back some of what is left of a user's stage, in words: a limit, cartridges that are out of use, a full
/// cache.
pub(crate) fn held_by(user: &str, open: &Open, outlook: &Outlook) -> Option<String> {
    let is_queued = |(_, state): &&_| *state == RequestState::Queued;
    let mut queued = open.iter().filter(is_queued).peekable();
    let hold = outlook.hold(user).filter(|_| queued.peek().is_some());
    let unattended = (outlook.unattended.clone()).filter(|_| queued.peek().is_some());
    let others = queued.filter_map(|&(request, _)| outlook.waits_for(Some(request)));
    let others: BTreeSet<String> = others.collect();
    let why: Vec<String> = hold
        .map(Hold::to_string)
        .into_iter()
        .chain(unattended)
        .chain(others)
        .collect();
    (!why.is_empty()).then(|| why.join("; "))
}

impl AskedFor {
    fn of(stage: StageInBrief, outlook: &Outlook) -> AskedFor {
        let expected = expected(&stage.open, outlook).map(Expected::from);
        let held_by = held_by(&stage.user, &stage.open, outlook);
        let files = stage.files.into_iter();
        let failed = stage.failed.into_iter();
        AskedFor {
            id: stage.id,
            user: stage.user,
            created_at_s: seconds(stage.created_ns),
            held: stage.is_held,
            held_by,
            expected,
            files: files
                .map(|(state, count)| (state_name(state), count))
                .collect(),
            failed: failed
                .map(|(path, error)| FailedFile { path, error })
                .collect(),
        }
    }
}

pub(crate) fn seconds(ns: i64) -> i64 {
    ns.max(0) / 1_000_000_000
}

/// Requests: those of everybody for whoever may see them, else the own ones.
#[utoipa::path(get, path = "/api/v1/requests", operation_id = "list_requests", tag = "queue",
    responses((status = 200, body = Asked), (status = 401, body = Problem)))]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
) -> Result<Json<Asked>, Problem> {
    let list = move |service: &Service| {
        let user = who.watches().is_err().then_some(who.name.as_str());
        let stages = service.archive.catalogue.stages(user, REQUESTS, FAILURES)?;
        let outlook = service.outlook()?;
        let asked_for = |stage| AskedFor::of(stage, &outlook);
        Ok(stages.into_iter().map(asked_for).collect())
    };
    Ok(Json(Asked {
        format: "tapewise-serve-requests",
        version: 1,
        requests: service.ask(list).await?,
    }))
}

/// A stage request with all of its files.
#[derive(Serialize, ToSchema)]
pub(crate) struct OneRequest {
    /// `tapewise-serve-request`.
    format: &'static str,
    /// 1. Fields may be added within a version.
    version: u32,
    id: String,
    /// Who asked.
    user: String,
    /// When, in seconds since 1970.
    created_at_s: i64,
    /// Whether an operator holds it back.
    held: bool,
    /// What holds some of its files back: a limit, a cartridge out of use, a full cache, or that no mover works; absent:
    /// nothing does.
    held_by: Option<String>,
    files: Vec<FileOfRequest>,
}

#[derive(Serialize, ToSchema)]
struct FileOfRequest {
    /// As the client spelled it.
    path: String,
    /// The state of the tape API.
    state: &'static str,
    /// Why it failed.
    error: Option<String>,
    /// When it is likely to be there; absent: it waits for no cartridge, is held back, or it is not known.
    expected: Option<Expected>,
}

/// One request: how far each file is, its place in the queue, and when it is likely to be there.
#[utoipa::path(get, path = "/api/v1/requests/{id}", tag = "queue", params(("id" = String, Path)),
    responses((status = 200, body = OneRequest), (status = 401, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn one(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    Path(id): Path<String>,
) -> Result<Json<OneRequest>, Problem> {
    let one = move |service: &Service| {
        let stage = visible(service, &who, &id)?;
        let outlook = service.outlook()?;
        let file = |file: StagedFile| FileOfRequest {
            path: file.spelling,
            state: state_name(file.state),
            error: file.reason,
            expected: outlook.turn(file.request).map(Expected::from),
        };
        let held_by = held_by(&stage.user, &stage.open(), &outlook);
        Ok(Json(OneRequest {
            format: "tapewise-serve-request",
            version: 1,
            id: stage.id,
            user: stage.user,
            created_at_s: seconds(stage.created_ns),
            held: stage.is_held,
            held_by,
            files: stage.files.into_iter().map(file).collect(),
        }))
    };
    service.ask(one).await
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriorityBody {
    /// Higher is sooner; 0 is usual.
    #[schema(value_type = i32)]
    priority: i64,
}

impl Body for PriorityBody {
    const EXAMPLE: &'static str = r#"{"priority": 10}"#;

    fn of(object: Object) -> Result<PriorityBody, String> {
        let mut object = object.only(&["priority"])?;
        let priority = object.number("priority", i32::MIN.into(), i32::MAX.into())?;
        Ok(PriorityBody { priority })
    }
}

/// Moves the files of a request that wait up or down in the queue: higher priorities are read first.
#[utoipa::path(post, path = "/api/v1/requests/{id}/priority", tag = "queue", params(("id" = String, Path)),
    request_body = PriorityBody,
    responses((status = 200), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn prioritise(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<(), Problem> {
    who.operates()?;
    let PriorityBody { priority } = parse(&body)?;
    let prioritise = move |service: &Service| {
        let catalogue = &service.archive.catalogue;
        catalogue.stage_owner(&id)?.ok_or_else(Problem::no_stage)?;
        Ok(catalogue.prioritise_stage(&id, priority)?)
    };
    service.ask(prioritise).await
}

/// Holds a request back, or lets it go on.
pub(crate) async fn set_held(
    service: Arc<Service>,
    who: &Who,
    id: String,
    is_held: bool,
) -> Result<(), Problem> {
    who.operates()?;
    let set = move |service: &Service| {
        let catalogue = &service.archive.catalogue;
        catalogue.stage_owner(&id)?.ok_or_else(Problem::no_stage)?;
        catalogue.hold_stage(&id, is_held)?;
        service.work.ring();
        Ok(())
    };
    service.ask(set).await
}

/// Holds a request back: its files that wait stay in the queue. Files that another request wants too are read, and
/// what a drive has begun goes on.
#[utoipa::path(post, path = "/api/v1/requests/{id}/hold", tag = "queue", params(("id" = String, Path)),
    responses((status = 200), (status = 401, body = Problem), (status = 403, body = Problem),
        (status = 404, body = Problem)))]
pub(crate) async fn hold(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    Path(id): Path<String>,
) -> Result<(), Problem> {
    set_held(service, &who, id, true).await
}

/// Lets a request go on that was held back.
#[utoipa::path(post, path = "/api/v1/requests/{id}/release", operation_id = "release_request", tag = "queue", params(("id" = String, Path)),
    responses((status = 200), (status = 401, body = Problem), (status = 403, body = Problem),
        (status = 404, body = Problem)))]
pub(crate) async fn release(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    Path(id): Path<String>,
) -> Result<(), Problem> {
    set_held(service, &who, id, false).await
}

/// Cancels a request, whoever asked for it, and forgets it.
#[utoipa::path(delete, path = "/api/v1/requests/{id}", operation_id = "delete_request", tag = "queue", params(("id" = String, Path)),
    responses((status = 200), (status = 401, body = Problem), (status = 403, body = Problem),
        (status = 404, body = Problem)))]
pub(crate) async fn delete(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    Path(id): Path<String>,
) -> Result<(), Problem> {
    who.operates()?;
    let delete = move |service: &Service| {
        let catalogue = &service.archive.catalogue;
        catalogue.stage_owner(&id)?.ok_or_else(Problem::no_stage)?;
        catalogue.delete_stage(&id, (service.now_ns)())?;
        service.work.ring();
        Ok(())
    };
    service.ask(delete).await
}

/// What drives did last.
#[derive(Serialize, ToSchema)]
pub(crate) struct DriveList {
    /// `tapewise-serve-drives`.
    format: &'static str,
    /// 1. Fields may be added within a version.
    version: u32,
    /// Those that have done something since the service started.
    drives: Vec<DriveNow>,
}

#[derive(Serialize, ToSchema)]
struct DriveNow {
    /// Its serial number.
    drive: String,
    /// The cartridge in it.
    cartridge: Option<String>,
    /// What it did last, as event logs name it: `locate`, `read`, `fetch`.
    did: String,
    /// When that ended, in seconds since 1970.
    at_s: i64,
    /// Where the head is, as far as the drive told.
    wrap: Option<u16>,
    lpos: Option<u32>,
    /// Why it failed.
    error: Option<String>,
    /// How often something failed since the service started.
    errors: u64,
}

fn drive_now((drive, device): (String, Device)) -> DriveNow {
    DriveNow {
        drive,
        did: device.last.to_string(),
        at_s: seconds(device.at_ns),
        wrap: device.spot.and_then(|spot| spot.wrap),
        lpos: device.spot.and_then(|spot| spot.lpos),
        cartridge: device.cartridge,
        error: device.error,
        errors: device.errors,
    }
}

/// What drives did last.
#[utoipa::path(get, path = "/api/v1/drives", tag = "queue",
    responses((status = 200, body = DriveList), (status = 401, body = Problem), (status = 403, body = Problem)))]
pub(crate) async fn drives(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
) -> Result<Json<DriveList>, Problem> {
    who.watches()?;
    let devices = service.work.drives().devices;
    Ok(Json(DriveList {
        format: "tapewise-serve-drives",
        version: 1,
        drives: devices.into_iter().map(drive_now).collect(),
    }))
}

/// The mounts of the last day.
#[derive(Serialize, ToSchema)]
pub(crate) struct History {
    /// `tapewise-serve-history`.
    format: &'static str,
    /// 1. Fields may be added within a version.
    version: u32,
    /// Oldest first, since the service started.
    mounts: Vec<Mount>,
}

#[derive(Serialize, ToSchema)]
struct Mount {
    drive: String,
    cartridge: String,
    /// In seconds since 1970.
    began_at_s: i64,
    /// Absent while the cartridge is in the drive.
    ended_at_s: Option<i64>,
    /// Seconds on the drive's clock.
    mounting_s: f64,
    positioning_s: f64,
    reading_s: f64,
    locates: u64,
    bytes: u64,
    errors: u64,
}

impl From<Mounted> for Mount {
    fn from(mount: Mounted) -> Mount {
        let [mounting_s, positioning_s, reading_s] = mount.took_us.map(|us| us as f64 / 1e6);
        Mount {
            drive: mount.drive,
            cartridge: mount.cartridge,
            began_at_s: seconds(mount.began_ns),
            ended_at_s: mount.ended_ns.map(seconds),
            mounting_s,
            positioning_s,
            reading_s,
            locates: mount.locates,
            bytes: mount.bytes,
            errors: mount.errors,
        }
    }
}

/// Which cartridges were in which drives in the last day, and what for.
#[utoipa::path(get, path = "/api/v1/history", tag = "queue",
    responses((status = 200, body = History), (status = 401, body = Problem), (status = 403, body = Problem)))]
pub(crate) async fn history(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
) -> Result<Json<History>, Problem> {
    who.watches()?;
    let mounts = service.work.drives().mounts;
    Ok(Json(History {
        format: "tapewise-serve-history",
        version: 1,
        mounts: mounts.into_iter().map(Mount::from).collect(),
    }))
}
