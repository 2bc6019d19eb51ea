//! How many files of stages wait, as they were counted a moment ago.
//!
//! To count a million takes seconds, and requests come more often than that. So a count that took long is kept for some
//! times as long, with what was entered since. What has arrived meanwhile makes room when they are counted again.

use crate::limits::Limits;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tapewise_archive::catalogue::{OpenFiles, Result};

/// For how many times as long as it took a count is kept.
const TIMES: u32 = 20;

/// What takes no longer is counted for each request.
const SHORT: Duration = Duration::from_millis(50);

/// The files that wait.
#[derive(Debug, Default)]
pub(crate) struct Counted(Mutex<Option<Count>>);

#[derive(Debug)]
struct Count {
    of_users: HashMap<String, u64>,
    until: Instant,
}

impl Counted {
    /// What waits beside the files that a user asks for now, which count from now on: of all users, and of this one.
    pub fn take(
        &self,
        user: &str,
        files: u64,
        limits: &Limits,
        count: impl FnOnce() -> Result<HashMap<String, u64>>,
    ) -> Result<[OpenFiles; 2]> {
        let mut kept = self.lock();
        let began = Instant::now();
        let counted = match kept.take_if(|kept| kept.until > began) {
            Some(counted) => counted,
            None => {
                let of_users = count()?;
                let took = began.elapsed();
                let longer = if took > SHORT {
                    took * TIMES
                } else {
                    Duration::ZERO
                };
                Count {
                    of_users,
                    until: began + took + longer,
                }
            }
        };
        let Count { of_users, .. } = kept.insert(counted);
        let all = of_users.values().sum();
        let of_user = of_users.entry(user.to_owned()).or_default();
        let open = [(all, limits.open_files), (*of_user, limits.user_open_files)];
        *of_user += files;
        Ok(open.map(|(open, most)| OpenFiles { open, most }))
    }

    /// These were not entered.
    pub fn give_back(&self, user: &str, files: u64) {
        if let Some(of_user) = self
            .lock()
            .as_mut()
            .and_then(|kept| kept.of_users.get_mut(user))
        {
            *of_user = of_user.saturating_sub(files);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Count>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        body_bytes: 0,
        files: 0,
        open_files: 9,
        user_open_files: 5,
        requests_per_minute: 0,
    };

    /// What waits, if it takes so long to be counted.
    fn take(counted: &Counted, files: u64, of_eve: u64, takes: Duration) -> [u64; 2] {
        let count = || {
            std::thread::sleep(takes);
            Ok(HashMap::from([
                ("eve".to_owned(), of_eve),
                ("ada".to_owned(), 1),
            ]))
        };
        let open = counted.take("ada", files, &LIMITS, count);
        let open = open.expect("no catalogue is asked");
        assert_eq!(open.map(|open| open.most), [9, 5]);
        open.map(|open| open.open)
    }

    #[test]
    fn what_is_counted_quickly_is_counted_each_time() {
        let counted = Counted::default();
        assert_eq!(take(&counted, 2, 3, Duration::ZERO), [4, 1]);
        std::thread::sleep(Duration::from_millis(1));
        assert_eq!(take(&counted, 2, 4, Duration::ZERO), [5, 1]);
    }

    #[test]
    fn what_took_long_is_kept_for_a_while_with_what_was_entered_since() {
        let counted = Counted::default();
        let long = Duration::from_millis(500);
        assert_eq!(take(&counted, 2, 3, long), [4, 1]);
        assert_eq!(take(&counted, 4, 0, long), [6, 3]);
        counted.give_back("ada", 4);
        counted.give_back("nobody", 4);
        assert_eq!(take(&counted, 1, 0, long), [6, 3]);
    }

    #[test]
    fn what_cannot_be_counted_is_counted_again() {
        let counted = Counted::default();
        let failed = counted.take("ada", 1, &LIMITS, || {
            Err(tapewise_archive::catalogue::CatalogueError::LeaseLost { epoch: 1 })
        });
        assert!(failed.is_err());
        assert_eq!(take(&counted, 1, 3, Duration::ZERO), [4, 1]);
    }
}
