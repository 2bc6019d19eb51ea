//! What delays between reads cost, and long pauses after large ones.

use super::super::subject::Subject;
use tapewise_formats::event::{Action, Event};

/// Reading blocks with a delay after each.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayTolerance {
    /// The longest delay in ms that costs no rate.
    pub ms: f64,
    /// Delay in ms, period of a block in ms, response in ms: by delay.
    pub measured: Vec<(f64, f64, f64)>,
}

/// A period longer than this share of the undelayed one has grown.
const GROWN: f64 = 1.05;

impl DelayTolerance {
    /// Up to the tolerance a block takes the time of the tape; beyond it the response and the
    /// delay. The two lines meet at the tolerance.
    pub(super) fn of<'a, 'e: 'a>(
        samples: impl Iterator<Item = &'a [&'e Event]>,
    ) -> Option<DelayTolerance> {
        let mut measured: Vec<(f64, f64, f64)> = samples.filter_map(one_delay).collect();
        measured.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (_, undelayed, _) = *measured.first().filter(|(delay, ..)| *delay == 0.0)?;
        let grown = measured
            .iter()
            .filter(|(_, period, _)| *period > GROWN * undelayed);
        let response: Vec<f64> = grown.map(|(_, _, response)| *response).collect();
        if response.is_empty() {
            return None;
        }
        let response = response.iter().sum::<f64>() / response.len() as f64;
        Some(DelayTolerance {
            ms: (undelayed - response).max(0.0),
            measured,
        })
    }
}

/// Delay, period and response of one sample, in ms. The first third is the drive finding its pace.
fn one_delay(events: &[&Event]) -> Option<(f64, f64, f64)> {
    let settled = events.get(events.len() / 3..)?;
    let sum = |action: Action| {
        let chosen = settled.iter().filter(|event| event.action == action);
        chosen.map(|event| event.took_us.0).sum::<i64>() as f64 / 1e3
    };
    let reads = settled.iter().filter(|event| event.action == Action::Read);
    let count = reads.count() as f64;
    let delay = events.first()?.parameter? as f64 / 1e3;
    let response = sum(Action::Read) / count;
    (count > 0.0).then_some((delay, response + sum(Action::Pause) / count, response))
}

/// What it costs to start again after a pause.
#[derive(Clone, Debug, PartialEq)]
pub struct Restart {
    /// Seconds lost, in the mean of those that lost any; 0 where none did.
    pub penalty_s: f64,
    /// The smallest read in MB that lost time.
    pub smallest_mb: Option<f64>,
    /// The shortest pause in seconds that lost time.
    pub shortest_pause_s: Option<f64>,
    /// MB, pause in seconds, seconds lost.
    pub measured: Vec<(f64, f64, f64)>,
}

/// Seconds that count as a restart; less is a turn of the tape, a back-hitch.
pub const RESTART_S: f64 = 3.0;

impl Restart {
    pub(super) fn of<'a, 'e: 'a>(
        samples: impl Iterator<Item = &'a [&'e Event]>,
        subject: &Subject,
    ) -> Option<Restart> {
        let measured = samples.filter_map(|events| {
            let reads: Vec<&&Event> = events
                .iter()
                .filter(|event| event.action == Action::Read)
                .collect();
            let [before, after] = reads[..] else {
                return None;
            };
            let mb = after.bytes.saturating_mul(subject.byte_scale) as f64 / 1e6;
            let lost = (after.took_us - before.took_us).as_secs_f64();
            Some((mb, events.first()?.parameter? as f64, lost))
        });
        let measured: Vec<(f64, f64, f64)> = measured.collect();
        if measured.is_empty() {
            return None;
        }
        let lost = || measured.iter().filter(|(.., lost)| *lost > RESTART_S);
        let penalty: f64 = lost().map(|(.., lost)| lost).sum();
        Some(Restart {
            penalty_s: penalty / (lost().count().max(1)) as f64,
            smallest_mb: lost().map(|(mb, ..)| *mb).min_by(f64::total_cmp),
            shortest_pause_s: lost().map(|(_, pause, _)| *pause).min_by(f64::total_cmp),
            measured,
        })
    }
}
