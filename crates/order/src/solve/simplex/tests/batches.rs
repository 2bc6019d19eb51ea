//! Assignments and tours.
