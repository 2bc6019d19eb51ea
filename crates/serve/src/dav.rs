//! What WebDAV clients ask before they read: what a path is, and what a directory has (PROPFIND of RFC 4918). So gfal2,
//! FTS and rclone use one URL to stage a file, to look at it and to read it.
//!
//! The archive keeps no directories: one is there as long as a file is below it. An answer has all properties that there
//! are, whichever were asked for.

use crate::access::{Deed, Who};
use crate::files::{self, About, path_of};
use crate::names::meanings;
use crate::problem::Problem;
use crate::service::Service;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use std::fmt::Write as _;
use std::sync::Arc;
use tapewise_archive::catalogue::{Catalogue, Found, Pattern};
use tapewise_archive::deliver::shown;

/// Most that one directory may show: an answer is made in memory.
const MOST: usize = 100_000;

/// Files that the catalogue is asked for at once, at most.
const AT_ONCE: usize = 1_000;

/// What stands as it is in the path of a URL.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/')
    .remove(b'!')
    .remove(b'$')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// Any method that an address of the archive does not have otherwise.
pub(crate) async fn properties(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    method: Method,
    address: Uri,
    asked: HeaderMap,
) -> Result<Response, Problem> {
    let path = path_of(&address)?;
    if method.as_str() != "PROPFIND" {
        return Err(Problem::wrong_method());
    }
    let shows_inside = match asked.get("depth").map(|depth| depth.as_bytes()) {
        Some(b"0") => false,
        Some(b"1") => true,
        _ => {
            let detail = "Ask with the header Depth: 0 or 1, for one directory at a time.";
            return Err(Problem::new(StatusCode::FORBIDDEN, "Too deep", detail));
        }
    };
    // As it was asked for: there are clients that compare it with their own spelling. A proxy may serve all of it below a
    // path, which they look for in the answer.
    let base = address.path().trim_end_matches('/').replace('&', "&amp;");
    let base = format!("{}{}", service.site.path(), base.replace('<', "&lt;"));
    let entries = service
        .ask(move |service| {
            let catalogue = service.archive.catalogue.as_ref();
            look(catalogue, &who, &path, shows_inside)
        })
        .await?;
    let kind = [(header::CONTENT_TYPE, "application/xml; charset=utf-8")];
    Ok((StatusCode::MULTI_STATUS, kind, answer(&base, &entries)).into_response())
}

/// What is at an address of the archive: the contents of a file, or the names that a directory has, one in a line.
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    method: Method,
    address: Uri,
    asked: HeaderMap,
) -> Result<Response, Problem> {
    let (state, whose) = (State(Arc::clone(&service)), Extension(Arc::clone(&who)));
    match files::get(state, whose, method, address.clone(), asked).await {
        Err(problem) if problem.status() == StatusCode::NOT_FOUND => {
            let path = path_of(&address)?;
            let looked = service.ask(move |service| {
                let catalogue = service.archive.catalogue.as_ref();
                look(catalogue, &who, &path, true)
            });
            Ok(names(&looked.await?).into_response())
        }
        answer => answer,
    }
}

/// The names of a directory's entries.
fn names(entries: &[Entry]) -> String {
    let line = |entry: &Entry| match entry {
        Entry::File(file) => format!("{}\n", percent_encode(name(file), PATH)),
        Entry::Directory(name) => format!("{}/\n", percent_encode(name, PATH)),
    };
    entries.iter().skip(1).map(line).collect()
}

/// The last part of a file's path.
fn name(file: &Found) -> &[u8] {
    let mut parts = file.path.rsplit(|&byte| byte == b'/');
    parts.next().unwrap_or_default()
}

/// A line of the answer: the file or directory that was asked for, or one inside of that directory.
enum Entry {
    /// By its path in the archive.
    File(Found),
    /// By its name; empty for the directory that was asked for.
    Directory(Vec<u8>),
}

/// What is at a path, and, if that is a directory, what it has.
fn look(
    catalogue: &dyn Catalogue,
    who: &Who,
    path: &[u8],
    shows_inside: bool,
) -> Result<Vec<Entry>, Problem> {
    let is_root = path.iter().all(|&byte| byte == b'/');
    let spelled = if is_root {
        vec![Vec::new()]
    } else {
        meanings(path).map_err(Problem::bad)?
    };
    (spelled.iter()).try_for_each(|path| who.check_at(Deed::Locate, path))?;
    for path in spelled {
        if let Some(file) = catalogue.find(&Pattern::Path(path.clone()), None, 1)?.pop() {
            return Ok(vec![Entry::File(file)]);
        }
        let mut below = path;
        if !below.is_empty() {
            below.push(b'/');
        }
        let most = if shows_inside { MOST } else { 0 };
        let inside = inside(catalogue, below, most)?;
        if is_root || !inside.is_empty() {
            let itself = Entry::Directory(Vec::new());
            let inside = inside.into_iter().filter(|_| shows_inside);
            return Ok(std::iter::once(itself).chain(inside).collect());
        }
    }
    let detail = format!("The archive has no file or directory \"{}\".", shown(path));
    Err(Problem::new(StatusCode::NOT_FOUND, "No such file", detail))
}

/// What a directory has, by name: at most `most` entries, or else an error. If that is 0, the first one tells that the
/// directory is there.
fn inside(catalogue: &dyn Catalogue, below: Vec<u8>, most: usize) -> Result<Vec<Entry>, Problem> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut after: Option<Vec<u8>> = None;
    let pattern = Pattern::Prefix(below.clone());
    let mut at_once = 1;
    loop {
        let before = entries.len();
        let found = catalogue.find(&pattern, after.as_deref(), at_once)?;
        let is_last = found.len() < at_once || most == 0;
        after = found.last().map(|last| last.path.clone());
        for file in found {
            let inner = &file.path[below.len()..];
            let Some(end) = inner.iter().position(|&byte| byte == b'/') else {
                entries.push(Entry::File(file));
                continue;
            };
            let is_known =
                matches!(entries.last(), Some(Entry::Directory(name)) if name == &inner[..end]);
            if !is_known {
                entries.push(Entry::Directory(inner[..end].to_vec()));
            }
        }
        if most > 0 && entries.len() > most {
            let detail = format!(
                "The directory has more than {most} entries, so it is not listed. Ask for its files by their names."
            );
            let status = StatusCode::INSUFFICIENT_STORAGE;
            return Err(Problem::new(status, "Too many entries", detail));
        }
        if is_last {
            return Ok(entries);
        }
        // Of a directory below one file is enough.
        at_once = (2 * (entries.len() - before)).clamp(1, AT_ONCE);
        // Its rest is passed over.
        if let Some(Entry::Directory(name)) = entries.last() {
            let end = [&below, name, &b"/\xff"[..]].concat();
            after = after.max(Some(end));
        }
    }
}

/// The entries as RFC 4918 has them (section 14). All that is not ASCII is escaped in addresses.
fn answer(base: &str, entries: &[Entry]) -> String {
    let mut xml = String::from(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:multistatus xmlns:D=\"DAV:\">\n",
    );
    let is_one = matches!(entries, [Entry::File(_)]);
    for entry in entries {
        let (address, properties) = match entry {
            Entry::File(file) => {
                let address = if is_one {
                    base.to_owned()
                } else {
                    format!("{base}/{}", percent_encode(name(file), PATH))
                };
                let about = About::of(file.file, file.bytes, file.modified_ns, &[]);
                let modified = about.modified.map_or(String::new(), |at| {
                    format!("<D:getlastmodified>{at}</D:getlastmodified>")
                });
                let properties = format!(
                    "<D:resourcetype/><D:getcontentlength>{}</D:getcontentlength>{modified}<D:getetag>{}</D:getetag>",
                    about.bytes, about.tag
                );
                (address, properties)
            }
            Entry::Directory(name) if name.is_empty() => (
                format!("{base}/"),
                "<D:resourcetype><D:collection/></D:resourcetype>".to_owned(),
            ),
            Entry::Directory(name) => (
                format!("{base}/{}/", percent_encode(name, PATH)),
                "<D:resourcetype><D:collection/></D:resourcetype>".to_owned(),
            ),
        };
        let _ = writeln!(
            xml,
            "<D:response><D:href>{address}</D:href><D:propstat><D:prop>{properties}</D:prop>\
             <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
        );
    }
    xml + "</D:multistatus>\n"
}
