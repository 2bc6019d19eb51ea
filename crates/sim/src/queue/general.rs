//! M/G/c: service times of which mean and variation are known.
//!
//! For one server the mean is exact (Pollaczek and Khinchine). For several no formula is; the three
//! here agree with it at one server, and take the variation as the *squared coefficient of
//! variation* (scv): variance over squared mean; 0 for constant, `1 / k` for Erlang-k, 1 for
//! exponential times.

use super::deterministic::{self, Deterministic};
use super::exponential::Exponential;
use super::{Load, QueueError, not_negative, share};

/// How the wait at several servers is got from the variation of the service times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approximation {
    /// `(1 + scv) / 2` of the wait under exponential times (Allen 1978, from Cunneen). The
    /// simplest; too short for many servers at low load, where M/D/c waits 0.6 to 0.8 of M/M/c and
    /// not half.
    AllenCunneen,
    /// `(1 + scv) / (2 scv / W(M/M/c) + (1 - scv) / W(M/D/c))` (T. Kimura, *A two-moment
    /// approximation for the mean waiting time in the GI/G/s queue*, 1986), with the exact M/D/c.
    Kimura,
    /// `scv W(M/M/c) + (1 - scv) W(M/D/c)`, with the exact M/D/c (H. C. Tijms, *A First Course in
    /// Stochastic Models*, 2003, section 9.6): exact at both ends; ours where nothing is said.
    Interpolation,
}

/// Mean wait before service, over all requests, in seconds.
///
/// # Errors
/// [`QueueError::Parameter`] where `scv` is negative.
pub fn mean_wait_s(load: &Load, scv: f64, by: Approximation) -> Result<f64, QueueError> {
    not_negative("the squared coefficient of variation", scv)?;
    let exponential_s = Exponential::new(*load).mean_wait_s();
    if by == Approximation::AllenCunneen {
        return Ok(exponential_s * (1.0 + scv) / 2.0);
    }
    let constant_s = deterministic::mean_wait_s(load);
    Ok(match by {
        // At so low a load that M/D/c rounds to no wait at all there is nothing to divide by.
        Approximation::Kimura if constant_s > 0.0 => {
            (1.0 + scv) / (2.0 * scv / exponential_s + (1.0 - scv) / constant_s)
        }
        _ => scv * exponential_s + (1.0 - scv) * constant_s,
    })
}

/// The wait that a share `p` of requests does not exceed, in seconds.
///
/// The percentiles of those who wait lie between those of constant and of exponential times as the
/// means do (Tijms 2003, section 9.6, for `scv` up to 1); the share that waits is Erlang's C.
///
/// # Errors
/// [`QueueError::Parameter`] where `scv` is not from 0 to 1 or `p` not from 0 to below 1;
/// [`QueueError::TooNearSaturation`] as for [`Deterministic::new`].
pub fn wait_quantile_s(load: &Load, scv: f64, p: f64) -> Result<f64, QueueError> {
    share(p)?;
    if !(0.0..=1.0).contains(&scv) {
        return Err(QueueError::Parameter {
            name: "the squared coefficient of variation",
            value: scv,
            wanted: "from 0 to 1 for a percentile",
        });
    }
    let exponential = Exponential::new(*load);
    let constant = Deterministic::new(*load)?;
    let later = (1.0 - p) / exponential.waiting_probability();
    if later >= 1.0 {
        return Ok(0.0);
    }
    let constant_p = 1.0 - later * constant.waiting_probability();
    Ok(scv * exponential.wait_quantile_s(p)?
        + (1.0 - scv) * constant.wait_quantile_s(constant_p)?)
}

/// Variance of the wait at one server from the second and third moments of its service times (in
/// s^2 and s^3): exact, `W^2 + lambda E(S^3) / (3 (1 - rho))` (Takacs 1962). In s^2.
///
/// # Errors
/// [`QueueError::Parameter`] where there is more than one server, or a moment is not positive.
pub fn single_server_wait_variance_s2(
    load: &Load,
    second_moment_s2: f64,
    third_moment_s3: f64,
) -> Result<f64, QueueError> {
    super::positive("the second moment", second_moment_s2)?;
    super::positive("the third moment", third_moment_s3)?;
    if load.servers() != 1 {
        return Err(QueueError::Parameter {
            name: "the number of servers",
            value: f64::from(load.servers()),
            wanted: "1",
        });
    }
    let spare = 1.0 - load.utilisation();
    let mean_s = load.arrivals_per_s() * second_moment_s2 / (2.0 * spare);
    Ok(mean_s * mean_s + load.arrivals_per_s() * third_moment_s3 / (3.0 * spare))
}

/// Variance of a wait of this mean if those who wait do so exponentially long: exact for M/M/c,
/// a fifth too much for M/D/1 at a utilisation of 0.7. In s^2.
pub(super) fn exponential_wait_variance_s2(mean_s: f64, waiting_probability: f64) -> f64 {
    if waiting_probability == 0.0 {
        return 0.0;
    }
    mean_s * mean_s * (2.0 / waiting_probability - 1.0)
}
