//! An open library as an iSCSI target (RFC 7143): whoever speaks iSCSI reaches its drives and its robot.
//!
//! One thread accepts connections and one reads from each. On a virtual clock that one carries out the commands too;
//! where commands last, every logical unit that a session uses has a thread that carries out its commands, so that
//! a locate of a minute keeps no ping waiting. A session is one connection,
//! error recovery is level 0: what goes wrong on a connection ends it, and nothing else. Each session is an initiator
//! of its own to the drives (SAM: an I_T nexus), with its own unit attentions and reservations; an initiator that comes
//! back under the same name and session identifier is the same one.
//!
//! With a robot, unit 0 is the robot and the drives are the units from 1; without one the drives are the units from 0.

mod connection;
mod hear;
mod login;
mod pdu;
mod session;
mod text;
mod units;
mod worker;

pub use hear::hear;
pub use login::Chap;

use crate::library::Library;
use connection::{Connection, Ended};
use login::{LoginPhase, Refused, status};
use pdu::{Request, Response};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use units::Units;

/// How long a login may take from one PDU to the next.
const LOGIN_TIME: Duration = Duration::from_secs(15);
/// An initiator that takes nothing for so long is gone.
const WRITE_TIME: Duration = Duration::from_secs(60);
/// Connections at once: logins under way and sessions.
const MOST_CONNECTIONS: usize = 64;

/// Where a target writes what happens on it: one line each.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// How a target is set up.
pub struct TargetOptions {
    /// What an initiator has to prove; nobody has to when there is none.
    pub chap: Option<Chap>,
    /// Where lines of the log go.
    pub log: Log,
}

/// A library behind an address, until it is stopped.
pub struct IscsiTarget {
    shared: Arc<Shared>,
    address: SocketAddr,
    accepting: Option<JoinHandle<()>>,
}

/// What all connections of a target share.
struct Shared {
    name: String,
    options: TargetOptions,
    units: Units,
    stopping: AtomicBool,
    connections: AtomicUsize,
    next_session: AtomicU16,
    next_connection: AtomicUsize,
    open: Mutex<Open>,
}

/// The connections that are open, by number, and which of them are sessions of which initiator.
#[derive(Default)]
struct Open {
    streams: BTreeMap<usize, TcpStream>,
    sessions: BTreeMap<String, usize>,
}

impl IscsiTarget {
    /// Serves a library at an address; port 0 takes any that is free.
    ///
    /// # Errors
    /// Those of the operating system when the address cannot be had.
    pub fn serve(
        library: &Library,
        address: impl ToSocketAddrs,
        options: TargetOptions,
    ) -> io::Result<IscsiTarget> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let serial = library.spec().serial.to_lowercase();
        let shared = Arc::new(Shared {
            name: format!("iqn.2026-11.net.tapewise:{serial}"),
            options,
            units: Units::new(library.clone()),
            stopping: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
            next_session: AtomicU16::new(1),
            next_connection: AtomicUsize::new(0),
            open: Mutex::default(),
        });
        let accepting = {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name("iscsi accept".to_owned())
                .spawn(move || accept(&listener, &shared))?
        };
        Ok(IscsiTarget {
            shared,
            address,
            accepting: Some(accepting),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// The logical units with what they are: their numbers are those of the list.
    pub fn units(&self) -> Vec<String> {
        self.shared.units.names()
    }

    /// Sessions and logins under way.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Ends all sessions and listens no more.
    pub fn stop(&mut self) {
        let Some(accepting) = self.accepting.take() else {
            return;
        };
        self.shared.stopping.store(true, Ordering::SeqCst);
        // A connection of our own wakes the thread that accepts. Whatever comes of it, that thread ends next time.
        let mut own = self.address;
        if own.ip().is_unspecified() {
            own.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        let woken = TcpStream::connect_timeout(&own, Duration::from_secs(1)).is_ok();
        for stream in self.shared.open().streams.values() {
            // A connection that is gone already needs no end.
            let _ = stream.shutdown(Shutdown::Both);
        }
        if woken {
            // Its only end is to return.
            let _ = accepting.join();
        }
    }
}

impl Drop for IscsiTarget {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn log(&self, line: &str) {
        (self.options.log)(line);
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number for a session, never 0.
    fn new_session(&self) -> u16 {
        match self.next_session.fetch_add(1, Ordering::SeqCst) {
            0 => self.next_session.fetch_add(1, Ordering::SeqCst),
            number => number,
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    // A flood must not fill the log.
    let mut refused = 0;
    while !shared.stopping.load(Ordering::SeqCst) {
        let (stream, peer) = match listener.accept() {
            Ok(accepted) => accepted,
            Err(error) => {
                shared.log(&format!("cannot accept a connection: {error}"));
                // Out of descriptors, as a rule: some will be closed.
                thread::sleep(Duration::from_millis(50));
                continue;
            }
        };
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        if shared.connections.load(Ordering::SeqCst) >= MOST_CONNECTIONS {
            if refused == 0 {
                shared.log(&format!(
                    "{peer}: refused, {MOST_CONNECTIONS} connections are open"
                ));
            }
            refused += 1;
            continue;
        }
        if refused > 1 {
            shared.log(&format!("{} more connections were refused", refused - 1));
        }
        refused = 0;
        shared.connections.fetch_add(1, Ordering::SeqCst);
        let number = shared.next_connection.fetch_add(1, Ordering::SeqCst);
        if let Ok(copy) = stream.try_clone() {
            shared.open().streams.insert(number, copy);
        }
        let own = Arc::clone(shared);
        let started = thread::Builder::new()
            .name(format!("iscsi {peer}"))
            .spawn(move || {
                let _leaving = Leaving(&own, number);
                serve(&own, stream, peer, number);
            });
        if let Err(error) = started {
            shared.log(&format!("{peer}: no thread for it: {error}"));
            forget(shared, number);
        }
    }
}

/// Whatever ends the thread of a connection, the connection no longer counts.
struct Leaving<'a>(&'a Shared, usize);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        forget(self.0, self.1);
    }
}

fn forget(shared: &Shared, number: usize) {
    let mut open = shared.open();
    open.streams.remove(&number);
    open.sessions.retain(|_, connection| *connection != number);
    drop(open);
    shared.connections.fetch_sub(1, Ordering::SeqCst);
}

/// One connection from its beginning to its end.
fn serve(shared: &Arc<Shared>, stream: TcpStream, peer: SocketAddr, number: usize) {
    let prepared = stream
        .set_nodelay(true)
        .and_then(|()| stream.set_read_timeout(Some(LOGIN_TIME)))
        .and_then(|()| stream.set_write_timeout(Some(WRITE_TIME)))
        .and_then(|()| Connection::new(stream));
    let mut connection = match prepared {
        Ok(connection) => connection,
        Err(error) => return shared.log(&format!("{peer}: {error}")),
    };
    let entered = match log_in(shared, &mut connection) {
        Ok(entered) => entered,
        // Whoever only looks whether somebody listens is not worth a line.
        Err(Ended::Closed) => return,
        Err(ended) => return shared.log(&format!("{peer}: login failed: {ended}")),
    };
    let who = format!("{peer} {}", entered.agreed.initiator);
    let kind = if entered.agreed.is_discovery {
        "discovery"
    } else {
        "session"
    };
    shared.log(&format!("{who}: {kind} {} begins", entered.session));
    if !entered.agreed.is_discovery {
        let mut open = shared.open();
        let before = open.sessions.insert(entered.port.clone(), number);
        // The same initiator port: its old session is over (RFC 7143, 6.3.5).
        if let Some(old) = before.and_then(|before| open.streams.get(&before)) {
            let _ = old.shutdown(Shutdown::Both);
            shared.log(&format!(
                "{who}: takes the place of an earlier session of the same port"
            ));
        }
    }
    let ended = session::run(shared, connection, &entered);
    shared.log(&format!("{who}: {kind} {} ends: {ended}", entered.session));
}

/// A login that went well.
struct Entered {
    agreed: login::Agreed,
    session: u16,
    connection: u16,
    /// Initiator name and session identifier: the name of the initiator's port.
    port: String,
}

fn log_in(shared: &Shared, connection: &mut Connection) -> Result<Entered, Ended> {
    let mut challenge = [0; 16];
    File::open("/dev/urandom")
        .and_then(|mut random| random.read_exact(&mut challenge))
        .map_err(Ended::Io)?;
    let mut phase = LoginPhase::new(&shared.name, shared.options.chap.as_ref(), challenge);
    let mut collected: Vec<u8> = Vec::new();
    let mut session = None;
    loop {
        let pdu = connection.receive()?;
        let Request::Login(request) = Request::decode(&pdu.header) else {
            let why = format!(
                "a PDU of kind {:02x}h before the login was over",
                pdu.header[0] & 0x3f
            );
            return Err(Ended::Protocol(why));
        };
        if session.is_none() {
            connection.outgoing().start(request.order.number);
        }
        let answer = |step: Result<&login::Step, u16>, session: u16| Response::Login {
            transits: step.is_ok_and(|step| step.transits),
            stage: request.stage,
            next_stage: request.next_stage,
            isid: request.isid,
            session,
            task: request.task,
            status: step.err().unwrap_or(status::SUCCESS),
        };
        collected.extend(&pdu.data);
        let step = if request.session != 0 {
            Err(Refused::new(
                status::TOO_MANY_CONNECTIONS,
                "wanted to add a connection to a session; sessions here have one",
            ))
        } else if collected.len() > text::MOST {
            Err(Refused::new(
                status::OUT_OF_RESOURCES,
                "sent more text than a login may have",
            ))
        } else if request.continues {
            let more = login::Step {
                transits: false,
                pairs: Vec::new(),
                is_done: false,
            };
            connection.send(&answer(Ok(&more), 0), &[])?;
            session = session.or(Some(0));
            continue;
        } else {
            text::parse(&collected)
                .map_err(|why| Refused::new(status::INITIATOR_ERROR, why))
                .and_then(|pairs| phase.step(&request, &pairs))
        };
        collected.clear();
        session = session.or(Some(0));
        match step {
            Ok(step) => {
                let number = if step.is_done {
                    shared.new_session()
                } else {
                    0
                };
                connection.send(&answer(Ok(&step), number), &text::encode(&step.pairs))?;
                if step.is_done {
                    let agreed = phase.agreed().clone();
                    return Ok(Entered {
                        port: format!("{},i,{:02x?}", agreed.initiator, request.isid),
                        agreed,
                        session: number,
                        connection: request.connection,
                    });
                }
            }
            Err(refused) => {
                connection.send(&answer(Err(refused.status), 0), &[])?;
                return Err(Ended::Refused(refused.why));
            }
        }
    }
}
