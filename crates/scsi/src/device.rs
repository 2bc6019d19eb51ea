//! From what a user calls a device to a transport, and which devices there are.
//!
//! Everything is read below a root directory, `/` on a real host, so that a test can have a tree of its own.

use crate::commands::DeviceKind;
use crate::transport::{Transport, TransportError};
#[cfg(target_os = "linux")]
use crate::transports::{Iscsi, Sg, St};
use crate::transports::{IscsiUrl, Replay, ReplayError};
use std::path::{Path, PathBuf};

/// A host's `/sys`, `/dev` and `/proc`.
#[derive(Clone, Debug)]
pub struct Host {
    root: PathBuf,
}

/// A device of this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What to open: the SCSI generic node where there is one, else the tape driver's.
    pub path: PathBuf,
    /// Tape drive or changer.
    pub kind: DeviceKind,
    /// Vendor, as INQUIRY says.
    pub vendor: String,
    /// Product, as INQUIRY says.
    pub model: String,
    /// Unit serial number (VPD page 80h), where the kernel could read it.
    pub serial: Option<String>,
    /// `/dev/sgN`.
    pub generic: Option<PathBuf>,
    /// `/dev/nstN` or `/dev/schN`: the node of the kernel's own driver.
    pub driver: Option<PathBuf>,
}

/// Where a name leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// SCSI generic.
    Sg(PathBuf),
    /// Linux's tape driver, not rewinding.
    St(PathBuf),
    /// An iSCSI target.
    Iscsi(IscsiUrl),
    /// A recording.
    Replay(PathBuf),
}

/// An open device.
pub struct Opened {
    /// The way to it.
    pub transport: Box<dyn Transport>,
    /// What the user should know about that way, in words to print.
    pub notice: Option<String>,
}

/// A name that leads to no device.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// Nothing of that name.
    #[error("{name}: {source}")]
    NotFound {
        /// What the user called the device.
        name: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// It is no device that we can talk to.
    #[error(
        "{name} is neither /dev/sgN, /dev/nstN, a name in /dev/tape/by-id, iscsi://HOST/TARGET/LUN nor replay:FILE"
    )]
    NoDevice {
        /// What the user called the device.
        name: String,
    },
    /// The tape driver's node that rewinds when it is closed.
    #[error(
        "{name} rewinds the tape whenever a program closes it, and this host has no /dev/sgN for it; \
         take {instead}, or load the sg module"
    )]
    Rewinds {
        /// What the user called the device.
        name: String,
        /// The node of the same drive that does not.
        instead: String,
    },
    /// A real drive, on a system that we do not reach drives on.
    #[error("{name}: tapewise reaches drives on Linux only")]
    OtherSystem {
        /// What the user called the device.
        name: String,
    },
    /// It cannot be opened.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The recording cannot be read.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

impl Host {
    /// This host.
    pub fn local() -> Host {
        Host::at(Path::new("/"))
    }

    /// A host whose `/sys`, `/dev` and `/proc` are below `root`.
    pub fn at(root: &Path) -> Host {
        Host {
            root: root.to_owned(),
        }
    }

    /// The file or directory `path`, which starts without a slash.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Opens a device by any of its names.
    ///
    /// # Errors
    /// [`DeviceError`] when the name leads nowhere or the device cannot be opened.
    pub fn open(&self, name: &str) -> Result<Opened, DeviceError> {
        let (address, notice) = self.resolve(name)?;
        let transport: Box<dyn Transport> = match address {
            #[cfg(target_os = "linux")]
            Address::Sg(path) => Box::new(Sg::open(&path)?),
            #[cfg(target_os = "linux")]
            Address::St(path) => Box::new(St::open(&path)?),
            #[cfg(target_os = "linux")]
            Address::Iscsi(url) => Box::new(Iscsi::open(&url)?),
            Address::Replay(path) => Box::new(Replay::open(&path)?),
            #[cfg(not(target_os = "linux"))]
            _ => {
                return Err(DeviceError::OtherSystem {
                    name: name.to_owned(),
                });
            }
        };
        Ok(Opened { transport, notice })
    }

    /// Where a name leads, and what the user should know about that.
    ///
    /// # Errors
    /// [`DeviceError`] when it leads nowhere.
    pub fn resolve(&self, name: &str) -> Result<(Address, Option<String>), DeviceError> {
        let no_device = || DeviceError::NoDevice {
            name: name.to_owned(),
        };
        if name.starts_with("iscsi:") {
            let url = IscsiUrl::parse(name).ok_or_else(no_device)?;
            return Ok((Address::Iscsi(url), None));
        }
        if let Some(file) = name.strip_prefix("replay:") {
            return Ok((Address::Replay(PathBuf::from(file)), None));
        }
        // Names in /dev/tape/by-id are symbolic links.
        let given = self.path(name.trim_start_matches('/'));
        let path = given
            .canonicalize()
            .map_err(|source| DeviceError::NotFound {
                name: name.to_owned(),
                source,
            })?;
        let node = path
            .file_name()
            .and_then(|node| node.to_str())
            .ok_or_else(no_device)?;
        match Node::parse(node).ok_or_else(no_device)? {
            Node::Generic => Ok((Address::Sg(path), None)),
            Node::Tape { number, rewinds } => {
                if let Some(generic) = self.generic_of(&format!("sys/class/scsi_tape/st{number}")) {
                    return Ok((Address::Sg(generic), None));
                }
                if rewinds {
                    return Err(DeviceError::Rewinds {
                        name: name.to_owned(),
                        instead: format!("/dev/n{node}"),
                    });
                }
                let notice = format!(
                    "{name}: this host has no /dev/sgN for it, so commands go through the tape \
                     driver: no physical positions, no logs, and sense only as far as the driver tells it"
                );
                Ok((Address::St(path), Some(notice)))
            }
            Node::Changer { number } => {
                let generic = self.generic_of(&format!("sys/class/scsi_changer/sch{number}"));
                Ok((Address::Sg(generic.ok_or_else(no_device)?), None))
            }
        }
    }

    /// All tape drives and changers, by the name of their node.
    ///
    /// # Errors
    /// What the operating system says when a class of devices is there but cannot be listed.
    pub fn list(&self) -> std::io::Result<Vec<Found>> {
        let mut devices: Vec<(PathBuf, Found)> = Vec::new();
        for class in ["scsi_generic", "scsi_tape", "scsi_changer"] {
            for node in self.nodes(class)? {
                self.add(class, &node, &mut devices);
            }
        }
        let mut found: Vec<Found> = devices.into_iter().map(|(_, found)| found).collect();
        found.sort_by_cached_key(|found| natural(&found.path));
        Ok(found)
    }

    /// The nodes of a class of devices, none when the kernel has no such class.
    fn nodes(&self, class: &str) -> std::io::Result<Vec<String>> {
        let directory = self.path(&format!("sys/class/{class}"));
        let mut nodes = match std::fs::read_dir(directory) {
            Ok(entries) => entries
                .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
                .collect::<std::io::Result<Vec<String>>>()?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        nodes.sort();
        Ok(nodes)
    }

    /// Adds a node of a class to the device it belongs to.
    fn add(&self, class: &str, node: &str, devices: &mut Vec<(PathBuf, Found)>) {
        // A tape drive has eight nodes; nstN is the one without a mode and without rewinding.
        let is_plain = match Node::parse(node) {
            Some(Node::Tape { rewinds, .. }) => {
                !rewinds && node.ends_with(|last: char| last.is_ascii_digit())
            }
            Some(_) => true,
            None => false,
        };
        // A device that was just pulled out has no directory any more.
        let device = self
            .path(&format!("sys/class/{class}/{node}/device"))
            .canonicalize();
        let (true, Ok(device)) = (is_plain, device) else {
            return;
        };
        let path = self.path("dev").join(node);
        let at = match devices.iter().position(|(other, _)| *other == device) {
            Some(at) => at,
            None => {
                let Some(found) = describe(&device, &path) else {
                    return;
                };
                devices.push((device, found));
                devices.len() - 1
            }
        };
        let found = &mut devices[at].1;
        match class {
            "scsi_generic" => found.generic = Some(path),
            _ => found.driver = Some(path),
        }
    }

    /// The SCSI generic node of the device of another node.
    fn generic_of(&self, class_node: &str) -> Option<PathBuf> {
        let directory = self.path(class_node).join("device/scsi_generic");
        let node = std::fs::read_dir(directory).ok()?.next()?.ok()?.file_name();
        Some(self.path("dev").join(node))
    }
}

/// What the kernel knows of a device, if it is a tape drive or a changer.
fn describe(device: &Path, path: &Path) -> Option<Found> {
    let attribute = |name: &str| {
        let text = std::fs::read_to_string(device.join(name)).unwrap_or_default();
        text.trim().to_owned()
    };
    let kind = match attribute("type").as_str() {
        "1" => DeviceKind::Tape,
        "8" => DeviceKind::Changer,
        _ => return None,
    };
    // The page as the device sent it: four bytes of header, then the serial number.
    let page = std::fs::read(device.join("vpd_pg80")).unwrap_or_default();
    let serial = String::from_utf8_lossy(page.get(4..).unwrap_or_default());
    let serial = serial.trim_matches(|end: char| end.is_whitespace() || end == '\0');
    Some(Found {
        path: path.to_owned(),
        kind,
        vendor: attribute("vendor"),
        model: attribute("model"),
        serial: (!serial.is_empty()).then(|| serial.to_owned()),
        generic: None,
        driver: None,
    })
}

/// The names that Linux gives to nodes of tape drives and changers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// `sgN`.
    Generic,
    /// `stN` and `nstN`, with a letter for the driver's second to fourth mode.
    Tape { number: u32, rewinds: bool },
    /// `schN`.
    Changer { number: u32 },
}

impl Node {
    pub(crate) fn parse(node: &str) -> Option<Node> {
        let number = |text: &str| text.parse::<u32>().ok();
        if let Some(rest) = node.strip_prefix("sg") {
            return number(rest).map(|_| Node::Generic);
        }
        if let Some(rest) = node.strip_prefix("sch") {
            return number(rest).map(|number| Node::Changer { number });
        }
        let (rewinds, rest) = match node.strip_prefix("nst") {
            Some(rest) => (false, rest),
            None => (true, node.strip_prefix("st")?),
        };
        let rest = rest.strip_suffix(['l', 'm', 'a']).unwrap_or(rest);
        number(rest).map(|number| Node::Tape { number, rewinds })
    }
}

/// A path such that sg10 comes after sg9.
fn natural(path: &Path) -> (String, u32) {
    let text = path.to_string_lossy();
    let name = text.trim_end_matches(|last: char| last.is_ascii_digit());
    (name.to_owned(), text[name.len()..].parse().unwrap_or(0))
}
