//! The list of recalls that failed: somebody looks after each of them.
//!
//! A recall that fails comes onto the list by itself. If a later recall of the same file to the same place fails too,
//! the list has that one, with the number of attempts. It leaves the list when somebody asks for the file again or
//! dismisses the failure, and by itself when a later recall brings the same file to the same place.

use super::Result;
use super::ids::RequestId;
use super::requests::Request;

/// What is known of recalls that failed.
pub trait Failures: Send + Sync {
    /// The list, latest first, at most `limit`: of several failures of one file at one place the last.
    fn failures(&self, limit: usize) -> Result<Vec<Request>>;

    /// How many recalls are on the list.
    fn failure_count(&self) -> Result<u64>;

    /// How often each of these, which are on the list, has failed since somebody dealt with it.
    fn attempts(&self, failed: &[RequestId]) -> Result<Vec<u64>>;

    /// Asks again for what failed, on behalf of whoever asked before, and takes the failures off the list, with earlier
    /// ones of the same file at the same place. A file that is wanted in the same place already is not asked for twice.
    /// Requests that did not fail, or that somebody has dealt with, are passed over, and failures whose file is gone stay
    /// there. Returns the failures that left the list.
    fn retry(&self, failed: &[RequestId], at_ns: i64) -> Result<Vec<RequestId>>;

    /// Takes failures off the list, with earlier ones of the same file at the same place. Requests that did not fail, or
    /// that somebody has dealt with, are passed over. Returns those that left the list.
    fn dismiss(&self, failed: &[RequestId], at_ns: i64) -> Result<Vec<RequestId>>;
}
