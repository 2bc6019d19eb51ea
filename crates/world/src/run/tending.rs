//! What a site does now and then to the volumes it has.

use crate::world::{Process, Trouble};
use tapewise_archive::catalogue::VolumeId;
use tapewise_archive::record::VolumeFormat;
use tapewise_model::Micros;

fn volumes_of_ours(process: &Process<'_>) -> Result<Vec<VolumeId>, Trouble> {
    let volumes = process.archive.catalogue.volumes()?.into_iter();
    let ours = volumes.filter(|(_, volume)| volume.format == VolumeFormat::Tapewise);
    Ok(ours.map(|(id, _)| id).collect())
}

/// As `catalog verify`: all volumes, then what is lost is made again.
pub(super) fn verify(process: &mut Process<'_>) -> Result<u64, Trouble> {
    let volumes = volumes_of_ours(process)?;
    process.moving(|mover| {
        let mut to_remake = Vec::new();
        let mut mounts = 0;
        for (_, found) in mover.verify(&volumes, Micros::FAR)? {
            mounts += 1;
            if let Ok(found) = found {
                to_remake.extend(found.to_remake);
            }
        }
        to_remake.sort_unstable();
        to_remake.dedup();
        if !to_remake.is_empty() {
            mover.remake(to_remake)?;
        }
        Ok(mounts)
    })
}

/// As `catalog repack --reuse`.
pub(super) fn repack(process: &mut Process<'_>, chosen: u64) -> Result<u64, Trouble> {
    let volumes = volumes_of_ours(process)?;
    let Some(&volume) = volumes.get((chosen % volumes.len().max(1) as u64) as usize) else {
        return Ok(0);
    };
    let record = process.archive.catalogue.volume(volume)?;
    process.moving(|mover| {
        let repacked = mover.repack(volume)?;
        if repacked.forgotten.is_some() && chosen.is_multiple_of(2) {
            mover.reuse(&record)?;
        }
        Ok(repacked.moved.migrated.mounts + 1)
    })
}
