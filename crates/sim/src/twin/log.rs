//! Logs of a site, and the requests in them.

use std::collections::BTreeMap;
use tapewise_formats::asked_csv::Asked;
use tapewise_formats::cta_log::CtaLog;
use tapewise_formats::event_log::EventLog;
use tapewise_formats::notice::Notice;

/// A log of a site.
#[derive(Debug)]
pub enum Log {
    /// What was asked, and when it was answered.
    Asked(Vec<Asked>),
    /// What drives and robots did.
    Events(EventLog),
    /// What CTA's tape daemon read.
    Cta(CtaLog),
}

impl Log {
    /// What is odd in it.
    pub fn notices(&self) -> &[Notice] {
        match self {
            Log::Asked(_) => &[],
            Log::Events(log) => &log.notices,
            Log::Cta(log) => &log.notices,
        }
    }
}

/// A request as the twin gets it.
pub(super) struct Arrival {
    pub at_s: f64,
    pub cartridge: String,
    pub place: Option<f64>,
    pub size_mb: Option<f64>,
    pub priority: u8,
    pub owner: Option<String>,
    pub activity: Option<String>,
    pub response_s: Option<f64>,
}

impl Arrival {
    /// As a table has it.
    pub fn of(asked: &Asked) -> Arrival {
        Arrival {
            at_s: asked.arrived_s,
            cartridge: asked.cartridge.clone(),
            place: asked.place,
            size_mb: asked.size_mb,
            priority: asked.priority,
            owner: asked.owner.clone(),
            activity: asked.activity.clone(),
            response_s: asked.response_s,
        }
    }
}

/// Names, each once, with a number: those that end in numbers in the order of these.
pub(super) fn names<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, u32> {
    let mut sorted: Vec<&str> = names.collect();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.sort_by_key(|name| (name.len(), *name));
    sorted.into_iter().zip(0..).collect()
}
