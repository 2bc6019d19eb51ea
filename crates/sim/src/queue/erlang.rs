//! Erlang's two formulas: the share of arrivals lost, and the share that waits.
//!
//! A. K. Erlang, *Solution of some problems in the theory of probabilities of significance in
//! automatic telephone exchanges*, 1917. Both by the recursion over servers, which adds and divides
//! positive numbers only, so that it neither overflows nor cancels however many servers there are.

use super::Load;

/// Share of arrivals that find every server busy where nobody waits (Erlang B), for `offered`
/// erlangs; any load is fine, because what finds no server is lost.
///
/// `B(0) = 1`, `B(c) = a B(c-1) / (c + a B(c-1))`.
pub fn loss_probability(offered: f64, servers: u32) -> f64 {
    (1..=servers).fold(1.0, |lost, server| {
        offered * lost / (f64::from(server) + offered * lost)
    })
}

/// Share of arrivals that must wait (Erlang C): exact for exponential service times.
///
/// `C = B / (1 - rho (1 - B))`.
pub fn waiting_probability(load: &Load) -> f64 {
    let lost = loss_probability(load.offered(), load.servers());
    lost / (1.0 - load.utilisation() * (1.0 - lost))
}
