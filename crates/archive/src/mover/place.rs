//! Where a recall goes: a directory or a place in a bucket; and a file on its way there.

use super::Settings;
use crate::bucket::{Bucket, BucketUrl, Upload};
use crate::deliver::{
    DeliverError, Delivered, Delivery, Destination, Expected, InnerPath, Presence,
};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Where a recall goes.
pub(super) enum Place {
    Directory(Destination),
    Bucket(Bucket),
}

/// A file on its way there; dropped before it is finished, nothing of it is left.
pub(super) enum Underway {
    File(Delivery),
    Object(Upload),
}

impl Place {
    pub fn open(place: &[u8], settings: &Settings) -> Result<Place, DeliverError> {
        if BucketUrl::is_one(place) {
            let url = BucketUrl::new(place).map_err(|error| DeliverError::Unavailable {
                place: crate::deliver::shown(place),
                why: error.to_string(),
            })?;
            return Ok(Place::Bucket(settings.buckets.open(&url)?));
        }
        let directory = Destination::open(Path::new(OsStr::from_bytes(place)))?;
        Ok(Place::Directory(
            directory.watched_by(settings.watch.clone()),
        ))
    }

    /// Begins to deliver a file; nothing where it is there already.
    pub fn begin(
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
