//! Sends spans to a collector by OTLP over HTTP, as JSON, on a thread of its own.

use super::span::{Span, request};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a collector may take.
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

/// The way to a collector. When it is dropped, what waits is sent first.
pub(super) struct Exporter {
    batches: Option<SyncSender<Vec<Span>>>,
    /// Spans for which there was no room.
    dropped: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Exporter {
    pub fn new(collector: Collector, lost: Lost) -> std::io::Result<Exporter> {
        let (batches, waiting) = sync_channel(MOST_BATCHES);
        let dropped = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&dropped);
        let thread = std::thread::Builder::new()
            .name("traces".to_owned())
            .spawn(move || send_all(&collector, &waiting, &counted, &lost))?;
        Ok(Exporter {
            batches: Some(batches),
            dropped,
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
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            // It has said what went wrong.
            let _ = thread.join();
        }
    }
}

fn send_all(
    collector: &Collector,
    waiting: &Receiver<Vec<Span>>,
    dropped: &AtomicU64,
    lost: &Lost,
) {
    let agent = ureq::Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .build();
    let agent = ureq::Agent::new_with_config(agent);
    let mut is_lost = false;
    while let Ok(spans) = waiting.recv() {
        match dropped.swap(0, Ordering::Relaxed) {
            0 => {}
            count => lost(&format!("{} is too slow for {count} spans", collector.url)),
        }
        for some in spans.chunks(MOST_SPANS) {
            let body = request(&collector.resource, some).to_string();
            let mut post = agent
                .post(&collector.url)
                .header("Content-Type", "application/json");
            for (name, value) in &collector.headers {
                post = post.header(name, value);
            }
            let sent = post.send(body);
            match sent {
                Ok(_) => is_lost = false,
                Err(error) if !is_lost => {
                    is_lost = true;
                    lost(&format!("{}: {error}", collector.url));
                }
                Err(_) => {}
            }
        }
    }
}
