//! What a service tells systemd (sd_notify(3)): that it is ready, that it is alive, that it ends. If systemd did not
//! start the service, nobody listens and nothing is sent.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// Tells the manager of services, if there is one. One that does not listen is no reason to end.
pub fn notify(state: &str) {
    let Ok(name) = std::env::var("NOTIFY_SOCKET") else {
        return;
    };
    let address = match name.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&name),
    };
    let sent = address.and_then(|address| {
        let socket = UnixDatagram::unbound()?;
        socket.send_to_addr(state.as_bytes(), &address)
    });
    // Not said: without its READY the manager ends the service by itself, and says why.
    let _ = sent;
}

/// How often the manager wants to hear that this program is alive: twice in the time that it waits.
pub fn watchdog() -> Option<Duration> {
    let us: u64 = std::env::var("WATCHDOG_USEC").ok()?.parse().ok()?;
    Some(Duration::from_micros(us / 2)).filter(|pause| !pause.is_zero())
}
