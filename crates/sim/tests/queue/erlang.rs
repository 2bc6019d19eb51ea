use tapewise_sim::queue::erlang::{loss_probability, waiting_probability};

use crate::queue::{assert_close, station};

/// Standard tables of Erlang B: traffic at which so many trunks lose one call in a hundred.
#[test]
fn one_call_in_a_hundred_is_lost_at_the_traffic_of_the_tables() {
    for (offered, trunks) in [(4.46, 10), (12.03, 20), (84.1, 100)] {
        assert_close(loss_probability(offered, trunks), 0.01, 0.01);
    }
    assert_close(loss_probability(5.0, 10), 0.0184, 0.003);
}

#[test]
fn one_server_makes_those_wait_who_find_it_busy() {
    for utilisation in [0.01, 0.5, 0.99] {
        assert_close(
            waiting_probability(&station(utilisation, 1)),
            utilisation,
            1e-14,
        );
    }
}

/// Two servers: `2 rho^2 / (1 + rho)`.
#[test]
fn two_servers_have_a_closed_form() {
    for rho in [0.05, 0.3, 0.9] {
        let expected = 2.0 * rho * rho / (1.0 + rho);
        assert_close(waiting_probability(&station(rho, 2)), expected, 1e-14);
    }
}

#[test]
fn a_thousand_servers_neither_overflow_nor_underflow() {
    let waits = waiting_probability(&station(0.98, 1_000));
    assert!(waits > 0.3 && waits < 0.5, "{waits}");
    assert_eq!(loss_probability(1e-300, 1_000), 0.0);
}
