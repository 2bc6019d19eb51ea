//! The same drive in a somewhat different world, to see what a fitted model owes to the emulator's
//! own regularity.

use super::DriveKind;
use crate::mechanics::{Noise, ReadOn, Serpentine, Transport};
use crate::shape::Landings;
use tapewise_model::Random;

const STREAM: u64 = 0x7065_7274;

impl DriveKind {
    /// A drive of this kind whose mechanics differ: other spacing of landing points, other times to
    /// settle, other speeds, and 5 % of noise. One seed gives one such drive.
    pub fn perturbed(&self, seed: u64) -> DriveKind {
        let mut random = Random::new(seed, STREAM);
        let mut kind = self.clone();
        // From 1 over `widest` to `widest`, its logarithm uniform.
        let mut factor = |widest: f64| widest.powf(2.0 * random.unit() - 1.0);
        if let Landings::Every { metres } = &mut kind.shape.landings {
            *metres *= factor(1.4);
        }
        if let Landings::Sections { count, .. } = &mut kind.shape.landings {
            *count = (f64::from(*count) * factor(1.4)).round().max(3.0) as u16;
        }
        match &mut kind.mechanism.transport {
            Transport::Serpentine(serpentine) => perturb(serpentine, &mut factor),
            Transport::Helical(helical) => {
                helical.thread_s *= factor(1.3);
                helical.wind_m_s *= factor(1.1);
                helical.lost_s *= factor(1.3);
            }
        }
        kind.mechanism.noise = Noise {
            share: 0.05,
            ..kind.mechanism.noise
        };
        kind
    }

    /// This drive with the fault that Johnson & Miller 1998 saw on the IBM 3590 (section 5.4.1, note
    /// 2): a seek to the beginning of a reverse track takes so much longer.
    ///
    /// Helical drives have no reverse track and are not changed.
    pub fn with_slow_reverse_start(mut self, seconds: f64) -> DriveKind {
        if let Transport::Serpentine(serpentine) = &mut self.mechanism.transport {
            serpentine.slow_reverse_start_s = seconds;
        }
        self
    }

    /// Drives whose cartridges have wraps that end, and landing points that lie, this far from their usual places:
    /// standard deviations in LPOS.
    pub fn with_uneven_tracks(mut self, wrap_end_sd_lpos: f64, landing_sd_lpos: f64) -> DriveKind {
        self.shape.spread.wrap_end_sd_lpos = wrap_end_sd_lpos;
        self.shape.spread.landing_sd_lpos = landing_sd_lpos;
        self
    }
}

fn perturb(serpentine: &mut Serpentine, factor: &mut impl FnMut(f64) -> f64) {
    let speeds = factor(1.1);
    serpentine.approach_m_s *= speeds;
    serpentine.search_m_s *= speeds * factor(1.1);
    serpentine.rewind_m_s *= speeds;
    for settle_s in [
        &mut serpentine.command_s,
        &mut serpentine.step_s,
        &mut serpentine.direction_s,
        &mut serpentine.band_s,
        &mut serpentine.band_rank_s,
        &mut serpentine.turn_s,
        &mut serpentine.end_s,
    ] {
        *settle_s *= factor(1.6);
    }
    if let ReadOn::Metres(metres) = &mut serpentine.read_on {
        *metres *= factor(1.4);
    }
}
