//! Files appear in a destination whole, verified, and never outside of it.
