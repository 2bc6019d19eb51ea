//! Transports that no model of ours was made for, and that `fit` never sees but by their times.
//!
//! Each has a law whose structure differs from that of every model that is fitted. The structures are those that the
//! literature describes; the constants are round numbers of the right size, chosen before anything was fitted.

use tapewise_model::{Geometry, Random};

/// Seconds of standard deviation that every move has on top of its law: what no fit can know.
pub const NOISE_S: f64 = 0.4;

/// The length of the tape, in metres.
const METRES: f64 = 922.0;

/// Where the head is: the wrap, and the metres from the beginning of tape.
#[derive(Clone, Copy)]
pub struct Spot {
    pub wrap: u16,
    pub metres: f64,
}

impl Spot {
    pub fn new(geometry: &Geometry, wrap: u16, lpos: i32) -> Spot {
        let share = f64::from(lpos - geometry.lpos_min as i32) / f64::from(geometry.wrap_lpos());
        Spot {
            wrap,
            metres: share * METRES,
        }
    }

    fn is_forward(self) -> bool {
        self.wrap & 1 == 0
    }
}

/// A law: its name, where its structure is described, and the seconds of a move on a cartridge.
pub struct Transport {
    pub name: &'static str,
    pub described: &'static str,
    pub seconds: fn(Spot, Spot, u32) -> f64,
    /// Share of moves that a retry lengthens by 30 to 90 s.
    pub retries: f64,
    /// How much longer moves take at the end of the log than at its beginning, as a share.
    pub drift: f64,
}

pub const TRANSPORTS: [Transport; 9] = [
    Transport {
        name: "reels",
        described: "motors of limited rotation: the tape runs as fast as the thinner of two reels lets it",
        seconds: reels,
        retries: 0.0,
        drift: 0.0,
    },
    Transport {
        name: "stepper",
        described: "a stepper moves the head wrap by wrap beside the tape: the slower of both counts (Sandstå et al., MLR1)",
        seconds: stepper,
        retries: 0.0,
        drift: 0.0,
    },
    Transport {
        name: "directory",
        described: "each wrap of each cartridge has marks at places of its own (Hillyer & Silberschatz 1996, key points)",
        seconds: directory,
        retries: 0.0,
        drift: 0.0,
    },
    Transport {
        name: "mid-tape",
        described: "two short reels, loaded in the middle, ruled by acceleration (Gniewek et al. 1999, IBM 3570)",
        seconds: mid_tape,
        retries: 0.0,
        drift: 0.0,
    },
    Transport {
        name: "reels, retries",
        described: "the first, and one move in fifty is lengthened by a retry of 30 to 90 s",
        seconds: reels,
        retries: 0.02,
        drift: 0.0,
    },
    Transport {
        name: "stepper, drift",
        described: "the second, 6 % slower at the end of the log than at its beginning",
        seconds: stepper,
        retries: 0.0,
        drift: 0.06,
    },
    Transport {
        name: "stop and step",
        described: "a leadscrew turns only once the tape stands; tape and head each speed up and slow down (QIC drives)",
        seconds: stop_and_step,
        retries: 0.0,
        drift: 0.0,
    },
    Transport {
        name: "one way slow",
        described: "winding towards the supply reel is slower, and the last turns of either reel are taken slowly",
        seconds: one_way_slow,
        retries: 0.0,
        drift: 0.0,
    },
    Transport {
        name: "across",
        described: "the head goes beside the tape to where wraps lie across it: bands in the order 3, 1, 0, 2, wraps from both edges of a band inwards (LTO)",
        seconds: across,
        retries: 0.0,
        drift: 0.0,
    },
];

/// The time of a move as a log would have it. `age` is how far the log has come, from 0 to 1.
pub fn logged_s(
    transport: &Transport,
    from: Spot,
    to: Spot,
    cartridge: u32,
    age: f64,
    random: &mut Random,
) -> f64 {
    let seconds = (transport.seconds)(from, to, cartridge) * (1.0 + transport.drift * age);
    let retry = if random.unit() < transport.retries {
        30.0 + 60.0 * random.unit()
    } else {
        0.0
    };
    (seconds + retry + NOISE_S * random.normal()).max(0.05)
}

/// A move on along the wrap that is short enough is read through.
fn reads_on(from: Spot, to: Spot) -> Option<f64> {
    let ahead = if to.is_forward() {
        to.metres - from.metres
    } else {
        from.metres - to.metres
    };
    (from.wrap == to.wrap && (0.0..25.0).contains(&ahead)).then(|| 0.3 + ahead / 5.7)
}

/// The time to wind between two places at the speed that the thinner reel allows: its motor turns at most so fast, and
/// its radius grows with the root of the tape on it.
fn reels(from: Spot, to: Spot, _: u32) -> f64 {
    if let Some(seconds) = reads_on(from, to) {
        return seconds;
    }
    // Radii of an empty and of a full reel, and most turns a second.
    const EMPTY_M: f64 = 0.022;
    const FULL_M: f64 = 0.047;
    const TURNS: f64 = 45.0;
    let speed = |metres: f64| {
        let on = metres.min(METRES - metres).max(0.0) / METRES;
        let radius = (EMPTY_M.powi(2) + on * (FULL_M.powi(2) - EMPTY_M.powi(2))).sqrt();
        std::f64::consts::TAU * radius * TURNS
    };
    const PARTS: u32 = 64;
    let step = (to.metres - from.metres).abs() / f64::from(PARTS);
    let low = from.metres.min(to.metres);
    let wound: f64 = (0..PARTS)
        .map(|part| step / speed(low + (f64::from(part) + 0.5) * step))
        .sum();
    let turns = u8::from(from.is_forward() != to.is_forward());
    2.1 + 1.6 * f64::from(u8::from(from.wrap != to.wrap)) + 2.4 * f64::from(turns) + wound
}

/// The head goes over the wraps between while the tape runs.
fn stepper(from: Spot, to: Spot, _: u32) -> f64 {
    if let Some(seconds) = reads_on(from, to) {
        return seconds;
    }
    let wound = (to.metres - from.metres).abs() / 8.0;
    let stepped = 0.8 + 0.12 * f64::from(from.wrap.abs_diff(to.wrap));
    2.5 + wound.max(stepped) + 1.9 * f64::from(u8::from(from.is_forward() != to.is_forward()))
}

/// The tape is wound to the last mark before the destination, and read from there. Marks lie 60 m apart, from a place
/// that differs from wrap to wrap and from cartridge to cartridge.
fn directory(from: Spot, to: Spot, cartridge: u32) -> f64 {
    if let Some(seconds) = reads_on(from, to) {
        return seconds;
    }
    const APART_M: f64 = 60.0;
    let stream = u64::from(cartridge) * 1_000 + u64::from(to.wrap);
    let first = APART_M * Random::new(5, stream).unit();
    let along = |spot: Spot| {
        if to.is_forward() {
            spot.metres
        } else {
            METRES - spot.metres
        }
    };
    let mark = (((along(to) - first) / APART_M).floor() * APART_M + first).max(0.0);
    let wound = (mark - along(from)).abs() / 9.0;
    let turn = if mark < along(from) { 3.5 } else { 0.0 };
    3.0 + 1.4 * f64::from(u8::from(from.wrap != to.wrap)) + turn + wound + (along(to) - mark) / 5.7
}

/// Half of the way the drive speeds up, half of it slows down: time goes with the root of the distance, up to a speed
/// that only the longest moves reach. Wraps to either side of the middle are different tapes, which meet there.
fn mid_tape(from: Spot, to: Spot, _: u32) -> f64 {
    if let Some(seconds) = reads_on(from, to) {
        return seconds;
    }
    const ACCELERATION: f64 = 1.2;
    const SPEED: f64 = 18.0;
    let half = |spot: Spot| spot.wrap % 4 < 2;
    let way = if half(from) == half(to) {
        (to.metres - from.metres).abs()
    } else {
        (from.metres - METRES / 2.0).abs() + (to.metres - METRES / 2.0).abs()
    };
    let ramps = SPEED * SPEED / ACCELERATION;
    let wound = if way < ramps {
        2.0 * (way / ACCELERATION).sqrt()
    } else {
        way / SPEED + SPEED / ACCELERATION
    };
    1.5 + 1.1 * f64::from(u8::from(from.wrap != to.wrap)) + wound
}

/// The tape is wound and stops; then the head goes to its wrap, speeding up half of the way, and settles.
fn stop_and_step(from: Spot, to: Spot, _: u32) -> f64 {
    if let Some(seconds) = reads_on(from, to) {
        return seconds;
    }
    const ACCELERATION: f64 = 3.0;
    const SPEED: f64 = 11.0;
    let way = (to.metres - from.metres).abs();
    let ramps = SPEED * SPEED / ACCELERATION;
    let wound = if way < ramps {
        2.0 * (way / ACCELERATION).sqrt()
    } else {
        way / SPEED + SPEED / ACCELERATION
    };
    let wraps = f64::from(from.wrap.abs_diff(to.wrap));
    let stepped = if wraps > 0.0 {
        0.9 + 0.75 * wraps.sqrt()
    } else {
        0.0
    };
    1.2 + wound + stepped + 1.7 * f64::from(u8::from(from.is_forward() != to.is_forward()))
}

/// Two speeds, one for each way, and a third of either within 45 m of an end of the tape.
fn one_way_slow(from: Spot, to: Spot, _: u32) -> f64 {
    if let Some(seconds) = reads_on(from, to) {
        return seconds;
    }
    const NEAR_END_M: f64 = 45.0;
    let speed = if to.metres > from.metres { 10.0 } else { 7.5 };
    let (low, high) = (from.metres.min(to.metres), from.metres.max(to.metres));
    let fast = (high.min(METRES - NEAR_END_M) - low.max(NEAR_END_M)).max(0.0);
    let slow = high - low - fast;
    let turns = f64::from(u8::from(from.is_forward() != to.is_forward()));
    2.6 + 1.3 * f64::from(u8::from(from.wrap != to.wrap))
        + 2.2 * turns
        + (fast + 3.0 * slow) / speed
}

/// A quarter of the wraps lies in each band, forward ones from one edge inwards and reverse ones from the other. The head
/// goes there while the tape speeds up, runs and slows down.
fn across(from: Spot, to: Spot, _: u32) -> f64 {
    if let Some(seconds) = reads_on(from, to) {
        return seconds;
    }
    const BAND_WRAPS: u16 = 52;
    const ACCELERATION: f64 = 2.5;
    const SPEED: f64 = 9.0;
    let place = |spot: Spot| {
        let band = [2, 1, 3, 0][usize::from(spot.wrap / BAND_WRAPS).min(3)];
        let within = spot.wrap % BAND_WRAPS / 2;
        let within = if spot.is_forward() {
            within
        } else {
            BAND_WRAPS - 1 - within
        };
        f64::from(BAND_WRAPS * band + within)
    };
    let stepped = if from.wrap == to.wrap {
        0.0
    } else {
        0.6 + 0.05 * (place(from) - place(to)).abs()
    };
    let way = (to.metres - from.metres).abs();
    let ramps = SPEED * SPEED / ACCELERATION;
    let wound = if way < ramps {
        2.0 * (way / ACCELERATION).sqrt()
    } else {
        way / SPEED + SPEED / ACCELERATION
    };
    1.9 + wound.max(stepped) + 2.0 * f64::from(u8::from(from.is_forward() != to.is_forward()))
}
