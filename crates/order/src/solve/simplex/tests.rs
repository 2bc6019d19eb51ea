//! The simplex method against naive solvers, and on the programmes it is made for.

mod batches;
mod small;
