//! Fits locate-time models to measured moves, and says on held-out data how good they are.

pub mod blind;
