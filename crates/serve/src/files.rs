//! Contents of staged files: from the cache, where a file appears only when it is whole and its checksum was right.

use crate::access::{Deed, Who};
use crate::names::meanings;
use crate::problem::Problem;
use crate::service::Service;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use percent_encoding::percent_decode_str;
use std::fs::File;
use std::io::{self, Read as _};
use std::sync::Arc;
use tapewise_archive::catalogue::FileId;
use tapewise_archive::deliver::shown;
use tapewise_archive::open::OpenError;
use tokio::task;

/// Where they are.
pub(crate) const FILES: &str = "/files/";

/// Bytes of one piece of an answer.
const PIECE_BYTES: usize = 1 << 20;

/// The file that a client's path means, if the archive has it.
pub(crate) fn find(
    service: &Service,
    spelling: impl AsRef<[u8]>,
) -> Result<Option<FileId>, Problem> {
    for path in meanings(spelling).unwrap_or_default() {
        if let Some(file) = service.archive.catalogue.live_file(&path)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// The contents of a file that is in the cache.
#[utoipa::path(get, path = "/files/{path}", tag = "files",
    params(("path" = String, Path, description = "The file's path in the archive")),
    responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 404, body = Problem), (status = 409, description = "On tape only: stage it first", body = Problem)))]
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    address: Uri,
) -> Result<Response, Problem> {
    // Names are bytes, and not always text.
    let path = address.path().strip_prefix(FILES).unwrap_or_default();
    let path: Vec<u8> = percent_decode_str(path).collect();
    who.check(Deed::Read, &path)?;
    let opened = service.ask(move |service| open(service, &path)).await?;
    let (contents, bytes) = opened;
    // The next piece is read when the client has taken the last one: whoever reads slowly keeps no thread.
    let body = stream::unfold((contents, bytes), |(contents, left)| async move {
        let read = task::spawn_blocking(move || piece(contents, left));
        let failed = |error| Some((Err(io::Error::other(error)), (Contents::default(), 0)));
        read.await.unwrap_or_else(failed)
    });
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_LENGTH, bytes.to_string()),
    ];
    Ok((headers, Body::from_stream(body)).into_response())
}

fn open(service: &Service, path: &[u8]) -> Result<(Contents, u64), Problem> {
    let Some(file) = find(service, path)? else {
        let detail = format!("The archive has no file \"{}\".", shown(path));
        return Err(Problem::new(StatusCode::NOT_FOUND, "No such file", detail));
    };
    let entry = service.archive.catalogue.file(file)?;
    if entry.file.bytes == 0 {
        return Ok((Contents::default(), 0));
    }
    let archive = &service.archive;
    let opened = match archive.open_cached(file) {
        // Somebody took it away.
        Err(OpenError::Io { source, .. })
            if source.kind() == io::ErrorKind::NotFound
                && archive.forget_gone(file).map_err(cache_failed)? =>
        {
            None
        }
        opened => opened.map_err(cache_failed)?,
    };
    let Some(contents) = opened else {
        let detail = "The file is not on disk. Stage it first, then ask again.";
        return Err(Problem::new(StatusCode::CONFLICT, "Not staged", detail));
    };
    Ok((Some(contents), entry.file.bytes))
}

fn cache_failed(error: OpenError) -> Problem {
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    Problem::new(status, "The cache failed", error.to_string())
}

/// A file of the cache; none where nothing is left to be read.
type Contents = Option<File>;

/// The next piece, and what is left then. A disk that fails, or a file that is too short, breaks the answer off: the
/// client sees fewer bytes than were announced.
fn piece(mut contents: Contents, left: u64) -> Option<(io::Result<Bytes>, (Contents, u64))> {
    let file = contents.as_mut().filter(|_| left > 0)?;
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    let read = file
        .take(left.min(PIECE_BYTES as u64))
        .read_to_end(&mut piece);
    let read = match read {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        read => read,
    };
    Some(match read {
        Ok(count) => (Ok(piece.into()), (contents, left - count as u64)),
        Err(error) => (Err(error), (None, 0)),
    })
}
