//! How often somebody may ask: a bucket of tokens for each name, filled at a steady rate.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

const MINUTE_NS: i64 = 60 * 1_000_000_000;

/// More names than this are not remembered: those whose buckets are full again are forgotten first.
const MOST: usize = 20_000;

/// The buckets of all who asked lately.
#[derive(Debug, Default)]
pub struct Rates(Mutex<HashMap<String, Bucket>>);

/// As of the last time that its owner asked, how long it would take to fill.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    empty_ns: i64,
    at_ns: i64,
}

impl Bucket {
    /// How empty it is at a later time.
    fn empty_ns(self, now_ns: i64) -> i64 {
        let passed_ns = now_ns.saturating_sub(self.at_ns).max(0);
        (self.empty_ns - passed_ns).max(0)
    }
}

impl Rates {
    /// Lets somebody ask once, `a_minute` times at most in a minute and at once.
    ///
    /// # Errors
    /// The seconds after which to ask again.
    pub fn take(&self, name: &str, a_minute: u32, now_ns: i64) -> Result<(), u32> {
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MOST && !buckets.contains_key(name) {
            buckets.retain(|_, bucket| bucket.empty_ns(now_ns) > 0);
            if buckets.len() >= MOST {
                return Err(60);
            }
        }
        let each_ns = MINUTE_NS / i64::from(a_minute.max(1));
        let bucket = buckets.get(name).copied();
        let empty_ns = bucket.map_or(0, |bucket| bucket.empty_ns(now_ns)) + each_ns;
        if empty_ns > MINUTE_NS {
            let wait_ns = (empty_ns - MINUTE_NS).unsigned_abs();
            return Err(u32::try_from(wait_ns.div_ceil(1_000_000_000)).unwrap_or(60));
        }
        let at_ns = now_ns;
        buckets.insert(name.to_owned(), Bucket { empty_ns, at_ns });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_of_requests_at_once_and_then_at_the_rate() {
        let rates = Rates::default();
        for _ in 0..6 {
            rates.take("a", 6, 0).expect("in the minute");
        }
        assert_eq!(rates.take("a", 6, 0), Err(10));
        rates.take("b", 6, 0).expect("another one");
        assert_eq!(rates.take("a", 6, MINUTE_NS / 6 - 1), Err(1));
        rates.take("a", 6, MINUTE_NS / 6).expect("one more");
        assert_eq!(rates.take("a", 6, MINUTE_NS / 6), Err(10));
        // A clock that goes back gives nothing away.
        assert_eq!(rates.take("a", 6, 0), Err(10));
    }

    #[test]
    fn names_without_end_are_not_remembered() {
        let rates = Rates::default();
        for number in 0..MOST {
            rates.take(&number.to_string(), 1, 0).expect("room");
        }
        assert_eq!(rates.take("late", 1, 0), Err(60));
        rates.take("0", 1, MINUTE_NS).expect("known");
        rates
            .take("late", 1, MINUTE_NS)
            .expect("the others are full again");
        let kept = rates.0.lock().expect("not poisoned").len();
        assert_eq!(kept, 2);
    }
}
