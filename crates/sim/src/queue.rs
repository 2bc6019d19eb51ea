//! Queueing formulas: what a station of equal servers with Poisson arrivals does to those who wait.
//!
//! Pure functions of seconds. They answer at once where a simulation takes minutes, hold for any
//! rate, and are what the simulation is tested against; where one is an approximation its page
//! says so. Every formula refuses a load that the servers cannot carry, because then there is no
//! steady state and any number would be a lie.
//!
//! ```
//! use tapewise_sim::queue::{Load, exponential::Exponential};
//!
//! // 150 requests an hour, 53 s each, four drives.
//! let load = Load::new(150.0 / 3600.0, 53.0, 4)?;
//! assert!((load.utilisation() - 0.552).abs() < 1e-3);
//! let drives = Exponential::new(load);
//! assert!(drives.response_quantile_s(0.95)? > drives.mean_response_s());
//! # Ok::<(), tapewise_sim::queue::QueueError>(())
//! ```

pub mod batch;
pub mod deterministic;
pub mod erlang;
pub mod exponential;
pub mod general;
pub mod nested;
pub mod retrieval;

/// Why a queueing formula has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum QueueError {
    /// More work arrives than the servers can do: waits grow without end.
    #[error(
        "{offered:.3} servers' worth of work arrives at {servers} servers (utilisation \
         {utilisation:.3}): waits grow without end; lower the rate, shorten the service or add servers"
    )]
    Unstable {
        /// Work that arrives, in servers kept busy (erlangs).
        offered: f64,
        /// Servers there are.
        servers: u32,
        /// `offered / servers`, at least 1.
        utilisation: f64,
    },
    /// A parameter that is not a number, negative, or zero where that has no meaning.
    #[error("{name} is {value}; it must be {wanted}")]
    Parameter {
        /// Which parameter.
        name: &'static str,
        /// What it was.
        value: f64,
        /// What it may be.
        wanted: &'static str,
    },
    /// So near saturation that the distribution's table would not fit; its mean still has a form.
    #[error(
        "utilisation {utilisation:.5} is too near 1 for the waiting times' distribution (it would \
         take {terms:.0} terms, of {most}): ask for the mean, or simulate"
    )]
    TooNearSaturation {
        /// Share of the time that a server is busy.
        utilisation: f64,
        /// Terms that the table would need.
        terms: f64,
        /// Terms that it may have.
        most: usize,
    },
}

/// Poisson arrivals at a station of equal servers that can carry them, one queue, first come first
/// served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    arrivals_per_s: f64,
    service_s: f64,
    servers: u32,
}

impl Load {
    /// `arrivals_per_s` requests a second, each `service_s` seconds in the mean with one of
    /// `servers` servers.
    ///
    /// # Errors
    /// [`QueueError::Unstable`] at a utilisation of 1 or more; [`QueueError::Parameter`] where a
    /// value is not positive.
    pub fn new(arrivals_per_s: f64, service_s: f64, servers: u32) -> Result<Load, QueueError> {
        positive("the arrival rate", arrivals_per_s)?;
        positive("the service time", service_s)?;
        positive("the number of servers", f64::from(servers))?;
        let offered = arrivals_per_s * service_s;
        let utilisation = offered / f64::from(servers);
        if utilisation >= 1.0 {
            return Err(QueueError::Unstable {
                offered,
                servers,
                utilisation,
            });
        }
        Ok(Load {
            arrivals_per_s,
            service_s,
            servers,
        })
    }

    /// Requests that arrive in a second.
    pub fn arrivals_per_s(&self) -> f64 {
        self.arrivals_per_s
    }

    /// Seconds that a request keeps a server busy, in the mean.
    pub fn service_s(&self) -> f64 {
        self.service_s
    }

    /// How many servers there are.
    pub fn servers(&self) -> u32 {
        self.servers
    }

    /// Work that arrives, in servers kept busy (erlangs).
    pub fn offered(&self) -> f64 {
        self.arrivals_per_s * self.service_s
    }

    /// Share of the time that a server is busy, below 1.
    pub fn utilisation(&self) -> f64 {
        self.offered() / f64::from(self.servers)
    }
}

/// Refuses what is not a positive number.
fn positive(name: &'static str, value: f64) -> Result<(), QueueError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(QueueError::Parameter {
        name,
        value,
        wanted: "positive",
    })
}

/// Refuses what is not a number of at least zero.
fn not_negative(name: &'static str, value: f64) -> Result<(), QueueError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(QueueError::Parameter {
        name,
        value,
        wanted: "zero or more",
    })
}

/// Refuses a share that no quantile can be asked for.
pub(crate) fn share(value: f64) -> Result<(), QueueError> {
    if (0.0..1.0).contains(&value) {
        return Ok(());
    }
    Err(QueueError::Parameter {
        name: "the share of a quantile",
        value,
        wanted: "from 0 to below 1",
    })
}

/// The least time at which the falling `tail` is at most `1 - p`, beginning with steps of
/// `scale_s`.
///
/// Bisection to the last bit but a few: tails are monotone and cheap, and nothing else is needed of
/// them.
pub(crate) fn quantile_s(p: f64, scale_s: f64, tail: impl Fn(f64) -> f64) -> f64 {
    let above = |time_s: f64| tail(time_s) > 1.0 - p;
    if !above(0.0) {
        return 0.0;
    }
    let mut high = scale_s;
    while above(high) {
        high *= 2.0;
    }
    let mut low = 0.0;
    // 60 halvings leave less than a part in 10^15 of where the search ended.
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if above(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}
