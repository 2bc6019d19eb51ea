//! An archive, who may ask, and how much.

use crate::access::Access;
use crate::forecast::{Outlook, Planned};
use crate::limits::Limits;
use crate::open_files::Counted;
use crate::problem::Problem;
use crate::rate::Rates;
use crate::trace::Tracer;
use crate::work::{Doing, Work};
use axum::http::StatusCode;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Instant;
use tapewise_archive::catalogue::{Holds, OpenRecalls, VolumeWait};
use tapewise_archive::kept::Kept;
use tapewise_archive::mover::Settings;
use tapewise_archive::open::Archive;

/// How the service is called.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// The name of the site, for clients.
    pub name: String,
    /// The address under which clients know it, such as `https://tape.example.org`; none: as each client wrote it.
    pub url: Option<String>,
    /// Whether connections are encrypted.
    pub is_encrypted: bool,
    /// The page that plans tapes in the browser, in one file; none: the program was built without it.
    pub planner: Option<&'static [u8]>,
}

impl Site {
    /// The path below which clients know the service; empty for the root of a host.
    pub(crate) fn path(&self) -> &str {
        let url = self.url.as_deref().unwrap_or_default();
        let (_, after) = url.split_once("://").unwrap_or_default();
        let path = after.find('/').map_or("", |start| &after[start..]);
        path.trim_end_matches('/')
    }
}

/// What a service is made of.
pub struct Parts {
    /// The archive, with a connection to the catalogue that nobody else uses.
    pub archive: Archive,
    /// What its volumes and drives are as far as no drive is asked, for forecasts.
    pub on_paper: Settings,
    /// Who may ask.
    pub access: Access,
    /// How the service is called.
    pub site: Site,
    /// How much may be asked for.
    pub limits: Limits,
    /// The file with the audit trail, if one is kept.
    pub audit_file: Option<PathBuf>,
    /// The time, in nanoseconds since 1970.
    pub now_ns: fn() -> i64,
    /// What the drives' side is doing.
    pub work: Arc<Work>,
    /// Who is told what was done for each request; nobody, unless there is a collector.
    pub tracer: Option<Arc<Tracer>>,
}

/// What answers HTTP.
pub struct Service {
    pub(crate) archive: Archive,
    on_paper: Settings,
    planned: Planned,
    waits: Kept<Arc<Vec<VolumeWait>>>,
    load: Kept<Load>,
    access: RwLock<Arc<Access>>,
    pub(crate) site: Site,
    pub(crate) limits: Limits,
    /// Files that wait.
    pub(crate) open_files: Counted,
    pub(crate) audit_file: Option<PathBuf>,
    /// Lines of the audit trail that could not be written.
    pub(crate) audit_failures: AtomicU64,
    /// Why the catalogue failed, if nobody has written it since.
    pub(crate) catalogue_failure: Mutex<Option<String>>,
    /// How often users asked lately, and addresses of strangers.
    pub(crate) users: Rates,
    pub(crate) strangers: Rates,
    pub(crate) now_ns: fn() -> i64,
    pub(crate) work: Arc<Work>,
    pub(crate) tracer: Option<Arc<Tracer>>,
}

/// What waits, and what the cache holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub open: OpenRecalls,
    pub holds: Holds,
    /// Recalls that failed and that nobody has dealt with.
    pub failures: u64,
}

impl Service {
    /// A service for an archive.
    pub fn new(parts: Parts) -> Service {
        Service {
            archive: parts.archive,
            on_paper: parts.on_paper,
            planned: Planned::default(),
            waits: Kept::default(),
            load: Kept::default(),
            access: RwLock::new(Arc::new(parts.access)),
            site: parts.site,
            limits: parts.limits,
            open_files: Counted::default(),
            audit_file: parts.audit_file,
            audit_failures: AtomicU64::new(0),
            catalogue_failure: Mutex::default(),
            users: Rates::default(),
            strangers: Rates::default(),
            now_ns: parts.now_ns,
            work: parts.work,
            tracer: parts.tracer,
        }
    }

    /// Who may ask now.
    pub(crate) fn access(&self) -> Arc<Access> {
        let access = self.access.read();
        Arc::clone(&access.unwrap_or_else(PoisonError::into_inner))
    }

    /// From now on others may ask.
    pub fn set_access(&self, access: Access) {
        let mut current = self.access.write().unwrap_or_else(PoisonError::into_inner);
        access.keep_keys_of(&current, (self.now_ns)());
        *current = Arc::new(access);
    }

    /// The queue as it is planned now, or was a short time ago.
    pub(crate) fn outlook(&self) -> Result<Arc<Outlook>, Problem> {
        let now_ns = (self.now_ns)();
        let unattended = self.work.unattended();
        Ok(self
            .planned
            .outlook(&self.archive, &self.on_paper, now_ns, unattended)?)
    }

    /// The load now, or a short time ago.
    pub(crate) fn load(&self) -> Result<Load, Problem> {
        let catalogue = &self.archive.catalogue;
        let find_out = || -> Result<Load, Problem> {
            Ok(Load {
                open: catalogue.open_recalls()?,
                holds: catalogue.cache_holds((self.now_ns)())?,
                failures: catalogue.failure_count()?,
            })
        };
        self.load.with(Instant::now, find_out, |load| *load)
    }

    /// What happens now. Where movers have the drives, the catalogue tells.
    pub(crate) fn doing(&self, open: &OpenRecalls) -> Result<Doing, Problem> {
        Ok(match self.work.doing() {
            Doing::Idle if open.started > 0 => Doing::Recalling,
            Doing::Idle if self.is_writing()? => Doing::Writing,
            Doing::Idle if open.queued > 0 => match self.outlook()?.stuck() {
                Some(why) => Doing::Waiting(why),
                None => Doing::Idle,
            },
            doing => doing,
        })
    }

    /// Whether a mover writes to a cartridge that it has. What a dead one left open is in no lease.
    fn is_writing(&self) -> Result<bool, Problem> {
        let catalogue = &self.archive.catalogue;
        let mut leased = catalogue.leases()?;
        leased.retain(|lease| lease.volume.is_some());
        if leased.is_empty() {
            return Ok(false);
        }
        let writes = catalogue.open_writes()?;
        let mut volumes = writes.iter().map(|write| Some(write.volume));
        Ok(volumes.any(|volume| leased.iter().any(|lease| lease.volume == volume)))
    }

    /// Whether something waits that nobody can read or begins now. The queue is not planned for that.
    pub(crate) fn is_held_up(&self, open: &OpenRecalls) -> bool {
        let is_unattended = open.queued > 0 && self.work.unattended().is_some();
        is_unattended || matches!(self.work.doing(), Doing::Waiting(_))
    }

    /// What waits for each cartridge now, or did a short time ago.
    pub(crate) fn waits(&self) -> Result<Arc<Vec<VolumeWait>>, Problem> {
        let find_out = || Ok(Arc::new(self.archive.catalogue.waits()?));
        self.waits
            .with(Instant::now, find_out, |waits| Arc::clone(waits))
    }

    /// Asks the catalogue, or the disk, on a thread that may wait for it.
    pub(crate) async fn ask<T: Send + 'static>(
        self: Arc<Self>,
        what: impl FnOnce(&Service) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let asked = move || {
            let answer = what(&self);
            let problem = answer.as_ref().err();
            if let Some(cause) = problem.and_then(Problem::cause) {
                *self.catalogue_failure() = Some(cause.to_owned());
            }
            answer
        };
        let asked = tokio::task::spawn_blocking(asked).await;
        asked.unwrap_or_else(|_| {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            let detail = "The service made a mistake. Please report what was asked.";
            Err(Problem::new(status, "Internal error", detail))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_know_the_service_below_the_path_of_its_address() {
        for (url, path) in [
            ("https://tape.example.org", ""),
            ("https://tape.example.org:8443/", ""),
            ("https://www.example.org/tape/a/", "/tape/a"),
        ] {
            let url = Some(url.to_owned());
            let site = Site {
                url,
                ..Site::default()
            };
            assert_eq!(site.path(), path);
        }
        assert_eq!(Site::default().path(), "");
    }
}
