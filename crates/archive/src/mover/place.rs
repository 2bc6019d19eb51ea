//! Where a recall goes: a directory or a place in a bucket; and a file on its way there.

use crate::bucket::{Bucket, BucketUrl, Buckets, Upload};
use crate::deliver::{
    DeliverError, Delivered, Delivery, Destination, Expected, InnerPath, Presence, Watch,
};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// Where a recall goes.
pub enum Place {
    /// A directory that exists.
    Directory(Destination),
    /// A place in a bucket.
    Bucket(Bucket),
}

/// A file on its way there; dropped before it is finished, nothing of it is left.
pub(super) enum Underway {
    File(Delivery),
    Object(Upload),
}

impl Place {
    /// Opens a directory, or a place in one of these buckets if it is named `s3://BUCKET/PREFIX`.
    ///
    /// # Errors
    /// When there is no such directory, or the bucket cannot be used.
    pub fn open(place: &[u8], buckets: &Buckets) -> Result<Place, DeliverError> {
        if BucketUrl::is_one(place) {
            let url = BucketUrl::new(place).map_err(|error| DeliverError::Unavailable {
                place: crate::deliver::shown(place),
                why: error.to_string(),
            })?;
            return Ok(Place::Bucket(buckets.open(&url)?));
        }
        let directory = Path::new(OsStr::from_bytes(place));
        Ok(Place::Directory(Destination::open(directory)?))
    }

    /// The same where somebody is asked before each step in a directory.
    pub(super) fn watched_by(self, watch: Option<Arc<dyn Watch>>) -> Place {
        match self {
            Place::Directory(directory) => Place::Directory(directory.watched_by(watch)),
            Place::Bucket(bucket) => Place::Bucket(bucket),
        }
    }

    /// Whether nothing at all is there.
    ///
    /// # Errors
    /// When it cannot be listed.
    pub fn is_empty(&self) -> Result<bool, DeliverError> {
        match self {
            Place::Directory(directory) => directory.is_empty(),
            Place::Bucket(bucket) => Ok(bucket.is_empty()?),
        }
    }

    /// What stands where a file is to be delivered; compared with what is known of the file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn presence(
        &self,
        path: &InnerPath,
        expected: &Expected,
    ) -> Result<Presence, DeliverError> {
        match self {
            Place::Directory(directory) => directory.presence(path, expected),
            Place::Bucket(bucket) => bucket.presence(path, expected),
        }
    }

    /// Begins to deliver a file; nothing where it is there already.
    pub(super) fn begin(
        &self,
        path: &InnerPath,
        expected: Expected,
    ) -> Result<Option<Underway>, DeliverError> {
        match self {
            Place::Bucket(bucket) => Ok(bucket.begin(path, expected)?.map(Underway::Object)),
            Place::Directory(directory) => match directory.presence(path, &expected)? {
                Presence::Delivered(..) => Ok(None),
                _ => Ok(Some(Underway::File(directory.begin(path, expected)?))),
            },
        }
    }
}

impl Underway {
    /// Takes the bytes that follow those taken last.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), DeliverError> {
        match self {
            Underway::File(delivery) => delivery.write(bytes),
            Underway::Object(upload) => upload.write(bytes),
        }
    }

    /// Compares the file with what is known of it, and gives it its name.
    pub fn finish(self) -> Result<Delivered, DeliverError> {
        match self {
            Underway::File(delivery) => delivery.finish(),
            Underway::Object(upload) => upload.finish(),
        }
    }
}
