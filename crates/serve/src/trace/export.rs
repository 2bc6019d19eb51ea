//! Sends spans to a collector by OTLP over HTTP, as JSON, on a thread of its own.

use super::span::{Span, request};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a collector may take, and how long what waits for it is still sent when the program ends.
const PATIENCE: Duration = Duration::from_secs(10);

/// Batches that may wait for a collector; more are dropped. Drives wait for nobody.
const MOST_BATCHES: usize = 1_000;

/// Spans in one message.
const MOST_SPANS: usize = 1_000;

/// Where spans go, and what they say about their origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collector {
    /// The address that takes traces, such as `http://127.0.0.1:4318/v1/traces`.
    pub url: String,
    /// Headers that it wants.
    pub headers: Vec<(String, String)>,
    /// What is true of all spans: `service.name` and others.
    pub resource: Vec<(String, String)>,
}

/// Is told that spans were lost, and why.
pub type Lost = Box<dyn Fn(&str) + Send>;

/// The way to a collector. When it is dropped, what waits is sent first, as far as there is time.
pub(super) struct Exporter {
    batches: Option<SyncSender<Vec<Span>>>,
    /// Spans for which there was no room.
    dropped: Arc<AtomicU64>,
    /// When the program began to end.
    ends: Arc<OnceLock<Instant>>,
    thread: Option<JoinHandle<()>>,
}

impl Exporter {
    pub fn new(collector: Collector, lost: Lost) -> std::io::Result<Exporter> {
        Exporter::patient(collector, lost, PATIENCE)
    }

    fn patient(collector: Collector, lost: Lost, patience: Duration) -> std::io::Result<Exporter> {
        let (batches, waiting) = sync_channel(MOST_BATCHES);
        let (dropped, ends) = (Arc::new(AtomicU64::new(0)), Arc::new(OnceLock::new()));
        let sender = Sender {
            collector,
            dropped: Arc::clone(&dropped),
            ends: Arc::clone(&ends),
            lost,
            patience,
        };
        let thread = std::thread::Builder::new()
            .name("traces".to_owned())
            .spawn(move || sender.send_all(&waiting))?;
        Ok(Exporter {
            batches: Some(batches),
            dropped,
            ends,
            thread: Some(thread),
        })
    }

    /// Sends spans when the collector has time for them.
    pub fn send(&self, spans: Vec<Span>) {
        let Some(batches) = &self.batches else {
            return;
        };
        if let Err(TrySendError::Full(spans) | TrySendError::Disconnected(spans)) =
            batches.try_send(spans)
        {
            let count = spans.len() as u64;
            self.dropped.fetch_add(count, Ordering::Relaxed);
        }
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        self.ends.get_or_init(Instant::now);
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            // It has said what went wrong.
            let _ = thread.join();
        }
    }
}

/// What the thread of an exporter works with.
struct Sender {
    collector: Collector,
    dropped: Arc<AtomicU64>,
    ends: Arc<OnceLock<Instant>>,
    lost: Lost,
    patience: Duration,
}

impl Sender {
    fn send_all(&self, waiting: &Receiver<Vec<Span>>) {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(self.patience))
            .build();
        let agent = ureq::Agent::new_with_config(agent);
        let url = &self.collector.url;
        let (mut is_lost, mut unsent) = (false, 0);
        while let Ok(spans) = waiting.recv() {
            match self.dropped.swap(0, Ordering::Relaxed) {
                0 => {}
                count => (self.lost)(&format!("{url} is too slow for {count} spans")),
            }
            for some in spans.chunks(MOST_SPANS) {
                // Else a collector that does not answer would hold up the end of the program for each batch.
                let began = self.ends.get();
                if began.is_some_and(|began| began.elapsed() >= self.patience) {
                    unsent += some.len();
                    continue;
                }
                match self.post(&agent, some) {
                    Ok(()) => is_lost = false,
                    Err(error) if !is_lost => {
                        is_lost = true;
                        (self.lost)(&format!("{url}: {error}"));
                    }
                    Err(_) => {}
                }
            }
        }
        if unsent > 0 {
            (self.lost)(&format!(
                "{url}: {unsent} spans were not sent before the end"
            ));
        }
    }

    fn post(&self, agent: &ureq::Agent, spans: &[Span]) -> Result<(), ureq::Error> {
        let body = request(&self.collector.resource, spans).to_string();
        let mut post = agent
            .post(&self.collector.url)
            .header("Content-Type", "application/json");
        for (name, value) in &self.collector.headers {
            post = post.header(name, value);
        }
        post.send(body).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::super::span::TraceId;
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_collector_that_does_not_answer_is_not_waited_for_to_the_last_span() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a socket");
        let address = silent.local_addr().expect("an address");
        let collector = Collector {
            url: format!("http://{address}/v1/traces"),
            headers: Vec::new(),
            resource: Vec::new(),
        };
        let said = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&said);
        let lost: Lost = Box::new(move |why| hears.lock().expect("whole").push(why.to_owned()));
        let patience = Duration::from_millis(100);
        let exporter = Exporter::patient(collector, lost, patience).expect("a thread");
        for at_ns in 0..50 {
            let within = (TraceId::of_stage("a"), None);
            exporter.send(vec![Span::new(within, "stage", "", (at_ns, at_ns))]);
        }
        drop(exporter);
        let said = said.lock().expect("whole");
        let last = said.last().expect("something is lost");
        assert!(
            last.ends_with("spans were not sent before the end"),
            "{said:?}"
        );
    }
}
