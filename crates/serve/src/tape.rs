//! The WLCG Tape REST API, version 1: discovery, stage, poll, cancel, delete, release, archiveinfo.
//!
//! Where the specification leaves something open, or clients expect something else, this is what it does:
//!
//! - a path comes back as the client spelled it, once, however often it was asked for;
//! - a file has a `state` and never `onDisk`, and an `error` only when it has failed for good: gfal2 takes any error
//!   for the end;
//! - a header `Idempotency-Key` lets a client that lost the answer ask again without asking twice;
//! - times are whole seconds;
//! - what a client says below `targetedMetadata` for other sites, or in keys that are unknown there, is passed over, as
//!   the specification wants it; every other unknown key is refused, for it may be a misspelt one.

pub(crate) mod locality;
mod paths;

use crate::access::{Deed, Who};
use crate::body::{Body, Object, parse, without_zero};
use crate::files::not_its_own;
use crate::lifetime;
use crate::names::meanings;
use crate::problem::Problem;
use crate::service::Service;
use crate::visible::visible;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use paths::{PathsBody, Places};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use tapewise_archive::catalogue::{
    FileId, NewStage, OpenFiles, RequestState, Stage, StagedFile, Submitted, WantedFile,
};
use utoipa::ToSchema;

/// Where the API stands below the service's address.
pub(crate) const ROOT: &str = "/tape/v1";

/// A client may name its request by this header.
const REPEAT_KEY: &str = "idempotency-key";

/// Longest name that a request can have.
const REPEAT_KEY_BYTES: usize = 200;

/// What gfal2 puts in the place of an id that its user did not give.
const NO_ID: &str = "gfal2-placeholder-id";

/// Where the tape API is.
#[derive(Serialize, ToSchema)]
pub(crate) struct Found {
    sitename: String,
    description: &'static str,
    endpoints: [Endpoint; 1],
}

#[derive(Serialize, ToSchema)]
struct Endpoint {
    uri: String,
    /// v1
    version: &'static str,
    metadata: BTreeMap<String, String>,
}

/// Where the tape API is.
#[utoipa::path(get, path = "/.well-known/wlcg-tape-rest-api", tag = "tape", security(()), responses((status = 200, body = Found)))]
pub(crate) async fn discovery(State(service): State<Arc<Service>>, headers: HeaderMap) -> Response {
    let endpoint = Endpoint {
        uri: format!("{}{ROOT}", address(&service, &headers)),
        version: "v1",
        metadata: BTreeMap::new(),
    };
    let found = Found {
        sitename: service.site.name.clone(),
        description: "tapewise: recalls from tape in the fastest order",
        endpoints: [endpoint],
    };
    Json(&found).into_response()
}

/// The address of the service, as it is configured or as the client knows it.
fn address(service: &Service, headers: &HeaderMap) -> String {
    if let Some(url) = &service.site.url {
        return url.trim_end_matches('/').to_owned();
    }
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let host = host.and_then(|host| host.parse::<axum::http::uri::Authority>().ok());
    let scheme = if service.site.is_encrypted {
        "https"
    } else {
        "http"
    };
    host.map_or_else(String::new, |host| format!("{scheme}://{host}"))
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StageBody {
    #[schema(min_items = 1)]
    files: Vec<FileBody>,
}

impl Body for StageBody {
    const EXAMPLE: &'static str = r#"{"files": [{"path": "/d/file", "diskLifetime": "PT24H"}]}"#;

    fn of(object: Object) -> Result<StageBody, String> {
        let files = object.only(&["files"])?.objects("files")?.into_iter();
        let files = files.map(FileBody::of);
        Ok(StageBody {
            files: files.collect::<Result<_, String>>()?,
        })
    }
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
struct FileBody {
    /// From the root of the archive.
    path: String,
    /// How long it stays in the cache, as ISO 8601 has it: `PT24H`.
    #[schema(rename = "diskLifetime", format = "duration")]
    disk_lifetime: Option<String>,
    /// What is meant for this site stands under its name, else under `default`: `{"default": {"activity": "production"}}`.
    /// The activity is what the file is for, as the site divides its drives. What is for other sites is passed over.
    #[schema(rename = "targetedMetadata")]
    targeted_metadata: Option<serde_json::Value>,
}

/// Longest name of an activity.
const ACTIVITY_BYTES: usize = 200;

impl FileBody {
    fn of(object: Object) -> Result<FileBody, String> {
        let mut object = object.only(&["path", "diskLifetime", "targetedMetadata"])?;
        Ok(FileBody {
            path: object.text("path")?,
            disk_lifetime: object.text_or_nothing("diskLifetime")?,
            targeted_metadata: object.any("targetedMetadata"),
        })
    }

    /// What the file is for; empty where the client did not say.
    fn activity(&self, site: &str) -> Result<String, Problem> {
        let metadata = self.targeted_metadata.as_ref();
        let ours = metadata.and_then(|all| all.get(site).or_else(|| all.get("default")));
        let activity = ours.and_then(|ours| ours.get("activity")?.as_str());
        let activity = activity.unwrap_or_default();
        if activity.len() > ACTIVITY_BYTES {
            let said = format!("`activity` is longer than {ACTIVITY_BYTES} bytes.");
            return Err(Problem::bad(said));
        }
        without_zero("`activity`", activity).map_err(Problem::bad)?;
        Ok(activity.to_owned())
    }
}

/// Asks for files, all or none.
#[utoipa::path(post, path = "/tape/v1/stage", tag = "tape", request_body = StageBody,
    params(("Idempotency-Key" = Option<String>, Header, description = "A request that is sent again with its key is carried out once",
        min_length = 1, max_length = 200, pattern = "^[ -~]+$")),
    responses((status = 201, body = Staged, headers(("Location" = String))), (status = 400, body = Problem),
        (status = 413, body = Problem), (status = 422, description = "The key was used for other files", body = Problem),
        (status = 429, description = "Too many files wait", body = Problem, headers(("Retry-After" = u32)))))]
pub(crate) async fn stage(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let address = address(&service, &headers);
    let repeat_key = repeat_key(&headers)?;
    let work = Arc::clone(&service.work);
    let id = service
        .ask(move |service| begin(service, &who, repeat_key, &body))
        .await?;
    work.ring();
    let location = format!("{address}{ROOT}/stage/{id}");
    let answer = Json(Staged { request_id: id });
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], answer).into_response())
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Staged {
    request_id: String,
}

fn repeat_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(key) = headers.get(REPEAT_KEY) else {
        return Ok(None);
    };
    let key = key.to_str().ok();
    let key = key.filter(|key| !key.is_empty() && key.len() <= REPEAT_KEY_BYTES);
    let wrong = || {
        Problem::bad(format!(
            "Idempotency-Key must be 1 to {REPEAT_KEY_BYTES} printable ASCII characters."
        ))
    };
    Ok(Some(key.ok_or_else(wrong)?.to_owned()))
}

/// Enters a stage; its id, which is that of the first one where it was sent again.
fn begin(
    service: &Service,
    who: &Who,
    repeat_key: Option<String>,
    body: &[u8],
) -> Result<String, Problem> {
    let asked: StageBody = parse(body)?;
    let most = service.limits.files;
    if asked.files.is_empty() {
        return Err(Problem::bad("`files` is empty: name at least one file."));
    }
    if asked.files.len() > most {
        let detail = format!(
            "{} files are more than the {most} that one request may have. Send several requests.",
            asked.files.len()
        );
        return Err(too_large(detail));
    }
    for file in &asked.files {
        who.check(Deed::Stage, &file.path)?;
    }
    let stage = NewStage {
        id: uuid::Uuid::new_v4().to_string(),
        user: who.name.clone(),
        repeat_key,
        asked_hash: Sha256::digest(body).to_vec(),
        files: wanted(asked.files, &service.site.name)?,
    };
    let at_ns = (service.now_ns)();
    let (catalogue, count) = (&service.archive.catalogue, stage.files.len() as u64);
    let may_wait = service
        .limits
        .user_open_files
        .min(service.limits.open_files);
    if count > may_wait {
        let detail = format!(
            "{count} files are more than the {may_wait} of one user that may wait at a time. Send several requests, one after the other."
        );
        return Err(too_large(detail));
    }
    let files = stage.files.iter();
    let paths = files.flat_map(|wanted| wanted.paths.iter().flatten());
    let paths: Vec<&[u8]> = paths.map(Vec::as_slice).collect();
    // What somebody took out of the cache is read from tape.
    let looked = service.archive.look_for(&paths);
    looked.map_err(not_its_own)?;
    let limits = service
        .open_files
        .take(&stage.user, count, &service.limits, || {
            catalogue.open_files()
        })?;
    let begun = catalogue.begin_stage(&stage, &limits, at_ns);
    if !matches!(begun, Ok(Submitted::New)) {
        service.open_files.give_back(&stage.user, count);
    }
    match begun? {
        Submitted::New => Ok(stage.id),
        Submitted::Repeated(id) => Ok(id),
        Submitted::OtherContents => Err(Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "Key used twice",
            "Another request with other contents had this Idempotency-Key. Use a new key for each request.",
        )),
        Submitted::TooMany(OpenFiles { open, most }) => {
            let detail = format!(
                "{open} files wait, and {most} may. Try again when some of them have arrived."
            );
            let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "Queue full", detail);
            Err(problem.with(header::RETRY_AFTER, "300"))
        }
    }
}

pub(crate) fn too_large(detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "Request too large", detail)
}

/// The files that are asked for, each spelling once, for the longest of its lifetimes and the first of its activities.
fn wanted(files: Vec<FileBody>, site: &str) -> Result<Vec<WantedFile>, Problem> {
    let mut wanted: BTreeMap<String, (i64, String)> = BTreeMap::new();
    for file in files {
        let lifetime_ns = match &file.disk_lifetime {
            Some(text) => lifetime::of(text).map_err(Problem::bad)?,
            None => lifetime::USUAL_NS,
        };
        let activity = file.activity(site)?;
        let (longest_ns, first) = wanted.entry(file.path).or_default();
        *longest_ns = lifetime_ns.max(*longest_ns);
        if first.is_empty() {
            *first = activity;
        }
    }
    let wanted = wanted
        .into_iter()
        .map(|(spelling, (lifetime_ns, activity))| WantedFile {
            paths: meanings(&spelling),
            spelling,
            lifetime_ns,
            activity,
        });
    Ok(wanted.collect())
}

/// A stage that a client names, to change it: an own one, or anybody's for operators.
fn to_change(service: &Service, who: &Who, id: &str) -> Result<Stage, Problem> {
    let stage = visible(service, who, id)?;
    if stage.user != who.name && who.operates().is_err() {
        return Err(Problem::no_stage());
    }
    with(Deed::Stage, who, stage)
}

/// A stage, if a deed is allowed with all of its files.
fn with(deed: Deed, who: &Who, stage: Stage) -> Result<Stage, Problem> {
    let mut files = stage.files.iter();
    files.try_for_each(|file| who.check_own(deed, &file.spelling))?;
    Ok(stage)
}

/// A stage as the specification answers a poll. Times are seconds since 1970.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Polled {
    id: String,
    created_at: i64,
    started_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<i64>,
    files: Vec<PolledFile>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PolledFile {
    /// As the client spelled it.
    path: String,
    /// SUBMITTED, STARTED, COMPLETED, FAILED or CANCELLED.
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

fn seconds(ns: i64) -> i64 {
    ns.max(0) / 1_000_000_000
}

/// The specification's name of a state.
pub(crate) fn state_name(state: RequestState) -> &'static str {
    match state {
        RequestState::Queued => "SUBMITTED",
        RequestState::Started => "STARTED",
        RequestState::Delivered => "COMPLETED",
        RequestState::Failed => "FAILED",
        RequestState::Cancelled => "CANCELLED",
    }
}

impl From<Stage> for Polled {
    fn from(stage: Stage) -> Polled {
        let files = &stage.files;
        let started_ns = files.iter().filter_map(|file| file.started_ns).min();
        let is_open = files.iter().any(|file| file.done_ns.is_none());
        let last_ns = files.iter().filter_map(|file| file.done_ns).max();
        // A recall that another stage had asked for may have begun before this one.
        let started_ns = started_ns.map_or(stage.created_ns, |ns| ns.max(stage.created_ns));
        Polled {
            id: stage.id,
            created_at: seconds(stage.created_ns),
            started_at: seconds(started_ns),
            completed_at: last_ns.filter(|_| !is_open).map(seconds),
            files: stage.files.into_iter().map(PolledFile::from).collect(),
        }
    }
}

impl From<StagedFile> for PolledFile {
    fn from(file: StagedFile) -> PolledFile {
        let has_failed = file.state == RequestState::Failed;
        PolledFile {
            path: file.spelling,
            state: state_name(file.state),
            started_at: file.started_ns.map(seconds),
            finished_at: file.done_ns.map(seconds),
            error: file.reason.filter(|_| has_failed),
        }
    }
}

/// How far each file of a request is.
#[utoipa::path(get, path = "/tape/v1/stage/{id}", tag = "tape", params(("id" = String, Path)),
    responses((status = 200, body = Polled), (status = 404, body = Problem)))]
pub(crate) async fn poll(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let stage = service
        .ask(move |service| with(Deed::Locate, &who, visible(service, &who, &id)?))
        .await?;
    Ok(Json(Polled::from(stage)).into_response())
}

/// The files of a stage that a client names by paths, also when it spells them otherwise than before. A path that
/// the stage does not have is an error.
fn named<'s>(stage: &'s Stage, paths: &[String]) -> Result<Vec<&'s StagedFile>, Problem> {
    let mut by_spelling: BTreeMap<&str, &StagedFile> = BTreeMap::new();
    let mut by_meaning: BTreeMap<Vec<u8>, &StagedFile> = BTreeMap::new();
    for file in &stage.files {
        by_spelling.insert(&file.spelling, file);
        if let Some(meaning) = meaning(&file.spelling) {
            by_meaning.insert(meaning, file);
        }
    }
    let found = paths.iter().map(|path| {
        let found = by_spelling.get(path.as_str()).copied();
        let found = found.or_else(|| by_meaning.get(&meaning(path)?).copied());
        found.ok_or_else(|| {
            let detail =
                format!("\"{path}\" is not a file of this stage request. Nothing was changed.");
            Problem::bad(detail)
        })
    });
    found.collect()
}

fn meaning(spelling: &str) -> Option<Vec<u8>> {
    meanings(spelling).ok()?.into_iter().next()
}

/// Cancels files of a request, all or none, also while their cartridge is being read.
#[utoipa::path(post, path = "/tape/v1/stage/{id}/cancel", tag = "tape", params(("id" = String, Path)), request_body = PathsBody,
    responses((status = 200), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn cancel(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<(), Problem> {
    let cancel = move |service: &Service| {
        let stage = to_change(service, &who, &id)?;
        let asked: PathsBody = parse(&body)?;
        let files = named(&stage, &asked.paths)?;
        let spellings: Vec<String> = files.iter().map(|file| file.spelling.clone()).collect();
        let at_ns = (service.now_ns)();
        let catalogue = &service.archive.catalogue;
        catalogue.cancel_stage(&id, &spellings, at_ns)?;
        service.work.ring();
        Ok(())
    };
    service.ask(cancel).await
}

/// Cancels a request and forgets it.
#[utoipa::path(delete, path = "/tape/v1/stage/{id}", tag = "tape", params(("id" = String, Path)),
    responses((status = 200), (status = 404, body = Problem)))]
pub(crate) async fn delete(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    Path(id): Path<String>,
) -> Result<(), Problem> {
    let delete = move |service: &Service| {
        let stage = to_change(service, &who, &id)?;
        let at_ns = (service.now_ns)();
        service.archive.catalogue.delete_stage(&stage.id, at_ns)?;
        service.work.ring();
        Ok(())
    };
    service.ask(delete).await
}

/// Lets the cache drop files of a request.
#[utoipa::path(post, path = "/tape/v1/release/{id}", tag = "tape", params(("id" = String, Path)), request_body = PathsBody,
    responses((status = 200), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn release(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<(), Problem> {
    let release = move |service: &Service| {
        let asked: PathsBody = parse(&body)?;
        let catalogue = &service.archive.catalogue;
        if id == NO_ID {
            let paths = || asked.paths.iter();
            paths().try_for_each(|path| who.check_own(Deed::Stage, path))?;
            let meant: Vec<Vec<Vec<u8>>> = paths().filter_map(|path| meanings(path).ok()).collect();
            let places = Places::of(catalogue.as_ref(), meant.iter().flatten())?;
            let files = meant
                .iter()
                .filter_map(|paths| Some(places.file(paths)?.file));
            let files: Vec<FileId> = files.collect();
            catalogue.release_files(&who.name, &files)?;
            service.work.ring();
            return Ok(());
        }
        let stage = to_change(service, &who, &id)?;
        let files = named(&stage, &asked.paths)?;
        let files: Vec<FileId> = files.iter().filter_map(|file| file.file).collect();
        catalogue.release_stage(&stage.id, &files)?;
        service.work.ring();
        Ok(())
    };
    service.ask(release).await
}
