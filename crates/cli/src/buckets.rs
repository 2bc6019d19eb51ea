//! S3 buckets, as the environment describes them.

use crate::error::CliError;
use tapewise_archive::bucket::{Bucket, BucketError, BucketUrl, Buckets, NoBucketUrl};

/// The buckets that the variables of the environment lead to.
pub fn of_environment() -> Buckets {
    let texts = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        Some((name, value.into_string().ok()?))
    });
    Buckets::new(texts)
}

/// The bucket that a path names; `None` where it is a path of this machine.
pub fn named(buckets: &Buckets, path: &std::path::Path) -> Result<Option<Bucket>, CliError> {
    let place = path.as_os_str().as_encoded_bytes();
    if !BucketUrl::is_one(place) {
        return Ok(None);
    }
    Ok(Some(buckets.open(&BucketUrl::new(place)?)?))
}

impl From<BucketError> for CliError {
    fn from(error: BucketError) -> CliError {
        CliError::failed(error)
    }
}

impl From<NoBucketUrl> for CliError {
    fn from(error: NoBucketUrl) -> CliError {
        CliError::input(error)
    }
}
