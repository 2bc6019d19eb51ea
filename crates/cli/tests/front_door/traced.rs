//! A trace of a stage request, from the call over HTTP through a mover, as a collector gets it.

use crate::archive::{desk, empty_cache, make_files_of};
use crate::program::{Desk, TAPEWISE};
use crate::serve::Running;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};

const CALLER: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Takes what is posted, one connection after the other.
fn collect(listener: &TcpListener, bodies: &Sender<Value>) {
    for stream in listener.incoming() {
        let stream = stream.expect("a connection");
        let mut reader = BufReader::new(&stream);
        while let Some(body) = post(&mut reader) {
            (&stream)
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                .expect("answered");
            if bodies.send(body).is_err() {
                return;
            }
        }
    }
}

/// The body of the next request on a connection; none at its end.
fn post(reader: &mut BufReader<&TcpStream>) -> Option<Value> {
    let mut bytes = 0;
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|read| *read > 0)?;
    assert_eq!(first.trim_end(), "POST /v1/traces HTTP/1.1");
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        let line = line.trim_end().to_ascii_lowercase();
        match line.split_once(": ") {
            Some(("content-length", length)) => bytes = length.parse().expect("a number"),
            Some(("content-type", kind)) => assert_eq!(kind, "application/json"),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; bytes];
    reader.read_exact(&mut body).expect("a body");
    Some(serde_json::from_slice(&body).expect("JSON"))
}

/// All spans of some messages, each with the service that sent it.
fn spans(messages: &Receiver<Value>) -> Vec<(String, Value)> {
    let mut spans = Vec::new();
    while let Ok(message) = messages.try_recv() {
        let of_process = &message["resourceSpans"][0];
        let attributes = of_process["resource"]["attributes"]
            .as_array()
            .expect("attributes");
        let service = attributes.iter().find(|one| one["key"] == "service.name");
        let service = service.expect("a name")["value"]["stringValue"]
            .as_str()
            .expect("text");
        let all = of_process["scopeSpans"][0]["spans"]
            .as_array()
            .expect("spans");
        spans.extend(all.iter().map(|span| (service.to_owned(), span.clone())));
    }
    spans
}

fn recall(desk: &Desk, collector: &str) {
    let mover = Command::new(TAPEWISE)
        .args(["mover", "--archive", "A", "--until-idle", "--quiet"])
        .current_dir(desk.path())
        .env("TAPEWISE_CONFIG", "")
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&mover.stderr);
    assert!(mover.status.success() && said.is_empty(), "{said}");
}

#[test]
fn service_and_mover_put_what_they_do_for_a_request_into_one_trace() {
    let desk = desk();
    let mut files = make_files_of(&desk, "reel", 13, 6_000);
    files.retain(|_, contents| !contents.is_empty());
    desk.done("store --archive A reel --quiet");
    empty_cache(&desk);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let collector = format!("http://{}", listener.local_addr().expect("an address"));
    let (sender, messages) = channel();
    std::thread::spawn(move || collect(&listener, &sender));
    let variable = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.as_str())];
    let service = Running::start_with(&desk, "--no-drives", &variable);
    let traceparent = format!("00-{CALLER}-00f067aa0ba902b7-01");
    let id = service.stage_with(files.keys(), &[("traceparent", &traceparent)]);
    recall(&desk, &collector);
    let answered = service.ask("GET", "/health/live", "");
    assert_eq!(answered.0, 200);
    // The service sends what it has before it answers the next call, or a little later.
    let mut all = spans(&messages);
    while !all.iter().any(|(service, _)| service == "tapewise-serve") {
        std::thread::sleep(std::time::Duration::from_millis(20));
        all.extend(spans(&messages));
    }
    let (in_callers, ours): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|(_, span)| span["traceId"] == CALLER);
    let trace = id.replace('-', "");
    let mut by_id: BTreeMap<&str, &Value> = BTreeMap::new();
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (service, span) in &ours {
        assert_eq!(span["traceId"], trace.as_str(), "{span}");
        let twice = by_id.insert(span["spanId"].as_str().expect("an id"), span);
        assert!(twice.is_none(), "{span}");
        let name = span["name"].as_str().expect("a name");
        *counts.entry((service, name)).or_default() += 1;
    }
    let ns = |span: &Value, end: &str| -> i64 {
        let text = span[format!("{end}TimeUnixNano")].as_str().expect("a time");
        text.parse().expect("a number")
    };
    for span in by_id.values() {
        assert!(ns(span, "start") <= ns(span, "end"), "{span}");
        let Some(parent) = span["parentSpanId"].as_str() else {
            assert_eq!(span["name"], "stage");
            continue;
        };
        let parent = by_id
            .get(parent)
            .unwrap_or_else(|| panic!("no parent: {span}"));
        if parent["name"] != "stage" {
            assert!(
                ns(parent, "start") <= ns(span, "start"),
                "{span} in {parent}"
            );
            assert!(ns(span, "end") <= ns(parent, "end"), "{span} in {parent}");
        }
    }
    for name in ["recall", "queue", "deliver"] {
        assert_eq!(counts[&("tapewise-mover", name)], files.len(), "{name}");
    }
    // As often as the event log has it.
    let log = desk.read("A/events.jsonl");
    let reads = log.lines().filter_map(|line| {
        let event: Value = serde_json::from_str(line).expect("JSON");
        let purpose = event["purpose"].as_str()?.strip_prefix("request ")?;
        (event["action"] == "read").then(|| purpose.split(", ").count())
    });
    let read: usize = reads.sum();
    assert!(read >= files.len());
    let of_files = ours.iter().filter(|(_, span)| {
        span["name"] == "read"
            && by_id[span["parentSpanId"].as_str().expect("a parent")]["name"] == "recall"
    });
    assert_eq!(of_files.count(), read);
    assert!(counts[&("tapewise-mover", "mount")] > 0 && counts[&("tapewise-mover", "locate")] > 0);
    // The caller's trace and ours point at each other.
    let [(_, called)] = &in_callers[..] else {
        panic!("{in_callers:?}");
    };
    assert_eq!(called["parentSpanId"], "00f067aa0ba902b7");
    assert_eq!(called["links"][0]["traceId"], trace.as_str());
    let root = by_id
        .values()
        .find(|span| span["name"] == "stage")
        .expect("a root");
    assert_eq!(root["links"][0]["traceId"], CALLER);
    assert_eq!(called["links"][0]["spanId"], root["spanId"]);
}

#[test]
fn a_collector_that_is_away_holds_nothing_up() {
    let desk = desk();
    make_files_of(&desk, "reel", 3, 600);
    desk.done("store --archive A reel --quiet");
    empty_cache(&desk);
    let closed = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let collector = format!("http://{}", closed.local_addr().expect("an address"));
    drop(closed);
    let recall = "$TAPEWISE recall --archive A --to out reel --quiet 2>&1";
    let recall = desk.shell(&format!("OTEL_EXPORTER_OTLP_ENDPOINT={collector} {recall}"));
    assert_eq!(recall.code, 0);
    let said = recall.text();
    assert_eq!(said.matches(&collector).count(), 1, "{said}");
    let differ = desk.shell("diff -r reel out/reel");
    assert_eq!(differ.text(), "");
}
