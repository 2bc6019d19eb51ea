//! What a service tells systemd (sd_notify(3)): that it is ready, that it is alive, that it ends. If systemd did not
//! start the service, nobody listens and nothing is sent.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};
use tapewise_serve::Work;

/// A drives' side that gives no sign of life for longer hangs. A locate may take 49 minutes until it times out, an
/// inventory an hour, and a part of a long file an hour to be read.
const LONGEST_SILENCE: Duration = Duration::from_secs(4 * 3600);

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

/// Tells the manager now and then that this program is alive: twice in the time that the manager waits.
pub struct Pulse {
    /// None where nobody wants to hear it.
    pause: Option<Duration>,
    last: Instant,
}

impl Pulse {
    /// As the manager wants it.
    pub fn begin() -> Pulse {
        let us = std::env::var("WATCHDOG_USEC").ok();
        let us: Option<u64> = us.and_then(|us| us.parse().ok());
        let pause = us.map(|us| Duration::from_micros(us / 2));
        Pulse {
            pause: pause.filter(|pause| !pause.is_zero()),
            last: Instant::now(),
        }
    }

    /// Says it if it is time, unless the drives' side hangs.
    pub fn beat(&mut self, work: &Work) {
        let is_due = self.pause.is_some_and(|pause| self.last.elapsed() >= pause);
        if is_due && work.silence() < LONGEST_SILENCE {
            self.last = Instant::now();
            notify("WATCHDOG=1");
        }
    }
}
