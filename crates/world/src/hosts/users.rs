//! Those who store and ask: what they were told must be so, whatever befell the movers.

use super::host::Host;
use super::site::Site;
use crate::oracle::Oracle;
use crate::run::{contents, terms};
use crate::sources::Given;
use crate::world::Trouble;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tapewise_archive::cache::{Cache, CacheError};
use tapewise_archive::catalogue::{NewRecall, Request, RequestId, RequestKind, RequestState};
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::mover::MoveError;
use tapewise_archive::open::Archive;
use tapewise_archive::store::{Source, StoreError, StoreTerms, store_from};
use tapewise_model::{Micros, Random};

/// The stream of a seed that users' wishes are drawn from.
const WISHES: u64 = 11;
const MINUTE: Micros = Micros(60_000_000);
/// How often users come, and how many files they store at most each time.
const VISITS: u64 = 7;
const MOST_FILES: u64 = 12;
/// How often they look for what they have asked for, half an hour apart, before they say that it never comes.
const PATIENCE: u64 = 50;
/// How often they look whether all files are on tape.
const LONG: u64 = 8;
/// How often they ask for the cache, a minute apart.
const TRIES: u64 = 600;
/// How often they ask for a file again that somebody has answered as failed.
const TIMES: u64 = 6;

/// What users have done, and been told.
pub struct Users {
    site: Arc<Site>,
    host: Arc<Host>,
    archive: Archive,
    random: Random,
    /// What was acknowledged.
    pub oracle: Oracle,
    /// Files that came, and were compared.
    pub delivered: u64,
    asked: BTreeMap<RequestId, (String, PathBuf)>,
    answered: BTreeMap<RequestId, Request>,
}

type Judged = Result<(), String>;

fn words(error: impl Into<Trouble>) -> String {
    error.into().to_string()
}

impl Users {
    /// Users of a site, on a host of their own.
    ///
    /// # Errors
    /// Those of the archive.
    pub fn new(site: &Arc<Site>, host: &Arc<Host>, seed: u64) -> Result<Users, Trouble> {
        Ok(Users {
            site: Arc::clone(site),
            host: Arc::clone(host),
            archive: Archive::open(&site.place("archive"))?,
            random: Random::new(seed, WISHES),
            oracle: Oracle::default(),
            delivered: 0,
            asked: BTreeMap::new(),
            answered: BTreeMap::new(),
        })
    }

    /// Comes, stores and asks some times; then nothing goes wrong any more, and everything is asked for.
    ///
    /// # Errors
    /// The promise that was broken.
    pub fn live(&mut self) -> Judged {
        for _ in 0..VISITS {
            self.store()?;
            self.rest();
            self.ask()?;
            self.rest();
            self.collect()?;
        }
        self.site.is_calm_now();
        self.wait_for_all()?;
        self.ask_for_everything()?;
        self.look_again()
    }

    /// Some minutes pass.
    fn rest(&mut self) {
        let time = Micros(MINUTE.0 * self.random.below(90) as i64);
        self.host.rest(time);
    }

    /// Has the cache alone, as `tapewise store` does, once no mover is at work.
    fn alone<T>(
        &mut self,
        work: impl Fn(&mut Users, &Cache) -> Result<T, String>,
    ) -> Result<T, String> {
        for _ in 0..TRIES {
            if let Some(_held) = self.site.hold_cache(self.host.number, true) {
                let disk = self.site.disk.seen_by(Arc::clone(&self.host) as _);
                let cache = self.archive.cache_on(Box::new(disk)).map_err(words)?.0;
                return work(self, &cache);
            }
            self.host.rest(MINUTE);
        }
        Err("movers never let the cache go".to_owned())
    }

    fn store(&mut self) -> Judged {
        let mut given = Given::new(Arc::clone(&self.host) as _);
        let (mut sources, mut numbers) = (Vec::new(), Vec::new());
        for _ in 0..1 + self.random.below(MOST_FILES) {
            let number = self.oracle.versions.len();
            let path = format!("d{}/f{number}", self.random.below(3));
            let contents = contents(&mut self.random, &path);
            let bytes = contents.len() as u64;
            let from = self.site.place("sources").join(number.to_string());
            given.add(&from, contents.clone(), self.site.now_ns());
            numbers.push(self.oracle.expect(&path, contents, self.site.now_ns()));
            let path = InnerPath::new(&path).map_err(|error| error.to_string())?;
            sources.push(Source { from, path, bytes });
        }
        let is_stored = self.alone(|users, cache| {
            let how = StoreTerms {
                terms: terms(),
                copies: users.archive.settings.copies,
                replace: false,
                also: Vec::new(),
            };
            // What has its copies makes room.
            let evicted = cache.evict(u64::MAX, users.site.now_ns());
            evicted.map_err(|error| words(MoveError::from(error)))?;
            match store_from(&given, cache, &sources, &how, users.site.now_ns()) {
                Ok(_) => Ok(true),
                Err(StoreError::Cache(CacheError::Full { .. })) => Ok(false),
                Err(error) => Err(words(error)),
            }
        })?;
        if is_stored {
            numbers
                .into_iter()
                .for_each(|number| self.oracle.acknowledged(number));
        }
        Ok(())
    }

    fn ask(&mut self) -> Judged {
        let mut paths = self.oracle.paths();
        self.random.shuffle(&mut paths);
        paths.truncate(2 + self.random.below(10) as usize);
        self.ask_for(paths)
    }

    fn ask_for(&mut self, paths: impl IntoIterator<Item = String>) -> Judged {
        let to = self
            .site
            .place("delivered")
            .join(self.asked.len().to_string());
        fs::create_dir_all(&to).map_err(|error| error.to_string())?;
        let catalogue = &self.archive.catalogue;
        let (mut recalls, mut known) = (Vec::new(), Vec::new());
        for path in paths {
            let file = catalogue.live_file(path.as_bytes()).map_err(words)?;
            recalls.push(NewRecall {
                file: file.ok_or_else(|| format!("{path} was acknowledged, and is unknown"))?,
                terms: terms(),
                destination: Some(to.as_os_str().as_bytes().to_vec()),
            });
            known.push((path, to.clone()));
        }
        let requests = catalogue
            .submit(&recalls, self.site.now_ns())
            .map_err(words)?;
        self.asked.extend(requests.into_iter().zip(known));
        Ok(())
    }

    /// Takes what has come, and compares it.
    fn collect(&mut self) -> Judged {
        let open: Vec<RequestId> = self.asked.keys().copied().collect();
        for id in open
            .into_iter()
            .filter(|id| !self.answered.contains_key(id))
            .collect::<Vec<_>>()
        {
            let request = self.archive.catalogue.request(id).map_err(words)?;
            if request.done_ns.is_none() {
                continue;
            }
            let (path, to) = &self.asked[&id];
            if request.state == RequestState::Delivered {
                let is_right = self.is_right(path, &to.join(path));
                if is_right != Some(true) {
                    let what = is_right.map_or("is not there", |_| "has other contents");
                    return Err(format!("{path} was answered as delivered, and {what}"));
                }
                self.delivered += 1;
                fs::remove_file(to.join(path)).map_err(|error| error.to_string())?;
            } else {
                self.site.judge.note("request", "answered as failed");
            }
            self.answered.insert(id, request);
        }
        Ok(())
    }

    /// Whether a file is what was stored under its path; none where there is none.
    fn is_right(&self, path: &str, at: &Path) -> Option<bool> {
        let found = fs::read(at).ok()?;
        Some(self.oracle.wanted(path)?.contents == found)
    }

    /// Waits until all is answered and all that can go to tape is there.
    fn wait_for_all(&mut self) -> Judged {
        for waited in 0..PATIENCE {
            self.collect()?;
            let catalogue = &self.archive.catalogue;
            let waits = catalogue.unanswered().map_err(words)?;
            let of_users = waits
                .iter()
                .filter(|one| one.kind == RequestKind::Recall)
                .count();
            let migrations = catalogue.next_migrations(i64::MAX, 1).map_err(words)?;
            // Where all cartridges are full, files stay in the cache.
            if of_users == 0 && (migrations.is_empty() || waited > LONG) {
                return Ok(());
            }
            self.host.rest(Micros(30 * MINUTE.0));
        }
        let waits = self.archive.catalogue.unanswered().map_err(words)?;
        let states: Vec<RequestState> = waits.iter().map(|one| one.state).collect();
        Err(format!("requests are never answered: {states:?}"))
    }

    fn ask_for_everything(&mut self) -> Judged {
        self.alone(|users, cache| {
            let evicted = cache.evict(u64::MAX, users.site.now_ns());
            evicted
                .map(drop)
                .map_err(|error| words(MoveError::from(error)))
        })?;
        let mut missing: BTreeSet<String> = self.oracle.paths().into_iter().collect();
        for _ in 0..TIMES {
            let before = self.answered.len();
            self.ask_for(missing.iter().cloned())?;
            self.wait_for_all()?;
            let came = self
                .answered
                .iter()
                .filter(|(_, one)| one.state == RequestState::Delivered);
            let late = came.filter(|(id, _)| self.asked[id].1.ends_with(before.to_string()));
            for (id, _) in late {
                missing.remove(&self.asked[id].0);
            }
            if missing.is_empty() {
                return Ok(());
            }
        }
        let first = missing.first().cloned().unwrap_or_default();
        Err(format!(
            "{} files do not come back, {first} among them",
            missing.len()
        ))
    }

    /// No request has another answer now, and what came again was right.
    fn look_again(&self) -> Judged {
        for (id, request) in &self.answered {
            if self.archive.catalogue.request(*id).map_err(words)? != *request {
                return Err(format!("request {} was answered twice", id.0));
            }
            let (path, to) = &self.asked[id];
            match self.is_right(path, &to.join(path)) {
                None => {}
                Some(true) => self
                    .site
                    .judge
                    .note("destination", "the same file once more, after its answer"),
                Some(false) => return Err(format!("{path} came once more, with other contents")),
            }
        }
        Ok(())
    }
}
