//! One unit of a session: carries out its commands, one after the other, and sends what they bring.

use super::Shared;
use super::connection::{Outgoing, lock};
use super::pdu::{Command, Residual, Response};
use super::units::{Nexus, absent};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use tapewise_scsi::{Completion, Data, Status};

/// A command with all its data.
pub(super) struct Task {
    pub(super) command: Command,
    pub(super) data: Vec<u8>,
    pub(super) is_aborted: Arc<AtomicBool>,
}

/// Commands that are under way, by their tags.
pub(super) type Running = Arc<Mutex<BTreeMap<u32, (u64, Arc<AtomicBool>)>>>;

/// Room that commands have used for their data, for the next ones.
pub(super) type Spare = Arc<Mutex<Vec<Vec<u8>>>>;

/// Carries out the commands of one unit of a session.
pub(super) struct Worker {
    pub(super) shared: Arc<Shared>,
    /// Its number, and the session's way to it; none for a unit that is not there.
    pub(super) unit: Option<(usize, Nexus)>,
    pub(super) outgoing: Arc<Mutex<Outgoing>>,
    pub(super) running: Running,
    pub(super) spare: Spare,
    pub(super) send_most: usize,
    pub(super) max_burst: usize,
    /// Room for what is read, kept from command to command.
    pub(super) room: Vec<u8>,
}

impl Worker {
    pub(super) fn run(mut self, tasks: &Receiver<Task>) {
        while let Ok(task) = tasks.recv() {
            // The reader of the connection notices that it is gone.
            if self.answer(task).is_err() {
                return;
            }
        }
    }

    /// Carries out a command and sends what it brings, unless it was aborted.
    ///
    /// # Errors
    /// Those of the connection.
    pub(super) fn answer(&mut self, mut task: Task) -> std::io::Result<()> {
        /// As many as one host that writes keeps in turn.
        const MOST_SPARE: usize = 2;
        /// What is larger is given back: a session must not keep more than it needs.
        const MOST_SPARE_BYTES: usize = 4 << 20;
        let is_aborted = Arc::clone(&task.is_aborted);
        let is_dropped = || is_aborted.load(Ordering::SeqCst);
        let answer = (!is_dropped()).then(|| self.carry_out(&task));
        let mut spare = lock(&self.spare);
        if (1..=MOST_SPARE_BYTES).contains(&task.data.capacity()) && spare.len() < MOST_SPARE {
            spare.push(std::mem::take(&mut task.data));
        }
        drop(spare);
        let mut outgoing = lock(&self.outgoing);
        lock(&self.running).remove(&task.command.task);
        outgoing.end();
        let Some(completion) = answer.filter(|_| !is_dropped()) else {
            return Ok(());
        };
        send(
            &mut outgoing,
            &task.command,
            completion,
            &self.room,
            self.send_most,
            self.max_burst,
        )
    }

    /// Carries out a command; `None` when the target itself has failed.
    fn carry_out(&mut self, task: &Task) -> Option<Completion> {
        let command = &task.command;
        let expected = if command.reads {
            command.expected as usize
        } else {
            0
        };
        if self.room.len() < expected {
            self.room.resize(expected, 0);
        }
        let cdb = command.cdb();
        let room = &mut self.room[..expected];
        let Some((number, nexus)) = &mut self.unit else {
            if cdb.opcode() == 0xa0 {
                return Some(self.shared.units.report(room, &cdb));
            }
            return Some(absent(&cdb, room));
        };
        if cdb.opcode() == 0xa0 {
            return Some(self.shared.units.report(room, &cdb));
        }
        let data = match (command.reads, command.writes) {
            (true, _) => Data::In(room),
            (_, true) => Data::Out(&task.data),
            _ => Data::None,
        };
        match self.shared.units.execute(*number, nexus, &cdb, data) {
            Ok(completion) => Some(completion),
            Err(error) => {
                self.shared.log(&format!("unit {number}: {error}"));
                None
            }
        }
    }
}

/// Sends what a command has brought: data in PDUs and bursts as agreed, then its status.
fn send(
    outgoing: &mut Outgoing,
    command: &Command,
    completion: Option<Completion>,
    room: &[u8],
    send_most: usize,
    max_burst: usize,
) -> std::io::Result<()> {
    let Some(completion) = completion else {
        let failed = Response::Scsi {
            task: command.task,
            status: 0,
            response: 1,
            residual: Residual::None,
            data_sent: 0,
        };
        return outgoing.send(&failed, &[]);
    };
    let moved = completion.transferred;
    let residual = Residual::of(command.expected, moved);
    let data = if command.reads {
        &room[..moved.min(room.len())]
    } else {
        &[]
    };
    let is_good = completion.status == Status::Good;
    let (mut offset, mut number) = (0, 0);
    while offset < data.len() {
        let burst_left = max_burst - offset % max_burst;
        let end = data.len().min(offset + send_most.min(burst_left));
        let is_last = end == data.len();
        let part = Response::DataIn {
            lun: command.lun,
            task: command.task,
            number,
            offset: offset as u32,
            is_final: is_last || end % max_burst == 0,
            status: (is_last && is_good).then_some(residual),
        };
        outgoing.send(&part, &data[offset..end])?;
        (offset, number) = (end, number + 1);
    }
    if is_good && number > 0 {
        return Ok(());
    }
    let status = Response::Scsi {
        task: command.task,
        status: completion.status.into(),
        response: 0,
        residual,
        data_sent: number,
    };
    let bytes = completion.sense.bytes();
    let mut sense = Vec::with_capacity(2 + bytes.len());
    if !bytes.is_empty() {
        sense.extend((bytes.len() as u16).to_be_bytes());
        sense.extend(bytes);
    }
    outgoing.send(&status, &sense)
}
