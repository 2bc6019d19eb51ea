//! How a drive streams: the tape runs at its own speed, the host asks at its own, and a buffer
//! stands between them.
//!
//! Reading, the tape runs ahead of the host until the buffer is full, then stops; it starts again
//! when half of the buffer is empty, so that a slow host never notices. A host that reads more than
//! is buffered waits for the restart: a back-hitch, or, after a long pause in which the tape was
//! taken off the head, seconds (Johnson & Miller 1998, section 5.5). Writing, the buffer takes what
//! comes and the tape follows, at the fastest of its speeds that the host can feed.

use serde::Deserialize;

/// Rates, buffer and restarts of a drive. Seconds, bytes; MB are decimal.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Streaming {
    /// Native rate in MB/s.
    pub rate_mb_s: f64,
    /// Seconds for each MB read at gzip ratio C: `a + b / C` (section 5.6).
    pub read_s_per_mb: [f64; 2],
    /// The same for writing.
    pub write_s_per_mb: [f64; 2],
    /// What each request takes beside its bytes.
    pub command_s: f64,
    /// What each byte takes from the buffer to the host.
    pub path_s_per_byte: f64,
    /// Size of the buffer.
    pub buffer_bytes: f64,
    /// A stop of the tape, from slowing down to reading again.
    pub backhitch_s: f64,
    /// After a pause so long the tape is taken off the head.
    pub disengage_after_s: f64,
    /// To start again then.
    pub engage_s: f64,
    /// Reversal at a wrap's end while streaming.
    pub turnaround_s: f64,
    /// Speed matching: the rates offered in MB/s, fastest first; empty where there is but one.
    pub speeds_mb_s: Vec<f64>,
}

impl Streaming {
    /// The drive's rate for a host of that rate: the next one below it while little is queued, so
    /// that the buffer does not run dry, then the next one above, and the native one when much is
    /// queued; without speed matching always the native one.
    fn matched_mb_s(&self, host_mb_s: f64, queued: f64) -> f64 {
        let offered = || self.speeds_mb_s.iter().copied();
        let matched = if queued < self.buffer_bytes * LITTLE {
            offered()
                .find(|&rate| rate <= host_mb_s)
                .or(offered().last())
        } else if queued < self.buffer_bytes * MUCH {
            offered().rev().find(|&rate| rate >= host_mb_s)
        } else {
            None
        };
        matched.unwrap_or(self.rate_mb_s).min(self.rate_mb_s)
    }
}

/// The clock counts microseconds: a pause of so many seconds may come out that much shorter.
const CLOCK_S: f64 = 2e-6;

/// Below this share of the buffer a writing drive slows down; assumed.
const LITTLE: f64 = 1.0 / 16.0;
/// Above this share it runs at full speed; assumed.
const MUCH: f64 = 1.0 / 8.0;

/// One request to stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// When it arrives, in seconds.
    pub arrival_s: f64,
    /// Bytes between host and drive.
    pub host_bytes: f64,
    /// Bytes on the tape.
    pub recorded_bytes: f64,
    /// gzip's ratio of the data; `None` with compression off.
    pub gzip_ratio: Option<f64>,
    /// Wrap ends passed.
    pub wrap_ends: u16,
}

/// What tape and buffer are doing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Stream {
    /// Standing where the last command left it.
    #[default]
    Idle,
    /// Reading ahead: `ahead` bytes were buffered at `at_s`, when the last request was answered; the
    /// tape runs from `runs_from_s` on, or stands; `is_off` once it was taken off the head.
    Reading {
        ahead: f64,
        at_s: f64,
        runs_from_s: Option<f64>,
        is_off: bool,
    },
    /// Writing behind: `queued` bytes were buffered at `at_s`; the tape runs from `runs_from_s` on.
    Writing {
        queued: f64,
        at_s: f64,
        runs_from_s: f64,
        drain_bytes_s: f64,
    },
}

impl Stream {
    /// Seconds until a read is answered.
    pub(crate) fn read(&mut self, drive: &Streaming, request: &Request) -> f64 {
        let now = request.arrival_s;
        let [a, b] = drive.read_s_per_mb;
        let (tape_s, path_s) = drive.paces(request, [a, b]);
        let bytes_s = request.recorded_bytes / tape_s.max(1e-9);
        let (ahead, runs_from_s, is_off) = match *self {
            Stream::Reading {
                ahead,
                at_s,
                runs_from_s,
                is_off,
            } => {
                let filled = runs_from_s.map_or(0.0, |from| (now - from.max(at_s)).max(0.0));
                let ahead = ahead + filled * bytes_s;
                let is_off = is_off || now - at_s + CLOCK_S >= drive.disengage_after_s;
                if ahead >= drive.buffer_bytes {
                    (drive.buffer_bytes, None, is_off)
                } else {
                    (ahead, runs_from_s, is_off && runs_from_s.is_none())
                }
            }
            _ => (0.0, Some(now), false),
        };
        let restart_s = if is_off {
            drive.engage_s
        } else {
            drive.backhitch_s
        };
        let missing = request.recorded_bytes - ahead;
        if missing <= 0.0 {
            let ahead = -missing;
            let wake = ahead < drive.buffer_bytes / 2.0;
            let restarts = wake.then_some(now + path_s + restart_s);
            let runs_from_s = runs_from_s.or(restarts);
            *self = Stream::Reading {
                ahead,
                at_s: now,
                runs_from_s,
                is_off: is_off && runs_from_s.is_none(),
            };
            return path_s;
        }
        let missing_share = missing / request.recorded_bytes;
        let seconds = match runs_from_s {
            Some(from) => path_s.max((from - now).max(0.0) + tape_s * missing_share),
            None => path_s * (1.0 - missing_share) + restart_s + path_s.max(tape_s) * missing_share,
        };
        *self = Stream::Reading {
            ahead: 0.0,
            at_s: now + seconds,
            runs_from_s: Some(now + seconds),
            is_off: false,
        };
        seconds
    }

    /// Seconds until a write is taken.
    pub(crate) fn write(&mut self, drive: &Streaming, request: &Request) -> f64 {
        let now = request.arrival_s;
        let (tape_s, path_s) = drive.paces(request, drive.write_s_per_mb);
        let (queued, runs_from_s, last_s) = match *self {
            Stream::Writing { .. } => {
                let (queued, at_s, runs_from_s) = self.queued(now);
                // A tape that ran dry has stopped and must be brought up to speed behind its end.
                let from = if queued > 0.0 {
                    runs_from_s
                } else {
                    now + drive.backhitch_s
                };
                (queued, from, Some(at_s))
            }
            _ => (0.0, now, None),
        };
        let fastest = request.recorded_bytes / tape_s.max(1e-9);
        let host_s = last_s.map_or(path_s, |last| now - last + path_s);
        let host_mb_s = request.host_bytes / 1e6 / host_s.max(1e-9);
        let matched = drive.matched_mb_s(host_mb_s, queued) / drive.rate_mb_s;
        let drain_bytes_s = fastest * matched;
        let taken_s = now + path_s;
        let drained = (taken_s - runs_from_s.max(now)).max(0.0) * drain_bytes_s;
        let mut left = (queued + request.recorded_bytes - drained).max(0.0);
        let mut seconds = path_s;
        if left > drive.buffer_bytes {
            seconds +=
                (runs_from_s - taken_s).max(0.0) + (left - drive.buffer_bytes) / drain_bytes_s;
            left = drive.buffer_bytes;
        }
        *self = Stream::Writing {
            queued: left,
            at_s: now + seconds,
            runs_from_s,
            drain_bytes_s,
        };
        seconds
    }

    /// Seconds until all that was written is on tape; the tape stops.
    pub(crate) fn flush(&mut self, now: f64) -> f64 {
        let Stream::Writing { drain_bytes_s, .. } = *self else {
            return 0.0;
        };
        let (queued, _, runs_from_s) = self.queued(now);
        let seconds = if queued > 0.0 {
            (runs_from_s - now).max(0.0) + queued / drain_bytes_s
        } else {
            0.0
        };
        *self = Stream::Writing {
            queued: 0.0,
            at_s: now + seconds,
            runs_from_s: now,
            drain_bytes_s,
        };
        seconds
    }

    /// Bytes not yet written at `now`; when the last request was answered; from when the tape runs.
    fn queued(&self, now: f64) -> (f64, f64, f64) {
        match *self {
            Stream::Writing {
                queued,
                at_s,
                runs_from_s,
                drain_bytes_s,
            } => {
                let ran_s = (now - runs_from_s.max(at_s)).max(0.0);
                ((queued - ran_s * drain_bytes_s).max(0.0), at_s, runs_from_s)
            }
            _ => (0.0, now, now),
        }
    }

    /// Bytes read ahead when the last request was answered.
    pub(crate) fn ahead(&self) -> f64 {
        match *self {
            Stream::Reading { ahead, .. } => ahead,
            _ => 0.0,
        }
    }
}

impl Streaming {
    /// Seconds that a request takes from or to tape, and between buffer and host.
    ///
    /// The host's side is paced by the same (de)compressor as the tape's: measured rates of
    /// compressed data exceed what the tolerated delays of plain data would allow.
    fn paces(&self, request: &Request, [a, b]: [f64; 2]) -> (f64, f64) {
        // A filemark is nothing to the host, but the tape runs past it no faster than past data.
        let bytes = if request.host_bytes > 0.0 {
            request.host_bytes
        } else {
            request.recorded_bytes
        };
        let native_s = bytes / 1e6 / self.rate_mb_s;
        let tape_s = match request.gzip_ratio {
            Some(ratio) => bytes / 1e6 * (a + b / ratio.max(1.0)),
            None => native_s,
        };
        let pace = if native_s > 0.0 {
            tape_s / native_s
        } else {
            1.0
        };
        let path_s = (self.command_s + request.host_bytes * self.path_s_per_byte) * pace;
        let turns_s = f64::from(request.wrap_ends) * self.turnaround_s;
        (tape_s + turns_s, path_s)
    }
}
