//! M/M/c: exponential service times, everything in closed form.

use super::{Load, QueueError, erlang, quantile_s, share};

/// A station of `c` servers with exponential service times (M/M/c), solved.
///
/// Source: any textbook, as H. C. Tijms, *A First Course in Stochastic Models*, 2003, section 5.2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponential {
    load: Load,
    waits: f64,
}

impl Exponential {
    /// Solves the station.
    pub fn new(load: Load) -> Exponential {
        Exponential {
            load,
            waits: erlang::waiting_probability(&load),
        }
    }

    /// Share of requests that wait at all.
    pub fn waiting_probability(&self) -> f64 {
        self.waits
    }

    /// Mean wait before service, over all requests: `C s / (c (1 - rho))` seconds.
    pub fn mean_wait_s(&self) -> f64 {
        self.waits / self.drain_per_s()
    }

    /// Mean time from arrival to the end of service, in seconds.
    pub fn mean_response_s(&self) -> f64 {
        self.mean_wait_s() + self.load.service_s()
    }

    /// Share of requests that wait longer than `time_s`: `C exp(-(c mu - lambda) t)`.
    pub fn waits_longer_than(&self, time_s: f64) -> f64 {
        self.waits * (-self.drain_per_s() * time_s).exp()
    }

    /// Share of requests whose response takes longer than `time_s`.
    ///
    /// The sum of wait and service: `e^(-mu t) + C (e^(-mu t) - e^(-(c mu - lambda) t)) / d` with
    /// `d = c - 1 - a`, the limit `C mu t e^(-mu t)` of the second term where `d` is zero.
    pub fn responds_later_than(&self, time_s: f64) -> f64 {
        let services = time_s / self.load.service_s();
        let spare = f64::from(self.load.servers()) - 1.0 - self.load.offered();
        let served = (-services).exp();
        let waited = if spare == 0.0 {
            services * served
        } else if (services * spare).abs() < 1.0 {
            // Keeps the digits where the two powers are nearly the same.
            -(-services * spare).exp_m1() / spare * served
        } else {
            (served - (-self.drain_per_s() * time_s).exp()) / spare
        };
        served + self.waits * waited
    }

    /// The wait that a share `p` of requests does not exceed, in seconds.
    ///
    /// # Errors
    /// [`QueueError::Parameter`] where `p` is not from 0 to below 1.
    pub fn wait_quantile_s(&self, p: f64) -> Result<f64, QueueError> {
        share(p)?;
        Ok((self.waits / (1.0 - p)).ln().max(0.0) / self.drain_per_s())
    }

    /// The response time that a share `p` of requests does not exceed, in seconds.
    ///
    /// # Errors
    /// [`QueueError::Parameter`] where `p` is not from 0 to below 1.
    pub fn response_quantile_s(&self, p: f64) -> Result<f64, QueueError> {
        share(p)?;
        Ok(quantile_s(p, self.load.service_s(), |time_s| {
            self.responds_later_than(time_s)
        }))
    }

    /// How fast the queue shortens while all servers are busy: `c mu - lambda` requests a second.
    fn drain_per_s(&self) -> f64 {
        f64::from(self.load.servers()) * (1.0 - self.load.utilisation()) / self.load.service_s()
    }
}
