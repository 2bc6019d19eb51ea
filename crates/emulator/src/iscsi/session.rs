//! The full-feature phase of a session: commands in, data both ways, status out (RFC 7143, sections 4 and 11).

use super::connection::{Connection, Ended, Received, lock};
use super::login::Agreed;
use super::pdu::{
    Command, CommandNumber, DataOut, HEADER, Lengths, Logout, NO_TAG, NopOut, Request, Residual,
    Response, TaskManagement, Text, unit_number,
};
use super::worker::{Running, Spare, Task, Worker};
use super::{Entered, Shared, text};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// Most bytes that one command may move: more than the largest block of any drive.
const MOST_DATA: u32 = 64 << 20;

/// Reasons of a Reject (RFC 7143, 11.17.1).
const PROTOCOL_ERROR: u8 = 0x04;
const NOT_SUPPORTED: u8 = 0x05;
const INVALID_FIELD: u8 = 0x09;

/// A command whose data is still coming.
struct Incomplete {
    command: Command,
    /// As long as all of its data, of which so many bytes are there.
    data: Vec<u8>,
    filled: usize,
    is_aborted: Arc<AtomicBool>,
    /// What may come without being asked for, up to this many bytes.
    unsolicited: Option<usize>,
    /// What was asked for: the tag, and where it ends.
    asked: Option<(u32, usize)>,
    requests: u32,
}

/// Who carries out the commands of a unit.
enum Hands {
    /// A thread of its own, where commands last: pings are answered meanwhile.
    Thread(Sender<Task>, thread::JoinHandle<()>),
    /// The thread that reads from the connection, where time is virtual: handing a command to another thread takes
    /// longer than most commands do.
    Own(Worker),
}

struct Session<'a> {
    shared: &'a Arc<Shared>,
    entered: &'a Entered,
    agreed: &'a Agreed,
    connection: Connection,
    running: Running,
    incomplete: BTreeMap<u32, Incomplete>,
    spare: Spare,
    /// The units in use.
    workers: BTreeMap<u64, Hands>,
    next_transfer: u32,
    /// Text of a request that comes in several PDUs.
    text: Vec<u8>,
    has_pinged: bool,
}

/// Runs a session until it ends, and says why it did.
pub(super) fn run(shared: &Arc<Shared>, mut connection: Connection, entered: &Entered) -> Ended {
    if let Err(error) = connection.agree(&entered.agreed) {
        return Ended::Io(error);
    }
    let mut session = Session {
        shared,
        entered,
        agreed: &entered.agreed,
        connection,
        running: Running::default(),
        spare: Spare::default(),
        incomplete: BTreeMap::new(),
        workers: BTreeMap::new(),
        next_transfer: 0,
        text: Vec::new(),
        has_pinged: false,
    };
    let ended = loop {
        match session.connection.receive_header() {
            Ok(header) => {
                session.has_pinged = false;
                if let Err(ended) = session.take(header) {
                    break ended;
                }
            }
            Err(Ended::Silent) if session.is_working() => {}
            Err(Ended::Silent) if !session.has_pinged => {
                session.has_pinged = true;
                if let Err(ended) = session.ping() {
                    break ended;
                }
            }
            Err(ended) => break ended,
        }
    };
    session.close();
    ended
}

impl Session<'_> {
    fn is_working(&self) -> bool {
        !lock(&self.running).is_empty()
    }

    fn ping(&mut self) -> Result<(), Ended> {
        let ping = Response::NopIn {
            lun: 0,
            task: NO_TAG,
            target_task: 0,
        };
        self.connection.send(&ping, &[])
    }

    /// What is not answered yet will never be: nobody is there to hear it.
    fn close(mut self) {
        for (_, is_aborted) in lock(&self.running).values() {
            is_aborted.store(true, Ordering::SeqCst);
        }
        for hands in std::mem::take(&mut self.workers).into_values() {
            let Hands::Thread(tasks, worker) = hands else {
                continue;
            };
            drop(tasks);
            if worker.join().is_err() {
                self.shared
                    .log("a thread that carried out commands has failed");
            }
        }
    }

    fn take(&mut self, header: [u8; HEADER]) -> Result<(), Ended> {
        let request = Request::decode(&header);
        if let Request::DataOut(request) = request {
            return self.data_out(&request, header);
        }
        let mut pdu = self.connection.receive_rest(header)?;
        self.answer(request, &mut pdu)?;
        self.connection.reuse(pdu);
        Ok(())
    }

    fn answer(&mut self, request: Request, pdu: &mut Received) -> Result<(), Ended> {
        match request {
            Request::NopOut(nop) => self.in_turn(nop.order, |session| session.nop(&nop, pdu)),
            Request::Command(command) => {
                self.in_turn(command.order, |session| session.command(command, pdu))
            }
            Request::TaskManagement(request) => {
                self.in_turn(request.order, |session| session.manage(&request))
            }
            Request::Text(request) => {
                self.in_turn(request.order, |session| session.text(&request, pdu))
            }
            Request::Logout(request) => {
                self.in_turn(request.order, |session| session.logout(&request))
            }
            Request::DataOut(_) => self.reject(PROTOCOL_ERROR, pdu, "data out of its place"),
            Request::Login(_) => self.reject(PROTOCOL_ERROR, pdu, "a login within a session"),
            Request::Unknown(code) => {
                let what = format!("a PDU of unknown kind {code:02x}h");
                self.reject(NOT_SUPPORTED, pdu, &what)
            }
        }
    }

    /// Commands have numbers. On one connection they come in their order, so another number than the next is
    /// a repetition or nonsense, and is left alone.
    fn in_turn(
        &mut self,
        order: CommandNumber,
        run: impl FnOnce(&mut Self) -> Result<(), Ended>,
    ) -> Result<(), Ended> {
        if !order.immediate {
            let mut outgoing = self.connection.outgoing();
            let expected = outgoing.expected_command();
            if order.number != expected {
                drop(outgoing);
                let line = format!(
                    "a command with number {}, and {expected} is next: left alone",
                    order.number
                );
                self.log(&line);
                return Ok(());
            }
            outgoing.advance_command();
        }
        run(self)
    }

    fn log(&self, line: &str) {
        self.shared
            .log(&format!("{}: {line}", self.entered.agreed.initiator));
    }

    fn reject(&self, reason: u8, pdu: &Received, why: &str) -> Result<(), Ended> {
        self.log(&format!("rejected {why}"));
        self.connection
            .send(&Response::Reject { reason }, &pdu.header)
    }

    fn nop(&mut self, nop: &NopOut, pdu: &Received) -> Result<(), Ended> {
        if nop.task == NO_TAG {
            // An answer to a ping of ours.
            return Ok(());
        }
        let echo = &pdu.data[..pdu.data.len().min(self.agreed.send_most)];
        let answer = Response::NopIn {
            lun: nop.lun,
            task: nop.task,
            target_task: NO_TAG,
        };
        self.connection.send(&answer, echo)
    }

    fn logout(&mut self, request: &Logout) -> Result<(), Ended> {
        let response = match request.reason {
            0 => 0,
            1 if request.connection == self.entered.connection => 0,
            // A connection that is not here; recovery, which level 0 has not.
            1 => 1,
            _ => 2,
        };
        let answer = Response::Logout {
            task: request.task,
            response,
        };
        self.connection.send(&answer, &[])?;
        match response {
            0 => Err(Ended::LoggedOut),
            _ => Ok(()),
        }
    }

    fn text(&mut self, request: &Text, pdu: &Received) -> Result<(), Ended> {
        self.text.extend(&pdu.data);
        if self.text.len() > text::MOST {
            return Err(Ended::Protocol(
                "more text than a request may have".to_owned(),
            ));
        }
        let mut answers = Vec::new();
        if !request.continues {
            let pairs = text::parse(&std::mem::take(&mut self.text)).map_err(Ended::Protocol)?;
            for (key, value) in &pairs {
                match key.as_str() {
                    "SendTargets" => self.send_targets(value, &mut answers),
                    _ => answers.push((key.clone(), "NotUnderstood".to_owned())),
                }
            }
        }
        let answer = Response::Text { task: request.task };
        self.connection.send(&answer, &text::encode(&answers))
    }

    /// All targets, or the one that is named, or in a normal session the one in use: there is one.
    fn send_targets(&self, which: &str, answers: &mut Vec<(String, String)>) {
        let is_meant = which == "All" || which == self.shared.name || which.is_empty();
        if is_meant {
            answers.push(("TargetName".to_owned(), self.shared.name.clone()));
            if let Some(address) = self.connection.local_address() {
                answers.push(("TargetAddress".to_owned(), format!("{address},1")));
            }
        }
    }

    fn command(&mut self, command: Command, pdu: &mut Received) -> Result<(), Ended> {
        if self.agreed.is_discovery {
            return self.reject(PROTOCOL_ERROR, pdu, "a SCSI command in a discovery session");
        }
        if command.reads && command.writes {
            return self.reject(NOT_SUPPORTED, pdu, "a command that moves data both ways");
        }
        if self.incomplete.contains_key(&command.task)
            || lock(&self.running).contains_key(&command.task)
        {
            return self.reject(INVALID_FIELD, pdu, "a command whose tag is in use");
        }
        if command.expected > MOST_DATA || self.connection.outgoing().is_full() {
            let refused = Response::Scsi {
                task: command.task,
                status: if command.expected > MOST_DATA {
                    0x02
                } else {
                    0x28
                },
                response: 0,
                residual: Residual::of(command.expected, 0),
                data_sent: 0,
            };
            // Invalid field in CDB: no drive takes so much at once.
            let sense: [u8; 20] = [
                0, 18, 0x70, 0, 5, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x24, 0, 0, 0, 0, 0,
            ];
            let sense = if command.expected > MOST_DATA {
                &sense[..]
            } else {
                &[]
            };
            return self.connection.send(&refused, sense);
        }
        let expected = command.expected as usize;
        let is_allowed = pdu.data.is_empty() || (command.writes && self.agreed.immediate_data);
        if !is_allowed || pdu.data.len() > expected.min(self.agreed.first_burst) {
            return self.reject(PROTOCOL_ERROR, pdu, "immediate data that was not agreed to");
        }
        let is_aborted = Arc::new(AtomicBool::new(false));
        lock(&self.running).insert(command.task, (command.lun, Arc::clone(&is_aborted)));
        self.connection.outgoing().begin();
        if !command.writes || pdu.data.len() == expected {
            return self.start(Task {
                command,
                data: std::mem::take(&mut pdu.data),
                is_aborted,
            });
        }
        let unsolicited = (!command.is_final && !self.agreed.initial_r2t)
            .then_some(expected.min(self.agreed.first_burst));
        let mut data = self.room(expected);
        data[..pdu.data.len()].copy_from_slice(&pdu.data);
        let mut incomplete = Incomplete {
            command,
            data,
            filled: pdu.data.len(),
            is_aborted,
            unsolicited,
            asked: None,
            requests: 0,
        };
        if unsolicited.is_none() {
            self.ask(&mut incomplete)?;
        }
        self.incomplete.insert(command.task, incomplete);
        Ok(())
    }

    /// Room for the data of a command. Fresh room is taken from the system as it fills: what is only announced
    /// costs no memory.
    fn room(&self, bytes: usize) -> Vec<u8> {
        let spare = lock(&self.spare).pop();
        match spare.filter(|spare| spare.capacity() >= bytes) {
            Some(mut spare) => {
                spare.resize(bytes, 0);
                spare
            }
            None => vec![0; bytes],
        }
    }

    /// Asks for the next burst.
    fn ask(&mut self, incomplete: &mut Incomplete) -> Result<(), Ended> {
        let offset = incomplete.filled;
        let length = (incomplete.data.len() - offset).min(self.agreed.max_burst);
        let target_task = self.next_transfer;
        self.next_transfer = (self.next_transfer + 1) % NO_TAG;
        incomplete.asked = Some((target_task, offset + length));
        let request = Response::ReadyToTransfer {
            lun: incomplete.command.lun,
            task: incomplete.command.task,
            target_task,
            number: incomplete.requests,
            offset: offset as u32,
            length: length as u32,
        };
        incomplete.requests += 1;
        self.connection.send(&request, &[])
    }

    /// Data goes straight to where its command keeps it.
    fn data_out(&mut self, request: &DataOut, header: [u8; HEADER]) -> Result<(), Ended> {
        let Some(mut incomplete) = self.incomplete.remove(&request.task) else {
            // Of a command that was aborted, as a rule.
            self.log("data for a command that does not wait for any: left alone");
            let pdu = self.connection.receive_rest(header)?;
            self.connection.reuse(pdu);
            return Ok(());
        };
        let limit = match (incomplete.asked, incomplete.unsolicited) {
            (Some((tag, end)), _) if tag == request.target_task => end,
            (None, Some(end)) if request.target_task == NO_TAG => end,
            _ => return Err(Ended::Protocol("data that nobody asked for".to_owned())),
        };
        let here = incomplete.filled;
        let end = here + Lengths::of(&header).data;
        if request.offset as usize != here || end > limit {
            return Err(Ended::Protocol(format!(
                "data for bytes {} to {}, and those from {here} to {limit} were due",
                request.offset,
                request.offset as usize + end - here
            )));
        }
        self.connection
            .receive_data(&mut incomplete.data[here..end])?;
        incomplete.filled = end;
        if end == incomplete.data.len() && request.is_final {
            return self.start(Task {
                command: incomplete.command,
                data: incomplete.data,
                is_aborted: incomplete.is_aborted,
            });
        }
        if request.is_final {
            if incomplete.asked.is_some() && end < limit {
                return Err(Ended::Protocol("less data than was asked for".to_owned()));
            }
            self.ask(&mut incomplete)?;
        } else if here == limit {
            return Err(Ended::Protocol("data without end".to_owned()));
        }
        self.incomplete.insert(request.task, incomplete);
        Ok(())
    }

    /// Hands a command to whoever carries out those of its unit.
    fn start(&mut self, task: Task) -> Result<(), Ended> {
        let lun = task.command.lun;
        if !self.workers.contains_key(&lun) {
            let hands = self.new_hands(lun).map_err(Ended::Io)?;
            self.workers.insert(lun, hands);
        }
        match self.workers.get_mut(&lun) {
            Some(Hands::Own(worker)) => worker.answer(task).map_err(Ended::Io),
            Some(Hands::Thread(tasks, _)) if tasks.send(task).is_ok() => Ok(()),
            _ => Err(Ended::Protocol("the thread of a unit has ended".to_owned())),
        }
    }

    fn new_hands(&self, lun: u64) -> std::io::Result<Hands> {
        let number = unit_number(lun);
        let nexus = number.and_then(|number| self.shared.units.open(number, &self.entered.port));
        let worker = Worker {
            shared: Arc::clone(self.shared),
            unit: number.zip(nexus),
            outgoing: self.connection.way_out(),
            running: Arc::clone(&self.running),
            spare: Arc::clone(&self.spare),
            send_most: self.agreed.send_most,
            max_burst: self.agreed.max_burst,
            room: Vec::new(),
        };
        if self.shared.units.is_virtual() {
            return Ok(Hands::Own(worker));
        }
        let (sender, receiver) = channel();
        let handle = thread::Builder::new()
            .name("iscsi unit".to_owned())
            .spawn(move || worker.run(&receiver))?;
        Ok(Hands::Thread(sender, handle))
    }

    fn manage(&mut self, request: &TaskManagement) -> Result<(), Ended> {
        const COMPLETE: u8 = 0;
        const NO_SUCH_TASK: u8 = 1;
        const NO_SUCH_UNIT: u8 = 2;
        const UNKNOWN_FUNCTION: u8 = 5;
        let unit = unit_number(request.lun).filter(|&number| number < self.shared.units.count());
        let response = match (request.function, unit) {
            (1, _) => match self.abort(|task, _| task == request.referenced) {
                0 => NO_SUCH_TASK,
                _ => COMPLETE,
            },
            (2 | 4 | 5, None) => NO_SUCH_UNIT,
            (2 | 4, _) => {
                self.abort(|_, lun| lun == request.lun);
                COMPLETE
            }
            (5, Some(number)) => {
                self.abort(|_, lun| lun == request.lun);
                self.shared.units.reset(Some(number));
                COMPLETE
            }
            (6 | 7, _) => {
                self.abort(|_, _| true);
                self.shared.units.reset(None);
                COMPLETE
            }
            _ => UNKNOWN_FUNCTION,
        };
        self.log(&format!(
            "task management function {} answered with {response}",
            request.function
        ));
        let answer = Response::TaskManagement {
            task: request.task,
            response,
        };
        self.connection.send(&answer, &[])?;
        match (request.function, response) {
            // A cold reset ends all sessions.
            (7, COMPLETE) => Err(Ended::Protocol("a cold reset".to_owned())),
            _ => Ok(()),
        }
    }

    /// Aborts commands: those that wait for data are dropped, those under way are not answered.
    fn abort(&mut self, is_meant: impl Fn(u32, u64) -> bool) -> usize {
        let mut aborted = 0;
        for (&task, (lun, is_aborted)) in lock(&self.running).iter() {
            if is_meant(task, *lun) {
                is_aborted.store(true, Ordering::SeqCst);
                aborted += 1;
            }
        }
        let dropped: Vec<u32> = self
            .incomplete
            .values()
            .filter(|one| is_meant(one.command.task, one.command.lun))
            .map(|one| one.command.task)
            .collect();
        for task in dropped {
            self.incomplete.remove(&task);
            lock(&self.running).remove(&task);
            self.connection.outgoing().end();
        }
        aborted
    }
}
