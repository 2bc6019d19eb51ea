//! What takes long to be found out is kept for a while.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What takes no longer is found out each time.
const QUICK: Duration = Duration::from_millis(100);

/// For how many times as long as it took something is kept.
const TIMES: u32 = 10;

/// The last value, if it took long.
#[derive(Debug)]
pub struct Kept<T>(Mutex<Option<(T, Instant)>>);

impl<T> Default for Kept<T> {
    fn default() -> Kept<T> {
        Kept(Mutex::default())
    }
}

impl<T> Kept<T> {
    /// Uses what was found out now, or a while ago. Nobody finds it out while somebody else does.
    ///
    /// # Errors
    /// What went wrong in finding it out; nothing is kept then.
    pub fn with<R, E>(
        &self,
        now: impl Fn() -> Instant,
        find_out: impl FnOnce() -> Result<T, E>,
        used: impl FnOnce(&mut T) -> R,
    ) -> Result<R, E> {
        let mut kept = self.lock();
        let began = now();
        if let Some((value, until)) = &mut *kept
            && began < *until
        {
            return Ok(used(value));
        }
        *kept = None;
        let value = find_out()?;
        let ended = now();
        let took = ended - began;
        let rest = if took > QUICK {
            took * TIMES
        } else {
            Duration::ZERO
        };
        let (value, _) = kept.insert((value, ended + rest));
        Ok(used(value))
    }

    /// Corrects what is kept.
    pub fn correct(&self, corrected: impl FnOnce(&mut T)) {
        if let Some((value, _)) = &mut *self.lock() {
            corrected(value);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<(T, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::convert::Infallible;

    #[test]
    fn only_what_took_long_is_kept_and_for_some_times_as_long() {
        let (kept, time, begin) = (Kept::default(), Cell::new(Duration::ZERO), Instant::now());
        let now = || begin + time.get();
        let pass = |ms| time.set(time.get() + Duration::from_millis(ms));
        let found = |value: u32, takes_ms| {
            let find_out = || {
                pass(takes_ms);
                Ok::<_, Infallible>(value)
            };
            let Ok(found) = kept.with(now, find_out, |value| *value);
            found
        };
        assert_eq!([found(1, 100), found(2, 100)], [1, 2]);
        pass(1);
        assert_eq!([found(3, 101), found(4, 101)], [3, 3]);
        kept.correct(|value| *value += 10);
        pass(101 * 10 - 1);
        assert_eq!(found(4, 0), 13);
        pass(1);
        assert_eq!(found(4, 0), 4);
    }

    #[test]
    fn after_an_error_it_is_found_out_again() {
        let kept = Kept::default();
        let failed = kept.with(Instant::now, || Err::<u32, _>("no"), |value| *value);
        assert_eq!(failed, Err("no"));
        let found = kept.with(Instant::now, || Ok::<_, &str>(7), |value| *value);
        assert_eq!(found, Ok(7));
    }
}
