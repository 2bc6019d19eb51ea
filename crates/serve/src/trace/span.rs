//! Spans, and how OTLP writes them as JSON.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// A trace: all that is done for one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TraceId([u8; 16]);

/// A span of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SpanId([u8; 8]);

/// A trace, and the span there that something belongs to; none: it is the whole.
pub(super) type Within = (TraceId, Option<SpanId>);

/// A place in a trace.
pub(super) type Context = (TraceId, SpanId);

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // A string takes what is written to it.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn of_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    // Zeros mean that there is none.
    (bytes != [0; N]).then_some(bytes)
}

impl TraceId {
    /// The trace of a request over HTTP: the number in its id, so every process that knows the request knows its trace.
    pub fn of_stage(id: &str) -> TraceId {
        let digits = id.replace('-', "");
        TraceId(of_hex(&digits).unwrap_or_else(|| digest(&["stage", id])))
    }

    /// The trace of what one `tapewise recall` asked for: it asked for all of it in the same instant.
    pub fn of_recall(archive: &str, user: &str, created_ns: i64) -> TraceId {
        TraceId(digest(&["recall", archive, user, &created_ns.to_string()]))
    }

    /// The span that all others of the trace are below.
    pub fn root(self) -> SpanId {
        self.span("root", 0)
    }

    /// The span of something that began at a time.
    pub fn span(self, name: &str, at_ns: i64) -> SpanId {
        SpanId(digest(&[&hex(&self.0), name, &at_ns.to_string()]))
    }
}

fn digest<const N: usize>(parts: &[&str]) -> [u8; N] {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part);
        digest.update([0]);
    }
    let mut bytes = [0; N];
    bytes.copy_from_slice(&digest.finalize()[..N]);
    bytes
}

/// Where the caller is, as its header `traceparent` says (W3C Trace Context, section 3.2); none where that is no place.
pub(super) fn of_caller(traceparent: &str) -> Option<Context> {
    let mut parts = traceparent.trim().split('-');
    let version: [u8; 1] = match parts.next()? {
        "00" => [0],
        version => of_hex(version)?,
    };
    let (trace, span) = (of_hex(parts.next()?)?, of_hex(parts.next()?)?);
    let flags = parts.next()?;
    let is_whole = flags.len() == 2 && (version != [0] || parts.next().is_none());
    (is_whole && version != [0xff]).then_some((TraceId(trace), SpanId(span)))
}

/// What somebody did, from when to when.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span {
    pub trace: TraceId,
    pub id: SpanId,
    pub parent: Option<SpanId>,
    pub name: String,
    /// Whether it answers somebody else's call.
    pub is_server: bool,
    pub start_ns: i64,
    pub end_ns: i64,
    pub attributes: Vec<(&'static str, Value)>,
    /// Another trace that has to do with it.
    pub link: Option<Context>,
    /// Why it failed.
    pub error: Option<String>,
}

impl Span {
    /// Something that was done for the request of a trace. `what` tells it from all else below its parent that
    /// begins in the same instant.
    pub fn new(
        (trace, parent): Within,
        name: &str,
        what: &str,
        (start_ns, end_ns): (i64, i64),
    ) -> Span {
        let parent_hex = parent.map_or(String::new(), |parent| hex(&parent.0));
        Span {
            trace,
            id: trace.span(&format!("{parent_hex} {name} {what}"), start_ns),
            parent,
            name: name.to_owned(),
            is_server: false,
            start_ns,
            // Clocks of hosts differ a little.
            end_ns: end_ns.max(start_ns),
            attributes: Vec::new(),
            link: None,
            error: None,
        }
    }

    fn json(&self) -> Value {
        let mut span = json!({
            "traceId": hex(&self.trace.0),
            "spanId": hex(&self.id.0),
            "name": self.name,
            "kind": if self.is_server { 2 } else { 1 },
            "startTimeUnixNano": self.start_ns.to_string(),
            "endTimeUnixNano": self.end_ns.to_string(),
            "attributes": attributes(self.attributes.iter().map(|(name, value)| (*name, value))),
        });
        if let Some(parent) = self.parent {
            span["parentSpanId"] = json!(hex(&parent.0));
        }
        if let Some((trace, id)) = self.link {
            span["links"] = json!([{ "traceId": hex(&trace.0), "spanId": hex(&id.0) }]);
        }
        if let Some(error) = &self.error {
            span["status"] = json!({ "code": 2, "message": error });
        }
        span
    }
}

fn attributes<'a>(all: impl Iterator<Item = (&'a str, &'a Value)>) -> Vec<Value> {
    let value = |value: &Value| match value {
        Value::Number(number) if number.is_f64() => json!({ "doubleValue": number }),
        // Whole numbers are strings there: 64 bits are more than JSON's numbers hold everywhere.
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        Value::String(text) => json!({ "stringValue": text }),
        other => json!({ "stringValue": other.to_string() }),
    };
    all.map(|(name, it)| json!({ "key": name, "value": value(it) }))
        .collect()
}

/// Spans of a process as OTLP wants them (ExportTraceServiceRequest, JSON encoding).
pub(super) fn request(resource: &[(String, String)], spans: &[Span]) -> Value {
    let resource: Vec<(&str, Value)> = resource
        .iter()
        .map(|(name, value)| (name.as_str(), json!(value)))
        .collect();
    let resource = attributes(resource.iter().map(|(name, value)| (*name, value)));
    let spans: Vec<Value> = spans.iter().map(Span::json).collect();
    let scope = json!({ "name": "tapewise", "version": env!("CARGO_PKG_VERSION") });
    json!({ "resourceSpans": [{
        "resource": { "attributes": resource },
        "scopeSpans": [{ "scope": scope, "spans": spans }],
    }] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_of_a_stage_request_is_the_number_in_its_id() {
        let trace = TraceId::of_stage("9adeaada-5ff7-4ebf-a1d7-56adad4fc860");
        assert_eq!(hex(&trace.0), "9adeaada5ff74ebfa1d756adad4fc860");
        assert_ne!(TraceId::of_stage("elsewhere"), TraceId::of_stage("here"));
        assert_ne!(
            TraceId::of_recall("A", "ada", 1),
            TraceId::of_recall("A", "ada", 2)
        );
    }

    #[test]
    fn a_caller_is_where_its_header_says() {
        // The example of the standard.
        let (trace, span) =
            of_caller("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").expect("a place");
        assert_eq!(hex(&trace.0), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(hex(&span.0), "00f067aa0ba902b7");
        for nonsense in [
            "",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(of_caller(nonsense), None, "{nonsense}");
        }
    }
}
