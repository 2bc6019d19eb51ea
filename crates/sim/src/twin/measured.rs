//! What logs tell of drives and robots.

use super::log::{Arrival, Log};
use super::priced::{AsItWas, MEAN, P95, numbers};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use tapewise_formats::cta_log::{CtaLog, CtaRead};
use tapewise_formats::event::{Action, Event, Outcome, Spot};
use tapewise_formats::event_log::EventLog;
use tapewise_model::Micros;

/// Counts and times.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// How long each kind of action took, in seconds.
    times_s: BTreeMap<&'static str, Vec<f64>>,
    drives: BTreeSet<String>,
    robots: BTreeSet<String>,
    /// How many robots moved at once, at most, in one log.
    at_once: usize,
    /// Drives unload from the middle of the tape, so the way to its beginning is in the time of an unload.
    pub unload_rewinds: bool,
    /// Bytes read, and in how many reads.
    pub bytes: u64,
    pub reads: u64,
    /// Those that tell the rate.
    rate: Rate,
    /// The profile of the drives, where the log names one.
    pub profile: Option<String>,
    /// From the end of a drive's last action to the next unload, in seconds.
    pub idle_s: Vec<f64>,
    /// When a mount began, which cartridge it was of, and what was read of it.
    mounts: Vec<(f64, String, Vec<f64>)>,
    /// Some lines of CTA's log do not tell when they were written.
    pub undated: bool,
}

/// By what name the times of an action are kept, if they count.
fn timed(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::Fetch => "fetch",
        Action::Return => "return",
        Action::Mount => "mount",
        Action::Unmount => "unmount",
        Action::Rewind => "rewind",
        Action::Locate => "locate",
        Action::Read => "read",
        _ => return None,
    })
}

/// What was read in how long: by reads within a wrap, if the log tells places, as turning round takes no part in the
/// rate; and by all.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    within_a_wrap: (u64, f64),
    all: (u64, f64),
}

impl Rate {
    fn add(&mut self, bytes: u64, took_s: f64, is_within_a_wrap: bool) {
        let count = |(sum, sum_s): &mut (u64, f64)| {
            *sum += bytes;
            *sum_s += took_s;
        };
        count(&mut self.all);
        if is_within_a_wrap {
            count(&mut self.within_a_wrap);
        }
    }
}

impl Measured {
    /// What these logs tell.
    pub fn of(logs: &[Log]) -> Measured {
        let mut measured = Measured::default();
        // CTA's clock shows the date, that of an event log begins with its session.
        let written_us = logs.iter().flat_map(|log| match log {
            Log::Cta(log) => &log.reads[..],
            _ => &[],
        });
        let first_us = written_us
            .filter_map(|read: &CtaRead| read.written_us)
            .min();
        for log in logs {
            match log {
                Log::Asked(_) => {}
                Log::Events(log) => {
                    let headers = log
                        .sessions
                        .iter()
                        .filter_map(|session| session.header.as_ref());
                    let profiles: BTreeSet<&String> = headers
                        .filter_map(|header| header.profile.as_ref())
                        .collect();
                    // One that holds for all drives.
                    if let [profile] = profiles.into_iter().collect::<Vec<_>>()[..] {
                        measured.profile = Some(profile.clone());
                    }
                    measured.events(log);
                }
                Log::Cta(log) => measured.cta(log, first_us.unwrap_or(0)),
            }
        }
        measured
    }

    fn events(&mut self, log: &EventLog) {
        // Where reads say what for, what goes before them is part of the load: the label is looked at.
        let says_why = |event: &Event| event.action == Action::Read && event.purpose.is_some();
        let has_purposes = log.events().any(says_why);
        let mut moves = Vec::new();
        // A session's clock begins anew, and nobody knows how long nothing was done before it.
        let mut begins_s = 0.0;
        for session in &log.sessions {
            let events = &session.events;
            self.session(events, begins_s, has_purposes, &mut moves);
            let ends = events.iter().map(|event| event.at_us + event.took_us);
            begins_s += ends.max().unwrap_or_default().as_secs_f64();
        }
        self.at_once = self.at_once.max(at_once(&moves));
    }

    /// What a session tells, which begins then. When robots set out and were back is added to `moves`, in seconds.
    fn session(
        &mut self,
        events: &[Event],
        begins_s: f64,
        has_purposes: bool,
        moves: &mut Vec<(f64, f64)>,
    ) {
        let mut last: HashMap<&str, Micros> = HashMap::new();
        let mut open: HashMap<&str, usize> = HashMap::new();
        let mut loads: HashMap<&str, usize> = HashMap::new();
        let mut away: HashSet<&str> = HashSet::new();
        for event in events {
            let at_s = begins_s + event.at_us.as_secs_f64();
            let device = event.device.as_deref().unwrap_or_default();
            let cartridge = event.cartridge.as_deref().unwrap_or_default();
            let took_s = event.took_us.as_secs_f64();
            // What failed is done again: its time is not that of the action, and its read no request.
            if event.outcome != Outcome::Done {
                last.insert(device, event.at_us + event.took_us);
                continue;
            }
            let Some(name) = timed(event.action) else {
                continue;
            };
            match event.action {
                Action::Locate | Action::Read => away.insert(device),
                Action::Mount | Action::Rewind => away.remove(device),
                _ => false,
            };
            if event.purpose.is_some() || event.action == Action::Unmount {
                loads.remove(device);
            }
            if let Some(load) = loads.get(device) {
                self.times_s.entry("mount").or_default()[*load] += took_s;
                continue;
            }
            let times_s = self.times_s.entry(name).or_default();
            times_s.push(took_s);
            if event.action == Action::Mount && has_purposes {
                loads.insert(device, times_s.len() - 1);
            }
            if matches!(event.action, Action::Fetch | Action::Return) {
                self.robots.insert(device.to_owned());
                moves.push((at_s, at_s + took_s));
                continue;
            }
            self.drives.insert(device.to_owned());
            match event.action {
                Action::Mount => {
                    open.insert(device, self.mounts.len());
                    self.mounts.push((at_s, cartridge.to_owned(), Vec::new()));
                }
                Action::Read => self.read(event, open.get(device)),
                Action::Rewind | Action::Unmount => {
                    self.unload_rewinds |= event.action == Action::Unmount && away.contains(device);
                    if let Some(end) = last.remove(device) {
                        self.idle_s.push((event.at_us - end).as_secs_f64());
                    }
                    continue;
                }
                _ => {}
            }
            last.insert(device, event.at_us + event.took_us);
        }
    }

    /// What a read tells, of the mount with this number.
    fn read(&mut self, event: &Event, mount: Option<&usize>) {
        self.reads += 1;
        self.bytes += event.bytes;
        let wrap = |spot: Option<Spot>| spot.and_then(|spot| spot.wrap);
        let ends = (wrap(event.from), wrap(event.to));
        let is_within_a_wrap = ends.0.is_some() && ends.0 == ends.1;
        let took_s = event.took_us.as_secs_f64();
        self.rate.add(event.bytes, took_s, is_within_a_wrap);
        if let Some(mount) = mount {
            self.mounts[*mount].2.push(event.bytes as f64 / 1e6);
        }
    }

    /// What the log of CTA tells, with times since the first line of all of them.
    fn cta(&mut self, log: &CtaLog, first_us: i64) {
        let mut open: HashMap<(&str, &str), usize> = HashMap::new();
        for read in &log.reads {
            let size_mb = read.data_bytes as f64 / 1e6;
            let position_s = read.position_time.as_secs_f64();
            let read_s = read.read_time.map(|time| time.as_secs_f64());
            self.undated |= read.written_us.is_none();
            self.drives.extend(read.drive().map(str::to_owned));
            let written_s = (read.written_us.unwrap_or(0) - first_us) as f64 / 1e6;
            let began_s = written_s - position_s - read_s.unwrap_or(0.0);
            let mount = *open.entry((&read.mount, &read.volume)).or_insert_with(|| {
                self.mounts.push((began_s, read.volume.clone(), Vec::new()));
                self.mounts.len() - 1
            });
            // Lines may stand in any order.
            self.mounts[mount].0 = self.mounts[mount].0.min(began_s);
            // What a drive does before the first file of a mount is not only a locate.
            if !self.mounts[mount].2.is_empty() {
                self.times_s.entry("locate").or_default().push(position_s);
            }
            self.mounts[mount].2.push(size_mb);
            if let Some(read_s) = read_s {
                self.reads += 1;
                self.bytes += read.data_bytes;
                self.rate.add(read.data_bytes, read_s, false);
            }
        }
    }

    /// What was read, as if it had been asked for when its mount began.
    pub fn arrivals(&self) -> Vec<Arrival> {
        let first = self
            .mounts
            .iter()
            .map(|mount| mount.0)
            .fold(f64::INFINITY, f64::min);
        let mounts = self.mounts.iter();
        let each = mounts.flat_map(|(at_s, cartridge, reads)| {
            reads.iter().map(move |size_mb| Arrival {
                at_s: at_s - first,
                cartridge: cartridge.clone(),
                place: None,
                size_mb: Some(*size_mb),
                priority: 0,
                owner: None,
                activity: None,
                response_s: None,
            })
        });
        each.collect()
    }

    /// Responses, mounts, and the hours of drives where the logs have all of them: CTA's does not tell of robots and loads.
    pub fn as_it_was(&self, responses_s: &[f64]) -> AsItWas {
        let responses = (!responses_s.is_empty()).then(|| numbers(responses_s.to_vec()));
        let seconds: f64 = self.times_s.values().flatten().sum();
        AsItWas {
            mounts: (!self.mounts.is_empty()).then_some(self.mounts.len() as u64),
            drive_hours: self
                .times_s
                .contains_key("mount")
                .then_some(seconds / 3600.0),
            mean_s: responses.map(|numbers| numbers[MEAN]),
            p95_s: responses.map(|numbers| numbers[P95]),
        }
    }

    /// The rate of reading, in MB/s.
    pub fn rate_mb_s(&self) -> Option<f64> {
        let Rate { within_a_wrap, all } = self.rate;
        [within_a_wrap, all]
            .into_iter()
            .find(|(bytes, seconds)| *bytes > 0 && *seconds > 0.0)
            .map(|(bytes, seconds)| bytes as f64 / 1e6 / seconds)
    }

    /// The drives that the logs name.
    pub fn drives(&self) -> usize {
        self.drives.len()
    }

    /// The robots that the logs name. Where moves are told under the names of drives, as many as moved at once.
    pub fn robots(&self) -> usize {
        let named = self.robots.difference(&self.drives).count();
        if named > 0 { named } else { self.at_once }
    }

    /// How long an action took, sorted: at most a hundred values at even steps of their distribution.
    pub fn times_s(&self, name: &str) -> Option<Vec<f64>> {
        const MOST: usize = 100;
        let mut times = self.times_s.get(name)?.clone();
        times.sort_by(f64::total_cmp);
        let count = times.len();
        if count <= MOST {
            return Some(times);
        }
        // Means of a hundred equal parts: their mean is that of all.
        let part = |nth: usize| &times[nth * count / MOST..(nth + 1) * count / MOST];
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        Some((0..MOST).map(|nth| mean(part(nth))).collect())
    }
}

/// Times in logs are rounded, each by itself: one move may seem to begin before the last one is over.
const CLOCK_S: f64 = 0.001;

/// How many of these spans of time there were at one moment, at most.
fn at_once(spans: &[(f64, f64)]) -> usize {
    let mut ends: Vec<(f64, isize)> = spans
        .iter()
        .flat_map(|&(from, to)| [(from, 1), (to - CLOCK_S, -1)])
        .collect();
    // What ends makes room for what begins.
    ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let counts = ends.iter().scan(0, |count, (_, change)| {
        *count += change;
        Some(*count)
    });
    counts.max().unwrap_or(0).unsigned_abs()
}
