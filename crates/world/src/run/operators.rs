//! What operators do, with nothing of ours running.

use super::{HOUR, Life, Swapped, is_of_a_file};
use crate::events::What;
use std::fs;
use std::io;
use std::path::PathBuf;
use tapewise_emulator::Medium;
use tapewise_model::Random;

impl Life {
    /// What operators do, with nothing of ours running.
    pub(super) fn operate(&mut self, what: What, random: &mut Random) -> io::Result<()> {
        if matches!(
            what,
            What::RestoreDirectory
                | What::RestoreCatalogue
                | What::RestoreBackup
                | What::LoseCatalogue { .. }
                | What::LoseDirectory
        ) {
            self.restored.push(self.oracle.versions.len());
        }
        match what {
            What::Snapshot => self.snapshots.push(self.world.snapshot()?),
            What::RestoreDirectory | What::RestoreCatalogue => {
                let chosen = random.below(self.snapshots.len() as u64) as usize;
                if let Some(snapshot) = self.snapshots.get(chosen) {
                    self.world
                        .restore(snapshot, what == What::RestoreDirectory)?;
                    self.stale = Some("a copy was restored");
                }
            }
            What::RestoreBackup => {
                let chosen = random.below(self.backups.len() as u64) as usize;
                if let Some(backup) = self.backups.get(chosen) {
                    self.world.restore_backup(backup)?;
                    self.stale = Some("a backup was restored");
                }
            }
            What::LoseCatalogue { empty } => {
                self.world.lose_catalogue()?;
                if empty {
                    fs::write(self.world.place("archive/catalogue.db"), b"")?;
                }
                self.stale = Some("the catalogue was lost");
            }
            What::LoseDirectory => {
                self.world.lose_catalogue()?;
                self.world.disk.tree().clear();
                self.stale = Some("the disk was lost");
            }
            What::Swap => self.swap(random)?,
            What::Overwrite => {
                let labels = self.world.labels();
                let label = &labels[random.below(labels.len() as u64) as usize];
                if !self.world.is_in_drive(label) {
                    self.overwrite(label)?;
                }
            }
            What::Clock { hours } => self.world.shift(hours.saturating_mul(HOUR.0 * 1000)),
            What::Move => self.world.change_host(),
            What::OtherHost => {
                self.other_holds = !self.other_holds && self.world.other_reserves(true);
            }
            What::Rot => {
                let mut tree = self.world.disk.tree();
                let names: Vec<PathBuf> = tree.files().map(|(name, ..)| name.to_owned()).collect();
                let names: Vec<&PathBuf> = names.iter().filter(|name| is_of_a_file(name)).collect();
                if !names.is_empty() {
                    let name = names[random.below(names.len() as u64) as usize];
                    tree.rot(name, random.below(1 << 20));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Two cartridges get each other's barcode; a second time puts them right.
    pub(super) fn swap(&mut self, random: &mut Random) -> io::Result<()> {
        let was_swapped = self.swapped.clone();
        let [one, two] = match &was_swapped {
            Some(Swapped { labels, .. }) => labels.clone(),
            None => {
                let mut labels = self.world.labels();
                random.shuffle(&mut labels);
                [labels[0].clone(), labels[1].clone()]
            }
        };
        if self.world.is_in_drive(&one) || self.world.is_in_drive(&two) {
            return Ok(());
        }
        let cartridges = self.world.place("library/cartridges");
        let aside = self.world.place("aside");
        fs::rename(cartridges.join(&one), &aside)?;
        fs::rename(cartridges.join(&two), cartridges.join(&one))?;
        fs::rename(aside, cartridges.join(&two))?;
        self.tampered.extend([one.clone(), two.clone()]);
        let tapes = self.world.look_at_tapes()?;
        let seen = [tapes.seen(&one), tapes.seen(&two)];
        match was_swapped {
            // A volume that was begun on one of them meanwhile has the other's barcode now, and one that was read then
            // is known under it: nobody knows before the cartridges are read.
            Some(Swapped {
                seen: then,
                is_read,
                ..
            }) => {
                if is_read || [then[1], then[0]] != seen {
                    self.stale = Some("cartridges were written or read in while they were swapped");
                }
                self.swapped = None;
            }
            None => {
                let labels = [one, two];
                self.swapped = Some(Swapped {
                    labels,
                    seen,
                    is_read: false,
                });
            }
        }
        Ok(())
    }

    /// Another program begins a tape of its own on a cartridge.
    pub(super) fn overwrite(&mut self, label: &str) -> io::Result<()> {
        self.harmed
            .extend(self.world.look_at_tapes()?.sums_on(label));
        let directory = self.world.place("library/cartridges").join(label);
        let mut medium = Medium::open(&directory).map_err(io::Error::other)?;
        medium.format(&[]).map_err(io::Error::other)?;
        if let Some(partition) = medium.partition_mut(0) {
            let block = [7; 512];
            partition
                .write_block(0, &block, 512, None)
                .map_err(io::Error::other)?;
            partition.write_filemark(1, 0).map_err(io::Error::other)?;
        }
        medium.sync().map_err(io::Error::other)?;
        self.tampered.insert(label.to_owned());
        Ok(())
    }
}
