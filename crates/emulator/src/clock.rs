//! The emulated world's clock: virtual, faster than life, or real.

use crate::common_time::CommonTime;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tapewise_model::Micros;

/// A clock that drives, robots and hosts of one emulated world share; clones tell the same time.
#[derive(Clone, Debug)]
pub struct Clock(Hand);

#[derive(Clone, Debug)]
enum Hand {
    Virtual(Arc<AtomicI64>),
    Common(Arc<CommonTime>),
    /// Emulated seconds for each second of life.
    Scaled {
        started: Instant,
        scale: f64,
        skipped: Arc<AtomicI64>,
    },
}

impl Clock {
    /// A clock that stands still until somebody advances it.
    pub fn virtual_time() -> Clock {
        Clock(Hand::Virtual(Arc::new(AtomicI64::new(0))))
    }

    /// A virtual clock for several threads: time passes only while every thread of this process waits. Devices work
    /// beside each other, and how busy the machine is changes nothing. For Linux. Who sleeps by the host's
    /// clock waits too; nothing else may work in the process.
    ///
    /// ```
    /// use tapewise_emulator::Clock;
    /// use tapewise_model::Micros;
    ///
    /// let clock = Clock::common_time();
    /// let hours = [3, 1, 2].map(|hours| Micros(hours * 3_600_000_000));
    /// let waits = |time| {
    ///     let clock = clock.clone();
    ///     move || {
    ///         // Work takes none of its time.
    ///         assert_eq!((0..1_000_000).map(std::hint::black_box).max(), Some(999_999));
    ///         clock.advance(time);
    ///         clock.advance(time);
    ///         clock.now()
    ///     }
    /// };
    /// # std::thread::scope(|scope| {
    /// let threads = hours.map(|time| scope.spawn(waits(time)));
    /// let ends = threads.map(|thread| thread.join().unwrap());
    /// assert_eq!(ends, hours.map(|time| Micros(2 * time.0)));
    /// # });
    /// ```
    pub fn common_time() -> Clock {
        Clock(Hand::Common(Arc::default()))
    }

    /// A clock that runs `scale` times as fast as life: a wait takes `1 / scale` of its time.
    ///
    /// A scale that is not above zero is taken as 1.
    pub fn scaled(scale: f64) -> Clock {
        let scale = if scale.is_finite() && scale > 0.0 {
            scale
        } else {
            1.0
        };
        Clock(Hand::Scaled {
            started: Instant::now(),
            scale,
            skipped: Arc::new(AtomicI64::new(0)),
        })
    }

    /// The clock on the wall.
    pub fn real() -> Clock {
        Clock::scaled(1.0)
    }

    /// Emulated time since the clock was made.
    pub fn now(&self) -> Micros {
        match &self.0 {
            Hand::Virtual(now) => Micros(now.load(Ordering::SeqCst)),
            Hand::Common(time) => time.now(),
            Hand::Scaled {
                started,
                scale,
                skipped,
            } => {
                let run = Micros::from_secs_f64(started.elapsed().as_secs_f64() * scale);
                run + Micros(skipped.load(Ordering::SeqCst))
            }
        }
    }

    /// Lets this much emulated time pass; a negative time passes at once.
    pub fn advance(&self, time: Micros) {
        match &self.0 {
            Hand::Virtual(_) => self.skip(time),
            Hand::Common(common) => common.advance(time),
            Hand::Scaled { scale, .. } => {
                let time = time.max(Micros::ZERO);
                thread::sleep(Duration::from_secs_f64(time.as_secs_f64() / scale));
            }
        }
    }

    /// Lets this much emulated time pass at once, also where the clock runs by itself; a negative
    /// time is none.
    pub fn skip(&self, time: Micros) {
        let time = time.max(Micros::ZERO);
        match &self.0 {
            Hand::Common(common) => common.skip(time),
            Hand::Virtual(passed)
            | Hand::Scaled {
                skipped: passed, ..
            } => {
                passed.fetch_add(time.0, Ordering::SeqCst);
            }
        }
    }

    /// Whether time passes only when it is advanced, so that a run takes no longer than its work.
    pub fn is_virtual(&self) -> bool {
        matches!(self.0, Hand::Virtual(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_time_passes_only_when_advanced_and_for_all_clones_alike() {
        let clock = Clock::virtual_time();
        let other = clock.clone();
        assert_eq!(clock.now(), Micros::ZERO);
        clock.advance(Micros(1_500_000));
        clock.advance(Micros(-7));
        assert_eq!(other.now(), Micros(1_500_000));
    }

    #[test]
    fn time_that_is_skipped_has_passed_on_every_clock() {
        for clock in [Clock::virtual_time(), Clock::common_time(), Clock::real()] {
            let before = clock.now();
            clock.skip(Micros(600_000_000));
            assert!(clock.now() - before >= Micros(600_000_000));
        }
    }

    #[test]
    fn a_scaled_clock_has_passed_what_it_was_advanced_by() {
        let clock = Clock::scaled(1e6);
        let before = clock.now();
        clock.advance(Micros(1_000_000));
        assert!(clock.now() - before >= Micros(1_000_000));
    }
}
