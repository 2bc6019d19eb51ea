//! A simulation of emulated drives, with the times that they took.

#![allow(dead_code)] // Each example uses a part of it.

use std::error::Error;
use tapewise_fit::log::Records;
use tapewise_fit::{FitOptions, fit_records, fitted_profile};
use tapewise_formats::asked_csv::Asked;
use tapewise_formats::event::{Action, Event, Spot};
use tapewise_formats::event_log::{EventLog, EventWriter, Header, Session};
use tapewise_model::{Geometry, Profile};
use tapewise_sim::Scenario;
use tapewise_sim::scenario::Dismount;
use tapewise_sim::twin::{Log, Twin};

/// The profile of drives, with a locate-time model that is fitted to what they did.
pub fn fitted(events: &[Event], base: &Profile) -> Result<Profile, Box<dyn Error>> {
    let mut text = Vec::new();
    let mut writer = EventWriter::new(&mut text, &Header::new("emulated"))?;
    for event in events {
        writer.write(event)?;
    }
    let mut records = Records::default();
    let read = records.read("events.jsonl", &text[..], None);
    read.map_err(|(_, error)| error)?;
    let found = fit_records(records, base, FitOptions::default())?;
    Ok(fitted_profile(base, &found, "fitted"))
}

/// A scenario with these requests and the times of these events, whose bytes are those of the tape. Searches are those
/// of the drives' model; robots, loads and unloads are as they were measured.
pub fn twin(
    asked: Vec<Asked>,
    events: Vec<Event>,
    drive: &Profile,
) -> Result<Scenario, Box<dyn Error>> {
    let mut header = Header::new("emulated");
    header.profile = Some(drive.name.clone());
    let log = EventLog {
        sessions: vec![Session {
            header: Some(header),
            events,
        }],
        ..EventLog::default()
    };
    let twin = Twin::new(&[Log::Asked(asked), Log::Events(log)])?;
    let mut scenario = Scenario::from_toml(&twin.text.replace("\"sort\"", "\"best\""))?;
    // The archive chooses before it unloads. A log of drives that were always needed at once does not tell.
    scenario.policy.dismount = Dismount::WhenNeeded;
    Ok(scenario)
}

/// How much tape a block of the host takes, by what drives have read.
pub struct Tape {
    /// In wraps.
    pub block_wraps: f64,
    pub block_bytes: f64,
    /// Where block 0 would lie, in wraps.
    first_wraps: f64,
    geometry: Geometry,
}

impl Tape {
    /// As these reads tell.
    pub fn of(events: &[Event], drive: &Profile) -> Result<Tape, Box<dyn Error>> {
        let geometry = drive.geometry()?;
        let wrap_gb = drive.cartridge.wrap_gb.as_ref().ok_or("no wrap_gb")?.value;
        let reads = events.iter().filter(|event| event.action == Action::Read);
        let (mut read_wraps, mut blocks, mut begins) = (0.0, 0, Vec::new());
        for event in reads {
            let Some(from) = wraps(&geometry, &event.from) else {
                continue;
            };
            if let Some(to) = wraps(&geometry, &event.to) {
                read_wraps += to - from;
                blocks += event.blocks;
            }
            // The block with the label is a short one.
            let block = event.from.and_then(|spot| spot.block);
            let block = block.filter(|_| event.purpose.is_some());
            begins.extend(block.map(|block| (from, block as f64)));
        }
        let block_wraps = read_wraps / blocks as f64;
        let firsts = begins
            .iter()
            .map(|(from, block)| from - block * block_wraps);
        Ok(Tape {
            block_wraps,
            block_bytes: block_wraps * wrap_gb * 1e9,
            first_wraps: firsts.sum::<f64>() / begins.len() as f64,
            geometry,
        })
    }

    /// Where a block lies, as a share of the tape.
    pub fn place(&self, block: u64) -> f64 {
        self.share(self.first_wraps + block as f64 * self.block_wraps)
    }

    /// Where a place is, as a share of the tape.
    pub fn share(&self, wraps: f64) -> f64 {
        wraps / f64::from(self.geometry.wraps)
    }

    /// How far along the tape a spot is, in wraps.
    pub fn wraps(&self, spot: &Option<Spot>) -> Option<f64> {
        wraps(&self.geometry, spot)
    }

    /// The events, with bytes of tape instead of the host's.
    pub fn weigh(&self, events: &mut [Event]) {
        for event in events {
            event.bytes = (event.blocks as f64 * self.block_bytes) as u64;
        }
    }
}

fn wraps(geometry: &Geometry, spot: &Option<Spot>) -> Option<f64> {
    let spot = spot.as_ref()?;
    let (wrap, lpos) = (spot.wrap?, spot.lpos?);
    let along = geometry.along(wrap, lpos) as f64 / f64::from(geometry.wrap_lpos());
    Some(f64::from(wrap) + along)
}
