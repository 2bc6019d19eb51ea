//! Requests of one cartridge gathered for a while and then served in one mount.
//!
//! The first request for a cartridge opens a window; whoever comes within it joins, and then the
//! batch asks for a drive. A batch saves mounts and pays for it with the window.

use super::general::{self, Approximation};
use super::{Load, QueueError, not_negative, positive};

/// Windows of requests, each served as one job of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batches {
    /// Requests for one cartridge in a second while its window is open, Poisson.
    pub arrivals_per_cartridge_per_s: f64,
    /// Cartridges that are asked for.
    pub cartridges: u32,
    /// How long a window stays open, in seconds.
    pub window_s: f64,
    /// Drives.
    pub drives: u32,
    /// Seconds of a mount before the first read.
    pub mount_s: f64,
    /// Seconds of one read, with its locate, in the mean.
    pub read_s: f64,
    /// Variance of the same, in s^2.
    pub read_variance_s2: f64,
    /// Seconds after the last read until the drive is free: rewind, unload, put.
    pub unmount_s: f64,
}

/// What gathering then costs and gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batched {
    /// Requests in a batch, in the mean.
    pub batch_size: f64,
    /// Mean wait of a request until its window closes, in seconds.
    pub window_wait_s: f64,
    /// Mean wait of a batch for a drive, in seconds.
    pub drive_wait_s: f64,
    /// Mean time from the arrival of a request to the end of its read, in seconds.
    pub response_s: f64,
    /// Share of the time that a drive is held.
    pub drive_utilisation: f64,
}

impl Batches {
    /// Solves the windows and the drives behind them.
    ///
    /// With `m` the mean of those who join (Poisson), a batch has `1 + m`, and comes from each
    /// cartridge every `window + 1 / lambda` seconds. The drives see the batches of many cartridges
    /// as Poisson: good for many, too long for a few. A request is answered when its own read ends,
    /// and it is likelier in a large batch: the mean place of a request is `(E(n^2) / E(n) + 1) /
    /// 2`.
    ///
    /// # Errors
    /// [`QueueError::Unstable`] where the drives cannot carry the batches;
    /// [`QueueError::Parameter`].
    pub fn solve(&self) -> Result<Batched, QueueError> {
        positive("the arrival rate", self.arrivals_per_cartridge_per_s)?;
        positive("the number of cartridges", f64::from(self.cartridges))?;
        not_negative("the window", self.window_s)?;
        not_negative("the time of a mount", self.mount_s)?;
        not_negative("the time of an unmount", self.unmount_s)?;
        positive("the time of a read", self.read_s)?;
        not_negative("the variance of a read", self.read_variance_s2)?;
        let joining = self.arrivals_per_cartridge_per_s * self.window_s;
        let batch_size = 1.0 + joining;
        let batches_per_s =
            f64::from(self.cartridges) / (self.window_s + 1.0 / self.arrivals_per_cartridge_per_s);
        let held_s = self.mount_s + self.unmount_s + batch_size * self.read_s;
        let held_variance_s2 =
            batch_size * self.read_variance_s2 + joining * self.read_s * self.read_s;
        let drives = Load::new(batches_per_s, held_s, self.drives)?;
        let held_scv = held_variance_s2 / (held_s * held_s);
        let drive_wait_s = general::mean_wait_s(&drives, held_scv, Approximation::Interpolation)?;
        // Who opens the window waits it out, who joins half of it in the mean.
        let window_wait_s = self.window_s * (1.0 + joining / 2.0) / batch_size;
        let second_moment = joining + batch_size * batch_size;
        let place = (second_moment / batch_size + 1.0) / 2.0;
        Ok(Batched {
            batch_size,
            window_wait_s,
            drive_wait_s,
            response_s: window_wait_s + drive_wait_s + self.mount_s + place * self.read_s,
            drive_utilisation: drives.utilisation(),
        })
    }
}
