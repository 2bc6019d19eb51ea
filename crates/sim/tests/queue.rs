//! Queueing formulas against published tables, against each other, and against plain recursions
//! over random arrivals that share nothing with the formulas.

#[path = "queue/batch.rs"]
mod batch;
#[path = "queue/deterministic.rs"]
mod deterministic;
#[path = "queue/erlang.rs"]
mod erlang;
#[path = "queue/exponential.rs"]
mod exponential;
#[path = "queue/general.rs"]
mod general;
#[path = "queue/nested.rs"]
mod nested;
#[path = "queue/outside.rs"]
mod outside;
#[path = "queue/recursion.rs"]
mod recursion;
#[path = "queue/retrieval.rs"]
mod retrieval;

use tapewise_sim::queue::{Load, QueueError};

/// A station with services of one second.
fn station(utilisation: f64, servers: u32) -> Load {
    Load::new(utilisation * f64::from(servers), 1.0, servers).unwrap()
}

fn assert_close(found: f64, expected: f64, relative: f64) {
    assert!(
        (found - expected).abs() <= relative * expected.abs(),
        "{found} is not {expected} within {relative}"
    );
}

#[test]
fn a_load_that_the_servers_cannot_carry_is_refused_with_its_utilisation() {
    let refused = Load::new(0.1, 53.0, 4).unwrap_err();
    assert_eq!(
        refused,
        QueueError::Unstable {
            offered: 0.1 * 53.0,
            servers: 4,
            utilisation: 0.1 * 53.0 / 4.0
        }
    );
    assert!(
        refused.to_string().contains("utilisation 1.325"),
        "{refused}"
    );
    assert!(Load::new(4.0, 1.0, 4).is_err(), "just full is too much");
}

#[test]
fn parameters_that_make_no_sense_are_refused_by_name() {
    for (load, name) in [
        (Load::new(-1.0, 1.0, 1), "the arrival rate"),
        (Load::new(f64::NAN, 1.0, 1), "the arrival rate"),
        (Load::new(1.0, 0.0, 1), "the service time"),
        (Load::new(1.0, 1.0, 0), "the number of servers"),
    ] {
        assert!(load.unwrap_err().to_string().starts_with(name));
    }
}
