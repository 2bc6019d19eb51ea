//! Drives and robots: who mounts what, and what happens when one of them fails.
