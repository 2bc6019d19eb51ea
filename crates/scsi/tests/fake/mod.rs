//! A device of a few lines: whatever a closure answers, a clock that only waits, and a list of what
//! was asked.

pub mod tape;

use std::sync::{Arc, Mutex};
use std::time::Duration;
use tapewise_scsi::{Cdb, Completion, Data, Transport, TransportError};

/// What was asked of a fake, by CDB.
pub type Asked = Arc<Mutex<Vec<Vec<u8>>>>;

type Answer = Box<dyn FnMut(&Cdb, Data<'_>) -> Completion + Send>;

/// What a fake's adapter carries with one command, and what it tells of that.
#[derive(Clone, Copy, Default)]
pub struct Adapter {
    pub most_bytes: Option<usize>,
    pub told_bytes: Option<usize>,
}

pub struct Fake {
    pub adapter: Adapter,
    answer: Answer,
    asked: Asked,
    now: Duration,
}

impl Fake {
    /// A device that answers so, and the list of what it will have been asked.
    pub fn new(
        answer: impl FnMut(&Cdb, Data<'_>) -> Completion + Send + 'static,
    ) -> (Box<Fake>, Asked) {
        let asked = Asked::default();
        let fake = Fake {
            adapter: Adapter::default(),
            answer: Box::new(answer),
            asked: Arc::clone(&asked),
            now: Duration::ZERO,
        };
        (Box::new(fake), asked)
    }
}

impl Transport for Fake {
    fn name(&self) -> &str {
        "fake"
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        _: Duration,
    ) -> Result<Completion, TransportError> {
        let bytes = match &data {
            Data::None => 0,
            Data::In(buffer) => buffer.len(),
            Data::Out(bytes) => bytes.len(),
        };
        if self.adapter.most_bytes.is_some_and(|most| bytes > most) {
            return Err(TransportError::TooLarge {
                device: "fake".to_owned(),
                bytes,
                limit_bytes: self.adapter.told_bytes.unwrap_or(1 << 30),
            });
        }
        self.asked.lock().unwrap().push(cdb.bytes().to_vec());
        Ok((self.answer)(cdb, data))
    }

    #[expect(
        clippy::misnamed_getters,
        reason = "the adapter tells one limit and has another"
    )]
    fn most_bytes(&self) -> Option<usize> {
        self.adapter.told_bytes
    }

    fn now(&self) -> Duration {
        self.now
    }

    fn wait(&mut self, duration: Duration) {
        self.now += duration;
    }
}

/// GOOD with this data, as much of it as was asked for.
pub fn send(answer: &[u8], data: Data<'_>) -> Completion {
    match data {
        Data::In(buffer) => {
            let bytes = answer.len().min(buffer.len());
            buffer[..bytes].copy_from_slice(&answer[..bytes]);
            Completion::good(bytes)
        }
        _ => Completion::good(0),
    }
}

/// CHECK CONDITION with fixed-format sense: key, flags (80h filemark, 40h EOM, 20h ILI), code, rest.
pub fn check(key: u8, flags: u8, code: u16, rest: i64) -> Completion {
    moved(0, key, flags, code, rest)
}

/// As [`check`], after so many bytes were moved.
pub fn moved(bytes: usize, key: u8, flags: u8, code: u16, rest: i64) -> Completion {
    let [i0, i1, i2, i3] = (rest as i32).to_be_bytes();
    let [asc, ascq] = code.to_be_bytes();
    let sense = [
        0xf0,
        0,
        flags | key,
        i0,
        i1,
        i2,
        i3,
        10,
        0,
        0,
        0,
        0,
        asc,
        ascq,
        0,
        0,
        0,
        0,
    ];
    Completion::check_condition(bytes, &sense)
}

/// Standard INQUIRY data, or VPD page 80h or 83h.
pub fn inquiry(cdb: &Cdb, kind: u8, serial: &str, data: Data<'_>) -> Completion {
    let bytes = cdb.bytes();
    if bytes[1] & 1 == 0 {
        let mut answer = vec![kind, 0x80, 6, 2, 31, 0, 0, 0];
        answer.extend(format!("{:8}{:16}{:4}", "TEST", "FAKE", "1.0").bytes());
        return send(&answer, data);
    }
    match bytes[2] {
        0x80 => {
            let mut answer = vec![kind, 0x80, 0, serial.len() as u8];
            answer.extend(serial.bytes());
            send(&answer, data)
        }
        _ => check(5, 0, 0x2400, 0),
    }
}
