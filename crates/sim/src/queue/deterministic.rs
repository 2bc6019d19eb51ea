//! M/D/c: every service takes the same time. Exact, for one server and for several.
//!
//! A request is `D` seconds in service, so whoever is in the system at `t` and not queued has left
//! at `t + D`: the number in the system at the multiples of `D` obeys `X' = (X - c)^+ + Poisson(a)`
//! (C. D. Crommelin, *Delay probability formulae when the holding times are constant*, 1932). Its
//! generating function is known but for the `c - 1` zeros of `z^c - e^(a (z - 1))` inside the unit
//! disc, and each of them is where a contraction comes to rest:
//!
//! ```text
//! z_k = w^k exp(rho (z_k - 1)),      w = exp(2 pi i / c)
//! P(z) = e^(a (z - 1)) (c - a) (z - 1) / (z^c - e^(a (z - 1))) * product of (z - z_k) / (1 - z_k)
//! ```

use std::f64::consts::TAU;

use super::{Load, QueueError, quantile_s, share};

/// Most terms of a table of state probabilities: reached at a utilisation of about 0.995.
const MOST_TERMS: usize = 8_192;

/// Probability that may lie behind the end of such a table.
const TAIL: f64 = 1e-13;

/// Mean wait before a service of constant length, in seconds: exact.
///
/// From `P'(1)`: `(sum of 1 / (1 - z_k) - (c (c - 1) - a^2) / (2 (c - a))) / lambda`; for one
/// server that is Pollaczek and Khinchine's `rho D / (2 (1 - rho))`. Good to 1e-13 of a service:
/// waits below that, of many servers with little to do, are rounding.
pub fn mean_wait_s(load: &Load) -> f64 {
    let servers = f64::from(load.servers());
    let offered = load.offered();
    let roots: f64 = zeros(load).map(|zero| zero.inverse_from_one().re).sum();
    let drift = (servers * (servers - 1.0) - offered * offered) / (2.0 * (servers - offered));
    // Where almost nobody waits the difference is all rounding, and may fall below zero.
    (roots - drift).max(0.0) / load.arrivals_per_s()
}

/// A station of `c` servers with services of constant length (M/D/c), solved for its distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Deterministic {
    load: Load,
    /// At `j`: the probability that at most `j` requests wait.
    waiting_at_most: Vec<f64>,
}

impl Deterministic {
    /// Solves the station: state probabilities by inverting the generating function on the unit
    /// circle, where what is folded back is what lies behind the table's end (below 1e-13).
    ///
    /// # Errors
    /// [`QueueError::TooNearSaturation`] where the table would be longer than 8,192 terms.
    pub fn new(load: Load) -> Result<Deterministic, QueueError> {
        let terms = terms_needed(&load)?;
        let zeros: Vec<Complex> = zeros(&load).collect();
        let circle: Vec<Complex> = (0..terms).map(|at| Complex::on_circle(at, terms)).collect();
        let values: Vec<Complex> = circle
            .iter()
            .map(|&z| generating_function(&load, &zeros, z))
            .collect();
        let mut below = 0.0;
        let states = (0..terms).map(|state| {
            // The other way round the circle is the conjugate: re re' + im im'.
            let mut sum = 0.0;
            let mut at = 0;
            for value in &values {
                sum += value.re * circle[at].re + value.im * circle[at].im;
                at += state;
                if at >= terms {
                    at -= terms;
                }
            }
            below += sum / terms as f64;
            below.clamp(0.0, 1.0)
        });
        Ok(Deterministic {
            load,
            waiting_at_most: states.skip(load.servers() as usize).collect(),
        })
    }

    /// Share of requests that wait at all.
    pub fn waiting_probability(&self) -> f64 {
        self.waits_longer_than(0.0)
    }

    /// Mean wait before service, over all requests, in seconds.
    pub fn mean_wait_s(&self) -> f64 {
        mean_wait_s(&self.load)
    }

    /// Share of requests that wait longer than `time_s`.
    ///
    /// For `(k - 1) D <= t < k D` and `u = lambda (k D - t)`, with `Q(j)` the probability that at
    /// most `j` wait: `1 - sum over i < k c of Q(k c - 1 - i) e^(-u) u^i / i!` (G. J. Franx, *A
    /// simple solution for the M/D/c waiting time distribution*, Operations Research Letters 29,
    /// 2001).
    pub fn waits_longer_than(&self, time_s: f64) -> f64 {
        let periods = (time_s / self.load.service_s()).floor() + 1.0;
        let left_s = (periods * self.load.service_s() - time_s).max(0.0);
        let mean = self.load.arrivals_per_s() * left_s;
        let last = periods * f64::from(self.load.servers()) - 1.0;
        // In logarithms, because e^(-u) alone is out of range for a thousand servers.
        let (mut served, mut arrivals, mut log_poisson) = (0.0, 0.0, -mean);
        while arrivals <= last && (arrivals < mean || log_poisson > -40.0) {
            served += log_poisson.exp() * self.at_most_waiting(last - arrivals);
            arrivals += 1.0;
            log_poisson += (mean / arrivals).ln();
        }
        (1.0 - served).clamp(0.0, 1.0)
    }

    /// The wait that a share `p` of requests does not exceed, in seconds.
    ///
    /// # Errors
    /// [`QueueError::Parameter`] where `p` is not from 0 to below 1 by 1e-9: further out the
    /// table's end would show.
    pub fn wait_quantile_s(&self, p: f64) -> Result<f64, QueueError> {
        share(p)?;
        share(p + 1e-9)?;
        Ok(quantile_s(p, self.load.service_s(), |time_s| {
            self.waits_longer_than(time_s)
        }))
    }

    /// The response time that a share `p` of requests does not exceed: the wait's, and one service.
    ///
    /// # Errors
    /// As [`Deterministic::wait_quantile_s`].
    pub fn response_quantile_s(&self, p: f64) -> Result<f64, QueueError> {
        Ok(self.wait_quantile_s(p)? + self.load.service_s())
    }

    fn at_most_waiting(&self, number: f64) -> f64 {
        self.waiting_at_most
            .get(number as usize)
            .copied()
            .unwrap_or(1.0)
    }
}

/// How many states must be told apart until less than [`TAIL`] is left behind them.
///
/// State probabilities fall in the end by `1 / tau` each, with `tau > 1` the real solution of
/// `tau^c = e^(a (tau - 1))`.
fn terms_needed(load: &Load) -> Result<usize, QueueError> {
    let utilisation = load.utilisation();
    // ln tau = rho (tau - 1) in x = ln tau: x - rho (e^x - 1), positive between 0 and the solution.
    let excess = |x: f64| x - utilisation * x.exp_m1();
    let mut high = 1e-6;
    while excess(high) > 0.0 {
        high *= 2.0;
    }
    let mut low = high / 2.0;
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if excess(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    // The geometric end begins behind the bulk of the Poisson arrivals.
    let bulk = load.offered() + 12.0 * load.offered().sqrt() + 30.0;
    let terms = bulk.max(f64::from(load.servers())) - TAIL.ln() / low;
    if terms > MOST_TERMS as f64 {
        return Err(QueueError::TooNearSaturation {
            utilisation,
            terms,
            most: MOST_TERMS,
        });
    }
    Ok(terms.ceil() as usize)
}

/// The zeros inside the unit disc, for `k` from 1 to `c - 1`.
fn zeros(load: &Load) -> impl Iterator<Item = Complex> {
    let (utilisation, servers) = (load.utilisation(), load.servers() as usize);
    (1..servers).map(move |k| {
        let turn = Complex::on_circle(k, servers);
        let mut zero = Complex { re: 0.0, im: 0.0 };
        // Contracts by rho |z| a step, and |z| is below 1 by far but next to z = 1; the number of
        // steps is bounded for the last case, utilisations next to 1.
        for _ in 0..100_000 {
            let next = turn.times(zero.minus_one().scaled(utilisation).exp());
            let step = (next.re - zero.re).abs() + (next.im - zero.im).abs();
            zero = next;
            if step < 4e-16 {
                break;
            }
        }
        zero
    })
}

/// `P(z)` at a point of the unit circle.
fn generating_function(load: &Load, zeros: &[Complex], z: Complex) -> Complex {
    if z.re == 1.0 {
        return z;
    }
    let arrivals = z.minus_one().scaled(load.offered()).exp();
    let spare = f64::from(load.servers()) - load.offered();
    let denominator = z.power(load.servers()).minus(arrivals);
    let start = arrivals
        .times(z.minus_one())
        .scaled(spare)
        .over(denominator);
    zeros.iter().fold(start, |product, &zero| {
        product.times(z.minus(zero)).times(zero.inverse_from_one())
    })
}

/// As much of complex numbers as is needed here.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    /// The point `part / whole` of a turn around the unit circle.
    fn on_circle(part: usize, whole: usize) -> Complex {
        if part.is_multiple_of(whole) {
            return Complex { re: 1.0, im: 0.0 };
        }
        let (im, re) = (TAU * part as f64 / whole as f64).sin_cos();
        Complex { re, im }
    }

    fn minus(self, other: Complex) -> Complex {
        Complex {
            re: self.re - other.re,
            im: self.im - other.im,
        }
    }

    fn minus_one(self) -> Complex {
        self.minus(Complex { re: 1.0, im: 0.0 })
    }

    /// `1 / (1 - z)`.
    fn inverse_from_one(self) -> Complex {
        let one = Complex { re: 1.0, im: 0.0 };
        one.over(one.minus(self))
    }

    fn scaled(self, factor: f64) -> Complex {
        Complex {
            re: self.re * factor,
            im: self.im * factor,
        }
    }

    fn times(self, other: Complex) -> Complex {
        Complex {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }

    fn over(self, other: Complex) -> Complex {
        let square = other.re * other.re + other.im * other.im;
        let conjugate = Complex {
            re: other.re,
            im: -other.im,
        };
        self.times(conjugate).scaled(1.0 / square)
    }

    fn exp(self) -> Complex {
        let (im, re) = self.im.sin_cos();
        Complex { re, im }.scaled(self.re.exp())
    }

    fn power(self, exponent: u32) -> Complex {
        let one = Complex { re: 1.0, im: 0.0 };
        (0..exponent).fold(one, |product, _| product.times(self))
    }
}
