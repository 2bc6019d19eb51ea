//! One drive with a tape in it: every motion it makes, with the time and the metres of tape it
//! takes.
//!
//! These are the emulated world's own mechanics; the locate-time models of `tapewise_model` are not
//! used here, so that a model can be wrong about this world as it can about the real one. Published
//! figures come out of the motions, or tests/mechanics_*.rs fail.

mod helical;
mod mount;
mod serpentine;
mod transfer;

pub use helical::{Helical, Near};
pub use mount::{Loading, Zones};
pub use serpentine::{ReadOn, Serpentine};
pub use transfer::Streaming;

use crate::tape::{Spot, Tape};
use serde::Deserialize;
use serpentine::Leg;
use std::collections::BTreeSet;
use tapewise_model::profile::UnmountMidtape;
use tapewise_model::{Micros, Random};
use transfer::{Request, Stream};

/// What an action took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// Time until it was done.
    pub time: Micros,
    /// Metres of tape that passed the head.
    pub metres: f64,
}

/// How a drive moves tape: everything about it that takes time.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanism {
    /// How it moves from place to place.
    pub transport: Transport,
    /// How it streams.
    pub streaming: Streaming,
    /// How it takes a cartridge in and gives it out.
    pub loading: Loading,
    /// How irregular its motions are.
    pub noise: Noise,
    /// Where a cartridge may be taken out.
    pub unmount_midtape: UnmountMidtape,
}

/// How a drive moves from place to place.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// To and fro on wraps.
    Serpentine(Serpentine),
    /// Along one helical track.
    Helical(Helical),
}

impl Transport {
    /// Whether data lies to and fro on wraps.
    pub fn is_serpentine(&self) -> bool {
        matches!(self, Transport::Serpentine(_))
    }
}

/// How far one action is off from the next like it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Standard deviation as a share of the time.
    pub share: f64,
    /// Standard deviation in seconds of finding a place, on top.
    pub seconds: f64,
    /// Chance that a landing fails and is tried again.
    pub retry_chance: f64,
    /// The most that trying again takes; the least is half of it.
    pub retry_s: f64,
}

/// What a stretch of data is, as the host sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// The partition.
    pub partition: u8,
    /// The first stored byte.
    pub from: u64,
    /// One past the last stored byte.
    pub to: u64,
    /// Bytes between host and drive, before compression, in the scale of stored bytes.
    pub host_bytes: u64,
    /// What gzip would compress them by; `None` with the drive's compression off.
    pub gzip_ratio: Option<f64>,
}

/// A drive with a tape in it.
#[derive(Clone, Debug)]
pub struct Mechanics {
    mechanism: Mechanism,
    tape: Tape,
    head: Spot,
    /// What the next byte read or written in sequence is.
    next: (u8, u64),
    stream: Stream,
    /// Places located since the mount.
    visited: BTreeSet<(u8, u64)>,
    /// Loaded away from the beginning of tape, and not moved since.
    lost: bool,
    random: Random,
}

/// A cartridge given out.
#[derive(Clone, Debug, PartialEq)]
pub struct Unloaded {
    /// What it took.
    pub motion: Motion,
    /// Where the tape was left, in LPOS; `None` if rewound.
    pub parked_lpos: Option<f64>,
}

impl Mechanics {
    /// A cartridge is put in: threads the tape and makes ready.
    ///
    /// `parked_lpos` is where it was left by [`Mechanics::unload`]; `noise` is the stream that this
    /// mount's small irregularities are drawn from.
    pub fn load(
        mechanism: &Mechanism,
        tape: Tape,
        parked_lpos: Option<f64>,
        noise: Random,
    ) -> (Mechanics, Motion) {
        let mut random = noise;
        let sd = mechanism.loading.sd;
        let seconds = mechanism.loading.mount_s * (1.0 + sd * random.normal()).max(0.5);
        let load_point = tape.load_point();
        let head = Spot {
            lpos: parked_lpos.unwrap_or(load_point.lpos),
            ..load_point
        };
        let mechanics = Mechanics {
            mechanism: mechanism.clone(),
            tape,
            head,
            next: (0, 0),
            stream: Stream::Idle,
            visited: BTreeSet::new(),
            lost: parked_lpos.is_some(),
            random,
        };
        let motion = Motion {
            time: Micros::from_secs_f64(seconds),
            metres: 0.0,
        };
        (mechanics, motion)
    }

    /// Takes the cartridge out, after going where this drive lets go of it: to the beginning of
    /// tape, a system zone, or the end of data (`end_of_data`: partition and stored offset).
    pub fn unload(mut self, end_of_data: (u8, u64)) -> Unloaded {
        let start = self.tape.load_point().lpos;
        let at_start = self.tape.metres(self.head.lpos, start) < 0.01;
        let rewound = |mechanics: &mut Mechanics| (mechanics.rewind(), None);
        let (way, parked_lpos) =
            match (self.mechanism.unmount_midtape, self.mechanism.loading.zones) {
                _ if at_start => (Motion::default(), None),
                (UnmountMidtape::Yes, Some(zones)) => self.move_to_zone(&zones),
                (UnmountMidtape::Restricted, _) => {
                    let end = self.tape.place(end_of_data.0, end_of_data.1);
                    let to_end = self.tape.metres(self.head.lpos, end.lpos);
                    if to_end < self.tape.metres(self.head.lpos, start) {
                        (self.locate(end_of_data.0, end_of_data.1), Some(end.lpos))
                    } else {
                        rewound(&mut self)
                    }
                }
                _ => rewound(&mut self),
            };
        let loading = &self.mechanism.loading;
        let seconds = loading.unmount_s * (1.0 + loading.sd * self.random.normal()).max(0.5);
        Unloaded {
            motion: Motion {
                time: way.time + Micros::from_secs_f64(seconds),
                metres: way.metres,
            },
            parked_lpos,
        }
    }

    /// To the nearest system zone.
    fn move_to_zone(&mut self, zones: &Zones) -> (Motion, Option<f64>) {
        let shape = self.tape.shape();
        let spacing = (shape.lpos_max - shape.lpos_min) / f64::from(zones.count.max(1));
        let zone = ((self.head.lpos - shape.lpos_min) / spacing).round();
        let lpos = shape.lpos_min + zone * spacing;
        let metres = self.tape.metres(self.head.lpos, lpos);
        let wind_m_s = match &self.mechanism.transport {
            Transport::Helical(helical) => helical.wind_m_s,
            Transport::Serpentine(serpentine) => serpentine.rewind_m_s,
        };
        let ahead_s = if lpos > self.head.lpos {
            zones.ahead_s
        } else {
            0.0
        };
        let leg = Leg {
            seconds: zones.start_s + ahead_s + metres / wind_m_s,
            metres,
            lands: true,
        };
        self.head.lpos = lpos;
        let parked = (zone > 0.0).then_some(lpos);
        (self.noisy(leg), parked)
    }

    /// Back to the load point.
    pub fn rewind(&mut self) -> Motion {
        let leg = match &self.mechanism.transport {
            Transport::Serpentine(serpentine) => serpentine.rewind(&self.tape, self.head),
            Transport::Helical(helical) => helical.rewind(&self.tape, self.head),
        };
        self.head = self.tape.load_point();
        self.rest((0, 0));
        self.noisy(leg)
    }

    /// To a stored byte, ready to read it.
    pub fn locate(&mut self, partition: u8, offset: u64) -> Motion {
        let to = self.tape.place(partition, offset);
        let leg = if self.is_read_ahead(partition, offset) {
            Leg::default()
        } else {
            match &self.mechanism.transport {
                Transport::Serpentine(serpentine) => serpentine.locate(&self.tape, self.head, to),
                Transport::Helical(helical) if self.lost => {
                    helical.locate_lost(&self.tape, self.head, to)
                }
                Transport::Helical(helical) => {
                    let visited = self.visited.contains(&(partition, offset));
                    helical.locate(&self.tape, self.head, to, visited)
                }
            }
        };
        if !self.mechanism.transport.is_serpentine() {
            self.visited.insert((partition, offset));
        }
        self.head = to;
        self.rest((partition, offset));
        self.noisy(leg)
    }

    /// Whether a byte ahead was read before the host asked for it.
    fn is_read_ahead(&self, partition: u8, offset: u64) -> bool {
        let ahead = offset.checked_sub(self.next.1);
        let recorded = ahead.map(|bytes| bytes.saturating_mul(self.tape.scale()) as f64);
        partition == self.next.0
            && recorded.is_some_and(|bytes| bytes <= self.stream.ahead())
            && !self.lost
            && self.stream.ahead() > 0.0
    }

    fn rest(&mut self, next: (u8, u64)) {
        self.next = next;
        self.stream = Stream::Idle;
        self.lost = false;
    }

    /// Reads a stretch that begins where the head is; `arrival` is when the request comes.
    pub fn read(&mut self, stretch: Stretch, arrival: Micros) -> Motion {
        self.stream_over(stretch, arrival, Stream::read)
    }

    /// Writes a stretch that begins where the head is; `arrival` is when the request comes.
    pub fn write(&mut self, stretch: Stretch, arrival: Micros) -> Motion {
        self.stream_over(stretch, arrival, Stream::write)
    }

    /// Waits until all that was written is on tape, as for a filemark.
    pub fn flush(&mut self, arrival: Micros) -> Motion {
        let seconds = self.stream.flush(arrival.as_secs_f64());
        Motion {
            time: Micros::from_secs_f64(seconds),
            metres: 0.0,
        }
    }

    fn stream_over(
        &mut self,
        stretch: Stretch,
        arrival: Micros,
        run: fn(&mut Stream, &Streaming, &Request) -> f64,
    ) -> Motion {
        let Stretch {
            partition,
            from,
            to,
            ..
        } = stretch;
        if self.next != (partition, from) {
            self.rest((partition, from));
        }
        let scale = self.tape.scale() as f64;
        let request = Request {
            arrival_s: arrival.as_secs_f64(),
            host_bytes: stretch.host_bytes as f64 * scale,
            recorded_bytes: to.saturating_sub(from) as f64 * scale,
            gzip_ratio: stretch.gzip_ratio,
            wrap_ends: self.tape.wrap_ends_between(partition, from, to),
        };
        let seconds = run(&mut self.stream, &self.mechanism.streaming, &request);
        self.head = self.tape.place(partition, to);
        self.next = (partition, to);
        self.lost = false;
        Motion {
            time: Micros::from_secs_f64(seconds),
            metres: request.recorded_bytes / self.tape.bytes_per_metre(),
        }
    }

    /// Where the head is.
    pub fn head(&self) -> Spot {
        self.head
    }

    /// The tape in the drive.
    pub fn tape(&self) -> &Tape {
        &self.tape
    }

    /// The motion with this world's irregularities.
    fn noisy(&mut self, leg: Leg) -> Motion {
        if leg.seconds == 0.0 {
            return Motion::default();
        }
        let noise = self.mechanism.noise;
        let mut seconds = leg.seconds * (1.0 + noise.share * self.random.normal());
        let (scatter, failed) = (self.random.normal(), self.random.unit());
        let retry = self.random.unit();
        if leg.lands {
            seconds += noise.seconds * scatter;
        }
        if leg.lands && failed < noise.retry_chance {
            seconds += noise.retry_s * (0.5 + 0.5 * retry);
        }
        // No luck makes a motion shorter than half of what it takes.
        Motion {
            time: Micros::from_secs_f64(seconds.max(leg.seconds / 2.0)),
            metres: leg.metres,
        }
    }
}
