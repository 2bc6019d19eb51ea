//! An archive, who may ask, and how much.

use crate::problem::Problem;
use crate::token::Token;
use crate::work::Work;
use axum::http::StatusCode;
use std::sync::Arc;
use tapewise_archive::open::Archive;

/// How much may be asked for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Files of one stage request; of `archiveinfo` more are left out of the answer.
    pub files: usize,
    /// Files that may wait at a time, of all stage requests.
    pub open_files: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body_bytes: 16 << 20,
            files: 10_000,
            open_files: 1_000_000,
        }
    }
}

/// How the service is called.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// The name of the site, for clients.
    pub name: String,
    /// The address under which clients know it, such as `https://tape.example.org`; none: as each client wrote it.
    pub url: Option<String>,
    /// The page that plans tapes in the browser, in one file; none: the program was built without it.
    pub planner: Option<&'static [u8]>,
}

/// What answers HTTP.
pub struct Service {
    pub(crate) archive: Archive,
    pub(crate) token: Token,
    pub(crate) site: Site,
    pub(crate) limits: Limits,
    pub(crate) now_ns: fn() -> i64,
    pub(crate) work: Arc<Work>,
}

/// Whose requests these are: there is one token, and so one user.
pub(crate) const USER: &str = "http";

impl Service {
    /// A service for an archive, with a connection to the catalogue that nobody else uses.
    pub fn new(
        archive: Archive,
        token: Token,
        site: Site,
        limits: Limits,
        now_ns: fn() -> i64,
        work: Arc<Work>,
    ) -> Service {
        Service {
            archive,
            token,
            site,
            limits,
            now_ns,
            work,
        }
    }

    /// Asks the catalogue, or the disk, on a thread that may wait for it.
    pub(crate) async fn ask<T: Send + 'static>(
        self: Arc<Self>,
        what: impl FnOnce(&Service) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let asked = tokio::task::spawn_blocking(move || what(&self)).await;
        asked.unwrap_or_else(|_| {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            let detail = "The service made a mistake. Please report what was asked.";
            Err(Problem::new(status, "Internal error", detail))
        })
    }
}
