//! Addresses to listen at, and the name of this host.

use crate::error::CliError;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};

/// Connections at a time, whatever the system allows.
const MOST: usize = 1 << 16;

/// What an address as a person writes it means.
pub fn resolve(address: &str) -> Result<SocketAddr, CliError> {
    let mut found = address.to_socket_addrs().ok().into_iter().flatten();
    found.next().ok_or_else(|| {
        CliError::input(format!("{address} is not an address to listen at"))
            .hint("write HOST:PORT, such as 127.0.0.1:8080; port 0 takes any free port")
    })
}

/// A socket at an address, and the address with the port that it got; `option` gives another one.
pub fn bind(address: SocketAddr, option: &str) -> Result<(SocketAddr, TcpListener), CliError> {
    let bound = TcpListener::bind(address);
    let bound = bound.and_then(|socket| Ok((socket.local_addr()?, socket)));
    bound.map_err(|error| {
        CliError::failed(format!("{address}: {error}"))
            .hint(format!("{option} HOST:PORT takes another address"))
    })
}

/// How many connections are answered at a time: each takes a file, another one while one of the cache is sent, and as many
/// again may be agreeing on keys. A quarter of those that the process may have is left for catalogue, cache and drives.
/// First it takes as many as it may.
pub fn most_connections() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.maximum;
    // What it has is enough to go on.
    let _ = setrlimit(Resource::Nofile, Rlimit { current, ..limit });
    let files = getrlimit(Resource::Nofile).current;
    let connections = files.map(|files| usize::try_from(files / 4).unwrap_or(MOST));
    connections.map_or(MOST, |connections| connections.clamp(1, MOST))
}

/// The name of this host.
pub fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "localhost".to_owned(),
        name => name.to_owned(),
    }
}
