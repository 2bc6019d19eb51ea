//! A tape of a few lines behind the fake: blocks and filemarks in a list, and a place in it.

use super::{Asked, Fake, check, inquiry, moved, send};
use tapewise_scsi::{Cdb, Completion, Data};

/// What stands on the tape: a block of so many bytes, or a filemark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    Block(usize),
    Filemark,
}

/// What a drive can do, and how.
#[derive(Clone, Copy, Debug)]
pub struct Skill {
    pub locate10: bool,
    pub locate16: bool,
    /// REPORT SUPPORTED OPERATION CODES tells about the two.
    pub reports_opcodes: bool,
    /// READ POSITION answers truly, else with zeros.
    pub knows_position: bool,
    /// SPACE over blocks counts filemarks as blocks and does not stop at them, as tgt does.
    pub spaces_through_filemarks: bool,
}

impl Skill {
    pub const ALL: Skill = Skill {
        locate10: true,
        locate16: true,
        reports_opcodes: true,
        knows_position: true,
        spaces_through_filemarks: false,
    };

    /// No LOCATE, no true position, no list of commands.
    #[allow(dead_code)] // each test uses a part of it
    pub const LEAST: Skill = Skill {
        locate10: false,
        locate16: false,
        reports_opcodes: false,
        knows_position: false,
        spaces_through_filemarks: false,
    };
}

struct Tape {
    objects: Vec<Object>,
    at: usize,
    skill: Skill,
}

/// A drive with this tape in it, at its beginning.
pub fn tape(objects: Vec<Object>, skill: Skill) -> (Box<Fake>, Asked) {
    let mut tape = Tape {
        objects,
        at: 0,
        skill,
    };
    Fake::new(move |cdb, data| tape.answer(cdb, data))
}

/// The byte that a block is full of.
pub fn content(object: usize) -> u8 {
    (object % 251) as u8
}

fn unsupported() -> Completion {
    check(5, 0, 0x2000, 0)
}

impl Tape {
    fn answer(&mut self, cdb: &Cdb, data: Data<'_>) -> Completion {
        let bytes = cdb.bytes();
        let number = |from: usize, to: usize| {
            bytes[from..to]
                .iter()
                .fold(0_u64, |value, byte| value << 8 | u64::from(*byte))
        };
        match cdb.opcode() {
            0x00 => Completion::good(0),
            0x01 => {
                self.at = 0;
                Completion::good(0)
            }
            0x08 => self.read(number(2, 5) as usize, data),
            0x0a => {
                let bytes = number(2, 5) as usize;
                self.write(Object::Block(bytes));
                Completion::good(bytes)
            }
            0x10 => {
                (0..number(2, 5)).for_each(|_| {
                    self.write(Object::Filemark);
                });
                Completion::good(0)
            }
            0x11 => self.space(bytes[1], (number(2, 5) as i64) << 40 >> 40),
            0x12 => inquiry(cdb, 1, "FAKE000001", data),
            0x2b if self.skill.locate10 => self.locate(number(3, 7)),
            0x92 if self.skill.locate16 => self.locate(number(4, 12)),
            0x34 => self.position(bytes[1], data),
            0xa3 if bytes[1] == 0x0c && self.skill.reports_opcodes => self.opcodes(data),
            _ => unsupported(),
        }
    }

    fn read(&mut self, asked: usize, data: Data<'_>) -> Completion {
        let Some(object) = self.objects.get(self.at) else {
            return check(8, 0, 0x0005, asked as i64);
        };
        self.at += 1;
        let Object::Block(length) = *object else {
            return check(0, 0x80, 0x0001, asked as i64);
        };
        let sent = length.min(asked);
        if let Data::In(buffer) = data {
            buffer[..sent].fill(content(self.at - 1));
        }
        if length == asked {
            return Completion::good(sent);
        }
        moved(sent, 0, 0x20, 0, asked as i64 - length as i64)
    }

    fn write(&mut self, object: Object) -> Completion {
        self.objects.truncate(self.at);
        self.objects.push(object);
        self.at += 1;
        Completion::good(0)
    }

    fn space(&mut self, over: u8, count: i64) -> Completion {
        if over == 3 {
            self.at = self.objects.len();
            return Completion::good(0);
        }
        let step = count.signum();
        let mut left = count.unsigned_abs();
        while left > 0 {
            let next = if step > 0 {
                Some(self.at)
            } else {
                self.at.checked_sub(1)
            };
            let Some(next) = next else {
                return check(0, 0x40, 0x0004, left as i64);
            };
            let Some(object) = self.objects.get(next) else {
                return check(8, 0, 0x0005, left as i64);
            };
            self.at = if step > 0 { next + 1 } else { next };
            match (object, over) {
                (Object::Filemark, 0) if !self.skill.spaces_through_filemarks => {
                    return check(0, 0x80, 0x0001, left as i64);
                }
                (Object::Block(_), 1) => {}
                _ => left -= 1,
            }
        }
        Completion::good(0)
    }

    fn locate(&mut self, block: u64) -> Completion {
        let end = self.objects.len();
        self.at = end.min(block as usize);
        if block as usize > end {
            return check(8, 0, 0x0005, 0);
        }
        Completion::good(0)
    }

    fn position(&self, form: u8, data: Data<'_>) -> Completion {
        let mut answer = [0; 32];
        if self.skill.knows_position {
            answer[0] = u8::from(self.at == 0) << 7;
            answer[8..16].copy_from_slice(&(self.at as u64).to_be_bytes());
        }
        match form {
            6 => send(&answer, data),
            // Where the position is not known, the short form says so (LOLU).
            0 if !self.skill.knows_position => {
                answer[0] = 0x04;
                send(&answer[..20], data)
            }
            _ => check(5, 0, 0x2400, 0),
        }
    }

    fn opcodes(&self, data: Data<'_>) -> Completion {
        let all = [
            (0x2b, self.skill.locate10, 10),
            (0x92, self.skill.locate16, 16),
        ];
        let list: Vec<u8> = all
            .iter()
            .filter(|(_, has, _)| *has)
            .flat_map(|(opcode, _, length)| [*opcode, 0, 0, 0, 0, 0, 0, *length])
            .collect();
        let mut answer = (list.len() as u32).to_be_bytes().to_vec();
        answer.extend(list);
        send(&answer, data)
    }
}
