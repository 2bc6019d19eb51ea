//! Objects that are stored: found below a place, and read in order, some parts ahead.

use super::stated::Head;
use super::{Bucket, BucketError, BucketUrl, Buckets};
use crate::deliver::{InnerPath, shown};
use crate::store::{FileSystem, Source, SourceError, SourceFile, Sources, Stamp, StoreError};
use crate::sums::Sum;
use bytes::{Buf, Bytes};
use futures_util::TryStreamExt;
use object_store::path::Path as Key;
use object_store::{Error, GetOptions, GetRange};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tokio::task::JoinHandle;

/// Bytes that are asked for at once.
const PIECE_BYTES: u64 = 8 << 20;

/// Pieces asked for before they are read.
const AHEAD: usize = 4;

/// The files of this machine, and objects where a path begins with `s3://`.
impl Sources for Buckets {
    fn open(&self, path: &Path) -> io::Result<Box<dyn SourceFile>> {
        let place = path.as_os_str().as_bytes();
        if !BucketUrl::is_one(place) {
            return FileSystem.open(path);
        }
        let url = BucketUrl::new(place).map_err(io::Error::other)?;
        let bucket = Buckets::open(self, &url)?;
        let key = bucket.url.prefix().clone();
        match bucket.head(&key)? {
            Some(head) => Ok(Box::new(bucket.read(key, head))),
            None => Err(io::Error::new(
                ErrorKind::NotFound,
                "there is no such object",
            )),
        }
    }
}

impl Bucket {
    /// The object at this place, and all below it, to be stored below `inner` under the last part of the place's name.
    /// `other` is told of what stands for a directory and is no file. The answer says which keys can be the path of no
    /// file.
    ///
    /// # Errors
    /// When the bucket cannot be used, or has nothing there.
    pub fn find(
        &self,
        inner: &Path,
        sources: &mut Vec<Source>,
        other: &mut dyn FnMut(&str),
    ) -> Result<Vec<StoreError>, StoreError> {
        let inner = inner.join(self.url.last());
        self.odd_keys.take();
        let before = sources.len();
        let mut source = |key: &Key, below: &str, bytes: u64| -> Result<(), StoreError> {
            let path = match below {
                "" => inner.clone(),
                below => inner.join(below),
            };
            sources.push(Source {
                from: PathBuf::from(self.url.at(key).to_string()),
                path: InnerPath::new(path.as_os_str().as_bytes())?,
                bytes,
            });
            Ok(())
        };
        let prefix = self.url.prefix();
        if prefix.as_ref() != ""
            && let Some(head) = self.head(prefix)?
        {
            source(prefix, "", head.bytes)?;
        }
        let mut objects = self.store.list(Some(prefix));
        while let Some(object) = self.next(&mut objects)? {
            let key = object.location;
            // What consoles put in the place of a directory has a slash at its end, of which the list says nothing.
            if object.size == 0 && self.head(&key)?.is_none() {
                other(&self.url.at(&key).to_string());
                continue;
            }
            let below = key.as_ref().strip_prefix(prefix.as_ref());
            let below = below.unwrap_or_default().trim_start_matches('/');
            source(&key, below, object.size)?;
        }
        let odd_keys = self.odd_keys.take().into_iter().map(|key| {
            let place = self.url.at(&Key::default());
            StoreError::Unreadable {
                path: shown(format!("{place}/{key}").as_bytes()),
                what: "its key can be no path: a part of it is empty or stands for a directory, or it ends with a slash"
                    .to_owned(),
            }
        });
        let odd_keys: Vec<StoreError> = odd_keys.collect();
        if sources.len() == before && odd_keys.is_empty() {
            return Err(StoreError::Unreadable {
                path: self.url.to_string(),
                what: "there is no object of this name, and none below it".to_owned(),
            });
        }
        Ok(odd_keys)
    }

    fn next<T>(
        &self,
        listed: &mut (impl futures_util::Stream<Item = object_store::Result<T>> + Unpin),
    ) -> Result<Option<T>, BucketError> {
        self.wait(listed.try_next())
            .map_err(|error| self.cannot(&error))
    }

    /// Reads an object of which this is known.
    pub(super) fn read(&self, key: Key, head: Head) -> Object {
        Object {
            bucket: self.clone(),
            key,
            head,
            asked: 0,
            ahead: VecDeque::new(),
            piece: Bytes::new(),
        }
    }
}

/// An object that is read.
pub(super) struct Object {
    bucket: Bucket,
    key: Key,
    head: Head,
    /// Up to where its bytes were asked for.
    asked: u64,
    ahead: VecDeque<JoinHandle<object_store::Result<Bytes>>>,
    piece: Bytes,
}

impl Object {
    /// Asks for the next pieces: of these contents only, so that no piece is of others.
    fn ask(&mut self) {
        while self.ahead.len() < AHEAD && self.asked < self.head.bytes {
            let end = self.head.bytes.min(self.asked + PIECE_BYTES);
            let options = GetOptions {
                range: Some(GetRange::Bounded(self.asked..end)),
                if_match: self.head.tag.clone(),
                ..GetOptions::default()
            };
            let (store, key) = (self.bucket.store.clone(), self.key.clone());
            let piece = async move { store.get_opts(&key, options).await?.bytes().await };
            self.ahead.push_back(self.bucket.wire.runtime.spawn(piece));
            self.asked = end;
        }
    }
}

impl Read for Object {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() {
            self.ask();
            let Some(piece) = self.ahead.pop_front() else {
                return Ok(0);
            };
            let piece = self.bucket.wait(piece).map_err(io::Error::other)?;
            self.piece = piece.map_err(|error| match error {
                Error::Precondition { .. } => io::Error::other(SourceError::Changed),
                error => self.bucket.cannot(&error).into(),
            })?;
        }
        let count = buffer.len().min(self.piece.len());
        self.piece.copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        for piece in &self.ahead {
            piece.abort();
        }
    }
}

impl SourceFile for Object {
    fn stamp(&self) -> io::Result<Stamp> {
        let head = &self.head;
        Ok(Stamp {
            is_file: true,
            bytes: head.bytes,
            modified_ns: head.stated_ns.unwrap_or(head.came_ns),
            changed_ns: head.came_ns,
            mode: head.mode.unwrap_or(0o644),
        })
    }

    fn stated(&self) -> &[Sum] {
        &self.head.sums
    }
}
