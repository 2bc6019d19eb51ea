//! What is recorded is replayed, with its times; a caller that does something else is told where.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tapewise_scsi::commands::TestUnitReady;
use tapewise_scsi::transports::{Keep, Record, Replay};
use tapewise_scsi::{Cdb, Command, Completion, Data, Status, Transport, TransportError};

const LIMIT: Duration = Duration::from_secs(60);
const READ: Cdb = Cdb::new([0x08, 0, 0, 0, 8, 0]);
const WRITE: Cdb = Cdb::new([0x0a, 0, 0, 0, 8, 0]);
const LOCATE: Cdb = Cdb::new([0x2b, 0, 0, 0, 0, 0, 9, 0, 0, 0]);

/// A device with four answers: data, a filemark, a lost command, and GOOD for ever.
struct Scripted {
    sent: usize,
    now: Duration,
}

impl Transport for Scripted {
    fn name(&self) -> &str {
        "/dev/sg3"
    }

    fn execute(
        &mut self,
        _: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        self.sent += 1;
        self.now += Duration::from_millis(1500);
        match (self.sent, data) {
            (1, Data::In(buffer)) => {
                buffer[..6].copy_from_slice(b"sixbyt");
                Ok(Completion::good(6))
            }
            (2, _) => {
                let mut sense = [0; 18];
                (sense[0], sense[2], sense[13]) = (0x70, 0x80, 0x01);
                Ok(Completion::check_condition(0, &sense))
            }
            (3, _) => Err(TransportError::TimedOut {
                device: self.name().to_owned(),
                timeout,
            }),
            (_, Data::Out(bytes)) => Ok(Completion::good(bytes.len())),
            _ => Ok(Completion::good(0)),
        }
    }

    fn now(&self) -> Duration {
        self.now
    }

    fn wait(&mut self, duration: Duration) {
        self.now += duration;
    }
}

/// A file that can still be read when the recording has taken it.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("the file").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What a caller sees of each command: the completion or the error, the data and the clock.
fn converse(transport: &mut dyn Transport) -> Vec<(String, Vec<u8>, Duration)> {
    let mut seen = Vec::new();
    let mut step = |transport: &mut dyn Transport, cdb: &Cdb, mut data: Vec<u8>| {
        let given = match cdb.opcode() {
            0x08 => Data::In(&mut data),
            0x0a => Data::Out(&data),
            _ => Data::None,
        };
        let result = match transport.execute(cdb, given, LIMIT) {
            Ok(done) => format!("{done:?}"),
            Err(error) => error
                .to_string()
                .split_once(": ")
                .expect("a device")
                .1
                .to_owned(),
        };
        seen.push((result, data, transport.now()));
    };
    step(transport, &READ, vec![0; 8]);
    step(transport, &READ, vec![0; 8]);
    step(transport, &LOCATE, Vec::new());
    transport.wait(Duration::from_secs(5));
    step(transport, &WRITE, b"8 bytes!".to_vec());
    seen
}

fn record(keep: Keep) -> (Vec<(String, Vec<u8>, Duration)>, String) {
    let file = Shared::default();
    let device = Box::new(Scripted {
        sent: 0,
        now: Duration::ZERO,
    });
    let mut record = Record::new(device, file.clone(), keep).expect("a recording");
    let seen = converse(&mut record);
    let bytes = file.0.lock().expect("the file").clone();
    (seen, String::from_utf8(bytes).expect("text"))
}

fn replay(text: &str) -> Replay {
    Replay::parse("capture.jsonl", text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_replay_is_the_recording_again_with_data_sense_errors_and_times() {
    let (seen, text) = record(Keep::All);
    let mut replay = replay(&text);
    assert_eq!(converse(&mut replay), seen);
    assert_eq!(replay.remaining(), 0);
}

#[test]
fn a_recording_is_lines_that_a_person_can_read() {
    let (_, text) = record(Keep::First(4));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..3],
        [
            r#"{"tapewise_exchanges":1,"device":"/dev/sg3"}"#,
            r#"{"at_us":0,"took_us":1500000,"cdb":"08 00 00 00 08 00","room":8,"data_in":{"length":6,"crc32":3826985815,"hex":"73 69 78 62"},"status":0,"transferred":6}"#,
            r#"{"at_us":1500000,"took_us":1500000,"cdb":"08 00 00 00 08 00","room":8,"data_in":{"length":0,"hex":""},"status":2,"transferred":0,"sense":"70 00 80 00 00 00 00 00 00 00 00 00 00 01 00 00 00 00"}"#,
        ]
    );
    assert!(
        lines[3].ends_with(r#""timed_out_after_us":60000000}"#),
        "{}",
        lines[3]
    );
}

#[test]
fn another_command_is_a_deviation_that_names_the_exchange() {
    let (_, text) = record(Keep::All);
    let mut replay = replay(&text);
    let error = |replay: &mut Replay, cdb: &Cdb, data: Data<'_>| {
        replay
            .execute(cdb, data, LIMIT)
            .expect_err("a deviation")
            .to_string()
    };
    assert_eq!(
        error(&mut replay, &LOCATE, Data::None),
        "replay:capture.jsonl: exchange 1 of the recording is the command 08 00 00 00 08 00, asked was 2b 00 00 00 00 00 09 00 00 00"
    );
    let other_room = error(&mut replay, &READ, Data::In(&mut [0; 9]));
    assert!(
        other_room.ends_with("has room for 8 bytes, asked was one of 9"),
        "{other_room}"
    );
    converse(&mut replay);
    let beyond = error(&mut replay, &LOCATE, Data::None);
    assert!(
        beyond.contains("exchange 5") && beyond.contains("does not exist"),
        "{beyond}"
    );
}

#[test]
fn other_data_than_recorded_is_a_deviation_even_where_only_a_checksum_was_kept() {
    let (_, text) = record(Keep::First(4));
    let last = text.lines().last().expect("the write");
    let head = text.lines().next().expect("the head");
    let mut replay = replay(&format!("{head}\n{last}\n"));
    let error = replay
        .execute(&WRITE, Data::Out(b"8 bytes?"), LIMIT)
        .expect_err("other data");
    assert!(
        error.to_string().ends_with("sends other data than asked"),
        "{error}"
    );
    let done = replay
        .execute(&WRITE, Data::Out(b"8 bytes!"), LIMIT)
        .expect("the same");
    assert_eq!(done.status, Status::Good);
}

#[test]
fn data_that_was_not_kept_is_never_made_up() {
    let (_, text) = record(Keep::First(4));
    let error = replay(&text).execute(&READ, Data::In(&mut [0; 8]), LIMIT);
    let error = error.expect_err("no data").to_string();
    assert!(
        error.ends_with("keeps 4 of 6 bytes of data only"),
        "{error}"
    );
}

#[test]
fn a_file_that_is_no_recording_is_refused_with_its_line() {
    let head = r#"{"tapewise_exchanges":1,"device":"d"}"#;
    let refused = |text: String| {
        Replay::parse("f", &text)
            .err()
            .expect("no recording")
            .to_string()
    };
    assert!(refused(String::new()).starts_with("f:1: the file is empty"));
    assert!(refused("{}".to_owned()).starts_with("f:1: not the head"));
    assert!(refused(head.replace(":1,", ":2,")).contains("version 2"));
    let bad_hex = r#"{"at_us":0,"took_us":0,"cdb":"0z","status":0,"transferred":0}"#;
    assert!(refused(format!("{head}\n{bad_hex}")).starts_with("f:2: "));
    let too_much = r#"{"at_us":0,"took_us":0,"cdb":"00","room":1,"data_in":{"length":2,"hex":"00 00"},"status":0,"transferred":2}"#;
    assert!(refused(format!("{head}\n\n{too_much}")).starts_with("f:3: 2 bytes"));
}

#[test]
fn commands_run_on_a_replay_as_on_a_device() {
    let text = "{\"tapewise_exchanges\":1,\"device\":\"d\"}\n\
                {\"at_us\":7,\"took_us\":3,\"cdb\":\"00 00 00 00 00 00\",\"status\":0,\"transferred\":0}\n";
    let mut replay = replay(text);
    TestUnitReady.send(&mut replay).expect("ready");
    assert_eq!(replay.now(), Duration::from_micros(10));
}
