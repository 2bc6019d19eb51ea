//! A cartridge that others wrote, or whose catalogue was lost, is read from end to end.

use super::{MoveError, Mover};
use crate::catalogue::Recorded;
use crate::deliver::InnerPath;
use crate::record::{File, Owner, Volume, VolumeFormat, VolumeState};
use crate::sums::{Kind, Sum};
use crate::volume::{Found, Kind as MemberKind, Located, Scanned, Trouble, scan};
use std::collections::HashMap;
use tapewise_run::Recorder;

/// What was found on a cartridge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Files that are in the catalogue now.
    pub files: usize,
    /// Members that are no files of the archive, and why.
    pub left_out: Vec<(Vec<u8>, String)>,
    /// What is not as it should be on the tape, a sentence each.
    pub troubles: Vec<String>,
}

impl Mover<'_> {
    /// Reads a cartridge of tar archives whole and adds what is on it: one of ours under the paths
    /// that its files had, one of others below its label, and never to be written.
    ///
    /// # Errors
    /// [`MoveError`]; nothing was added.
    pub fn add_tape(&mut self, label: &str) -> Result<Added, MoveError> {
        let index = self.pool.mount(label, self.log)?;
        let result = self.scan_mounted(index, label);
        let (scanned, members, troubles) = self.let_go(index, result)?;
        let is_ours = scanned.label.is_some();
        let mut added = Added {
            troubles,
            ..Added::default()
        };
        let (mut recorded, mut at) = (Vec::new(), HashMap::new());
        for located in members {
            match file(&located, label, is_ours) {
                Ok(file) => join(&mut recorded, &mut at, file, &located),
                Err(why) => added.left_out.push((located.member.name(), why)),
            }
        }
        recorded.retain(|recorded| {
            let bytes: u64 = recorded.segments.iter().map(|segment| segment.bytes).sum();
            let is_whole = bytes == recorded.zstd_bytes.unwrap_or(recorded.file.bytes);
            if !is_whole {
                let why = format!("{bytes} of its {} bytes are here", recorded.file.bytes);
                added.left_out.push((recorded.file.path.clone(), why));
            }
            is_whole
        });
        added.files = recorded.len();
        let uuid = match &scanned.label {
            Some(label) => label.uuid.clone(),
            // A tape of others has none: its label is all that it can be known by.
            None => format!("tar:{label}"),
        };
        let volume = Volume {
            label: label.to_owned(),
            uuid,
            format: match is_ours {
                true => VolumeFormat::Tapewise,
                false => VolumeFormat::Tar,
            },
            state: match is_ours && added.troubles.is_empty() {
                true => VolumeState::Filling,
                false => VolumeState::Full,
            },
            block_bytes: match &scanned.label {
                Some(label) => label.block_bytes,
                None => scanned.longest_block,
            },
            next_block: scanned.next_block,
            written_bytes: scanned.bytes,
        };
        self.catalogue
            .add_recorded(&volume, &recorded, (self.now_ns)())?;
        Ok(added)
    }

    fn scan_mounted(
        &mut self,
        index: usize,
        label: &str,
    ) -> Result<(Scanned, Vec<Located>, Vec<String>), MoveError> {
        let mut log = self.pool.stamp(index, self.log);
        let mut recorder = Recorder::new(self.pool.drive(index), &mut log, self.stop);
        let (mut members, mut troubles) = (Vec::new(), Vec::new());
        let scanned = scan(&mut recorder, &mut |found| {
            match found {
                Found::Member(located) => members.push(located),
                Found::Trouble(trouble) => troubles.push(words(&trouble)),
            }
            Ok(())
        });
        let scanned = scanned.map_err(|source| MoveError::Volume {
            label: label.to_owned(),
            source,
        })?;
        Ok((scanned, members, troubles))
    }
}

/// The file that a member is, or a part of which it is.
fn file(located: &Located, label: &str, is_ours: bool) -> Result<File, String> {
    let member = &located.member;
    match located.kind {
        MemberKind::File => {}
        MemberKind::Sparse => return Err("a sparse file of GNU tar".to_owned()),
        MemberKind::HardLink | MemberKind::Symlink => return Err("a link".to_owned()),
        MemberKind::Directory => return Err("a directory".to_owned()),
        MemberKind::Other(kind) => return Err(format!("type {:?}", char::from(kind))),
    }
    if member.zstd_of.is_some() && member.part.is_some() {
        return Err("a part of a compressed copy: restore it with tar and zstd".to_owned());
    }
    let mut path = Vec::new();
    if !is_ours {
        path.extend_from_slice(label.as_bytes());
        path.push(b'/');
    }
    path.extend_from_slice(&member.path);
    let path = InnerPath::new(&path).map_err(|error| error.to_string())?;
    let sum = match member.part.is_some() || member.zstd_of.is_some() {
        true => member.file_xxh3,
        false => member.xxh3,
    };
    Ok(File {
        path: path.as_bytes().to_vec(),
        bytes: member.zstd_of.unwrap_or(member.bytes),
        modified_ns: member.modified_ns,
        mode: member.mode,
        sums: sum.map(|sum| vec![xxh3(sum)]).unwrap_or_default(),
    })
}

/// What is wrong, and where.
fn words(trouble: &Trouble) -> String {
    format!(
        "partition {}, block {}, byte {}: {}",
        trouble.partition, trouble.block, trouble.offset, trouble.what
    )
}

fn xxh3(sum: u64) -> Sum {
    Sum {
        kind: Kind::Xxh3,
        value: sum.to_be_bytes().to_vec(),
    }
}

/// Adds a file, or a part to the file whose parts came before; the last of several files of one path
/// is the one that counts, as for tar. `at` says where the file of a path is.
fn join(
    recorded: &mut Vec<Recorded>,
    at: &mut HashMap<Vec<u8>, usize>,
    mut file: File,
    located: &Located,
) {
    let known = at.entry(file.path.clone()).or_insert(recorded.len());
    let same = recorded.get_mut(*known);
    let offset = located.member.part.map_or(0, |part| part.offset);
    match same {
        Some(other) if offset > 0 && offset == other.file.bytes => {
            other.file.bytes += file.bytes;
            other.segments.push(located.segment);
        }
        same => {
            if located.member.part.is_some() && offset > 0 {
                // Its beginning is on another volume; the length tells that it is not whole.
                file.bytes += offset;
            }
            let new = Recorded {
                file,
                owner: Owner::default(),
                zstd_bytes: located.member.zstd_of.map(|_| located.member.bytes),
                segments: vec![located.segment],
            };
            match same {
                Some(other) => *other = new,
                None => recorded.push(new),
            }
        }
    }
}
