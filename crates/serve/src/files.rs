//! Contents of staged files: from the cache, where a file appears only when it is whole and its checksum was right.

use crate::access::{Deed, Who};
use crate::names::{in_archive, meanings};
use crate::problem::Problem;
use crate::range::{self, Wanted};
use crate::service::Service;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::stream;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use percent_encoding::percent_decode_str;
use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::Arc;
use tapewise_archive::catalogue::FileId;
use tapewise_archive::deliver::shown;
use tapewise_archive::open::OpenError;
use tapewise_archive::sums::{Kind, Sum, Summer};
use tokio::sync::Semaphore;
use tokio::task;
use utoipa::ToSchema;

/// By which a client says what sums it wants (RFC 3230).
const WANT_DIGEST: &str = "want-digest";

/// How many files are summed at a time: each takes a thread and a disk for as long as it is read.
static SUMMING: Semaphore = Semaphore::const_new(4);

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

/// The path in the archive that an address is for: bytes, and not always text.
pub(crate) fn path_of(address: &Uri) -> Result<Vec<u8>, Problem> {
    let path = in_archive(address.path()).ok_or_else(Problem::no_address)?;
    Ok(percent_decode_str(path).collect())
}

/// The contents of a file that is in the cache, or one range of them; of a directory the names that it has, as text. Unless
/// its first directory has the name of one of the service's own addresses, `/{path}` is the same file. HEAD tells the
/// length and the checksums of a file on tape too.
#[utoipa::path(get, path = "/files/{path}", tag = "files",
    params(("path" = String, Path, description = "The file's path in the archive"),
        ("Range" = Option<String>, Header, description = "One range of bytes, such as `bytes=1000-`"),
        ("If-None-Match" = Option<String>, Header, description = "The ETag of what the client has")),
    responses((status = 200, body = inline(Octets), content_type = "application/octet-stream",
            headers(("Digest" = String, description = "The checksums that the archive has of the whole file, as RFC 3230 has it; to HEAD with `Want-Digest: adler32` that one in any case"),
                ("ETag" = String), ("Last-Modified" = String))),
        (status = 206, description = "The range", body = inline(Octets), content_type = "application/octet-stream"),
        (status = 304, description = "The file has an ETag of `If-None-Match`"),
        (status = 404, body = Problem), (status = 409, description = "On tape only: stage it first", body = Problem),
        (status = 412, description = "The file has no ETag of `If-Match`", body = Problem),
        (status = 416, description = "The file has no byte of the range", body = Problem)))]
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    method: Method,
    address: Uri,
    asked: HeaderMap,
) -> Result<Response, Problem> {
    let path = path_of(&address)?;
    who.check(Deed::Read, &path)?;
    let is_head = method == Method::HEAD;
    let terms = Terms::of(&asked, is_head);
    let wanted = asked.get(WANT_DIGEST).and_then(|value| value.to_str().ok());
    let wants_adler32 =
        is_head && wanted.is_some_and(|wanted| wanted.to_ascii_lowercase().contains("adler32"));
    let opened = Arc::clone(&service).ask(move |service| open_part(service, &path, &terms));
    let (mut contents, mut about, wanted) = opened.await?;
    let known = asked.get(header::IF_NONE_MATCH);
    let known = known.and_then(|tags| tags.to_str().ok());
    // A weak comparison: RFC 9110, section 13.1.2.
    if known.is_some_and(|tags| about.is_among(&tags.replace("W/\"", "\""))) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, about.tag)]).into_response());
    }
    if wants_adler32 && !about.has(Kind::Adler32) {
        (contents, about) = with_adler32(service, contents, about).await?;
    }
    let bytes = about.bytes;
    let (status, part) = match wanted {
        Wanted::All => (StatusCode::OK, 0..bytes),
        Wanted::Part(part) => (StatusCode::PARTIAL_CONTENT, part),
        Wanted::Nothing => {
            let detail =
                format!("The range begins after the end of the file, which has {bytes} bytes.");
            let status = StatusCode::RANGE_NOT_SATISFIABLE;
            let problem = Problem::new(status, "No such range", detail);
            return Err(problem.with(header::CONTENT_RANGE, format!("bytes */{bytes}")));
        }
    };
    let left = part.end - part.start;
    // The next piece is read when the client has taken the last one: whoever reads slowly keeps no thread.
    let body = stream::unfold((contents, left), |(contents, left)| async move {
        let read = task::spawn_blocking(move || piece(contents, left));
        let failed = |error| Some((Err(io::Error::other(error)), (Contents::default(), 0)));
        read.await.unwrap_or_else(failed)
    });
    let mut response = (status, Body::from_stream(body)).into_response();
    let headers = response.headers_mut();
    let mut tell = |name: HeaderName, value: String| {
        headers.extend(value.parse().ok().map(|value: HeaderValue| (name, value)));
    };
    tell(header::CONTENT_TYPE, "application/octet-stream".to_owned());
    tell(header::CONTENT_LENGTH, left.to_string());
    tell(header::ACCEPT_RANGES, "bytes".to_owned());
    if status == StatusCode::PARTIAL_CONTENT {
        let (first, last) = (part.start, part.end - 1);
        tell(
            header::CONTENT_RANGE,
            format!("bytes {first}-{last}/{bytes}"),
        );
    }
    tell(header::ETAG, about.tag);
    if let Some(at) = about.modified {
        tell(header::LAST_MODIFIED, at);
    }
    let digests: Vec<String> = about.sums.iter().filter_map(digest).collect();
    if !digests.is_empty() {
        tell(HeaderName::from_static("digest"), digests.join(","));
    }
    Ok(response)
}

/// Which version and which part of a file a client wants.
struct Terms {
    /// Only what is known of it.
    is_head: bool,
    range: Option<String>,
    if_range: Option<String>,
    if_match: Option<String>,
}

impl Terms {
    fn of(asked: &HeaderMap, is_head: bool) -> Terms {
        let text = |name| Some(asked.get(name)?.to_str().ok()?.to_owned());
        Terms {
            is_head,
            range: text(header::RANGE),
            if_range: text(header::IF_RANGE),
            if_match: text(header::IF_MATCH),
        }
    }
}

/// A file of the cache, at the part that is wanted of it.
fn open_part(
    service: &Service,
    path: &[u8],
    terms: &Terms,
) -> Result<(Contents, About, Wanted), Problem> {
    let (mut contents, about) = open(service, path)?;
    if contents.is_none() && about.bytes > 0 && !terms.is_head {
        return Err(not_staged());
    }
    if (terms.if_match.as_ref()).is_some_and(|tags| !about.is_among(tags)) {
        let detail =
            "The file has another ETag than the request wants. Ask for all of the file again.";
        let status = StatusCode::PRECONDITION_FAILED;
        return Err(Problem::new(status, "Another version", detail));
    }
    let is_same = (terms.if_range.as_ref()).is_none_or(|same| about.tells(same));
    let range = terms.range.as_deref().filter(|_| is_same);
    let wanted = range::wanted(range, about.bytes);
    if let (Some(file), Wanted::Part(part)) = (&mut contents, &wanted) {
        let sought = file.seek(SeekFrom::Start(part.start));
        sought.map_err(|error| unreadable(error.to_string()))?;
    }
    Ok((contents, about, wanted))
}

/// Adds the sum by which grid sites compare copies, worked out from the contents, which are read whole.
async fn with_adler32(
    service: Arc<Service>,
    mut contents: Contents,
    mut about: About,
) -> Result<(Contents, About), Problem> {
    if contents.is_none() && about.bytes > 0 {
        return Err(not_staged());
    }
    let turn = SUMMING.acquire().await.ok();
    let summed = service.ask(move |_| {
        // It goes on, and keeps its turn, when its client has gone.
        let _turn = turn;
        about.add_adler32(contents.as_mut())?;
        Ok((contents, about))
    });
    summed.await
}

/// Bytes, for the description of the API.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
struct Octets(#[expect(dead_code, reason = "only its schema is used")] Vec<u8>);

/// What clients are told of a file beside its contents.
pub(crate) struct About {
    pub bytes: u64,
    /// Another version of the file has another one.
    pub tag: String,
    /// When it was last written, as HTTP has it; none: longer ago than HTTP can say.
    pub modified: Option<String>,
    sums: Vec<Sum>,
}

impl About {
    pub(crate) fn of(file: FileId, bytes: u64, modified_ns: i64, sums: &[Sum]) -> About {
        let modified = Timestamp::from_nanosecond(modified_ns.into()).ok();
        let modified =
            modified.and_then(|at| DateTimePrinter::new().timestamp_to_rfc9110_string(&at).ok());
        About {
            bytes,
            tag: format!("\"{:x}-{bytes:x}-{modified_ns:x}\"", file.0),
            modified,
            sums: sums.to_vec(),
        }
    }

    /// Whether there is a sum of a kind.
    fn has(&self, kind: Kind) -> bool {
        self.sums.iter().any(|sum| sum.kind == kind)
    }

    /// Adds that sum, of contents that have the length and the sums which the archive has; none are those of an empty file.
    fn add_adler32(&mut self, contents: Option<&mut fs::File>) -> Result<(), Problem> {
        let kinds = self.sums.iter().map(|sum| sum.kind);
        let mut summer = Summer::new(kinds.chain([Kind::Adler32]));
        let read = contents.map_or(Ok(0), |file| {
            file.rewind()?;
            io::copy(file, &mut summer)
        });
        let bytes = read.map_err(|error| unreadable(error.to_string()))?;
        let sums = summer.finish();
        if bytes != self.bytes || !sums.starts_with(&self.sums) {
            let why = "The file is damaged in the cache. Tell the operator: `tapewise catalog check` says what to do.";
            return Err(unreadable(why.to_owned()));
        }
        self.sums = sums;
        Ok(())
    }

    /// Whether it is one of those that a client names in `If-Match` or `If-None-Match`.
    fn is_among(&self, tags: &str) -> bool {
        let mut tags = tags.split(',').map(str::trim);
        tags.any(|tag| tag == "*" || tag == self.tag)
    }

    /// Whether a client that says this in `If-Range` has a part of the same file.
    fn tells(&self, same: &str) -> bool {
        same == self.tag || Some(same) == self.modified.as_deref()
    }
}

/// A sum as RFC 3230 and the list of digests at IANA have it; none if they have no name for it.
fn digest(sum: &Sum) -> Option<String> {
    let name = match sum.kind {
        Kind::Adler32 => return Some(format!("adler32={}", sum.hex())),
        Kind::Crc32c => "crc32c",
        Kind::Md5 => "md5",
        Kind::Sha1 => "sha",
        Kind::Sha256 => "sha-256",
        Kind::Sha512 => "sha-512",
        Kind::Crc32 | Kind::Crc64Nvme | Kind::Xxh64 | Kind::Xxh3 => return None,
    };
    Some(format!("{name}={}", STANDARD.encode(&sum.value)))
}

/// A file, and its contents if it is in the cache.
fn open(service: &Service, path: &[u8]) -> Result<(Contents, About), Problem> {
    let Some(file) = find(service, path)? else {
        let detail = format!("The archive has no file \"{}\".", shown(path));
        return Err(Problem::new(StatusCode::NOT_FOUND, "No such file", detail));
    };
    let entry = service.archive.catalogue.file(file)?;
    let about = About::of(
        file,
        entry.file.bytes,
        entry.file.modified_ns,
        &entry.file.sums,
    );
    if about.bytes == 0 {
        return Ok((Contents::default(), about));
    }
    let archive = &service.archive;
    // In the place that an older catalogue names may lie another file of the same length by now.
    archive.look_at_tie().map_err(not_its_own)?;
    let opened = match archive.open_cached(file) {
        // Somebody took it away, or cut it.
        Err(OpenError::Io { source, .. })
            if is_not_it(&source)
                && !(archive.forget_gone(&[file]).map_err(cache_failed)?).is_empty() =>
        {
            None
        }
        opened => opened.map_err(cache_failed)?,
    };
    Ok((opened, about))
}

fn not_staged() -> Problem {
    let detail = "The file is not on disk. Stage it first, then ask again.";
    Problem::new(StatusCode::CONFLICT, "Not staged", detail)
}

/// That a cache is another one's.
pub(crate) fn not_its_own(error: OpenError) -> Problem {
    let said = "The cache on disk does not belong to the catalogue as it is now, so no file of it is given. Try again later.";
    Problem::passing("The cache failed", said, error.to_string())
}

fn is_not_it(error: &io::Error) -> bool {
    [io::ErrorKind::NotFound, io::ErrorKind::InvalidData].contains(&error.kind())
}

fn cache_failed(error: OpenError) -> Problem {
    unreadable(error.to_string())
}

fn unreadable(why: String) -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "The cache failed", why)
}

/// A file of the cache; none where there is nothing to be read.
type Contents = Option<fs::File>;

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
