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
use percent_encoding::percent_decode_str;
use std::io::Read;
use std::sync::Arc;
use tapewise_archive::catalogue::FileId;
use tapewise_archive::deliver::shown;
use tokio::sync::mpsc;

/// Where they are.
pub(crate) const FILES: &str = "/files/";

/// Bytes of one piece of an answer, and pieces on their way.
const PIECE_BYTES: usize = 256 << 10;
const PIECES: usize = 4;

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
    let (sender, mut pieces) = mpsc::channel(PIECES);
    tokio::task::spawn_blocking(move || send(contents, bytes, &sender));
    let body = futures_util::stream::poll_fn(move |context| pieces.poll_recv(context));
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_LENGTH, bytes.to_string()),
    ];
    Ok((headers, Body::from_stream(body)).into_response())
}

fn open(service: &Service, path: &[u8]) -> Result<(Box<dyn Read + Send>, u64), Problem> {
    let Some(file) = find(service, path)? else {
        let detail = format!("The archive has no file \"{}\".", shown(path));
        return Err(Problem::new(StatusCode::NOT_FOUND, "No such file", detail));
    };
    let entry = service.archive.catalogue.file(file)?;
    if entry.file.bytes == 0 {
        return Ok((Box::new(std::io::empty()), 0));
    }
    let opened = service.archive.open_cached(file).map_err(|error| {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Problem::new(status, "The cache failed", error.to_string())
    })?;
    let Some(contents) = opened else {
        let detail = "The file is on tape only. Stage it first, then ask again.";
        return Err(Problem::new(StatusCode::CONFLICT, "Not staged", detail));
    };
    Ok((Box::new(contents.take(entry.file.bytes)), entry.file.bytes))
}

/// Reads on until the client has gone. A disk that fails, or a file that is too short, breaks the answer off: the
/// client sees fewer bytes than were announced.
fn send(
    mut contents: Box<dyn Read + Send>,
    mut left: u64,
    sender: &mpsc::Sender<std::io::Result<Bytes>>,
) {
    while left > 0 {
        let mut piece = vec![0; PIECE_BYTES];
        let read = match contents.read(&mut piece) {
            Ok(0) => Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => read,
        };
        let is_error = read.is_err();
        let read = read.map(|count| {
            left = left.saturating_sub(count as u64);
            piece.truncate(count);
            Bytes::from(piece)
        });
        if sender.blocking_send(read).is_err() || is_error {
            return;
        }
    }
}
