//! Recalls, killed on the way and taken up again, and what is then in the destination.

use super::{Judged, Life, terms};
use crate::fate::Plan;
use crate::oracle::Fate;
use crate::world::{Opening, Process, Trouble};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tapewise_archive::catalogue::{
    Answer, CatalogueError, NewRecall, RequestId, RequestKind, RequestState, Requests,
};

/// What was asked for: the request, and the path of its file.
type Asked = Vec<(RequestId, String)>;

impl Life {
    /// Recalls files and compares what comes; the paths that came.
    pub(super) fn recall(
        &mut self,
        plan: Plan,
        seed: u64,
        paths: &[String],
    ) -> Result<BTreeSet<String>, String> {
        self.delivered += 1;
        let to = self
            .world
            .place("delivered")
            .join(self.delivered.to_string());
        fs::create_dir_all(&to).map_err(|error| error.to_string())?;
        let mut asked = Asked::new();
        let done = self.world.run((plan, seed), Opening::Usual, |process| {
            asked = submit(process, paths, &to)?;
            process.moving(|mover| mover.recall())
        });
        let mut came = self.compare(&to, paths)?;
        self.answered(&asked, &to)?;
        match done {
            Ok(Ok(recalled)) => self.counts.mounts += recalled.mounts,
            Ok(Err(trouble)) => self.judge(plan, seed, &trouble)?,
            // Whoever asked starts the program again.
            Err(_) => {
                let again =
                    self.world
                        .run((Plan::default(), seed ^ 1), Opening::Usual, |process| {
                            process.moving(|mover| mover.recall())
                        });
                came = self.compare(&to, paths)?;
                self.answered(&asked, &to)?;
                match again {
                    Ok(Ok(recalled)) => {
                        self.counts.mounts += recalled.mounts;
                        if came.len() == paths.len() {
                            no_rests(&to)?;
                        }
                    }
                    Ok(Err(trouble)) => self.judge(Plan::default(), seed, &trouble)?,
                    Err(_) => {}
                }
            }
        }
        let _ = fs::remove_dir_all(&to);
        self.world.destinations.settle();
        self.cancel(seed);
        Ok(came)
    }

    /// Nobody asks for anything any more: the directory of it is gone.
    fn cancel(&mut self, seed: u64) {
        let _ = self
            .world
            .run((Plan::default(), seed), Opening::Usual, |process| {
                let catalogue = &process.archive.catalogue;
                for request in catalogue.unanswered()? {
                    if request.kind == RequestKind::Recall && request.place.is_some() {
                        catalogue.answer(request.id, &Answer::Cancelled, process.now_ns())?;
                    }
                }
                Ok(())
            });
    }

    /// Compares what was delivered: nothing may have its name that was not stored under it.
    fn compare(&mut self, to: &Path, paths: &[String]) -> Result<BTreeSet<String>, String> {
        let mut came = BTreeSet::new();
        for path in paths {
            let Ok(contents) = fs::read(to.join(path)) else {
                continue;
            };
            let mut versions = self.oracle.versions.iter().rev();
            let Some(version) =
                versions.find(|version| version.path == *path && version.contents == contents)
            else {
                return Err(format!(
                    "{path} was delivered with contents that were never stored"
                ));
            };
            let is_right = match version.fate {
                Fate::Wanted | Fate::Unsure => true,
                Fate::Past | Fate::Excused(_) => {
                    self.stale.is_some() || self.oracle.wanted(path).is_none()
                }
            };
            if !is_right {
                return Err(format!("{path} was delivered in an older version"));
            }
            if version.fate != Fate::Past {
                came.insert(path.clone());
            }
            self.counts.delivered += 1;
        }
        Ok(came)
    }

    /// What was answered as delivered is there.
    fn answered(&self, asked: &Asked, to: &Path) -> Judged {
        if self.stale.is_some() {
            return Ok(());
        }
        let words = |error: CatalogueError| format!("the catalogue: {error}");
        let catalogue = self.world.catalogue().map_err(words)?;
        for (request, path) in asked {
            let state = catalogue.request(*request).map_err(words)?.state;
            if state == RequestState::Delivered && !to.join(path).exists() {
                return Err(format!(
                    "{path} was answered as delivered, and is not there"
                ));
            }
        }
        Ok(())
    }
}

fn submit(process: &Process<'_>, paths: &[String], to: &Path) -> Result<Asked, Trouble> {
    let catalogue = &process.archive.catalogue;
    let (mut recalls, mut known) = (Vec::new(), Vec::new());
    for path in paths {
        if let Some(file) = catalogue.live_file(path.as_bytes())? {
            known.push(path.clone());
            recalls.push(NewRecall {
                file,
                terms: terms(),
                destination: Some(to.as_os_str().as_bytes().to_vec()),
            });
        }
    }
    let requests = catalogue.submit(&recalls, process.now_ns())?;
    Ok(requests.into_iter().zip(known).collect())
}

/// When all files have come, nothing is left of deliveries that were killed.
fn no_rests(to: &Path) -> Judged {
    let mut directories = vec![to.to_owned()];
    let look = |directory: &Path| -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(directory)?;
        entries.map(|entry| Ok(entry?.path())).collect()
    };
    while let Some(directory) = directories.pop() {
        for path in look(&directory).map_err(|error| error.to_string())? {
            let name = path.file_name().unwrap_or_default().as_bytes();
            // Whoever is killed between making a file and marking it leaves an empty one, which may be somebody's.
            let is_empty = path.metadata().is_ok_and(|file| file.len() == 0);
            if name.ends_with(b".part") && !is_empty {
                return Err(format!(
                    "{} was left by a delivery that was killed, and stays",
                    String::from_utf8_lossy(name)
                ));
            }
            if path.is_dir() {
                directories.push(path);
            }
        }
    }
    Ok(())
}
