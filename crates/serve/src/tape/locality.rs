//! Where files are, as the tape API tells it.

use super::paths::{PathsBody, Places};
use crate::access::{Deed, Who};
use crate::body::parse;
use crate::names::meanings;
use crate::problem::Problem;
use crate::service::Service;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;
use tapewise_archive::catalogue::{OutOfUse, Placed, why_no_file};
use tapewise_archive::movers::broken_volume_of;
use utoipa::ToSchema;

/// Where a file is, or why that cannot be told.
#[derive(Serialize, ToSchema)]
pub(crate) struct Info {
    path: String,
    /// DISK, TAPE, DISK_AND_TAPE, LOST, NONE for an empty file, or UNAVAILABLE for one whose cartridges are out of use for
    /// good; absent: there is an `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    locality: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Where files are.
#[utoipa::path(post, path = "/tape/v1/archiveinfo", tag = "tape", request_body = PathsBody,
    responses((status = 200, body = [Info]), (status = 400, body = Problem)))]
pub(crate) async fn archiveinfo(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    body: Bytes,
) -> Result<Response, Problem> {
    let infos = move |service: &Service| {
        let asked: PathsBody = parse(&body)?;
        let mut seen = BTreeSet::new();
        let mut paths = asked.paths;
        paths.retain(|path| seen.insert(path.clone()));
        paths.truncate(service.limits.files);
        let means = |path: &String| {
            let may = who.check(Deed::Locate, path);
            may.map_err(|problem| problem.detail().to_owned())?;
            meanings(path)
        };
        let meant: Vec<Result<Vec<Vec<u8>>, String>> = paths.iter().map(means).collect();
        let catalogue = service.archive.catalogue.as_ref();
        let places = Places::of(catalogue, meant.iter().flatten().flatten())?;
        let missing = meant.iter().flatten();
        let missing = missing.filter(|paths| places.file(paths).is_none());
        let missing: Vec<&[u8]> = missing.flatten().map(Vec::as_slice).collect();
        let directories = catalogue.directories_among(&missing)?;
        let out_of_use = catalogue.out_of_use()?;
        let infos = paths.into_iter().zip(meant).map(|(path, meant)| {
            let found = meant.and_then(|meant| {
                let file = places.file(&meant);
                file.ok_or_else(|| why_no_file(&meant, &directories).to_owned())
            });
            let locality = found.as_ref().ok();
            let locality = locality.map(|file| locality_of(service, file, &out_of_use));
            Ok(Info {
                path,
                locality: locality.transpose()?,
                error: found.err(),
            })
        });
        infos.collect::<Result<Vec<Info>, Problem>>()
    };
    Ok(Json(service.ask(infos).await?).into_response())
}

fn locality_of(
    service: &Service,
    file: &Placed,
    out_of_use: &[OutOfUse],
) -> Result<&'static str, Problem> {
    let (archive, catalogue) = (&service.archive, service.archive.catalogue.as_ref());
    let is_here = (file.cached).is_some_and(|key| archive.is_in_place(key, file.bytes));
    let needs_tape = !is_here && file.bytes > 0;
    if needs_tape && !out_of_use.is_empty() {
        let entry = catalogue.file(file.file)?;
        if broken_volume_of(catalogue, &entry, out_of_use)?.is_some() {
            return Ok("UNAVAILABLE");
        }
    }
    Ok(match (file.bytes, is_here, file.is_on_tape) {
        (0, ..) => "NONE",
        (_, true, true) => "DISK_AND_TAPE",
        (_, true, false) => "DISK",
        (_, false, true) => "TAPE",
        (_, false, false) => "LOST",
    })
}
