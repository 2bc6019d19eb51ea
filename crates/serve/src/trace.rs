//! Traces: what was done for a request, from the call over HTTP to the delivery, for collectors of OpenTelemetry.
//!
//! A trace needs no memory of its own. Its number is the request's, so service and movers, on whatever host and after
//! whatever restart, put their spans into the same one. What a mover tells it takes from the events of its drives and
//! from the catalogue's journal, when a cartridge leaves its drive.
//!
//! | module | what it knows |
//! |---|---|
//! | `span` | numbers of traces and spans, and the JSON of OTLP |
//! | `export` | the way to a collector |

mod export;
mod span;

pub use export::{Collector, Lost};

use export::Exporter;
use serde_json::json;
use span::{Span, TraceId, Within, of_caller};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use tapewise_archive::catalogue::{Catalogue, Request, RequestId, RequestState, Result};
use tapewise_formats::event::{Action, Event, Outcome};

/// Makes spans of what happens, and sends them to a collector.
pub struct Tracer {
    exporter: Exporter,
    /// What was done with the cartridges that are in drives, by drive.
    mounts: Mutex<HashMap<String, Mount>>,
}

/// What was done with a cartridge, from when the robot went for it.
#[derive(Debug)]
struct Mount {
    drive: String,
    cartridge: String,
    done: Vec<Done>,
}

/// Something that a drive or a robot did, by the clock of the host.
#[derive(Debug)]
struct Done {
    action: Action,
    start_ns: i64,
    end_ns: i64,
    /// On the drive's clock.
    took_s: f64,
    requests: Vec<RequestId>,
    error: Option<String>,
}

/// A call that asks for files.
pub(crate) struct Call<'a> {
    /// The request that came of it.
    pub stage: &'a str,
    pub user: Option<&'a str>,
    pub start_ns: i64,
    pub end_ns: i64,
    /// The header `traceparent` of the caller.
    pub traceparent: Option<&'a str>,
}

impl Tracer {
    /// A tracer that sends to a collector.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn new(collector: Collector, lost: Lost) -> std::io::Result<Tracer> {
        Ok(Tracer {
            exporter: Exporter::new(collector, lost)?,
            mounts: Mutex::default(),
        })
    }

    /// Somebody asked for files.
    pub(crate) fn called(&self, call: &Call<'_>) {
        self.exporter.send(of_call(call));
    }

    /// A drive or a robot has done something. When it was the last thing with a cartridge, its spans are sent.
    ///
    /// # Errors
    /// The catalogue cannot be asked what the cartridge was read for: these spans are lost.
    pub fn saw(&self, catalogue: &dyn Catalogue, event: &Event, now_ns: i64) -> Result<()> {
        let (Some(drive), Some(cartridge)) = (&event.device, &event.cartridge) else {
            return Ok(());
        };
        if event.action == Action::Return {
            return Ok(());
        }
        let mut over = Vec::new();
        {
            let mut mounts = self.mounts.lock().unwrap_or_else(PoisonError::into_inner);
            let is_another = |mount: &Mount| &mount.cartridge != cartridge;
            // A drive that failed gave its cartridge out without a word.
            if mounts.get(drive).is_some_and(is_another) {
                over.extend(mounts.remove(drive));
            }
            let mount = mounts.entry(drive.clone()).or_insert_with(|| Mount {
                drive: drive.clone(),
                cartridge: cartridge.clone(),
                done: Vec::new(),
            });
            mount.add(event, now_ns);
            if event.action == Action::Unmount {
                over.extend(mounts.remove(drive));
            }
        }
        for mut mount in over {
            self.exporter.send(of_mount(catalogue, &mut mount)?);
        }
        Ok(())
    }
}

impl Mount {
    fn add(&mut self, event: &Event, now_ns: i64) {
        let took_ns = event.took_us.0.saturating_mul(1_000);
        let before_ns = self.done.last().map_or(i64::MIN, |last| last.end_ns);
        let purpose = event.purpose.as_deref();
        self.done.push(Done {
            action: event.action,
            // The time of an emulated drive goes faster than ours.
            start_ns: now_ns.saturating_sub(took_ns).max(before_ns),
            end_ns: now_ns,
            took_s: event.took_us.as_secs_f64(),
            requests: purpose.map_or_else(Vec::new, |purpose| recalls_of(purpose).collect()),
            error: (event.outcome == Outcome::Failed)
                .then(|| event.sense.clone().unwrap_or_default()),
        });
    }

    /// The span of something that was done.
    fn span(&self, within: Within, done: &Done) -> Span {
        let times = (done.start_ns, done.end_ns);
        let mut span = Span::new(within, &done.action.to_string(), &self.drive, times);
        span.attributes = self.attributes();
        span.attributes
            .push(("tapewise.took_s", json!(done.took_s)));
        span.error = done.error.clone();
        span
    }

    fn attributes(&self) -> Vec<(&'static str, serde_json::Value)> {
        vec![
            ("tapewise.drive", json!(self.drive)),
            ("tapewise.volume", json!(self.cartridge)),
        ]
    }
}

/// The recalls that an action was for: `purpose` of the event log.
pub fn recalls_of(purpose: &str) -> impl Iterator<Item = RequestId> {
    let names = purpose.strip_prefix("request ").unwrap_or_default();
    let (names, _) = names.split_once(" segment ").unwrap_or((names, ""));
    let names = names.split(", ");
    names.filter_map(|name| Some(RequestId(name.parse().ok()?)))
}

/// The call is the root of the request's trace. A caller that has a trace of its own gets a span in it too: the two
/// are linked, for a recall may serve several callers, days later.
fn of_call(call: &Call<'_>) -> Vec<Span> {
    let trace = TraceId::of_stage(call.stage);
    let caller = call.traceparent.and_then(of_caller);
    let times = (call.start_ns, call.end_ns);
    let mut attributes = vec![
        ("http.request.method", json!("POST")),
        ("http.response.status_code", json!(201)),
        ("tapewise.request_id", json!(call.stage)),
    ];
    attributes.extend(call.user.map(|user| ("enduser.id", json!(user))));
    let root = Span {
        trace,
        id: trace.root(),
        parent: None,
        name: "stage".to_owned(),
        is_server: true,
        start_ns: call.start_ns,
        end_ns: call.end_ns,
        attributes,
        link: caller,
        error: None,
    };
    let in_callers = caller.map(|caller| Span {
        is_server: true,
        attributes: root.attributes.clone(),
        link: Some((trace, root.id)),
        ..Span::new(
            (caller.0, Some(caller.1)),
            root.name.as_str(),
            call.stage,
            times,
        )
    });
    std::iter::once(root).chain(in_callers).collect()
}

/// What was done with a cartridge, in the traces of all requests that it was read for.
fn of_mount(catalogue: &dyn Catalogue, mount: &mut Mount) -> Result<Vec<Span>> {
    let requests = mount.done.iter().flat_map(|done| &done.requests);
    let requests: BTreeSet<RequestId> = requests.copied().collect();
    if requests.is_empty() {
        return Ok(Vec::new());
    }
    let archive = catalogue.tie()?.id;
    let asked = requests.iter().map(|request| catalogue.request(*request));
    let asked: Vec<Request> = asked.collect::<Result<_>>()?;
    // Nobody goes for a cartridge that is not claimed. Of emulated robots the first way would begin before.
    let claimed_ns = asked.iter().filter_map(|asked| asked.started_ns).min();
    for done in &mut mount.done {
        let began_ns = done.start_ns.max(claimed_ns.unwrap_or(i64::MIN));
        done.start_ns = began_ns.min(done.end_ns);
    }
    let mount = &*mount;
    let mut spans = Vec::new();
    let mut traces = Vec::new();
    for asked in &asked {
        let request = asked.id;
        let stages = catalogue.stages_of(request)?;
        let stages = stages.iter().map(|id| TraceId::of_stage(id));
        let mut its: Vec<Within> = stages.map(|trace| (trace, Some(trace.root()))).collect();
        if its.is_empty() {
            let user = &asked.terms.user;
            its.push((TraceId::of_recall(&archive, user, asked.created_ns), None));
        }
        for within in its {
            spans.extend(of_recall(within, mount, asked));
            traces.push(within);
        }
    }
    traces.sort_unstable();
    traces.dedup();
    let ends = mount.done.first().zip(mount.done.last());
    let Some((first, last)) = ends else {
        return Ok(spans);
    };
    for within in traces {
        let times = (first.start_ns, last.end_ns);
        let mut whole = Span::new(within, "cartridge", &mount.drive, times);
        whole.attributes = mount.attributes();
        let here = (within.0, Some(whole.id));
        let others = mount.done.iter().filter(|done| done.requests.is_empty());
        spans.extend(others.map(|done| mount.span(here, done)));
        spans.push(whole);
    }
    Ok(spans)
}

/// What was done for a recall: it waited, the drive went to the file and read it, and the file was delivered.
fn of_recall(within: Within, mount: &Mount, asked: &Request) -> Vec<Span> {
    let all = mount.done.iter();
    let its: Vec<&Done> = all
        .filter(|done| done.requests.contains(&asked.id))
        .collect();
    let read_ns = its.iter().map(|done| done.end_ns).max();
    // A small file has its name before the drive's event is written.
    let end_ns = asked.done_ns.max(read_ns).unwrap_or(asked.created_ns);
    let times = (asked.created_ns, end_ns);
    let number = asked.id.0.to_string();
    let mut whole = Span::new(within, "recall", &number, times);
    whole.attributes = mount.attributes();
    whole
        .attributes
        .push(("tapewise.recall", json!(asked.id.0)));
    let is_failed = asked.state == RequestState::Failed;
    whole.error = is_failed.then(|| asked.reason.clone().unwrap_or_default());
    let here = (within.0, Some(whole.id));
    let mut spans: Vec<Span> = its.iter().map(|done| mount.span(here, done)).collect();
    if let Some(started_ns) = asked.started_ns {
        spans.push(Span::new(here, "queue", "", (asked.created_ns, started_ns)));
    }
    if let (RequestState::Delivered, Some(done_ns), Some(read_ns)) =
        (asked.state, asked.done_ns, read_ns)
    {
        let from_ns = read_ns.min(done_ns);
        spans.push(Span::new(here, "deliver", "", (from_ns, done_ns)));
    }
    spans.push(whole);
    spans
}
