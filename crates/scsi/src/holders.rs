//! Who holds a device: looked at before anything more than INQUIRY is sent, so that no other program's tape moves.

pub use crate::holder::Holder;

use crate::device::{Address, Found, Host, Node};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Who holds a device on this host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holders {
    /// Those that were found.
    pub found: Vec<Holder>,
    /// Processes whose open files may not be seen by this user: more may hold the device.
    pub unseen: usize,
}

impl Host {
    /// Looks who holds a device on this host: processes by their open files, mounted LTFS volumes.
    /// This process does not count.
    ///
    /// # Errors
    /// What the operating system says when `/proc` cannot be read.
    pub fn holders(&self, device: &Found) -> io::Result<Holders> {
        let mut holders = Holders::default();
        let mut pids: Vec<u32> = std::fs::read_dir(self.path("proc"))?
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter(|pid| *pid != std::process::id())
            .collect();
        pids.sort_unstable();
        for pid in pids {
            self.look_at_process(pid, device, &mut holders)?;
        }
        holders.found.extend(self.ltfs_mounts(device)?);
        Ok(holders)
    }

    fn look_at_process(&self, pid: u32, device: &Found, holders: &mut Holders) -> io::Result<()> {
        let directory = self.path(&format!("proc/{pid}"));
        let (mut nodes, is_seen) = match open_nodes(&directory.join("fd"), device) {
            // It has ended meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => (Vec::new(), false),
            other => (other?, true),
        };
        // Arguments may be seen of everybody's processes.
        nodes.extend(self.named_by_ltfs(&directory, device));
        holders.unseen += usize::from(!is_seen && nodes.is_empty());
        nodes.sort();
        nodes.dedup();
        let command = std::fs::read_to_string(directory.join("comm")).unwrap_or_default();
        let command = command.trim();
        holders
            .found
            .extend(nodes.into_iter().map(|node| Holder::Process {
                pid,
                command: command.to_owned(),
                node,
            }));
        Ok(())
    }

    /// The device as an LTFS process names it in its arguments (`-o devname=/dev/sg3`).
    fn named_by_ltfs(&self, process: &Path, device: &Found) -> Option<String> {
        let arguments = std::fs::read(process.join("cmdline")).ok()?;
        let arguments = String::from_utf8_lossy(&arguments).into_owned();
        let mut options = arguments.split(['\0', ',']);
        let is_this = |name: &&str| self.is_called(device, name);
        let mut names = options
            .by_ref()
            .filter_map(|option| option.strip_prefix("devname="));
        names.find(is_this).map(str::to_owned)
    }

    /// LTFS volumes mounted from this device: `ltfs:DEVICE MOUNT_POINT fuse ...`.
    fn ltfs_mounts(&self, device: &Found) -> io::Result<Vec<Holder>> {
        let mounts = match std::fs::read_to_string(self.path("proc/mounts")) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            other => other?,
        };
        let holder = |line: &str| {
            let mut fields = line.split_ascii_whitespace();
            let name = fields.next()?.strip_prefix("ltfs:")?.to_owned();
            self.is_called(device, &name).then_some(())?;
            let mount_point = PathBuf::from(unescape(fields.next()?));
            Some(Holder::Ltfs {
                mount_point,
                device: name,
            })
        };
        Ok(mounts.lines().filter_map(holder).collect())
    }

    /// Whether `name` is a name of this device: its serial number, a node, or a link to one.
    fn is_called(&self, device: &Found, name: &str) -> bool {
        let leads_here = || match self.resolve(name) {
            Ok((Address::Sg(path) | Address::St(path), _)) => [&device.generic, &device.driver]
                .into_iter()
                .flatten()
                .any(|node| *node == path),
            _ => false,
        };
        device.serial.as_deref() == Some(name) || leads_here()
    }
}

/// Nodes of the device among a process's open files.
fn open_nodes(directory: &Path, device: &Found) -> io::Result<Vec<String>> {
    let mut nodes = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let target = match entry.and_then(|entry| std::fs::read_link(entry.path())) {
            // Closed meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            other => other?,
        };
        if is_node_of(&target, device) {
            nodes.push(target.display().to_string());
        }
    }
    Ok(nodes)
}

/// Whether this is one of the device's nodes: a tape drive has eight of the driver's, in four modes.
fn is_node_of(path: &Path, device: &Found) -> bool {
    let parse = |path: &Path| Node::parse(path.file_name()?.to_str()?);
    let is_same = |own: &Path| match (parse(own), parse(path)) {
        (Some(Node::Tape { number: own, .. }), Some(Node::Tape { number, .. })) => own == number,
        _ => own.file_name() == path.file_name(),
    };
    let own = [&device.generic, &device.driver];
    path.starts_with("/dev") && own.into_iter().flatten().any(|own| is_same(own))
}

/// A field of `/proc/mounts`, where blanks are written as octal numbers.
fn unescape(field: &str) -> String {
    let blanks = [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ];
    let replace = |text: String, (escape, blank): (&str, &str)| text.replace(escape, blank);
    blanks.into_iter().fold(field.to_owned(), replace)
}
