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
