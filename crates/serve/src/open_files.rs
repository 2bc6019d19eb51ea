//! How many files of stages wait. To count a million takes seconds, and requests come more often than that.

use crate::limits::Limits;
use std::collections::HashMap;
use std::time::Instant;
use tapewise_archive::catalogue::{OpenFiles, Result};
use tapewise_archive::kept::Kept;

/// Files that wait, by user: as they were counted now or a while ago, with what was entered since. What has arrived
/// meanwhile makes room when they are counted again.
#[derive(Debug, Default)]
pub(crate) struct Counted(Kept<HashMap<String, u64>>);

impl Counted {
    /// What waits beside the files that a user asks for now, which count from now on: of all users, and of this one.
    ///
    /// # Errors
    /// Those of `count`.
    pub fn take(
        &self,
        user: &str,
        files: u64,
        limits: &Limits,
        count: impl FnOnce() -> Result<HashMap<String, u64>>,
    ) -> Result<[OpenFiles; 2]> {
        self.0.with(Instant::now, count, |of_users| {
            let all = of_users.values().sum();
            let of_user = of_users.entry(user.to_owned()).or_default();
            let open = [(all, limits.open_files), (*of_user, limits.user_open_files)];
            *of_user += files;
            open.map(|(open, most)| OpenFiles { open, most })
        })
    }

    /// These were not entered.
    pub fn give_back(&self, user: &str, files: u64) {
        self.0.correct(|of_users| {
            if let Some(of_user) = of_users.get_mut(user) {
                *of_user = of_user.saturating_sub(files);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_was_entered_since_counts_too_and_what_was_not_does_not() {
        let limits = Limits {
            open_files: 9,
            user_open_files: 5,
            ..Limits::default()
        };
        let counted = Counted::default();
        let take = |files| {
            // So long that it is kept for the rest of the test.
            let count = || {
                std::thread::sleep(Duration::from_secs(1));
                let of_users = [("eve", 3), ("ada", 1)];
                Ok(of_users.map(|(user, open)| (user.to_owned(), open)).into())
            };
            let open = counted.take("ada", files, &limits, count);
            let open = open.expect("no catalogue is asked");
            assert_eq!(open.map(|open| open.most), [9, 5]);
            open.map(|open| open.open)
        };
        assert_eq!(take(2), [4, 1]);
        assert_eq!(take(4), [6, 3]);
        counted.give_back("ada", 4);
        counted.give_back("nobody", 4);
        assert_eq!(take(1), [6, 3]);
    }
}
