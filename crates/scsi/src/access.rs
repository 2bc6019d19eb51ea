//! What a user may do with a device of this host, and what one command carries: looked up in the kernel's files, so
//! that no device is opened.

use crate::device::Found;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// Who runs this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    id: u32,
    groups: Vec<u32>,
}

impl User {
    /// The user of this process, below `root`, the `/` of a host.
    ///
    /// # Errors
    /// What the file system says.
    pub fn of(root: &Path) -> io::Result<User> {
        let status = std::fs::read_to_string(root.join("proc/self/status"))?;
        let numbers = |label: &str| -> Vec<u32> {
            let line = status.lines().find_map(|line| line.strip_prefix(label));
            let words = line.unwrap_or_default().split_whitespace();
            words.filter_map(|word| word.parse().ok()).collect()
        };
        // Real, effective, saved, file system: what counts for opening is the last.
        let of_files = |label: &str| numbers(label).get(3).copied();
        let mut groups = numbers("Groups:");
        groups.extend(of_files("Gid:"));
        let unknown = || io::Error::other("/proc/self/status does not say who we are");
        Ok(User {
            id: of_files("Uid:").ok_or_else(unknown)?,
            groups,
        })
    }

    /// Whether this user may read and write a file of that owner, group and mode.
    pub fn may_use(&self, owner: u32, group: u32, mode: u32) -> bool {
        const READ_WRITE: u32 = 0o6;
        let shift = match () {
            () if self.id == 0 => return true,
            () if self.id == owner => 6,
            () if self.groups.contains(&group) => 3,
            () => 0,
        };
        mode >> shift & READ_WRITE == READ_WRITE
    }
}

/// Whether a node may be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Whether the user may read and write it.
    pub is_allowed: bool,
    /// The group that it is of, by its name where it has one.
    pub group: String,
    /// Its mode, permissions only.
    pub mode: u32,
    /// Whether it is a node of a device, and no file in its place.
    pub is_character_device: bool,
}

impl Access {
    /// Whether a user may open the node of a device, on the host below `root`.
    ///
    /// # Errors
    /// What the file system says; the node may be missing.
    pub fn of(root: &Path, device: &Found, user: &User) -> io::Result<Access> {
        let node = std::fs::metadata(&device.path)?;
        let (owner, group, mode) = (node.uid(), node.gid(), node.mode());
        Ok(Access {
            is_allowed: user.may_use(owner, group, mode),
            group: group_name(root, group),
            mode: mode & 0o777,
            is_character_device: node.file_type().is_char_device(),
        })
    }
}

fn group_name(root: &Path, id: u32) -> String {
    let groups = std::fs::read_to_string(root.join("etc/group")).unwrap_or_default();
    let name = groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(id)).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| id.to_string())
}

/// Bytes that one command to a device carries for sure: as many pages as its adapter takes pieces of memory. None where
/// the kernel does not say.
pub fn sure_bytes(root: &Path, device: &Found) -> Option<u64> {
    /// Linux has no smaller pages.
    const PAGE_BYTES: u64 = 4096;
    let node = device.generic.as_ref()?.file_name()?;
    let class = root.join("sys/class/scsi_generic").join(node);
    // .../hostN/targetN:0:0/N:0:0:0
    let target = class.join("device").canonicalize().ok()?;
    let host = target.parent()?.parent()?;
    let name = host.file_name()?;
    let pieces = std::fs::read_to_string(host.join("scsi_host").join(name).join("sg_tablesize"));
    let pieces: u64 = pieces.ok()?.trim().parse().ok()?;
    Some(pieces * PAGE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_open_a_node_is_said_by_its_mode() {
        let user = User {
            id: 1000,
            groups: vec![26, 1000],
        };
        assert!(user.may_use(0, 26, 0o660));
        assert!(!user.may_use(0, 26, 0o640));
        assert!(!user.may_use(0, 6, 0o660));
        assert!(user.may_use(0, 6, 0o666));
        // The owner's own bits come first, also when they are fewer.
        assert!(!user.may_use(1000, 26, 0o060));
        let root = User {
            id: 0,
            groups: Vec::new(),
        };
        assert!(root.may_use(5, 5, 0));
    }
}
