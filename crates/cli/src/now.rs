//! What time it is: the one place where the program asks.

use jiff::Timestamp;

/// Nanoseconds since 1970.
pub fn now_ns() -> i64 {
    i64::try_from(Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX)
}

/// Microseconds since 1970.
pub fn now_us() -> i64 {
    Timestamp::now().as_microsecond()
}

/// Nanoseconds of a clock that never goes back, and that goes on while the process is stopped and while the host sleeps.
#[cfg(target_os = "linux")]
pub fn awake_or_asleep_ns() -> i64 {
    use rustix::time::{ClockId, clock_gettime};
    let now = clock_gettime(ClockId::Boottime);
    now.tv_sec
        .saturating_mul(1_000_000_000)
        .saturating_add(now.tv_nsec)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// The two clocks differ after a sleep, and in `unshare --time --boottime 100000`.
    #[test]
    fn the_clock_that_goes_on_while_the_host_sleeps_is_the_uptime() {
        let text = std::fs::read_to_string("/proc/uptime").expect("the uptime");
        let uptime = text.split(' ').next().expect("seconds");
        let seconds: f64 = uptime.parse().expect("a number");
        let off = awake_or_asleep_ns() as f64 / 1e9 - seconds;
        assert!((-1.0..60.0).contains(&off), "{off} s");
    }
}
