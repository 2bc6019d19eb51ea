//! The oracle's looks at disk, tapes and catalogue.

use super::{Judged, Life, is_of_a_file, sum_of};
use crate::events::What;
use crate::oracle::Fate;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use tapewise_archive::catalogue::{
    CacheRecords, Cached, CatalogueError, CopyState, FileId, Files, SqliteCatalogue, Volumes,
};
use xxhash_rust::xxh3::xxh3_64;

impl Life {
    /// The oracle looks at everything.
    pub(super) fn look(&mut self, after: Option<What>) -> Judged {
        self.world.log.look()?;
        let is_operators = after.is_some_and(|what| what.is_operators());
        let mut files: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for (name, bytes, _) in self.world.disk.tree().files() {
            if is_of_a_file(name) || name.starts_with("quarantine") {
                files
                    .entry(xxh3_64(bytes))
                    .or_default()
                    .push(format!("cache/{}", name.display()));
            }
        }
        let before: Vec<BTreeSet<String>> = self
            .oracle
            .versions
            .iter()
            .map(|version| version.places.clone())
            .collect();
        let tapes = self
            .world
            .look_at_tapes()
            .map_err(|error| format!("the tapes: {error}"))?;
        let gone = self.oracle.look(tapes, &files);
        if matches!(after, Some(What::Overwrite | What::Rot)) {
            for (version, before) in self.oracle.versions.iter().zip(&before) {
                if !before.is_subset(&version.places) {
                    self.harmed.insert(version.sum);
                }
            }
        }
        for number in gone {
            if self.is_replaced(number) {
                continue;
            }
            if !is_operators && !self.harmed.contains(&self.oracle.versions[number].sum) {
                let path = &self.oracle.versions[number].path;
                return Err(format!(
                    "{path} was acknowledged and is nowhere; it was in {:?}",
                    before[number]
                ));
            }
            self.counts.excused += 1;
            self.oracle.versions[number].fate = Fate::Excused("an operator".to_owned());
        }
        if self.stale.is_none() && self.swapped.is_none() {
            self.look_at_catalogue()?;
        }
        Ok(())
    }

    /// Whether the catalogue has a later version in the place of this one: then that one was stored, though its process
    /// was killed before it could say so.
    fn is_replaced(&mut self, number: usize) -> bool {
        let path = self.oracle.versions[number].path.clone();
        let sum = self.world.catalogue().ok().and_then(|catalogue| {
            let live = catalogue.live_file(path.as_bytes()).ok()??;
            sum_of(&catalogue, live).ok()?
        });
        let mut later = self.oracle.versions.iter();
        let later = later.rposition(|version| {
            version.path == path && version.fate == Fate::Unsure && Some(version.sum) == sum
        });
        match later.filter(|later| *later > number) {
            Some(later) => {
                self.oracle.acknowledged(later);
                true
            }
            None => false,
        }
    }

    /// Whether the catalogue knows everything, and says nothing that is not so.
    pub(super) fn look_at_catalogue(&mut self) -> Judged {
        let catalogue = self
            .world
            .catalogue()
            .map_err(|error| format!("the catalogue: {error}"))?;
        let failed = |error: CatalogueError| format!("the catalogue: {error}");
        for path in self.oracle.paths() {
            let live = catalogue.live_file(path.as_bytes()).map_err(failed)?;
            let Some(live) = live else {
                return Err(format!(
                    "{path} was acknowledged, and the catalogue does not know it"
                ));
            };
            let sum = sum_of(&catalogue, live).map_err(failed)?;
            let wanted = self.oracle.wanted(&path).map(|version| version.sum);
            if sum != wanted {
                let mut versions = self.oracle.versions.iter();
                let unsure = versions.position(|version| {
                    version.path == path && version.fate == Fate::Unsure && Some(version.sum) == sum
                });
                let restored = &self.restored;
                let other =
                    sum.and_then(|sum| self.oracle.of_another_history(&path, sum, restored));
                match (unsure, other) {
                    (Some(number), _) => self.oracle.acknowledged(number),
                    (None, Some(number)) => self.oracle.counts_again(number),
                    (None, None) => {
                        return Err(format!(
                            "{path}: the catalogue has another version than was acknowledged last"
                        ));
                    }
                }
            }
            let reachable = self.is_reachable(&catalogue, live, &path);
            if let Some(number) = self.oracle.number_of(&path)
                && reachable.is_err()
                && self.harmed.contains(&self.oracle.versions[number].sum)
            {
                self.counts.excused += 1;
                self.oracle.versions[number].fate = Fate::Excused("an operator".to_owned());
                continue;
            }
            reachable?;
        }
        Ok(())
    }

    /// Whether a file is where the catalogue says, in one place at least that nobody destroyed.
    pub(super) fn is_reachable(
        &self,
        catalogue: &SqliteCatalogue,
        id: FileId,
        path: &str,
    ) -> Judged {
        let failed = |error: CatalogueError| format!("the catalogue: {error}");
        let entry = catalogue.file(id).map_err(failed)?;
        let Some(version) = self.oracle.wanted(path) else {
            return Ok(());
        };
        let mut is_somewhere = false;
        if let Some(Cached { key, .. }) = catalogue.cached(id).map_err(failed)? {
            let name = PathBuf::from(format!("{:02x}/{:016x}", key.0 & 0xff, key.0));
            is_somewhere |= self.world.disk.tree().contents(&name) == Some(&version.contents[..]);
        }
        for copy in entry
            .copies
            .iter()
            .filter(|copy| copy.state == CopyState::Whole)
        {
            let labels = copy.segments.iter().map(|(volume, _)| {
                let volume = catalogue.volume(*volume);
                volume.map(|volume| volume.label).map_err(failed)
            });
            let labels: Vec<String> = labels.collect::<Result<_, _>>()?;
            // Of a file in parts nothing counts where one of them is gone.
            let is_tampered = labels.iter().any(|label| self.tampered.contains(label));
            let mut is_here = true;
            for label in labels {
                is_here &= version.places.contains(&label);
                if !is_here && !is_tampered {
                    return Err(format!(
                        "{path}: the catalogue has a copy on {label}, and it is not there, but in {:?}",
                        version.places
                    ));
                }
            }
            is_somewhere |= is_here;
        }
        if !is_somewhere && !version.places.is_empty() {
            let states: Vec<_> = entry.copies.iter().map(|copy| copy.state).collect();
            return Err(format!(
                "{path} is in {:?}, and the catalogue cannot find it: {states:?}",
                version.places
            ));
        }
        Ok(())
    }
}
