//! Our own API: who asked for what and how far it is, priorities and cancel for operators, drives, and the last day.

use crate::access::Who;
use crate::drives::{Device, Mounted};
use crate::problem::Problem;
use crate::service::Service;
use crate::tape::{parse, state_name};
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use tapewise_archive::catalogue::Stage;
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

impl From<Stage> for AskedFor {
    fn from(stage: Stage) -> AskedFor {
        let mut files = BTreeMap::new();
        for file in &stage.files {
            *files.entry(state_name(file.state)).or_insert(0) += 1;
        }
        let failed = stage.files.into_iter().filter_map(|file| {
            let error = file.reason?;
            let path = file.spelling;
            Some(FailedFile { path, error })
        });
        AskedFor {
            id: stage.id,
            user: stage.user,
            created_at_s: seconds(stage.created_ns),
            files,
            failed: failed.take(FAILURES).collect(),
        }
    }
}

fn seconds(ns: i64) -> i64 {
    ns.max(0) / 1_000_000_000
}

/// Requests: those of everybody for whoever may see them, else the own ones.
#[utoipa::path(get, path = "/api/v1/requests", tag = "queue",
    responses((status = 200, body = Asked), (status = 401, body = Problem)))]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
) -> Result<Json<Asked>, Problem> {
    let list = move |service: &Service| {
        let user = who.watches().is_err().then_some(who.name.as_str());
        Ok(service.archive.catalogue.stages(user, REQUESTS)?)
    };
    let stages = service.ask(list).await?;
    Ok(Json(Asked {
        format: "tapewise-serve-requests",
        version: 1,
        requests: stages.into_iter().map(AskedFor::from).collect(),
    }))
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct PriorityBody {
    /// Higher is sooner; 0 is usual.
    priority: i32,
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
    let PriorityBody { priority } = parse(&body, r#"{"priority": 10}"#)?;
    let prioritise = move |service: &Service| {
        let catalogue = &service.archive.catalogue;
        catalogue.stage_owner(&id)?.ok_or_else(Problem::no_stage)?;
        Ok(catalogue.prioritise_stage(&id, priority.into())?)
    };
    service.ask(prioritise).await
}

/// Cancels a request, whoever asked for it, and forgets it.
#[utoipa::path(delete, path = "/api/v1/requests/{id}", tag = "queue", params(("id" = String, Path)),
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
        Ok(catalogue.delete_stage(&id, (service.now_ns)())?)
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
