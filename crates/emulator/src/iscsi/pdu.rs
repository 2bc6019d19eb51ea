//! The protocol data units of iSCSI as values (RFC 7143, section 11): what an initiator sends is decoded from the
//! 48 bytes of its basic header segment, what the target sends is encoded into such bytes.

use tapewise_scsi::Cdb;

/// Length of a basic header segment.
pub(crate) const HEADER: usize = 48;

/// A task tag that stands for none.
pub(crate) const NO_TAG: u32 = 0xffff_ffff;

/// What an initiator sends. The data segment comes apart from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    NopOut(NopOut),
    Command(Command),
    TaskManagement(TaskManagement),
    Login(Login),
    Text(Text),
    DataOut(DataOut),
    Logout(Logout),
    /// A header that is none of these: its operation code.
    Unknown(u8),
}

/// NOP-Out: a ping, or the answer to ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NopOut {
    pub lun: u64,
    pub task: u32,
    pub target_task: u32,
    pub order: CommandNumber,
}

/// SCSI Command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    /// No unsolicited Data-Out follows.
    pub is_final: bool,
    pub reads: bool,
    pub writes: bool,
    pub lun: u64,
    pub task: u32,
    /// Bytes that the initiator expects to move.
    pub expected: u32,
    pub order: CommandNumber,
    pub cdb: [u8; 16],
}

/// Task Management Function Request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskManagement {
    pub function: u8,
    pub lun: u64,
    pub task: u32,
    /// The task that is meant.
    pub referenced: u32,
    pub order: CommandNumber,
}

/// Login Request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Login {
    /// The initiator wants to go on to the next stage.
    pub transits: bool,
    /// More text follows in the next PDU.
    pub continues: bool,
    pub stage: u8,
    pub next_stage: u8,
    /// The lowest version that the initiator speaks.
    pub version_min: u8,
    pub isid: [u8; 6],
    /// 0 for a new session.
    pub session: u16,
    pub task: u32,
    pub connection: u16,
    pub order: CommandNumber,
}

/// Text Request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub is_final: bool,
    pub continues: bool,
    pub task: u32,
    pub target_task: u32,
    pub order: CommandNumber,
}

/// SCSI Data-Out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataOut {
    pub is_final: bool,
    pub task: u32,
    /// [`NO_TAG`] for data that no R2T asked for.
    pub target_task: u32,
    pub offset: u32,
}

/// Logout Request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Logout {
    /// 0 closes the session, 1 the connection, 2 removes the connection for recovery.
    pub reason: u8,
    pub task: u32,
    pub connection: u16,
    pub order: CommandNumber,
}

/// Where a request stands in the order of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommandNumber {
    /// To be handled at once; its number is not used up.
    pub immediate: bool,
    pub number: u32,
}

/// The lengths that a header announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lengths {
    /// Bytes of additional header segments.
    pub additional: usize,
    /// Bytes of data, without padding.
    pub data: usize,
}

impl Lengths {
    pub fn of(header: &[u8; HEADER]) -> Lengths {
        Lengths {
            additional: usize::from(header[4]) * 4,
            data: word(header, 4) as usize & 0x00ff_ffff,
        }
    }
}

fn word(header: &[u8; HEADER], at: usize) -> u32 {
    header[at..at + 4]
        .iter()
        .fold(0, |sum, &byte| sum << 8 | u32::from(byte))
}

fn half(header: &[u8; HEADER], at: usize) -> u16 {
    u16::from_be_bytes([header[at], header[at + 1]])
}

fn lun(header: &[u8; HEADER]) -> u64 {
    u64::from(word(header, 8)) << 32 | u64::from(word(header, 12))
}

impl Request {
    /// Decodes a basic header segment. Every header is something: what is not known is [`Request::Unknown`].
    pub fn decode(header: &[u8; HEADER]) -> Request {
        let flags = header[1];
        let is_final = flags & 0x80 != 0;
        let task = word(header, 16);
        let order = CommandNumber {
            immediate: header[0] & 0x40 != 0,
            number: word(header, 24),
        };
        match header[0] & 0x3f {
            0x00 => Request::NopOut(NopOut {
                lun: lun(header),
                task,
                target_task: word(header, 20),
                order,
            }),
            0x01 => {
                let mut cdb = [0; 16];
                cdb.copy_from_slice(&header[32..48]);
                Request::Command(Command {
                    is_final,
                    reads: flags & 0x40 != 0,
                    writes: flags & 0x20 != 0,
                    lun: lun(header),
                    task,
                    expected: word(header, 20),
                    order,
                    cdb,
                })
            }
            0x02 => Request::TaskManagement(TaskManagement {
                function: flags & 0x7f,
                lun: lun(header),
                task,
                referenced: word(header, 20),
                order,
            }),
            0x03 => {
                let mut isid = [0; 6];
                isid.copy_from_slice(&header[8..14]);
                Request::Login(Login {
                    transits: is_final,
                    continues: flags & 0x40 != 0,
                    stage: flags >> 2 & 3,
                    next_stage: flags & 3,
                    version_min: header[3],
                    isid,
                    session: half(header, 14),
                    task,
                    connection: half(header, 20),
                    order,
                })
            }
            0x04 => Request::Text(Text {
                is_final,
                continues: flags & 0x40 != 0,
                task,
                target_task: word(header, 20),
                order,
            }),
            0x05 => Request::DataOut(DataOut {
                is_final,
                task,
                target_task: word(header, 20),
                offset: word(header, 40),
            }),
            0x06 => Request::Logout(Logout {
                reason: flags & 0x7f,
                task,
                connection: half(header, 20),
                order,
            }),
            other => Request::Unknown(other),
        }
    }
}

impl Command {
    /// The command as our devices take it: as long as its operation code's group says (SPC-5, 4.2.5.1).
    pub fn cdb(&self) -> Cdb {
        let bytes = self.cdb;
        match bytes[0] >> 5 {
            0 => Cdb::new([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5]]),
            1 | 2 => {
                let mut ten = [0; 10];
                ten.copy_from_slice(&bytes[..10]);
                Cdb::new(ten)
            }
            5 => {
                let mut twelve = [0; 12];
                twelve.copy_from_slice(&bytes[..12]);
                Cdb::new(twelve)
            }
            _ => Cdb::new(bytes),
        }
    }
}

/// The number of a logical unit by its eight bytes: peripheral device or flat space addressing (SAM-5, 4.7).
pub(crate) fn unit_number(lun: u64) -> Option<usize> {
    let first = (lun >> 48) as u16;
    let rest = lun & 0xffff_ffff_ffff;
    (rest == 0 && first >> 14 <= 1).then_some(usize::from(first & 0x3fff))
}

/// What the target sends. `Numbers` go into each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    NopIn {
        lun: u64,
        task: u32,
        target_task: u32,
    },
    Scsi {
        task: u32,
        status: u8,
        /// 0 completed, 1 target failure.
        response: u8,
        residual: Residual,
        /// How many Data-In PDUs went before.
        data_sent: u32,
    },
    TaskManagement {
        task: u32,
        response: u8,
    },
    Login {
        transits: bool,
        stage: u8,
        next_stage: u8,
        isid: [u8; 6],
        session: u16,
        task: u32,
        /// Class and detail.
        status: u16,
    },
    Text {
        task: u32,
    },
    DataIn {
        lun: u64,
        task: u32,
        number: u32,
        offset: u32,
        is_final: bool,
        /// The last one of a command that went well carries its status.
        status: Option<Residual>,
    },
    Logout {
        task: u32,
        response: u8,
    },
    ReadyToTransfer {
        lun: u64,
        task: u32,
        target_task: u32,
        number: u32,
        offset: u32,
        length: u32,
    },
    Reject {
        reason: u8,
    },
}

/// How the bytes that were moved compare with those that the initiator expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Residual {
    None,
    Under(u32),
}

/// The numbers that keep both sides in step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// Of this response.
    pub status: u32,
    /// The command expected next.
    pub expected_command: u32,
    /// The last command that the initiator may send now.
    pub most_command: u32,
}

impl Response {
    /// Whether this response uses up a status number.
    pub fn has_status(&self) -> bool {
        match self {
            Response::DataIn { status, .. } => status.is_some(),
            Response::ReadyToTransfer { .. } => false,
            // A ping of ours: its number is told and not used up.
            Response::NopIn { task, .. } => *task != NO_TAG,
            _ => true,
        }
    }

    /// The basic header segment, for a data segment of `data` bytes.
    pub fn encode(&self, numbers: Numbers, data: usize) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        put(&mut header, 4, data as u32);
        put(&mut header, 24, numbers.status);
        put(&mut header, 28, numbers.expected_command);
        put(&mut header, 32, numbers.most_command);
        header[1] = 0x80;
        match *self {
            Response::NopIn {
                lun,
                task,
                target_task,
            } => {
                header[0] = 0x20;
                header[8..16].copy_from_slice(&lun.to_be_bytes());
                put(&mut header, 16, task);
                put(&mut header, 20, target_task);
            }
            Response::Scsi {
                task,
                status,
                response,
                residual,
                data_sent,
            } => {
                header[0] = 0x21;
                header[2] = response;
                header[3] = status;
                put(&mut header, 16, task);
                put(&mut header, 36, data_sent);
                residual.put(&mut header);
            }
            Response::TaskManagement { task, response } => {
                header[0] = 0x22;
                header[2] = response;
                put(&mut header, 16, task);
            }
            Response::Login {
                transits,
                stage,
                next_stage,
                isid,
                session,
                task,
                status,
            } => {
                header[0] = 0x23;
                header[1] =
                    u8::from(transits) << 7 | stage << 2 | if transits { next_stage } else { 0 };
                header[8..14].copy_from_slice(&isid);
                header[14..16].copy_from_slice(&session.to_be_bytes());
                put(&mut header, 16, task);
                header[36..38].copy_from_slice(&status.to_be_bytes());
            }
            Response::Text { task } => {
                header[0] = 0x24;
                put(&mut header, 16, task);
                put(&mut header, 20, NO_TAG);
            }
            Response::DataIn {
                lun,
                task,
                number,
                offset,
                is_final,
                status,
            } => {
                header[0] = 0x25;
                header[1] = u8::from(is_final) << 7;
                header[8..16].copy_from_slice(&lun.to_be_bytes());
                put(&mut header, 16, task);
                put(&mut header, 20, NO_TAG);
                put(&mut header, 36, number);
                put(&mut header, 40, offset);
                match status {
                    Some(residual) => {
                        header[1] |= 0x01;
                        residual.put(&mut header);
                    }
                    None => put(&mut header, 24, 0),
                }
            }
            Response::Logout { task, response } => {
                header[0] = 0x26;
                header[2] = response;
                put(&mut header, 16, task);
            }
            Response::ReadyToTransfer {
                lun,
                task,
                target_task,
                number,
                offset,
                length,
            } => {
                header[0] = 0x31;
                header[8..16].copy_from_slice(&lun.to_be_bytes());
                put(&mut header, 16, task);
                put(&mut header, 20, target_task);
                put(&mut header, 36, number);
                put(&mut header, 40, offset);
                put(&mut header, 44, length);
            }
            Response::Reject { reason } => {
                header[0] = 0x3f;
                header[2] = reason;
                put(&mut header, 16, NO_TAG);
            }
        }
        header
    }
}

impl Residual {
    /// For `moved` bytes of those expected.
    pub fn of(expected: u32, moved: usize) -> Residual {
        match (expected as usize).saturating_sub(moved) {
            0 => Residual::None,
            less => Residual::Under(less as u32),
        }
    }

    fn put(self, header: &mut [u8; HEADER]) {
        if let Residual::Under(bytes) = self {
            header[1] |= 0x02;
            put(header, 44, bytes);
        }
    }
}

fn put(header: &mut [u8; HEADER], at: usize, value: u32) {
    header[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests;
