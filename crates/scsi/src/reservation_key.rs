//! Whose a reservation is, as far as its key tells.
//!
//! A key is eight bytes that the initiator chooses. Ours are `TW`, three bytes for the host and three
//! for the process, so that a later run on the same host knows whether the holder still lives; those of movers are
//! [`LeaseKey`]s. LTFS
//! (the reference implementation, `ibm_tape_genkey`) puts an address or the host's name into its keys.

use crate::device::Host;
use crate::holder::{Holder, Owner};
use crate::lease_key::LeaseKey;
use crate::reservation_type::ReservationType;
use std::net::Ipv4Addr;

/// First bytes of our keys.
const OURS: u64 = 0x5457; // TW
const LTFS_HOST: u8 = 0x10;
const LTFS_IPV4: u8 = 0x40;
const LTFS_IPV6: u8 = 0x60;

impl Host {
    /// The key under which this process reserves drives.
    pub fn reservation_key(&self) -> u64 {
        self.key_of_process(std::process::id())
    }

    /// The key under which a process of this host reserves drives.
    pub fn key_of_process(&self, pid: u32) -> u64 {
        OURS << 48 | u64::from(self.number()) << 24 | u64::from(pid & 0x00ff_ffff)
    }

    /// Whose a key is.
    pub fn owner_of(&self, key: u64) -> Owner {
        let pid = (key & 0x00ff_ffff) as u32;
        if key >> 48 == OURS {
            return if key == self.key_of_process(pid) {
                Owner::Process {
                    pid,
                    runs: self.runs(pid),
                }
            } else {
                Owner::OtherHost
            };
        }
        if let Some(lease) = LeaseKey::of_key(key) {
            return Owner::Mover(lease);
        }
        let bytes = key.to_be_bytes();
        match bytes {
            [LTFS_IPV4, 0, 0, 0, a, b, c, d] => {
                let address = Ipv4Addr::new(a, b, c, d);
                Owner::Ltfs {
                    on: address.to_string(),
                    is_this_host: self.addresses().contains(&address),
                }
            }
            [LTFS_IPV6, rest @ ..] => {
                let rest: Vec<String> = rest.iter().map(|byte| format!("{byte:02x}")).collect();
                Owner::Ltfs {
                    on: format!("an IPv6 address that ends in {}", rest.join(" ")),
                    is_this_host: false,
                }
            }
            [LTFS_HOST, name @ ..] => {
                let name = String::from_utf8_lossy(&name)
                    .trim_end_matches('\0')
                    .to_owned();
                let own = self.read("proc/sys/kernel/hostname");
                let own: String = own.trim().chars().take(7).collect();
                if name.is_empty() || !name.chars().all(|c| c.is_ascii_graphic()) {
                    Owner::Unknown
                } else {
                    Owner::Ltfs {
                        is_this_host: name == own,
                        on: name,
                    }
                }
            }
            _ => Owner::Unknown,
        }
    }

    /// Whether a process runs. One that has ended, and whose parent has not asked how (`Z`), runs no more: in
    /// a container whose first process asks for nobody it would stand there for good.
    fn runs(&self, pid: u32) -> bool {
        let is_listed = self.path(&format!("proc/{pid}")).exists();
        let stat = self.read(&format!("proc/{pid}/stat"));
        // The name before the state may hold anything, parentheses too.
        let state = stat
            .rsplit(") ")
            .next()
            .and_then(|rest| rest.chars().next());
        is_listed && !matches!(state, Some('Z' | 'X'))
    }

    /// The holder of a reservation with this key.
    pub fn holder_of(&self, key: u64, kind: ReservationType) -> Holder {
        Holder::Reservation {
            held: Some((key, kind)),
            owner: self.owner_of(key),
        }
    }

    /// 24 bits that tell this host, and this container on it, from others. Process numbers of two
    /// containers are not comparable. Hosts that were cloned may share the machine's number, so the name counts too. What
    /// changes with each start does not: a reservation that was left before a restart is still one of this host.
    fn number(&self) -> u32 {
        let machine = self.read("etc/machine-id");
        let name = self.read("proc/sys/kernel/hostname");
        let container = std::fs::read_link(self.path("proc/self/ns/pid")).unwrap_or_default();
        let text = format!("{} {} {}", machine.trim(), name.trim(), container.display());
        crc32fast::hash(text.as_bytes()) & 0x00ff_ffff
    }

    /// The IPv4 addresses of this host: each has a line `/32 host LOCAL` below it.
    fn addresses(&self) -> Vec<Ipv4Addr> {
        let text = self.read("proc/net/fib_trie");
        let mut last: Option<Ipv4Addr> = None;
        let mut addresses = Vec::new();
        for line in text.lines().map(str::trim) {
            if let Some(address) = line.strip_prefix("|-- ") {
                last = address.parse().ok();
            } else if line.contains("host LOCAL") {
                addresses.extend(last.take());
            }
        }
        addresses
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_default()
    }
}
