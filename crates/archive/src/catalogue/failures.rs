//! The list of recalls that failed: somebody looks after each of them.
//!
//! A recall that fails comes onto the list by itself. It leaves the list when somebody asks for the file again or
//! dismisses the failure, and by itself when a later recall brings the same file to the same place.

use super::Result;
use super::ids::RequestId;
use super::requests::Request;

/// What is known of recalls that failed.
pub trait Failures: Send + Sync {
    /// The list, latest first, at most `limit`.
    fn failures(&self, limit: usize) -> Result<Vec<Request>>;

    /// How many recalls are on the list.
    fn failure_count(&self) -> Result<u64>;

    /// Asks again for what failed, on behalf of whoever asked before, and takes the failures off the list. A file that
    /// is wanted in the same place already is not asked for twice. Requests that are not on the list are passed over,
    /// and failures whose file is gone stay there. Returns the failures that left the list.
    fn retry(&self, failed: &[RequestId], at_ns: i64) -> Result<Vec<RequestId>>;

    /// Takes failures off the list. Requests that are not on it are passed over. Returns those that left it.
    fn dismiss(&self, failed: &[RequestId], at_ns: i64) -> Result<Vec<RequestId>>;
}
