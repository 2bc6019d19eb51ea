//! The disk in front of the tapes: high and low water, pins, and never the only copy dropped.
