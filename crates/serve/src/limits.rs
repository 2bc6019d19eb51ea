//! How much may be asked for.

use serde::Deserialize;

/// How much may be asked for.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Files of one stage request; of `archiveinfo` more are left out of the answer.
    pub files: usize,
    /// Files that may wait at a time, of all stage requests.
    pub open_files: u64,
    /// Files of one user that may wait at a time.
    pub user_open_files: u64,
    /// Requests that a user, or an address that nobody knows, may send in a minute.
    pub requests_per_minute: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body_bytes: 16 << 20,
            files: 10_000,
            open_files: 1_000_000,
            user_open_files: 200_000,
            requests_per_minute: 1_200,
        }
    }
}
