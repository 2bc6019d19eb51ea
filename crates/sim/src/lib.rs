//! Predicts how a tape library responds under load: an event simulation, replications with
//! intervals, and queueing formulas beside them.
