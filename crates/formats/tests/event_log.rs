//! Event logs: what is written is read, and what is odd is said with its line.

use tapewise_formats::event::{Action, Event, Outcome, Spot};
use tapewise_formats::event_log::{Device, EventLog, EventWriter, Header, read_events};
use tapewise_model::Micros;

fn header() -> Header {
    Header {
        seed: Some(7),
        device: Some(Device {
            vendor: "QUANTUM".into(),
            product: "DLT4000".into(),
            revision: "D887".into(),
            serial: Some("CX01".into()),
        }),
        cartridge: Some("A00001".into()),
        profile: Some("dlt4000".into()),
        ..Header::new("tapewise 0.1.0")
    }
}

fn locate(at: i64, block: u64) -> Event {
    Event {
        from: Some(Spot::default()),
        to: Some(Spot {
            block: Some(block),
            wrap: Some(3),
            lpos: Some(120),
            ..Spot::default()
        }),
        purpose: Some("seek from BOT".into()),
        ..Event::new(Action::Locate, Micros(at), Micros(41_000_000))
    }
}

fn written(header: &Header, events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = EventWriter::new(&mut bytes, header).expect("memory");
    for event in events {
        writer.write(event).expect("memory");
    }
    bytes
}

fn read(text: &str) -> EventLog {
    read_events(text.as_bytes()).expect("a log")
}

fn refused(text: &str) -> String {
    read_events(text.as_bytes())
        .expect_err("no log")
        .to_string()
}

#[test]
fn what_is_written_is_read_with_the_drive_and_cartridge_of_its_session() {
    let events = [locate(0, 500), locate(60_000_000, 9)];
    let log = read_events(&written(&header(), &events)[..]).expect("a log");
    assert!(log.notices.is_empty());
    assert_eq!(log.sessions[0].header.as_ref(), Some(&header()));
    let read: Vec<&Event> = log.events().collect();
    assert_eq!(read.len(), 2);
    assert_eq!(read[1].device.as_deref(), Some("CX01"));
    assert_eq!(read[1].cartridge.as_deref(), Some("A00001"));
    let alone = Event {
        device: None,
        cartridge: None,
        ..read[1].clone()
    };
    assert_eq!(alone, events[1]);
}

#[test]
fn an_event_that_names_its_cartridge_keeps_it() {
    let other = Event {
        cartridge: Some("B00002".into()),
        ..locate(0, 1)
    };
    let log = read_events(&written(&header(), &[other])[..]).expect("a log");
    assert_eq!(
        log.events().next().and_then(|e| e.cartridge.as_deref()),
        Some("B00002")
    );
}

#[test]
fn logs_one_behind_the_other_are_a_log() {
    let mut both = written(&header(), &[locate(0, 5)]);
    both.extend(written(&header(), &[locate(0, 6)]));
    let log = read_events(&both[..]).expect("a log");
    assert_eq!(log.sessions.len(), 2);
    assert_eq!(log.events().count(), 2);
}

#[test]
fn times_may_be_seconds_or_milliseconds() {
    let log = read(
        "{\"action\":\"locate\",\"at_s\":1.5,\"took_ms\":250.25}\n{\"action\":\"rewind\",\"at_us\":9,\"took_s\":2}\n",
    );
    let times: Vec<(i64, i64)> = log.events().map(|e| (e.at_us.0, e.took_us.0)).collect();
    assert_eq!(times, [(1_500_000, 250_250), (9, 2_000_000)]);
    assert_eq!(
        refused("{\"action\":\"rewind\",\"at_us\":0,\"took_us\":1,\"took_s\":2}"),
        "line 1: took_us is given twice, once as took_s"
    );
}

#[test]
fn unknown_fields_are_left_out_and_said_once_with_their_number() {
    let line =
        "{\"action\":\"rewind\",\"at_us\":0,\"took_us\":1,\"sense\":null,\"mood\":\"good\"}\n";
    let log = read(&line.repeat(3));
    assert_eq!(log.events().count(), 3);
    let said: Vec<String> = log.notices.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        ["line 1: the field \"mood\" is not known: left out (3 times)"]
    );
}

#[test]
fn a_last_line_that_was_cut_off_is_left_out_and_said() {
    let bytes = written(&header(), &[locate(0, 5), locate(1, 6)]);
    let log = read_events(&bytes[..bytes.len() - 9]).expect("a log");
    assert_eq!(log.events().count(), 1);
    assert_eq!(
        log.notices[0].to_string(),
        "line 3: the last line is cut off: left out"
    );
}

#[test]
fn a_line_cut_off_in_the_middle_of_a_log_is_an_error() {
    let error = refused("{\"action\":\"rewi\n{\"action\":\"rewind\",\"at_us\":0,\"took_us\":1}\n");
    assert!(error.starts_with("line 1: no JSON object"), "{error}");
}

#[test]
fn bad_lines_are_named() {
    let good = "{\"action\":\"rewind\",\"at_us\":0,\"took_us\":1}\n";
    for (bad, why) in [
        ("[1]", "line 2: no JSON object"),
        (
            "{\"action\":\"dance\",\"at_us\":0,\"took_us\":1}",
            "line 2: unknown variant",
        ),
        (
            "{\"action\":\"rewind\",\"at_us\":0}",
            "line 2: missing field `took_us`",
        ),
        (
            "{\"action\":\"rewind\",\"at_us\":0,\"took_us\":-1}",
            "line 2: it took -1 µs, which no clock shows",
        ),
        (
            "{\"action\":\"rewind\",\"at_us\":0,\"took_us\":9223372036854775807}",
            "line 2: it took 9223372036854775807 µs, which no clock shows",
        ),
        (
            "{\"action\":\"rewind\",\"at_us\":-9223372036854775808,\"took_us\":1}",
            "line 2: it began at -9223372036854775808 µs, which no clock shows",
        ),
        (
            "{\"action\":\"rewind\",\"at_us\":0,\"took_s\":\"x\"}",
            "line 2: took_s is \"x\"",
        ),
        (
            "{\"tapewise_events\":2,\"tool\":\"later\"}",
            "line 2: a log of version 2",
        ),
        ("{\"tapewise_events\":1}", "line 2: missing field `tool`"),
    ] {
        let error = refused(&format!("{good}{bad}\n"));
        assert!(error.starts_with(why), "{error}");
    }
}

#[test]
fn a_session_in_two_logs_counts_once_and_the_longer_is_kept() {
    let events = [locate(0, 5), locate(1, 6), locate(2, 7)];
    let read = |count: usize| read_events(&written(&header(), &events[..count])[..]).expect("log");
    let mut log = read(2);
    log.merge(read(3));
    assert_eq!(log.events().count(), 3);
    assert_eq!(log.notices.len(), 1);
    let mut other = events.to_vec();
    other[0].outcome = Outcome::Failed;
    log.merge(read_events(&written(&header(), &other)[..]).expect("log"));
    assert_eq!(log.events().count(), 6);
}

#[test]
fn bytes_of_an_emulated_cartridge_count_as_what_they_stand_for() {
    let text = "{\"tapewise_events\":1,\"tool\":\"t\",\"byte_scale\":1000}\n\
        {\"action\":\"read\",\"at_us\":0,\"took_us\":5,\"bytes\":7}\n\
        {\"tapewise_events\":1,\"tool\":\"t\"}\n\
        {\"action\":\"read\",\"at_us\":0,\"took_us\":5,\"bytes\":7}\n";
    let log = read_events(text.as_bytes()).expect("a log").on_tape();
    let bytes: Vec<u64> = log.events().map(|event| event.bytes).collect();
    assert_eq!(bytes, [7000, 7]);
    let again: Vec<u64> = log.on_tape().events().map(|event| event.bytes).collect();
    assert_eq!(again, bytes);
}
